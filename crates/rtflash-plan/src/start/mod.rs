//! The content of the device when a run begins.

mod aging;
mod initial;
mod places;
mod zones;

pub use aging::{AgedChip, aged_chip};
pub use initial::{free_pages_at_start, initial_pages};
pub use places::WorstStart;
pub use zones::{ZonesAtStart, initial_zones};
