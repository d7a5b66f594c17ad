//! Buses that several lanes share: first come, first served, at one instant by chip. Rules S3 and
//! D2, and (Q2).
//!
//! A lane asks for one bus at a time and stands still until it has it, and no operation takes no
//! time. So all that orders lanes is the order of grants: once all lanes stand still, what they ask
//! for later comes behind [`Channels::least`], the next grant.

use std::collections::VecDeque;

use rtflash_model::Instant;

use crate::earliest::Earliest;
use crate::ids::{ChannelId, ChipId, PerId};

/// A lane asks for a bus.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Request {
    /// Since when, or from when on.
    pub(crate) since: Instant,
    /// Which.
    pub(crate) channel: ChannelId,
    /// For which chip.
    pub(crate) chip: ChipId,
    /// The lane.
    pub(crate) lane: usize,
}

/// One bus.
#[derive(Debug)]
struct Channel {
    free_at: Instant,
    /// First come, first served, at one instant by chip: the next one in front.
    waiting: VecDeque<Request>,
}

impl Channel {
    /// Says whether the request is the next one.
    fn request(&mut self, request: Request) -> bool {
        let order = |request: &Request| (request.since, request.chip);
        if self.waiting.back().is_none_or(|last| order(last) < order(&request)) {
            self.waiting.push_back(request);
            return self.waiting.len() == 1;
        }
        let before = self.waiting.iter().rposition(|other| order(other) < order(&request));
        self.waiting.insert(before.map_or(0, |before| before + 1), request);
        before.is_none()
    }

    /// When the next page is moved; `None` where none waits.
    fn next(&self) -> Option<Instant> {
        self.waiting.front().map(|first| first.since.max(self.free_at))
    }
}

/// The buses that lanes share.
#[derive(Debug)]
pub(crate) struct Channels {
    channels: Vec<Channel>,
    /// Where each channel of the device is among them; `None` where no two lanes share it.
    of: PerId<ChannelId, Option<usize>>,
    /// When each grants next.
    next: Earliest,
}

impl Channels {
    /// `shared` says which channels of the device these are.
    pub(crate) fn new(shared: &PerId<ChannelId, bool>) -> Channels {
        let mut count = 0;
        let mut number = |&shared: &bool| {
            count += usize::from(shared);
            shared.then(|| count - 1)
        };
        let of = shared.iter().map(&mut number).collect();
        let idle = || Channel { free_at: Instant::START, waiting: VecDeque::new() };
        Channels { channels: (0..count).map(|_| idle()).collect(), of, next: Earliest::new(count) }
    }

    /// A lane asks for a bus, which is shared.
    pub(crate) fn request(&mut self, request: Request) {
        let number = self.of[request.channel].expect("a lane asks for buses that are shared");
        if self.channels[number].request(request) {
            self.set(number);
        }
    }

    /// When the next grant of all is; `None` where nobody asks.
    #[inline]
    pub(crate) fn least(&self) -> Option<Instant> {
        self.next.first().map(|(at, _)| at)
    }

    /// Takes the request of the next grant. The bus is held until [`hold`](Channels::hold) says how
    /// long.
    pub(crate) fn grant(&mut self) -> Request {
        let (_, winner) = self.next.first().expect("a bus is asked for");
        self.channels[winner].waiting.pop_front().expect("a channel that grants has requests")
    }

    /// The bus that has just been granted is busy until then.
    pub(crate) fn hold(&mut self, channel: ChannelId, until: Instant) {
        let number = self.of[channel].expect("a bus that is granted is shared");
        self.channels[number].free_at = until;
        self.set(number);
    }

    /// The state of a channel has changed.
    fn set(&mut self, number: usize) {
        self.next.set(number, self.channels[number].next());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ns: u64) -> Instant {
        Instant::from_ns(ns).expect("a short time")
    }

    /// What is granted when, where chips (of four channels, the last of which nobody shares) ask
    /// since then, and each transfer takes this long.
    fn granted(asks: &[(u64, u32)], transfer: u64) -> Vec<(u64, u32)> {
        let shared = [true, true, true, false].into_iter().collect();
        let mut channels = Channels::new(&shared);
        for &(since, chip) in asks {
            channels.request(Request { since: at(since), channel: ChannelId(chip / 10), chip: ChipId(chip), lane: 0 });
        }
        let mut granted = Vec::new();
        while let Some(now) = channels.least() {
            let Request { channel, chip, .. } = channels.grant();
            channels.hold(channel, at(now.as_ns() + transfer));
            granted.push((now.as_ns(), chip.0));
        }
        granted
    }

    #[test]
    fn first_come_first_served_and_the_lowest_chip_of_one_instant() {
        assert_eq!(granted(&[(5, 3), (5, 1), (4, 9), (6, 0)], 2), [(4, 9), (6, 1), (8, 3), (10, 0)]);
    }

    #[test]
    fn channels_wait_for_themselves_alone_and_the_next_grant_of_all_comes_first() {
        assert_eq!(granted(&[(5, 3), (7, 21), (5, 11), (9, 12)], 3), [(5, 3), (5, 11), (7, 21), (9, 12)]);
        assert_eq!(granted(&[], 3), []);
    }
}
