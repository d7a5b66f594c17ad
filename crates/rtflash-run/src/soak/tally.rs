//! Many cases: how often which assumption broke.

use std::collections::BTreeMap;

use rayon::prelude::*;
use rtflash_analysis::certified::{Term, load_millionths};
use rtflash_judge::{Assumption, Finding};

use super::{Case, LimitSet, Search, SoakOutcome, attack, directed, draw, judge, run, shrink, waits_as_it_may};

/// An assumption that broke.
pub struct Broken {
    /// In how many runs it did.
    pub runs: u64,
    /// The first case, by number.
    pub first: u64,
    /// The smallest case found.
    pub smallest: Case,
    /// What was found in it.
    pub finding: Finding,
}

/// An observer of a search under way, called on any thread. A function of a number of cases is an
/// observer that never stops the search.
pub trait SoakWatch: Sync {
    /// `cases` more cases are over. Cases that are shrunk in the end are not counted.
    fn over(&self, cases: u64);

    /// Whether the search is to end. Cases that have begun are ended; broken ones shrink no
    /// further.
    fn stops(&self) -> bool {
        false
    }
}

impl<F: Fn(u64) + Sync> SoakWatch for F {
    fn over(&self, cases: u64) {
        self(cases);
    }
}

/// What a search came to.
pub struct Soaked {
    /// Cases that are over: fewer than asked for if the search was stopped.
    pub cases: u64,
    /// Sets that the analysis accepts.
    pub sets: u64,
    /// Cases that the analysis accepts and that were run.
    pub judged: u64,
    /// The mean real-time load of the fullest cluster of each set, in millionths; zero where there
    /// are no certificates.
    pub load: u64,
    /// The assumptions that broke, in the order of [`Assumption`].
    pub broken: Vec<Broken>,
}

/// What a search with a term left out of the test came to. Nothing of it was promised.
pub struct LeftOut {
    /// What was left out.
    pub term: Term,
    /// Cases that are over: fewer than asked for if the search was stopped.
    pub cases: u64,
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

/// How often something happened, and the first case in which it did.
#[derive(Debug, Clone, Copy, Default)]
struct Count {
    runs: u64,
    first: Option<u64>,
}

impl Count {
    fn note(&mut self, run: u64) {
        self.add(Count { runs: 1, first: Some(run) });
    }

    fn add(&mut self, other: Count) {
        self.runs += other.runs;
        self.first = [self.first, other.first].into_iter().flatten().min();
    }
}

/// What the runs of some sets came to.
#[derive(Debug, Clone, Default)]
struct SoakTally {
    cases: u64,
    sets: u64,
    judged: u64,
    /// The sum over the sets.
    load: u64,
    late: Count,
    /// Of each assumption that broke.
    broken: BTreeMap<Assumption, Count>,
}

impl SoakTally {
    fn note(&mut self, run: u64, findings: &[Finding]) {
        self.judged += 1;
        let broken = findings.iter().filter(|finding| !finding.gauge.holds());
        let broken: Vec<Assumption> = broken.map(|finding| finding.assumption).collect();
        broken.iter().for_each(|&assumption| self.broken.entry(assumption).or_default().note(run));
        if broken.iter().any(|broken| matches!(broken, Assumption::Deadlines | Assumption::Overdue)) {
            self.late.note(run);
        }
    }

    /// The assumptions that broke, how often, and the first runs in which they did.
    fn firsts(&self) -> Vec<(Assumption, u64, u64)> {
        self.broken.iter().filter_map(|(&assumption, count)| Some((assumption, count.runs, count.first?))).collect()
    }

