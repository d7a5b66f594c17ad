//! Why an allocation cannot be run.

use super::{MAX_PAGES, MAX_REQUEST_PAGES};

/// Why an allocation cannot be run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// A cluster's blocks do not hold its reserve and one page for each task and job stream.
    #[error(
        "cluster {cluster}: too few blocks: the reserve takes {reserve_blocks} on each chip, and what is left \
             of {blocks} does not hold a page for each of {owners} tasks and jobs"
    )]
    TooFewBlocks {
        /// The cluster, by position.
        cluster: usize,
        /// Blocks on a chip that the reserve takes.
        reserve_blocks: u64,
        /// Blocks on a chip.
        blocks: u32,
        /// Tasks and job streams that need a logical page each.
        owners: usize,
    },
    /// The device has more pages than can be simulated, [`MAX_PAGES`].
    #[error("a device of {0} pages is too large to be simulated: {MAX_PAGES} pages is the limit")]
    TooManyPages(u64),
    /// Under certificates, a request or job has more than [`MAX_REQUEST_PAGES`] pages.
    #[error("a job of `{job}` has {pages} pages, too many to be simulated: {MAX_REQUEST_PAGES} is the limit")]
    LargeRequest {
        /// Whose jobs they are.
        job: String,
        /// The pages of each.
        pages: u64,
    },
    /// Two sources have it: a job stream is called like a task with `.read`, `.write` or `.gc`.
    #[error("two things are called `{0}`, a task's requests and a job stream: another name tells their jobs apart")]
    SameName(String),
    /// Some clusters have a certificate, and others have none.
    #[error("some clusters have a certificate and others have none")]
    MixedCertificates,
    /// A cluster's certificate cannot be run by.
    #[error("cluster {cluster}: its certificate {fault}")]
    Certificate {
        /// The cluster, by position.
        cluster: usize,
        /// The fault.
        fault: &'static str,
    },
    /// Under its certificate a cluster has no room for its reserve and a page of each task.
    #[error("cluster {cluster}: pages for its tasks and its reserve do not fit on its chips together")]
    NoRoom {
        /// The cluster, by position.
        cluster: usize,
    },
    /// The clusters and job streams are too many: their parts of the address space cannot be kept.
    #[error("{streams} job streams in each of {clusters} clusters are too many to be simulated")]
    TooManyParts {
        /// Clusters.
        clusters: usize,
        /// Job streams.
        streams: usize,
    },
    /// Without certificates, a request has a jitter, or a deadline before the end of its period.
    #[error(
        "task `{task}` has a jitter, or a deadline before the end of its period, which only a run by certificates \
             keeps to: --analysis sound makes these"
    )]
    NotImplicit {
        /// The task that it belongs to, by name.
        task: String,
    },
    /// Without certificates, the device has commands that use the bus.
    #[error(
        "the device has a `command`, and only clusters with certificates are run with commands on the bus: \
             --analysis sound has them"
    )]
    Commands,
    /// The terms are not as many as this allocation's clusters or tasks.
    #[error("the terms are those of another allocation")]
    OtherAllocation,
}
