//! The answer of `check` for a person.

use super::numbers::{chips, names, percent, share};
use super::table::table;
use super::wire::{CheckAnswer, CheckedCluster};
use crate::output::{DIM, GREEN, RED, YELLOW, paint};

/// Loads from here on are those of certificates whose interval is none.
const OVERLOAD: f64 = 1e9;

/// The verdict where there is no allocation to test.
pub fn nothing(answer: &CheckAnswer<'_>) -> String {
    let verdict = match answer.schedulable {
        Some(_) => paint(RED, "not schedulable"),
        None => paint(YELLOW, "cannot tell"),
    };
    format!("{verdict}: {}\n", answer.reason.as_deref().unwrap_or_default())
}

/// The verdict, then the clusters.
pub fn answer(answer: &CheckAnswer<'_>) -> String {
    let by = paint(DIM, &format!("(analysis: {})", answer.analysis));
    let failing = answer.clusters.iter().position(|cluster| cluster.schedulable != Some(true));
    let mut text = match failing.map(|first| (first, &answer.clusters[first])) {
        None => format!("{}: every cluster passes the test {by}\n", paint(GREEN, "schedulable")),
        Some((first, CheckedCluster { schedulable: None, .. })) => {
            format!("{}: the test of cluster {first} was given up {by}\n", paint(YELLOW, "cannot tell"))
        }
        Some((first, cluster)) if cluster.utilization > 1.0 && cluster.utilization < OVERLOAD => {
            let excess = percent((cluster.utilization - 1.0).max(f64::MIN_POSITIVE));
            format!("{}: cluster {first} is {excess} overloaded {by}\n", paint(RED, "not schedulable"))
        }
        Some((first, cluster)) if !cluster.complaints.is_empty() => {
            format!("{}: cluster {first} fails {by}\n", paint(RED, "not schedulable"))
        }
        Some((first, _)) => {
            let why = "demand and blocking do not fit into some interval, or in the long run";
            format!("{}: cluster {first} fails: {why} {by}\n", paint(RED, "not schedulable"))
        }
    };
    for (position, cluster) in answer.clusters.iter().enumerate() {
        for complaint in &cluster.complaints {
            text += &format!("  cluster {position}: {complaint}\n");
        }
    }
    let rows = answer.clusters.iter().enumerate().map(|(position, cluster)| {
        let members = if cluster.tasks.is_empty() { "(free)".into() } else { names(cluster.tasks.iter().copied(), 4) };
        let verdict = match cluster.schedulable {
            Some(true) => "passes",
            Some(false) => "fails",
            None => "given up",
        };
        let shares = [cluster.utilization, cluster.blocking].map(share);
        [position.to_string(), chips(&cluster.chips), members]
            .into_iter()
            .chain(shares)
            .chain([verdict.to_owned()])
            .collect()
    });
    text += "\n";
    text + &table(&["cluster", "chips", "tasks", ">U", ">blocking", "verdict"], rows.collect::<Vec<_>>())
}
