//! Free pages, as the records have them.

use rtflash_model::Instant;
use rtflash_trace::Operation;
use serde::{Deserialize, Serialize};

use super::ClusterShape;

/// Free pages of a processor, or of a whole cluster without a certificate.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Pool {
    /// Without what erases have freed that are not counted yet: it may be below zero, also
    /// because a trace has more programs than there are pages.
    pub(crate) free: i64,
    pub(crate) erases: Vec<Instant>,
    /// Of the row of a superblock that is being erased, the chips that are done with it, and when
    /// the last of them is.
    row: (u32, Instant),
    /// Blocks that are kept back for those that fail.
    pub(crate) spare: u32,
}

impl Pool {
    /// A block is erased. The blocks of a superblock, one on each of its chips, are free together,
    /// once the last one is erased: its erases are one step, or more where they are suspended.
    pub(crate) fn erased(&mut self, operation: &Operation, shape: ClusterShape) {
        if !shape.superblock {
            return self.erases.push(operation.end);
        }
        let (chips, last) = self.row;
        self.row = (chips + 1, last.max(operation.end));
        if self.row.0 == shape.chips {
            let (chips, end) = std::mem::take(&mut self.row);
            self.erases.extend((0..chips).map(|_| end));
        }
    }
}