    fn join(mut self, other: SoakTally) -> SoakTally {
        self.cases += other.cases;
        self.sets += other.sets;
        self.judged += other.judged;
        self.load += other.load;
        self.late.add(other.late);
        other.broken.into_iter().for_each(|(assumption, count)| self.broken.entry(assumption).or_default().add(count));
        self
    }
}

/// Draws `runs` cases and judges them, on the threads of the current rayon pool; the
/// result does not depend on how many there are. Where a set is run many times, the last one is run
/// as often as the others.
pub fn soak(search: Search, runs: u64) -> Soaked {
    soak_watched(search, runs, &|_: u64| ())
}

/// As [`soak`], with an observer that can stop it.
pub fn soak_watched(search: Search, runs: u64, watch: &dyn SoakWatch) -> Soaked {
    let tally = tally(search, runs, watch);
    let broken = tally.firsts().into_par_iter().filter_map(|(assumption, runs, first)| {
        let (smallest, finding) = shrink(draw(search, first)?, assumption, &|| watch.stops())?;
        Some(Broken { runs, first, smallest, finding })
    });
    let load = tally.load / tally.sets.max(1);
    Soaked { cases: tally.cases, sets: tally.sets, judged: tally.judged, load, broken: broken.collect() }
}

/// As [`soak_watched`], with a term left out of the world's test.
pub fn soak_without(search: Search, runs: u64, term: Term, watch: &dyn SoakWatch) -> LeftOut {
    let search = Search { left_out: Some(term), ..search };
    let tally = tally(search, runs, watch);
    let firsts = tally.firsts();
    // The first late run, else the first in which anything broke.
    let late = firsts.iter().find(|&&(_, _, first)| Some(first) == tally.late.first);
    let shown = late.or_else(|| firsts.iter().min_by_key(|&&(_, _, first)| first));
    let smallest = shown.and_then(|&(assumption, _, first)| {
        let (smallest, _) = shrink(draw(search, first)?, assumption, &|| watch.stops())?;
        Some(smallest)
    });
    LeftOut {
        term,
        cases: tally.cases,
        sets: tally.sets,
        judged: tally.judged,
        late: tally.late.runs,
        first: shown.map(|&(_, _, first)| first),
        broken: firsts.into_iter().map(|(assumption, runs, _)| (assumption, runs)).collect(),
        smallest,
    }
}

fn tally(search: Search, runs: u64, watch: &dyn SoakWatch) -> SoakTally {
    let of = |set: u64| {
        let mut tally = SoakTally::default();
        if search.world.runs_of_a_set() > 1 {
            run_set(search, set, &mut tally);
        } else if let Some(SoakOutcome::Judged { findings, load }) = draw(search, set).map(|case| judge(&case)) {
            tally.note(set, &findings);
            (tally.sets, tally.load) = (1, load);
        }
        tally.cases = search.world.runs_of_a_set();
        watch.over(tally.cases);
        tally
    };
    // Begun in order: a search that is stopped is one of fewer cases.
    let sets = (0..runs.div_ceil(search.world.runs_of_a_set())).take_while(|_| !watch.stops());
    sets.par_bridge().map(of).reduce(SoakTally::default, SoakTally::join)
}

/// All runs of a set at the limit.
fn run_set(search: Search, number: u64, tally: &mut SoakTally) {
    let Search { seed, world, left_out, climbs } = search;
    let Some(limit) = directed::set_at_the_limit(seed, number, world, left_out) else { return };
    let first = number * world.runs_of_a_set();
    let options: Vec<_> =
        (first..first + world.runs_of_a_set()).map(|run| (run, attack::options(seed, run, &limit, climbs))).collect();
    let LimitSet { set, allocator, analysis, left_out, allocation, .. } = limit;
    tally.sets = 1;
    if left_out.is_none() {
        tally.load = load_millionths(&set, &allocation, analysis.relies_on());
    }
    let mut case = Case { seed, run: first, set, allocator, analysis, options: Default::default(), left_out };
    let may_wait = waits_as_it_may(&case, &allocation);
    for (number, options) in options {
        let Some(options) = options else { continue };
        (case.run, case.options) = (number, options);
        if let Some(findings) = run(&case, &allocation, may_wait) {
            tally.note(number, &findings);
        }
    }
}
