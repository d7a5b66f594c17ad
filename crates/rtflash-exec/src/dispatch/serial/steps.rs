//! What a cluster does for a job: pages, and steps of garbage collection on all chips.

use rtflash_model::Instant;

use super::Common;
use super::lane::{Ask, Column, Lane, LaneAttempt, LaneStep};
use crate::dispatch::cluster::{ClusterState, PendingJob};
use crate::ftl::{Copy, PagePlace, PageStore};
use crate::ids::{BlockId, ChipId, ColumnId, Lpn};
use crate::options::Victims;
use crate::trace::{self, Action, Kind, NO_LPN, NONE, Observer, Operation, Padding, Record, Starved};

impl Lane {
    /// Goes on with a job.
    pub(super) fn go_on(
        &mut self,
        common: &Common<'_>,
        slot: usize,
        now: Instant,
        observer: &mut impl Observer,
    ) -> LaneAttempt {
        while self.jobs[slot].passes > 0 {
            let cluster = &mut self.cluster;
            let (slots, id) = (self.jobs[slot].slots, self.jobs[slot].id);
            if cluster.collector.is_under_way()
                || (!cluster.leaves_out(slots.0)
                    && cluster.begin_pass((id, false), now, |chosen| observer.record(&Record::Selected(chosen))))
            {
                return LaneAttempt::Started(self.go_on_with_pass(common, slot, now, observer));
            }
            self.jobs[slot].passes -= 1;
            observer.record(&Record::LeftOut(cluster.leaving_out(id, now)));
        }
        if self.jobs[slot].reads > 0 {
            self.read(common, slot, now, observer)
        } else if self.jobs[slot].writes > 0 {
            self.write(common, slot, now, observer)
        } else {
            LaneAttempt::Over
        }
    }

    fn starve(&mut self, slot: usize, chip: ColumnId, now: Instant, observer: &mut impl Observer) {
        let (job, cluster) = (&mut self.jobs[slot], &self.cluster);
        if !job.starved {
            job.starved = true;
            let chip = cluster.chips[chip];
            observer.record(&Record::Starved(Starved { at: now, job: job.id, cluster: cluster.position, chip }));
        }
    }

    fn read(&mut self, common: &Common<'_>, slot: usize, now: Instant, observer: &mut impl Observer) -> LaneAttempt {
        let (job, cluster) = (&mut self.jobs[slot], &mut self.cluster);
        job.reads -= 1;
        let lpn = cluster.draw(job.slots.0);
        let place = cluster.map.locate(lpn);
        if let Some(later) = cluster.ahead(job.slots.0) {
            observer.expect(cluster.position, later);
        }
        self.page(common, slot, (Action::Read, place, lpn), now, observer)
    }

    fn write(&mut self, common: &Common<'_>, slot: usize, now: Instant, observer: &mut impl Observer) -> LaneAttempt {
        let pointer = self.cluster.pointer();
        let Some(chip) = self.cluster.chip_with_room(pointer) else {
            self.starve(slot, pointer, now, observer);
            return self.collect_for_itself(common, slot, now, observer);
        };
        self.write_to(common, slot, chip, now, observer)
    }

    #[inline(always)]
    fn write_to(
        &mut self,
        common: &Common<'_>,
        slot: usize,
        chip: ColumnId,
        now: Instant,
        observer: &mut impl Observer,
    ) -> LaneAttempt {
        let (job, cluster) = (&mut self.jobs[slot], &mut self.cluster);
        let (lpn, place, later) = cluster.write_next(job.slots.1, chip);
        job.writes -= 1;
        if let Some(later) = later {
            observer.expect(cluster.position, later);
        }
        self.page(common, slot, (Action::Program, place, lpn), now, observer)
    }

    /// A starved job goes on with the pass under way, or begins one, if it is not real-time: nobody
    /// else might.
    fn collect_for_itself(
        &mut self,
        common: &Common<'_>,
        slot: usize,
        now: Instant,
        observer: &mut impl Observer,
    ) -> LaneAttempt {
        let cluster = &mut self.cluster;
        let PendingJob { id, kind, .. } = self.jobs[slot];
        let collects = kind == Kind::Server
            && (cluster.collector.is_under_way()
                || cluster.begin_pass((id, true), now, |chosen| observer.record(&Record::Selected(chosen))));
        if !collects {
            return LaneAttempt::Starved;
        }
        self.jobs[slot].passes += 1;
        LaneAttempt::Started(self.go_on_with_pass(common, slot, now, observer))
    }

