//! The flash translation layer of a cluster: page map, placement of writes, garbage collection.

mod addresses;
mod aging;
mod initial;
mod map;
mod pass;
mod requests;
mod zones;

pub use addresses::Addresses;
pub use aging::{AgedChip, aged_chip};
pub use initial::{free_pages_at_start, initial_pages};
pub(crate) use map::{PageMap, PagePlace};
pub(crate) use pass::{Collector, Copy};
pub use requests::{Requests, job_pages, pages_from};
pub use zones::{ZonesAtStart, initial_zones};
