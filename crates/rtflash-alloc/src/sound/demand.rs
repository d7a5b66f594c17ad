//! The processor-demand test with non-preemptive steps, exactly.

mod end;
#[cfg(test)]
mod tests;

use super::contention::{Activity, Contention};
use super::unit::{GcTerms, Unit};
use crate::fraction::Rational;
use crate::work::Work;
use end::End;

/// Looks at a request after which a test is given up, beside some for each relative deadline.
const MAX_LOOKS: usize = 1 << 20;

/// What a test says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Demand and blocking fit into every interval.
    Holds,
    /// They do not fit into an interval of this length, in nanoseconds; 0 where the load itself is
    /// too much.
    Fails(u64),
    /// Given up, after too many steps or with numbers too large.
    TooLong,
}

/// The interval that demand and blocking come nearest to filling, and how near.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Nearest {
    /// L, in nanoseconds.
    pub length: u64,
    /// ⌊(1 − U_s)L⌋ − dbf(L) − B(L), in nanoseconds.
    pub slack: i128,
}

/// A unit with its garbage collection and a server's share, ready to be tested.
#[derive(Debug)]
pub struct Demand<'u> {
    unit: &'u Unit,
    contention: &'u Contention,
    gc: Option<GcTerms>,
    /// What is looked at is charged to it.
    work: &'u Work,
    /// Thousandths of the processor that are left for real-time tasks: 1000 (1 − U_s).
    share: u64,
    /// q_s, zero without a server.
    server_step: u64,
    /// The distinct times from release to deadline at least, D − J and D_g, ascending, and B from
    /// each up to the next.
    deadlines: Vec<(u64, u64)>,
}

