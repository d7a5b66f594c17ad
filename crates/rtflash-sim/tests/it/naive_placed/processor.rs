//! A processor: a chip of a stripe, or a superblock cluster.

use rtflash_model::{ChipId, ClusterId, Collection, Id, Lpn};
use rtflash_plan::{BlockId, Options, Plan, Releases, SourceId, Ties, Victims, random_failure, random_job_place};
use rtflash_trace::{Action, EmptyPage, Failed, JobId, Kind, NONE, Operation, Record, Release, Starved, TermsChange};

use super::pages::{At, Pages};
use super::registers::Registers;
use super::{Behind, Stage, World, certified, instant, is_cached, is_stripe, waits_are_worst};

/// Behind all deadlines.
pub const BACKGROUND: u64 = 1 << 63;

/// A job's part on a processor.
#[derive(Debug, Clone)]
pub struct Part {
    pub deadline: u64,
    pub kind: Kind,
    pub id: JobId,
    pub reads: Vec<Lpn>,
    pub writes: Vec<Lpn>,
    pub unfinished: usize,
    /// A pass is due, or under way.
    pub owes: bool,
    /// It has been recorded as starved, and has not gone on since.
    pub starved: bool,
    /// It waits for an erase to end.
    pub waits: bool,
}

type Priority = (u64, u64, Kind, u32, u64);

impl Part {
    fn priority(&self, options: &Options) -> Priority {
        let tie = match options.ties {
            Ties::Lowest => 0,
            // By kind and then by source, backwards.
            Ties::Highest => {
                let kinds = [Kind::Server, Kind::Gc, Kind::Write, Kind::Read];
                let kind = kinds.iter().position(|kind| *kind == self.kind).expect("a kind") as u64;
                kind << 32 | u64::from(u32::MAX - self.id.source.0)
            }
            Ties::Random => random_job_place(options.seed, self.id),
        };
        (self.deadline, tie, self.kind, self.id.source.0, self.id.index)
    }
}

/// PP − v − α, where a device leaves GC jobs for wear.
fn for_wear(plan: &Plan, cluster: usize) -> u64 {
    let (device, by) = (plan.device(), certified(plan, cluster));
    let chips = if by.is_stripe() { 1 } else { plan.clusters().as_slice()[cluster].chips.len() as u64 };
    let pages = chips * u64::from(device.pages_per_block());
    let left = |of: Collection| pages.saturating_sub(of.victim_pages + of.reclaimed_pages);
    by.certificate.collection.filter(|_| device.wear_passes().is_some()).map_or(0, left)
}

#[derive(Debug)]
struct Pass {
    victim: usize,
    next_row: Vec<usize>,
    buffered: Vec<(At, Lpn)>,
    reads: u64,
    rows: u64,
    pages: u64,
    /// How many pages it copies at most, where it only moves those of a block that has failed.
    moves: Option<u64>,
    /// Whether there was no room for all of its last row.
    cut: bool,
}

/// A page that is programmed, and where a copy inside a chip is from.
#[derive(Debug, Clone, Copy)]
struct Programmed {
    id: JobId,
    kind: Kind,
    at: At,
    lpn: Lpn,
    from: Option<At>,
}

#[derive(Debug, Default)]
struct Step {
    programs: Vec<Programmed>,
    /// Numbers of the chips that are in it.
    chips: Vec<usize>,
    silent_until: u64,
    /// Jobs that a page is done for.
    pages: Vec<JobId>,
    /// The job whose pass erases this block.
    erases: Option<(JobId, usize)>,
    /// The job that resets this block of a zone.
    resets: Option<(JobId, usize)>,
    /// Its erases that may be suspended: the chip's place in the cluster, and that of the record.
    erasing: Vec<(usize, usize)>,
}

#[derive(Debug)]
pub struct Processor {
    cluster: usize,
    pub chips: Vec<ChipId>,
    pub stripe: bool,
    pub pages: Pages,
    pub queue: Vec<Part>,
    pub pending: u64,
    pub arrived: u64,
    collected: u64,
    /// The current terms of collection, its reserve after a pass that is left out; the last change,
    /// from 1, and the extra jobs that have been released since, the last one when.
    terms: Option<Collection>,
    /// The rest of it that α leaves for wear.
    for_wear: u64,
    stage: usize,
    extra: u64,
    advanced: u64,
    gc_source: Option<SourceId>,
    pass: Option<Pass>,
    server_pass: Option<Pass>,
    pub served: u64,
    server_passes: u64,
    step: Option<Step>,
    /// The programs that failed, to be repeated.
    again: Vec<Programmed>,
    /// Jobs with pages that failed, and had been overwritten by a page of `again`.
    overwritten: Vec<(Lpn, JobId)>,
    /// For each chip, blocks that may fail yet, and programs before the processor is idle again.
    may_fail: Vec<(u32, u32)>,
    ended: u64,
    /// The rest of an erase that was suspended, by the chip's place in the cluster.
    left: Vec<(usize, u64)>,
    /// The registers of a chip that uses two.
    pub registers: Option<Registers>,
}

