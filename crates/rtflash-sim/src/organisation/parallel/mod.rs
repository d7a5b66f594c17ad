//! Parallel dispatch: every chip takes the earliest-deadline operation that waits for it.

mod queue;
mod reads;
mod steps;

use rtflash_model::{ChipId, ClusterId, Instant, Lpn, PerId};
use rtflash_plan::resume::resume;
use rtflash_plan::{BlockId, ColumnId, Plan, SourceId};
use rtflash_trace::{Action, JobId, Kind, NO_LPN, NONE, Observer, Operation};
use serde::{Deserialize, Serialize};

use self::queue::ChipQueue;
use self::reads::WaitingReads;
use super::cluster::{ClusterState, PendingJob};
use super::group::{ClusterGroup, Dispatcher};
use crate::engine::core::ChipStep;
use crate::engine::priority::Priority;
use crate::engine::sequencer::Ticket;
use crate::flash::BusRequest;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Entry {
    job: Priority,
    /// The number of the page in the job.
    page: u64,
    work: ChipWork,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
enum ChipWork {
    Pass,
    Read(Lpn),
    Write(Lpn),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
enum Doing {
    #[default]
    Nothing,
    /// A page that waits for its bus, or will, has it or has had it.
    Paging,
    /// A GC read or GC program, of a page or as padding.
    Copying,
    Erasing,
}

#[derive(Debug, Serialize, Deserialize)]
struct ChipQueues {
    queue: ChipQueue,
    /// Entries that cannot go on until an erase in the cluster has ended.
    waiting: ChipQueue,
    doing: Doing,
    slot: usize,
    /// The operation that it does, or did last.
    operation: Operation,
    /// The place of its record, where it waits for its bus, or will.
    ticket: Option<Ticket>,
    cluster: usize,
    position: ColumnId,
}

impl ChipQueues {
    fn new(cluster: usize, position: ColumnId) -> ChipQueues {
        let operation = Operation {
            start: Instant::START,
            end: Instant::START,
            cluster: ClusterId(0),
            chip: ChipId(0),
            action: Action::Erase,
            job: JobId { source: SourceId(0), index: 0 },
            kind: Kind::Gc,
            block: BlockId(0),
            page: NONE,
            lpn: NO_LPN,
        };
        let (queue, waiting) = Default::default();
        ChipQueues { queue, waiting, doing: Doing::Nothing, slot: 0, operation, ticket: None, cluster, position }
    }
}

/// The chips of a cluster that may begin something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum LookAt {
    Nothing,
    Chip(ChipId),
    Chips,
}

enum ChipAttempt {
    Begins(ChipStep),
    Changed,
    /// It cannot go on before an erase in the cluster has ended.
    Waits,
}

/// Chips that each take what waits for them.
pub(crate) struct Parallel {
    /// All chips of the device; those of other groups have nothing to do.
    chips: PerId<ChipId, ChipQueues>,
    members: Vec<Vec<ChipId>>,
    unfinished: Vec<u64>,
    reads: WaitingReads,
    entered: u64,
    too_many: bool,
    /// Clusters of which chips may have something to begin at this instant, each once.
    touched: Vec<usize>,
    to_look_at: Vec<LookAt>,
}

resume!([] Parallel {
    values: [chips, unfinished, reads, entered, too_many, touched, to_look_at],
    parts: [],
    lists: [],
    made: [members],
});

impl<O: Observer> ClusterGroup<'_, O, Parallel> {
    /// Something has changed in a cluster: all its idle chips may begin something.
    fn touch(&mut self, cluster: usize) {
        if self.by.to_look_at[cluster] == LookAt::Nothing {
            self.by.touched.push(cluster);
        }
        self.by.to_look_at[cluster] = LookAt::Chips;
    }

    /// A chip of a cluster is idle, and nothing else has changed.
    #[inline]
    fn touch_chip(&mut self, cluster: usize, chip: ChipId) {
        let of = &mut self.by.to_look_at[cluster];
        if *of == LookAt::Nothing {
            self.by.touched.push(cluster);
            *of = LookAt::Chip(chip);
        } else {
            *of = LookAt::Chips;
        }
    }

    /// Gives work to the idle chips of a cluster, again and again, until nothing changes. An idle
    /// chip that was tried has an empty queue, until something is entered there.
    fn dispatch_cluster(&mut self, cluster: usize, now: Instant) {
        let mut goes_on = true;
        while goes_on {
            let (mut changed, mut idle) = (false, false);
            let mut place = 0;
            while let Some(&chip) = self.by.members[cluster].get(place) {
                place += 1;
                if self.by.chips[chip].doing == Doing::Nothing {
                    let (began, turned) = self.dispatch_chip(chip, now);
                    (changed, idle) = (changed | turned, idle | !began);
                }
            }
            // A chip that has begun something is not tried again.
            goes_on = changed && idle;
        }
    }

    /// Gives work to an idle chip. Returns whether it has begun something, and whether anything has
    /// changed beside that.
    #[inline(always)]
    fn dispatch_chip(&mut self, chip: ChipId, now: Instant) -> (bool, bool) {
        let mut changed = false;
        while let Some((slot, work)) = self.by.chips[chip].queue.first_work() {
            match self.go_on(chip, slot, work, now) {
                ChipAttempt::Begins(step) => {
                    let of = &mut self.by.chips[chip];
                    of.ticket = self.core.begin(&of.operation, step);
                    return (true, changed);
                }
                ChipAttempt::Changed => changed = true,
                ChipAttempt::Waits => {
                    let chip = &mut self.by.chips[chip];
                    if let Some(entry) = chip.queue.first() {
                        chip.queue.pop_first();
                        chip.waiting.insert(entry);
                    }
                }
            }
        }
        (false, changed)
    }
}

