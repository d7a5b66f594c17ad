//! The channels of a cluster, and its neighbours there: docs/analysis.md, Sections 2.1, 4 and 6.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use num_bigint::BigInt;
use num_rational::BigRational;
use rtflash_model::{Access, Allocation, Certificate, ChipId, Cluster, Placement, Reliance, Request, TaskId, TaskSet};

use super::collection::{ReleasedGc, released};
use super::lines::AffineBound;
use super::numbers::{PagesInARow, ceil, is_chip_by_chip, pages_on_processor, sum};

/// A request, as the chips beside one that serves it see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Transfers {
    pub period: i128,
    pub deadline: i128,
    pub jitter: i128,
    pub pages: PagesInARow,
    pub writes: bool,
    /// P, if it writes zones and resets a block for each P pages.
    pub zone_block: Option<i128>,
}

impl Transfers {
    /// Released before the end of an interval of this length and due after its start: ⌈(L + D)/T⌉.
    pub fn live(&self, length: i128) -> Option<i128> {
        Some(ceil(length.checked_add(self.deadline)?, self.period))
    }

    pub fn live_above(&self) -> AffineBound {
        AffineBound::each(self.period, self.deadline, 1)
    }

    fn resets(&self, length: i128) -> Option<i128> {
        let Some(block) = self.zone_block else { return Some(0) };
        Some(ceil(self.pages.of(self.live(length)?)?, block))
    }

    fn resets_above(&self) -> AffineBound {
        let Some(block) = self.zone_block else { return AffineBound::level(0) };
        let whole = |number: i128| BigRational::from_integer(number.into());
        self.pages_above().plus(&AffineBound::level(block - 1)).times(&whole(block).recip())
    }

    pub fn pages_above(&self) -> AffineBound {
        self.pages.above(&self.live_above(), 1)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Neighbour {
    pub chips: i128,
    pub requests: Vec<Transfers>,
    /// Programs of its processor that fail, and are repeated: on any of its chips.
    pub repeated: i128,
    /// As its certificate states it; `None` where nothing writes.
    pub gc: Option<ReleasedGc>,
    pub rows: Option<Rows>,
}

/// The traffic of a superblock on the bus beside its users' reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Rows {
    /// s.
    pub chips: i128,
    /// P.
    pub block_pages: i128,
}

impl Neighbour {
    /// N_j, Eq. (34): transfers of one of the chips that are live in an interval of this length.
    pub fn transfers(&self, length: i128) -> Option<i128> {
        let pages = |writes: bool| {
            let requests = self.requests.iter().filter(move |it| it.writes == writes);
            sum(requests.map(|it| it.pages.of(it.live(length)?)))
        };
        // A repeated page, Eq. (81), is programmed once more.
        let (read, written) = (pages(false)?.checked_add(self.repeated)?, pages(true)?);
        let Some(Rows { chips, block_pages }) = self.rows else { return read.checked_add(written) };
        let victim = self.gc.map_or(0, |gc| gc.victim);
        let passes = self.passes(length)?;
        let copied = passes.checked_mul(victim.min(block_pages))?;
        let programmed = written.checked_add(passes.checked_mul(victim)?)?;
        read.checked_add(copied)?.checked_add(ceil(programmed, chips))
    }

    /// A line above it: ⌈(L + D)/T⌉ is less than L/T + D/T + 1.
    pub fn transfers_above(&self) -> AffineBound {
        let pages = |writes: bool| {
            let requests = self.requests.iter().filter(move |it| it.writes == writes);
            let repeated = if writes { 0 } else { self.repeated };
            AffineBound::sum(requests.map(Transfers::pages_above)).plus(&AffineBound::level(repeated))
        };
        let Some(Rows { chips, block_pages }) = self.rows else { return pages(false).plus(&pages(true)) };
        let whole = |number: i128| BigRational::from_integer(number.into());
        let victim = self.gc.map_or(0, |gc| gc.victim);
        let passes = self.passes_above();
        let programmed = pages(true).plus(&passes.times(&whole(victim)));
        let copied = passes.times(&whole(victim.min(block_pages)));
        let share = programmed.times(&whole(chips).recip());
        pages(false).plus(&copied).plus(&share).plus(&AffineBound::level(1))
    }

    /// G_j, Section 2.10: copies inside a chip, erases and resets: the bus for their command alone.
    pub fn commands(&self, length: i128) -> Option<i128> {
        let resets = sum(self.requests.iter().map(|it| it.resets(length)))?;
        self.passes(length)?.checked_mul(self.commands_of_a_pass())?.checked_add(resets)
    }

    pub fn commands_above(&self) -> AffineBound {
        let resets = AffineBound::sum(self.requests.iter().map(Transfers::resets_above));
        self.passes_above().times(&BigRational::from_integer(self.commands_of_a_pass().into())).plus(&resets)
    }

    fn commands_of_a_pass(&self) -> i128 {
        // In a superblock copies are transfers.
        let copies = if self.rows.is_some() { 0 } else { self.gc.map_or(0, |gc| gc.victim) };
        copies + 1
    }

