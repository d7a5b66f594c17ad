//! How a run is made: policies, workload, seed.

use std::sync::Arc;

use rtflash_model::{Instant, Span, TaskId};
use serde::{Deserialize, Serialize};

use crate::release_pattern::ReleasePattern;

/// How a cluster's chips are kept busy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Dispatch {
    /// A page operation, or a step of a GC pass on all chips, at a time, as Theorem 1 supposes.
    #[default]
    Serial,
    /// Every chip takes the earliest-deadline operation that waits for it.
    Parallel,
}

/// How jobs that are not real-time are served.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Service {
    /// A Total Bandwidth Server in each cluster: jobs have deadlines (IV.11), and EDF serves them.
    #[default]
    Tbs,
    /// First come first served when nothing else is pending, in the cluster with the fewest pages.
    Background,
}

/// How many pages a GC pass copies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Victims {
    /// The valid pages of the victim.
    #[default]
    Actual,
    /// At least ⌈λP⌉ on every chip, the last page copied again if need be; by certificates v.
    Worst,
}

/// The history of the device before the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Aging {
    /// Full, with an equal share of every task's valid pages in every block; by certificates
    /// exactly the reserve is free, and a superblock's valid pages are on the fewest chips.
    #[default]
    Worst,
    /// Full, valid pages anywhere.
    Random,
    /// Written once from the first page to the last, never overwritten.
    Fresh,
}

/// Which pages of its own part of the logical space a task reads and writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Pattern {
    /// Each page with the same probability.
    #[default]
    Uniform,
    /// One after another, round and round; reads and writes each on their own round.
    Sequential,
    /// Eight of ten in the first fifth, the others in the rest.
    HotCold,
    /// Only pages that are on the cluster's first chip, as long as there are any.
    OneChip,
    /// Writes go to the fullest closed block (of a stripe's first chip), reads as with `OneChip`.
    Fullest,
}

/// The wait of a page for its bus, under certificates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Waits {
    /// Until the transfers before it are over.
    #[default]
    Actual,
    /// As long as all other chips of the channel can take, without records of transfers. A user's
    /// read in a superblock waits for other clusters' chips.
    Worst,
}

/// When the first request of a task arrives, unless a [`ReleasePattern`] states it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Phases {
    /// At 0.
    #[default]
    Periodic,
    /// At 0; by certificates a nanosecond after an erase has begun in the cluster, at most a period
    /// after the arrival, so that it waits for the erase as long as can be.
    AtErases,
    /// Below the period, by [`release_offset`](crate::release_offset).
    Random,
}

/// How long after each other the requests of a task arrive, where no [`ReleasePattern`] says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Recurrence {
    /// A period.
    #[default]
    Periodic,
    /// A period and a drawn gap: see [`release_gap`](crate::release_gap).
    Sporadic,
}

/// How long operations take where the device states ranges of times.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Times {
    /// As long as they may.
    #[default]
    Worst,
    /// As short as they may.
    Best,
    /// Each anything in between, drawn from the seed.
    Random,
}

/// Which of the chips that wait for a bus gets it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Arbitration {
    /// The one that has waited longest.
    #[default]
    Fifo,
    /// The first one behind the chip that had the bus last, round the channel.
    RoundRobin,
}

/// The order of jobs of one deadline, and of chips that ask for a bus at one instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Ties {
    /// The first job by kind (reads, writes, GC, server), then by source; the lowest chip.
    #[default]
    Lowest,
    /// The other way round. Jobs of one source keep their order.
    Highest,
    /// In an order that is drawn: of jobs for each job, of chips for each chip and instant.
    Random,
}

/// The options that only matter under certificates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Placed {
    /// Whether chips of a superblock that a step leaves idle take pages of other requests.
    pub backfill: bool,
    /// See [`Waits`].
    pub waits: Waits,
    /// This number of a thousand programs and erases, while no more of a chip fail than
    /// the device states, in all and at programs in one busy interval.
    pub faults: u16,
}

impl Default for Placed {
    fn default() -> Placed {
        Placed { backfill: true, waits: Waits::Actual, faults: 0 }
    }
}

/// Pages that a task gives back time and again, under certificates: see [`PeriodicTrim::pages_in`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PeriodicTrim {
    /// The task.
    pub task: TaskId,
    /// This number of its pages at a time, in order, round and round from its first one.
    pub pages: u32,
    /// How long after the start they are trimmed first, and then after each other.
    pub every: Span,
}

/// All that a run depends on beside its [`Plan`](crate::Plan).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// Nothing is released or started at this instant or later.
    pub duration: Instant,
    /// See [`Dispatch`]. Clusters with certificates are dispatched as their placement says.
    pub dispatch: Dispatch,
    /// See [`Service`].
    pub service: Service,
    /// See [`Victims`].
    pub victims: Victims,
    /// See [`Aging`].
    pub aging: Aging,
    /// See [`Pattern`].
    pub pattern: Pattern,
    /// See [`Times`].
    pub times: Times,
    /// See [`Phases`].
    pub phases: Phases,
    /// See [`Recurrence`].
    pub recurrence: Recurrence,
    /// Releases of some requests, or of all; before `phases`, `recurrence` and `times`.
    pub releases: Option<Arc<ReleasePattern>>,
    /// An early request is held until a period after the one before, one with more pages than
    /// declared is cut to these.
    pub police: bool,
    /// The trims of tasks. A page that cannot be trimmed is left as it is.
    pub trims: Vec<PeriodicTrim>,
    /// See [`Arbitration`].
    pub arbitration: Arbitration,
    /// See [`Ties`].
    pub ties: Ties,
    /// Addresses, arrivals, releases, aging, lengths and ties are drawn from it.
    pub seed: u64,
    /// See [`Placed`].
    pub placed: Placed,
}

impl Options {
    /// Whether the requests of tasks may arrive at other times than 0, T, 2T, …
    pub fn is_sporadic(&self) -> bool {
        (self.phases, self.recurrence) != (Phases::Periodic, Recurrence::Periodic) || self.releases.is_some()
    }
}

impl Default for Options {
    fn default() -> Options {
        Options {
            duration: Instant::START.saturating_add(Span::from_us(10_000_000)),
            dispatch: Dispatch::default(),
            service: Service::default(),
            victims: Victims::default(),
            aging: Aging::default(),
            pattern: Pattern::default(),
            times: Times::default(),
            phases: Phases::default(),
            recurrence: Recurrence::default(),
            releases: None,
            police: false,
            trims: Vec::new(),
            arbitration: Arbitration::default(),
            ties: Ties::default(),
            seed: 1,
            placed: Placed::default(),
        }
    }
}
