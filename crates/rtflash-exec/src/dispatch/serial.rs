//! Serial dispatch: one page operation, or one step of a GC pass on all chips, at a time in a
//! cluster.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

use rtflash_model::Instant;

use super::arrivals::Arrival;
use super::cluster::{Cluster, Job, Jobs, Priority, max_pending};
use super::releases::Releaser;
use crate::flash::Bus;
use crate::ftl::{Copy, Place};
use crate::ids::{BlockId, ChannelId, ChipId, ClusterId, ColumnId, Lpn, PerId};
use crate::lengths::Lengths;
use crate::options::{Options, Victims};
use crate::plan::Plan;
use crate::run::RunError;
use crate::trace::{
    self, Action, Complete, Kind, NO_LPN, NONE, Observer, Operation, Padding, Release, Starved, Transfer,
};

/// Events of one instant: releases come before ends.
const RELEASE: u8 = 0;
const END: u8 = 1;

/// What a cluster is busy with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    /// A page of a job's own.
    Page,
    GcRead,
    GcProgram,
    Erase,
}

/// How far an operation on a shared bus is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Sensing,
    Waiting,
    Transferring,
    Programming,
}

/// What a cluster does and has to do.
#[derive(Debug, Default)]
struct Lane {
    pending: BTreeSet<Priority>,
    /// Jobs that are starved: they are looked at again when an erase has ended.
    starved: Vec<Priority>,
    running: Option<(usize, Step)>,
    /// An operation on a shared bus. Its end is known when it gets the bus.
    open: Option<(Operation, Phase)>,
    /// Releases since the start of an operation that nobody has been notified of yet. They come
    /// after it.
    held: Vec<Release>,
}

impl Lane {
    /// Whether an operation has begun that nobody has been notified of.
    fn is_holding(&self) -> bool {
        matches!(self.open, Some((_, Phase::Sensing | Phase::Waiting)))
    }
}

/// What came of an attempt to go on with a job.
enum Attempt {
    /// It is busy until then, if that is known.
    Started(Option<Instant>),
    Over,
    Starved,
}

/// A group of clusters under serial dispatch. Clusters that share a channel have to be in one
/// group.
pub(crate) struct Serial<'a, O> {
    options: &'a Options,
    lengths: Lengths,
    chips_per_channel: u32,
    clusters: Vec<Cluster>,
    lanes: Vec<Lane>,
    jobs: Jobs,
    /// Jobs that may be pending.
    pending: usize,
    releaser: Releaser,
    events: BinaryHeap<Reverse<(Instant, u8, usize)>>,
    /// Buses that several clusters share, by channel; for the others nobody has to wait.
    buses: PerId<ChannelId, Option<Bus>>,
    /// Channels of which something has changed at this instant.
    asked: Vec<ChannelId>,
    /// Clusters that may have something to start at this instant.
    touched: Vec<usize>,
    /// The cluster of each chip, by position in the group.
    owner: PerId<ChipId, usize>,
    batch: Vec<Operation>,
    observer: O,
}

impl<'a, O: Observer> Serial<'a, O> {
    /// The clusters at these positions of the plan, ascending. `shared` says of each channel
    /// whether several clusters are on it.
    pub(crate) fn new(
        plan: &Plan,
        options: &'a Options,
        clusters: &[ClusterId],
        shared: &PerId<ChannelId, bool>,
        observer: O,
    ) -> Self {
        let releaser = Releaser::new(plan, clusters, options.service);
        let clusters: Vec<Cluster> = clusters.iter().map(|&position| Cluster::new(plan, position, options)).collect();
        let device = plan.device();
        let mut owner = plan.per_chip(usize::MAX);
        for (position, cluster) in clusters.iter().enumerate() {
            for &chip in &cluster.chips {
                owner[chip] = position;
            }
        }
        Serial {
            options,
            lengths: Lengths::new(plan, options),
            chips_per_channel: device.chips_per_channel(),
            lanes: clusters.iter().map(|_| Lane::default()).collect(),
            clusters,
            jobs: Jobs::default(),
            pending: max_pending(plan, options, false),
            events: releaser.first().map(|(at, source)| Reverse((at, RELEASE, source))).collect(),
            releaser,
            buses: shared.iter().map(|&shared| shared.then(Bus::default)).collect(),
            asked: Vec::new(),
            touched: Vec::new(),
            owner,
            batch: Vec::new(),
            observer,
        }
    }

