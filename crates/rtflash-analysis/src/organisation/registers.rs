//! Chips with a second page register (docs/analysis.md, Sections 13 and 15): what they take beside
//! their steps.

use rtflash_model::Device;

use super::costs::{ReadTransfers, StepCosts, behind_a_page};
use crate::organisation::shared_bus::SharedBus;
use crate::time::Cost;

/// A processor with two page registers, a chip or a superblock: the document's letters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(non_snake_case)] // The document's letters.
pub(crate) struct Registers {
    /// t_r and t_w.
    t_r: Cost,
    t_w: Cost,
    /// t_b: the longest that one request holds the bus; t_d without commands.
    t_b: Cost,
    commands: bool,
    /// b = m_c t_d, Eq. (61), or m_c t_b: from a request to the end of its transfer; in a
    /// superblock β_w of a row, and β_r of a read.
    beta_w: Cost,
    beta_r: Cost,
    /// The longest read, till the array is through with it.
    read: Cost,
    /// The longest step that keeps both registers empty: a copy, or an erase.
    inside: Cost,
    /// max(t_w, β) + t_w: a program under way, and the one that is committed behind it.
    committed: Cost,
    /// Transfers that are charged to each page that is read, its own included, and to each row.
    ways: u32,
    row_ways: u32,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct RegisterTurns {
    /// While the cache register is filled before a program.
    pub(crate) fills: u128,
    /// While it is emptied behind a read.
    pub(crate) empties: u128,
}

impl RegisterTurns {
    /// I.
    pub(crate) fn all(self) -> u128 {
        self.fills.saturating_add(self.empties)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ChipDuties {
    pub(crate) reads: bool,
    pub(crate) writes: bool,
}

/// The work of a chip in an interval: the document's letters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(non_snake_case)] // The document's letters.
pub(crate) struct TurnCounts {
    /// Jobs that have a page on the chip, and passes.
    pub(crate) J_c: u128,
    pub(crate) n_r: u128,
    pub(crate) n_w: u128,
}

impl ChipDuties {
    /// How often a job makes the array wait for its register, at most.
    fn turns(self) -> RegisterTurns {
        RegisterTurns { fills: self.writes.into(), empties: (self.writes && self.reads).into() }
    }
}

impl Registers {
    /// The registers of a chip next to those that the bus counts; `None` where times cannot be
    /// added up.
    pub(crate) fn new(device: &Device, bus: SharedBus) -> Option<Registers> {
        let [t_r, t_w, t_b] = [device.page_read(), device.page_program(), device.bus_hold()].map(Cost::from);
        let most = bus.ways.max(bus.most);
        let beta = t_b.checked_mul(most.into())?;
        // Twice of it is charged to each job.
        beta.checked_mul(4)?;
        let inside = StepCosts::new(device, bus, ReadTransfers { charged: most, most })?;
        Some(Registers {
            t_r,
            t_w,
            t_b,
            commands: device.has_commands(),
            beta_w: beta,
            beta_r: beta,
            read: behind_a_page(device, most)?,
            inside: inside.longest_copy.max(inside.longest_erase),
            committed: t_w.max(beta).checked_add(t_w)?,
            ways: bus.ways,
            row_ways: bus.ways,
        })
    }

    /// β_r and β_w are of Eq. (71). Pages are charged all chips for which they can wait, a read
    /// `read_ways`. `copying`: the longest step that copies.
    pub(crate) fn of_superblock(device: &Device, bus: SharedBus, read_ways: u32, copying: Cost) -> Option<Registers> {
        let most = bus.ways.max(bus.most);
        let chip = Registers::new(device, SharedBus { ways: most, ..bus })?;
        let beta_r = chip.t_b.checked_mul(read_ways.into())?;
        let erase = StepCosts::new(device, bus, ReadTransfers { charged: most, most })?.longest_erase;
        let read = behind_a_page(device, read_ways)?;
        Some(Registers { beta_r, read, inside: copying.max(erase), ways: read_ways, ..chip })
    }

    /// I, Eq. (62): waits for emptying the register behind reads, and filling it before programs.
    #[allow(non_snake_case)] // The document's letters.
    pub(crate) fn turns(work: ChipDuties, server: bool, TurnCounts { J_c, n_r, n_w }: TurnCounts) -> RegisterTurns {
        match work {
            ChipDuties { writes: false, .. } => RegisterTurns::default(),
            ChipDuties { .. } if server => RegisterTurns { fills: J_c, empties: J_c },
            ChipDuties { reads: false, .. } => RegisterTurns { fills: J_c.min(n_w), empties: 0 },
            ChipDuties { .. } => RegisterTurns { fills: J_c.min(n_w), empties: J_c.min(n_r.saturating_add(1)) },
        }
    }

    /// The longest wait of the array for each job: β, or twice that.
    pub(crate) fn turnaround(self, work: ChipDuties) -> Cost {
        let RegisterTurns { fills, empties } = work.turns();
        let of = |each: Cost, turns: u128| if turns > 0 { each } else { Cost::ZERO };
        of(self.beta_w, fills).checked_add(of(self.beta_r, empties)).expect("four times as much can be added up")
    }

    /// It has t_d for each chip charged to every page, and for `chips` more, instead of β.
    pub(crate) fn turnaround_beside(self, work: ChipDuties, chips: u64) -> Cost {
        let each = |ways: u32| self.t_b.saturating_mul(u64::from(ways).saturating_add(chips));
        let of = |ways: u32, turns: u128| if turns > 0 { each(ways) } else { Cost::ZERO };
        let RegisterTurns { fills, empties } = work.turns();
        of(self.row_ways, fills).saturating_add(of(self.ways, empties))
    }

    /// t_b for each request charged to every page: in fills, and in empties.
    pub(crate) fn charged(self) -> [Cost; 2] {
        [self.row_ways, self.ways].map(|ways| self.t_b.checked_mul(ways.into()).expect("no more than beta"))
    }

    pub(crate) fn hold(self) -> Cost {
        self.t_b
    }

    /// B, Eq. (63), or Eq. (73) of a superblock: of what may be under way, the longest.
    pub(crate) fn blocking(self, work: ChipDuties) -> Cost {
        let mut longest = Cost::ZERO;
        if work.reads {
            // The last page of a late read is on its way, which no turn of the register pays for
            // where there is none.
            let drained = if work.writes { Cost::ZERO } else { self.beta_r };
            let read = self.read.checked_add(drained);
            longest = longest.max(read.expect("a read and four times beta can be added up"));
        }
        if work.writes {
            longest = longest.max(self.committed).max(self.inside);
        }
        longest
    }

    /// θ(m_0 + more) − θ(m_0), Eq. (64): what a read takes longer for `more` chips.
    pub(crate) fn longer(self, more: u64) -> Cost {
        if self.commands {
            return self.t_b.saturating_mul(more);
        }
        let chips = u64::from(self.ways).saturating_add(more);
        let waited = self.t_b.saturating_mul(chips);
        let charged = self.t_b.checked_mul(self.ways.into()).expect("no more than beta").max(self.t_r);
        Cost::from_ns(waited.as_ns().saturating_sub(charged.as_ns()))
    }
}
