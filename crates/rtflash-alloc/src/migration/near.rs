//! The clusters on whose load a step of a stage depends.

use rtflash_model::{ChipId, Cluster, ClusterId, Device, Id, Task, TaskId, TaskSet};

use super::parts::StageTasks;
use crate::admission::{AdmissionRefusal, RunningDevice};

/// The clusters around some places, and their tasks, renumbered in order: tests of these places and
/// of those on their channels give the answers of the whole device.
#[derive(Debug)]
pub(super) struct Near {
    /// Those that share a channel with the places, and those that share one with these.
    clusters: Vec<usize>,
    numbers: Vec<TaskId>,
    tasks: Vec<Task>,
}

impl Near {
    /// In devices with the same clusters but other tasks, and `more` tasks; `all` has every task.
    pub(super) fn new(
        device: &Device,
        all: &[Task],
        devices: &[&RunningDevice],
        places: &[usize],
        more: Option<TaskId>,
    ) -> Near {
        let of = &devices[0].clusters;
        let clusters = beside(device, of, &beside(device, of, places));
        let served = devices.iter().flat_map(|of| clusters.iter().flat_map(|&at| &of.clusters[at].tasks));
        let mut numbers: Vec<TaskId> = served.copied().chain(more).collect();
        numbers.sort_unstable();
        numbers.dedup();
        let tasks = numbers.iter().map(|task| all[task.index()].clone()).collect();
        Near { clusters, numbers, tasks }
    }

    pub(super) fn task(&self, task: TaskId) -> TaskId {
        TaskId::from_index(self.numbers.binary_search(&task).expect("a task of these clusters"))
    }

    pub(super) fn place(&self, position: usize) -> usize {
        self.clusters.binary_search(&position).expect("one of these clusters")
    }

    pub(super) fn running(&self, of: &RunningDevice) -> RunningDevice {
        let cluster = |&at: &usize| {
            let Cluster { chips, tasks } = &of.clusters[at];
            Cluster { chips: chips.clone(), tasks: tasks.iter().map(|&task| self.task(task)).collect() }
        };
        let certificates = self.clusters.iter().map(|&at| of.certificates[at]).collect();
        RunningDevice { clusters: self.clusters.iter().map(cluster).collect(), certificates }
    }

    /// It names the cluster as it is numbered on the device.
    pub(super) fn refusal(&self, of: AdmissionRefusal) -> AdmissionRefusal {
        match of {
            AdmissionRefusal::Neighbour(at) => {
                AdmissionRefusal::Neighbour(ClusterId::from_index(self.clusters[at.index()]))
            }
            other => other,
        }
    }

    pub(super) fn set(&self, device: &Device) -> Option<TaskSet> {
        TaskSet::new(*device, self.tasks.clone(), Vec::new()).ok()
    }
}

#[derive(Debug)]
pub(super) struct NearStage {
    pub(super) tasks: StageTasks,
    pub(super) mirrored: RunningDevice,
    pub(super) together: RunningDevice,
    pub(super) task: TaskId,
    pub(super) places: [usize; 2],
}

impl NearStage {
    pub(super) fn new(
        device: &Device,
        tasks: &StageTasks,
        [mirrored, together]: [&RunningDevice; 2],
        task: TaskId,
        places: [usize; 2],
    ) -> NearStage {
        let near = Near::new(device, &tasks.all, &[mirrored, together], &places, None);
        NearStage {
            mirrored: near.running(mirrored),
            together: near.running(together),
            task: near.task(task),
            places: places.map(|at| near.place(at)),
            tasks: StageTasks { all: near.tasks, parts: Vec::new() },
        }
    }
}

/// Clusters that share a channel with some, these included, and ascending.
pub(super) fn beside(device: &Device, clusters: &[Cluster], places: &[usize]) -> Vec<usize> {
    // Chips ascend: of each channel the first one says it.
    let channels = |at: usize| {
        let of = |chips: &[ChipId]| device.channel_of(chips[0].0);
        clusters[at].chips.chunk_by(|a, b| device.channel_of(a.0) == device.channel_of(b.0)).map(of)
    };
    let mut of: Vec<u32> = places.iter().flat_map(|&at| channels(at)).collect();
    of.sort_unstable();
    of.dedup();
    (0..clusters.len()).filter(|&at| channels(at).any(|channel| of.binary_search(&channel).is_ok())).collect()
}
