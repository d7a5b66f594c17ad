//! Parallel dispatch: every chip takes the earliest-deadline operation that waits for it.

mod queue;
mod reads;
mod releases;
mod steps;

use rtflash_model::{ChipId, ClusterId, Instant, Lpn, PerId};
use rtflash_plan::resume::{Resume, resume};
use rtflash_plan::{Arrival, BlockId, ColumnId, Options, Plan, SourceId};
use rtflash_trace::{Action, JobId, Kind, NO_LPN, NONE, Observer, Operation};
use serde::{Deserialize, Serialize};

use self::queue::ChipQueue;
use self::reads::WaitingReads;
use super::cluster::{ClusterState, Jobs, max_pending};
use crate::engine::core::{ChipPolicy, ChipStep, Core};
use crate::engine::priority::Priority;
use crate::engine::sequencer::Ticket;
use crate::flash::BusRequest;
use crate::organisation::releases::Releaser;

/// What waits for a chip, by priority.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Entry {
    job: Priority,
    /// The number of the page in the job.
    page: u64,
    work: ChipWork,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
enum ChipWork {
    /// The job's pass, on this chip.
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
    /// For which job, by its slot.
    slot: usize,
    /// The operation that it does, or did last.
    operation: Operation,
    /// The place of its record, where it waits for its bus, or will.
    ticket: Option<Ticket>,
    /// Its cluster, by position in the group.
    cluster: usize,
    /// Its position in the cluster.
    position: ColumnId,
}

impl ChipQueues {
    /// A chip that has nothing to do.
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
    /// A chip that is idle.
    Chip(ChipId),
    /// All that are.
    Chips,
}

/// What came of an attempt to let a chip go on with an entry.
enum ChipAttempt {
    /// This is what it does next.
    Begins(ChipStep),
    /// The queues have changed, or what the entry is about.
    Changed,
    /// It cannot go on before an erase in the cluster has ended.
    Waits,
}

/// A group of clusters under parallel dispatch. Clusters that share a channel have to be in one
/// group.
pub(crate) struct Parallel<'a, O> {
    options: &'a Options,
    core: Core<O>,
    clusters: Vec<ClusterState>,
    /// All chips of the device; those of other groups have nothing to do.
    chips: PerId<ChipId, ChipQueues>,
    /// Those of each cluster, ascending.
    members: Vec<Vec<ChipId>>,
    /// Pages of each job slot that have been entered and are not finished.
    unfinished: Vec<u64>,
    reads: WaitingReads,
    /// Pages that have been entered and are not finished.
    entered: u64,
    /// Whether these were too many.
    too_many: bool,
    jobs: Jobs,
    /// Jobs and pages that may be pending.
    pending: usize,
    releaser: Releaser,
    /// Clusters of which chips may have something to begin at this instant, each once.
    touched: Vec<usize>,
    to_look_at: Vec<LookAt>,
}

