//! What one EDF queue has to serve, a chip of a stripe or a superblock cluster: docs/analysis.md, Sections 2.6, 3 and 4.

use rtflash_model::{Certificate, Cluster, Placement, TaskSet};

use super::collection::Numbers;
use super::numbers::{ceil, pages_on_unit};
use super::queue::Queue;
use super::site::{Channel, Neighbour, Site, Transfers};

/// A request: (C, T, D, J, q).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Item {
    pub writes: bool,
    /// T.
    pub period: i128,
    /// D.
    pub deadline: i128,
    /// J.
    pub jitter: i128,
    /// C, without waits for neighbours whose load is known.
    pub cost: i128,
    /// q, with all waits.
    pub longest: i128,
    /// Pages on the unit.
    pub pages: i128,
}

impl Item {
    /// d = D − J, Eq. (18): no request is due sooner after its release.
    pub fn soonest(&self) -> i128 {
        self.deadline - self.jitter
    }

    /// n(L) = ⌊(L − d)/T⌋ + 1, Eq. (19), and none for L < d: requests released and due in an interval of this length.
    pub fn requests_due(&self, length: i128) -> i128 {
        if length < self.soonest() { 0 } else { (length - self.soonest()).div_euclid(self.period) + 1 }
    }

    /// Its part of n_i(L), Eq. (32): pages of the requests due in an interval of this length.
    pub fn pages_due(&self, length: i128) -> Option<i128> {
        self.requests_due(length).checked_mul(self.pages)
    }

    /// Its part of X(y), Eq. (11): pages that arrive from the start to the end of an interval of this length, both
    /// included, (⌊(y + J)/T⌋ + 1) w.
    pub fn pages_arriving(&self, length: i128) -> Option<i128> {
        (length.checked_add(self.jitter)?.div_euclid(self.period) + 1).checked_mul(self.pages)
    }
}

/// Garbage collection for real-time writers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Gc {
    /// D_g.
    pub deadline: i128,
    /// C_g.
    pub cost: i128,
    /// q_g.
    pub longest: i128,
    /// α.
    pub reclaimed: i128,
}

/// A unit: a superblock cluster, or a chip of a stripe on one of its channels, since their neighbours differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Unit {
    pub items: Vec<Item>,
    /// `None` where nothing real-time writes.
    pub gc: Option<Gc>,
    /// U_s in thousandths.
    pub server: i128,
    /// q_s; zero without a server.
    pub server_step: i128,
    /// t_d.
    pub transfer: i128,
    /// Neighbours whose load is known.
    pub neighbours: Vec<Neighbour>,
    /// What is known of the queue for the bus; `None` where someone in it may ask as often as it likes, or nobody else is in it.
    pub queue: Option<Queue>,
}

/// Whether the data fit: Eqs. (48) and (49).
pub(super) fn data_fits(set: &TaskSet, cluster: &Cluster, placement: Placement) -> bool {
    let device = set.device();
    let physical = u64::from(device.blocks_per_chip()) * u64::from(device.pages_per_block());
    let chip = u128::from(device.logical_ratio().floor_of(physical));
    let size = cluster.size();
    let data = cluster.tasks.iter().map(|&task| set.tasks()[task].data_pages.unwrap_or(1));
    match placement {
        Placement::Stripe => data.map(|pages| u128::from(pages.div_ceil(size.into()))).sum::<u128>() <= chip,
        Placement::Superblock => data.map(u128::from).sum::<u128>() <= u128::from(size) * chip,
    }
}

