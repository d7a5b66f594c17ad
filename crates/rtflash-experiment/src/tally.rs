//! The counts at a point: whole numbers, whose sums do not depend on the order of the sets.

use serde::{Deserialize, Serialize};

use crate::plan::{Measure, Plan};

/// How two contenders fare on the sets of which both can tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(from = "[u64; 4]", into = "[u64; 4]")]
pub struct Pair {
    /// Sets that both schedule.
    pub both: u64,
    /// Sets that only the first schedules.
    pub first: u64,
    /// Sets that only the second schedules.
    pub second: u64,
    /// Sets that neither schedules.
    pub neither: u64,
}

impl From<[u64; 4]> for Pair {
    fn from([both, first, second, neither]: [u64; 4]) -> Pair {
        Pair { both, first, second, neither }
    }
}

impl From<Pair> for [u64; 4] {
    fn from(pair: Pair) -> [u64; 4] {
        [pair.both, pair.first, pair.second, pair.neither]
    }
}

impl Pair {
    /// All sets.
    pub fn sets(&self) -> u64 {
        self.both + self.first + self.second + self.neither
    }

    /// Both together.
    pub fn add(&mut self, other: &Pair) {
        self.both += other.both;
        self.first += other.first;
        self.second += other.second;
        self.neither += other.neither;
    }
}

/// The outcome of the runs with one kind of job.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Runs {
    /// Sets run: all that every contender schedules.
    pub sets: u64,
    /// For each contender: pages of jobs served, in all runs.
    pub pages: Vec<u64>,
    /// For each pair of contenders i ≤ j, in order: the sum over all sets of the product of their
    /// pages.
    #[serde(with = "decimal")]
    pub products: Vec<u128>,
    /// For each contender: deadlines of real-time requests that were missed, in all runs.
    pub misses: Vec<u64>,
}

impl Runs {
    /// Counts a set: the pages and misses of each contender.
    pub fn count(&mut self, pages: &[u64], misses: &[u64]) {
        self.sets += 1;
        add(&mut self.pages, pages);
        add(&mut self.misses, misses);
        let products = pairs(pages.len(), true).map(|(i, j)| u128::from(pages[i]) * u128::from(pages[j]));
        for (sum, product) in self.products.iter_mut().zip(products) {
            *sum = sum.saturating_add(product);
        }
    }

    fn add(&mut self, other: &Runs) {
        self.sets += other.sets;
        add(&mut self.pages, &other.pages);
        add(&mut self.misses, &other.misses);
        for (sum, product) in self.products.iter_mut().zip(&other.products) {
            *sum = sum.saturating_add(*product);
        }
    }
}

fn add(sums: &mut [u64], terms: &[u64]) {
    for (sum, term) in sums.iter_mut().zip(terms) {
        *sum = sum.saturating_add(*term);
    }
}

/// Positions (i, j) with i < j (or i ≤ j) < `count`, in order.
pub fn pairs(count: usize, with_itself: bool) -> impl Iterator<Item = (usize, usize)> {
    (0..count).flat_map(move |i| (i + usize::from(!with_itself)..count).map(move |j| (i, j)))
}

/// The counts at a point.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tally {
    /// Sets drawn, for all contenders.
    pub sets: u64,
    /// Sets that could not be drawn, for some contender at least.
    pub exhausted: u64,
    /// For each contender: sets of which it can tell whether they are schedulable.
    #[serde(rename = "told")]
    pub decided: Vec<u64>,
    /// For each contender: sets that it schedules.
    pub yes: Vec<u64>,
    /// For each pair of contenders i < j, in order.
    pub pairs: Vec<Pair>,
    /// For each kind of job, read-only and write-only; none where no jobs are run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub runs: Vec<Runs>,
    /// Sets that every contender schedules and the executor cannot run.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub not_run: u64,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl Tally {
    /// Nothing counted yet, for the contenders of a plan.
    pub fn new(plan: &Plan) -> Tally {
        let count = plan.contenders().len();
        let runs = Runs {
            sets: 0,
            pages: vec![0; count],
            products: vec![0; pairs(count, true).count()],
            misses: vec![0; count],
        };
        Tally {
            decided: vec![0; count],
            yes: vec![0; count],
            pairs: vec![Pair::default(); pairs(count, false).count()],
            runs: if matches!(plan.spec().measure, Measure::Bandwidth(_)) { vec![runs; 2] } else { Vec::new() },
            ..Tally::default()
        }
    }

    /// Counts a set as drawn or, where it is missing for some contender, as one that could not be.
    pub fn draw(&mut self, drawn: bool) {
        self.sets += u64::from(drawn);
        self.exhausted += u64::from(!drawn);
    }

    /// Counts the verdicts of all contenders on a set.
    pub fn count(&mut self, verdicts: &[Option<bool>]) {
        for ((decided, yes), verdict) in self.decided.iter_mut().zip(&mut self.yes).zip(verdicts) {
            *decided += u64::from(verdict.is_some());
            *yes += u64::from(*verdict == Some(true));
        }
        for (pair, (i, j)) in self.pairs.iter_mut().zip(pairs(verdicts.len(), false)) {
            match (verdicts[i], verdicts[j]) {
                (Some(true), Some(true)) => pair.both += 1,
                (Some(true), Some(false)) => pair.first += 1,
                (Some(false), Some(true)) => pair.second += 1,
                (Some(false), Some(false)) => pair.neither += 1,
                _ => {}
            }
        }
    }

    /// Both together.
    pub fn add(&mut self, other: &Tally) {
        self.sets += other.sets;
        self.exhausted += other.exhausted;
        self.not_run += other.not_run;
        add(&mut self.decided, &other.decided);
        add(&mut self.yes, &other.yes);
        for (pair, more) in self.pairs.iter_mut().zip(&other.pairs) {
            pair.add(more);
        }
        for (runs, more) in self.runs.iter_mut().zip(&other.runs) {
            runs.add(more);
        }
    }
}

/// Large sums as decimal strings: JSON numbers end at 2⁶⁴.
mod decimal {
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub fn serialize<S: Serializer>(numbers: &[u128], serializer: S) -> Result<S::Ok, S::Error> {
        numbers.iter().map(u128::to_string).collect::<Vec<_>>().serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u128>, D::Error> {
        Vec::<String>::deserialize(deserializer)?
            .iter()
            .map(|number| number.parse().map_err(|_| D::Error::custom("not a whole number")))
            .collect()
    }
}
