//! How far each ring of zones had come when power was lost.

use core::ops::Range;

use super::{ChipScan, RecoveryChips};
use crate::ftl::Ftl;
use crate::image::RequestOrder;
use crate::memory::{Lent, NONE, clears, index, marks, word};
use crate::nand::SpareBytes;
use crate::pages::Pages;
use crate::setup::{NewProcessor, PageMemory, SetupError, Unlent};
use crate::slots::SourceSlot;
use crate::zones::{RING_WORDS, ZoneMemory, Zones, ring_at};

/// As the owner of a block: it has failed, or is in a place already.
const TAKEN: u32 = NONE - 1;

struct ZoneScan<'m, 'a> {
    /// As [`Zones`] has them.
    rings: &'m mut [u32],
    /// The ring of each block in which something can be read, [`TAKEN`], or [`NONE`].
    owners: &'a mut [u32],
    /// Two words for each block: the sequence number of its last page that can be read.
    sequences: &'m mut [u32],
}

impl ZoneScan<'_, '_> {
    fn sequence(&self, block: u32) -> u64 {
        let words = &self.sequences[2 * index(block)..];
        u64::from(words[0]) << 32 | u64::from(words[1])
    }

    fn holds(&mut self, of: &NewProcessor<'_>, page: u32, SpareBytes { lpn, sequence, .. }: SpareBytes) {
        let block = page / of.block_pages;
        let ring = ring_at(self.rings, of.columns.slot(lpn) / of.block_pages);
        let Some(&newest) = self.rings.get(ring * RING_WORDS + 3) else { return };
        if newest == NONE || self.sequence(newest / of.block_pages) < sequence {
            self.rings[ring * RING_WORDS + 3] = page;
        }
        self.owners[index(block)] = word(ring);
        if self.sequence(block) < sequence {
            let [a, b, c, d, e, f, g, h] = sequence.to_be_bytes();
            let words = &mut self.sequences[2 * index(block)..];
            (words[0], words[1]) = (u32::from_be_bytes([a, b, c, d]), u32::from_be_bytes([e, f, g, h]));
        }
    }

    /// The lowest of these blocks that holds nothing, and is in no place.
    fn take_empty(&mut self, mut among: Range<usize>) -> Option<u32> {
        let block = among.find(|&block| self.owners.get(block) == Some(&NONE))?;
        self.owners[block] = TAKEN;
        Some(word(block))
    }

    fn places(&self, ring: usize, block_pages: u32) -> Range<usize> {
        let words = &self.rings[ring * RING_WORDS..];
        index(words[0])..index(words[0] + words[1] / block_pages)
    }

    /// Puts the blocks of each ring in its places, in the order in which they were written. Blocks
    /// that hold nothing come before them: the ring's own, and then the lowest that are kept for
    /// failures. A block in no ring stays so: another one would be taken for untouched instead.
    /// False if there are more blocks than places.
    fn put(&mut self, of: &NewProcessor<'_>, blocks: &mut [u32]) -> bool {
        for (number, block) in (0..).zip(blocks.iter_mut()) {
            *block = number;
        }
        blocks.sort_unstable_by_key(|&block| (self.owners[index(block)], self.sequence(block)));
        let owner = |owners: &[u32], at: &u32| index(owners[index(*at)]);
        let mut end = blocks.partition_point(|at| owner(self.owners, at) < index(TAKEN));
        let mut behind = blocks.len();
        // From the last ring on: each goes to where it was, or further up.
        let rings = 0..self.rings.len() / RING_WORDS;
        for ring in rings.clone().rev() {
            let Range { start: first, end: places_end } = self.places(ring, of.block_pages);
            let start = blocks[..end].partition_point(|at| owner(self.owners, at) < ring);
            let Some(to) = places_end.checked_sub(end - start).filter(|&to| to >= first && to >= start) else {
                return false;
            };
            blocks[places_end..behind].fill(NONE);
            blocks.copy_within(start..end, to);
            for place in &mut blocks[first..to] {
                *place = self.take_empty(first..places_end).unwrap_or(NONE);
            }
            (behind, end) = (first, start);
        }
        blocks[..behind].fill(NONE);
        let spare = blocks.len() - index(of.spare)..blocks.len();
        for ring in rings {
            for place in blocks[self.places(ring, of.block_pages)].iter_mut().filter(|place| **place == NONE) {
                *place = self.take_empty(spare.clone()).unwrap_or(NONE);
            }
        }
        true
    }
}

