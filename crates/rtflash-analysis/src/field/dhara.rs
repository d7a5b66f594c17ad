//! `dhara`, `dhara-N`: response times on a chip with Dhara, the flash translation layer that
//! Zephyr and Espressif ship. docs/dhara-bounds.md has the costs of its calls.

use std::sync::LazyLock;

use rtflash_dhara::costs::{CallCost, ChipTimes, DharaShape, DriverTimes};
use rtflash_dhara::nand::NandGeometry;
use rtflash_model::{Device, Request, Task, TaskSet};

use super::partial_steps::at_most;
use super::{Baseline, BaselineTerm, Room, RoomUnit, SchemeCosts, data_room, request_terms, without_room};
use crate::{Analysis, Assumption, Test};

/// Requests in a busy time after which a test by priorities gives up.
const RELEASES: u64 = 4_096;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Callers {
    AnyOrder,
    ByPeriod,
}

/// Dhara on each chip: synchronous calls behind a lock, and requests a period apart at least.
/// docs/dhara-bounds.md proves both tests: for any order of callers, and for priorities by period
/// (Zephyr's semaphore, a mutex of FreeRTOS).
#[derive(Debug, Clone, Copy)]
pub struct Dhara {
    name: &'static str,
    summary: &'static str,
    gc_ratio: u32,
    callers: Callers,
}

impl Dhara {
    /// With a ratio of four, as in Espressif's examples of `spi_nand_flash`.
    pub const FOUR: Dhara = Dhara {
        name: "dhara",
        summary: "response times on a chip with Dhara, an FTL of Zephyr and ESP-IDF, at a gc_ratio of 4",
        gc_ratio: 4,
        callers: Callers::AnyOrder,
    };
    /// With a ratio of fifteen, the default of Zephyr's `DISK_FTL_GC_RATIO`.
    pub const FIFTEEN: Dhara = Dhara {
        name: "dhara-15",
        summary: "dhara with a gc_ratio of 15, the default of Zephyr; `dhara-N` has N, from 1 to 255",
        gc_ratio: 15,
        ..Dhara::FOUR
    };
    /// [`Dhara::FOUR`], for callers in the order of their priorities.
    pub const FOUR_BY_PERIOD: Dhara = Dhara {
        name: "dhara-priority",
        summary: "dhara with callers by priority: the shorter the period of requests, the higher",
        callers: Callers::ByPeriod,
        ..Dhara::FOUR
    };
    /// [`Dhara::FIFTEEN`], for callers in the order of their priorities.
    pub const FIFTEEN_BY_PERIOD: Dhara = Dhara {
        name: "dhara-15-priority",
        summary: "dhara-priority with a gc_ratio of 15; `dhara-N-priority` has N, from 1 to 255",
        gc_ratio: 15,
        ..Dhara::FOUR_BY_PERIOD
    };

