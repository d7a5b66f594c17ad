//! A NAND flash device in simulated time: runs a [`Plan`](rtflash_plan::Plan) operation by
//! operation. `SPEC.md` of this crate specifies each decision of a run.
//!
//! Two reads that come every ten milliseconds, one in each cluster, for a second:
//!
//! ```
//! use rtflash_plan::{ClusterTerms, NoServers, Options, Plan, Timing};
//! use rtflash_judge::report::Statistics;
//! use rtflash_sim::run;
//! use rtflash_model::{Allocation, Cluster, Device, Instant, Request, Span, Task, TaskSet};
//!
//! let device = Device::profile("dgist-2021").ok_or("no such device")?;
//! let task = |name: &str| Task {
//!     name: name.into(),
//!     read: Request::new(8, Span::from_us(10_000)),
//!     write: None,
//!     data_pages: None,
//! };
//! let set = TaskSet::new(device, vec![task("a"), task("b")], vec![]).map_err(|wrong| wrong[0].to_string())?;
//! let halves = Allocation::new(16, 2, &[Cluster::of(0..8, [0]), Cluster::of(8..16, [1])])?;
//! let terms = || ClusterTerms::Utilization { page_delay: Span::ZERO, gc_periods: vec![None] };
//! let plan = Plan::new(&set, &halves, Timing::of_device(&device), &[terms(), terms()])?;
//!
//! let second = Instant::from_ns(1_000_000_000).ok_or("too long")?;
//! let options = Options { duration: second, ..Options::default() };
//! let ran = run(&plan, &options, &mut NoServers, |_| Statistics::new(&plan, second))?;
//! let reports = ran.into_iter().map(|statistics| statistics.finish(&plan));
//! let report = reports.reduce(|all, one| all.merge(one)).ok_or("no cluster")?;
//! assert_eq!(report.sources.iter().map(|source| (source.completed, source.misses)).collect::<Vec<_>>(), [(100, 0); 2]);
//! assert_eq!(report.operations().reads, 2 * 100 * 8);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod earliest;
mod engine;
mod error;
mod flash;
mod hosted;
mod organisation;
mod run;
mod store;

pub use engine::lengths::Lengths;
pub use error::RunError;
pub use hosted::{Hosted, HostedJob};
pub use run::{Running, run, run_traced, run_traced_watched};
