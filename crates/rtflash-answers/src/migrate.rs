//! The answer of `rtflash migrate --format json`.

use rtflash_alloc::admission::RunningDevice;
use rtflash_alloc::migration::{Migration, MovedBy, Stage, StageRefusal, TaskMove};
use rtflash_analysis::Analysis;
use rtflash_model::{Cluster, ClusterId, Span, TaskSet};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::admit::{AddedTask, LeftOutAnswer, RunningCluster, ServedStream};
use crate::parts::{Text, chip_numbers, task_name, task_names};
use crate::verdicts::{Verdict, Verdicts};

/// The answer of `rtflash migrate --format json`, on one line. It can be read as an allocation.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct MigrateAnswer<'a> {
    /// Whether a way was found. False is no proof that there is none.
    pub found: bool,
    /// Theorem 1's verdict on the set, and whether its deadlines are guaranteed on the way and in
    /// the end.
    #[serde(flatten)]
    pub verdicts: Verdicts,
    /// The analysis by whose certificates the device runs.
    pub analysis: Text<'a>,
    /// Servers that get no more jobs before the first stage begins; null where all go on.
    pub left_out: Option<LeftOutAnswer>,
    /// The first job stream that no server would have room for in the end; null where there is
    /// none.
    pub unserved: Option<ServedStream<'a>>,
    /// The time that all stages take, at most, from the end of the last job on where servers are
    /// left out; null where no way was found.
    pub within_ns: Option<u64>,
    /// One behind the other. Empty where no way was found, and where there is nothing to do.
    pub stages: Vec<MovingStage<'a>>,
    /// Clusters of the new allocation that could not be made, where no way was found.
    pub missing: Vec<MissingCluster<'a>>,
    /// The analysis by which `check` accepts `clusters`: `sound`, if these are not all of the kind
    /// that `analysis` makes; null if no way was found.
    pub accepted_by: Option<Text<'a>>,
    /// The allocation by which the device runs in the end; the present one if no way was found.
    pub clusters: Vec<RunningCluster<'a>>,
}

/// Tasks that move to one cluster, in a [`MigrateAnswer`]. Times are counted from the stage's
/// start.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct MovingStage<'a> {
    /// The chips of the cluster.
    pub chips: Vec<u32>,
    /// How long these chips are erased first; null where they need not be.
    pub erase_ns: Option<u64>,
    /// How the tasks join a cluster that runs; empty where it is a new one, which begins with the
    /// reserve of its certificate.
    pub joins: Vec<AddedTask<'a>>,
    /// The tasks that move, in the order in which they are copied.
    pub moves: Vec<MovingTask<'a>>,
    /// When requests go to the new place alone, at most.
    pub switched_within_ns: u64,
    /// When nothing is left at the old places, at most.
    pub over_within_ns: u64,
    /// The allocation that runs while the stage is under way, the tasks that move still at their
    /// old places.
    pub clusters: Vec<RunningCluster<'a>>,
    /// The outcome of a run of the stage; null if none was asked for.
    pub executed: Option<StageExecution<'a>>,
}

/// A task that moves, in a [`MovingStage`].
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct MovingTask<'a> {
    /// Its name.
    pub task: Text<'a>,
    /// The chips that it leaves.
    pub from: Vec<u32>,
    /// Pages of data, from the first of its range on, which are copied in this order.
    pub pages: u64,
    /// Pages that its copy server reads in each period, and writes in the next; null where nothing
    /// is copied, as its own writes bring all of the data.
    pub pages_a_period: Option<u64>,
    /// That period: the deadline, too.
    pub period_ns: Option<u64>,
    /// Pages that the copy server holds at a time, at most.
    pub buffer_pages: Option<u64>,
    /// How many of its own write requests bring all of the data, as it goes round in zones; null
    /// where they are copied.
    #[serde(default)]
    pub round_requests: Option<u64>,
    /// Whether it writes: then its writes go to both places until the switch.
    pub mirrored: bool,
    /// When the first page is asked for, or written to both places.
    pub copying_after_ns: u64,
    /// When the last one is at its new place, at most; without a copy server that supposes that its
    /// writes come each period.
    pub copied_within_ns: u64,
}

/// A run of a stage, in a [`MovingStage`].
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct StageExecution<'a> {
    /// Whether no check fails, lateness among them.
    pub passes: bool,
    /// Operations of chips.
    pub operations: u64,
    /// Simulated time.
    pub duration_ns: u64,
    /// The checks that fail.
    pub broken: Vec<Text<'a>>,
}

