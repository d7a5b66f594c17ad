//! `stock`: response times on a drive that knows no deadlines.

use rtflash_model::{Device, Request, Task, TaskSet};

use super::{Baseline, BaselineTerm, IMPLICIT, ONE_MEMORY, Room, RoomUnit, SchemeCosts, data_room, request_terms};
use crate::fraction::Fraction;
use crate::{Analysis, Assumption, Test};

/// Releases in a busy window after which it is given up.
const RELEASES: u128 = 4_096;

/// A drive that serves reads before writes, each in order of arrival; operations are not
/// interrupted. While at most a block's pages are free, a write waits for a whole pass. No paper
/// has it: it is what is bought, as simple as it can be.
///
/// Reads: t + Σ r·t_r ≤ min(T^r), where t is the longest operation of a writer. Writes: the last
/// page of a request released at a, in a busy window from 0, begins at the least s with s = W(a) −
/// t_w + Σ (⌊s/T^r⌋ + 1)·r·t_r, and s + t_w − a ≤ min(T^w) for every a; W(a) has n = Σ (⌊a/T^w⌋ +
/// 1)·w pages and ⌈n/α⌉ passes.
#[derive(Debug, Clone, Copy, Default)]
pub struct Stock;

struct StockTimes {
    read: u128,
    write: u128,
    erase: u128,
    /// α: pages that a pass frees at least; zero where nothing bounds it.
    reclaimed: u128,
    pass: u128,
}

/// A kind of request: how long it takes, or how many pages it has, and how often it comes.
struct RequestFlow {
    amount: u128,
    period: u128,
}

impl RequestFlow {
    /// In a window that begins with a release and ends with one, `length` later.
    fn within(&self, length: u128) -> u128 {
        self.amount.saturating_mul(length / self.period + 1)
    }

    /// Releases in a window that ends before `length`.
    fn releases(&self, length: u128) -> u128 {
        length.div_ceil(self.period)
    }
}

impl Stock {
    /// When a pass is due one block is empty and the others are full: the mean bounds the victim.
    pub fn victim_pages(self, device: &Device, chips: u32) -> Option<u128> {
        let blocks = u128::from(device.blocks_per_chip()) * u128::from(chips);
        let victim = device.logical_pages_of(chips).checked_div(blocks - 1)?;
        (victim < u128::from(device.pages_per_block())).then_some(victim)
    }

    fn times(self, device: &Device, chips: u32) -> StockTimes {
        let costs = self.page_costs(device);
        let [read, write, erase] = [costs.read, costs.write, device.block_erase()].map(|of| u128::from(of.as_ns()));
        let victim = self.victim_pages(device, chips);
        let copies = victim.map_or(0, |victim| victim * (read + write));
        let reclaimed = victim.map_or(0, |victim| u128::from(device.pages_per_block()) - victim);
        StockTimes { read, write, erase, reclaimed, pass: copies + erase }
    }

    /// The response of reads, at most: all of them come at once, behind an operation of a writer.
    fn read_response(self, times: &StockTimes, reads: &[RequestFlow], writes: bool) -> u128 {
        let blocking = if writes { times.longest() } else { 0 };
        reads.iter().map(|read| read.amount).fold(blocking, u128::saturating_add)
    }

    /// W(a) − t_w.
    fn work_before_last(self, times: &StockTimes, writes: &[RequestFlow], at: u128) -> u128 {
        let pages = writes.iter().map(|write| write.within(at)).fold(0, u128::saturating_add);
        let passes = pages.div_ceil(times.reclaimed.max(1));
        (pages - 1).saturating_mul(times.write).saturating_add(passes.saturating_mul(times.pass))
    }

    /// The response of writes, at most; `None` where the busy window is given up.
    fn write_response(self, times: &StockTimes, reads: &[RequestFlow], writes: &[RequestFlow]) -> Option<u128> {
        let window = times.busy_window(reads, writes)?;
        let (mut worst, mut begins, mut at) = (0, 0, 0);
        while at < window {
            let work = self.work_before_last(times, writes, at);
            loop {
                let interference = reads.iter().map(|read| read.within(begins)).fold(0, u128::saturating_add);
                let later = work.saturating_add(interference);
                if later <= begins {
                    break;
                }
                begins = later;
            }
            worst = worst.max((begins + times.write).saturating_sub(at));
            at = writes.iter().map(|write| (at / write.period + 1) * write.period).min()?;
        }
        Some(worst)
    }
}

impl StockTimes {
    fn longest(&self) -> u128 {
        self.read.max(self.write).max(self.erase)
    }

