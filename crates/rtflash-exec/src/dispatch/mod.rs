//! Who goes next: EDF in every cluster, and jobs that are not real-time.

mod arrivals;
mod cluster;
mod parallel;
mod placed;
mod releases;
mod sequencer;
mod serial;

pub use arrivals::{Admission, Arrival, ArrivalQueue, Grant, NoServers, release_jitter};
pub(crate) use parallel::Parallel;
pub(crate) use placed::{Placed, Servers};
pub(crate) use serial::Serial;
