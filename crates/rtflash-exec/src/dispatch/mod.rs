//! Who goes next: EDF in every cluster, and jobs that are not real-time.

mod arrivals;
mod certified;
mod cluster;
mod core;
mod parallel;
mod priority;
mod releases;
mod request_times;
mod sequencer;
mod serial;
mod slab;

pub use arrivals::{Admission, Arrival, ArrivalQueue, Grant, NoServers, release_jitter};
pub use request_times::{release_gap, release_offset};

pub(crate) use certified::{CertifiedGroup, Servers};
pub(crate) use core::ChipPolicy;
pub(crate) use parallel::Parallel;
pub(crate) use serial::Serial;
