//! How to divide the chips of a flash device among real-time I/O tasks so that an analysis of
//! rtflash-analysis accepts every cluster.
//!
//! - [`allocator`]: algorithms that divide chips among tasks. One trait; a file for each algorithm.
//!   Algorithm 1 of the thesis and its baselines.
//! - [`admission`], [`migration`]: tasks that come and go at run time.
//! - [`advice`]: what would make an unschedulable set schedulable.
//! - [`sizing`]: how far a set and its device can be moved, and what an allocation costs in writes,
//!   erases and years.
//!
//! A camera that writes 24 pages every 30 ms needs two chips by Theorem 1:
//!
//! ```
//! use rtflash_alloc::allocator::allocator;
//! use rtflash_analysis::Thesis;
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

pub mod admission;
pub mod advice;
pub mod allocator;
pub mod migration;
pub mod rectangles;
pub mod sizing;
pub mod spread;
