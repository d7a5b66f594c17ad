//! Experiments: random task sets, what algorithms and analyses make of them, and what that says.
//!
//! - [`plan`]: what to do: points, sets, contenders; sweeps along an axis besides utilization.
//! - [`run`]: works through the sets of a plan, or of a [`Shard`] of it, on several threads, and
//!   can be interrupted at any time.
//! - [`run_whole`]: the same in one call, for experiments that need not survive a kill.
//! - [`tally`]: what is counted at each point. Whole numbers only, so that no order, thread or
//!   shard shows in the sums.
//! - [`statistics`]: intervals for ratios, gains and means.
//! - [`output`]: results as tables and as a summary. The crate rtflash-draw makes figures of them.
//!
//! How many of ten random sets at utilization 1.5 Clustering-BFD and the static split schedule:
//!
//! ```
//! use rtflash_alloc::allocator::allocator;
//! use rtflash_analysis::Thesis;
//! use rtflash_experiment::plan::{Contender, Spec};
//! use rtflash_experiment::{Plan, run_whole};
//!
//! let contender = |name| Some(Contender::new(allocator(name)?, &Thesis));
//! let contenders = ["clustering-bfd", "equal-split"].map(contender);
//! let spec = Spec {
//!     sets_per_point: 10,
//!     utilizations: vec!["1.5".parse()?],
//!     contenders: contenders.into_iter().collect::<Option<_>>().ok_or("no such algorithm")?,
//!     ..Spec::default()
//! };
//! let tallies = run_whole(&Plan::new(spec)?)?;
//! assert_eq!(tallies[0].sets, 10);
//! assert_eq!(tallies[0].yes, [10, 2]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod audit;
mod failure;
mod kept;
mod measure;
pub mod output;
pub mod plan;
mod progress;
mod run;
mod shard;
pub mod statistics;
mod stretches;
pub mod tally;

pub use failure::RunFailure;
pub use kept::KeptError;
pub use plan::{ExperimentError, Plan};
pub use progress::{MergeError, Progress, merge};
pub use run::{Watcher, run, run_whole};
pub use shard::{MAX_SHARDS, Shard, ShardError};

/// The sources that this was built of, as 32 hexadecimal digits: a hash over the crates that
/// results depend on, and the versions of what they use. The value is equal on every machine that
/// builds the same sources, with or without a repository.
pub const BUILD: &str = env!("RTFLASH_BUILD");