    /// `dhara-N` and `dhara-N-priority`, for each ratio N that Dhara takes (a `uint8_t`).
    pub fn with_any_ratio() -> &'static [Dhara] {
        static ALL: LazyLock<Vec<Dhara>> = LazyLock::new(|| {
            let named = |gc_ratio: u8| {
                let with = |base: Dhara, suffix: &str| Dhara {
                    name: format!("dhara-{gc_ratio}{suffix}").leak(),
                    summary: format!("dhara{suffix} with a gc_ratio of {gc_ratio}").leak(),
                    gc_ratio: gc_ratio.into(),
                    ..base
                };
                [with(Dhara::FOUR, ""), with(Dhara::FOUR_BY_PERIOD, "-priority")]
            };
            (1..=u8::MAX).flat_map(named).collect()
        });
        &ALL
    }

    /// `None` where Dhara does not take the chip, or has no capacity.
    pub fn shape(self, device: &Device) -> Option<DharaShape> {
        let (pages, bytes) = (device.pages_per_block(), device.page_size());
        let fits = pages.is_power_of_two() && bytes.is_power_of_two() && pages > 1 && (512..=1 << 20).contains(&bytes);
        let whole = u64::from(device.blocks_per_chip()) * u64::from(pages);
        if !fits || whole >= 1 << 31 {
            return None;
        }
        let geometry =
            NandGeometry { log2_page: bytes.ilog2(), log2_block: pages.ilog2(), blocks: device.blocks_per_chip() };
        let shape = DharaShape {
            geometry,
            gc_ratio: self.gc_ratio,
            sectors: 1,
            bad_run: 0,
            failures: 0,
            losses: true,
            failed: 0,
        };
        let sectors = u32::try_from(shape.capacity(0)).ok()?;
        (shape.new_capacity() > 0).then_some(DharaShape { sectors, ..shape })
    }

    /// How long its driver's operations take on a chip of this device.
    pub fn times(device: &Device) -> DriverTimes {
        let [read, program] = [device.page_read(), device.page_program()].map(|time| time.as_ns().into());
        let [erase, transfer] = [device.block_erase(), device.page_transfer()].map(|time| time.as_ns().into());
        DriverTimes::of(&ChipTimes { read, program, erase, transfer, page: device.page_size().into() })
    }

    fn time(self, device: &Device, of: impl Fn(&DharaShape) -> CallCost) -> u128 {
        self.shape(device).map_or(0, |shape| of(&shape).time(&Dhara::times(device)))
    }

    /// Long-run costs of writes: checkpoints and erases come out even after as many writes as a
    /// block has user pages, times those of a group.
    fn costs(self, device: &Device) -> SchemeCosts {
        let even = self.shape(device).map_or(1, |shape| shape.group_users() * shape.block_users());
        let write = self.time(device, |shape| shape.writes(even)).div_ceil(even.into());
        SchemeCosts { read: self.time(device, DharaShape::read), write }
    }

    fn serving(self, device: &Device, pages: PagesInARow) -> u128 {
        // A higher number is not counted, but refused.
        if pages.reads.max(pages.writes) > 1 << 50 {
            return u128::MAX;
        }
        self.time(device, |shape| shape.read() * pages.reads + shape.writes(pages.writes))
    }

    fn all_at_once(self, device: &Device, kinds: &[RequestKind]) -> Option<Room> {
        let there = kinds.iter().map(|kind| kind.period).min()?;
        let all = kinds.iter().map(|kind| kind.pages).fold(PagesInARow::default(), PagesInARow::and);
        let needed = self.serving(device, all);
        Some(Room { what: "one request of each kind", needed, there: there.into(), unit: RoomUnit::Nanoseconds })
    }

    /// The longest time without a break in which requests of `period` or less are served, cut off
    /// above `period`, and after [`RELEASES`].
    fn busy_time(self, device: &Device, kinds: &[RequestKind], period: u64) -> u128 {
        let urgent = || kinds.iter().filter(|kind| kind.period <= period);
        let blocking = kinds.iter().filter(|kind| kind.period > period).map(|kind| kind.pages);
        let blocking: Vec<PagesInARow> = blocking.chain([PagesInARow::default()]).collect();
        let mut length: u64 = 1;
        loop {
            if urgent().map(|kind| length.div_ceil(kind.period)).fold(0, u64::saturating_add) > RELEASES {
                return u128::MAX;
            }
            let served = urgent().map(|kind| kind.pages.times(length.div_ceil(kind.period)));
            let served = served.fold(PagesInARow::default(), PagesInARow::and);
            let longest = blocking.iter().map(|&first| self.serving(device, served.and(first))).max();
            let longest = longest.expect("at least no blocking: an invariant");
            match u64::try_from(longest) {
                Ok(longest) if longest > length && longest <= period => length = longest,
                _ => return longest,
            }
        }
    }

    fn by_period(self, device: &Device, kinds: &[RequestKind]) -> Option<Room> {
        let mut periods: Vec<u64> = kinds.iter().map(|kind| kind.period).collect();
        periods.sort_unstable();
        periods.dedup();
        let rooms = periods.iter().map(|&period| Room {
            what: "a request with all of its priority or above",
            needed: self.busy_time(device, kinds, period),
            there: period.into(),
            unit: RoomUnit::Nanoseconds,
        });
        let mut last = None;
        for room in rooms {
            last = Some(room);
            if !room.fits() {
                break;
            }
        }
        last
    }
}

#[derive(Debug, Clone, Copy, Default)]
struct PagesInARow {
    reads: u64,
    writes: u64,
}

impl PagesInARow {
    fn and(self, other: PagesInARow) -> PagesInARow {
        PagesInARow { reads: self.reads.saturating_add(other.reads), writes: self.writes.saturating_add(other.writes) }
    }

    fn times(self, by: u64) -> PagesInARow {
        PagesInARow { reads: self.reads.saturating_mul(by), writes: self.writes.saturating_mul(by) }
    }
}

struct RequestKind {
    pages: PagesInARow,
    period: u64,
}

impl RequestKind {
    fn all(tasks: &[&Task]) -> Vec<RequestKind> {
        let kind = |(of, writes): (Request, bool)| {
            let pages = if writes {
                PagesInARow { reads: 0, writes: of.pages() }
            } else {
                PagesInARow { reads: of.pages(), writes: 0 }
            };
            RequestKind { pages, period: of.period().as_ns() }
        };
        tasks.iter().flat_map(|task| task.requests()).map(kind).collect()
    }
}

