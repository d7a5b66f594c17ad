//! Bounds of chains: the sum of those of the steps, or one window over all steps (docs/host.md,
//! "Bounds").

use std::cmp::Ordering;

use rtflash_model::Span;

use super::inside::Inside;
use super::response::{NoWindow, UrgentQueue, Window};
use super::steps::ChainStepCosts;
use super::view::{self, Loops};
use super::{BoundPass, LatencyTerms, added, deadline, one_of};
use crate::run::HostDevice;
use crate::scheduler::SchedulerSettings;

/// The terms of each step of a chain with I/Os, by position.
pub(super) fn steps(pass: &BoundPass<'_>, job: usize) -> Result<Vec<(usize, LatencyTerms)>, NoWindow> {
    let chain = pass.loops[job].chain.iter().flat_map(|chain| &chain.steps);
    let of = |step: &ChainStepCosts| {
        // The job, if all its I/Os were those of this step.
        let (cost, last, commands) = (step.cost, step.last, step.commands.clone());
        let own = Loops { cost, last, commands, ..pass.loops[job].clone() };
        let terms = match pass.scenario.scheduler {
            SchedulerSettings::MqDeadline(settings) => deadline::one(pass, settings, job, &own),
            _ => one_of(pass, job, &own),
        };
        Ok((step.step, terms?))
    };
    chain.map(of).collect()
}

/// The terms of a whole chain: those of the steps together, or those of one window, whichever are
/// less.
pub(super) fn whole(pass: &BoundPass<'_>, job: usize) -> Result<LatencyTerms, NoWindow> {
    let own = &pass.loops[job];
    let chain = own.chain.as_deref().expect("a chain has steps (invariant)");
    let mut sum = LatencyTerms { inside: Span::ZERO, ahead: Span::ZERO, own: chain.thinks };
    for ((_, terms), step) in steps(pass, job)?.into_iter().zip(&chain.steps) {
        let all = |one: Span| one.checked_mul(step.times.into()).unwrap_or(Span::LONGEST);
        sum.inside = sum.inside.saturating_add(all(terms.inside));
        sum.ahead = sum.ahead.saturating_add(all(terms.ahead));
        sum.own = sum.own.saturating_add(all(terms.own));
    }
    if sum.bound() == Span::LONGEST {
        return Err(NoWindow::Overload(1_000));
    }
    if !own.is_real_time || own.pending > 1 {
        return Ok(sum);
    }
    let window = joint(pass, job);
    Ok(window.ok().filter(|window| window.bound() < sum.bound()).unwrap_or(sum))
}

/// The terms of a chain by one window from its begin to the start of its last command, in front of
/// a device that does one command at a time.
fn joint(pass: &BoundPass<'_>, job: usize) -> Result<LatencyTerms, NoWindow> {
    let &BoundPass { scenario, loops, found, work } = pass;
    work.charge(loops.len())?;
    let own = &loops[job];
    let chain = own.chain.as_deref().expect("a chain has steps (invariant)");
    let depth = match &scenario.device {
        HostDevice::Emmc(emmc) => emmc.depth,
        HostDevice::Measured(measured) if measured.together <= 1 => measured.depth,
        HostDevice::Measured(_) | HostDevice::Nvme(_) | HostDevice::Clusters(_) => return Err(NoWindow::Unlimited),
    };
    // Lemma Y is about a job whose command waits, and a chain has none that waits as it thinks.
    let sends = |at: usize| {
        let response = found[at].as_ref().ok().map(LatencyTerms::bound);
        UrgentQueue { yields: false, ..loops[at].queue_of(response, scenario.host.turnaround) }
    };
    let ios = chain.ios();
    let (mut queues, mut equal, mut times) = (Vec::new(), 0, ios);
    let aging = match scenario.scheduler {
        SchedulerSettings::MqDeadline(settings) => Some(deadline::aging(scenario, settings)),
        _ => None,
    };
    for (at, other) in loops.iter().enumerate().filter(|(at, _)| *at != job) {
        match (aging, other.queue.cmp(&own.queue)) {
            (Some(Some(age)), Ordering::Greater) => {
                // A command inside as the chain began is old, or over, before it goes ahead.
                queues.push(UrgentQueue { from: age.into(), ..sends(at) });
                times = ios - 1;
            }
            (_, Ordering::Less) => queues.push(sends(at)),
            (Some(_), Ordering::Equal) => queues.push(sends(at)),
            // Each step has the pending I/Os of an equal ahead once.
            (None, Ordering::Equal) if other.chain.is_some() => equal += ios * other.cost * u128::from(other.pending),
            (None, Ordering::Equal) => {
                let count = ios.saturating_mul(other.pending.into()).min(other.count.into());
                queues.push(UrgentQueue { count, ..sends(at) });
            }
            (_, Ordering::Greater) => {}
        }
    }
    let below = Inside::new(loops.iter().filter(|other| other.queue > own.queue));
    let inside = below.max(view::max_inside(scenario, depth)) * times;
    let turnarounds = u128::from(scenario.host.turnaround.as_ns()) * ios;
    let last = chain.steps.last().map_or(0, |step| step.last);
    // The turnaround after the last command of an I/O follows the end of that I/O.
    let all = (chain.cost + u128::from(chain.thinks.as_ns())).saturating_sub(turnarounds);
    let window = Window { inside, fixed: all.saturating_sub(last) + equal, earlier: 0, gaps: 0, between: 0 };
    added(all.saturating_sub(last), last, window.with_carried(&queues, work)?)
}
