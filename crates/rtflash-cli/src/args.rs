//! What the user types, as clap reads it. Nothing is looked up or opened here.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use rtflash_alloc::allocator::ALLOCATORS;
use rtflash_alloc::analysis::ANALYSES;

use crate::commands::schema::SCHEMAS;

/// Will real-time I/O meet its deadlines on a NAND flash device, and how should the chips be divided among the tasks?
#[derive(Debug, Parser)]
#[command(name = "rtflash", version, max_term_width = 100, after_long_help = EXIT_STATUS)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

const EXIT_STATUS: &str = "\
Exit status:
  0  yes: schedulable, all checks hold, done
  1  no: not schedulable, a check failed
  2  the input or the call is wrong
  3  cannot tell: a limit was reached, or an algorithm does not apply
For a batch: the worst of its lines, in the order 2, 3, 1, 0.";

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Divide the device's chips among the tasks, so that every deadline is met
    Alloc(AllocArgs),
    /// Test a given allocation, cluster by cluster, in exact arithmetic
    Check(CheckArgs),
    /// Show every term of every equation, with its number
    Explain(ExplainArgs),
    /// Draw random task sets, as JSON Lines
    Gen(GenArgs),
    /// Print the JSON Schema of a file that rtflash reads or writes
    Schema {
        /// Which one
        #[arg(value_parser = PossibleValuesParser::new(SCHEMAS.map(|schema| schema.name)))]
        name: String,
    },
    /// Print a completion script for a shell
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Print the manual page
    Man,
}

/// How an answer is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For a person
    Text,
    /// One JSON object a task set, one line each
    Json,
}

/// Options of `alloc`.
#[derive(Debug, Args)]
pub struct AllocArgs {
    /// Task set, or a stream of them (JSON Lines); `-` for standard input
    pub file: PathBuf,
    #[command(flatten)]
    pub algorithm: AlgorithmArg,
    #[command(flatten)]
    pub analysis: AnalysisArg,
    #[command(flatten)]
    pub format: FormatArg,
}

/// `--algorithm`.
#[derive(Debug, Args)]
pub struct AlgorithmArg {
    /// Which algorithm divides the chips
    #[arg(long, default_value = "clustering-bfd", value_parser = PossibleValuesParser::new(ALLOCATORS.map(|allocator| allocator.name())))]
    pub algorithm: String,
}

/// `--analysis`.
#[derive(Debug, Args)]
pub struct AnalysisArg {
    /// Which schedulability analysis decides
    #[arg(long, default_value = "thesis", value_parser = PossibleValuesParser::new(ANALYSES.map(|analysis| analysis.name())))]
    pub analysis: String,
}

/// `--format`.
#[derive(Debug, Args)]
pub struct FormatArg {
    /// How the answer is printed
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
}

/// Options of `check`.
#[derive(Debug, Args)]
pub struct CheckArgs {
    /// Task set, or a stream of them; `-` for standard input
    pub file: PathBuf,
    /// The allocation to test: what `alloc --format json` prints, or chips and tasks written by hand. For a stream of
    /// task sets a stream of as many allocations
    #[arg(long, value_name = "ALLOC.json")]
    pub allocation: PathBuf,
    #[command(flatten)]
    pub analysis: AnalysisArg,
    #[command(flatten)]
    pub format: FormatArg,
}

/// Options of `explain`.
#[derive(Debug, Args)]
pub struct ExplainArgs {
    /// Task set; `-` for standard input
    pub file: PathBuf,
    /// The allocation to explain; without it, the one that the algorithm finds
    #[arg(long, value_name = "ALLOC.json", conflicts_with = "algorithm")]
    pub allocation: Option<PathBuf>,
    #[command(flatten)]
    pub algorithm: AlgorithmArg,
    #[command(flatten)]
    pub analysis: AnalysisArg,
    #[command(flatten)]
    pub format: FormatArg,
}

/// Options of `gen`.
#[derive(Debug, Args)]
pub struct GenArgs {
    /// Total utilization of a set: one value, or a range `A..B` that includes both ends
    #[arg(long, value_name = "A..B")]
    pub util: String,
    /// Distance of the points in the range
    #[arg(long, default_value = "0.1")]
    pub step: String,
    /// Task sets drawn at each point
    #[arg(long, default_value_t = 100)]
    pub sets: u64,
    /// Tasks in a set
    #[arg(long, default_value_t = 8)]
    pub tasks: u32,
    /// How utilization is divided among the tasks
    #[arg(long, default_value = "uunifast", value_parser = ["uunifast", "integer-shares"])]
    pub generator: String,
    /// The device: a profile's name, a file, or JSON
    #[arg(long, default_value = "dgist-2021")]
    pub device: String,
    #[command(flatten)]
    pub analysis: AnalysisArg,
    /// Make K of the tasks write-heavy: at least half of their utilization is writing, of the others' less than half
    #[arg(long, value_name = "K")]
    pub write_heavy: Option<u32>,
    /// Where the randomness starts: the same seed gives the same bytes, everywhere
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Write to this file instead of standard output
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Threads to use; the output does not depend on it [default: one for each core]
    #[arg(long, value_name = "THREADS", value_parser = clap::value_parser!(u16).range(1..))]
    pub jobs: Option<u16>,
}
