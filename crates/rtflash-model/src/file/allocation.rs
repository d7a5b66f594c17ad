//! Allocations: as `rtflash alloc` or a user wrote them.

use std::collections::HashMap;

use super::diagnostic::Diagnostics;
use super::place::{Place, Slot, quote, quoted};
use super::reader::Reader;
use super::tree::{JsonKind, for_each_element};
use crate::allocation::{Allocation, Cluster, Remarks};
use crate::certificate::{Certificate, Collection, Placement, Tightest};
use crate::ids::{ChipId, Id, PerId, TaskId};
use crate::invalid::Path;
use crate::reliance::Reliance;
use crate::task_set::TaskSet;
use crate::time::Span;

const AN_ALLOCATION: &str = "an allocation: a JSON object with `clusters`, each with `chips` and `tasks`";

/// Tasks in no cluster that are named, where there are many.
const MAX_NAMED: usize = 5;

/// Fields other than `clusters`, and `chips`, `tasks`, `certificate` and `relies_on` in each
/// cluster, are passed over. If every task has a cluster, names of others are remarks: those
/// tasks are gone.
///
/// # Errors
/// All that is wrong, also where it is the record of an allocation that failed.
pub fn read_allocation(text: &str, set: &TaskSet) -> Result<Allocation, Diagnostics> {
    let (mut reader, root) = Reader::open(text, AN_ALLOCATION)?;
    allocation(&mut reader, root, set).ok_or_else(|| reader.into_diagnostics())
}

/// Clusters that serve some tasks of a set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartialAllocation {
    /// The clusters, in order.
    pub clusters: Vec<Cluster>,
    /// The certificate of each that has one.
    pub certificates: Vec<Option<Certificate>>,
    /// Names of tasks that the set does not have.
    pub gone_tasks: Vec<String>,
}

/// Tasks of the set may be missing, and others may be named.
///
/// # Errors
/// All that is wrong with it.
pub fn read_partial_allocation(text: &str, set: &TaskSet) -> Result<PartialAllocation, Diagnostics> {
    let (mut reader, root) = Reader::open(text, AN_ALLOCATION)?;
    partial(&mut reader, root, set).ok_or_else(|| reader.into_diagnostics())
}

/// `None` where something wrong has been recorded.
fn partial<'t>(reader: &mut Reader<'t>, root: &'t str, set: &TaskSet) -> Option<PartialAllocation> {
    let (draft, ..) = draft(reader, root, set)?;
    if reader.faults() > 0 {
        return None;
    }
    let gone_tasks = draft.remarks.into_iter().flat_map(|remarks| remarks.gone_tasks).collect();
    let sorted = |mut cluster: Cluster| {
        cluster.chips.sort_unstable();
        cluster.tasks.sort_unstable();
        cluster
    };
    let clusters = draft.clusters.into_iter().map(sorted).collect();
    Some(PartialAllocation { clusters, certificates: draft.certificates, gone_tasks })
}

/// `None` where something wrong has been recorded.
fn allocation<'t>(reader: &mut Reader<'t>, root: &'t str, set: &TaskSet) -> Option<Allocation> {
    let (draft, raw) = draft(reader, root, set)?;
    let clusters_place = Place::Root;
    let clusters_place = clusters_place.key("clusters");
    draft.settle_unknown(reader);
    if reader.faults() == 0 {
        draft.refuse_missing(reader, raw, &clusters_place);
    }
    if reader.faults() > 0 {
        return None;
    }
    let allocation = Allocation::new(set.device().chips(), set.tasks().len(), &draft.clusters);
    if let Err(error) = &allocation {
        reader.refuse(raw, &clusters_place, error.to_string(), "a partition of the chips, with every task in one part");
    }
    Some(allocation.ok()?.with_certificates(draft.certificates).with_remarks(draft.remarks))
}

