//! The results of an experiment, in a few numbers.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::bandwidth::{JOBS, bandwidth};
use crate::plan::{Contender, Measure, Plan, Value};
use crate::statistics::{Estimate, Share, gain, weighted, wilson};
use crate::tally::{Pair, Tally, pairs};

/// `summary.json`: what an experiment comes to. Intervals are of 95 %.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Summary {
    /// `schedulability`, `write-heavy` or `bandwidth`.
    pub experiment: String,
    /// Points: utilizations times values of the sweep.
    pub points: u64,
    /// Sets drawn, at all points together.
    pub sets: u64,
    /// Sets that could not be drawn.
    pub exhausted: u64,
    /// Sets that every contender schedules and the executor cannot run.
    pub not_run: u64,
    /// The share that each contender schedules; with a sweep, at each value of it and at all
    /// together.
    pub contenders: Vec<ContenderSummary>,
    /// How each pair of contenders that are given the same sets differs on them, at all points
    /// together; without `necessary`, which schedules nothing.
    pub gains: Vec<GainSummary>,
    /// Bandwidth of jobs that are not real-time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bandwidth: Vec<BandwidthSummary>,
}

/// An estimate with its interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Interval {
    /// The estimate.
    pub value: f64,
    /// The lower end.
    pub ci_low: Option<f64>,
    /// The upper end; null where there is none.
    pub ci_high: Option<f64>,
}

impl From<Estimate> for Interval {
    fn from(of: Estimate) -> Interval {
        let finite = |number: f64| number.is_finite().then_some(number);
        Interval { value: of.value, ci_low: finite(of.low), ci_high: finite(of.high) }
    }
}

/// The share that a contender schedules.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ContenderSummary {
    /// The algorithm.
    pub algorithm: Cow<'static, str>,
    /// The analysis.
    pub analysis: Cow<'static, str>,
    /// The value of the sweep; absent for all together. Times in the table's unit, nanoseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    /// Sets of which it can tell.
    pub sets: u64,
    /// Sets that it schedules.
    pub schedulable: u64,
    /// Their ratio; null of no sets.
    pub ratio: Option<Interval>,
    /// Its reach over that of the necessary tests: sets that it schedules, of those that may have
    /// an allocation at all; absent where these are no contender, and of an analysis that promises
    /// nothing. For `zoned`, the share over that of `necessary-with-zones`, the tests that hold
    /// there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of_possible: Option<f64>,
    /// Weighted schedulability: the ratios at all utilizations, weighted by utilization.
    pub weighted: Option<Interval>,
}

/// How two contenders differ on the sets of which both can tell.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GainSummary {
    /// The first algorithm.
    pub algorithm: Cow<'static, str>,
    /// Its analysis.
    pub analysis: Cow<'static, str>,
    /// The second algorithm.
    pub over_algorithm: Cow<'static, str>,
    /// Its analysis.
    pub over_analysis: Cow<'static, str>,
    /// Sets that both schedule.
    pub both: u64,
    /// Sets that only the first schedules.
    pub first_only: u64,
    /// Sets that only the second schedules.
    pub second_only: u64,
    /// Sets that neither schedules.
    pub neither: u64,
    /// How many times as many sets the first schedules, less one: 0.43 is 43 % more. Null where the
    /// second schedules none.
    pub gain: Option<Interval>,
}

/// The bandwidth at a point.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BandwidthSummary {
    /// The total utilization.
    pub utilization: f64,
    /// The value of the sweep, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    /// `read` or `write`.
    pub job: Cow<'static, str>,
    /// The algorithm.
    pub algorithm: Cow<'static, str>,
    /// The analysis.
    pub analysis: Cow<'static, str>,
    /// How jobs are served.
    pub server: Cow<'static, str>,
    /// Sets run: all that every contender schedules.
    pub sets: u64,
    /// Pages a second; null of no sets.
    pub pages_per_second: Option<Interval>,
    /// Deadlines of real-time requests missed, in all runs.
    pub deadline_misses: u64,
}

/// The summary of an experiment that is called so.
pub fn summary(plan: &Plan, experiment: &str, tallies: &[Tally]) -> Summary {
    let sum = |count: fn(&Tally) -> u64| tallies.iter().map(count).sum();
    let mut contenders = Vec::new();
    for (position, contender) in distinct(plan) {
        contenders.push(row(plan, tallies, position, contender, None));
        if plan.spec().sweep.is_some() {
            contenders
                .extend(plan.values().flatten().map(|value| row(plan, tallies, position, contender, Some(value))));
        }
    }
    Summary {
        experiment: experiment.to_owned(),
        points: plan.points() as u64,
        sets: sum(|tally| tally.sets),
        exhausted: sum(|tally| tally.exhausted),
        not_run: sum(|tally| tally.not_run),
        contenders,
        gains: gains(plan, tallies),
        bandwidth: bandwidths(plan, tallies),
    }
}

