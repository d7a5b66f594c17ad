//! Chips with a second page register: docs/analysis.md, Sections 13, 15 and 15.1.

use rtflash_model::Device;

use super::channels::ChannelNeighbours;
use super::lines::AffineBound;
use crate::on_chip;

/// Whether a chip may read, and write, and whether a server has it do so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Works {
    pub reads: bool,
    pub writes: bool,
    pub server: bool,
}

/// The times of a chip that moves a page while it senses or programs another one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SecondRegister {
    t_r: i128,
    t_w: i128,
    t_e: i128,
    t_d: i128,
    /// t_c; zero without commands.
    t_c: i128,
    /// β, Eq. (61): of a superblock β_w of a row, and β_r of a page that is read.
    beta_w: i128,
    beta_r: i128,
    copy: i128,
    /// Transfers charged to each read, its own included: one more than m_0; and to each program.
    pub charged: i128,
    charged_fill: i128,
    works: Works,
    /// B.
    pub blocking: i128,
}

impl SecondRegister {
    /// A chip that can wait for most − 1 others, each read charged `charged` transfers; no work
    /// yet.
    pub fn new(device: &Device, most: i128, charged: i128) -> SecondRegister {
        let [t_r, t_w] = on_chip::longest(device).map(i128::from);
        let [t_e, t_d] = [device.block_erase(), device.page_transfer()].map(|time| i128::from(time.as_ns()));
        let t_c = i128::from(device.spec().command.map_or(0, |command| command.as_ns()));
        SecondRegister::of([t_r, t_w, t_e, t_d], most, charged).with_commands(t_c, most)
    }

    /// The register if each operation begins with a command that holds the bus for `t_c`.
    pub fn with_commands(self, t_c: i128, most: i128) -> SecondRegister {
        if t_c == 0 {
            return self;
        }
        let (t_b, most) = (t_c + self.t_d, most.max(self.charged));
        // The begin of a copy and an erase.
        let told = (most - 1) * t_b + t_c;
        let (copy, t_e) = (told + self.copy, told + self.t_e);
        SecondRegister { t_c, beta_w: most * t_b, beta_r: most * t_b, copy, t_e, ..self }
    }

    /// [`SecondRegister::new`] from t_r, t_w, t_e and t_d, without commands.
    pub fn of([t_r, t_w, t_e, t_d]: [i128; 4], most: i128, charged: i128) -> SecondRegister {
        let works = Works { reads: false, writes: false, server: false };
        let beta = most.max(charged) * t_d;
        SecondRegister {
            t_r,
            t_w,
            t_e,
            t_d,
            t_c: 0,
            beta_w: beta,
            beta_r: beta,
            copy: t_r + t_w,
            charged,
            charged_fill: charged,
            works,
            blocking: 0,
        }
    }

    /// Eq. (71), with passes in steps of up to `copying`. A read waits for other clusters' chips,
    /// and all of them are charged.
    pub fn of_superblock(device: &Device, neighbours: &ChannelNeighbours, copying: i128) -> SecondRegister {
        let row = SecondRegister::new(device, neighbours.max_chips, neighbours.max_chips);
        let charged = (neighbours.foreign + 1).min(neighbours.max_chips);
        SecondRegister { beta_r: charged * row.hold(), charged, copy: copying, ..row }
    }

    #[cfg(test)]
    pub fn stretch(&mut self, by: i128) {
        let SecondRegister {
            t_r,
            t_w,
            t_e,
            t_d,
            t_c,
            beta_w,
            beta_r,
            copy,
            charged: _,
            charged_fill: _,
            works: _,
            blocking,
        } = self;
        [t_r, t_w, t_e, t_d, t_c, beta_w, beta_r, copy, blocking].into_iter().for_each(|time| *time *= by);
    }

    pub fn hold(&self) -> i128 {
        self.t_c + self.t_d
    }

    /// If the command and the page before it wait for `chips` other chips.
    fn told_to_read(&self, chips: i128) -> i128 {
        chips * self.hold() + self.t_c + self.t_r.max(self.t_d)
    }

    /// c_r and c_w, Eq. (65), and Eq. (72) of a superblock.
    pub fn page(&self, writes: bool) -> i128 {
        match (writes, self.t_c > 0) {
            (true, _) => self.t_w.max(self.beta_w),
            (false, true) => self.told_to_read(self.charged - 1),
            (false, false) => self.t_r + self.waits(self.charged - 1),
        }
    }

    /// θ(p), Eq. (64): how much longer than t_r if the page before waits for p chips.
    pub fn waits(&self, chips: i128) -> i128 {
        if self.t_c > 0 {
            return chips * self.hold();
        }
        ((chips + 1) * self.t_d - self.t_r).max(0)
    }

    /// B, Eq. (63) of a chip and Eq. (73) of a superblock, that may have this to do.
    pub fn works(&mut self, works: Works) {
        let Works { reads, writes, .. } = works;
        let through =
            if self.t_c > 0 { self.told_to_read(self.beta_r / self.hold() - 1) } else { self.t_r.max(self.beta_r) };
        let read = through + if writes { 0 } else { self.beta_r };
        let inside = self.t_e.max(self.copy);
        let program = self.t_w.max(self.beta_w) + self.t_w;
        self.blocking = [(reads, read), (writes, inside), (writes, program)]
            .into_iter()
            .filter(|&(may_be, _)| may_be)
            .fold(0, |longest, (_, step)| longest.max(step));
        self.works = works;
    }

    /// I, Eq. (62): fills and empties.
    pub fn turns(&self, jobs: i128, reads: i128, writes: i128) -> Option<[i128; 2]> {
        Some(match self.works {
            Works { writes: false, .. } => [0, 0],
            Works { server: true, .. } => [jobs, jobs],
            Works { reads: false, .. } => [jobs.min(writes), 0],
            Works { .. } => [jobs.min(writes), jobs.min(reads.checked_add(1)?)],
        })
    }

    /// Lines above them: each minimum is below either.
    pub fn turns_above(&self, jobs: &AffineBound, reads: &AffineBound, writes: &AffineBound) -> [AffineBound; 2] {
        let (none, fills) = (AffineBound::level(0), jobs.clone().min(writes.clone()));
        match self.works {
            Works { writes: false, .. } => [none.clone(), none],
            Works { server: true, .. } => [jobs.clone(), jobs.clone()],
            Works { reads: false, .. } => [fills, none],
            Works { .. } => [fills, jobs.clone().min(reads.plus(&AffineBound::level(1)))],
        }
    }

    pub fn turn_costs(&self) -> [i128; 2] {
        [self.charged_fill * self.hold(), self.charged * self.hold()]
    }
}
