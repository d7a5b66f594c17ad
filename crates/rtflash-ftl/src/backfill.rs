//! What is known of the channels of a superblock where chips that a step leaves idle do something
//! meanwhile (rule D3).

use crate::image::{Image, ImageCluster};
use crate::memory::index;

/// What is known of the channels of a superblock.
#[derive(Debug)]
pub(crate) struct Backfill<'m> {
    /// [`CHANNEL_WORDS`] for each chip of it: which of its channels the chip is on, counted from 0;
    /// how many chips are there that are other clusters'; the last step that used the chip, and the
    /// last one that used the channel with this number.
    chips: &'m mut [[u32; CHANNEL_WORDS]],
    /// How many channels they are.
    pub(crate) channels: usize,
    /// The number of the step.
    step: u32,
    /// Whether a read is sure to be over with a row.
    pub(crate) reads_beside_rows: bool,
}

/// See [`Backfill`].
pub(crate) const CHANNEL_WORDS: usize = 4;

impl<'m> Backfill<'m> {
    /// That of a cluster with these chips; `None` where nothing is filled in. `words`:
    /// [`CHANNEL_WORDS`] for each of them.
    pub(crate) fn new(
        image: &Image<'_>,
        of: &ImageCluster<'_>,
        own: &[u32],
        words: &'m mut [u32],
    ) -> Option<Backfill<'m>> {
        if !of.backfills() {
            return None;
        }
        let (device, chips) = (image.device(), words.as_chunks_mut().0);
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
        Some(Backfill { chips, channels: index(channels), step: 0, reads_beside_rows })
    }

    /// A step begins: nothing is used.
    pub(crate) fn begins(&mut self) {
        self.step = self.step.checked_add(1).unwrap_or_else(|| {
            self.chips.iter_mut().for_each(|[.., chip, channel]| (*chip, *channel) = (0, 0));
            1
        });
    }

    /// Chips of other clusters on the channel of this one.
    pub(crate) fn foreign(&self, column: u32) -> u32 {
        self.chips[index(column)][1]
    }

    /// A page of the step is on this chip, and goes over its channel.
    pub(crate) fn uses(&mut self, column: u32) {
        let [channel, _, used, _] = &mut self.chips[index(column)];
        let channel = *channel;
        *used = self.step;
        self.chips[index(channel)][3] = self.step;
    }

    /// Whether a page of this chip may be read in the step; `foreign`: so many other clusters'
    /// chips may be on its channel, which nothing else of the step may use.
    #[inline]
    pub(crate) fn may_read(&self, column: u32, foreign: Option<u32>) -> bool {
        let [channel, beside, used, _] = self.chips[index(column)];
        match foreign {
            None => used != self.step,
            Some(most) => beside <= most && self.chips[index(channel)][3] != self.step,
        }
    }
}
