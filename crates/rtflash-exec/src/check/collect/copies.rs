//! Copies of GC jobs that follow each other on a chip of a stripe.

use rtflash_model::Instant;

use super::Collections;
use crate::check::gauge::Place;
use crate::check::mapping::Mapping;
use crate::check::watched_pass::WatchedPass;
use crate::ids::ChipId;
use crate::trace::CopyTimes;

impl Collections {
    /// How many pages of a processor are free, and how many of them may be taken that are not
    /// pending; `None` where that is not known, or changes soon.
    pub(in crate::check) fn may_take(&self, processor: usize, map: &mut Mapping, at: Instant) -> Option<(u64, usize)> {
        let account = &self.accounts[processor];
        let free = map.lasting_free_in(account.chip, at)?;
        let waiting = account.arrived.saturating_sub(account.programmed);
        let most = usize::try_from(free.saturating_sub(waiting)).expect("pages of a processor have 32 bits");
        Some((free, most))
    }

    /// The pass of the GC jobs of a processor, from these copies on; `None` where it holds pages
    /// that have been read, or only moves what is left in a block.
    pub(in crate::check) fn plain_pass(&mut self, processor: usize, first: &CopyTimes) -> Option<&mut WatchedPass> {
        let [pass, _] = &mut self.accounts[processor].passes;
        let is_next = pass.step.is_none_or(|(start, _)| start < first.start);
        Some(pass).filter(|pass| is_next && pass.buffer.is_empty() && pass.moves.is_none())
    }

    /// Copies have taken pages, so that so many are free with the last one: it leaves the fewest.
    pub(in crate::check) fn takes(&mut self, processor: usize, chip: ChipId, free: u64, at: Instant) {
        let account = &self.accounts[processor];
        let waiting = account.arrived.saturating_sub(account.programmed);
        let cluster = Some(account.cluster);
        self.reserve.note_by_chip(free, waiting, Place { at, job: None, cluster, chip: Some(chip) });
    }

    /// The pass of a processor: of the GC jobs, or of the server.
    #[inline(always)]
    pub(in crate::check) fn pass_of(&mut self, processor: usize, server: bool) -> &mut WatchedPass {
        &mut self.accounts[processor].passes[usize::from(server)]
    }

    /// Where the page was that a chip of a stripe copies, if it is to be programmed at this instant
    /// or later.
    pub(in crate::check) fn copying(&self, processor: usize, at: Instant) -> Option<u32> {
        let passes = self.accounts[processor].passes.iter();
        let mut copied = passes.filter(|pass| pass.read.is_some_and(|read| read >= at));
        copied.find_map(|pass| pass.buffer.last().map(|&(_, there)| there))
    }

    /// So many pages of a processor are programmed.
    pub(in crate::check) fn takes_in_rows(&self, processor: usize, pages: u64, map: &mut Mapping) {
        map.takes_of(self.accounts[processor].chip, pages);
    }

    /// So many pages of a superblock are free with a step of a pass.
    pub(in crate::check) fn leaves_in_rows(&mut self, processor: usize, free: u64, place: Place) {
        let account = &self.accounts[processor];
        let waiting = account.arrived.saturating_sub(account.programmed);
        self.reserve.note(free, waiting, || place);
    }

    /// A processor has programmed so many pages of requests.
    pub(in crate::check) fn programmed(&mut self, processor: usize, pages: u64) {
        let account = &mut self.accounts[processor];
        // What a trace states it began with may be any number.
        account.programmed = account.programmed.saturating_add(pages);
    }

    /// So many pages are free with an operation. Observers are notified of copies together: of what
    /// begins in a stripe at one instant the lowest chip comes first, but behind what arrives then.
    #[inline(always)]
    pub(super) fn leaves(&mut self, stripe: bool, (free, waiting): (u64, u64), place: Place) {
        let arrives = place.cluster.is_some_and(|cluster| self.arrivals[cluster].at == place.at);
        if stripe && !arrives {
            self.reserve.note_by_chip(free, waiting, place);
        } else {
            self.reserve.note(free, waiting, || place);
        }
    }
}
