//! H1 (docs/host.md) written down plainly: the bound is what the formula says, and each of its
//! terms is needed.

use std::collections::HashMap;

use rtflash_host::run::{Emmc, EmmcCost, HostDevice, Job, JobReleases, Scenario, Slow, cut};
use rtflash_host::scheduler::{K2Settings, Levels, SchedulerSettings};
use rtflash_host::{Class, Op};

/// A term of the formula that is left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Without {
    Nothing,
    /// The commands of lower jobs that can be inside.
    Inside,
    /// The pending commands of equal jobs.
    Equals,
    /// The commands of higher jobs.
    Higher,
    /// I/Os of higher jobs that are pending at the release.
    Pending,
    /// The own commands but the last.
    Own,
    /// The last command.
    Last,
    /// The turnaround.
    Turnaround,
    /// For a job that thinks: its first I/O, which needs no other command ahead of it.
    Thinking,
    /// The commands of i and its equals inside as the higher ones begin to wait.
    Earlier,
    /// For a command that was merged: that it is as long as a request can be.
    Merged,
    /// For a command that was merged: that it is the first of no I/O.
    Next,
}

impl Without {
    /// Those that random runs show to be needed.
    pub const TERMS: [Without; 8] = [
        Without::Inside,
        Without::Equals,
        Without::Higher,
        Without::Pending,
        Without::Own,
        Without::Last,
        Without::Turnaround,
        Without::Thinking,
    ];
}

/// A job as the formula sees it, in nanoseconds.
struct Sum {
    level: u8,
    is_real_time: bool,
    /// I/Os at a time, and in all.
    places: u64,
    count: u64,
    /// The commands of an I/O, turnarounds included, and what they cost together.
    commands: Vec<u64>,
    cost: u64,
    /// The last one, without a turnaround.
    last: u64,
    /// The most that one of its commands can cost, if others can be part of it.
    merged: u64,
    apart: u64,
    /// From the begin of a window to the next I/O of a place.
    pause: u64,
    is_closed: bool,
    /// Whether Lemma Y holds for it.
    thinks: bool,
}

fn emmc(scenario: &Scenario) -> &Emmc {
    let HostDevice::Emmc(emmc) = &scenario.device else { panic!("an eMMC") };
    emmc
}

fn k2(scenario: &Scenario) -> Option<K2Settings> {
    match scenario.scheduler {
        SchedulerSettings::K2(k2) => Some(k2),
        _ => None,
    }
}

fn level(scenario: &Scenario, job: &Job) -> u8 {
    match k2(scenario) {
        None => 0,
        Some(k2) => match (job.class, k2.levels) {
            (Class::RealTime, Levels::Eight) => job.level,
            (Class::RealTime, Levels::One) => 0,
            _ => 8,
        },
    }
}

fn extra(emmc: &Emmc, cost: EmmcCost) -> u64 {
    [emmc.slow, cost.slow].into_iter().map(|slow: Option<Slow>| slow.map_or(0, |slow| slow.extra.as_ns())).sum()
}

/// I/Os that a job can have pending, if what has a period or a flush ends in time.
fn places(job: &Job) -> u64 {
    let places = match job.releases {
        JobReleases::Closed { depth, .. } => depth.into(),
        JobReleases::Every { .. } => 1,
        JobReleases::WriteBack(written) => written.max_at_once(job.size),
        JobReleases::Flusher => panic!("none is drawn"),
    };
    places.min(job.count.unwrap_or(u64::MAX))
}

/// Jobs with which one shares what is merged, itself included: their I/Os at a time.
fn alike(scenario: &Scenario) -> HashMap<(Op, Class, u8), u64> {
    let mut pending = HashMap::new();
    for job in &scenario.jobs {
        *pending.entry((job.op, job.class, job.level)).or_default() += places(job);
    }
    pending
}

fn merges(scenario: &Scenario) -> bool {
    scenario.host.merge && k2(scenario).is_none_or(|k2| k2.split.is_none())
}

fn is_merged(scenario: &Scenario, job: &Job) -> bool {
    merges(scenario) && alike(scenario)[&(job.op, job.class, job.level)] > 1
}

