//! From one allocation to another while the device runs: which data move, in which order, at what
//! pace, for how long, with every deadline kept (docs/migration.md).

mod aside;
mod copy_server;
mod copying;
mod data;
mod near;
mod parts;
mod servers;
mod stage;

use std::collections::BTreeSet;

use rtflash_model::{ChipId, Cluster, ClusterId, Id, Placement, Reliance, Span, TaskId, TaskSet};

use super::admission::{AdmissionRefusal, Admitted, LeftOutServers, RunningDevice, StreamRefusal, served_streams};
pub use copy_server::CopyServer;
pub use parts::MovedParts;
use rtflash_analysis::Work;
use stage::{Goal, Scene};

/// How a task's data come to their new place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MovedBy {
    /// They are copied.
    Copies(CopyServer),
    /// Its writes go to both places for this number of requests; nothing is copied.
    Round(u64),
}

impl MovedBy {
    /// The copy server of the stage, if it copies.
    pub fn server(&self) -> Option<CopyServer> {
        match *self {
            MovedBy::Copies(server) => Some(server),
            MovedBy::Round(_) => None,
        }
    }
}

/// A task that moves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskMove {
    /// Its numbers in the stage's set.
    pub parts: MovedParts,
    /// The cluster that it leaves, among those that run during the stage.
    pub from: ClusterId,
    /// The number of pages of its data, from the begin of its range.
    pub pages: u64,
    /// How they come to their new place.
    pub by: MovedBy,
    /// How the copy server's writes join a cluster that runs; `None` where that one is new.
    pub joins: Option<Admitted>,
    /// From the stage's start on: the first page is asked for, or writes go to both places.
    pub copying_after: Span,
    /// From the stage's start on, at most; a task that goes round is supposed to write each period.
    pub copied_within: Span,
    /// The clusters that run meanwhile, the requests of a copy server among the tasks.
    pub copying: RunningDevice,
    /// The stage's set, with a copy server where there is one.
    pub copying_set: TaskSet,
}

/// Some tasks move to one cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stage {
    /// The tasks of the set, and the parts of those that move ([`MovedParts`]).
    pub set: TaskSet,
    /// The clusters that run when it begins: numbers are those of the set of all tasks.
    pub before: RunningDevice,
    /// The chips of the cluster that they move to.
    pub chips: Vec<ChipId>,
    /// Its position while they do: behind the others where it is new.
    pub cluster: ClusterId,
    /// How long its chips are erased first; `None` where there is nothing to be erased.
    pub erase: Option<Span>,
    /// How each task joins it, one behind the other; empty where the cluster is new.
    pub joins: Vec<Admitted>,
    /// The tasks that move, in the order in which they are copied.
    pub moves: Vec<TaskMove>,
    /// The clusters that run before the first page is copied, and after the last one is.
    pub mirrored: RunningDevice,
    /// The clusters that run from the switch on, until nothing is left of the tasks at their old
    /// places.
    pub together: RunningDevice,
    /// From the stage's start on: when requests go to the new cluster alone, at most.
    pub switched_within: Span,
    /// From the stage's start on: when nothing is left of it at the old places, at most.
    pub over_within: Span,
    /// The clusters that run then: numbers are those of the set of all tasks.
    pub after: RunningDevice,
}

/// The way from one allocation to another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Migration {
    /// Servers that get no more jobs, and are left out before the first stage begins.
    pub left_out: Option<LeftOutServers>,
    /// One behind the other.
    pub stages: Vec<Stage>,
    /// The clusters that run at the end.
    pub running: RunningDevice,
}

impl Migration {
    /// At most, from the end of the last job on where servers are left out; `None` from 2⁶³ ns on.
    pub fn within(&self) -> Option<Span> {
        let begins = self.left_out.as_ref().map_or(Span::ZERO, |of| of.within);
        self.stages.iter().try_fold(begins, |sum, stage| sum.checked_add(stage.over_within))
    }
}

