//! The content of the device when a run begins.

use rtflash_model::{ClusterId, Lpn};
use rtflash_plan::{BlockId, ColumnId};
use rtflash_trace::NO_LPN;

use super::{Mapping, TAKEN};

impl Mapping {
    /// Pages of a block are programmed at the start, row by row, with these logical pages or with
    /// what is stale. `position`: the chip, of a superblock the first one. `first`: where the
    /// cluster's chips begin.
    pub(crate) fn starts(
        &mut self,
        cluster: ClusterId,
        position: ColumnId,
        first: usize,
        block: BlockId,
        programmed: &[Lpn],
    ) {
        let shape = self.clusters[cluster].shape;
        let width = if shape.superblock { shape.chips } else { 1 };
        let mut valid = 0;
        let (across, row) = (self.spot(ColumnId(1), BlockId(0), 0), self.spot(position, block, 0));
        let spots = &mut self.clusters[cluster].spots;
        if width == 1 {
            for (spot, &lpn) in (row..).zip(programmed) {
                if lpn != NO_LPN {
                    valid += 1;
                    spots[lpn] = spot;
                }
            }
        }
        for column in (0..width).filter(|_| width > 1) {
            let of_column = programmed.iter().skip(BlockId(column).index()).step_by(BlockId(width).index());
            for (spot, &lpn) in (column * across + row..).zip(of_column) {
                if lpn != NO_LPN {
                    valid += 1;
                    spots[lpn] = spot;
                }
            }
        }
        let (full, of) = (self.clusters[cluster].full, (first + position.index()) * self.blocks + block.index());
        let count = u32::try_from(programmed.len()).expect("a device that is run has at most 2^30 pages");
        self.programmed[of] = count;
        self.valid[of] = if count == full { valid } else { valid | TAKEN };
        let pool = if shape.stripe { first + position.index() } else { first };
        self.pools[pool].free -= i64::from(count);
    }

    /// All that was on the device at the start is known.
    pub(crate) fn is_known(&mut self) {
        self.known = true;
    }
}
