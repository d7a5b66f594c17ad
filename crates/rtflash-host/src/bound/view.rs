//! Jobs as the bounds see them.

use std::collections::HashMap;

use rtflash_model::Span;

use super::max::Max;
use super::response::UrgentQueue;
use super::steps::{ChainLoops, ChainStepCosts};
use crate::run::{HostDevice, Job, JobReleases, MixedIo, Scenario, ThinkAfter, cut};
use crate::scheduler::{Levels, Scheduler, SchedulerSettings};
use crate::{Class, Command, LEVELS, Op};

/// Into which queue a scheduler puts what a job does: the lowest number goes first, each is first
/// in, first out.
pub(super) type Queues = fn(&SchedulerSettings, &Job) -> u8;

/// The queues of a scheduler; `None` where it is not made of queues that go one before the other.
pub(super) fn queues(settings: &SchedulerSettings) -> Option<Queues> {
    match settings {
        SchedulerSettings::None => Some(|_, _| 0),
        SchedulerSettings::MqDeadline(_) => Some(|_, job| job.class as u8),
        SchedulerSettings::K2(_) => Some(|settings, job| match settings {
            SchedulerSettings::K2(k2) if job.class == Class::RealTime => match k2.levels {
                Levels::Eight => job.level.min(LEVELS - 1),
                Levels::One => 0,
            },
            _ => LEVELS,
        }),
        _ => None,
    }
}

/// Commands that may be inside: those of the scheduler, or those of the device if it takes less.
pub(super) fn max_inside(scenario: &Scenario, depth: u32) -> Max {
    match &scenario.scheduler {
        SchedulerSettings::K2(k2) => {
            let all = k2.max_inflight.min(depth).into();
            Max { all, rest: k2.max_inflight_rest.map_or(all, |rest| all.min(rest.into())) }
        }
        _ => Max { all: depth.into(), rest: depth.into() },
    }
}

/// When a job releases.
#[derive(Debug, Clone, Copy)]
pub(super) enum Releasing {
    /// No two I/Os closer than this, whether the first one has ended or not.
    Every(Span),
    /// Each of its I/Os `think` after the one before in its place has ended, or later.
    Closed {
        /// The least time between two I/Os of a place.
        apart: Span,
        /// See above.
        think: Span,
    },
}

impl Releasing {
    /// The least time between two I/Os of a place.
    pub(super) fn apart(self) -> Span {
        match self {
            Releasing::Every(apart) | Releasing::Closed { apart, .. } => apart,
        }
    }
}

/// A job: a number of I/Os pending at a time, each in a place of its own. IoCosts are nanoseconds
/// on the device, turnaround included.
#[derive(Debug, Clone)]
pub(super) struct Loops {
    pub(super) queue: u8,
    pub(super) is_real_time: bool,
    pub(super) releasing: Releasing,
    /// I/Os that may be pending at a time.
    pub(super) pending: u64,
    /// Whether those are all that it releases in the scenario, as they may pile up.
    pub(super) piled: bool,
    /// The kinds of its requests that are merged: the common properties of each, and the cost of
    /// its longest request.
    pub(super) merging: Vec<(Alike, u64)>,
    /// Whether its requests may be merged with others.
    pub(super) is_merged: bool,
    /// I/Os in all.
    pub(super) count: u64,
    /// Tags that each takes.
    pub(super) tags: u64,
    /// Tags that such requests can hold; `None` for all.
    pub(super) limit: Option<u32>,
    /// The cost of an I/O.
    pub(super) cost: u128,
    /// The least cost of its last command, without the turnaround.
    pub(super) last: u128,
    /// The least time from the hand-over of some command of an I/O to its end, if it is only from
    /// there on that an I/O takes part in a window.
    pub(super) handed: Span,
    /// The commands of an I/O: their cost, and how many cost that.
    pub(super) commands: Vec<(u64, u64)>,
    /// The steps of its chains. An I/O is any of theirs above, and one of each chain is pending.
    pub(super) chain: Option<Box<ChainLoops>>,
}

