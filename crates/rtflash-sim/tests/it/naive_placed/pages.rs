//! Pages and blocks of a processor, with nothing remembered that can be counted.

use std::ops::Range;

use rtflash_model::Lpn;
use rtflash_model::random::Stream;
use rtflash_plan::{ColumnId, Options, Plan, ZoneRing, initial_pages, initial_zones};
use rtflash_trace::NO_LPN;

use super::certified;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Page {
    Free,
    Stale,
    Holds(Lpn),
}

/// Blocks (superblocks) of a processor, their pages row by row.
#[derive(Debug)]
pub struct Pages {
    pub width: usize,
    blocks: Vec<Vec<Page>>,
    /// Blocks that passes are working on.
    pub victims: Vec<usize>,
    /// Blocks that have failed.
    pub retired: Vec<usize>,
    /// Blocks that are kept back for those that fail yet.
    spare: usize,
    /// The spare blocks if tasks own zones, from the start on.
    zone_spare: usize,
    rings: Vec<Ring>,
    /// How often each block was erased.
    erases: Vec<u32>,
    /// By how much they may differ.
    wear_gap: Option<u32>,
    /// The place of the page programmed last.
    newest: Option<At>,
}

/// Zones of a task on a chip.
#[derive(Debug)]
struct Ring {
    blocks: Vec<usize>,
    lpns: Range<Lpn>,
    /// Its next page, from the first one of the first block.
    next: usize,
}

/// A place: block and place in it.
pub type At = (usize, usize);

impl Pages {
    pub fn new(plan: &Plan, options: &Options, cluster: usize, position: usize, width: usize) -> Pages {
        let of = &plan.clusters().as_slice()[cluster];
        if certified(plan, cluster).is_zoned() {
            return Pages::of_zones(plan, options, cluster, position);
        }
        let mut random = Stream::numbered(options.seed, b"initial\0", of.chips[position].into());
        let position = u32::try_from(position).expect("few chips");
        let placement = certified(plan, cluster).certificate.placement;
        let programmed = initial_pages(&of.layout, placement, ColumnId(position), options.aging, &mut random);
        let device = plan.device();
        // Each chip keeps back as many blocks as the rows need.
        let (count, spare) = (device.blocks_per_chip() as usize, width * device.spare_blocks() as usize);
        let size = width * device.pages_per_block() as usize;
        let mut blocks = vec![vec![Page::Free; size]; count];
        for (at, lpn) in programmed.into_iter().enumerate() {
            blocks[at / size][at % size] = if lpn == NO_LPN { Page::Stale } else { Page::Holds(lpn) };
        }
        let (erases, wear_gap, zone_spare) = (vec![0; count], device.wear_gap(), 0);
        let (victims, retired, rings) = (Vec::new(), Vec::new(), Vec::new());
        let all = blocks.iter().flatten().filter(|page| **page != Page::Free).count();
        let newest = all.checked_sub(1).map(|last| (last / size, last % size));
        Pages { width, blocks, victims, retired, spare, zone_spare, rings, erases, wear_gap, newest }
    }

    fn of_zones(plan: &Plan, options: &Options, cluster: usize, position: usize) -> Pages {
        let (of, by) = (&plan.clusters().as_slice()[cluster], certified(plan, cluster));
        let column = ColumnId(u32::try_from(position).expect("few chips"));
        let found = initial_zones(of, by, column, options.aging, options.seed);
        let size = plan.device().pages_per_block() as usize;
        let block = |held: Vec<Lpn>| {
            let mut pages = vec![Page::Free; size];
            for (page, lpn) in pages.iter_mut().zip(held) {
                *page = if lpn == NO_LPN { Page::Stale } else { Page::Holds(lpn) };
            }
            pages
        };
        let ring = |(ring, next): (&ZoneRing, u32)| Ring {
            blocks: (ring.blocks.start.0 as usize..ring.blocks.end.0 as usize).collect(),
            lpns: ring.pages.clone(),
            next: next as usize,
        };
        let rings = by.rings.iter().zip(found.next).map(ring).collect();
        let spare = vec![vec![Page::Free; size]; plan.device().spare_blocks() as usize];
        let blocks: Vec<Vec<Page>> = found.blocks.into_iter().map(block).chain(spare).collect();
        let erases = vec![0; blocks.len()];
        let (victims, retired, zone_spare) = (vec![], vec![], plan.device().spare_blocks() as usize);
        let (width, spare, wear_gap, newest) = (1, 0, None, None);
        Pages { width, blocks, victims, retired, spare, zone_spare, rings, erases, wear_gap, newest }
    }