impl<C: RecoveryChips> ChipScan<'_, C> {
    /// The pages of a chip with zones. A ring goes on behind its latest page, and behind pages that
    /// cannot be read there. All its blocks are to be reset before they take pages: one that looks
    /// erased need not be so. Blocks that are kept back are untouched: the lowest of them took the
    /// places of failed ones, and do so again.
    pub(super) fn zones<'m>(
        &mut self,
        of: &NewProcessor<'_>,
        memory: PageMemory<'m>,
        rest: &mut Unlent<'m>,
    ) -> Result<Pages<Lent<'m>>, SetupError> {
        let PageMemory { blocks: memory, places, .. } = memory;
        let count = memory.valid.len();
        let rings = of.rings(rest, |_| 0)?;
        let (blocks, sequences) = (rest.words(count)?, rest.words(2 * count)?);
        sequences.fill(0);
        memory.valid.fill(NONE);
        let mut scan = ZoneScan { rings, owners: &mut *memory.valid, sequences };
        self.latest(of, memory.lpns, places, |page, spare| scan.holds(of, page, spare))?;
        for (block, owner) in (0..).zip(scan.owners.iter_mut()) {
            if self.is_bad(of, block) {
                *owner = TAKEN;
            }
        }
        if !scan.put(of, blocks) {
            return Err(SetupError::Foreign(of.number));
        }
        let (written, kept_back) = (rest.bits(memory.erased.len())?, rest.bits(memory.erased.len())?);
        written.fill(u64::MAX);
        kept_back.fill(0);
        while let Some(block) = scan.take_empty(count - index(of.spare)..count) {
            clears(written, block);
            marks(kept_back, block);
        }
        for words in scan.rings.chunks_exact_mut(RING_WORDS) {
            let last = index(words[0] + words[1] / of.block_pages) - 1;
            if blocks[last] != NONE && scan.owners[index(blocks[last])] != TAKEN {
                let next = words[1] - of.block_pages + self.behind(of, blocks[last])?;
                words[2] = if next == words[1] { 0 } else { next };
            }
        }
        let memory_of_zones = ZoneMemory { rings: scan.rings, blocks, written, kept_back };
        let zones = Zones { of: memory_of_zones, block_pages: of.block_pages };
        Ok(Pages::of_zones(of.columns, of.block_pages, memory, places, zones))
    }
}

impl Ftl<'_, '_> {
    /// The page of its range that a source writes next, if it writes all in order, round and round.
    /// After a loss of power it is the first page that was not programmed; then the source can also
    /// go back from there by the pages of ⌈D/T⌉ requests, to what was not acknowledged.
    pub fn next_of_round(&self, source: u32) -> Option<u32> {
        let of = self.sources.get(index(source)).filter(|of| of.declared.order == RequestOrder::Round)?;
        Some(of.declared.first_page + of.police.next_of_round())
    }

    pub(super) fn find_rounds(&mut self) {
        for number in 0..self.sources.len() {
            if self.sources[number].declared.order == RequestOrder::Round {
                let next = self.first_not_programmed(&self.sources[number]);
                let SourceSlot { police, declared, .. } = &mut self.sources[number];
                police.goes_on(declared, next);
            }
        }
    }

    /// The first page of a ring's range, by its number there, that was not programmed: the least
    /// one behind the latest of a chip, counted from the first chip's.
    fn first_not_programmed(&self, of: &SourceSlot) -> u32 {
        let cluster = &self.clusters[index(of.declared.cluster)];
        let (chips, count) = (cluster.processors, of.declared.page_count);
        let latest = |column: u32| {
            let of_chip = self.as_processor(cluster.first_processor + column);
            of_chip.ftl.pages.latest_of_ring(of.declared.first_page / chips, count / chips)
        };
        if (0..chips).all(|column| latest(column).is_none()) {
            return 0;
        }
        let next = |column: u32| latest(column).map_or(column, |latest| (latest * chips + column + chips) % count);
        let first = next(0);
        let behind = |column: u32| {
            let ahead = (next(column) + count - first) % count;
            if ahead > count / 2 { count - ahead } else { 0 }
        };
        let most = (0..chips).map(behind).fold(0, u32::max);
        (first + count - most) % count
    }
}