impl Processor {
    pub fn all(plan: &Plan, options: &Options, cluster: usize) -> Vec<Processor> {
        let chips = &plan.clusters().as_slice()[cluster].chips;
        let stripe = is_stripe(plan, cluster);
        let groups: Vec<Vec<ChipId>> =
            if stripe { chips.iter().map(|&chip| vec![chip]).collect() } else { vec![chips.clone()] };
        let processor = |(position, chips): (usize, Vec<ChipId>)| {
            let chip = stripe.then(|| chips[0]);
            let gc_source = plan.sources().iter().position(|source| {
                source.cluster.map(|of| of.index()) == Some(cluster) && source.releases == Releases::Collected { chip }
            });
            Processor {
                cluster,
                stripe,
                pages: Pages::new(plan, options, cluster, position, chips.len()),
                chips,
                queue: Vec::new(),
                pending: 0,
                arrived: 0,
                collected: 0,
                terms: certified(plan, cluster).certificate.collection,
                for_wear: for_wear(plan, cluster),
                stage: 0,
                extra: 0,
                advanced: 0,
                gc_source: gc_source.map(SourceId::from_index),
                pass: None,
                server_pass: None,
                served: 0,
                server_passes: 0,
                step: None,
                again: Vec::new(),
                overwritten: Vec::new(),
                may_fail: Vec::new(),
                ended: 0,
                left: Vec::new(),
                registers: is_cached(plan, cluster).then(Registers::default),
            }
        };
        let mut all: Vec<Processor> = groups.into_iter().enumerate().map(processor).collect();
        let device = plan.device();
        for of in all.iter_mut().filter(|of| of.registers.is_none() && options.placed.faults > 0) {
            of.may_fail = vec![(device.spare_blocks(), device.program_failures()); of.chips.len()];
        }
        all
    }

    pub fn is_idle(&self) -> bool {
        self.step.is_none() && self.registers.as_ref().is_none_or(Registers::are_empty)
    }

    /// Pages of background jobs that are not finished.
    pub fn background_pages(&self) -> usize {
        self.queue.iter().filter(|part| part.deadline >= BACKGROUND).map(|part| part.unfinished).sum()
    }

    /// Changes its terms, where it has nothing to do and enough pages are free.
    pub fn change(&mut self, world: &mut World) {
        let changes = &certified(world.plan, self.cluster).changes;
        let extra = if self.stage == 0 { 0 } else { changes[self.stage - 1].change.extra_passes };
        let Some(next) = changes.get(self.stage).map(|planned| planned.change) else { return };
        if world.now < next.not_before.as_ns() || !self.is_idle() || !self.queue.is_empty() || self.extra < extra {
            return;
        }
        let Collection { reserve_pages, reclaimed_pages, .. } = next.collection;
        let (free, count) = (self.pages.free(), reclaimed_pages * self.collected);
        if free + reclaimed_pages <= reserve_pages {
            return;
        }
        self.arrived = count + reserve_pages.max(free) - free;
        self.for_wear = 0;
        self.terms = Some(Collection { reserve_pages: next.goal_pages, ..next.collection });
        (self.stage, self.extra) = (self.stage + 1, 0);
        self.advanced = world.now + 1;
        self.tell(world, self.arrived);
    }

    /// Releases an extra GC job, where one is due.
    pub fn advance(&mut self, world: &mut World) {
        let Some(last) = self.stage.checked_sub(1) else { return };
        let change = certified(world.plan, self.cluster).changes[last].change;
        if self.extra < change.extra_passes && world.now == self.advanced {
            self.extra += 1;
            self.arrived += change.collection.reclaimed_pages;
            self.advanced += change.spacing.as_ns();
            self.tell(world, self.arrived);
            self.collect(world);
        }
    }

    fn tell(&self, world: &mut World, arrived: u64) {
        let number = |count: usize| u32::try_from(count).expect("few");
        world.records.push(Record::Changed(TermsChange {
            at: world.at(),
            cluster: ClusterId::from_index(self.cluster),
            chip: self.chips[0],
            stage: number(self.stage),
            extra: u32::try_from(self.extra).expect("few"),
            arrived,
            free: if self.extra == 0 { self.pages.free() } else { 0 },
        }));
    }

    /// Releases GC jobs.
    pub fn collect(&mut self, world: &mut World) {
        let Some(collection) = self.terms else { return };
        let Some(relative) = collection.deadline else { return };
        while self.arrived >= (self.collected + 1) * collection.reclaimed_pages {
            let id = JobId { source: self.gc_source.expect("it has garbage collection"), index: self.collected };
            self.collected += 1;
            let deadline = world.now + relative.as_ns();
            let cluster = Some(ClusterId::from_index(self.cluster));
            let (at, kind) = (world.at(), Kind::Gc);
            let due = Some(instant(deadline));
            world.records.push(Record::Release(Release { at, job: id, kind, deadline: due, pages: 0, cluster }));
            super::enter_gc(world, id);
            let (reads, writes, unfinished, owes) = (vec![], vec![], 0, true);
            self.queue.push(Part { deadline, kind, id, reads, writes, unfinished, owes, starved: false, waits: false });
        }
    }

