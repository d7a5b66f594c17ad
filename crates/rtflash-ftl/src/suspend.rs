//! Erases that are suspended for something more urgent (docs/analysis.md, Section 18).

use crate::dispatch::FirstJob;
use crate::ftl::{Ftl, at};
use crate::memory::{has, marks};
use crate::nand::{NandChips, RequestHost};
use crate::slots::{FtlProcessor, StepWork};

impl FtlProcessor<'_> {
    pub(crate) fn is_suspended(&self, suspended: &[u64]) -> bool {
        self.suspends && self.chips.iter().any(|&chip| has(suspended, chip))
    }

    /// All chips of a processor whose erase was to be suspended are free. False if the erase is
    /// over.
    pub(crate) fn is_to_go_on(&mut self, suspended: &[u64]) -> bool {
        if self.doing != StepWork::SuspendedErase {
            return false;
        }
        let goes_on = self.is_suspended(suspended);
        self.doing = if goes_on { StepWork::Nothing } else { StepWork::Erase };
        if goes_on {
            // A failure counts when the last chip is over.
            self.erase_failed |= core::mem::take(&mut self.pages.failed);
        }
        goes_on
    }
}

impl Ftl<'_, '_> {
    /// The erase that a chip was asked to suspend is suspended: the chip is free for other steps.
    /// False if it was not asked.
    pub fn suspended(&mut self, chip: u32, host: &mut impl RequestHost) -> bool {
        let number = self.number_of_chip(chip).filter(|_| has(self.at_work, chip));
        let is_asked = number.is_some_and(|number| self.processor(number).doing == StepWork::SuspendedErase);
        if is_asked {
            marks(self.suspended, chip);
            self.ended(chip, host);
        }
        is_asked
    }

    /// Rule P1: something more urgent than the pass has come while a processor erases. A write that
    /// found no free page is not: it waits for the erase.
    pub(crate) fn suspend_if_urgent(&mut self, number: u32, nand: &mut impl NandChips) {
        let of = self.as_processor(number);
        if !of.suspends || of.doing != StepWork::Erase {
            return;
        }
        let Some(FirstJob::Request(_)) = self.first_job(number) else { return };
        let of = at(self.processors, number);
        of.doing = StepWork::SuspendedErase;
        for &chip in of.chips.iter().filter(|&&chip| has(self.at_work, chip)) {
            nand.suspend(chip);
        }
    }
}
