//! **rtflash** tells, before anything is built, whether a real-time I/O workload meets its
//! deadlines on a NAND flash device, and how to divide the device's chips among the tasks so that
//! it does.
//!
//! This crate is the library face: it re-exports the crates that do the work, for other tools to
//! build on. The command is a default feature: depend on the crate with `default-features = false`,
//! and with `features = ["draw"]` for figures.
//!
//! - [`model`]: the words. Time, device, task, allocation; task-set files; generated task sets.
//! - [`alloc`]: schedulability analyses, allocators, Total Bandwidth Servers.
//! - [`check`]: the independent verifier.
//! - [`exec`]: the executor, a flash device in simulated time, and its checkers.
//! - [`ftl`]: the same pages and garbage collection as firmware links them, without an allocator.
//! - [`run`]: analysis and executor brought together, and the search for broken assumptions.
//! - [`experiment`]: sweeps over random task sets, and their statistics.
//! - [`host`]: Linux I/O schedulers, as they stand in front of a device.
//! - `export`, with the feature `exchange`: files for MQSim, fio, FEMU and NVMe drives.
//! - `import`, with the feature `exchange`: bags, traces of requests, configurations of others.
//! - [`answers`]: the command's answers as data, to write and to read.
//! - `draw`, with the feature of this name: charts of runs and figures of experiments. The examples
//!   of the repository need it; without it, none of the libraries that draw is compiled.
//!
//! The front page of each crate has an example of its own. Together:
//!
//! ```
//! use rtflash::alloc::allocator::{Allocator, BestFit};
//! use rtflash::alloc::analysis::Sound;
//! use rtflash::exec::Options;
//! use rtflash::model::{Placement, Reliance, read_task_set};
//!
//! // A task set, as a file has it.
//! let text = r#"{
//!     "device": {"profile": "dgist-2021", "chips": 4},
//!     "tasks": [
//!         {"name": "camera", "write": {"pages": 24, "period": "30ms"}},
//!         {"name": "map", "read": {"pages": 80, "period": "36ms"}}
//!     ]
//! }"#;
//! let set = read_task_set(text).map_err(|wrong| wrong.to_string())?.set;
//!
//! // An allocation of its tasks that the sound analysis promises to be in time,
//! let outcome = BestFit.allocate(&set, &Sound::default());
//! let allocation = outcome.allocation().ok_or("not schedulable")?;
//! // which the independent verifier confirms,
//! let verification = rtflash::check::verify_certified(&set, allocation, &Placement::ALL, Reliance::Neighbours);
//! assert!(verification.accepts());
//! // and ten seconds of it on the simulated device, in which no check fails.
//! let executed = rtflash::run::execute(&set, allocation, &Sound::default(), &Options::default(), None)?;
//! assert!(executed.passes());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Analyses and algorithms of your own
//!
//! An analysis is a type that implements [`alloc::analysis::Analysis`]: a name, a line, and the
//! [form of its test](alloc::analysis::Test). An algorithm implements
//! [`alloc::allocator::Allocator`]: a name, a line, and `allocate`. Every algorithm goes by your
//! analysis, ours and yours; reports, advice, sizing and experiments show it.
//!
//! ```
//! use rtflash::alloc::Fraction;
//! use rtflash::alloc::allocator::{Allocator, ClusteringBfd};
//! use rtflash::alloc::analysis::{Analysis, ClusterTest, ClusterVerdict, Test};
//! use rtflash::model::{Device, Request, Span, Task, TaskSet};
//!
//! /// No more tasks in a cluster than it has chips.
//! struct AChipEach;
//!
//! impl Analysis for AChipEach {
//!     fn name(&self) -> &'static str {
//!         "a-chip-each"
//!     }
//!     fn summary(&self) -> &'static str {
//!         "no more tasks in a cluster than it has chips"
//!     }
//!     fn test(&self) -> Test<'_> {
//!         Test::Cluster(self)
//!     }
//! }
//!
//! impl ClusterTest for AChipEach {
//!     fn verdict(&self, _: &Device, tasks: &[&Task], chips: u32) -> ClusterVerdict {
//!         ClusterVerdict::up_to_one(Fraction::new(tasks.len() as u128, chips.into()))
//!     }
//! }
//!
//! let device = Device::profile("dgist-2021").ok_or("no such device")?;
//! let task = |index| Task {
//!     name: format!("t{index}"),
//!     read: Request::new(1, Span::from_us(100_000)),
//!     write: None,
//!     data_pages: None,
//! };
//! let set = |count| TaskSet::new(device, (0..count).map(task).collect(), vec![]).map_err(|wrong| wrong[0].to_string());
//! assert_eq!(ClusteringBfd.allocate(&set(16)?, &AChipEach).is_schedulable(), Some(true));
//! assert_eq!(ClusteringBfd.allocate(&set(17)?, &AChipEach).is_schedulable(), Some(false));
//! # Ok::<(), String>(())
//! ```
//!
//! `examples/own_analysis.rs` and `examples/own_allocator.rs` are complete, and end in the figure
//! of an experiment.

/// Analyses, and the allocators that ask them.
pub mod alloc {
    pub use rtflash_alloc::*;
    pub use rtflash_analysis as analysis;
    pub use rtflash_analysis::{
        Fraction, PlacementProgress, Rational, Work, certified, necessary, reason, server, verdict,
    };
}
#[cfg(feature = "draw")]
pub use rtflash_draw as draw;
pub use rtflash_verify as check;
/// The executor: what a run is given, the engine that runs it, its records, and who judges them.
pub mod exec {
    pub use rtflash_judge as check;
    pub use rtflash_judge::report;
    pub use rtflash_plan::*;
    pub use rtflash_sim::*;
    pub use rtflash_trace as trace;
}
pub use rtflash_answers as answers;
#[cfg(feature = "exchange")]
pub use rtflash_exchange::{export, import};
pub use rtflash_experiment as experiment;
pub use rtflash_ftl as ftl;
pub use rtflash_host as host;
pub use rtflash_model as model;
pub use rtflash_run as run;
#[cfg(feature = "serve")]
pub use rtflash_serve as serve;
