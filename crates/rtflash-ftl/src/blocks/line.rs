//! Pages of a superblock that are programmed in one go, one behind the other.

use super::{Blocks, Frontier, GROUP, TAKEN};
use crate::memory::{Memory, NONE, index};

impl<M: Memory> Blocks<M> {
    /// Programs so many pages of the block that is open for writes, or is opened for them. `lpn` is
    /// asked for the logical page of each. `put` is given the page, its block, chip and row, and
    /// what it holds from then on; it says on which page that was before, or [`NONE`], and that one
    /// becomes stale. Says whether that can be: if the block has no room for all of them, or none
    /// is erased, nothing has changed.
    #[inline(always)]
    pub(crate) fn program_in_line(
        &mut self,
        count: u32,
        mut lpn: impl FnMut(u32) -> u32,
        mut put: impl FnMut((u32, u32), (u32, u32), u32) -> u32,
    ) -> bool {
        let (pages, width) = (self.pages, self.width);
        let at = match self.open {
            _ if count > pages => return false,
            Some(at) if count <= pages - at.next => at,
            Some(_) => return false,
            None => match self.pop_erased() {
                Some(block) => Frontier { block, next: 0 },
                None => return false,
            },
        };
        let (rows, first) = (pages / width, at.block * pages);
        let (mut chip, mut row) = (at.next % width, at.next / width);
        let (lpns, bits) = (self.lpns.as_mut(), self.bits.as_mut());
        let (valid, least) = (self.valid.as_mut(), self.least.as_mut());
        valid[index(at.block)] += count;
        for place in 0..count {
            let (lpn, page, bit) = (lpn(place), first + at.next + place, first + chip * rows + row);
            lpns[index(page)] = lpn;
            bits[index(bit / 64)] |= 1 << (bit % 64);
            let old = put((page, at.block), (chip, row), lpn);
            if old != NONE {
                let (block, place) = (old / pages, old % pages);
                let bit = block * pages + place % width * rows + place / width;
                lpns[index(old)] = NONE;
                bits[index(bit / 64)] &= !(1 << (bit % 64));
                let valid = &mut valid[index(block)];
                *valid -= 1;
                let least = &mut least[index(block / GROUP)];
                *least = (*valid).min(*least);
            }
            chip += 1;
            if chip == width {
                (chip, row) = (0, row + 1);
            }
        }
        let next = at.next + count;
        self.open = (next < pages).then_some(Frontier { block: at.block, next });
        if next >= pages {
            // Closed with its last page.
            let valid = &mut self.valid.as_mut()[index(at.block)];
            *valid &= !TAKEN;
            let valid = *valid;
            self.may_be_least(at.block, valid);
        }
        true
    }
}
