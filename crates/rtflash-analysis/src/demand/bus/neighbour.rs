//! The activity of another chip j of the channel within an interval: N_j, G_j, P_j, S_j and V_j.
//!
//! 1. Its cluster has no server, and its load is known.
//! 2. Its work belongs to jobs that are live: released before the interval's end, and due after
//!    its start. Up to the first deadline miss of the device no other job has a step there.
//!
//! The letters are those of docs/analysis.md, Sections 2.10, 6, 6.1 and 17, with deadlines and
//! jitter as in Section 2.9. A line stays above what is counted, for the last length.

use rtflash_model::Span;

use crate::fraction::Fraction;
use crate::gc::ChosenGc;
use crate::long_run::{Line, LongRun};
use crate::organisation::processor::{DemandTask, Rows};
use crate::time::{ns, quotient_up};

#[derive(Debug, Clone)]
pub(super) struct Neighbour {
    pub(super) chips: u64,
    pub(super) requests: Vec<DemandTask>,
    pub(super) gc: Option<ChosenGc>,
    /// Programs that may ever fail, and are repeated: of a superblock on any of its chips.
    repeated: u64,
    rows: Option<Rows>,
    /// Above N_j, about; the slope is μ_j.
    pub(super) pages: Line<f64>,
    /// Above G_j, about.
    pub(super) commands: Line<f64>,
}

impl Neighbour {
    pub(super) fn new(
        chips: u64,
        requests: Vec<DemandTask>,
        gc: Option<ChosenGc>,
        repeated: u64,
        rows: Option<Rows>,
    ) -> Neighbour {
        let (pages, commands) = (Line::default(), Line::default());
        let chip = Neighbour { chips, requests, gc, repeated, rows, pages, commands };
        Neighbour { pages: chip.pages_line(), commands: chip.commands_line(), ..chip }
    }

    /// min(n_i, N_j) with N_j(L) of Eq. (34), Σ γ(⌈(L + D)/T⌉): live transfers; in a superblock a
    /// part of what is programmed, and copies of P_j passes. And repeated programs, Eq. (81).
    pub(super) fn transfers(&self, length: Span, n_i: u128) -> u128 {
        let (mut n_j, mut programmed) = (u128::from(self.repeated), 0u128);
        for request in self.requests.iter().filter(|request| !request.resets) {
            let pages = request.pages.of(request.live(length).into());
            let sum = if request.writes && self.rows.is_some() { &mut programmed } else { &mut n_j };
            *sum = sum.saturating_add(pages);
            if n_j >= n_i {
                return n_i;
            }
        }
        if let Some(Rows { chips, chip_pages }) = self.rows {
            if let Some(gc) = self.gc {
                let passes = passes_live(&self.requests, gc, length);
                n_j = n_j.saturating_add(passes.saturating_mul(gc.valid.min(chip_pages).into()));
                programmed = programmed.saturating_add(passes.saturating_mul(self.copied(gc)));
            }
            n_j = n_j.saturating_add(quotient_up(programmed, chips));
        }
        n_j.min(n_i)
    }

    /// G_j, Section 2.10: live steps that use the bus for their command alone: resets of zones,
    /// erases, and copies where these are not among the transfers.
    pub(super) fn commands(&self, length: Span) -> u128 {
        let of_zones = self.requests.iter().filter(|request| request.resets);
        let of_zones = of_zones.map(|request| request.transfers.of(request.live(length).into()));
        let of_zones = of_zones.fold(0u128, u128::saturating_add);
        let live = |gc| passes_live(&self.requests, gc, length).saturating_mul(self.commands_of_a_pass(gc));
        self.gc.map_or(0, live).saturating_add(of_zones)
    }

    fn commands_of_a_pass(&self, gc: ChosenGc) -> u128 {
        if self.rows.is_some() { 1 } else { steps_on_chip(gc) }
    }

    fn copied(&self, gc: ChosenGc) -> u128 {
        if self.rows.is_some_and(|rows| rows.chip_pages == 0) { 0 } else { gc.valid.into() }
    }

    /// A line above N_j, by ⌈(L + D)/T⌉ ≤ L/T + 1 + D/T, summed.
    pub(super) fn pages_line<L: LongRun>(&self) -> Line<L> {
        let mut pages = Line::default();
        for item in self.requests.iter().filter(|item| !item.resets) {
            let chips = self.rows.filter(|_| item.writes).map_or(1, |rows| rows.chips);
            let (of_a_job, among) = item.pages.rate();
            // In a superblock nothing is shared otherwise.
            let shared = u128::from(item.period.as_ns()) * u128::from(chips.max(among));
            pages.add(of_a_job.into(), shared, item.pages.at_most(more_live(item)) / chips as f64);
        }
        if let (Some(Rows { chips, chip_pages }), Some(gc)) = (self.rows, self.gc) {
            // The work of a pass: its reads on the chip, and its part of the pass's programs.
            let each =
                Fraction::new(u128::from(gc.valid.min(chip_pages)) * u128::from(chips) + self.copied(gc), chips.into());
            for PassTerm { rate, more } in passes(&self.requests, Some(gc)) {
                // If the product overflows, the line is steeper than it has to be.
                let shared = rate.denominator().checked_mul(each.denominator()).unwrap_or(rate.denominator());
                pages.add(rate.numerator().saturating_mul(each.numerator()), shared, more * each.to_f64());
            }
        }
        // And a round-up, and what is repeated.
        pages.constant += if self.rows.is_some() { 1.0 } else { 0.0 } + self.repeated as f64;
        pages
    }

