//! A cluster: its jobs, and which of them goes next.

use std::ops::Range;

use rtflash_model::{ChipId, ClusterId, Instant, Lpn};
use rtflash_plan::{
    Addresses, BlockId, ClusterPlan, ColumnId, Dispatch, Options, Pattern, Plan, SourceId, Ties, random_job_place,
};
use rtflash_trace::{Action, Complete, JobId, Kind, NONE, Operation, Record, Release, Starved};

use super::chip::{Busy, Chip, Doing, Entry, Stage, What};
use super::pages::{GcCopy, Pages, Place};
use super::{World, narrow, transferred};

/// A job that is pending.
#[derive(Debug)]
pub struct Job {
    /// Which.
    pub id: JobId,
    /// The kind.
    pub kind: Kind,
    /// When it is due; `None` in the background.
    pub deadline: Option<Instant>,
    /// GC passes that are not over.
    pub passes: u64,
    /// Pages to be read that have not been started (parallel: not entered at chips).
    pub reads: u64,
    /// Pages to be written, likewise.
    pub writes: u64,
    /// Pages, read and written, whose operation has not ended.
    pub unfinished: u64,
    /// When it was released.
    pub released: u64,
    /// Whether it is on record that it starves.
    pub starved: bool,
    /// Serial dispatch: whether it is starved, and waits for an erase to end.
    pub waits: bool,
}

/// Lower goes first: deadline (none last, then by arrival), how ties are broken, kind, source,
/// number.
pub type Priority = (bool, u64, i128, u8, u32, u64);

impl Job {
    fn priority(&self, options: &Options) -> Priority {
        let rank = match self.kind {
            Kind::Read => 0,
            Kind::Write => 1,
            Kind::Gc => 2,
            Kind::Server => 3,
        };
        let deadline = self.deadline.map_or(self.released, Instant::as_ns);
        let tie = match options.ties {
            Ties::Lowest => 0,
            // By kind and then by source, backwards.
            Ties::Highest => -(i128::from(rank) << 32) - i128::from(self.id.source.0),
            Ties::Random => random_job_place(options.seed, self.id).into(),
        };
        (self.deadline.is_none(), deadline, tie, rank, self.id.source.0, self.id.index)
    }
}

/// The addresses of one source in this cluster, reads or writes.
#[derive(Debug)]
struct Draws {
    source: u32,
    reads: bool,
    part: Range<Lpn>,
    addresses: Addresses,
}

/// A cluster.
#[derive(Debug)]
pub struct Cluster {
    position: u32,
    /// Its chips, in order.
    pub chips: Vec<Chip>,
    pages: Pages,
    /// Jobs that are not complete, in order of release.
    jobs: Vec<Job>,
    draws: Vec<Draws>,
    /// The place of the next write.
    pointer: usize,
    /// R.
    reserve: u64,
    /// w(φ), for jobs in the background.
    written: u64,
    /// The jobs that left out the latest pass: sources of GC jobs, and `None` for the server.
    left_out: Vec<Option<SourceId>>,
}

/// The outcome of looking at a job, or at an entry of a queue.
enum Looked {
    /// Chips are occupied for it.
    Started,
    /// Nothing was started, but things are not as they were.
    Changed,
    /// It cannot go on just now.
    Stuck,
}

