//! Results, written: tables for a data frame, and a summary. rtflash-draw makes figures of them.

mod bandwidth;
mod schedulability;
mod summary;

use crate::plan::{Measure, Plan};
use crate::tally::Tally;

pub use bandwidth::{JOBS, bandwidth};
pub use summary::{BandwidthSummary, ContenderSummary, GainSummary, Interval, Summary, shares, summary};

/// A file of results.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    /// The file's name.
    pub name: &'static str,
    /// Comma-separated values, with a line of names.
    pub text: String,
}

/// The tables of an experiment: `results.csv`, a line for each point and contender (and kind of
/// job), and `paired.csv`, a line for each point and pair of contenders that are given the same
/// sets.
pub fn tables(plan: &Plan, tallies: &[Tally]) -> Vec<Table> {
    let (results, paired) = match &plan.spec().measure {
        Measure::Schedulability => (schedulability::results(plan, tallies), schedulability::paired(plan, tallies)),
        Measure::Bandwidth(options) => {
            (bandwidth::results(plan, options, tallies), bandwidth::paired(plan, options, tallies))
        }
    };
    vec![Table { name: "results.csv", text: results }, Table { name: "paired.csv", text: paired }]
}

/// The last words of a table about a point: the value of the sweep, if there is one.
fn swept(plan: &Plan, point: usize) -> String {
    plan.point(point).value.map_or_else(String::new, |value| format!(",{}", value.cell()))
}

fn swept_column(plan: &Plan) -> String {
    plan.spec().sweep.as_ref().map_or_else(String::new, |sweep| format!(",{}", sweep.axis().column()))
}

/// Three cells: the estimate and its interval, to `places` decimals; empty where there is none.
fn cells(estimate: Option<crate::statistics::Estimate>, places: usize) -> String {
    let cell = |number: f64| if number.is_finite() { format!("{number:.places$}") } else { String::new() };
    // -0.000 and 0.000 are the same number.
    let plain = |text: String| if text.trim_matches(['-', '0', '.']).is_empty() { text.replace('-', "") } else { text };
    match estimate {
        None => ",,".into(),
        Some(of) => [of.value, of.low, of.high].map(|number| plain(cell(number))).join(","),
    }
}