    /// The block that has to be reset before a page of a zone is written.
    pub fn to_reset(&self, lpn: Lpn) -> Option<usize> {
        let ring = self.rings.iter().find(|ring| ring.lpns.contains(&lpn))?;
        let size = self.blocks[0].len();
        let block = ring.blocks[ring.next / size];
        (ring.next % size == 0 && self.blocks[block][0] != Page::Free).then_some(block)
    }

    fn count(&self, block: usize, is: impl Fn(&Page) -> bool) -> usize {
        self.blocks[block].iter().filter(|page| is(page)).count()
    }

    pub fn valid(&self, block: usize) -> usize {
        self.count(block, |page| matches!(page, Page::Holds(_)))
    }

    /// f.
    pub fn free(&self) -> u64 {
        let free = |block: usize| self.count(block, |&page| page == Page::Free);
        let all: usize = self.in_use().map(free).sum();
        (all - self.spare * self.blocks[0].len()) as u64
    }

    fn in_use(&self) -> impl Iterator<Item = usize> {
        (0..self.blocks.len()).filter(|block| !self.retired.contains(block))
    }

    /// A block has failed: one that was kept back takes its place.
    pub fn retire(&mut self, block: usize) {
        if self.retired.contains(&block) {
            return;
        }
        self.retired.push(block);
        let is_in_ring = |ring: &&mut Ring| ring.blocks.contains(&block);
        if let Some(ring) = self.rings.iter_mut().find(is_in_ring) {
            // Each that failed has taken one of those that are kept back behind all rings.
            let rest = self.blocks.len() - self.zone_spare + self.retired.len() - 1;
            let place = ring.blocks.iter().position(|&other| other == block).expect("it is there");
            ring.blocks[place] = rest;
            ring.next = place * self.blocks[0].len();
        } else {
            self.spare -= 1;
        }
    }

    /// The lowest block that has failed and holds valid pages.
    pub fn to_move(&self) -> Option<usize> {
        self.retired.iter().copied().filter(|&block| self.valid(block) > 0).min()
    }

    /// The block whose pages are moved so that wear is level: it was erased least often of those
    /// that hold any, and much less often than another one.
    pub fn to_level(&self) -> Option<usize> {
        let gap = self.wear_gap?;
        let held = self.closed().into_iter().filter(|&block| self.valid(block) > 0);
        let block = held.min_by_key(|&block| (self.erases[block], block))?;
        let most = self.erases.iter().max().expect("there are blocks");
        (most - self.erases[block] >= gap).then_some(block)
    }

    /// The place of a page, if it holds anything.
    pub fn locate(&self, lpn: Lpn) -> Option<At> {
        let in_block = |block: &Vec<Page>| block.iter().position(|&page| page == Page::Holds(lpn));
        self.blocks.iter().enumerate().find_map(|(block, pages)| Some((block, in_block(pages)?)))
    }

    /// On which of the processor's chips a page is, if it holds anything.
    pub fn column_of(&self, lpn: Lpn) -> Option<usize> {
        self.locate(lpn).map(|at| at.1 % self.width)
    }

    /// A page holds nothing any more, unless it was programmed last. Says whether it goes on
    /// holding what it holds.
    pub fn trim(&mut self, lpn: Lpn) -> bool {
        match self.locate(lpn) {
            Some(at) if Some(at) == self.newest => true,
            Some((block, place)) => {
                self.blocks[block][place] = Page::Stale;
                false
            }
            None => false,
        }
    }

