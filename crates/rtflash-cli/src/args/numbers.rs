//! Options of `explain` and `size`.

use std::path::PathBuf;

use clap::Args;

use super::{AlgorithmArg, AnalysisArg, ChangeArg, FormatArg, RelyOnArg, SpreadArg};

/// Options of `explain`.
#[derive(Debug, Args)]
pub struct ExplainArgs {
    /// Task set; `-` for standard input
    pub file: PathBuf,
    /// The allocation to explain; without it, the one that the algorithm finds. For a stream of
    /// task sets a stream of as many allocations, as `alloc --format json` prints it
    #[arg(long, value_name = "ALLOC.json", conflicts_with = "algorithm")]
    pub allocation: Option<PathBuf>,
    #[command(flatten)]
    pub algorithm: AlgorithmArg,
    #[command(flatten)]
    pub analysis: AnalysisArg,
    #[command(flatten)]
    pub rely_on: RelyOnArg,
    #[command(flatten)]
    pub set: ChangeArg,
    #[command(flatten)]
    pub format: FormatArg,
}

/// Options of `size`.
#[derive(Debug, Args)]
pub struct SizeArgs {
    /// Task set, or a stream of them (JSON Lines); `-` for standard input
    pub file: PathBuf,
    #[command(flatten)]
    pub algorithm: AlgorithmArg,
    #[command(flatten)]
    pub analysis: AnalysisArg,
    #[command(flatten)]
    pub rely_on: RelyOnArg,
    #[command(flatten)]
    pub spread: SpreadArg,
    /// Write a report as well: one HTML page with pictures, tables and the data, which needs no
    /// network and no other file
    #[arg(long, value_name = "FILE.html")]
    pub report: Option<PathBuf>,
    #[command(flatten)]
    pub set: ChangeArg,
    #[command(flatten)]
    pub format: FormatArg,
}
