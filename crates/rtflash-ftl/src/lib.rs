//! The flash translation layer that keeps a certificate: what a controller has to do so that the
//! promise of `rtflash alloc` holds.
//!
//! It is a state machine without a clock, an allocation or a floating-point number. Whoever runs it
//! gives it memory, tells it what arrives and what ends, and does the operations that it asks for.
#![no_std]

mod blocks;
mod memory;
mod pages;
mod pass;
mod processor;
mod zones;

pub use blocks::{BlockMemory, Blocks, Frontier, Frontiers};
pub use memory::{Lent, Memory, NONE};
pub use pages::{Columns, Pages, Spot};
pub use pass::{GcStep, PaddedPass, Pass, pass_words};
pub use processor::{EdfProcessor, PassTerms};
pub use zones::{RING_WORDS, Ring, Zones};
