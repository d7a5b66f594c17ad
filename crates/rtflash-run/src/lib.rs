//! Analysis and executor brought together: neither knows the other.
//!
//! - [`plan`]: an allocation and what an analysis says of it, as a [`Plan`](rtflash_plan::Plan).
//! - [`soak`]: random search for a broken assumption.
//! - [`History`]: tasks that are added and removed while an allocation runs.
//! - [`TbsServers`]: the Total Bandwidth Servers of an allocation, as the executor asks them.
//!
//! An allocation, run for ten seconds with every checker:
//!
//! ```
//! use rtflash_alloc::allocator::allocator;
//! use rtflash_analysis::Sound;
//! use rtflash_plan::Options;
//! use rtflash_model::{Device, Request, Span, Task, TaskSet};
//! use rtflash_run::execute;
//!
//! let device = Device::profile("dgist-2021").ok_or("no such device")?;
//! let camera = Task { name: "camera".into(), read: None, write: Request::new(24, Span::from_us(30_000)), data_pages: None };
//! let set = TaskSet::new(device, vec![camera], vec![]).map_err(|wrong| wrong[0].to_string())?;
//! let outcome = allocator("best-fit").ok_or("no such algorithm")?.allocate(&set, &Sound::default());
//! let allocation = outcome.allocation().ok_or("not schedulable")?;
//! let executed = execute(&set, allocation, &Sound::default(), &Options::default(), None)?;
//! assert!(executed.passes());
//! assert_eq!(executed.report.operations().erases, 58);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod case;
mod history;
mod migration;
mod plan;
mod servers;
pub mod soak;

pub use case::{Checkpoint, Executed, NotRun, RunWatch, Sink, Watch, execute, execute_plan, execute_watched};
pub use history::History;
pub use migration::{MovedRun, StageRun};
pub use plan::{PlanRefusal, plan, timing};
pub use servers::TbsServers;