    /// The least L that serves all that is released before it; `None` after [`RELEASES`].
    fn busy_window(&self, reads: &[RequestFlow], writes: &[RequestFlow]) -> Option<u128> {
        let mut length = 1;
        loop {
            let releases = reads.iter().chain(writes).map(|stream| stream.releases(length));
            if releases.fold(0, u128::saturating_add) > RELEASES {
                return None;
            }
            let amount = |of: &RequestFlow| of.amount.saturating_mul(of.releases(length));
            let [pages, reading] = [writes, reads].map(|all| all.iter().map(amount).fold(0, u128::saturating_add));
            let passes = pages.div_ceil(self.reclaimed.max(1)).saturating_mul(self.pass);
            let work = pages.saturating_mul(self.write).saturating_add(passes).saturating_add(reading);
            if work <= length {
                return Some(length);
            }
            length = work;
        }
    }
}

fn streams(tasks: &[&Task], kind: impl Fn(&Task) -> Option<Request>, each: u128) -> Vec<RequestFlow> {
    let of = |request: Request| RequestFlow {
        amount: u128::from(request.pages()).saturating_mul(each),
        period: request.period().as_ns().into(),
    };
    tasks.iter().filter_map(|task| kind(task)).map(of).collect()
}

impl Analysis for Stock {
    fn name(&self) -> &'static str {
        "stock"
    }

    fn summary(&self) -> &'static str {
        "response times on a drive without deadlines: reads before writes, first come first served, whole GC passes"
    }

    fn assumes(&self) -> &'static [Assumption] {
        const READS_FIRST: Assumption = Assumption {
            name: "reads-first",
            statement: "a waiting read goes before writes and steps of GC, and behind reads that came earlier; one \
                        operation is never interrupted",
        };
        const WHOLE_PASSES: Assumption = Assumption {
            name: "whole-passes",
            statement: "a write waits for a whole pass while no more than a block's pages are free, the block with \
                        the fewest valid pages is its victim, and nothing else collects",
        };
        const NO_JOBS: Assumption = Assumption {
            name: "no-other-jobs",
            statement: "only the tasks' requests are served: with other jobs in the same queues nothing is bounded",
        };
        &[ONE_MEMORY, READS_FIRST, WHOLE_PASSES, NO_JOBS, IMPLICIT]
    }

    fn undefined(&self, set: &TaskSet) -> Option<&'static str> {
        let writes = set.tasks().iter().any(|task| task.write.is_some());
        let unbounded = self.victim_pages(set.device(), set.device().chips()).is_none();
        (writes && unbounded).then_some(
            "garbage collection has no bound: without the free block the data may fill all blocks, and a pass frees no \
             page (a smaller logical_ratio would do)",
        )
    }

    fn test(&self) -> Test<'_> {
        Test::Cluster(self)
    }
}

impl Baseline for Stock {
    /// The shares in the long run.
    fn terms(&self, device: &Device, tasks: &[&Task], chips: u32) -> Vec<BaselineTerm> {
        let times = self.times(device, chips);
        let collection = |(at, task): (usize, &&Task)| {
            let write = task.write?;
            let period = Fraction::new(u128::from(write.period().as_ns()) * times.reclaimed.max(1), 1);
            Some(BaselineTerm { task: Some(at), what: "gc", times: write.pages().into(), cost: times.pass, period })
        };
        let mut terms = request_terms(tasks, SchemeCosts { read: times.read, write: times.write });
        terms.extend(tasks.iter().enumerate().filter_map(collection));
        terms
    }

    fn worst_response(&self, device: &Device) -> u128 {
        let times = self.times(device, device.chips());
        (times.write + times.pass).max(times.longest() + times.read)
    }

    fn usable_pages(&self, device: &Device, chips: u32) -> u128 {
        device.logical_pages_of(chips)
    }

    fn rooms(&self, device: &Device, tasks: &[&Task], chips: u32) -> Vec<Room> {
        let times = self.times(device, chips);
        let reads = streams(tasks, |task| task.read, times.read);
        let writes = streams(tasks, |task| task.write, 1);
        let shortest = |of: &[RequestFlow]| of.iter().map(|stream| stream.period).min();
        let mut rooms = vec![data_room(self.usable_pages(device, chips), device, tasks, chips)];
        if let Some(there) = shortest(&reads) {
            let needed = self.read_response(&times, &reads, !writes.is_empty());
            rooms.push(Room { what: "response of reads", needed, there, unit: RoomUnit::Nanoseconds });
        }
        if let Some(there) = shortest(&writes) {
            let pages = u128::from(device.pages_per_block());
            let victim = Room {
                what: "one page more than a victim has",
                needed: pages + 1 - times.reclaimed,
                there: pages,
                unit: RoomUnit::Pages,
            };
            rooms.push(victim);
            let found = if victim.fits() { self.write_response(&times, &reads, &writes) } else { None };
            let (what, needed) =
                found.map_or(("response of writes, given up", there + 1), |needed| ("response of writes", needed));
            rooms.push(Room { what, needed, there, unit: RoomUnit::Nanoseconds });
        }
        rooms
    }
}
