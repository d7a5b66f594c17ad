//! The options of the command line, as clap reads them. Nothing is looked up or opened here.

pub mod drive;
mod execution;
mod experiment;
#[cfg(feature = "exchange")]
mod export;
pub mod help;
mod host;
#[cfg(feature = "exchange")]
mod import;
mod names;
mod numbers;
#[cfg(feature = "exchange")]
mod running;

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use rtflash_alloc::allocator::usual;
use rtflash_analysis::Analysis;
use rtflash_model::reading::Change;
use rtflash_model::{Instant, Reliance};
use rtflash_plan::Dispatch;

pub use execution::{ExecArgs, PhasesArg, SoakArgs, SoakWorld};
pub use experiment::{ExperimentArgs, ExperimentKind, GenArgs, MergeArgs, SetArgs};
#[cfg(feature = "exchange")]
pub use export::{
    ExportAllocationArgs, ExportArgs, ExportCommand, ExportSetArgs, FioClassArg, MqsimGcArg, NvmeKindArg, ReplayArgs,
};
pub use host::{HostArgs, HostBoundArgs, HostCommand, HostFormat, HostInputArgs, HostRunArgs, HostTuneArgs};
#[cfg(feature = "exchange")]
pub use import::{BlockImportArgs, ImportArgs, ImportCommand, OfDeviceArgs};
use names::{algorithms, analyses, analyses_and_necessary, duration, policy, reliances};

pub use names::{COMMANDS, SCHEMAS, ShapeArg};
pub use numbers::{ExplainArgs, SizeArgs};
#[cfg(feature = "exchange")]
pub use running::{AdmitArgs, MigrateArgs, ServeArgs};

const INPUT: &str = "Input";
const ANALYSIS: &str = "Analysis";
const RUN: &str = "Run";
const OUTPUT: &str = "Output";

/// Will real-time I/O meet its deadlines on a NAND flash device, and how should the chips be
/// divided among the tasks?
#[derive(Debug, Parser)]
#[command(name = "rtflash", version, max_term_width = 100, after_help = EXIT_STATUS)]
pub struct Cli {
    /// Print no answer and show no progress: the exit status alone says it. Files are written, and
    /// errors go to standard error all the same
    #[arg(short, long, global = true, display_order = 900, help_heading = OUTPUT)]
    pub quiet: bool,
    /// Colour on a terminal without NO_COLOR, always, or never
    #[arg(long, value_enum, value_name = "WHEN", global = true, default_value_t = Color::Auto, display_order = 901, help_heading = OUTPUT)]
    pub color: Color,
    /// The command.
    #[command(subcommand)]
    pub command: Commands,
}

/// The colour of output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// On a terminal, unless NO_COLOR is set
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

const EXIT_STATUS: &str = "\
Exit status:
  0  yes: schedulable, all checks hold, done
  1  no: not schedulable, a check failed
  2  the input or the call is wrong
  3  cannot tell: a limit was reached, or an algorithm does not apply
For a batch: the worst of its lines, in the order 2, 3, 1, 0.

`rtflash help algorithms|analyses|policies|schedulers` lists names.";

