//! Jobs as the bounds see them.

use rtflash_model::Span;

use super::inside::Most;
use super::response::Queue;
use crate::run::{Job, Releases, Scenario, cut};
use crate::scheduler::{Levels, Scheduler, Settings};
use crate::{Class, Command, LEVELS};

/// Into which queue a scheduler puts what a job does: the lowest number goes first, each is first in, first out.
pub(super) type Queues = fn(&Settings, &Job) -> u8;

/// The queues of a scheduler; `None` where it is not made of queues that go one before the other.
pub(super) fn queues(settings: &Settings) -> Option<Queues> {
    match settings {
        Settings::None => Some(|_, _| 0),
        Settings::K2(_) => Some(|settings, job| match settings {
            Settings::K2(k2) if job.class == Class::RealTime => match k2.levels {
                Levels::Eight => job.level.min(LEVELS - 1),
                Levels::One => 0,
            },
            _ => LEVELS,
        }),
        _ => None,
    }
}

/// Commands that may be inside: those of the scheduler, or those of the device if it takes less.
pub(super) fn most_inside(scenario: &Scenario, depth: u32) -> Most {
    match &scenario.scheduler {
        Settings::K2(k2) => {
            let all = k2.max_inflight.min(depth);
            Most { all, rest: k2.max_inflight_rest.unwrap_or(all).min(all) }
        }
        _ => Most { all: depth, rest: depth },
    }
}

/// When a job releases.
#[derive(Debug, Clone, Copy)]
pub(super) enum Releasing {
    /// No two I/Os closer than this, whether the first one has ended or not.
    Every(Span),
    /// Each of its I/Os at a time no closer to the one before in its place than this, and after that one has ended.
    Closed(Span),
}

/// A job: so many I/Os pending at a time, each in a place of its own. Costs are nanoseconds on the device, turnaround included.
#[derive(Debug, Clone)]
pub(super) struct Loops {
    pub(super) queue: u8,
    pub(super) is_real_time: bool,
    pub(super) releasing: Releasing,
    /// I/Os that may be pending at a time.
    pub(super) pending: u64,
    /// I/Os in all.
    pub(super) count: u64,
    /// What an I/O costs.
    pub(super) cost: u128,
    /// What its last command takes, without the turnaround.
    pub(super) last: u128,
    /// The commands of an I/O: their cost, and how many cost that.
    pub(super) commands: Vec<(u64, u64)>,
}

impl Loops {
    pub(super) fn new(scenario: &Scenario, position: usize, queues: Queues) -> Loops {
        let job = &scenario.jobs[position];
        let scheduler = scenario.scheduler.scheduler();
        let turnaround = scenario.host.turnaround.as_ns();
        let (mut cost, mut least, mut last) = (0_u128, Span::ZERO, 0);
        let mut commands: Vec<(u64, u64)> = Vec::new();
        for (number, command) in commands_of(scenario, position, scheduler.as_ref()).enumerate() {
            let service = scenario.device.most(&command, number == 0).as_ns();
            least = least.saturating_add(scenario.device.least(&command, number == 0));
            let whole = service.saturating_add(turnaround);
            cost += u128::from(whole);
            last = u128::from(service);
            match commands.last_mut() {
                Some((same, several)) if *same == whole => *several += 1,
                _ => commands.push((whole, 1)),
            }
        }
        let count = job.count.unwrap_or(u64::MAX);
        let (releasing, pending) = match job.releases {
            Releases::Every { period, jitter } => {
                let apart = Span::from_ns(period.as_ns().saturating_sub(jitter.as_ns())).unwrap_or(period);
                (Releasing::Every(apart), 1)
            }
            Releases::Closed { depth, think } => (Releasing::Closed(think.saturating_add(least)), depth.into()),
        };
        let (queue, is_real_time) = (queues(&scenario.scheduler, job), job.is_real_time());
        Loops { queue, is_real_time, releasing, pending: pending.min(count.max(1)), count, cost, last, commands }
    }

    /// Whether it may have more I/Os pending than it was supposed to have.
    pub(super) fn may_pile_up(&self, scenario: &Scenario, position: usize) -> bool {
        self.pending < self.most_released(scenario, position)
    }

    /// I/Os that it releases in all until the scenario ends.
    pub(super) fn most_released(&self, scenario: &Scenario, position: usize) -> u64 {
        let Releases::Every { period, .. } = scenario.jobs[position].releases else { return self.pending };
        let time = scenario.duration.since(scenario.jobs[position].phase.min(scenario.duration)).as_ns();
        (time / period.as_ns().max(1)).saturating_add(1).min(self.count).max(1)
    }

    /// What it sends ahead of what is less urgent. `response`: the bound of its own.
    pub(super) fn queue_of(&self, response: Option<Span>) -> Queue {
        let (Releasing::Every(apart) | Releasing::Closed(apart)) = self.releasing;
        Queue {
            cost: self.cost,
            apart: u128::from(apart.as_ns()),
            response: response.map(|span| u128::from(span.as_ns())),
            places: u128::from(self.pending),
            count: u128::from(self.count),
            is_closed: matches!(self.releasing, Releasing::Closed(_)),
        }
    }
}

/// The commands of an I/O, in order.
fn commands_of<'a>(
    scenario: &'a Scenario,
    job: usize,
    scheduler: &'a dyn Scheduler,
) -> impl Iterator<Item = Command> + 'a {
    let whole = scenario.whole(job, scenario.jobs[job].from).into_iter();
    whole.flat_map(|whole| scenario.requests(whole)).flat_map(move |request| {
        let piece = scheduler.piece(&request).unwrap_or(request.size).max(1);
        cut(request, piece)
    })
}
