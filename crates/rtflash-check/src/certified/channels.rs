//! Where a cluster is, and who shares its channels: docs/analysis.md, Sections 2.1, 4 and 6.

use rtflash_model::{Allocation, ChipId, Cluster, Placement, Reliance, Request, TaskSet};

use super::collection::released;
use super::numbers::{ceil, is_chip_by_chip, pages_on_processor};

/// A request, as the chips beside one that serves it see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Transfers {
    /// T.
    pub period: i128,
    /// D.
    pub deadline: i128,
    /// J.
    pub jitter: i128,
    /// Pages on one chip.
    pub pages: i128,
    pub writes: bool,
}

impl Transfers {
    /// Requests released before the end of an interval of this length and due after its start:
    /// ⌈(L + D)/T⌉.
    pub fn live(&self, length: i128) -> Option<i128> {
        Some(ceil(length.checked_add(self.deadline)?, self.period))
    }
}

/// Chips of a cluster on a channel, of which it is known how many transfers they make.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Neighbour {
    /// How many of its chips are on the channel.
    pub chips: i128,
    pub requests: Vec<Transfers>,
    /// D_g and α, as its certificate states them; `None` where nothing writes.
    pub gc: Option<(i128, i128)>,
}

/// A channel that a cluster has chips on, as one of these chips sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Channel {
    /// Transfers charged to each page, its own included: the cluster's chips there, and others of
    /// which it is not known how much they move.
    pub ways: i128,
    /// Chips of the cluster itself.
    pub own: i128,
    /// The neighbours whose load is known.
    pub neighbours: Vec<Neighbour>,
    /// Whether the queue for the bus may be relied on: all active chips of other clusters are among
    /// these, and what they collect is known, too.
    pub queued: bool,
}

/// What a cluster has to do with the channels that it has chips on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ChannelNeighbours {
    /// Chips of a channel that may be active, the greatest number.
    pub most: i128,
    /// Chips of other clusters on a channel that may be active, the greatest number.
    pub foreign: i128,
    /// The channels; alike ones once.
    pub channels: Vec<Channel>,
}

impl ChannelNeighbours {
    /// Of the cluster at this position, where so much may be relied on.
    pub fn of(
        set: &TaskSet,
        allocation: &Allocation,
        clusters: &[Cluster],
        position: usize,
        granted: Reliance,
    ) -> ChannelNeighbours {
        let device = set.device();
        let mut site = ChannelNeighbours { most: 0, foreign: 0, channels: vec![] };
        let mut channels: Vec<u32> = clusters[position].chips.iter().map(|&chip| device.channel_of(chip.0)).collect();
        channels.dedup();
        for channel in channels {
            // Chips of each cluster on this channel.
            let mut chips = vec![0i128; clusters.len()];
            // The last channel may have fewer chips than others.
            let first = channel * device.chips_per_channel();
            let last = first.saturating_add(device.chips_per_channel()).min(device.chips());
            for cluster in (first..last).map(ChipId).filter_map(|chip| allocation.cluster_of_chip(chip)) {
                chips[cluster] += 1;
            }
            let own = chips[position];
            let (foreign, channel) = if granted == Reliance::Nothing {
                // Any chip that there is may ask for the bus.
                let all = i128::from(last - first);
                (all - own, Channel { ways: all, own, neighbours: vec![], queued: false })
            } else {
                beside(set, allocation, clusters, position, &chips, granted)
            };
            site.most = site.most.max(own + foreign);
            site.foreign = site.foreign.max(foreign);
            if !site.channels.contains(&channel) {
                site.channels.push(channel);
            }
        }
        site
    }
}

/// A channel with these numbers of chips of each cluster, and how many active ones of other
/// clusters there are.
fn beside(
    set: &TaskSet,
    allocation: &Allocation,
    clusters: &[Cluster],
    position: usize,
    chips: &[i128],
    granted: Reliance,
) -> (i128, Channel) {
    let placement = |cluster: usize| allocation.certificate(cluster).map(|certificate| certificate.placement);
    let server =
        |cluster: usize| allocation.certificate(cluster).is_some_and(|certificate| certificate.server_thousandths > 0);
    let active = |cluster: usize| !clusters[cluster].tasks.is_empty() || server(cluster);
    let bounded = |cluster: usize| {
        [position, cluster].into_iter().all(|at| placement(at).is_some_and(is_chip_by_chip)) && !server(cluster)
    };
    let others = || (0..clusters.len()).filter(|&other| other != position && chips[other] > 0 && active(other));
    let known: i128 = others().filter(|&other| bounded(other)).map(|other| chips[other]).sum();
    let unknown: i128 = others().filter(|&other| !bounded(other)).map(|other| chips[other]).sum();
    let mut queued = granted == Reliance::Queue && unknown == 0;
    let mut neighbours = vec![];
    for other in others().filter(|&other| bounded(other)) {
        let gc = allocation.certificate(other).and_then(|certificate| released(set, &clusters[other], certificate));
        queued &= gc.is_some();
        let requests = transfers_of_a_chip(set, &clusters[other]);
        neighbours.push(Neighbour { chips: chips[other], requests, gc: gc.flatten() });
    }
    let own = chips[position];
    (unknown + known, Channel { ways: own + unknown, own, neighbours, queued })
}

/// The requests, on a chip of a stripe.
fn transfers_of_a_chip(set: &TaskSet, cluster: &Cluster) -> Vec<Transfers> {
    let tasks = cluster.tasks.iter().map(|&task| &set.tasks()[task]);
    let requests = tasks.flat_map(|task| {
        task.read.into_iter().map(|read| (read, false)).chain(task.write.into_iter().map(|write| (write, true)))
    });
    let size = u64::from(cluster.size());
    let transfers = |(request, writes): (Request, bool)| Transfers {
        period: request.period().as_ns().into(),
        deadline: request.deadline().as_ns().into(),
        jitter: request.jitter().as_ns().into(),
        pages: pages_on_processor(&request, Placement::Stripe, size).into(),
        writes,
    };
    requests.map(transfers).collect()
}