impl Unit {
    /// Of this cluster, on this channel if it is a stripe; `None` where a number takes more than 127 bits.
    pub fn new(
        set: &TaskSet,
        cluster: &Cluster,
        certificate: &Certificate,
        gc: Option<&Numbers>,
        site: &Site,
        channel: &Channel,
    ) -> Option<Unit> {
        let device = set.device();
        let [t_r, t_w, t_e, t_d] =
            [device.page_read(), device.page_program(), device.block_erase(), device.page_transfer()]
                .map(|time| i128::from(time.as_ns()));
        let size = u64::from(cluster.size());
        let stripe = certificate.placement == Placement::Stripe;
        // A step of a superblock cluster may be on all its channels.
        let ways = if stripe { channel.ways } else { site.most };
        // A user's page or row: cost, and longest step. Eqs. (1), (2) and (28).
        let (read, write) = if stripe {
            (
                (t_r + ways * t_d, t_r + site.most * t_d), //
                (t_w + ways * t_d, t_w + site.most * t_d),
            )
        } else {
            let read = t_r + t_d * (site.foreign + 1).min(ways);
            ((read, read), (t_w + ways * t_d, t_w + ways * t_d))
        };
        // Eqs. (20), (21), (24) and (25).
        let mut items = Vec::new();
        for task in cluster.tasks.iter().map(|&task| &set.tasks()[task]) {
            for (request, writes) in
                task.read.iter().map(|read| (read, false)).chain(task.write.iter().map(|w| (w, true)))
            {
                let pages = i128::from(pages_on_unit(request, certificate.placement, size));
                let steps = if writes && !stripe { i128::from(request.pages().div_ceil(size)) } else { pages };
                let (cost, longest) = if writes { write } else { read };
                items.push(Item {
                    writes,
                    period: request.period().as_ns().into(),
                    deadline: request.deadline().as_ns().into(),
                    jitter: request.jitter().as_ns().into(),
                    cost: steps.checked_mul(cost)?,
                    longest,
                    pages,
                });
            }
        }
        let server = i128::from(certificate.server_thousandths);
        let copy = if stripe { t_r + t_w } else { 0 };
        let all_steps = [t_e, t_r + site.most * t_d, t_w + site.most * t_d, copy];
        let server_step = if server > 0 { all_steps.into_iter().max().unwrap_or(0) } else { 0 };
        let gc = match gc.and_then(|numbers| numbers.deadline.map(|deadline| (numbers, deadline))) {
            None => None,
            Some((numbers, deadline)) => {
                // C_g and q_g, Eqs. (22) and (23), or (26) and (27).
                let victim = i128::from(numbers.victim);
                let (copying, step) = if stripe {
                    (victim.checked_mul(t_r + t_w)?, t_r + t_w)
                } else {
                    let (read, row) = (t_r + ways * t_d, t_w + ways * t_d);
                    let reads = victim.min(device.pages_per_block().into()).checked_mul(read)?;
                    let rows = ceil(victim, size.into()).checked_mul(row)?;
                    (reads.checked_add(rows)?, read.max(row))
                };
                // Where a victim has no valid pages nothing is copied.
                let longest = if victim == 0 { t_e } else { t_e.max(step) };
                Some(Gc {
                    deadline: deadline.as_ns().into(),
                    cost: copying.checked_add(t_e)?,
                    longest,
                    reclaimed: numbers.reclaimed.into(),
                })
            }
        };
        let neighbours = channel.neighbours.clone();
        let mut unit = Unit { items, gc, server, server_step, transfer: t_d, neighbours, queue: None };
        // (Q1) and (Q3).
        if stripe && server == 0 && channel.queued && device.has_exact_reads() {
            let mut others = unit.neighbours.clone();
            others.extend(unit.siblings(channel.own - 1));
            let least_program = i128::from(device.page_program_min().as_ns());
            unit.queue = Queue::of([t_r, least_program, t_d], others);
        }
        Some(unit)
    }

    /// The cluster's other chips on the channel, this many.
    fn siblings(&self, chips: i128) -> Option<Neighbour> {
        let transfers = |item: &Item| Transfers {
            period: item.period,
            deadline: item.deadline,
            jitter: item.jitter,
            pages: item.pages,
            writes: item.writes,
        };
        (chips > 0).then(|| Neighbour {
            chips,
            requests: self.items.iter().map(transfers).collect(),
            gc: self.gc.as_ref().map(|gc| (gc.deadline, gc.reclaimed)),
        })
    }

    /// The lengths from which on each item has a demand and blocks no more: D − J of requests, and D_g.
    pub fn deadlines(&self) -> impl Iterator<Item = i128> {
        self.items.iter().map(Item::soonest).chain(self.gc.iter().map(|gc| gc.deadline))
    }

    /// The shortest of them; `None` without tasks.
    pub fn shortest_deadline(&self) -> Option<i128> {
        self.deadlines().min()
    }

    /// The items that write.
    pub fn writers(&self) -> impl Iterator<Item = &Item> {
        self.items.iter().filter(|item| item.writes)
    }
}
