//! Bounds on the latency of real-time jobs (docs/host.md, "Bounds", has the derivation and what is
//! supposed).

mod chain;
mod deadline;
mod inside;
mod max;
mod observe;
mod passes;
mod places;
mod response;
mod rests_on;
mod steps;
mod view;
mod why;

use std::cmp::Ordering;

use rtflash_model::Span;

use crate::run::{CertifiedClusters, HostDevice, Nvme, Scenario, hand_over_jitter};
use crate::scheduler::SchedulerSettings;
use inside::Inside;
use max::Max;
pub use observe::{Assumptions, BoundAssumption};
use response::{NoWindow, ResponseWork, Rounds, StallCurve, UrgentQueue, Window};
pub use rests_on::rests_on;
use view::{Loops, Releasing, queues};
pub use why::{Why, three_digits};

/// How a bound was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// A device that does one command at a time: all that goes ahead is added up.
    H1,
    /// A device that ends each command in a stated time: rounds of as many commands as are inside.
    H2,
    /// Certified clusters: what the host adds is jitter, and the certificate is one for it.
    H3,
    /// mq-deadline and a device that does one command at a time: all requests of the class can go
    /// ahead.
    H4,
}

impl Rule {
    /// How answers call it.
    pub fn name(self) -> &'static str {
        match self {
            Rule::H1 => "H1",
            Rule::H2 => "H2",
            Rule::H3 => "H3",
            Rule::H4 => "H4",
        }
    }

    /// By which rule a scenario's bounds are found.
    pub fn of(scenario: &Scenario) -> Rule {
        match &scenario.device {
            HostDevice::Emmc(_) | HostDevice::Measured(_)
                if matches!(scenario.scheduler, SchedulerSettings::MqDeadline(_)) =>
            {
                Rule::H4
            }
            HostDevice::Emmc(_) | HostDevice::Measured(_) => Rule::H1,
            HostDevice::Nvme(_) => Rule::H2,
            HostDevice::Clusters(_) => Rule::H3,
        }
    }
}

/// The terms of a bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LatencyTerms {
    /// The commands that can be inside when the I/O is released, or when those ahead of it begin to
    /// wait.
    pub inside: Span,
    /// The commands that other real-time jobs send ahead.
    pub ahead: Span,
    /// The I/O itself.
    pub own: Span,
}

impl LatencyTerms {
    /// The bound on the latency, from release to the end of the last request.
    pub fn bound(&self) -> Span {
        self.inside.saturating_add(self.ahead).saturating_add(self.own)
    }
}

/// The bound on the latency of a real-time job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bound {
    /// The job, by position in the scenario.
    pub job: usize,
    /// By which rule it is looked for.
    pub rule: Rule,
    /// The terms of the bound, or why there is none. If the job has steps, it is one of the whole
    /// chain.
    pub terms: Result<LatencyTerms, Why>,
    /// The bounds of each I/O of the steps of a chain that have I/Os, by the position of the step,
    /// if the chain has a bound.
    pub steps: Vec<(usize, LatencyTerms)>,
}

/// The result for a job.
type Found = Result<LatencyTerms, Why>;

impl Bound {
    /// No bound, for a reason.
    fn without(job: usize, rule: Rule, why: &Why) -> Bound {
        Bound { job, rule, terms: Err(why.clone()), steps: Vec::new() }
    }

    /// Whether the bound is within the deadline of its job in `scenario`, if the job has one;
    /// `None` without a bound.
    pub fn is_in_time(&self, scenario: &Scenario) -> Option<bool> {
        let bound = self.terms.as_ref().ok()?.bound();
        Some(scenario.jobs[self.job].deadline.is_none_or(|deadline| bound <= deadline))
    }
}

