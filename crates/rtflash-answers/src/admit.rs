//! The answer of `rtflash admit --format json`.

use rtflash_alloc::admission::{
    AddedHow, AdmissionRefusal, Admitted, CollectionStage, LeftOutServers, RunningDevice, StreamRefusal,
};
use rtflash_model::{ChipId, ClusterId, Job, Span, TaskId, TaskSet};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::parts::{CertificateAnswer, Text, chip_numbers, task_name, task_names};
use crate::verdicts::Verdicts;

/// The answer of `rtflash admit --format json`, on one line. It can be read as an allocation.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct AdmitAnswer<'a> {
    /// Whether all tasks that do not run yet may be added, and each job stream has a server. False
    /// is no proof that they may not.
    pub admitted: bool,
    /// The verdict of Theorem 1 on the set, and its guarantee.
    #[serde(flatten)]
    pub verdicts: Verdicts,
    /// The analysis by whose certificates the device runs.
    pub analysis: Text<'a>,
    /// Servers that get no more jobs; null where all go on. All that is said here is of the device
    /// from then on.
    pub left_out: Option<LeftOutAnswer>,
    /// The tasks that are added, in order, each behind the one before. Empty where one is refused.
    pub added: Vec<AddedTask<'a>>,
    /// The first task that is not.
    pub refused: Option<RefusedTask<'a>>,
    /// The job streams of the set, those that come already among them.
    pub streams: Vec<ServedStream<'a>>,
    /// Tasks that the allocation names and the task set does not have: gone, and settled.
    pub gone: Vec<Text<'a>>,
    /// The tasks that run now, and how long after its last request each may be left out of the task
    /// set.
    pub removable: Vec<RemovableTask<'a>>,
    /// The allocation by which the device runs with all tasks added; the present one if a task is
    /// refused.
    pub clusters: Vec<RunningCluster<'a>>,
}

/// A task that is added, in an [`AdmitAnswer`].
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct AddedTask<'a> {
    /// Its name.
    pub task: Text<'a>,
    /// The cluster that serves it, by position.
    pub cluster: usize,
    /// `kept`: by the certificate that it has; `changed`: its terms of garbage collection change;
    /// `new`: on chips that were free.
    pub change: Text<'static>,
    /// The time from the decision, and the one before it being carried out, until its first request
    /// may come, at most.
    pub ready_within_ns: u64,
    /// The terms of garbage collection by which each processor of the cluster goes on, one after
    /// another. Empty unless the terms change.
    pub stages: Vec<StageAnswer>,
}

/// Terms of garbage collection, in an [`AddedTask`]. A processor goes on by them from the first
/// instant on at which it has nothing to do and max(0, H − f) is below α. Its counter of R1 is that
/// then.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct StageAnswer {
    /// D_g.
    pub gc_deadline_ns: Option<u64>,
    /// α.
    pub reclaimed_pages: u64,
    /// H.
    pub reserve_pages: u64,
    /// v.
    pub victim_pages: u64,
    /// F.
    pub open_blocks: u64,
    /// Free pages beyond those that are pending with which a pass is left out: H, or more while the
    /// reserve is to grow.
    pub goal_pages: u64,
    /// GC jobs that are released beside those of R1.
    pub extra_passes: u64,
    /// The time between their releases; null without.
    pub spacing_ns: Option<u64>,
}

/// A task that is refused, in an [`AdmitAnswer`].
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct RefusedTask<'a> {
    /// Its name.
    pub task: Text<'a>,
    /// Why each cluster does not take it. Free chips do not suffice either.
    pub clusters: Vec<RefusingCluster>,
}

/// A cluster that does not take a task, in a [`RefusedTask`].
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct RefusingCluster {
    /// By position.
    pub cluster: usize,
    /// `data`, `no-reserve`, `server`, `late`, `neighbour` or `reserve`.
    pub reason: Text<'static>,
    /// The reason in words.
    pub detail: String,
}

/// A job stream, in an [`AdmitAnswer`]. Its jobs may come at once.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct ServedStream<'a> {
    /// Its name.
    pub stream: Text<'a>,
    /// A cluster, by position, whose server has room for it and the streams before it in the long
    /// run. Its jobs go to whichever server gives them the earliest deadline.
    pub cluster: Option<usize>,
    /// Null where there is one, else `no-server` or `full`.
    pub reason: Option<Text<'static>>,
    /// The reason in words; null where there is a cluster.
    pub detail: Option<String>,
}

/// Servers that are left out, in an [`AdmitAnswer`] and a [`MigrateAnswer`](crate::MigrateAnswer).
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct LeftOutAnswer {
    /// The chips of each cluster whose server gets no more jobs.
    pub chips: Vec<Vec<u32>>,
    /// From the end of their last job on: when what is said of the device begins, at most.
    pub within_ns: u64,
}

/// A task that runs, in an [`AdmitAnswer`].
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct RemovableTask<'a> {
    /// Its name.
    pub task: Text<'a>,
    /// From its last request on: when it may be left out. Null where that is not known.
    pub within_ns: Option<u64>,
}

