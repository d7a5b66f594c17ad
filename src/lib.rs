//! **rtflash** tells, before anything is built, whether a real-time I/O workload meets its deadlines on a NAND flash device, and how to
//! divide the device's chips among the tasks so that it does.
//!
//! This crate is the library face: it re-exports the crates that do the work, for other tools to build on. Depend on it with
//! `default-features = false` to do without the command.
//!
//! - [`model`]: the words. Time, device, task, allocation; task-set files; generated task sets.
//! - [`alloc`]: schedulability analyses, allocators, Total Bandwidth Servers.
//! - [`check`]: the independent judge, and the plain forms of the algorithms.
//! - [`exec`]: the executor, a flash device in simulated time, and its checkers.
//! - [`run`]: analysis and executor brought together, and the search for broken assumptions.
//! - [`experiment`]: sweeps over random task sets, their statistics and figures.

pub use rtflash_alloc as alloc;
pub use rtflash_check as check;
pub use rtflash_exec as exec;
pub use rtflash_experiment as experiment;
pub use rtflash_model as model;
pub use rtflash_run as run;
