//! Chips of a superblock that a step leaves idle, and what they do meanwhile: rule D3.

use crate::ftl::{Ftl, at};
use crate::memory::{NONE, index, marks, word};
use crate::nand::{NandChips, OperationPurpose};
use crate::slots::{FtlProcessor, JobKind};
use crate::step_pages::{PageInStep, READ};

/// Pages that can be chosen from for the idle chips of one step, at most.
pub const FILL_IN_LOOKS: u32 = 64;

impl Ftl<'_, '_> {
    /// Fills the free columns of a request's row with pages that less urgent requests write.
    pub(crate) fn fill_in_writes(&mut self, number: u32, slot: u32, nand: &mut impl NandChips) {
        let of = self.as_processor(number);
        if of.backfill.is_none() {
            return;
        }
        let mut free = of.ftl.pages.columns().width - word(of.pages.count());
        let mut next = self.requests[index(slot)].behind;
        while let Some(request) = self.requests.get(index(next)).copied().filter(|_| free > 0) {
            if request.key.kind == JobKind::Write {
                let written = self.write_row(self.part(number, next), free, nand);
                if written == 0 {
                    // No page is free.
                    return;
                }
                free -= written;
            }
            next = request.behind;
        }
    }

    /// Adds pages that requests and jobs read, by priority, where their chips are idle and they are
    /// sure to end with the step. `read`: the step is a request's read on this chip; then no two
    /// pages can be on one channel.
    pub(crate) fn fill_in_reads(&mut self, number: u32, read: Option<u32>, nand: &mut impl NandChips) {
        let Ftl { processors, clusters, requests, words, at_work, .. } = self;
        let FtlProcessor { ftl, chips, busy, cluster, pages, backfill: Some(backfill), .. } = at(processors, number)
        else {
            return;
        };
        // No two pages on one channel, or on one chip.
        let most = if read.is_some() { backfill.channels } else { chips.len() };
        if pages.count() >= most || read.is_none() && !backfill.reads_beside_rows {
            return;
        }
        backfill.begins();
        for page in (0..pages.count()).filter_map(|place| pages.get(place)) {
            backfill.uses(page.column);
        }
        let foreign = read.map(|read| backfill.foreign(read));
        let (width, mut slot, mut looks) = (ftl.pages.columns().width, clusters[index(*cluster)].first, 0);
        while let Some(&request) = requests.get(index(slot)) {
            // The word that says which page is next.
            let mut before = index(request.heads);
            while words[before] < request.reads {
                looks += 1;
                if looks > FILL_IN_LOOKS || pages.count() >= most {
                    return;
                }
                let place = words[before];
                let at = index(request.pages) + 2 * index(place);
                let lpn = words[at];
                let page = ftl.pages.place(lpn);
                // Blocks have whole rows.
                if page == NONE || !backfill.may_read(page % width, foreign) {
                    before = at + 1;
                    continue;
                }
                let spot = ftl.pages.spot(page);
                words[before] = words[at + 1];
                backfill.uses(spot.chip);
                let chip = chips[index(spot.chip)];
                marks(at_work, chip);
                *busy += 1;
                pages.push(PageInStep { column: spot.chip, block: spot.block, lpn, slot, from: place }, READ);
                let purpose = OperationPurpose::Request { source: request.key.source, index: request.key.index, place };
                nand.read(chip, spot.into(), lpn, purpose);
            }
            slot = request.behind;
        }
    }
}
