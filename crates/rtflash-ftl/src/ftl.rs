//! The state machine: requests and ends of operations in, operations and completions out.

use crate::memory::{NONE, index, takes, word};
use crate::nand::{FlashPage, RequestHost};
use crate::police::Refused;
use crate::slots::{EdfKey, FtlCluster, FtlProcessor, JobKind, RequestSlot, SourceSlot, StepWork};

/// The certified organisations of a device's chips, at work.
///
/// Its driver hands over all that comes about at an instant ([`Ftl::request`], [`Ftl::ended`]), and
/// then has it begin the next steps ([`Ftl::dispatch`]). Instants are in nanoseconds on any clock
/// that does not go back.
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
    /// A bit for each chip.
    pub(crate) at_work: &'m mut [u64],
    /// A bit for each chip: the page in its cache register is on its way.
    pub(crate) moving: &'m mut [u64],
    /// A bit for each chip: its erase is suspended.
    pub(crate) suspended: &'m mut [u64],
    /// How many sources there are: streams of jobs come behind them.
    pub(crate) streams_from: u32,
    /// The number of the page that is programmed next.
    pub(crate) sequence: u64,
}

/// A request that has been taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Taken {
    /// Its number, from 0 for each source.
    pub index: u64,
    /// Its deadline, in nanoseconds: its nominal arrival and the declared relative deadline.
    pub due_ns: u64,
}

pub(crate) fn at<'p, 'm>(processors: &'p mut [Option<FtlProcessor<'m>>], number: u32) -> &'p mut FtlProcessor<'m> {
    processors[index(number)].as_mut().expect("setup has made each processor")
}

