//! The flash translation layer of every organisation: page maps, placement of writes, garbage
//! collection.

mod map;
mod page_store;
mod pass;
mod processor_store;

pub(crate) use crate::store::page_store::PagePlace;
pub(crate) use map::PageMap;
pub(crate) use pass::{Collector, Copy};
pub(crate) use processor_store::ProcessorStore;
