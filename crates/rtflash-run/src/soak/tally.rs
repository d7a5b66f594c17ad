//! Many cases: how often which assumption broke.

use std::collections::BTreeMap;

use rayon::prelude::*;
use rtflash_judge::{Assumption, Finding};

use super::{Case, Search, SoakOutcome, draw, judge, shrink};

/// An assumption that broke.
pub struct Broken {
    /// In how many runs it did.
    pub runs: u64,
    /// The first case, by number.
    pub first: u64,
    /// The smallest case found.
    pub smallest: Case,
    /// The finding in it.
    pub finding: Finding,
}

/// Called on any thread. A function of a number of cases never stops the search.
pub trait SoakWatch: Sync {
    /// `cases` more cases are over. Cases that are shrunk in the end are not counted.
    fn over(&self, cases: u64);

    /// Cases that have begun are ended; broken ones shrink no further.
    fn stops(&self) -> bool {
        false
    }
}

impl<F: Fn(u64) + Sync> SoakWatch for F {
    fn over(&self, cases: u64) {
        self(cases);
    }
}

/// The outcome of a search.
pub struct Soaked {
    /// Cases that are over: fewer than asked for if the search was stopped.
    pub cases: u64,
    /// Sets that the analysis accepts.
    pub sets: u64,
    /// Cases that the analysis accepts and that were run.
    pub judged: u64,
    /// The mean load of each set's fullest cluster, in millionths; zero without certificates.
    pub load: u64,
    /// The assumptions that broke, in the order of [`Assumption`].
    pub broken: Vec<Broken>,
}

/// In how many runs something failed, and the first of them.
#[derive(Debug, Clone, Copy, Default)]
pub struct FailedRuns {
    /// How many.
    pub runs: u64,
    /// The first, by number.
    pub first: Option<u64>,
}

impl FailedRuns {
    fn add(&mut self, other: FailedRuns) {
        self.runs += other.runs;
        self.first = [self.first, other.first].into_iter().flatten().min();
    }
}

/// The outcome of the runs of some sets.
#[derive(Debug, Clone, Default)]
pub struct SoakTally {
    /// Cases that are over.
    pub cases: u64,
    /// Sets that are accepted.
    pub sets: u64,
    /// Runs of them.
    pub judged: u64,
    /// The sum over the sets.
    pub load: u64,
    /// Those in which a request or a job of garbage collection was late.
    pub late: FailedRuns,
    /// The runs that failed, for each assumption that broke.
    pub broken: BTreeMap<Assumption, FailedRuns>,
}

impl SoakTally {
    /// Counts what was found in a run.
    pub fn note(&mut self, run: u64, findings: &[Finding]) {
        let one = FailedRuns { runs: 1, first: Some(run) };
        let mut late = false;
        for finding in findings.iter().filter(|finding| !finding.gauge.holds()) {
            self.broken.entry(finding.assumption).or_default().add(one);
            late |= matches!(finding.assumption, Assumption::Deadlines | Assumption::Overdue);
        }
        self.judged += 1;
        if late {
            self.late.add(one);
        }
    }

    fn join(mut self, other: SoakTally) -> SoakTally {
        self.cases += other.cases;
        self.sets += other.sets;
        self.judged += other.judged;
        self.load += other.load;
        self.late.add(other.late);
        other.broken.into_iter().for_each(|(assumption, runs)| self.broken.entry(assumption).or_default().add(runs));
        self
    }

    /// The first case of each assumption that broke, shrunk. `case` has the case of a number.
    pub fn shrunk(self, case: &(dyn Fn(u64) -> Option<Case> + Sync), watch: &dyn SoakWatch) -> Soaked {
        let broken = self.broken.into_par_iter().filter_map(|(assumption, FailedRuns { runs, first })| {
            let first = first?;
            let (smallest, finding) = shrink(case(first)?, assumption, &judge, &|| watch.stops())?;
            Some(Broken { runs, first, smallest, finding })
        });
        let load = self.load / self.sets.max(1);
        Soaked { cases: self.cases, sets: self.sets, judged: self.judged, load, broken: broken.collect() }
    }
}

/// The tallies of `sets` sets, on the current rayon pool, in any number of threads.
pub fn tally(sets: u64, watch: &dyn SoakWatch, of: &(dyn Fn(u64) -> SoakTally + Sync)) -> SoakTally {
    let of = |set: u64| {
        let tally = of(set);
        watch.over(tally.cases);
        tally
    };
    // Begun in order: a search that is stopped is one of fewer cases.
    let sets = (0..sets).take_while(|_| !watch.stops());
    sets.par_bridge().map(of).reduce(SoakTally::default, SoakTally::join)
}

/// Draws `runs` cases and judges them, as [`tally`] does.
pub fn soak(search: Search, runs: u64, watch: &dyn SoakWatch) -> Soaked {
    let of = |run: u64| {
        let mut tally = SoakTally { cases: 1, ..SoakTally::default() };
        if let Some(SoakOutcome::Judged { findings, load }) = draw(search, run).map(|case| judge(&case)) {
            tally.note(run, &findings);
            (tally.sets, tally.load) = (1, load);
        }
        tally
    };
    tally(runs, watch, &of).shrunk(&|run| draw(search, run), watch)
}