/// The contenders without those that divide the chips as an earlier one does, and differ in the
/// server alone.
fn distinct(plan: &Plan) -> impl Iterator<Item = (usize, &Contender)> {
    let all = plan.contenders();
    all.iter()
        .enumerate()
        .filter(|(position, contender)| !all[..*position].iter().any(|other| divides_as(other, contender)))
}

fn divides_as(one: &Contender, other: &Contender) -> bool {
    one.allocator.name() == other.allocator.name() && one.analysis.name() == other.analysis.name()
}

fn row(plan: &Plan, tallies: &[Tally], position: usize, of: &Contender, at: Option<Value>) -> ContenderSummary {
    let shares: Vec<Share> = shares(plan, tallies, position, at).collect();
    let (schedulable, sets) = shares.iter().fold((0, 0), |sum, share| (sum.0 + share.yes, sum.1 + share.all));
    ContenderSummary {
        algorithm: of.allocator.name().into(),
        analysis: of.analysis.name().into(),
        at: at.map(Value::cell),
        sets,
        schedulable,
        ratio: wilson(schedulable, sets).map(Interval::from),
        of_possible: of_possible(plan, tallies, position, at),
        weighted: weighted(shares).map(Interval::from),
    }
}

/// Sets that a contender schedules, of those that no necessary test excludes: the sharpest of them
/// that hold on its device.
fn of_possible(plan: &Plan, tallies: &[Tally], position: usize, at: Option<Value>) -> Option<f64> {
    let contenders = plan.contenders();
    let analysis = contenders[position].analysis;
    let zones = analysis.owns_zones() || analysis.bounds_zones();
    let is_bound = |other: &usize| contenders[*other].analysis.is_necessary() && plan.same_sets(*other, position);
    let bounds = (0..contenders.len()).filter(is_bound);
    let holds = bounds.filter(|&other| !zones || contenders[other].analysis.bounds_zones());
    let bound = holds.min_by_key(|&other| contenders[other].analysis.bounds_zones())?;
    let yes = |contender: usize| shares(plan, tallies, contender, at).map(|share| share.yes).sum::<u64>() as f64;
    let possible = yes(bound);
    let promises = analysis.demand_test().is_some();
    (promises && possible > 0.0).then(|| yes(position) / possible)
}

/// The share that a contender, by its position among the plan's, schedules at each utilization: at
/// one value of the sweep, or at all values if `at` is `None`.
pub fn shares(plan: &Plan, tallies: &[Tally], contender: usize, at: Option<Value>) -> impl Iterator<Item = Share> {
    tallies.iter().enumerate().filter_map(move |(point, tally)| {
        let place = plan.point(point);
        let (&yes, &all) = tally.yes.get(contender).zip(tally.decided.get(contender))?;
        (at.is_none() || place.value == at).then(|| Share { utilization: place.utilization.to_f64(), yes, all })
    })
}

fn gains(plan: &Plan, tallies: &[Tally]) -> Vec<GainSummary> {
    let contenders = plan.contenders();
    let pair_of = |position: usize| {
        tallies.iter().filter_map(|tally| tally.pairs.get(position)).fold(Pair::default(), |mut sum, pair| {
            sum.add(pair);
            sum
        })
    };
    let schedules = |of: &(usize, &Contender)| !of.1.analysis.is_necessary();
    let among: Vec<usize> = distinct(plan).filter(schedules).map(|(position, _)| position).collect();
    let each = pairs(contenders.len(), false).enumerate();
    let each = each.filter(|&(_, (i, j))| among.contains(&i) && among.contains(&j) && plan.same_sets(i, j)).map(
        |(position, (i, j))| {
            let pair = pair_of(position);
            GainSummary {
                algorithm: contenders[i].allocator.name().into(),
                analysis: contenders[i].analysis.name().into(),
                over_algorithm: contenders[j].allocator.name().into(),
                over_analysis: contenders[j].analysis.name().into(),
                both: pair.both,
                first_only: pair.first,
                second_only: pair.second,
                neither: pair.neither,
                gain: gain(&pair).map(Interval::from),
            }
        },
    );
    each.collect()
}

fn bandwidths(plan: &Plan, tallies: &[Tally]) -> Vec<BandwidthSummary> {
    let Measure::Bandwidth(options) = &plan.spec().measure else { return Vec::new() };
    let mut all = Vec::new();
    for (point, tally) in tallies.iter().enumerate() {
        let place = plan.point(point);
        for (job, runs) in JOBS.into_iter().zip(&tally.runs) {
            all.extend(plan.contenders().iter().enumerate().map(|(position, contender)| BandwidthSummary {
                utilization: place.utilization.to_f64(),
                at: place.value.map(Value::cell),
                job: job.into(),
                algorithm: contender.allocator.name().into(),
                analysis: contender.analysis.name().into(),
                server: contender.server().into(),
                sets: runs.sets,
                pages_per_second: bandwidth(options, runs, position).map(Interval::from),
                deadline_misses: runs.misses[position],
            }));
        }
    }
    all
}
