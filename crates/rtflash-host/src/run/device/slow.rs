//! Episodes in which a device is slower.

use rtflash_model::random::Stream;
use rtflash_model::{Instant, Span};

/// Times of which each is drawn, all alike likely, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Between {
    /// The shortest.
    pub shortest: Span,
    /// The longest, no shorter than the shortest.
    pub longest: Span,
}

impl Between {
    fn draw(&self, stream: &mut Stream) -> Span {
        let beyond = stream.below(self.longest.saturating_sub(self.shortest).as_ns() + 1);
        Span::from_ns(beyond).map_or(self.longest, |beyond| self.shortest.saturating_add(beyond).min(self.longest))
    }
}

/// Episodes in which commands cost more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slow {
    /// From the start, or the end of an episode, to the begin of the next one; 1 ms at least.
    pub every: Between,
    /// How long an episode is, its end excluded; above zero.
    pub length: Between,
    /// The additional time of a command that begins in an episode.
    pub extra: Span,
}

/// The state of a device's episodes.
#[derive(Debug)]
pub(super) struct Episodes {
    of: Slow,
    seed: u64,
    /// Whose they are: streams of different names have nothing to do with each other.
    what: &'static [u8; 8],
    /// The number of the next one to draw.
    number: u64,
    /// The last one drawn; `None` behind the end of time.
    current: Option<(Instant, Instant)>,
}

impl Episodes {
    /// From the start on.
    pub(super) fn new(of: Slow, seed: u64, what: &'static [u8; 8]) -> Episodes {
        Episodes { of, seed, what, number: 0, current: Some((Instant::START, Instant::START)) }
    }

    /// The additional time of a command that begins now. Times never decrease.
    pub(super) fn extra(&mut self, now: Instant) -> Span {
        while let Some((_, end)) = self.current.filter(|&(_, end)| end <= now) {
            let mut stream = Stream::numbered(self.seed, self.what, self.number);
            self.number += 1;
            let begin = end.checked_add(self.of.every.draw(&mut stream));
            self.current = begin.map(|begin| (begin, begin.saturating_add(self.of.length.draw(&mut stream))));
        }
        let within = self.current.is_some_and(|(begin, _)| begin <= now);
        if within { self.of.extra } else { Span::ZERO }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(shortest: u32, longest: u32) -> Between {
        Between { shortest: Span::from_us(shortest * 1_000), longest: Span::from_us(longest * 1_000) }
    }

    /// Those of the first `milliseconds` milliseconds at which a command costs more.
    fn slow(of: Slow, seed: u64, milliseconds: u32) -> Vec<u32> {
        let mut episodes = Episodes::new(of, seed, b"episodes");
        let at = |ms: u32| Instant::START.saturating_add(Span::from_us(ms * 1_000));
        (0..milliseconds).filter(|&ms| episodes.extra(at(ms)) > Span::ZERO).collect()
    }

    #[test]
    fn episodes_without_chance() {
        let of = Slow { every: ms(5, 5), length: ms(2, 2), extra: Span::from_us(1) };
        assert_eq!(slow(of, 1, 22), [5, 6, 12, 13, 19, 20]);
    }

    #[test]
    fn those_of_another_name_are_others() {
        let of = Slow { every: ms(5, 15), length: ms(3, 7), extra: Span::from_us(1) };
        let mut both = [b"episodes", b"slow-rea"].map(|what| Episodes::new(of, 1, what));
        let mut differ = 0;
        for ms in 0..10_000 {
            let at = Instant::START.saturating_add(Span::from_us(ms * 1_000));
            let [own, other] = both.each_mut().map(|episodes| episodes.extra(at));
            differ += u32::from(own != other);
        }
        // A third of the time each, independent: 4/9 in the mean.
        assert!((4_000..4_900).contains(&differ), "{differ}");
    }

    #[test]
    fn episodes_come_from_the_seed_alone() {
        let of = Slow { every: ms(5, 15), length: ms(3, 7), extra: Span::from_us(1) };
        let found = slow(of, 1, 100_000);
        // Five of fifteen milliseconds in the mean.
        assert!((32_000..35_000).contains(&found.len()), "{}", found.len());
        assert_eq!(found, slow(of, 1, 100_000));
        assert_ne!(found, slow(of, 2, 100_000));
        // The episodes do not depend on how often they are queried.
        let mut rarely = Episodes::new(of, 1, b"episodes");
        let at = Instant::START.saturating_add(Span::from_us(99_990_000));
        assert_eq!(rarely.extra(at) > Span::ZERO, found.contains(&99_990));
    }
}
