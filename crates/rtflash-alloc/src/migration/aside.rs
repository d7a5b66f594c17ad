//! Clusters that move out of the way of others.

use rtflash_analysis::certified::{LeastShares, SURELY_ABOVE_ONE};
use rtflash_model::{ChipId, Cluster, TaskId};

use super::stage::{Goal, Scene};
use super::{Stage, StageRefusal};

impl Scene<'_> {
    /// The reason, without a test, for which a cluster that runs does not take these tasks.
    pub(super) fn overloaded(&self, position: usize, moving: &[TaskId]) -> Option<StageRefusal> {
        let (cluster, placement) = (&self.now.clusters[position], self.now.certificates[position].placement);
        let tasks = cluster.tasks.iter().chain(moving).map(|&task| &self.set.tasks()[task]);
        let shares = LeastShares::new(self.set.device(), tasks, cluster.size(), placement);
        let load = |moved: usize| shares.of(0..cluster.tasks.len() + moved).alone();
        let moved = (1..=moving.len()).find(|&moved| load(moved) > SURELY_ABOVE_ONE)?;
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // Above zero, and saturates.
        let thousandths = (load(moved) * 1_000.0) as u64;
        Some(StageRefusal::Overloaded { task: moving[moved - 1], thousandths })
    }

    /// Moves a cluster out of the way of a missing one: to free chips that this one does not want,
    /// or to a cluster that runs elsewhere. The one with the fewest in its way goes first.
    pub(super) fn aside(&self, missing: &[&Cluster]) -> Option<Stage> {
        // Chips of a cluster ascend.
        let wants = |goal: &Cluster, chip: &ChipId| goal.chips.binary_search(chip).is_ok();
        let blocks = |goal: &Cluster, cluster: &&Cluster| cluster.chips.iter().any(|chip| wants(goal, chip));
        let in_the_way = |goal: &Cluster| self.now.clusters.iter().filter(|cluster| blocks(goal, cluster)).count();
        let mut goals: Vec<&Cluster> = missing.to_vec();
        goals.sort_by_key(|goal| in_the_way(goal));
        for goal in goals {
            let is_free = |chip: &ChipId| !self.taken.contains(chip) && !wants(goal, chip);
            let free: Vec<ChipId> = ChipId::first(self.set.device().chips()).filter(is_free).collect();
            for cluster in self.now.clusters.iter().filter(|cluster| blocks(goal, cluster)) {
                let sizes = (1..=free.len()).filter(|size| size.is_power_of_two() || *size == free.len());
                let alone = sizes.map(|size| Cluster { chips: free[..size].to_vec(), tasks: cluster.tasks.clone() });
                let hosts = self.now.clusters.iter().filter(|host| !blocks(goal, host));
                let together = hosts.map(|host| with_tasks(host, &cluster.tasks));
                let stage = |aside: Cluster| self.stage(Goal { cluster: &aside, placement: None }).ok();
                if let Some(stage) = alone.chain(together).find_map(stage) {
                    return Some(stage);
                }
            }
        }
        None
    }
}

fn with_tasks(cluster: &Cluster, more: &[TaskId]) -> Cluster {
    let mut tasks = [cluster.tasks.as_slice(), more].concat();
    tasks.sort_unstable();
    Cluster { chips: cluster.chips.clone(), tasks }
}
