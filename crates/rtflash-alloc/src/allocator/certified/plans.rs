//! Chips of each channel for each cluster of a partition.

use rtflash_model::{ChipId, Cluster, Device, Placement, TaskId};

/// Tasks that are to share a cluster, and how many chips it has at least.
#[derive(Debug, Clone)]
pub(super) struct TaskBlock {
    /// The subset that they are, as a bit mask.
    pub(super) block: usize,
    pub(super) tasks: Vec<TaskId>,
    pub(super) least: u32,
}

/// How many chips of each channel each cluster has.
#[derive(Debug, Clone)]
pub(super) struct Plans {
    pub(super) sizes: Vec<u32>,
    /// Chips of each cluster on each channel, those of a channel together.
    on: Vec<u32>,
    pub(super) room: Vec<u32>,
    ways: u32,
}

impl Plans {
    /// Clusters of these sizes, and all chips free.
    pub(super) fn new(device: &Device, sizes: Vec<u32>) -> Plans {
        let ways = device.chips_per_channel();
        let starts = (0..device.chips()).step_by(ways as usize);
        let room: Vec<u32> = starts.map(|start| (device.chips() - start).min(ways)).collect();
        Plans { on: vec![0; room.len() * sizes.len()], sizes, room, ways }
    }

    /// Chips of each cluster on a channel.
    fn on(&self, channel: usize) -> &[u32] {
        &self.on[channel * self.sizes.len()..][..self.sizes.len()]
    }

    /// Chips of one cluster on a channel, to be changed.
    pub(super) fn of(&mut self, cluster: usize, channel: usize) -> &mut u32 {
        &mut self.on[channel * self.sizes.len() + cluster]
    }

    /// Every chip, those with the highest of these rates first, on the channel that is the least
    /// busy till then.
    pub(super) fn balance(&mut self, rates: &[f64]) {
        let mut order: Vec<usize> = (0..self.sizes.len()).collect();
        order.sort_by(|&a, &b| rates[b].total_cmp(&rates[a]).then(a.cmp(&b)));
        let mut busy = vec![0.0f64; self.room.len()];
        for cluster in order {
            for _ in 0..self.sizes[cluster] {
                let open = (0..self.room.len()).filter(|&channel| self.room[channel] > 0);
                let Some(channel) = open.min_by(|&a, &b| busy[a].total_cmp(&busy[b]).then(a.cmp(&b))) else { return };
                *self.of(cluster, channel) += 1;
                self.room[channel] -= 1;
                busy[channel] += rates[cluster];
            }
        }
    }

    /// One cluster behind the other.
    pub(super) fn in_order(&mut self) {
        let mut channel = 0;
        for cluster in 0..self.sizes.len() {
            let mut left = self.sizes[cluster];
            while left > 0 && channel < self.room.len() {
                let here = left.min(self.room[channel]);
                *self.of(cluster, channel) += here;
                self.room[channel] -= here;
                left -= here;
                channel += usize::from(self.room[channel] == 0);
            }
        }
    }

    /// Chips that the cluster has on the channel before this one, if the two are the same up to
    /// there: of two ways to exchange them one is enough.
    pub(super) fn like_before(&self, at: usize, channel: usize) -> Option<u32> {
        let before = channel.checked_sub(1)?;
        let given = self.on(before)[at];
        let same = self.room[before] + given == self.room[channel] && self.on(before)[..at] == self.on(channel)[..at];
        same.then_some(given)
    }

    fn free(&self) -> u32 {
        self.room.iter().sum()
    }

    /// The clusters and their placements, chips left over as clusters of their own.
    pub(super) fn clusters(
        &self,
        parts: &[TaskBlock],
        placements: &[Placement],
        free: Placement,
    ) -> (Vec<Cluster>, Vec<Placement>) {
        let mut next: Vec<u32> = (0u32..).step_by(self.ways as usize).take(self.room.len()).collect();
        let mut all: Vec<(Cluster, Placement)> = Vec::with_capacity(parts.len() + self.free() as usize);
        for (at, (part, &placement)) in parts.iter().zip(placements).enumerate() {
            let mut chips = Vec::with_capacity(self.sizes[at] as usize);
            for (channel, next) in next.iter_mut().enumerate() {
                let count = self.on(channel)[at];
                chips.extend((*next..*next + count).map(ChipId));
                *next += count;
            }
            all.push((Cluster { chips, tasks: part.tasks.clone() }, placement));
        }
        for (next, &room) in next.iter().zip(&self.room) {
            all.extend((*next..*next + room).map(|chip| (Cluster::of([chip], []), free)));
        }
        all.sort_by_key(|(cluster, _)| cluster.chips.first().copied());
        all.into_iter().unzip()
    }
}
