//! Simulated time: what ends, what is released, and who is told of it in which order.

pub(crate) mod core;
pub(crate) mod lengths;
pub(crate) mod priority;
pub(crate) mod request_times;
pub(crate) mod sequencer;
pub(crate) mod slab;
