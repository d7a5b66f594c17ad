//! The processor-demand test with non-preemptive steps (Section 2.6), exactly.

use std::cmp::Ordering;

use super::unit::{Collection, Item, Unit};
use crate::fraction::{Fraction, Rational};

/// Looks at the demand function after which a test is given up.
const MAX_LOOKS: u32 = 2_000_000;

/// What a test says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Demand and blocking fit into every interval.
    Holds,
    /// They do not fit into an interval of this length, in nanoseconds; 0 where the load itself is too much.
    Fails(u64),
    /// Given up, after too many steps or with numbers too large.
    TooLong,
}

/// A unit with its garbage collection and a server's share, ready to be tested.
#[derive(Debug)]
pub struct Demand<'u> {
    items: &'u [Item],
    unit: &'u Unit,
    gc: Option<Collection>,
    /// Thousandths of the processor that are left for real-time tasks: 1000 (1 − U_s).
    share: u64,
    /// q_s, zero without a server and without background jobs.
    server_step: u64,
    /// The distinct relative deadlines, ascending, and B from each up to the next.
    deadlines: Vec<(u64, u64)>,
}

impl<'u> Demand<'u> {
    /// The demand of a unit; `gc` is its [`Unit::collection`] where anything is written.
    pub fn new(unit: &'u Unit, gc: Option<Collection>, server_thousandths: u32, others: bool) -> Demand<'u> {
        let server_step = if server_thousandths > 0 || others { unit.server_step() } else { 0 };
        let mut steps: Vec<(u64, u64)> = unit.items.iter().map(|item| (item.period, item.step)).collect();
        steps.extend(gc.map(|gc| (gc.deadline, gc.step)));
        steps.sort_unstable();
        let mut deadlines: Vec<(u64, u64)> = Vec::with_capacity(steps.len());
        let mut later = server_step;
        for &(deadline, step) in steps.iter().rev() {
            match deadlines.last_mut() {
                Some(last) if last.0 == deadline => {}
                _ => deadlines.push((deadline, later)),
            }
            later = later.max(step);
        }
        deadlines.reverse();
        let share = 1_000 - u64::from(server_thousandths.min(1_000));
        Demand { items: &unit.items, unit, gc, share, server_step, deadlines }
    }

    /// dbf(L): time that jobs released and due within an interval of `length` may take.
    pub fn at(&self, length: u64) -> u128 {
        let mut sum = 0u128;
        for item in self.items {
            // (⌊(L − D)/T⌋ + 1)·C with D = T.
            sum += u128::from(length / item.period) * u128::from(item.cost);
        }
        if let Some(gc) = self.gc
            && length >= gc.deadline
        {
            let rest = length - gc.deadline;
            let arrived: u128 = self
                .unit
                .writers
                .iter()
                .map(|writer| (u128::from(rest / writer.period) + 1) * u128::from(writer.pages))
                .sum();
            sum += arrived.div_ceil(gc.reclaimed.into()) * u128::from(gc.cost);
        }
        sum
    }

    /// ⌈(dbf(t) + B)/(1 − U_s)⌉.
    fn needed(&self, length: u64, blocking: u64) -> u128 {
        let work = self.at(length) + u128::from(blocking);
        if self.share == 1_000 { work } else { (work * 1_000).div_ceil(self.share.max(1).into()) }
    }

    /// Whether demand and blocking fit into every interval: (T) of Section 2.6, by QPA on each stretch on which blocking is constant.
    pub fn test(&self) -> Verdict {
        if self.share == 0 {
            return Verdict::Fails(0);
        }
        if self.deadlines.is_empty() {
            return Verdict::Holds;
        }
        let Some(end) = self.end() else { return Verdict::Fails(0) };
        let Some(end) = end else { return Verdict::TooLong };
        let mut looks = MAX_LOOKS;

        for (position, &(from, blocking)) in self.deadlines.iter().enumerate() {
            let mut length = match self.deadlines.get(position + 1) {
                Some(next) => next.0 - 1,
                None => end.max(from),
            };
            while length >= from {
                if looks == 0 {
                    return Verdict::TooLong;
                }
                looks -= 1;
                let needed = self.needed(length, blocking);
                if needed > u128::from(length) {
                    return Verdict::Fails(length);
                }
                // At most the length, which is a u64.
                let needed = u64::try_from(needed).unwrap_or(length);
                length = if needed < length { needed } else { length - 1 };
            }
        }
        Verdict::Holds
    }

    /// The length beyond which nothing need be tested (Section 2.7). `None` where the load is too much, `Some(None)` where it is too long.
    fn end(&self) -> Option<Option<u64>> {
        let mut load: Vec<Fraction> =
            self.items.iter().map(|item| Fraction::new(item.cost.into(), item.period.into())).collect();
        let mut estimate: f64 = load.iter().map(|term| term.to_f64()).sum();
        let mut constant = self.server_step as f64 + self.items.iter().map(|item| item.step).max().unwrap_or(0) as f64;
        if let Some(gc) = self.gc {
            let (pass, reclaimed) = (gc.cost as f64, gc.reclaimed as f64);
            constant += gc.step as f64;
            let mut pages = reclaimed - 1.0;
            for writer in &self.unit.writers {
                let (w, t) = (writer.pages as f64, writer.period as f64);
                estimate += pass / reclaimed * w / t;
                pages += w * (1.0 - gc.deadline as f64 / t);
                load.push(Fraction::new(
                    u128::from(gc.cost) * u128::from(writer.pages),
                    u128::from(gc.reclaimed).checked_mul(writer.period.into())?,
                ));
            }
            constant += pass / reclaimed * pages;
        }
        let share = self.share as f64 / 1_000.0;
        let room = share - estimate;
        if room.abs() < 1e-9 {
            // Too near for doubles: decided exactly; the interval to be tested is then too long to be.
            let rest = [Fraction::new((1_000 - self.share).into(), 1_000)];
            load.extend(rest);
            return if Rational::sum(&load).cmp_one() == Ordering::Less { Some(None) } else { None };
        }
        if room < 0.0 {
            return None;
        }
        let longest = self.deadlines.last().map_or(0, |last| last.0);
        // A little more than need be, for the roundings.
        let bound = (constant * (1.0 + 1e-6) / (room - 1e-12) + 2.0).max(0.0);
        if bound > 9e18 {
            return Some(None);
        }
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // Between 0 and 2⁶³.
        Some(Some(longest.max(bound as u64)))
    }

    /// The cheap sufficient test: whether it is sure, from sums alone, that [`Demand::test`] holds.
    pub fn surely_holds(&self) -> bool {
        // Ten thousand roundings and more stay below this.
        const MARGIN: f64 = 1e-9;
        let share = self.share as f64 / 1_000.0;
        let mut sums: Vec<(u64, f64, f64)> =
            self.items.iter().map(|item| (item.period, item.cost as f64 / item.period as f64, 0.0)).collect();
        if let Some(gc) = self.gc {
            let per_page = gc.cost as f64 / gc.reclaimed as f64;
            let (mut rate, mut pages) = (0.0, (gc.reclaimed - 1) as f64);
            for writer in &self.unit.writers {
                let (w, t) = (writer.pages as f64, writer.period as f64);
                rate += w / t;
                pages += w * (1.0 - gc.deadline as f64 / t);
            }
            sums.push((gc.deadline, per_page * rate, per_page * pages));
        }
        sums.sort_unstable_by_key(|sum| sum.0);
        let (mut load, mut constant, mut next) = (0.0, 0.0, 0);
        self.deadlines.iter().all(|&(deadline, blocking)| {
            while let Some(&(_, u, k)) = sums.get(next).filter(|sum| sum.0 <= deadline) {
                (load, constant, next) = (load + u, constant + k, next + 1);
            }
            load + (constant.max(0.0) + blocking as f64) / deadline as f64 <= share - MARGIN
        })
    }
}