impl Dispatcher for Parallel {
    const SIDE_BY_SIDE: bool = true;

    fn new(plan: &Plan, clusters: &[ClusterState]) -> Parallel {
        let idle = ChipId::first(plan.device().chips()).map(|_| ChipQueues::new(0, ColumnId(0)));
        let mut chips: PerId<ChipId, ChipQueues> = idle.collect();
        for (cluster, of) in clusters.iter().enumerate() {
            for (position, &chip) in of.chips.enumerate() {
                chips[chip] = ChipQueues::new(cluster, position);
            }
        }
        let members = clusters.iter().map(|cluster| {
            let mut chips = cluster.chips.as_slice().to_vec();
            chips.sort_unstable();
            chips
        });
        let logical_pages = clusters.iter().map(|of| plan.clusters()[of.position].layout.logical_pages());
        Parallel {
            chips,
            members: members.collect(),
            unfinished: Vec::new(),
            reads: WaitingReads::new(logical_pages),
            entered: 0,
            too_many: false,
            touched: Vec::new(),
            to_look_at: vec![LookAt::Nothing; clusters.len()],
        }
    }

    fn admit<O: Observer>(group: &mut ClusterGroup<'_, O, Parallel>, job: PendingJob, now: Instant) {
        let slot = group.jobs.insert(job);
        if group.by.unfinished.len() <= slot {
            group.by.unfinished.resize(slot + 1, 0);
        }
        assert!(group.by.unfinished[slot] == 0, "a job that is over has no pages left");
        group.enter(slot, now);
    }

    #[inline]
    fn end<O: Observer>(group: &mut ClusterGroup<'_, O, Parallel>, chip: ChipId, now: Instant) {
        group.chip_ends(chip, now);
    }

    fn dispatch<O: Observer>(group: &mut ClusterGroup<'_, O, Parallel>, now: Instant) {
        if group.by.touched.len() > 1 {
            group.by.touched.sort_unstable();
        }
        let mut next = 0;
        while let Some(&cluster) = group.by.touched.get(next) {
            next += 1;
            match group.by.to_look_at[cluster] {
                LookAt::Chip(chip) => {
                    let (_, changed) = group.dispatch_chip(chip, now);
                    if changed {
                        group.dispatch_cluster(cluster, now);
                    }
                }
                LookAt::Nothing | LookAt::Chips => group.dispatch_cluster(cluster, now),
            }
            // Dispatch itself enters entries of the cluster that it has just dispatched.
            group.by.to_look_at[cluster] = LookAt::Nothing;
        }
        group.by.touched.clear();
    }

    #[inline]
    fn granted<O: Observer>(group: &mut ClusterGroup<'_, O, Parallel>, request: BusRequest, now: Instant) {
        let BusRequest { chip, channel, .. } = request;
        let of = &mut group.by.chips[chip];
        let ticket = of.ticket.take().expect("a chip that asks has a page that waits");
        let end = group.core.moves(&mut of.operation, ticket, channel, now);
        group.core.ends(chip, Some(end));
    }

    #[inline]
    fn room(&self, pending: u64) -> u64 {
        pending.saturating_sub(self.entered)
    }

    #[inline]
    fn has_too_many(&self) -> bool {
        self.too_many
    }
}
