//! The evaluation of the thesis (Chapter V), done again: writes the table in
//! `docs/reproduction.md`, and the other tables and the figures beside it.
//!
//! `cargo run --release --example reproduce` does all of it, in minutes; with names of sections
//! behind `--`, these alone.

use std::fmt::Write;
use std::{fs, io};

use rtflash::alloc::allocator::{Allocator, allocator};
use rtflash::alloc::analysis::{Analysis, Thesis, ThesisEvaluated};
use rtflash::draw::{NamedFigure, figures};
use rtflash::exec::{Aging, Dispatch, Options, Pattern, Service, Times, Victims};
use rtflash::experiment::output::{Summary, summary};
use rtflash::experiment::plan::{Axis, Bandwidth, Contender, Measure, Spec, Sweep, Value};
use rtflash::experiment::tally::Tally;
use rtflash::experiment::{Plan, Progress, Shard, Watcher, run};
use rtflash::model::generate::{Accesses, Generator, PeriodRange, SetSpec, Utilization, UtilizationRange, Writes};
use rtflash::model::{Device, DeviceSpec, Instant, Span, read_task_set};
use rtflash::run::execute;

type Fallible<T> = Result<T, Box<dyn std::error::Error>>;

/// A part of the document: the text between its marks, and figures.
pub struct Section {
    /// The text between `<!-- NAME -->` and `<!-- end NAME -->`.
    pub text: String,
    /// Drawn beside the document.
    pub figures: Vec<NamedFigure>,
}

type Make = fn() -> Fallible<Section>;

/// Every section, in the order of the document.
pub const SECTIONS: [(&str, Make); 12] = [
    ("gains", gains),
    ("curves", curves),
    ("sixteen", sixteen),
    ("delay", delay),
    ("generator", generator),
    ("heavy-writers", heavy_writers),
    ("write-heavy", write_heavy),
    ("bandwidth", bandwidth),
    ("saturated", saturated),
    ("case-study", case_study),
    ("motivation", motivation),
    ("optimum", optimum),
];

fn main() -> Fallible<()> {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/docs");
    let document = format!("{root}/reproduction.md");
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    for (name, make) in SECTIONS {
        if !wanted.is_empty() && !wanted.iter().any(|wanted| wanted == name) {
            continue;
        }
        eprintln!("{name} …");
        let section = make()?;
        for figure in &section.figures {
            fs::write(format!("{root}/reproduction/{}.svg", figure.name), figure.figure.svg())?;
        }
        let text = fs::read_to_string(&document)?;
        match replaced(&text, name, &section.text) {
            Some(text) => fs::write(&document, text)?,
            None => fs::write(format!("{root}/reproduction/{name}.csv"), csv(&section.text))?,
        }
    }
    Ok(())
}

/// A table of a page as CSV, for those that the page only links to.
pub fn csv(table: &str) -> String {
    let rows = table.lines().filter(|line| line.starts_with('|') && !line.starts_with("|---"));
    let quoted = |cell: &str| if cell.contains(',') { format!("\"{cell}\"") } else { cell.to_owned() };
    let row = |line: &str| {
        let cells = line.trim_matches('|').split('|').map(|cell| quoted(&cell.trim().replace('`', "")));
        cells.collect::<Vec<_>>().join(",") + "\n"
    };
    rows.map(row).collect()
}

/// The document with another text between the marks of a section.
pub fn replaced(document: &str, name: &str, text: &str) -> Option<String> {
    let (start, end) = (format!("<!-- {name} -->\n"), format!("<!-- end {name} -->"));
    let from = document.find(&start)? + start.len();
    let to = from + document.get(from..)?.find(&end)?;
    Some(format!("{}{text}{}", document.get(..from)?, document.get(to..)?))
}

/// The four approaches of the thesis: name there, name here, and what the published gain over it
/// is.
const BASELINES: [(&str, &str, &str); 3] =
    [("Full-Isolation", "equal-split", "43 %"), ("PaRT-FTL", "part-ftl", "225 %"), ("Global", "global", "278 %")];

const FOUR: [&str; 4] = ["clustering-bfd", "equal-split", "part-ftl", "global"];

/// A watcher that ignores progress and keeps nothing.
struct Nobody;

impl Watcher for Nobody {
    fn advance(&mut self, _: u64) {}

    fn keep(&mut self, _: &Progress) -> io::Result<()> {
        Ok(())
    }
}

/// An experiment, done.
struct Done {
    plan: Plan,
    tallies: Vec<Tally>,
    summary: Summary,
}