impl Cluster {
    /// The cluster at this position of the plan, before the run.
    pub fn new(plan: &Plan, options: &Options, position: usize) -> Cluster {
        let ClusterPlan { chips: numbers, tasks, layout, .. } = &plan.clusters().as_slice()[position];
        let pages = Pages::new(layout, options, numbers, plan.device().valid_pages_bound());
        let mut draws = Vec::new();
        for (source, number) in plan.sources().iter().zip(0..) {
            let part = match source.kind {
                Kind::Gc => continue,
                Kind::Server => layout.part(tasks.len() + source.stream().expect("a job is a stream's")),
                Kind::Read | Kind::Write => match tasks.iter().position(|&task| Some(task) == source.task()) {
                    Some(place) => layout.part(place),
                    None => continue,
                },
            };
            let mut add = |reads: bool, stream: u32| {
                let chip_of = |lpn: Lpn| ColumnId(narrow(pages.place(lpn.0).chip));
                let cluster = narrow(position);
                let addresses = Addresses::new(
                    options.pattern,
                    options.seed,
                    ClusterId(cluster),
                    SourceId(stream),
                    reads,
                    part.clone(),
                    chip_of,
                );
                draws.push(Draws { source: number, reads, part: part.clone(), addresses });
            };
            match source.kind {
                Kind::Read => add(true, number),
                Kind::Write => add(false, number),
                Kind::Gc => {}
                Kind::Server => {
                    add(true, number);
                    add(false, number | 1 << 31);
                }
            }
        }
        let chips = numbers
            .iter()
            .map(|&number| Chip { number: number.0, busy: None, queue: Vec::new(), waiting: Vec::new() })
            .collect();
        Cluster {
            position: narrow(position),
            chips,
            pages,
            jobs: Vec::new(),
            draws,
            pointer: 0,
            reserve: layout.reserve_pages(),
            written: 0,
            left_out: Vec::new(),
        }
    }

    /// Whether no chip is occupied.
    pub fn is_idle(&self) -> bool {
        self.chips.iter().all(|chip| chip.busy.is_none())
    }

    /// Pages of jobs in the background that are not finished.
    pub fn unfinished_background(&self) -> u64 {
        self.jobs.iter().filter(|job| job.deadline.is_none()).map(|job| job.unfinished).sum()
    }

    /// B of a job in the background that writes so many pages, Eq. (IV.12).
    pub fn background_passes(&mut self, world: &World, writes: u64) -> u64 {
        let reclaimed = u64::from(world.plan.device().reclaimed_per_chip()) * self.chips.len() as u64;
        let pages = self.written + writes;
        if pages > reclaimed {
            self.written = writes;
            pages.div_ceil(reclaimed)
        } else {
            self.written = pages;
            0
        }
    }

    // Jobs.

    fn job(&self, id: JobId) -> &Job {
        self.jobs.iter().find(|job| job.id == id).expect("the job is pending")
    }

    fn job_mut(&mut self, id: JobId) -> &mut Job {
        self.jobs.iter_mut().find(|job| job.id == id).expect("the job is pending")
    }

    /// A job becomes pending.
    pub fn release(&mut self, world: &mut World, job: Job) {
        world.records.push(Record::Release(Release {
            at: world.instant(),
            job: job.id,
            kind: job.kind,
            deadline: job.deadline,
            pages: job.reads + job.writes,
            cluster: Some(ClusterId(self.position)),
        }));
        let id = job.id;
        self.jobs.push(job);
        self.enter(world, id);
    }

    /// Completes a job without work left.
    fn complete_if_done(&mut self, world: &mut World, id: JobId) {
        let job = self.job(id);
        if job.passes > 0 || job.unfinished > 0 {
            return;
        }
        self.jobs.retain(|job| job.id != id);
        if world.now <= world.options.duration.as_ns() {
            world.records.push(Record::Complete(Complete { at: world.instant(), job: id }));
        }
    }

    /// A job starves on a chip: on record once, until it starts an operation.
    fn starve(&mut self, world: &mut World, id: JobId, chip: usize) {
        let (cluster, chip) = (self.position, self.chips[chip].number);
        let job = self.job_mut(id);
        if !job.starved {
            job.starved = true;
            world.records.push(Record::Starved(Starved {
                at: world.instant(),
                job: id,
                cluster: ClusterId(cluster),
                chip: ChipId(chip),
            }));
        }
    }

    /// The next logical page of a job.
    fn draw(&mut self, id: JobId, reads: bool) -> u32 {
        let pages = &self.pages;
        let draws = self.draws.iter_mut().find(|draws| SourceId(draws.source) == id.source && draws.reads == reads);
        let draws = draws.expect("every source has its addresses");
        draws.addresses.draw(|lpn| ColumnId(narrow(pages.place(lpn.0).chip))).0
    }

