//! The answer of `size` for a person: the verdict, the limits, each task's, and what the allocation
//! costs.

use rtflash_alloc::allocator::Allocator;
use rtflash_alloc::sizing::{
    AllocationCost, Expected, Front, FrontAxes, RATIO_STEPS, RequestLimits, Sizing, SizingLimit, Wear,
};
use rtflash_analysis::Analysis;
use rtflash_model::{Request, TaskId, TaskSet, TaskSetFile, format_ns};
use rtflash_wire::{Answer, FrontAnswer, Guarantee, SizeAnswer, task_name};

use super::Render;
use super::alloc_text::OutcomeText;
use super::kind::words;
use super::numbers::{count, lifetime, names, plain, quantity, request_rate, runs, volume};
use super::table::table;
use crate::output::{BOLD, paint};

/// Names of tasks shown for a cluster.
const NAMES: usize = 4;
/// Tasks and clusters shown.
const ROWS: usize = 64;

/// The limits of a task set.
pub struct SizeView<'a> {
    /// The task set.
    pub file: &'a TaskSetFile,
    /// The algorithm that divided the chips.
    pub allocator: &'static dyn Allocator,
    /// The analysis that decided.
    pub analysis: &'static dyn Analysis,
    /// What is guaranteed of the set.
    pub guarantee: Guarantee,
    /// What was found.
    pub sizing: &'a Sizing,
    /// The front that was asked for.
    pub front: Option<(FrontAxes, Front)>,
    /// Whether it is the only one.
    pub alone: bool,
}

impl Render for SizeView<'_> {
    fn text(&self) -> String {
        let SizeView { file, allocator, analysis, guarantee, sizing, front, alone } = self;
        let verdict = OutcomeText::new(&file.set, allocator.name(), *analysis, &sizing.outcome, guarantee);
        if !*alone {
            return line(sizing, &verdict);
        }
        answer(&file.set, *analysis, sizing, &verdict)
            + &front.as_ref().map_or_else(String::new, |(axes, of)| front_text(*axes, of))
    }

    fn json(&self) -> String {
        self.answer().line()
    }
}

impl SizeView<'_> {
    /// What the command answers.
    pub fn answer(&self) -> SizeAnswer<'_> {
        let meta = self.file.meta.as_deref();
        let front = self.front.as_ref().map(|(axes, front)| FrontAnswer::new(*axes, front));
        let (set, algorithm) = (&self.file.set, self.allocator.name());
        SizeAnswer { front, ..SizeAnswer::new(set, algorithm, self.analysis, self.sizing, &self.guarantee, meta) }
    }

    /// What the algorithm made of the set, in words, and where the set fails why.
    pub fn verdict(&self) -> String {
        let (set, outcome) = (&self.file.set, &self.sizing.outcome);
        let verdict = OutcomeText::new(set, self.allocator.name(), self.analysis, outcome, &self.guarantee);
        verdict.line() + &verdict.failure()
    }
}

/// The verdicts and the limits of the whole.
fn line(sizing: &Sizing, verdict: &OutcomeText<'_>) -> String {
    let limits = &sizing.limits;
    let chips = limit(limits.chips, |fewest| fewest.chips.to_string());
    let ratio = limit(limits.logical_ratio, |largest| largest.ratio.to_string());
    let load = limit(limits.load_permille, factor);
    let text = verdict.headline();
    format!("{}; fewest chips {chips}, largest logical_ratio {ratio}, load up to {load}\n", text.trim_end())
}

/// The whole answer.
fn answer(set: &TaskSet, analysis: &dyn Analysis, sizing: &Sizing, verdict: &OutcomeText<'_>) -> String {
    let mut text = verdict.headline();
    let why = verdict.failure();
    if !why.is_empty() {
        text += &format!("\n{why}");
    }
    if analysis.refuses(set).is_some() {
        // Nothing was looked for.
        return text;
    }
    text += "\n";
    text += &whole(set, sizing);
    if !set.tasks().is_empty() {
        text += &format!("\n{}\n", paint(BOLD, "One request changed, everything else as it is"));
        text += &tasks(set, sizing);
    }
    match &sizing.cost {
        None => text += "\nThere is no allocation whose cost is known.\n",
        Some(cost) => {
            let better = sizing.spread.as_ref().map(|spread| &spread.cost);
            text += &costs(set, analysis, cost, better, sizing.outcome.is_schedulable() == Some(true));
        }
    }
    text
}

