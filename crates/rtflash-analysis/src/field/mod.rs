//! The field's own schemes, as analyses to compare with: one trait, a file for each scheme.
//!
//! docs/baselines.md has each form with its source, and says what is second hand. Here a cluster of
//! s chips is one flash memory of s times as many blocks, used one operation at a time, and every
//! cluster works for itself: `global` is the device of the papers, and other divisions are several
//! of them side by side. None knows a bus, so a page costs t_r or t_w, its transfer in it.
//!
//! The forms are in the letters of their papers: π pages a block, t_oob to read a spare area.

/// A scheme's name, summary and assumptions. It needs pages for data, and is a test of clusters.
macro_rules! scheme {
    ($scheme:ty, $name:literal, $summary:literal, $assumes:expr) => {
        impl crate::Analysis for $scheme {
            fn name(&self) -> &'static str {
                $name
            }

            fn summary(&self) -> &'static str {
                $summary
            }

            fn assumes(&self) -> &'static [crate::Assumption] {
                $assumes
            }

            fn undefined(&self, set: &rtflash_model::TaskSet) -> Option<&'static str> {
                super::without_room(self, set.device())
            }

            fn test(&self) -> crate::Test<'_> {
                crate::Test::Cluster(self)
            }
        }
    };
}

mod chang;
mod dhara;
mod gftl;
mod lazy_rtgc;
pub(crate) mod part_ftl;
mod partial_steps;
mod rftl;
mod stock;

use rtflash_model::{Device, Space, Task};

use super::{Analysis, Assumption, ClusterTest, ClusterVerdict};
use crate::fraction::{Fraction, Rational};

pub use chang::Chang;
pub use dhara::Dhara;
pub use gftl::Gftl;
pub use lazy_rtgc::LazyRtgc;
pub use rftl::Rftl;
pub use stock::Stock;

/// A cluster passes where its terms add up to one at most, and its [rooms](Baseline::rooms) fit.
pub trait Baseline: Analysis {
    /// The shares of time that these tasks take of `chips` chips, blocking last.
    fn terms(&self, device: &Device, tasks: &[&Task], chips: u32) -> Vec<BaselineTerm>;

    /// The papers' worst response of one page, all that belongs to it included, in nanoseconds.
    fn worst_response(&self, device: &Device) -> u128;

    /// Pages of data that a flash memory of `chips` chips holds, at most.
    fn usable_pages(&self, device: &Device, chips: u32) -> u128;

    /// Chips of the largest cluster that the scheme runs on.
    fn most_chips(&self, device: &Device) -> u32 {
        device.chips()
    }

    /// Pages programmed for each page written, at most, in the long run; `None`: as λ has it.
    fn write_amplification(&self, _device: &Device, _tasks: &[&Task], _chips: u32) -> Option<f64> {
        None
    }

    /// The quantities that the cluster has to hold, beside the room for them.
    fn rooms(&self, device: &Device, tasks: &[&Task], chips: u32) -> Vec<Room> {
        vec![data_room(self.usable_pages(device, chips), device, tasks, chips)]
    }
}

/// A share of a cluster's time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BaselineTerm {
    /// Whose it is, by position among the tasks; `None`: blocking.
    pub task: Option<usize>,
    /// Its name.
    pub what: &'static str,
    /// How often the cost is paid in a period.
    pub times: u128,
    /// The cost in nanoseconds.
    pub cost: u128,
    /// The period in nanoseconds; not always a whole number.
    pub period: Fraction,
}

impl BaselineTerm {
    /// times · cost / period, exactly.
    pub fn share(&self) -> Rational {
        Rational::product([self.times, self.cost, self.period.denominator()], [self.period.numerator()])
    }
}

/// Pages that have to go somewhere, or a response that has to be in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Room {
    /// Which pages, or whose response.
    pub what: &'static str,
    /// The number of them.
    pub needed: u128,
    /// The room for them.
    pub there: u128,
    /// Its unit.
    pub unit: RoomUnit,
}

/// The unit of a [`Room`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RoomUnit {
    /// Pages.
    Pages,
    /// Nanoseconds.
    Nanoseconds,
}

impl Room {
    /// Whether they fit.
    pub fn fits(&self) -> bool {
        self.needed <= self.there
    }
}

