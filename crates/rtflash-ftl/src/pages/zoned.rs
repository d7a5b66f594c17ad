//! The pages of a chip whose blocks are those of zones.

use super::{Columns, Pages};
use crate::blocks::{BlockMemory, Blocks};
use crate::memory::{Memory, NONE, index};
use crate::zones::Zones;

impl<M: Memory> Pages<M> {
    /// The pages of a chip whose blocks are those of zones. `memory.lpns` and the places of logical
    /// pages are as the caller found them.
    pub fn of_zones(
        columns: Columns,
        block_pages: u32,
        memory: BlockMemory<M>,
        places: M::Words,
        zones: Zones<M>,
    ) -> Pages<M> {
        // What the device frees and closes by itself is nothing here.
        let mut blocks = Blocks::new((block_pages, columns.width), memory, 0);
        for (slot, &page) in (0..).zip(places.as_ref()).filter(|&(_, &page)| page != NONE) {
            blocks.hold(page, slot * columns.stride + columns.offset);
        }
        Pages { columns, blocks, places, free: 0, newest: NONE, zones: Some(zones) }
    }

    /// Whether its blocks are those of zones.
    #[inline]
    pub fn is_zoned(&self) -> bool {
        self.zones.is_some()
    }

    /// The block that has to be reset before this page is written, where tasks own zones.
    pub fn to_reset(&self, lpn: u32) -> Option<u32> {
        self.zones.as_ref()?.to_reset(self.slot(lpn) / self.blocks.pages())
    }

    /// A block of a zone is reset.
    pub fn reset(&mut self, block: u32) {
        if let Some(zones) = &mut self.zones {
            zones.reset(block);
        }
    }

    /// Logical pages in a block that is reset hold nothing any more. There are none, unless the
    /// ring has skipped pages that could not be read, or has some twice. Looks at all pages of the
    /// block.
    pub(crate) fn lose(&mut self, block: u32) {
        for page in block * self.blocks.pages()..(block + 1) * self.blocks.pages() {
            let lpn = self.blocks.lpn(page);
            if lpn != NONE && self.place(lpn) == page {
                let slot = self.slot(lpn);
                self.places.as_mut()[index(slot)] = NONE;
            }
        }
    }

    /// The logical page of a ring that was programmed last on this chip before a recovery, by its
    /// number among those that the ring keeps there, which are `count` from `first` on.
    pub(crate) fn latest_of_ring(&self, first: u32, count: u32) -> Option<u32> {
        let latest = self.zones.as_ref()?.latest_of(first / self.blocks.pages());
        let slot = (latest != NONE).then(|| self.slot(self.blocks.lpn(latest)))?;
        slot.checked_sub(first).filter(|&nth| nth < count)
    }

    /// Whether so many pages are free for what has this logical page among it.
    pub fn has_room(&self, lpn: u32, count: usize) -> bool {
        match &self.zones {
            Some(zones) => zones.has_room(self.slot(lpn) / self.blocks.pages()),
            None => index(self.free) >= count,
        }
    }
}
