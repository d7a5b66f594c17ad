//! The field's own schemes: tests of time and of space, for devices that work as their papers say.

use rtflash_analysis::verdict::passing;
use rtflash_analysis::{Baseline, BaselineTerm, Room, RoomUnit};
use rtflash_model::{Allocation, Cluster, Device, Reliance, Task, TaskSet, TaskSetFile};
use rtflash_verify::{BaselineScheme, verify_baseline};
use rtflash_wire::reasons::pages as pages_and_bytes;
use rtflash_wire::{CheckAnswer, CheckedAllocation, CheckedCluster};

use super::{KindText, Verified};
use crate::output::{BOLD, GREEN, RED, paint};
use crate::render::data;
use crate::render::explain_text::cluster_heading;
use crate::render::explain_text::found;
use crate::render::numbers::{period, plain, separated, share, time};
use crate::render::table::table;

/// An analysis of this kind.
pub struct BaselineKind<'a>(pub &'a dyn Baseline);

impl KindText for BaselineKind<'_> {
    fn verify<'f>(&self, file: &'f TaskSetFile, allocation: &Allocation) -> Verified<'f> {
        let scheme = BaselineScheme::from_name(self.0.name()).expect("the verifier knows every analysis with a name");
        let verification = verify_baseline(&file.set, allocation, scheme);
        Verified::plain(CheckAnswer::new(&file.set, self.0, &verification, file.meta.as_deref()))
    }

    fn accepts(&self, set: &TaskSet, allocation: &Allocation) -> Option<bool> {
        Some(passing(set, self.0, allocation).into_iter().all(|passes| passes))
    }

    fn contenders(&self, bandwidth: bool) -> &'static [&'static str] {
        if bandwidth { &["equal-split+background"] } else { &["clustering-bfd", "equal-split", "global"] }
    }

    fn terms(&self, set: &TaskSet, checked: Option<&CheckedAllocation<'_>>) -> String {
        let device = set.device();
        let worst = whole_time(self.0.worst_response(device));
        let usable = pages_and_bytes(device, self.0.usable_pages(device, device.chips()));
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
                        text += &self.cluster(set, position, checked, cluster);
                        text += &found(checked);
                    }
                }
            }
        }
        text
    }

    fn how(&self, _: Option<Reliance>) -> String {
        format!("(analysis: {})", self.0.name())
    }

    fn only_data(&self) -> &'static str {
        "Every cluster would pass the test itself.\n"
    }

    fn share(&self) -> &'static str {
        ">full"
    }
}

impl BaselineKind<'_> {
    /// Every term of a cluster, and the rooms that it has.
    fn cluster(&self, set: &TaskSet, position: usize, checked: &CheckedCluster<'_>, cluster: &Cluster) -> String {
        let tasks: Vec<&Task> = cluster.tasks.iter().filter_map(|&task| set.tasks().get(task)).collect();
        let terms = self.0.terms(set.device(), &tasks, cluster.size());
        let rows = terms.iter().map(|term| row(&tasks, term)).collect::<Vec<_>>();
        let mut text = cluster_heading(position, &cluster.chips);
        text += &table(&["task", "term", "how", ">value"], rows);
        let total: f64 = terms.iter().map(|term| term.share().to_f64()).sum();
        let verdict =
            if checked.in_time == Some(true) { paint(GREEN, "schedulable") } else { paint(RED, "not schedulable") };
        text += &format!("  U = {}, {verdict}\n", share(total));
        let rooms = self.0.rooms(set.device(), &tasks, cluster.size());
        text + &rooms.iter().map(|of| room(set.device(), of)).collect::<String>()
    }
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
