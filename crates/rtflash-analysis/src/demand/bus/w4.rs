//! W4: the wait of a processor whose chips have two page registers (docs/analysis.md, Section 13,
//! and with commands Section 15.1).
//!
//! 1. The bus lets no chip wait for more than one transfer of each other.
//! 2. While a page waits for the bus, the array senses the next one.
//! 3. The array waits for its register I times at most, once for each change between reads and
//!    programs.
//!
//! So only the longest waits of reads count, and those of turns in full. With commands all waits
//! count.

use rtflash_model::Span;

use super::neighbour::{Neighbour, PassTerm};
use super::w1::AskingRate;
use super::{Activity, Contention, Waiter};
use crate::long_run::{Line, LongRun};
use crate::organisation::processor::Processor;
use crate::organisation::registers::{RegisterTurns, Registers, TurnCounts};
use crate::time::{Cost, ProcessorTime, ns};

struct TurnLines<L> {
    fills: Line<L>,
    empties: Line<L>,
}

impl Contention {
    /// W4, Eq. (66): t_d (m_0 + 1) I for the chips that always count, and for each other one t_d
    /// min(N, I) + (θ(m_0 + l) − θ(m_0 + l − 1)) min(n_r, N − min(N, I)), those first that make the
    /// most transfers.
    #[allow(non_snake_case)] // The document's letters.
    pub(super) fn w4(&self, registers: Registers, activity: Activity) -> ProcessorTime {
        let (n_r, I) = (activity.reads, activity.turns.all());
        let most = n_r.saturating_add(I);
        let [fill, empty] = registers.charged();
        let turns = fill.times(activity.turns.fills).saturating_add(empty.times(activity.turns.empties));
        if self.command > Span::ZERO {
            // Section 15.1: each page, with the command behind it, waits once, and so does a turn.
            return turns.saturating_add(self.w1(activity.length, most));
        }
        let mut N: Vec<(u128, u64)> =
            self.neighbours.iter().map(|j| (j.transfers(activity.length, most), j.chips)).collect();
        N.push((most, self.always));
        N.sort_by(|one, other| other.cmp(one));
        let (mut ranks, t_b) = (self.ranks(registers), registers.hold());
        N.iter().fold(turns, |sum, &(N_j, chips)| {
            let in_turns = N_j.min(I);
            let each = t_b.times(in_turns).saturating_mul(chips.into());
            sum.saturating_add(each).saturating_add(ranks(chips).times(n_r.min(N_j - in_turns)))
        })
    }

    /// The cost of each transfer of that many more chips: the first call has the first ranks.
    fn ranks(&self, registers: Registers) -> impl FnMut(u64) -> Cost {
        let mut before = 0u64;
        move |chips| {
            let after = before.saturating_add(chips);
            let longer = |ranks: u64| registers.longer(ranks).as_ns();
            let each = longer(after).saturating_sub(longer(before));
            before = after;
            Cost::from_ns(each)
        }
    }

    /// A line above W4 and the requests' own time: chips are ranked by the long run.
    #[allow(non_snake_case)]
    pub(super) fn w4_line<L: LongRun>(&self, registers: Registers, waiter: Waiter<'_>) -> Option<Line<L>> {
        let processor = waiter.processor;
        let mut line = waiter.own_line()?;
        let TurnLines { fills, empties } = turn_lines::<L>(waiter)?;
        let [fill, empty] = registers.charged().map(|each| u128::from(each.as_ns()));
        line.add_scaled(&fills, fill, 1)?;
        line.add_scaled(&empties, empty, 1)?;
        let mut I = fills;
        I.add_scaled(&empties, 1, 1)?;
        let mu_r = read_rate(processor);
        if self.command > Span::ZERO {
            return self.w4_line_with_commands(line, processor, &I);
        }
        let mut neighbours: Vec<&Neighbour> = self.neighbours.iter().collect();
        neighbours.sort_by(|one, other| other.pages.slope.total_cmp(&one.pages.slope));
        let (mut ranks, t_b) = (self.ranks(registers), u128::from(registers.hold().as_ns()));
        let always = ranks(self.always);
        add_reads(&mut line, processor, always)?;
        line.add_scaled(&I, t_b * u128::from(self.always), 1)?;
        for j in neighbours {
            let each = ranks(j.chips);
            let in_turns = t_b.checked_mul(j.chips.into())?;
            // No transfer costs more than t_b, nor is it charged twice: all as in turns, or as many
            // in turns and behind reads as there are of these, or all as behind reads, and turns
            // at what they cost more.
            let behind = u128::from(each.as_ns());
            let more = in_turns.checked_sub(behind).expect("a rank costs no more than t_b");
            let all = in_turns as f64 * j.pages.slope;
            let apart = in_turns as f64 * I.rate() + each.to_f64() * mu_r;
            let in_reads = each.to_f64() * j.pages.slope + more as f64 * I.rate();
            if in_reads < all && in_reads < apart {
                line.add_scaled(&j.pages_line(), behind, 1)?;
                line.add_scaled(&I, more, 1)?;
            } else if all <= apart {
                line.add_scaled(&j.pages_line(), in_turns, 1)?;
            } else {
                line.add_scaled(&I, in_turns, 1)?;
                add_reads(&mut line, processor, each)?;
            }
        }
        Some(line)
    }