resume!(['a, O: Resume] Parallel<'a, O> {
    values: [clusters, chips, unfinished, reads, entered, too_many, jobs, touched, to_look_at],
    parts: [releaser, core],
    lists: [],
    made: [options, members, pending],
});

impl<'a, O: Observer> Parallel<'a, O> {
    /// The clusters at these positions of the plan, ascending.
    pub(crate) fn new(plan: &Plan, options: &'a Options, clusters: &[ClusterId], observer: O) -> Self {
        let releaser = Releaser::new(plan, clusters, options);
        let clusters: Vec<ClusterState> =
            clusters.iter().map(|&position| ClusterState::new(plan, position, options)).collect();
        let device = plan.device();
        let mut chips: PerId<ChipId, ChipQueues> =
            ChipId::first(device.chips()).map(|_| ChipQueues::new(0, ColumnId(0))).collect();
        let mut used = plan.per_channel(false);
        for (cluster, of) in clusters.iter().enumerate() {
            for (position, &chip) in of.chips.enumerate() {
                used[plan.channel_of(chip)] = true;
                chips[chip] = ChipQueues::new(cluster, position);
            }
        }
        let logical_pages = clusters.iter().map(|of| plan.clusters()[of.position].layout.logical_pages());
        let reads = WaitingReads::new(logical_pages);
        let members = clusters.iter().map(|cluster| {
            let mut chips = cluster.chips.as_slice().to_vec();
            chips.sort_unstable();
            chips
        });
        let members = members.collect();
        let count = clusters.len();
        Parallel {
            options,
            core: Core::new(plan, options, &used, observer),
            clusters,
            members,
            unfinished: Vec::new(),
            reads,
            entered: 0,
            too_many: false,
            jobs: Jobs::default(),
            pending: max_pending(plan, options, true),
            chips,
            releaser,
            touched: Vec::new(),
            to_look_at: vec![LookAt::Nothing; count],
        }
    }

    /// A group to which a host hands over all jobs.
    pub(crate) fn hosted(plan: &Plan, options: &'a Options, clusters: &[ClusterId], observer: O) -> Self {
        let mut parallel = Parallel::new(plan, options, clusters, observer);
        parallel.releaser.without_periodic_sources();
        parallel
    }

    fn complete(&mut self, slot: usize, now: Instant) {
        self.core.complete(self.jobs[slot].id, now);
        self.jobs.remove(slot);
    }

    /// Something has changed in a cluster: all its idle chips may begin something.
    fn touch(&mut self, cluster: usize) {
        if self.to_look_at[cluster] == LookAt::Nothing {
            self.touched.push(cluster);
        }
        self.to_look_at[cluster] = LookAt::Chips;
    }

    /// A chip of a cluster is idle, and nothing else has changed.
    #[inline]
    fn touch_chip(&mut self, cluster: usize, chip: ChipId) {
        let of = &mut self.to_look_at[cluster];
        if *of == LookAt::Nothing {
            self.touched.push(cluster);
            *of = LookAt::Chip(chip);
        } else {
            *of = LookAt::Chips;
        }
    }

    /// Looks at the idle chips of a cluster, again and again, until nothing changes. An idle chip
    /// that was tried has an empty queue, until something is entered there.
    fn dispatch_cluster(&mut self, cluster: usize, now: Instant) {
        let mut goes_on = true;
        while goes_on {
            let (mut changed, mut idle) = (false, false);
            let mut place = 0;
            while let Some(&chip) = self.members[cluster].get(place) {
                place += 1;
                if self.chips[chip].doing == Doing::Nothing {
                    let (began, turned) = self.dispatch_chip(chip, now);
                    (changed, idle) = (changed | turned, idle | !began);
                }
            }
            // A chip that has begun something is not tried again.
            goes_on = changed && idle;
        }
    }

    /// Looks at a chip that is idle. Says whether it has begun something, and whether anything has
    /// changed beside that.
    #[inline(always)]
    fn dispatch_chip(&mut self, chip: ChipId, now: Instant) -> (bool, bool) {
        let mut changed = false;
        while let Some((slot, work)) = self.chips[chip].queue.first_work() {
            match self.go_on(chip, slot, work, now) {
                ChipAttempt::Begins(step) => {
                    let of = &mut self.chips[chip];
                    of.ticket = self.core.begin(&of.operation, step);
                    return (true, changed);
                }
                ChipAttempt::Changed => changed = true,
                ChipAttempt::Waits => {
                    let chip = &mut self.chips[chip];
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

impl<O: Observer> ChipPolicy for Parallel<'_, O> {
    type Notified = O;

    fn core(&mut self) -> &mut Core<O> {
        &mut self.core
    }

    fn as_core(&self) -> &Core<O> {
        &self.core
    }

    fn into_core(self) -> Core<O> {
        self.core
    }

    fn hand_over(&mut self, arrival: Arrival) {
        self.releaser.arrives(arrival);
    }

    /// Where a host releases requests, tasks have none here.
    fn request(&mut self, _: SourceId, _: Instant, _: Instant, _: &[Lpn]) -> Option<JobId> {
        None
    }

    #[inline]
    fn next_release(&self) -> Option<Instant> {
        self.releaser.next_release()
    }

    fn release_no_more(&mut self) {
        self.releaser.release_no_more();
    }

    #[inline]
    fn releases(&mut self, now: Instant) {
        self.release_all(now);
    }

    #[inline]
    fn end(&mut self, chip: ChipId, now: Instant) {
        self.chip_ends(chip, now);
    }

    /// Looks at the idle chips of all clusters in which something has happened.
    fn dispatch(&mut self, now: Instant) {
        if self.touched.len() > 1 {
            self.touched.sort_unstable();
        }
        let mut next = 0;
        while let Some(&cluster) = self.touched.get(next) {
            next += 1;
            match self.to_look_at[cluster] {
                LookAt::Chip(chip) => {
                    let (_, changed) = self.dispatch_chip(chip, now);
                    if changed {
                        self.dispatch_cluster(cluster, now);
                    }
                }
                LookAt::Nothing | LookAt::Chips => self.dispatch_cluster(cluster, now),
            }
            // Dispatch itself enters entries of the cluster that it has just dispatched.
            self.to_look_at[cluster] = LookAt::Nothing;
        }
        self.touched.clear();
    }

    #[inline]
    fn granted(&mut self, request: BusRequest, now: Instant) {
        let BusRequest { chip, .. } = request;
        let of = &mut self.chips[chip];
        let ticket = of.ticket.take().expect("a chip that asks has a page that waits");
        let end = self.core.moves(&mut of.operation, ticket, request.channel, now);
        self.core.ends.set(chip, Some(end));
    }

    #[inline]
    fn overload(&self) -> Option<usize> {
        (self.jobs.len() > self.pending || self.too_many).then_some(self.pending)
    }
}