/// The data of the tasks, or a page if none is declared, in these usable pages.
fn data_room(usable: u128, device: &Device, tasks: &[&Task], chips: u32) -> Room {
    let data = Space::new(device, tasks.iter().copied(), chips, None).needed_pages;
    Room { what: "data in the usable space", needed: data.max(1), there: usable, unit: RoomUnit::Pages }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct SchemeCosts {
    read: u128,
    write: u128,
}

/// r·read/T^r and w·write/T^w of every task.
fn request_terms(tasks: &[&Task], costs: SchemeCosts) -> Vec<BaselineTerm> {
    let term = |(at, (request, writes)): (usize, (rtflash_model::Request, bool))| BaselineTerm {
        task: Some(at),
        what: if writes { "write" } else { "read" },
        times: request.pages().into(),
        cost: if writes { costs.write } else { costs.read },
        period: Fraction::new(request.period().as_ns().into(), 1),
    };
    tasks.iter().enumerate().flat_map(|(at, task)| task.requests().map(move |each| (at, each))).map(term).collect()
}

fn with_blocking(mut terms: Vec<BaselineTerm>, cost: u128) -> Vec<BaselineTerm> {
    if let Some(period) = terms.iter().map(|term| term.period).min() {
        terms.push(BaselineTerm { task: None, what: "blocking", times: 1, cost, period });
    }
    terms
}

/// How full the cluster is in time, or where that would do, in space.
impl<B: Baseline> ClusterTest for B {
    fn most_chips(&self, device: &Device) -> u32 {
        Baseline::most_chips(self, device)
    }

    fn verdict(&self, device: &Device, tasks: &[&Task], chips: u32) -> ClusterVerdict {
        let shares: Vec<Rational> = self.terms(device, tasks, chips).iter().map(BaselineTerm::share).collect();
        let in_time = ClusterVerdict::up_to_one(Rational::sum(&shares));
        match self.rooms(device, tasks, chips).into_iter().find(|room| !room.fits()) {
            // A cluster without any room comes last among those that do not pass.
            Some(room) if in_time.passes && room.there == 0 => {
                ClusterVerdict::up_to_one(Fraction::new(u64::MAX.into(), 1))
            }
            Some(room) if in_time.passes => ClusterVerdict::up_to_one(Fraction::new(room.needed, room.there)),
            _ => in_time,
        }
    }
}

fn without_room(of: &dyn Baseline, device: &Device) -> Option<&'static str> {
    let none = of.usable_pages(device, device.chips()) == 0;
    none.then_some("its scheme leaves no page of this device to data (docs/baselines.md)")
}

/// In the order of their years, then the drive without any scheme, and a layer that ships.
pub static BASELINES: [&dyn Baseline; 9] = [
    &Chang,
    &Gftl,
    &Rftl,
    &LazyRtgc,
    &Stock,
    &Dhara::FOUR,
    &Dhara::FIFTEEN,
    &Dhara::FOUR_BY_PERIOD,
    &Dhara::FIFTEEN_BY_PERIOD,
];

/// A second name of [`Stock`]: a drive that serves in order of arrival.
pub const FIFO_DRIVE: &str = "fifo-drive";

/// The scheme of that name, Dhara with any ratio among them.
pub fn baseline(name: &str) -> Option<&'static dyn Baseline> {
    let name = if name == FIFO_DRIVE { Stock.name() } else { name };
    let any_ratio = Dhara::with_any_ratio().iter().map(|dhara| dhara as &dyn Baseline);
    BASELINES.into_iter().chain(any_ratio).find(|baseline| baseline.name() == name)
}

/// One flash memory, one operation at a time.
const ONE_MEMORY: Assumption = Assumption {
    name: "one-memory",
    statement: "the chips of a cluster are one flash memory that does one operation at a time; clusters do not meet \
                on a bus (the papers have one chip, or a bank used as one)",
};
const EARLIEST_DEADLINE: Assumption = Assumption {
    name: "earliest-deadline",
    statement: "pages are served by earliest deadline, a page with its partial step without interruption; the papers \
                bound one request and have no test for a set of tasks (docs/baselines.md)",
};
const OOB: Assumption = Assumption {
    name: "spare-area",
    statement: "reading a spare area takes as long as reading a page, as in the evaluation of Lazy-RTGC (its Table IV)",
};
const EVERY_STEP: Assumption = Assumption {
    name: "partial-steps",
    statement: "collection goes in steps no longer than t_e, at most one behind a page, and is execution time of that \
                page; nothing else collects",
};
const IMPLICIT: Assumption = Assumption {
    name: "implicit-deadlines",
    statement: "each request is due within its period, and arrives no sooner than a period after the one before",
};
