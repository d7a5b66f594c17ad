//! Requests that take longer than they have on any number of chips: changes that let them be
//! served.

use std::collections::BTreeSet;

use rtflash_analysis::reason::TooLong;
use rtflash_analysis::{Analysis, Work};
use rtflash_model::{DeviceSpec, Request, Span, Task, TaskSet};

use super::{MAX_WORK, TOO_LARGE};
use crate::allocator::Allocator;
use crate::sizing::{UnservedTask, unserved, with_device};

/// A task with requests that take longer than they have, on any number of chips. Each change named
/// here helps the task alone; with others it need not be enough.
#[derive(Debug, Clone, PartialEq)]
pub struct ServedBy {
    /// Its position in the set.
    pub task: usize,
    /// The least times of those requests, and what they have.
    pub too_long: Vec<TooLong>,
    /// Later deadlines of those requests, together; empty if none up to their periods serve.
    pub deadlines: Vec<RequestTime>,
    /// Else longer periods, which are the deadlines too, up to [`LONGER`] times their own.
    pub periods: Vec<RequestTime>,
    /// t_s = t_u, the longest step that serves; `None` if none does, or the device states them.
    pub suspension: Option<Span>,
}

/// A time of one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequestTime {
    /// Its task's position in the set.
    pub task: usize,
    /// Whether it is the task's write request, not its read.
    pub writes: bool,
    /// The time.
    pub time: Span,
}

/// Changes with which every request can be served.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Supposed {
    /// t_s and t_u: that of reading a page, or the shortest [`ServedBy::suspension`].
    pub suspension: Option<Span>,
    /// Deadlines of requests that cannot be served otherwise.
    pub deadlines: Vec<RequestTime>,
    /// Whether nothing else is needed then.
    pub enough: bool,
}

/// The search for a longer period ends at this multiple of the request's own.
pub const LONGER: u64 = 16;

/// Each task's needs, and changes with which every request is served, with the set so changed.
pub(super) fn served_by(
    set: &TaskSet,
    allocator: &dyn Allocator,
    analysis: &dyn Analysis,
) -> (Vec<ServedBy>, Option<(Supposed, TaskSet)>) {
    let served = |set: &TaskSet| ServedSearch::all(set, allocator, analysis);
    let as_it_is = served(set);
    let suspension = as_it_is.iter().filter_map(|served| served.suspension).min();
    let suspended = suspension.and_then(|longest| {
        let time = longest.min(set.device().page_read());
        let set = suspending(set, time)?;
        Some((Some(time), served(&set), set))
    });
    let tried = suspended.into_iter().chain([(None, as_it_is.clone(), set.clone())]);
    let mut mended = tried.filter_map(|(suspension, served, set)| {
        let (deadlines, set) = due_later(&set, &served)?;
        let supposed = Supposed { suspension, deadlines, enough: false };
        unserved(&set, analysis).is_empty().then_some((supposed, set))
    });
    let mended = mended.next();
    (as_it_is, mended)
}

fn due_later(set: &TaskSet, served: &[ServedBy]) -> Option<(Vec<RequestTime>, TaskSet)> {
    let mut tasks = set.tasks().as_slice().to_vec();
    for ServedBy { task, deadlines, .. } in served {
        if deadlines.is_empty() {
            return None;
        }
        tasks[*task] = changed(&tasks[*task], deadlines, by_deadline)?;
    }
    let deadlines = served.iter().flat_map(|served| served.deadlines.iter().copied()).collect();
    Some((deadlines, TaskSet::new(*set.device(), tasks, set.jobs().to_vec()).ok()?))
}

fn suspending(set: &TaskSet, time: Span) -> Option<TaskSet> {
    with_device(set, |spec| DeviceSpec { erase_suspend: Some(time), erase_resume: Some(time), ..spec })
}

/// Multiples of a power of ten up to `most`, at least a hundred: numbers that a person reads.
fn steps(most: Span) -> impl DoubleEndedIterator<Item = Span> {
    let step = 10u64.pow((most.as_ns() / 100).max(1).ilog10());
    (1..=most.as_ns() / step).filter_map(move |count| Span::from_ns(count * step))
}

type Change = fn(Request, Span) -> Option<Request>;

