//! Aperiodic requests beside the tasks of a generated set.

use serde::Serialize;

use super::utilization::Utilization;

/// The arrivals of the aperiodic requests, as [`Aperiodic`] asks for them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum AperiodicArrivals {
    /// One after each gap.
    Even,
    /// Gaps from half of the mean to one and a half of it.
    Uniform,
    /// A Poisson process.
    #[default]
    Poisson,
    /// Two to sixteen at once, drawn for each stream.
    Bursts,
}

crate::names! {
    AperiodicArrivals {
        Even = "even",
        Uniform = "uniform",
        Poisson = "poisson",
        Bursts = "bursts",
    }
}

/// Streams of aperiodic requests for a generated set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Aperiodic {
    /// The number of streams.
    pub streams: u32,
    /// Their total utilization, in equal parts.
    pub utilization: Utilization,
    /// When the requests arrive.
    pub arrivals: AperiodicArrivals,
}
