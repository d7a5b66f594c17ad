//! A processor but for its EDF queue: its pages, the counters of its rules, its passes.

use crate::blocks::Victim;
use crate::image::ImageCollection;
use crate::memory::Memory;
use crate::pages::{Pages, Spot};
use crate::pass::{GcStep, PaddedPass, Pass, RowPage};

/// How a processor collects garbage.
#[derive(Debug, Clone, Copy)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct PassTerms {
    collection: ImageCollection,
    padded: PaddedPass,
}

impl PassTerms {
    /// The numbers of a certificate. Without them nothing is collected, and so nothing is written.
    pub fn new(collection: Option<ImageCollection>, padded: PaddedPass) -> PassTerms {
        PassTerms { collection: collection.unwrap_or(ImageCollection::NOTHING), padded }
    }
}

/// The rest of a job's part on a processor, as far as its next step depends on it.
#[derive(Debug, Clone, Copy)]
pub struct PartLeft {
    /// Whether a pass is due, or under way.
    pub owes: bool,
    /// The next page that it reads.
    pub read: Option<u32>,
    /// The next page that it writes.
    pub write: Option<u32>,
    /// Pages that it writes next, together: a row at most.
    pub row: u64,
    /// Whether it is served in the background, where it does not touch the reserve.
    pub background: bool,
}

/// The next step of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NextStep {
    /// One of its pass.
    Pass,
    /// This page is read.
    Read(u32),
    /// This block is reset, where tasks own zones.
    Reset(u32),
    /// Its row is programmed.
    Program,
    /// None now, nor one of any job behind it.
    Waits,
    /// None is left.
    Nothing,
}

/// A processor: a chip of a stripe, or a whole superblock cluster, by the rules of
/// docs/analysis.md. A queue says which job is next, a device how long a step takes.
#[derive(Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(bound = "M: crate::memory::KeptMemory"))]
pub struct EdfProcessor<M: Memory> {
    /// Its pages.
    pub pages: Pages<M>,
    terms: PassTerms,
    /// b: pages of real-time writes that arrived and are not programmed.
    pending: u64,
    /// a: pages of real-time writes that arrived.
    arrived: u64,
    /// GC jobs released.
    collected: u64,
    /// Pages that the server's jobs have programmed.
    served: u64,
    /// Passes of the server that are over or left out.
    server_passes: u64,
    /// That of the GC jobs, and the server's.
    passes: [Pass<M>; 2],
}

impl<M: Memory> EdfProcessor<M> {
    /// A processor to which nothing has arrived. `passes`: that of the GC jobs, and the server's.
    pub fn new(pages: Pages<M>, terms: PassTerms, passes: [Pass<M>; 2]) -> EdfProcessor<M> {
        EdfProcessor { pages, terms, pending: 0, arrived: 0, collected: 0, served: 0, server_passes: 0, passes }
    }

    /// a: pages of real-time writes that have arrived.
    pub fn arrived(&self) -> u64 {
        self.arrived
    }

    /// b: pages of real-time writes that have arrived and are not programmed.
    pub fn pending(&self) -> u64 {
        self.pending
    }

    /// α.
    pub(crate) fn reclaimed(&self) -> u64 {
        self.terms.collection.reclaimed_pages
    }

    /// It goes on by other terms (docs/admission.md), with `counted` pages towards the next GC job.
    pub fn change(&mut self, terms: PassTerms, counted: u64) {
        self.terms = terms;
        self.arrived = self.collected.saturating_mul(terms.collection.reclaimed_pages).saturating_add(counted);
    }

    /// An extra GC job is due: as if α pages had arrived, and been programmed.
    pub fn advance(&mut self) {
        self.arrived = self.arrived.saturating_add(self.terms.collection.reclaimed_pages);
    }

    /// Pages of real-time writes arrive.
    pub fn arrive(&mut self, pages: u64) {
        self.pending += pages;
        self.arrived += pages;
    }

    /// Rule R1: the number of a GC job that is due by the pages that have arrived, and its relative
    /// deadline in nanoseconds. Ask until there is none.
    pub fn collects(&mut self) -> Option<(u64, u64)> {
        let deadline = self.terms.collection.deadline_ns?;
        if self.arrived / self.terms.collection.reclaimed_pages <= self.collected {
            return None;
        }
        self.collected += 1;
        Some((self.collected - 1, deadline))
    }

    /// Whether the reserve is there beside `pages` more, f − b ≥ H; without them: whether a pass is
    /// void (rule R3).
    pub fn has_reserve_beside(&self, pages: u64) -> bool {
        let free = u64::from(self.pages.free());
        free >= self.pending.saturating_add(self.terms.collection.reserve_pages).saturating_add(pages)
    }