/// Their text, too. `None` where something wrong has been recorded.
fn draft<'s, 't>(reader: &mut Reader<'t>, root: &'t str, set: &'s TaskSet) -> Option<(Draft<'s, 't>, &'t str)> {
    let place = Place::Root;
    if JsonKind::of(root) != JsonKind::Object {
        reader.refuse(root, &place, format!("the text holds {}", JsonKind::of(root).noun()), AN_ALLOCATION);
        return None;
    }
    let [clusters, schedulable] = reader.open_object(root, &place, &["clusters", "schedulable"], |_| ())?;
    let raw = reader.required(clusters, root, &place, "clusters", "an array of clusters")?;
    let clusters_place = place.key("clusters");
    let mut empty = JsonKind::of(raw) == JsonKind::Array;
    for_each_element(raw, |_| empty = false);
    let missing = match schedulable {
        Slot::Given("false") => Some("this is the record of an allocation that failed: it holds none"),
        Slot::Given("null") => Some("this is the record of an undecided allocation: it holds none"),
        _ => None,
    };
    if let Some(problem) = missing.filter(|_| empty && !set.tasks().is_empty()) {
        reader.refuse(raw, &clusters_place, problem, "an allocation with clusters");
        return None;
    }
    let mut draft = Draft::new(set);
    reader.list(raw, &clusters_place, "an array of clusters", |reader, raw, place| draft.cluster(reader, raw, place));
    Some((draft, raw))
}

struct Draft<'s, 't> {
    set: &'s TaskSet,
    position: HashMap<&'s str, TaskId>,
    chip_at: HashMap<ChipId, EntryAt>,
    /// The place where a task is named; `None` for a task in no cluster so far.
    task_at: PerId<TaskId, Option<EntryAt>>,
    clusters: Vec<Cluster>,
    certificates: Vec<Option<Certificate>>,
    remarks: Vec<Remarks>,
    /// Names of no task, as they are written, each with its place.
    unknown: Vec<(&'t str, EntryAt)>,
}

impl<'s, 't> Draft<'s, 't> {
    fn new(set: &'s TaskSet) -> Draft<'s, 't> {
        Draft {
            set,
            position: set.tasks().enumerate().map(|(id, task)| (task.name.as_str(), id)).collect(),
            chip_at: HashMap::new(),
            task_at: PerId::filled(None, set.tasks().count()),
            clusters: Vec::new(),
            certificates: Vec::new(),
            remarks: Vec::new(),
            unknown: Vec::new(),
        }
    }

    fn cluster(&mut self, reader: &mut Reader<'t>, raw: &'t str, place: &Place<'_>) {
        // No more than one hopeless cluster is kept, however many follow.
        if self.clusters.is_empty() || !reader.is_hopeless() {
            self.clusters.push(Cluster::default());
            self.certificates.push(None);
            self.remarks.push(Remarks::default());
        }
        let index = self.clusters.len() - 1;
        let fields = reader.open_object(raw, place, &["chips", "tasks", "certificate", "relies_on"], |_| ());
        let Some([chips, tasks, promise, relies_on]) = fields else { return };
        if let Slot::Given(promise) = promise.or_null() {
            self.certificates[index] = certificate(reader, promise, &place.key("certificate"));
        }
        if let Slot::Given(stated) = relies_on.or_null() {
            self.remarks[index].relies_on = reliance(reader, stated, &place.key("relies_on"));
        }
        if let Some(list) = reader.required(chips, raw, place, "chips", "an array of chip numbers") {
            self.chips(reader, list, &place.key("chips"), index);
        }
        if let Slot::Given(list) = tasks.or_null() {
            let mut at = 0;
            reader.list(list, &place.key("tasks"), "an array of task names", |reader, raw, place| {
                self.task(reader, raw, place, EntryAt { cluster: index, position: at });
                at += 1;
            });
        }
    }