/// A cluster, in an [`AdmitAnswer`].
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct RunningCluster<'a> {
    /// Its chips, ascending.
    pub chips: Vec<u32>,
    /// The names of its tasks.
    pub tasks: Vec<Text<'a>>,
    /// By what it runs.
    pub certificate: CertificateAnswer,
}

impl<'a> AddedTask<'a> {
    /// A task of the set that was admitted.
    pub fn new(set: &'a TaskSet, task: TaskId, admitted: &Admitted) -> AddedTask<'a> {
        let (change, stages) = match &admitted.change {
            AddedHow::Kept => ("kept", &[][..]),
            AddedHow::Staged(stages) => ("changed", &stages[..]),
            AddedHow::NewCluster => ("new", &[][..]),
        };
        AddedTask {
            task: task_name(set, task).into(),
            cluster: admitted.cluster.index(),
            change: change.into(),
            ready_within_ns: admitted.ready_within.as_ns(),
            stages: stages.iter().map(StageAnswer::new).collect(),
        }
    }
}

impl StageAnswer {
    fn new(stage: &CollectionStage) -> StageAnswer {
        StageAnswer {
            gc_deadline_ns: stage.collection.deadline.map(Span::as_ns),
            reclaimed_pages: stage.collection.reclaimed_pages,
            reserve_pages: stage.collection.reserve_pages,
            victim_pages: stage.collection.victim_pages,
            open_blocks: stage.collection.open_blocks,
            goal_pages: stage.goal_pages,
            extra_passes: stage.extra.map_or(0, |extra| extra.passes),
            spacing_ns: stage.extra.map(|extra| extra.spacing.as_ns()),
        }
    }
}

impl<'a> RefusedTask<'a> {
    /// A task of the set that was refused.
    pub fn new(set: &'a TaskSet, task: TaskId, refusals: &[(ClusterId, AdmissionRefusal)]) -> RefusedTask<'a> {
        let of = |&(cluster, refusal): &(ClusterId, AdmissionRefusal)| RefusingCluster {
            cluster: cluster.index(),
            reason: name(refusal).into(),
            detail: refusal.to_string(),
        };
        RefusedTask { task: task_name(set, task).into(), clusters: refusals.iter().map(of).collect() }
    }
}

impl<'a> ServedStream<'a> {
    /// A job stream of the set, and which cluster serves it.
    pub fn new(job: &'a Job, served: Result<ClusterId, StreamRefusal>) -> ServedStream<'a> {
        let reason = |refusal: &StreamRefusal| match refusal {
            StreamRefusal::NoServer => "no-server",
            StreamRefusal::Full => "full",
        };
        ServedStream {
            stream: job.name.as_str().into(),
            cluster: served.ok().map(ClusterId::index),
            reason: served.as_ref().err().map(|refusal| reason(refusal).into()),
            detail: served.as_ref().err().map(StreamRefusal::to_string),
        }
    }
}

impl<'a> RunningCluster<'a> {
    /// The clusters of what runs.
    pub fn all(set: &'a TaskSet, running: &RunningDevice) -> Vec<RunningCluster<'a>> {
        let of = running.clusters.iter().zip(&running.certificates);
        of.map(|(cluster, certificate)| RunningCluster {
            chips: chip_numbers(&cluster.chips),
            tasks: task_names(set, &cluster.tasks),
            certificate: CertificateAnswer::new(certificate),
        })
        .collect()
    }
}

impl<'a> RemovableTask<'a> {
    /// A task of the set, and how long after its last request it may be left out.
    pub fn new(set: &'a TaskSet, task: TaskId, within: Option<Span>) -> RemovableTask<'a> {
        RemovableTask { task: task_name(set, task).into(), within_ns: within.map(Span::as_ns) }
    }
}

impl LeftOutAnswer {
    /// The servers of what runs that do not go on.
    pub fn new(old: &RunningDevice, left_out: &LeftOutServers) -> LeftOutAnswer {
        let goes_on = |chips: &[ChipId]| {
            let mut after = left_out.running.clusters.iter().zip(&left_out.running.certificates);
            after.any(|(cluster, of)| cluster.chips == chips && of.server_thousandths > 0)
        };
        let servers = old.clusters.iter().zip(&old.certificates).filter(|(_, of)| of.server_thousandths > 0);
        let gone = servers.filter(|(cluster, _)| !goes_on(&cluster.chips));
        LeftOutAnswer {
            chips: gone.map(|(cluster, _)| chip_numbers(&cluster.chips)).collect(),
            within_ns: left_out.within.as_ns(),
        }
    }
}

fn name(refusal: AdmissionRefusal) -> &'static str {
    match refusal {
        AdmissionRefusal::Data => "data",
        AdmissionRefusal::NoReserve => "no-reserve",
        AdmissionRefusal::Server => "server",
        AdmissionRefusal::Late => "late",
        AdmissionRefusal::Neighbour(_) => "neighbour",
        AdmissionRefusal::Reserve => "reserve",
    }
}
