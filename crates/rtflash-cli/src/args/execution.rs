//! The options of a run on the simulated device.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use rtflash_model::Instant;
use rtflash_plan::{
    Aging, Arbitration, Dispatch, Pattern, Phases, Policy, Recurrence, Service, Ties, Times, Victims, Waits,
};

use super::names::{bytes, duration, every, policy};
use super::{ANALYSIS, ChangeArg, DecisionArgs, FormatArg, INPUT, MAX_THREADS, OUTPUT, RUN};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PhasesArg {
    Policy(Phases),
    File(PathBuf),
}

impl std::str::FromStr for PhasesArg {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<PhasesArg, Self::Err> {
        Ok(Phases::from_name(text).map_or_else(|| PhasesArg::File(text.into()), PhasesArg::Policy))
    }
}

/// Options of `exec`.
#[derive(Debug, Args)]
pub struct ExecArgs {
    /// Task set, or a stream of them (JSON Lines); `-` for standard input
    pub file: PathBuf,
    /// The allocation to run; without it, the one that the algorithm finds. For a stream of task
    /// sets a stream of as many allocations, as `alloc --format json` prints it
    #[arg(long, value_name = "ALLOC.json", conflicts_with = "algorithm", help_heading = INPUT)]
    pub allocation: Option<PathBuf>,
    #[command(flatten)]
    pub by: DecisionArgs,
    /// Give free chips to the clusters that wear fastest
    #[arg(long, conflicts_with = "allocation", help_heading = ANALYSIS)]
    pub spread: bool,
    /// The length of the run, in simulated time
    #[arg(long, default_value = "10s", value_name = "TIME", value_parser = duration, help_heading = RUN)]
    pub duration: Instant,
    /// The service of aperiodic jobs
    #[arg(long, default_value = "tbs", value_parser = policy::<Service>(), help_heading = RUN)]
    pub server: Service,
    /// The dispatch of chips
    #[arg(long, default_value = "serial", value_parser = policy::<Dispatch>(), help_heading = RUN)]
    pub dispatch: Dispatch,
    /// The pages that a pass of garbage collection copies
    #[arg(long, default_value = "actual", value_parser = policy::<Victims>(), help_heading = RUN)]
    pub victims: Victims,
    /// The content of the device at the start
    #[arg(long, alias = "preconditioning", default_value = "worst", value_parser = policy::<Aging>(), help_heading = RUN)]
    pub aging: Aging,
    /// The pages that tasks read and write
    #[arg(long, default_value = "uniform", value_parser = policy::<Pattern>(), help_heading = RUN)]
    pub pattern: Pattern,
    /// The wait of a page for its bus (with certificates)
    #[arg(long, default_value = "actual", value_parser = policy::<Waits>(), help_heading = RUN)]
    pub waits: Waits,
    /// The time of operations if the device states ranges, such as "40us..50us"
    #[arg(long, default_value = "worst", value_parser = policy::<Times>(), help_heading = RUN)]
    pub times: Times,
    /// The release of the first requests: at 0, after erases (with certificates), at random, or
    /// from a file: `{"camera": {"read": "3ms", "write": "0ms"}, …}`
    #[arg(long, value_name = "periodic|at-erases|random|FILE", default_value = "periodic", help_heading = INPUT)]
    pub phases: PhasesArg,
    /// Offsets, gaps, release times, pages and lengths of requests, in a file or right here, before
    /// --phases, --arrivals and --times: `{"camera": {"write": {"gaps": ["0ms", "3ms"]}}}`
    #[arg(long, value_name = "FILE|{…}", help_heading = INPUT)]
    pub releases: Option<String>,
    /// The time between requests
    #[arg(long, default_value = "periodic", value_parser = policy::<Recurrence>(), help_heading = RUN)]
    pub arrivals: Recurrence,
    /// Shape requests: hold early ones, and cut those with more pages than declared
    #[arg(long, alias = "shaper", help_heading = RUN)]
    pub police: bool,
    /// Let a task trim PAGES of its pages every EVERY, in order, round and round (with
    /// certificates). Repeatable
    #[arg(long = "trim", value_name = "TASK=PAGES/EVERY", help_heading = RUN)]
    pub trims: Vec<String>,
    /// The order of waiting chips on a bus
    #[arg(long, default_value = "fifo", value_parser = policy::<Arbitration>(), help_heading = RUN)]
    pub arbitration: Arbitration,
    /// The order of jobs of one deadline, and of chips that ask for a bus at one instant
    #[arg(long, default_value = "lowest", value_parser = policy::<Ties>(), help_heading = RUN)]
    pub ties: Ties,
    /// Leave idle chips of a superblock idle (with certificates)
    #[arg(long, help_heading = RUN)]
    pub no_backfill: bool,
    /// Programs and erases of a thousand that fail, within the device's `spare_blocks` and
    /// `program_failures` (with certificates)
    #[arg(long, value_name = "OF_A_THOUSAND", default_value_t = 0, value_parser = clap::value_parser!(u16).range(..=1000), help_heading = RUN)]
    pub faults: u16,
    /// Threads to use; the output does not depend on it
    #[arg(long = "threads", alias = "jobs", value_name = "THREADS", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=MAX_THREADS), help_heading = RUN)]
    pub jobs: u16,
    /// Memory that the tables of a run can take, such as 500MB or 8GiB; in a stream that of each
    /// set. A device that needs more is refused
    #[arg(long, value_name = "SIZE", default_value = "2GiB", value_parser = bytes, help_heading = RUN)]
    pub memory: u64,
    /// The seed of addresses, arrivals, releases, aging and lengths of operations
    #[arg(long, default_value_t = 1, help_heading = RUN)]
    pub seed: u64,
    /// Record the run: as a Perfetto trace with counters (OUT ends in .json) or one event a line
    /// (.jsonl)
    #[arg(long, value_name = "OUT", help_heading = OUTPUT)]
    pub trace: Option<PathBuf>,
    /// Keep the state of the run in this file; the same command continues from there
    #[arg(long, value_name = "FILE", conflicts_with_all = ["trace", "gantt", "report"], help_heading = OUTPUT)]
    pub checkpoint: Option<PathBuf>,
    /// The time between two states that are kept
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = every, requires = "checkpoint", help_heading = OUTPUT)]
    pub checkpoint_every: Duration,
    /// Draw this stretch of the run: `FROM..TO`, such as 0ms..40ms
    #[arg(long, value_name = "FROM..TO", help_heading = OUTPUT)]
    pub gantt: Option<String>,
    /// Draw the stretch into this file, .svg or .png
    #[arg(long, value_name = "FILE", requires = "gantt", help_heading = OUTPUT)]
    pub gantt_out: Option<PathBuf>,
    /// Write a report as well: one HTML page with a chart, all tables and the data
    #[arg(long, value_name = "FILE.html", help_heading = OUTPUT)]
    pub report: Option<PathBuf>,
    #[command(flatten)]
    pub set: ChangeArg,
    #[command(flatten)]
    pub format: FormatArg,
}

/// Options of `soak`.
#[derive(Debug, Args)]
pub struct SoakArgs {
    /// The seed: equal seeds draw equal cases
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Cases to draw
    #[arg(long, default_value_t = 1_000, value_parser = clap::value_parser!(u64).range(1..))]
    pub runs: u64,
    /// The world that cases are drawn from
    #[arg(long, value_enum, default_value_t = SoakWorld::Any)]
    pub world: SoakWorld,
    /// Threads to use; the output does not depend on it [default: one for each core]
    #[arg(long = "threads", alias = "jobs", value_name = "THREADS", value_parser = clap::value_parser!(u16).range(1..=MAX_THREADS))]
    pub jobs: Option<u16>,
    #[command(flatten)]
    pub format: FormatArg,
}

/// The world of `soak`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SoakWorld {
    /// Everything: shared channels, every dispatch, server, aging and address pattern
    Any,
    /// Sets at the limit of the sound analyses, under hostile addresses, arrivals and waits; some
    /// on devices with two page registers, commands, failing blocks, suspended erases, wear
    /// levelling
    Sound,
}