    /// The line with commands; `line` is above all that is charged.
    #[allow(non_snake_case)]
    fn w4_line_with_commands<L: LongRun>(
        &self,
        mut line: Line<L>,
        processor: &Processor,
        I: &Line<L>,
    ) -> Option<Line<L>> {
        let hold = u128::from(self.hold.as_ns());
        let add_all = |line: &mut Line<L>, chips: u64| {
            let each = u64::try_from(hold.checked_mul(chips.into())?).ok()?;
            add_reads(line, processor, Cost::from_ns(each))?;
            line.add_scaled(I, each.into(), 1)
        };
        add_all(&mut line, self.always)?;
        let rate = read_rate(processor) + I.rate();
        for j in &self.neighbours {
            let each = hold.checked_mul(j.chips.into())?;
            if !self.add_busy(&mut line, j, AskingRate { rate, each })? {
                add_all(&mut line, j.chips)?;
            }
        }
        Some(line)
    }

    /// The share of W4 in intervals of at least `length`, for `rate` pages read a nanosecond.
    pub(super) fn w4_share(&self, registers: Registers, length: f64, rate: f64) -> f64 {
        if self.command > Span::ZERO {
            return self.w1_share(length, rate);
        }
        let busy = |j: &Neighbour| j.pages.share_of(length).min(rate);
        let mut neighbours: Vec<(f64, u64)> = self.neighbours.iter().map(|j| (busy(j), j.chips)).collect();
        neighbours.sort_by(|one, other| other.0.total_cmp(&one.0));
        let mut ranks = self.ranks(registers);
        let always = ranks(self.always).to_f64() * rate;
        neighbours.iter().fold(always, |sum, &(busy, chips)| sum + ranks(chips).to_f64() * busy)
    }
}

/// Lines above I, fills and empties, each by the bound with the smallest rate.
#[allow(non_snake_case)] // The document's letters.
fn turn_lines<L: LongRun>(waiter: Waiter<'_>) -> Option<TurnLines<L>> {
    let Waiter { processor, server, .. } = waiter;
    let work = processor.duties(server);
    if processor.turns(server, TurnCounts { J_c: 1, n_r: 1, n_w: 1 }) == RegisterTurns::default() {
        return Some(TurnLines { fills: Line::default(), empties: Line::default() });
    }
    let mut J_c: Line<L> = Line::default();
    for item in &processor.tasks {
        let (pages, chips) = item.transfers.rate();
        if pages < chips {
            // Not every job has a page here.
            J_c.add_due(item, 1)?;
        } else {
            J_c.add(1, item.period.as_ns().into(), item.early());
        }
    }
    for PassTerm { rate, more } in waiter.passes() {
        J_c.add(rate.numerator(), rate.denominator(), more);
    }
    if server {
        return Some(TurnLines { fills: J_c.clone(), empties: J_c });
    }
    let pages = |writes: bool| {
        let mut line: Line<L> = Line::default();
        for item in processor.tasks.iter().filter(|item| item.writes == writes) {
            line.add_due(item, 1)?;
        }
        Some(line)
    };
    let less = |one: &Line<L>, other: Line<L>| if other.rate() < one.rate() { other } else { one.clone() };
    let fills = less(&J_c, pages(true)?);
    if !work.reads {
        return Some(TurnLines { fills, empties: Line::default() });
    }
    let mut n_r = pages(false)?;
    n_r.constant += 1.0;
    Some(TurnLines { fills, empties: less(&J_c, n_r) })
}

/// Pages that a processor reads in a nanosecond, in the long run.
pub(super) fn read_rate(processor: &Processor) -> f64 {
    let reads = processor.tasks.iter().filter(|item| !item.writes);
    reads.map(|item| item.transfers.mean() / ns(item.period)).sum()
}

fn add_reads<L: LongRun>(line: &mut Line<L>, processor: &Processor, each: Cost) -> Option<()> {
    if each == Cost::ZERO {
        return Some(());
    }
    processor.tasks.iter().filter(|item| !item.writes).try_for_each(|item| line.add_due(item, each.as_ns().into()))
}