    pub fn holds(&self, at: At, lpn: Lpn) -> bool {
        self.blocks[at.0][at.1] == Page::Holds(lpn)
    }

    /// The next page of the open block, or of the lowest free one.
    pub fn program(&mut self, lpn: Lpn) -> Option<At> {
        let size = self.blocks[0].len();
        if let Some(ring) = self.rings.iter_mut().find(|ring| ring.lpns.contains(&lpn)) {
            let at = (ring.blocks[ring.next / size], ring.next % size);
            ring.next = (ring.next + 1) % (ring.blocks.len() * size);
            for page in self.blocks.iter_mut().flatten().filter(|page| **page == Page::Holds(lpn)) {
                *page = Page::Stale;
            }
            assert_eq!(self.blocks[at.0][at.1], Page::Free, "a page is programmed once between resets");
            self.blocks[at.0][at.1] = Page::Holds(lpn);
            return Some(at);
        }
        let free = |block: usize| self.count(block, |&page| page == Page::Free);
        let open = self.in_use().find(|&block| (1..size).contains(&free(block)));
        let erased: Vec<usize> = self.in_use().filter(|&block| free(block) == size).collect();
        let wear = |block: usize| if self.wear_gap.is_some() { self.erases[block] } else { 0 };
        let next = erased.iter().copied().min_by_key(|&block| (wear(block), block));
        let block = open.or_else(|| next.filter(|_| erased.len() > self.spare))?;
        let place = self.blocks[block].iter().position(|&page| page == Page::Free).expect("a free page");
        for page in self.blocks.iter_mut().flatten().filter(|page| **page == Page::Holds(lpn)) {
            *page = Page::Stale;
        }
        self.blocks[block][place] = Page::Holds(lpn);
        self.newest = Some((block, place));
        Some((block, place))
    }

    fn closed(&self) -> Vec<usize> {
        let full = |&block: &usize| self.count(block, |&page| page == Page::Free) == 0;
        self.in_use().filter(full).filter(|block| !self.victims.contains(block)).collect()
    }

    pub fn choose_victim(&mut self) -> Option<usize> {
        let victim = self.closed().into_iter().min_by_key(|&block| (self.valid(block), block))?;
        self.victims.push(victim);
        Some(victim)
    }

    /// The first valid page of a block on one of the chips from a row on: the row and the logical
    /// page.
    pub fn next_valid(&self, block: usize, column: usize, from: usize) -> Option<(usize, Lpn)> {
        (from..self.blocks[block].len() / self.width).find_map(|row| {
            match self.blocks[block][row * self.width + column] {
                Page::Holds(lpn) => Some((row, lpn)),
                _ => None,
            }
        })
    }

    pub fn erase(&mut self, block: usize) {
        self.erases[block] += 1;
        self.blocks[block].fill(Page::Free);
        self.victims.retain(|&victim| victim != block);
    }

    /// Pages of a range to be overwritten so that victims stay full.
    pub fn fullest(&self, range: &Range<Lpn>, pages: u64) -> Vec<Lpn> {
        let mut chosen: Vec<Lpn> = Vec::new();
        while (chosen.len() as u64) < pages {
            let left = |block: usize| -> Vec<Lpn> {
                let holds = |page: &Page| match page {
                    Page::Holds(lpn) if !chosen.contains(lpn) => Some(*lpn),
                    _ => None,
                };
                self.blocks[block].iter().filter_map(holds).collect()
            };
            let candidates =
                self.closed().into_iter().filter(|&block| left(block).iter().any(|lpn| range.contains(lpn)));
            let fullest = candidates.max_by_key(|&block| (left(block).len(), std::cmp::Reverse(block)));
            let Some(block) = fullest else { break };
            let first = left(block).into_iter().find(|lpn| range.contains(lpn));
            chosen.push(first.expect("a page of the range"));
        }
        chosen
    }
}
