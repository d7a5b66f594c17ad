//! The answer of `admit` for a person.

use rtflash_answers::{AddedTask, AdmitAnswer, LeftOutAnswer, RefusedTask, RunningCluster, ServedStream, StageAnswer};
use rtflash_model::Device;

use super::numbers::{chips, count, names, plain, time};
use super::{data, verdicts};
use crate::output::{DIM, GREEN, RED, paint};

pub fn text(answer: &AdmitAnswer<'_>, device: &Device) -> String {
    let by = paint(DIM, &format!("(analysis: {})", answer.analysis));
    let mut text = verdicts::text(&answer.verdicts);
    text += &match &answer.refused {
        Some(refused) => format!("{}: {} {by}\n{}", paint(RED, "not admitted"), plain(&refused.task), why(refused)),
        None if !answer.admitted => {
            let none = answer.streams.iter().filter(|stream| stream.cluster.is_none());
            let none: Vec<&str> = none.map(|stream| &*stream.stream).collect();
            format!("{}: {} {by}\n", paint(RED, "not admitted"), names(none.into_iter(), 6))
        }
        None if answer.added.is_empty() => format!("{}: every task runs already {by}\n", paint(GREEN, "admitted")),
        None => {
            let all = names(answer.added.iter().map(|added| &*added.task), 6);
            format!("{}: {all} {by}\n\n", paint(GREEN, "admitted"))
                + &answer.added.iter().map(|of| added(device, of)).collect::<String>()
        }
    };
    if let Some(of) = &answer.left_out {
        text += &left_out(of);
    }
    if !answer.streams.is_empty() {
        text += &format!("\nJob streams:\n{}", answer.streams.iter().map(stream).collect::<String>());
    }
    if !answer.gone.is_empty() {
        text += &format!("\nTaken to be gone, and settled: {}.\n", names(answer.gone.iter().map(|name| &**name), 6));
    }
    let removable = answer.removable.iter().map(|of| match of.within_ns {
        Some(within) => format!("  {} {} after its last request\n", plain(&of.task), time(within as f64)),
        None => format!("  {} at a time that is not known\n", plain(&of.task)),
    });
    let removable: String = removable.collect();
    if !removable.is_empty() {
        text += &format!("\nRunning tasks can leave the task set:\n{removable}");
    }
    text += "\nIt would run on:\n";
    text + &running(&answer.clusters)
}

pub(super) fn running(clusters: &[RunningCluster<'_>]) -> String {
    let line = |(position, cluster): (usize, &RunningCluster<'_>)| {
        let tasks = match &cluster.tasks[..] {
            [] => "(free)".to_owned(),
            tasks => names(tasks.iter().map(|name| &**name), 6),
        };
        format!("  cluster {position}: {}: {tasks}\n", chips(&cluster.chips))
    };
    clusters.iter().enumerate().map(line).collect()
}

fn why(refused: &RefusedTask<'_>) -> String {
    let mut text: String =
        refused.clusters.iter().map(|of| format!("  cluster {}: {}\n", of.cluster, of.detail)).collect();
    text += "  free chips: no cluster of them is in time, or there are none\n";
    text
}

pub(super) fn left_out(of: &LeftOutAnswer) -> String {
    let of_chips: Vec<String> = of.chips.iter().map(|of| chips(of)).collect();
    let within = time(of.within_ns as f64);
    let (servers, whose) = if of_chips.len() == 1 { ("The server of", "its") } else { ("The servers of", "their") };
    let (verb, on) = (if of_chips.len() == 1 { "gets" } else { "get" }, of_chips.join(" and of "));
    format!("\n{servers} {on} {verb} no more jobs; it begins {within} after {whose} last one\n")
}

pub(super) fn stream(of: &ServedStream<'_>) -> String {
    let name = plain(&of.stream);
    match (of.cluster, &of.detail) {
        (Some(cluster), _) => {
            format!("  {name}: the server of cluster {cluster} has room; its jobs may come at once\n")
        }
        (None, Some(detail)) => format!("  {name}: {detail}\n"),
        (None, None) => format!("  {name}\n"),
    }
}

fn added(device: &Device, added: &AddedTask<'_>) -> String {
    let when = match added.ready_within_ns {
        0 => "its requests may come at once".to_owned(),
        within => format!("its requests may come after {}", time(within as f64)),
    };
    let how = match &*added.change {
        "kept" => "which runs on by its certificate",
        "new" => "of chips that are free, which begin with the reserve that its certificate states",
        _ => "whose terms of garbage collection change",
    };
    let stages: String = added.stages.iter().map(|of| stage(device, of)).collect();
    format!("{}: cluster {}, {how}; {when}\n{stages}", plain(&added.task), added.cluster)
}

fn stage(device: &Device, stage: &StageAnswer) -> String {
    let deadline = stage.gc_deadline_ns.map_or_else(|| "none".to_owned(), |deadline| time(deadline as f64));
    let StageAnswer { reserve_pages, reclaimed_pages, victim_pages, open_blocks, goal_pages, .. } = stage;
    let grows = match stage.spacing_ns {
        Some(spacing) => format!(
            "; until {} are free, {} more, {} apart",
            data::amount(device, *goal_pages),
            count(stage.extra_passes, "pass"),
            time(spacing as f64)
        ),
        None => String::new(),
    };
    let reserve = data::amount(device, *reserve_pages);
    format!("  when idle: D_g {deadline}, H {reserve}, α {reclaimed_pages}, v {victim_pages}, F {open_blocks}{grows}\n")
}
