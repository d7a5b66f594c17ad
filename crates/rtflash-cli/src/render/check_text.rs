//! The answer of `check` for a person.

use super::numbers::{chips, names, percent, share};
use super::table::table;
use super::wire::CheckAnswer;
use crate::output::{DIM, GREEN, RED, paint};

/// The verdict, then the clusters.
pub fn answer(answer: &CheckAnswer<'_>) -> String {
    let by = paint(DIM, &format!("(analysis: {})", answer.analysis));
    let mut text = match answer.clusters.iter().position(|cluster| !cluster.schedulable) {
        None => format!("{}: every cluster passes the test {by}\n", paint(GREEN, "schedulable")),
        Some(first) => {
            let excess = percent((answer.clusters[first].utilization - 1.0).max(f64::MIN_POSITIVE));
            format!("{}: cluster {first} is {excess} overloaded {by}\n", paint(RED, "not schedulable"))
        }
    };
    let rows = answer.clusters.iter().enumerate().map(|(position, cluster)| {
        let members = if cluster.tasks.is_empty() { "(free)".into() } else { names(cluster.tasks.iter().copied(), 4) };
        let verdict = if cluster.schedulable { "passes" } else { "fails" };
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
