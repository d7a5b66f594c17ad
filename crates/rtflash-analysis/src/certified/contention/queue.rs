//! The queue for the bus, and what may spoil it (docs/analysis.md, Section 6.1): exceptions, which
//! [`w2`](super::w2) and [`w3`](super::w3) charge at the price of what they spoil.

use rtflash_model::{Device, Span};

use super::{Activity, ChipSum, Contention, ForeignChip, more_live, total};
use crate::certified::long_run::{Line, LongRun};
use crate::certified::processor::{ChosenGc, DemandTask, Processor};
use crate::certified::term::Term;
use crate::certified::time::{ns, quotient_up};
use crate::fraction::Fraction;

/// A bus that serves first come, first served, all of whose other chips are known.
#[derive(Debug, Clone, Copy)]
#[allow(non_snake_case)] // R_j is the document's letter.
pub(super) struct FifoBus {
    /// σ.
    sigma: Span,
    /// φ: what of σ is lost only where all others come fresh.
    phi: Span,
    /// Whether t_w > t_r − t_d, so that S_j bounds R_j, too.
    S_bounds_R: bool,
    siblings: u64,
    /// o: all other chips on the channel.
    o: u64,
}

impl FifoBus {
    /// Of a channel with o other active chips; `None` where there is none, and where commands use
    /// the bus, too. `alike`: σ of one other
    /// chip is as that of more.
    #[allow(non_snake_case)]
    pub(super) fn new(device: &Device, siblings: u64, o: u64, alike: bool) -> Option<FifoBus> {
        let (t_r, t_d) = (device.page_read(), device.page_transfer());
        // Eq. (38).
        let phi = t_r.min(t_d);
        let sigma = if o > 1 || alike { t_r.min(t_d.saturating_add(t_d)) } else { phi };
        let S_bounds_R = device.page_program_min().saturating_add(t_d) > t_r;
        (o > 0 && !device.has_commands()).then_some(FifoBus { sigma, phi, S_bounds_R, siblings, o })
    }

    /// σ.
    pub(super) fn sigma(self) -> Span {
        self.sigma
    }

    /// φ.
    pub(super) fn phi(self) -> Span {
        self.phi
    }

    /// σ − φ.
    pub(super) fn sigma_less_phi(self) -> Span {
        self.sigma.checked_sub(self.phi).expect("φ is a part of σ")
    }

    /// Other chips of the same cluster on the channel.
    pub(super) fn siblings(self) -> u64 {
        self.siblings
    }

    /// o.
    pub(super) fn others(self) -> u128 {
        self.o.into()
    }

    /// max(1, o − 1): chips that share the cycles of σ − φ.
    pub(super) fn sharing(self) -> u128 {
        if self.o > 1 { u128::from(self.o) - 1 } else { 1 }
    }
}

/// What another chip j may do within an interval of length L.
#[allow(non_snake_case)] // The document's letters.
pub(super) struct Presence {
    /// Times that it may begin something else.
    pub(super) S_j: u128,
    /// Pages programmed for users.
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
                // Eq. (42).
                V_j = item.transfers.of(live).saturating_add(V_j);
            }
        }
        let P_j = gc.map_or(0, |gc| passes_live(requests, gc, length));
        // Eq. (41).
        Presence { S_j: jobs + P_j + 1, V_j }
    }

    /// R_j, Eq. (43): times that it may transfer a page and then ask for the bus again, to program,
    /// before another chip has read a page.
    #[allow(non_snake_case)]
    fn R_j(&self, queue: FifoBus) -> u128 {
        if queue.S_bounds_R { self.V_j.min(self.S_j) } else { self.V_j }
    }

    /// E_j, Eq. (44): transfers that it may ask for without having just finished another.
    #[allow(non_snake_case)]
    fn E_j(&self) -> u128 {
        self.V_j.saturating_add(self.S_j)
    }
}

