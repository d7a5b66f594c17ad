//! Gantt charts of a stretch of a run: as text for a terminal, and as a figure.

mod axis;
mod lanes;
mod look;
mod svg;
#[cfg(all(test, feature = "png"))]
mod tests;
mod text;

use std::collections::BTreeMap;

use rtflash_model::{ChipId, ClusterId, Instant, PerId, TaskId};
use rtflash_plan::{Owner, Plan, Source, SourceId};
use rtflash_trace::{Action, Complete, JobId, Kind, Observer, Operation, Record, Release, Transfer};

use self::lanes::{LaneJob, Lanes};
use self::look::{Erases, Look};
use crate::escape::is_hidden;

/// Bars that are kept, about 40 bytes each. A stretch with more is kept coarsely.
const MAX_BARS: usize = 1 << 20;
/// Missed deadlines that are kept one by one; further ones are counted.
const MAX_MISSES: usize = 10_000;

/// A chart of chips and buses between two moments, with the releases and deadlines of requests
/// there, and the deadlines that are missed.
///
/// It observes the whole run as an [`Observer`] (jobs that are late within the stretch can have
/// been released long before), then [`finish`](Gantt::finish), then it draws. However long the
/// stretch, memory is bounded.
#[derive(Debug)]
pub struct Gantt {
    from: u64,
    to: u64,
    names: PerId<SourceId, String>,
    /// By source: the position of its task in the cluster; of a stream of jobs, among the streams.
    members: PerId<SourceId, usize>,
    kinds: PerId<SourceId, Kind>,
    lanes: Lanes,
    erases: Erases,
    streams: Vec<String>,
    end: u64,
    groups: Vec<RowGroup>,
    rows: Vec<ChartRow>,
    /// The row of each chip of the device, if it is in a cluster.
    chips: PerId<ChipId, Option<usize>>,
    /// The row of the first bus; the others follow.
    buses: usize,
    bars: usize,
    max: usize,
    /// Nanoseconds that a bar has at least, where bars had to be joined.
    coarse: Option<u64>,
    pending: BTreeMap<JobId, PendingBar>,
    misses: Vec<Miss>,
    more_misses: u64,
}

/// Rows that belong together: a cluster, or the buses.
#[derive(Debug)]
struct RowGroup {
    name: String,
    rows: std::ops::Range<usize>,
    tasks: Vec<String>,
    free: bool,
}

#[derive(Debug)]
struct ChartRow {
    name: String,
    number: u32,
    bars: Vec<ChartBar>,
}

/// An operation or a transfer, or more of them joined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ChartBar {
    start: u64,
    end: u64,
    job: JobId,
    look: Look,
}

#[derive(Debug)]
struct PendingBar {
    release: u64,
    deadline: u64,
    cluster: Option<ClusterId>,
}

#[derive(Debug)]
struct Miss {
    job: JobId,
    release: u64,
    deadline: u64,
    completed: Option<u64>,
    group: Option<usize>,
}

impl Gantt {
    /// A chart from `from` up to (without) `to`.
    pub fn new(plan: &Plan, from: Instant, to: Instant) -> Gantt {
        let (mut groups, mut rows): (Vec<RowGroup>, Vec<ChartRow>) = (Vec::new(), Vec::new());
        let names = task_names(plan);
        let mut chips = PerId::filled(None, plan.device().chips());
        for (number, cluster) in plan.clusters().iter().enumerate() {
            let first = rows.len();
            for &chip in &cluster.chips {
                chips[chip] = Some(rows.len());
                rows.push(ChartRow { name: format!("chip {chip}"), number: chip.0, bars: Vec::new() });
            }
            let free = cluster.tasks.is_empty();
            let tasks = cluster.tasks.iter().filter_map(|&task| name_of(&names, task));
            let name = format!("cluster {number}{}", if free { " (free)" } else { "" });
            groups.push(RowGroup { name, rows: first..rows.len(), tasks: tasks.cloned().collect(), free });
        }
        let buses = rows.len();
        let channels = 0..plan.device().channels();
        rows.extend(channels.map(|channel| ChartRow {
            name: format!("bus {channel}"),
            number: channel,
            bars: Vec::new(),
        }));
        groups.push(RowGroup { name: "channels".into(), rows: buses..rows.len(), tasks: Vec::new(), free: false });
        // So that no scale divides by zero. Instants end below 2⁶³.
        let (from, to) = (from.as_ns(), to.as_ns().max(from.as_ns() + 1));
        let members = members(plan);
        let streams = plan.sources().iter().filter(|source| source.kind == Kind::Server);
        Gantt {
            from,
            to,
            lanes: Lanes::new(plan, &members, from, to),
            members,
            kinds: plan.sources().iter().map(|source| source.kind).collect(),
            erases: Erases::of(plan),
            streams: streams.map(|source| printable(&source.name)).collect(),
            end: to,
            names: plan.sources().iter().map(|source| printable(&source.name)).collect(),
            groups,
            // Joined bars then fill at most half of the room, however many rows there are.
            max: MAX_BARS.max(4 * rows.len()),
            rows,
            chips,
            buses,
            bars: 0,
            coarse: None,
            pending: BTreeMap::new(),
            misses: Vec::new(),
            more_misses: 0,
        }
    }