/// Why a cluster of the new allocation was not made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum StageRefusal {
    /// One of its chips serves a cluster that does not get free.
    #[error("chip {0} serves a cluster that does not get free")]
    Chip(ChipId),
    /// This cluster's server is perhaps never idle: it is not known when nothing is left beside it.
    #[error("cluster {0} has a server for job streams, and may never be idle")]
    Server(ClusterId),
    /// With commands on the bus, chips that served tasks are not erased while others run.
    #[error("chip {0} would be erased while commands of others use its bus")]
    EraseCommands(ChipId),
    /// A task that owns zones, or would, states no data, or writes something else than a stream.
    #[error("in zones it has to state its `data_pages`, and to write nothing but a stream")]
    Zones(TaskId),
    /// The data do not fit.
    #[error("the data do not fit")]
    Data,
    /// A task does not say what it keeps, and would have fewer pages than it has now.
    #[error("it states no `data_pages`, and would have fewer than it has now")]
    Share(TaskId),
    /// A task goes round in its range, and would have another one, or states no data.
    #[error("it goes round in its range, and would have another one")]
    Range(TaskId),
    /// It is not in time with the tasks that move, by no certificate that was tried.
    #[error("no certificate was found by which it is in time")]
    Late,
    /// An existing cluster does not take this task: why; `None` where the task runs nowhere.
    #[error("{why}", why = not_admitted(.1.as_ref()))]
    NotAdmitted(TaskId, Option<AdmissionRefusal>),
    /// With this task an existing cluster's load is at least this, whatever its certificate.
    #[error(
        "with it the utilization of the cluster that runs is at least {}.{:03}",
        .thousandths / 1_000,
        .thousandths % 1_000
    )]
    Overloaded {
        /// The task.
        task: TaskId,
        /// The load, in thousandths.
        thousandths: u64,
    },
    /// All of the cluster's rows are taken: a copy server counts as a task of one.
    #[error("the cluster would be full, without a row for what copies")]
    Full(TaskId),
    /// There is no time left in which this task's pages could be copied.
    #[error("no time is left in which its pages could be copied")]
    NoTimeToCopy(TaskId),
    /// It is not known when nothing is left of what is taken away.
    #[error("it is not known when nothing is left of it at its old place")]
    NotSettled(TaskId),
    /// It is too long for what the program counts: 2⁶³ ns.
    #[error("it would take 2^63 ns or more")]
    TooLong,
}

fn not_admitted(why: Option<&AdmissionRefusal>) -> String {
    why.map_or_else(|| "it runs nowhere".into(), |why| format!("the cluster that runs does not take it: {why}"))
}

impl StageRefusal {
    /// The task that it is about, if it is about one.
    pub fn task(&self) -> Option<TaskId> {
        match *self {
            StageRefusal::Zones(task)
            | StageRefusal::Share(task)
            | StageRefusal::Range(task)
            | StageRefusal::NotAdmitted(task, _)
            | StageRefusal::Overloaded { task, .. }
            | StageRefusal::Full(task)
            | StageRefusal::NoTimeToCopy(task)
            | StageRefusal::NotSettled(task) => Some(task),
            _ => None,
        }
    }
}

/// Why no way was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MigrationRefusal {
    /// No server has room for this job stream; no stage moves one, and new clusters have none.
    Stream(usize, StreamRefusal),
    /// The cluster, of the new allocation where that is true, is not in time, or has no room.
    NotInTime(ClusterId, bool),
    /// The two do not serve the same tasks: one that only one of them serves.
    OtherTasks(TaskId),
    /// The stages found, and why each missing cluster of the new allocation was not made.
    NoWay(Vec<Stage>, Vec<(ClusterId, StageRefusal)>),
}

/// How a way is looked for.
#[derive(Debug, Clone, Copy)]
pub struct MigrationOptions<'a> {
    /// Placements that a cluster in between may have.
    pub placements: &'a [Placement],
    /// The most that promises may rely on.
    pub granted: Reliance,
    /// Pages that may be on their way at a time: read, and not yet at their new place.
    pub buffer_pages: u64,
}

