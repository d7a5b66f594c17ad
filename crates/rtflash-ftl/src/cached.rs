//! Chips that use a second page register: rules X1 to X5 (docs/analysis.md, Sections 13 and 15).

use crate::ftl::Ftl;
use crate::memory::{has, index, marks, takes};
use crate::nand::{NandChips, OperationPurpose, RequestHost, SpareBytes};
use crate::pages::Spot;
use crate::registers::{ArrayUse, CacheUse, PageRegisters, ReadUnderWay, RowUnderWay};
use crate::slots::FtlProcessor;

impl<'m> FtlProcessor<'m> {
    /// Whether its chips use a second page register.
    pub(crate) fn is_cached(&self) -> bool {
        self.registers.is_some()
    }

    /// Its registers, where this chip is in such a column as they say.
    fn registers_with(&mut self, chip: u32, of: fn(&PageRegisters) -> Option<u32>) -> Option<&mut PageRegisters> {
        let column = self.registers.as_ref().and_then(of)?;
        if self.chips.get(index(column)) != Some(&chip) {
            return None;
        }
        self.registers.as_mut()
    }
}

impl<'m> Ftl<'_, 'm> {
    /// The processor of a chip, where it uses a second page register.
    fn cached(&mut self, chip: u32) -> Option<&mut FtlProcessor<'m>> {
        let number = *self.of_chip.get(index(chip))?;
        self.processors.get_mut(index(number))?.as_mut().filter(|of| of.is_cached())
    }

    /// A page has been sensed: the array of its chip holds it. Says whether there was one.
    pub fn sensed(&mut self, chip: u32) -> bool {
        let Some(of) = self.cached(chip) else { return false };
        let column = |registers: &PageRegisters| match registers.array {
            ArrayUse::Senses(page) => Some(page.column),
            _ => None,
        };
        let Some(registers) = of.registers_with(chip, column) else { return false };
        if let ArrayUse::Senses(page) = registers.array {
            registers.array = ArrayUse::Holds(page);
        }
        of.changed = true;
        true
    }

    /// The page that a chip sends is on the bus: no read begins before it has been moved. Only
    /// where commands are counted. Says whether there was one.
    pub fn granted(&mut self, chip: u32) -> bool {
        let Some(of) = self.cached(chip) else { return false };
        let column = |registers: &PageRegisters| match registers.cache {
            CacheUse::Leaving(page, false) => Some(page.column),
            _ => None,
        };
        let Some(registers) = of.registers_with(chip, column) else { return false };
        if let CacheUse::Leaving(_, on_bus) = &mut registers.cache {
            *on_bus = true;
        }
        true
    }

    /// The page in the cache register of a chip has been moved: it has been read, or it is there to
    /// be programmed. Says whether there was one.
    pub fn moved(&mut self, chip: u32, host: &mut impl RequestHost) -> bool {
        if !takes(self.moving, chip) {
            return false;
        }
        let Some(of) = self.cached(chip) else { return false };
        of.changed = true;
        let cluster = of.cluster;
        let Some(registers) = &mut of.registers else { return false };
        match &mut registers.cache {
            CacheUse::Leaving(page, _) => {
                let slot = page.slot;
                registers.cache = CacheUse::Empty;
                self.pages_are_over(cluster, slot, 1, host);
            }
            CacheUse::Committed(row) => row.awaited = row.awaited.saturating_sub(1),
            CacheUse::Empty => {}
        }
        true
    }

    /// A chip has ended what it did. Says whether it had programmed what was in its cache register;
    /// `None` where such a chip does a step of a pass, or it is none.
    pub(crate) fn has_programmed(&mut self, chip: u32, host: &mut impl RequestHost) -> Option<bool> {
        let is_at_work = has(self.at_work, chip);
        let of = self.cached(chip)?;
        let registers = of.registers.as_mut()?;
        let ArrayUse::Programs(row) = &mut registers.array else {
            return (registers.array != ArrayUse::Idle).then_some(false);
        };
        if !is_at_work {
            return Some(false);
        }
        row.awaited = row.awaited.saturating_sub(1);
        let (row, cluster) = (*row, of.cluster);
        if row.awaited == 0 {
            registers.array = ArrayUse::Idle;
            of.changed = true;
        }
        takes(self.at_work, chip);
        if row.awaited == 0 {
            self.pages_are_over(cluster, row.slot, row.pages, host);
        }
        Some(true)
    }

    /// What is in page registers goes on, rule X4, and nothing else begins: to come to an end.
    /// [`Ftl::dispatch`] does this as well.
    pub fn carry_on(&mut self, nand: &mut impl NandChips) {
        (0..self.processors.len()).for_each(|number| self.registers_go_on(number, nand));
    }

    /// Rule X4: what has been sensed takes the cache register, and what is there is programmed,
    /// each as soon as it can.
    pub(crate) fn registers_go_on(&mut self, number: usize, nand: &mut impl NandChips) {
        let Ftl { processors, at_work, moving, .. } = self;
        let Some(FtlProcessor { registers: Some(registers), pages, chips, .. }) = &mut processors[number] else {
            return;
        };
        match (registers.array, registers.cache) {
            (ArrayUse::Holds(page), CacheUse::Empty) => {
                (registers.array, registers.cache) = (ArrayUse::Idle, CacheUse::Leaving(page, false));
                let chip = chips[index(page.column)];
                marks(moving, chip);
                nand.send(chip);
            }
            (ArrayUse::Idle, CacheUse::Committed(row @ RowUnderWay { awaited: 0, .. })) => {
                registers.array = ArrayUse::Programs(RowUnderWay { awaited: row.pages, ..row });
                registers.cache = CacheUse::Empty;
                for page in (0..pages.count()).filter_map(|place| pages.get(place)) {
                    let chip = chips[index(page.column)];
                    marks(at_work, chip);
                    nand.program_loaded(chip);
                }
                pages.clear();
            }
            _ => {}
        }
    }

    /// Rules X1 to X3: whether the next step of the request in a slot, or of the GC jobs, is
    /// possible now. Where it is not, nothing else begins.
    pub(crate) fn may_begin(&self, number: usize, slot: Option<u32>) -> bool {
        let Some(of) = &self.processors[number] else { return false };
        let Some(registers) = &of.registers else { return true };
        let Some(slot) = slot.filter(|&slot| of.owing != slot) else { return registers.are_empty() };
        let request = &self.requests[index(slot)];
        let column = number - index(self.clusters[index(of.cluster)].first_processor);
        let place = self.words[index(request.heads) + column];
        if place < request.reads { registers.may_read() } else { registers.may_commit() }
    }

    /// Begins to sense a page of the request in a slot.
    pub(crate) fn senses(
        &mut self,
        number: usize,
        (slot, at, lpn): (u32, Spot, u32),
        purpose: OperationPurpose,
        nand: &mut impl NandChips,
    ) {
        let Some(of) = &mut self.processors[number] else { return };
        let Some(registers) = &mut of.registers else { return };
        registers.array = ArrayUse::Senses(ReadUnderWay { column: at.chip, slot });
        let chip = of.chips[index(at.chip)];
        nand.sense(chip, at.into(), lpn, purpose, registers.goes_with(of.chips, chip));
    }

    /// A page of a request is programmed, or committed where its chip uses a second page register.
    pub(crate) fn begins_to_program(
        &mut self,
        number: usize,
        (at, spare): (Spot, SpareBytes),
        purpose: OperationPurpose,
        nand: &mut impl NandChips,
    ) {
        let Some(of) = self.processors[number].as_ref().filter(|of| of.is_cached()) else {
            let chip = self.begin(number, at.chip);
            return nand.program(chip, at.into(), spare, purpose);
        };
        let chip = of.chips[index(at.chip)];
        marks(self.moving, chip);
        nand.load(chip, at.into(), spare, purpose);
    }

    /// So many pages of the request in a slot have been committed.
    pub(crate) fn commits(&mut self, number: usize, slot: u32, pages: u32) {
        if let Some(FtlProcessor { registers: Some(registers), .. }) = &mut self.processors[number] {
            registers.cache = CacheUse::Committed(RowUnderWay { slot, pages, awaited: pages });
        }
    }
}