    /// The end of a step.
    pub fn end(&mut self, world: &mut World) {
        if self.step.is_none() && self.registers.is_some() {
            self.registers_change(world);
        }
        let Some(step) = &self.step else { return };
        if step.silent_until > world.now || step.chips.iter().any(|&chip| world.chips[chip].stage.is_some()) {
            return;
        }
        let mut step = self.step.take().expect("a step");
        self.ended = world.now;
        let erase_failed = self.look_for_failures(world, &mut step);
        for job in step.pages {
            self.page_over(world, job);
        }
        if let Some((job, victim)) = step.erases {
            if erase_failed {
                self.pages.victims.retain(|&other| other != victim);
                self.pages.retire(victim);
            } else {
                self.pages.erase(victim);
            }
            if self.kind_of(job) == Kind::Gc {
                self.pass = None
            } else {
                self.server_pass = None
            }
            for part in &mut self.queue {
                part.waits = false;
            }
            self.pass_over(world, job);
        }
    }

    /// Whether what ends on a chip now fails.
    fn fails(&mut self, world: &World, column: usize, is_program: bool) -> bool {
        let Some((blocks, programs)) = self.may_fail.get_mut(column) else { return false };
        if world.now > world.options.duration.as_ns() || *blocks == 0 || (is_program && *programs == 0) {
            return false;
        }
        let Options { seed, placed, .. } = world.options;
        let fails = random_failure(*seed, placed.faults, self.chips[column], world.at());
        if fails {
            *blocks -= 1;
            *programs -= u32::from(is_program);
        }
        fails
    }

    /// Finds the failures of a step: programs are put aside. Says whether the erase has.
    fn look_for_failures(&mut self, world: &mut World, step: &mut Step) -> bool {
        let (at, cluster) = (world.at(), ClusterId::from_index(self.cluster));
        let small = |number: usize| u32::try_from(number).expect("a small number");
        for program in std::mem::take(&mut step.programs) {
            let (block, column) = (program.at.0, program.at.1 % self.chips.len());
            if !self.fails(world, column, true) {
                continue;
            }
            let (chip, page) = (self.chips[column], small(program.at.1 / self.chips.len()));
            let (job, block_id) = (program.id, BlockId(small(block)));
            world.records.push(Record::Failed(Failed { at, job, cluster, chip, block: block_id, page }));
            self.pages.retire(block);
            // A page that another page of the step has overwritten need not be repeated.
            if !self.pages.holds(program.at, program.lpn) {
                self.overwritten.push((program.lpn, program.id));
                continue;
            }
            self.again.push(program);
            if program.kind != Kind::Gc {
                let place = step.pages.iter().position(|&job| job == program.id).expect("a page of the step");
                step.pages.remove(place);
            }
        }
        // But it is not over before that one is.
        for (lpn, job) in std::mem::take(&mut self.overwritten) {
            if self.again.iter().any(|program| program.lpn == lpn) {
                let place = step.pages.iter().position(|&of| of == job).expect("a page of the step");
                step.pages.remove(place);
                self.overwritten.push((lpn, job));
            }
        }
        let Some((job, victim)) = step.resets.or(step.erases) else { return false };
        let mut failed = false;
        for column in 0..self.chips.len() {
            if self.fails(world, column, false) {
                failed = true;
                let (chip, block) = (self.chips[column], BlockId(small(victim)));
                world.records.push(Record::Failed(Failed { at, job, cluster, chip, block, page: NONE }));
            }
        }
        if failed && step.resets.is_some() {
            self.pages.retire(victim);
        }
        failed
    }

    /// Programs once more what has failed. `false` where pages are lacking.
    fn program_again(&mut self, world: &mut World) -> bool {
        if self.pages.free() < self.again.len() as u64 {
            let at = self.queue.iter().position(|part| part.id == self.again[0].id).expect("a pending job");
            let waits = self.queue[at].waits;
            self.starve(world, at);
            self.queue[at].waits = waits;
            return false;
        }
        self.step = Some(Step::default());
        for Programmed { id, kind, lpn, from, .. } in std::mem::take(&mut self.again) {
            let to = self.pages.program(lpn).expect("as many pages are free");
            match from {
                Some(from) => self.copy(world, id, lpn, (from, to)),
                None => self.start(world, id, kind, Action::Program, to, lpn, None),
            }
            if kind != Kind::Gc {
                self.step.as_mut().expect("a step").pages.push(id);
            }
        }
        let with = self.overwritten.iter().map(|&(_, job)| job);
        self.step.as_mut().expect("a step").pages.extend(with);
        true
    }