fn experiment(spec: Spec) -> Fallible<Done> {
    let plan = Plan::new(spec)?;
    let progress = run(&plan, Progress::new(&plan, "", Shard::WHOLE), &mut Nobody)?;
    let tallies = progress.tallies().to_vec();
    Ok(Done { summary: summary(&plan, "reproduction", &tallies), plan, tallies })
}

impl Done {
    /// Its first figure, under a name.
    fn figure(&self, name: &str) -> Vec<NamedFigure> {
        let first = figures(&self.plan, &self.tallies).into_iter().next();
        first.map(|figure| NamedFigure { name: name.to_owned(), ..figure }).into_iter().collect()
    }

    /// Sets scheduled and all sets of a contender, by position.
    fn total(&self, contender: usize) -> (u64, u64) {
        self.tallies.iter().fold((0, 0), |sum, tally| (sum.0 + tally.yes[contender], sum.1 + tally.decided[contender]))
    }

    /// How many per cent more the first contender schedules than the one at this position, with the
    /// interval.
    fn gain(&self, over: usize) -> String {
        let Some(gain) = self.summary.gains.get(over - 1).and_then(|gain| gain.gain) else { return "-".into() };
        let per_cent = |share: Option<f64>| share.map_or("∞".into(), |share| format!("{:.0}", share * 100.0));
        format!("{} % ({} to {})", per_cent(Some(gain.value)), per_cent(gain.ci_low), per_cent(gain.ci_high))
    }

    /// The ratio of a contender at each point, in per cent.
    fn per_cent(&self, contender: usize) -> Vec<String> {
        let ratio =
            |tally: &Tally| format!("{:.1}", tally.yes[contender] as f64 * 100.0 / tally.decided[contender] as f64);
        self.tallies.iter().map(ratio).collect()
    }
}

fn named(name: &str) -> Fallible<&'static dyn Allocator> {
    Ok(allocator(name).ok_or_else(|| format!("there is no algorithm {name}"))?)
}

