//! The page that a pass on a chip of a stripe copies.

use rtflash_model::Instant;

use super::Collections;

impl Collections {
    /// Where the page was that a chip of a stripe copies, if it is to be programmed at this instant
    /// or later.
    pub(crate) fn copying(&self, processor: usize, at: Instant) -> Option<u32> {
        let passes = self.accounts[processor].passes.iter();
        let mut copied = passes.filter(|pass| pass.read.is_some_and(|read| read >= at));
        copied.find_map(|pass| pass.buffer.last().map(|&(_, there)| there))
    }
}
