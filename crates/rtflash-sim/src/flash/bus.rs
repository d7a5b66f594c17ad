//! Buses: first come, first served, at one instant by chip, or round robin. Rules S3 and D2, and
//! (Q2).
//!
//! A chip asks for one bus at a time and stands still until it has it, and no operation takes no
//! time. So the order of grants is all that orders chips.

use std::collections::VecDeque;

use rtflash_model::{ChipId, Instant, PerId};
use rtflash_plan::resume::resume;
use rtflash_plan::{Arbitration, ChannelId, Options, TieBreaker};
use serde::{Deserialize, Serialize};

use crate::earliest::Earliest;

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct BusRequest {
    pub(crate) since: Instant,
    pub(crate) channel: ChannelId,
    pub(crate) chip: ChipId,
    pub(crate) lane: usize,
}

#[derive(Debug, Serialize, Deserialize)]
struct Bus {
    free_at: Instant,
    /// By the time since when they wait, at one instant by place, then by chip.
    waiting: VecDeque<BusRequest>,
    last: Option<ChipId>,
}

impl Bus {
    /// Says whether the request is the next one in order. Most come behind all others.
    #[inline(always)]
    fn request(&mut self, ties: TieBreaker, request: BusRequest) -> bool {
        let is_behind = |last: &BusRequest| {
            last.since < request.since || last.since == request.since && ties.is_behind(request.chip, last.chip)
        };
        if self.waiting.back().is_none_or(is_behind) {
            self.waiting.push_back(request);
            return self.waiting.len() == 1;
        }
        self.insert(ties, request)
    }

    #[inline(never)]
    fn insert(&mut self, ties: TieBreaker, request: BusRequest) -> bool {
        let order = |of: &BusRequest| (of.since, ties.of_chip(of.chip, of.since), of.chip);
        let (own, mut place) = (order(&request), self.waiting.len());
        while place > 0 && order(&self.waiting[place - 1]) >= own {
            place -= 1;
        }
        self.waiting.insert(place, request);
        place == 0
    }

    /// Takes the request that is granted next, which may be any of those that wait by then.
    #[inline(always)]
    fn grant(&mut self, arbitration: Arbitration) -> Option<BusRequest> {
        let granted = match arbitration {
            Arbitration::Fifo => self.waiting.pop_front()?,
            Arbitration::RoundRobin => self.take_in_turn()?,
        };
        self.last = Some(granted.chip);
        Some(granted)
    }

    #[inline(never)]
    fn take_in_turn(&mut self) -> Option<BusRequest> {
        let (now, last) = (self.next()?, self.last);
        let waits = self.waiting.iter().take_while(|request| request.since <= now).enumerate();
        let turn = |chip: ChipId| (last.is_some_and(|last| chip <= last), chip);
        let at = waits.min_by_key(|(_, request)| turn(request.chip))?.0;
        self.waiting.remove(at)
    }

    #[inline(always)]
    fn next(&self) -> Option<Instant> {
        self.waiting.front().map(|first| first.since.max(self.free_at))
    }
}

#[derive(Debug)]
pub(crate) struct Channels {
    channels: Vec<Bus>,
    /// The place of each channel of the device among them, or [`NOT_USED`].
    of: PerId<ChannelId, usize>,
    next: Earliest,
    arbitration: Arbitration,
    ties: TieBreaker,
}

resume!([] Channels {
    values: [channels, next],
    parts: [],
    lists: [],
    made: [of, arbitration, ties],
});

const NOT_USED: usize = usize::MAX;

impl Channels {
    pub(crate) fn new(used: &PerId<ChannelId, bool>, options: &Options) -> Channels {
        let mut count = 0;
        let mut number = |&used: &bool| {
            count += usize::from(used);
            if used { count - 1 } else { NOT_USED }
        };
        let of = used.iter().map(&mut number).collect();
        let idle = || Bus { free_at: Instant::START, waiting: VecDeque::new(), last: None };
        let (arbitration, ties) = (options.arbitration, options.into());
        let channels = (0..count).map(|_| idle()).collect();
        Channels { channels, of, next: Earliest::new(count), arbitration, ties }
    }

