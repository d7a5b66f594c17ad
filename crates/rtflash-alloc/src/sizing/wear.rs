//! The wear: pages, erases and years.

use rtflash_model::{ChipId, Request, TaskId, TaskSet};

use super::overwriting::Amplification;

pub(super) const NS_A_DAY: f64 = 86_400e9;
const DAYS_A_YEAR: f64 = 365.25;

/// The cost of a cluster.
#[derive(Debug, Clone, PartialEq)]
pub struct ClusterCost {
    /// Its chips, ascending.
    pub chips: Vec<ChipId>,
    /// Its tasks, ascending.
    pub tasks: Vec<TaskId>,
    /// At most: 1 + v/α under certificates, 1 where tasks own zones, a scheme's own number, and
    /// else 1 + ⌈λP⌉/α. `None` where nothing is ever written.
    pub write_amplification: Option<f64>,
    /// Its wear by its real-time tasks.
    pub wear: Wear,
    /// Its wear with its part of the jobs that are not real-time; `None` where it serves none.
    pub with_jobs: Option<Wear>,
    /// If tasks overwrite in order, from a start in order to a strewn one. `None` where none
    /// writes, the data do not fit, or the scheme has its own number.
    pub in_rings: Option<Expected>,
    /// The expected wear if each overwrites any of its pages.
    pub anywhere: Option<Expected>,
}

/// The effect of writes on chips, if all blocks of a cluster wear evenly.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Wear {
    /// Pages written a day.
    pub pages: f64,
    /// Pages that garbage collection copies a day, at most.
    pub gc_pages: f64,
    /// Block erases a day and chip, with blocks worn evenly: docs/lifetime.md, Eq. (1).
    pub erases: f64,
    /// 365.25 days each, until a block is worn out, at least, Eq. (2); `None` without writes.
    pub lifetime_years: Option<f64>,
}

impl Wear {
    pub(super) fn new(set: &TaskSet, pages: f64, amplification: f64, chips: usize) -> Wear {
        let device = set.device();
        let programmed = pages * amplification;
        // A page that is programmed has been erased.
        let erases = programmed / f64::from(device.pages_per_block()) / chips.max(1) as f64;
        let endured = device.erase_cycles().map(|cycles| f64::from(cycles) * f64::from(device.blocks_per_chip()));
        let lifetime_years = endured.filter(|_| erases > 0.0).map(|endured| endured / erases / DAYS_A_YEAR);
        Wear { pages, gc_pages: programmed - pages, erases, lifetime_years }
    }

    pub(super) fn and(self, other: Wear) -> Wear {
        let shorter = match (self.lifetime_years, other.lifetime_years) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
        Wear {
            pages: self.pages + other.pages,
            gc_pages: self.gc_pages + other.gc_pages,
            erases: self.erases.max(other.erases),
            lifetime_years: shorter,
        }
    }
}

/// Pages a day.
pub(super) fn request_pages(write: Request) -> f64 {
    write.pages() as f64 / write.period().as_ns() as f64 * NS_A_DAY
}

/// The expectation for real-time tasks, in the long run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Expected {
    /// Pages programmed for each page written; of the device, over all clusters.
    pub amplification: Amplification,
    /// With the least of them.
    pub least: Wear,
    /// With the most.
    pub most: Wear,
}