    /// More arrivals, in order, none before what has been run already.
    pub(crate) fn arrive(&mut self, arrivals: impl Iterator<Item = Arrival>) {
        self.releaser.arrive(arrivals);
    }

    /// Runs everything before `limit`, which is at most the run's duration.
    ///
    /// # Errors
    /// Where too many jobs are pending.
    pub(crate) fn run_until(&mut self, limit: Instant) -> Result<(), RunError> {
        while let Some(now) = self.next_instant().filter(|&now| now < limit) {
            self.releases(now);
            if self.jobs.len() > self.pending {
                return Err(RunError::TooManyPending { at: now, limit: self.pending });
            }
            self.ends(now);
            if let [_] = self.lanes[..] {
                self.run_alone(now, limit);
            } else {
                let mut touched = std::mem::take(&mut self.touched);
                touched.sort_unstable();
                touched.dedup();
                for position in touched.drain(..) {
                    if let Some(end) = self.dispatch(position, now) {
                        self.events.push(Reverse((end, END, position)));
                    }
                }
                self.touched = touched;
                self.grants(now);
            }
        }
        Ok(())
    }

    /// Every record of what starts before this instant has been passed on.
    pub(crate) fn settled(&self, limit: Instant) -> Instant {
        let held = self.lanes.iter().filter(|lane| lane.is_holding());
        held.filter_map(|lane| lane.open.map(|(operation, _)| operation.start)).fold(limit, Instant::min)
    }

    /// Dispatches the only cluster, and goes on with it as long as nothing else happens: no event
    /// has to be kept for that.
    fn run_alone(&mut self, now: Instant, limit: Instant) {
        self.touched.clear();
        let mut now = now;
        let next = self.next_instant().map_or(limit, |next| next.min(limit));
        while let Some(end) = self.dispatch(0, now) {
            if end >= next {
                self.events.push(Reverse((end, END, 0)));
                return;
            }
            now = end;
            self.end(0, now);
        }
        self.grants(now);
    }

    /// Ends the run at its duration: what is under way is followed to its end.
    pub(crate) fn finish(mut self) -> O {
        while let Some(Reverse((now, class, position))) = self.events.pop() {
            if class == END {
                self.end(position, now);
            }
            if self.events.peek().is_none_or(|&Reverse((next, ..))| next > now) {
                self.grants(now);
            }
        }
        self.observer
    }

    /// The observer.
    pub(crate) fn observer(&mut self) -> &mut O {
        &mut self.observer
    }

    fn next_instant(&self) -> Option<Instant> {
        let event = self.events.peek().map(|&Reverse((at, ..))| at);
        match (event, self.releaser.next_arrival()) {
            (Some(event), Some(arrival)) => Some(event.min(arrival)),
            (event, arrival) => event.or(arrival),
        }
    }

    fn releases(&mut self, now: Instant) {
        while let Some(&Reverse((at, RELEASE, source))) = self.events.peek()
            && at == now
        {
            self.events.pop();
            let (job, next) = self.releaser.release(source);
            if next < self.options.duration {
                self.events.push(Reverse((next, RELEASE, source)));
            }
            let release = Release {
                at: now,
                job: job.id,
                kind: job.kind,
                deadline: Instant::from_ns(job.deadline),
                pages: job.reads + job.writes,
                cluster: Some(self.clusters[job.cluster].position),
            };
            self.admit(&release, Some(job));
        }
        while self.releaser.next_arrival() == Some(now) {
            let Some((release, job)) = self.releaser.next_job(&mut self.clusters) else { break };
            self.admit(&release, job);
        }
    }

    fn admit(&mut self, release: &Release, job: Option<Job>) {
        let Some(job) = job else {
            self.observer.release(release);
            return;
        };
        let lane = &mut self.lanes[job.cluster];
        if lane.is_holding() {
            lane.held.push(*release);
        } else {
            self.observer.release(release);
        }
        self.touched.push(job.cluster);
        let slot = self.jobs.insert(job);
        lane.pending.insert(self.jobs[slot].priority(slot));
    }