const MAX_THREADS: i64 = 1_024;

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Commands {
    /// Divide the device's chips among the tasks, so that every deadline is met
    #[command(after_help = "Examples:\n  rtflash alloc tasksets/case-study.json\n  \
                      rtflash alloc tasksets/overload.json --set device.chips=8 --analysis sound\n  \
                      rtflash gen --util 1.0 | rtflash alloc - --format json")]
    Alloc(AllocArgs),
    /// Test a given allocation in exact arithmetic, or judge a recorded trace
    #[command(after_help = "Example:\n  rtflash alloc tasksets/case-study.json --format json > a.json\n  \
                      rtflash check tasksets/case-study.json --allocation a.json")]
    Check(CheckArgs),
    /// Show every term of every equation, with its number
    #[command(after_help = "Example:\n  rtflash explain tasksets/case-study.json")]
    Explain(ExplainArgs),
    /// Print how large the device must be, how much more it can carry, and how long it lasts
    #[command(after_help = "Example:\n  rtflash size tasksets/drone.json")]
    Size(SizeArgs),
    #[cfg(feature = "exchange")]
    /// Print whether tasks can be added to a running device without moving data, where, and when
    #[command(after_help = "Example:\n  \
                      rtflash alloc tasksets/drone.json --analysis sound --format json > a.json\n  \
                      rtflash admit a.json tasksets/drone.json --set tasks.terrain-map.name=city-map")]
    Admit(AdmitArgs),
    #[cfg(feature = "exchange")]
    /// Plan how a running device gets from one allocation to another, with every deadline met: the
    /// data that move, their pace, and the time
    #[command(after_help = "Example:\n  \
                      rtflash alloc tasksets/dashcam.json --set device.chips=24 --set jobs=null \\\n    \
                        --analysis sound --format json > old.json\n  \
                      rtflash alloc tasksets/dashcam.json --set device.chips=24 --set jobs=null \\\n    \
                        --analysis sound --algorithm equal-split --format json > new.json\n  \
                      rtflash migrate old.json new.json tasksets/dashcam.json \\\n    \
                        --set device.chips=24 --set jobs=null")]
    Migrate(MigrateArgs),
    /// Run the allocation on a simulated flash device, operation by operation, and check every
    /// assumption
    #[command(after_help = "Example:\n  rtflash exec tasksets/case-study.json --duration 1s --trace run.json")]
    Exec(Box<ExecArgs>),
    #[cfg(feature = "full")]
    /// Run random cases until an assumption breaks, and show the smallest case found
    #[command(alias = "falsify", after_help = "Example:\n  rtflash soak --runs 1000 --world sound")]
    Soak(SoakArgs),
    #[cfg(feature = "full")]
    /// Draw random task sets, as JSON Lines
    #[command(after_help = "Example:\n  rtflash gen --util 0.1..4.0 --sets 100 --out sets.jsonl")]
    Gen(GenArgs),
    #[cfg(feature = "full")]
    /// Compare algorithms and analyses on random task sets: tables and figures
    #[command(after_help = "Example:\n  rtflash experiment schedulability --util 0.1..4.0 --sets 100 --out results")]
    Experiment(Box<ExperimentArgs>),
    #[cfg(feature = "full")]
    /// Join the parts of an experiment that was run with --shard
    #[command(after_help = "Example:\n  \
                      rtflash experiment schedulability --util 1.0 --shard 0/2 --out part-0\n  \
                      rtflash experiment schedulability --util 1.0 --shard 1/2 --out part-1\n  \
                      rtflash merge part-0 part-1 --out merged")]
    Merge(MergeArgs),
    #[cfg(feature = "full")]
    /// Put a Linux I/O scheduler in front of the device
    #[command(after_help = "Example:\n  rtflash host run scenarios/large-reads.json --scheduler none,k2,k2-split")]
    Host(HostArgs),
    #[cfg(feature = "exchange")]
    /// Let clients read and write a simulated device with the deadlines of its certificates (NBD)
    #[command(after_help = "Example:\n  \
                      rtflash alloc tasksets/drone.json --analysis sound --format json > a.json\n  \
                      head -c 1MiB /dev/urandom > data; rtflash serve a.json tasksets/drone.json --once &\n  \
                      sleep 1; nbdcopy data nbd://127.0.0.1/front-camera")]
    Serve(ServeArgs),
    #[cfg(feature = "exchange")]
    /// Write a task set for MQSim, fio, FEMU, an NVMe drive or firmware; `check` reads results
    #[command(after_help = "Example:\n  rtflash export mqsim tasksets/case-study.json --out mqsim")]
    Export(Box<ExportArgs>),
    #[cfg(feature = "exchange")]
    /// Make a task set of a robot's bag or of a trace, or a device of MQSim's configuration
    #[command(after_help = "Example:\n  \
                      rtflash import mqsim crates/rtflash-exchange/tests/it/ssdconfig.xml > device.json")]
    Import(ImportArgs),
    /// Print a device that rtflash knows by name, with all its fields, or list them all
    #[command(after_help = "Example:\n  rtflash profile mt29f4g08abada-slc > device.json")]
    Profile {
        /// Its name; none for the list
        name: Option<String>,
        /// The form: several lines, or one line of JSON; a list is a line of JSON
        /// each, with name and source
        #[arg(long, value_enum, default_value_t = Format::Text)]
        format: Format,
    },
    #[cfg(feature = "full")]
    /// Print the JSON Schema of a file that rtflash reads or writes
    #[command(after_help = "Example:\n  rtflash schema task-set > task-set.json")]
    Schema {
        /// Its name
        #[arg(value_parser = PossibleValuesParser::new(SCHEMAS.split(' ')))]
        name: String,
    },
    #[cfg(feature = "full")]
    /// Print a completion script for a shell
    #[command(after_help = "Example:\n  rtflash completions bash > rtflash.bash")]
    Completions {
        /// The shell
        shell: Shell,
    },
    #[cfg(feature = "full")]
    /// Print the manual page, of everything or of one command
    #[command(after_help = "Examples:\n  rtflash man alloc > rtflash-alloc.1\n  rtflash man --out man1")]
    Man {
        /// The command
        #[arg(value_parser = PossibleValuesParser::new(COMMANDS.split(' ')))]
        name: Option<String>,
        /// Write a page for each command into this folder instead: rtflash.1, rtflash-alloc.1, …
        #[arg(long, value_name = "DIR", conflicts_with = "name")]
        out: Option<PathBuf>,
    },
}