    fn chips(&mut self, reader: &mut Reader<'t>, list: &'t str, place: &Place<'_>, index: usize) {
        let max = self.set.device().chips() - 1;
        let mut at = 0;
        let is_array = reader.list(list, place, "an array of chip numbers", |reader, raw, place| {
            let here = EntryAt { cluster: index, position: at };
            at += 1;
            let Some(chip) = reader.whole_u32(raw, place) else { return };
            let chip = ChipId(chip);
            if chip.0 > max {
                reader.refuse(raw, place, format!("there is no chip {chip}"), format!("a chip from 0 to {max}"));
            } else if let Some(first) = self.chip_at.get(&chip) {
                let problem = format!("chip {chip} stands already at {}", first.path("chips"));
                reader.refuse(raw, place, problem, "each chip once");
            } else {
                self.chip_at.insert(chip, here);
                self.clusters[index].chips.push(chip);
            }
        });
        if is_array && at == 0 {
            reader.refuse(list, place, "a cluster without chips", "at least one chip");
        }
    }

    fn task(&mut self, reader: &mut Reader<'t>, raw: &'t str, place: &Place<'_>, here: EntryAt) {
        let Some(name) = reader.string(raw, place, "a task's name") else { return };
        let Some(&task) = self.position.get(name.as_str()) else {
            if self.set.jobs().iter().any(|job| job.name == name) {
                let problem = format!("{} is a job, not a task", quote(&name));
                return reader.refuse(raw, place, problem, "tasks only: jobs are in no cluster");
            }
            self.remarks[here.cluster].gone_tasks.push(name);
            return self.unknown.push((raw, here));
        };
        if let Some(first) = self.task_at[task] {
            let problem = format!("task {} stands already at {}", quote(&name), first.path("tasks"));
            reader.refuse(raw, place, problem, "each task once");
        } else {
            self.task_at[task] = Some(here);
            self.clusters[here.cluster].tasks.push(task);
        }
    }

    /// If every task has its cluster, unknown names are of tasks that are gone; else mistakes.
    fn settle_unknown(&self, reader: &mut Reader<'t>) {
        if self.task_at.iter().all(Option::is_some) {
            return;
        }
        let (root, names) = (Place::Root, self.set.tasks().iter().map(|task| task.name.as_str()));
        let clusters = root.key("clusters");
        let mut seen = vec![0; self.clusters.len()];
        for &(raw, EntryAt { cluster, position }) in &self.unknown {
            let name = &self.remarks[cluster].gone_tasks[seen[cluster]];
            seen[cluster] += 1;
            let expected = match reader.nearest(name, names.clone()) {
                Some(near) => format!(
                    "{}, the nearest of the task names",
                    quote(&self.set.tasks()[TaskId::from_index(near)].name)
                ),
                None => "a task of the task set".to_owned(),
            };
            let cluster = clusters.index(cluster);
            let place = cluster.key("tasks");
            reader.refuse(raw, &place.index(position), format!("there is no task {}", quote(name)), expected);
        }
    }

    fn refuse_missing(&self, reader: &mut Reader<'_>, raw: &str, place: &Place<'_>) {
        let missing = self.set.tasks().iter().zip(&self.task_at).filter(|(_, at)| at.is_none());
        let missing: Vec<&str> = missing.map(|(task, _)| task.name.as_str()).collect();
        if missing.is_empty() {
            return;
        }
        let named = &missing[..missing.len().min(MAX_NAMED)];
        let more = missing.len() - named.len();
        let names = if more > 0 { format!("{}, … ({more} more)", quoted(named)) } else { quoted(named) };
        let problem = match missing.len() {
            1 => format!("task {names} is in no cluster"),
            _ => format!("tasks {names} are in no cluster"),
        };
        reader.refuse(raw, place, problem, "every task in the `tasks` of one cluster");
    }
}

#[derive(Debug, Clone, Copy)]
struct EntryAt {
    cluster: usize,
    position: usize,
}

impl EntryAt {
    fn path(self, list: &str) -> Path {
        Path::root().key("clusters").index(self.cluster).key(list).index(self.position)
    }
}

/// The stated reliance of a cluster; `None` where something wrong has been recorded.
fn reliance<'t>(reader: &mut Reader<'t>, raw: &'t str, place: &Place<'_>) -> Option<Reliance> {
    const NAMES: &str = "`nothing`, `neighbours` or `queue`";
    let name = reader.string(raw, place, NAMES)?;
    let reliance = Reliance::from_name(&name);
    if reliance.is_none() {
        reader.refuse(raw, place, format!("{} is nothing to rely on", quote(&name)), NAMES);
    }
    reliance
}

