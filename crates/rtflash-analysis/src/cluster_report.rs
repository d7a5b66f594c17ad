//! The reports on a cluster, under every analysis.

use rtflash_model::{Span, TaskId};

use crate::fraction::Fraction;

/// A cluster in numbers for a reader; nothing decides by them. Under a
/// [`ClusterTest`](crate::ClusterTest) only [`BASELINES`](crate::BASELINES) have more than the
/// server's share.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ClusterReport {
    /// U(φ), Eq. (IV.9), or what a test of another form says how full the cluster is.
    pub utilization: f64,
    /// t_e / min(T): the share lost to blocking.
    pub blocking: f64,
    /// The share of reads, delay included.
    pub read: f64,
    /// The share of writes, delay included.
    pub write: f64,
    /// The share of garbage collection.
    pub gc: f64,
    /// min(T) in nanoseconds; `None` for a cluster without tasks.
    pub min_period: Option<Fraction>,
    /// U_s = 1 − U(φ), Eq. (IV.10); zero without a server.
    pub server: f64,
    /// The GC task of each writing task.
    pub gc_tasks: Vec<GcReport>,
}

/// A GC task in a [`ClusterReport`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GcReport {
    /// The writing task.
    pub task: TaskId,
    /// C^g.
    pub cost: Span,
    /// T^g in nanoseconds.
    pub period: Fraction,
}
