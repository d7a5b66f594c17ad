//! A task that an algorithm finds no room for, under a test that knows tasks and a number of chips.

use rtflash_analysis::reason::{Reason, TooLong};
use rtflash_analysis::{Analysis, Fraction};
use rtflash_model::{Device, Task, TaskId, TaskSet};

use super::Unplaced;

/// By its load, or as one request of it is too long on every cluster.
pub(super) fn unplaced(
    set: &TaskSet,
    analysis: &dyn Analysis,
    task: TaskId,
    total: f64,
    cluster: usize,
    chips: u32,
    mut others: Vec<TaskId>,
) -> Unplaced {
    others.sort_unstable();
    // Above one exactly, whatever became of it in doubles.
    let reason = overload(set, analysis, task, total.max(1.0f64.next_up()));
    Unplaced { task, reason, cluster, chips, others }
}

fn overload(set: &TaskSet, analysis: &dyn Analysis, task: TaskId, utilization: f64) -> Reason {
    let too_long = set.tasks().get(task).and_then(|task| never_in_time(set.device(), analysis, task));
    match too_long {
        Some(request) => Reason::Request(TooLong { utilization: Some(utilization), ..request }),
        None => Reason::Load { utilization },
    }
}

/// (C + D)/T > 1, Eqs. (IV.1), (IV.2), (IV.5) and (IV.6), in clusters of every possible size.
fn never_in_time(device: &Device, analysis: &dyn Analysis, task: &Task) -> Option<TooLong> {
    let too_long = |writes: bool| {
        let request = if writes { task.write? } else { task.read? };
        let mut least: Option<u128> = None;
        for chips in 1..=device.chips() {
            let demand = analysis.demand(device, task, chips)?;
            let stream = if writes { demand.write? } else { demand.read? };
            if stream.utilization() <= Fraction::new(1, 1) {
                return None;
            }
            let time = u128::from(stream.service.as_ns()) + u128::from(stream.delay.as_ns());
            least = Some(least.map_or(time, |least| least.min(time)));
        }
        let (pages, period) = (request.pages(), request.period());
        let (blocking_ns, behind_erase, utilization) = (0, false, None);
        Some(TooLong {
            writes,
            pages,
            least_ns: least?,
            blocking_ns,
            behind_erase,
            period,
            window: period,
            utilization,
        })
    };
    too_long(false).or_else(|| too_long(true))
}
