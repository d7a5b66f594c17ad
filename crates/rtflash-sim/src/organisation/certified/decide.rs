//! The next work of a processor: EDF at the ends of steps.

use rtflash_ftl::{GcStep, NextStep, PartLeft, Victim};
use rtflash_model::{Instant, Lpn};
use rtflash_plan::BlockId;
use rtflash_trace::{Action, EmptyPage, Kind, LeftOut, Observer, Record, Reserve, Selection, Starved};

use super::CertifiedGroup;
use super::faults::ProcessorFaults;
use super::operate::Planned;
use crate::engine::priority::Priority;

enum ProcessorAttempt {
    Started,
    Changed,
    /// Neither it nor any behind it can go on now.
    Waits,
}

impl<O: Observer> CertifiedGroup<'_, O> {
    /// Rules S2 and D1: all processors that are idle, and where something has changed, begin their
    /// next steps.
    pub(super) fn dispatch_processors(&mut self, now: Instant) {
        let mut changed = std::mem::take(&mut self.changed);
        for &processor in &changed {
            self.notify_reserve(processor, now);
            let was_idle = !self.processors[processor].step.is_under_way;
            if !was_idle {
                self.suspend_if_urgent(processor, now);
            }
            if was_idle && self.processors[processor].faults.as_ref().is_some_and(ProcessorFaults::is_to_repeat) {
                self.program_again(processor, now);
                continue;
            }
            while !self.processors[processor].step.is_under_way {
                let Some(key) = self.first_to_begin(processor) else { break };
                match self.go_on(processor, key, now) {
                    ProcessorAttempt::Started | ProcessorAttempt::Waits => break,
                    ProcessorAttempt::Changed => {}
                }
            }
            let of = &mut self.processors[processor];
            if let Some(faults) = of.faults.as_mut().filter(|_| was_idle && of.step.is_under_way) {
                faults.begins(now);
            }
            if of.awaits_change {
                self.change_if_idle(processor, now);
            }
        }
        changed.clear();
        self.changed = changed;
    }

    /// The first job with a step that has not begun. With two page registers the last pages of
    /// others may be under way.
    fn first_to_begin(&self, processor: usize) -> Option<Priority> {
        let of = &self.processors[processor];
        if of.registers.is_none() {
            return of.queue.first();
        }
        of.queue.iter().find(|key| self.parts[key.slot].has_more_to_begin()).copied()
    }

    /// Tells how a processor stands to which pages to be written have come.
    fn notify_reserve(&mut self, processor: usize, now: Instant) {
        let of = &mut self.processors[processor];
        if of.store.ftl.pages.is_zoned() || of.notified == of.store.ftl.arrived() {
            return;
        }
        of.notified = of.store.ftl.arrived();
        let (cluster, chip) = (of.number, of.first_chip());
        let (arrived, free, pending) = (of.store.ftl.arrived(), of.store.free(), of.store.ftl.pending());
        self.core.observer.push(Record::Reserve(Reserve { at: now, cluster, chip, arrived, free, pending }));
    }

    fn go_on(&mut self, processor: usize, key: Priority, now: Instant) -> ProcessorAttempt {
        let part = key.slot;
        if !self.can_go_on(processor, part, now) {
            return ProcessorAttempt::Waits;
        }
        let (of, width) = (&self.parts[part], self.processors[processor].chips.len());
        let row = of.writes.len().min(width);
        let left = PartLeft {
            owes: of.owes,
            read: of.reads.front().map(|lpn| lpn.0),
            write: of.writes.front().map(|lpn| lpn.0),
            row: row as u64,
            background: of.is_background(),
        };
        let read = match self.processors[processor].store.ftl.next_step(left) {
            NextStep::Pass => return self.go_on_with_pass(processor, key, now),
            NextStep::Waits => return ProcessorAttempt::Waits,
            NextStep::Reset(block) => {
                self.start_reset(processor, part, key.kind, BlockId(block), now);
                return ProcessorAttempt::Started;
            }
            NextStep::Read(lpn) => Some(Lpn(lpn)),
            NextStep::Program | NextStep::Nothing => None,
        };
        let mut planned = std::mem::take(&mut self.planned);
        planned.clear();
        match read {
            Some(lpn) => {
                self.parts[part].reads.pop_front();
                let Some(spot) = self.processors[processor].store.find(lpn) else {
                    self.planned = planned;
                    return self.reads_nothing(processor, part, lpn, now);
                };
                planned.push(Planned { part, kind: key.kind, action: Action::Read, spot, lpn });
            }
            None => self.write_row(part, row, &mut planned),
        }
        let reads = read.is_some();
        if planned.is_empty() {
            self.planned = planned;
            return self.starve(processor, key, now);
        }
        if width > 1 && self.may_backfill(processor) {
            self.backfill(processor, key, reads, &mut planned);
        }
        if self.processors[processor].registers.is_some() {
            self.start_cached(processor, &planned, now);
        } else {
            self.start_pages(processor, &planned, reads, now);
        }
        self.planned = planned;
        ProcessorAttempt::Started
    }

    #[cold]
    fn reads_nothing(&mut self, processor: usize, part: usize, lpn: Lpn, now: Instant) -> ProcessorAttempt {
        let (of, job) = (&self.processors[processor], self.parts[part].id());
        let (cluster, chip) = (of.number, of.first_chip());
        self.core.observer.push(Record::EmptyPage(EmptyPage { at: now, job, cluster, chip, lpn }));
        self.page_is_over(processor, part, now);
        ProcessorAttempt::Changed
    }

    pub(super) fn write_row(&mut self, part: usize, pages: usize, planned: &mut Vec<Planned>) {
        let of = &mut self.parts[part];
        let (processor, kind) = (&mut self.processors[of.processor], of.key.kind);
        let background = of.is_background();
        for soon in pages..2 * pages {
            let Some(&soon) = of.writes.get(soon) else { break };
            processor.store.prefetch_page(soon);
        }
        for _ in 0..pages {
            let Some(&lpn) = of.writes.front() else { break };
            let programmed = match kind {
                Kind::Write => processor.store.write(lpn),
                _ => processor.store.serve(lpn, !background),
            };
            let Some(spot) = programmed else { break };
            of.writes.pop_front();
            planned.push(Planned { part, kind, action: Action::Program, spot, lpn });
        }
        of.owes = kind == Kind::Server && !background && processor.store.ftl.server_pass_is_due();
    }

    fn starve(&mut self, processor: usize, key: Priority, now: Instant) -> ProcessorAttempt {
        let of = &mut self.processors[processor];
        of.queue.remove(&key);
        of.starved.push(key);
        let part = &mut self.parts[key.slot];
        if !part.starved {
            part.starved = true;
            let (cluster, chip) = (of.number, of.first_chip());
            let job = part.id();
            self.core.observer.push(Record::Starved(Starved { at: now, job, cluster, chip }));
        }
        ProcessorAttempt::Changed
    }

    pub(super) fn pass_is_over(&mut self, processor: usize, part: usize, now: Instant) {
        let (of, processor) = (&mut self.parts[part], &mut self.processors[processor]);
        if of.key.kind == Kind::Gc {
            of.owes = false;
        } else {
            of.owes = processor.store.ftl.server_pass_is_over();
        }
        if of.is_over() {
            self.part_is_over(part, now);
        }
    }

    fn go_on_with_pass(&mut self, number: usize, key: Priority, now: Instant) -> ProcessorAttempt {
        let server = key.kind != Kind::Gc;
        let processor = &mut self.processors[number];
        if !processor.store.ftl.is_collecting(server) {
            let (cluster, chip) = (processor.number, processor.first_chip());
            let job = self.parts[key.slot].id();
            let Some(Victim { block, valid }) = processor.store.ftl.begin_pass(server) else {
                let free = processor.store.free();
                self.core.observer.push(Record::LeftOut(LeftOut { at: now, job, cluster, chip, free }));
                self.pass_is_over(number, key.slot, now);
                return ProcessorAttempt::Changed;
            };
            self.core.observer.push(Record::Selected(Selection {
                at: now,
                job,
                cluster,
                chip,
                block: BlockId(block),
                valid,
                forced: false,
            }));
        }
        let step = processor.store.step_of_pass(server, &mut self.row);
        let Some(step) = step else { return ProcessorAttempt::Waits };
        match step {
            GcStep::Starved => return self.starve(number, key, now),
            GcStep::Moved => {
                processor.store.ftl.moved();
                self.pass_is_over(number, key.slot, now);
                return ProcessorAttempt::Changed;
            }
            _ => {}
        }
        self.start_step_of_pass(number, key.slot, server, step, now);
        ProcessorAttempt::Started
    }

    /// Starts a step of a pass, and in a stripe asks memory for what the next one will probably
    /// read.
    pub(super) fn start_step_of_pass(&mut self, number: usize, part: usize, server: bool, step: GcStep, now: Instant) {
        let of = &mut self.processors[number];
        if of.stripe
            && let Some(lpn) = of.store.next_of_pass(server)
        {
            of.store.prefetch_place(lpn);
            self.core.observer.as_observer().expect(of.number, lpn);
        }
        self.start_gc(number, part, step, now);
    }
}