    /// The next logical pages that a job writes.
    fn draw_writes(&mut self, options: &Options, id: JobId, count: u64) -> Vec<u32> {
        let mut drawn = Vec::new();
        if options.pattern == Pattern::Fullest && count > 0 {
            let draws = self.draws.iter().find(|draws| SourceId(draws.source) == id.source && !draws.reads);
            drawn = self.pages.fullest(&draws.expect("every source has its addresses").part, count);
        }
        while (drawn.len() as u64) < count {
            drawn.push(self.draw(id, false));
        }
        drawn
    }

    // Ends.

    /// Ends what ends now, in order of chips.
    pub fn ends(&mut self, world: &mut World) {
        for chip in 0..self.chips.len() {
            self.end_stage(world, chip);
        }
    }

    fn end_stage(&mut self, world: &mut World, chip: usize) {
        let now = world.now;
        let Some(busy) = &mut self.chips[chip].busy else { return };
        match busy.stage {
            Stage::Senses { until } if until == now => busy.stage = Stage::Waits { since: now },
            Stage::Transfers { from, until } if until == now => {
                let operation = busy.operation.as_ref().expect("whatever wants the bus is an operation");
                world.records.push(transferred(world, operation, from));
                let work = match busy.doing {
                    Doing::ProgramPage => world.lengths.programming(busy.job, operation.chip, world.instant()).as_ns(),
                    // A read ends with its transfer.
                    _ => 0,
                };
                busy.stage = Stage::Works { until: now + work };
            }
            _ => {}
        }
        if busy.stage == (Stage::Works { until: now }) {
            self.end_operation(world, chip);
        }
    }

    fn end_operation(&mut self, world: &mut World, chip: usize) {
        let busy = self.chips[chip].busy.take().expect("the chip is occupied");
        if let Some(operation) = busy.operation {
            world.records.push(Record::Operation(Operation { end: world.instant(), ..operation }));
        }
        match busy.doing {
            Doing::ReadPage | Doing::ProgramPage => {
                self.job_mut(busy.job).unfinished -= 1;
                self.complete_if_done(world, busy.job);
            }
            Doing::GcRead | Doing::GcProgram => {}
            Doing::Erase => {
                for chip in &mut self.chips {
                    chip.queue.append(&mut chip.waiting);
                }
                for job in &mut self.jobs {
                    job.waits = false;
                }
                if self.pages.erased(chip) {
                    self.pass_over(world, busy.job);
                }
            }
        }
    }

    /// A job has done a pass, or left it out, or there was nothing to collect.
    fn pass_over(&mut self, world: &mut World, id: JobId) {
        for chip in &mut self.chips {
            chip.remove_pass(id);
        }
        self.job_mut(id).passes -= 1;
        self.complete_if_done(world, id);
        if self.jobs.iter().any(|job| job.id == id) {
            self.enter(world, id);
        }
    }

    // Starts.

    /// Occupies a chip with an operation from now on.
    fn start(&mut self, world: &World, id: JobId, doing: Doing, stage: Stage, place: Place, lpn: u32) {
        let job = self.job_mut(id);
        job.starved = false;
        let (action, kind) = match doing {
            Doing::ReadPage => (Action::Read, job.kind),
            Doing::ProgramPage => (Action::Program, job.kind),
            Doing::GcRead => (Action::Read, Kind::Gc),
            Doing::GcProgram => (Action::Program, Kind::Gc),
            Doing::Erase => (Action::Erase, Kind::Gc),
        };
        let page = if action == Action::Erase { NONE } else { narrow(place.page) };
        let operation = Operation {
            start: world.instant(),
            end: world.instant(),
            cluster: ClusterId(self.position),
            chip: ChipId(self.chips[place.chip].number),
            action,
            job: id,
            kind,
            block: BlockId(narrow(place.block)),
            page,
            lpn: Lpn(lpn),
        };
        self.occupy(place.chip, Busy { job: id, doing, stage, operation: Some(operation) });
    }

