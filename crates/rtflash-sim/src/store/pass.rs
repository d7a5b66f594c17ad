//! Garbage collection without certificates: passes over all chips of a cluster.
//!
//! Blocks, their victims and frontiers are those of `rtflash_ftl`, where the block for copies is
//! one that certificates do not use. `rtflash_ftl::Pass` is another pass: under a certificate a
//! chip copies a page in one step, to the block of its writes. Here the read and the program of a
//! copy are two steps, between which the page can be overwritten, and with worst victims the page
//! that was copied last is copied again.

use rtflash_ftl::Frontiers;
use rtflash_model::{Lpn, PerId};
use rtflash_plan::{BlockId, ColumnId, Victims};
use serde::{Deserialize, Serialize};

use super::map::PageMap;
use crate::store::page_store::PagePlace;

/// A copy that a pass makes on one chip, between its GC read and its GC program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Copy {
    /// This page, with the logical page that it held when it was read.
    Page(PagePlace, Lpn),
    /// No page: with worst victims the time passes all the same.
    Padding,
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct ChipPass {
    victim: BlockId,
    /// The page from which on the victim has to be searched.
    cursor: u32,
    reads: u32,
    finished: u32,
    copy: Option<Copy>,
    /// The page that this pass programmed last on this chip, and its logical page.
    last: Option<(PagePlace, Lpn)>,
}

/// The garbage collector of a cluster. One pass is under way at a time: any job that is served goes
/// on with it.
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
    /// than `reserve` pages are free. `bound`: ⌈λP⌉.
    pub(crate) fn new(chips: u32, pages: u32, reserve: u64, victims: Victims, bound: u32) -> Collector {
        let padded_to = match victims {
            Victims::Actual => 0,
            Victims::Worst => bound,
        };
        Collector { pass: PerId::filled(None, chips), busy: 0, padded_to, pages, reserve }
    }

    /// Whether a pass has nothing to do: the free pages are above the reserve even without those
    /// that `left_out` passes will not free.
    pub(crate) fn is_void(&self, map: &PageMap, left_out: u64) -> bool {
        map.free() > self.reserve.saturating_add(left_out)
    }

    pub(crate) fn is_under_way(&self) -> bool {
        self.busy > 0
    }

    #[inline(always)]
    pub(crate) fn has_room(&self, map: &PageMap, chip: ColumnId) -> bool {
        map.chips[chip].frontier(Frontiers::Write).is_some() || self.may_open(map, chip)
    }

    #[inline(never)]
    fn may_open(&self, map: &PageMap, chip: ColumnId) -> bool {
        let blocks = &map.chips[chip];
        // The pass under way must find room for its copies, or the next one, or no page would ever
        // be freed again. A pass that is over has freed a block, which has room for any other.
        let copies = match self.pass[chip] {
            Some(pass) => map.valid(chip, pass.victim).max(self.padded_to.saturating_sub(pass.finished)),
            None => blocks.fewest_valid().map_or(self.pages, |victim| blocks.valid(victim)).max(self.padded_to),
        };
        blocks.erased_blocks() > 0 && self.room_for_copies(map, chip) >= u64::from(copies) + u64::from(self.pages)
    }

    /// Pages that copies can take on a chip.
    fn room_for_copies(&self, map: &PageMap, chip: ColumnId) -> u64 {
        let blocks = &map.chips[chip];
        u64::from(blocks.erased_blocks()) * u64::from(self.pages) + u64::from(blocks.rest(Frontiers::Copy))
    }

    /// Begins a pass and says whether there is anything to collect. Only to be called between
    /// passes.
    pub(crate) fn begin(&mut self, map: &mut PageMap) -> bool {
        assert!(!self.is_under_way(), "one pass is under way at a time");
        for chip in self.pass.ids() {
            let Some(victim) = map.chips[chip].fewest_valid() else { continue };
            // `has_room` has seen to it that there is room; a chip without would have to stay out.
            let copies = map.chips[chip].valid(victim).max(self.padded_to);
            if self.room_for_copies(map, chip) >= copies.into() {
                map.chips[chip].take_victim(victim);
                let victim = BlockId(victim);
                self.pass[chip] = Some(ChipPass { victim, cursor: 0, reads: 0, finished: 0, copy: None, last: None });
                self.busy += 1;
            }
        }
        self.busy > 0
    }

    #[inline(always)]
    fn next_valid(pass: &ChipPass, map: &PageMap, chip: ColumnId) -> Option<(PagePlace, Lpn)> {
        let page = map.chips[chip].next_valid(pass.victim.0, 0, pass.cursor)?;
        let at = PagePlace { chip, block: pass.victim, page };
        Some((at, map.lpn(at)))
    }

    /// The next GC read on a chip; `None` where nothing is left to copy.
    #[inline]
    pub(crate) fn read(&mut self, map: &PageMap, chip: ColumnId) -> Option<Copy> {
        let pass = self.pass[chip].as_mut()?;
        let copy = match (Collector::next_valid(pass, map, chip), pass.last) {
            (Some((at, lpn)), _) => {
                pass.cursor = at.page + 1;
                Copy::Page(at, lpn)
            }
            (None, _) if pass.reads >= self.padded_to => return None,
            (None, Some((at, lpn))) if map.lpn(at) == lpn => Copy::Page(at, lpn),
            (None, _) => Copy::Padding,
        };
        pass.reads += 1;
        pass.copy = Some(copy);
        Some(copy)
    }

    /// The logical page that a chip will read next, in all likelihood. Asks memory for its place.
    #[inline(always)]
    pub(crate) fn ahead(&self, map: &PageMap, chip: ColumnId) -> Option<Lpn> {
        let (_, lpn) = Collector::next_valid(self.pass[chip].as_ref()?, map, chip)?;
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
        assert!(pass.finished <= pass.reads, "a copy is programmed after it is read");
        let Copy::Page(from, lpn) = copy else { return None };
        if map.lpn(from) != lpn {
            return None;
        }
        let to = map.program(Frontiers::Copy, lpn, chip).expect("a pass begins with room for its copies");
        pass.last = Some((to, lpn));
        pass.last
    }

    pub(crate) fn victim(&self, chip: ColumnId) -> Option<BlockId> {
        self.pass[chip].map(|pass| pass.victim)
    }

    /// The victim on a chip has been erased, which ends its part in the pass.
    pub(crate) fn erased(&mut self, map: &mut PageMap, chip: ColumnId) {
        if let Some(pass) = self.pass[chip].take() {
            assert!(map.valid(chip, pass.victim) == 0, "a pass has copied what is valid");
            map.erase(chip, pass.victim);
            self.busy -= 1;
        }
    }
}
