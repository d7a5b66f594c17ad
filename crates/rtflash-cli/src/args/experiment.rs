//! The options of the task sets to draw, and of the experiments on them.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use rtflash_model::generate::{
    Accesses, AperiodicArrivals, DeadlineRange, Generator, PageRange, PeriodDistribution, PeriodRange, Utilization,
    WriteShare,
};
use rtflash_model::{Instant, Span, parse_ns};
use rtflash_plan::{Aging, Dispatch, Pattern, Victims};

use super::names::{analyses, analyses_and_necessary, duration, named, policy};
use super::{ANALYSIS, FormatArg, INPUT, MAX_THREADS, OUTPUT, RUN, RelyOnArg};

/// The task sets that `gen` and `experiment` draw.
#[derive(Debug, Args)]
pub struct SetArgs {
    /// Distance of the points in the range
    #[arg(long, default_value = "0.1")]
    pub step: Utilization,
    /// Task sets drawn at each point
    #[arg(long, default_value_t = 100)]
    pub sets: u64,
    /// Tasks in a set
    #[arg(long, default_value_t = 8)]
    pub tasks: u32,
    /// The division of utilization among the tasks (docs/experiments.md, Generators).
    /// `heavy-writers` divides no total and accepts no --util
    #[arg(long, default_value = "uunifast", value_parser = named(Generator::ALL.map(Generator::name), Generator::from_name))]
    pub generator: Generator,
    /// The device: a profile's name, a file, or JSON
    #[arg(long, default_value = "dgist-2021")]
    pub device: String,
    /// Make K of the tasks write-heavy: at least half of their utilization is writing, of the
    /// others' less than half
    #[arg(long, value_name = "K")]
    pub write_heavy: Option<u32>,
    /// Every task writes this part of its utilization, from 0 (reads alone) to 1 (writes alone)
    #[arg(long, value_name = "PART", conflicts_with = "write_heavy")]
    pub write_share: Option<WriteShare>,
    /// The pages that requests read and write: any pages, consecutive pages, consecutive pages from
    /// where the request before ended, or for each request one of the first two with equal chance.
    /// All else of the sets is the same
    #[arg(long, default_value = "random", value_parser = named(Accesses::ALL.map(Accesses::name), Accesses::from_name))]
    pub access: Accesses,
    /// Requests are due before the end of their period: after a part of it, drawn for each request
    /// from LO..HI. All else of the sets is the same. The sound analyses alone take them
    #[arg(long, value_name = "LO..HI")]
    pub deadline: Option<DeadlineRange>,
    /// The periods that requests start from, before these are adapted to whole pages, such as
    /// 5ms..50ms for small requests
    #[arg(long, value_name = "LO..HI", default_value = "100ms..500ms")]
    pub period: PeriodRange,
    /// The distribution of these periods over their range. `log-uniform` draws as many from each
    /// order of magnitude (Emberson, Stafford and Davis 2010)
    #[arg(long, default_value = "uniform", value_parser = named(PeriodDistribution::ALL.map(PeriodDistribution::name), PeriodDistribution::from_name))]
    pub period_distribution: PeriodDistribution,
    /// Requests have LO to HI pages, such as 1..16. If utilization and period would make them fewer
    /// or more, the period follows: it can leave its range
    #[arg(long, value_name = "LO..HI")]
    pub pages: Option<PageRange>,
    /// The seed: equal seeds give equal bytes, everywhere
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

/// Options of `gen`.
#[derive(Debug, Args)]
pub struct GenArgs {
    /// Total utilization of a set: one value, or a range `A..B` that includes both ends
    #[arg(long, value_name = "A..B")]
    pub util: Option<String>,
    #[command(flatten, next_help_heading = INPUT)]
    pub sets: SetArgs,
    /// The analysis whose page costs make the sets, and that each task passes alone (`rtflash help
    /// analyses`)
    #[arg(long, default_value = "thesis", value_parser = analyses(), hide_possible_values = true, help_heading = ANALYSIS)]
    pub analysis: String,
    /// Add K streams of aperiodic requests, which read and write as --write-share says. All else
    /// of the sets is the same
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u32).range(1..=1_000), help_heading = INPUT)]
    pub aperiodic: Option<u32>,
    /// The utilization of all these streams together, in equal parts
    #[arg(long, value_name = "U", requires = "aperiodic", default_value = "0.5", help_heading = INPUT)]
    pub aperiodic_util: Utilization,
    /// The arrivals of these requests: with equal gaps, with gaps of half to one and a half of the
    /// mean, as a Poisson process, or two to sixteen at once
    #[arg(long, requires = "aperiodic", default_value = "poisson", value_parser = named(AperiodicArrivals::ALL.map(AperiodicArrivals::name), AperiodicArrivals::from_name), help_heading = INPUT)]
    pub arrivals: AperiodicArrivals,
    /// Write to this file instead of standard output; it is there, or replaced, once all sets are
    /// drawn
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Threads to use; the output does not depend on it [default: one for each core]
    #[arg(long = "threads", alias = "jobs", value_name = "THREADS", value_parser = clap::value_parser!(u16).range(1..=MAX_THREADS))]
    pub jobs: Option<u16>,
}

