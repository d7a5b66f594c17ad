//! The pages of a cluster: blocks, page map, and the GC pass under way.

use std::ops::Range;

use rtflash_model::random::Stream;
use rtflash_model::{ChipId, Lpn};
use rtflash_plan::{Aging, ColumnId, Layout, Options, Victims, aged_chip};
use rtflash_trace::NO_LPN;

use super::narrow;

/// The place of a page: chip (by position in the cluster), block on the chip, page in the block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// The chip.
    pub chip: usize,
    /// The block.
    pub block: usize,
    /// The page.
    pub page: usize,
}

/// A block: the logical page of each page programmed since the last erase, `None` where it is
/// stale. Empty: erased; P long: full.
type Block = Vec<Option<u32>>;

/// The blocks of one chip.
#[derive(Debug, Default)]
struct Blocks {
    blocks: Vec<Block>,
    /// The block that writes go to, unless it is full.
    open: Option<usize>,
    /// The block that GC copies to, unless it is full.
    copy: Option<usize>,
}

/// The part of one chip in a pass.
#[derive(Debug, Clone)]
pub struct Part {
    /// The block to be freed.
    pub victim: usize,
    /// Copies begun: pages read, and reads let pass.
    pub begun: u64,
    /// Copies finished.
    pub finished: u64,
    /// The copy that is read, or being read.
    pub copy: Option<GcCopy>,
    /// The page that this pass programmed last here, and where.
    pub last: Option<(u32, Place)>,
    /// Whether the victim has been erased.
    pub done: bool,
}

/// One copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GcCopy {
    /// A copy of this logical page, from there.
    Page(u32, Place),
    /// A copy of nothing: it lets time pass.
    Nothing,
}

/// All pages of a cluster.
#[derive(Debug)]
pub struct Pages {
    /// P.
    per_block: usize,
    /// ⌈λP⌉ with worst victims, zero otherwise: copies that a pass makes on a chip at least.
    least_copies: u64,
    chips: Vec<Blocks>,
    /// The place of each logical page.
    map: Vec<Place>,
    /// The part of each chip in the pass under way, `None` for one that takes no part; empty
    /// between passes.
    parts: Vec<Option<Part>>,
}

impl Pages {
    /// The pages at the start of a run, of the chips with these numbers in the device.
    pub fn new(layout: &Layout, options: &Options, numbers: &[ChipId], valid_pages_bound: u32) -> Pages {
        let per_block = layout.pages() as usize;
        let nowhere = Place { chip: usize::MAX, block: usize::MAX, page: usize::MAX };
        let mut map = vec![nowhere; layout.logical_pages() as usize];
        let mut chips = Vec::new();
        for (chip, &number) in numbers.iter().enumerate() {
            let mut stream = Stream::numbered(options.seed, b"aging\0\0\0", number.into());
            let aging: Aging = options.aging;
            let aged = aged_chip(layout, aging, ColumnId(narrow(chip)), &mut stream);
            let mut blocks: Vec<Block> = vec![Vec::new(); layout.blocks() as usize];
            for (position, &lpn) in aged.iter().enumerate() {
                let (block, page) = (position / per_block, position % per_block);
                blocks[block].push((lpn != NO_LPN).then_some(lpn.0));
                if lpn != NO_LPN {
                    map[lpn.index()] = Place { chip, block, page };
                }
            }
            chips.push(Blocks { blocks, open: None, copy: None });
        }
        assert!(!map.contains(&nowhere), "every logical page is somewhere");
        let least_copies = match options.victims {
            Victims::Worst => valid_pages_bound.into(),
            Victims::Actual => 0,
        };
        Pages { per_block, least_copies, chips, map, parts: Vec::new() }
    }

    /// The present place of a logical page.
    pub fn place(&self, lpn: u32) -> Place {
        self.map[lpn as usize]
    }

    fn is_valid(&self, lpn: u32, place: Place) -> bool {
        self.place(lpn) == place
    }

    fn erased_blocks(&self, chip: usize) -> u64 {
        self.chips[chip].blocks.iter().filter(|block| block.is_empty()).count() as u64
    }

    /// Pages left in a block that may not be there.
    fn rest(&self, chip: usize, block: Option<usize>) -> u64 {
        block.map_or(0, |block| (self.per_block - self.chips[chip].blocks[block].len()) as u64)
    }

