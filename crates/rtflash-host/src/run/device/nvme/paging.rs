//! The places of a drive's pages, and the commands that wait for them.

use std::cmp::Reverse;

use rtflash_model::Instant;
use rtflash_plan::SourceId;
use rtflash_sim::HostedJob;
use rtflash_trace::JobId;

use super::cache::CacheLookup;
use super::running::{DriveEvent, Fetched, Purpose, RunningNvme};
use crate::Op;
use crate::run::device::flash::pages;

impl RunningNvme<'_> {
    /// The controller is done with a command: its pages are looked for, or take their places.
    pub(super) fn controlled(&mut self, slot: usize, now: Instant) {
        self.controls = false;
        let Some(Fetched { command, sequential, fua, .. }) = self.slots[slot] else { return };
        if command.is_flush() {
            self.flushes.push_back((slot, self.buffer.mark()));
            return;
        }
        if command.op == Op::Discard && self.of.discard.is_some() {
            return self.waits(slot, 0, now);
        }
        let (first, count) = pages(&command, self.page_size);
        let mut left = 0;
        for number in first..first.saturating_add(count) {
            let page = self.page(number);
            left += u64::from(if command.op == Op::Read {
                self.read(slot, page, sequential, now)
            } else {
                self.write(slot, page, fua, now)
            });
        }
        if command.op == Op::Read && sequential {
            let next = first.saturating_add(count);
            for number in next..next.saturating_add(self.of.read_ahead.into()) {
                let page = self.page(number);
                if !self.buffer.holds(page) && self.cache.read(page) {
                    self.flash(page, true, Purpose::Ahead(page), now);
                }
            }
        }
        self.waits(slot, left, now);
    }

    /// The logical page behind an address.
    fn page(&self, number: u64) -> u32 {
        u32::try_from(number % self.logical).expect("logical pages are counted in 32 bits")
    }

    /// A command reads a page. Says whether it has to wait for it.
    fn read(&mut self, slot: usize, page: u32, sequential: bool, now: Instant) -> bool {
        if self.buffer.holds(page) {
            return false;
        }
        match self.cache.find(page, slot) {
            CacheLookup::Ready => return false,
            CacheLookup::Reading => return true,
            CacheLookup::Nothing => {}
        }
        if sequential && self.cache.read(page) {
            self.cache.find(page, slot);
            self.flash(page, true, Purpose::Ahead(page), now);
        } else {
            self.flash(page, true, Purpose::Command(slot), now);
        }
        true
    }

    /// A command writes a page. Says whether it has to wait for it.
    fn write(&mut self, slot: usize, page: u32, fua: bool, now: Instant) -> bool {
        self.cache.written(page);
        if self.of.buffer == 0 || fua {
            self.flash(page, false, Purpose::Command(slot), now);
            return true;
        }
        if self.stalled.is_empty() && self.buffer.take(page) {
            return false;
        }
        self.stalled.push_back((slot, page));
        true
    }

    /// Hands a page over to the flash.
    fn flash(&mut self, page: u32, reads: bool, purpose: Purpose, now: Instant) {
        let (read_pages, write_pages) = if reads { (1, 0) } else { (0, 1) };
        let job = HostedJob { source: SourceId(0), read_pages, write_pages, first_page: Some(page.into()) };
        let id = self.hosted.as_mut().and_then(|hosted| hosted.hand_over(job, now));
        // Numbers follow each other; from the end of the run on there are none.
        self.purposes.extend(id.map(|_| Some(purpose)));
    }

    /// A command waits for `pages` pages more; without any left to wait for, it ends after its
    /// latency.
    fn waits(&mut self, slot: usize, pages: u64, now: Instant) {
        let Some(fetched) = &mut self.slots[slot] else { return };
        fetched.left += pages;
        if fetched.left == 0 {
            let end = now.saturating_add(fetched.cost.latency(fetched.command.size));
            self.events.push(Reverse((end, DriveEvent::Ends(fetched.number, slot))));
        }
    }

    /// A page that a command waited for is there.
    fn has(&mut self, slot: usize, now: Instant) {
        if let Some(fetched) = &mut self.slots[slot] {
            fetched.left = fetched.left.saturating_sub(1);
        }
        self.waits(slot, 0, now);
    }

    fn take_purpose(&mut self, job: JobId) -> Option<Purpose> {
        let place = usize::try_from(job.index.checked_sub(self.first_job)?).ok()?;
        let purpose = self.purposes.get_mut(place)?.take();
        while let Some(None) = self.purposes.front() {
            self.purposes.pop_front();
            self.first_job += 1;
        }
        purpose
    }

    /// The flash is done with a page.
    pub(super) fn flashed(&mut self, job: JobId, now: Instant) {
        match self.take_purpose(job) {
            Some(Purpose::Command(slot)) => self.has(slot, now),
            Some(Purpose::Ahead(page)) => {
                for slot in self.cache.arrived(page) {
                    self.has(slot, now);
                }
            }
            Some(Purpose::Drain(page, number)) => self.buffer.programmed(page, number),
            None => {}
        }
    }

    /// Pages that wait for the buffer go there, and from there to the flash.
    pub(super) fn drain(&mut self, now: Instant) {
        loop {
            while let Some(&(slot, page)) = self.stalled.front()
                && self.buffer.take(page)
            {
                self.stalled.pop_front();
                self.has(slot, now);
            }
            let Some((page, number)) = self.buffer.next() else { break };
            self.flash(page, false, Purpose::Drain(page, number), now);
        }
        while let Some(&(slot, mark)) = self.flushes.front()
            && self.buffer.is_past(mark)
        {
            self.flushes.pop_front();
            self.waits(slot, 0, now);
        }
    }
}
