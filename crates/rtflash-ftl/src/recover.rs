//! The state of the chips after power was lost, found in all their pages.

mod bound;
mod collect;
mod zones;

pub use bound::RecoveryBound;

use crate::blocks::{BlockMemory, Frontier};
use crate::ftl::Ftl;
use crate::image::Image;
use crate::memory::{Lent, NONE, index, marks, word};
use crate::nand::{FlashPage, SpareBytes};
use crate::pages::{Pages, Spot};
use crate::setup::{FtlMemory, NewProcessor, PageMemory, PagesAtStart, SetupError, Unlent};

/// A page of a chip.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChipPage {
    /// The chip, by its number in the device.
    pub chip: u32,
    /// The page there.
    pub at: FlashPage,
}

/// The state of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PageState {
    /// It looks erased.
    Erased,
    /// It was being programmed, or erased, when power was lost.
    Unreadable,
    /// It can be read, and this is beside its data.
    Held(SpareBytes),
}

/// The flash while nothing else is done: each call comes back when its operation has ended.
pub trait RecoveryChips {
    /// Reads what is in a page.
    fn spare(&mut self, chip: u32, at: FlashPage) -> PageState;

    /// Whether a program or an erase of a block has failed, ever: drivers mark such blocks.
    fn is_bad(&mut self, chip: u32, block: u32) -> bool;

    /// The driver's count of a block's erases, where wear is levelled; `None` if it keeps none.
    /// Then the spare bytes of the block's pages have the count. If none can be read, the block is
    /// taken for as worn as any other one.
    fn erase_count(&mut self, chip: u32, block: u32) -> Option<u32> {
        let _ = (chip, block);
        None
    }

    /// Copies a page to an erased one of the same cluster, with these spare bytes. If power is lost
    /// meanwhile, `from` is as it was. False if it was not programmed: then the block is bad.
    fn copy(&mut self, from: ChipPage, to: ChipPage, spare: SpareBytes) -> bool;

    /// Erases a block. Says whether it is erased: if not, it is bad.
    fn erase(&mut self, chip: u32, block: u32) -> bool;
}

impl<'s, 'm> Ftl<'s, 'm> {
    /// The state machine of an image on chips that it has run before, however that ended.
    ///
    /// Each page of a complete write holds what it wrote, or what a later write has programmed.
    /// Other writes under way are there or not, page by page. Rule R5 holds, so requests that
    /// arrive from now on meet their deadlines.
    ///
    /// Reads each page once, twice if there is an older one of it, and the pages of one block of
    /// each processor once more; erases each block at most once, and collects garbage until the
    /// reserve is there: [`RecoveryBound`] has the numbers. If tasks own zones nothing is erased,
    /// and [`Ftl::next_of_round`] states where writers go on. Fails if the memory is too short,
    /// pages are of another image, or there is no room.
    pub fn recovered(
        image: &Image<'_>,
        late: u32,
        memory: FtlMemory<'s, 'm>,
        chips: &mut impl RecoveryChips,
    ) -> Result<Ftl<'s, 'm>, SetupError> {
        let mut scan = ChipScan { chips, identity: image.identity(), sequence: 0 };
        let mut ftl = Ftl::with(image, late, memory, &mut scan)?;
        ftl.sequence = scan.sequence;
        ftl.find_rounds();
        Ok(ftl)
    }
}

const MOST_ERASES: u32 = NONE - 2;

struct ChipScan<'c, C> {
    chips: &'c mut C,
    identity: u32,
    /// Higher than of all pages seen.
    sequence: u64,
}

impl NewProcessor<'_> {
    fn place(&self, page: u32) -> ChipPage {
        let (block, nth) = (page / self.block_pages, page % self.block_pages);
        let width = self.columns.width;
        self.spot(Spot { chip: nth % width, block, page: nth / width })
    }

    fn spot(&self, at: Spot) -> ChipPage {
        ChipPage { chip: self.chips[index(at.chip)], at: at.into() }
    }
}

