//! Chips with a second page register (docs/analysis.md, Section 13): what they take beside their
//! steps.

use rtflash_model::Device;

use super::bus::SharedBus;
use super::term::Term;
use super::time::Cost;

/// What a chip with two page registers takes beside its steps. Its letters are those of the
/// document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(non_snake_case)] // The document's letters.
pub(super) struct Registers {
    /// t_r, t_w and t_d.
    t_r: Cost,
    t_w: Cost,
    t_d: Cost,
    /// b = m_c t_d, Eq. (59): the longest from a request for the bus to the end of its transfer.
    b: Cost,
    /// The longest step that keeps both registers empty: a copy, or an erase.
    inside: Cost,
    /// max(t_w, b) + t_w: a program under way, and the one that is committed behind it.
    committed: Cost,
    /// Transfers that are charged to each read, its own included.
    ways: u32,
}

/// What a chip may have to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ChipDuties {
    /// Whether it may read for users.
    pub(super) reads: bool,
    /// Whether it may program for users, and so collect.
    pub(super) writes: bool,
}

/// What a chip has to do in an interval: the document's letters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(non_snake_case)] // The document's letters.
pub(super) struct TurnCounts {
    /// Jobs that have a page on the chip, and passes.
    pub(super) J: u128,
    /// Pages read.
    pub(super) n_r: u128,
    /// Pages programmed for users.
    pub(super) n_w: u128,
}

impl ChipDuties {
    /// How often a job makes the array wait for its register, at most.
    fn turns(self) -> u64 {
        match self {
            ChipDuties { writes: false, .. } => 0,
            ChipDuties { reads: false, .. } => 1,
            ChipDuties { .. } => 2,
        }
    }
}

impl Registers {
    /// Of a chip next to those that the bus counts; `None` where times cannot be added up.
    pub(super) fn new(device: &Device, bus: SharedBus) -> Option<Registers> {
        let [t_r, t_w, t_e, t_d] =
            [device.page_read(), device.page_program(), device.block_erase(), device.page_transfer()].map(Cost::from);
        let b = t_d.checked_mul(bus.ways.max(bus.most).into())?;
        // Twice of it is charged to each job.
        b.checked_mul(4)?;
        Some(Registers {
            t_r,
            t_w,
            t_d,
            b,
            inside: t_r.checked_add(t_w)?.max(t_e),
            committed: t_w.max(b).checked_add(t_w)?,
            ways: bus.ways,
        })
    }

    /// K, Eq. (60): how often the array may wait for a transfer, as the cache register has to be
    /// emptied behind reads and filled before programs.
    #[allow(non_snake_case)] // The document's letters.
    pub(super) fn turns(work: ChipDuties, server: bool, TurnCounts { J, n_r, n_w }: TurnCounts) -> u128 {
        match work {
            ChipDuties { writes: false, .. } => 0,
            ChipDuties { .. } if server => J.saturating_mul(2),
            ChipDuties { reads: false, .. } => J.min(n_w),
            ChipDuties { .. } => J.min(n_w).saturating_add(J.min(n_r.saturating_add(1))),
        }
    }

    /// What each job may make the array wait, at most: b, or twice that.
    pub(super) fn turnaround(self, work: ChipDuties) -> Cost {
        self.b.checked_mul(work.turns()).expect("four times as much can be added up")
    }

    /// The same, with t_d for each of so many chips beside those that are charged to every page, in
    /// the place of b.
    pub(super) fn turnaround_beside(self, work: ChipDuties, chips: u64) -> Cost {
        let all = u64::from(self.ways).saturating_add(chips);
        let each = self.t_d.checked_mul(all).and_then(|each| each.checked_mul(work.turns()));
        each.unwrap_or(Cost::from_ns(u64::MAX))
    }

    /// t_d for each transfer that is charged to every page, its own included.
    pub(super) fn charged(self) -> Cost {
        self.t_d.checked_mul(self.ways.into()).expect("no more than b")
    }

    /// t_d.
    pub(super) fn transfer(self) -> Cost {
        self.t_d
    }

    /// B, Eq. (61): of what may be under way, the longest.
    pub(super) fn blocking(self, work: ChipDuties, left_out: Option<Term>) -> Cost {
        let mut longest = Cost::ZERO;
        if left_out == Some(Term::Blocking) {
            return longest;
        }
        if work.reads {
            // The last page of a late read is on its way, which no turn of the register pays for
            // where there is none.
            let drained = if work.writes { Cost::ZERO } else { self.b };
            let read = self.t_r.max(self.b).checked_add(drained);
            longest = longest.max(read.expect("a read and four times b can be added up"));
        }
        if work.writes {
            let program = if left_out == Some(Term::Commit) { self.t_w.max(self.b) } else { self.committed };
            longest = longest.max(program).max(self.inside);
        }
        longest
    }

    /// h(m + more) − h(m), Eq. (62), for the m chips that are charged to every read: how much
    /// longer it takes where it waits for so many more.
    pub(super) fn longer(self, more: u64) -> Cost {
        let chips = u64::from(self.ways).saturating_add(more);
        let waited = self.t_d.checked_mul(chips).unwrap_or(Cost::from_ns(u64::MAX));
        let charged = self.t_d.checked_mul(self.ways.into()).expect("no more than b").max(self.t_r);
        Cost::from_ns(waited.as_ns().saturating_sub(charged.as_ns()))
    }
}
