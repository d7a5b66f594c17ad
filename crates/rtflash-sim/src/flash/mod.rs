//! Mechanism: chips, their blocks, and the buses of the channels. Nothing here knows a deadline, a
//! task or a policy.

mod blocks;
mod bus;

pub(crate) use blocks::Owned;
pub(crate) use bus::{BusRequest, Channels};