    fn occupy(&mut self, chip: usize, busy: Busy) {
        assert!(self.chips[chip].busy.is_none(), "one operation at a time on a chip");
        self.chips[chip].busy = Some(busy);
    }

    /// Starts to read a page of a job, where it is now.
    fn start_read(&mut self, world: &World, id: JobId, lpn: u32) {
        let place = self.pages.place(lpn);
        let sensing = world.lengths.sensing(id, ChipId(self.chips[place.chip].number), world.instant()).as_ns();
        let stage = match sensing {
            0 => Stage::Waits { since: world.now },
            _ => Stage::Senses { until: world.now + sensing },
        };
        self.start(world, id, Doing::ReadPage, stage, place, lpn);
    }

    /// Starts to write a page of a job to a chip that has room.
    fn start_write(&mut self, world: &World, id: JobId, lpn: u32, chip: usize) {
        let place = self.pages.write(lpn, chip);
        let draws = self.draws.iter_mut().find(|draws| SourceId(draws.source) == id.source && !draws.reads);
        draws.expect("every source has its addresses").addresses.written(Lpn(lpn), ColumnId(narrow(chip)));
        // Reads that wait for the page move with it.
        let is_read = |entry: &Entry| entry.what == What::Read(lpn);
        let mut moved = Vec::new();
        for other in &mut self.chips {
            moved.extend(other.queue.iter().filter(|entry| is_read(entry)).cloned());
            other.queue.retain(|entry| !is_read(entry));
        }
        self.chips[chip].queue.extend(moved);
        self.start(world, id, Doing::ProgramPage, Stage::Waits { since: world.now }, place, lpn);
    }

    /// Whose lengths a chip's part in a pass has: with serial dispatch all chips take equally long.
    fn clock(&self, world: &World, chip: usize) -> u32 {
        let serial = world.options.dispatch == Dispatch::Serial;
        self.chips[if serial { 0 } else { chip }].number
    }

    /// Starts the GC read of a chip that has a copy to make or to let pass.
    fn start_gc_read(&mut self, world: &World, id: JobId, chip: usize) {
        let stage = Stage::Works {
            until: world.now + world.lengths.read(id, ChipId(self.clock(world, chip)), world.instant()).as_ns(),
        };
        match self.pages.begin_copy(chip) {
            GcCopy::Page(lpn, place) => self.start(world, id, Doing::GcRead, stage, place, lpn),
            GcCopy::Nothing => self.occupy(chip, Busy { job: id, doing: Doing::GcRead, stage, operation: None }),
        }
    }

    /// Starts the GC program of a chip that has read a page. A copy that needs no program takes no
    /// time, but with worst victims the time of one.
    fn start_gc_program(&mut self, world: &World, id: JobId, chip: usize) {
        let stage = Stage::Works {
            until: world.now + world.lengths.program(id, ChipId(self.clock(world, chip)), world.instant()).as_ns(),
        };
        match self.pages.program_copy(chip) {
            Some((lpn, place)) => self.start(world, id, Doing::GcProgram, stage, place, lpn),
            None if self.pages.lets_time_pass() => {
                self.occupy(chip, Busy { job: id, doing: Doing::GcProgram, stage, operation: None });
            }
            None => {}
        }
    }

    /// Starts to erase the victim of a chip that takes part.
    fn start_erase(&mut self, world: &World, id: JobId, chip: usize) {
        let stage = Stage::Works {
            until: world.now + world.lengths.erase(id, ChipId(self.clock(world, chip)), world.instant()).as_ns(),
        };
        let victim = self.pages.part(chip).expect("the chip takes part").victim;
        let place = Place { chip, block: victim, page: 0 };
        self.start(world, id, Doing::Erase, stage, place, NONE);
    }

