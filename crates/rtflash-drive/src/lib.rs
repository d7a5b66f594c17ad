//! Measurements of a drive: readers of traces and of fio's logs, commands paired from
//! streams, a fitted device, and its claims. `SPEC.md` of this crate specifies a fit.
//!
//! ```
//! let trace = "fio-1 [000] .. 1.000000: block_rq_issue: 7,0 R 4096 () 8 + 8 be,0,4 [fio]\n\
//!     fio-1 [000] .. 1.000250: block_rq_complete: 7,0 R () 8 + 8 be,0,4 [0]\n";
//! let mut services = Vec::new();
//! rtflash_drive::read::read_trace(trace.as_bytes(), None, |done| services.push(done.service()))?;
//! assert_eq!(services, [250_000]);
//! # Ok::<(), rtflash_drive::MeasurementRefused>(())
//! ```

pub mod claims;
mod command;
pub mod fit;
pub mod monitor;
mod numbers;
mod pair;
pub mod protocol;
pub mod read;
mod refused;
mod sample;
mod source;
pub mod statistics;
mod written;

pub use command::Done;
pub use numbers::bytes;
pub use pair::{Pairing, Phase, Seen, TraceEvent};
pub use refused::MeasurementRefused;
pub use rtflash_host::bound::three_digits;
pub use sample::{DriveSample, Largest, Measurement, ROUNDS};
pub use source::{add_log, add_trace};
pub use written::written;
