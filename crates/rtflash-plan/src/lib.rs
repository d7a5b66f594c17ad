//! The input of a run on a simulated NAND flash device, which the engine runs and the judge
//! compares with its records: the [`Plan`] (clusters, pages, promises), the [`Options`] of the run,
//! and everything that a seed draws.
//!
//! Nothing here knows an analysis or an allocator: what a run must obey (GC periods, deadlines of
//! server jobs) and what it is judged by is data in the [`Plan`].

mod addresses;
mod arrivals;
mod faults;
mod groups;
mod ids;
mod jobs;
mod memory;
mod options;
mod plan;
mod policies;
mod release_pattern;
mod release_times;
mod requests;
pub mod resume;
mod servers;
mod start;
mod ties;
mod trims;

pub use addresses::Addresses;
pub use arrivals::{A_STREAM, Admission, Arrival, ArrivalQueue, Grant, NoServers, background_passes};
pub use faults::random_failure;
pub use groups::groups;
pub use ids::{BlockId, ChannelId, ColumnId, NO_LPN, PageId, SourceId};
pub use jobs::{JobId, Kind};
pub use memory::{DEFAULT_MEMORY, EXACT_RESPONSES, memory, memory_of_trace};
pub use options::{
    Aging, Arbitration, Dispatch, Options, Pattern, PeriodicTrim, Phases, Placed, Recurrence, Service, Ties, Times,
    Victims, Waits,
};
pub use plan::{
    Certified, ClusterPlan, ClusterTerms, CollectionChange, Data, DrawnAs, Layout, MAX_PAGES, MAX_REQUEST_PAGES,
    NoImage, Owner, Period, Plan, PlanError, PlannedChange, Promise, Releases, SharedPages, Source, StepSpans, Timing,
    ZoneRing, behind_a_page, ring_of,
};
pub use policies::Policy;
pub use release_pattern::{
    ReleasePattern, RequestPattern, read_partial_release_pattern, read_release_pattern, write_release_pattern,
};
pub use release_times::{release_gap, release_jitter, release_offset};
pub use requests::{Requests, job_pages, pages_from};
pub use servers::Servers;
pub use start::{ZonesAtStart, aged_chip, aged_places, free_pages_at_start, initial_pages, initial_zones};
pub use ties::{TieBreaker, random_chip_place, random_job_place};
pub use trims::NoTrim;