    /// The run is over at `duration`: jobs that are pending and were due until then are late.
    pub fn finish(&mut self, duration: Instant) {
        self.end = duration.as_ns();
        for (job, pending) in std::mem::take(&mut self.pending) {
            let PendingBar { release, deadline, .. } = pending;
            self.lanes.note(job, LaneJob { release, deadline, completed: None });
            if pending.deadline <= duration.as_ns() {
                self.miss(job, &pending, None);
            }
        }
    }

    fn miss(&mut self, job: JobId, pending: &PendingBar, completed: Option<u64>) {
        let shown = self.from..self.to;
        if !shown.contains(&pending.deadline) && !shown.contains(&pending.release) {
            return;
        }
        if self.misses.len() >= MAX_MISSES {
            self.more_misses += 1;
            return;
        }
        let &PendingBar { release, deadline, cluster } = pending;
        let group = cluster.map(ClusterId::index).filter(|&cluster| cluster + 1 < self.groups.len());
        self.misses.push(Miss { job, release, deadline, completed, group });
    }

    fn bar(&mut self, row: usize, start: Instant, end: Instant, job: JobId, look: Look) {
        let (start, end) = (start.as_ns().max(self.from), end.as_ns().min(self.to));
        if let Some(row) = self.rows.get_mut(row).filter(|_| start < end) {
            row.bars.push(ChartBar { start, end, job, look });
            self.bars += 1;
        }
        if self.bars > self.max {
            self.join();
        }
    }

    fn join(&mut self) {
        let cells = (self.max / 2 / self.rows.len().max(1)).max(1);
        for row in &mut self.rows {
            row.bars = axis::joined(&row.bars, self.from, self.to, cells);
        }
        self.bars = self.rows.iter().map(|row| row.bars.len()).sum();
        self.coarse = Some((self.to - self.from).div_ceil(cells as u64));
    }

    /// Rows of a group that are drawn, and those that are folded into one line: chips without
    /// tasks, and buses, that do nothing in the stretch.
    fn folded<'a>(&'a self, group: &RowGroup) -> (Vec<&'a ChartRow>, Vec<&'a ChartRow>) {
        let folds = group.free || group.rows.start >= self.buses;
        let rows = &self.rows[group.rows.clone()];
        rows.iter().partition(|row| !folds || !row.bars.is_empty())
    }

    /// The rows that are folded, in two lines at most: chips of free clusters, and buses.
    fn idle(&self) -> Vec<String> {
        let of = |what: &str, free: bool| {
            let groups = self.groups.iter().filter(|group| (group.rows.start < self.buses) == free);
            let numbers: Vec<u32> = groups.flat_map(|group| self.folded(group).1).map(|row| row.number).collect();
            (!numbers.is_empty()).then(|| format!("{what} {}", ranges(numbers)))
        };
        [of("free and idle: chip", true), of("idle: bus", false)].into_iter().flatten().collect()
    }

    fn look_name(&self, look: Look, job: JobId) -> &'static str {
        look.name(Erases::of_job(self.kinds[job.source]))
    }

    fn short_name(&self, job: JobId) -> &str {
        let name = self.names[job.source].as_str();
        name.strip_suffix(".read").or(name.strip_suffix(".write")).or(name.strip_suffix(".gc")).unwrap_or(name)
    }

    fn job_name(&self, job: JobId) -> String {
        format!("{}#{}", self.names[job.source], job.index)
    }
}

