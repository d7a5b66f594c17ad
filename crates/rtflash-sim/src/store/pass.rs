//! Garbage collection: passes over all chips of a cluster.

use rtflash_ftl::Frontiers;
use rtflash_model::{Lpn, PerId};
use rtflash_plan::{BlockId, ColumnId, PageId, Victims};
use serde::{Deserialize, Serialize};

use super::map::PageMap;
use crate::store::page_store::{PagePlace, PageStore};

/// A copy that a pass makes on one chip, between its GC read and its GC program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Copy {
    /// This page, numbered through the chip, with the logical page it held when it was read.
    Page {
        /// The page.
        page: PageId,
        /// The logical page.
        lpn: Lpn,
    },
    /// No page: with worst victims the time passes all the same.
    Padding,
}

/// What a chip has to do for the pass under way.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct ChipPass {
    victim: BlockId,
    /// The first page of the victim that the pass has not reached.
    cursor: u32,
    reads: u32,
    finished: u32,
    copy: Option<Copy>,
    /// The page that this pass programmed last on this chip, and what it holds.
    last: Option<(PageId, Lpn)>,
}

impl ChipPass {
    /// The copy that is next is read.
    #[inline(always)]
    fn reads(&mut self, map: &PageMap, chip: ColumnId, copy: Copy) {
        if let Copy::Page { page, .. } = copy {
            let (block, place) = map.chips[chip].block_and_page(page);
            if block == self.victim {
                self.cursor = place + 1;
            }
        }
        self.reads += 1;
    }
}

/// The garbage collector of a cluster. One pass is under way at a time: whichever job is served
/// goes on with it.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Collector {
    /// For each chip by position; all `None` between passes.
    pass: PerId<ColumnId, Option<ChipPass>>,
    /// Chips that have not erased their victims yet.
    busy: u32,
    /// Copies that a pass makes on every chip at least: ⌈λP⌉ with worst victims, else 0.
    padded_to: u32,
    pages: u32,
    reserve: u64,
}

impl Collector {
    /// A collector for `chips` chips with blocks of `pages` pages that has nothing to do while more
    /// than `reserve` pages are free.
    pub(crate) fn new(chips: u32, pages: u32, reserve: u64, victims: Victims, bound: u32) -> Collector {
        let padded_to = match victims {
            Victims::Actual => 0,
            Victims::Worst => bound,
        };
        Collector { pass: PerId::filled(None, chips), busy: 0, padded_to, pages, reserve }
    }

    /// Whether a pass has nothing to do: the free pages are above the reserve even without the
    /// pages that the passes left out do not free.
    pub(crate) fn is_void(&self, map: &PageMap, left_out: u64) -> bool {
        map.free() > self.reserve.saturating_add(left_out)
    }

    /// Whether a pass is under way.
    pub(crate) fn is_under_way(&self) -> bool {
        self.busy > 0
    }

    /// Whether a chip (by position) takes part in the pass under way and has not erased its victim
    /// yet.
    pub(crate) fn is_on(&self, chip: ColumnId) -> bool {
        self.pass[chip].is_some()
    }

    /// Whether a write may take a page on a chip.
    #[inline(always)]
    pub(crate) fn has_room(&self, map: &PageMap, chip: ColumnId) -> bool {
        map.chips[chip].is_open(Frontiers::Write) || self.may_open(map, chip)
    }

    /// Whether a write may take another block on a chip.
    #[inline(never)]
    fn may_open(&self, map: &PageMap, chip: ColumnId) -> bool {
        let blocks = &map.chips[chip];
        let Some(others) = blocks.erased_blocks().checked_sub(1) else { return false };
        let left = others * u64::from(self.pages) + blocks.rest(Frontiers::Copy);
        // The pass under way must find room for its copies, or the next one, or no page would ever
        // be freed again. A pass that is over has freed a block, which has room for any other.
        let copies = match self.pass[chip] {
            Some(pass) => blocks.valid(pass.victim).max(self.padded_to.saturating_sub(pass.finished)),
            None => blocks.fewest_valid().map_or(self.pages, |victim| blocks.valid(victim)).max(self.padded_to),
        };
        left >= copies.into()
    }

