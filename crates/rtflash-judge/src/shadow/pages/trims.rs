//! Pages that hold nothing any more.

use rtflash_model::Lpn;
use rtflash_plan::BlockId;
use rtflash_trace::NONE;

use super::{Mapping, TAKEN};
use crate::WatchedChip;

impl Mapping {
    pub(crate) fn holds(&self, at: WatchedChip, lpn: Lpn) -> bool {
        self.clusters[at.cluster].spots.get(lpn).is_some_and(|&spot| spot != NONE)
    }

    /// It holds nothing any more, or (`kept`) what it holds. `copying`: where the page was that is
    /// being copied inside the chip, and so was programmed last. Says whether it may be so.
    pub(crate) fn trims(&mut self, at: WatchedChip, lpn: Lpn, kept: bool, copying: Option<u32>) -> bool {
        let Some(&spot) = self.clusters[at.cluster].spots.get(lpn) else { return false };
        let is_newest = if spot == NONE { Some(false) } else { self.is_newest(at, spot, copying) };
        if kept {
            return is_newest.unwrap_or(true);
        }
        if spot != NONE {
            self.clusters[at.cluster].spots[lpn] = NONE;
            let shape = self.clusters[at.cluster].shape;
            let valid = &mut self.valid[shape.block_of(self.blocks, self.pages, at.first(), spot)];
            // In a trace, more pages may be trimmed than were programmed.
            *valid -= u32::from(*valid & !TAKEN != 0);
        }
        !is_newest.unwrap_or(false)
    }

    /// Whether a page of a processor was programmed last; `None` where that is not known.
    fn is_newest(&self, at: WatchedChip, spot: u32, copying: Option<u32>) -> Option<bool> {
        if copying.is_some() {
            return Some(copying == Some(spot));
        }
        if !self.known {
            return None;
        }
        let shape = self.clusters[at.cluster].shape;
        let (width, full) = (if shape.superblock { shape.chips } else { 1 }, self.clusters[at.cluster].full);
        let block = BlockId(spot / self.pages % self.blocks_per_chip);
        let column = if shape.superblock { spot / self.pages / self.blocks_per_chip } else { 0 };
        let is_last = |programmed: u32| spot % self.pages * width + column + 1 == programmed;
        let base = at.watched * self.blocks;
        let programmed = &self.programmed[base..base + self.blocks];
        let of_block = programmed[block.index()];
        if !is_last(of_block) {
            return Some(false);
        }
        if of_block < full {
            return Some(true);
        }
        // It is the last page of a block that is closed, and if none is open others may be, too.
        let is_open = |&pages: &u32| (1..full).contains(&pages);
        programmed.iter().any(is_open).then_some(false)
    }
}