/// Bounds on the latencies of a scenario's real-time jobs, in order. They hold whatever the phases,
/// the places and the jitter are.
///
/// If the device limits how often commands take longer than usual, a bound counts that many of
/// these, or the longest of each, whichever is less.
pub fn bounds(scenario: &Scenario) -> Vec<Bound> {
    let longest = bounds_with(scenario, None);
    let HostDevice::Measured(drive) = &scenario.device else { return longest };
    if drive.stalls.is_empty() || drive.together > 1 {
        return longest;
    }
    let (usual, beyond) = drive.without_stalls();
    let stalls = StallCurve::new(&drive.stalls, beyond);
    let scenario = Scenario { device: HostDevice::Measured(Box::new(usual)), ..scenario.clone() };
    let limited = bounds_with(&scenario, Some(stalls));
    let less = |(longest, limited): (Bound, Bound)| match (&longest.terms, &limited.terms) {
        (Err(_), Ok(_)) => limited,
        (Ok(one), Ok(other)) if other.bound() < one.bound() => limited,
        _ => longest,
    };
    longest.into_iter().zip(limited).map(less).collect()
}

/// A pass over the jobs: the terms of each rest on those that were found before.
struct BoundPass<'a> {
    scenario: &'a Scenario,
    loops: &'a [Loops],
    found: &'a [Found],
    work: &'a ResponseWork,
}

/// Bounds of a scenario with these stalls, which are not in the times of its device.
fn bounds_with(scenario: &Scenario, stalls: Option<StallCurve>) -> Vec<Bound> {
    let rule = Rule::of(scenario);
    let real_time = (0..scenario.jobs.len()).filter(|&job| scenario.jobs[job].is_real_time());
    if let HostDevice::Clusters(clusters) = &scenario.device {
        let of = |job| certified(scenario, clusters, job).map_err(Why::Certificate);
        return real_time.map(|job| Bound { job, rule, terms: of(job), steps: Vec::new() }).collect();
    }
    let none = |why: &Why| real_time.clone().map(|job| Bound::without(job, rule, why)).collect();
    let Some(queues) = queues(&scenario.scheduler) else {
        return none(&Why::Scheduler { name: scenario.scheduler.name() });
    };
    if let Some(why) = rests_on::unproved(scenario) {
        return none(&why);
    }
    let mut loops: Vec<Loops> = (0..scenario.jobs.len()).map(|job| Loops::new(scenario, job, queues)).collect();
    let work = ResponseWork::new(stalls);
    let found = loop {
        view::mark_merged(&mut loops);
        let found = passes::all(scenario, &loops, &work);
        // If the device does not state its times, no job has a bound.
        if let Some(why) = found.iter().filter_map(|found| found.as_ref().err()).find(|why| why.is_of_device()) {
            return none(why);
        }
        // Jobs with a period were supposed to have one I/O pending. Those that are not real-time
        // may have more of them, up to all that they release.
        let late = |job: usize| match (&loops[job].releasing, &found[job]) {
            (Releasing::Every(period), Ok(terms)) => terms.bound() > *period,
            (Releasing::Every(_), Err(_)) => true,
            (Releasing::Closed { .. }, _) => false,
        };
        let late: Vec<usize> = (0..loops.len()).filter(|&job| !loops[job].piled && late(job)).collect();
        if let Some(&job) = late.iter().find(|&&job| scenario.jobs[job].is_real_time()) {
            let takes = found[job].as_ref().map(LatencyTerms::bound).map_err(|why| Box::new(why.clone()));
            let name = scenario.jobs[job].name.clone();
            return none(&Why::Late { job: name, takes, apart: loops[job].releasing.apart() });
        }
        if late.is_empty() {
            break found;
        }
        late.into_iter().for_each(|job| loops[job].pile_up(scenario, job));
    };
    if let Some(why) = places::short(&loops, scenario.tags()) {
        return none(&why);
    }
    // A step without a window has no bound, and neither have those of a job without one.
    let pass = BoundPass { scenario, loops: &loops, found: &found, work: &work };
    let steps = |job| match (chain::steps(&pass, job), &found[job]) {
        (Ok(steps), Ok(_)) => steps,
        _ => Vec::new(),
    };
    let bound = |job| Bound { job, rule, terms: found[job].clone(), steps: steps(job) };
    real_time.clone().map(bound).collect()
}

/// H3: the deadline of a certified task, from its nominal release on, if its certificate holds and
/// the host keeps its requests for no longer than that allows.
fn certified(scenario: &Scenario, clusters: &CertifiedClusters, job: usize) -> Result<LatencyTerms, String> {
    clusters.judgement()?;
    let late = hand_over_jitter(scenario, job)?;
    let (declared, own) = clusters.promised(job).ok_or("it is no task of the device")?;
    if late > declared {
        return Err(format!(
            "its requests reach the device up to {late} late, and the certificate is one for {declared}"
        ));
    }
    Ok(LatencyTerms { inside: Span::ZERO, ahead: Span::ZERO, own })
}

