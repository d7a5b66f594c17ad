//! Erases that are suspended where something more urgent is there (docs/analysis.md, Section 18).

use crate::dispatch::FirstJob;
use crate::ftl::Ftl;
use crate::memory::{has, index, marks};
use crate::nand::{NandChips, RequestHost};
use crate::slots::{FtlProcessor, StepWork};

impl FtlProcessor<'_> {
    /// Whether the erase of its pass is suspended, on one of its chips at least.
    pub(crate) fn is_suspended(&self, suspended: &[u64]) -> bool {
        self.suspends && self.chips.iter().any(|&chip| has(suspended, chip))
    }
}

impl Ftl<'_, '_> {
    /// The erase that a chip was asked to suspend is suspended: the chip may do something else.
    /// Says whether it was asked.
    pub fn suspended(&mut self, chip: u32, host: &mut impl RequestHost) -> bool {
        let number = self.of_chip.get(index(chip)).copied();
        let of = number.and_then(|number| self.processors.get(index(number))?.as_ref());
        if !of.is_some_and(|of| of.doing == StepWork::SuspendedErase) || !has(self.at_work, chip) {
            return false;
        }
        marks(self.suspended, chip);
        self.ended(chip, host)
    }

    /// Rule P1: while a processor erases, something has come that may be more urgent than the pass.
    /// A write that was found to have no free page is not: it waits for the erase.
    pub(crate) fn suspend_if_urgent(&mut self, number: usize, nand: &mut impl NandChips) {
        let erases = |of: &&FtlProcessor<'_>| of.suspends && of.doing == StepWork::Erase;
        if self.processors[number].as_ref().filter(erases).is_none() {
            return;
        }
        let Some(FirstJob::Request(_)) = self.first_job(number) else { return };
        let Some(of) = &mut self.processors[number] else { return };
        of.doing = StepWork::SuspendedErase;
        for &chip in of.chips.iter().filter(|&&chip| has(self.at_work, chip)) {
            nand.suspend(chip);
        }
    }

    /// All chips of a processor whose erase was to be suspended are free. Says whether some of them
    /// are to go on with it: if not, it is over.
    pub(crate) fn is_to_go_on(&mut self, number: u32) -> bool {
        let Some(Some(of)) = self.processors.get_mut(index(number)) else { return false };
        if of.doing != StepWork::SuspendedErase {
            return false;
        }
        if !of.is_suspended(self.suspended) {
            of.doing = StepWork::Erase;
            return false;
        }
        // Whether it has failed is looked at when its last chip is over.
        of.erase_failed |= core::mem::take(&mut of.pages.failed);
        of.doing = StepWork::Nothing;
        true
    }
}