/// The form of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For a person
    Text,
    /// JSON, one object a line, each with `"format": 1`
    Json,
}

/// Options of `alloc`.
#[derive(Debug, Args)]
pub struct AllocArgs {
    /// Task set, or a stream of them (JSON Lines); `-` for standard input
    pub file: PathBuf,
    #[command(flatten)]
    pub algorithm: AlgorithmArg,
    /// The schedulability analysis that decides; necessary tests divide nothing (`rtflash help
    /// analyses`)
    #[arg(long, default_value = "thesis", value_parser = analyses_and_necessary(), hide_possible_values = true, help_heading = ANALYSIS)]
    pub analysis: String,
    #[command(flatten)]
    pub rely_on: RelyOnArg,
    #[command(flatten)]
    pub guarantee: GuaranteeArg,
    #[command(flatten)]
    pub spread: SpreadArg,
    /// The shape of clusters on the channels; simulators and drives with sets can express
    /// rectangles (`export`)
    #[arg(long, value_enum, default_value_t = ShapeArg::Any, help_heading = ANALYSIS)]
    pub shape: ShapeArg,
    /// Whether clusters with certificates reserve the rest of their time for aperiodic jobs.
    /// Without a server these get nothing, and erases are suspended if the device can
    #[arg(long, value_enum, default_value_t = ReserveArg::Yes, help_heading = ANALYSIS)]
    pub reserve_server: ReserveArg,
    #[command(flatten)]
    pub set: ChangeArg,
    #[command(flatten)]
    pub format: FormatArg,
}

/// `--reserve-server`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ReserveArg {
    /// Each cluster has a server as large as its tasks allow
    Yes,
    /// No cluster has one
    No,
}

/// `--guarantee` and `--no-guarantee`.
#[derive(Debug, Clone, Copy, Args)]
pub struct GuaranteeArg {
    /// State whether the set is guaranteed on the device, by --analysis sound with clusters of its
    /// own [default: for a single task set, not in a stream]
    #[arg(long, overrides_with = "no_guarantee", help_heading = ANALYSIS)]
    pub guarantee: bool,
    /// Leave that out
    #[arg(long, overrides_with = "guarantee", help_heading = ANALYSIS)]
    pub no_guarantee: bool,
}

impl GuaranteeArg {
    /// Whether the answer states it; `alone` if the task set is the only one.
    pub fn wanted(self, alone: bool) -> bool {
        self.guarantee || (alone && !self.no_guarantee)
    }
}

/// `--algorithm`.
#[derive(Debug, Args)]
pub struct AlgorithmArg {
    /// The algorithm that divides the chips (`rtflash help algorithms`) [default: clustering-bfd;
    /// best-fit with --analysis stripe, superblock, sound or zoned]
    #[arg(long, value_parser = algorithms(), hide_possible_values = true, help_heading = ANALYSIS)]
    pub algorithm: Option<String>,
}

impl AlgorithmArg {
    pub fn under(&self, analysis: &dyn Analysis) -> &str {
        self.algorithm.as_deref().unwrap_or_else(|| usual(analysis).name())
    }
}

/// `--analysis`.
#[derive(Debug, Args)]
pub struct AnalysisArg {
    /// The schedulability analysis that decides (`rtflash help analyses`)
    #[arg(long, default_value = "thesis", value_parser = analyses(), hide_possible_values = true, help_heading = ANALYSIS)]
    pub analysis: String,
}

