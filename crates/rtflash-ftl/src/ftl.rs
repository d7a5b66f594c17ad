//! The state machine: requests and ends of operations in, operations and completions out.

use crate::memory::{NONE, index};
use crate::nand::{NandChips, Purpose, RequestHost, SpareBytes};
use crate::pages::Spot;
use crate::pass::{GcStep, RowPage};
use crate::police::Refused;
use crate::processor::{NextStep, PartLeft};
use crate::slots::{Doing, EdfKey, FtlCluster, FtlProcessor, JobKind, RequestSlot, SourceSlot};

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

/// What comes first on a processor.
#[derive(Debug, Clone, Copy)]
enum FirstJob {
    Request(u32),
    Collection,
}

/// A step that has been tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tried {
    Begun,
    Again,
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
        let of = self.sources.get_mut(index(source)).ok_or(Refused::NoSource)?;
        let slots = of.first..of.first + of.count;
        let mut free = slots.filter(|&slot| self.requests[index(slot)].left == 0);
        let slot = free.next().ok_or(Refused::Full)?;
        let mut police = of.police;
        let nominal = police.passes(&of.declared, (nominal_ns, now_ns), pages)?;
        let due = nominal.checked_add(of.declared.deadline_ns).ok_or(Refused::TooLate)?;
        let key = EdfKey { due, kind: of.kind, source: of.number, index: of.index };
        (of.police, of.index) = (police, of.index + 1);
        let cluster = of.cluster;
        self.enter(slot, key, cluster, pages);
        if key.kind == JobKind::Write {
            self.collect(cluster, now_ns);
        }
        Ok(Taken { index: key.index, due_ns: due })
    }

    /// Divides a request among the processors of its cluster, and puts it where its priority is.
    fn enter(&mut self, slot: u32, key: EdfKey, cluster: u32, pages: &[u32]) {
        let of = &mut self.requests[index(slot)];
        let count = u32::try_from(pages.len()).unwrap_or(u32::MAX);
        (of.key, of.left) = (key, count);
        let FtlCluster { first_processor, processors, .. } = self.clusters[index(cluster)];
        let (first, heads) = (index(of.pages), index(of.heads));
        self.words[heads..heads + index(processors)].fill(NONE);
        // From behind, so that each page is put before those that come later.
        for (place, &lpn) in (0..count).zip(pages).rev() {
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
        let bit = 1u64 << (chip % 64);
        let word = &mut self.at_work[index(chip / 64)];
        if *word & bit == 0 {
            return false;
        }
        *word &= !bit;
        let Some(Some(of)) = self.processors.get_mut(index(number)) else { return false };
        of.busy = of.busy.saturating_sub(1);
        if of.busy > 0 {
            return true;
        }
        of.changed = true;
        match core::mem::replace(&mut of.doing, Doing::Nothing) {
            Doing::Nothing | Doing::Inside => {}
            Doing::Pages(slot, pages) => {
                let cluster = of.cluster;
                self.pages_are_over(cluster, slot, pages, host);
            }
            Doing::Erase => {
                of.ftl.erased(false);
                of.jobs.over();
                of.starved = [false; 2];
            }
        }
        true
    }

    /// Pages of a request have been read or programmed.
    fn pages_are_over(&mut self, cluster: u32, slot: u32, pages: u32, host: &mut impl RequestHost) {
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

    /// Rules S2 and D1: processors that are idle, and where something has changed, begin their next
    /// steps.
    ///
    /// For each of them it looks at each request of its cluster that waits, at each block where a
    /// pass begins, and at each row of a block in a pass of a superblock, at most.
    pub fn dispatch(&mut self, nand: &mut impl NandChips, host: &mut impl RequestHost) {
        for number in 0..self.processors.len() {
            let Some(of) = &mut self.processors[number] else { continue };
            if !core::mem::take(&mut of.changed) || of.busy > 0 {
                continue;
            }
            while let Some(first) = self.first_job(number) {
                let tried = match first {
                    FirstJob::Request(slot) => self.go_on_with_request(number, slot, nand, host),
                    FirstJob::Collection => self.go_on_with_pass(number, nand, host),
                };
                if tried == Tried::Begun {
                    break;
                }
            }
        }
    }

    /// The job with the earliest deadline that has a step left on a processor.
    fn first_job(&self, number: usize) -> Option<FirstJob> {
        let of = self.processors[number].as_ref()?;
        let [writes, collection] = of.starved;
        let cluster = &self.clusters[index(of.cluster)];
        let column = u32::try_from(number).ok()? - cluster.first_processor;
        let mut slot = cluster.first;
        while let Some(request) = self.requests.get(index(slot)) {
            let has_more = self.words[index(request.heads) + index(column)] != NONE;
            if has_more && !(writes && request.key.kind == JobKind::Write) {
                break;
            }
            slot = request.behind;
        }
        let request = self.requests.get(index(slot)).map(|request| request.key);
        let job = of.jobs.first().filter(|_| !collection);
        // All GC jobs of a processor are of one source.
        let job = job.map(|job| EdfKey { due: job.due, kind: JobKind::Collection, source: 0, index: job.index });
        match (request, job) {
            (Some(request), Some(job)) if job < request => Some(FirstJob::Collection),
            (Some(_), _) => Some(FirstJob::Request(slot)),
            (None, Some(_)) => Some(FirstJob::Collection),
            (None, None) => None,
        }
    }

    /// The first pages of a request on a processor, and which ones of the request they are.
    fn take_page(&mut self, slot: u32, column: u32) -> Option<(u32, u32)> {
        let of = &self.requests[index(slot)];
        let head = index(of.heads) + index(column);
        let place = self.words[head];
        if place == NONE {
            return None;
        }
        let at = index(of.pages) + 2 * index(place);
        let lpn = self.words[at];
        self.words[head] = self.words[at + 1];
        Some((lpn, place))
    }

    fn go_on_with_request(
        &mut self,
        number: usize,
        slot: u32,
        nand: &mut impl NandChips,
        host: &mut impl RequestHost,
    ) -> Tried {
        let Some(of) = &self.processors[number] else { return Tried::Begun };
        let request = self.requests[index(slot)];
        let cluster = of.cluster;
        let column = u32::try_from(number).unwrap_or(NONE) - self.clusters[index(cluster)].first_processor;
        let place = self.words[index(request.heads) + index(column)];
        let lpn = self.words.get(index(request.pages).saturating_add(2 * index(place))).copied();
        let (read, write) = if request.key.kind == JobKind::Read { (lpn, None) } else { (None, lpn) };
        let left = PartLeft { owes: false, read, write, row: 0, background: false };
        match of.ftl.next_step(left) {
            NextStep::Read(lpn) => {
                self.take_page(slot, column);
                let Some(at) = of_page(self.processors[number].as_ref(), lpn) else {
                    // It was never written: there is nothing to be read.
                    self.pages_are_over(cluster, slot, 1, host);
                    return Tried::Again;
                };
                let chip = self.begin(number, at.chip);
                let purpose = Purpose::Request { source: request.key.source, index: request.key.index, place };
                nand.read(chip, at.into(), lpn, purpose);
                self.is_doing(number, Doing::Pages(slot, 1))
            }
            NextStep::Reset(block) => {
                let chip = self.begin(number, 0);
                if let Some(of) = &mut self.processors[number] {
                    of.ftl.pages.reset(block);
                }
                let purpose = Purpose::Request { source: request.key.source, index: request.key.index, place: 0 };
                nand.erase(chip, block, purpose);
                self.is_doing(number, Doing::Inside)
            }
            NextStep::Program => self.program_row(number, (slot, column), nand, host),
            NextStep::Pass | NextStep::Waits | NextStep::Nothing => Tried::Begun,
        }
    }

    /// Programs the next pages of a request: as many as the processor has chips.
    fn program_row(
        &mut self,
        number: usize,
        (slot, column): (u32, u32),
        nand: &mut impl NandChips,
        host: &mut impl RequestHost,
    ) -> Tried {
        let EdfKey { source, index: job, .. } = self.requests[index(slot)].key;
        let head = index(self.requests[index(slot)].heads) + index(column);
        let width = self.processors[number].as_ref().map_or(0, |of| of.ftl.pages.width());
        let mut pages = 0;
        while pages < width {
            let place = self.words[head];
            if place == NONE {
                break;
            }
            let lpn = self.words[index(self.requests[index(slot)].pages) + 2 * index(place)];
            let Some(of) = &mut self.processors[number] else { break };
            let Some(at) = of.ftl.write(lpn) else { break };
            let spare = self.spare(number, lpn);
            self.take_page(slot, column);
            let chip = self.begin(number, at.chip);
            let purpose = Purpose::Request { source, index: job, place };
            nand.program(chip, at.into(), spare, purpose);
            pages += 1;
        }
        if pages == 0 {
            return self.starves(number, 0, host);
        }
        self.is_doing(number, Doing::Pages(slot, pages))
    }

    fn go_on_with_pass(&mut self, number: usize, nand: &mut impl NandChips, host: &mut impl RequestHost) -> Tried {
        let Ftl { identity, sequence, at_work, processors, .. } = self;
        let Some(of) = &mut processors[number] else { return Tried::Begun };
        if !of.ftl.is_collecting(false) {
            let processor = u32::try_from(number).unwrap_or(NONE);
            let job = of.jobs.first().map_or(0, |job| job.index);
            let Some((block, valid)) = of.ftl.begin_pass(false) else {
                // Rule R3.
                host.left_out(processor, job, of.ftl.pages.free());
                of.jobs.over();
                return Tried::Again;
            };
            host.selected(processor, job, block, valid);
        }
        let FtlProcessor { ftl, chips, busy, cluster, .. } = of;
        let mut begin = |column: u32| {
            let chip = chips[index(column)];
            at_work[index(chip / 64)] |= 1 << (chip % 64);
            *busy += 1;
            chip
        };
        let mut spare = |lpn: u32| {
            *sequence += 1;
            SpareBytes { identity: *identity, cluster: *cluster, lpn, sequence: *sequence - 1 }
        };
        let step = ftl.step_of_pass(false, |RowPage { is_read, spot, lpn }| {
            let chip = begin(spot.chip);
            if is_read {
                nand.read(chip, spot.into(), lpn, Purpose::Collection);
            } else {
                nand.program(chip, spot.into(), spare(lpn), Purpose::Collection);
            }
        });
        let doing = match step {
            None => return Tried::Again,
            Some(GcStep::Starved) => return self.starves(number, 1, host),
            Some(GcStep::Copyback(from, to, lpn)) => {
                nand.copyback(begin(0), from.into(), to.into(), spare(lpn));
                Doing::Inside
            }
            Some(GcStep::Erase(block)) => {
                for column in 0..ftl.pages.width() {
                    nand.erase(begin(column), block, Purpose::Collection);
                }
                Doing::Erase
            }
            // What is padded is of the executor's worst victims alone.
            Some(
                GcStep::Read | GcStep::Row | GcStep::PaddingCopyback | GcStep::PaddingRead(_) | GcStep::PaddingRow,
            ) => Doing::Inside,
        };
        self.is_doing(number, doing)
    }

    /// A chip of a processor begins an operation.
    fn begin(&mut self, number: usize, column: u32) -> u32 {
        let Some(of) = &mut self.processors[number] else { return NONE };
        of.busy += 1;
        let chip = of.chips[index(column)];
        self.at_work[index(chip / 64)] |= 1 << (chip % 64);
        chip
    }

    fn is_doing(&mut self, number: usize, doing: Doing) -> Tried {
        if let Some(of) = &mut self.processors[number] {
            of.doing = doing;
        }
        Tried::Begun
    }

    /// a, f and b of a processor: pages of writes that have arrived, free pages, and pages that have
    /// arrived and are not programmed. `None` where there is no such processor.
    pub fn reserve(&self, processor: u32) -> Option<(u64, u32, u64)> {
        let of = &self.processors.get(index(processor))?.as_ref()?.ftl;
        Some((of.arrived(), of.pages.free(), of.pending()))
    }

    /// What a page that is programmed now has beside it.
    fn spare(&mut self, number: usize, lpn: u32) -> SpareBytes {
        let cluster = self.processors[number].as_ref().map_or(0, |of| of.cluster);
        let sequence = self.sequence;
        self.sequence += 1;
        SpareBytes { identity: self.identity, cluster, lpn, sequence }
    }

    fn starves(&mut self, number: usize, what: usize, host: &mut impl RequestHost) -> Tried {
        if let Some(of) = &mut self.processors[number] {
            of.starved[what] = true;
        }
        host.starved(u32::try_from(number).unwrap_or(NONE));
        Tried::Again
    }
}

/// Where a page is.
fn of_page(of: Option<&FtlProcessor<'_>>, lpn: u32) -> Option<Spot> {
    of?.ftl.pages.locate(lpn)
}