fn sum(scenario: &Scenario, job: usize, without: Without) -> Sum {
    let (emmc, of) = (emmc(scenario), &scenario.jobs[job]);
    let scheduler = scenario.scheduler.scheduler();
    let cost = if of.op == Op::Read { emmc.read } else { emmc.write };
    let turnaround = if without == Without::Turnaround { 0 } else { scenario.host.turnaround.as_ns() };
    let (first, next) = (cost.first.as_ns(), cost.next.as_ns());
    let bytes = |size: u64| (size * cost.per_kib.as_ns()).div_ceil(1_024);
    let sizes: Vec<u64> = scenario
        .requests(scenario.whole(job, 0).expect("an I/O"))
        .flat_map(|request| cut(request, scheduler.piece(&request).unwrap_or(request.size)).collect::<Vec<_>>())
        .map(|piece| piece.size)
        .collect();
    let begin = |number: usize| if number == 0 { first } else { next };
    let services = sizes.iter().enumerate().map(|(number, &size)| begin(number) + bytes(size) + extra(emmc, cost));
    let services: Vec<u64> = services.collect();
    let least = sizes.iter().enumerate().map(|(number, &size)| {
        let begin = if number > 0 && merges(scenario) { first.min(next) } else { begin(number) };
        begin + bytes(size)
    });
    let least: u64 = least.sum();
    let merged = match without {
        Without::Merged => 0,
        _ if !is_merged(scenario, of) => 0,
        Without::Next => first + bytes(scenario.host.max_sectors) + extra(emmc, cost) + turnaround,
        _ => first.max(next) + bytes(scenario.host.max_sectors) + extra(emmc, cost) + turnaround,
    };
    let (apart, pause, thinks) = match of.releases {
        JobReleases::Every { period, jitter } => (period.as_ns() - jitter.as_ns(), 0, false),
        JobReleases::WriteBack(written) => (written.flush.as_ns(), 0, false),
        JobReleases::Flusher => panic!("none is drawn"),
        JobReleases::Closed { think, .. } => {
            let think = think.as_ns();
            (think + least, think, places(of) == 1 && think > scenario.host.turnaround.as_ns())
        }
    };
    Sum {
        level: level(scenario, of),
        is_real_time: of.class == Class::RealTime,
        places: places(of),
        count: of.count.unwrap_or(u64::MAX),
        cost: services.iter().map(|service| service + turnaround).sum(),
        last: *services.last().expect("a command"),
        commands: services.into_iter().map(|service| service + turnaround).collect(),
        merged,
        apart,
        pause,
        is_closed: matches!(of.releases, JobReleases::Closed { .. }),
        thinks,
    }
}

/// Commands that jobs can have outstanding, the most expensive first: cost, whether real-time.
fn outstanding<'a>(jobs: impl Iterator<Item = &'a Sum>) -> Vec<(u64, bool)> {
    let mut all = Vec::new();
    for job in jobs {
        for _ in 0..job.places {
            all.extend(job.commands.iter().map(|&command| (command.max(job.merged), job.is_real_time)));
        }
    }
    all.sort_unstable_by(|one, other| other.cmp(one));
    all
}

/// The cost of the most expensive commands that can be inside: `all` of them, `rest` of those that
/// are not real-time.
fn inside(commands: &[(u64, bool)], mut all: u64, mut rest: u64) -> u64 {
    let mut cost = 0;
    for &(command, is_real_time) in commands {
        if all == 0 || (!is_real_time && rest == 0) {
            continue;
        }
        cost += command;
        all -= 1;
        rest -= u64::from(!is_real_time);
    }
    cost
}

/// A window that begins at a release, or from calm on.
#[derive(Clone, Copy)]
struct Begin {
    from_release: bool,
    /// The work done in it before the release, and its turnarounds.
    earlier: u64,
    gaps: u64,
}

