//! H4: mq-deadline in front of a device that does one command at a time (docs/host.md, "Bounds").

use rtflash_model::Span;

use super::inside::Inside;
use super::response::{NoWindow, UrgentQueue, Window};
use super::view::{self, Loops};
use super::{BoundPass, LatencyTerms, added};
use crate::run::{HostDevice, Scenario};
use crate::scheduler::MqDeadlineSettings;

/// The age from which a request of a lower class can go ahead, in nanoseconds; `None` where the
/// scenario ends before one is as old. A kernel counts ages in ticks (`started_after` of
/// block/mq-deadline.c, 6.12.117), so a request can be a tick younger.
pub(super) fn aging(scenario: &Scenario, settings: MqDeadlineSettings) -> Option<u64> {
    let age = settings.prio_aging_expire.as_ns().saturating_sub(scenario.host.tick());
    (scenario.duration.as_ns() >= age).then_some(age)
}

/// The terms of an I/O of a job, by the results of the pass before for all jobs. `own`: the job, or
/// a step of it.
pub(super) fn one(
    pass: &BoundPass<'_>,
    settings: MqDeadlineSettings,
    job: usize,
    own: &Loops,
) -> Result<LatencyTerms, NoWindow> {
    let &BoundPass { scenario, loops, found, work } = pass;
    work.charge(loops.len())?;
    let depth = match &scenario.device {
        HostDevice::Emmc(emmc) => emmc.depth,
        HostDevice::Measured(measured) => measured.depth,
        HostDevice::Nvme(nvme) if nvme.ends_within.is_some() => return Err(NoWindow::Beyond(None, nvme.inside)),
        HostDevice::Nvme(_) | HostDevice::Clusters(_) => return Err(NoWindow::Unlimited),
    };
    let aging = aging(scenario, settings);
    let mut ahead = Vec::new();
    for (at, other) in loops.iter().enumerate() {
        let places = u128::from(if at == job { other.pending - 1 } else { other.pending });
        let from = if own.is_real_time && !other.is_real_time { aging } else { Some(0) };
        if let Some(from) = from.filter(|_| places > 0) {
            let queue = other.queue_of(found[at].as_ref().ok().map(LatencyTerms::bound), scenario.host.turnaround);
            ahead.push(UrgentQueue { places, from: from.into(), yields: queue.yields && own.is_real_time, ..queue });
        }
    }
    // If lower classes age, their commands inside count among the pending ones.
    let below = loops.iter().filter(|other| own.is_real_time && !other.is_real_time && aging.is_none());
    let before = own.cost.saturating_sub(own.last + u128::from(scenario.host.turnaround.as_ns()));
    let window = Window {
        inside: Inside::new(below).max(view::max_inside(scenario, depth)),
        fixed: before,
        earlier: 0,
        gaps: 0,
        between: own.number() - 1,
    };
    added(before, own.last, window.with_carried(&ahead, work)?)
}

/// Grounds of bounds of mq-deadline alone, a clause each.
pub(super) fn rests_on(scenario: &Scenario, settings: MqDeadlineSettings) -> Vec<String> {
    let age = settings.prio_aging_expire;
    let end = Span::from_ns(scenario.duration.as_ns()).unwrap_or(Span::LONGEST);
    vec![match aging(scenario, settings) {
        None => format!("ageing: the scenario ends at {end}, before a request waits for {age} (`prio_aging_expire`)"),
        Some(_) => {
            format!("ageing: each pending request of a lower class can go ahead after {age} (`prio_aging_expire`)")
        }
    }]
}