impl<'u> Demand<'u> {
    /// The demand of a unit; `gc` is its [`Unit::gc`] where anything is written.
    pub fn new(
        unit: &'u Unit,
        contention: &'u Contention,
        gc: Option<GcTerms>,
        server_thousandths: u32,
        work: &'u Work,
    ) -> Demand<'u> {
        let server_step = if server_thousandths > 0 { unit.server_step() } else { 0 };
        let mut steps: Vec<(u64, u64)> = unit.items.iter().map(|item| (item.window(), item.step)).collect();
        steps.extend(gc.and_then(|gc| Some((gc.deadline?, gc.step))));
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
        Demand { unit, contention, gc, work, share, server_step, deadlines }
    }

    /// dbf(L), dbf'(L) or dbf''(L), Eqs. (10), (34) and (47), as the contention is: time that jobs
    /// released and due within an interval of `length` may take, waiting for the bus included.
    pub fn at(&self, length: u64) -> u128 {
        self.work.charge(self.unit.items.len() + self.contention.requests() + 4);
        let mut sum = 0u128;
        let mut activity = Activity { length, ..Activity::default() };
        for item in &self.unit.items {
            // n(L) C.
            let jobs = u128::from(item.due(length));
            sum = sum.saturating_add(jobs.saturating_mul(item.cost.into()));
            activity.jobs = activity.jobs.saturating_add(jobs);
            let pages = if item.writes { &mut activity.writes } else { &mut activity.reads };
            *pages = pages.saturating_add(jobs.saturating_mul(item.transfers.into()));
        }
        let (passes, pass) = self.passes(length);
        activity.jobs = activity.jobs.saturating_add(passes);
        let (waiting, relief) = self.contention.waiting(activity, self.unit, self.gc);
        sum.saturating_add(waiting).saturating_add(passes.saturating_mul(pass)).saturating_sub(relief)
    }

    /// The part of [`Demand::at`] that is garbage collection.
    pub fn gc_at(&self, length: u64) -> u128 {
        let (passes, pass) = self.passes(length);
        passes.saturating_mul(pass)
    }

    /// [L ≥ D_g] ⌈X(L − D_g)/α⌉, GC jobs released and due within an interval, and C_g.
    fn passes(&self, length: u64) -> (u128, u128) {
        let Some((gc, deadline)) = self.gc.and_then(|gc| Some((gc, gc.deadline?))) else { return (0, 0) };
        if length < deadline {
            return (0, 0);
        }
        let rest = length - deadline;
        let writers = self.unit.writers.iter();
        let arrived = writers.fold(0u128, |sum, writer| sum.saturating_add(writer.arriving(rest)));
        (arrived.div_ceil(gc.reclaimed.into()), gc.cost.into())
    }

    /// B(L), Eq. (12): the longest step of what is due later, of requests those with d > L.
    pub fn blocking(&self, length: u64) -> u64 {
        let after = self.deadlines.partition_point(|&(deadline, _)| deadline <= length);
        match after.checked_sub(1) {
            Some(position) => self.deadlines[position].1,
            None => {
                let steps = self.unit.items.iter().map(|item| item.step);
                steps.chain(self.gc.map(|gc| gc.step)).chain([self.server_step]).max().unwrap_or(0)
            }
        }
    }

    /// Whether demand and blocking fit into every interval, by QPA on each stretch on which
    /// blocking is constant.
    pub fn test(&self) -> Verdict {
        match self.search() {
            Search::Nothing | Search::Found(Nearest { slack: 0.., .. }) => Verdict::Holds,
            Search::Found(nearest) => Verdict::Fails(nearest.length),
            Search::Overloaded => Verdict::Fails(0),
            Search::TooLong => Verdict::TooLong,
        }
    }

    /// The interval with the least slack among those up to the longest relative deadline; `None`
    /// without tasks.
    pub fn tightest(&self) -> Option<Nearest> {
        let &(start, blocking) = self.deadlines.first()?;
        let least = self.look(start, blocking);
        if least.slack < 0 {
            return Some(least);
        }
        let mut least = least;
        let mut looks = MAX_LOOKS / (self.deadlines.len() + 1);
        for (position, &(from, blocking)) in self.deadlines.iter().enumerate() {
            let mut length = self.deadlines.get(position + 1).map_or(from, |next| next.0 - 1);
            loop {
                // Nothing changes between here and there but the length.
                let nearest = self.look(self.step_at(length).max(from), blocking);
                if nearest.slack < least.slack {
                    least = nearest;
                }
                let work = self.at(nearest.length).saturating_add(blocking.into());
                let work = work.saturating_add(u128::try_from(least.slack).unwrap_or(0));
                let below = work.saturating_mul(1_000).div_ceil(self.share.max(1).into()).min(nearest.length.into());
                let below = u64::try_from(below).unwrap_or(nearest.length).saturating_sub(1);
                if below < from || least.slack < 0 || looks == 0 {
                    break;
                }
                looks -= 1;
                length = below;
            }
        }
        Some(least)
    }

    /// The shortest length, or one near it, from which on up to this one no demand is added.
    fn step_at(&self, length: u64) -> u64 {
        let last = |rest: u64, period: u64| length - rest % period;
        let items = self.unit.items.iter().filter(|item| item.window() <= length);
        let items = items.map(|item| last(length - item.window(), item.period));
        let gc = self.gc.and_then(|gc| gc.deadline).filter(|&deadline| deadline <= length);
        let writers = self.unit.writers.iter();
        let passes = gc
            .into_iter()
            .flat_map(|deadline| writers.clone().map(move |writer| (length - deadline, writer)))
            .map(|(rest, writer)| {
                // X grows where y + J is a multiple of T, and at y = 0.
                let beyond = (u128::from(rest) + u128::from(writer.jitter)) % u128::from(writer.period);
                length - u64::try_from(beyond).unwrap_or(rest).min(rest)
            });
        items.chain(passes).chain([self.contention.steps(length, self.unit, self.gc)]).max().unwrap_or(length)
    }

    /// A long interval and its slack, for a unit whose load is too much.
    pub(super) fn long_run(&self) -> (u64, i128) {
        let length = self.deadlines.last().map_or(1, |last| last.0).saturating_mul(64).min(1 << 62);
        let nearest = self.look(length, self.blocking(length));
        (nearest.length, nearest.slack.min(-1))
    }

    /// ⌈(dbf(L) + B)/(1 − U_s)⌉.
    fn needed(&self, length: u64, blocking: u64) -> u128 {
        let work = self.at(length).saturating_add(blocking.into());
        match self.share {
            1_000 => work,
            // In one word where it can be.
            share => match u64::try_from(work).ok().and_then(|work| work.checked_mul(1_000)) {
                Some(work) => work.div_ceil(share.max(1)).into(),
                None => work.saturating_mul(1_000).div_ceil(share.max(1).into()),
            },
        }
    }

    /// The slack of an interval.
    fn look(&self, length: u64, blocking: u64) -> Nearest {
        let work = self.at(length).saturating_add(blocking.into());
        let room = u128::from(length) * u128::from(self.share) / 1_000;
        // Both are below 2¹²⁷.
        let slack = i128::try_from(room).unwrap_or(i128::MAX).saturating_sub_unsigned(work);
        Nearest { length, slack }
    }

    /// Looks for an interval that demand and blocking do not fit into.
    ///
    /// QPA by segments, Eq. (16), from the longest interval downwards: where L has the demand h,
    /// all intervals from (h + B)/(1 − U_s) up to L are long enough.
    fn search(&self) -> Search {
        if self.share == 0 {
            return if self.deadlines.is_empty() { Search::Nothing } else { Search::Overloaded };
        }
        if self.deadlines.is_empty() {
            return Search::Nothing;
        }
        let end = match self.end() {
            End::Overloaded => return Search::Overloaded,
            End::TooLong => return Search::TooLong,
            End::At(end) => end,
        };
        let mut looks = MAX_LOOKS / (self.deadlines.len() + 1) + 4 * self.deadlines.len();
        for (position, &(from, blocking)) in self.deadlines.iter().enumerate() {
            let mut length = match self.deadlines.get(position + 1) {
                Some(next) => next.0 - 1,
                None => end.max(from),
            };
            loop {
                if looks == 0 {
                    return Search::TooLong;
                }
                looks -= 1;
                let needed = self.needed(length, blocking);
                if needed > u128::from(length) {
                    return Search::Found(self.look(length, blocking));
                }
                // The shortest interval that holds this work; what does not hold it is shorter.
                let next = u64::try_from(needed).unwrap_or(length).saturating_sub(1);
                if next < from {
                    break;
                }
                length = next;
            }
        }
        Search::Nothing
    }

    /// U: the long-run load, waiting for the bus as it is charged in the long run, garbage
    /// collection included.
    pub fn load(&self) -> f64 {
        self.line().map_or(f64::INFINITY, |line| line.estimate)
    }

    /// The same exactly; `None` where its numbers are too large.
    pub(crate) fn exact_load(&self) -> Option<Rational> {
        Some(Rational::sum(&self.line()?.load))
    }

    /// The cheap sufficient test: whether it is sure, from sums alone, that [`Demand::test`] holds.
    pub fn surely_holds(&self) -> bool {
        self.needed_share() <= self.share as f64 / 1_000.0
    }

    /// A share of the processor with which it is sure that demand and blocking fit into every
    /// interval: the left side of Eq. (17) for the deadline at which it is greatest.
    pub fn needed_share(&self) -> f64 {
        self.work.charge(4 * self.unit.items.len() + self.contention.requests() + 16);
        // Ten thousand roundings and more stay below this.
        const MARGIN: f64 = 1e-9;
        let mut sums: Vec<Sum> = self
            .unit
            .items
            .iter()
            .map(|item| Sum {
                deadline: item.window(),
                load: item.cost as f64 / item.period as f64,
                constant: item.cost as f64 * item.early(),
                transfers: item.transfers as f64 / item.period as f64,
                early: item.transfers as f64 * item.early(),
            })
            .collect();
        if let Some((gc, deadline)) = self.gc.and_then(|gc| Some((gc, gc.deadline?))) {
            let per_page = gc.cost as f64 / gc.reclaimed as f64;
            let (mut rate, mut pages) = (0.0, (gc.reclaimed - 1) as f64);
            let mut all = pages;
            for writer in &self.unit.writers {
                let (w, t, j) = (writer.pages as f64, writer.period as f64, writer.jitter as f64);
                rate += w / t;
                pages += w * (1.0 - (deadline as f64 - j) / t);
                all += w * (1.0 + (deadline as f64 + j) / t);
            }
            // What is added up may be much more than the sum: its roundings with it.
            let constant = per_page * (pages + end::ROUNDINGS * all);
            sums.push(Sum { deadline, load: per_page * rate, constant, transfers: 0.0, early: 0.0 });
        }
        sums.sort_unstable_by_key(|sum| sum.deadline);
        let (mut load, mut constant, mut transfers, mut early, mut next) = (0.0, 0.0, 0.0, 0.0, 0);
        let mut most = 0.0f64;
        for &(deadline, blocking) in &self.deadlines {
            while let Some(sum) = sums.get(next).filter(|sum| sum.deadline <= deadline) {
                (load, constant) = (load + sum.load, constant + sum.constant);
                (transfers, early) = (transfers + sum.transfers, early + sum.early);
                next += 1;
            }
            let length = deadline as f64;
            let waiting = self.contention.share(length, transfers + early / length);
            most = most.max(load + waiting + (constant.max(0.0) + blocking as f64) / length);
        }
        if self.deadlines.is_empty() { 0.0 } else { most + MARGIN }
    }
}

/// What is due by a deadline, in the long run.
struct Sum {
    deadline: u64,
    load: f64,
    constant: f64,
    transfers: f64,
    /// Transfers beyond the rate's, where deadlines come before the end of the period.
    early: f64,
}

enum Search {
    Nothing,
    Found(Nearest),
    Overloaded,
    TooLong,
}