    /// Copies a page inside the chip.
    fn copy(&mut self, world: &mut World, id: JobId, lpn: Lpn, (from, to): (At, At)) {
        if let Some(part) = self.queue.iter_mut().find(|part| part.id == id) {
            part.starved = false;
        }
        let [operation, program] = [(Action::Read, from), (Action::Program, to)]
            .map(|(action, place)| self.operation(world.now, id, Kind::Gc, action, place, lpn));
        self.inside(world, operation, Behind::Copies { program });
        let copied = Programmed { id, kind: Kind::Gc, at: to, lpn, from: Some(from) };
        self.step.as_mut().expect("a step").programs.push(copied);
    }

    /// A page of a job is read or programmed.
    pub fn page_over(&mut self, world: &mut World, job: JobId) {
        let part = self.queue.iter_mut().find(|part| part.id == job).expect("a pending job");
        part.unfinished -= 1;
        self.look_whether_over(world, job);
    }

    fn kind_of(&self, job: JobId) -> Kind {
        self.queue.iter().find(|part| part.id == job).expect("a pending job").kind
    }

    fn look_whether_over(&mut self, world: &mut World, job: JobId) {
        let at = self.queue.iter().position(|part| part.id == job).expect("a pending job");
        if self.queue[at].unfinished == 0 && !self.queue[at].owes {
            self.queue.remove(at);
            world.part_over(job);
        }
    }

    fn pass_over(&mut self, world: &mut World, job: JobId) {
        if self.kind_of(job) != Kind::Gc {
            self.server_passes += 1;
        }
        let due = self.server_due();
        let part = self.queue.iter_mut().find(|part| part.id == job).expect("a pending job");
        part.owes = part.kind != Kind::Gc && due;
        self.look_whether_over(world, job);
    }

    pub fn server_due(&self) -> bool {
        self.terms.is_some_and(|of| self.served >= of.reclaimed_pages * (self.server_passes + 1))
    }

    /// f − b ≥ H, also after so many more pages.
    pub fn reserve_is_there(&self, pages: u64) -> bool {
        self.terms.is_some_and(|of| self.pages.free() >= of.reserve_pages + self.pending + pages)
    }

    pub fn dispatch(&mut self, world: &mut World) {
        self.suspend_if_urgent(world);
        let was_idle = self.step.is_none();
        if was_idle && !self.again.is_empty() {
            self.program_again(world);
            return;
        }
        self.dispatch_jobs(world);
        if was_idle && self.step.is_some() && world.now > self.ended {
            let most = world.plan.device().program_failures();
            self.may_fail.iter_mut().for_each(|left| left.1 = most);
        }
    }

    fn dispatch_jobs(&mut self, world: &mut World) {
        while self.step.is_none() {
            let begins = |part: &Part| part.owes || part.reads.len() + part.writes.len() > 0;
            let ready = (0..self.queue.len()).filter(|&at| !self.queue[at].waits && begins(&self.queue[at]));
            let Some(at) = ready.min_by_key(|&at| self.queue[at].priority(world.options)) else { return };
            if self.registers.is_some() {
                if !self.goes_on_with_registers(world, at) {
                    return;
                }
                continue;
            }
            if self.queue[at].owes {
                self.go_on_with_pass(world, at);
            } else if !self.go_on_with_pages(world, at) {
                return;
            }
        }
    }

    pub fn starve(&mut self, world: &mut World, at: usize) {
        self.queue[at].waits = true;
        if !std::mem::replace(&mut self.queue[at].starved, true) {
            let (job, cluster) = (self.queue[at].id, u32::try_from(self.cluster).expect("few clusters"));
            world.records.push(Record::Starved(Starved {
                at: world.at(),
                job,
                cluster: ClusterId(cluster),
                chip: ChipId(self.chips[0].0),
            }));
        }
    }

    /// `false` where neither this part nor any after it can go on.
    fn go_on_with_pages(&mut self, world: &mut World, at: usize) -> bool {
        let background = self.queue[at].deadline >= BACKGROUND;
        self.step = Some(Step::default());
        if !self.queue[at].reads.is_empty() {
            let lpn = self.queue[at].reads.remove(0);
            let Some(first) = self.pages.column_of(lpn) else {
                self.step = None;
                self.reads_nothing(world, at, lpn);
                return true;
            };
            self.read(world, at, lpn, true);
            self.fill_with_reads(world, Some(first), &mut vec![first]);
            return true;
        }
        if let Some(block) = self.pages.to_reset(self.queue[at].writes[0]) {
            self.pages.erase(block);
            let (id, kind) = (self.queue[at].id, self.queue[at].kind);
            let operation = self.operation(world.now, id, kind, Action::Erase, (block, 0), Lpn(NONE));
            self.inside(world, operation, Behind::Erases);
            self.step.as_mut().expect("a step").resets = Some((id, block));
            world.erased.push(self.cluster);
            return true;
        }
        let wanted = self.queue[at].writes.len().min(self.chips.len());
        if background && !self.reserve_is_there(wanted as u64) {
            self.step = None;
            return false;
        }
        let mut busy = Vec::new();
        self.write(world, at, wanted, &mut busy);
        if busy.is_empty() {
            self.step = None;
            self.starve(world, at);
            return true;
        }
        if self.chips.len() > 1 && self.may_backfill(world) {
            let mut others: Vec<usize> = (0..self.queue.len())
                .filter(|&other| other != at && self.queue[other].kind == Kind::Write && !self.queue[other].waits)
                .collect();
            others.sort_by_key(|&other| self.queue[other].priority(world.options));
            for other in others {
                let room = self.chips.len() - busy.len();
                self.write(world, other, room, &mut busy);
            }
        }
        if self.rows_outlast_reads(world) {
            self.fill_with_reads(world, None, &mut busy);
        }
        true
    }

