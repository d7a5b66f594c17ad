//! Reads whose commands stand in the queue for a bus: docs/analysis.md, Section 6.3.

use num_rational::BigRational;
use rtflash_model::Device;

use super::channels::{Neighbour, Transfers};
use super::lines::AffineBound;
use super::numbers::sum;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CommandQueue {
    /// t_b and t_d.
    pub hold: i128,
    pub transfer: i128,
    /// t_c.
    pub command: i128,
    pub others: Vec<Neighbour>,
    /// Those of the same one, if there are any.
    pub siblings: Option<Neighbour>,
}

#[derive(Debug, Clone)]
pub(super) struct Asked<N> {
    /// n_i: requests.
    pub requests: N,
    /// n_r: pages that are read, each with two of them.
    pub reads: N,
}

impl CommandQueue {
    fn programs(other: &Neighbour, length: i128) -> Option<i128> {
        sum(other.requests.iter().filter(|it| it.writes).map(|it| it.pages.of(it.live(length)?)))
    }

    /// The new terms of Eq. (50): t_b (n_i − n_r) + t_d V_j.
    fn of_one(&self, other: &Neighbour, length: i128, asked: &Asked<i128>) -> Option<i128> {
        let one_each = (asked.requests - asked.reads).checked_mul(self.hold)?;
        one_each.checked_add(CommandQueue::programs(other, length)?.checked_mul(self.transfer)?)
    }

    /// All waits for others, and for siblings less those that requests are charged.
    pub fn waiting(&self, length: i128, asked: &Asked<i128>) -> Option<i128> {
        let in_full = asked.requests.checked_mul(self.hold)?;
        let others = self.others.iter().map(|other| {
            let busy = other.transfers(length)?.checked_mul(self.hold)?;
            let busy = busy.checked_add(other.commands(length)?.checked_mul(self.command)?)?;
            other.chips.checked_mul(in_full.min(busy).min(self.of_one(other, length, asked)?))
        });
        let siblings = self.siblings.iter().map(|other| {
            let less = self.of_one(other, length, asked)?.min(in_full).checked_sub(in_full)?;
            other.chips.checked_mul(less)
        });
        sum(others.chain(siblings))
    }

    pub fn above(&self, asked: &Asked<AffineBound>) -> AffineBound {
        let whole = |number: i128| BigRational::from_integer(number.into());
        let in_full = asked.requests.times(&whole(self.hold));
        let one_each = asked.requests.minus(&asked.reads).times(&whole(self.hold));
        let of_one = |other: &Neighbour| {
            let writers = other.requests.iter().filter(|it| it.writes);
            let programs = AffineBound::sum(writers.map(Transfers::pages_above));
            one_each.plus(&programs.times(&whole(self.transfer)))
        };
        let others = self.others.iter().map(|other| {
            let busy = other.transfers_above().times(&whole(self.hold));
            let busy = busy.plus(&other.commands_above().times(&whole(self.command)));
            busy.min(in_full.clone()).min(of_one(other)).times(&whole(other.chips))
        });
        let siblings = self.siblings.iter().map(|other| {
            let less = of_one(other).min(in_full.clone()).minus(&in_full);
            less.times(&whole(other.chips))
        });
        AffineBound::sum(others.chain(siblings))
    }
}

/// (Q3), or (Q5) with commands: no chip asks for a page before one that began to read earlier.
pub(super) fn may_be_relied_on(device: &Device) -> bool {
    let spec = device.spec();
    let shortest = spec.shortest.page_read.unwrap_or(spec.page_read).as_ns();
    let longer_by = |time: u64| shortest.saturating_add(time) > spec.page_read.as_ns();
    match spec.command.map_or(0, |command| command.as_ns()) {
        0 => spec.shortest.page_transfer.is_none() && longer_by(spec.page_transfer.as_ns()),
        command => longer_by(command) && command <= spec.page_transfer.as_ns(),
    }
}