/// H2: in each round of so long as a command takes at most, as many are handed over as may be
/// inside.
fn in_rounds(pass: &BoundPass<'_>, nvme: &Nvme, ahead: &Ahead<'_>) -> Result<LatencyTerms, NoWindow> {
    let &BoundPass { scenario, loops, work, .. } = pass;
    let Some(limit) = nvme.ends_within else { return Err(NoWindow::Unlimited) };
    let handed = scenario.scheduler.max_inflight();
    handed.filter(|&max| max <= nvme.inside).ok_or(NoWindow::Beyond(handed, nvme.inside))?;
    let max = view::max_inside(scenario, nvme.inside);
    let below = Inside::new(loops.iter().filter(|other| other.queue > ahead.own.queue)).number(max);
    let above = ahead.higher.iter().map(UrgentQueue::outstanding).fold(u128::from(below), u128::saturating_add);
    let places = u128::from(if ahead.own.is_real_time { max.all } else { max.rest });
    let rounds = Rounds {
        length: u128::from(limit.as_ns()) + u128::from(scenario.host.turnaround.as_ns()),
        places,
        commands: ahead.equal_commands + ahead.own_commands,
        free: places.saturating_sub(above),
    };
    let number = rounds.number(&ahead.higher, work)?;
    let span = |time: u128| u64::try_from(time).ok().and_then(Span::from_ns).ok_or(NoWindow::Overload(1_000));
    let waiting = rounds.length * number;
    span(waiting + u128::from(limit.as_ns()))?;
    let inside = waiting.min(rounds.length);
    Ok(LatencyTerms { inside: span(inside)?, ahead: span(waiting - inside)?, own: limit })
}

/// The commands ahead of a job's last command on any device.
struct Ahead<'a> {
    own: &'a Loops,
    higher: Vec<UrgentQueue>,
    /// Commands of an I/O of its own, and of those that its equals have pending.
    own_commands: u128,
    equal_commands: u128,
    /// The cost of the latter.
    equal: u128,
    /// If the device takes commands together: the most that those behind the last one of the I/O
    /// add to its batch beside the longest.
    batch: Option<Span>,
}

/// Why a window without an end leaves a job without a bound.
fn why_of(scenario: &Scenario, limit: NoWindow) -> Why {
    match limit {
        NoWindow::Overload(thousandths) => Why::Overload { thousandths },
        NoWindow::Work => Why::Work,
        NoWindow::Merged(job) => Why::Merged { job: scenario.jobs[job].name.clone() },
        NoWindow::Unlimited => Why::Unlimited,
        NoWindow::Beyond(handed, inside) => Why::Beyond { handed, inside },
    }
}

/// The terms of an I/O of a job, with what was found for more urgent ones. `own`: the job, or a
/// step of it.
fn one_of(pass: &BoundPass<'_>, job: usize, own: &Loops) -> Result<LatencyTerms, NoWindow> {
    let &BoundPass { scenario, loops, found, work } = pass;
    work.charge(loops.len())?;
    let rank = |other: &&Loops| other.queue.cmp(&own.queue);
    if let Some(merged) = loops.iter().position(|other| rank(&other).is_eq() && other.is_merged) {
        return Err(NoWindow::Merged(merged));
    }
    let mut ahead =
        Ahead { own, higher: Vec::new(), own_commands: own.number(), equal_commands: 0, equal: 0, batch: None };
    for (at, (other, found)) in loops.iter().zip(found).enumerate() {
        match rank(&other) {
            Ordering::Less => {
                let urgent = other.queue_of(found.as_ref().ok().map(LatencyTerms::bound), scenario.host.turnaround);
                // A command that is not real-time can wait although places are free: those of the
                // rest are taken.
                ahead.higher.push(UrgentQueue { yields: urgent.yields && own.is_real_time, ..urgent });
            }
            Ordering::Equal => {
                let pending = u128::from(if at == job { other.pending - 1 } else { other.pending });
                ahead.equal += other.cost * pending;
                ahead.equal_commands += other.number() * pending;
            }
            Ordering::Greater => {}
        }
    }
    match &scenario.device {
        HostDevice::Emmc(emmc) => added_up(pass, view::max_inside(scenario, emmc.depth), &ahead),
        HostDevice::Measured(measured) => {
            let max = view::max_inside(scenario, measured.depth);
            let longest = loops.iter().map(Loops::longest).fold(0, u64::max);
            let behind = || measured.behind(max.all, scenario.host.max_sectors, longest);
            ahead.batch = (measured.together > 1).then(behind);
            added_up(pass, max, &ahead)
        }
        HostDevice::Nvme(nvme) => in_rounds(pass, nvme, &ahead),
        HostDevice::Clusters(_) => Err(NoWindow::Unlimited),
    }
}

