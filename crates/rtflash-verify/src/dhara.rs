//! Dhara's costs once more and apart, from the formulas of docs/dhara-bounds.md, in rational
//! arithmetic.

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One, Zero};
use rtflash_model::{Device, Request, Task, format_ns};

/// Requests before a moment beyond which no moment is tried.
const MOST_RELEASES: u64 = 4_096;

fn whole(number: impl Into<BigInt>) -> BigRational {
    BigRational::from_integer(number.into())
}

fn rounded_up(over: BigRational, under: &BigRational) -> BigRational {
    (over / under).ceil()
}

pub(crate) struct DharaChip<'a> {
    device: &'a Device,
    /// g.
    ratio: u32,
    /// u and V: user pages of a group and of a block.
    group: BigRational,
    block: BigRational,
}

impl DharaChip<'_> {
    pub(crate) fn new(device: &Device, ratio: u32) -> Option<DharaChip<'_>> {
        let [pages, bytes] = [device.pages_per_block(), device.page_size()].map(u64::from);
        let powers = pages.count_ones() == 1 && bytes.count_ones() == 1;
        if !powers || pages < 2 || !(1 << 9..=1 << 20).contains(&bytes) {
            return None;
        }
        if pages.checked_mul(device.blocks_per_chip().into()).is_none_or(|all| all > (1 << 31) - 1) {
            return None;
        }
        let mut size = 2;
        while 2 * size <= pages && (2 * size - 1) * 132 + 20 <= bytes {
            size *= 2;
        }
        let chip = DharaChip { device, ratio, group: whole(size - 1), block: whole(pages / size * (size - 1)) };
        (chip.capacity(device.blocks_per_chip() / 64) > BigRational::zero()).then_some(chip)
    }

    /// J − ⌊J/(g + 1)⌋ − 8P, where J = (N − bad − 1)·V.
    fn capacity(&self, bad: u32) -> BigRational {
        let blocks = whole(self.device.blocks_per_chip()) - whole(bad) - whole(1);
        let journal = blocks.max(BigRational::zero()) * &self.block;
        let reserve = (&journal / whole(self.ratio + 1)).floor();
        journal - reserve - whole(8) * whole(self.device.pages_per_block())
    }

    pub(crate) fn usable(&self) -> BigRational {
        self.capacity(self.device.blocks_per_chip() / 64)
    }

    /// W.
    fn walk(&self) -> BigRational {
        let (sectors, mut power, mut walk) = (self.capacity(0), BigRational::one(), BigRational::one());
        while power < sectors {
            power *= whole(2);
            walk += whole(1);
        }
        walk
    }

    /// t_r, t_w, t_e, t_d, and what metadata take.
    fn times(&self) -> [BigRational; 5] {
        let device = self.device;
        let times = [device.page_read(), device.page_program(), device.block_erase(), device.page_transfer()];
        let [read, program, erase, transfer] = times.map(|time| whole(time.as_ns()));
        let part = &read + rounded_up(&transfer * whole(132), &whole(device.page_size()));
        [read, program, erase, transfer, part]
    }

    fn read(&self) -> BigRational {
        let [read, _, _, transfer, part] = self.times();
        self.walk() * part + read + transfer
    }

    fn writes(&self, pages: &BigRational) -> BigRational {
        let [read, program, erase, transfer, part] = self.times();
        let (collected, walk) = (pages * whole(self.ratio + 1), self.walk());
        let appended = &collected + pages;
        let programs = pages + rounded_up(appended.clone(), &self.group);
        let erases = rounded_up(appended, &self.block);
        let checks = rounded_up(collected.clone(), &self.block) + &erases;
        let parts = &collected * (&walk + whole(1)) + pages * &walk + checks;
        let copy = &read + &program + whole(2) * &transfer;
        parts * part + collected * copy + programs * (read + program + transfer) + erases * erase
    }

    /// A page that is read, and one that is written in the long run.
    pub(crate) fn costs(&self) -> [BigRational; 2] {
        let even = &self.group * &self.block;
        [self.read(), rounded_up(self.writes(&even), &even)]
    }

    /// Too much for one chip, or too many at once.
    pub(crate) fn obstacle(&self, tasks: &[&Task], chips: u32, by_priority: bool) -> Option<String> {
        if chips != 1 {
            return Some("Dhara has one chip, and a cluster of several has no map".into());
        }
        let kind = |(of, writes): (Request, bool)| Kind { pages: of.pages(), writes, period: of.period().as_ns() };
        let kinds: Vec<Kind> = tasks.iter().flat_map(|task| task.requests()).map(kind).collect();
        if by_priority { self.late_by_priority(&kinds) } else { self.late_together(&kinds) }
    }

    /// Each as often as its number says, behind one of `first`.
    fn serving<'a>(&self, kinds: impl Iterator<Item = (&'a Kind, u64)>, first: Option<&'a Kind>) -> BigRational {
        let mut pages = [BigRational::zero(), BigRational::zero()];
        for (kind, times) in kinds.chain(first.map(|kind| (kind, 1))) {
            pages[usize::from(kind.writes)] += whole(kind.pages) * whole(times);
        }
        let [reads, writes] = pages;
        reads * self.read() + self.writes(&writes)
    }

    fn late_together(&self, kinds: &[Kind]) -> Option<String> {
        let shortest = kinds.iter().map(|kind| kind.period).min()?;
        let all = self.serving(kinds.iter().map(|kind| (kind, 1)), None);
        let time = all.to_integer().try_into().map_or_else(|_| "more than 584 years".into(), format_ns);
        let late = format!("one request of each kind takes {time}, and the shortest period is {}", format_ns(shortest));
        (all > whole(shortest)).then_some(late)
    }

    /// A period without a moment up to it by which all requests before with no longer periods are
    /// done, behind any request with a longer one.
    fn late_by_priority(&self, kinds: &[Kind]) -> Option<String> {
        let late = kinds.iter().map(|kind| kind.period).find(|&period| {
            let urgent = || kinds.iter().filter(move |kind| kind.period <= period);
            let firsts = || kinds.iter().filter(|kind| kind.period > period).map(Some).chain([None]);
            let mut at = 0;
            loop {
                // Work comes at the arrivals alone: a moment right before one is the likeliest.
                let next = urgent().map(|kind| (at / kind.period + 1) * kind.period).min();
                at = next.expect("the kind itself is urgent: an invariant");
                if at > period || urgent().map(|kind| kind.before(at)).sum::<u64>() > MOST_RELEASES {
                    return true;
                }
                let served = || urgent().map(|kind| (kind, kind.before(at)));
                if firsts().all(|first| self.serving(served(), first) <= whole(at)) {
                    return false;
                }
            }
        })?;
        Some(format!("requests with a period of {} can be late behind others", format_ns(late)))
    }
}

struct Kind {
    pages: u64,
    writes: bool,
    period: u64,
}

impl Kind {
    /// The requests that come before a moment, if the first comes at zero.
    fn before(&self, at: u64) -> u64 {
        at.div_ceil(self.period)
    }
}