/// A way between two allocations of the same tasks with certificates. Servers in the way are left
/// out where there is none else. Clusters are made one behind the other, the lowest position first;
/// where none can be, one in the way moves aside.
///
/// # Errors
/// Why none was found. That is no proof that there is none.
pub fn migrate(
    set: &TaskSet,
    old: &RunningDevice,
    new: &RunningDevice,
    options: MigrationOptions<'_>,
    work: &Work,
) -> Result<Migration, MigrationRefusal> {
    refuse(set, old, new, options.granted, work)?;
    let found = ways(set, (old, old), new, options, work);
    if set.jobs().is_empty() {
        return found;
    }
    let found = match found {
        Err(refusal) => servers::without(set, old, new, options, work)?.ok_or(refusal)?,
        Ok(found) => found,
    };
    let served = served_streams(set, &found.running, options.granted, work);
    match served.into_iter().enumerate().find_map(|(number, served)| Some((number, served.err()?))) {
        Some((number, refusal)) => Err(MigrationRefusal::Stream(number, refusal)),
        None => Ok(found),
    }
}

/// A way by what runs; chips of what ran before have served tasks or jobs.
fn ways(
    set: &TaskSet,
    (before, old): (&RunningDevice, &RunningDevice),
    new: &RunningDevice,
    options: MigrationOptions<'_>,
    work: &Work,
) -> Result<Migration, MigrationRefusal> {
    let chips = |of: &RunningDevice| -> BTreeSet<ChipId> {
        of.clusters.iter().flat_map(|cluster| cluster.chips.iter().copied()).collect()
    };
    let mut used = chips(before);
    let (mut now, mut stages, mut seen) = (old.clone(), Vec::new(), Vec::new());
    let mut aside = 2 * old.clusters.len();
    loop {
        let missing: Vec<usize> = (0..new.clusters.len()).filter(|&at| !is_made(&now, &new.clusters[at])).collect();
        if missing.is_empty() {
            return Ok(Migration { left_out: None, stages, running: now });
        }
        let taken = chips(&now);
        used.extend(&taken);
        let scene = Scene { set, now: &now, taken: &taken, used: &used, options, work };
        let mut refusals = Vec::new();
        let mut made = None;
        for &at in &missing {
            let goal = Goal { cluster: &new.clusters[at], placement: Some(new.certificates[at].placement) };
            match scene.stage(goal) {
                Ok(stage) => {
                    made = Some(stage);
                    break;
                }
                Err(refusal) => refusals.push((ClusterId::from_index(at), refusal)),
            }
        }
        // From where it has been before, the search would go round.
        let state = (now.clone(), used.clone());
        if made.is_none() && aside > 0 && !seen.contains(&state) {
            aside -= 1;
            seen.push(state);
            let missing: Vec<&Cluster> = missing.iter().map(|&at| &new.clusters[at]).collect();
            made = scene.aside(&missing);
        }
        let Some(stage) = made else { return Err(MigrationRefusal::NoWay(stages, refusals)) };
        now = stage.after.clone();
        stages.push(stage);
    }
}

/// Whether a cluster runs as it is to be. A cluster that serves jobs alone is not made.
fn is_made(now: &RunningDevice, goal: &Cluster) -> bool {
    goal.tasks.is_empty() || runs(now, goal)
}

fn runs(now: &RunningDevice, goal: &Cluster) -> bool {
    now.clusters.iter().any(|cluster| cluster.chips == goal.chips && cluster.tasks == goal.tasks)
}

fn refuse(
    set: &TaskSet,
    old: &RunningDevice,
    new: &RunningDevice,
    granted: Reliance,
    work: &Work,
) -> Result<(), MigrationRefusal> {
    let serves = |of: &RunningDevice, task: TaskId| of.clusters.iter().any(|cluster| cluster.tasks.contains(&task));
    if let Some(task) = set.tasks().ids().find(|&task| serves(old, task) != serves(new, task)) {
        return Err(MigrationRefusal::OtherTasks(task));
    }
    for (device, is_new) in [(old, false), (new, true)] {
        if let Some(late) = device.late(set, granted, work) {
            return Err(MigrationRefusal::NotInTime(late, is_new));
        }
    }
    Ok(())
}