/// The question of an experiment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ExperimentKind {
    /// The ratio of schedulable sets against utilization, or along the axis of --sweep
    Schedulability,
    /// The ratio against the number of write-heavy tasks, from none to all
    WriteHeavy,
    /// Pages a second of jobs that are not real-time, run on the simulated device beside sets that
    /// all algorithms schedule. The defaults take hours, most of it the warm-up;
    /// `--sets 5 --duration 500ms --warmup 0s` takes seconds
    Bandwidth,
}

impl ExperimentKind {
    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            ExperimentKind::Schedulability => "schedulability",
            ExperimentKind::WriteHeavy => "write-heavy",
            ExperimentKind::Bandwidth => "bandwidth",
        }
    }
}

fn warmup(text: &str) -> Result<Span, &'static str> {
    parse_ns(text.trim()).ok().and_then(Span::from_ns).ok_or("expected a time such as 20s, or 0s")
}

/// Two times above zero, the shorter first.
fn gap(text: &str) -> Result<(Span, Span), &'static str> {
    let time = |text: &str| parse_ns(text.trim()).ok().and_then(Span::from_ns).filter(|&time| time > Span::ZERO);
    let times = text.split_once("..").and_then(|(shortest, longest)| Some((time(shortest)?, time(longest)?)));
    times
        .filter(|(shortest, longest)| shortest <= longest)
        .ok_or("expected two times, the shorter first, such as 100us..1ms")
}

