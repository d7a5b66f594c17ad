//! The flash translation layer, of every organisation: page maps, placement of writes, garbage
//! collection.

mod addresses;
mod aging;
mod initial;
mod map;
mod pass;
mod places;
mod processor_store;
mod requests;
mod store;
mod zones;

pub use addresses::Addresses;
pub use aging::{AgedChip, aged_chip};
pub use initial::{free_pages_at_start, initial_pages};
pub(crate) use map::PageMap;
pub(crate) use pass::{Collector, Copy};
pub(crate) use places::WorstStart;
pub(crate) use processor_store::ProcessorStore;
pub use requests::{Requests, job_pages, pages_from};
pub(crate) use store::{PagePlace, PageStore};
pub use zones::{ZonesAtStart, initial_zones};
