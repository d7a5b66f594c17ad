//! Random search for a broken assumption.
//!
//! A case is drawn, allocated, and, where the analysis promises that it is schedulable, run and
//! judged. Of every assumption that breaks, the first case is shrunk.

mod certified;
mod draw;
mod shrink;

use rayon::prelude::*;
use rtflash_exec::Waits;
use rtflash_exec::check::{CERTIFIED, Finding};

pub use draw::{Case, World};
pub use shrink::shrink;

use crate::case::execute;

/// The case of this seed and number; `None` where the device or the set that was drawn is no
/// is_valid one, or cannot be accepted.
pub fn draw(seed: u64, run: u64, world: World) -> Option<Case> {
    let case = match world {
        World::Sound => certified::draw(seed, run),
        world => draw::draw(seed, run, world),
    };
    case.map(draw::with_adversaries)
}

/// What came of a case.
#[derive(Debug)]
pub enum SoakOutcome {
    /// The analysis promises nothing, or the case cannot be run.
    Nothing,
    /// Promised and run.
    Judged {
        /// What the checkers found.
        findings: Vec<Finding>,
        /// The real-time load of the fullest cluster, in millionths; with certificates only.
        load: u64,
    },
}

/// Allocates a case and, if that is said to be schedulable, runs it.
pub fn judge(case: &Case) -> SoakOutcome {
    let outcome = case.allocator.allocate(&case.set, case.analysis);
    let Some(allocation) = outcome.allocation().filter(|_| outcome.is_schedulable() == Some(true)) else {
        return SoakOutcome::Nothing;
    };
    let mut options = case.options.clone();
    if !rtflash_alloc::certified::is_independent(&case.set, allocation) {
        // What was tested next to its neighbours is promised next to them only.
        options.placed.waits = Waits::Actual;
    }
    match execute(&case.set, allocation, case.analysis, &options, None) {
        Ok(executed) => SoakOutcome::Judged {
            findings: executed.findings,
            load: rtflash_alloc::certified::load_millionths(&case.set, allocation, case.analysis.relies_on()),
        },
        Err(_) => SoakOutcome::Nothing,
    }
}

/// An assumption that broke.
pub struct Broken {
    /// Its position in [`CERTIFIED`], of which the first are `ASSUMPTIONS`.
    pub assumption: usize,
    /// In how many runs it did.
    pub runs: u64,
    /// The first case, by number.
    pub first: u64,
    /// The smallest case found.
    pub smallest: Case,
    /// What was found in it.
    pub finding: Finding,
}

/// What a search came to.
pub struct Soaked {
    /// Cases that the analysis accepts and that were run.
    pub judged: u64,
    /// The mean real-time load of the fullest cluster of each, in millionths; zero where there are
    /// no certificates.
    pub load: u64,
    /// The assumptions that broke, in the order of [`CERTIFIED`].
    pub broken: Vec<Broken>,
}

/// Draws `runs` cases of a seed and judges them, on the threads of the current rayon pool; the
/// result does not depend on how many there are.
pub fn soak(seed: u64, runs: u64, world: World) -> Soaked {
    soak_watched(seed, runs, world, &|| ())
}

/// As [`soak`]. `over` is called whenever a case is over, on any thread; cases that are shrunk in
/// the end are not counted.
pub fn soak_watched(seed: u64, runs: u64, world: World, over: &(dyn Fn() + Sync)) -> Soaked {
    let verdict = |run: u64| match draw(seed, run, world).map(|case| judge(&case)) {
        Some(SoakOutcome::Judged { findings, load }) => {
            Some((findings.iter().map(|finding| u64::from(!finding.gauge.holds())).collect::<Vec<u64>>(), load))
        }
        _ => None,
    };
    // For each assumption how often it broke, and the first time; how many were judged; and the sum
    // of their loads.
    type Tally = (u64, u64, Vec<(u64, Option<u64>)>);
    let none = || (0, 0, vec![(0, None); CERTIFIED.len()]);
    let add = |(judged, loads, mut tally): Tally, run: u64| {
        let verdict = verdict(run);
        over();
        let Some((broken, load)) = verdict else { return (judged, loads, tally) };
        for (count, broke) in tally.iter_mut().zip(broken) {
            count.0 += broke;
            if broke > 0 {
                count.1 = Some(count.1.map_or(run, |first: u64| first.min(run)));
            }
        }
        (judged + 1, loads + load, tally)
    };
    let join = |(a, x, mut left): Tally, (b, y, right): Tally| {
        for (all, one) in left.iter_mut().zip(right) {
            all.0 += one.0;
            all.1 = [all.1, one.1].into_iter().flatten().min();
        }
        (a + b, x + y, left)
    };
    let (judged, loads, tally) = (0..runs).into_par_iter().fold(none, add).reduce(none, join);
    let firsts: Vec<(usize, u64, u64)> = tally
        .into_iter()
        .enumerate()
        .filter_map(|(assumption, (runs, first))| Some((assumption, runs, first?)))
        .collect();
    let broken = firsts.into_par_iter().filter_map(|(assumption, runs, first)| {
        let (smallest, finding) = shrink(draw(seed, first, world)?, assumption)?;
        Some(Broken { assumption, runs, first, smallest, finding })
    });
    Soaked { judged, load: loads / judged.max(1), broken: broken.collect() }
}
