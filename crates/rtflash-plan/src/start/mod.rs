//! The content of the device when a run begins.

mod aging;
mod initial;
mod zones;

pub use aging::{aged_chip, aged_places};
pub use initial::{free_pages_at_start, initial_pages};
pub use zones::{ZonesAtStart, initial_zones};