    /// Pages of the erased blocks and the rest of the copy block.
    fn free_for_copies(&self, chip: usize) -> u64 {
        self.erased_blocks(chip) * self.per_block as u64 + self.rest(chip, self.chips[chip].copy)
    }

    /// Free pages of the cluster.
    pub fn free(&self) -> u64 {
        (0..self.chips.len()).map(|chip| self.free_for_copies(chip) + self.rest(chip, self.chips[chip].open)).sum()
    }

    fn valid_pages(&self, chip: usize, block: usize) -> u64 {
        self.chips[chip].blocks[block].iter().flatten().count() as u64
    }

    /// Whether a chip has room for a write.
    pub fn has_room(&self, chip: usize) -> bool {
        if self.rest(chip, self.chips[chip].open) > 0 {
            return true;
        }
        let block = self.per_block as u64;
        let needed = match self.part(chip) {
            Some(part) if !part.done => {
                self.valid_pages(chip, part.victim).max(self.least_copies.saturating_sub(part.finished))
            }
            _ => self.victim(chip).map_or(block, |victim| self.valid_pages(chip, victim)).max(self.least_copies),
        };
        // One erased block fewer, once it is open.
        self.erased_blocks(chip) > 0 && self.free_for_copies(chip) - block >= needed
    }

    /// Programs the next page of a block with a logical page; from now on the new page is valid and
    /// the old one stale.
    fn program(&mut self, lpn: u32, chip: usize, block: usize) -> Place {
        let old = self.place(lpn);
        self.chips[old.chip].blocks[old.block][old.page] = None;
        let page = self.chips[chip].blocks[block].len();
        assert!(page < self.per_block, "a full block is nobody's open or copy block");
        self.chips[chip].blocks[block].push(Some(lpn));
        let place = Place { chip, block, page };
        self.map[lpn as usize] = place;
        place
    }

    fn lowest_erased(&self, chip: usize) -> usize {
        let erased = self.chips[chip].blocks.iter().position(Vec::is_empty);
        erased.expect("room was looked for before a page is programmed")
    }

    /// Programs a logical page to the open block of a chip that has room.
    pub fn write(&mut self, lpn: u32, chip: usize) -> Place {
        let block = self.chips[chip].open.unwrap_or_else(|| self.lowest_erased(chip));
        let place = self.program(lpn, chip, block);
        let full = self.chips[chip].blocks[block].len() == self.per_block;
        self.chips[chip].open = (!full).then_some(block);
        place
    }

    fn copy(&mut self, lpn: u32, chip: usize) -> Place {
        let block = self.chips[chip].copy.unwrap_or_else(|| self.lowest_erased(chip));
        let place = self.program(lpn, chip, block);
        let full = self.chips[chip].blocks[block].len() == self.per_block;
        self.chips[chip].copy = (!full).then_some(block);
        place
    }

    /// The block that a pass that begins now takes on a chip: closed, no victim yet, with the
    /// fewest valid pages.
    fn victim(&self, chip: usize) -> Option<usize> {
        let taken = |block: usize| self.part(chip).is_some_and(|part| !part.done && part.victim == block);
        let closed = (0..self.chips[chip].blocks.len()).filter(|&block| {
            // Neither the open nor the copy block is ever full: they are let go with their last
            // page.
            self.chips[chip].blocks[block].len() == self.per_block && !taken(block)
        });
        closed.min_by_key(|&block| (self.valid_pages(chip, block), block))
    }

    /// So many logical pages of a part, page by page from the closed block with the most valid ones
    /// left, of the lowest chip and then the lowest block. Fewer where there are no more.
    pub fn fullest(&self, part: &Range<Lpn>, count: u64) -> Vec<u32> {
        let mut chosen: Vec<u32> = Vec::new();
        for _ in 0..count {
            let mut best: Option<(u64, u32)> = None;
            for (chip, blocks) in self.chips.iter().enumerate() {
                let victim = self.part(chip).filter(|part| !part.done).map(|part| part.victim);
                for (number, block) in blocks.blocks.iter().enumerate() {
                    if block.len() < self.per_block || victim == Some(number) {
                        continue;
                    }
                    let left = |lpn: &&u32| !chosen.contains(*lpn);
                    let valid = block.iter().flatten().filter(left).count() as u64;
                    let wanted = block.iter().flatten().filter(left).find(|&&lpn| part.contains(&Lpn(lpn)));
                    if let Some(&lpn) = wanted
                        && best.is_none_or(|(most, _)| valid > most)
                    {
                        best = Some((valid, lpn));
                    }
                }
            }
            let Some((_, lpn)) = best else { break };
            chosen.push(lpn);
        }
        chosen
    }

