//! Parallel dispatch: every chip takes the earliest-deadline operation that waits for it.

mod queue;
mod releases;
mod steps;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use rtflash_model::{Id, Instant};
use serde::{Deserialize, Serialize};

use self::queue::ChipQueue;
use super::arrivals::Arrival;
use super::cluster::{ClusterState, Due, Jobs, max_pending};
use super::releases::Releaser;
use super::sequencer::{Sequencer, Ticket};
use crate::earliest::{Earliest, earlier};
use crate::error::RunError;
use crate::flash::{BusRequest, Channels};
use crate::ids::{ChannelId, ChipId, ClusterId, ColumnId, Lpn, PerId, SourceId};
use crate::lengths::Lengths;
use crate::options::Options;
use crate::plan::Plan;
use crate::resume::{Resume, resume};
use crate::trace::{Complete, Kind, Observer, Operation, Record};

/// What waits for a chip, by priority: deadline and place, kind, source, number of the job, number
/// of the page in it, slot of the job, what.
type Entry = (Due, Kind, SourceId, u64, u64, usize, ChipWork);

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
enum ChipWork {
    /// The job's pass, on this chip.
    Pass,
    Read(Lpn),
    Write(Lpn),
}

/// What a chip is doing.
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

#[derive(Debug, Default, Serialize, Deserialize)]
struct ChipQueues {
    queue: ChipQueue,
    /// Entries that cannot go on until an erase in the cluster has ended.
    waiting: ChipQueue,
    doing: Doing,
    /// For which job, by its slot.
    slot: usize,
    /// A page that waits for its bus, or will; and the place of its record.
    open: Option<(Operation, Ticket)>,
    /// Its cluster, by position in the group.
    cluster: usize,
    /// Its position in the cluster.
    position: ColumnId,
}

/// What of a cluster is to be looked at.
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
    Started,
    /// The queues have changed, or what the entry is about.
    Changed,
    /// It cannot go on before an erase in the cluster has ended.
    Waits,
}

/// A group of clusters under parallel dispatch. Clusters that share a channel have to be in one
/// group.
pub(crate) struct Parallel<'a, O> {
    options: &'a Options,
    lengths: Lengths,
    chips_per_channel: u32,
    clusters: Vec<ClusterState>,
    /// All chips of the device; those of other groups have nothing to do.
    chips: PerId<ChipId, ChipQueues>,
    /// Those of each cluster, ascending.
    members: Vec<Vec<ChipId>>,
    /// Pages of each job slot that have been entered and are not finished.
    unfinished: Vec<u64>,
    /// Reads that wait, by cluster and logical page: they move when their page does.
    reads: HashMap<(usize, Lpn), Vec<Entry>>,
    /// Pages that have been entered and are not finished.
    entered: u64,
    /// Whether these were too many.
    too_many: bool,
    jobs: Jobs,
    /// Jobs and pages that may be pending.
    pending: usize,
    releaser: Releaser,
    /// When each periodic source releases its next job.
    releases: BinaryHeap<Reverse<(Instant, usize)>>,
    /// When what each chip does ends, as far as that is known.
    ends: Earliest,
    channels: Channels,
    /// Clusters of which chips may have something to begin at this instant, each once.
    touched: Vec<usize>,
    to_look_at: Vec<LookAt>,
    observer: Sequencer<O>,
}

