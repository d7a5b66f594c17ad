//! What a cluster does for a job: pages, and steps of garbage collection on all chips.

use rtflash_model::Instant;

use super::{ClusterState, LaneAttempt, LaneStep, Serial};
use crate::dispatch::core::ChipStep;
use crate::ftl::{Copy, PagePlace, PageStore};
use crate::ids::{BlockId, ChipId, ColumnId, Lpn};
use crate::options::Victims;
use crate::trace::{Action, Kind, NO_LPN, NONE, Observer, Operation, Padding, Record, Starved, Step};

impl<O: Observer> Serial<'_, O> {
    /// Goes on with a job.
    pub(super) fn go_on(&mut self, slot: usize, now: Instant) -> LaneAttempt {
        while self.jobs[slot].passes > 0 {
            let (slots, id) = (self.jobs[slot].slots, self.jobs[slot].id);
            let cluster = &mut self.clusters[self.jobs[slot].cluster];
            let select = |chosen| self.core.observer.push(Record::Selected(chosen));
            if cluster.collector.is_under_way()
                || (!cluster.leaves_out(slots.0) && cluster.begin_pass((id, false), now, select))
            {
                return self.go_on_with_pass(slot, now);
            }
            self.jobs[slot].passes -= 1;
            self.core.observer.push(Record::LeftOut(cluster.leaving_out(id, now)));
        }
        if self.jobs[slot].reads > 0 {
            self.read(slot, now)
        } else if self.jobs[slot].writes > 0 {
            self.write(slot, now)
        } else {
            LaneAttempt::Over
        }
    }

    fn read(&mut self, slot: usize, now: Instant) -> LaneAttempt {
        let job = &mut self.jobs[slot];
        let cluster = &mut self.clusters[job.cluster];
        job.reads -= 1;
        let lpn = cluster.draw(job.slots.0);
        let place = cluster.map.locate(lpn);
        let later = cluster.ahead(job.slots.0);
        later.into_iter().for_each(|later| self.core.observer.as_observer().expect(cluster.position, later));
        self.page(slot, Action::Read, place, lpn, now)
    }

    fn write(&mut self, slot: usize, now: Instant) -> LaneAttempt {
        let job = &mut self.jobs[slot];
        let cluster = &mut self.clusters[job.cluster];
        let pointer = cluster.pointer();
        let Some(column) = cluster.chip_with_room(pointer) else {
            if !job.starved {
                job.starved = true;
                let (cluster, chip) = (cluster.position, cluster.chips[pointer]);
                self.core.observer.push(Record::Starved(Starved { at: now, job: job.id, cluster, chip }));
            }
            return self.collect_for_itself(slot, now);
        };
        job.writes -= 1;
        let (lpn, place) = cluster.write_next(job.slots.1, column);
        let later = cluster.ahead(job.slots.1);
        later.into_iter().for_each(|later| self.core.observer.as_observer().expect(cluster.position, later));
        self.page(slot, Action::Program, place, lpn, now)
    }

    /// A starved job that is not real-time goes on with the pass under way, or begins one: perhaps
    /// no other job does.
    fn collect_for_itself(&mut self, slot: usize, now: Instant) -> LaneAttempt {
        let job = &mut self.jobs[slot];
        let cluster = &mut self.clusters[job.cluster];
        let select = |chosen| self.core.observer.push(Record::Selected(chosen));
        let collects = job.kind == Kind::Server
            && (cluster.collector.is_under_way() || cluster.begin_pass((job.id, true), now, select));
        if !collects {
            return LaneAttempt::Starved;
        }
        job.passes += 1;
        self.go_on_with_pass(slot, now)
    }

    /// Begins an operation on one page.
    fn page(&mut self, slot: usize, action: Action, place: PagePlace, lpn: Lpn, now: Instant) -> LaneAttempt {
        let job = &mut self.jobs[slot];
        job.starved = false;
        let cluster = &self.clusters[job.cluster];
        let operation = Operation {
            start: now,
            end: now,
            cluster: cluster.position,
            chip: cluster.chips[place.chip],
            action,
            job: job.id,
            kind: job.kind,
            block: place.block,
            page: place.page,
            lpn,
        };
        let (since, lane) = (self.core.wanted(&operation), job.cluster);
        let ticket = self.core.begin(&operation, ChipStep::Ask { since, lane }).expect("a page asks for its bus");
        self.lanes[lane].asking = Some((operation, ticket));
        self.lanes[lane].serving = Some((slot, LaneStep::Page));
        LaneAttempt::Started
    }

    /// The next step of a pass: GC reads on all chips, then GC programs, in turns, then the erase.
    /// All chips take equally long.
    fn go_on_with_pass(&mut self, slot: usize, now: Instant) -> LaneAttempt {
        let (number, id) = (self.jobs[slot].cluster, self.jobs[slot].id);
        let ClusterState { position, chips, map, collector, .. } = &mut self.clusters[number];
        let first = chips[ColumnId(0)];
        let mut copies = Vec::with_capacity(chips.len());
        if std::mem::take(&mut self.lanes[number].holds_copies) {
            for (column, &chip) in chips.enumerate() {
                if let Some((PagePlace { block, page, .. }, lpn)) = collector.program(map, column) {
                    copies.push(GcPage { chip, block, page, lpn });
                }
            }
            if !copies.is_empty() || self.options.victims == Victims::Worst {
                let end = now.saturating_add(self.core.lengths.program(id, first, now));
                return self.begin_step(slot, LaneStep::GcProgram, &copies, now, end);
            }
        }
        let mut reads = false;
        for (column, &chip) in chips.enumerate() {
            match collector.read(map, column) {
                None => continue,
                Some(Copy::Padding) => {}
                Some(Copy::Page { page, lpn }) => {
                    let (block, page) = map.block_and_page(page);
                    copies.push(GcPage { chip, block, page, lpn });
                }
            }
            reads = true;
            let later = collector.ahead(map, column);
            later.into_iter().for_each(|later| self.core.observer.as_observer().expect(*position, later));
        }
        if reads {
            self.lanes[number].holds_copies = true;
            let end = now.saturating_add(self.core.lengths.read(id, first, now));
            return self.begin_step(slot, LaneStep::GcRead, &copies, now, end);
        }
        let victims = chips.enumerate().filter_map(|(column, &chip)| Some((chip, collector.victim(column)?)));
        copies.extend(victims.map(|(chip, block)| GcPage { chip, block, page: NONE, lpn: NO_LPN }));
        let end = now.saturating_add(self.core.lengths.erase(id, first, now));
        self.begin_step(slot, LaneStep::Erase, &copies, now, end)
    }

    /// Begins a step on the chips of these pages, or, where there are none, one that only lets time
    /// pass.
    fn begin_step(
        &mut self,
        slot: usize,
        step: LaneStep,
        pages: &[GcPage],
        start: Instant,
        end: Instant,
    ) -> LaneAttempt {
        let job = &mut self.jobs[slot];
        job.starved = false;
        let (number, job) = (job.cluster, job.id);
        let of = &self.clusters[number];
        let cluster = of.position;
        let action = match step {
            LaneStep::GcRead => Action::Read,
            LaneStep::GcProgram => Action::Program,
            LaneStep::Page | LaneStep::Erase => Action::Erase,
        };
        for &GcPage { chip, block, page, lpn } in pages {
            let kind = Kind::Gc;
            let operation = Operation { start, end, cluster, chip, action, job, kind, block, page, lpn };
            self.core.observer.push(Record::Operation(operation));
        }
        if pages.is_empty() {
            let chip = of.first_in_pass();
            let step = if step == LaneStep::GcRead { Step::Read } else { Step::Program };
            self.core.observer.push(Record::Padding(Padding { start, end, job, cluster, chip, step }));
        }
        self.core.ends.set(of.chips[ColumnId(0)], Some(end));
        self.lanes[number].serving = Some((slot, step));
        LaneAttempt::Started
    }
}

/// A page that a pass reads or programs, or a block that it erases.
struct GcPage {
    chip: ChipId,
    block: BlockId,
    page: u32,
    lpn: Lpn,
}