    /// P_j, Eq. (41): GC jobs live in an interval of this length.
    pub fn passes(&self, length: i128) -> Option<i128> {
        let Some(gc) = self.gc else { return Some(0) };
        let asked = |it: &Transfers| {
            let window = length.checked_add(gc.deadline)?.checked_add(it.jitter)?;
            it.pages.of(ceil(window, it.period))
        };
        Some(ceil(sum(self.requests.iter().filter(|it| it.writes).map(asked))?, gc.reclaimed))
    }

    /// ⌈(L + D_g + J)/T⌉ is less than (L + D_g + J)/T + 1, and so it is with what α divides.
    pub fn passes_above(&self) -> AffineBound {
        let Some(gc) = self.gc else { return AffineBound::level(0) };
        let asked = AffineBound::sum(self.requests.iter().filter(|it| it.writes).map(|it| {
            let early = BigInt::from(gc.deadline) + BigInt::from(it.jitter);
            it.pages.above(&AffineBound::each(it.period, early, 1), 1)
        }));
        asked.times(&BigRational::new(1.into(), gc.reclaimed.into())).plus(&AffineBound::level(1))
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Channel {
    /// Charged to each page, its own included: the cluster's chips, and others of unknown load.
    pub ways: i128,
    pub foreign: i128,
    pub rows_wait_elsewhere: bool,
    pub own: i128,
    pub neighbours: Vec<Neighbour>,
    /// Whether all active chips of other clusters are among these, and what they collect is known.
    pub queued: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ChannelNeighbours {
    /// Chips of a channel that may be active, the greatest number.
    pub max_chips: i128,
    pub foreign: i128,
    pub busiest: usize,
    /// The channels; alike ones once.
    pub channels: Vec<Channel>,
}

impl ChannelNeighbours {
    pub fn of(
        set: &TaskSet,
        allocation: &Allocation,
        clusters: &[Cluster],
        position: usize,
        granted: Reliance,
    ) -> ChannelNeighbours {
        let device = set.device();
        let mut neighbours = ChannelNeighbours { max_chips: 0, foreign: 0, busiest: 0, channels: vec![] };
        let mut channels: Vec<u32> = clusters[position].chips.iter().map(|&chip| device.channel_of(chip.0)).collect();
        channels.dedup();
        for channel in channels {
            // Chips of each cluster on this channel.
            let mut chips = BTreeMap::new();
            // The last channel may have fewer chips than others.
            let first = channel * device.chips_per_channel();
            let last = first.saturating_add(device.chips_per_channel()).min(device.chips());
            for cluster in (first..last).map(ChipId).filter_map(|chip| allocation.cluster_of_chip(chip)) {
                *chips.entry(cluster).or_insert(0i128) += 1;
            }
            let own = chips[&position];
            let (foreign, channel) = if granted == Reliance::Nothing {
                // Any chip that there is may ask for the bus.
                let all = i128::from(last - first);
                let foreign = all - own;
                let alone =
                    Channel { ways: all, foreign, rows_wait_elsewhere: false, own, neighbours: vec![], queued: false };
                (foreign, alone)
            } else {
                beside(set, allocation, clusters, position, &chips, granted)
            };
            neighbours.max_chips = neighbours.max_chips.max(own + foreign);
            neighbours.busiest = match foreign.cmp(&neighbours.foreign) {
                Ordering::Greater => 1,
                Ordering::Equal => neighbours.busiest + 1,
                Ordering::Less => neighbours.busiest,
            };
            neighbours.foreign = neighbours.foreign.max(foreign);
            if !neighbours.channels.contains(&channel) {
                neighbours.channels.push(channel);
            }
        }
        let certificate = allocation.certificate(position);
        if certificate.is_some_and(|certificate| !is_chip_by_chip(certificate.placement)) {
            neighbours.channels = vec![as_one(&neighbours)];
        }
        neighbours
    }
}

/// A cluster that is one processor: the load is known on the channel with most neighbours (Section
/// 14), with u, k and δ of Eq. (69); everything else is charged in full.
fn as_one(neighbours: &ChannelNeighbours) -> Channel {
    let known = |channel: &Channel| channel.neighbours.iter().map(|neighbour| neighbour.chips).sum::<i128>();
    let foreign = |channel: &Channel| channel.foreign + known(channel);
    let all = |channel: &Channel| channel.own + foreign(channel);
    let with_most = || neighbours.channels.iter().filter(|channel| foreign(channel) == neighbours.foreign);
    let own = neighbours.channels.iter().map(|channel| channel.own).max().unwrap_or(1);
    let in_full = Channel {
        ways: neighbours.max_chips,
        foreign: neighbours.foreign,
        rows_wait_elsewhere: false,
        own,
        neighbours: vec![],
        queued: false,
    };
    let (Some(busiest), 1, 1) = (with_most().next(), with_most().count(), neighbours.busiest) else { return in_full };
    if busiest.neighbours.is_empty() {
        return in_full;
    }
    let others = || neighbours.channels.iter().filter(|&channel| channel != busiest);
    let ways_elsewhere = others().map(all).fold(0, i128::max);
    Channel {
        ways: (busiest.own + busiest.foreign).max(ways_elsewhere),
        foreign: others().map(foreign).fold(busiest.foreign, i128::max),
        rows_wait_elsewhere: ways_elsewhere >= all(busiest),
        ..busiest.clone()
    }
}

/// And how many active chips of other clusters there are.
fn beside(
    set: &TaskSet,
    allocation: &Allocation,
    clusters: &[Cluster],
    position: usize,
    chips: &BTreeMap<usize, i128>,
    granted: Reliance,
) -> (i128, Channel) {
    let placement = |cluster: usize| allocation.certificate(cluster).map(|certificate| certificate.placement);
    let server =
        |cluster: usize| allocation.certificate(cluster).is_some_and(|certificate| certificate.server_thousandths > 0);
    let active = |cluster: usize| !clusters[cluster].tasks.is_empty() || server(cluster);
    let gc = |cluster: usize| released(set, &clusters[cluster], allocation.certificate(cluster)?);
    let stripe = |cluster: usize| placement(cluster).is_some_and(is_chip_by_chip);
    let zoned = |cluster: usize| placement(cluster).is_some_and(Placement::is_zoned);
    let cached = |cluster: usize| placement(cluster).is_some_and(Placement::is_cached);
    // A cluster that copies over the bus, or has commands of copies there, is known by its
    // certificate.
    let commands = set.device().spec().command.is_some_and(|command| command.as_ns() > 0);
    let collects_inside = |cluster: usize| stripe(cluster) && !commands;
    // The traffic of others does not matter to a superblock that backfills, has two page registers,
    // or may have to program again.
    let steady = set.device().program_failures() == 0;
    let apart = |certificate: &Certificate| !certificate.backfill && !certificate.placement.is_cached() && steady;
    // A superblock with two, where there are commands, has those of siblings with its chips' pages:
    // Section 15.1.
    let counts = stripe(position) || allocation.certificate(position).is_some_and(apart);
    let joins = |cluster: usize| commands && cached(cluster) && !stripe(cluster);
    // A task that is said to own zones, and writes them out of order, may do anything.
    let streams = |task: TaskId| set.tasks()[task].write.is_none_or(|write| write.access() == Access::Stream);
    let in_order = |cluster: usize| !zoned(cluster) || clusters[cluster].tasks.iter().all(|&task| streams(task));
    let known = |cluster: usize| in_order(cluster) && (collects_inside(cluster) || gc(cluster).is_some());
    let bounded = |cluster: usize| counts && !server(cluster) && !joins(cluster) && known(cluster);
    let others = || chips.keys().copied().filter(|&other| other != position && active(other));
    let known: i128 = others().filter(|&other| bounded(other)).map(|other| chips[&other]).sum();
    let unknown: i128 = others().filter(|&other| !bounded(other)).map(|other| chips[&other]).sum();
    let mut queued = granted == Reliance::Queue && unknown == 0;
    let mut neighbours = vec![];
    for other in others().filter(|&other| bounded(other)) {
        let gc = gc(other);
        queued &= gc.is_some() && stripe(other) && !cached(other) && !zoned(other);
        let rows = Rows { chips: clusters[other].size().into(), block_pages: set.device().pages_per_block().into() };
        let rows = Some(rows).filter(|_| !stripe(other));
        let requests = transfers_of_a_chip(set, &clusters[other], placement(other).unwrap_or(Placement::Stripe));
        // Its chips may be idle between failures, and others not: all that may ever fail count.
        let failing = if steady { 0 } else { i128::from(set.device().spare_blocks()) };
        let failing = failing * rows.map_or(1, |rows| rows.chips);
        let repeated = if requests.iter().any(|it| it.writes) { failing } else { 0 };
        neighbours.push(Neighbour { chips: chips[&other], requests, repeated, gc: gc.flatten(), rows });
    }
    let own = chips[&position];
    let ways = own + unknown;
    (unknown + known, Channel { ways, foreign: unknown, rows_wait_elsewhere: false, own, neighbours, queued })
}

fn transfers_of_a_chip(set: &TaskSet, cluster: &Cluster, placement: Placement) -> Vec<Transfers> {
    let tasks = cluster.tasks.iter().map(|&task| &set.tasks()[task]);
    let requests = tasks.flat_map(|task| {
        task.read.into_iter().map(|read| (read, false)).chain(task.write.into_iter().map(|write| (write, true)))
    });
    let size = u64::from(cluster.size());
    let transfers = |(request, writes): (Request, bool)| Transfers {
        period: request.period().as_ns().into(),
        deadline: request.deadline().as_ns().into(),
        jitter: request.jitter().as_ns().into(),
        pages: pages_on_processor(&request, placement, size),
        writes,
        zone_block: (writes && placement.is_zoned()).then(|| set.device().pages_per_block().into()),
    };
    requests.map(transfers).collect()
}