impl Observer for Gantt {
    fn record(&mut self, record: &Record) {
        match record {
            Record::Release(release) => self.release(release),
            Record::Complete(complete) => self.complete(complete),
            Record::Operation(operation) => self.operation(operation),
            Record::Transfer(transfer) => self.transfer(transfer),
            _ => {}
        }
    }
}

impl Gantt {
    fn release(&mut self, release: &Release) {
        let (Some(deadline), cluster) = (release.deadline, release.cluster) else { return };
        // A request that is due and released behind the stretch has no mark in it.
        if release.at.as_ns() < self.to {
            let pending = PendingBar { release: release.at.as_ns(), deadline: deadline.as_ns(), cluster };
            self.pending.insert(release.job, pending);
        }
    }

    fn complete(&mut self, complete: &Complete) {
        let at = complete.at.as_ns();
        let Some(pending) = self.pending.remove(&complete.job) else { return };
        let PendingBar { release, deadline, .. } = pending;
        self.lanes.note(complete.job, LaneJob { release, deadline, completed: Some(at) });
        if deadline < at {
            self.miss(complete.job, &pending, Some(at));
        }
    }

    fn operation(&mut self, operation: &Operation) {
        if let Some(row) = self.chips[operation.chip] {
            let look = Look::of(operation.kind, operation.action);
            self.bar(row, operation.start, operation.end, operation.job, look);
        }
    }

    fn transfer(&mut self, transfer: &Transfer) {
        let row = self.buses + transfer.channel.index();
        self.bar(row, transfer.start, transfer.end, transfer.job, Look::of(transfer.kind, Action::Read));
    }
}

fn members(plan: &Plan) -> PerId<SourceId, usize> {
    let member = |source: &Source| match (source.owner, source.cluster) {
        (Owner::Stream(stream), _) => stream,
        (Owner::Cluster(_), _) | (_, None) => 0,
        (Owner::Task(task), Some(cluster)) => {
            let member = plan.clusters()[cluster].tasks.binary_search(&task);
            member.expect("a source's task is one of its cluster's")
        }
    };
    plan.sources().iter().map(member).collect()
}

fn name_of(names: &[(TaskId, String)], task: TaskId) -> Option<&String> {
    let (before, _) = names.split_at(names.partition_point(|of| of.0 <= task));
    before.last().filter(|of| of.0 == task).map(|of| &of.1)
}

/// Names of tasks, of which the plan knows those of their requests: in the order of tasks.
fn task_names(plan: &Plan) -> Vec<(TaskId, String)> {
    let requests = plan.sources().iter().filter(|source| matches!(source.kind, Kind::Read | Kind::Write));
    let name = |name: &str| printable(name.strip_suffix(".read").or(name.strip_suffix(".write")).unwrap_or(name));
    let mut names: Vec<_> = requests.filter_map(|source| Some((source.task()?, name(&source.name)))).collect();
    names.sort_by_key(|&(task, _)| task);
    names
}

/// Numbers, runs of them joined: `0-3, 7`; not too many.
fn ranges(mut numbers: Vec<u32>) -> String {
    const SHOWN: usize = 8;
    numbers.sort_unstable();
    let mut runs: Vec<(u32, u32)> = Vec::new();
    for number in numbers {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => runs.push((number, number)),
        }
    }
    let run = |&(first, last): &(u32, u32)| if first == last { first.to_string() } else { format!("{first}-{last}") };
    let shown: Vec<String> = runs.iter().take(SHOWN).map(run).collect();
    let more = runs.iter().skip(SHOWN).map(|(first, last)| last - first + 1).sum::<u32>();
    if more > 0 { format!("{} and {more} more", shown.join(", ")) } else { shown.join(", ") }
}

fn shortened(name: &str, max: usize) -> String {
    if name.chars().count() <= max {
        return name.to_owned();
    }
    name.chars().take(max.saturating_sub(1)).chain(['…']).collect()
}

/// A name without characters that command a terminal, turn the direction of text, or that XML
/// forbids.
fn printable(name: &str) -> String {
    let forbidden = |c: char| c.is_control() || is_hidden(c);
    name.chars().map(|c| if forbidden(c) { char::REPLACEMENT_CHARACTER } else { c }).collect()
}