    fn may_backfill(&self, world: &World) -> bool {
        // With two page registers there is one page, or row, in them at a time.
        let allowed = certified(world.plan, self.cluster).certificate.backfill && self.registers.is_none();
        world.options.placed.backfill && allowed
    }

    /// Whether a read is sure to be over with a row. If it waits for its command as well, that is
    /// by as much as any of the cluster may wait.
    fn rows_outlast_reads(&self, world: &World) -> bool {
        let [read, program, ..] = world.times();
        let waits = self.chips.iter().map(|&chip| world.sharing(chip.0)).max().expect("a chip") - 1;
        read + if world.command() > 0 { waits * world.hold() } else { 0 } <= program
    }

    /// Programs up to so many pages of a part.
    fn write(&mut self, world: &mut World, at: usize, most: usize, busy: &mut Vec<usize>) {
        for _ in 0..most {
            if self.queue[at].writes.is_empty() {
                break;
            }
            let lpn = self.queue[at].writes[0];
            let Some(place) = self.pages.program(lpn) else { break };
            self.queue[at].writes.remove(0);
            let (part_kind, id) = (self.queue[at].kind, self.queue[at].id);
            if part_kind == Kind::Write {
                self.pending -= 1;
            } else if self.queue[at].deadline < BACKGROUND {
                self.served += 1;
            }
            busy.push(place.1 % self.chips.len());
            self.start(world, id, part_kind, Action::Program, place, lpn, None);
            self.step.as_mut().expect("a step").pages.push(id);
        }
        let server = self.queue[at].kind == Kind::Server && self.queue[at].deadline < BACKGROUND;
        self.queue[at].owes = server && self.server_due();
    }

    fn read(&mut self, world: &mut World, at: usize, lpn: Lpn, alone: bool) {
        let (id, kind) = (self.queue[at].id, self.queue[at].kind);
        let place = self.pages.locate(lpn).expect("it holds something");
        self.start(world, id, kind, Action::Read, place, lpn, (alone && !self.stripe).then_some(0));
        self.step.as_mut().expect("a step").pages.push(id);
    }

    /// A page that holds nothing is over.
    pub fn reads_nothing(&mut self, world: &mut World, at: usize, lpn: Lpn) {
        let (job, chip) = (self.queue[at].id, self.chips[0]);
        let (at, cluster) = (world.at(), ClusterId::from_index(self.cluster));
        world.records.push(Record::EmptyPage(EmptyPage { at, job, cluster, chip, lpn }));
        self.page_over(world, job);
    }

    /// Idle chips read what will be over with the step. `read`: the step is a read on this chip. At
    /// most 64 pages are looked at.
    fn fill_with_reads(&mut self, world: &mut World, read: Option<usize>, busy: &mut Vec<usize>) {
        if self.chips.len() == 1 || !self.may_backfill(world) {
            return;
        }
        let channel = |processor: &Processor, column: usize| world.plan.device().channel_of(processor.chips[column].0);
        let own = |processor: &Processor, column: usize| {
            processor
                .chips
                .iter()
                .filter(|&&chip| world.plan.device().channel_of(chip.0) == channel(processor, column))
                .count() as u64
        };
        let foreign =
            |processor: &Processor, column: usize| world.sharing(processor.chips[column].0) - own(processor, column);
        let mut order: Vec<usize> = (0..self.queue.len()).filter(|&at| !self.queue[at].waits).collect();
        order.sort_by_key(|&at| self.queue[at].priority(world.options));
        let mut looks = 0;
        let mut found: Vec<(usize, usize)> = Vec::new();
        for at in order {
            for place in 0..self.queue[at].reads.len() {
                looks += 1;
                let Some(column) = self.pages.column_of(self.queue[at].reads[place]) else { continue };
                let mut is_valid = looks <= 64 && !busy.contains(&column);
                if let Some(first) = read {
                    is_valid &= foreign(self, column) <= foreign(self, first);
                    is_valid &= busy.iter().all(|&other| channel(self, other) != channel(self, column));
                }
                if is_valid {
                    busy.push(column);
                    found.push((at, place));
                }
            }
        }
        let pages: Vec<(usize, Lpn)> = found.iter().map(|&(at, place)| (at, self.queue[at].reads[place])).collect();
        for &(at, lpn) in &pages {
            self.read(world, at, lpn, read.is_some());
        }
        found.sort_unstable();
        for (at, place) in found.into_iter().rev() {
            self.queue[at].reads.remove(place);
        }
    }

