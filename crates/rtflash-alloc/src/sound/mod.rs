//! Sound analyses: what may be promised on the device that the executor models.
//!
//! - [`Unit`]: what one EDF queue serves, under two placements of pages: static stripe and superblock.
//! - [`Demand`]: the processor-demand test, exact.
//! - [`choose`]: the relative deadline of garbage collection.

mod choice;
mod demand;
mod unit;

pub use choice::{Choice, Found, choose};
pub use demand::{Demand, Verdict};
pub use unit::{Collection, Item, Kind, Unit, Writer};
