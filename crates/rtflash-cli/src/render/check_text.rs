//! The answer of `check` for a person.

use rtflash_answers::{CheckAnswer, relied_on};
use rtflash_model::Reliance;

use super::numbers::{names, runs, share};
use super::table::table;
use super::{data, verdicts};
use crate::output::{DIM, paint};

pub fn text(answer: &CheckAnswer<'_>) -> String {
    let by = paint(DIM, &format!("(analysis: {})", answer.analysis));
    let verdicts = verdicts::text(&answer.verdicts);
    let what = match (&answer.reason, answer.schedulable) {
        (Some(reason), _) => return format!("{verdicts}{reason} {by}\n"),
        (None, Some(true)) => format!("every cluster passes the test{}", relying(answer)),
        (None, Some(false)) => "not every cluster passes the test".to_owned(),
        (None, None) => "a test was given up".to_owned(),
    };
    format!("{verdicts}{what} {by}\n") + &remarks(answer) + "\n" + &clusters(answer)
}

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
    // A certificate's share is that of its tightest interval.
    let placed = answer.clusters.iter().any(|cluster| cluster.demand_share.is_some());
    let share_of = if placed { ">demand" } else { ">U" };
    let heads = ["cluster", "chips", "tasks", share_of, ">blocking", "verdict", "relies on"];
    table(&heads[..heads.len() - usize::from(!relying)], rows.collect::<Vec<_>>())
}

/// The reliance of a schedulable allocation, behind its verdict.
fn relying(answer: &CheckAnswer<'_>) -> String {
    let max = answer.clusters.iter().filter_map(|cluster| Reliance::from_name(cluster.relies_on.as_deref()?)).max();
    max.map_or_else(String::new, |max| match max {
        Reliance::Nothing => ", whatever the others do".to_owned(),
        _ => format!(", relying on {} where it has to", relied_on(max).replace("its", "the")),
    })
}
