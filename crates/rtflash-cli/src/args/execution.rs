//! What the user types of a run on the simulated device.

use std::path::PathBuf;

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use rtflash_analysis::StockTerm;
use rtflash_analysis::certified::Term;
use rtflash_plan::{
    Aging, Arbitration, Dispatch, Pattern, Phases, Policy, Recurrence, Service, Ties, Times, Victims, Waits,
};
use rtflash_run::soak::World;

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
    /// Cases to draw; with --climb runs for each request at most [default: 1000, and 5000 for
    /// --climb alone]
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
    pub runs: Option<u64>,
    /// What cases are drawn from
    #[arg(long, default_value = "any", value_parser = worlds())]
    pub world: SoakWorld,
    /// Leave a term out of the test by which the world stripe, queue, superblock, mixed, stream,
    /// command, queue-command, register, register-command, zoned, failing, suspending, levelling or
    /// stock accepts sets, and show what breaks; `all`: each of the world's terms by itself. What
    /// is accepted so is no promise
    #[arg(long, value_name = "TERM", value_parser = terms())]
    pub without: Option<String>,
    /// Move releases, gaps and lengths of operations towards late ends. With the world stripe,
    /// queue, superblock, mixed, stream, command, queue-command, register, register-command, zoned,
    /// failing, suspending, levelling or stock: in its sets. With a FILE: in this set, for each
    /// request. Without either: in the sets of docs/analysis.md's table "What is necessary"
    #[arg(long, value_name = "FILE", num_args = 0..=1)]
    pub climb: Option<Option<PathBuf>>,
    #[command(flatten)]
    pub algorithm: AlgorithmArg,
    #[command(flatten)]
    pub analysis: AnalysisArg,
    #[command(flatten)]
    pub rely_on: RelyOnArg,
    /// Threads to use; the output does not depend on it [default: one for each core]
    #[arg(long, value_name = "THREADS", value_parser = clap::value_parser!(u16).range(1..=MAX_THREADS))]
    pub jobs: Option<u16>,
    #[command(flatten)]
    pub set: ChangeArg,
    #[command(flatten)]
    pub format: FormatArg,
}

impl SoakArgs {
    /// How many cases to draw, or runs to make.
    pub fn runs(&self) -> u64 {
        let alone = self.climb == Some(None) && self.world.0 == Some(World::Any);
        self.runs.unwrap_or(if alone { 5_000 } else { 1_000 })
    }
}

/// What `soak` draws from: what the executor runs, or `None` for drives of `stock`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SoakWorld(pub Option<World>);

/// What `soak` draws from, with what it is in a line.
const WORLDS: [(Option<World>, &str); 17] = [
    (Some(World::Any), "Everything: shared channels, every dispatch, server, aging and address pattern"),
    (
        Some(World::Supposed),
        "What Theorem 1 supposes: no shared channel, serial dispatch, uniform addresses, real-time tasks alone",
    ),
    (
        Some(World::Sound),
        "Sets at the limit of what the sound analyses accept, under whatever is meant to break their promises; a third on devices with two page registers, a third on ones with commands, a quarter on ones whose blocks fail, a quarter on ones that suspend erases, and some on ones that level wear",
    ),
    (Some(World::Stripe), "Small sets at the limit of (T) or (T'), each cluster a stripe; 16 runs of each"),
    (Some(World::Queue), "Small sets of which (T'') alone accepts a cluster; 16 runs of each"),
    (Some(World::Superblock), "Small sets at the limit of (T), each cluster a superblock; 16 runs of each"),
    (Some(World::Mixed), "Small sets at the limit of (T'), stripes beside superblocks; 16 runs of each"),
    (Some(World::Stream), "Small sets of streams at the limit of (T), (T') or (T''), on wide stripes; 16 runs of each"),
    (Some(World::Command), "Small sets of stripes and superblocks whose commands use the bus; 16 runs of each"),
    (
        Some(World::QueueCommand),
        "Small sets of stripes of which (T'') with commands alone accepts a cluster; 16 runs of each",
    ),
    (
        Some(World::Register),
        "Small sets at the limit of (T2), for stripes and superblocks with two page registers; 16 runs of each",
    ),
    (
        Some(World::RegisterCommand),
        "Small sets at the limit of (T2), on devices whose commands use the bus, too; 16 runs of each",
    ),
    (Some(World::Zoned), "Small sets whose tasks own zones, some beside stripes; 16 runs of each"),
    (Some(World::Failing), "Small sets of stripes and superblocks whose blocks fail meanwhile; 16 runs of each"),
    (Some(World::Suspending), "Small sets of stripes and superblocks that suspend long erases; 16 runs of each"),
    (Some(World::Levelling), "Small sets of stripes and superblocks that level wear; 16 runs of each"),
    (
        None,
        "Small sets at the limit of `stock`, on a drive without deadlines that is simulated event by event beside the executor (docs/baselines.md); 16 runs of each",
    ),
];

fn worlds() -> impl TypedValueParser<Value = SoakWorld> {
    let name = |world: Option<World>| world.map_or("stock", World::name);
    PossibleValuesParser::new(WORLDS.map(|(world, help)| PossibleValue::new(name(world)).help(help))).map(
        move |typed| {
            let found = WORLDS.into_iter().find(|&(world, _)| name(world) == typed);
            SoakWorld(found.expect("a name of the list").0)
        },
    )
}

/// What `--without` may leave out.
pub const ALL_TERMS: &str = "all";

/// The terms, each in the letters of docs/analysis.md.
fn terms() -> PossibleValuesParser {
    let all = PossibleValue::new(ALL_TERMS).help("each of the world's terms by itself");
    let certified = Term::ALL.into_iter().map(|term| (term.name(), term.letters()));
    let of_stock = StockTerm::ALL.into_iter().map(|term| (term.name(), term.letters()));
    let new = of_stock.filter(|(name, _)| Term::ALL.iter().all(|term| term.name() != *name));
    let terms = certified.chain(new).map(|(name, letters)| PossibleValue::new(name).help(letters));
    PossibleValuesParser::new(terms.chain([all]))
}