    fn ends(&mut self, now: Instant) {
        while let Some(&Reverse((at, END, position))) = self.events.peek()
            && at == now
        {
            self.events.pop();
            self.touched.push(position);
            self.end(position, now);
        }
    }

    /// What a cluster waited for has come about.
    fn end(&mut self, position: usize, now: Instant) {
        if let Some((operation, phase)) = self.lanes[position].open {
            let channel = self.channel_of(operation.chip);
            match phase {
                Phase::Sensing => return self.ask(position, operation, now),
                Phase::Waiting => return,
                Phase::Transferring => {
                    if let Some(bus) = &mut self.buses[channel] {
                        bus.release();
                    }
                    self.asked.push(channel);
                    if operation.action == Action::Program && operation.end > now {
                        self.lanes[position].open = Some((operation, Phase::Programming));
                        self.events.push(Reverse((operation.end, END, position)));
                        return;
                    }
                }
                Phase::Programming => {}
            }
            self.lanes[position].open = None;
        }
        let Some((slot, step)) = self.lanes[position].running.take() else { return };
        let cluster = &mut self.clusters[position];
        let job = &mut self.jobs[slot];
        match step {
            Step::Page => {
                if job.is_background() {
                    cluster.background -= 1;
                }
            }
            Step::GcRead | Step::GcProgram => return,
            Step::Erase => {
                for chip in cluster.chips.ids() {
                    cluster.collector.erased(&mut cluster.map, chip);
                }
                job.passes -= 1;
                let lane = &mut self.lanes[position];
                lane.pending.extend(lane.starved.drain(..));
            }
        }
        if job.passes == 0 && job.reads == 0 && job.writes == 0 && now <= self.options.duration {
            let priority = job.priority(slot);
            self.lanes[position].pending.remove(&priority);
            self.complete(slot, now);
        }
    }

    fn channel_of(&self, chip: ChipId) -> ChannelId {
        ChannelId(chip.0 / self.chips_per_channel)
    }

    fn complete(&mut self, slot: usize, now: Instant) {
        self.observer.complete(&Complete { at: now, job: self.jobs[slot].id });
        self.jobs.remove(slot);
    }

    /// An operation's chip asks for its bus.
    fn ask(&mut self, position: usize, operation: Operation, now: Instant) {
        let channel = self.channel_of(operation.chip);
        if let Some(bus) = &mut self.buses[channel] {
            bus.request(now, operation.chip);
        }
        self.lanes[position].open = Some((operation, Phase::Waiting));
        self.asked.push(channel);
    }

    /// Gives idle buses away, once everything else of an instant has happened.
    fn grants(&mut self, now: Instant) {
        if self.asked.is_empty() {
            return;
        }
        let mut asked = std::mem::take(&mut self.asked);
        asked.sort_unstable();
        asked.dedup();
        for &channel in &asked {
            let Some(chip) = self.buses[channel].as_mut().and_then(Bus::grant) else { continue };
            let position = self.owner[chip];
            let lane = &mut self.lanes[position];
            let Some((mut operation, _)) = lane.open else { continue };
            let over = now.saturating_add(self.lengths.transfer(channel, now));
            operation.end = match operation.action {
                Action::Program => over.saturating_add(self.lengths.programming(chip, over)),
                _ => over,
            };
            lane.open = Some((operation, Phase::Transferring));
            self.events.push(Reverse((over, END, position)));
            self.observer.operations(std::slice::from_ref(&operation));
            self.notify_transfer(&operation, now, over);
            for release in self.lanes[position].held.drain(..) {
                self.observer.release(&release);
            }
        }
        asked.clear();
        self.asked = asked;
    }

    fn notify_transfer(&mut self, operation: &Operation, start: Instant, end: Instant) {
        self.observer.transfer(&Transfer {
            start,
            end,
            channel: self.channel_of(operation.chip),
            cluster: operation.cluster,
            chip: operation.chip,
            job: operation.job,
            kind: operation.kind,
        });
    }