impl<C: RecoveryChips> ChipScan<'_, C> {
    fn look(&mut self, of: &NewProcessor<'_>, page: u32) -> Result<PageState, SetupError> {
        let ChipPage { chip, at } = of.place(page);
        let state = self.chips.spare(chip, at);
        if let PageState::Held(SpareBytes { identity, cluster, lpn, .. }) = state
            && ((identity, cluster) != (self.identity, of.cluster) || !of.has(lpn))
        {
            return Err(SetupError::Foreign(of.number));
        }
        Ok(state)
    }

    /// Finds the latest page of each logical one, and returns the latest of all. `held` gets the
    /// spare bytes of each page that can be read.
    fn latest(
        &mut self,
        of: &NewProcessor<'_>,
        lpns: &mut [u32],
        places: &mut [u32],
        mut held: impl FnMut(u32, SpareBytes),
    ) -> Result<Option<u32>, SetupError> {
        let mut latest: Option<(u64, u32)> = None;
        for page in 0..word(lpns.len()) {
            let PageState::Held(spare) = self.look(of, page)? else { continue };
            let SpareBytes { lpn, sequence, .. } = spare;
            held(page, spare);
            latest = latest.max(Some((sequence, page)));
            let newest = &mut places[index(of.columns.slot(lpn))];
            if *newest != NONE {
                if matches!(self.look(of, *newest)?, PageState::Held(before) if before.sequence > sequence) {
                    continue;
                }
                lpns[index(*newest)] = NONE;
            }
            (*newest, lpns[index(page)]) = (page, lpn);
        }
        let Some((sequence, page)) = latest else { return Ok(None) };
        self.sequence = self.sequence.max(sequence.saturating_add(1));
        Ok(Some(page))
    }

    /// The driver's count, or that of the spare bytes, or the highest count of all.
    fn count_erases(&mut self, of: &NewProcessor<'_>, erases: &mut [u32]) {
        for (block, erases) in (0..).zip(erases.iter_mut()) {
            let known = of.chips.iter().filter_map(|&chip| self.chips.erase_count(chip, block)).max();
            *erases = known.map_or(*erases, |known| known.min(MOST_ERASES));
        }
        let most = erases.iter().copied().filter(|&erases| erases != NONE).fold(0, u32::max);
        for erases in erases.iter_mut().filter(|erases| **erases == NONE) {
            *erases = most;
        }
    }

    /// The block with the latest page, from behind its last page that is not erased.
    fn frontier(&mut self, of: &NewProcessor<'_>, latest: u32) -> Result<Option<Frontier>, SetupError> {
        let block = latest / of.block_pages;
        if self.is_bad(of, block) {
            return Ok(None);
        }
        let next = self.behind(of, block)?;
        Ok((next < of.block_pages).then_some(Frontier { block, next }))
    }

    /// How many pages of a block come before those at its end that look erased.
    fn behind(&mut self, of: &NewProcessor<'_>, block: u32) -> Result<u32, SetupError> {
        for nth in (0..of.block_pages).rev() {
            if self.look(of, block * of.block_pages + nth)? != PageState::Erased {
                return Ok(nth + 1);
            }
        }
        Ok(0)
    }

    fn is_bad(&mut self, of: &NewProcessor<'_>, block: u32) -> bool {
        of.chips.iter().any(|&chip| self.chips.is_bad(chip, block))
    }

    fn erases(&mut self, of: &NewProcessor<'_>, block: u32) -> bool {
        of.chips.iter().all(|&chip| self.chips.erase(chip, block))
    }

    /// Retires the blocks that have failed, and keeps back as many as can still fail. Returns how
    /// many of these are not erased: power was lost in a recovery that had lent them.
    fn retire(&mut self, of: &NewProcessor<'_>, pages: &mut Pages<Lent<'_>>) -> u32 {
        let blocks = pages.blocks().count();
        let bad = (0..blocks).fold(0, |bad, block| bad + u32::from(self.is_bad(of, block)));
        let spare = of.spare.saturating_sub(bad);
        let kept_back = pages.blocks().erased_blocks().min(spare);
        pages.keep_back(kept_back);
        for block in (0..blocks).filter(|_| bad > 0) {
            if self.is_bad(of, block) {
                // The blocks that are kept back were counted without it.
                pages.blocks.retire(block, false);
            }
        }
        spare - kept_back
    }

    /// Erases all blocks in which nothing is valid, also those that look erased: an erase of them
    /// may have been interrupted.
    fn erase_others(&mut self, of: &NewProcessor<'_>, memory: &mut BlockMemory<Lent<'_>>, erases: &mut [u32]) {
        memory.erased.fill(0);
        for (block, held) in (0..).zip(memory.lpns.chunks(index(of.block_pages))) {
            if held.iter().all(|&lpn| lpn == NONE) && !self.is_bad(of, block) && self.erases(of, block) {
                marks(memory.erased, block);
                if let Some(erases) = erases.get_mut(index(block)) {
                    *erases += 1;
                }
            }
        }
    }
}

impl<C: RecoveryChips> PagesAtStart for ChipScan<'_, C> {
    fn pages<'m>(
        &mut self,
        of: &NewProcessor<'_>,
        memory: PageMemory<'m>,
        rest: &mut Unlent<'m>,
    ) -> Result<Pages<Lent<'m>>, SetupError> {
        memory.blocks.lpns.fill(NONE);
        memory.places.fill(NONE);
        if of.of.is_zoned() {
            return self.zones(of, memory, rest);
        }
        let PageMemory { mut blocks, places, erases } = memory;
        erases.fill(NONE);
        let latest = self.latest(of, blocks.lpns, places, |page, spare| {
            if let Some(erases) = erases.get_mut(index(page / of.block_pages)) {
                *erases = spare.erases.min(MOST_ERASES);
            }
        })?;
        self.count_erases(of, erases);
        let open = latest.map(|latest| self.frontier(of, latest)).transpose()?.flatten();
        self.erase_others(of, &mut blocks, erases);
        let mut pages = Pages::restored(of.columns, of.block_pages, blocks, places, open, latest);
        if of.wear_gap > 0 {
            pages.level(of.wear_gap, erases);
        }
        let lent = self.retire(of, &mut pages);
        self.collect(of, &mut pages, lent)?;
        Ok(pages)
    }
}