impl<'m> Ftl<'_, 'm> {
    pub(crate) fn processor(&mut self, number: u32) -> &mut FtlProcessor<'m> {
        at(self.processors, number)
    }

    pub(crate) fn as_processor(&self, number: u32) -> &FtlProcessor<'m> {
        self.processors[index(number)].as_ref().expect("setup has made each processor")
    }

    pub(crate) fn number_of_chip(&self, chip: u32) -> Option<u32> {
        self.of_chip.get(index(chip)).copied().filter(|&number| number != NONE)
    }

    /// A request of `source`, by position in the image, is released now for these logical pages of
    /// its cluster: rules S1 and R1.
    ///
    /// `nominal_ns`, if it is known, is its nominal arrival, no longer ago than its jitter: its
    /// deadline is counted from there. Takes some steps a page, a waiting request and a chip. Fails
    /// if it would break the guarantee of others. Then nothing has changed.
    pub fn request(
        &mut self,
        source: u32,
        nominal_ns: Option<u64>,
        now_ns: u64,
        pages: &[u32],
    ) -> Result<Taken, Refused> {
        let of = self.sources.get_mut(index(source)).filter(|of| of.kind != JobKind::Server);
        let of = of.ok_or(Refused::NoSource)?;
        let slots = of.first..of.first + of.count;
        let mut free = slots.filter(|&slot| self.requests[index(slot)].left == 0);
        let slot = free.next().ok_or(Refused::Full)?;
        let mut police = of.police;
        let nominal = police.passes(&of.declared, nominal_ns, now_ns, pages)?;
        let due = nominal.checked_add(of.declared.deadline_ns).ok_or(Refused::TooLate)?;
        let key = EdfKey { due, kind: of.kind, source: of.declared.number, index: of.index };
        (of.police, of.index) = (police, of.index + 1);
        let cluster = of.declared.cluster;
        if key.kind == JobKind::Read {
            self.enter(slot, key, cluster, pages, &[]);
        } else {
            self.enter(slot, key, cluster, &[], pages);
            self.collect(cluster, now_ns);
        }
        Ok(Taken { index: key.index, due_ns: due })
    }

    /// Divides a request among its cluster's processors, reads first, and queues it by its
    /// priority.
    pub(crate) fn enter(&mut self, slot: u32, key: EdfKey, cluster: u32, reads: &[u32], writes: &[u32]) {
        let of = &mut self.requests[index(slot)];
        (of.key, of.reads) = (key, word(reads.len()));
        of.left = of.reads.saturating_add(word(writes.len()));
        let (count, heads, first) = (of.left, index(of.heads), index(of.pages));
        let FtlCluster { first_processor, processors, .. } = self.clusters[index(cluster)];
        self.words[heads..heads + index(processors)].fill(NONE);
        // From behind, so that each page is put before those that come later.
        for (place, &lpn) in (0..count).rev().zip(reads.iter().chain(writes).rev()) {
            let column = lpn % processors;
            let head = core::mem::replace(&mut self.words[heads + index(column)], place);
            let at = first + 2 * index(place);
            (self.words[at], self.words[at + 1]) = (lpn, head);
            let processor = self.processor(first_processor + column);
            processor.changed = true;
            if key.kind == JobKind::Write {
                processor.ftl.arrive(1);
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

    /// Rule R1.
    fn collect(&mut self, cluster: u32, now_ns: u64) {
        for processor in self.clusters[index(cluster)].processors() {
            let of = self.processor(processor);
            while let Some((job, deadline)) = of.ftl.collects() {
                of.jobs.release(now_ns.saturating_add(deadline), job);
                of.changed = true;
            }
        }
    }

    /// The operation of a chip has ended. Says whether there was one.
    pub fn ended(&mut self, chip: u32, host: &mut impl RequestHost) -> bool {
        let Some(number) = self.number_of_chip(chip) else { return false };
        if let Some(taken) = self.has_programmed(number, chip, host) {
            return taken;
        }
        if !takes(self.at_work, chip) {
            return false;
        }
        let of = at(self.processors, number);
        of.busy = of.busy.checked_sub(1).expect("a chip at work does a part of its processor's step");
        if of.busy > 0 {
            return true;
        }
        of.changed = true;
        if of.is_to_go_on(self.suspended) {
            return true;
        }
        if of.has_failed() {
            // Pages that have not failed are over.
            self.pages_of_step_are_over(number, host);
            self.processor(number).pages.repeat_failed();
        } else {
            self.step_is_over(number, host);
        }
        true
    }

    pub(crate) fn step_is_over(&mut self, number: u32, host: &mut impl RequestHost) {
        let of = self.processor(number);
        match core::mem::replace(&mut of.doing, StepWork::Nothing) {
            StepWork::Nothing | StepWork::Reset(_) | StepWork::SuspendedErase => {}
            StepWork::Pages => self.pages_of_step_are_over(number, host),
            StepWork::Erase => {
                of.ftl.erased(false);
                of.jobs.over();
                of.starved = [false; 4];
            }
            StepWork::ServerErase => {
                of.ftl.erased(true);
                of.starved = [false; 4];
                self.server_pass_is_over(number, host);
            }
        }
    }

    fn pages_of_step_are_over(&mut self, number: u32, host: &mut impl RequestHost) {
        let mut place = 0;
        loop {
            let of = self.processor(number);
            let (cluster, count) = (of.cluster, of.pages.count());
            let Some((slot, pages)) = of.pages.take_run(&mut place) else { break };
            self.pages_are_over(cluster, slot, pages, host);
            if place == count {
                break;
            }
        }
    }

    pub(crate) fn pages_are_over(&mut self, cluster: u32, slot: u32, pages: u32, host: &mut impl RequestHost) {
        let of = &mut self.requests[index(slot)];
        of.left = of.left.checked_sub(pages).expect("each page of a request ends once");
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

    /// The chip and the page that hold a logical page of a cluster. `None` if it holds nothing, or
    /// there is no such page.
    pub fn locate(&self, cluster: u32, lpn: u32) -> Option<(u32, FlashPage)> {
        let of = self.clusters.get(index(cluster))?;
        let processor = of.first_processor + lpn.checked_rem(of.processors)?;
        let FtlProcessor { ftl, chips, .. } = self.as_processor(processor);
        let page = ftl.pages.places().get(index(ftl.pages.slot(lpn))).copied();
        let at = ftl.pages.spot(page.filter(|&page| page != NONE)?);
        Some((chips[index(at.chip)], at.into()))
    }

    /// a, f and b of a processor: pages of writes that have arrived, free pages, and pages that
    /// have arrived and are not programmed. `None` if there is no such processor.
    pub fn reserve(&self, processor: u32) -> Option<(u64, u32, u64)> {
        let of = &self.processors.get(index(processor))?.as_ref()?.ftl;
        Some((of.arrived(), of.pages.free(), of.pending()))
    }
}