    pub(super) fn commands_line<L: LongRun>(&self) -> Line<L> {
        let mut commands = Line::default();
        for item in self.requests.iter().filter(|item| item.resets) {
            let (of_a_job, among) = item.transfers.rate();
            let shared = u128::from(item.period.as_ns()).saturating_mul(among.into());
            commands.add(of_a_job.into(), shared, item.transfers.at_most(more_live(item)));
        }
        if let Some(gc) = self.gc {
            let of_a_pass = self.commands_of_a_pass(gc);
            for PassTerm { rate, more } in passes(&self.requests, Some(gc)) {
                commands.add(rate.numerator().saturating_mul(of_a_pass), rate.denominator(), more * of_a_pass as f64);
            }
        }
        commands
    }
}

/// The presence of a chip j in the queue for the bus within an interval.
#[allow(non_snake_case)] // The document's letters.
pub(super) struct Presence {
    /// Times that it may begin something else.
    pub(super) S_j: u128,
    pub(super) V_j: u128,
}

impl Presence {
    #[allow(non_snake_case)]
    pub(super) fn new(requests: &[DemandTask], gc: Option<ChosenGc>, length: Span) -> Presence {
        let (mut jobs, mut V_j) = (0, 0);
        for item in requests {
            let live = u128::from(item.live(length));
            jobs += live;
            if item.writes {
                // Eq. (43).
                V_j = item.transfers.of(live).saturating_add(V_j);
            }
        }
        let P_j = gc.map_or(0, |gc| passes_live(requests, gc, length));
        // Eq. (42).
        Presence { S_j: jobs + P_j + 1, V_j }
    }
}

pub(super) fn switches_line<L: LongRun>(requests: &[DemandTask], gc: Option<ChosenGc>) -> Line<L> {
    let mut line = Line { slope: L::default(), constant: 1.0 };
    for item in requests {
        line.add(1, item.period.as_ns().into(), more_live(item));
    }
    for PassTerm { rate, more } in passes(requests, gc) {
        line.add(rate.numerator(), rate.denominator(), more);
    }
    line
}

pub(super) fn programs_line<L: LongRun>(requests: &[DemandTask]) -> Line<L> {
    let mut line = Line::default();
    for item in requests.iter().filter(|item| item.writes) {
        let (pages, chips) = item.transfers.rate();
        let shared = u128::from(item.period.as_ns()) * u128::from(chips);
        line.add(pages.into(), shared, item.transfers.at_most(more_live(item)));
    }
    line
}

/// P_j, Eq. (41): GC jobs that are live in an interval of this length, at most.
fn passes_live(requests: &[DemandTask], gc: ChosenGc, length: Span) -> u128 {
    let Some(deadline) = gc.deadline else { return 0 };
    let arrived = requests.iter().filter(|item| item.writes).fold(0u128, |sum, item| {
        let window = total(length, deadline) + u128::from(item.jitter.as_ns());
        let released = quotient_up(window, item.period.as_ns());
        item.pages.of(released).saturating_add(sum)
    });
    quotient_up(arrived, gc.reclaimed)
}

/// A part of the GC jobs in the long run.
pub(super) struct PassTerm {
    pub(super) rate: Fraction,
    /// Jobs beyond that, at most.
    pub(super) more: f64,
}

/// GC jobs in the long run: a round-up, and those of each writing request.
pub(super) fn passes(requests: &[DemandTask], gc: Option<ChosenGc>) -> impl Iterator<Item = PassTerm> {
    let with_deadline = gc.and_then(|gc| Some((gc, gc.deadline?)));
    with_deadline.into_iter().flat_map(move |(gc, deadline)| {
        let writers = requests.iter().filter(|item| item.writes).map(move |item| {
            let (pages, chips) = item.pages.rate();
            let shared = u128::from(gc.reclaimed) * u128::from(item.period.as_ns());
            // If the product overflows, the rate is higher than it has to be.
            let rate = Fraction::new(pages.into(), shared.saturating_mul(chips.into()));
            let jobs = (ns(deadline) + ns(item.jitter)) / ns(item.period) + 1.0;
            PassTerm { rate, more: item.pages.at_most(jobs) / gc.reclaimed as f64 }
        });
        std::iter::once(PassTerm { rate: Fraction::new(0, 1), more: 1.0 }).chain(writers)
    })
}

/// v + 1: copies inside a chip and an erase, of a pass.
pub(super) fn steps_on_chip(gc: ChosenGc) -> u128 {
    u128::from(gc.valid) + 1
}

pub(super) fn total(one: Span, other: Span) -> u128 {
    u128::from(one.as_ns()) + u128::from(other.as_ns())
}

/// 1 + D/T: what [`DemandTask::live`] is above L/T, at most.
fn more_live(item: &DemandTask) -> f64 {
    1.0 + ns(item.deadline) / ns(item.period)
}
