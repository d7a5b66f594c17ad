//! What chips do, from start to end.

use rtflash_model::Instant;

use super::{ChipAttempt, ChipWork, Doing, Entry, Parallel};
use crate::flash::BusRequest;
use crate::ftl::Copy;
use crate::ids::{BlockId, ChipId, ColumnId, Lpn};
use crate::options::Victims;
use crate::trace::{Action, Kind, Moved, NO_LPN, NONE, Observer, Operation, Padding, Record, Starved, Step};

impl<O: Observer> Parallel<'_, O> {
    /// What a chip waited for has come about.
    pub(super) fn end(&mut self, chip: ChipId, now: Instant) {
        let of = &mut self.chips[chip];
        self.touched.push(of.cluster);
        let Some((slot, doing)) = &of.doing else { unreachable!("a chip does something until it ends") };
        let slot = *slot;
        match doing {
            Doing::Waiting(..) => unreachable!("a page that waits for its bus does not end"),
            Doing::Paging => self.page_ends(chip, slot, now),
            Doing::Copying => of.doing = None,
            Doing::Erasing => {
                of.doing = None;
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
        let entry = self.entry(slot, 0, ChipWork::Pass);
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

    pub(super) fn go_on(&mut self, chip: ChipId, entry: Entry, now: Instant) -> ChipAttempt {
        let slot = entry.5;
        let (cluster, position) = (&mut self.clusters[self.chips[chip].cluster], self.chips[chip].position);
        match entry.6 {
            ChipWork::Pass => self.go_on_with_pass(chip, slot, now),
            ChipWork::Read(lpn) => {
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
            ChipWork::Write(lpn) => {
                let room = cluster.chip_with_room(position);
                match room {
                    None => self.starve(chip, slot, position, now),
                    Some(other) if other != position => {
                        let number = cluster.chips[other];
                        let (job, of) = (self.jobs[slot].id, cluster.position);
                        self.observer.push(Record::Moved(Moved { at: now, job, cluster: of, chip: number, lpn }));
                        self.chips[chip].queue.remove(&entry);
                        self.chips[number].queue.insert(entry);
                        ChipAttempt::Changed
                    }
                    Some(_) => {
                        let old = cluster.map.chip_of(lpn);
                        let Some(place) = cluster.write(self.jobs[slot].slots.1, lpn, position) else {
                            return ChipAttempt::Waits;
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

    fn starve(&mut self, chip: ChipId, slot: usize, position: ColumnId, now: Instant) -> ChipAttempt {
        let (job, cluster) = (&mut self.jobs[slot], &self.clusters[self.chips[chip].cluster]);
        if !job.starved {
            job.starved = true;
            let chip = cluster.chips[position];
            self.observer.push(Record::Starved(Starved { at: now, job: job.id, cluster: cluster.position, chip }));
        }
        if job.kind != Kind::Server || job.passes > 0 {
            return ChipAttempt::Waits;
        }
        // A job that is not real-time collects for itself: nobody else might.
        let (id, cluster) = (job.id, &mut self.clusters[self.chips[chip].cluster]);
        let notify = |chosen| self.observer.push(Record::Selected(chosen));
        if !cluster.collector.is_under_way() && !cluster.begin_pass((id, true), now, notify) {
            return ChipAttempt::Waits;
        }
        self.jobs[slot].passes = 1;
        self.enter(slot, now);
        ChipAttempt::Changed
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

    fn page(&mut self, chip: ChipId, slot: usize, what: (Action, BlockId, u32, Lpn), now: Instant) -> ChipAttempt {
        let (action, block, page, lpn) = what;
        let operation = Operation { action, block, page, lpn, ..self.operation(chip, slot, now) };
        let ticket = self.observer.open(now);
        let since = match action {
            Action::Read => now.saturating_add(self.lengths.sensing(operation.job, chip, now)),
            _ => now,
        };
        self.chips[chip].doing = Some((slot, Doing::Waiting(operation, ticket)));
        self.channels.request(BusRequest {
            since,
            channel: self.channel_of(chip),
            chip,
            lane: self.chips[chip].cluster,
        });
        ChipAttempt::Started
    }

    fn go_on_with_pass(&mut self, chip: ChipId, slot: usize, now: Instant) -> ChipAttempt {
        let id = self.jobs[slot].id;
        let cluster = &mut self.clusters[self.chips[chip].cluster];
        let position = self.chips[chip].position;
        if !cluster.collector.is_under_way() {
            let notify = |chosen| self.observer.push(Record::Selected(chosen));
            if cluster.leaves_out(self.jobs[slot].slots.0) || !cluster.begin_pass((id, false), now, notify) {
                self.observer.push(Record::LeftOut(cluster.leaving_out(id, now)));
                self.pass_over(slot, now);
            }
            return ChipAttempt::Changed;
        }
        if !cluster.collector.is_on(position) {
            // This chip has done its part.
            return ChipAttempt::Waits;
        }
        let (map, collector) = (&mut cluster.map, &mut cluster.collector);
        let mut step = Step::Read;
        let number = cluster.chips[position];
        let (length, operation) = if collector.holds_copy(position) {
            step = Step::Program;
            let copied = collector.program(map, position);
            if copied.is_none() && self.options.victims == Victims::Actual {
                return ChipAttempt::Changed;
            }
            let copied = copied.map(|(place, lpn)| (Action::Program, place.block, place.page, lpn));
            (self.lengths.program(id, number, now), copied)
        } else {
            match collector.read(map, position) {
                Some(Copy::Padding) => (self.lengths.read(id, number, now), None),
                Some(Copy::Page { page, lpn }) => {
                    let (block, page) = map.block_and_page(page);
                    (self.lengths.read(id, number, now), Some((Action::Read, block, page, lpn)))
                }
                None => {
                    let victim = collector.victim(position);
                    (self.lengths.erase(id, number, now), victim.map(|block| (Action::Erase, block, NONE, NO_LPN)))
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
            self.observer.push(Record::Padding(Padding { start: now, end, job: id, cluster: of, chip: number, step }));
        }
        self.chips[chip].doing = Some((slot, if erases { Doing::Erasing } else { Doing::Copying }));
        self.ends.set(chip.index(), Some(end));
        ChipAttempt::Started
    }
}
