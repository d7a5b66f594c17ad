//! Chips that use a second page register: rules X1 to X5 (docs/analysis.md, Sections 13 and 15).

use crate::dispatch::FirstJob;
use crate::ftl::{Ftl, at};
use crate::memory::{index, marks, takes, word};
use crate::nand::{FlashPage, NandChips, OperationPurpose, RequestHost, SpareBytes};
use crate::pages::Spot;
use crate::registers::{ArrayUse, CacheUse, ReadUnderWay, RowUnderWay};
use crate::slots::FtlProcessor;
use crate::step_pages::PageInStep;

impl<'m> Ftl<'_, 'm> {
    fn processor_of(&mut self, chip: u32) -> Option<&mut FtlProcessor<'m>> {
        self.number_of_chip(chip).map(|number| self.processor(number))
    }

    /// A page has been sensed: the array of its chip holds it. False if the chip senses none.
    pub fn sensed(&mut self, chip: u32) -> bool {
        let Some(FtlProcessor { registers: Some(registers), chips, changed, .. }) = self.processor_of(chip) else {
            return false;
        };
        let ArrayUse::Senses(page) = registers.array else { return false };
        let is_there = chips[index(page.column)] == chip;
        if is_there {
            (registers.array, *changed) = (ArrayUse::Holds(page), true);
        }
        is_there
    }

    /// The page that a chip sends is on the bus: no read begins before it has been moved. Only
    /// where commands are counted. False if the chip sends none.
    pub fn granted(&mut self, chip: u32) -> bool {
        let Some(FtlProcessor { registers: Some(registers), chips, .. }) = self.processor_of(chip) else {
            return false;
        };
        let CacheUse::Leaving(page, on_bus @ false) = &mut registers.cache else { return false };
        let is_there = chips[index(page.column)] == chip;
        *on_bus = is_there;
        is_there
    }

    /// The page in the cache register of a chip has been moved: it has been read, or it is there to
    /// be programmed. False if no page moved.
    pub fn moved(&mut self, chip: u32, host: &mut impl RequestHost) -> bool {
        if !takes(self.moving, chip) {
            return false;
        }
        let number = self.number_of_chip(chip).expect("a chip that moves a page has a processor");
        let of = self.processor(number);
        of.changed = true;
        let cluster = of.cluster;
        let registers = of.registers.as_mut().expect("a page moves in registers");
        match &mut registers.cache {
            CacheUse::Leaving(page, _) => {
                let slot = page.slot;
                registers.cache = CacheUse::Empty;
                self.pages_are_over(cluster, slot, 1, host);
            }
            CacheUse::Committed(row) => row.awaited -= 1,
            CacheUse::Empty => unreachable!("a page that moves is in the register"),
        }
        true
    }

    /// Whether a chip that has ended had programmed its cache register; `None` if it does a step of
    /// a pass, or has no second register.
    pub(crate) fn has_programmed(&mut self, number: u32, chip: u32, host: &mut impl RequestHost) -> Option<bool> {
        let of = at(self.processors, number);
        let registers = of.registers.as_mut()?;
        let ArrayUse::Programs(row) = &mut registers.array else {
            return (registers.array != ArrayUse::Idle).then_some(false);
        };
        if !takes(self.at_work, chip) {
            return Some(false);
        }
        row.awaited -= 1;
        let (row, cluster) = (*row, of.cluster);
        if row.awaited == 0 {
            registers.array = ArrayUse::Idle;
            of.changed = true;
            self.pages_are_over(cluster, row.slot, row.pages, host);
        }
        Some(true)
    }

    /// Rule X4 alone: pages in registers go on, and nothing else begins. [`Ftl::dispatch`] does
    /// this as well.
    pub fn carry_on(&mut self, nand: &mut impl NandChips) {
        (0..word(self.processors.len())).for_each(|number| self.registers_go_on(number, nand));
    }

    /// Rule X4: a sensed page takes the cache register, and a page there is programmed, each as
    /// soon as it can.
    pub(crate) fn registers_go_on(&mut self, number: u32, nand: &mut impl NandChips) {
        let FtlProcessor { registers: Some(registers), pages, chips, .. } = at(self.processors, number) else { return };
        match (registers.array, registers.cache) {
            (ArrayUse::Holds(page), CacheUse::Empty) => {
                (registers.array, registers.cache) = (ArrayUse::Idle, CacheUse::Leaving(page, false));
                let chip = chips[index(page.column)];
                marks(self.moving, chip);
                nand.send(chip);
            }
            (ArrayUse::Idle, CacheUse::Committed(row @ RowUnderWay { awaited: 0, .. })) => {
                registers.array = ArrayUse::Programs(RowUnderWay { awaited: row.pages, ..row });
                registers.cache = CacheUse::Empty;
                for page in (0..pages.count()).filter_map(|place| pages.get(place)) {
                    let chip = chips[index(page.column)];
                    marks(self.at_work, chip);
                    nand.program_loaded(chip);
                }
                pages.clear();
            }
            _ => {}
        }
    }

    /// Rules X1 to X3. If the next step of a job is not possible now, nothing else begins.
    pub(crate) fn may_begin(&self, number: u32, first: FirstJob) -> bool {
        let of = self.as_processor(number);
        match (&of.registers, first) {
            (None, _) => true,
            (Some(registers), FirstJob::Request(slot)) if of.owing != slot => {
                let reads = self.next_place(self.part(number, slot)) < self.requests[index(slot)].reads;
                if reads { registers.may_read() } else { registers.may_commit() }
            }
            (Some(registers), _) => registers.are_empty(),
        }
    }

    pub(crate) fn senses(
        &mut self,
        number: u32,
        page: PageInStep,
        at: FlashPage,
        purpose: OperationPurpose,
        nand: &mut impl NandChips,
    ) {
        let of = self.processor(number);
        let registers = of.registers.as_mut().expect("a page is sensed into registers");
        registers.array = ArrayUse::Senses(ReadUnderWay { column: page.column, slot: page.slot });
        let chip = of.chips[index(page.column)];
        nand.sense(chip, at, page.lpn, purpose, registers.goes_with(of.chips, chip));
    }

    pub(crate) fn begins_to_program(
        &mut self,
        number: u32,
        at: Spot,
        spare: SpareBytes,
        purpose: OperationPurpose,
        nand: &mut impl NandChips,
    ) {
        let of = self.as_processor(number);
        if of.registers.is_some() {
            let chip = of.chips[index(at.chip)];
            marks(self.moving, chip);
            nand.load(chip, at.into(), spare, purpose);
        } else {
            let chip = self.begin(number, at.chip);
            nand.program(chip, at.into(), spare, purpose);
        }
    }
}
