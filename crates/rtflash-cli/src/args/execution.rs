//! What the user types of a run on the simulated device.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use rtflash_plan::{
    Aging, Arbitration, Dispatch, Pattern, Phases, Policy, Recurrence, Service, Ties, Times, Victims, Waits,
};

use super::names::policy;
use super::{AlgorithmArg, AnalysisArg, ChangeArg, FormatArg, MAX_THREADS, RelyOnArg};

/// When the first requests are released.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PhasesArg {
    /// As a policy says.
    Policy(Phases),
    /// As a file says.
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
    #[arg(long, value_name = "ALLOC.json", conflicts_with = "algorithm")]
    pub allocation: Option<PathBuf>,
    #[command(flatten)]
    pub algorithm: AlgorithmArg,
    #[command(flatten)]
    pub analysis: AnalysisArg,
    #[command(flatten)]
    pub rely_on: RelyOnArg,
    /// Give chips that the algorithm leaves free to the clusters that wear fastest, so that the
    /// device lasts longer
    #[arg(long, conflicts_with = "allocation")]
    pub spread: bool,
    /// How long to run, in simulated time
    #[arg(long, default_value = "10s", value_name = "TIME")]
    pub duration: String,
    /// How jobs that are not real-time are served
    #[arg(long, default_value = "tbs", value_parser = policy::<Service>())]
    pub server: Service,
    /// How chips are kept busy
    #[arg(long, default_value = "serial", value_parser = policy::<Dispatch>())]
    pub dispatch: Dispatch,
    /// How many pages a pass of garbage collection copies
    #[arg(long, default_value = "actual", value_parser = policy::<Victims>())]
    pub victims: Victims,
    /// What the device has been through before the run
    #[arg(long, default_value = "worst", value_parser = policy::<Aging>())]
    pub aging: Aging,
    /// Which pages of its own part a task reads and writes
    #[arg(long, default_value = "uniform", value_parser = policy::<Pattern>())]
    pub pattern: Pattern,
    /// What a page waits for its bus (with certificates, as --analysis sound gives them)
    #[arg(long, default_value = "actual", value_parser = policy::<Waits>())]
    pub waits: Waits,
    /// How long operations take where the device states ranges, such as "40us..50us"
    #[arg(long, default_value = "worst", value_parser = policy::<Times>())]
    pub times: Times,
    /// When the first requests are released: `periodic` at 0; `at-erases` likewise, and with
    /// certificates all requests where possible just behind the beginning of an erase; `random` at
    /// times below the period, drawn; or as a file says: `{"camera": {"read": "3ms", "write":
    /// "0ms"}, …}`
    #[arg(long, value_name = "periodic|at-erases|random|FILE", default_value = "periodic")]
    pub phases: PhasesArg,
    /// What is stated of some requests, or of all, in a file or right here: offsets, gaps, times of
    /// release, pages, lengths. It goes before --phases, --arrivals and --times: `{"camera":
    /// {"write": {"gaps": ["0ms", "3ms"]}}}`
    #[arg(long, value_name = "FILE|{…}")]
    pub releases: Option<String>,
    /// How long after each other requests come
    #[arg(long, default_value = "periodic", value_parser = policy::<Recurrence>())]
    pub arrivals: Recurrence,
    /// Hold requests that the file of --phases releases earlier than a period after the one before,
    /// and cut those with more pages than declared
    #[arg(long)]
    pub police: bool,
    /// Have a task trim PAGES of its pages every EVERY, in order, round and round: they hold
    /// nothing then, and are not copied (with certificates). May be given several times
    #[arg(long = "trim", value_name = "TASK=PAGES/EVERY")]
    pub trims: Vec<String>,
    /// Which of the chips that wait for a bus gets it
    #[arg(long, default_value = "fifo", value_parser = policy::<Arbitration>())]
    pub arbitration: Arbitration,
    /// Who goes first among jobs of the same deadline, and among chips that ask for a bus at the
    /// same instant
    #[arg(long, default_value = "lowest", value_parser = policy::<Ties>())]
    pub ties: Ties,
    /// Leave chips of a superblock idle that a step does not use (with certificates)
    #[arg(long)]
    pub no_backfill: bool,
    /// Of a thousand programs and erases OF_A_THOUSAND fail, while no more blocks do than the
    /// device states (`spare_blocks`, `program_failures`; with certificates)
    #[arg(long, value_name = "OF_A_THOUSAND", default_value_t = 0, value_parser = clap::value_parser!(u16).range(..=1000))]
    pub faults: u16,
    /// Threads to use: clusters that share no channel run side by side; the output does not depend
    /// on it
    #[arg(long, value_name = "THREADS", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=MAX_THREADS))]
    pub jobs: u16,
    /// Memory that the tables of a run may take, such as 500MB or 8GiB; a device that needs more is
    /// refused, and the answer says how much. In a stream, each set that is run at the same time
    /// (--jobs) may take it
    #[arg(long, value_name = "SIZE", default_value = "2GiB")]
    pub memory: String,
    /// Where the randomness starts: addresses, arrivals, releases, aging, lengths of operations
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Record the run: as a Perfetto trace with counters (OUT ends in .json) or one event a line
    /// (.jsonl)
    #[arg(long, value_name = "OUT")]
    pub trace: Option<PathBuf>,
    /// Keep the state of the run in this file now and then, at the end, and before a signal ends
    /// it: the same command goes on from there, and its answer is that of a run that was not broken
    /// off
    #[cfg(feature = "full")]
    #[arg(long, value_name = "FILE", conflicts_with_all = ["trace", "gantt", "report"])]
    pub checkpoint: Option<PathBuf>,
    /// How often the state is kept
    #[cfg(feature = "full")]
    #[arg(long, value_name = "TIME", default_value = "60s", requires = "checkpoint")]
    pub checkpoint_every: String,
    /// Draw this stretch of the run, in the terminal and with --gantt-out as a figure: `FROM..TO`,
    /// such as 0ms..40ms
    #[arg(long, value_name = "FROM..TO")]
    pub gantt: Option<String>,
    /// Where to draw the stretch as a figure: a file that ends in .svg or .png
    #[arg(long, value_name = "FILE", requires = "gantt")]
    pub gantt_out: Option<PathBuf>,
    /// Write a report as well: one HTML page with a chart of the stretch (of the first periods
    /// where none is asked for), all tables and the data, which needs no network and no other file
    #[arg(long, value_name = "FILE.html")]
    pub report: Option<PathBuf>,
    #[command(flatten)]
    pub set: ChangeArg,
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
    #[arg(long, default_value_t = 1_000, value_parser = clap::value_parser!(u64).range(1..))]
    pub runs: u64,
    /// What cases are drawn from
    #[arg(long, value_enum, default_value_t = SoakWorld::Any)]
    pub world: SoakWorld,
    /// Threads to use; the output does not depend on it [default: one for each core]
    #[arg(long, value_name = "THREADS", value_parser = clap::value_parser!(u16).range(1..=MAX_THREADS))]
    pub jobs: Option<u16>,
    #[command(flatten)]
    pub format: FormatArg,
}

/// What `soak` draws from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SoakWorld {
    /// Everything: shared channels, every dispatch, server, aging and address pattern
    Any,
    /// Sets at the limit of what the sound analyses accept, under whatever is meant to break their
    /// promises; a third on devices with two page registers, a third on ones with commands, a
    /// quarter on ones whose blocks fail, a quarter on ones that suspend erases, and some on ones
    /// that level wear
    Sound,
}
