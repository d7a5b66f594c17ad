//! Why a task could not be placed: one reason, with its numbers under names of their own.

use rtflash_model::{Space, Span};

/// Why a cluster does not hold a task. The quantities differ and are never compared.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Reason {
    /// U(φ) > 1 under Theorem 1; under demand tests a processor's long-run load, not below one.
    Load {
        /// U(φ), Eq. (IV.9), or the long-run load, Σ C/T with garbage collection.
        utilization: f64,
    },
    /// The load is below one, but demand and blocking exceed an interval (the sound analyses).
    Demand(Excess),
    /// The declared data do not fit the cluster's logical pages, whatever the timing test says.
    Data(Space),
    /// A request takes longer than the time to its deadline in every cluster, even alone.
    Request(TooLong),
    /// Write requests are too large for the cluster's blocks: collection could gain from none.
    Blocks(NoRoomForGc),
}

/// An interval that is too short for what has to be done in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Excess {
    /// L: the length of the interval.
    pub interval: Span,
    /// dbf(L) + B(L): demand and blocking in it, in nanoseconds. Above L.
    pub demand_ns: u128,
}

impl Excess {
    /// dbf(L) + B(L) − L, in nanoseconds: what is too much.
    pub fn excess_ns(&self) -> u128 {
        self.demand_ns.saturating_sub(self.interval.as_ns().into())
    }
}

/// A request that takes longer than D − J wherever it is served, or as long as its period.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TooLong {
    /// Whether it is the task's write request, not its read.
    pub writes: bool,
    /// r or w.
    pub pages: u64,
    /// The least time that it takes on any cluster of the device, in nanoseconds.
    pub least_ns: u128,
    /// The longest step that begins before it, in nanoseconds: of its own task's collection.
    pub blocking_ns: u128,
    /// Whether that step is an erase.
    pub behind_erase: bool,
    /// T: its period.
    pub period: Span,
    /// D − J: the least time from its release to its deadline; the period where neither is stated.
    pub window: Span,
    /// U(φ) of the cluster that comes nearest, under Theorem 1.
    pub utilization: Option<f64>,
}

/// F + ⌊Λ/PP⌋ + 1 > N: the blocks do not suffice (docs/analysis.md, Section 2.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoRoomForGc {
    /// F + ⌊Λ/PP⌋ + 1: blocks that cannot be victims, and what the logical pages fill.
    pub needed_blocks: u64,
    /// N: blocks of a chip, so (super)blocks of the processor.
    pub blocks: u64,
}

impl Reason {
    /// Its name in JSON. Too few blocks are a `request`: the size of write requests asks for them.
    pub fn name(&self) -> &'static str {
        match self {
            Reason::Load { .. } => "load",
            Reason::Demand(_) => "demand",
            Reason::Data(_) => "data",
            Reason::Request(_) | Reason::Blocks(_) => "request",
        }
    }

    /// The utilization that would be reached, where that is the measure.
    pub fn utilization(&self) -> Option<f64> {
        match self {
            Reason::Load { utilization } => Some(*utilization),
            Reason::Request(request) => request.utilization,
            Reason::Demand(_) | Reason::Data(_) | Reason::Blocks(_) => None,
        }
    }
}
