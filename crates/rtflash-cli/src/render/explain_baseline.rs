//! The terms of the field's own schemes, in time and in space.

use rtflash_analysis::{Baseline, BaselineTerm, Room, RoomUnit};
use rtflash_answers::reasons::pages as pages_and_bytes;
use rtflash_answers::{CheckedAllocation, CheckedCluster};
use rtflash_model::{Cluster, Device, Task, TaskSet};

use super::data;
use super::explain_text::{cluster_heading, found};
use super::numbers::{period, plain, separated, share, time};
use super::table::table;
use crate::output::{BOLD, GREEN, RED, paint};

pub fn terms(set: &TaskSet, scheme: &dyn Baseline, checked: Option<&CheckedAllocation<'_>>) -> String {
    let device = set.device();
    let worst = whole_time(scheme.worst_response(device));
    let usable = pages_and_bytes(device, scheme.usable_pages(device, device.chips()));
    let mut text = format!(
        "{}\n  a request of one page is served within {worst}, once it is its turn\n  {usable} of all \
         chips are usable\n",
        paint(BOLD, "device")
    );
    match checked {
        None => text += &data::whole(set),
        Some(CheckedAllocation { allocation, verdict }) => {
            for ((position, cluster), checked) in allocation.clusters().iter().enumerate().zip(&verdict.clusters) {
                if !cluster.tasks.is_empty() {
                    text += &self::cluster(set, scheme, position, checked, cluster);
                    text += &found(checked);
                }
            }
        }
    }
    text
}

fn cluster(
    set: &TaskSet,
    scheme: &dyn Baseline,
    position: usize,
    checked: &CheckedCluster<'_>,
    cluster: &Cluster,
) -> String {
    let tasks: Vec<&Task> = cluster.tasks.iter().filter_map(|&task| set.tasks().get(task)).collect();
    let terms = scheme.terms(set.device(), &tasks, cluster.size());
    let rows = terms.iter().map(|term| row(&tasks, term)).collect::<Vec<_>>();
    let mut text = cluster_heading(position, &cluster.chips);
    text += &table(&["task", "term", "how", ">value"], rows);
    let total: f64 = terms.iter().map(|term| term.share().to_f64()).sum();
    let verdict =
        if checked.in_time == Some(true) { paint(GREEN, "schedulable") } else { paint(RED, "not schedulable") };
    text += &format!("  U = {}, {verdict}\n", share(total));
    let rooms = scheme.rooms(set.device(), &tasks, cluster.size());
    text + &rooms.iter().map(|of| room(set.device(), of)).collect::<String>()
}

fn row(tasks: &[&Task], term: &BaselineTerm) -> Vec<String> {
    let name = term.task.and_then(|at| tasks.get(at)).map_or_else(String::new, |task| plain(&task.name));
    let cost = whole_time(term.cost);
    let times = if term.times == 1 { cost } else { format!("{} x {cost}", separated(term.times)) };
    let how = format!("{times} / {}", period(term.period));
    vec![name, term.what.to_owned(), how, share(term.share().to_f64())]
}

fn room(device: &Device, of: &Room) -> String {
    let (verdict, needed) = (if of.fits() { "" } else { ": too much" }, of.needed);
    match of.unit {
        RoomUnit::Pages => {
            let [needed, there] = [needed, of.there].map(|pages| pages_and_bytes(device, pages));
            format!("  {}: {needed} of {there}{verdict}\n", of.what)
        }
        RoomUnit::Nanoseconds => {
            format!("  {}: {} of {}{verdict}\n", of.what, whole_time(needed), whole_time(of.there))
        }
    }
}

/// A time that may be longer than a [`rtflash_model::Span`].
fn whole_time(nanoseconds: u128) -> String {
    time(nanoseconds as f64)
}
