//! The answer of `check` for a person.

use rtflash_model::Reliance;
use rtflash_wire::{Answer, CheckAnswer, CheckedCluster, relied_on};

use super::numbers::{names, percent, runs, share};
use super::table::table;
use super::{Render, data};
use crate::output::{DIM, GREEN, RED, YELLOW, paint};

/// Loads from here on are those of certificates whose interval is none.
const OVERLOAD: f64 = 1e9;

impl Render for CheckAnswer<'_> {
    fn text(&self) -> String {
        self.reason.as_deref().map_or_else(|| answer(self), |reason| nothing(self, reason))
    }

    fn json(&self) -> String {
        self.line()
    }
}

/// The verdict where there is no allocation to test.
fn nothing(answer: &CheckAnswer<'_>, reason: &str) -> String {
    let verdict = match answer.schedulable {
        Some(_) => paint(RED, "not schedulable"),
        None => paint(YELLOW, "cannot tell"),
    };
    format!("{verdict}: {reason}\n")
}

/// The verdict, then the clusters.
fn answer(answer: &CheckAnswer<'_>) -> String {
    verdict(answer) + &remarks(answer) + "\n" + &clusters(answer)
}

/// The verdict in a line: of a no, by the first cluster that fails.
fn verdict(answer: &CheckAnswer<'_>) -> String {
    let by = paint(DIM, &format!("(analysis: {})", answer.analysis));
    let failing = answer.clusters.iter().position(|cluster| cluster.schedulable != Some(true));
    let full = failing.filter(|&first| answer.clusters[first].data.as_ref().is_some_and(|data| !data.fits));
    match failing.map(|first| (first, &answer.clusters[first])) {
        None => {
            format!("{}: every cluster passes the test{} {by}\n", paint(GREEN, "schedulable"), relying(answer))
        }
        Some((first, cluster)) if full.is_some() => {
            let time = match cluster.in_time {
                Some(true) => "its test of time passes",
                Some(false) => "and it fails its test of time, too",
                None => "its test of time was given up",
            };
            format!("{}: the data of cluster {first} do not fit; {time} {by}\n", paint(RED, "not schedulable"))
        }
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
    }
}

/// What is wrong with clusters, and what else is to be said of them.
fn remarks(answer: &CheckAnswer<'_>) -> String {
    let mut text = String::new();
    for (position, cluster) in answer.clusters.iter().enumerate() {
        if let Some(data) = cluster.data.as_ref().filter(|data| !data.fits) {
            text += &data::complaint(data, position);
        }
        for complaint in &cluster.complaints {
            text += &format!("  cluster {position}: {complaint}\n");
        }
        for note in &cluster.notes {
            text += &format!("  cluster {position}: {}\n", paint(DIM, &format!("note: {note}")));
        }
    }
    text
}

/// The clusters as a table.
fn clusters(answer: &CheckAnswer<'_>) -> String {
    // Only a sound analysis says of something what it relies on.
    let relying = answer.clusters.iter().any(|cluster| cluster.relies_on.is_some());
    let rows = answer.clusters.iter().enumerate().map(|(position, cluster)| {
        let members =
            if cluster.tasks.is_empty() { "(free)".into() } else { names(cluster.tasks.iter().map(AsRef::as_ref), 4) };
        let verdict = match cluster.schedulable {
            Some(true) => "passes",
            Some(false) => "fails",
            None => "given up",
        };
        let shares = [cluster.utilization, cluster.blocking].map(share);
        [position.to_string(), runs(&cluster.chips), members]
            .into_iter()
            .chain(shares)
            .chain([verdict.to_owned()])
            .chain(relying.then(|| cluster.relies_on.as_deref().unwrap_or("-").to_owned()))
            .collect()
    });
    // What is told of certificates is a share of the tightest interval.
    let placed = answer.clusters.iter().any(|cluster| cluster.demand_share.is_some());
    let share_of = if placed { ">demand" } else { ">U" };
    let heads = ["cluster", "chips", "tasks", share_of, ">blocking", "verdict", "relies on"];
    table(&heads[..heads.len() - usize::from(!relying)], rows.collect::<Vec<_>>())
}

/// What a schedulable allocation relies on, behind its verdict.
fn relying(answer: &CheckAnswer<'_>) -> String {
    let max = answer.clusters.iter().filter_map(|cluster| Reliance::from_name(cluster.relies_on.as_deref()?)).max();
    max.map_or_else(String::new, |max| match max {
        Reliance::Nothing => ", whatever the others do".to_owned(),
        _ => format!(", relying on {} where it has to", relied_on(max).replace("its", "the")),
    })
}
