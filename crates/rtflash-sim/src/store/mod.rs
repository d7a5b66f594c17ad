//! The flash translation layer of every organisation: page maps, placement of writes, garbage
//! collection.

mod map;
mod pass;
mod processor_store;
mod store;

pub(crate) use map::PageMap;
pub(crate) use pass::{Collector, Copy};
pub(crate) use processor_store::ProcessorStore;
pub(crate) use store::{PagePlace, PageStore};
