//! The channels of a superblock whose idle chips do something during a step (rule D3).

use crate::image::{Image, ImageCluster};
use crate::memory::index;

#[derive(Debug)]
pub(crate) struct Backfill<'m> {
    /// For each chip of it: its channel, counted from 0; the chips of other clusters on that
    /// channel; the last step that used the chip; the last step that used the channel with this
    /// number.
    chips: &'m mut [[u32; CHANNEL_WORDS]],
    pub(crate) channels: usize,
    step: u32,
    /// A read is sure to end with a row.
    pub(crate) reads_beside_rows: bool,
}

pub(crate) const CHANNEL_WORDS: usize = 4;

impl<'m> Backfill<'m> {
    /// `None` where nothing is filled in. `words`: [`CHANNEL_WORDS`] for each chip of `own`.
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

    pub(crate) fn begins(&mut self) {
        self.step = self.step.checked_add(1).unwrap_or_else(|| {
            self.chips.iter_mut().for_each(|[.., chip, channel]| (*chip, *channel) = (0, 0));
            1
        });
    }

    pub(crate) fn foreign(&self, column: u32) -> u32 {
        let [_, foreign, ..] = self.chips[index(column)];
        foreign
    }

    pub(crate) fn uses(&mut self, column: u32) {
        let [channel, _, used, _] = &mut self.chips[index(column)];
        let channel = *channel;
        *used = self.step;
        let [.., used] = &mut self.chips[index(channel)];
        *used = self.step;
    }

    /// `foreign`: for a read, the most chips of other clusters on its channel; then no other page
    /// of the step uses that channel.
    pub(crate) fn may_read(&self, column: u32, foreign: Option<u32>) -> bool {
        let [channel, beside, used, _] = self.chips[index(column)];
        let [.., used_channel] = self.chips[index(channel)];
        match foreign {
            None => used != self.step,
            Some(most) => beside <= most && used_channel != self.step,
        }
    }
}