resume!(['a, O: Resume] Parallel<'a, O> {
    values: [clusters, chips, unfinished, reads, entered, too_many, jobs, releases, ends, touched, to_look_at],
    parts: [releaser, channels, observer],
    lists: [],
    made: [options, lengths, chips_per_channel, members, pending],
});

impl<'a, O: Observer> Parallel<'a, O> {
    /// The clusters at these positions of the plan, ascending.
    pub(crate) fn new(plan: &Plan, options: &'a Options, clusters: &[ClusterId], observer: O) -> Self {
        let releaser = Releaser::new(plan, clusters, options);
        let clusters: Vec<ClusterState> =
            clusters.iter().map(|&position| ClusterState::new(plan, position, options)).collect();
        let device = plan.device();
        let mut chips: PerId<ChipId, ChipQueues> =
            ChipId::first(device.chips()).map(|_| ChipQueues::default()).collect();
        let mut used = plan.per_channel(false);
        for (cluster, of) in clusters.iter().enumerate() {
            for (position, &chip) in of.chips.enumerate() {
                used[plan.channel_of(chip)] = true;
                chips[chip] = ChipQueues { cluster, position, ..ChipQueues::default() };
            }
        }
        let members = clusters.iter().map(|cluster| {
            let mut chips = cluster.chips.as_slice().to_vec();
            chips.sort_unstable();
            chips
        });
        let members = members.collect();
        let count = clusters.len();
        Parallel {
            options,
            lengths: Lengths::new(plan, options),
            chips_per_channel: device.chips_per_channel(),
            clusters,
            members,
            unfinished: Vec::new(),
            reads: HashMap::new(),
            entered: 0,
            too_many: false,
            jobs: Jobs::default(),
            pending: max_pending(plan, options, true),
            releases: releaser.periodic.first(options.duration).map(Reverse).collect(),
            ends: Earliest::new(chips.len()),
            chips,
            releaser,
            channels: Channels::new(&used, options),
            touched: Vec::new(),
            to_look_at: vec![LookAt::Nothing; count],
            observer: Sequencer::new(observer),
        }
    }

    /// The same where a host hands over all jobs.
    pub(crate) fn hosted(plan: &Plan, options: &'a Options, clusters: &[ClusterId], observer: O) -> Self {
        let mut parallel = Parallel::new(plan, options, clusters, observer);
        parallel.releases.clear();
        parallel
    }

    /// More arrivals, in order, none before what has been run already.
    pub(crate) fn arrive(&mut self, arrivals: impl Iterator<Item = Arrival>) {
        self.releaser.arrive(arrivals);
    }

    /// Runs everything before `limit`, which is at most the run's duration.
    ///
    /// # Errors
    /// Where too many jobs or pages are pending.
    pub(crate) fn run_until(&mut self, limit: Instant) -> Result<(), RunError> {
        while let Some(now) = self.next_instant().filter(|&now| now < limit) {
            self.observer.passes(now);
            self.releases(now);
            self.ends(now);
            if !self.touched.is_empty() {
                self.dispatch(now);
            }
            if self.channels.grants_by(now) {
                self.grants(now);
            }
            if self.is_overloaded() {
                return Err(RunError::TooManyPending { at: now, limit: self.pending });
            }
        }
        Ok(())
    }

    /// Every record of what starts before this instant has been passed on.
    pub(crate) fn settled(&mut self, limit: Instant) -> Instant {
        self.observer.notify_before(limit)
    }

    /// Ends the run at its duration: what is under way is followed to its end.
    pub(crate) fn finish(mut self) -> O {
        self.releases.clear();
        while let Some(now) = self.next_event() {
            self.ends(now);
            self.grants(now);
        }
        self.observer.finish()
    }

    /// The observer.
    pub(crate) fn observer(&mut self) -> &mut O {
        self.observer.observer()
    }

    /// A host hands over a job.
    pub(crate) fn hand_over(&mut self, arrival: Arrival) {
        self.releaser.arrive(std::iter::once(arrival));
    }

    /// What ends now ends.
    pub(crate) fn ends_at(&mut self, now: Instant) {
        self.observer.passes(now);
        self.ends(now);
    }

    /// Everything of this instant but the ends.
    pub(crate) fn goes_on(&mut self, now: Instant) {
        self.releases(now);
        self.dispatch(now);
        self.grants(now);
    }

    /// Whether more is pending than can be kept.
    pub(crate) fn is_overloaded(&self) -> bool {
        self.jobs.len() > self.pending || self.too_many
    }

    /// When something happens next.
    pub(crate) fn next_instant(&self) -> Option<Instant> {
        earlier(self.next_event(), self.releaser.next_arrival())
    }

    fn next_event(&self) -> Option<Instant> {
        let release = self.releases.peek().map(|&Reverse((at, _))| at);
        let end = Instant::from_ns(self.ends.first_ns().min(self.channels.least_ns()));
        earlier(end, release)
    }

    fn channel_of(&self, chip: ChipId) -> ChannelId {
        ChannelId(chip.0 / self.chips_per_channel)
    }

    fn complete(&mut self, slot: usize, now: Instant) {
        self.observer.observer().over(self.jobs[slot].id);
        if now <= self.options.duration {
            self.observer.push(Record::Complete(Complete { at: now, job: self.jobs[slot].id }));
        }
        self.jobs.remove(slot);
    }

    fn ends(&mut self, now: Instant) {
        while let Some(chip) = self.ends.first_at(now) {
            self.ends.set(chip, None);
            self.end(ChipId::from_index(chip), now);
        }
    }

    /// Buses that are free take what has waited longest.
    pub(crate) fn grants(&mut self, now: Instant) {
        while self.channels.grants_by(now) {
            let BusRequest { channel, chip, .. } = self.channels.grant();
            let open = self.chips[chip].open.take();
            let (mut operation, ticket) = open.expect("a chip that asks has a page that waits");
            let transfer = self.lengths.moves(&mut operation, channel, now);
            self.channels.hold(channel, transfer.end);
            self.ends.set(chip.index(), Some(operation.end));
            self.observer.close(ticket, operation.end);
            self.observer.transfer(transfer);
        }
    }

    /// Something has changed in a cluster: all its idle chips are looked at.
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
            // What dispatch itself has entered is in the cluster that it has just looked at.
            self.to_look_at[cluster] = LookAt::Nothing;
        }
        self.touched.clear();
    }

    /// Looks at the idle chips of a cluster, again and again, until nothing changes. An idle chip
    /// that has been looked at has an empty queue, until something is entered there.
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
            // Nobody is looked at again who has begun something.
            goes_on = changed && idle;
        }
    }

    /// Looks at a chip that is idle. Says whether it has begun something, and whether anything has
    /// changed beside that.
    #[inline]
    fn dispatch_chip(&mut self, chip: ChipId, now: Instant) -> (bool, bool) {
        let mut changed = false;
        while let Some((slot, work)) = self.chips[chip].queue.first_work() {
            match self.go_on(chip, (slot, work), now) {
                ChipAttempt::Started => return (true, changed),
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
