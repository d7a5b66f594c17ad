//! What is on the chips at the start, as somebody says.

use super::{AtStart, NewProcessor, PageMemory, PagesAtStart, SetupError, Unlent};
use crate::blocks::BlockMemory;
use crate::memory::{Lent, NONE, index};
use crate::pages::Pages;
use crate::zones::{RING_WORDS, Ring, Zones};

/// Whoever sets it up says so.
pub(super) struct Stated<'a, S>(pub(super) &'a mut S);

impl<S: AtStart> PagesAtStart for Stated<'_, S> {
    fn pages<'m>(
        &mut self,
        of: &NewProcessor<'_>,
        memory: PageMemory<'m>,
        rest: &mut Unlent<'m>,
    ) -> Result<Pages<Lent<'m>>, SetupError> {
        let PageMemory { blocks, places, erases } = memory;
        let programmed = at_start(of, blocks.lpns, self.0)?;
        if of.is_zoned() {
            return zoned_pages(of, (blocks, places), rest, self.0);
        }
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

/// What is on a processor, once it has been looked at: how many pages are programmed.
fn at_start(of: &NewProcessor<'_>, lpns: &mut [u32], start: &mut impl AtStart) -> Result<u32, SetupError> {
    lpns.fill(NONE);
    let programmed = start.pages(of.number, lpns);
    let free = lpns.len().checked_sub(index(programmed)).ok_or(SetupError::Start(of.number))?;
    let is_sound = lpns.iter().filter(|&&lpn| lpn != NONE).all(|&lpn| of.has(lpn))
        && (of.is_zoned()
            || (free as u64 >= of.reserve() + u64::from(of.spare) * u64::from(of.block_pages)
                && lpns[index(programmed)..].iter().all(|&lpn| lpn == NONE)));
    if is_sound { Ok(programmed) } else { Err(SetupError::Start(of.number)) }
}

/// The pages of a chip whose blocks are those of zones.
fn zoned_pages<'m>(
    new: &NewProcessor<'_>,
    (memory, places): (BlockMemory<Lent<'m>>, &'m mut [u32]),
    rest: &mut Unlent<'m>,
    start: &mut impl AtStart,
) -> Result<Pages<Lent<'m>>, SetupError> {
    let &NewProcessor { of, columns, number, block_pages, .. } = new;
    let rings = rest.words(index(of.rings()) * RING_WORDS)?;
    for (ring, words) in (0..).zip(rings.chunks_exact_mut(RING_WORDS)) {
        let of = of.ring(ring).ok_or(SetupError::Memory)?;
        let pages = of.blocks * block_pages;
        let next = start.ring(number, ring);
        if next >= pages {
            return Err(SetupError::Start(number));
        }
        words.copy_from_slice(&Ring { first: of.first_block, pages, next }.words());
    }
    let written = rest.bits(memory.erased.len())?;
    written.fill(0);
    let kept_back = rest.bits(memory.erased.len())?;
    kept_back.fill(0);
    let in_places = rest.words(memory.valid.len())?;
    let owned = u32::try_from(in_places.len()).unwrap_or(NONE).saturating_sub(new.spare);
    for (block, in_place) in (0..).zip(in_places.iter_mut()) {
        *in_place = if block < owned { block } else { NONE };
        let is_written = start.is_written(number, block);
        written[index(block / 64)] |= u64::from(is_written) << (block % 64);
        kept_back[index(block / 64)] |= u64::from(block >= owned && !is_written) << (block % 64);
    }
    places.fill(NONE);
    for (page, &lpn) in (0..).zip(memory.lpns.iter()).filter(|&(_, &lpn)| lpn != NONE) {
        places[index((lpn - columns.offset) / columns.stride)] = page;
    }
    Ok(Pages::of_zones(
        columns,
        block_pages,
        memory,
        places,
        Zones::new((rings, in_places), block_pages, (written, kept_back)),
    ))
}