impl ForeignChip {
    /// It is in a queue: what it asks the bus for in the long run is kept.
    pub(super) fn queues(&mut self) {
        self.lines.switches = Line::of_switches(&self.requests, self.gc);
        self.lines.writes = Line::of_writes(&self.requests);
    }
}

/// What may spoil an interval for the reads of a processor.
#[allow(non_snake_case)] // The document's letters.
pub(super) struct Exceptions {
    /// 1 + J_i + Σ R_j: operations that wait in full.
    pub(super) full: u128,
    /// min E_j.
    pub(super) min_E: u128,
    /// Σ E_j.
    pub(super) sum_E: u128,
}

impl Contention {
    /// The exceptions of an interval in which a processor does so much.
    #[allow(non_snake_case)] // The document's letters.
    pub(super) fn exceptions(
        &self,
        queue: FifoBus,
        activity: Activity,
        processor: &Processor,
        gc: Option<ChosenGc>,
    ) -> Exceptions {
        let length = activity.length;
        let siblings = (queue.siblings > 0).then(|| (queue.siblings, Presence::new(&processor.tasks, gc, length)));
        let neighbours =
            self.neighbours.iter().map(|each| (each.chips, Presence::new(&each.requests, each.gc, length)));
        let (mut min_E, mut sum_E, mut sum_R) = (u128::MAX, 0, 0);
        for (chips, j) in siblings.into_iter().chain(neighbours) {
            min_E = min_E.min(j.E_j());
            sum_E = j.E_j().saturating_mul(chips.into()).saturating_add(sum_E);
            sum_R = j.R_j(queue).saturating_mul(chips.into()).saturating_add(sum_R);
        }
        let jobs = self.kept(Term::OwnJobs, activity.jobs);
        let (first, sum_R) = (self.kept(Term::FirstRead, 1), self.kept(Term::ServedTwice, sum_R));
        Exceptions { full: jobs.saturating_add(sum_R).saturating_add(first), min_E, sum_E }
    }

    /// A number, or none where its term is left out.
    pub(super) fn kept(&self, term: Term, count: u128) -> u128 {
        if self.left_out == Some(term) { 0 } else { count }
    }
}

/// Lines above the exceptions of any interval.
#[allow(non_snake_case)] // The document's letters.
pub(super) struct ExceptionLines<L> {
    /// Above min E_j.
    min_E: Line<L>,
    /// Above Σ E_j.
    sum_E: Line<L>,
}

impl<L: LongRun> ExceptionLines<L> {
    /// Adds `time`, shared by so many, for each of Σ E_j.
    pub(super) fn charge_all(&self, line: &mut Line<L>, time: Span, sharing: u128) -> Option<()> {
        line.add_scaled(&self.sum_E, time.as_ns().into(), sharing)
    }

    /// Adds `time` for each of min E_j.
    pub(super) fn charge_least(&self, line: &mut Line<L>, time: Span) -> Option<()> {
        line.add_scaled(&self.min_E, time.as_ns().into(), 1)
    }
}

