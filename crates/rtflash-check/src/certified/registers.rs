//! Chips with a second page register: docs/analysis.md, Section 13.

use rtflash_model::Device;

use super::channels::Neighbour;
use super::lines::AffineBound;
use super::numbers::sum;
use super::processor::{Processor, VerifiedTask};
use crate::on_chip;
use num_rational::BigRational;

/// Whether a chip may read, and write, and whether a server has it do so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Works {
    pub reads: bool,
    pub writes: bool,
    pub server: bool,
}

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
    /// What it may have to do.
    works: Works,
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
        let works = Works { reads: false, writes: false, server: false };
        SecondRegister { t_r, t_w, t_e, t_d, b: most.max(charged) * t_d, charged, works, blocking: 0 }
    }

    /// All times so many times as long.
    #[cfg(test)]
    pub fn stretch(&mut self, by: i128) {
        let SecondRegister { t_r, t_w, t_e, t_d, b, charged: _, works: _, blocking } = self;
        [t_r, t_w, t_e, t_d, b, blocking].into_iter().for_each(|time| *time *= by);
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

    /// B, Eq. (61), of a chip that may have this to do.
    pub fn works(&mut self, works: Works) {
        let Works { reads, writes, .. } = works;
        let read = self.t_r.max(self.b) + if writes { 0 } else { self.b };
        let inside = self.t_e.max(self.t_r + self.t_w);
        let program = self.t_w.max(self.b) + self.t_w;
        self.blocking = [(reads, read), (writes, inside), (writes, program)]
            .into_iter()
            .filter(|&(may_be, _)| may_be)
            .fold(0, |longest, (_, step)| longest.max(step));
        self.works = works;
    }

    /// K, Eq. (60), of so many jobs, pages read and pages written.
    fn turns(&self, jobs: i128, reads: i128, writes: i128) -> Option<i128> {
        match self.works {
            Works { writes: false, .. } => Some(0),
            Works { server: true, .. } => jobs.checked_mul(2),
            Works { reads: false, .. } => Some(jobs.min(writes)),
            Works { .. } => jobs.min(writes).checked_add(jobs.min(reads.checked_add(1)?)),
        }
    }

    /// A line above it: each minimum is below either.
    fn turns_above(&self, jobs: &AffineBound, reads: &AffineBound, writes: &AffineBound) -> AffineBound {
        let fills = jobs.clone().min(writes.clone());
        match self.works {
            Works { writes: false, .. } => AffineBound::level(0),
            Works { server: true, .. } => jobs.plus(jobs),
            Works { reads: false, .. } => fills,
            Works { .. } => fills.plus(&jobs.clone().min(reads.plus(&AffineBound::level(1)))),
        }
    }
}

impl Processor {
    /// W4, Eq. (64): what pages wait for the bus beyond what they are charged, with all waits of the
    /// array for its register; `None` for a chip with one register.
    pub(super) fn waiting_behind(&self, length: i128) -> Option<Option<i128>> {
        let Some(register) = &self.register else { return Some(None) };
        let pages = |writes: bool| {
            let items = self.tasks.iter().filter(move |item| item.writes == writes);
            sum(items.map(|item| item.pages_due(length)))
        };
        let (reads, writes) = (pages(false)?, pages(true)?);
        // A job without a page here makes nobody wait.
        let with_pages = self.tasks.iter().map(|item| Some(item.requests_due(length).min(item.pages_due(length)?)));
        let turns = register.turns(sum(with_pages)?.checked_add(self.passes(length)?)?, reads, writes)?;
        let of = |it: &Neighbour| Some((it.transfers(length)?, it.chips));
        let mut busy = self.neighbours.iter().map(of).collect::<Option<Vec<_>>>()?;
        busy.sort_unstable();
        let mut before = register.charged - 1;
        let ranked = busy.into_iter().rev().map(|(transfers, chips)| {
            let longer = register.waits(before + chips) - register.waits(before);
            before += chips;
            let in_turns = transfers.min(turns);
            let behind_reads = reads.min(transfers - in_turns).checked_mul(longer)?;
            in_turns.checked_mul(register.t_d)?.checked_mul(chips)?.checked_add(behind_reads)
        });
        let charged = turns.checked_mul(register.charged)?.checked_mul(register.t_d)?;
        Some(Some(charged.checked_add(sum(ranked)?)?))
    }

    /// A line above it: whichever chips are ranked first, the sum is no less. `jobs` is above the
    /// number of jobs with pages, and of passes.
    pub(super) fn waiting_behind_above(
        &self,
        jobs: &AffineBound,
        pages: impl Fn(&VerifiedTask) -> AffineBound,
    ) -> Option<AffineBound> {
        let register = self.register.as_ref()?;
        let of = |writes: bool| AffineBound::sum(self.tasks.iter().filter(|item| item.writes == writes).map(&pages));
        let (reads, writes) = (of(false), of(true));
        let turns = register.turns_above(jobs, &reads, &writes);
        let whole = |number: i128| BigRational::from_integer(number.into());
        let of = |it: &Neighbour| (it.transfers_above(), it.chips);
        let mut busy: Vec<(AffineBound, i128)> = self.neighbours.iter().map(of).collect();
        busy.sort_unstable();
        let mut before = register.charged - 1;
        let ranked = AffineBound::sum(busy.into_iter().rev().map(|(transfers, chips)| {
            let longer = register.waits(before + chips) - register.waits(before);
            before += chips;
            let each = whole(register.t_d * chips);
            // Every transfer at the price of a turn, or as many of either kind as there may be.
            let apart = turns.times(&each).plus(&reads.times(&whole(longer)));
            transfers.times(&each).min(apart)
        }));
        Some(turns.times(&whole(register.charged * register.t_d)).plus(&ranked))
    }
}
