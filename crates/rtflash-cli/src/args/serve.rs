//! Options of `serve`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;
use rtflash_model::Instant;

use super::names::duration;
use super::{ChangeArg, FormatArg, RelyOnArg};

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
