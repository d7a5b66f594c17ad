//! Free pages, as the records have them.

use rtflash_model::Instant;
use rtflash_trace::Operation;
use serde::{Deserialize, Serialize};

use super::ClusterShape;

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Pool {
    /// Without erases not counted yet: it is below zero, too, if a trace programs too much.
    pub(crate) free: i64,
    pub(crate) erases: Vec<Instant>,
    /// The chips that are done with the row being erased, and when the last one is.
    row: (u32, Instant),
    pub(crate) spare: u32,
}

impl Pool {
    /// A superblock's blocks are free together, once the last is erased: in one step, or more where
    /// erases are suspended.
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
