//! Why an allocation cannot be run.

use std::fmt;

use super::{MAX_PAGES, MAX_REQUEST_PAGES};

/// Why an allocation cannot be run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlanError {
    /// A cluster's blocks do not hold its reserve and one page for each task and job stream.
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
    TooManyPages(u64),
    /// Under certificates, a request or job has more than [`MAX_REQUEST_PAGES`] pages.
    LargeRequest {
        /// Whose jobs they are.
        source: String,
        /// The pages of each.
        pages: u64,
    },
    /// Two sources have this name: a job stream is called like a task with `.read`, `.write` or
    /// `.gc`.
    SameName(String),
    /// Some clusters have a certificate, and others have none.
    MixedCertificates,
    /// A cluster's certificate cannot be run by.
    Certificate {
        /// The cluster, by position.
        cluster: usize,
        /// What is wrong with it.
        fault: &'static str,
    },
    /// Under its certificate a cluster has no room for its reserve and a page of each task.
    NoRoom {
        /// The cluster, by position.
        cluster: usize,
    },
    /// So many clusters and job streams that their parts of the address space cannot be kept.
    TooManyParts {
        /// Clusters.
        clusters: usize,
        /// Job streams.
        streams: usize,
    },
    /// Without certificates, a request has a jitter, or a deadline before the end of its period.
    NotImplicit {
        /// The task that it belongs to, by name.
        task: String,
    },
    /// Without certificates, the device has commands that use the bus.
    Commands,
    /// The terms are not as many as this allocation's clusters or tasks.
    OtherAllocation,
}

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PlanError::TooFewBlocks { cluster, reserve_blocks, blocks, owners } => write!(
                f,
                "cluster {cluster}: too few blocks: the reserve takes {reserve_blocks} on each chip, and what is left \
                 of {blocks} does not hold a page for each of {owners} tasks and jobs"
            ),
            PlanError::TooManyPages(pages) => {
                write!(f, "a device of {pages} pages is too large to be simulated: {MAX_PAGES} pages is the limit")
            }
            PlanError::LargeRequest { source, pages } => {
                write!(
                    f,
                    "a job of `{source}` has {pages} pages, too many to be simulated: {MAX_REQUEST_PAGES} is the limit"
                )
            }
            PlanError::SameName(name) => {
                write!(
                    f,
                    "two things are called `{name}`, a task's requests and a job stream: another name tells their jobs apart"
                )
            }
            PlanError::MixedCertificates => f.write_str("some clusters have a certificate and others have none"),
            PlanError::Certificate { cluster, fault } => write!(f, "cluster {cluster}: its certificate {fault}"),
            PlanError::NoRoom { cluster } => {
                write!(f, "cluster {cluster}: pages for its tasks and its reserve do not fit on its chips together")
            }
            PlanError::TooManyParts { clusters, streams } => {
                write!(f, "{streams} job streams in each of {clusters} clusters are too many to be simulated")
            }
            PlanError::Commands => f.write_str(
                "the device has a `command`, and only clusters with certificates are run with commands on the bus: \
                 --analysis sound has them",
            ),
            PlanError::NotImplicit { task } => write!(
                f,
                "task `{task}` has a deadline or a jitter, which only a run by certificates keeps to: --analysis sound makes these"
            ),
            PlanError::OtherAllocation => f.write_str("the terms are those of another allocation"),
        }
    }
}

impl std::error::Error for PlanError {}
