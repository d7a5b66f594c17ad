//! Gantt charts of a stretch of a run: as text for a terminal, and as a figure.

mod axis;
mod svg;
#[cfg(test)]
mod tests;
mod text;

use std::collections::BTreeMap;

use rtflash_model::Instant;

use super::record::{Action, Complete, JobId, Kind, Observer, Operation, Release, Starved, Transfer};
use crate::Plan;

/// Bars that are kept, about 40 bytes each. A stretch with more is kept coarsely.
const MAX_BARS: usize = 1 << 20;
/// Missed deadlines that are kept one by one; further ones are counted.
const MAX_MISSES: usize = 10_000;

/// What chips and buses do between two moments, and which deadlines are missed there.
///
/// It is told the whole run as an [`Observer`] (jobs that are late within the stretch may have been released long before), then
/// [`finish`](Gantt::finish), then it draws. However long the stretch, memory is bounded.
#[derive(Debug)]
pub struct Gantt {
    from: u64,
    to: u64,
    names: Vec<String>,
    groups: Vec<Group>,
    rows: Vec<Row>,
    /// The row of each chip of the device, if it is in a cluster.
    chips: Vec<Option<usize>>,
    /// The row of the first bus; the others follow.
    buses: usize,
    bars: usize,
    most: usize,
    /// Nanoseconds that a bar has at least, where bars had to be joined.
    coarse: Option<u64>,
    pending: BTreeMap<JobId, Pending>,
    misses: Vec<Miss>,
    more_misses: u64,
}

/// Rows that belong together: a cluster, or the buses.
#[derive(Debug)]
struct Group {
    name: String,
    rows: std::ops::Range<usize>,
}

#[derive(Debug)]
struct Row {
    name: String,
    bars: Vec<Bar>,
}

/// An operation or a transfer, or more of them joined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Bar {
    start: u64,
    end: u64,
    job: JobId,
    look: Look,
}

/// What is told apart in a chart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Look {
    Read,
    Write,
    Copy,
    Erase,
    Server,
}

impl Look {
    const ALL: [Look; 5] = [Look::Read, Look::Write, Look::Copy, Look::Erase, Look::Server];

    fn of(kind: Kind, action: Action) -> Look {
        match (kind, action) {
            (Kind::Gc, Action::Erase) => Look::Erase,
            (Kind::Gc, _) => Look::Copy,
            (Kind::Read, _) => Look::Read,
            (Kind::Write, _) => Look::Write,
            (Kind::Server, _) => Look::Server,
        }
    }

    /// For legends.
    fn name(self) -> &'static str {
        match self {
            Look::Read => "read",
            Look::Write => "write",
            Look::Copy => "GC copy",
            Look::Erase => "GC erase",
            Look::Server => "not real-time",
        }
    }
}

#[derive(Debug)]
struct Pending {
    release: u64,
    deadline: u64,
    cluster: Option<u32>,
}

/// A job that is late.
#[derive(Debug)]
struct Miss {
    job: JobId,
    release: u64,
    deadline: u64,
    completed: Option<u64>,
    /// The position of its group.
    group: Option<usize>,
}