/// H1: all that can go ahead is added up.
fn added_up(pass: &BoundPass<'_>, max: Max, ahead: &Ahead<'_>) -> Result<LatencyTerms, NoWindow> {
    let &BoundPass { scenario, loops, work, .. } = pass;
    let Ahead { own, higher, equal, .. } = ahead;
    let rank = |other: &&Loops| other.queue.cmp(&own.queue);
    // The batch of the last command is as long as any command that can be in it.
    let longest = loops.iter().map(Loops::longest).fold(0, u64::max);
    let last = match ahead.batch {
        None => own.last,
        Some(behind) => own.last.max(u128::from(longest)) + u128::from(behind.as_ns()),
    };
    let before = own.cost.saturating_sub(own.last + u128::from(scenario.host.turnaround.as_ns()));
    let between = ahead.equal_commands + ahead.own_commands - 1;
    // From the release on: each job that is not below has at most what is pending then, and what
    // the higher ones release later.
    let below = Inside::new(loops.iter().filter(|other| rank(other).is_gt()));
    let from_release = Window { inside: below.max(max), fixed: equal + before, earlier: 0, gaps: 0, between }
        .with_carried(higher, work);
    // From the last instant on at which nothing higher waited: none of the higher ones' requests is
    // left but inside.
    let others = Inside::new(loops.iter().filter(|other| !rank(other).is_eq()));
    let equals = Inside::new(loops.iter().filter(|other| rank(other).is_eq()));
    let from_calm = || {
        let mut worst: Option<Window> = None;
        let several = max.all.min(equals.count());
        for done in (0..=several.min(MAX_APART)).chain((several > MAX_APART).then_some(several)) {
            let left = max.without(done.min(MAX_APART + 1));
            let earlier = equals.max_of(done);
            // A batch ends a first I/O no later than what was inside before it.
            let gaps = match ahead.batch {
                None => u128::from(done) * u128::from(scenario.host.turnaround.as_ns()),
                Some(_) => earlier,
            };
            let window = Window { inside: others.max(left), fixed: equal + before, earlier, gaps, between };
            let window = window.fresh(higher, work)?;
            if worst.as_ref().is_none_or(|worst| window.total() > worst.total()) {
                worst = Some(window);
            }
        }
        worst.ok_or(NoWindow::Work)
    };
    let smaller = match (from_release, from_calm()) {
        (Ok(one), Ok(other)) => Ok(if one.total() <= other.total() { one } else { other }),
        (Ok(one), Err(_)) | (Err(_), Ok(one)) => Ok(one),
        (Err(why), Err(_)) => Err(why),
    };
    added(before, last, smaller?)
}

/// The terms of a window; `before`: what an I/O costs before its last command starts; `last`: what
/// the batch of that one takes.
fn added(before: u128, last: u128, window: Window) -> Result<LatencyTerms, NoWindow> {
    let span = |time: u128| u64::try_from(time).ok().and_then(Span::from_ns).ok_or(NoWindow::Overload(1_000));
    let terms = LatencyTerms {
        inside: span(window.inside)?,
        ahead: span(window.total() - window.inside - before)?,
        own: span(before + last)?,
    };
    // A time that cannot be represented is no bound.
    span(window.total() + last).map(|_| terms)
}

/// Own requests that can be inside when the higher ones begin to wait: the bound tries each number
/// up to this one, and takes all greater numbers together.
const MAX_APART: u64 = 64;
