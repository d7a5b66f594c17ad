//! The work of jobs waits for chips, and chips do it, from start to end.

use rtflash_model::{ChipId, Instant, Lpn};
use rtflash_plan::{BlockId, ColumnId, Victims};
use rtflash_trace::{Action, Kind, Moved, NO_LPN, NONE, Observer, Operation, Record, Starved};

use super::{ChipAttempt, ChipWork, Doing, Entry, Parallel};
use crate::engine::core::ChipStep;
use crate::organisation::cluster::PendingJob;
use crate::organisation::group::ClusterGroup;
use crate::store::{Copy, PagePlace};

impl<O: Observer> ClusterGroup<'_, O, Parallel> {
    fn entry(&self, slot: usize, page: u64, work: ChipWork) -> Entry {
        Entry { job: self.jobs[slot].priority(slot), page, work }
    }

    /// Enters what a job has to do next: a pass, or all its pages; nothing more to do ends it.
    pub(super) fn enter(&mut self, slot: usize, now: Instant) {
        self.touch(self.jobs[slot].cluster);
        let PendingJob { cluster: position, slots, passes, reads, writes, first_page, .. } = self.jobs[slot];
        if passes > 0 {
            let entry = self.entry(slot, 0, ChipWork::Pass);
            for &chip in &self.clusters[position].chips {
                self.by.chips[chip].queue.insert(entry);
            }
            return;
        }
        if reads + writes == 0 {
            if self.by.unfinished[slot] == 0 {
                self.complete(slot, now);
            }
            return;
        }
        self.by.entered += reads + writes;
        if self.by.entered > 2 * self.pending as u64 {
            self.by.too_many = true;
            return;
        }
        if first_page.is_none() && writes > 0 {
            self.clusters[position].choose(slots.1, writes);
        }
        for page in 0..reads + writes {
            let cluster = &mut self.clusters[position];
            let (chip, work) = if page < reads {
                let lpn = cluster.page(slots.0, first_page, page);
                (cluster.map.chip_of(lpn), ChipWork::Read(lpn))
            } else {
                let (chip, lpn) = (cluster.pointer, cluster.page(slots.1, first_page, page));
                cluster.advance(chip);
                (chip, ChipWork::Write(lpn))
            };
            let chip = cluster.chips[chip];
            let entry = self.entry(slot, page, work);
            self.by.chips[chip].queue.insert(entry);
            if let ChipWork::Read(lpn) = work {
                self.by.reads.enter(position, lpn, entry);
            }
        }
        self.by.unfinished[slot] = reads + writes;
        (self.jobs[slot].reads, self.jobs[slot].writes) = (0, 0);
    }

    pub(super) fn chip_ends(&mut self, chip: ChipId, now: Instant) {
        let of = &mut self.by.chips[chip];
        let (number, position) = (of.cluster, of.position);
        let (slot, doing) = (of.slot, std::mem::take(&mut of.doing));
        match doing {
            Doing::Nothing => unreachable!("a chip does something until it ends"),
            Doing::Paging => {
                self.touch_chip(number, chip);
                self.page_ends(number, slot, now);
            }
            Doing::Copying => self.touch_chip(number, chip),
            Doing::Erasing => {
                self.touch(number);
                let cluster = &mut self.clusters[number];
                cluster.collector.erased(&mut cluster.map, position);
                for &chip in &cluster.chips {
                    let chip = &mut self.by.chips[chip];
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
        let entry = self.entry(slot, 0, ChipWork::Pass);
        for &chip in &self.clusters[self.jobs[slot].cluster].chips {
            let chip = &mut self.by.chips[chip];
            let _ = chip.queue.remove(&entry) || chip.waiting.remove(&entry);
        }
        self.jobs[slot].passes -= 1;
        self.enter(slot, now);
    }

    fn page_ends(&mut self, cluster: usize, slot: usize, now: Instant) {
        self.by.unfinished[slot] -= 1;
        self.by.entered -= 1;
        let job = &self.jobs[slot];
        if job.is_background() {
            self.clusters[cluster].background -= 1;
        }
        if self.by.unfinished[slot] == 0 && job.passes == 0 {
            self.complete(slot, now);
        }
    }

    #[inline(always)]
    pub(super) fn go_on(&mut self, chip: ChipId, slot: usize, work: ChipWork, now: Instant) -> ChipAttempt {
        match work {
            ChipWork::Pass => self.go_on_with_pass(chip, slot, now),
            ChipWork::Read(lpn) => {
                let of = &mut self.by.chips[chip];
                let cluster = of.cluster;
                if let Some(entry) = of.queue.first() {
                    of.queue.pop_first();
                    self.by.reads.leave(cluster, lpn, &entry);
                }
                let place = self.clusters[cluster].map.locate(lpn);
                self.page(chip, slot, Action::Read, place, lpn, now)
            }
            ChipWork::Write(lpn) => self.write(chip, slot, lpn, now),
        }
    }

    fn write(&mut self, chip: ChipId, slot: usize, lpn: Lpn, now: Instant) -> ChipAttempt {
        let (number, position) = (self.by.chips[chip].cluster, self.by.chips[chip].position);
        let cluster = &mut self.clusters[number];
        let Some(with_room) = cluster.chip_with_room(position) else {
            return self.starve(chip, slot, position, now);
        };
        if with_room != position {
            let other = cluster.chips[with_room];
            let (job, of) = (self.jobs[slot].id, cluster.position);
            self.core.observer.push(Record::Moved(Moved { at: now, job, cluster: of, chip: other, lpn }));
            if let Some(entry) = self.by.chips[chip].queue.first() {
                self.by.chips[chip].queue.pop_first();
                self.by.chips[other].queue.insert(entry);
            }
            return ChipAttempt::Changed;
        }
        let old = (!self.by.reads.is_empty()).then(|| cluster.chips[cluster.map.chip_of(lpn)]);
        let Some(place) = cluster.write(self.jobs[slot].slots.1, lpn, position) else {
            return ChipAttempt::Waits;
        };
        self.by.chips[chip].queue.pop_first();
        if let Some(old) = old {
            for read in self.by.reads.of(number, lpn) {
                if self.by.chips[old].queue.remove(read) {
                    self.by.chips[chip].queue.insert(*read);
                }
            }
        }
        self.page(chip, slot, Action::Program, place, lpn, now)
    }

    fn starve(&mut self, chip: ChipId, slot: usize, position: ColumnId, now: Instant) -> ChipAttempt {
        let (job, cluster) = (&mut self.jobs[slot], &self.clusters[self.by.chips[chip].cluster]);
        if !job.starved {
            job.starved = true;
            let chip = cluster.chips[position];
            self.core.observer.push(Record::Starved(Starved { at: now, job: job.id, cluster: cluster.position, chip }));
        }
        if job.kind != Kind::Server || job.passes > 0 {
            return ChipAttempt::Waits;
        }
        // A job that is not real-time collects for itself: no other job might.
        let (id, cluster) = (job.id, &mut self.clusters[self.by.chips[chip].cluster]);
        let notify = |chosen| self.core.observer.push(Record::Selected(chosen));
        if !cluster.collector.is_under_way() && !cluster.begin_pass(id, true, now, notify) {
            return ChipAttempt::Waits;
        }
        self.jobs[slot].passes = 1;
        self.enter(slot, now);
        ChipAttempt::Changed
    }

    fn page(
        &mut self,
        chip: ChipId,
        slot: usize,
        action: Action,
        place: PagePlace,
        lpn: Lpn,
        now: Instant,
    ) -> ChipAttempt {
        let PagePlace { block, page, .. } = place;
        let (of, job) = (&mut self.by.chips[chip], &mut self.jobs[slot]);
        job.starved = false;
        let (cluster, kind) = (self.clusters[of.cluster].position, job.kind);
        let job = job.id;
        of.operation = Operation { start: now, end: now, cluster, chip, action, job, kind, block, page, lpn };
        (of.doing, of.slot) = (Doing::Paging, slot);
        ChipAttempt::Begins(ChipStep::Ask { since: self.core.wanted(&of.operation), lane: of.cluster })
    }

    #[inline(always)]
    fn go_on_with_pass(&mut self, chip: ChipId, slot: usize, now: Instant) -> ChipAttempt {
        let (of, job) = (&mut self.by.chips[chip], &mut self.jobs[slot]);
        let (position, id) = (of.position, job.id);
        let cluster = &mut self.clusters[of.cluster];
        if !cluster.collector.is_under_way() {
            let notify = |chosen| self.core.observer.push(Record::Selected(chosen));
            if cluster.leaves_out(job.slots.0) || !cluster.begin_pass(id, false, now, notify) {
                self.core.observer.push(Record::LeftOut(cluster.leaving_out(id, now)));
                self.pass_over(slot, now);
            }
            return ChipAttempt::Changed;
        }
        // If there is no copy to ask for, this chip has done its part.
        let Some(holds_copy) = cluster.collector.holds_copy(position) else { return ChipAttempt::Waits };
        let (map, collector) = (&mut cluster.map, &mut cluster.collector);
        let mut stands_for = rtflash_trace::Step::Read;
        let (length, does) = if holds_copy {
            stands_for = rtflash_trace::Step::Program;
            let copied = collector.program(map, position);
            if copied.is_none() && self.options.victims == Victims::Actual {
                return ChipAttempt::Changed;
            }
            let copied = copied.map(|(place, lpn)| (Action::Program, place.block, place.page, lpn));
            (self.core.lengths.program(id, chip, now), copied)
        } else {
            match collector.read(map, position) {
                Some(Copy::Padding) => (self.core.lengths.read(id, chip, now), None),
                Some(Copy::Page(PagePlace { block, page, .. }, lpn)) => {
                    (self.core.lengths.read(id, chip, now), Some((Action::Read, block, page, lpn)))
                }
                None => {
                    let victim = collector.victim(position);
                    (self.core.lengths.erase(id, chip, now), victim.map(|block| (Action::Erase, block, NONE, NO_LPN)))
                }
            }
        };
        let (start, end, cluster) = (now, now.saturating_add(length), cluster.position);
        let erases = matches!(does, Some((Action::Erase, ..)));
        (of.doing, of.slot) = (if erases { Doing::Erasing } else { Doing::Copying }, slot);
        let (step, (action, block, page, lpn)) = match does {
            Some(does) => {
                job.starved = false;
                (ChipStep::Inside, does)
            }
            None => (ChipStep::Padding(stands_for), (Action::Read, BlockId(0), NONE, NO_LPN)),
        };
        let kind = Kind::Gc;
        of.operation = Operation { start, end, cluster, chip, action, job: id, kind, block, page, lpn };
        ChipAttempt::Begins(step)
    }
}