    /// The next step of the job with the earliest deadline: its pass before its pages (rule V3),
    /// reads before writes, and a reset before the first page of a block.
    pub fn next_step(&self, left: PartLeft) -> NextStep {
        let PartLeft { owes, read, write, row, background } = left;
        match (read, write) {
            _ if owes => NextStep::Pass,
            (Some(lpn), _) => NextStep::Read(lpn),
            (None, None) => NextStep::Nothing,
            (None, Some(lpn)) => match self.pages.to_reset(lpn) {
                Some(block) => NextStep::Reset(block),
                None if background && !self.has_reserve_beside(row) => NextStep::Waits,
                None => NextStep::Program,
            },
        }
    }

    /// Programs a page of a real-time write; `None` where no page is free.
    pub fn write(&mut self, lpn: u32) -> Option<Spot> {
        let spot = self.pages.program(lpn)?;
        self.pending -= 1;
        Some(spot)
    }

    /// Programs a page of a server's job. `counts`: the job has a deadline, and passes behind its
    /// pages.
    pub fn serve(&mut self, lpn: u32, counts: bool) -> Option<Spot> {
        let spot = self.pages.program(lpn)?;
        self.served += u64::from(counts);
        Some(spot)
    }

    /// Rule V2: whether the server's next pass is due.
    pub fn server_pass_is_due(&self) -> bool {
        self.served >= self.terms.collection.reclaimed_pages.saturating_mul(self.server_passes + 1)
    }

    /// Whether a pass is under way: of the GC jobs, or of the server.
    pub fn is_collecting(&self, server: bool) -> bool {
        self.passes[usize::from(server)].is_under_way()
    }

    /// Rule R4: begins a pass, for the server or for the GC jobs; `None` if it is void, or there is
    /// nothing to collect.
    pub fn begin_pass(&mut self, server: bool) -> Option<Victim> {
        if self.has_reserve_beside(0) {
            return if server { None } else { self.begin_moving() };
        }
        let victim = self.pages.take_victim()?;
        self.passes[usize::from(server)].begin(victim.block, self.terms.padded);
        Some(victim)
    }

    /// Free pages beyond the reserve, f − b − H; for wear, beyond the part of H that is not for
    /// that.
    fn beyond_reserve(&self, for_wear: bool) -> u64 {
        let ImageCollection { reserve_pages, wear_pages, .. } = self.terms.collection;
        let reserve = reserve_pages.saturating_sub(if for_wear { wear_pages } else { 0 });
        u64::from(self.pages.free()).saturating_sub(self.pending.saturating_add(reserve))
    }

    /// Rule B4: a void GC job moves pages of a retired block, or of the least worn one.
    fn begin_moving(&mut self) -> Option<Victim> {
        let has_room = |for_wear| self.terms.collection.victim_pages.min(self.beyond_reserve(for_wear)) > 0;
        let from = match self.pages.blocks().retired_with_pages() {
            Some(retired) => Some(retired).filter(|_| has_room(false))?,
            None if has_room(true) => self.pages.take_least_worn()?,
            None => return None,
        };
        self.passes[0].begin_moving(from.block, self.terms.collection.victim_pages);
        Some(from)
    }

    /// Whether the GC job moves pages, and erases nothing.
    pub fn moves(&self) -> bool {
        self.passes[0].moves_from().is_some()
    }

    /// Pages of a block were moved: the GC job is over.
    pub fn moved(&mut self) {
        if let Some(block) = self.passes[0].end() {
            self.pages.blocks.give_back(block);
        }
    }

    /// The erase of a pass has failed: the pass is over.
    pub fn erase_failed(&mut self, server: bool) {
        if let Some(victim) = self.passes[usize::from(server)].end() {
            self.pages.retire(victim);
        }
    }

    /// The next step of a pass under way, or `None`. `put` gets the pages that a superblock reads
    /// or programs.
    #[inline(always)]
    pub fn step_of_pass(&mut self, server: bool, put: impl FnMut(RowPage)) -> Option<GcStep> {
        // A pass that collects takes the reserve.
        let moves_from = self.passes[usize::from(server)].moves_from();
        let beyond = moves_from.map_or(0, |block| self.beyond_reserve(!self.pages.blocks().is_retired(block)));
        let pass = &mut self.passes[usize::from(server)];
        if self.pages.columns().superblock {
            pass.step_in_superblock(&mut self.pages, beyond, put)
        } else {
            pass.step_in_chip(&mut self.pages, beyond)
        }
    }

    /// A logical page that the next step of a pass will probably read.
    pub fn next_of_pass(&mut self, server: bool) -> Option<u32> {
        self.passes[usize::from(server)].next(&self.pages)
    }

    /// The erase of a pass has ended: the pass is over.
    pub fn erased(&mut self, server: bool) {
        if let Some(victim) = self.passes[usize::from(server)].end() {
            self.pages.erase(victim);
        }
    }

    /// A pass of the server is over or left out. Says whether the next one is due.
    pub fn server_pass_is_over(&mut self) -> bool {
        self.server_passes += 1;
        self.server_pass_is_due()
    }
}
