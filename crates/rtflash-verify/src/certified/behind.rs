//! The waits of pages on a chip with two page registers: docs/analysis.md, Section 13.

use num_rational::BigRational;

use super::channels::Neighbour;
use super::lines::AffineBound;
use super::numbers::sum;
use super::processor::{Processor, VerifiedTask};

impl Processor {
    /// W4, Eq. (66), with all waits of the array for its register; `None` for a chip with one.
    pub(super) fn waiting_behind(&self, length: i128) -> Option<Option<i128>> {
        let Some(register) = &self.register else { return Some(None) };
        // A superblock programs rows.
        let steps = |writes: bool| {
            let items = self.tasks.iter().filter(move |item| item.writes == writes);
            sum(items.map(|item| item.steps.of(item.requests_due(length))))
        };
        let (reads, writes) = (steps(false)?, steps(true)?);
        // A job without a page here delays no other job.
        let with_pages = self.tasks.iter().map(|item| Some(item.requests_due(length).min(item.pages_due(length)?)));
        let jobs = sum(with_pages)?.checked_add(self.passes(length)?)?;
        let [fills, empties] = register.turns(jobs, reads, writes)?;
        let turns = fills.checked_add(empties)?;
        let [fill, empty] = register.turn_costs();
        let charged = fills.checked_mul(fill)?.checked_add(empties.checked_mul(empty)?)?;
        if self.command > 0 {
            // Section 15.1: what asks once waits once.
            let in_full = reads.checked_add(turns)?.checked_mul(self.transfer)?;
            let waits = self.neighbours.iter().map(|it| it.chips.checked_mul(self.busy(it, length)?.min(in_full)));
            return Some(Some(charged.checked_add(sum(waits)?)?));
        }
        let of = |it: &Neighbour| Some((it.transfers(length)?, it.chips));
        let mut busy = self.neighbours.iter().map(of).collect::<Option<Vec<_>>>()?;
        busy.sort_unstable();
        let mut before = register.charged - 1;
        let ranked = busy.into_iter().rev().map(|(transfers, chips)| {
            let longer = register.waits(before + chips) - register.waits(before);
            before += chips;
            let in_turns = transfers.min(turns);
            let behind_reads = reads.min(transfers - in_turns).checked_mul(longer)?;
            in_turns.checked_mul(register.hold())?.checked_mul(chips)?.checked_add(behind_reads)
        });
        Some(Some(charged.checked_add(sum(ranked)?)?))
    }

    /// The sum is no less in any order of the chips. `jobs`: above the jobs with pages, and passes.
    pub(super) fn waiting_behind_above(
        &self,
        jobs: &AffineBound,
        steps: impl Fn(&VerifiedTask) -> AffineBound,
    ) -> Option<AffineBound> {
        let register = self.register.as_ref()?;
        let of = |writes: bool| AffineBound::sum(self.tasks.iter().filter(|item| item.writes == writes).map(&steps));
        let (reads, writes) = (of(false), of(true));
        let [fills, empties] = register.turns_above(jobs, &reads, &writes);
        let turns = fills.plus(&empties);
        let whole = |number: i128| BigRational::from_integer(number.into());
        let [fill, empty] = register.turn_costs();
        let charged = fills.times(&whole(fill)).plus(&empties.times(&whole(empty)));
        if self.command > 0 {
            let in_full = reads.plus(&turns).times(&whole(self.transfer));
            let waits = |it: &Neighbour| self.busy_above(it).min(in_full.clone()).times(&whole(it.chips));
            return Some(charged.plus(&AffineBound::sum(self.neighbours.iter().map(waits))));
        }
        let of = |it: &Neighbour| (it.transfers_above(), it.chips);
        let mut busy: Vec<(AffineBound, i128)> = self.neighbours.iter().map(of).collect();
        busy.sort_unstable();
        let mut before = register.charged - 1;
        let ranked = AffineBound::sum(busy.into_iter().rev().map(|(transfers, chips)| {
            let longer = register.waits(before + chips) - register.waits(before);
            before += chips;
            let each = whole(register.hold() * chips);
            // Every transfer at the price of a turn, or as many of either kind as there may be, or
            // every one behind a read, and turns at what they cost more.
            let apart = turns.times(&each).plus(&reads.times(&whole(longer)));
            let behind = transfers.times(&whole(longer)).plus(&turns.times(&(&each - whole(longer))));
            transfers.times(&each).min(apart).min(behind)
        }));
        Some(charged.plus(&ranked))
    }

    /// t_b N_j + t_c G_j: for how long one chip of a neighbour holds the bus within an interval.
    pub(super) fn busy(&self, neighbour: &Neighbour, length: i128) -> Option<i128> {
        let transfers = neighbour.transfers(length)?.checked_mul(self.transfer)?;
        transfers.checked_add(neighbour.commands(length)?.checked_mul(self.command)?)
    }

    pub(super) fn busy_above(&self, neighbour: &Neighbour) -> AffineBound {
        let whole = |number: i128| BigRational::from_integer(number.into());
        let transfers = neighbour.transfers_above().times(&whole(self.transfer));
        transfers.plus(&neighbour.commands_above().times(&whole(self.command)))
    }
}
