//! The pages of a chip whose blocks are those of zones.

use super::{Columns, Pages, Spot};
use crate::blocks::{BlockMemory, Blocks};
use crate::memory::{Memory, NONE, index};
use crate::zones::Zones;

impl<M: Memory> Pages<M> {
    /// The pages of a chip whose blocks are those of zones; `memory.lpns` has what each page holds.
    pub fn of_zones(
        columns: Columns,
        block_pages: u32,
        mut memory: BlockMemory<M>,
        places: M::Words,
        zones: Zones<M>,
    ) -> Pages<M> {
        // To `Blocks` all of them are erased for ever: rings open and reset them.
        memory.erased.as_mut().fill(u64::MAX);
        let blocks = Blocks::restored(block_pages, columns.width, memory, None);
        Pages { columns, blocks, places, free: 0, newest: NONE, zones: Some(zones) }.with_places()
    }

    /// Whether its blocks are those of zones.
    pub fn is_zoned(&self) -> bool {
        self.zones.is_some()
    }

    /// The zone of a logical page: the place of its ring, or behind it in the ring.
    fn zone(&self, lpn: u32) -> u32 {
        self.slot(lpn) / self.blocks.pages()
    }

    /// The block that has to be reset before this page is written, where tasks own zones.
    pub fn to_reset(&self, lpn: u32) -> Option<u32> {
        self.zones.as_ref()?.to_reset(self.zone(lpn))
    }

    /// A block of a zone is reset.
    pub fn reset(&mut self, block: u32) {
        if let Some(zones) = &mut self.zones {
            zones.reset(block);
        }
    }

    pub(super) fn program_in_zone(&mut self, lpn: u32) -> Option<Spot> {
        let (zone, slot) = (self.zone(lpn), index(self.slot(lpn)));
        let page = self.zones.as_mut()?.program(zone)?;
        self.places.as_mut()[slot] = page;
        self.blocks.hold(page, lpn);
        Some(self.spot(page))
    }

    /// Logical pages in a block that is reset hold nothing from now on. There are none, unless the
    /// ring has skipped pages that could not be read, or has some twice. Takes a step for each
    /// page.
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
    /// number among the `count` pages from `first` on.
    pub(crate) fn latest_of_ring(&self, first: u32, count: u32) -> Option<u32> {
        let latest = self.zones.as_ref()?.latest_of(first / self.blocks.pages());
        let slot = (latest != NONE).then(|| self.slot(self.blocks.lpn(latest)))?;
        slot.checked_sub(first).filter(|&nth| nth < count)
    }

    /// Whether `count` pages are free for requests that this logical page is one of.
    pub fn has_room(&self, lpn: u32, count: usize) -> bool {
        match &self.zones {
            Some(zones) => zones.has_room(self.zone(lpn)),
            None => index(self.free) >= count,
        }
    }
}
