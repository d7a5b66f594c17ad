//! Parallel dispatch: every chip takes the earliest-deadline operation that waits for it.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, HashMap};

use rtflash_model::Instant;

use super::arrivals::Arrival;
use super::cluster::{Cluster, Job, Jobs, max_pending};
use super::releases::Releaser;
use super::sequencer::Sequencer;
use crate::flash::{Channels, Request};
use crate::ftl::Copy;
use crate::ids::{BlockId, ChannelId, ChipId, ClusterId, ColumnId, Lpn, PerId, SourceId};
use crate::lengths::Lengths;
use crate::options::{Options, Victims};
use crate::plan::Plan;
use crate::run::RunError;
use crate::trace::{
    Action, Complete, Kind, Moved, NO_LPN, NONE, Observer, Operation, Padding, Record, Release, Starved, Step, Transfer,
};

/// Events of one instant: releases come before ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// A periodic source releases its next job.
    Release(usize),
    /// What a chip does ends.
    End(ChipId),
}

/// What waits for a chip, by priority: deadline, kind, source, number of the job, number of the
/// page in it, slot of the job, what.
type Entry = (u64, Kind, SourceId, u64, u64, usize, Work);

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Work {
    /// The job's pass, on this chip.
    Pass,
    Read(Lpn),
    Write(Lpn),
}

/// What a chip is doing.
#[derive(Debug, Clone, Copy)]
enum Doing {
    /// A page that waits for its bus, or will.
    Waiting(Operation),
    /// A page that has had its bus, or has it.
    Paging,
    /// A GC read or GC program, of a page or as padding.
    Copying,
    Erasing,
}

#[derive(Debug, Default)]
struct Chip {
    queue: BTreeSet<Entry>,
    /// Entries that cannot go on until an erase in the cluster has ended.
    waiting: BTreeSet<Entry>,
    doing: Option<(usize, Doing)>,
    /// Its cluster, by position in the group.
    cluster: usize,
    /// Its position in the cluster.
    position: ColumnId,
}

/// What came of an attempt to let a chip go on with an entry.
enum Attempt {
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
    clusters: Vec<Cluster>,
    /// All chips of the device; those of other groups have nothing to do.
    chips: PerId<ChipId, Chip>,
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
    events: BinaryHeap<Reverse<(Instant, Event)>>,
    channels: Channels,
    /// Clusters of which chips may have something to begin at this instant.
    touched: Vec<usize>,
    observer: Sequencer<O>,
}

impl<'a, O: Observer> Parallel<'a, O> {
    /// The clusters at these positions of the plan, ascending.
    pub(crate) fn new(plan: &Plan, options: &'a Options, clusters: &[ClusterId], observer: O) -> Self {
        let releaser = Releaser::new(plan, clusters, options.service);
        let clusters: Vec<Cluster> = clusters.iter().map(|&position| Cluster::new(plan, position, options)).collect();
        let device = plan.device();
        let mut chips: PerId<ChipId, Chip> = ChipId::first(device.chips()).map(|_| Chip::default()).collect();
        let mut used = plan.per_channel(false);
        for (cluster, of) in clusters.iter().enumerate() {
            for (position, &chip) in of.chips.enumerate() {
                used[plan.channel_of(chip)] = true;
                chips[chip] = Chip { cluster, position, ..Chip::default() };
            }
        }
        let members = clusters.iter().map(|cluster| {
            let mut chips = cluster.chips.as_slice().to_vec();
            chips.sort_unstable();
            chips
        });
        let members = members.collect();
        Parallel {
            options,
            lengths: Lengths::new(plan, options),
            chips_per_channel: device.chips_per_channel(),
            clusters,
            chips,
            members,
            unfinished: Vec::new(),
            reads: HashMap::new(),
            entered: 0,
            too_many: false,
            jobs: Jobs::default(),
            pending: max_pending(plan, options, true),
            events: releaser.first().map(|(at, source)| Reverse((at, Event::Release(source)))).collect(),
            releaser,
            channels: Channels::new(&used),
            touched: Vec::new(),
            observer: Sequencer::new(observer),
        }
    }