/// Limits of the device and of all tasks together.
fn whole(set: &TaskSet, sizing: &Sizing) -> String {
    let (device, limits) = (set.device(), &sizing.limits);
    let how = match limits.chips.value() {
        Some(fewest) if fewest.chips == 1 => "the fewest there are",
        Some(fewest) if fewest.all_tried => "fewest; every smaller number was tried and fails",
        Some(_) => "by bisection; not every smaller number was tried",
        None if limits.chips == SizingLimit::TooMuchWork => TOO_LONG,
        None => "",
    };
    let rows = [
        [
            "chips".into(),
            device.chips().to_string(),
            limit(limits.chips, |fewest| fewest.chips.to_string()),
            how.into(),
        ],
        [
            "logical_ratio".into(),
            device.logical_ratio().to_string(),
            limit(limits.logical_ratio, |largest| largest.ratio.to_string()),
            match limits.logical_ratio.value() {
                Some(largest) => {
                    let step = 1.0 / f64::from(largest.steps);
                    format!("largest; every larger step of {step} was tried and fails")
                }
                None => how_found(limits.logical_ratio, ""),
            },
        ],
        [
            "load".into(),
            "1".into(),
            limit(limits.load_permille, factor),
            how_found(limits.load_permille, "by bisection; the next step of 0.001 fails: every period divided by it"),
        ],
    ];
    table(&["what", ">now", ">limit", "how it was found"], rows.map(Vec::from)) + &at_least(set, sizing)
}

/// How many chips it takes whatever the algorithm.
fn at_least(set: &TaskSet, sizing: &Sizing) -> String {
    let ratio = set.device().logical_ratio();
    match sizing.at_least {
        Some(1) => String::new(),
        Some(chips) => format!(
            "  (with fewer than {chips} chips no allocation meets every deadline at a logical_ratio of {ratio}, \
             whatever the algorithm)\n"
        ),
        None => format!(
            "  (on no number of chips is there an allocation that meets every deadline at a logical_ratio of {ratio})\n"
        ),
    }
}

/// The devices on which the set passes.
fn front_text(axes: FrontAxes, front: &Front) -> String {
    let mut text =
        format!("\n{}\n", paint(BOLD, "Devices on which it passes, none better than another in every respect"));
    let rows = front.points.iter().map(|point| {
        vec![
            point.chips.to_string(),
            point.channels.to_string(),
            point.logical_ratio.to_string(),
            point.algorithm.to_owned(),
        ]
    });
    text += &table(&[">chips", ">channels", ">logical_ratio", "algorithm"], rows.collect::<Vec<_>>());
    if front.points.is_empty() {
        text += "  none was found\n";
    }
    if !front.complete {
        text += "  (not every number of chips was tried: it would take too long)\n";
    }
    if axes.logical_ratio && front.steps < RATIO_STEPS {
        let step = 1.0 / f64::from(front.steps);
        text += &format!("  (logical_ratio in steps of {step}: finer ones would take too long)\n");
    }
    text
}

const TOO_LONG: &str = "it would take too long to look for";

fn how_found<T>(limit: SizingLimit<T>, found: &str) -> String {
    match limit {
        SizingLimit::At(_) => found.to_owned(),
        SizingLimit::Nothing => String::new(),
        SizingLimit::TooMuchWork => TOO_LONG.to_owned(),
    }
}

fn factor(permille: u32) -> String {
    format!("{}.{:03}", permille / 1_000, permille % 1_000)
}

/// A limit, or why there is none.
fn limit<T>(limit: SizingLimit<T>, show: impl FnOnce(T) -> String) -> String {
    match limit {
        SizingLimit::At(value) => show(value),
        SizingLimit::Nothing => "none found".into(),
        SizingLimit::TooMuchWork => "not known".into(),
    }
}