impl Contention {
    /// A line above the requests' own time, `own` of each page, and σ (1 + J_i + Σ R_j);
    /// "Computation" in Section 6.1. `None` where numbers are too large.
    #[allow(non_snake_case)] // The document's letters.
    pub(super) fn exceptions_line<L: ChipSum>(
        &self,
        queue: FifoBus,
        processor: &Processor,
        gc: Option<ChosenGc>,
        own: impl Fn(&DemandTask) -> Option<u128>,
    ) -> Option<(Line<L>, ExceptionLines<L>)> {
        let sigma = u128::from(queue.sigma.as_ns());
        let mut line = Line { slope: L::default(), constant: ns(queue.sigma) };
        for item in &processor.tasks {
            line.add_due(item, own(item)?)?;
            line.add(sigma, item.period.as_ns().into(), ns(queue.sigma) * item.early());
        }
        for (rate, more) in passes(&processor.tasks, gc) {
            line.add(sigma.checked_mul(rate.numerator())?, rate.denominator(), more * ns(queue.sigma));
        }
        let (mut min_E, mut sum_E): (Option<Line<L>>, Line<L>) = (None, Line::default());
        let mut add = |chips: u64, switches: &Line<L>, writes: &Line<L>| {
            let chips = u128::from(chips);
            // The lesser of the two, as in any interval.
            let again = if queue.S_bounds_R && switches.rate() < writes.rate() { switches } else { writes };
            line.add_scaled(again, sigma.checked_mul(chips)?, 1)?;
            let mut E_j = switches.clone();
            E_j.add_scaled(writes, 1, 1)?;
            sum_E.add_scaled(&E_j, chips, 1)?;
            if min_E.as_ref().is_none_or(|least| E_j.rate() < least.rate()) {
                min_E = Some(E_j);
            }
            Some(())
        };
        if queue.siblings > 0 {
            let [switches, writes] = [Line::of_switches(&processor.tasks, gc), Line::of_writes(&processor.tasks)];
            add(queue.siblings, &switches, &writes)?;
        }
        for j in &self.neighbours {
            match L::kept(j) {
                Some(kept) => add(j.chips, &kept.switches, &kept.writes)?,
                None => add(j.chips, &Line::of_switches(&j.requests, j.gc), &Line::of_writes(&j.requests))?,
            }
        }
        Some((line, ExceptionLines { min_E: min_E?, sum_E }))
    }
}

impl<L: LongRun> Line<L> {
    /// Above S_j.
    pub(super) fn of_switches(requests: &[DemandTask], gc: Option<ChosenGc>) -> Line<L> {
        let mut line = Line { slope: L::default(), constant: 1.0 };
        for item in requests {
            line.add(1, item.period.as_ns().into(), more_live(item));
        }
        for (rate, more) in passes(requests, gc) {
            line.add(rate.numerator(), rate.denominator(), more);
        }
        line
    }

    /// Above V_j.
    pub(super) fn of_writes(requests: &[DemandTask]) -> Line<L> {
        let mut line = Line::default();
        for item in requests.iter().filter(|item| item.writes) {
            let (pages, chips) = item.transfers.rate();
            let shared = u128::from(item.period.as_ns()) * u128::from(chips);
            line.add(pages.into(), shared, item.transfers.at_most(more_live(item)));
        }
        line
    }
}

/// P_j, Eq. (40): GC jobs that are live in an interval of this length, at most.
pub(super) fn passes_live(requests: &[DemandTask], gc: ChosenGc, length: Span) -> u128 {
    let Some(deadline) = gc.deadline else { return 0 };
    let arrived = requests.iter().filter(|item| item.writes).fold(0u128, |sum, item| {
        let window = total(length, deadline) + u128::from(item.jitter.as_ns());
        let released = quotient_up(window, item.period.as_ns());
        item.pages.of(released).saturating_add(sum)
    });
    quotient_up(arrived, gc.reclaimed)
}

/// GC jobs in the long run: jobs a nanosecond, and beyond that at most.
pub(super) fn passes(requests: &[DemandTask], gc: Option<ChosenGc>) -> impl Iterator<Item = (Fraction, f64)> {
    let with_deadline = gc.and_then(|gc| Some((gc, gc.deadline?)));
    with_deadline.into_iter().flat_map(move |(gc, deadline)| {
        let writers = requests.iter().filter(|item| item.writes).map(move |item| {
            let (pages, chips) = item.pages.rate();
            let shared = u128::from(gc.reclaimed) * u128::from(item.period.as_ns());
            // Shared by fewer where that cannot be written down: it is above then.
            let rate = Fraction::new(pages.into(), shared.saturating_mul(chips.into()));
            let jobs = (ns(deadline) + ns(item.jitter)) / ns(item.period) + 1.0;
            (rate, item.pages.at_most(jobs) / gc.reclaimed as f64)
        });
        std::iter::once((Fraction::new(0, 1), 1.0)).chain(writers)
    })
}
