//! Chips with a second page register: docs/analysis.md, Section 13.

use rtflash_model::Device;

use super::lines::AffineBound;
use crate::on_chip;

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
    pub t_d: i128,
    /// b, Eq. (59).
    b: i128,
    /// Transfers charged to each read, its own included: one more than m.
    pub charged: i128,
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
    pub fn waits(&self, chips: i128) -> i128 {
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
    pub fn turns(&self, jobs: i128, reads: i128, writes: i128) -> Option<i128> {
        match self.works {
            Works { writes: false, .. } => Some(0),
            Works { server: true, .. } => jobs.checked_mul(2),
            Works { reads: false, .. } => Some(jobs.min(writes)),
            Works { .. } => jobs.min(writes).checked_add(jobs.min(reads.checked_add(1)?)),
        }
    }

    /// A line above it: each minimum is below either.
    pub fn turns_above(&self, jobs: &AffineBound, reads: &AffineBound, writes: &AffineBound) -> AffineBound {
        let fills = jobs.clone().min(writes.clone());
        match self.works {
            Works { writes: false, .. } => AffineBound::level(0),
            Works { server: true, .. } => jobs.plus(jobs),
            Works { reads: false, .. } => fills,
            Works { .. } => fills.plus(&jobs.clone().min(reads.plus(&AffineBound::level(1)))),
        }
    }
}