impl Gantt {
    /// A chart from `from` up to (without) `to`.
    pub fn new(plan: &Plan, from: Instant, to: Instant) -> Gantt {
        let (mut groups, mut rows): (Vec<Group>, Vec<Row>) = (Vec::new(), Vec::new());
        let mut chips = vec![None; plan.device().chips() as usize];
        for (number, cluster) in plan.clusters().iter().enumerate() {
            let first = rows.len();
            for &chip in &cluster.chips {
                if let Some(row) = chips.get_mut(chip as usize) {
                    *row = Some(rows.len());
                }
                rows.push(Row { name: format!("chip {chip}"), bars: Vec::new() });
            }
            groups.push(Group { name: format!("cluster {number}"), rows: first..rows.len() });
        }
        let buses = rows.len();
        let channels = 0..plan.device().channels();
        rows.extend(channels.map(|channel| Row { name: format!("bus {channel}"), bars: Vec::new() }));
        groups.push(Group { name: "channels".into(), rows: buses..rows.len() });
        Gantt {
            from: from.as_ns(),
            // So that no scale divides by zero. Instants end below 2⁶³.
            to: to.as_ns().max(from.as_ns() + 1),
            names: plan.sources().iter().map(|source| printable(&source.name)).collect(),
            groups,
            // Joined bars then fill at most half of the room, however many rows there are.
            most: MAX_BARS.max(4 * rows.len()),
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
        for (job, pending) in std::mem::take(&mut self.pending) {
            if pending.deadline <= duration.as_ns() {
                self.miss(job, &pending, None);
            }
        }
    }

    fn miss(&mut self, job: JobId, pending: &Pending, completed: Option<u64>) {
        let shown = self.from..self.to;
        if !shown.contains(&pending.deadline) && !shown.contains(&pending.release) {
            return;
        }
        if self.misses.len() >= MAX_MISSES {
            self.more_misses += 1;
            return;
        }
        let &Pending { release, deadline, cluster } = pending;
        let group = cluster.map(|cluster| cluster as usize).filter(|&cluster| cluster + 1 < self.groups.len());
        self.misses.push(Miss { job, release, deadline, completed, group });
    }

    fn bar(&mut self, row: usize, start: Instant, end: Instant, job: JobId, look: Look) {
        let (start, end) = (start.as_ns().max(self.from), end.as_ns().min(self.to));
        if let Some(row) = self.rows.get_mut(row).filter(|_| start < end) {
            row.bars.push(Bar { start, end, job, look });
            self.bars += 1;
        }
        if self.bars > self.most {
            self.join();
        }
    }

    /// Joins bars until half of the room is free again.
    fn join(&mut self) {
        let cells = (self.most / 2 / self.rows.len().max(1)).max(1);
        for row in &mut self.rows {
            row.bars = axis::joined(&row.bars, self.from, self.to, cells);
        }
        self.bars = self.rows.iter().map(|row| row.bars.len()).sum();
        self.coarse = Some((self.to - self.from).div_ceil(cells as u64));
    }

    fn job_name(&self, job: JobId) -> String {
        format!("{}#{}", self.names.get(job.source as usize).map_or("", String::as_str), job.index)
    }
}

impl Observer for Gantt {
    fn release(&mut self, release: &Release) {
        let (Some(deadline), cluster) = (release.deadline, release.cluster) else { return };
        // What is due and released behind the stretch has no mark in it.
        if release.at.as_ns() < self.to {
            let pending = Pending { release: release.at.as_ns(), deadline: deadline.as_ns(), cluster };
            self.pending.insert(release.job, pending);
        }
    }

    fn complete(&mut self, complete: &Complete) {
        let at = complete.at.as_ns();
        if let Some(pending) = self.pending.remove(&complete.job).filter(|pending| pending.deadline < at) {
            self.miss(complete.job, &pending, Some(at));
        }
    }

    fn starved(&mut self, _: &Starved) {}

    fn operations(&mut self, operations: &[Operation]) {
        for operation in operations {
            if let Some(&Some(row)) = self.chips.get(operation.chip as usize) {
                let look = Look::of(operation.kind, operation.action);
                self.bar(row, operation.start, operation.end, operation.job, look);
            }
        }
    }

    fn transfer(&mut self, transfer: &Transfer) {
        let row = self.buses + transfer.channel as usize;
        self.bar(row, transfer.start, transfer.end, transfer.job, Look::of(transfer.kind, Action::Read));
    }
}

/// A name without characters that command a terminal, turn the direction of text, or that XML forbids.
fn printable(name: &str) -> String {
    let forbidden = |c: char| {
        c.is_control()
            || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{fffe}' | '\u{ffff}')
    };
    name.chars().map(|c| if forbidden(c) { char::REPLACEMENT_CHARACTER } else { c }).collect()
}