impl Analysis for Dhara {
    fn name(&self) -> &'static str {
        self.name
    }

    fn summary(&self) -> &'static str {
        self.summary
    }

    fn assumes(&self) -> &'static [Assumption] {
        const ONE_CHIP: Assumption = Assumption {
            name: "one-chip",
            statement: "each cluster is one chip with a map of its own, and no other chip is on its bus meanwhile",
        };
        const CALLS: Assumption = Assumption {
            name: "reads-and-writes",
            statement: "the tasks only read and write: a synchronization can read the whole journal, and no call \
                        synchronizes, trims, starts the library anew, or rewrites a sector that it read with errors, \
                        while deadlines count",
        };
        const NO_FAILURES: Assumption = Assumption {
            name: "no-failures",
            statement: "no block goes bad meanwhile, and none was bad: the blocks of the device are its good ones \
                        (docs/dhara-bounds.md has what each of them costs)",
        };
        const DRIVER: Assumption = Assumption {
            name: "driver",
            statement: "a copy takes t_r + t_w + 2 t_d, a program t_r + t_d + t_w, reading metadata t_r and their \
                        share of t_d; commands, polls and the processor are in the stated times",
        };
        const PRIORITIES: Assumption = Assumption {
            name: "priorities",
            statement: "each kind of request has a thread, of a higher priority the shorter its period is; all run on \
                        one processor, and the lock wakes the waiting thread of the highest priority",
        };
        match self.callers {
            Callers::AnyOrder => &[ONE_CHIP, CALLS, NO_FAILURES, DRIVER, super::IMPLICIT],
            Callers::ByPeriod => &[ONE_CHIP, CALLS, NO_FAILURES, DRIVER, PRIORITIES, super::IMPLICIT],
        }
    }

    fn undefined(&self, set: &TaskSet) -> Option<&'static str> {
        let takes = self.shape(set.device()).is_some();
        let without = "Dhara does not take such a chip: it needs powers of two as pages of a block (2 at least) and \
                       bytes of a page (512 at least), and more blocks than it keeps back (docs/dhara-bounds.md)";
        (!takes).then_some(without).or_else(|| without_room(self, set.device()))
    }

    fn test(&self) -> Test<'_> {
        Test::Cluster(self)
    }
}

impl Baseline for Dhara {
    /// The shares in the long run; none of several chips, which have no map.
    fn terms(&self, device: &Device, tasks: &[&Task], chips: u32) -> Vec<BaselineTerm> {
        if chips == 1 { request_terms(tasks, self.costs(device)) } else { Vec::new() }
    }

    fn worst_response(&self, device: &Device) -> u128 {
        self.time(device, DharaShape::read).max(self.time(device, DharaShape::write))
    }

    fn most_chips(&self, _device: &Device) -> u32 {
        1
    }

    /// Those of a new chip, of each.
    fn usable_pages(&self, device: &Device, chips: u32) -> u128 {
        let each = self.shape(device).map_or(0, |shape| shape.new_capacity());
        at_most(device, chips, u128::from(each) * u128::from(chips))
    }

    fn rooms(&self, device: &Device, tasks: &[&Task], chips: u32) -> Vec<Room> {
        let usable = if chips == 1 { self.usable_pages(device, 1) } else { 0 };
        let data = Room { what: "data in the map of one chip", ..data_room(usable, device, tasks, chips) };
        if chips != 1 {
            return vec![data];
        }
        let kinds = RequestKind::all(tasks);
        let response = match self.callers {
            Callers::AnyOrder => self.all_at_once(device, &kinds),
            Callers::ByPeriod => self.by_period(device, &kinds),
        };
        [data].into_iter().chain(response).collect()
    }

    /// 1 + c copies, each page with its share of a checkpoint (docs/dhara-bounds.md); c is the
    /// lesser of g and D/(X − D) for D pages of data.
    fn write_amplification(&self, device: &Device, tasks: &[&Task], chips: u32) -> Option<f64> {
        let shape = self.shape(device).filter(|_| chips == 1)?;
        let usable = self.usable_pages(device, 1);
        let all_declare = tasks.iter().all(|task| task.data_pages.is_some());
        let data = if all_declare { data_room(usable, device, tasks, 1).needed.min(usable) } else { usable };
        let data = u64::try_from(data).expect("pages of a chip: an invariant");
        Some((1.0 + shape.copies(data)) * (1.0 + 1.0 / shape.group_users() as f64))
    }
}
