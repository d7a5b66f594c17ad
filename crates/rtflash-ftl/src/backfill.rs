//! Chips of a superblock that a step leaves idle, and what they do meanwhile: rule D3.

use crate::ftl::Ftl;
use crate::image::{Image, ImageCluster};
use crate::memory::{NONE, index};
use crate::nand::{NandChips, OperationPurpose};
use crate::setup::{SetupError, Unlent};
use crate::slots::{FtlProcessor, JobKind};
use crate::step_pages::PageInStep;

/// Pages looked at for the idle chips of one step at most.
const LOOKS: u32 = 64;

/// What is known of the channels of a superblock.
#[derive(Debug)]
pub(crate) struct Backfill<'m> {
    /// [`CHANNEL_WORDS`] for each chip of it: which of its channels the chip is on, counted from 0;
    /// how many chips are there that are other clusters'; the last step that used the chip, and the
    /// last one that used the channel with this number.
    chips: &'m mut [[u32; CHANNEL_WORDS]],
    /// How many channels they are.
    channels: usize,
    /// The number of the step.
    step: u32,
    /// Whether a read is sure to be over with a row.
    reads_beside_rows: bool,
}

/// See [`Backfill`].
pub(crate) const CHANNEL_WORDS: usize = 4;

impl<'m> Backfill<'m> {
    /// That of a cluster; `None` where nothing is filled in.
    pub(crate) fn new(
        image: &Image<'_>,
        of: &ImageCluster<'_>,
        own: &[u32],
        rest: &mut Unlent<'m>,
    ) -> Result<Option<Backfill<'m>>, SetupError> {
        if !of.backfills() {
            return Ok(None);
        }
        let device = image.device();
        let chips = rest.words(CHANNEL_WORDS * own.len())?.as_chunks_mut().0;
        let (mut channels, mut others, mut at) = (0, 0, 0);
        // Chips ascend, so those of a channel are in a row.
        while let Some(chip) = own.get(at) {
            let channel = chip / device.chips_per_channel;
            let beside = own[at..].iter().take_while(|&other| other / device.chips_per_channel == channel).count();
            let all = device.chips_per_channel.min(device.chips - channel * device.chips_per_channel);
            let foreign = all.saturating_sub(u32::try_from(beside).unwrap_or(all));
            chips[at..at + beside].fill([channels, foreign, 0, 0]);
            (channels, others, at) = (channels + 1, others.max(all - 1), at + beside);
        }
        let hold = device.page_transfer_ns + device.command_ns;
        // With commands a read waits once more.
        let waits = if device.command_ns > 0 { hold.saturating_mul(others.into()) } else { 0 };
        let reads_beside_rows = device.page_read_ns.saturating_add(waits) <= device.page_program_ns;
        Ok(Some(Backfill { chips, channels: index(channels), step: 0, reads_beside_rows }))
    }

    /// A step begins: nothing is used.
    fn begins(&mut self) {
        self.step = self.step.checked_add(1).unwrap_or_else(|| {
            self.chips.iter_mut().for_each(|[.., chip, channel]| (*chip, *channel) = (0, 0));
            1
        });
    }

    /// Chips of other clusters on the channel of this one.
    fn foreign(&self, column: u32) -> u32 {
        self.chips[index(column)][1]
    }

    /// A page of the step is on this chip, and goes over its channel.
    fn uses(&mut self, column: u32) {
        let [channel, _, used, _] = &mut self.chips[index(column)];
        let channel = *channel;
        *used = self.step;
        self.chips[index(channel)][3] = self.step;
    }

    /// Whether a page of this chip may be read in the step; `foreign`: so many other clusters'
    /// chips may be on its channel, which nothing else of the step may use.
    #[inline]
    fn may_read(&self, column: u32, foreign: Option<u32>) -> bool {
        let [channel, beside, used, _] = self.chips[index(column)];
        match foreign {
            None => used != self.step,
            Some(most) => beside <= most && self.chips[index(channel)][3] != self.step,
        }
    }
}

impl Ftl<'_, '_> {
    /// Adds to a row of a request, which has free columns, pages that requests of less priority
    /// write.
    pub(crate) fn fill_in_writes(&mut self, number: usize, slot: u32, nand: &mut impl NandChips) {
        let Some(of) = self.processors[number].as_ref().filter(|of| of.backfill.is_some()) else { return };
        let width = of.ftl.pages.width();
        let mut free = width.saturating_sub(u32::try_from(of.pages.count()).unwrap_or(width));
        let mut next = self.requests[index(slot)].behind;
        while let Some(request) = self.requests.get(index(next)).copied().filter(|_| free > 0) {
            if request.key.kind == JobKind::Write {
                let written = self.write_row(number, (next, 0), free, nand);
                if written == 0 {
                    // No page is free.
                    return;
                }
                free = free.saturating_sub(written);
            }
            next = request.behind;
        }
    }

    /// Adds pages that requests and jobs read, in the order of their priorities, where their chips
    /// are idle and they are sure to end with the step. `read`: the chip of a request's read that
    /// the step is; then no two pages may be on one channel.
    pub(crate) fn fill_in_reads(&mut self, number: usize, read: Option<u32>, nand: &mut impl NandChips) {
        let Ftl { processors, clusters, requests, words, at_work, .. } = self;
        let Some(of) = &mut processors[number] else { return };
        let FtlProcessor { ftl, chips, busy, cluster, pages, backfill: Some(backfill), .. } = of else { return };
        // No two pages on one channel, or on one chip.
        let most = if read.is_some() { backfill.channels } else { chips.len() };
        if pages.count() >= most || read.is_none() && !backfill.reads_beside_rows {
            return;
        }
        backfill.begins();
        for place in 0..pages.count() {
            pages.get(place).iter().for_each(|page| backfill.uses(page.column));
        }
        let foreign = read.map(|read| backfill.foreign(read));
        let (width, mut slot, mut looks) = (ftl.pages.width(), clusters[index(*cluster)].first, 0);
        while let Some(&request) = requests.get(index(slot)) {
            // The word that says which page is next.
            let mut before = index(request.heads);
            while words[before] < request.reads {
                looks += 1;
                if looks > LOOKS || pages.count() >= most {
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
                at_work[index(chip / 64)] |= 1 << (chip % 64);
                *busy += 1;
                pages.reads(PageInStep { column: spot.chip, block: spot.block, lpn, slot, from: place });
                let purpose = OperationPurpose::Request { source: request.key.source, index: request.key.index, place };
                nand.read(chip, spot.into(), lpn, purpose);
            }
            slot = request.behind;
        }
    }
}
