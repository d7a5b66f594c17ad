//! The clusters that share a channel with the chips of another one, as far as its tests depend on
//! them.

use rtflash_model::Reliance;

use super::ChannelContention;
use crate::organisation::shared_bus::SharedBus;

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Neighbourhood {
    /// Transfers charged to each page: its own, the cluster's chips, and chips of unknown load.
    pub(crate) charged: u32,
    /// The other chips of the cluster, where everything is known of all the others.
    pub(crate) siblings: Option<u32>,
    /// Clusters of which it is known what they move, with the number of their chips.
    pub(crate) bounded: Vec<(usize, u32)>,
    pub(crate) rows_wait_elsewhere: bool,
}

#[derive(Debug)]
struct ChannelMembers {
    own: u32,
    /// Chips of which it is not known how much they move, or that are charged as if it were not.
    unbounded: u32,
    bounded: Vec<(usize, u32)>,
    queued: bool,
}

impl ChannelMembers {
    fn foreign(&self) -> u32 {
        self.unbounded + self.bounded.iter().map(|neighbour| neighbour.1).sum::<u32>()
    }

    fn in_full(&self) -> SharedBus {
        SharedBus::on_a_channel(self.own, self.foreign())
    }
}

/// A cluster that is one processor, and its neighbours on the channel with most of them: u, k and δ
/// of Eq. (69). Without such a channel, or a known load there, it is charged in full.
fn of_whole_cluster(mut channels: Vec<ChannelMembers>) -> (SharedBus, Vec<Neighbourhood>) {
    let all = |channels: &[ChannelMembers]| {
        channels.iter().map(ChannelMembers::in_full).fold(SharedBus::alone(), SharedBus::most_of)
    };
    let most = all(&channels);
    let fullest = (0..channels.len()).max_by_key(|&channel| channels[channel].foreign());
    let Some(fullest) = fullest.map(|channel| channels.swap_remove(channel)) else { return (most, Vec::new()) };
    let elsewhere = all(&channels);
    if fullest.bounded.is_empty() || elsewhere.foreign >= fullest.foreign() {
        return (most, Vec::new());
    }
    let rows_wait_elsewhere = elsewhere.ways >= fullest.own + fullest.foreign();
    let charged = SharedBus::on_a_channel(fullest.own, fullest.unbounded).most_of(elsewhere);
    let bus = SharedBus { most: most.most, most_foreign: most.most_foreign, ..charged };
    let bounded = fullest.bounded;
    (bus, vec![Neighbourhood { charged: bus.ways, siblings: None, bounded, rows_wait_elsewhere }])
}

impl ChannelContention<'_> {
    pub(crate) fn worst_bus(&self, position: usize) -> SharedBus {
        let mut bus = SharedBus::alone();
        for (channel, members) in self.channels_of(position) {
            // Each chip that there is, also one in no cluster, and no more than there are.
            let all = self.set.device().chips_on(channel);
            let own = members.iter().find(|(cluster, _)| *cluster == position).map_or(0, |member| member.1);
            bus = bus.most_of(SharedBus::on_a_channel(own, all - own));
        }
        bus
    }

    pub(crate) fn granted_neighbourhoods(&self, position: usize) -> (SharedBus, Vec<Neighbourhood>) {
        match self.granted {
            Reliance::Nothing => (self.worst_bus(position), Vec::new()),
            Reliance::Neighbours => self.neighbourhoods(position, false),
            Reliance::Queue => self.neighbourhoods(position, true),
        }
    }

    fn on_channel(&self, position: usize, members: &[(usize, u32)], queues: bool) -> ChannelMembers {
        let (mut own, mut unbounded, mut bounded) = (0, 0, Vec::new());
        // A superblock that backfills is charged in full, and so is one with two page registers, or
        // with programs that may fail.
        let counts = self.is_on_one_channel(position)
            || !self.backfill[position]
                && !self.placements[position].is_cached()
                && self.set.device().program_failures() == 0;
        for &(cluster, chips) in members {
            if cluster == position {
                own += chips;
            } else if !self.is_active(cluster) {
            } else if counts && self.is_bounded(cluster) {
                bounded.push((cluster, chips));
            } else {
                unbounded += chips;
            }
        }
        // (Q1): all chips of the channel in stripes of one page register, known, and none of them
        // serving other jobs. (Q3), or (Q5): steady reads. (Q2) and (Q4) are rules of the device.
        let known = |&(neighbour, _): &(usize, u32)| self.may_queue(neighbour) && self.gcs[neighbour].is_some();
        let queued = queues
            && self.set.device().has_steady_reads()
            && !self.serves(position)
            && self.may_queue(position)
            && unbounded == 0
            && bounded.iter().all(known);
        ChannelMembers { own, unbounded, bounded, queued }
    }

    /// None where a processor is on several channels and is charged in full on each.
    pub(crate) fn neighbourhoods(&self, position: usize, queues: bool) -> (SharedBus, Vec<Neighbourhood>) {
        let channels = self.channels_of(position).map(|(_, members)| self.on_channel(position, members, queues));
        let told = self.placements[position].is_cached() && self.set.device().has_commands();
        if told && !self.is_on_one_channel(position) {
            // All that may be active is charged in full: Section 15.1.
            let in_full = channels.map(|members| members.in_full()).fold(SharedBus::alone(), SharedBus::most_of);
            return (in_full, Vec::new());
        }
        if !self.is_on_one_channel(position) {
            return of_whole_cluster(channels.collect());
        }
        let mut bus = SharedBus { ways: u32::MAX, ..SharedBus::alone() };
        let mut neighbourhoods: Vec<Neighbourhood> = Vec::new();
        for ChannelMembers { own, unbounded, bounded, queued } in channels {
            let more: u32 = bounded.iter().map(|neighbour| neighbour.1).sum();
            bus.ways = bus.ways.min(own + unbounded);
            bus.most = bus.most.max(own + unbounded + more);
            let siblings = queued.then(|| own - 1);
            let charged = own + unbounded;
            neighbourhoods.push(Neighbourhood { charged, siblings, bounded, rows_wait_elsewhere: false });
        }
        neighbourhoods.sort_unstable();
        neighbourhoods.dedup();
        (bus, neighbourhoods)
    }
}
