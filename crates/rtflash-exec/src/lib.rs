//! A NAND flash device in simulated time: runs an allocation operation by operation, and checks
//! what the analyses take for granted.
//!
//! Nothing here knows an analysis or an allocator: what a run must obey (GC periods, deadlines of
//! server jobs) and what it is judged by is data in the [`Plan`].
//!
//! Two reads that come every ten milliseconds, one in each cluster, for a second:
//!
//! ```
//! use rtflash_exec::dispatch::NoServers;
//! use rtflash_exec::report::Statistics;
//! use rtflash_exec::{ClusterTerms, Options, Plan, Timing, run};
//! use rtflash_model::{Allocation, Cluster, Device, Instant, Request, Span, Task, TaskSet};
//!
//! let device = Device::profile("dgist-2021").ok_or("no such device")?;
//! let task = |name: &str| Task {
//!     name: name.into(),
//!     read: Request::new(8, Span::from_us(10_000)),
//!     write: None,
//!     data_pages: None,
//! };
//! let set = TaskSet::new(device, vec![task("a"), task("b")], vec![]).map_err(|wrong| wrong[0].to_string())?;
//! let halves = Allocation::new(16, 2, &[Cluster::of(0..8, [0]), Cluster::of(8..16, [1])])?;
//! let terms = || ClusterTerms::Utilization { page_delay: Span::ZERO, gc_periods: vec![None] };
//! let plan = Plan::new(&set, &halves, Timing::of_device(&device), &[terms(), terms()])?;
//!
//! let second = Instant::from_ns(1_000_000_000).ok_or("too long")?;
//! let options = Options { duration: second, ..Options::default() };
//! let ran = run(&plan, &options, &mut NoServers, |_| Statistics::new(&plan, second))?;
//! let reports = ran.into_iter().map(|statistics| statistics.finish(&plan));
//! let report = reports.reduce(|all, one| all.merge(one)).ok_or("no cluster")?;
//! assert_eq!(report.sources.iter().map(|source| (source.completed, source.misses)).collect::<Vec<_>>(), [(100, 0); 2]);
//! assert_eq!(report.operations().reads, 2 * 100 * 8);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

// For samples that tests of other crates share.
#[cfg(test)]
extern crate self as rtflash_exec;

pub mod check;
pub mod dispatch;
mod earliest;
mod error;
mod faults;
mod flash;
pub mod ftl;
mod groups;
mod hosted;
mod ids;
mod jobs;
mod lengths;
mod memory;
mod options;
mod plan;
mod release_pattern;
pub mod report;
pub mod resume;
mod run;
mod ties;
pub mod trace;
mod trims;

pub use error::RunError;
pub use faults::random_failure;
pub use groups::groups;
pub use hosted::{Hosted, HostedJob};
pub use ids::{BlockId, ChannelId, ColumnId, PageId, SourceId};
pub use lengths::Lengths;
pub use memory::{DEFAULT_MEMORY, memory, memory_of_trace};
pub use options::{
    Aging, Arbitration, Dispatch, Options, Pattern, PeriodicTrim, Phases, Placed, Recurrence, Service, Ties, Times,
    Victims, Waits,
};
pub use plan::{
    Certified, ClusterPlan, ClusterTerms, CollectionChange, Data, Layout, MAX_PAGES, MAX_REQUEST_PAGES, NoImage, Owner,
    Period, Plan, PlanError, PlannedChange, Promise, Releases, SharedPages, Source, Timing, TooFewBlocks, ZoneRing,
};
pub use release_pattern::{
    ReleasePattern, RequestPattern, read_partial_release_pattern, read_release_pattern, write_release_pattern,
};
pub use run::{Running, run, run_traced, run_traced_watched};
pub use ties::{random_chip_place, random_job_place};
pub use trims::NoTrim;