    pub fn go_on_with_pass(&mut self, world: &mut World, at: usize) {
        let gc = self.queue[at].kind == Kind::Gc;
        let job = self.queue[at].id;
        if (if gc { &self.pass } else { &self.server_pass }).is_none() {
            let (victim, moves) = if self.reserve_is_there(0) {
                let most = self.terms.map_or(0, |of| of.victim_pages);
                let may = |block: &usize| gc && most > 0 && self.beyond(*block) > 0;
                let from = match self.pages.to_move() {
                    Some(block) => Some(block).filter(may),
                    None => self.pages.to_level().filter(may),
                };
                if from.is_some() && self.pages.to_move().is_none() {
                    self.pages.victims.extend(from);
                }
                (from, Some(most))
            } else {
                (self.pages.choose_victim(), None)
            };
            let Some(victim) = victim else {
                self.pass_over(world, job);
                return;
            };
            let next_row = vec![0; self.chips.len()];
            let pass = Pass { victim, next_row, buffered: vec![], reads: 0, rows: 0, pages: 0, moves, cut: false };
            *(if gc { &mut self.pass } else { &mut self.server_pass }) = Some(pass);
        }
        let mut pass = (if gc { self.pass.take() } else { self.server_pass.take() }).expect("a pass");
        if self.has_moved_all(&mut pass) {
            self.pages.victims.retain(|&block| block != pass.victim);
            self.pass_over(world, job);
            return;
        }
        self.step = Some(Step::default());
        let goes_on = if self.stripe {
            self.step_in_chip(world, at, &mut pass)
        } else {
            self.step_in_superblock(world, at, &mut pass)
        };
        *(if gc { &mut self.pass } else { &mut self.server_pass }) = Some(pass);
        if !goes_on {
            self.step = None;
            self.starve(world, at);
        }
    }

    /// Whether a pass that only moves pages has done so.
    fn has_moved_all(&self, pass: &mut Pass) -> bool {
        let Some(most) = pass.moves else { return false };
        pass.buffered.retain(|&(place, lpn)| self.pages.holds(place, lpn));
        let left = |column: usize| self.pages.next_valid(pass.victim, column, pass.next_row[column]).is_some();
        let reads = pass.pages < most && (0..self.chips.len()).any(left);
        pass.buffered.is_empty() && !reads || self.beyond(pass.victim) == 0 || pass.cut
    }

    /// f − b − H, and what α leaves for wear, where it is not a block that has failed.
    fn beyond(&self, block: usize) -> u64 {
        let for_wear = if self.pages.retired.contains(&block) { 0 } else { self.for_wear };
        let reserve = |of: Collection| self.pending + of.reserve_pages.saturating_sub(for_wear);
        self.terms.map_or(0, |of| self.pages.free().saturating_sub(reserve(of)))
    }

    fn step_in_chip(&mut self, world: &mut World, at: usize, pass: &mut Pass) -> bool {
        let (chip, job) = (self.chips[0], self.queue[at].id);
        let told = self.told(world, world.sharing(chip.0) - 1);
        let middle = told + world.read(job, chip.0, told);
        let end = middle + world.program(job, chip.0, middle);
        let padded_to = self.padded_to(world);
        if let Some((row, lpn)) = self.pages.next_valid(pass.victim, 0, pass.next_row[0]) {
            let from = self.pages.locate(lpn).expect("it is valid");
            let Some(to) = self.pages.program(lpn) else { return false };
            pass.next_row[0] = row + 1;
            pass.reads += 1;
            pass.pages += 1;
            self.copy(world, job, lpn, (from, to));
        } else if pass.reads < padded_to {
            pass.reads += 1;
            self.pad(end);
        } else {
            self.erase(world, at, pass.victim);
        }
        true
    }

