//! The runs of a set at the limit: under everything that is meant to break its promise.

use std::sync::Arc;

use rtflash_model::random::Stream;
use rtflash_model::{Instant, Span, TaskSet, capped};
use rtflash_plan::{
    Aging, Options, Pattern, Phases, Placed, Recurrence, ReleasePattern, Service, Times, Victims, Waits,
};
use rtflash_run::soak::faults;
use rtflash_trace::Kind;

use super::limit::LimitSet;
use crate::climb::{ClimbOptions, OnExecutor, climb};

/// Pages that a run may take, about.
const PAGES: u64 = 800;
const MOVES: u64 = 80;

/// `climbs`: releases move towards late ends of one request, each in its turn.
pub(super) fn options(seed: u64, run: u64, limit: &LimitSet, climbs: bool) -> Option<Options> {
    let mut rng = Stream::numbered(seed, b"attack\0\0", run);
    let duration = Instant::from_ns(duration(limit))?;
    let options = Options {
        duration,
        service: rng.one_of(&[Service::Tbs, Service::Tbs, Service::Background]),
        victims: rng.one_of(&[Victims::Actual, Victims::Worst]),
        aging: rng.one_of(&[Aging::Worst, Aging::Worst, Aging::Worst, Aging::Random, Aging::Fresh]),
        pattern: rng.one_of(&[
            Pattern::Uniform,
            Pattern::Sequential,
            Pattern::HotCold,
            Pattern::OneChip,
            Pattern::Fullest,
            Pattern::Fullest,
        ]),
        times: if limit.varies { rng.one_of(&[Times::Worst, Times::Best, Times::Random]) } else { Times::Worst },
        seed: rng.within(0, u64::MAX - 1),
        placed: Placed {
            backfill: rng.within(0, 1) == 0,
            waits: rng.one_of(&[Waits::Actual, Waits::Actual, Waits::Worst]),
            faults: faults(&limit.set, seed, run),
        },
        phases: rng.one_of(&[Phases::Periodic, Phases::AtErases, Phases::AtErases, Phases::Random]),
        recurrence: rng.one_of(&[Recurrence::Periodic, Recurrence::Periodic, Recurrence::Sporadic]),
        ..Options::default()
    };
    let options = if limit.analysis.name() == "zoned" { at_any_page(seed, run, options) } else { options };
    if climbs {
        return climbed(seed, run, limit, options);
    }
    let releases = match rng.within(0, 1) {
        0 => None,
        _ => Some(Arc::new(releases(&mut rng, &limit.set)?)),
    };
    Some(Options { releases, ..options })
}

/// In most runs, so that resets come together, or one behind another.
fn at_any_page(seed: u64, run: u64, options: Options) -> Options {
    let mut rng = Stream::numbered(seed, b"at-pages", run);
    Options { aging: rng.one_of(&[Aging::Worst, Aging::Random, Aging::Random, Aging::Random, Aging::Fresh]), ..options }
}

fn climbed(seed: u64, run: u64, limit: &LimitSet, options: Options) -> Option<Options> {
    let LimitSet { set, allocation, analysis, .. } = limit;
    let options = Options { phases: Phases::Periodic, recurrence: Recurrence::Periodic, ..options };
    let on = OnExecutor::new(set, allocation, *analysis, options, Span::NANOSECOND).ok()?;
    let count = on.names().count() as u64;
    // In a queue the one that is looked at most of the time.
    let number = if limit.watches_last && !run.is_multiple_of(4) { last_read(&on) } else { run % count };
    let watched = usize::try_from(number).expect("a place in a list");
    let options = ClimbOptions { seed: seed ^ run, starts: 1, moves: MOVES, until_late: true };
    Some(on.options(&climb(&on, watched, options).arrivals))
}

fn last_read(on: &OnExecutor) -> u64 {
    let place = on.names().enumerate().filter(|(_, name)| name.ends_with(".read")).last();
    place.map_or(0, |(place, _)| place as u64)
}

/// First requests within two of the shortest periods, gaps of some nanoseconds, in some runs none.
fn releases(rng: &mut Stream, set: &TaskSet) -> Option<ReleasePattern> {
    const GAPS: u64 = 8;
    let requests = || set.tasks().iter().flat_map(|task| task.requests()).map(|(request, _)| request);
    let shortest = requests().map(|request| request.period().as_ns()).min()?;
    let most = rng.one_of(&[0, 0, 8]);
    let mut pattern = ReleasePattern::default();
    for (id, task) in set.tasks().enumerate() {
        for (request, writes) in task.requests() {
            let within = request.period().as_ns().min(2 * shortest);
            let stated = pattern.request_mut(id, if writes { Kind::Write } else { Kind::Read });
            stated.offset = Some(Span::from_ns(rng.within(0, within - 1))?);
            stated.gaps = (0..GAPS).map(|_| Span::from_ns(rng.within(0, most))).collect::<Option<Vec<Span>>>()?;
        }
    }
    Some(pattern)
}

/// About [`PAGES`] pages, and at least four periods of the most frequent request; in a queue four
/// periods of the read that is looked at.
fn duration(limit: &LimitSet) -> u64 {
    let set = &limit.set;
    if limit.watches_last {
        let watched = set.tasks().iter().last().and_then(|task| task.read).expect("the last chip reads");
        return 4 * watched.period().as_ns();
    }
    let requests = || set.tasks().iter().flat_map(|task| task.requests()).map(|(request, _)| request);
    let at_once: u64 = requests().map(|request| request.pages()).sum();
    let longest = requests().map(|request| request.period().as_ns()).max().expect("a task has a request");
    let shortest = requests().map(|request| request.period().as_ns()).min().expect("a task has a request");
    // Pages within the longest period.
    let pages: u64 = requests().map(|of| of.pages().saturating_mul(longest / of.period().as_ns())).sum();
    let budget = PAGES.saturating_sub(at_once);
    let duration = u128::from(longest) * u128::from(budget) / u128::from(pages.max(1));
    capped(duration).clamp(shortest.saturating_mul(4), longest.saturating_mul(12).max(shortest.saturating_mul(4)))
}