    /// Whether a job leaves its next pass out.
    fn leaves_out(&mut self, world: &World, id: JobId) -> bool {
        let who = (self.job(id).kind == Kind::Gc).then_some(id.source);
        self.left_out.retain(|&other| other != who);
        let reclaimed = u64::from(world.plan.device().reclaimed_per_chip()) * self.chips.len() as u64;
        let leaves_out = self.pages.free() > self.reserve + (self.left_out.len() as u64 + 1) * reclaimed;
        if leaves_out {
            self.left_out.push(who);
        }
        leaves_out
    }

    /// Sees to it that a pass is under way for a job that has one to do; otherwise the job goes on
    /// behind it.
    fn is_collecting(&mut self, world: &mut World, id: JobId) -> bool {
        if self.pages.has_pass() || (!self.leaves_out(world, id) && self.pages.begin()) {
            return true;
        }
        self.pass_over(world, id);
        false
    }

    /// A starved job that is not real-time has a pass to do, if there is anything to collect.
    fn collects_for_itself(&mut self, id: JobId) -> bool {
        let job = self.job(id);
        let collects = job.kind == Kind::Server && job.passes == 0 && (self.pages.has_pass() || self.pages.begin());
        if collects {
            self.job_mut(id).passes = 1;
        }
        collects
    }

    /// Starts idle chips.
    pub fn dispatch(&mut self, world: &mut World) {
        match world.options.dispatch {
            Dispatch::Serial => self.dispatch_serial(world),
            Dispatch::Parallel => self.dispatch_parallel(world),
        }
    }

    // Serial dispatch.

