//! A request that takes longer than it has on any number of chips: what lets it be served.

use rtflash_model::{DeviceSpec, Span, TaskSet};

use super::with_device;
use crate::analysis::Analysis;
use crate::certified::never_served;
use crate::reason::TooLong;
use crate::sizing::unserved;

/// The needs of a request that takes longer than it has, whatever the number of chips. It needs one
/// of them; beside other tasks that need not be enough.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ServedBy {
    /// Whose request it is: its position in the set.
    pub task: usize,
    /// Its least time, and what it has.
    pub too_long: TooLong,
    /// The least relative deadline with which a cluster may serve it; `None` if that is above its
    /// period.
    pub deadline: Option<Span>,
    /// The longest t_s and t_u, equally long, with which a cluster may serve it; `None` if
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
    /// less.
    Suspension(Span),
    /// The least deadline of each request that cannot be served otherwise.
    Deadlines,
}

/// The needs of the request, and a set in which every request can be served, if there is one.
pub(super) fn served_by(
    set: &TaskSet,
    analysis: &dyn Analysis,
    task: usize,
    too_long: TooLong,
) -> (ServedBy, Option<TaskSet>) {
    let suspension = suspension(set, analysis, task);
    let deadline = least_deadline(set, task, &too_long);
    let short = suspension.map(|longest| longest.min(set.device().page_read()));
    let suspended = short.and_then(|time| Some((Supposed::Suspension(time), suspending(set, time)?)));
    let mended = suspended
        .or_else(|| Some((Supposed::Deadlines, later(set, analysis)?)))
        .filter(|(_, set)| unserved(set, analysis).is_none());
    let served = ServedBy {
        task,
        too_long,
        deadline,
        suspension,
        supposed: mended.as_ref().map(|(supposed, _)| *supposed),
        enough: false,
    };
    (served, mended.map(|(_, set)| set))
}

/// The set on the device that suspends erases, and goes on with them, within this time each.
fn suspending(set: &TaskSet, time: Span) -> Option<TaskSet> {
    with_device(set, |spec| DeviceSpec { erase_suspend: Some(time), erase_resume: Some(time), ..spec })
}

/// The longest times with which a device that suspends erases serves the requests of a task.
fn suspension(set: &TaskSet, analysis: &dyn Analysis, task: usize) -> Option<Span> {
    if set.device().erase_suspend().is_some() {
        return None;
    }
    let test = analysis.demand_test()?;
    let serves = |nanoseconds: u64| {
        let changed = Span::from_ns(nanoseconds).and_then(|time| suspending(set, time));
        changed.is_some_and(|set| {
            let (device, placements) = (set.device(), test.on(set.device()).placements);
            never_served(device, placements, &set.tasks().as_slice()[task], device.chips()).is_none()
        })
    };
    let (mut passing, mut failing) = (0, set.device().block_erase().as_ns() + 1);
    while passing + 1 < failing {
        let middle = u64::midpoint(passing, failing);
        if serves(middle) { passing = middle } else { failing = middle }
    }
    Span::from_ns(passing).filter(|_| passing > 0)
}

/// The least deadline of a request that takes so long; `None` above its period, or where it fills
/// that.
fn least_deadline(set: &TaskSet, task: usize, too_long: &TooLong) -> Option<Span> {
    let task = set.tasks().as_slice().get(task)?;
    let request = if too_long.writes { task.write? } else { task.read? };
    let least = too_long.least_ns.saturating_add(too_long.blocking_ns);
    let least = Span::from_ns(u64::try_from(least).ok()?)?.saturating_add(request.jitter());
    request.with_deadline(Some(least))?;
    (too_long.least_ns < request.period().as_ns().into()).then_some(least)
}

/// The set with the least deadline for each request that cannot be served otherwise; `None` where
/// one of them has none.
fn later(set: &TaskSet, analysis: &dyn Analysis) -> Option<TaskSet> {
    let mut changed = set.clone();
    // A read and a write of each task.
    for _ in 0..=2 * set.tasks().len() {
        let Some((at, too_long)) = unserved(&changed, analysis) else { return Some(changed) };
        let least = least_deadline(&changed, at, &too_long)?;
        let mut tasks = changed.tasks().as_slice().to_vec();
        let request = if too_long.writes { &mut tasks[at].write } else { &mut tasks[at].read };
        *request = Some((*request)?.with_deadline(Some(least))?);
        changed = TaskSet::new(*changed.device(), tasks, changed.jobs().to_vec()).ok()?;
    }
    None
}