    /// The same where a host hands over all jobs.
    pub(crate) fn hosted(plan: &Plan, options: &'a Options, clusters: &[ClusterId], observer: O) -> Self {
        let mut parallel = Parallel::new(plan, options, clusters, observer);
        parallel.events.clear();
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
            self.dispatch(now);
            self.grants(now);
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
        while let Some(now) = self.next_event() {
            while self.events.peek().is_some_and(|&Reverse((at, _))| at == now) {
                if let Some(Reverse((_, Event::End(chip)))) = self.events.pop() {
                    self.end(chip, now);
                }
            }
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
        self.next_event().into_iter().chain(self.releaser.next_arrival()).min()
    }

    fn next_event(&self) -> Option<Instant> {
        let event = self.events.peek().map(|&Reverse((at, _))| at);
        event.into_iter().chain(self.channels.least()).min()
    }

    fn releases(&mut self, now: Instant) {
        while let Some(&Reverse((at, Event::Release(source)))) = self.events.peek()
            && at == now
        {
            self.events.pop();
            let (job, next) = self.releaser.release(source);
            if next < self.options.duration {
                self.events.push(Reverse((next, Event::Release(source))));
            }
            self.observer.push(Record::Release(Release {
                at: now,
                job: job.id,
                kind: job.kind,
                deadline: Instant::from_ns(job.deadline),
                pages: job.reads + job.writes,
                cluster: Some(self.clusters[job.cluster].position),
            }));
            self.admit(job, now);
        }
        while self.releaser.next_arrival() == Some(now) {
            let Some((release, job)) = self.releaser.next_job(&mut self.clusters) else { break };
            self.observer.push(Record::Release(release));
            if let Some(job) = job {
                self.admit(job, now);
            }
        }
    }

    fn admit(&mut self, job: Job, now: Instant) {
        let slot = self.jobs.insert(job);
        if self.unfinished.len() <= slot {
            self.unfinished.resize(slot + 1, 0);
        }
        self.unfinished[slot] = 0;
        self.enter(slot, now);
    }

    fn entry(&self, slot: usize, page: u64, work: Work) -> Entry {
        let job = &self.jobs[slot];
        (job.deadline, job.kind, job.id.source, job.id.index, page, slot, work)
    }

    /// Enters what a job has to do next: a pass, or all its pages; nothing more to do ends it.
    fn enter(&mut self, slot: usize, now: Instant) {
        self.touched.push(self.jobs[slot].cluster);
        let Job { cluster: position, slots, passes, reads, writes, first_page, .. } = self.jobs[slot];
        if passes > 0 {
            let entry = self.entry(slot, 0, Work::Pass);
            for &chip in &self.clusters[position].chips {
                self.chips[chip].queue.insert(entry);
            }
            return;
        }
        if reads + writes == 0 {
            if self.unfinished[slot] == 0 {
                self.complete(slot, now);
            }
            return;
        }
        self.entered += reads + writes;
        if self.entered > self.pending as u64 {
            self.too_many = true;
            return;
        }
        for page in 0..reads + writes {
            let cluster = &mut self.clusters[position];
            let (chip, work) = if page < reads {
                let lpn = cluster.page(slots.0, first_page, page);
                (cluster.map.chip_of(lpn), Work::Read(lpn))
            } else {
                let (chip, lpn) = (cluster.pointer(), cluster.page(slots.1, first_page, page));
                cluster.advance(chip);
                (chip, Work::Write(lpn))
            };
            let chip = cluster.chips[chip];
            let entry = self.entry(slot, page, work);
            self.chips[chip].queue.insert(entry);
            if let Work::Read(lpn) = work {
                self.reads.entry((position, lpn)).or_default().push(entry);
            }
        }
        self.unfinished[slot] = reads + writes;
        (self.jobs[slot].reads, self.jobs[slot].writes) = (0, 0);
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
        while let Some(&Reverse((at, Event::End(chip)))) = self.events.peek()
            && at == now
        {
            self.events.pop();
            self.end(chip, now);
        }
    }

    /// What a chip waited for has come about.
    fn end(&mut self, chip: ChipId, now: Instant) {
        let (slot, doing) = self.chips[chip].doing.expect("a chip does something until it ends");
        self.touched.push(self.chips[chip].cluster);
        match doing {
            Doing::Waiting(_) => unreachable!("a page that waits for its bus does not end"),
            Doing::Paging => self.page_ends(chip, slot, now),
            Doing::Copying => self.chips[chip].doing = None,
            Doing::Erasing => {
                self.chips[chip].doing = None;
                let cluster = &mut self.clusters[self.chips[chip].cluster];
                cluster.collector.erased(&mut cluster.map, self.chips[chip].position);
                for &chip in &cluster.chips {
                    let chip = &mut self.chips[chip];
                    chip.queue.append(&mut chip.waiting);
                }
                if !cluster.collector.is_under_way() {
                    self.pass_over(slot, now);
                }
            }
        }
    }

    /// The job whose operation ended a pass, or that has nothing to collect, goes on behind it.
    fn pass_over(&mut self, slot: usize, now: Instant) {
        let entry = self.entry(slot, 0, Work::Pass);
        for &chip in &self.clusters[self.jobs[slot].cluster].chips {
            let chip = &mut self.chips[chip];
            let _ = chip.queue.remove(&entry) || chip.waiting.remove(&entry);
        }
        self.jobs[slot].passes -= 1;
        self.enter(slot, now);
    }

    fn page_ends(&mut self, chip: ChipId, slot: usize, now: Instant) {
        self.chips[chip].doing = None;
        self.unfinished[slot] -= 1;
        self.entered -= 1;
        if self.jobs[slot].is_background() {
            self.clusters[self.chips[chip].cluster].background -= 1;
        }
        if self.unfinished[slot] == 0 && self.jobs[slot].passes == 0 {
            self.complete(slot, now);
        }
    }

    /// Buses that are free take what has waited longest.
    pub(crate) fn grants(&mut self, now: Instant) {
        while self.channels.least().is_some_and(|at| at <= now) {
            let Request { channel, chip, .. } = self.channels.grant();
            let Some((slot, Doing::Waiting(mut operation))) = self.chips[chip].doing else {
                unreachable!("a chip that asks has a page that waits");
            };
            let over = now.saturating_add(self.lengths.transfer(channel, now));
            operation.end = match operation.action {
                Action::Program => over.saturating_add(self.lengths.programming(chip, over)),
                _ => over,
            };
            self.channels.hold(channel, over);
            self.chips[chip].doing = Some((slot, Doing::Paging));
            self.events.push(Reverse((operation.end, Event::End(chip))));
            self.observer.close(Record::Operation(operation));
            self.observer.push(Record::Transfer(Transfer {
                start: now,
                end: over,
                channel,
                cluster: operation.cluster,
                chip,
                job: operation.job,
                kind: operation.kind,
            }));
        }
    }

    /// Looks at the idle chips of all clusters in which something has happened, again and again,
    /// until nothing changes.
    fn dispatch(&mut self, now: Instant) {
        let mut touched = std::mem::take(&mut self.touched);
        touched.sort_unstable();
        touched.dedup();
        for cluster in touched.drain(..) {
            let mut changed = true;
            while changed {
                changed = false;
                for member in 0..self.members[cluster].len() {
                    changed |= self.dispatch_chip(self.members[cluster][member], now);
                }
            }
        }
        // What dispatch itself enters is in a cluster that it has just looked at.
        self.touched.clear();
        std::mem::swap(&mut self.touched, &mut touched);
    }

    fn dispatch_chip(&mut self, chip: ChipId, now: Instant) -> bool {
        let mut changed = false;
        if self.chips[chip].doing.is_some() {
            return changed;
        }
        while let Some(&entry) = self.chips[chip].queue.first() {
            match self.go_on(chip, entry, now) {
                Attempt::Started => return true,
                Attempt::Changed => changed = true,
                Attempt::Waits => {
                    let chip = &mut self.chips[chip];
                    if chip.queue.remove(&entry) {
                        chip.waiting.insert(entry);
                    }
                }
            }
        }
        changed
    }

    fn go_on(&mut self, chip: ChipId, entry: Entry, now: Instant) -> Attempt {
        let slot = entry.5;
        let (cluster, position) = (&mut self.clusters[self.chips[chip].cluster], self.chips[chip].position);
        match entry.6 {
            Work::Pass => self.go_on_with_pass(chip, slot, now),
            Work::Read(lpn) => {
                let place = cluster.map.locate(lpn);
                self.chips[chip].queue.remove(&entry);
                let of = self.chips[chip].cluster;
                if let Some(waiting) = self.reads.get_mut(&(of, lpn)) {
                    waiting.retain(|&other| other != entry);
                    if waiting.is_empty() {
                        self.reads.remove(&(of, lpn));
                    }
                }
                self.page(chip, slot, (Action::Read, place.block, place.page, lpn), now)
            }
            Work::Write(lpn) => {
                let room = cluster.chip_with_room(position);
                match room {
                    None => self.starve(chip, slot, position, now),
                    Some(other) if other != position => {
                        let number = cluster.chips[other];
                        let (job, of) = (self.jobs[slot].id, cluster.position);
                        self.observer.push(Record::Moved(Moved { at: now, job, cluster: of, chip: number, lpn }));
                        self.chips[chip].queue.remove(&entry);
                        self.chips[number].queue.insert(entry);
                        Attempt::Changed
                    }
                    Some(_) => {
                        let old = cluster.map.chip_of(lpn);
                        let Some(place) = cluster.write(self.jobs[slot].slots.1, lpn, position) else {
                            return Attempt::Waits;
                        };
                        let old = cluster.chips[old];
                        for read in self.reads.get(&(self.chips[chip].cluster, lpn)).into_iter().flatten() {
                            if self.chips[old].queue.remove(read) {
                                self.chips[chip].queue.insert(*read);
                            }
                        }
                        self.chips[chip].queue.remove(&entry);
                        self.page(chip, slot, (Action::Program, place.block, place.page, lpn), now)
                    }
                }
            }
        }
    }

    fn starve(&mut self, chip: ChipId, slot: usize, position: ColumnId, now: Instant) -> Attempt {
        let (job, cluster) = (&mut self.jobs[slot], &self.clusters[self.chips[chip].cluster]);
        if !job.starved {
            job.starved = true;
            let chip = cluster.chips[position];
            self.observer.push(Record::Starved(Starved { at: now, job: job.id, cluster: cluster.position, chip }));
        }
        if job.kind != Kind::Server || job.passes > 0 {
            return Attempt::Waits;
        }
        // A job that is not real-time collects for itself: nobody else might.
        let (id, cluster) = (job.id, &mut self.clusters[self.chips[chip].cluster]);
        let notify = |chosen| self.observer.push(Record::Selected(chosen));
        if !cluster.collector.is_under_way() && !cluster.begin_pass((id, true), now, notify) {
            return Attempt::Waits;
        }
        self.jobs[slot].passes = 1;
        self.enter(slot, now);
        Attempt::Changed
    }

    fn operation(&mut self, chip: ChipId, slot: usize, now: Instant) -> Operation {
        let job = &mut self.jobs[slot];
        job.starved = false;
        Operation {
            start: now,
            end: now,
            cluster: self.clusters[self.chips[chip].cluster].position,
            chip,
            action: Action::Erase,
            job: job.id,
            kind: job.kind,
            block: BlockId(0),
            page: NONE,
            lpn: NO_LPN,
        }
    }

    fn page(&mut self, chip: ChipId, slot: usize, what: (Action, BlockId, u32, Lpn), now: Instant) -> Attempt {
        let (action, block, page, lpn) = what;
        let operation = Operation { action, block, page, lpn, ..self.operation(chip, slot, now) };
        self.observer.open(now);
        let since = match action {
            Action::Read => now.saturating_add(self.lengths.sensing(chip, now)),
            _ => now,
        };
        self.chips[chip].doing = Some((slot, Doing::Waiting(operation)));
        self.channels.request(Request { since, channel: self.channel_of(chip), chip, lane: self.chips[chip].cluster });
        Attempt::Started
    }

    fn go_on_with_pass(&mut self, chip: ChipId, slot: usize, now: Instant) -> Attempt {
        let cluster = &mut self.clusters[self.chips[chip].cluster];
        let position = self.chips[chip].position;
        if !cluster.collector.is_under_way() {
            let id = self.jobs[slot].id;
            let notify = |chosen| self.observer.push(Record::Selected(chosen));
            if cluster.leaves_out(self.jobs[slot].slots.0) || !cluster.begin_pass((id, false), now, notify) {
                self.observer.push(Record::LeftOut(cluster.leaving_out(id, now)));
                self.pass_over(slot, now);
            }
            return Attempt::Changed;
        }
        if !cluster.collector.is_on(position) {
            // This chip has done its part.
            return Attempt::Waits;
        }
        let (map, collector) = (&mut cluster.map, &mut cluster.collector);
        let mut step = Step::Read;
        let number = cluster.chips[position];
        let (length, operation) = if collector.holds_copy(position) {
            step = Step::Program;
            let copied = collector.program(map, position);
            if copied.is_none() && self.options.victims == Victims::Actual {
                return Attempt::Changed;
            }
            let copied = copied.map(|(place, lpn)| (Action::Program, place.block, place.page, lpn));
            (self.lengths.program(number, now), copied)
        } else {
            match collector.read(map, position) {
                Some(Copy::Padding) => (self.lengths.read(number, now), None),
                Some(Copy::Page { page, lpn }) => {
                    let (block, page) = map.block_and_page(page);
                    (self.lengths.read(number, now), Some((Action::Read, block, page, lpn)))
                }
                None => {
                    let victim = collector.victim(position);
                    (self.lengths.erase(number, now), victim.map(|block| (Action::Erase, block, NONE, NO_LPN)))
                }
            }
        };
        let end = now.saturating_add(length);
        let erases = matches!(operation, Some((Action::Erase, ..)));
        if let Some((action, block, page, lpn)) = operation {
            let blank = self.operation(chip, slot, now);
            let operation = Operation { end, kind: Kind::Gc, action, block, page, lpn, ..blank };
            self.observer.push(Record::Operation(operation));
        } else {
            let of = self.clusters[self.chips[chip].cluster].position;
            let job = self.jobs[slot].id;
            self.observer.push(Record::Padding(Padding { start: now, end, job, cluster: of, chip: number, step }));
        }
        self.chips[chip].doing = Some((slot, if erases { Doing::Erasing } else { Doing::Copying }));
        self.events.push(Reverse((end, Event::End(chip))));
        Attempt::Started
    }
}
