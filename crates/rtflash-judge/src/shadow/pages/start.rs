//! The content of the device when a run begins.

use rtflash_model::Lpn;
use rtflash_plan::{BlockId, ColumnId};
use rtflash_trace::NO_LPN;

use super::{Mapping, TAKEN};
use crate::WatchedChip;

impl Mapping {
    /// Row by row, with these logical pages or stale ones. `at`: of a superblock the first chip.
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
        assert!(valid <= count && count <= self.clusters[at.cluster].full, "pages of a block");
        let of = self.base(at) + block.index();
        self.programmed[of] = count;
        self.valid[of] = if count == self.clusters[at.cluster].full { valid } else { valid | TAKEN };
        let pool = self.pool(at);
        self.pools[pool].free -= i64::from(count);
    }
}
