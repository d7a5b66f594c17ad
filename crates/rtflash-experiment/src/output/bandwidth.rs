//! Bandwidth of jobs that are not real-time as tables, in pages a second.

use std::fmt::Write;

use super::{cells, swept, swept_column};
use crate::plan::{Bandwidth, Plan};
use crate::statistics::{Estimate, PairSums, difference_of_means, mean};
use crate::tally::{Runs, Tally, pairs};

/// The kinds of jobs, in the order of [`Tally::runs`].
pub const JOBS: [&str; 2] = ["read", "write"];

/// Pages a second of one contender, by its position among the plan's. `None` for no sets, and for
/// no such contender.
pub fn bandwidth(options: &Bandwidth, runs: &Runs, contender: usize) -> Option<Estimate> {
    let pages = *runs.pages.get(contender)?;
    per_second(options, mean(runs.sets, pages, product(runs, contender, contender)?))
}

/// How many pages a second more one contender serves than another, on the same sets.
pub(super) fn difference(options: &Bandwidth, runs: &Runs, i: usize, j: usize) -> Option<Estimate> {
    let sums = PairSums {
        x: *runs.pages.get(i)?,
        y: *runs.pages.get(j)?,
        xx: product(runs, i, i)?,
        xy: product(runs, i, j)?,
        yy: product(runs, j, j)?,
    };
    per_second(options, difference_of_means(runs.sets, sums))
}

fn product(runs: &Runs, i: usize, j: usize) -> Option<u128> {
    let position = pairs(runs.pages.len(), true).position(|pair| pair == (i, j))?;
    runs.products.get(position).copied()
}

fn per_second(options: &Bandwidth, pages: Option<Estimate>) -> Option<Estimate> {
    let seconds = options.duration.as_ns() as f64 / 1e9;
    pages.map(|of| Estimate { value: of.value / seconds, low: of.low / seconds, high: of.high / seconds })
}

/// A line for each point, kind of job and contender.
pub(super) fn results(plan: &Plan, options: &Bandwidth, tallies: &[Tally]) -> String {
    let mut text = format!(
        "utilization,job,algorithm,analysis,server,sets,pages_per_second,ci_low,ci_high,deadline_misses{}\n",
        swept_column(plan)
    );
    for (point, tally) in tallies.iter().enumerate() {
        let utilization = plan.point(point).utilization;
        for (job, runs) in JOBS.iter().zip(&tally.runs) {
            for (position, contender) in plan.contenders().iter().enumerate() {
                let _ = writeln!(
                    text,
                    "{utilization},{job},{},{},{},{},{},{}{}",
                    contender.allocator.name(),
                    contender.analysis.name(),
                    contender.server(),
                    runs.sets,
                    cells(bandwidth(options, runs, position), 3),
                    runs.misses[position],
                    swept(plan, point)
                );
            }
        }
    }
    text
}

/// A line for each point, kind of job and pair of contenders.
pub(super) fn paired(plan: &Plan, options: &Bandwidth, tallies: &[Tally]) -> String {
    let mut text = format!(
        "utilization,job,first_algorithm,first_analysis,first_server,second_algorithm,second_analysis,second_server,sets,difference_pages_per_second,ci_low,ci_high{}\n",
        swept_column(plan)
    );
    let contenders = plan.contenders();
    let name = |position: usize| {
        let contender = &contenders[position];
        format!("{},{},{}", contender.allocator.name(), contender.analysis.name(), contender.server())
    };
    for (point, tally) in tallies.iter().enumerate() {
        let utilization = plan.point(point).utilization;
        for (job, runs) in JOBS.iter().zip(&tally.runs) {
            for (i, j) in pairs(contenders.len(), false) {
                let difference = cells(difference(options, runs, i, j), 3);
                let swept = swept(plan, point);
                let _ = writeln!(text, "{utilization},{job},{},{},{},{difference}{swept}", name(i), name(j), runs.sets);
            }
        }
    }
    text
}
