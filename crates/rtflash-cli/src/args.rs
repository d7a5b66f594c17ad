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
    /// Test a given allocation in exact arithmetic, or judge a recorded trace
    Check(CheckArgs),
    /// Show every term of every equation, with its number
    Explain(ExplainArgs),
    /// Run the allocation on a simulated flash device, operation by operation, and check every assumption
    Exec(Box<ExecArgs>),
    /// Run random cases until an assumption breaks, and show the smallest case found
    Soak(SoakArgs),
    /// Draw random task sets, as JSON Lines
    Gen(GenArgs),
    /// Compare algorithms and analyses on random task sets: tables and figures
    Experiment(Box<ExperimentArgs>),
    /// Join the parts of an experiment that was run with --shard
    Merge(MergeArgs),
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
    #[arg(long, value_name = "ALLOC.json", required_unless_present = "trace")]
    pub allocation: Option<PathBuf>,
    /// Judge this trace of `exec` instead (JSON Lines), by the checkers that judge a run; the allocation is the one that was
    /// run, found by the algorithm where none is given
    #[arg(long, value_name = "TRACE.jsonl")]
    pub trace: Option<PathBuf>,
    /// With a trace: which algorithm made the allocation [default: clustering-bfd]
    #[arg(long, requires = "trace", conflicts_with = "allocation", value_parser = PossibleValuesParser::new(ALLOCATORS.map(|allocator| allocator.name())))]
    pub algorithm: Option<String>,
    /// With a trace: how the chips were kept busy
    #[arg(long, value_enum, requires = "trace", default_value_t = Dispatch::Serial)]
    pub dispatch: Dispatch,
    /// With a trace: when the run ended [default: the last instant in the trace]
    #[arg(long, requires = "trace", value_name = "TIME")]
    pub duration: Option<String>,
    #[command(flatten)]
    pub analysis: AnalysisArg,
    #[command(flatten)]
    pub format: FormatArg,
}

/// How chips are kept busy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Dispatch {
    /// One operation, or one step of garbage collection on all chips, at a time in a cluster, as Theorem 1 supposes
    Serial,
    /// Every chip takes the earliest-deadline operation that waits for it
    Parallel,
}

/// How jobs that are not real-time are served.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Server {
    /// By Total Bandwidth Servers
    Tbs,
    /// When nothing real-time is pending
    Background,
}

/// How many pages garbage collection copies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Victims {
    /// Those that are valid
    Actual,
    /// The bound ceil(lambda P) on every chip
    Worst,
}

/// What the device has been through.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Aging {
    /// Full, valid pages spread evenly over all blocks
    Worst,
    /// Full, valid pages anywhere
    Random,
    /// Written once
    Fresh,
}

/// Which pages tasks read and write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Pattern {
    /// Any page of the task's part, alike
    Uniform,
    /// One after another
    Sequential,
    /// Eight of ten in the first fifth
    HotCold,
    /// Those on the cluster's first chip
    OneChip,
}

/// Options of `exec`.
#[derive(Debug, Args)]
pub struct ExecArgs {
    /// Task set, or a stream of them (JSON Lines); `-` for standard input
    pub file: PathBuf,
    /// The allocation to run; without it, the one that the algorithm finds
    #[arg(long, value_name = "ALLOC.json", conflicts_with = "algorithm")]
    pub allocation: Option<PathBuf>,
    #[command(flatten)]
    pub algorithm: AlgorithmArg,
    #[command(flatten)]
    pub analysis: AnalysisArg,
    /// How long to run, in simulated time
    #[arg(long, default_value = "10s", value_name = "TIME")]
    pub duration: String,
    /// How jobs that are not real-time are served
    #[arg(long, value_enum, default_value_t = Server::Tbs)]
    pub server: Server,
    /// How chips are kept busy
    #[arg(long, value_enum, default_value_t = Dispatch::Serial)]
    pub dispatch: Dispatch,
    /// How many pages a pass of garbage collection copies
    #[arg(long, value_enum, default_value_t = Victims::Actual)]
    pub victims: Victims,
    /// What the device has been through before the run
    #[arg(long, value_enum, default_value_t = Aging::Worst)]
    pub aging: Aging,
    /// Which pages of its own part a task reads and writes
    #[arg(long, value_enum, default_value_t = Pattern::Uniform)]
    pub pattern: Pattern,
    /// Threads to use: clusters that share no channel run side by side; the output does not depend on it
    #[arg(long, value_name = "THREADS", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..))]
    pub jobs: u16,
    /// Where the randomness starts: addresses, arrivals, aging
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Record the run: as a Perfetto trace (OUT ends in .json) or one event a line (.jsonl)
    #[arg(long, value_name = "OUT")]
    pub trace: Option<PathBuf>,
    /// Draw this stretch of the run, in the terminal and with --gantt-out as a figure: `FROM..TO`, such as 0ms..40ms
    #[arg(long, value_name = "FROM..TO")]
    pub gantt: Option<String>,
    /// Where to draw the stretch as a figure: a file that ends in .svg or .png
    #[arg(long, value_name = "FILE", requires = "gantt")]
    pub gantt_out: Option<PathBuf>,
    #[command(flatten)]
    pub format: FormatArg,
}

/// Options of `soak`.
#[derive(Debug, Args)]
pub struct SoakArgs {
    /// Where the randomness starts: the same seed draws the same cases
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Cases to draw
    #[arg(long, default_value_t = 1_000)]
    pub runs: u64,
    /// What cases are drawn from
    #[arg(long, value_enum, default_value_t = SoakWorld::Any)]
    pub world: SoakWorld,
    /// Threads to use; the output does not depend on it [default: one for each core]
    #[arg(long, value_name = "THREADS", value_parser = clap::value_parser!(u16).range(1..))]
    pub jobs: Option<u16>,
    #[command(flatten)]
    pub format: FormatArg,
}

