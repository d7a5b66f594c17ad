//! The state machine: requests and ends of operations in, operations and completions out.

use crate::memory::{NONE, index, takes, word};
use crate::nand::{FlashPage, RequestHost};
use crate::police::Refused;
use crate::slots::{EdfKey, FtlCluster, FtlProcessor, JobKind, RequestSlot, SourceSlot, StepWork};

/// The certified organisations of a device's chips, at work.
///
/// Whoever runs it hands over all that comes about at an instant ([`Ftl::request`],
/// [`Ftl::ended`]), and then has it begin what is next ([`Ftl::dispatch`]). Instants are in
/// nanoseconds on any clock that does not go back.
#[derive(Debug)]
pub struct Ftl<'s, 'm> {
    pub(crate) identity: u32,
    pub(crate) sources: &'s mut [SourceSlot],
    pub(crate) requests: &'s mut [RequestSlot],
    pub(crate) clusters: &'s mut [FtlCluster],
    pub(crate) processors: &'s mut [Option<FtlProcessor<'m>>],
    /// Logical pages of requests, and where their parts begin.
    pub(crate) words: &'m mut [u32],
    /// The processor of each chip of the device; [`NONE`] where it has none.
    pub(crate) of_chip: &'m mut [u32],
    /// A bit for each chip, whether it is at work.
    pub(crate) at_work: &'m mut [u64],
    /// Likewise, whether the page in its cache register is on its way.
    pub(crate) moving: &'m mut [u64],
    /// Likewise, whether its erase is suspended.
    pub(crate) suspended: &'m mut [u64],
    /// How many sources there are: those of jobs come behind them.
    pub(crate) streams_from: u32,
    /// Of the page that is programmed next.
    pub(crate) sequence: u64,
}

/// A request that has been taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Taken {
    /// Its number, from 0 for each source.
    pub index: u64,
    /// Its deadline, in nanoseconds: so long after its nominal arrival as declared.
    pub due_ns: u64,
}

