//! Random search for a broken assumption.
//!
//! A case is drawn, allocated, and, where the analysis promises that it is schedulable, run and judged. Of every assumption that breaks,
//! the first case is shrunk.

mod draw;
mod shrink;

use rayon::prelude::*;
use rtflash_exec::check::{ASSUMPTIONS, Finding};

pub use draw::{Case, World, draw};
pub use shrink::shrink;

use crate::case::execute;

/// What came of a case.
#[derive(Debug)]
pub enum Outcome {
    /// The analysis promises nothing, or the case cannot be run.
    Nothing,
    /// Promised and run: what the checkers found.
    Judged(Vec<Finding>),
}

/// Allocates a case and, if that is said to be schedulable, runs it.
pub fn judge(case: &Case) -> Outcome {
    let outcome = case.allocator.allocate(&case.set, case.analysis);
    let Some(allocation) = outcome.allocation().filter(|_| outcome.is_schedulable() == Some(true)) else {
        return Outcome::Nothing;
    };
    match execute(&case.set, allocation, case.analysis, &case.options, None) {
        Ok(executed) => Outcome::Judged(executed.findings),
        Err(_) => Outcome::Nothing,
    }
}

/// An assumption that broke.
pub struct Broken {
    /// Its position in [`ASSUMPTIONS`].
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
    /// The assumptions that broke, in the order of [`ASSUMPTIONS`].
    pub broken: Vec<Broken>,
}

/// Draws `runs` cases of a seed and judges them, on the threads of the current rayon pool; the result does not depend on how many there are.
pub fn soak(seed: u64, runs: u64, world: World) -> Soaked {
    let verdict = |run: u64| match draw(seed, run, world).map(|case| judge(&case)) {
        Some(Outcome::Judged(findings)) => {
            Some(findings.iter().map(|finding| u64::from(!finding.gauge.holds())).collect::<Vec<u64>>())
        }
        _ => None,
    };
    // For each assumption how often it broke, and the first time; and how many were judged.
    type Tally = (u64, Vec<(u64, Option<u64>)>);
    let none = || (0, vec![(0, None); ASSUMPTIONS.len()]);
    let add = |(judged, mut tally): Tally, run: u64| match verdict(run) {
        None => (judged, tally),
        Some(broken) => {
            for (count, broke) in tally.iter_mut().zip(broken) {
                count.0 += broke;
                if broke > 0 {
                    count.1 = Some(count.1.map_or(run, |first: u64| first.min(run)));
                }
            }
            (judged + 1, tally)
        }
    };
    let join = |(a, mut left): Tally, (b, right): Tally| {
        for (all, one) in left.iter_mut().zip(right) {
            all.0 += one.0;
            all.1 = [all.1, one.1].into_iter().flatten().min();
        }
        (a + b, left)
    };
    let (judged, tally) = (0..runs).into_par_iter().fold(none, add).reduce(none, join);
    let firsts: Vec<(usize, u64, u64)> = tally
        .into_iter()
        .enumerate()
        .filter_map(|(assumption, (runs, first))| Some((assumption, runs, first?)))
        .collect();
    let broken = firsts.into_par_iter().filter_map(|(assumption, runs, first)| {
        let (smallest, finding) = shrink(draw(seed, first, world)?, assumption)?;
        Some(Broken { assumption, runs, first, smallest, finding })
    });
    Soaked { judged, broken: broken.collect() }
}