    /// Begins a pass, if there is anything to collect.
    pub fn begin(&mut self) -> bool {
        assert!(!self.has_pass(), "one pass at a time");
        let victims: Vec<Option<usize>> = (0..self.chips.len()).map(|chip| self.victim(chip)).collect();
        if victims.iter().all(Option::is_none) {
            return false;
        }
        for (chip, victim) in victims.iter().enumerate() {
            let copies = victim.map_or(0, |victim| self.valid_pages(chip, victim).max(self.least_copies));
            assert!(self.free_for_copies(chip) >= copies, "a pass never lacks pages to copy to");
        }
        let part = |victim| Part { victim, begun: 0, finished: 0, copy: None, last: None, done: false };
        self.parts = victims.into_iter().map(|victim| victim.map(part)).collect();
        true
    }

    /// Whether a pass is under way.
    pub fn has_pass(&self) -> bool {
        !self.parts.is_empty()
    }

    /// A chip's part in the pass under way; `None` where it takes no part, or there is no pass.
    pub fn part(&self, chip: usize) -> Option<&Part> {
        self.parts.get(chip)?.as_ref()
    }

    /// Whether a chip has something left to do for the pass under way.
    pub fn is_on(&self, chip: usize) -> bool {
        self.part(chip).is_some_and(|part| !part.done)
    }

    /// The part of a chip, to change it.
    fn part_mut(&mut self, chip: usize) -> &mut Part {
        self.parts[chip].as_mut().expect("the chip takes part")
    }

    /// Whether a chip has a page to copy, or with worst victims a copy to let pass, beside the one
    /// that it is at.
    pub fn has_copy(&self, chip: usize) -> bool {
        self.part(chip).is_some_and(|part| {
            part.copy.is_none()
                && !part.done
                && (self.valid_pages(chip, part.victim) > 0 || part.begun < self.least_copies)
        })
    }

    /// Begins a copy, where there is one.
    pub fn begin_copy(&mut self, chip: usize) -> GcCopy {
        let part = self.part(chip).expect("the chip takes part");
        let pages = self.chips[chip].blocks[part.victim].iter().enumerate();
        let mut valid = pages.filter_map(|(page, lpn)| Some((page, (*lpn)?)));
        let copy = match (valid.next(), part.last) {
            (Some((page, lpn)), _) => GcCopy::Page(lpn, Place { chip, block: part.victim, page }),
            (None, Some((lpn, place))) if self.is_valid(lpn, place) => GcCopy::Page(lpn, place),
            _ => GcCopy::Nothing,
        };
        let part = self.part_mut(chip);
        part.begun += 1;
        part.copy = Some(copy);
        copy
    }

    /// Finishes a copy: programs the page that was read, if it is still valid where it was read,
    /// and says which one, and where it is now.
    pub fn program_copy(&mut self, chip: usize) -> Option<(u32, Place)> {
        let part = self.part_mut(chip);
        let copy = part.copy.take().expect("a copy was begun");
        part.finished += 1;
        let GcCopy::Page(lpn, from) = copy else { return None };
        if !self.is_valid(lpn, from) {
            return None;
        }
        let place = self.copy(lpn, chip);
        self.part_mut(chip).last = Some((lpn, place));
        Some((lpn, place))
    }

    /// The victim has been erased. Says whether the pass is over, and forgets it then.
    pub fn erased(&mut self, chip: usize) -> bool {
        let part = self.part_mut(chip);
        part.done = true;
        let victim = part.victim;
        assert_eq!(self.valid_pages(chip, victim), 0, "only a block without valid pages is erased");
        self.chips[chip].blocks[victim].clear();
        let over = self.parts.iter().flatten().all(|part| part.done);
        if over {
            self.parts.clear();
        }
        over
    }

    /// Whether GC with worst victims lets the time of copies pass that it does not make.
    pub fn lets_time_pass(&self) -> bool {
        self.least_copies > 0
    }
}
