//! What is in blocks that are those of zones.

use super::Blocks;
use crate::memory::{Memory, index};

impl<M: Memory> Blocks<M> {
    /// A page holds this logical page, whether it is the latest one or not.
    #[inline]
    pub(crate) fn hold(&mut self, page: u32, lpn: u32) {
        self.lpns.as_mut()[index(page)] = lpn;
    }
}