fn tasks(set: &TaskSet, sizing: &Sizing) -> String {
    let mut requests = sizing.limits.tasks.iter().flat_map(|task| [task.read, task.write]).flatten();
    if requests.all(|limits| limits.period == SizingLimit::TooMuchWork) {
        return "  not tried: it would take too long with this number of tasks and chips\n".into();
    }
    let row = |task: TaskId, kind: &str, request: Request, limits: RequestLimits| {
        let more = |more: i64| if more > 0 { format!("+{more}") } else { more.to_string() };
        vec![
            plain(task_name(set, task)),
            kind.to_owned(),
            request.pages().to_string(),
            volume(set.device().bytes(request.pages().into()) as f64),
            request_rate(set.device(), request.pages(), request.period()),
            limit(limits.more_pages, more),
            format_ns(request.period().as_ns()),
            limit(limits.period, |period| format_ns(period.as_ns())),
        ]
    };
    let parts = set.tasks().enumerate().zip(&sizing.limits.tasks).take(ROWS);
    let rows = parts.flat_map(|((id, task), limits)| {
        let read = task.read.zip(limits.read).map(|(request, limits)| row(id, "read", request, limits));
        let write = task.write.zip(limits.write).map(|(request, limits)| row(id, "write", request, limits));
        read.into_iter().chain(write)
    });
    let mut text = table(&["task", "request", ">pages", ">size", ">rate", ">more pages", ">period", ">shortest"], rows);
    if set.tasks().len() > ROWS {
        text += &format!("  … and {} more tasks (all of them: --format json)\n", set.tasks().len() - ROWS);
    }
    text + "  (by bisection: the next step fails, and one further out can pass again; periods to four digits)\n"
}

fn costs(
    set: &TaskSet,
    analysis: &dyn Analysis,
    cost: &AllocationCost,
    spread: Option<&AllocationCost>,
    as_it_is: bool,
) -> String {
    let on = if as_it_is { String::new() } else { format!(" on {}", count(cost.chips, "chip")) };
    let mut text = format!("\n{}\n", paint(BOLD, &format!("What it costs{on}, at most, a day")));
    let page = f64::from(set.device().page_size());
    let numbers = |wear: &Wear| {
        [
            quantity(wear.pages),
            volume(wear.pages * page),
            quantity(wear.gc_pages),
            quantity(wear.erases),
            wear.lifetime_years.map_or_else(|| "-".into(), lifetime),
        ]
    };
    let shown = cost.clusters.iter().enumerate().filter(|(_, cluster)| !cluster.tasks.is_empty());
    let mut rows: Vec<Vec<String>> = Vec::new();
    for (position, cluster) in shown.clone().take(ROWS) {
        let head = [
            position.to_string(),
            runs(&cluster.chips),
            names(cluster.tasks.iter().map(|&task| task_name(set, task)), NAMES),
            cluster.write_amplification.map_or_else(|| "-".into(), |amplification| format!("{amplification:.3}")),
        ];
        rows.push(head.into_iter().chain(numbers(&cluster.wear)).collect());
    }
    let mut whole = |what: &str, wear: &Wear| {
        let head = ["all".to_owned(), String::new(), what.to_owned(), String::new()];
        rows.push(head.into_iter().chain(numbers(wear)).collect());
    };
    whole("tasks", &cost.tasks);
    if let Some(with_jobs) = &cost.with_jobs {
        whole("tasks and jobs", with_jobs);
    }
    let headings = [
        "cluster",
        "chips",
        "tasks",
        ">write amplification",
        ">pages",
        ">bytes",
        ">by GC",
        ">erases a chip",
        ">lifetime",
    ];
    text += &table(&headings, rows);
    if shown.clone().count() > ROWS {
        text += &format!("  … and {} more clusters (all of them: --format json)\n", shown.count() - ROWS);
    }
    text + &notes(set, analysis, cost, spread) + &expected(set, cost)
}

