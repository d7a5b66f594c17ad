//! Whether real-time I/O tasks meet their deadlines on a flash device, how to divide its chips
//! among them so that they do, and what is left for jobs that are not real-time.
//!
//! - [`analysis`]: schedulability analyses. One trait; a file for each analysis. Equations (IV.1)
//!   to (IV.9) of the thesis.
//! - [`allocator`]: algorithms that divide chips among tasks. One trait; a file for each algorithm.
//!   Algorithm 1 and its baselines.
//! - [`reason`]: why a task could not be placed: load, demand, data or a request.
//! - [`server`]: Total Bandwidth Servers, Eqs. (IV.10) to (IV.12).
//! - [`certified`]: what may be promised on the device: processors, demand, certificates
//!   (docs/analysis.md).
//! - [`verdict`]: what an analysis of either kind says of a given allocation.
//! - [`necessary`]: proofs that no allocation meets every deadline.
//! - [`advice`]: what would make an unschedulable set schedulable.
//! - [`sizing`]: how far a set and its device can be moved, and what an allocation costs in writes,
//!   erases and years.
//!
//! "The thesis" is Kim, *Dynamic Task-to-chip Allocation for Real-time I/O Guarantees in Flash
//! Storage Systems*, DGIST 2021; its equations are cited by number. Verdicts are exact: U = 1 is
//! schedulable, anything above is not, and where doubles cannot decide, integers of any size do.
//!
//! A camera that writes 24 pages every 30 ms needs two chips by Theorem 1:
//!
//! ```
//! use rtflash_alloc::{allocator::allocator, analysis::Thesis};
//! use rtflash_model::{Device, Request, Span, Task, TaskSet};
//!
//! let device = Device::profile("dgist-2021").ok_or("no such device")?;
//! let camera = Task { name: "camera".into(), read: None, write: Request::new(24, Span::from_us(30_000)), data_pages: None };
//! let set = TaskSet::new(device, vec![camera], vec![]).map_err(|wrong| wrong[0].to_string())?;
//! let outcome = allocator("clustering-bfd").ok_or("no such algorithm")?.allocate(&set, &Thesis);
//! let allocation = outcome.allocation().ok_or("not schedulable")?;
//! assert_eq!(allocation.clusters()[0].size(), 2);
//! # Ok::<(), String>(())
//! ```

pub mod advice;
pub mod allocator;
pub mod analysis;
pub mod certified;
mod cluster_report;
mod fraction;
pub mod necessary;
pub mod reason;
pub mod rectangles;
pub mod server;
pub mod sizing;
pub mod spread;
pub mod verdict;
mod work;

pub use fraction::{Fraction, Rational};
pub use work::{PlacementProgress, Work};
