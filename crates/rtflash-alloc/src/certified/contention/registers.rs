//! W4: what reads of a chip with two page registers wait for neighbours (docs/analysis.md, Section
//! 13). A page waits while the next one is sensed, so that only the longest waits count.

use super::{Activity, ChipSum, Contention, ForeignChip};
use crate::certified::long_run::Line;
use crate::certified::processor::Processor;
use crate::certified::registers::Registers;
use crate::certified::term::Term;
use crate::certified::time::{Cost, ProcessorTime, ns};

impl Contention {
    /// W4, Eq. (64): Σ (h(m + l) − h(m + l − 1)) X_(l) over the neighbours, those that make the
    /// most transfers first, and the same of chips that always count.
    #[allow(non_snake_case)] // The document's letters.
    pub(super) fn w4(&self, registers: Registers, activity: Activity) -> ProcessorTime {
        let n_r = activity.reads;
        let mut X: Vec<(u128, u64)> =
            self.neighbours.iter().map(|j| (j.transfers(activity.length, n_r), j.chips)).collect();
        X.push((n_r, self.always));
        X.sort_unstable_by(|one, other| other.cmp(one));
        let mut ranks = self.ranks(registers);
        X.iter().fold(ProcessorTime::ZERO, |sum, &(X_j, chips)| sum.saturating_add(ranks(chips).times(X_j)))
    }

    /// What so many chips more cost for each transfer of theirs: the first ones asked about have
    /// the first ranks.
    fn ranks(&self, registers: Registers) -> impl FnMut(u64) -> Cost {
        let (mut before, left_out) = (0u64, self.left_out);
        move |chips| {
            let after = before.saturating_add(chips);
            let longer = |ranks: u64| {
                // The first rank costs nothing then.
                let first = if left_out == Some(Term::FirstRank) { registers.longer(1).as_ns() } else { 0 };
                registers.longer(ranks).as_ns().saturating_sub(first)
            };
            let each = longer(after).saturating_sub(longer(before));
            before = after;
            Cost::from_ns(each)
        }
    }

    /// A line above W4 and the requests' own time: chips are ranked by what they do in the long
    /// run. `None` where numbers are too large.
    pub(super) fn w4_line<L: ChipSum>(&self, registers: Registers, processor: &Processor) -> Option<Line<L>> {
        let mut line = Line::default();
        for item in &processor.tasks {
            line.add_due(item, item.step_cost.as_ns().into())?;
        }
        let rho_r = read_rate(processor);
        let mut neighbours: Vec<&ForeignChip> = self.neighbours.iter().collect();
        neighbours.sort_by(|one, other| other.rate().total_cmp(&one.rate()));
        let mut ranks = self.ranks(registers);
        let always = ranks(self.always);
        add_reads(&mut line, processor, always)?;
        for j in neighbours {
            let each = ranks(j.chips);
            if j.rate() >= rho_r {
                add_reads(&mut line, processor, each)?;
            } else {
                self.add_transfers(&mut line, j, each.as_ns().into())?;
            }
        }
        Some(line)
    }

    /// The share of intervals of `length` and more that is W4, at most, for a processor that reads
    /// `rate` pages a nanosecond.
    pub(super) fn w4_share(&self, registers: Registers, length: f64, rate: f64) -> f64 {
        let busy = |j: &ForeignChip| j.busy(length).min(rate);
        let mut neighbours: Vec<(f64, u64)> = self.neighbours.iter().map(|j| (busy(j), j.chips)).collect();
        neighbours.sort_by(|one, other| other.0.total_cmp(&one.0));
        let mut ranks = self.ranks(registers);
        let always = ranks(self.always).to_f64() * rate;
        neighbours.iter().fold(always, |sum, &(busy, chips)| sum + ranks(chips).to_f64() * busy)
    }
}

/// Pages that a processor reads in a nanosecond, in the long run.
fn read_rate(processor: &Processor) -> f64 {
    let reads = processor.tasks.iter().filter(|item| !item.writes);
    reads.map(|item| item.transfers.mean() / ns(item.period)).sum()
}

/// Adds `each` for each page that is read.
fn add_reads<L: ChipSum>(line: &mut Line<L>, processor: &Processor, each: Cost) -> Option<()> {
    if each == Cost::ZERO {
        return Some(());
    }
    processor.tasks.iter().filter(|item| !item.writes).try_for_each(|item| line.add_due(item, each.as_ns().into()))
}