    fn dispatch_serial(&mut self, world: &mut World) {
        if !self.is_idle() {
            return;
        }
        'again: loop {
            let able = self.jobs.iter().filter(|job| !job.waits);
            let mut order: Vec<(Priority, JobId)> = able.map(|job| (job.priority(world.options), job.id)).collect();
            order.sort();
            for (_, id) in order {
                match self.next_step(world, id) {
                    Looked::Started => return,
                    Looked::Changed => continue 'again,
                    Looked::Stuck => {}
                }
            }
            return;
        }
    }

    /// Does the next step of a job, if it is not starved.
    fn next_step(&mut self, world: &mut World, id: JobId) -> Looked {
        if self.job(id).passes > 0 {
            return self.next_gc_step(world, id);
        }
        if self.job(id).reads > 0 {
            self.job_mut(id).reads -= 1;
            let lpn = self.draw(id, true);
            self.start_read(world, id, lpn);
            return Looked::Started;
        }
        let Some(chip) = self.room_from(self.pointer) else {
            self.starve(world, id, self.pointer);
            if self.collects_for_itself(id) {
                return Looked::Changed;
            }
            self.job_mut(id).waits = true;
            return Looked::Stuck;
        };
        self.job_mut(id).writes -= 1;
        let lpn = self.draw_writes(world.options, id, 1)[0];
        self.start_write(world, id, lpn, chip);
        self.pointer = (chip + 1) % self.chips.len();
        Looked::Started
    }

    /// The first chip with room, from this one on round the cluster.
    fn room_from(&self, first: usize) -> Option<usize> {
        let chips = self.chips.len();
        (0..chips).map(|step| (first + step) % chips).find(|&chip| self.pages.has_room(chip))
    }

    fn next_gc_step(&mut self, world: &mut World, id: JobId) -> Looked {
        if !self.is_collecting(world, id) {
            return Looked::Changed;
        }
        let all: Vec<usize> = (0..self.chips.len()).filter(|&chip| self.pages.is_on(chip)).collect();
        let is_read = |chip: &usize| self.pages.part(*chip).is_some_and(|part| part.copy.is_some());
        let read: Vec<usize> = all.iter().copied().filter(is_read).collect();
        let to_read: Vec<usize> = all.iter().copied().filter(|&chip| self.pages.has_copy(chip)).collect();
        if !read.is_empty() {
            for chip in read {
                self.start_gc_program(world, id, chip);
            }
        } else if !to_read.is_empty() {
            for chip in to_read {
                self.start_gc_read(world, id, chip);
            }
        } else {
            for chip in all {
                self.start_erase(world, id, chip);
            }
        }
        // A step in which no chip had anything to do takes no time.
        if self.is_idle() { Looked::Changed } else { Looked::Started }
    }

    // Parallel dispatch.

    /// Enters a job's next pass, or all its pages, at chips. Serial dispatch has no queues.
    fn enter(&mut self, world: &World, id: JobId) {
        if world.options.dispatch == Dispatch::Serial {
            return;
        }
        let job = self.job_mut(id);
        let priority = job.priority(world.options);
        if job.passes > 0 {
            for chip in &mut self.chips {
                chip.queue.push(Entry { priority, page: 0, job: id, what: What::Pass });
            }
            return;
        }
        let (reads, writes) = (job.reads, job.writes);
        (job.reads, job.writes) = (0, 0);
        for page in 0..reads {
            let lpn = self.draw(id, true);
            let chip = self.pages.place(lpn).chip;
            self.chips[chip].queue.push(Entry { priority, page, job: id, what: What::Read(lpn) });
        }
        for (page, lpn) in (reads..).zip(self.draw_writes(world.options, id, writes)) {
            self.chips[self.pointer].queue.push(Entry { priority, page, job: id, what: What::Write(lpn) });
            self.pointer = (self.pointer + 1) % self.chips.len();
        }
    }

    fn dispatch_parallel(&mut self, world: &mut World) {
        loop {
            let mut changed = false;
            for chip in 0..self.chips.len() {
                if self.chips[chip].busy.is_none() {
                    changed |= self.look(world, chip);
                }
            }
            if !changed {
                return;
            }
        }
    }

    /// An idle chip takes its first entry that can go on. Says whether anything is not as it was.
    fn look(&mut self, world: &mut World, chip: usize) -> bool {
        let mut changed = false;
        'again: loop {
            let mut queue = self.chips[chip].queue.clone();
            queue.sort();
            if let Some(entry) = queue.first() {
                match self.try_entry(world, chip, entry) {
                    Looked::Started => return true,
                    Looked::Changed => changed = true,
                    Looked::Stuck => {
                        self.chips[chip].remove(entry);
                        self.chips[chip].waiting.push(entry.clone());
                    }
                }
                // The queue is another one now.
                continue 'again;
            }
            return changed;
        }
    }

    fn try_entry(&mut self, world: &mut World, chip: usize, entry: &Entry) -> Looked {
        let id = entry.job;
        match entry.what {
            What::Read(lpn) => {
                assert_eq!(self.pages.place(lpn).chip, chip, "reads move with their pages");
                self.chips[chip].remove(entry);
                self.start_read(world, id, lpn);
                Looked::Started
            }
            What::Write(lpn) => {
                if self.pages.has_room(chip) {
                    self.chips[chip].remove(entry);
                    self.start_write(world, id, lpn, chip);
                    return Looked::Started;
                }
                let Some(other) = self.room_from(chip) else {
                    self.starve(world, id, chip);
                    if !self.collects_for_itself(id) {
                        return Looked::Stuck;
                    }
                    self.enter(world, id);
                    return Looked::Changed;
                };
                self.chips[chip].remove(entry);
                self.chips[other].queue.push(entry.clone());
                Looked::Changed
            }
            What::Pass => {
                if !self.is_collecting(world, id) {
                    return Looked::Changed;
                }
                if !self.pages.is_on(chip) {
                    return Looked::Stuck;
                }
                self.go_on_with_pass(world, id, chip);
                Looked::Started
            }
        }
    }

    /// Starts what comes next on a chip that takes part in a pass. There is always something, the
    /// erase at the latest.
    fn go_on_with_pass(&mut self, world: &World, id: JobId, chip: usize) {
        if self.pages.part(chip).is_some_and(|part| part.copy.is_some()) {
            self.start_gc_program(world, id, chip);
        }
        if self.chips[chip].busy.is_some() {
            return;
        }
        if self.pages.has_copy(chip) {
            self.start_gc_read(world, id, chip);
        } else {
            self.start_erase(world, id, chip);
        }
    }
}