/// The least time from the hand-over of an I/O's last command, the shortest one, to its end. In
/// bounds by rounds, a command inside at the begin of a window takes no part in it.
fn handed(scenario: &Scenario, last: Option<Command>) -> Span {
    match &scenario.device {
        HostDevice::Nvme(_) => scenario.device.shortest(last.into_iter(), Some(1), true),
        HostDevice::Emmc(_) | HostDevice::Measured(_) | HostDevice::Clusters(_) => Span::ZERO,
    }
}

/// The longest service of a command that was merged, in nanoseconds. It is the first of an I/O, or
/// of none.
fn merged(scenario: &Scenario, whole: Command) -> u64 {
    let longest = Command { size: scenario.host.max_sectors, ..whole };
    let service = [true, false].map(|first| scenario.device.longest(&longest, first, true).as_ns());
    service[0].max(service[1])
}

/// The costs of the commands of an I/O, in nanoseconds.
struct Services {
    /// See [`Loops`].
    cost: u128,
    last: u128,
    commands: Vec<(u64, u64)>,
}

impl Services {
    /// The costs of `number` commands. If they are `merged`, others can become part of them.
    fn new(scenario: &Scenario, commands: impl Iterator<Item = Command>, number: u64, merged: bool) -> Services {
        // Any command of an I/O can be the first, and any the last, if requests go by position.
        let by_position = matches!(scenario.scheduler, SchedulerSettings::MqDeadline(_)) && number > 1;
        let turnaround = scenario.host.turnaround.as_ns();
        let mut all = Services { cost: 0, last: 0, commands: Vec::new() };
        let (mut least, mut dearer) = (u128::MAX, None);
        for (at, command) in commands.enumerate() {
            let service = |first| scenario.device.longest(&command, first, merged).as_ns();
            let (own, next) = (service(at == 0), service(false));
            let first = if by_position { service(true) } else { own };
            let each = if by_position { next } else { own };
            all.cost += u128::from(each.saturating_add(turnaround));
            all.last = each.into();
            least = least.min(all.last);
            dearer = dearer.max(Some(i128::from(first) - i128::from(each)));
            let whole = first.max(each).saturating_add(turnaround);
            match all.commands.last_mut() {
                Some((same, several)) if *same == whole => *several += 1,
                _ => all.commands.push((whole, 1)),
            }
        }
        if by_position {
            all.cost = all.cost.saturating_add_signed(dearer.expect("an I/O has commands (invariant)"));
            all.last = least;
        }
        all
    }
}

/// The properties that merged requests have in common.
type Alike = (Op, Class, u8);

/// The costs of one of the I/Os of a job, or upper bounds on those of several.
struct IoCosts {
    cost: u128,
    last: u128,
    commands: Vec<(u64, u64)>,
    merging: Vec<(Alike, u64)>,
    tags: u64,
    shortest: Span,
    handed: Span,
}

impl IoCosts {
    fn new(scenario: &Scenario, position: usize, io: MixedIo) -> IoCosts {
        // A scheduler that looks ahead is supposed not to: its pieces are the shortest then.
        let scheduler = scenario.scheduler.scheduler();
        let tags = commands_of(scenario, position, io, scenario.scheduler().as_ref()).count() as u64;
        let turnaround = scenario.host.turnaround.as_ns();
        let whole = scenario.whole_of(position, io, scenario.jobs[position].from);
        let longest = whole.filter(|whole| scenario.host.merge && scheduler.merges(whole, whole));
        let all = commands_of(scenario, position, io, scheduler.as_ref());
        let Services { cost, last, commands } = Services::new(scenario, all, tags, longest.is_some());
        let inside = scenario.scheduler.max_inflight();
        let commands_alone = commands_of(scenario, position, io, scheduler.as_ref());
        let shortest = scenario.device.shortest(commands_alone, inside, longest.is_some());
        let handed = handed(scenario, commands_of(scenario, position, io, scheduler.as_ref()).last());
        let merging = longest
            .map(|whole| ((whole.op, whole.class, whole.level), merged(scenario, whole).saturating_add(turnaround)));
        IoCosts { cost, last, commands, merging: merging.into_iter().collect(), tags, shortest, handed }
    }

