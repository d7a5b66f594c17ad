//! Garbage collection on a processor (docs/analysis.md, Sections 2.2 to 2.5).
//!
//! 1. One counter of pages releases the jobs, each due D_g later; jobs run one after another.
//! 2. The victim is the closed block with the fewest valid pages.
//! 3. Nothing else programs pages, except a server.
//! 4. No deadline is missed: the demand test assures that.
//!
//! So a reserve of H pages is enough for every program, a victim has at most v valid pages, and a
//! pass reclaims at least α.

mod room;
#[cfg(test)]
mod tests;
mod towards;
mod wear;

use rtflash_model::{Certificate, Collection, Span};

use crate::organisation::organisation;
use crate::organisation::processor::Processor;
use crate::time::Cost;
use room::GcNumbers;

/// Garbage collection on a processor, once its relative deadline is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ChosenGc {
    /// D_g; `None` where no real-time task writes.
    pub deadline: Option<Span>,
    /// H: free pages kept in reserve.
    pub reserve: u64,
    /// F: blocks that are not closed, or being collected, when a victim is chosen, at most.
    pub open: u64,
    /// v: valid pages of a victim, at most.
    pub valid: u64,
    /// α: pages that a pass reclaims, at least.
    pub reclaimed: u64,
    /// C_g: worst-case time of a pass.
    pub cost: Cost,
    /// C_g with all waits: more in a superblock, which counts some of them apart.
    pub in_full: Cost,
    /// q_g: its longest step.
    pub step: Cost,
}

impl ChosenGc {
    /// The collection terms for the device that runs the cluster.
    pub fn to_collection(self) -> Collection {
        Collection {
            deadline: self.deadline,
            reclaimed_pages: self.reclaimed,
            reserve_pages: self.reserve,
            victim_pages: self.valid,
            open_blocks: self.open,
        }
    }
}

impl Processor {
    /// `None` where the blocks do not suffice. Without writers the deadline says nothing.
    pub fn gc(&self, deadline: Span, server: bool) -> Option<ChosenGc> {
        if !organisation(self.placement).collects() {
            return None;
        }
        let numbers = self.numbers(self.arrivals(deadline)?, self.pending(), server)?;
        let deadline = (!self.write_streams.is_empty()).then_some(deadline);
        self.terms(deadline, numbers)
    }

    /// As a certificate states it; `None` inside where nothing is written, and `None` where it
    /// states less than the load needs (docs/analysis.md, Section 8).
    pub fn stated(&self, certificate: &Certificate) -> Option<Option<ChosenGc>> {
        let server = certificate.server_thousandths > 0;
        if server && !organisation(self.placement).collects() {
            return None;
        }
        if self.write_streams.is_empty() && !server {
            return Some(None);
        }
        let stated = certificate.collection?;
        let deadline = if self.write_streams.is_empty() { None } else { Some(stated.deadline?) };
        let (valid, reclaimed) = (stated.victim_pages, stated.reclaimed_pages);
        // (C1): α ≥ 1 and α + v ≤ PP.
        let emptied = self.emptied(valid, reclaimed).filter(|_| reclaimed > 0)?;
        let unfilled = organisation(self.placement).unfilled(self.chips);
        let drawn = if server { emptied.checked_add(unfilled)? } else { 0 };
        let arrivals = deadline.map_or(Some(0), |deadline| self.arrivals(deadline))?;
        let reserve = arrivals.checked_add(emptied - 1)?.checked_add(drawn)?;
        let open = self.open(stated.reserve_pages, self.pending(), server)?;
        let closed = self.blocks.checked_sub(open).filter(|&closed| closed > 0)?;
        // (C2), (C3) and (C4).
        if stated.reserve_pages < reserve || stated.open_blocks < open || valid < self.mapped / closed {
            return None;
        }
        let (reserve, open) = (stated.reserve_pages, stated.open_blocks);
        self.terms(deadline, GcNumbers { reserve, open, valid, reclaimed }).map(Some)
    }

    /// Garbage collection that was chosen elsewhere, at what it costs here.
    pub(crate) fn costing(&self, gc: ChosenGc) -> Option<ChosenGc> {
        let ChosenGc { reserve, open, valid, reclaimed, .. } = gc;
        self.terms(gc.deadline, GcNumbers { reserve, open, valid, reclaimed })
    }

    /// A = Σ γ(⌈(D_g + J)/T⌉), Eq. (5): pages that may arrive within this time.
    fn arrivals(&self, deadline: Span) -> Option<u64> {
        self.write_streams.iter().try_fold(0u64, |sum, writer| sum.checked_add(writer.arriving_within(deadline)?))
    }

    /// With these H, F, v and α.
    fn terms(&self, deadline: Option<Span>, numbers: GcNumbers) -> Option<ChosenGc> {
        let GcNumbers { reserve, open, valid, reclaimed } = numbers;
        let (erase, organisation) = (self.costs.longest_erase, organisation(self.placement));
        let (cost, in_full) = self.pass_of(valid)?;
        // A victim without valid pages copies nothing. q_g, and Eq. (83).
        let copying = if valid == 0 { Cost::ZERO } else { organisation.copying(&self.costs) };
        let step = if self.suspension.is_some() { copying } else { erase.max(copying) };
        Some(ChosenGc { deadline, reserve, open, valid, reclaimed, cost, in_full, step })
    }

    /// C_g of a victim with `valid` pages, and with all that its steps can wait.
    fn pass_of(&self, valid: u64) -> Option<(Cost, Cost)> {
        let organisation = organisation(self.placement);
        let cost = organisation.pass(&self.costs, valid, self.block_pages, self.chips)?;
        if !organisation.copies_over_the_bus() {
            return Some((cost, cost));
        }
        Some((cost, organisation.pass(&self.costs.in_full(), valid, self.block_pages, self.chips)?))
    }

    /// The charge below the full one of a superblock, in ns: a user's read, a row, and a pass.
    pub(crate) fn saved_waits(&self, gc: Option<ChosenGc>) -> Option<[u64; 3]> {
        self.rows()?;
        let costs =
            [(self.costs.longest_user_read, self.costs.user_read), (self.costs.longest_write, self.costs.write)];
        let [read, row] = costs.map(|(full, charged)| full.as_ns().saturating_sub(charged.as_ns()));
        Some([read, row, gc.map_or(0, |gc| gc.in_full.as_ns().saturating_sub(gc.cost.as_ns()))])
    }
}
