//! The flash translation layer that keeps a certificate: what a controller has to do so that the
//! promise of `rtflash alloc` holds.
//!
//! It is a state machine without a clock, an allocation or a floating-point number. Its driver
//! gives it memory, hands over what arrives and what ends, and does the operations that it asks
//! for. `docs/firmware.md` says what that is, and what it costs; `examples/mock.rs` is a driver to
//! begin with.
#![no_std]

mod backfill;
mod blocks;
mod bus;
mod cached;
mod dispatch;
mod failures;
mod fill_in;
mod ftl;
mod geometry;
mod grants;
pub mod image;
mod memory;
mod nand;
mod pages;
mod pass;
mod police;
mod processor;
mod recover;
mod registers;
mod server;
mod setup;
mod slots;
mod step_pages;
mod suspend;
mod zones;

pub use blocks::{BlockMemory, Blocks, Frontier, Frontiers, GROUP, Victim};
pub use bus::BusQueue;
pub use fill_in::FILL_IN_LOOKS;
pub use ftl::{Ftl, Taken};
pub use geometry::Geometry;
pub use grants::{AskedPages, ServerGrants};
pub use image::RequestOrder;
pub use memory::{Lent, Memory, NONE};
pub use nand::{FlashPage, NandChips, OperationPurpose, PassOutcome, RequestHost, SpareBytes};
pub use pages::{Columns, Pages, Spot, ValidPage};
pub use pass::{GcStep, PaddedPass, Pass, RowPage, pass_words};
pub use police::Refused;
pub use processor::{EdfProcessor, NextStep, PartLeft, PassTerms};
pub use recover::{ChipPage, PageState, RecoveryBound, RecoveryChips};
pub use setup::{AllErased, AtStart, FtlMemory, SetupError};
pub use slots::{FtlCluster, FtlProcessor, GcJob, RequestSlot, SourceSlot};
pub use zones::{RING_WORDS, Ring, ZoneMemory, Zones};
