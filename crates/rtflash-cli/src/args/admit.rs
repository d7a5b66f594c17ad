//! Options of `admit`.

use std::path::PathBuf;

use clap::Args;

use super::names::analyses;
use super::{ChangeArg, FormatArg, RelyOnArg};

/// Options of `admit`.
#[derive(Debug, Args)]
pub struct AdmitArgs {
    /// What runs: what `alloc --format json` printed under a sound analysis, or `admit` itself
    pub allocation: PathBuf,
    /// All that is to run. Tasks that the allocation does not have are new; tasks that only the
    /// allocation has are gone
    pub file: PathBuf,
    /// By whose certificates
    #[arg(long, value_name = "ANALYSIS", value_parser = analyses(), default_value = "sound")]
    pub analysis: String,
    #[command(flatten)]
    pub rely_on: RelyOnArg,
    #[command(flatten)]
    pub set: ChangeArg,
    #[command(flatten)]
    pub format: FormatArg,
}