    #[inline(always)]
    pub(crate) fn request(&mut self, request: BusRequest) {
        let number = self.of[request.channel];
        if self.channels[number].request(self.ties, request) {
            self.set(number);
        }
    }

    #[inline]
    pub(crate) fn grants_by(&self, now: Instant) -> bool {
        self.next.first_ns() <= now.as_ns()
    }

    /// When the next grant of all is, in nanoseconds; later than all instants where no chip asks.
    #[inline]
    pub(crate) fn least_ns(&self) -> u64 {
        self.next.first_ns()
    }

    /// Takes the request of the next grant. The bus is held until [`hold`](Channels::hold) says how
    /// long.
    #[inline(always)]
    pub(crate) fn grant(&mut self) -> BusRequest {
        let (_, winner) = self.next.first().expect("a bus is asked for");
        self.channels[winner].grant(self.arbitration).expect("a channel that grants has requests")
    }

    #[inline(always)]
    pub(crate) fn hold(&mut self, channel: ChannelId, until: Instant) {
        let number = self.of[channel];
        assert!(self.channels[number].free_at <= until, "a bus has one transfer at a time");
        self.channels[number].free_at = until;
        self.set(number);
    }

    #[inline(always)]
    fn set(&mut self, number: usize) {
        self.next.set(number, self.channels[number].next());
    }
}

#[cfg(test)]
mod tests {
    use rtflash_plan::Ties;

    use super::*;

    fn at(ns: u64) -> Instant {
        Instant::from_ns(ns).expect("a short time")
    }

    /// The grants and their times, if chips (of four channels, the last of which is not used) ask
    /// since then, and each transfer takes this long.
    fn granted(asks: &[(u64, u32)], transfer: u64) -> Vec<(u64, u32)> {
        granted_by(&Options::default(), asks, transfer)
    }

    fn granted_by(options: &Options, asks: &[(u64, u32)], transfer: u64) -> Vec<(u64, u32)> {
        let used = [true, true, true, false].into_iter().collect();
        let mut channels = Channels::new(&used, options);
        for &(since, chip) in asks {
            channels.request(BusRequest {
                since: at(since),
                channel: ChannelId(chip / 10),
                chip: ChipId(chip),
                lane: 0,
            });
        }
        let mut granted = Vec::new();
        while let Some(now) = Instant::from_ns(channels.least_ns()) {
            let BusRequest { channel, chip, .. } = channels.grant();
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
    fn round_robin_takes_the_next_chip_that_waits_when_the_bus_gets_free() {
        let options = Options { arbitration: Arbitration::RoundRobin, ..Options::default() };
        // At 4 only chip 9 waits. At 6 chips 3, 1 and 0 wait, and the turn begins anew behind 9. At
        // 12 chip 2 alone waits; where it has waited since 8, its turn is before chip 3.
        let asks = [(5, 3), (5, 1), (4, 9), (6, 0), (11, 2), (13, 4)];
        assert_eq!(granted_by(&options, &asks, 2), [(4, 9), (6, 0), (8, 1), (10, 3), (12, 2), (14, 4)]);
        let asks = [(5, 3), (5, 1), (4, 9), (6, 0), (8, 2)];
        assert_eq!(granted_by(&options, &asks, 2), [(4, 9), (6, 0), (8, 1), (10, 2), (12, 3)]);
    }

    #[test]
    fn at_one_instant_ties_are_broken_as_asked() {
        let highest = Options { ties: Ties::Highest, ..Options::default() };
        assert_eq!(granted_by(&highest, &[(5, 3), (5, 1), (4, 0)], 2), [(4, 0), (6, 3), (8, 1)]);
        let first =
            |seed| granted_by(&Options { ties: Ties::Random, seed, ..Options::default() }, &[(5, 3), (5, 1)], 2)[0];
        let all: Vec<(u64, u32)> = (0..40).map(first).collect();
        assert!(all.contains(&(5, 1)) && all.contains(&(5, 3)), "{all:?}");
    }

    #[test]
    fn channels_wait_for_themselves_alone_and_the_next_grant_of_all_comes_first() {
        assert_eq!(granted(&[(5, 3), (7, 21), (5, 11), (9, 12)], 3), [(5, 3), (5, 11), (7, 21), (9, 12)]);
        assert_eq!(granted(&[], 3), []);
    }
}
