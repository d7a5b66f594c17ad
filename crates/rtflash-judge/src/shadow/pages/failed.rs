//! What the map makes of blocks that fail.

use rtflash_model::{ClusterId, Lpn};
use rtflash_plan::{BlockId, ColumnId};
use rtflash_trace::{Failed, JobId, Kind, NONE, Operation};
use serde::{Deserialize, Serialize};

use super::{Mapping, TAKEN};

/// The last program and the last erase of a chip.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub(crate) struct LastOperations {
    pub(crate) program: Option<LastProgram>,
    pub(crate) erase: Option<(JobId, BlockId)>,
}

impl LastOperations {
    pub(crate) fn erases(&mut self, erase: &Operation) {
        self.erase = Some((erase.job, erase.block));
    }
}

/// What a chip programs.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct LastProgram {
    pub(crate) job: JobId,
    pub(crate) kind: Kind,
    pub(crate) lpn: Lpn,
    pub(crate) here: u32,
    /// Where it was before.
    pub(crate) old: u32,
}

/// What has failed.
#[derive(Debug, Clone, Copy)]
pub(crate) enum FailedOperation {
    /// The chip did nothing of the kind last.
    Unknown,
    Erase,
    Program(FailedPage),
}

/// A page that was to be programmed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FailedPage {
    pub(crate) kind: Kind,
    pub(crate) lpn: Lpn,
    /// Whether it was still what the logical page is to hold, so that it is programmed once more.
    pub(crate) is_current: bool,
    /// Where it was before, and is now.
    pub(crate) old: u32,
}

impl Mapping {
    /// A block of a chip has failed, rule B2: one that is kept back is free in its place. The page
    /// that the chip was to program is where it was before. The last program, or the last erase, of
    /// the chip has to be the job's there, and fails once.
    pub(crate) fn failed(&mut self, failed: &Failed, position: ColumnId, chip: usize) -> FailedOperation {
        let Failed { at, job, cluster, block, page, .. } = *failed;
        let first = chip - position.index();
        let base = self.base(cluster, position, chip) + block.index();
        let pool = self.pool(cluster, position, chip);
        // Erases that are over count before it.
        self.free_in(pool, at);
        if self.retired.insert(base) {
            if let Some(wear) = self.wear.as_mut().filter(|_| page == NONE) {
                wear.erase_failed(base);
            }
            let full = self.clusters[cluster].full;
            let of = &mut self.pools[pool];
            // What it would still have taken is lost; a block that was not erased was counted.
            let rest = if page == NONE { full } else { full.saturating_sub(self.programmed[base]) };
            of.free -= i64::from(rest);
            if of.spare > 0 {
                of.spare -= 1;
                of.free += i64::from(full);
            }
            self.valid[base] |= TAKEN;
            self.programmed[base] = full;
        }
        let Some(last) = self.last.get_mut(chip) else { return FailedOperation::Unknown };
        if page == NONE {
            let is_last = last.erase.take() == Some((job, block));
            return if is_last { FailedOperation::Erase } else { FailedOperation::Unknown };
        }
        let last = last.program.take();
        let here = self.spot(position, block, page);
        let last = last.filter(|last| (last.here, last.job) == (here, job));
        let Some(LastProgram { kind, lpn, old, .. }) = last else { return FailedOperation::Unknown };
        let is_current = self.is_at(cluster, lpn, here);
        if is_current {
            self.clusters[cluster].spots[lpn] = old;
            self.valid[base] -= u32::from(self.valid[base] & !TAKEN != 0);
            if old != NONE {
                let shape = self.clusters[cluster].shape;
                self.valid[shape.block_of(self.blocks, self.pages, first, old)] += 1;
            }
        }
        FailedOperation::Program(FailedPage { kind, lpn, is_current, old })
    }

    /// Valid pages of a block that has failed; `None` for another one.
    pub(crate) fn retired(&self, cluster: ClusterId, position: ColumnId, chip: usize, block: BlockId) -> Option<u32> {
        let base = self.base(cluster, position, chip) + block.index();
        self.retired.contains(&base).then(|| self.valid[base] & !TAKEN)
    }
}
