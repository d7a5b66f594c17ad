//! What each processor does next.

use crate::ftl::Ftl;
use crate::memory::{NONE, has, index, marks, takes};
use crate::nand::{NandChips, OperationPurpose, RequestHost, SpareBytes};
use crate::pages::Spot;
use crate::pass::{GcStep, RowPage};
use crate::processor::{NextStep, PartLeft};
use crate::registers::PageRegisters;
use crate::slots::{EdfKey, FtlProcessor, JobKind, StepWork};
use crate::step_pages::PageInStep;

/// What comes first on a processor.
#[derive(Debug, Clone, Copy)]
pub(crate) enum FirstJob {
    Request(u32),
    Collection,
}

/// A step that has been tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StepTried {
    Begun,
    Again,
}

impl FirstJob {
    /// The slot of the request that it is.
    fn slot(self) -> Option<u32> {
        match self {
            FirstJob::Request(slot) => Some(slot),
            FirstJob::Collection => None,
        }
    }
}

impl<'m> Ftl<'_, 'm> {
    /// Rules S2 and D1: processors that are idle, and where something has changed, begin their next
    /// steps.
    ///
    /// For each of them it looks at each request of its cluster that waits, at each block where a
    /// pass begins, and at each row of a block in a pass of a superblock, at most.
    pub fn dispatch(&mut self, nand: &mut impl NandChips, host: &mut impl RequestHost) {
        for number in 0..self.processors.len() {
            let Some(of) = &mut self.processors[number] else { continue };
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
            let Some(of) = &mut self.processors[number] else { continue };
            if of.registers.as_ref().is_none_or(PageRegisters::are_empty) {
                of.pages.clear();
            }
            while let Some(first) = self.first_job(number).filter(|&first| self.may_begin(number, first.slot())) {
                let tried = match first {
                    FirstJob::Request(slot) if self.owes(number, slot) => {
                        self.go_on_with_pass(number, Some(slot), nand, host)
                    }
                    FirstJob::Request(slot) => self.go_on_with_request(number, slot, nand, host),
                    FirstJob::Collection => self.go_on_with_pass(number, None, nand, host),
                };
                if tried == StepTried::Begun {
                    break;
                }
            }
        }
    }

    /// Whether the pass of a job is due on a processor, or under way.
    fn owes(&self, number: usize, slot: u32) -> bool {
        self.processors[number].as_ref().is_some_and(|of| of.owing == slot)
    }

    /// The job with the earliest deadline that has a step left on a processor.
    pub(crate) fn first_job(&self, number: usize) -> Option<FirstJob> {
        let of = self.processors[number].as_ref()?;
        let [writes, collection, server] = of.starved;
        let cluster = &self.clusters[index(of.cluster)];
        let column = u32::try_from(number).ok()? - cluster.first_processor;
        let mut slot = cluster.first;
        while let Some(request) = self.requests.get(index(slot)) {
            let place = self.words[index(request.heads) + index(column)];
            let (owes, programs) = (of.owing == slot, place != NONE && place >= request.reads);
            let waits = match request.key.kind {
                JobKind::Write => writes,
                JobKind::Server => server && (owes || programs),
                JobKind::Read | JobKind::Collection => false,
            };
            if (owes || place != NONE) && !waits {
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
    ) -> StepTried {
        let Some(of) = &self.processors[number] else { return StepTried::Begun };
        let request = self.requests[index(slot)];
        let cluster = of.cluster;
        let column = u32::try_from(number).unwrap_or(NONE) - self.clusters[index(cluster)].first_processor;
        let place = self.words[index(request.heads) + index(column)];
        let lpn = self.words.get(index(request.pages).saturating_add(2 * index(place))).copied();
        let (read, write) = if place < request.reads { (lpn, None) } else { (None, lpn) };
        let left = PartLeft { owes: false, read, write, row: 0, background: false };
        match of.ftl.next_step(left) {
            NextStep::Read(lpn) => {
                self.take_page(slot, column);
                let Some(at) = of_page(self.processors[number].as_ref(), lpn) else {
                    // It was never written: there is nothing to be read.
                    self.pages_are_over(cluster, slot, 1, host);
                    return StepTried::Again;
                };
                let purpose = OperationPurpose::Request { source: request.key.source, index: request.key.index, place };
                if self.processors[number].as_ref().is_some_and(FtlProcessor::is_cached) {
                    self.senses(number, (slot, at, lpn), purpose, nand);
                    return StepTried::Begun;
                }
                let chip = self.begin(number, at.chip);
                if let Some(of) = &mut self.processors[number] {
                    of.pages.reads(PageInStep { column: at.chip, block: at.block, lpn, slot, from: place });
                }
                nand.read(chip, at.into(), lpn, purpose);
                self.fill_in_reads(number, Some(at.chip), nand);
                self.is_doing(number, StepWork::Pages)
            }
            NextStep::Reset(block) => {
                let chip = self.begin(number, 0);
                if let Some(of) = &mut self.processors[number] {
                    of.ftl.pages.lose(block);
                    of.ftl.pages.reset(block);
                }
                let purpose =
                    OperationPurpose::Request { source: request.key.source, index: request.key.index, place: 0 };
                nand.erase(chip, block, purpose);
                self.is_doing(number, StepWork::Reset(block))
            }
            NextStep::Program => self.program_row(number, (slot, column), nand, host),
            NextStep::Pass | NextStep::Waits | NextStep::Nothing => StepTried::Begun,
        }
    }

    /// Programs the next pages of a request: as many as the processor has chips. Others' pages fill
    /// the rest of the row.
    fn program_row(
        &mut self,
        number: usize,
        (slot, column): (u32, u32),
        nand: &mut impl NandChips,
        host: &mut impl RequestHost,
    ) -> StepTried {
        let kind = self.requests[index(slot)].key.kind;
        let width = self.processors[number].as_ref().map_or(0, |of| of.ftl.pages.width());
        let pages = self.write_row(number, (slot, column), width, nand);
        if pages == 0 {
            return self.starves(number, if kind == JobKind::Write { 0 } else { 2 }, host);
        }
        if kind == JobKind::Server {
            self.may_owe(number, slot);
        }
        if self.processors[number].as_ref().is_some_and(FtlProcessor::is_cached) {
            self.commits(number, slot, pages);
            return StepTried::Begun;
        }
        if pages < width {
            self.fill_in_writes(number, slot, nand);
            self.fill_in_reads(number, None, nand);
        }
        self.is_doing(number, StepWork::Pages)
    }

    /// Programs so many of the next pages of a request, if as many are free. Says how many.
    pub(crate) fn write_row(
        &mut self,
        number: usize,
        (slot, column): (u32, u32),
        most: u32,
        nand: &mut impl NandChips,
    ) -> u32 {
        let EdfKey { source, index: job, kind, .. } = self.requests[index(slot)].key;
        let head = index(self.requests[index(slot)].heads) + index(column);
        let mut pages = 0;
        while pages < most {
            let place = self.words[head];
            if place == NONE {
                break;
            }
            let lpn = self.words[index(self.requests[index(slot)].pages) + 2 * index(place)];
            let Some(of) = &mut self.processors[number] else { break };
            let programmed = if kind == JobKind::Write { of.ftl.write(lpn) } else { of.ftl.serve(lpn, true) };
            let Some(at) = programmed else { break };
            of.pages.programs(PageInStep { column: at.chip, block: at.block, lpn, slot, from: place });
            let spare = self.spare(number, (lpn, at.block));
            self.take_page(slot, column);
            let purpose = OperationPurpose::Request { source, index: job, place };
            self.begins_to_program(number, (at, spare), purpose, nand);
            pages += 1;
        }
        pages
    }

    /// `server`: it is that of the job in this slot, and not of the first GC job.
    fn go_on_with_pass(
        &mut self,
        number: usize,
        server: Option<u32>,
        nand: &mut impl NandChips,
        host: &mut impl RequestHost,
    ) -> StepTried {
        let key = server.map(|slot| self.requests[index(slot)].key);
        let Some(of) = &mut self.processors[number] else { return StepTried::Begun };
        let server = key.is_some();
        let begins = |of: &mut FtlProcessor<'_>, host: &mut _| match key {
            Some(key) => of.begins_server_pass(number, key, host),
            None => of.begins_pass(number, host),
        };
        if !of.ftl.is_collecting(server) && !begins(of, host) {
            if server {
                self.server_pass_is_over(u32::try_from(number).unwrap_or(NONE), host);
            }
            return StepTried::Again;
        }
        self.begin_step_of_pass((number, server), nand, host)
    }

    /// The next step of a pass under way: of a server, or of the GC jobs.
    fn begin_step_of_pass(
        &mut self,
        (number, server): (usize, bool),
        nand: &mut impl NandChips,
        host: &mut impl RequestHost,
    ) -> StepTried {
        let Ftl { identity, sequence, at_work, suspended, processors, .. } = self;
        let Some(of) = &mut processors[number] else { return StepTried::Begun };
        let FtlProcessor { ftl, chips, busy, cluster, pages, jobs, erase_failed, .. } = of;
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
            if is_read {
                nand.read(begin(spot.chip), spot.into(), lpn, OperationPurpose::Collection);
            } else {
                pages.programs(PageInStep { column: spot.chip, block: spot.block, lpn, slot: NONE, from: NONE });
            }
        });
        let doing = match step {
            None => return StepTried::Again,
            Some(GcStep::Starved) => return self.starves(number, if server { 2 } else { 1 }, host),
            Some(GcStep::Moved) => {
                ftl.moved();
                jobs.over();
                return StepTried::Again;
            }
            Some(GcStep::Copyback(from, to, lpn)) => {
                let page = from.block * ftl.pages.rows() + from.page;
                pages.programs(PageInStep { column: 0, block: to.block, lpn, slot: NONE, from: page });
                nand.copyback(begin(0), from.into(), to.into(), spare(lpn, ftl.pages.blocks().erases(to.block)));
                StepWork::Pages
            }
            Some(GcStep::Erase(block)) => {
                erase_or_go_on((block, chips, suspended), nand, begin);
                pages.failed = core::mem::take(erase_failed);
                if server { StepWork::ServerErase } else { StepWork::Erase }
            }
            Some(GcStep::Row) => {
                for page in (0..pages.count()).filter_map(|place| pages.get(place)) {
                    let Some(at) = ftl.pages.locate(page.lpn) else { continue };
                    let spare = spare(page.lpn, ftl.pages.blocks().erases(at.block));
                    nand.program(begin(at.chip), at.into(), spare, OperationPurpose::Collection);
                }
                self.fill_in_reads(number, None, nand);
                StepWork::Pages
            }
            // Reads. What is padded is of the executor's worst victims alone.
            Some(_) => StepWork::Pages,
        };
        self.is_doing(number, doing)
    }

    /// A chip of a processor begins an operation.
    pub(crate) fn begin(&mut self, number: usize, column: u32) -> u32 {
        let Some(of) = &mut self.processors[number] else { return NONE };
        of.busy += 1;
        let chip = of.chips[index(column)];
        marks(self.at_work, chip);
        chip
    }

    fn is_doing(&mut self, number: usize, doing: StepWork) -> StepTried {
        if let Some(of) = &mut self.processors[number] {
            of.doing = doing;
        }
        StepTried::Begun
    }

    /// What a page that is programmed now has beside it.
    pub(crate) fn spare(&mut self, number: usize, (lpn, block): (u32, u32)) -> SpareBytes {
        let of = self.processors[number].as_ref();
        let (cluster, erases) = of.map_or((0, 0), |of| (of.cluster, of.ftl.pages.blocks().erases(block)));
        let sequence = self.sequence;
        self.sequence = sequence.saturating_add(1);
        SpareBytes { identity: self.identity, cluster, lpn, sequence, erases }
    }

    fn starves(&mut self, number: usize, what: usize, host: &mut impl RequestHost) -> StepTried {
        if let Some(of) = &mut self.processors[number] {
            of.starved[what] = true;
        }
        host.starved(u32::try_from(number).unwrap_or(NONE));
        StepTried::Again
    }
}

impl FtlProcessor<'_> {
    /// The first GC job begins its pass, or to move pages; or it is over without.
    fn begins_pass(&mut self, number: usize, host: &mut impl RequestHost) -> bool {
        let processor = u32::try_from(number).unwrap_or(NONE);
        let job = self.jobs.first().map_or(0, |job| job.index);
        let Some((block, valid)) = self.ftl.begin_pass(false) else {
            // Rule R3.
            host.left_out(processor, job, self.ftl.pages.free());
            self.jobs.over();
            return false;
        };
        if self.ftl.pages.is_retired(block) {
            host.moving(processor, job, block, valid);
        } else if self.ftl.moves() {
            host.levelling(processor, job, block, valid);
        } else {
            host.selected(processor, job, block, valid);
        }
        true
    }
}

/// Erases a victim on all chips, or goes on with that where it was suspended.
fn erase_or_go_on(
    (block, chips, suspended): (u32, &[u32], &mut [u64]),
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

/// Where a page is.
fn of_page(of: Option<&FtlProcessor<'_>>, lpn: u32) -> Option<Spot> {
    of?.ftl.pages.locate(lpn)
}
