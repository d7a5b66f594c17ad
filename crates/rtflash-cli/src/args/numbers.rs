//! Options of `explain` and `size`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use rtflash_alloc::sizing::FrontAxes;

use super::{ChangeArg, DecisionArgs, FormatArg, SpreadArg};

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
    pub by: DecisionArgs,
    #[command(flatten)]
    pub set: ChangeArg,
    #[command(flatten)]
    pub format: FormatArg,
}

/// The axis of a front.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum OverArg {
    /// The number of chips
    Chips,
    /// The number of channels
    Channels,
    /// The share of the flash that is logical
    #[value(name = "logical_ratio")]
    LogicalRatio,
    /// The algorithm
    Algorithm,
}

/// Options of `size`.
#[derive(Debug, Args)]
pub struct SizeArgs {
    /// Task set, or a stream of them (JSON Lines); `-` for standard input
    pub file: PathBuf,
    #[command(flatten)]
    pub by: DecisionArgs,
    #[command(flatten)]
    pub spread: SpreadArg,
    /// Print as well on which devices the set passes, none of them better than another in all of
    /// these: fewer chips, fewer channels, a larger logical_ratio; with `algorithm`, by any
    /// algorithm that takes no longer
    #[arg(long, value_enum, value_name = "FIELD", value_delimiter = ',')]
    pub over: Vec<OverArg>,
    /// Write a report as well: one HTML page with pictures, tables and the data, which needs no
    /// network and no other file
    #[arg(long, value_name = "FILE.html")]
    pub report: Option<PathBuf>,
    #[command(flatten)]
    pub set: ChangeArg,
    #[command(flatten)]
    pub format: FormatArg,
}

impl SizeArgs {
    pub fn axes(&self) -> Option<FrontAxes> {
        let asked = |field| self.over.contains(&field);
        (!self.over.is_empty()).then(|| FrontAxes {
            chips: asked(OverArg::Chips),
            channels: asked(OverArg::Channels),
            logical_ratio: asked(OverArg::LogicalRatio),
            algorithm: asked(OverArg::Algorithm),
        })
    }
}
