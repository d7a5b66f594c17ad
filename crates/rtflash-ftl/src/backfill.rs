//! Chips of a superblock that a step leaves idle, and what they do meanwhile: rule D3.

use crate::ftl::Ftl;
use crate::image::{Image, ImageCluster};
use crate::memory::{has, index};
use crate::nand::{NandChips, OperationPurpose};
use crate::pages::Spot;
use crate::setup::{SetupError, Unlent};
use crate::slots::{FtlProcessor, JobKind};
use crate::step_pages::PageInStep;

/// Pages looked at for the idle chips of one step at most.
const LOOKS: u32 = 64;

/// What is known of the channels of a superblock.
#[derive(Debug)]
pub(crate) struct Backfill<'m> {
    /// [`CHANNEL_WORDS`] for each chip of it: which of its channels the chip is on, counted from 0,
    /// and how many chips there are other clusters'.
    chips: &'m mut [u32],
    /// A bit for each of them, whether a page of the step that begins goes over it.
    used: &'m mut [u64],
    /// How many they are.
    channels: usize,
    /// Whether a read is sure to be over with a row.
    reads_beside_rows: bool,
}

/// See [`Backfill`].
pub(crate) const CHANNEL_WORDS: usize = 2;

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
        let (chips, used) = (rest.words(CHANNEL_WORDS * own.len())?, rest.bits(own.len().div_ceil(64))?);
        let (mut channels, mut others, mut at) = (0, 0, 0);
        // Chips ascend, so those of a channel are in a row.
        while let Some(chip) = own.get(at) {
            let channel = chip / device.chips_per_channel;
            let beside = own[at..].iter().take_while(|&other| other / device.chips_per_channel == channel).count();
            let all = device.chips_per_channel.min(device.chips - channel * device.chips_per_channel);
            let foreign = all.saturating_sub(u32::try_from(beside).unwrap_or(all));
            for words in chips[CHANNEL_WORDS * at..].chunks_exact_mut(CHANNEL_WORDS).take(beside) {
                words.copy_from_slice(&[channels, foreign]);
            }
            (channels, others, at) = (channels + 1, others.max(all - 1), at + beside);
        }
        let hold = device.page_transfer_ns + device.command_ns;
        // With commands a read waits once more.
        let waits = if device.command_ns > 0 { hold.saturating_mul(others.into()) } else { 0 };
        let reads_beside_rows = device.page_read_ns.saturating_add(waits) <= device.page_program_ns;
        Ok(Some(Backfill { chips, used, channels: index(channels), reads_beside_rows }))
    }

    /// Which channel a chip is on.
    fn channel(&self, column: u32) -> u32 {
        self.chips[CHANNEL_WORDS * index(column)]
    }

    /// Chips of other clusters there.
    fn foreign(&self, column: u32) -> u32 {
        self.chips[CHANNEL_WORDS * index(column) + 1]
    }

    /// A page of the step goes over the channel of this chip.
    fn uses(&mut self, column: u32) {
        let channel = self.channel(column);
        self.used[index(channel / 64)] |= 1 << (channel % 64);
    }
}

impl Ftl<'_, '_> {
    /// Adds to a row of a request, which has free columns, pages that requests of less priority
    /// write.
    pub(crate) fn fill_in_writes(&mut self, number: usize, slot: u32, nand: &mut impl NandChips) {
        let Some(of) = self.processors[number].as_ref().filter(|of| of.backfill.is_some()) else { return };
        let width = of.ftl.pages.width();
        let free = |of: &FtlProcessor<'_>| width.saturating_sub(u32::try_from(of.pages.count()).unwrap_or(width));
        let mut requests = free(of);
        let mut next = self.requests[index(slot)].behind;
        while let Some(request) = self.requests.get(index(next)).copied().filter(|_| requests > 0) {
            if request.key.kind == JobKind::Write {
                let Some(free) = self.processors[number].as_ref().map(free) else { return };
                self.write_row(number, (next, 0), free, nand);
                requests -= 1;
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
        if let Some(read) = read {
            backfill.used.fill(0);
            backfill.uses(read);
        }
        let (mut slot, mut looks) = (clusters[index(*cluster)].first, 0);
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
                let fits = |spot: &Spot| match read {
                    None => !has(at_work, chips[index(spot.chip)]),
                    Some(read) => {
                        !has(backfill.used, backfill.channel(spot.chip))
                            && backfill.foreign(spot.chip) <= backfill.foreign(read)
                    }
                };
                let Some(spot) = ftl.pages.locate(lpn).filter(fits) else {
                    before = at + 1;
                    continue;
                };
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
