//! Options of `admit`, `migrate` and `serve`: a device that runs.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;
use rtflash_model::Instant;

use super::names::{certified_analyses, duration};
use super::{ChangeArg, FormatArg, RelyOnArg};

/// Options of `admit`.
#[derive(Debug, Args)]
pub struct AdmitArgs {
    /// The running allocation: the JSON of `alloc` under a sound analysis, or of `admit` itself
    pub allocation: PathBuf,
    /// All that is to run. Tasks that the allocation does not have are new; tasks that only the
    /// allocation has are gone
    pub file: PathBuf,
    /// By whose certificates
    #[arg(long, value_name = "ANALYSIS", value_parser = certified_analyses(), default_value = "sound")]
    pub analysis: String,
    #[command(flatten)]
    pub rely_on: RelyOnArg,
    /// The server of this cluster of ALLOCATION gets no more jobs. The statement holds once its
    /// last job is over, and the cluster has been idle
    #[arg(long, value_name = "CLUSTER")]
    pub without_server: Vec<usize>,
    #[command(flatten)]
    pub set: ChangeArg,
    #[command(flatten)]
    pub format: FormatArg,
}

/// Options of `migrate`.
#[derive(Debug, Args)]
pub struct MigrateArgs {
    /// The running allocation: the JSON of `alloc` under a sound analysis, or of `admit`, or
    /// `migrate`
    pub old: PathBuf,
    /// The allocation to reach, of the same tasks
    pub new: PathBuf,
    /// The task set
    pub file: PathBuf,
    /// By whose certificates
    #[arg(long, value_name = "ANALYSIS", value_parser = certified_analyses(), default_value = "sound")]
    pub analysis: String,
    #[command(flatten)]
    pub rely_on: RelyOnArg,
    /// Pages that the device can hold while they are on their way
    #[arg(long, value_name = "PAGES", default_value_t = 256, value_parser = clap::value_parser!(u64).range(2..))]
    pub buffer_pages: u64,
    /// Run each stage on a simulated device, and judge it
    #[arg(long)]
    pub run: bool,
    #[command(flatten)]
    pub set: ChangeArg,
    #[command(flatten)]
    pub format: FormatArg,
}

/// Options of `serve`.
#[derive(Debug, Args)]
pub struct ServeArgs {
    /// The allocation of the device: the JSON of `alloc` under a sound analysis
    pub allocation: PathBuf,
    /// The task set
    pub file: PathBuf,
    /// The address to listen on. Port 0 takes any that is free
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:10809")]
    pub listen: SocketAddr,
    /// The file that keeps the data of all exports; without it they go with the process
    #[arg(long, value_name = "FILE")]
    pub data: Option<PathBuf>,
    /// Let everything take TIMES times as long as on the device, where the machine is too slow
    #[arg(long, value_name = "TIMES", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub slow: u32,
    /// End after this time of the clock
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub duration: Option<Instant>,
    /// End when the last client has left
    #[arg(long)]
    pub once: bool,
    #[command(flatten)]
    pub rely_on: RelyOnArg,
    #[command(flatten)]
    pub set: ChangeArg,
    #[command(flatten)]
    pub format: FormatArg,
}