/// Options of `experiment`.
#[derive(Debug, Args)]
pub struct ExperimentArgs {
    /// The question
    #[arg(value_enum)]
    pub kind: ExperimentKind,
    /// Total utilization of a set: one value, or a range `A..B` that includes both ends
    /// [default: 0.1..4.0; write-heavy: 2.0; bandwidth: 0.1..3.1]
    #[arg(long, value_name = "A..B")]
    pub util: Option<String>,
    #[command(flatten, next_help_heading = INPUT)]
    pub sets: SetArgs,
    /// Make all sets for this analysis (page costs, and that each task fits alone) [default: for
    /// each of --analyses its own]
    #[arg(long, value_parser = analyses(), hide_possible_values = true, help_heading = ANALYSIS)]
    pub analysis: Option<String>,
    /// The algorithms to compare (`rtflash help algorithms`); for bandwidth each can have `+tbs` or
    /// `+background` behind it [default: clustering-bfd,equal-split,global, with the thesis's
    /// analyses part-ftl, and with stripe, superblock, sound or zoned best-fit; bandwidth:
    /// clustering-bfd+tbs,equal-split+background, with these best-fit+tbs,equal-split+background]
    #[arg(long, value_name = "A,B,…", value_delimiter = ',', help_heading = ANALYSIS)]
    pub algorithms: Vec<String>,
    /// The analyses that decide, each algorithm under each (`rtflash help analyses`). `necessary`
    /// bounds all others from above [default: that of --analysis, or thesis]
    #[arg(long, value_name = "A,B,…", value_delimiter = ',', value_parser = analyses_and_necessary(), hide_possible_values = true, help_heading = ANALYSIS)]
    pub analyses: Vec<String>,
    #[command(flatten)]
    pub rely_on: RelyOnArg,
    /// Change one thing besides utilization: `chips=4,8,16`. The axes are fields of the device
    /// (block_erase=1ms,5ms, logical_ratio=0.3,0.5, …), tasks, write_heavy and write_share
    #[arg(long, value_name = "AXIS=V,V,…")]
    pub sweep: Option<String>,
    /// For bandwidth: how long each run goes on before pages are counted, in simulated time; 0s
    /// counts from the start [default: until writes have filled the device's free pages once]
    #[arg(long, value_name = "TIME", value_parser = warmup, help_heading = RUN)]
    pub warmup: Option<Span>,
    /// For bandwidth: how long pages are counted in each run, in simulated time
    #[arg(long, default_value = "5s", value_name = "TIME", value_parser = duration, help_heading = RUN)]
    pub duration: Instant,
    /// For bandwidth: pages of each read-only job
    #[arg(long, default_value_t = 20, value_name = "PAGES", value_parser = clap::value_parser!(u64).range(1..), help_heading = RUN)]
    pub read_pages: u64,
    /// For bandwidth: pages of each write-only job
    #[arg(long, default_value_t = 5, value_name = "PAGES", value_parser = clap::value_parser!(u64).range(1..), help_heading = RUN)]
    pub write_pages: u64,
    /// For bandwidth: the shortest and the longest time between two jobs, uniform between them
    #[arg(long, default_value = "100us..1ms", value_name = "FROM..TO", value_parser = gap, help_heading = RUN)]
    pub gap: (Span, Span),
    /// For bandwidth: how chips are kept busy
    #[arg(long, default_value = "serial", value_parser = policy::<Dispatch>(), help_heading = RUN)]
    pub dispatch: Dispatch,
    /// For bandwidth: how many pages a pass of garbage collection copies
    #[arg(long, default_value = "actual", value_parser = policy::<Victims>(), help_heading = RUN)]
    pub victims: Victims,
    /// For bandwidth: what the device has been through before each run
    #[arg(long, alias = "preconditioning", default_value = "worst", value_parser = policy::<Aging>(), help_heading = RUN)]
    pub aging: Aging,
    /// For bandwidth: which pages of its own part a task reads and writes
    #[arg(long, default_value = "uniform", value_parser = policy::<Pattern>(), help_heading = RUN)]
    pub pattern: Pattern,
    /// Threads to use; the results do not depend on it [default: one for each core]
    #[arg(long = "threads", alias = "jobs", value_name = "THREADS", value_parser = clap::value_parser!(u16).range(1..=MAX_THREADS))]
    pub jobs: Option<u16>,
    /// Do part I of N alone, I from 0, to be joined by `merge`; `auto` takes both from the
    /// environment of an array job, `auto/N` the index alone
    #[arg(long, value_name = "I/N")]
    pub shard: Option<String>,
    /// Draw no figures
    #[arg(long, help_heading = OUTPUT)]
    pub no_figure: bool,
    /// Write a report as well: one HTML page with figures, tables, manifest and data, which needs
    /// no network and no other file
    #[arg(long, value_name = "FILE.html", conflicts_with = "shard", help_heading = OUTPUT)]
    pub report: Option<PathBuf>,
    /// The directory of the results. An experiment that was interrupted there continues
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
    /// The directory of the results
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// Draw no figures
    #[arg(long, help_heading = OUTPUT)]
    pub no_figure: bool,
    /// Write a report as well: one HTML page with figures, tables, manifest and data, which needs
    /// no network and no other file
    #[arg(long, value_name = "FILE.html", help_heading = OUTPUT)]
    pub report: Option<PathBuf>,
    #[command(flatten)]
    pub format: FormatArg,
}
