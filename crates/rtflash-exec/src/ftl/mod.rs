//! The flash translation layer of a cluster: page map, placement of writes, garbage collection.

mod addresses;
mod aging;
pub mod layout;
mod map;
mod pass;

pub use addresses::Addresses;
pub use aging::{AgedChip, aged_chip};
pub(crate) use map::{PageMap, Place};
pub(crate) use pass::{Collector, Copy};
