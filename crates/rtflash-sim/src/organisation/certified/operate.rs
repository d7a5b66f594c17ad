//! Steps on chips and buses, from start to end.

use rtflash_ftl::GcStep;
use rtflash_model::{ChipId, Instant, Lpn, Span};
use rtflash_plan::{BlockId, ClusterPlan, ColumnId, Plan, Waits};
use rtflash_trace::{Action, Kind, NO_LPN, NONE, Observer, Operation, Record, Transfer};
use serde::{Deserialize, Serialize};

use super::CertifiedGroup;
use crate::engine::core::ChipStep;
use crate::engine::sequencer::Ticket;
use crate::flash::BusRequest;
use crate::store::PagePlace;

#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct ChipAtWork {
    pub(super) processor: usize,
    /// Chips of its channel that are not its cluster's.
    pub(super) foreign_chips: u32,
    /// All other chips of its channel.
    pub(super) others: u32,
    /// The operation that waits for its bus, or will. One at a time: rule S4.
    pub(super) open: Option<OpenOperation>,
    /// The program of the copy whose command waits for its bus.
    pub(super) copy: Option<Operation>,
}

impl ChipAtWork {
    pub(super) fn new(plan: &Plan, cluster: &ClusterPlan, chip: ChipId, processor: usize) -> ChipAtWork {
        let others = plan.device().chips_on(plan.channel_of(chip).0) - 1;
        ChipAtWork { processor, foreign_chips: plan.foreign_chips(cluster, chip), others, open: None, copy: None }
    }
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct OpenOperation {
    pub(super) operation: Operation,
    pub(super) ticket: Ticket,
    pub(super) asks_for: BusUse,
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) enum BusUse {
    /// A page, with the command of a program.
    Page,
    /// A page of a chip with two page registers; with it the command of a program, and that of a
    /// read which is to follow on the channel.
    CachedPage,
    /// The command of a read of such a chip.
    CachedCommand,
    /// The command of a read whose page comes later.
    ReadCommand,
    CopyCommand,
    EraseCommand,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Planned {
    pub(super) part: usize,
    pub(super) kind: Kind,
    pub(super) action: Action,
    pub(super) spot: PagePlace,
    pub(super) lpn: Lpn,
}

impl<O: Observer> CertifiedGroup<'_, O> {
    /// Starts a step of users' pages. `reads`: it is a read first of all, whose bus its own cluster
    /// leaves alone.
    pub(super) fn start_pages(&mut self, processor: usize, planned: &[Planned], reads: bool, now: Instant) {
        let of = &mut self.processors[processor];
        of.step.begin(planned.len());
        of.step.pages.extend(planned.iter().map(|page| page.part));
        let alone = reads && !of.stripe;
        planned.iter().for_each(|page| self.start_page(processor, page, alone.then_some(0), now));
    }

    pub(super) fn start_gc(&mut self, processor: usize, part: usize, step: GcStep, now: Instant) {
        let of = &mut self.processors[processor];
        of.step.begin(1);
        let first = of.first_chip();
        let job = self.parts[part].id();
        match step {
            GcStep::Copyback(from, to, lpn) => {
                let (from, to, lpn) = (PagePlace::from(from), PagePlace::from(to), Lpn(lpn));
                let page = Planned { part, kind: Kind::Gc, action: Action::Read, spot: from, lpn };
                let read = self.operation(processor, &page, now);
                let program = Operation { action: Action::Program, block: to.block, page: to.page, ..read };
                self.chips[first].copy = Some(program);
                if let Some(faults) = &mut self.processors[processor].faults {
                    faults.programs(&Planned { action: Action::Program, spot: to, ..page }, Some(from));
                }
                self.start_inside(processor, read, BusUse::CopyCommand, now);
            }
            GcStep::Read => self.start_row(processor, part, Action::Read, now),
            GcStep::Row => self.start_row(processor, part, Action::Program, now),
            GcStep::PaddingCopyback => {
                let read = self.read_in_padding(processor, job, None, now);
                let end = read.saturating_add(self.core.lengths.program(job, first, read));
                self.pad(processor, part, rtflash_trace::Step::Copyback, now, end);
            }
            GcStep::PaddingRead(pages) => {
                let beside = Some(pages - 1);
                let read = self.read_in_padding(processor, job, beside, now);
                let end = read.saturating_add(self.bus_in_padding(processor, job, beside, read));
                self.pad(processor, part, rtflash_trace::Step::Read, now, end);
            }
            GcStep::PaddingRow => {
                let over = now.saturating_add(self.bus_in_padding(processor, job, None, now));
                let over = over.saturating_add(self.core.lengths.command());
                let end = over.saturating_add(self.core.lengths.program(job, first, over));
                self.pad(processor, part, rtflash_trace::Step::Program, now, end);
            }
            GcStep::Starved | GcStep::Moved => {}
            GcStep::Erase(block) => {
                let block = BlockId(block);
                let of = &mut self.processors[processor];
                let cluster = of.cluster;
                (of.step.chips, of.step.erases) = (of.chips.len(), Some(part));
                of.erase_may_fail(block, None);
                if of.suspends.is_some() {
                    return self.start_erase(processor, part, block, now);
                }
                for chip in self.processors[processor].chips.ids() {
                    let spot = PagePlace { chip, block, page: NONE };
                    let page = Planned { part, kind: Kind::Gc, action: Action::Erase, spot, lpn: NO_LPN };
                    let operation = self.operation(processor, &page, now);
                    self.start_inside(processor, operation, BusUse::EraseCommand, now);
                }
                self.erase_begins(cluster, now);
            }
        }
    }

    pub(super) fn start_reset(&mut self, processor: usize, part: usize, kind: Kind, block: BlockId, now: Instant) {
        self.processors[processor].step.begin(1);
        self.processors[processor].store.ftl.pages.reset(block.0);
        self.processors[processor].erase_may_fail(block, Some(part));
        let spot = PagePlace { chip: ColumnId(0), block, page: NONE };
        let page = Planned { part, kind, action: Action::Erase, spot, lpn: NO_LPN };
        let operation = self.operation(processor, &page, now);
        self.start_inside(processor, operation, BusUse::EraseCommand, now);
        self.erase_begins(self.processors[processor].cluster, now);
    }

    fn start_row(&mut self, processor: usize, part: usize, action: Action, now: Instant) {
        let mut planned = std::mem::take(&mut self.planned);
        planned.clear();
        planned.extend(self.row.iter().map(|&(spot, lpn)| Planned { part, kind: Kind::Gc, action, spot, lpn }));
        let own = planned.len();
        // Nothing is done beside reads of a pass: they are charged for each other alone.
        if action == Action::Program && self.may_backfill(processor) {
            self.backfill_reads(processor, None, &mut planned);
        }
        let step = &mut self.processors[processor].step;
        step.chips = planned.len();
        step.pages.extend(planned[own..].iter().map(|page| page.part));
        // If waits are full ones, reads of a pass wait for each other alone.
        let known = action == Action::Read && self.options.placed.waits == Waits::Worst;
        for page in &planned {
            self.start_page(processor, page, known.then(|| self.pages_beside(processor, page, &planned)), now);
        }
        self.planned = planned;
    }

    /// A chip is busy to the end of its part in the step, which is known from now on. The step ends
    /// with the last one, the highest among equals.
    #[inline(always)]
    pub(super) fn work(&mut self, chip: ChipId, end: Instant) {
        self.works(self.chips[chip].processor, chip, end);
    }

    #[inline(always)]
    pub(super) fn works(&mut self, processor: usize, chip: ChipId, end: Instant) {
        let step = &mut self.processors[processor].step;
        assert!(step.chips > 0, "each chip of a step ends once");
        step.last = step.last.max((end, chip));
        step.chips -= 1;
        if step.chips == 0 {
            self.core.ends(step.last.1, Some(step.last.0));
        }
    }

    #[inline]
    pub(super) fn operation(&mut self, processor: usize, page: &Planned, now: Instant) -> Operation {
        let part = &mut self.parts[page.part];
        part.starved = false;
        let processor = &self.processors[processor];
        Operation {
            start: now,
            end: now,
            cluster: processor.number,
            chip: processor.chips[page.spot.chip],
            action: page.action,
            job: part.id(),
            kind: page.kind,
            block: page.spot.block,
            page: page.spot.page,
            lpn: page.lpn,
        }
    }

    #[inline]
    pub(super) fn asks_inside(&self) -> bool {
        self.core.lengths.command() > Span::ZERO && self.options.placed.waits == Waits::Actual
    }

    /// Starts a copy or an erase inside a chip, behind its command where commands are counted.
    #[inline(always)]
    fn start_inside(&mut self, processor: usize, operation: Operation, asks_for: BusUse, now: Instant) {
        let command = self.core.lengths.command();
        if !self.asks_inside() {
            let ChipAtWork { others, .. } = self.chips[operation.chip];
            let waits = if command == Span::ZERO { Span::ZERO } else { self.plan.transfers(others) };
            let begun = now.saturating_add(waits).saturating_add(command);
            let operation = self.run_inside(operation, asks_for, begun);
            self.core.observer.push(Record::Operation(operation));
            return;
        }
        self.ask(processor, operation, asks_for, now);
    }

    /// A copy or an erase inside a chip whose command is over: it takes its time from then on, and
    /// what a copy programs is recorded. Gives the operation with its end.
    #[inline(always)]
    fn run_inside(&mut self, operation: Operation, asks_for: BusUse, begun: Instant) -> Operation {
        let Operation { job, chip, .. } = operation;
        if let BusUse::CopyCommand = asks_for {
            let program = self.chips[chip].copy.take().expect("a copy programs a page");
            let read = begun.saturating_add(self.core.lengths.read(job, chip, begun));
            let end = read.saturating_add(self.core.lengths.program(job, chip, read));
            self.core.observer.push(Record::Operation(Operation { start: read, end, ..program }));
            self.work(chip, end);
            return Operation { end: read, ..operation };
        }
        let end = begun.saturating_add(self.core.lengths.erase(job, chip, begun));
        self.work(chip, end);
        Operation { end, ..operation }
    }

    #[inline(always)]
    fn ask(&mut self, processor: usize, operation: Operation, asks_for: BusUse, since: Instant) {
        let step = ChipStep::Ask { since, lane: processor };
        let ticket = self.core.begin(&operation, step).expect("what asks for a bus has a place");
        self.chips[operation.chip].open = Some(OpenOperation { operation, ticket, asks_for });
    }

    /// Starts a page that goes over the bus. `beside`: how many other chips of its own cluster use
    /// the channel's bus in this step; all may, where it is not known.
    pub(super) fn start_page(&mut self, processor: usize, page: &Planned, beside: Option<u32>, now: Instant) {
        if let Some(faults) = self.processors[processor].faults.as_mut().filter(|_| page.action == Action::Program) {
            faults.programs(page, None);
        }
        let operation = self.operation(processor, page, now);
        let (chip, job) = (operation.chip, operation.job);
        if self.options.placed.waits == Waits::Worst {
            let ChipAtWork { foreign_chips, others, .. } = self.chips[chip];
            let wait = self.plan.transfers(beside.map_or(others, |beside| foreign_chips.saturating_add(beside)));
            let channel = self.core.channel_of(chip);
            let command = self.core.lengths.command();
            let end = if page.action == Action::Read {
                let waits = if command == Span::ZERO { now } else { now.saturating_add(wait).saturating_add(command) };
                let sensed = waits.saturating_add(self.core.lengths.read(job, chip, waits)).saturating_add(wait);
                sensed.saturating_add(self.core.lengths.transfer(job, channel, sensed))
            } else {
                let granted = now.saturating_add(wait).saturating_add(command);
                let over = granted.saturating_add(self.core.lengths.transfer(job, channel, granted));
                over.saturating_add(self.core.lengths.program(job, chip, over))
            };
            self.core.observer.push(Record::Operation(Operation { end, ..operation }));
            self.work(chip, end);
            return;
        }
        let (since, asks_for) = match page.action {
            Action::Read if self.core.lengths.command() > Span::ZERO => (now, BusUse::ReadCommand),
            Action::Read => (now.saturating_add(self.core.lengths.sensing(job, chip, now)), BusUse::Page),
            _ => (now, BusUse::Page),
        };
        self.ask(processor, operation, asks_for, since);
    }

    /// A step ends, and makes progress for all jobs that it had pages of.
    pub(super) fn step_ends(&mut self, processor: usize, now: Instant) {
        self.changed.push(processor);
        let erase_failed = self.look_for_failures(processor, now);
        let step = &mut self.processors[processor].step;
        let erases = step.erases.take();
        self.parts_of_erase_end(processor);
        let step = &mut self.processors[processor].step;
        if !step.pages.is_empty() {
            let mut pages = std::mem::take(&mut step.pages);
            for part in pages.drain(..) {
                self.page_is_over(processor, part, now);
            }
            self.processors[processor].step.pages = pages;
        }
        if let Some(part) = erases {
            let of = &mut self.processors[processor];
            let server = self.parts[part].key.kind != Kind::Gc;
            match erase_failed {
                true => of.store.ftl.erase_failed(server),
                false => of.store.ftl.erased(server),
            }
            let starved = std::mem::take(&mut of.starved);
            starved.into_iter().for_each(|key| of.queue.insert(key));
            self.pass_is_over(processor, part, now);
        }
    }

    pub(super) fn page_is_over(&mut self, processor: usize, part: usize, now: Instant) {
        self.entered -= 1;
        let of = &mut self.parts[part];
        of.unfinished -= 1;
        if of.is_background() {
            self.clusters[self.processors[processor].cluster].background -= 1;
        }
        if of.is_over() {
            self.part_is_over(part, now);
        }
    }

    pub(super) fn goes_over_bus(&mut self, request: BusRequest, now: Instant) {
        let BusRequest { channel, chip, lane, .. } = request;
        let open = self.chips[chip].open.take().expect("a chip that asks has an operation");
        let OpenOperation { mut operation, ticket, asks_for } = open;
        match asks_for {
            BusUse::Page => {
                let end = self.core.moves(&mut operation, ticket, channel, now);
                return self.works(lane, chip, end);
            }
            BusUse::CachedPage => return self.moves_cached(lane, open, channel, now),
            BusUse::CachedCommand => {
                let over = self.told_to_read(lane, channel, now);
                return self.core.channels.hold(channel, over);
            }
            BusUse::ReadCommand | BusUse::CopyCommand | BusUse::EraseCommand => {}
        }
        let Operation { cluster, job, kind, .. } = operation;
        let end = now.saturating_add(self.core.lengths.command());
        self.core.channels.hold(channel, end);
        self.core.observer.push(Record::Transfer(Transfer { start: now, end, channel, cluster, chip, job, kind }));
        if let BusUse::ReadCommand = asks_for {
            let since = end.saturating_add(self.core.lengths.sensing(job, chip, end));
            self.chips[chip].open = Some(OpenOperation { asks_for: BusUse::Page, ..open });
            self.core.channels.request(BusRequest { since, channel, chip, lane });
        } else {
            let operation = self.run_inside(operation, asks_for, end);
            self.core.observer.close(ticket, operation.end);
        }
    }
}
