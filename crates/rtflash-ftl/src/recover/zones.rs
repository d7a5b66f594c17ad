//! Where tasks own zones: how far each ring had come when power was lost.

use super::{ChipScan, RecoveryChips};
use crate::blocks::BlockMemory;
use crate::ftl::Ftl;
use crate::memory::{Lent, index};
use crate::pages::Pages;
use crate::police::RequestOrder;
use crate::setup::{NewProcessor, SetupError, Unlent};
use crate::slots::SourceSlot;
use crate::zones::{RING_WORDS, Ring, Zones};

impl<C: RecoveryChips> ChipScan<'_, C> {
    /// The pages of a chip whose blocks are those of zones. A ring goes on behind its latest page,
    /// and behind what could not be read there. All blocks are to be reset before they take pages:
    /// whether one that looks erased is so cannot be seen.
    pub(super) fn zones<'m>(
        &mut self,
        of: &NewProcessor<'_>,
        (memory, places): (BlockMemory<Lent<'m>>, &'m mut [u32]),
        rest: &mut Unlent<'m>,
    ) -> Result<Pages<Lent<'m>>, SetupError> {
        let rings = rest.words(index(of.of.rings()) * RING_WORDS)?;
        for (ring, words) in (0..).zip(rings.chunks_exact_mut(RING_WORDS)) {
            let ring = of.of.ring(ring).ok_or(SetupError::Memory)?;
            let (first, pages) = (ring.first_block * of.block_pages, ring.blocks * of.block_pages);
            let latest = self.latest(of, first..first + pages, (memory.lpns, places, &mut []))?;
            let mut next = 0;
            if let Some(latest) = latest {
                let block = latest / of.block_pages;
                next = block * of.block_pages + self.behind(of, block)? - first;
            }
            let next = if next == pages { 0 } else { next };
            words.copy_from_slice(&Ring { first: ring.first_block, pages, next }.words());
        }
        let written = rest.bits(memory.erased.len())?;
        written.fill(u64::MAX);
        let zones = Zones::new(rings, of.block_pages, written);
        Ok(Pages::of_zones(of.columns, of.block_pages, memory, places, zones))
    }
}

impl Ftl<'_, '_> {
    /// Which page of its range a source writes next, where all are written in order, round and
    /// round; `None` for others. After a loss of power: the first page that was not programmed.
    /// Then the source may also go back from there by as many pages as a request has, to what was
    /// not said to be written.
    pub fn next_of_round(&self, source: u32) -> Option<u32> {
        let of = self.sources.get(index(source)).filter(|of| of.declared.order == RequestOrder::Round)?;
        Some(of.declared.first_page + of.police.next_of_round())
    }

    /// Power was lost: sources that write round and round go on behind what was programmed.
    pub(super) fn find_rounds(&mut self) {
        for number in 0..self.sources.len() {
            if self.sources[number].declared.order == RequestOrder::Round {
                let next = self.first_not_programmed(&self.sources[number]);
                let SourceSlot { police, declared, .. } = &mut self.sources[number];
                police.goes_on(declared, next);
            }
        }
    }

    /// The first page of the range of a ring, by its number there, that was not programmed: the
    /// least one behind the latest of a chip, counted from where the first chip is.
    fn first_not_programmed(&self, of: &SourceSlot) -> u32 {
        let cluster = &self.clusters[index(of.cluster)];
        let (chips, count) = (cluster.processors, of.declared.page_count);
        let latest = |column: u32| {
            let of_chip = self.processors.get(index(cluster.first_processor + column))?.as_ref()?;
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
        let most = (0..chips).map(behind).max().unwrap_or(0);
        (first + count - most) % count
    }
}