    /// Upper bounds on the costs that either describes. The last command is the shorter one, so
    /// that the part before it is longer.
    fn worst(self, other: IoCosts) -> IoCosts {
        let mut merging = self.merging;
        merging.extend(
            other
                .merging
                .iter()
                .filter(|(alike, _)| !merging.iter().any(|(known, _)| known == alike))
                .copied()
                .collect::<Vec<_>>(),
        );
        IoCosts {
            cost: self.cost.max(other.cost),
            last: self.last.min(other.last),
            commands: most_expensive(self.commands, other.commands),
            merging,
            tags: self.tags.max(other.tags),
            shortest: self.shortest.min(other.shortest),
            handed: self.handed.min(other.handed),
        }
    }
}

/// Commands of which any number of the most expensive ones costs at least as much as that number of
/// either list.
fn most_expensive(one: Vec<(u64, u64)>, other: Vec<(u64, u64)>) -> Vec<(u64, u64)> {
    let sorted = |mut commands: Vec<(u64, u64)>| {
        commands.sort_unstable_by(|one, other| other.cmp(one));
        commands.into_iter().peekable()
    };
    let (mut one, mut other) = (sorted(one), sorted(other));
    let mut worst = Vec::new();
    loop {
        let (cost, several) = match (one.peek(), other.peek()) {
            (Some(&(cost, several)), Some(&(same, as_well))) => (cost.max(same), several.min(as_well)),
            (Some(&rest), None) | (None, Some(&rest)) => rest,
            (None, None) => return worst,
        };
        worst.push((cost, several));
        for list in [&mut one, &mut other] {
            if let Some((_, left)) = list.peek_mut() {
                *left -= several;
            }
            list.next_if(|&(_, left)| left == 0);
        }
    }
}

impl Loops {
    pub(super) fn new(scenario: &Scenario, position: usize, queues: Queues) -> Loops {
        let job = &scenario.jobs[position];
        let each = job.ios().map(|io| IoCosts::new(scenario, position, io));
        let IoCosts { cost, last, commands, merging, tags, shortest, handed } =
            each.reduce(IoCosts::worst).expect("a job has I/Os");
        let scheduler = scenario.scheduler.scheduler();
        let limits = job.ios().filter_map(|io| {
            let whole = scenario.whole_of(position, io, job.from)?;
            scheduler.tag_limit(&whole, job.writes_back(), &scenario.host)
        });
        let count = job.max_ios();
        let (releasing, pending) = match job.releases {
            JobReleases::Every { period, jitter } => {
                let apart = Span::from_ns(period.as_ns().saturating_sub(jitter.as_ns())).unwrap_or(period);
                (Releasing::Every(apart), job.burst.into())
            }
            JobReleases::Closed { depth, think } => {
                // A place is filled at once while the job does not let all its I/Os end.
                let think = if job.think_after == ThinkAfter::Each { think } else { Span::ZERO };
                (Releasing::Closed { apart: think.saturating_add(shortest), think }, depth.into())
            }
            // A flush releases as many as are whole, and one more at most where something was
            // carried over.
            JobReleases::WriteBack(written) => (Releasing::Every(written.flush), written.max_at_once(job.size)),
            // No bound is derived beside it.
            JobReleases::Flusher => (Releasing::Closed { apart: shortest, think: Span::ZERO }, scenario.tags().into()),
        };
        let (queue, is_real_time) = (queues(&scenario.scheduler, job), job.is_real_time());
        let pending = pending.min(count.max(1));
        let mut all = Loops {
            queue,
            is_real_time,
            releasing,
            pending,
            piled: false,
            merging,
            is_merged: false,
            tags,
            limit: limits.map(|limit| scenario.host.tags_within(limit)).min(),
            count,
            cost,
            last,
            handed,
            commands,
            chain: None,
        };
        let steps = job.steps.iter().enumerate().filter_map(|(step, of)| {
            let IoCosts { cost, last, commands, shortest, .. } = IoCosts::new(scenario, position, of.io()?);
            Some(ChainStepCosts { step, times: of.times, cost, last, commands, shortest })
        });
        all.chain = job.is_chain().then(|| Box::new(ChainLoops::new(job, steps.collect())));
        if let (Some(chain), Releasing::Closed { think, .. }) = (&all.chain, all.releasing) {
            all.releasing = Releasing::Closed { apart: think.saturating_add(chain.shortest), think };
        }
        all
    }

