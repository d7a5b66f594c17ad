//! An allocation: which chips form a cluster, and which cluster serves a task.

use crate::certificate::Certificate;
use crate::ids::{ChipId, PerId, TaskId};
use crate::reliance::Reliance;

/// Φ and Λ together: a partition of (some of) the chips into clusters, and a cluster for every
/// task. Kept flat: two allocations of memory, whatever the number of clusters.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Allocation {
    cluster_of_chip: PerId<ChipId, u32>,
    cluster_of_task: PerId<TaskId, u32>,
    sizes: u32,
    certificates: Vec<Option<Certificate>>,
    /// The remarks on each cluster; empty if there are none.
    remarks: Vec<Remarks>,
}

/// Statements about a cluster, of which nothing is computed.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Remarks {
    /// The stated reliance.
    pub relies_on: Option<Reliance>,
    /// Names of tasks that it is said to serve and that the task set does not have.
    pub gone_tasks: Vec<String>,
}

const NONE: u32 = u32::MAX;

/// One cluster φ of an [`Allocation`].
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Cluster {
    /// Its chips, ascending. Never empty.
    pub chips: Vec<ChipId>,
    /// Its tasks, ascending.
    pub tasks: Vec<TaskId>,
}

impl Cluster {
    /// The cluster of the chips and tasks with these numbers, both ascending.
    pub fn of(chips: impl IntoIterator<Item = u32>, tasks: impl IntoIterator<Item = u32>) -> Cluster {
        Cluster { chips: chips.into_iter().map(ChipId).collect(), tasks: tasks.into_iter().map(TaskId).collect() }
    }

    /// s = |φ|: how many chips it has.
    pub fn size(&self) -> u32 {
        u32::try_from(self.chips.len()).expect("a device has at most 2²⁰ chips")
    }
}

/// Why chips and tasks do not make an allocation.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AllocationError {
    /// This cluster (by position) has no chips.
    #[error("cluster {0} has no chips")]
    EmptyCluster(usize),
    /// This chip is named in two clusters, or twice in one.
    #[error("chip {0} is used twice")]
    ChipTwice(ChipId),
    /// There is no such chip.
    #[error("there is no chip {0}")]
    NoSuchChip(ChipId),
    /// This task is in two clusters, or twice in one.
    #[error("task {0} is placed twice")]
    TaskTwice(TaskId),
    /// There is no such task.
    #[error("there is no task {0}")]
    NoSuchTask(TaskId),
    /// This task is in no cluster.
    #[error("task {0} is in no cluster")]
    TaskMissing(TaskId),
}

impl Allocation {
    /// For a device of `chips` chips and a set of `tasks` tasks. Chips may be left out, tasks may
    /// not.
    ///
    /// # Errors
    /// The first thing found wrong.
    pub fn new(chips: u32, tasks: usize, clusters: &[Cluster]) -> Result<Allocation, AllocationError> {
        let mut cluster_of_chip = PerId::filled(NONE, chips);
        let mut cluster_of_task = PerId::from(vec![NONE; tasks]);
        for (position, cluster) in clusters.iter().enumerate() {
            if cluster.chips.is_empty() {
                return Err(AllocationError::EmptyCluster(position));
            }
            // At most one cluster a chip, and chips are counted in 32 bits; a longer list fails
            // below.
            let mark = u32::try_from(position).unwrap_or(NONE - 1);
            for &chip in &cluster.chips {
                match cluster_of_chip.get_mut(chip) {
                    None => return Err(AllocationError::NoSuchChip(chip)),
                    Some(taken) if *taken != NONE => return Err(AllocationError::ChipTwice(chip)),
                    Some(free) => *free = mark,
                }
            }
            for &task in &cluster.tasks {
                match cluster_of_task.get_mut(task) {
                    None => return Err(AllocationError::NoSuchTask(task)),
                    Some(taken) if *taken != NONE => return Err(AllocationError::TaskTwice(task)),
                    Some(free) => *free = mark,
                }
            }
        }
        if let Some((task, _)) = cluster_of_task.enumerate().find(|&(_, &cluster)| cluster == NONE) {
            return Err(AllocationError::TaskMissing(task));
        }
        let sizes = u32::try_from(clusters.len()).unwrap_or(NONE);
        Ok(Allocation { cluster_of_chip, cluster_of_task, sizes, certificates: Vec::new(), remarks: Vec::new() })
    }

    /// Chip c in the cluster `of_chip[c]`, task i in `of_task[i]`; clusters are numbered by their
    /// lowest chip. `None` where a chip's number skips one, or a task's cluster has no chip.
    pub fn from_owners(of_chip: PerId<ChipId, u32>, of_task: PerId<TaskId, u32>) -> Option<Allocation> {
        let mut next = 0;
        for &cluster in &of_chip {
            match cluster.cmp(&next) {
                std::cmp::Ordering::Less => {}
                std::cmp::Ordering::Equal => next += 1,
                std::cmp::Ordering::Greater => return None,
            }
        }
        of_task.iter().all(|&cluster| cluster < next).then_some(Allocation {
            cluster_of_chip: of_chip,
            cluster_of_task: of_task,
            sizes: next,
            certificates: Vec::new(),
            remarks: Vec::new(),
        })
    }

