//! The next step of each processor.

use crate::ftl::{Ftl, at};
use crate::memory::{NONE, has, index, marks, takes, word};
use crate::nand::{NandChips, OperationPurpose, PassOutcome, RequestHost, SpareBytes};
use crate::pass::{GcStep, RowPage};
use crate::processor::{NextStep, PartLeft};
use crate::registers::PageRegisters;
use crate::slots::{EdfKey, FtlProcessor, JobKind, StepWork};
use crate::step_pages::{PROGRAMMED, PageInStep, READ};

#[derive(Debug, Clone, Copy)]
pub(crate) enum FirstJob {
    Request(u32),
    Collection,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StepTried {
    Begun,
    Again,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct RequestPart {
    pub(crate) number: u32,
    pub(crate) slot: u32,
    /// The word that says which of its pages is next.
    head: usize,
}

impl<'m> Ftl<'_, 'm> {
    /// Rules S2 and D1: idle processors where something has changed begin their next steps.
    ///
    /// A processor takes a step for each request of its cluster that waits, for each block where a
    /// pass begins, and for each row of a block in a pass of a superblock, at most.
    pub fn dispatch(&mut self, nand: &mut impl NandChips, host: &mut impl RequestHost) {
        for number in 0..word(self.processors.len()) {
            let of = self.processor(number);
            if !core::mem::take(&mut of.changed) {
                continue;
            }
            if of.busy > 0 {
                self.suspend_if_urgent(number, nand);
                continue;
            }
            if of.pages.again && !self.program_again(number, nand, host) {
                continue;
            }
            self.registers_go_on(number, nand);
            let of = self.processor(number);
            if of.registers.as_ref().is_none_or(PageRegisters::are_empty) {
                of.pages.clear();
            }
            while let Some(first) = self.first_job(number).filter(|&first| self.may_begin(number, first)) {
                let tried = match first {
                    FirstJob::Request(slot) if self.as_processor(number).owing == slot => {
                        self.go_on_with_pass(number, Some(slot), nand, host)
                    }
                    FirstJob::Request(slot) => self.go_on_with_request(self.part(number, slot), nand, host),
                    FirstJob::Collection => self.go_on_with_pass(number, None, nand, host),
                };
                if tried == StepTried::Begun {
                    break;
                }
            }
        }
    }

    pub(crate) fn part(&self, number: u32, slot: u32) -> RequestPart {
        let column = number - self.clusters[index(self.as_processor(number).cluster)].first_processor;
        let head = index(self.requests[index(slot)].heads) + index(column);
        RequestPart { number, slot, head }
    }

    /// The next page of a request on a processor, by its number in the request; [`NONE`] at its
    /// end.
    pub(crate) fn next_place(&self, part: RequestPart) -> u32 {
        self.words[part.head]
    }

    fn page_at(&self, slot: u32, place: u32) -> usize {
        index(self.requests[index(slot)].pages) + 2 * index(place)
    }

    fn take_page(&mut self, part: RequestPart) {
        let at = self.page_at(part.slot, self.next_place(part));
        self.words[part.head] = self.words[at + 1];
    }

    /// The job with the earliest deadline that has a step left on a processor.
    pub(crate) fn first_job(&self, number: u32) -> Option<FirstJob> {
        let of = self.as_processor(number);
        let cluster = &self.clusters[index(of.cluster)];
        let (mut slot, column) = (cluster.first, number - cluster.first_processor);
        while let Some(request) = self.requests.get(index(slot)) {
            let place = self.words[index(request.heads) + index(column)];
            let (owes, programs) = (of.owing == slot, place != NONE && place >= request.reads);
            let waits = of.starved[request.key.kind as usize] && (owes || programs);
            if (owes || place != NONE) && !waits {
                break;
            }
            slot = request.behind;
        }
        let request = self.requests.get(index(slot)).map(|request| request.key);
        let job = of.jobs.first().filter(|_| !of.starved[JobKind::Collection as usize]);
        // All GC jobs of a processor are of one source.
        let job = job.map(|job| EdfKey { due: job.due, kind: JobKind::Collection, source: 0, index: job.index });
        match (request, job) {
            (Some(request), Some(job)) if job < request => Some(FirstJob::Collection),
            (Some(_), _) => Some(FirstJob::Request(slot)),
            (None, Some(_)) => Some(FirstJob::Collection),
            (None, None) => None,
        }
    }

    pub(crate) fn purpose(&self, slot: u32, place: u32) -> OperationPurpose {
        let EdfKey { source, index: request, .. } = self.requests[index(slot)].key;
        OperationPurpose::Request { source, index: request, place }
    }

    fn go_on_with_request(
        &mut self,
        part: RequestPart,
        nand: &mut impl NandChips,
        host: &mut impl RequestHost,
    ) -> StepTried {
        let (RequestPart { number, slot, .. }, place) = (part, self.next_place(part));
        let (reads, lpn) = (self.requests[index(slot)].reads, self.words[self.page_at(slot, place)]);
        let of = self.as_processor(number);
        let (read, write) = if place < reads { (Some(lpn), None) } else { (None, Some(lpn)) };
        match of.ftl.next_step(PartLeft { owes: false, read, write, row: 0, background: false }) {
            NextStep::Read(lpn) => {
                let (at, cluster) = (of.ftl.pages.locate(lpn), of.cluster);
                self.take_page(part);
                let Some(at) = at else {
                    // It was never written: there is nothing to be read.
                    self.pages_are_over(cluster, slot, 1, host);
                    return StepTried::Again;
                };
                let purpose = self.purpose(slot, place);
                let page = PageInStep { column: at.chip, block: at.block, lpn, slot, from: place };
                if self.processor(number).registers.is_some() {
                    self.senses(number, page, at.into(), purpose, nand);
                    return StepTried::Begun;
                }
                let chip = self.begin(number, at.chip);
                self.processor(number).pages.push(page, READ);
                nand.read(chip, at.into(), lpn, purpose);
                self.fill_in_reads(number, Some(at.chip), nand);
                self.is_doing(number, StepWork::Pages)
            }
            NextStep::Reset(block) => {
                let (chip, purpose) = (self.begin(number, 0), self.purpose(slot, 0));
                let pages = &mut self.processor(number).ftl.pages;
                pages.lose(block);
                pages.reset(block);
                nand.erase(chip, block, purpose);
                self.is_doing(number, StepWork::Reset(block))
            }
            NextStep::Program => self.program_row(part, nand, host),
            NextStep::Pass | NextStep::Waits | NextStep::Nothing => {
                unreachable!("a request that comes first has a page left, and none is in the background")
            }
        }
    }

    /// Programs the next pages of a request, one on each chip. Others' pages fill the rest of the
    /// row.
    fn program_row(&mut self, part: RequestPart, nand: &mut impl NandChips, host: &mut impl RequestHost) -> StepTried {
        let RequestPart { number, slot, .. } = part;
        let kind = self.requests[index(slot)].key.kind;
        let width = self.as_processor(number).ftl.pages.columns().width;
        let pages = self.write_row(part, width, nand);
        if pages == 0 {
            return self.starves(number, kind, host);
        }
        if kind == JobKind::Server {
            self.may_owe(number, slot);
        }
        let of = self.processor(number);
        if let Some(registers) = &mut of.registers {
            registers.commits(slot, pages);
            return StepTried::Begun;
        }
        if pages < width {
            self.fill_in_writes(number, slot, nand);
            self.fill_in_reads(number, None, nand);
        }
        self.is_doing(number, StepWork::Pages)
    }

    /// Programs at most `most` pages of a request, while pages are free, and returns how many.
    pub(crate) fn write_row(&mut self, part: RequestPart, most: u32, nand: &mut impl NandChips) -> u32 {
        let RequestPart { number, slot, .. } = part;
        let kind = self.requests[index(slot)].key.kind;
        let mut pages = 0;
        while pages < most {
            let place = self.next_place(part);
            if place == NONE {
                break;
            }
            let lpn = self.words[self.page_at(slot, place)];
            let of = self.processor(number);
            let programmed = if kind == JobKind::Write { of.ftl.write(lpn) } else { of.ftl.serve(lpn, true) };
            let Some(at) = programmed else { break };
            of.pages.push(PageInStep { column: at.chip, block: at.block, lpn, slot, from: place }, PROGRAMMED);
            let spare = self.spare(number, lpn, at.block);
            self.take_page(part);
            let purpose = self.purpose(slot, place);
            self.begins_to_program(number, at, spare, purpose, nand);
            pages += 1;
        }
        pages
    }

    /// `server`: the slot of the job whose server's pass it is; `None` for the first GC job.
    fn go_on_with_pass(
        &mut self,
        number: u32,
        server: Option<u32>,
        nand: &mut impl NandChips,
        host: &mut impl RequestHost,
    ) -> StepTried {
        let key = server.map(|slot| self.requests[index(slot)].key);
        let of = self.processor(number);
        if !of.ftl.is_collecting(key.is_some()) && !of.begins_pass(number, key, host) {
            if key.is_some() {
                self.server_pass_is_over(number, host);
            }
            return StepTried::Again;
        }
        self.begin_step_of_pass(number, key.is_some(), nand, host)
    }

    fn begin_step_of_pass(
        &mut self,
        number: u32,
        server: bool,
        nand: &mut impl NandChips,
        host: &mut impl RequestHost,
    ) -> StepTried {
        let kind = if server { JobKind::Server } else { JobKind::Collection };
        let Ftl { identity, sequence, at_work, suspended, processors, .. } = self;
        let FtlProcessor { ftl, chips, busy, cluster, pages, jobs, erase_failed, .. } = at(processors, number);
        let mut begin = |column: u32| {
            let chip = chips[index(column)];
            marks(at_work, chip);
            *busy += 1;
            chip
        };
        let mut spare = |lpn: u32, erases: u32| {
            let own = core::mem::replace(sequence, sequence.saturating_add(1));
            SpareBytes { identity: *identity, cluster: *cluster, lpn, sequence: own, erases }
        };
        let step = ftl.step_of_pass(server, |RowPage { is_read, spot, lpn }| {
            let page = PageInStep { column: spot.chip, block: spot.block, lpn, slot: NONE, from: NONE };
            match is_read {
                true => nand.read(begin(spot.chip), spot.into(), lpn, OperationPurpose::Collection),
                false => pages.push(page, PROGRAMMED),
            }
        });
        let doing = match step {
            None => return StepTried::Again,
            Some(GcStep::Starved) => return self.starves(number, kind, host),
            Some(GcStep::Moved) => {
                ftl.moved();
                jobs.over();
                return StepTried::Again;
            }
            Some(GcStep::Copyback(from, to, lpn)) => {
                let page = from.block * ftl.pages.blocks().rows() + from.page;
                pages.push(PageInStep { column: 0, block: to.block, lpn, slot: NONE, from: page }, PROGRAMMED);
                nand.copyback(begin(0), from.into(), to.into(), spare(lpn, ftl.pages.blocks().erases(to.block)));
                StepWork::Pages
            }
            Some(GcStep::Erase(block)) => {
                erase_or_go_on(block, chips, suspended, nand, begin);
                pages.failed = core::mem::take(erase_failed);
                if server { StepWork::ServerErase } else { StepWork::Erase }
            }
            Some(GcStep::Row) => {
                for page in (0..pages.count()).filter_map(|place| pages.get(place)) {
                    let at = ftl.pages.locate(page.lpn).expect("a page that was programmed is there");
                    let spare = spare(page.lpn, ftl.pages.blocks().erases(at.block));
                    nand.program(begin(at.chip), at.into(), spare, OperationPurpose::Collection);
                }
                self.fill_in_reads(number, None, nand);
                StepWork::Pages
            }
            // Reads. Only the executor pads passes, with worst victims.
            Some(_) => StepWork::Pages,
        };
        self.is_doing(number, doing)
    }

    pub(crate) fn begin(&mut self, number: u32, column: u32) -> u32 {
        let of = at(self.processors, number);
        of.busy += 1;
        let chip = of.chips[index(column)];
        marks(self.at_work, chip);
        chip
    }

    fn is_doing(&mut self, number: u32, doing: StepWork) -> StepTried {
        self.processor(number).doing = doing;
        StepTried::Begun
    }

    pub(crate) fn spare(&mut self, number: u32, lpn: u32, block: u32) -> SpareBytes {
        let of = self.as_processor(number);
        let (cluster, erases) = (of.cluster, of.ftl.pages.blocks().erases(block));
        let sequence = self.sequence;
        self.sequence = sequence.saturating_add(1);
        SpareBytes { identity: self.identity, cluster, lpn, sequence, erases }
    }

    fn starves(&mut self, number: u32, what: JobKind, host: &mut impl RequestHost) -> StepTried {
        self.processor(number).starved[what as usize] = true;
        host.starved(number);
        StepTried::Again
    }
}

impl FtlProcessor<'_> {
    /// A pass begins, or moves pages. A void GC job is over.
    fn begins_pass(&mut self, number: u32, server: Option<EdfKey>, host: &mut impl RequestHost) -> bool {
        let begun = self.ftl.begin_pass(server.is_some());
        let outcome = match begun {
            None => PassOutcome::LeftOut(self.ftl.pages.free()),
            Some(of) if server.is_some() || !self.ftl.moves() => PassOutcome::Selected(of),
            Some(of) if self.ftl.pages.blocks().is_retired(of.block) => PassOutcome::Moving(of),
            Some(of) => PassOutcome::Levelling(of),
        };
        let job = self.jobs.first().map(|job| job.index);
        let job = server.map(|key| key.index).or(job).expect("a pass is a job's");
        host.pass(number, server.map(|key| key.source), job, outcome);
        if (begun, server) == (None, None) {
            self.jobs.over();
        }
        begun.is_some()
    }
}

/// Erases a victim on all chips, or resumes that on those where it is suspended.
fn erase_or_go_on(
    block: u32,
    chips: &[u32],
    suspended: &mut [u64],
    nand: &mut impl NandChips,
    mut begin: impl FnMut(u32) -> u32,
) {
    let goes_on = chips.iter().any(|&chip| has(suspended, chip));
    for (column, &chip) in (0..).zip(chips) {
        if !goes_on {
            nand.erase(begin(column), block, OperationPurpose::Collection);
        } else if takes(suspended, chip) {
            nand.resume(begin(column), block);
        }
    }
}