    fn step_in_superblock(&mut self, world: &mut World, at: usize, pass: &mut Pass) -> bool {
        let sharing = self.chips.iter().map(|&chip| world.sharing(chip.0)).max().expect("a chip");
        let (wait, command) = ((sharing - 1) * world.hold(), world.command());
        let width = self.chips.len();
        let (kind, id) = (Kind::Gc, self.queue[at].id);
        pass.buffered.retain(|&(place, lpn)| self.pages.holds(place, lpn));
        let mut found = Vec::new();
        if pass.buffered.len() < width {
            let most = pass.moves.map_or(usize::MAX, |most| usize::try_from(most - pass.pages).expect("few pages"));
            for column in 0..width {
                if found.len() < most
                    && let Some((row, lpn)) = self.pages.next_valid(pass.victim, column, pass.next_row[column])
                {
                    pass.next_row[column] = row + 1;
                    found.push(((pass.victim, row * width + column), lpn));
                }
            }
        }
        let wait = if waits_are_worst(world) { wait } else { 0 };
        let first = self.chips[0];
        let valid = self.padded_to(world);
        if !found.is_empty() {
            pass.reads += 1;
            pass.pages += found.len() as u64;
            let channels: Vec<u32> = found.iter().map(|(place, _)| self.channel(world, place.1 % width)).collect();
            for (&(place, lpn), own) in found.iter().zip(&channels) {
                let together = channels.iter().filter(|channel| *channel == own).count() as u64;
                self.start(world, id, kind, Action::Read, place, lpn, Some(together - 1));
            }
            pass.buffered.extend(found);
        } else if !pass.buffered.is_empty() {
            let mut busy = Vec::new();
            let most = pass.moves.map_or(u64::MAX, |_| self.beyond(pass.victim));
            pass.cut = most < (pass.buffered.len().min(width) as u64);
            while busy.len() < width && !pass.buffered.is_empty() && (busy.len() as u64) < most {
                let Some(place) = self.pages.program(pass.buffered[0].1) else { break };
                let (_, lpn) = pass.buffered.remove(0);
                self.start(world, id, kind, Action::Program, place, lpn, None);
                busy.push(place.1 % width);
            }
            if busy.is_empty() {
                return false;
            }
            pass.rows += 1;
            if self.rows_outlast_reads(world) {
                self.fill_with_reads(world, None, &mut busy);
            }
        } else if pass.reads < valid.min(world.plan.device().pages_per_block().into()) && pass.pages < valid {
            pass.reads += 1;
            // As if of as many pages on one channel as there can be, and all are read in the end.
            let steps = valid.min(world.plan.device().pages_per_block().into());
            let channels: Vec<u32> = (0..width).map(|column| self.channel(world, column)).collect();
            let own = channels.iter().map(|own| channels.iter().filter(|channel| *channel == own).count() as u64);
            let most = own.clone().max().expect("a chip");
            let mut pages = 1;
            while pages < most && pass.pages + pages + (steps - pass.reads) < valid {
                pages += 1;
            }
            pass.pages += pages;
            let foreign = self.chips.iter().zip(own).map(|(chip, own)| world.sharing(chip.0) - own);
            let others = match waits_are_worst(world) {
                true => (foreign.max().expect("a chip") + pages - 1).min(sharing - 1),
                false => pages - 1,
            };
            let wait = others * world.hold();
            let told = world.now + if command > 0 { wait + command } else { 0 };
            let sensed = told + world.read(id, first.0, told);
            self.pad(sensed + world.transfer(id, first.0, sensed) + wait);
        } else if pass.rows < valid.div_ceil(width as u64) {
            pass.rows += 1;
            let over = world.now + command + world.transfer(id, first.0, world.now) + wait;
            self.pad(over + world.program(id, first.0, over));
        } else {
            self.erase(world, at, pass.victim);
        }
        true
    }

    /// Valid pages that every victim counts as having: v with worst victims.
    fn padded_to(&self, world: &World) -> u64 {
        match world.options.victims {
            Victims::Actual => 0,
            Victims::Worst => self.terms.map_or(0, |of| of.victim_pages),
        }
    }

    fn pad(&mut self, until: u64) {
        self.step.as_mut().expect("a step").silent_until = until;
    }

    fn erase(&mut self, world: &mut World, at: usize, victim: usize) {
        let id = self.queue[at].id;
        self.queue[at].starved = false;
        if self.suspends(world) {
            let length = |chip: ChipId| world.lengths.erase(id, chip, world.at()).as_ns();
            let whole = || self.chips.iter().enumerate().map(|(column, &chip)| (column, length(chip))).collect();
            let left = if self.left.is_empty() { whole() } else { std::mem::take(&mut self.left) };
            for (column, length) in left {
                let operation = self.operation(world.now, id, Kind::Gc, Action::Erase, (victim, column), Lpn(NONE));
                let (chip, until) = (operation.chip.index(), world.now + length);
                let step = self.step.as_mut().expect("a step");
                step.chips.push(chip);
                step.erasing.push((column, world.records.len()));
                world.records.push(Record::Operation(Operation { end: instant(until), ..operation }));
                world.chips[chip].stage = Some(Stage::Works { until });
            }
            self.step.as_mut().expect("a step").erases = Some((id, victim));
            world.erased.push(self.cluster);
            return;
        }
        for column in 0..self.chips.len() {
            let operation = self.operation(world.now, id, Kind::Gc, Action::Erase, (victim, column), Lpn(NONE));
            self.inside(world, operation, Behind::Erases);
        }
        self.step.as_mut().expect("a step").erases = Some((id, victim));
        world.erased.push(self.cluster);
    }

    fn suspends(&self, world: &World) -> bool {
        certified(world.plan, self.cluster).certificate.suspends_erases(world.plan.device())
    }