fn contenders(names: &[&str], analyses: &[&'static dyn Analysis]) -> Fallible<Vec<Contender>> {
    let mut all = Vec::new();
    for name in names {
        let allocator = named(name)?;
        all.extend(analyses.iter().map(|&analysis| Contender { allocator, analysis, service: Service::Tbs }));
    }
    Ok(all)
}

fn utilizations(range: &str) -> Fallible<Vec<Utilization>> {
    Ok(range.parse::<UtilizationRange>()?.points(Utilization::TENTH)?)
}

/// Figure V.1a: 8 tasks on 16 chips, U = 0.1 … 4.0.
fn figure_v1a(sets: u64, generator: Generator, analysis: &'static dyn Analysis) -> Fallible<Spec> {
    let device = Device::profile("dgist-2021").ok_or("no such device")?;
    let page_costs = analysis.page_costs(&device);
    Ok(Spec {
        measure: Measure::Schedulability,
        sets: SetSpec {
            device,
            tasks: 8,
            generator,
            page_costs,
            writes: Writes::Drawn,
            accesses: Accesses::Random,
            deadlines: None,
            periods: PeriodRange::default(),
            pages: None,
            seed: 1,
        },
        sets_per_point: sets,
        analysis: Some(analysis),
        utilizations: utilizations("0.1..4.0")?,
        sweep: None,
        contenders: contenders(&FOUR, &[analysis])?,
    })
}

fn gains() -> Fallible<Section> {
    let few = experiment(figure_v1a(100, Generator::IntegerShares, &ThesisEvaluated)?)?;
    let many = experiment(figure_v1a(2_500, Generator::IntegerShares, &ThesisEvaluated)?)?;
    let mut text = String::from(
        "| Clustering-BFD schedules more sets than | published | 4,000 sets | 100,000 sets |\n|---|---|---|---|\n",
    );
    for (position, (theirs, ours, published)) in BASELINES.iter().enumerate() {
        let (few, many) = (few.gain(position + 1), many.gain(position + 1));
        writeln!(text, "| {theirs} (`{ours}`) | {published} | {few} | {many} |")?;
    }
    let at_three = |done: &Done| done.per_cent(1)[29].clone();
    writeln!(text, "| Full-Isolation's ratio at U = 3.0 | 8 % | {} % | {} % |", at_three(&few), at_three(&many))?;
    Ok(Section { text, figures: few.figure("figure-v1a") })
}

fn curves() -> Fallible<Section> {
    let done = experiment(figure_v1a(2_500, Generator::IntegerShares, &ThesisEvaluated)?)?;
    let mut text = format!("| U | {} |\n|---|{}\n", FOUR.map(|name| format!("`{name}`")).join(" | "), "---|".repeat(4));
    let columns: Vec<Vec<String>> = (0..4).map(|contender| done.per_cent(contender)).collect();
    for (point, utilization) in done.plan.spec().utilizations.iter().enumerate() {
        let cells: Vec<&str> = columns.iter().map(|column| column[point].as_str()).collect();
        writeln!(text, "| {utilization} | {} |", cells.join(" | "))?;
    }
    Ok(Section { text, figures: Vec::new() })
}

/// 16 tasks in each set, as in the authors' `20201110_sched/16task_uni`.
fn sixteen() -> Fallible<Section> {
    let mut spec = figure_v1a(100, Generator::IntegerShares, &ThesisEvaluated)?;
    (spec.sets.tasks, spec.sets.seed) = (16, 7);
    spec.utilizations = utilizations("0.1..6.0")?;
    let done = experiment(spec)?;
    let counts = (0..4).map(|contender| done.total(contender).0.to_string()).collect::<Vec<_>>().join(" | ");
    let gains = (1..4).map(|over| short(&done.gain(over))).collect::<Vec<_>>().join(", ");
    let mut text = String::from(
        "| schedulable of 6,000 | Clustering-BFD | Full-Isolation | PaRT-FTL | Global | gains over the three |\n|---|---|---|---|---|---|\n",
    );
    text += "| the authors' data | 4371 | 3269 | 1029 | 893 | 34 %, 325 %, 389 % |\n";
    writeln!(text, "| here | {counts} | {gains} |")?;
    Ok(Section { text, figures: Vec::new() })
}

fn delay() -> Fallible<Section> {
    let mut text = String::from(
        "| sets made for | tested with | Clustering-BFD | Full-Isolation | PaRT-FTL | Global | gains over the three |\n|---|---|---|---|---|---|---|\n",
    );
    let analyses: [&'static dyn Analysis; 2] = [&ThesisEvaluated, &Thesis];
    for (made, tested) in [(0, 0), (0, 1), (1, 1), (1, 0)] {
        let mut spec = figure_v1a(2_500, Generator::IntegerShares, analyses[made])?;
        spec.contenders = contenders(&FOUR, &[analyses[tested]])?;
        let done = experiment(spec)?;
        let ratios = (0..4).map(|contender| ratio(done.total(contender))).collect::<Vec<_>>().join(" | ");
        let gains = (1..4).map(|over| short(&done.gain(over))).collect::<Vec<_>>().join(", ");
        writeln!(text, "| `{}` | `{}` | {ratios} | {gains} |", analyses[made].name(), analyses[tested].name())?;
    }
    let printed = experiment(figure_v1a(100, Generator::IntegerShares, &Thesis)?)?;
    Ok(Section { text, figures: printed.figure("figure-v1a-printed") })
}

fn ratio((yes, all): (u64, u64)) -> String {
    format!("{:.1} %", yes as f64 * 100.0 / all as f64)
}

/// A gain without its interval.
fn short(gain: &str) -> String {
    gain.split(" (").next().unwrap_or(gain).to_owned()
}

fn generator() -> Fallible<Section> {
    let mut text = String::from(
        "| generator | analysis | Clustering-BFD | Full-Isolation | PaRT-FTL | Global | gains over the three |\n|---|---|---|---|---|---|---|\n",
    );
    let analyses: [&'static dyn Analysis; 2] = [&ThesisEvaluated, &Thesis];
    for analysis in analyses {
        for generator in [Generator::IntegerShares, Generator::UUniFast] {
            let done = experiment(figure_v1a(2_500, generator, analysis)?)?;
            let ratios = (0..4).map(|contender| ratio(done.total(contender))).collect::<Vec<_>>().join(" | ");
            let gains = (1..4).map(|over| short(&done.gain(over))).collect::<Vec<_>>().join(", ");
            writeln!(text, "| `{generator}` | `{}` | {ratios} | {gains} |", analysis.name())?;
        }
    }
    Ok(Section { text, figures: Vec::new() })
}

/// Schedulable sets of 100 with 0 to 7 write-heavy tasks of 8, in the authors' `20201113_heavyset`.
const HEAVY_SETS: [(&str, &str); 3] = [
    ("clustering-bfd", "99 | 100 | 95 | 62 | 21 | 2 | 0 | 0"),
    ("equal-split", "86 | 10 | 1 | 1 | 0 | 0 | 0 | 0"),
    ("part-ftl", "1 | 1 | 0 | 0 | 0 | 0 | 0 | 0"),
];

/// Figure V.1b, drawn as the authors drew it.
fn heavy_writers() -> Fallible<Section> {
    let mut spec = figure_v1a(1_000, Generator::HeavyWriters, &ThesisEvaluated)?;
    spec.utilizations.clear();
    spec.sweep = Some(Sweep::new(Axis::WriteHeavy, (0..8).map(Value::Count).collect())?);
    let done = experiment(spec)?;
    let mut text = String::from(
        "| schedulable in per cent | sets | 0 of 8 | 1 | 2 | 3 | 4 | 5 | 6 | 7 |\n|---|---|---|---|---|---|---|---|---|---|\n",
    );
    for (contender, (name, published)) in HEAVY_SETS.iter().enumerate() {
        writeln!(text, "| `{name}`, the authors' data | 100 | {published} |")?;
        writeln!(text, "| `{name}`, here | 1,000 | {} |", done.per_cent(contender).join(" | "))?;
    }
    Ok(Section { text, figures: Vec::new() })
}

fn write_heavy() -> Fallible<Section> {
    let at = |utilization: &str, sets: u64| -> Fallible<Done> {
        let mut spec = figure_v1a(sets, Generator::IntegerShares, &ThesisEvaluated)?;
        spec.utilizations = vec![utilization.parse()?];
        spec.sweep = Some(Sweep::new(Axis::WriteHeavy, (0..=8).map(Value::Count).collect())?);
        experiment(spec)
    };
    let mut text = String::from(
        "| U | algorithm | 0 of 8 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 |\n|---|---|---|---|---|---|---|---|---|---|---|\n",
    );
    for utilization in ["1", "2", "3"] {
        let done = at(utilization, 2_500)?;
        for (contender, name) in FOUR.iter().enumerate() {
            writeln!(text, "| {utilization} | `{name}` | {} |", done.per_cent(contender).join(" | "))?;
        }
    }
    Ok(Section { text, figures: at("2", 100)?.figure("figure-v1b") })
}

/// Figure V.2 with these jobs, on these contenders.
fn figure_v2(measure: Bandwidth, range: &str, contenders: Vec<Contender>) -> Fallible<Done> {
    let mut spec = figure_v1a(100, Generator::IntegerShares, &ThesisEvaluated)?;
    // Fewer blocks than the profile has: the same reserve and the same ratio of valid pages, less
    // to set up for each run.
    let device = Device::new(DeviceSpec { blocks_per_chip: 64, ..spec.sets.device.spec() });
    spec.sets.device = device.map_err(|_| "no such device")?;
    spec.utilizations = utilizations(range)?;
    spec.measure = Measure::Bandwidth(measure);
    spec.contenders = contenders;
    experiment(spec)
}

const TEXT: Bandwidth = Bandwidth {
    warmup: Some(Span::ZERO),
    duration: Instant::START,
    read_pages: 20,
    write_pages: 5,
    gap: (Span::from_us(100), Span::from_us(1_000)),
    dispatch: Dispatch::Serial,
    victims: Victims::Actual,
    aging: Aging::Worst,
    pattern: Pattern::Uniform,
};

fn served(names: &[(&str, Service)]) -> Fallible<Vec<Contender>> {
    let contender = |&(name, service): &(&str, Service)| -> Fallible<Contender> {
        Ok(Contender { allocator: named(name)?, analysis: &ThesisEvaluated, service })
    };
    names.iter().map(contender).collect()
}

/// A line for each utilization: pages a second of every contender, for both kinds of jobs.
fn bandwidth_rows(done: &Done) -> Fallible<String> {
    let mut text = String::new();
    for point in done.summary.bandwidth.chunk_by(|one, other| one.utilization == other.utilization) {
        let cells: Vec<String> =
            point.iter().map(|of| of.pages_per_second.map_or("-".into(), |of| format!("{:.0}", of.value))).collect();
        writeln!(text, "| {} | {} | {} |", point[0].utilization, point[0].sets, cells.join(" | "))?;
    }
    Ok(text)
}

fn bandwidth() -> Fallible<Section> {
    let measure = Bandwidth { duration: Instant::from_ns(5_000_000_000).ok_or("a time")?, ..TEXT };
    let two = [("clustering-bfd", Service::Tbs), ("equal-split", Service::Background)];
    let done = figure_v2(measure, "0.1..3.1", served(&two)?)?;
    let misses: u64 = done.summary.bandwidth.iter().map(|of| of.deadline_misses).sum();
    let mut text = String::from(
        "| U | sets | reads, Clustering-BFD + TBS | reads, Full-Isolation + BG | writes, Clustering-BFD + TBS | writes, Full-Isolation + BG |\n|---|---|---|---|---|---|\n",
    );
    text += &bandwidth_rows(&done)?;
    writeln!(text, "\nReal-time deadlines missed in all of these runs: {misses}.")?;
    let names = ["figure-v2a", "figure-v2b"];
    let figures = figures(&done.plan, &done.tallies);
    let figures =
        figures.into_iter().zip(names).map(|(figure, name)| NamedFigure { name: name.into(), ..figure }).collect();
    Ok(Section { text, figures })
}

fn saturated() -> Fallible<Section> {
    let measure = Bandwidth {
        duration: Instant::from_ns(2_000_000_000).ok_or("a time")?,
        gap: (Span::from_us(20), Span::from_us(200)),
        victims: Victims::Worst,
        ..TEXT
    };
    let mut text = String::from(
        "| U | sets | reads: BFD + TBS | BFD + BG | Full-Isolation + TBS | Full-Isolation + BG | writes: BFD + TBS | BFD + BG | Full-Isolation + TBS | Full-Isolation + BG |\n|---|---|---|---|---|---|---|---|---|---|\n",
    );
    let four = [
        ("clustering-bfd", Service::Tbs),
        ("clustering-bfd", Service::Background),
        ("equal-split", Service::Tbs),
        ("equal-split", Service::Background),
    ];
    for point in ["0.2", "1", "1.8", "2.6"] {
        text += &bandwidth_rows(&figure_v2(measure, point, served(&four)?)?)?;
    }
    Ok(Section { text, figures: Vec::new() })
}

fn case_study() -> Fallible<Section> {
    let set = read_task_set(include_str!("../tasksets/case-study.json")).map_err(|wrong| wrong.to_string())?.set;
    let duration = Instant::from_ns(60_000_000_000).ok_or("a time")?;
    let mut text = String::from(
        "| allocation | schedulable | non-real-time pages/s | jobs/s | published IOPS | late reads and writes |\n|---|---|---|---|---|---|\n",
    );
    for (name, service, published) in [
        ("clustering-bfd", Service::Tbs, "950"),
        ("global", Service::Background, "345"),
        ("equal-split", Service::Background, "202"),
    ] {
        let outcome = named(name)?.allocate(&set, &Thesis);
        let allocation = outcome.allocation().ok_or("no allocation")?;
        let (dispatch, victims, aging) = (Dispatch::Serial, Victims::Actual, Aging::Worst);
        let options = Options {
            duration,
            dispatch,
            service,
            victims,
            aging,
            pattern: Pattern::Uniform,
            times: Times::Worst,
            seed: 1,
            ..Options::default()
        };
        let executed = execute(&set, allocation, &Thesis, &options, None).map_err(|error| error.to_string())?;
        let pages: u64 = executed.report.clusters.iter().map(|cluster| cluster.non_real_time).sum();
        let (mut late, mut all, mut jobs) = (0, 0, 0);
        for (source, report) in executed.plan.sources().iter().zip(&executed.report.sources) {
            match source.kind {
                rtflash::exec::trace::Kind::Read | rtflash::exec::trace::Kind::Write => {
                    late += report.misses + report.overdue;
                    all += report.released;
                }
                rtflash::exec::trace::Kind::Server => jobs += report.completed,
                rtflash::exec::trace::Kind::Gc => {}
            }
        }
        let schedulable = if outcome.is_schedulable() == Some(true) { "yes" } else { "no" };
        let server = if service == Service::Tbs { "TBS" } else { "background" };
        let (pages, jobs) = ((pages + 30) / 60, jobs as f64 / 60.0);
        writeln!(
            text,
            "| `{name}` + {server} | {schedulable} | {pages} | {jobs:.1} | {published} | {late} of {all} |"
        )?;
    }
    Ok(Section { text, figures: Vec::new() })
}

/// Figure III.1: the longest writes of three tasks on three chips.
fn motivation() -> Fallible<Section> {
    let set = read_task_set(include_str!("../tasksets/motivation.json")).map_err(|wrong| wrong.to_string())?.set;
    let mut text = String::from(
        "| allocation | schedulable | longest write of t1, due in 30 ms | of t2, 130 ms | of t3, 130 ms | late writes |\n|---|---|---|---|---|---|\n",
    );
    let options = Options {
        duration: Instant::from_ns(60_000_000_000).ok_or("a time")?,
        aging: Aging::Worst,
        times: Times::Worst,
        seed: 1,
        ..Options::default()
    };
    for name in ["global", "clustering-bfd", "equal-split"] {
        let outcome = named(name)?.allocate(&set, &Thesis);
        let allocation = outcome.allocation().ok_or("no allocation")?;
        let executed = execute(&set, allocation, &Thesis, &options, None).map_err(|error| error.to_string())?;
        let sources = executed.plan.sources().iter().zip(&executed.report.sources);
        let writes: Vec<_> = sources
            .filter(|(source, _)| source.kind == rtflash::exec::trace::Kind::Write)
            .map(|(_, report)| report)
            .collect();
        let ms = |time: Span| format!("{:.1} ms", time.as_ns() as f64 / 1e6);
        let longest = writes.iter().map(|report| report.responses.max().map_or("-".into(), ms));
        let longest = longest.collect::<Vec<String>>().join(" | ");
        let late: u64 = writes.iter().map(|report| report.misses + report.overdue).sum();
        let all: u64 = writes.iter().map(|report| report.released).sum();
        let schedulable = if outcome.is_schedulable() == Some(true) { "yes" } else { "no" };
        writeln!(text, "| `{name}` | {schedulable} | {longest} | {late} of {all} |")?;
    }
    Ok(Section { text, figures: Vec::new() })
}

/// Tasks, how the device differs from the profile (in words and in deed), sets at each utilization.
type Room = (u32, &'static str, fn(&mut DeviceSpec), u64);

const ROOM: [Room; 10] = [
    (8, "16 chips", |_| (), 500),
    (8, "8 chips", |device| device.chips = 8, 500),
    (8, "4 chips", |device| device.chips = 4, 500),
    (8, "3 chips", |device| device.chips = 3, 500),
    (8, "2 chips", |device| device.chips = 2, 500),
    (12, "16 chips", |_| (), 50),
    (12, "16 chips, 8 on a channel", |device| device.chips_per_channel = 8, 50),
    (
        12,
        "16 chips, 8 on a channel, λ = 0.9, t_e = 1 ms",
        |device| {
            device.chips_per_channel = 8;
            device.logical_ratio = "0.9".parse().unwrap_or(device.logical_ratio);
            device.block_erase = Span::from_us(1_000);
        },
        100,
    ),
    (12, "3 chips", |device| device.chips = 3, 50),
    (16, "4 chips", |device| device.chips = 4, 5),
];

/// How far Clustering-BFD is from the optimum, and what a search gains.
fn optimum() -> Fallible<Section> {
    const THREE: [&str; 3] = ["clustering-bfd", "clustering-search", "exact"];
    let mut text = String::from(
        "| tasks | device | analysis | sets | `clustering-bfd` | `clustering-search` | `exact` |\n|---|---|---|---|---|---|---|\n",
    );
    let analyses: [&'static dyn Analysis; 2] = [&ThesisEvaluated, &Thesis];
    for (tasks, label, change, sets) in ROOM {
        for analysis in analyses {
            let mut spec = figure_v1a(sets, Generator::UUniFast, analysis)?;
            let mut device = spec.sets.device.spec();
            change(&mut device);
            // If chips are fewer, or garbage collection costs more, all of the curve lies further
            // left.
            let wide = device.chips >= 8 && device.logical_ratio == spec.sets.device.logical_ratio();
            spec.utilizations = utilizations(if wide { "0.1..4.0" } else { "0.1..2.0" })?;
            (spec.sets.device, spec.sets.tasks) = (Device::new(device).map_err(|_| "no such device")?, tasks);
            spec.contenders = contenders(&THREE, &[analysis])?;
            let done = experiment(spec)?;
            let [bfd, search, exact] = [0, 1, 2].map(|contender| done.total(contender).0);
            let all = done.plan.sets();
            writeln!(text, "| {tasks} | {label} | `{}` | {all} | {bfd} | {search} | {exact} |", analysis.name())?;
        }
    }
    let mut spec = figure_v1a(100, Generator::IntegerShares, &ThesisEvaluated)?;
    spec.contenders =
        contenders(&["exact", "clustering-bfd", "equal-split", "part-ftl", "global"], &[&ThesisEvaluated])?;
    Ok(Section { text, figures: experiment(spec)?.figure("figure-optimum") })
}
