//! Programs and erases that fail (docs/analysis.md, Section 17).

use crate::ftl::Ftl;
use crate::memory::{has, index, word};
use crate::nand::{FlashPage, NandChips, OperationPurpose, RequestHost};
use crate::pages::Spot;
use crate::police::Refused;
use crate::registers::PageRegisters;
use crate::slots::{FtlProcessor, RequestSlot, StepWork};
use crate::step_pages::PageInStep;

impl FtlProcessor<'_> {
    /// The step has ended. Retires blocks in which something has failed, and says whether pages are
    /// to be programmed once more: those that still count as failed. A pass whose erase has failed
    /// is over.
    pub(crate) fn has_failed(&mut self) -> bool {
        let FtlProcessor { ftl, pages, doing, .. } = self;
        if !core::mem::take(&mut pages.failed) {
            return false;
        }
        if let StepWork::Erase | StepWork::ServerErase | StepWork::Reset(_) = *doing {
            match *doing {
                StepWork::Reset(block) => ftl.pages.retire(block),
                doing => ftl.erase_failed(doing == StepWork::ServerErase),
            }
            return false;
        }
        let mut again = false;
        for place in 0..pages.count() {
            let Some(page) = pages.failed(place) else { continue };
            ftl.pages.retire(page.block);
            // What another page of the step has overwritten is stale. It is over with that one.
            let at = ftl.pages.locate(page.lpn);
            let is_later = |other: &PageInStep| other.lpn == page.lpn && other.is_at(at);
            if page.is_at(at) || (0..pages.count()).filter_map(|place| pages.failed(place)).any(|of| is_later(&of)) {
                again = true;
            } else {
                pages.is_stale(place);
            }
        }
        pages.fail_with_others();
        again
    }
}

impl Ftl<'_, '_> {
    /// What a chip was asked to do has ended, as for [`Ftl::ended`], and it was a program, a copy
    /// or an erase, and has failed. The block is retired: it is read until its pages have been
    /// moved, and not used otherwise. What was to be programmed is programmed again, to another
    /// block, by the next step of the processor.
    ///
    /// Reads do not fail: a page that cannot be read is the driver's affair. They are taken to have
    /// ended.
    pub fn failed(&mut self, chip: u32, host: &mut impl RequestHost) -> bool {
        let number = self.of_chip.get(index(chip)).copied();
        if let Some(Some(of)) = number.and_then(|number| self.processors.get_mut(index(number)))
            && has(self.at_work, chip)
            && of.registers.as_ref().is_none_or(PageRegisters::are_empty)
            && let Some(column) = of.chips.iter().position(|&own| own == chip)
        {
            of.pages.fails(word(column));
        }
        self.ended(chip, host)
    }

    /// Rule B3: programs what has failed once more. Says whether there is nothing of that: all of
    /// it was trimmed.
    pub(crate) fn program_again(
        &mut self,
        number: usize,
        nand: &mut impl NandChips,
        host: &mut impl RequestHost,
    ) -> bool {
        let Some(of) = &mut self.processors[number] else { return false };
        let count = of.pages.count();
        if !of.pages.get(0).is_some_and(|page| of.ftl.pages.has_room(page.lpn, count)) {
            // More blocks have failed than are kept back.
            host.starved(word(number));
            return false;
        }
        of.pages.again = false;
        for place in 0..count {
            let Some(of) = &mut self.processors[number] else { break };
            let Some(page) = of.pages.get(place) else { break };
            if !page.is_at(of.ftl.pages.locate(page.lpn)) {
                of.pages.is_overwritten(place);
                continue;
            }
            let Some(to) = of.ftl.pages.program(page.lpn) else { break };
            of.pages.goes_to(place, to.chip, to.block);
            let (superblock, from) = (of.ftl.pages.columns().superblock, source_of_copy(of, page.from));
            let (chip, spare) = (self.begin(number, to.chip), self.spare(number, (page.lpn, to.block)));
            match self.requests.get(index(page.slot)) {
                Some(RequestSlot { key, .. }) => {
                    let purpose = OperationPurpose::Request { source: key.source, index: key.index, place: page.from };
                    nand.program(chip, to.into(), spare, purpose);
                }
                None if superblock => nand.program(chip, to.into(), spare, OperationPurpose::Collection),
                None => nand.copyback(chip, from, to.into(), spare),
            }
        }
        let is_over = self.processors[number].as_ref().is_some_and(|of| of.busy == 0);
        if is_over {
            self.step_is_over(word(number), host);
        }
        is_over
    }

    /// Logical pages of a source's range, or of a stream of jobs, which come behind the sources,
    /// hold nothing any more, from now on, but for the one that its processor programmed last: that
    /// goes on holding what it holds, and may be trimmed once another one has been programmed.
    /// After a loss of power they may hold again what they held at any time before.
    ///
    /// # Errors
    /// Where a page is not the source's, or is one of zones, which are overwritten as a whole. Then
    /// nothing has changed.
    pub fn trim(&mut self, source: u32, pages: &[u32]) -> Result<(), Refused> {
        let of = self.sources.get(index(source)).ok_or(Refused::NoSource)?;
        let cluster = &self.clusters[index(of.cluster)];
        let processor = |page: u32| index(cluster.first_processor + page % cluster.processors);
        for (place, &page) in (0..).zip(pages) {
            let number = page.checked_sub(of.declared.first_page);
            let is_own = number.is_some_and(|number| number < of.declared.page_count);
            let is_zoned = |of: &FtlProcessor<'_>| of.ftl.pages.is_zoned();
            if !is_own || self.processors[processor(page)].as_ref().is_none_or(is_zoned) {
                return Err(Refused::Page(place));
            }
        }
        for &page in pages {
            if let Some(of) = &mut self.processors[processor(page)] {
                of.ftl.pages.trim(page);
            }
        }
        Ok(())
    }
}

/// Where a copy inside a chip is from.
fn source_of_copy(of: &FtlProcessor<'_>, page: u32) -> FlashPage {
    let Spot { block, page, .. } = of.ftl.pages.spot(page);
    FlashPage { block, page }
}