const A_CERTIFICATE: &str = "a certificate, as `rtflash alloc` writes it";

const KINDS: &str = "`stripe`, `cached-stripe`, `superblock`, `cached-superblock` or `zoned`";

/// How a certificate's pages are placed; `None` where something wrong has been recorded.
fn placement<'t>(reader: &mut Reader<'t>, raw: &'t str, place: &Place<'_>) -> Option<Placement> {
    let name = reader.string(raw, place, KINDS)?;
    let placement = Placement::ALL.into_iter().find(|each| each.name() == name);
    if placement.is_none() {
        reader.refuse(raw, place, format!("there is no kind {}", quote(&name)), KINDS);
    }
    placement
}

/// Nanoseconds that may be below zero; `None` where something wrong has been recorded.
fn slack_of<'t>(reader: &mut Reader<'t>, raw: &'t str, place: &Place<'_>) -> Option<i64> {
    let slack = raw.parse().ok();
    if slack.is_none() {
        reader.refuse(raw, place, "this is no time", "a whole number of nanoseconds");
    }
    slack
}

fn certificate<'t>(reader: &mut Reader<'t>, raw: &'t str, place: &Place<'_>) -> Option<Certificate> {
    const FIELDS: [&str; 10] = [
        "kind",
        "server_thousandths",
        "gc_deadline_ns",
        "reclaimed_pages",
        "reserve_pages",
        "victim_pages",
        "open_blocks",
        "tightest_ns",
        "slack_ns",
        "backfill",
    ];
    if JsonKind::of(raw) != JsonKind::Object {
        reader.refuse(raw, place, format!("this is {}", JsonKind::of(raw).noun()), A_CERTIFICATE);
        return None;
    }
    let [kind, server, deadline, pages @ .., tightest, slack, backfill] =
        reader.open_object(raw, place, &FIELDS, |_| ())?;
    let kind = reader.required(kind, raw, place, "kind", KINDS)?;
    let placement = placement(reader, kind, &place.key("kind"))?;
    let mut whole = |slot: Slot<'t>, key: &'static str, max: u64| match slot.or_null() {
        Slot::Given(raw) => reader.whole(raw, &place.key(key), max).map(Some),
        _ => Some(None),
    };
    const LONGEST: u64 = (1 << 63) - 1;
    let server = whole(server, FIELDS[1], 1_000)?;
    let server_thousandths = server.map_or(0, |server| u32::try_from(server).expect("at most 1000"));
    let deadline = whole(deadline, FIELDS[2], LONGEST)?.and_then(Span::from_ns);
    let mut counts = [None; 4];
    for ((count, slot), key) in counts.iter_mut().zip(pages).zip(&FIELDS[3..]) {
        *count = whole(slot, key, LONGEST)?;
    }
    let tightest = whole(tightest, FIELDS[7], LONGEST)?.and_then(Span::from_ns);
    let slack = match slack.or_null() {
        Slot::Given(text) => Some(slack_of(reader, text, &place.key("slack_ns"))?),
        _ => None,
    };
    let backfill = match backfill.or_null() {
        Slot::Given(text) => reader.truth(text, &place.key("backfill"))?,
        _ => true,
    };
    let collection = match counts {
        [None, None, None, None] => None,
        [Some(reclaimed_pages), Some(reserve_pages), Some(victim_pages), Some(open_blocks)] => {
            Some(Collection { deadline, reclaimed_pages, reserve_pages, victim_pages, open_blocks })
        }
        _ => {
            let expected =
                "all of `reclaimed_pages`, `reserve_pages`, `victim_pages` and `open_blocks`, or none of them";
            reader.refuse(raw, place, "only some numbers of garbage collection", expected);
            return None;
        }
    };
    let tightest = tightest.zip(slack).map(|(length, slack_ns)| Tightest { length, slack_ns });
    Some(Certificate { placement, collection, server_thousandths, backfill, tightest })
}