    /// Begins a pass and says whether there is anything to collect. Only to be called between
    /// passes.
    pub(crate) fn begin(&mut self, map: &mut PageMap) -> bool {
        for (blocks, pass) in map.chips.iter_mut().zip(self.pass.iter_mut()) {
            let Some(victim) = blocks.fewest_valid() else { continue };
            // `has_room` has seen to it that there is room; a chip without would have to stay out.
            let copies = blocks.valid(victim).max(self.padded_to);
            if blocks.erased_blocks() * u64::from(self.pages) + blocks.rest(Frontiers::Copy) >= copies.into() {
                blocks.take_victim(victim);
                *pass = Some(ChipPass { victim, cursor: 0, reads: 0, finished: 0, copy: None, last: None });
                self.busy += 1;
            }
        }
        self.busy > 0
    }

    /// The next GC read on a chip; `None` where nothing is left to copy.
    #[inline]
    pub(crate) fn read(&mut self, map: &PageMap, chip: ColumnId) -> Option<Copy> {
        let copy = self.next(map, chip)?;
        let pass = self.pass[chip].as_mut()?;
        pass.reads(map, chip, copy);
        pass.copy = Some(copy);
        Some(copy)
    }

    /// What the next GC read on a chip is for.
    #[inline(always)]
    pub(crate) fn next(&self, map: &PageMap, chip: ColumnId) -> Option<Copy> {
        let pass = self.pass[chip].as_ref()?;
        let blocks = &map.chips[chip];
        match (blocks.next_valid(pass.victim, pass.cursor), pass.last) {
            (Some(page), _) => Some(Copy::Page { page, lpn: blocks.lpn(page) }),
            (None, _) if pass.reads >= self.padded_to => None,
            (None, Some((page, lpn))) if blocks.lpn(page) == lpn => Some(Copy::Page { page, lpn }),
            (None, _) => Some(Copy::Padding),
        }
    }

    /// What it will read next, in all likelihood.
    #[inline(always)]
    pub(crate) fn ahead(&self, map: &PageMap, chip: ColumnId) -> Option<Lpn> {
        let pass = self.pass[chip]?;
        let blocks = &map.chips[chip];
        let lpn = blocks.lpn(blocks.next_valid(pass.victim, pass.cursor)?);
        map.prefetch_place(lpn);
        Some(lpn)
    }

    /// Whether a chip holds a copy that has been read and not programmed; `None` where it takes no
    /// part in a pass, or has done its part.
    #[inline]
    pub(crate) fn holds_copy(&self, chip: ColumnId) -> Option<bool> {
        self.pass[chip].as_ref().map(|pass| pass.copy.is_some())
    }

    /// Ends a copy on a chip: programs its page if it is still valid, and says where and what.
    #[inline]
    pub(crate) fn program(&mut self, map: &mut PageMap, chip: ColumnId) -> Option<(PagePlace, Lpn)> {
        let pass = self.pass[chip].as_mut()?;
        let copy = pass.copy.take()?;
        pass.finished += 1;
        let Copy::Page { page, lpn } = copy else { return None };
        let (copied, place) = map.copy(chip, page, lpn)?;
        pass.last = Some((copied, lpn));
        Some((place, lpn))
    }

    /// The victim on a chip.
    pub(crate) fn victim(&self, chip: ColumnId) -> Option<BlockId> {
        self.pass[chip].map(|pass| pass.victim)
    }

    /// The victim on a chip has been erased, which ends its part in the pass.
    pub(crate) fn erased(&mut self, map: &mut PageMap, chip: ColumnId) {
        if let Some(pass) = self.pass[chip].take() {
            map.erase(chip, pass.victim, self.pages);
            self.busy -= 1;
        }
    }
}