    /// Suspends the erase under way where a job of higher priority than the pass's can go on.
    fn suspend_if_urgent(&mut self, world: &mut World) {
        let Some((job, _)) = self.step.as_ref().and_then(|step| step.erases) else { return };
        if !self.suspends(world) {
            return;
        }
        let device = world.plan.device();
        let (suspend, resume) = (device.erase_suspend().expect("it suspends").as_ns(), device.erase_resume().as_ns());
        let priority = |part: &&Part| part.priority(world.options);
        let first = self.queue.iter().filter(|part| !part.waits).min_by_key(priority).expect("the pass's");
        let step = self.step.as_mut().expect("a step");
        let until = instant(world.now + suspend);
        let end = |world: &World, record: usize| match &world.records[record] {
            Record::Operation(operation) => operation.end,
            other => panic!("{other:?} is no erase"),
        };
        if first.id == job || step.erasing.iter().all(|&(_, record)| end(world, record) <= until) {
            return;
        }
        step.erases = None;
        for (column, record) in std::mem::take(&mut step.erasing) {
            let Record::Operation(operation) = &mut world.records[record] else { panic!("no erase") };
            if operation.end > until {
                self.left.push((column, operation.end.as_ns() - world.now + resume));
                (operation.action, operation.end) = (Action::ErasePart, until);
                world.chips[operation.chip.index()].stage = Some(Stage::Works { until: until.as_ns() });
            }
        }
    }

    pub fn operation(&self, from: u64, id: JobId, kind: Kind, action: Action, place: At, lpn: Lpn) -> Operation {
        let width = self.chips.len();
        let small = |number: usize| u32::try_from(number).expect("a small number");
        Operation {
            start: instant(from),
            end: instant(from),
            cluster: ClusterId(small(self.cluster)),
            chip: ChipId((self.chips[place.1 % width]).0),
            action,
            job: id,
            kind,
            block: BlockId(small(place.0)),
            page: if action.erases() { NONE } else { small(place.1 / width) },
            lpn,
        }
    }

    /// When a chip that lets time pass has been told to read, with so many others on its bus.
    fn told(&self, world: &World, others: u64) -> u64 {
        let waits = if waits_are_worst(world) { others * world.hold() } else { 0 };
        world.now + if world.command() > 0 { waits + world.command() } else { 0 }
    }

    /// A copy or an erase inside a chip begins.
    fn inside(&mut self, world: &mut World, operation: Operation, behind: Behind) {
        let chip = operation.chip.index();
        self.step.as_mut().expect("a step").chips.push(chip);
        if world.command() > 0 && !waits_are_worst(world) {
            (world.chips[chip].operation, world.chips[chip].behind) = (Some(operation), Some(behind));
            world.chips[chip].stage = Some(Stage::Waits { since: world.now });
            return;
        }
        let told = self.told(world, world.sharing(operation.chip.0) - 1);
        let until = world.works_inside(operation, behind, told);
        world.chips[chip].stage = Some(Stage::Works { until });
    }

    /// An operation that goes over the bus begins. `beside`: so many others of its own cluster use
    /// the bus, where that is known.
    #[allow(clippy::too_many_arguments)]
    fn start(
        &mut self,
        world: &mut World,
        id: JobId,
        kind: Kind,
        action: Action,
        place: At,
        lpn: Lpn,
        beside: Option<u64>,
    ) {
        let command = world.command();
        let operation = self.operation(world.now, id, kind, action, place, lpn);
        if let Some(part) = self.queue.iter_mut().find(|part| part.id == id) {
            part.starved = false;
        }
        let chip = operation.chip.index();
        self.step.as_mut().expect("a step").chips.push(chip);
        if action == Action::Program {
            let program = Programmed { id, kind, at: place, lpn, from: None };
            self.step.as_mut().expect("a step").programs.push(program);
        }
        if waits_are_worst(world) {
            let device = world.plan.device();
            let channel = device.channel_of(operation.chip.0);
            let own = self.chips_of_cluster(world).iter().filter(|&&chip| device.channel_of(chip.0) == channel).count()
                as u64;
            let sharing = world.sharing(operation.chip.0);
            let wait = beside.map_or(sharing - 1, |beside| sharing - own + beside) * world.hold();
            let until = if action == Action::Read {
                let told = world.now + if command > 0 { wait + command } else { 0 };
                let sensed = told + world.read(id, operation.chip.0, told) + wait;
                sensed + world.transfer(id, operation.chip.0, sensed)
            } else {
                let granted = world.now + wait + command;
                let over = granted + world.transfer(id, operation.chip.0, granted);
                over + world.program(id, operation.chip.0, over)
            };
            world.records.push(Record::Operation(Operation { end: instant(until), ..operation }));
            world.chips[chip].stage = Some(Stage::Works { until });
            return;
        }
        let sensing = world.lengths.sensing(id, operation.chip, world.at()).as_ns();
        world.chips[chip].through_registers = false;
        world.chips[chip].operation = Some(operation);
        world.chips[chip].behind = (action == Action::Read && command > 0).then_some(Behind::Senses);
        world.chips[chip].stage = Some(match action {
            Action::Read if command > 0 => Stage::Waits { since: world.now },
            Action::Read if sensing > 0 => Stage::Senses { until: world.now + sensing },
            _ => Stage::Waits { since: world.now },
        });
    }

    /// The channel of a chip, by its place in the processor.
    fn channel(&self, world: &World, column: usize) -> u32 {
        world.plan.device().channel_of(self.chips[column].0)
    }

    fn chips_of_cluster<'a>(&self, world: &'a World) -> &'a [ChipId] {
        &world.plan.clusters().as_slice()[self.cluster].chips
    }
}
