//! Chips with a second page register: docs/analysis.md, Section 13.

use rtflash_model::Device;

use super::channels::Neighbour;
use super::lines::AffineBound;
use super::numbers::sum;
use super::processor::{Processor, VerifiedTask};
use crate::on_chip;
use num_rational::BigRational;

/// What a chip takes that moves a page while it senses or programs another one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SecondRegister {
    t_r: i128,
    t_w: i128,
    t_e: i128,
    t_d: i128,
    /// b, Eq. (59).
    b: i128,
    /// Transfers charged to each read, its own included: one more than m.
    charged: i128,
    /// κ b: what a job, or a pass, may cost beside its pages.
    pub turn: i128,
    /// B.
    pub blocking: i128,
}

impl SecondRegister {
    /// Of a chip that may wait for most − 1 others, and of which each read is charged so many
    /// transfers. It has nothing to do yet.
    pub fn new(device: &Device, most: i128, charged: i128) -> SecondRegister {
        let [t_r, t_w] = on_chip::longest(device).map(i128::from);
        let [t_e, t_d] = [device.block_erase(), device.page_transfer()].map(|time| i128::from(time.as_ns()));
        SecondRegister::of([t_r, t_w, t_e, t_d], most, charged)
    }

    /// The same with these t_r, t_w, t_e and t_d.
    pub fn of([t_r, t_w, t_e, t_d]: [i128; 4], most: i128, charged: i128) -> SecondRegister {
        SecondRegister { t_r, t_w, t_e, t_d, b: most.max(charged) * t_d, charged, turn: 0, blocking: 0 }
    }

    /// All times so many times as long.
    #[cfg(test)]
    pub fn stretch(&mut self, by: i128) {
        let SecondRegister { t_r, t_w, t_e, t_d, b, charged: _, turn, blocking } = self;
        [t_r, t_w, t_e, t_d, b, turn, blocking].into_iter().for_each(|time| *time *= by);
    }

    /// c_r and c_w, Eq. (63).
    pub fn page(&self, writes: bool) -> i128 {
        if writes { self.t_w.max(self.b) } else { self.t_r + self.waits(self.charged - 1) }
    }

    /// h(m), Eq. (62): how much longer than t_r a read takes the array where the page before waits
    /// for m chips.
    fn waits(&self, chips: i128) -> i128 {
        ((chips + 1) * self.t_d - self.t_r).max(0)
    }

    /// κ b and B, Eqs. (60) and (61), of a chip that may read and write so.
    pub fn works(&mut self, reads: bool, writes: bool) {
        self.turn = match (reads, writes) {
            (_, false) => 0,
            (false, true) => self.b,
            (true, true) => 2 * self.b,
        };
        let read = self.t_r.max(self.b) + if writes { 0 } else { self.b };
        let inside = self.t_e.max(self.t_r + self.t_w);
        let program = self.t_w.max(self.b) + self.t_w;
        self.blocking = [(reads, read), (writes, inside), (writes, program)]
            .into_iter()
            .filter(|&(may_be, _)| may_be)
            .fold(0, |longest, (_, step)| longest.max(step));
    }
}

impl Processor {
    /// W4, Eq. (64): what reads wait for neighbours whose load is known, `None` for a chip with one
    /// register.
    pub(super) fn waiting_behind(&self, length: i128) -> Option<Option<i128>> {
        let Some(register) = &self.register else { return Some(None) };
        let reads = self.tasks.iter().filter(|item| !item.writes);
        let reads = sum(reads.map(|item| item.pages_due(length)))?;
        let of = |it: &Neighbour| Some((it.transfers(length)?.min(reads), it.chips));
        let mut busy = self.neighbours.iter().map(of).collect::<Option<Vec<_>>>()?;
        busy.sort_unstable();
        let mut before = register.charged - 1;
        let ranked = busy.into_iter().rev().map(|(transfers, chips)| {
            let longer = register.waits(before + chips) - register.waits(before);
            before += chips;
            transfers.checked_mul(longer)
        });
        Some(Some(sum(ranked)?))
    }

    /// A line above it: whichever chips are ranked first, the sum is no less.
    pub(super) fn waiting_behind_above(&self, pages: impl Fn(&VerifiedTask) -> AffineBound) -> Option<AffineBound> {
        let register = self.register.as_ref()?;
        let reads = AffineBound::sum(self.tasks.iter().filter(|item| !item.writes).map(pages));
        let of = |it: &Neighbour| (it.transfers_above().min(reads.clone()), it.chips);
        let mut busy: Vec<(AffineBound, i128)> = self.neighbours.iter().map(of).collect();
        busy.sort_unstable();
        let mut before = register.charged - 1;
        Some(AffineBound::sum(busy.into_iter().rev().map(|(transfers, chips)| {
            let longer = register.waits(before + chips) - register.waits(before);
            before += chips;
            transfers.times(&BigRational::from_integer(longer.into()))
        })))
    }
}