/// A cluster that could not be made, in a [`MigrateAnswer`].
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct MissingCluster<'a> {
    /// Its position in the new allocation.
    pub cluster: usize,
    /// Its chips.
    pub chips: Vec<u32>,
    /// The names of its tasks.
    pub tasks: Vec<Text<'a>>,
    /// `chip`, `server`, `erase`, `zones`, `data`, `share`, `range`, `late`, `not-admitted`,
    /// `overloaded`, `full`, `no-time`, `not-settled` or `too-long`.
    pub reason: Text<'static>,
    /// The task that this is about; null where it is about none.
    pub task: Option<Text<'a>>,
    /// The reason in words.
    pub detail: String,
}

impl<'a> MovingStage<'a> {
    /// A stage of a migration of this set.
    pub fn new(set: &'a TaskSet, stage: &Stage) -> MovingStage<'a> {
        let own = |place: usize| stage.moves[place].parts.task;
        MovingStage {
            chips: chip_numbers(&stage.chips),
            erase_ns: stage.erase.map(Span::as_ns),
            joins: (0..stage.joins.len()).map(|at| AddedTask::new(set, own(at), &stage.joins[at])).collect(),
            moves: stage.moves.iter().map(|of| MovingTask::new(set, stage, of)).collect(),
            switched_within_ns: stage.switched_within.as_ns(),
            over_within_ns: stage.over_within.as_ns(),
            clusters: RunningCluster::all(set, &stage.before),
            executed: None,
        }
    }
}

impl<'a> MovingTask<'a> {
    fn new(set: &'a TaskSet, stage: &Stage, of: &TaskMove) -> MovingTask<'a> {
        let server = of.by.server();
        MovingTask {
            task: task_name(set, of.parts.task).into(),
            from: chip_numbers(&stage.before.clusters[of.from.index()].chips),
            pages: of.pages,
            pages_a_period: server.map(|server| server.pages),
            period_ns: server.map(|server| server.period.as_ns()),
            buffer_pages: server.map(|server| server.buffer_pages(of.pages)),
            round_requests: match of.by {
                MovedBy::Round(requests) => Some(requests),
                MovedBy::Copies(_) => None,
            },
            mirrored: of.parts.mirror.is_some(),
            copying_after_ns: of.copying_after.as_ns(),
            copied_within_ns: of.copied_within.as_ns(),
        }
    }
}

impl<'a> MissingCluster<'a> {
    /// A cluster of the new allocation, at this position, and why it could not be made.
    pub fn new(set: &'a TaskSet, position: ClusterId, cluster: &Cluster, refusal: StageRefusal) -> MissingCluster<'a> {
        MissingCluster {
            cluster: position.index(),
            chips: chip_numbers(&cluster.chips),
            tasks: task_names(set, &cluster.tasks),
            reason: name(refusal).into(),
            task: refusal.task().map(|task| task_name(set, task).into()),
            detail: refusal.to_string(),
        }
    }
}

impl<'a> MigrateAnswer<'a> {
    /// A way that was found.
    pub fn found(
        set: &'a TaskSet,
        analysis: &'static dyn Analysis,
        old: &RunningDevice,
        migration: &Migration,
    ) -> MigrateAnswer<'a> {
        MigrateAnswer {
            found: true,
            verdicts: Verdicts::of(set, analysis, &Verdict::YES),
            analysis: analysis.name().into(),
            left_out: migration.left_out.as_ref().map(|of| LeftOutAnswer::new(old, of)),
            within_ns: migration.within().map(Span::as_ns),
            stages: migration.stages.iter().map(|stage| MovingStage::new(set, stage)).collect(),
            clusters: RunningCluster::all(set, &migration.running),
            ..MigrateAnswer::default()
        }
    }
}

fn name(refusal: StageRefusal) -> &'static str {
    match refusal {
        StageRefusal::Chip(_) => "chip",
        StageRefusal::Server(_) => "server",
        StageRefusal::EraseCommands(_) => "erase",
        StageRefusal::Zones(_) => "zones",
        StageRefusal::Data => "data",
        StageRefusal::Share(_) => "share",
        StageRefusal::Range(_) => "range",
        StageRefusal::Late => "late",
        StageRefusal::NotAdmitted(..) => "not-admitted",
        StageRefusal::Overloaded { .. } => "overloaded",
        StageRefusal::Full(_) => "full",
        StageRefusal::NoTimeToCopy(_) => "no-time",
        StageRefusal::NotSettled(_) => "not-settled",
        StageRefusal::TooLong => "too-long",
    }
}
