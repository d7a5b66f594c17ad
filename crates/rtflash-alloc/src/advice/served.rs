//! A request that takes longer than it has on any number of chips: what lets it be served.

use rtflash_analysis::reason::TooLong;
use rtflash_analysis::{Analysis, Work};
use rtflash_model::{DeviceSpec, Request, Span, Task, TaskSet};

use super::{MAX_WORK, TOO_LARGE, with_device};
use crate::allocator::Allocator;
use crate::sizing::unserved;

/// The needs of a request that takes longer than it has, whatever the number of chips. With each
/// change named here its task passes alone on the device; with other tasks that need not be enough.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ServedBy {
    /// Whose request it is: its position in the set.
    pub task: usize,
    /// Its least time, and what it has.
    pub too_long: TooLong,
    /// A later relative deadline with which the task passes alone: the first step that does; `None`
    /// if none up to its period does.
    pub deadline: Option<Span>,
    /// Without such a deadline: a longer period, which is the deadline too, with which the task
    /// passes alone: the first step that does, up to [`LONGER`] times its own.
    pub period: Option<Span>,
    /// t_s and t_u, equally long, with which the task passes alone: the longest step; `None` if
    /// suspended erases do not help, or the device states them.
    pub suspension: Option<Span>,
    /// The change that the other advice supposes.
    pub supposed: Option<Supposed>,
    /// Whether nothing else is needed then.
    pub enough: bool,
}

/// A change that lets every request be served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Supposed {
    /// Erases that are suspended, and go on, within this time each: that of reading a page, or
    /// [`ServedBy::suspension`].
    Suspension(Span),
    /// A deadline of each request that cannot be served otherwise.
    Deadlines,
}

/// The search for a longer period ends at this multiple of the request's own.
pub const LONGER: u64 = 16;

/// The needs of the request, and a set in which every request can be served, if there is one.
pub(super) fn served_by(
    set: &TaskSet,
    allocator: &dyn Allocator,
    analysis: &dyn Analysis,
    task: usize,
    too_long: TooLong,
) -> (ServedBy, Option<TaskSet>) {
    let search = ServedSearch { set, allocator, analysis };
    let suspension = search.suspension(task);
    let deadline = search.deadline(task, &too_long);
    let period = if deadline.is_none() { search.period(task, &too_long) } else { None };
    let suspended = suspension.and_then(|longest| {
        let read = set.device().page_read();
        let time = if read < longest && search.suspends(task, [read]).is_some() { read } else { longest };
        Some((Supposed::Suspension(time), suspending(set, time)?))
    });
    let mended = suspended
        .or_else(|| Some((Supposed::Deadlines, search.later()?)))
        .filter(|(_, set)| unserved(set, analysis).is_none());
    let supposed = mended.as_ref().map(|(supposed, _)| *supposed);
    let served = ServedBy { task, too_long, deadline, period, suspension, supposed, enough: false };
    (served, mended.map(|(_, set)| set))
}

/// The set on the device that suspends erases, and goes on with them, within this time each.
fn suspending(set: &TaskSet, time: Span) -> Option<TaskSet> {
    with_device(set, |spec| DeviceSpec { erase_suspend: Some(time), erase_resume: Some(time), ..spec })
}

/// Multiples of a power of ten up to `most`, at least a hundred: numbers that a person reads.
fn steps(most: Span) -> impl DoubleEndedIterator<Item = Span> {
    let step = 10u64.pow((most.as_ns() / 100).max(1).ilog10());
    (1..=most.as_ns() / step).filter_map(move |count| Span::from_ns(count * step))
}

/// Asks the algorithm for a task alone on the device. Passing is not monotone: it tries each step.
struct ServedSearch<'a> {
    set: &'a TaskSet,
    allocator: &'a dyn Allocator,
    analysis: &'a dyn Analysis,
}

impl ServedSearch<'_> {
    /// The first of these times with which the task passes, as far as the work goes.
    fn first(&self, times: impl IntoIterator<Item = Span>, alone: impl Fn(Span) -> Option<TaskSet>) -> Option<Span> {
        let work = Work::new();
        let bound = work.bound(MAX_WORK / 8);
        let passes = |set: &TaskSet| {
            bound.left() > 0 && self.allocator.divide(set, self.analysis, &work).is_schedulable() == Some(true)
        };
        let sets = times.into_iter().filter_map(|time| Some((time, alone(time)?)));
        let served = sets.filter(|(_, set)| unserved(set, self.analysis).is_none());
        let most = usize::try_from(TOO_LARGE / u64::from(self.set.device().chips())).unwrap_or(usize::MAX);
        served.take(most).find(|(_, set)| passes(set)).map(|(time, _)| time)
    }

    /// The set of this task alone.
    fn alone(&self, task: Task) -> Option<TaskSet> {
        TaskSet::new(*self.set.device(), vec![task], vec![]).ok()
    }

    fn task(&self, task: usize) -> Option<&Task> {
        self.set.tasks().as_slice().get(task)
    }

    fn suspends(&self, task: usize, times: impl IntoIterator<Item = Span>) -> Option<Span> {
        let alone = self.alone(self.task(task)?.clone())?;
        self.first(times, |time| suspending(&alone, time))
    }

    fn suspension(&self, task: usize) -> Option<Span> {
        let device = self.set.device();
        let times = || steps(device.block_erase()).rev().chain([device.page_read()]);
        if device.erase_suspend().is_some() { None } else { self.suspends(task, times()) }
    }

    fn deadline(&self, task: usize, too_long: &TooLong) -> Option<Span> {
        let task = self.task(task)?;
        let own = request(task, too_long)?.deadline();
        let later = |&time: &Span| time > own;
        let times = steps(too_long.period).chain([too_long.period]).filter(later);
        self.first(times, |time| self.alone(changed(task, too_long, |of| of.with_deadline(Some(time)))?))
    }

    fn period(&self, task: usize, too_long: &TooLong) -> Option<Span> {
        let task = self.task(task)?;
        let most = Span::from_ns(too_long.period.as_ns().checked_mul(LONGER)?)?;
        let times = steps(most).filter(|&time| time > too_long.period);
        let longer = |time: Span| changed(task, too_long, |of| of.with_deadline(None)?.with_period(time));
        self.first(times, |time| self.alone(longer(time)?))
    }

    /// The set with a deadline for each request that cannot be served otherwise; `None` where one
    /// of them has none.
    fn later(&self) -> Option<TaskSet> {
        let mut later = self.set.clone();
        // A read and a write of each task.
        for _ in 0..=2 * later.tasks().len() {
            let Some((at, too_long)) = unserved(&later, self.analysis) else { return Some(later) };
            let deadline = ServedSearch { set: &later, ..*self }.deadline(at, &too_long)?;
            let mut tasks = later.tasks().as_slice().to_vec();
            tasks[at] = changed(&tasks[at], &too_long, |of| of.with_deadline(Some(deadline)))?;
            later = TaskSet::new(*later.device(), tasks, later.jobs().to_vec()).ok()?;
        }
        None
    }
}

/// The request that takes so long.
fn request(task: &Task, too_long: &TooLong) -> Option<Request> {
    if too_long.writes { task.write } else { task.read }
}

/// The task with that request changed.
fn changed(task: &Task, too_long: &TooLong, change: impl FnOnce(Request) -> Option<Request>) -> Option<Task> {
    let request = Some(change(request(task, too_long)?)?);
    let (read, write) = if too_long.writes { (task.read, request) } else { (request, task.write) };
    Some(Task { read, write, ..task.clone() })
}
