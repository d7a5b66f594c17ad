//! The map's part for blocks that fail.

use rtflash_model::Lpn;
use rtflash_plan::BlockId;
use rtflash_trace::{Failed, JobId, Kind, NONE};
use serde::{Deserialize, Serialize};

use super::{Mapping, TAKEN};
use crate::WatchedChip;

#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub(crate) struct LastOperations {
    pub(crate) program: Option<LastProgram>,
    pub(crate) erase: Option<(JobId, BlockId)>,
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct LastProgram {
    pub(crate) job: JobId,
    pub(crate) kind: Kind,
    pub(crate) lpn: Lpn,
    pub(crate) here: u32,
    pub(crate) old: u32,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum FailedOperation {
    Unknown,
    Erase,
    Program(FailedPage),
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct FailedPage {
    pub(crate) kind: Kind,
    pub(crate) lpn: Lpn,
    /// Whether it was still what the logical page is to hold, so that it is programmed once more.
    pub(crate) is_current: bool,
    pub(crate) old: u32,
}

impl Mapping {
    /// Rule B2: a block that is kept back is free in the failed one's place, and the chip's page is
    /// where it was. Its last program or erase has to be the job's there, and fails once.
    pub(crate) fn failed(&mut self, failed: &Failed, at: WatchedChip) -> FailedOperation {
        let Failed { at: now, job, cluster, block, page, .. } = *failed;
        let (base, pool) = (self.base(at) + block.index(), self.pool(at));
        // Erases that are over count before it.
        self.free(at, now);
        if self.retired.insert(base) {
            if let Some(wear) = self.wear.as_mut().filter(|_| page == NONE) {
                wear.erase_failed(base);
            }
            let full = self.clusters[cluster].full;
            let of = &mut self.pools[pool];
            // The time that it would still have taken is lost; a block that was not erased was
            // counted.
            let rest = if page == NONE { full } else { full.saturating_sub(self.programmed[base]) };
            of.free -= i64::from(rest);
            if of.spare > 0 {
                of.spare -= 1;
                of.free += i64::from(full);
            }
            self.valid[base] |= TAKEN;
            self.programmed[base] = full;
        }
        let Some(last) = self.last.get_mut(at.watched) else { return FailedOperation::Unknown };
        if page == NONE {
            let is_last = last.erase.take() == Some((job, block));
            return if is_last { FailedOperation::Erase } else { FailedOperation::Unknown };
        }
        let last = last.program.take();
        let here = self.spot(at.position, block, page);
        let last = last.filter(|last| (last.here, last.job) == (here, job));
        let Some(LastProgram { kind, lpn, old, .. }) = last else { return FailedOperation::Unknown };
        let is_current = self.is_at(cluster, lpn, here);
        if is_current {
            self.clusters[cluster].spots[lpn] = old;
            self.valid[base] -= u32::from(self.valid[base] & !TAKEN != 0);
            if old != NONE {
                let shape = self.clusters[cluster].shape;
                self.valid[shape.block_of(self.blocks, self.pages, at.first(), old)] += 1;
            }
        }
        FailedOperation::Program(FailedPage { kind, lpn, is_current, old })
    }

    pub(crate) fn retired(&self, at: WatchedChip, block: BlockId) -> Option<u32> {
        let base = self.base(at) + block.index();
        self.retired.contains(&base).then(|| self.valid[base] & !TAKEN)
    }
}
