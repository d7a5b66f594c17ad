//! What goes into a certificate, with its numbers (docs/analysis.md).

use rtflash_alloc::sound::{Demand, Held, held};
use rtflash_model::{Allocation, Cluster, TaskSet};

use super::numbers::{chips, count, plain, share, time};
use super::table::table;
use super::wire::task_name;
use crate::output::{BOLD, GREEN, RED, paint};

/// Each cluster: its unit's items, garbage collection, and the test on the tightest interval.
pub fn clusters(set: &TaskSet, allocation: &Allocation) -> String {
    let clusters = allocation.clusters();
    let parts = clusters.iter().zip(held(set, allocation)).enumerate();
    let shown = parts.filter(|(_, (cluster, _))| !cluster.tasks.is_empty() || !set.jobs().is_empty());
    shown.map(|(position, (cluster, held))| one(set, position, cluster, held.as_ref())).collect()
}

fn one(set: &TaskSet, position: usize, cluster: &Cluster, held: Option<&Held>) -> String {
    let heading = format!("cluster {position}: {} {}", count(cluster.chips.len(), "chip"), chips(&cluster.chips));
    let mut text = format!("\n{}\n", paint(BOLD, &heading));
    let Some(held) = held else {
        return text + "  no certificate: no garbage collection can be made to keep up\n";
    };
    let unit = &held.placed.unit;
    let what = match held.certificate.placement.name() {
        "stripe" => "stripe: every chip is an EDF processor of its own; what follows is of each".to_owned(),
        kind => format!("{kind}: the cluster is one EDF processor"),
    };
    text += &format!("  {what}\n");
    let named = cluster.tasks.iter().filter_map(|&task| Some((task, set.tasks().get(task)?)));
    let requests = named.flat_map(|(task, of)| [of.read.map(|_| (task, "read")), of.write.map(|_| (task, "write"))]);
    let rows = requests.flatten().zip(&unit.items).map(|((task, kind), item)| {
        let (cost, period) = (time(item.cost as f64), time(item.period as f64));
        let steps = if item.transfers == 1 { "1 step".to_owned() } else { format!("{} steps", item.transfers) };
        let how = format!("{steps} of {}, every {period}", time(item.cost as f64 / item.transfers.max(1) as f64));
        vec![plain(task_name(set, task)), kind.to_owned(), how, cost, share(item.cost as f64 / item.period as f64)]
    });
    let mut rows: Vec<Vec<String>> = rows.collect();
    if let Some(gc) = held.gc {
        let arriving: f64 = unit.writers.iter().map(|writer| writer.pages as f64 / writer.period as f64).sum();
        let due = gc.deadline.map_or_else(String::new, |deadline| format!(", due {} later", time(deadline as f64)));
        rows.push(vec![
            String::new(),
            "gc".into(),
            format!("a pass for each {} pages{due}", gc.reclaimed),
            time(gc.cost as f64),
            share(gc.cost as f64 / gc.reclaimed as f64 * arriving),
        ]);
    }
    if !rows.is_empty() {
        text += &table(&["task", "what", "how", ">C", ">C / T"], rows);
    }
    if let Some(gc) = held.gc {
        text += &format!(
            "  H = {} free pages in reserve, F = {} of N = {} blocks cannot be victims,\n  v = floor({} / {}) = {} valid pages of a victim, alpha = {} - {} = {}\n",
            gc.reserve,
            gc.open,
            unit.blocks,
            unit.mapped,
            unit.blocks - gc.open,
            gc.valid,
            unit.block_pages,
            gc.valid,
            gc.reclaimed
        );
    }
    text + &test(held)
}

/// The test on the tightest interval.
fn test(held: &Held) -> String {
    let Some(tightest) = held.certificate.tightest else { return String::new() };
    let length = tightest.length.as_ns();
    let server = held.certificate.server_thousandths;
    let demands = held.placed.contentions.iter().map(|contention| {
        let demand = Demand::new(&held.placed.unit, contention, held.gc, server);
        (demand.at(length), demand.blocking(length))
    });
    let (demand, blocking) = demands.max().unwrap_or((0, 0));
    let verdict = if tightest.slack_ns < 0 { paint(RED, "not schedulable") } else { paint(GREEN, "schedulable") };
    let reserved =
        if server == 0 { String::new() } else { format!(", {} of it the server's", share(f64::from(server) / 1e3)) };
    format!(
        "  tightest interval: L = {}{reserved}: demand {} + blocking {}, slack {}{}: {verdict}\n",
        time(length as f64),
        time(demand as f64),
        time(blocking as f64),
        if tightest.slack_ns < 0 { "-" } else { "" },
        time(tightest.slack_ns.unsigned_abs() as f64)
    )
}
