//! Programs and erases that fail (docs/analysis.md, Section 17).

use crate::ftl::Ftl;
use crate::memory::{has, index, word};
use crate::nand::{NandChips, OperationPurpose, RequestHost};
use crate::police::Refused;
use crate::registers::PageRegisters;
use crate::slots::{FtlProcessor, StepWork};
use crate::step_pages::{OVERWRITTEN, PROGRAMMED, PageInStep};

impl FtlProcessor<'_> {
    /// The step has ended. Retires blocks in which something has failed, and ends a pass whose
    /// erase has failed. True if pages, which still count as failed, are to be programmed once
    /// more.
    pub(crate) fn has_failed(&mut self) -> bool {
        let FtlProcessor { ftl, pages, doing, .. } = self;
        if !core::mem::take(&mut pages.failed) {
            return false;
        }
        match *doing {
            StepWork::Reset(block) => ftl.pages.retire(block),
            StepWork::Erase | StepWork::ServerErase => ftl.erase_failed(*doing == StepWork::ServerErase),
            StepWork::Nothing | StepWork::Pages | StepWork::SuspendedErase => {
                let mut again = false;
                for place in 0..pages.count() {
                    let Some(page) = pages.failed(place) else { continue };
                    ftl.pages.retire(page.block);
                    // A page that another one of the step has overwritten is stale. It is over with
                    // that one.
                    let at = ftl.pages.locate(page.lpn);
                    let is_later = |other: PageInStep| other.lpn == page.lpn && other.is_at(at);
                    if (0..pages.count()).filter_map(|place| pages.failed(place)).any(is_later) {
                        again = true;
                    } else {
                        pages.stands(place, PROGRAMMED);
                    }
                }
                pages.fail_with_others();
                return again;
            }
        }
        false
    }
}

impl Ftl<'_, '_> {
    /// As [`Ftl::ended`], for a program, a copy or an erase that has failed. The block is retired:
    /// it is read until its pages have been moved, and not used otherwise. The processor's next
    /// step programs the page to another block.
    ///
    /// Reads are taken to have ended: a page that cannot be read is the driver's affair.
    pub fn failed(&mut self, chip: u32, host: &mut impl RequestHost) -> bool {
        if let Some(number) = self.number_of_chip(chip).filter(|_| has(self.at_work, chip)) {
            let of = self.processor(number);
            if of.registers.as_ref().is_none_or(PageRegisters::are_empty) {
                let column = of.chips.iter().position(|&own| own == chip).expect("a chip is one of its processor's");
                of.pages.fails(word(column));
            }
        }
        self.ended(chip, host)
    }

    /// Rule B3: programs once more what has failed. True if all of it was trimmed.
    pub(crate) fn program_again(
        &mut self,
        number: u32,
        nand: &mut impl NandChips,
        host: &mut impl RequestHost,
    ) -> bool {
        let of = self.processor(number);
        let count = of.pages.count();
        if !of.pages.get(0).is_some_and(|page| of.ftl.pages.has_room(page.lpn, count)) {
            // More blocks have failed than are kept back.
            host.starved(number);
            return false;
        }
        of.pages.again = false;
        for place in 0..count {
            let of = self.processor(number);
            let page = of.pages.get(place).expect("one of those that failed");
            if !page.is_at(of.ftl.pages.locate(page.lpn)) {
                of.pages.stands(place, OVERWRITTEN);
                continue;
            }
            let Some(to) = of.ftl.pages.program(page.lpn) else { break };
            of.pages.goes_to(place, to);
            let superblock = of.ftl.pages.columns().superblock;
            let (chip, spare) = (self.begin(number, to.chip), self.spare(number, page.lpn, to.block));
            if self.requests.get(index(page.slot)).is_some() {
                nand.program(chip, to.into(), spare, self.purpose(page.slot, page.from));
            } else if superblock {
                nand.program(chip, to.into(), spare, OperationPurpose::Collection);
            } else {
                let from = self.processor(number).ftl.pages.spot(page.from);
                nand.copyback(chip, from.into(), to.into(), spare);
            }
        }
        let is_over = self.processor(number).busy == 0;
        if is_over {
            self.step_is_over(number, host);
        }
        is_over
    }

    /// Logical pages of a source's range hold nothing from now on; streams of jobs are numbered
    /// behind the sources. The page that its processor programmed last keeps its content, and can
    /// be trimmed once another one has been programmed. After a loss of power pages can hold again
    /// what they held at any time before. Fails if a page is not the source's, or is one of zones,
    /// which are overwritten as a whole. Then nothing has changed.
    pub fn trim(&mut self, source: u32, pages: &[u32]) -> Result<(), Refused> {
        let of = self.sources.get(index(source)).ok_or(Refused::NoSource)?;
        let (declared, cluster) = (of.declared, self.clusters[index(of.declared.cluster)]);
        let processor = |page: u32| cluster.first_processor + page % cluster.processors;
        for (place, &page) in (0..).zip(pages) {
            if !declared.has(page) || self.processor(processor(page)).ftl.pages.is_zoned() {
                return Err(Refused::Page(place));
            }
        }
        for &page in pages {
            self.processor(processor(page)).ftl.pages.trim(page);
        }
        Ok(())
    }
}
