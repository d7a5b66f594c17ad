//! The work of a cluster for a job: pages, and steps of garbage collection on all chips.

use rtflash_model::{Instant, Lpn};
use rtflash_plan::{ColumnId, Victims};
use rtflash_trace::{Action, Kind, NO_LPN, NONE, Observer, Operation, Padding, Record, Starved, Step};

use super::{GcPage, LaneAttempt, LaneStep, Serial};
use crate::engine::core::ChipStep;
use crate::organisation::cluster::ClusterState;
use crate::organisation::group::ClusterGroup;
use crate::store::{Copy, PagePlace};

impl<O: Observer> ClusterGroup<'_, O, Serial> {
    pub(super) fn go_on(&mut self, slot: usize, now: Instant) -> LaneAttempt {
        while self.jobs[slot].passes > 0 {
            let (slots, id) = (self.jobs[slot].slots, self.jobs[slot].id);
            let cluster = &mut self.clusters[self.jobs[slot].cluster];
            let select = |chosen| self.core.observer.push(Record::Selected(chosen));
            if cluster.collector.is_under_way()
                || (!cluster.leaves_out(slots.0) && cluster.begin_pass(id, false, now, select))
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
        cluster.ahead(job.slots.0, Action::Read, self.core.observer.as_observer());
        self.page(slot, Action::Read, place, lpn, now)
    }

    fn write(&mut self, slot: usize, now: Instant) -> LaneAttempt {
        let job = &mut self.jobs[slot];
        let cluster = &mut self.clusters[job.cluster];
        let pointer = cluster.pointer;
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
        cluster.ahead(job.slots.1, Action::Program, self.core.observer.as_observer());
        self.page(slot, Action::Program, place, lpn, now)
    }

    /// A starved job that is not real-time goes on with the pass under way, or begins one: perhaps
    /// no other job does.
    fn collect_for_itself(&mut self, slot: usize, now: Instant) -> LaneAttempt {
        let job = &mut self.jobs[slot];
        let cluster = &mut self.clusters[job.cluster];
        let select = |chosen| self.core.observer.push(Record::Selected(chosen));
        let collects = job.kind == Kind::Server
            && (cluster.collector.is_under_way() || cluster.begin_pass(job.id, true, now, select));
        if !collects {
            return LaneAttempt::Starved;
        }
        job.passes += 1;
        self.go_on_with_pass(slot, now)
    }

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
        self.by.lanes[lane].asking = Some((operation, ticket));
        self.by.lanes[lane].serving = Some((slot, LaneStep::Page));
        LaneAttempt::Started
    }

    /// The next step of a pass: GC reads on all chips, then GC programs, in turns, then the erase.
    /// All chips take equally long.
    fn go_on_with_pass(&mut self, slot: usize, now: Instant) -> LaneAttempt {
        let mut pages = std::mem::take(&mut self.by.gc_pages);
        pages.clear();
        let number = self.jobs[slot].cluster;
        let step =
            if std::mem::take(&mut self.by.lanes[number].holds_copies) && self.programs_copies(number, &mut pages) {
                LaneStep::GcProgram
            } else if self.reads_copies(number, &mut pages) {
                self.by.lanes[number].holds_copies = true;
                LaneStep::GcRead
            } else {
                let ClusterState { chips, collector, .. } = &self.clusters[number];
                let victims = chips.enumerate().filter_map(|(column, &chip)| Some((chip, collector.victim(column)?)));
                pages.extend(victims.map(|(chip, block)| GcPage { chip, block, page: NONE, lpn: NO_LPN }));
                LaneStep::Erase
            };
        self.begin_step(slot, step, &pages, now);
        self.by.gc_pages = pages;
        LaneAttempt::Started
    }

    /// The copies that chips of a cluster hold are programmed. Says whether there is anything to
    /// do, or to be done as if.
    fn programs_copies(&mut self, number: usize, pages: &mut Vec<GcPage>) -> bool {
        let ClusterState { chips, map, collector, .. } = &mut self.clusters[number];
        for (column, &chip) in chips.enumerate() {
            if let Some((PagePlace { block, page, .. }, lpn)) = collector.program(map, column) {
                pages.push(GcPage { chip, block, page, lpn });
            }
        }
        !pages.is_empty() || self.options.victims == Victims::Worst
    }

    /// The next pages of the victims of a cluster are read. Says whether there are any, or padding.
    fn reads_copies(&mut self, number: usize, pages: &mut Vec<GcPage>) -> bool {
        let ClusterState { position, chips, map, collector, .. } = &mut self.clusters[number];
        let mut reads = false;
        for (column, &chip) in chips.enumerate() {
            let Some(copy) = collector.read(map, column) else { continue };
            if let Copy::Page(PagePlace { block, page, .. }, lpn) = copy {
                pages.push(GcPage { chip, block, page, lpn });
            }
            reads = true;
            let later = collector.ahead(map, column);
            later.into_iter().for_each(|later| self.core.observer.as_observer().expect(*position, later));
        }
        reads
    }

    /// Begins a step on the chips of these pages, or, where there are none, one that only lets time
    /// pass.
    fn begin_step(&mut self, slot: usize, step: LaneStep, pages: &[GcPage], start: Instant) {
        let pending = &mut self.jobs[slot];
        pending.starved = false;
        let (number, job) = (pending.cluster, pending.id);
        let of = &self.clusters[number];
        let (cluster, first) = (of.position, of.chips[ColumnId(0)]);
        let lengths = &self.core.lengths;
        let (action, length) = match step {
            LaneStep::GcRead => (Action::Read, lengths.read(job, first, start)),
            LaneStep::GcProgram => (Action::Program, lengths.program(job, first, start)),
            LaneStep::Page | LaneStep::Erase => (Action::Erase, lengths.erase(job, first, start)),
        };
        let end = start.saturating_add(length);
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
        self.core.ends(first, Some(end));
        self.by.lanes[number].serving = Some((slot, step));
    }
}
