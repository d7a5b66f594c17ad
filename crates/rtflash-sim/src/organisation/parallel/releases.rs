//! Jobs are released, and what they have to do waits for chips.

use rtflash_model::Instant;
use rtflash_trace::{Observer, Record};

use super::{ChipWork, Entry, Parallel};
use crate::organisation::cluster::PendingJob;
use crate::organisation::releases::ReleasedJob;

impl<O: Observer> Parallel<'_, O> {
    pub(super) fn release_all(&mut self, now: Instant) {
        while let Some(ReleasedJob { release, policed, job }) = self.releaser.next(now, &mut self.clusters) {
            self.core.observer.push(Record::Release(release));
            policed.into_iter().for_each(|policed| self.core.observer.push(Record::Policed(policed)));
            job.into_iter().for_each(|job| self.admit(job, now));
        }
    }

    fn admit(&mut self, job: PendingJob, now: Instant) {
        let slot = self.jobs.insert(job);
        if self.unfinished.len() <= slot {
            self.unfinished.resize(slot + 1, 0);
        }
        self.unfinished[slot] = 0;
        self.enter(slot, now);
    }

    pub(super) fn entry(&self, slot: usize, page: u64, work: ChipWork) -> Entry {
        Entry { job: self.jobs[slot].priority(slot), page, work }
    }

    /// Enters what a job has to do next: a pass, or all its pages; nothing more to do ends it.
    pub(super) fn enter(&mut self, slot: usize, now: Instant) {
        self.touch(self.jobs[slot].cluster);
        let PendingJob { cluster: position, slots, passes, reads, writes, first_page, .. } = self.jobs[slot];
        if passes > 0 {
            let entry = self.entry(slot, 0, ChipWork::Pass);
            for &chip in &self.clusters[position].chips {
                self.chips[chip].queue.insert(entry);
            }
            return;
        }
        if reads + writes == 0 {
            if self.unfinished[slot] == 0 {
                self.complete(slot, now);
            }
            return;
        }
        self.entered += reads + writes;
        if self.entered > self.pending as u64 {
            self.too_many = true;
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
                let (chip, lpn) = (cluster.pointer(), cluster.page(slots.1, first_page, page));
                cluster.advance(chip);
                (chip, ChipWork::Write(lpn))
            };
            let chip = cluster.chips[chip];
            let entry = self.entry(slot, page, work);
            self.chips[chip].queue.insert(entry);
            if let ChipWork::Read(lpn) = work {
                self.reads.enter(position, lpn, entry);
            }
        }
        self.unfinished[slot] = reads + writes;
        (self.jobs[slot].reads, self.jobs[slot].writes) = (0, 0);
    }
}