    /// Lets an idle cluster go on, and says until when it is busy, as far as that is known.
    fn dispatch(&mut self, position: usize, now: Instant) -> Option<Instant> {
        if self.lanes[position].running.is_some() {
            return None;
        }
        loop {
            let priority = *self.lanes[position].pending.first()?;
            let slot = priority.4;
            match self.go_on(position, slot, now) {
                Attempt::Started(end) => return end,
                Attempt::Over => {
                    self.lanes[position].pending.remove(&priority);
                    self.complete(slot, now);
                }
                Attempt::Starved => {
                    self.lanes[position].pending.remove(&priority);
                    self.lanes[position].starved.push(priority);
                }
            }
        }
    }

    fn go_on(&mut self, position: usize, slot: usize, now: Instant) -> Attempt {
        while self.jobs[slot].passes > 0 {
            let cluster = &mut self.clusters[position];
            let (slots, id) = (self.jobs[slot].slots, self.jobs[slot].id);
            let observer = &mut self.observer;
            if cluster.collector.is_under_way()
                || (!cluster.leaves_out(slots.0)
                    && cluster.begin_pass((id, false), now, |chosen| observer.selected(&chosen)))
            {
                return self.go_on_with_pass(position, slot, now);
            }
            self.jobs[slot].passes -= 1;
            self.observer.left_out(&cluster.leaving_out(id, now));
        }
        if self.jobs[slot].reads > 0 {
            self.read(position, slot, now)
        } else if self.jobs[slot].writes > 0 {
            self.write(position, slot, now)
        } else {
            Attempt::Over
        }
    }

    fn starve(&mut self, position: usize, slot: usize, chip: ColumnId, now: Instant) {
        let (job, cluster) = (&mut self.jobs[slot], &self.clusters[position]);
        if !job.starved {
            job.starved = true;
            let chip = cluster.chips[chip];
            self.observer.starved(&Starved { at: now, job: job.id, cluster: cluster.position, chip });
        }
    }

    fn read(&mut self, position: usize, slot: usize, now: Instant) -> Attempt {
        let (job, cluster) = (&mut self.jobs[slot], &mut self.clusters[position]);
        job.reads -= 1;
        let lpn = cluster.draw(job.slots.0);
        let place = cluster.map.locate(lpn);
        if let Some(later) = cluster.ahead(job.slots.0) {
            self.observer.expect(cluster.position, later);
        }
        self.page(position, slot, Action::Read, place, lpn, now)
    }

    fn write(&mut self, position: usize, slot: usize, now: Instant) -> Attempt {
        let cluster = &self.clusters[position];
        let pointer = cluster.pointer();
        let chip = cluster.chip_with_room(pointer);
        let Some(chip) = chip else {
            self.starve(position, slot, pointer, now);
            return self.collect_for_itself(position, slot, now);
        };
        let (job, cluster) = (&mut self.jobs[slot], &mut self.clusters[position]);
        let lpn = cluster.draw(job.slots.1);
        // A chip that has room has a page.
        let Some(place) = cluster.write(job.slots.1, lpn, chip) else { return Attempt::Starved };
        cluster.advance(chip);
        job.writes -= 1;
        if let Some(later) = cluster.ahead(job.slots.1) {
            self.observer.expect(cluster.position, later);
        }
        self.page(position, slot, Action::Program, place, lpn, now)
    }

    /// A starved job goes on with the pass under way, or begins one, if it is not real-time: nobody
    /// else might.
    fn collect_for_itself(&mut self, position: usize, slot: usize, now: Instant) -> Attempt {
        let (cluster, observer) = (&mut self.clusters[position], &mut self.observer);
        let Job { id, kind, .. } = self.jobs[slot];
        let collects = kind == Kind::Server
            && (cluster.collector.is_under_way()
                || cluster.begin_pass((id, true), now, |chosen| observer.selected(&chosen)));
        if !collects {
            return Attempt::Starved;
        }
        self.jobs[slot].passes += 1;
        self.go_on_with_pass(position, slot, now)
    }

