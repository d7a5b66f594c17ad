//! The pages on the chips at the start, as the program that sets them up states.

use super::{AtStart, NewProcessor, PageMemory, PagesAtStart, SetupError, Unlent};
use crate::memory::{Lent, NONE, index};
use crate::pages::Pages;
use crate::zones::{ZoneMemory, Zones};

pub(super) struct Stated<'a, S>(pub(super) &'a mut S);

impl<S: AtStart> PagesAtStart for Stated<'_, S> {
    fn pages<'m>(
        &mut self,
        of: &NewProcessor<'_>,
        memory: PageMemory<'m>,
        rest: &mut Unlent<'m>,
    ) -> Result<Pages<Lent<'m>>, SetupError> {
        let programmed = at_start(of, memory.blocks.lpns, self.0)?;
        if of.of.is_zoned() {
            return zoned_pages(of, memory, rest, self.0);
        }
        let PageMemory { blocks, places, erases } = memory;
        let held = blocks.lpns.iter().filter(|&&lpn| lpn != NONE).count();
        let mut pages = Pages::new(of.columns, of.block_pages, blocks, places, programmed);
        if pages.places().iter().filter(|&&page| page != NONE).count() < held {
            // Two pages hold the same logical one.
            return Err(SetupError::Start(of.number));
        }
        if of.wear_gap > 0 {
            for (block, erases) in (0..).zip(erases.iter_mut()) {
                *erases = self.0.erase_count(of.number, block);
            }
            pages.level(of.wear_gap, erases);
        }
        pages.keep_back(of.spare);
        Ok(pages)
    }
}

fn at_start(of: &NewProcessor<'_>, lpns: &mut [u32], start: &mut impl AtStart) -> Result<u32, SetupError> {
    lpns.fill(NONE);
    let programmed = start.pages(of.number, lpns);
    let free = lpns.len().checked_sub(index(programmed)).ok_or(SetupError::Start(of.number))?;
    let is_sound = lpns.iter().filter(|&&lpn| lpn != NONE).all(|&lpn| of.has(lpn))
        && (of.of.is_zoned()
            || (free as u64 >= of.reserve() + u64::from(of.spare) * u64::from(of.block_pages)
                && lpns[index(programmed)..].iter().all(|&lpn| lpn == NONE)));
    if is_sound { Ok(programmed) } else { Err(SetupError::Start(of.number)) }
}

fn zoned_pages<'m>(
    new: &NewProcessor<'_>,
    memory: PageMemory<'m>,
    rest: &mut Unlent<'m>,
    start: &mut impl AtStart,
) -> Result<Pages<Lent<'m>>, SetupError> {
    let PageMemory { blocks: memory, places, .. } = memory;
    let &NewProcessor { columns, number, block_pages, .. } = new;
    let (rings, bits) = (new.rings(rest, |ring| start.ring(number, ring))?, memory.erased.len());
    let (written, kept_back) = (rest.bits(bits)?, rest.bits(bits)?);
    let zones = ZoneMemory { rings, blocks: rest.words(memory.valid.len())?, written, kept_back };
    let zones = Zones::at_start(zones, block_pages, new.spare, |block| start.is_written(number, block));
    Ok(Pages::of_zones(columns, block_pages, memory, places, zones))
}
