//! The content of the device when a run begins.

use rtflash_model::{ClusterId, Lpn, PerId};
use rtflash_plan::{BlockId, ColumnId};
use rtflash_trace::NO_LPN;

use super::{Mapping, TAKEN};
use crate::WatchedChip;

impl Mapping {
    /// Pages of a block are programmed at the start, row by row, with these logical pages or with
    /// what is stale. `at`: the chip, of a superblock the first one.
    pub(crate) fn starts(&mut self, at: WatchedChip, block: BlockId, programmed: &[Lpn]) {
        let shape = self.clusters[at.cluster].shape;
        let width = if shape.superblock { shape.chips } else { 1 };
        let mut valid = 0;
        for column in ColumnId::first(width) {
            let row = self.spot(ColumnId(at.position.0 + column.0), block, 0);
            let spots = &mut self.clusters[at.cluster].spots;
            let of_column = programmed.iter().skip(column.index()).step_by(ColumnId(width).index());
            for (spot, &lpn) in (row..).zip(of_column) {
                if lpn != NO_LPN {
                    valid += 1;
                    spots[lpn] = spot;
                }
            }
        }
        let count = u32::try_from(programmed.len()).expect("a device that is run has at most 2^30 pages");
        self.counts(at, block, count, valid);
    }

    /// So many pages of a block are programmed, and valid, at the start.
    pub(crate) fn counts(&mut self, at: WatchedChip, block: BlockId, programmed: u32, valid: u32) {
        assert!(valid <= programmed && programmed <= self.clusters[at.cluster].full, "pages of a block");
        let of = self.base(at) + block.index();
        self.programmed[of] = programmed;
        self.valid[of] = if programmed == self.clusters[at.cluster].full { valid } else { valid | TAKEN };
        let pool = self.pool(at);
        self.pools[pool].free -= i64::from(programmed);
    }

    /// The logical pages of a cluster are there at the start, by the numbers of
    /// [`spot`](Mapping::spot).
    pub(crate) fn starts_at(&mut self, cluster: ClusterId, spots: PerId<Lpn, u32>) {
        self.clusters[cluster].spots = spots;
    }
}
