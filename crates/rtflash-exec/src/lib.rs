//! A NAND flash device in simulated time: runs an allocation operation by operation, and checks
//! what the analyses take for granted.
//!
//! Nothing here knows an analysis or an allocator: what a run must obey (GC periods, deadlines of
//! server jobs) and what it is judged by is data in the [`Plan`].

// For samples that tests of other crates share.
#[cfg(test)]
extern crate self as rtflash_exec;

pub mod check;
pub mod dispatch;
mod earliest;
mod error;
mod flash;
pub mod ftl;
mod groups;
mod hosted;
mod ids;
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

pub use error::RunError;
pub use groups::{groups, shared_channels};
pub use hosted::{Hosted, HostedJob};
pub use ids::{BlockId, ChannelId, ColumnId, PageId, SourceId};
pub use lengths::Lengths;
pub use memory::{DEFAULT_MEMORY, memory, memory_of_trace};
pub use options::{
    Aging, Arbitration, Dispatch, Options, Pattern, Phases, Placed, Recurrence, Service, Ties, Times, Victims, Waits,
};
pub use plan::{
    Certified, ClusterPlan, ClusterTerms, Data, Layout, MAX_PAGES, MAX_REQUEST_PAGES, Owner, Period, Plan, PlanError,
    Promise, Releases, Source, Timing, TooFewBlocks,
};
pub use release_pattern::{
    ReleasePattern, RequestPattern, read_partial_release_pattern, read_release_pattern, write_release_pattern,
};
pub use run::{Running, between_looks, run, run_traced};
pub use ties::{random_chip_place, random_job_place};