/// `--assume`: to be flattened by every command that promises something or judges a promise.
#[derive(Debug, Clone, Copy, Args)]
pub struct RelyOnArg {
    /// The assumptions about the clusters on its channels that a cluster can make
    #[arg(id = "rely_on", help_heading = ANALYSIS, long = "assume", alias = "rely-on", value_name = "ASSUMPTION", default_value = "neighbour-load", value_parser = reliances())]
    pub granted: Reliance,
}

/// The algorithm that divides the chips, and the analysis that decides.
#[derive(Debug, Args)]
pub struct DecisionArgs {
    #[command(flatten)]
    pub algorithm: AlgorithmArg,
    #[command(flatten)]
    pub analysis: AnalysisArg,
    #[command(flatten)]
    pub rely_on: RelyOnArg,
}

/// `--spread`.
#[derive(Debug, Args)]
pub struct SpreadArg {
    /// Give free chips to the clusters that wear fastest, and test every cluster again
    #[arg(long, help_heading = ANALYSIS)]
    pub spread: bool,
}

/// `--set`: to be flattened by every command that reads a task set.
#[derive(Debug, Args)]
pub struct ChangeArg {
    /// Change a field of the input before it is read: `device.chips=8`,
    /// `tasks.camera.read.period=36ms`, `tasks[0].write=null`. The value is JSON, or a string
    /// without quotes. Repeatable
    #[arg(long = "set", value_name = "FIELD=VALUE", help_heading = INPUT)]
    pub changes: Vec<Change>,
}

/// `--format`.
#[derive(Debug, Args)]
pub struct FormatArg {
    /// The form of the answer (docs/formats.md)
    #[arg(long, value_enum, default_value_t = Format::Text, help_heading = OUTPUT)]
    pub format: Format,
}

/// Options of `check`.
#[derive(Debug, Args)]
pub struct CheckArgs {
    /// Task set, or a stream of them; `-` for standard input
    pub file: PathBuf,
    /// The allocation to test: what `alloc --format json` prints, or chips and tasks written by
    /// hand. For a stream of task sets a stream of as many allocations
    #[arg(long, value_name = "ALLOC.json")]
    pub allocation: Option<PathBuf>,
    /// Judge this trace of `exec` instead (JSON Lines), by the checkers that judge a run; the
    /// allocation is the one that was run, found by the algorithm where none is given
    #[arg(long, value_name = "TRACE.jsonl")]
    pub trace: Option<PathBuf>,
    #[cfg(feature = "exchange")]
    /// Judge what MQSim made of an export: its results (`…_scenario_1.xml`), in the folder of
    /// `export mqsim`. Every request is to be served and in time
    #[arg(long, value_name = "RESULT.xml", conflicts_with_all = ["trace", "allocation", "fio", "analysis", "rely_on", "algorithm", "dispatch", "duration"])]
    pub mqsim: Option<PathBuf>,
    #[cfg(feature = "exchange")]
    /// Judge what fio made of an export: its results in JSON, in the folder of `export fio`
    #[arg(long, value_name = "RESULT.json", conflicts_with_all = ["trace", "allocation", "analysis", "rely_on", "algorithm", "dispatch", "duration"])]
    pub fio: Option<PathBuf>,
    /// With a trace: the algorithm of the allocation (`rtflash help algorithms`) [default:
    /// clustering-bfd; best-fit with --analysis stripe, superblock, sound or zoned]
    #[arg(long, requires = "trace", conflicts_with = "allocation", value_parser = algorithms(), hide_possible_values = true, help_heading = ANALYSIS)]
    pub algorithm: Option<String>,
    /// With a trace: how the chips were kept busy
    #[arg(long, requires = "trace", default_value = "serial", value_parser = policy::<Dispatch>())]
    pub dispatch: Dispatch,
    /// With a trace: when the run ended [default: the last instant in the trace]
    #[arg(long, requires = "trace", value_name = "TIME", value_parser = duration)]
    pub duration: Option<Instant>,
    #[command(flatten)]
    pub analysis: AnalysisArg,
    #[command(flatten)]
    pub rely_on: RelyOnArg,
    #[command(flatten)]
    pub set: ChangeArg,
    #[command(flatten)]
    pub format: FormatArg,
}