/// The least solution of s = `fixed` and what higher jobs send in s.
fn least(
    higher: &[(Sum, Option<u64>)],
    fixed: u64,
    ahead: u64,
    begin: Begin,
    is_real_time: bool,
    without: Without,
) -> Option<u64> {
    let each = |job: &Sum, response: Option<u64>, s: u64| {
        if !begin.from_release {
            return (s + if job.is_closed { begin.gaps } else { begin.earlier }) / job.apart + 1;
        }
        if without == Without::Pending {
            return s / job.apart;
        }
        let later = (s + job.apart - job.pause) / job.apart + 1;
        response.map_or(later, |response| later.min((s + response).div_ceil(job.apart)))
    };
    let mut s = fixed;
    for _ in 0..STEPS {
        let ios = |of: &(Sum, Option<u64>)| (each(&of.0, of.1, s) * of.0.places).min(of.0.count);
        let all: u64 = higher.iter().map(|of| ios(of) * of.0.commands.len() as u64).sum();
        let sent = higher.iter().map(|of| {
            let mut several = ios(of);
            if of.0.thinks && is_real_time {
                let others = all - several * of.0.commands.len() as u64;
                several = several.min(ahead + others + u64::from(without != Without::Thinking));
            }
            if without == Without::Higher { 0 } else { several * of.0.cost }
        });
        let next = fixed + sent.sum::<u64>();
        if next == s {
            return Some(s);
        }
        s = next;
    }
    None
}

/// A window that needs more steps has no end here.
const STEPS: u32 = 2_000;

/// H1 of a job, nothing clever in it; `None` beyond [`STEPS`].
pub fn plain(scenario: &Scenario, job: usize, without: Without) -> Option<u64> {
    let own = sum(scenario, job, without);
    let of_rank = |wanted: &dyn Fn(u8) -> bool| -> Vec<usize> {
        let level = |job: usize| level(scenario, &scenario.jobs[job]);
        (0..scenario.jobs.len()).filter(|&other| other != job && wanted(level(other))).collect()
    };
    let (above, equals) = (of_rank(&|level| level < own.level), of_rank(&|level| level == own.level));
    let below = of_rank(&|level| level > own.level);
    let sums = |jobs: &[usize]| -> Vec<Sum> { jobs.iter().map(|&job| sum(scenario, job, without)).collect() };
    let higher: Vec<(Sum, Option<u64>)> =
        above.iter().map(|&job| (sum(scenario, job, without), plain(scenario, job, without))).collect();
    let (equals, lower, above) = (sums(&equals), sums(&below), sums(&above));
    let turnaround = if without == Without::Turnaround { 0 } else { scenario.host.turnaround.as_ns() };
    let x = u64::from(k2(scenario).map_or(u32::MAX, |k2| k2.max_inflight).min(emmc(scenario).depth));
    let rest = k2(scenario).and_then(|k2| k2.max_inflight_rest).map_or(x, |rest| x.min(rest.into()));
    let before = if without == Without::Own { 0 } else { own.cost - own.last - turnaround };
    let pending = (own.places - 1) * own.cost + equals.iter().map(|of| of.places * of.cost).sum::<u64>();
    let pending = if without == Without::Equals { 0 } else { pending };
    let ahead = own.places * own.commands.len() as u64 - 1
        + equals.iter().map(|of| of.places * of.commands.len() as u64).sum::<u64>();
    let solve = |fixed, begin| least(&higher, fixed, ahead, begin, own.is_real_time, without);
    let lowers = if without == Without::Inside { 0 } else { inside(&outstanding(lower.iter()), x, rest) };
    let from_release =
        solve(lowers + pending + before, Begin { from_release: true, earlier: 0, gaps: 0 }).map(|s| s + own.last);
    let own_level: Vec<u64> =
        outstanding(equals.iter().chain([&own])).into_iter().map(|(command, _)| command).collect();
    let others = outstanding(lower.iter().chain(&above));
    let mut from_calm = Some(0);
    for done in 0..=x.min(own_level.len() as u64) {
        let left = if without == Without::Inside { 0 } else { inside(&others, x - done, rest.min(x - done)) };
        let earlier = own_level.iter().take(usize::try_from(done).expect("a few")).sum();
        let earlier = if without == Without::Earlier { 0 } else { earlier };
        let begin = Begin { from_release: false, earlier, gaps: done * turnaround };
        let s = solve(left + pending + before, begin).map(|s| s + own.last);
        from_calm = from_calm.and_then(|worst: u64| s.map(|s| worst.max(s)));
    }
    let least = from_release.into_iter().chain(from_calm).min()?;
    Some(if without == Without::Last { least - own.last } else { least })
}

/// Whether the formula says something of a scenario's bounds: what is not real-time does not pile
/// up.
pub fn is_plain(scenario: &Scenario) -> bool {
    scenario.jobs.iter().all(|job| job.class == Class::RealTime || matches!(job.releases, JobReleases::Closed { .. }))
}