    /// Lets all that it releases until the scenario ends be pending.
    pub(super) fn pile_up(&mut self, scenario: &Scenario, position: usize) {
        (self.pending, self.piled) = (self.most_released(scenario, position), true);
    }

    fn most_released(&self, scenario: &Scenario, position: usize) -> u64 {
        let job = &scenario.jobs[position];
        let released = match job.releases {
            JobReleases::Every { period, .. } => {
                let time = scenario.duration.since(job.phase.min(scenario.duration)).as_ns();
                (time / period.as_ns().max(1)).saturating_add(1).saturating_mul(job.burst.into())
            }
            JobReleases::Closed { depth, .. } => depth.into(),
            JobReleases::WriteBack(written) => {
                let flushes = written.flushes(job.phase.min(scenario.duration), scenario.duration);
                written.released(flushes, job.size)
            }
            JobReleases::Flusher => u64::MAX,
        };
        released.min(self.count).max(self.pending)
    }

    /// The cost of its longest command, turnaround included.
    pub(super) fn longest(&self) -> u64 {
        let merged = self.merging.iter().filter(|_| self.is_merged).fold(0, |most, &(_, cost)| cost.max(most));
        self.commands.iter().map(|&(cost, _)| cost).fold(merged, u64::max)
    }

    /// Commands of an I/O.
    pub(super) fn number(&self) -> u128 {
        self.commands.iter().map(|&(_, several)| u128::from(several)).sum()
    }

    /// The commands that it sends ahead of less urgent ones. `response`: the bound of its own.
    pub(super) fn queue_of(&self, response: Option<Span>, turnaround: Span) -> UrgentQueue {
        let think = match self.releasing {
            Releasing::Every(_) => None,
            Releasing::Closed { think, .. } => Some(think),
        };
        let chain = self.chain.as_deref();
        // The last I/O of a chain can be any of its own that is pending.
        let handed = if chain.is_some() { Span::ZERO } else { self.handed };
        UrgentQueue {
            // One I/O of a chain is at the scheduler or inside at a time.
            at_once: self.number(),
            cost: chain.map_or(self.cost, |chain| chain.cost),
            commands: chain.map_or(self.number(), |chain| chain.commands),
            apart: u128::from(self.releasing.apart().as_ns()),
            pause: think.map_or(0, |think| u128::from(think.saturating_add(handed).as_ns())),
            is_chain: chain.is_some(),
            from: 0,
            response: response.map(|span| u128::from(span.as_ns())),
            places: u128::from(self.pending),
            count: u128::from(self.count),
            is_closed: think.is_some(),
            yields: chain.is_none() && self.pending == 1 && think.is_some_and(|think| think > turnaround),
        }
    }
}

/// Finds the jobs whose requests may be merged with others that are pending.
pub(super) fn mark_merged(loops: &mut [Loops]) {
    let mut pending: HashMap<Alike, u64> = HashMap::new();
    for of in loops.iter() {
        for &(alike, _) in &of.merging {
            let sum = pending.entry(alike).or_default();
            *sum = sum.saturating_add(of.pending);
        }
    }
    for of in loops {
        of.is_merged = of.merging.iter().any(|(alike, _)| pending.get(alike).is_some_and(|&sum| sum > 1));
    }
}

/// The commands of one of a job's I/Os, in order.
fn commands_of<'a>(
    scenario: &'a Scenario,
    job: usize,
    io: MixedIo,
    scheduler: &'a dyn Scheduler,
) -> impl Iterator<Item = Command> + 'a {
    let whole = scenario.whole_of(job, io, scenario.jobs[job].from).into_iter();
    whole.flat_map(|whole| scenario.requests(whole)).flat_map(move |request| {
        let piece = scheduler.piece(&request).unwrap_or(request.size).max(1);
        cut(request, piece)
    })
}
