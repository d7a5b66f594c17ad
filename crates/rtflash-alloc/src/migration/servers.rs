//! Servers that are in the way of tasks that move.

use rtflash_analysis::Work;
use rtflash_model::{ChipId, Cluster, ClusterId, Device, Id, Reliance, TaskSet};

use super::stage::{Leaving, Scene};
use super::{Migration, MigrationOptions, MigrationRefusal, StageRefusal, runs, ways};
use crate::admission::{RunningDevice, servers_left_out};

/// A way without the servers that are in it; `None` also where their end is not known.
pub(super) fn without(
    set: &TaskSet,
    old: &RunningDevice,
    new: &RunningDevice,
    options: MigrationOptions<'_>,
    work: &Work,
) -> Result<Option<Migration>, MigrationRefusal> {
    let servers = in_the_way(set.device(), old, new, options.granted);
    if servers.is_empty() {
        return Ok(None);
    }
    let Some(left_out) = servers_left_out(set, old, &servers, options.granted, work) else { return Ok(None) };
    let found = ways(set, (old, &left_out.running), new, options, work)?;
    Ok(Some(Migration { left_out: Some(left_out), ..found }))
}

/// Whose tasks or chips change, and where relied on, those that share a channel with what changes.
fn in_the_way(device: &Device, old: &RunningDevice, new: &RunningDevice, granted: Reliance) -> Vec<usize> {
    let gone = old.clusters.iter().filter(|cluster| !cluster.tasks.is_empty() && !runs(new, cluster));
    let made = new.clusters.iter().filter(|cluster| !cluster.tasks.is_empty() && !runs(old, cluster));
    let changes: Vec<&Cluster> = gone.chain(made).collect();
    let channels = |cluster: &Cluster| cluster.chips.iter().map(|chip| device.channel_of(chip.0)).collect::<Vec<_>>();
    let meets = |one: &Cluster, other: &Cluster| match granted {
        Reliance::Nothing => one.chips.iter().any(|chip| other.chips.contains(chip)),
        Reliance::Neighbours | Reliance::Queue => channels(one).iter().any(|of| channels(other).contains(of)),
    };
    let serves = |&at: &usize| {
        let has_server = old.certificates[at].server_thousandths > 0;
        has_server && changes.iter().any(|change| meets(change, &old.clusters[at]))
    };
    (0..old.clusters.len()).filter(serves).collect()
}

impl Scene<'_> {
    /// At the places that tasks leave and get, and on their channels if neighbours are relied on.
    pub(super) fn is_free_of_servers(&self, chips: &[ChipId], leaving: &[Leaving]) -> Result<(), StageRefusal> {
        let (device, clusters) = (self.set.device(), &self.now.clusters);
        let places = || leaving.iter().flat_map(|&(_, from, _)| &clusters[from].chips).chain(chips);
        let channels: Vec<u32> = places().map(|chip| device.channel_of(chip.0)).collect();
        let is_near = |chip: &ChipId| match self.options.granted {
            Reliance::Nothing => places().any(|other| other == chip),
            Reliance::Neighbours | Reliance::Queue => channels.contains(&device.channel_of(chip.0)),
        };
        let serves = |&at: &usize| self.now.certificates[at].server_thousandths > 0;
        let mut servers = (0..clusters.len()).filter(serves);
        let server = servers.find(|&at| clusters[at].chips.iter().any(is_near));
        server.map_or(Ok(()), |at| Err(StageRefusal::Server(ClusterId::from_index(at))))
    }
}