fn by_deadline(request: Request, deadline: Span) -> Option<Request> {
    request.with_deadline(Some(deadline))
}

fn by_period(request: Request, period: Span) -> Option<Request> {
    request.with_deadline(None)?.with_period(period)
}

fn changed(task: &Task, times: &[RequestTime], change: Change) -> Option<Task> {
    let mut task = task.clone();
    for &RequestTime { writes, time, .. } in times {
        let request = if writes { &mut task.write } else { &mut task.read };
        *request = Some(change((*request)?, time)?);
    }
    Some(task)
}

/// Asks the algorithm for a task alone on the device. Passing is not monotone: it tries each step.
struct ServedSearch<'a> {
    alone: TaskSet,
    unserved: UnservedTask,
    allocator: &'a dyn Allocator,
    analysis: &'a dyn Analysis,
    shares: u64,
}

impl ServedSearch<'_> {
    fn all(set: &TaskSet, allocator: &dyn Allocator, analysis: &dyn Analysis) -> Vec<ServedBy> {
        let tasks = unserved(set, analysis);
        let shares = 8 * tasks.len() as u64;
        let searches = tasks.into_iter().filter_map(|unserved| {
            let task = set.tasks().as_slice().get(unserved.task)?.clone();
            let alone = TaskSet::new(*set.device(), vec![task], vec![]).ok()?;
            Some(ServedSearch { alone, unserved, allocator, analysis, shares }.served())
        });
        searches.collect()
    }

    fn served(self) -> ServedBy {
        let deadlines = self.times(by_deadline, |_| Span::NANOSECOND, |of| of.period);
        let longest = |of: &TooLong| Span::from_ns(of.period.as_ns().saturating_mul(LONGER)).unwrap_or(of.period);
        let periods = if deadlines.is_empty() { self.times(by_period, |of| of.period, longest) } else { Vec::new() };
        let suspension = self.suspension();
        ServedBy { task: self.unserved.task, too_long: self.unserved.requests, deadlines, periods, suspension }
    }

    fn first<T>(&self, changes: impl Iterator<Item = (T, TaskSet)>) -> Option<T> {
        let work = Work::new();
        let bound = work.bound(MAX_WORK / self.shares);
        let passes = |set: &TaskSet| {
            bound.left() > 0 && self.allocator.divide(set, self.analysis, &work).is_schedulable() == Some(true)
        };
        // Each change leaves the request more time than the one before.
        let changes: Vec<(T, TaskSet)> = changes.collect();
        let is_served = |set: &TaskSet| unserved(set, self.analysis).is_empty();
        let first = changes.partition_point(|(_, set)| !is_served(set));
        let most = 8 * TOO_LARGE / self.shares / u64::from(self.alone.device().chips());
        let mut tried = (0..most).zip(changes.into_iter().skip(first)).map(|(_, change)| change);
        tried.find(|(_, set)| is_served(set) && passes(set)).map(|(change, _)| change)
    }

    fn suspension(&self) -> Option<Span> {
        let device = self.alone.device();
        if device.erase_suspend().is_some() {
            return None;
        }
        let times: BTreeSet<Span> = steps(device.block_erase()).chain([device.page_read()]).collect();
        self.first(times.into_iter().rev().filter_map(|time| Some((time, suspending(&self.alone, time)?))))
    }

    /// A time for each request that cannot be served, as near to the same one as their ends allow.
    fn times(&self, change: Change, least: fn(&TooLong) -> Span, most: fn(&TooLong) -> Span) -> Vec<RequestTime> {
        let UnservedTask { task, requests } = &self.unserved;
        let all: BTreeSet<Span> = requests.iter().flat_map(|of| steps(most(of)).chain([most(of)])).collect();
        let changes = all.into_iter().filter_map(|time| {
            let of =
                |of: &TooLong| RequestTime { task: *task, writes: of.writes, time: time.clamp(least(of), most(of)) };
            let times: Vec<RequestTime> = requests.iter().map(of).collect();
            let changed = changed(self.alone.tasks().as_slice().first()?, &times, change)?;
            Some((times, TaskSet::new(*self.alone.device(), vec![changed], vec![]).ok()?))
        });
        self.first(changes).into_iter().flatten().collect()
    }
}
