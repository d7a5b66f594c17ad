//! Programs of one row, which a trace orders by chip.

use rtflash_model::{Instant, Lpn};
use rtflash_plan::BlockId;
use rtflash_trace::{NO_LPN, NONE, Operation};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct RowPages {
    began: Instant,
    /// The logical pages but for the last one, each with page and block; and that one.
    before: Vec<(Lpn, u32, BlockId)>,
    last: (Lpn, u32, BlockId),
}

impl RowPages {
    pub(crate) fn none() -> RowPages {
        RowPages { last: (NO_LPN, NONE, BlockId(NONE)), ..RowPages::default() }
    }

    /// The first of two programs of a page in one row, ordered by chip, was the later one.
    #[inline(always)]
    pub(crate) fn was_overwritten(&mut self, operation: &Operation) -> bool {
        let Operation { start, lpn, page, block, .. } = *operation;
        let last = std::mem::replace(&mut self.last, (lpn, page, block));
        if self.began != start {
            self.began = start;
            self.before.clear();
            return false;
        }
        self.before.push(last);
        // A row goes from page to page; behind the last page of a block comes page 0 of another.
        let is_later =
            |&(of, other, at): &(Lpn, u32, BlockId)| of == lpn && if at == block { other > page } else { other < page };
        self.before.iter().any(is_later)
    }
}