/// What the numbers of a cost are, and what is not among them.
fn notes(set: &TaskSet, analysis: &dyn Analysis, cost: &AllocationCost, spread: Option<&AllocationCost>) -> String {
    let bound = words(analysis).write_amplification;
    let mut text =
        format!("  (write amplification: {bound}; the last rows: the chip with most erases, the shortest lifetime)\n");
    if set.device().erase_cycles().is_none() {
        text += "  (no lifetime: the device does not say how many erases a block endures, \"erase_cycles\")\n";
    } else {
        text += "  (erases and lifetime: if all blocks of a cluster are worn evenly)\n";
    }
    if let Some(better) = spread {
        text += &with_spread(cost, better);
    }
    if cost.with_jobs.is_some() {
        text += "  (jobs: their pages evenly on the chips of all clusters with a server, as if all of them could be \
                 served)\n";
    }
    if !cost.left_out.is_empty() {
        let left = cost.left_out.iter().filter_map(|&job| Some(set.jobs().get(job)?.name.as_str()));
        let left: Vec<&str> = left.collect();
        text += &format!("  (left out, as they arrive at single times: {})\n", names(left.into_iter(), NAMES));
    }
    text
}

/// What would be gained by the chips that are left free.
fn with_spread(cost: &AllocationCost, better: &AllocationCost) -> String {
    let free = |cost: &AllocationCost| {
        let free = cost.clusters.iter().filter(|cluster| cluster.tasks.is_empty());
        free.map(|cluster| cluster.chips.len()).sum::<usize>()
    };
    let (before, after) = (free(cost), free(better));
    let used = count(before.saturating_sub(after), "free chip");
    match (better.tasks.lifetime_years, cost.tasks.lifetime_years) {
        (Some(years), Some(now)) => {
            format!(
                "  (with --spread, which uses {used}: {} at least, instead of {})\n",
                lifetime(years),
                lifetime(now)
            )
        }
        _ => format!(
            "  (with --spread, which uses {used}: {} erases a chip at most, instead of {})\n",
            quantity(better.tasks.erases),
            quantity(cost.tasks.erases)
        ),
    }
}

/// What is to be expected, by the manner in which data are overwritten.
fn expected(set: &TaskSet, cost: &AllocationCost) -> String {
    let (Some(rings), Some(anywhere)) = (cost.in_rings, cost.anywhere) else { return String::new() };
    let mut text = format!("\n{}\n", paint(BOLD, "What is to be expected of the tasks, in the long run"));
    let cells = |of: Option<Expected>| match of {
        None => ["-".to_owned(), "-".to_owned()],
        Some(of) => {
            let years = of.most.lifetime_years.zip(of.least.lifetime_years);
            [
                range(format!("{:.2}", of.amplification.least), format!("{:.2}", of.amplification.most)),
                years.map_or_else(|| "-".into(), |(short, long)| range(lifetime(short), lifetime(long))),
            ]
        }
    };
    let wearing = cost.clusters.iter().enumerate().filter(|(_, cluster)| cluster.in_rings.is_some());
    let mut rows: Vec<Vec<String>> = Vec::new();
    for (position, cluster) in wearing.take(ROWS) {
        let head = [position.to_string(), names(cluster.tasks.iter().map(|&task| task_name(set, task)), NAMES)];
        rows.push(head.into_iter().chain(cells(cluster.in_rings)).chain(cells(cluster.anywhere)).collect());
    }
    let head = ["all".to_owned(), String::new()];
    rows.push(head.into_iter().chain(cells(Some(rings))).chain(cells(Some(anywhere))).collect());
    let headings = ["cluster", "tasks", ">in rings: write amp.", ">lifetime", ">anywhere: write amp.", ">lifetime"];
    text += &table(&headings, rows);
    text += "  (estimates: docs/lifetime.md says how far off they were. In rings: each task overwrites its data in \
             order, round and round; anywhere: any of its pages)\n";
    text += "  (a range in rings: from a start in order, `exec --aging fresh`, to strewn data, as `exec` begins by \
             default; anywhere: where data that are never overwritten may be among the others)\n";
    text += "  (without `data_pages` tasks and jobs share the space)\n";
    text
}

/// One number, or two.
fn range(least: String, most: String) -> String {
    if least == most { least } else { format!("{least} to {most}") }
}