impl<'m> Ftl<'_, 'm> {
    /// A request is released now: for these logical pages of its cluster, which `source`, by
    /// position in the image, reads or writes. Rules S1 and R1.
    ///
    /// `nominal_ns` is when it arrived nominally, where that is known: no longer ago than its
    /// jitter. Its deadline is counted from there.
    ///
    /// Takes some steps for each of its pages, each request that waits, and each chip of the
    /// cluster.
    ///
    /// # Errors
    /// Where it would break the promise to others. Then nothing has changed.
    pub fn request(
        &mut self,
        source: u32,
        (nominal_ns, now_ns): (Option<u64>, u64),
        pages: &[u32],
    ) -> Result<Taken, Refused> {
        let of = self.sources.get_mut(index(source)).filter(|of| of.kind != JobKind::Server);
        let of = of.ok_or(Refused::NoSource)?;
        let slots = of.first..of.first + of.count;
        let mut free = slots.filter(|&slot| self.requests[index(slot)].left == 0);
        let slot = free.next().ok_or(Refused::Full)?;
        let mut police = of.police;
        let nominal = police.passes(&of.declared, (nominal_ns, now_ns), pages)?;
        let due = nominal.checked_add(of.declared.deadline_ns).ok_or(Refused::TooLate)?;
        let key = EdfKey { due, kind: of.kind, source: of.number, index: of.index };
        (of.police, of.index) = (police, of.index + 1);
        let cluster = of.cluster;
        let divided = if key.kind == JobKind::Read { (pages, [].as_slice()) } else { ([].as_slice(), pages) };
        self.enter(slot, key, cluster, divided);
        if key.kind == JobKind::Write {
            self.collect(cluster, now_ns);
        }
        Ok(Taken { index: key.index, due_ns: due })
    }

    /// Divides a request among the processors of its cluster, what it reads before what it writes,
    /// and puts it where its priority is.
    pub(crate) fn enter(&mut self, slot: u32, key: EdfKey, cluster: u32, (reads, writes): (&[u32], &[u32])) {
        let of = &mut self.requests[index(slot)];
        let [read, written] = [reads, writes].map(|pages| word(pages.len()));
        let count = read.saturating_add(written);
        (of.key, of.left, of.reads) = (key, count, read);
        let FtlCluster { first_processor, processors, .. } = self.clusters[index(cluster)];
        let (first, heads) = (index(of.pages), index(of.heads));
        self.words[heads..heads + index(processors)].fill(NONE);
        // From behind, so that each page is put before those that come later.
        for (pages, places) in [(writes, read..count), (reads, 0..read)] {
            for (place, &lpn) in places.zip(pages).rev() {
                let column = lpn % processors;
                let head = core::mem::replace(&mut self.words[heads + index(column)], place);
                let at = first + 2 * index(place);
                (self.words[at], self.words[at + 1]) = (lpn, head);
                if let Some(processor) = &mut self.processors[index(first_processor + column)] {
                    processor.changed = true;
                    if key.kind == JobKind::Write {
                        processor.ftl.arrives();
                    }
                }
            }
        }
        let mut before = NONE;
        let mut next = self.clusters[index(cluster)].first;
        while next != NONE && self.requests[index(next)].key < key {
            (before, next) = (next, self.requests[index(next)].behind);
        }
        self.requests[index(slot)].behind = next;
        match self.requests.get_mut(index(before)) {
            Some(before) => before.behind = slot,
            None => self.clusters[index(cluster)].first = slot,
        }
    }

    /// Rule R1: GC jobs that are due by what has arrived.
    fn collect(&mut self, cluster: u32, now_ns: u64) {
        for processor in self.clusters[index(cluster)].processors() {
            let Some(of) = &mut self.processors[index(processor)] else { continue };
            while let Some((job, deadline)) = of.ftl.collects() {
                of.jobs.release(now_ns.saturating_add(deadline), job);
                of.changed = true;
            }
        }
    }

    /// What a chip was asked to do has ended. Says whether there was anything.
    pub fn ended(&mut self, chip: u32, host: &mut impl RequestHost) -> bool {
        let Some(&number) = self.of_chip.get(index(chip)) else { return false };
        if let Some(taken) = self.has_programmed(chip, host) {
            return taken;
        }
        if !takes(self.at_work, chip) {
            return false;
        }
        let Some(Some(of)) = self.processors.get_mut(index(number)) else { return false };
        of.busy = of.busy.saturating_sub(1);
        if of.busy > 0 {
            return true;
        }
        of.changed = true;
        if self.is_to_go_on(number) {
            return true;
        }
        let Some(Some(of)) = self.processors.get_mut(index(number)) else { return false };
        if of.has_failed() {
            // What has not failed is over.
            self.pages_of_step_are_over(number, host);
            if let Some(Some(of)) = self.processors.get_mut(index(number)) {
                of.pages.repeat_failed();
            }
        } else {
            self.step_is_over(number, host);
        }
        true
    }

    /// A processor's step is over, and nothing of it has to be done again.
    pub(crate) fn step_is_over(&mut self, number: u32, host: &mut impl RequestHost) {
        let Some(Some(of)) = self.processors.get_mut(index(number)) else { return };
        match core::mem::replace(&mut of.doing, StepWork::Nothing) {
            StepWork::Nothing | StepWork::Reset(_) | StepWork::SuspendedErase => {}
            StepWork::Pages => self.pages_of_step_are_over(number, host),
            StepWork::Erase => {
                of.ftl.erased(false);
                of.jobs.over();
                of.starved = [false; 3];
            }
            StepWork::ServerErase => {
                of.ftl.erased(true);
                of.starved = [false; 3];
                self.server_pass_is_over(number, host);
            }
        }
    }

    /// Those pages of a step are over that have not failed.
    fn pages_of_step_are_over(&mut self, number: u32, host: &mut impl RequestHost) {
        let mut place = 0;
        while let Some(Some(of)) = self.processors.get_mut(index(number)) {
            let cluster = of.cluster;
            let Some((slot, pages)) = of.pages.take_run(&mut place) else { break };
            let is_last = place == of.pages.count();
            self.pages_are_over(cluster, slot, pages, host);
            if is_last {
                break;
            }
        }
    }

    /// Pages of a request have been read or programmed.
    pub(crate) fn pages_are_over(&mut self, cluster: u32, slot: u32, pages: u32, host: &mut impl RequestHost) {
        let of = &mut self.requests[index(slot)];
        of.left = of.left.saturating_sub(pages);
        if of.left > 0 {
            return;
        }
        let RequestSlot { key, behind, .. } = *of;
        let list = &mut self.clusters[index(cluster)];
        if list.first == slot {
            list.first = behind;
        } else {
            let mut before = list.first;
            while self.requests[index(before)].behind != slot {
                before = self.requests[index(before)].behind;
            }
            self.requests[index(before)].behind = behind;
        }
        host.complete(key.source, key.index, key.due);
    }

    /// Where a logical page of a cluster is: which chip, and which page. `None` where it was never
    /// written, or there is no such page.
    pub fn locate(&self, cluster: u32, lpn: u32) -> Option<(u32, FlashPage)> {
        let of = self.clusters.get(index(cluster))?;
        let processor = of.first_processor + lpn.checked_rem(of.processors)?;
        let of = self.processors.get(index(processor))?.as_ref()?;
        let pages = &of.ftl.pages;
        let at = pages.spot(pages.places().get(index(pages.slot(lpn))).copied().filter(|&page| page != NONE)?);
        Some((*of.chips.get(index(at.chip))?, at.into()))
    }

    /// a, f and b of a processor: pages of writes that have arrived, free pages, and pages that
    /// have arrived and are not programmed. `None` where there is no such processor.
    pub fn reserve(&self, processor: u32) -> Option<(u64, u32, u64)> {
        let of = &self.processors.get(index(processor))?.as_ref()?.ftl;
        Some((of.arrived(), of.pages.free(), of.pending()))
    }
}