    /// One for each cluster in order; clusters beyond the end of the list get none.
    #[must_use]
    pub fn with_certificates(mut self, mut certificates: Vec<Option<Certificate>>) -> Allocation {
        certificates.resize(self.len(), None);
        if certificates.iter().all(Option::is_none) {
            certificates.clear();
        }
        self.certificates = certificates;
        self
    }

    /// One for each cluster in order; clusters beyond the end of the list get none.
    #[must_use]
    pub fn with_remarks(mut self, mut remarks: Vec<Remarks>) -> Allocation {
        remarks.resize(self.len(), Remarks::default());
        if remarks.iter().all(|each| *each == Remarks::default()) {
            remarks.clear();
        }
        self.remarks = remarks;
        self
    }

    /// The remarks on the cluster at this position; `None` where nothing is.
    pub fn remarks(&self, cluster: usize) -> Option<&Remarks> {
        self.remarks.get(cluster)
    }

    /// The certificate of the cluster at this position; `None` where none does.
    pub fn certificate(&self, cluster: usize) -> Option<&Certificate> {
        self.certificates.get(cluster)?.as_ref()
    }

    /// The certificate of each cluster; `None` where one has none.
    pub fn certificates(&self) -> Option<Vec<Certificate>> {
        (0..self.len()).map(|cluster| self.certificate(cluster).copied()).collect()
    }

    /// Whether every cluster has a certificate.
    pub fn is_certified(&self) -> bool {
        !self.certificates.is_empty() && self.certificates.iter().all(Option::is_some)
    }

    /// How many clusters there are.
    pub fn len(&self) -> usize {
        self.sizes as usize
    }

    /// Whether there is no cluster at all.
    pub fn is_empty(&self) -> bool {
        self.sizes == 0
    }

    /// The cluster (by position) of a chip; `None` for a chip in no cluster or beyond the device.
    pub fn cluster_of_chip(&self, chip: ChipId) -> Option<usize> {
        self.cluster_of_chip.get(chip).filter(|&&cluster| cluster != NONE).map(|&cluster| cluster as usize)
    }

    /// The cluster (by position) of a task; `None` for a task beyond the set.
    pub fn cluster_of_task(&self, task: TaskId) -> Option<usize> {
        self.cluster_of_task.get(task).map(|&cluster| cluster as usize)
    }

    /// The clusters, in order, with their chips and tasks.
    pub fn clusters(&self) -> Vec<Cluster> {
        let mut clusters = vec![Cluster::default(); self.len()];
        for (chip, &cluster) in self.cluster_of_chip.enumerate() {
            if cluster != NONE {
                clusters[cluster as usize].chips.push(chip);
            }
        }
        for (task, &cluster) in self.cluster_of_task.enumerate() {
            clusters[cluster as usize].tasks.push(task);
        }
        clusters
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cluster(chips: &[u32], tasks: &[u32]) -> Cluster {
        Cluster::of(chips.iter().copied(), tasks.iter().copied())
    }

    #[test]
    fn clusters_come_back_as_they_were_given() {
        let clusters = [cluster(&[1, 3], &[0]), cluster(&[0], &[]), cluster(&[4], &[1, 2])];
        let allocation = Allocation::new(6, 3, &clusters).unwrap();
        assert_eq!(allocation.clusters(), clusters);
        assert_eq!(
            (
                allocation.cluster_of_chip(ChipId(3)),
                allocation.cluster_of_chip(ChipId(2)),
                allocation.cluster_of_task(TaskId(2))
            ),
            (Some(0), None, Some(2))
        );
    }

    #[test]
    fn what_is_no_partition_is_refused() {
        for (clusters, error) in [
            (vec![cluster(&[], &[0])], AllocationError::EmptyCluster(0)),
            (vec![cluster(&[0, 0], &[0])], AllocationError::ChipTwice(ChipId(0))),
            (vec![cluster(&[0], &[0]), cluster(&[0], &[])], AllocationError::ChipTwice(ChipId(0))),
            (vec![cluster(&[2], &[0])], AllocationError::NoSuchChip(ChipId(2))),
            (vec![cluster(&[0], &[0, 0])], AllocationError::TaskTwice(TaskId(0))),
            (vec![cluster(&[0], &[1])], AllocationError::NoSuchTask(TaskId(1))),
            (vec![cluster(&[0], &[])], AllocationError::TaskMissing(TaskId(0))),
        ] {
            assert_eq!(Allocation::new(2, 1, &clusters), Err(error));
        }
    }

    #[test]
    fn owners_are_numbered_by_lowest_chip() {
        assert_eq!(
            Allocation::from_owners(vec![0, 1, 0].into(), vec![1].into()).map(|a| a.clusters()),
            Some(vec![cluster(&[0, 2], &[]), cluster(&[1], &[0])])
        );
        assert!(Allocation::from_owners(vec![1, 0].into(), vec![].into()).is_none());
        assert!(Allocation::from_owners(vec![0].into(), vec![1].into()).is_none());
    }
}