/// What `soak` draws from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SoakWorld {
    /// Everything: shared channels, every dispatch, server, aging and address pattern
    Any,
    /// What Theorem 1 supposes: no shared channel, serial dispatch, uniform addresses, real-time tasks alone
    Supposed,
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
    /// Every task writes this part of its utilization, from 0 (reads alone) to 1 (writes alone)
    #[arg(long, value_name = "PART", conflicts_with = "write_heavy")]
    pub write_share: Option<String>,
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

/// What an experiment finds out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ExperimentKind {
    /// The ratio of schedulable sets against utilization, or along the axis of --sweep
    Schedulability,
    /// The ratio against the number of write-heavy tasks, from none to all
    WriteHeavy,
    /// Pages a second of jobs that are not real-time, run on the simulated device beside sets that all algorithms schedule
    Bandwidth,
}

/// Options of `experiment`.
#[derive(Debug, Args)]
pub struct ExperimentArgs {
    /// What to find out
    #[arg(value_enum)]
    pub kind: ExperimentKind,
    /// Total utilization of a set: one value, or a range `A..B` that includes both ends
    /// [default: 0.1..4.0; write-heavy: 2.0; bandwidth: 0.1..3.1]
    #[arg(long, value_name = "A..B")]
    pub util: Option<String>,
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
    /// The analysis that gives the page costs of the sets [default: the first of --analyses]
    #[arg(long, value_parser = PossibleValuesParser::new(ANALYSES.map(|analysis| analysis.name())))]
    pub analysis: Option<String>,
    /// Make K of the tasks write-heavy: at least half of their utilization is writing, of the others' less than half
    #[arg(long, value_name = "K")]
    pub write_heavy: Option<u32>,
    /// Every task writes this part of its utilization, from 0 (reads alone) to 1 (writes alone)
    #[arg(long, value_name = "PART", conflicts_with = "write_heavy")]
    pub write_share: Option<String>,
    /// Where the randomness starts: the same seed gives the same bytes, everywhere
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Which algorithms to compare, with commas between them; for bandwidth each may have `+tbs` or `+background` behind it
    /// [default: clustering-bfd,equal-split,part-ftl,global; bandwidth: clustering-bfd+tbs,equal-split+background]
    #[arg(long, value_name = "A,B,…", value_delimiter = ',')]
    pub algorithms: Vec<String>,
    /// Which analyses decide, with commas between them: each algorithm under each, on the same sets
    /// [default: that of --analysis, or thesis]
    #[arg(long, value_name = "A,B,…", value_delimiter = ',', value_parser = PossibleValuesParser::new(ANALYSES.map(|analysis| analysis.name())))]
    pub analyses: Vec<String>,
    /// Change one thing besides utilization: `chips=4,8,16`. The axes are fields of the device (block_erase=1ms,5ms,
    /// logical_ratio=0.3,0.5, …), tasks, write_heavy and write_share
    #[arg(long, value_name = "AXIS=V,V,…")]
    pub sweep: Option<String>,
    /// For bandwidth: how long each run is, in simulated time
    #[arg(long, default_value = "5s", value_name = "TIME")]
    pub duration: String,
    /// For bandwidth: pages of each read-only job
    #[arg(long, default_value_t = 20, value_name = "PAGES", value_parser = clap::value_parser!(u64).range(1..))]
    pub read_pages: u64,
    /// For bandwidth: pages of each write-only job
    #[arg(long, default_value_t = 5, value_name = "PAGES", value_parser = clap::value_parser!(u64).range(1..))]
    pub write_pages: u64,
    /// For bandwidth: the shortest and the longest time between two jobs, uniform between them
    #[arg(long, default_value = "100us..1ms", value_name = "FROM..TO")]
    pub gap: String,
    /// For bandwidth: how chips are kept busy
    #[arg(long, value_enum, default_value_t = Dispatch::Serial)]
    pub dispatch: Dispatch,
    /// For bandwidth: how many pages a pass of garbage collection copies
    #[arg(long, value_enum, default_value_t = Victims::Actual)]
    pub victims: Victims,
    /// For bandwidth: what the device has been through before each run
    #[arg(long, value_enum, default_value_t = Aging::Worst)]
    pub aging: Aging,
    /// For bandwidth: which pages of its own part a task reads and writes
    #[arg(long, value_enum, default_value_t = Pattern::Uniform)]
    pub pattern: Pattern,
    /// Threads to use; the results do not depend on it [default: one for each core]
    #[arg(long, value_name = "THREADS", value_parser = clap::value_parser!(u16).range(1..))]
    pub jobs: Option<u16>,
    /// Do part I of N alone, I from 0, to be joined by `merge`; `auto` takes both from the environment of an array job, `auto/N` the
    /// index alone
    #[arg(long, value_name = "I/N")]
    pub shard: Option<String>,
    /// Draw no figures
    #[arg(long)]
    pub no_figure: bool,
    /// Where the results go: a directory. An experiment that was interrupted there goes on
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    #[command(flatten)]
    pub format: FormatArg,
}

/// Options of `merge`.
#[derive(Debug, Args)]
pub struct MergeArgs {
    /// The directories of all parts, in any order
    #[arg(required = true, value_name = "PART")]
    pub parts: Vec<PathBuf>,
    /// Where the results go: a directory
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// Draw no figures
    #[arg(long)]
    pub no_figure: bool,
    #[command(flatten)]
    pub format: FormatArg,
}