    /// Begins an operation on one page.
    #[inline(always)]
    fn page(
        &mut self,
        common: &Common<'_>,
        slot: usize,
        (action, place, lpn): (Action, PagePlace, Lpn),
        now: Instant,
        observer: &mut impl Observer,
    ) -> LaneAttempt {
        let job = &mut self.jobs[slot];
        job.starved = false;
        let Column { chip, channel, shared } = self.columns[place.chip];
        let since = match action {
            Action::Program => now,
            _ => now.saturating_add(common.lengths.sensing(job.id, chip, now)),
        };
        self.open = Some(Operation {
            start: now,
            end: now,
            cluster: self.cluster.position,
            chip,
            action,
            job: job.id,
            kind: job.kind,
            block: place.block,
            page: place.page,
            lpn,
        });
        self.serves(slot, LaneStep::Page);
        if shared {
            return LaneAttempt::Asks(Ask { since, channel, chip });
        }
        self.granted(common, channel, since, observer);
        LaneAttempt::Started(self.busy_until)
    }

    /// An operation of a pass that a job goes on with: nothing is said of where it is.
    #[inline(always)]
    fn blank(&mut self, slot: usize, action: Action, (start, end): (Instant, Instant)) -> Operation {
        let job = &mut self.jobs[slot];
        job.starved = false;
        Operation {
            start,
            end,
            cluster: self.cluster.position,
            chip: ChipId(0),
            action,
            job: job.id,
            kind: Kind::Gc,
            block: BlockId(0),
            page: NONE,
            lpn: NO_LPN,
        }
    }

    /// The next step of a pass: GC reads on all chips, then GC programs, in turns, then the erase.
    /// All chips take equally long. Says until when.
    pub(super) fn go_on_with_pass(
        &mut self,
        common: &Common<'_>,
        slot: usize,
        now: Instant,
        observer: &mut impl Observer,
    ) -> Instant {
        let (first, job) = (self.columns[ColumnId(0)].chip, self.jobs[slot].id);
        self.batch.clear();
        if std::mem::take(&mut self.holds_copies) {
            let end = now.saturating_add(common.lengths.program(job, first, now));
            let blank = self.blank(slot, Action::Program, (now, end));
            let ClusterState { chips, map, collector, .. } = &mut self.cluster;
            for (position, &chip) in chips.enumerate() {
                if let Some((PagePlace { block, page, .. }, lpn)) = collector.program(map, position) {
                    self.batch.push(Operation { chip, block, page, lpn, ..blank });
                }
            }
            if !self.batch.is_empty() || common.options.victims == Victims::Worst {
                return self.begin_step((slot, LaneStep::GcProgram), &blank, observer);
            }
        }
        let end = now.saturating_add(common.lengths.read(job, first, now));
        let blank = self.blank(slot, Action::Read, (now, end));
        let ClusterState { chips, map, collector, .. } = &mut self.cluster;
        let mut reads = false;
        for (position, &chip) in chips.enumerate() {
            match collector.read(map, position) {
                None => continue,
                Some(Copy::Padding) => {}
                Some(Copy::Page { page, lpn }) => {
                    let (block, page) = map.block_and_page(page);
                    self.batch.push(Operation { chip, block, page, lpn, ..blank });
                }
            }
            reads = true;
            if let Some(later) = collector.ahead(map, position) {
                observer.expect(blank.cluster, later);
            }
        }
        if reads {
            self.holds_copies = true;
            return self.begin_step((slot, LaneStep::GcRead), &blank, observer);
        }
        let end = now.saturating_add(common.lengths.erase(job, first, now));
        let blank = Operation { action: Action::Erase, end, ..blank };
        let victims = chips.enumerate().filter_map(|(position, &chip)| Some((chip, collector.victim(position)?)));
        self.batch.extend(victims.map(|(chip, block)| Operation { chip, block, ..blank }));
        self.begin_step((slot, LaneStep::Erase), &blank, observer)
    }

    /// Begins a step on the chips of the batch, or, where there is none, one that only lets time
    /// pass. Says when it ends.
    fn begin_step(
        &mut self,
        (slot, step): (usize, LaneStep),
        blank: &Operation,
        observer: &mut impl Observer,
    ) -> Instant {
        let Operation { start, end, cluster, job, .. } = *blank;
        if self.batch.is_empty() {
            let stands_for = if step == LaneStep::GcRead { trace::Step::Read } else { trace::Step::Program };
            let chip = self.cluster.first_in_pass();
            observer.record(&Record::Padding(Padding { start, end, job, cluster, chip, step: stands_for }));
        } else {
            self.batch.iter().for_each(|operation| observer.record(&Record::Operation(*operation)));
        }
        self.serves(slot, step);
        end
    }
}
