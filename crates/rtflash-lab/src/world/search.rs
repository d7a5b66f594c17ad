//! Sets at the limit, run many times.

use rtflash_analysis::certified::load_millionths;
use rtflash_judge::Assumption;
use rtflash_run::soak::{Case, FailedRuns, SoakOutcome, SoakTally, SoakWatch, Soaked, judge_allocated, shrink, tally};

use super::limit::{LimitSet, accepted};
use super::{SmallWorld, attack, carried, copied, drained, limit, told};

/// The settings of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SmallSearch {
    /// The seed of the randomness.
    pub seed: u64,
    /// A world that cases are drawn from.
    pub world: SmallWorld,
    /// The term, one of [`SmallWorld::terms`], that is left out of the world's test.
    pub left_out: Option<&'static str>,
    /// Whether releases are not drawn but moved towards late ends.
    pub climbs: bool,
}

/// The outcome of a search with a term left out of the test. Nothing of it was promised.
pub struct LeftOut {
    /// Sets that the test accepts so.
    pub sets: u64,
    /// Runs of them.
    pub judged: u64,
    /// Runs in which a request or a job of garbage collection was late.
    pub late: u64,
    /// The first of these, else the first run in which anything broke.
    pub first: Option<u64>,
    /// The assumptions that broke, and in how many runs.
    pub broken: Vec<(Assumption, u64)>,
    /// A small case in which the first of them breaks.
    pub smallest: Option<Case>,
}

/// Among those that show what the term left out is for, if others seldom do.
fn limit_set(SmallSearch { seed, world, left_out, .. }: SmallSearch, number: u64) -> Option<LimitSet> {
    use SmallWorld::{Command, Mixed, Queue, QueueCommand, Register, RegisterCommand, Stripe, Superblock};
    match (left_out, world) {
        (Some("carry-in"), Stripe | Queue | Register | Mixed | Superblock) => {
            carried::draw(seed, number, world, left_out)
        }
        (Some("last-page"), Register) => drained::draw(seed, number, left_out),
        (Some("commands"), Command | QueueCommand | RegisterCommand) => copied::draw(seed, number, world, left_out),
        (_, QueueCommand) => told::draw(seed, number, left_out),
        _ => limit::draw(seed, number, world, left_out),
    }
}

/// A run of a set; `None` where a climber cannot run it.
fn case_of(SmallSearch { seed, climbs, .. }: SmallSearch, run: u64, limit: &LimitSet) -> Option<Case> {
    let options = attack::options(seed, run, limit, climbs)?;
    Some(Case { seed, run, set: limit.set.clone(), allocator: limit.allocator, analysis: limit.analysis, options })
}

/// `None` where what was drawn is not valid, or cannot be accepted.
pub fn case(search: SmallSearch, run: u64) -> Option<Case> {
    case_of(search, run, &limit_set(search, run / SmallWorld::RUNS_OF_A_SET)?)
}

/// Runs a case if its set is accepted, with this term left out of the test.
pub fn judge(case: &Case, left_out: Option<&'static str>) -> SoakOutcome {
    match left_out {
        None => rtflash_run::soak::judge(case),
        Some(_) => accepted(&case.set, case.allocator, case.analysis, left_out)
            .map_or(SoakOutcome::Nothing, |allocation| judge_allocated(case, &allocation)),
    }
}

/// Draws `runs` cases on the current rayon pool; the last set is run as often as the others.
pub fn soak_small(search: SmallSearch, runs: u64, watch: &dyn SoakWatch) -> Soaked {
    all_runs(search, runs, watch).shrunk(&|run| case(search, run), watch)
}

/// As [`soak_small`], with a term left out of the world's test.
pub fn soak_without(search: SmallSearch, runs: u64, watch: &dyn SoakWatch) -> LeftOut {
    let SoakTally { sets, judged, late, broken, .. } = all_runs(search, runs, watch);
    // The first late run, else the first in which anything broke.
    let shown = broken.iter().find(|(_, runs)| runs.first == late.first);
    let shown = shown.or_else(|| broken.iter().min_by_key(|(_, runs)| runs.first));
    let smallest = shown.and_then(|(&assumption, FailedRuns { first, .. })| {
        let judge = |case: &Case| judge(case, search.left_out);
        Some(shrink(case(search, (*first)?)?, assumption, &judge, &|| watch.stops())?.0)
    });
    LeftOut {
        sets,
        judged,
        late: late.runs,
        first: shown.and_then(|(_, runs)| runs.first),
        broken: broken.iter().map(|(&assumption, runs)| (assumption, runs.runs)).collect(),
        smallest,
    }
}

fn all_runs(search: SmallSearch, runs: u64, watch: &dyn SoakWatch) -> SoakTally {
    let sets = runs.div_ceil(SmallWorld::RUNS_OF_A_SET);
    tally(sets, watch, &|set| run_set(search, set))
}

fn run_set(search: SmallSearch, number: u64) -> SoakTally {
    let mut tally = SoakTally { cases: SmallWorld::RUNS_OF_A_SET, ..SoakTally::default() };
    let Some(limit) = limit_set(search, number) else { return tally };
    tally.sets = 1;
    if search.left_out.is_none() {
        tally.load = load_millionths(&limit.set, &limit.allocation, limit.analysis.relies_on());
    }
    let first = number * SmallWorld::RUNS_OF_A_SET;
    for run in first..first + SmallWorld::RUNS_OF_A_SET {
        let judged = case_of(search, run, &limit).map(|case| judge_allocated(&case, &limit.allocation));
        if let Some(SoakOutcome::Judged { findings, .. }) = judged {
            tally.note(run, &findings);
        }
    }
    tally
}
