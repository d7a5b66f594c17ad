//! Garbage is collected until there is the reserve.

use super::{ChipScan, RecoveryChips};
use crate::memory::Lent;
use crate::nand::SpareBytes;
use crate::pages::{Pages, ValidPage};
use crate::setup::{NewProcessor, SetupError};

impl<C: RecoveryChips> ChipScan<'_, C> {
    /// Collects garbage until the reserve is there. A copy without a free page is lent a block that
    /// is kept back for failures, until a victim is erased; `lent` of them are lent already.
    pub(super) fn collect(
        &mut self,
        of: &NewProcessor<'_>,
        pages: &mut Pages<Lent<'_>>,
        mut lent: u32,
    ) -> Result<(), SetupError> {
        loop {
            while lent > 0 && pages.take_back() {
                lent -= 1;
            }
            if lent == 0 && u64::from(pages.free()) >= of.reserve() {
                return Ok(());
            }
            let victim = pages.take_victim().filter(|victim| victim.valid < of.block_pages);
            let victim = victim.ok_or(SetupError::NoRoom(of.number))?.block;
            for column in 0..of.columns.width {
                let mut from = 0;
                while let Some(next) = pages.next_valid(victim, column, from) {
                    self.copies(of, pages, next, &mut lent)?;
                    from = next.row + 1;
                }
            }
            if self.erases(of, victim) {
                pages.erase(victim);
            } else {
                retire(pages, victim, &mut lent);
            }
        }
    }

    fn copies(
        &mut self,
        of: &NewProcessor<'_>,
        pages: &mut Pages<Lent<'_>>,
        ValidPage { page, lpn, .. }: ValidPage,
        lent: &mut u32,
    ) -> Result<(), SetupError> {
        loop {
            let Some(to) = pages.program(lpn) else {
                if !pages.lend() {
                    return Err(SetupError::NoRoom(of.number));
                }
                *lent += 1;
                continue;
            };
            let erases = pages.blocks().erases(to.block);
            let spare =
                SpareBytes { identity: self.identity, cluster: of.cluster, lpn, sequence: self.sequence, erases };
            self.sequence = self.sequence.saturating_add(1);
            if self.chips.copy(of.place(page), of.spot(to), spare) {
                return Ok(());
            }
            retire(pages, to.block, lent);
        }
    }
}

/// A block has failed. One that was kept back takes its place, or one that was lent, which is then
/// not given back.
fn retire(pages: &mut Pages<Lent<'_>>, block: u32, lent: &mut u32) {
    let kept_back = pages.blocks().kept_back();
    pages.retire(block);
    if pages.blocks().kept_back() == kept_back {
        *lent = lent.saturating_sub(1);
    }
}
