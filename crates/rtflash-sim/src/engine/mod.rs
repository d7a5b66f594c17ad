//! Simulated time: what ends, and the order in which observers learn of it.

pub(crate) mod core;
pub(crate) mod lengths;
pub(crate) mod priority;
pub(crate) mod request_times;
pub(crate) mod sequencer;
pub(crate) mod slab;