    /// Begins an operation on one page.
    fn page(&mut self, position: usize, slot: usize, action: Action, place: Place, lpn: Lpn, now: Instant) -> Attempt {
        let (job, cluster) = (&mut self.jobs[slot], &self.clusters[position]);
        job.starved = false;
        let chip = cluster.chips[place.chip];
        let wanted = match action {
            Action::Program => now,
            _ => now.saturating_add(self.lengths.sensing(chip, now)),
        };
        let mut operation = Operation {
            start: now,
            end: now,
            cluster: cluster.position,
            chip,
            action,
            job: job.id,
            kind: job.kind,
            block: place.block,
            page: place.page,
            lpn,
        };
        self.lanes[position].running = Some((slot, Step::Page));
        let channel = self.channel_of(chip);
        if self.buses[channel].is_none() {
            let over = wanted.saturating_add(self.lengths.transfer(channel, wanted));
            operation.end = match action {
                Action::Program => over.saturating_add(self.lengths.programming(chip, over)),
                _ => over,
            };
            self.observer.operations(std::slice::from_ref(&operation));
            self.notify_transfer(&operation, wanted, over);
            return Attempt::Started(Some(operation.end));
        }
        if wanted > now {
            self.lanes[position].open = Some((operation, Phase::Sensing));
            return Attempt::Started(Some(wanted));
        }
        self.ask(position, operation, now);
        Attempt::Started(None)
    }

    /// The next step of a pass: GC reads on all chips, then GC programs, in turns, then the erase.
    fn go_on_with_pass(&mut self, position: usize, slot: usize, now: Instant) -> Attempt {
        let cluster = &mut self.clusters[position];
        let (map, collector) = (&mut cluster.map, &mut cluster.collector);
        let job = &mut self.jobs[slot];
        job.starved = false;
        let blank = Operation {
            start: now,
            end: now,
            cluster: cluster.position,
            chip: ChipId(0),
            action: Action::Erase,
            job: job.id,
            kind: Kind::Gc,
            block: BlockId(0),
            page: NONE,
            lpn: NO_LPN,
        };
        let batch = &mut self.batch;
        batch.clear();
        let programs = cluster.chips.enumerate().any(|(chip, _)| collector.holds_copy(chip));
        if programs {
            for (position, &chip) in cluster.chips.enumerate() {
                if let Some((place, lpn)) = collector.program(map, position) {
                    let Place { block, page, .. } = place;
                    batch.push(Operation { chip, action: Action::Program, block, page, lpn, ..blank });
                }
            }
            if !batch.is_empty() || self.options.victims == Victims::Worst {
                return self.begin_step(position, slot, Step::GcProgram, now);
            }
        }
        let mut reads = false;
        for (position, &chip) in cluster.chips.enumerate() {
            match collector.read(map, position) {
                None => continue,
                Some(Copy::Padding) => {}
                Some(Copy::Page { page, lpn }) => {
                    let (block, page) = map.block_and_page(page);
                    batch.push(Operation { chip, action: Action::Read, block, page, lpn, ..blank });
                }
            }
            reads = true;
            if let Some(later) = collector.ahead(map, position) {
                self.observer.expect(blank.cluster, later);
            }
        }
        if reads {
            return self.begin_step(position, slot, Step::GcRead, now);
        }
        for (position, &chip) in cluster.chips.enumerate() {
            if let Some(block) = collector.victim(position) {
                batch.push(Operation { chip, block, ..blank });
            }
        }
        self.begin_step(position, slot, Step::Erase, now)
    }

    /// Begins a step on all chips: they take equally long.
    fn begin_step(&mut self, position: usize, slot: usize, step: Step, now: Instant) -> Attempt {
        let first = self.clusters[position].chips[ColumnId(0)];
        let length = match step {
            Step::GcRead => self.lengths.read(first, now),
            Step::Erase => self.lengths.erase(first, now),
            Step::GcProgram | Step::Page => self.lengths.program(first, now),
        };
        let end = now.saturating_add(length);
        for operation in &mut self.batch {
            operation.end = end;
        }
        if self.batch.is_empty() {
            let cluster = &self.clusters[position];
            let stands_for = if step == Step::GcRead { trace::Step::Read } else { trace::Step::Program };
            let (job, chip) = (self.jobs[slot].id, cluster.first_in_pass());
            self.observer.padding(&Padding { start: now, end, job, cluster: cluster.position, chip, step: stands_for });
        } else {
            self.observer.operations(&self.batch);
        }
        self.lanes[position].running = Some((slot, step));
        Attempt::Started(Some(end))
    }
}
