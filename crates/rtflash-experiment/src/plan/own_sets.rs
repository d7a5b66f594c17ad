//! Task sets of your own, in the place of random ones.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use rtflash_analysis::{Analysis, Fraction, Rational};
use rtflash_model::TaskSet;
use rtflash_model::generate::Utilization;

/// One in billionths.
const ONE: u128 = 1_000_000_000;

/// Task sets, those of a point in a row.
#[derive(Debug, Clone)]
pub struct OwnSets {
    sets: Arc<[TaskSet]>,
    points: Arc<[Range<u64>]>,
}

impl OwnSets {
    /// Sorts sets to points: the multiples of `step`, one at least, that are nearest to their
    /// utilizations; of two the lower one.
    pub(super) fn new(sets: Vec<TaskSet>, analysis: &dyn Analysis, step: Utilization) -> (OwnSets, Vec<Utilization>) {
        let mut at: BTreeMap<u64, Vec<TaskSet>> = BTreeMap::new();
        for set in sets {
            at.entry(steps(&set, analysis, step)).or_default().push(set);
        }
        let (mut sets, mut points, mut utilizations) = (Vec::new(), Vec::new(), Vec::new());
        for (steps, mut some) in at {
            let first = sets.len() as u64;
            sets.append(&mut some);
            points.push(first..sets.len() as u64);
            utilizations.extend(Utilization::from_billionths(steps * step.billionths()));
        }
        (OwnSets { sets: sets.into(), points: points.into() }, utilizations)
    }

    /// All sets, those of a point in a row.
    pub fn all(&self) -> &[TaskSet] {
        &self.sets
    }

    pub(super) fn points(&self) -> &[Range<u64>] {
        &self.points
    }
}

/// Σ(pages · cost)/T of all requests, as sets are generated, in steps.
fn steps(set: &TaskSet, analysis: &dyn Analysis, step: Utilization) -> u64 {
    let costs = analysis.page_costs(set.device());
    let twice =
        |pages: u64, cost: u64, period: u64| Fraction::new(2 * u128::from(pages) * u128::from(cost), period.into());
    let requests = set.tasks().iter().flat_map(|task| {
        let read = task.read.map(|read| twice(read.pages(), costs.read.as_ns(), read.period().as_ns()));
        let write = task.write.map(|write| twice(write.pages(), costs.write.as_ns(), write.period().as_ns()));
        read.into_iter().chain(write)
    });
    let terms: Vec<Fraction> = requests.collect();
    let step_of = |times: u128| Rational::from(Fraction::new(times * u128::from(step.billionths()), ONE));
    let nearest = Rational::sum(&terms).minus(&step_of(1));
    let nearest = nearest.map_or(Some(1), |rest| rest.ceil_quotient(&step_of(2)));
    let most = Utilization::MOST.billionths() / step.billionths();
    nearest.map_or(most, |nearest| nearest.clamp(1, most))
}
