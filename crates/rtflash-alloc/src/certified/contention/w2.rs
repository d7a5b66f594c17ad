//! W2: reads in a queue (docs/analysis.md, Section 6.1). Where a read follows a read, sensing and
//! waiting overlap, and σ is taken back. What may spoil that is charged as exceptions, each at the
//! price of what it spoils.

use rtflash_model::{Device, Span};

use super::{Activity, Contention, WaitBound, more_live, total};
use crate::certified::processor::{ChosenGc, DemandTask, Processor};
use crate::certified::term::Term;
use crate::certified::time::{Cost, ProcessorTime, ns};
use crate::fraction::Fraction;

/// A bus that serves first come, first served, all of whose other chips are known.
#[derive(Debug, Clone, Copy)]
#[allow(non_snake_case)] // R_j is the document's letter.
pub(super) struct FifoBus {
    /// σ.
    sigma: Span,
    /// φ: what of σ is lost only where all others come fresh.
    phi: Span,
    /// Whether t_w ≥ t_r, so that S_j bounds R_j, too.
    S_bounds_R: bool,
    /// Other chips of the same cluster on the channel.
    siblings: u64,
    /// o: all other chips on the channel.
    o: u64,
}

impl FifoBus {
    /// Of a channel with o other active chips; `None` where there is none. `alike`: σ of one other
    /// chip is as that of more.
    pub(super) fn new(device: &Device, siblings: u64, o: u64, alike: bool) -> Option<FifoBus> {
        let (t_r, t_d) = (device.page_read(), device.page_transfer());
        // Eq. (38).
        let phi = t_r.min(t_d);
        let sigma = if o > 1 || alike { t_r.min(t_d.saturating_add(t_d)) } else { phi };
        (o > 0).then_some(FifoBus { sigma, phi, S_bounds_R: device.page_program_min() >= t_r, siblings, o })
    }

    /// σ.
    pub(super) fn saved(self) -> Span {
        self.sigma
    }

    pub(super) fn siblings(self) -> u64 {
        self.siblings
    }

    /// σ − φ.
    fn sigma_less_phi(self) -> Span {
        self.sigma.checked_sub(self.phi).expect("φ is a part of σ")
    }

    /// max(1, o − 1): chips that share the cycles of σ − φ.
    fn sharing(self) -> u128 {
        if self.o > 1 { u128::from(self.o) - 1 } else { 1 }
    }
}

/// What another chip j may do within an interval of length L.
#[allow(non_snake_case)] // The document's letters.
struct Presence {
    /// Times that it may begin something else.
    S_j: u128,
    /// Pages programmed for users.
    V_j: u128,
}

impl Presence {
    #[allow(non_snake_case)]
    fn new(requests: &[DemandTask], gc: Option<ChosenGc>, length: Span) -> Presence {
        let (mut jobs, mut V_j, mut arrived) = (0, 0, 0);
        for item in requests {
            let live = u128::from(item.live(length));
            jobs += live;
            if item.writes {
                // Eq. (42).
                V_j = (live * u128::from(item.transfers)).saturating_add(V_j);
                if let Some(deadline) = gc.and_then(|gc| gc.deadline) {
                    let window = total(length, deadline) + u128::from(item.jitter.as_ns());
                    let released = window.div_ceil(item.period.as_ns().into());
                    arrived = released.saturating_mul(item.transfers.into()).saturating_add(arrived);
                }
            }
        }
        // Eq. (40).
        let P_j = gc.map_or(0, |gc| arrived.div_ceil(gc.reclaimed.into()));
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

impl Contention {
    /// W2, Eq. (46), before σ n_r is taken back, and σ n_r.
    #[allow(non_snake_case)] // The document's letters.
    pub(super) fn w2(
        &self,
        queue: FifoBus,
        activity: Activity,
        processor: &Processor,
        gc: Option<ChosenGc>,
    ) -> (ProcessorTime, ProcessorTime) {
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
        let kept = |term: Term, count: u128| if self.left_out == Some(term) { 0 } else { count };
        let (jobs, first) = (kept(Term::OwnJobs, activity.jobs), kept(Term::FirstRead, 1));
        let (sum_R, min_E) = (kept(Term::ServedTwice, sum_R), kept(Term::MinFresh, min_E));
        let sum_E = kept(Term::SumFresh, sum_E);
        let [sigma, phi, sigma_less_phi] = [queue.sigma, queue.phi, queue.sigma_less_phi()].map(Cost::from);
        let excepted = sigma
            .times(jobs.saturating_add(sum_R).saturating_add(first))
            .saturating_add(phi.times(min_E))
            .saturating_add(sigma_less_phi.times(sum_E.div_ceil(queue.sharing())));
        // Waits for siblings are in what pages are charged.
        let o_t_d = Cost::from(self.transfer).times(self.beside_siblings());
        let n_i = activity.reads.saturating_add(activity.writes);
        (o_t_d.saturating_mul(n_i).saturating_add(excepted), sigma.times(activity.reads))
    }

    /// Chips that a page waits for beyond what it is charged.
    fn beside_siblings(&self) -> u128 {
        let foreign: u128 = self.neighbours.iter().map(|neighbour| u128::from(neighbour.chips)).sum();
        foreign + u128::from(self.always)
    }

    /// A line above W2 and the requests' own time, "Computation" in Section 6.1; `None` where
    /// numbers are too large.
    pub(super) fn w2_line(&self, queue: FifoBus, processor: &Processor, gc: Option<ChosenGc>) -> Option<WaitBound> {
        let sigma = u128::from(queue.sigma.as_ns());
        let mut line = WaitBound { load: Vec::new(), constant: ns(queue.sigma) };
        for item in &processor.tasks {
            let pages = u128::from(item.transfers);
            let time =
                u128::from(item.cost.as_ns()) + u128::from(self.transfer.as_ns()) * self.beside_siblings() * pages;
            let saved = if item.writes { 0 } else { sigma * pages };
            let time = time.checked_sub(saved).expect("each read costs σ at least");
            line.load.push(Fraction::new(time + sigma, item.period.as_ns().into()));
            line.constant += (time + sigma) as f64 * item.early();
        }
        for (rate, more) in passes(&processor.tasks, gc) {
            line.load.push(Fraction::new(sigma.checked_mul(rate.numerator())?, rate.denominator()));
            line.constant += more * ns(queue.sigma);
        }
        let siblings = (queue.siblings > 0).then_some((queue.siblings, &processor.tasks, gc));
        let chips =
            siblings.into_iter().chain(self.neighbours.iter().map(|each| (each.chips, &each.requests, each.gc)));
        let [phi, rest] = [queue.phi, queue.sigma_less_phi()].map(|span| u128::from(span.as_ns()));
        let mut least: Option<(f64, Rate)> = None;
        for (count, requests, gc) in chips {
            let count = u128::from(count);
            let (switches, writes) = (Rate::of_switches(requests, gc), Rate::of_writes(requests));
            // The lesser of the two, as in any interval.
            let again = if queue.S_bounds_R && switches.estimate() < writes.estimate() { &switches } else { &writes };
            again.charge(&mut line, sigma * count, 1)?;
            switches.charge(&mut line, rest * count, queue.sharing())?;
            writes.charge(&mut line, rest * count, queue.sharing())?;
            let terms = switches.terms.iter().chain(&writes.terms);
            let fresh = Rate {
                terms: terms.map(|term| Fraction::new(phi * term.numerator(), term.denominator())).collect(),
                more: (switches.more + writes.more) * ns(queue.phi),
            };
            let rate = fresh.estimate();
            if least.as_ref().is_none_or(|least| rate < least.0) {
                least = Some((rate, fresh));
            }
        }
        let (_, mut fresh) = least?;
        line.load.append(&mut fresh.terms);
        line.constant += fresh.more;
        // And a round-up.
        line.constant += ns(queue.sigma);
        Some(line)
    }
}

/// How often something happens: at most Σ terms · L + more within an interval of length L.
struct Rate {
    terms: Vec<Fraction>,
    more: f64,
}

impl Rate {
    /// S_j.
    fn of_switches(requests: &[DemandTask], gc: Option<ChosenGc>) -> Rate {
        let mut rate = Rate { terms: Vec::new(), more: 1.0 };
        for item in requests {
            rate.terms.push(Fraction::new(1, item.period.as_ns().into()));
            rate.more += more_live(item);
        }
        for (term, more) in passes(requests, gc) {
            rate.terms.push(term);
            rate.more += more;
        }
        rate
    }

    /// V_j.
    fn of_writes(requests: &[DemandTask]) -> Rate {
        let mut rate = Rate { terms: Vec::new(), more: 0.0 };
        for item in requests.iter().filter(|item| item.writes) {
            rate.terms.push(Fraction::new(item.transfers.into(), item.period.as_ns().into()));
            rate.more += more_live(item) * item.transfers as f64;
        }
        rate
    }

    fn estimate(&self) -> f64 {
        self.terms.iter().map(|term| term.to_f64()).sum()
    }

    /// Adds `time` a time, shared by so many.
    fn charge(&self, line: &mut WaitBound, time: u128, sharing: u128) -> Option<()> {
        for term in &self.terms {
            let denominator = term.denominator().checked_mul(sharing)?;
            line.load.push(Fraction::new(time.checked_mul(term.numerator())?, denominator));
        }
        line.constant += self.more * time as f64 / sharing as f64;
        Some(())
    }
}

/// GC jobs in the long run: jobs a nanosecond, and beyond that at most.
fn passes(requests: &[DemandTask], gc: Option<ChosenGc>) -> Vec<(Fraction, f64)> {
    let Some((gc, deadline)) = gc.and_then(|gc| Some((gc, gc.deadline?))) else { return vec![] };
    let writers = requests.iter().filter(|item| item.writes);
    let mut all = vec![(Fraction::new(0, 1), 1.0)];
    all.extend(writers.map(|item| {
        let rate = Fraction::new(item.transfers.into(), u128::from(gc.reclaimed) * u128::from(item.period.as_ns()));
        let more = item.transfers as f64 / gc.reclaimed as f64;
        (rate, more * ((ns(deadline) + ns(item.jitter)) / ns(item.period) + 1.0))
    }));
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::certified::random_processors::{Drawn, ns};

    /// What a processor does in an interval in which so many jobs of each request are due, and the
    /// requests' own time.
    fn of_requests(processor: &Processor, length: Span, due: impl Fn(&DemandTask) -> u64) -> (Activity, ProcessorTime) {
        let mut activity = Activity { length, ..Activity::default() };
        let mut own = ProcessorTime::ZERO;
        for item in &processor.tasks {
            let jobs = u128::from(due(item));
            let pages = jobs * u128::from(item.transfers);
            *(if item.writes { &mut activity.writes } else { &mut activity.reads }) += pages;
            activity.jobs += jobs;
            own = own.saturating_add(item.cost.times(jobs));
        }
        (activity, own)
    }

    /// The line above W2 has the slope that W2 has in the long run: of what W2 takes the least of,
    /// the line takes the same.
    #[test]
    fn the_line_is_as_steep_as_w2() {
        let (mut compared, mut several) = (0, 0);
        for seed in 0..6_000 {
            let Some(Drawn { processor, gc, contention, .. }) = Drawn::new(seed) else { continue };
            let Some(queue) = contention.queue else { continue };
            let Some(line) = contention.w2_line(queue, &processor, gc) else { continue };
            // Long enough for what is added once to be nothing.
            let length = 1_u64 << 50;
            let (mut activity, own) = of_requests(&processor, ns(length), |item| length / item.period.as_ns());
            for (rate, _) in passes(&processor.tasks, gc) {
                activity.jobs += rate.numerator() * u128::from(length) / rate.denominator();
            }
            let (wait, taken_back) = contention.w2(queue, activity, &processor, gc);
            let slope = (wait.to_f64() - taken_back.to_f64() + own.to_f64()) / length as f64;
            let off = (line.rate() - slope).abs();
            assert!(off < 1e-9 * slope.max(1.0), "seed {seed}: {} and {slope}", line.rate());
            compared += 1;
            several += usize::from(contention.neighbours.len() > 1);
        }
        assert!(compared > 500 && several > 100, "{compared}, {several}");
    }

    /// The line is above W2 and the requests' own time in every interval, and where requests are
    /// due early it comes near.
    #[test]
    fn the_line_is_above_w2() {
        let (mut compared, mut early) = (0, 0);
        for seed in 0..3_000 {
            let Some(Drawn { processor, contention, gc, .. }) = Drawn::new(seed) else { continue };
            let Some(queue) = contention.queue else { continue };
            let Some(line) = contention.w2_line(queue, &processor, gc) else { continue };
            for length in (1..600).map(ns) {
                let (mut activity, own) = of_requests(&processor, length, |item| item.due(length));
                // What passes take themselves is in another line.
                let deadline = gc.and_then(|gc| Some((gc, length.checked_sub(gc.deadline?)?)));
                activity.jobs += deadline.map_or(0, |(gc, rest)| {
                    let arrived: u128 = processor.write_streams.iter().map(|writer| writer.arriving(rest)).sum();
                    arrived.div_ceil(gc.reclaimed.into())
                });
                let (wait, taken_back) = contention.w2(queue, activity, &processor, gc);
                let all = own.saturating_add(wait).to_f64() - taken_back.to_f64();
                let above = line.rate() * length.as_ns() as f64 + line.constant - all;
                assert!(above > -1e-6, "seed {seed}, {length}: {above}");
                early += usize::from(above < 10.0 * crate::certified::time::ns(queue.sigma));
            }
            compared += 1;
        }
        assert!(compared > 500 && early > 500, "{compared}, {early}");
    }

    /// What is there long-run is at least what is there in any interval, and is no further above it
    /// than what roundings up of each kind of job come to.
    #[test]
    fn passes_stay_below_their_rate() {
        let mut compared = 0;
        for seed in 0..3_000 {
            let Some(Drawn { processor, gc, .. }) = Drawn::new(seed) else { continue };
            let Some(gc) = gc.filter(|gc| gc.deadline.is_some()) else { continue };
            let terms = passes(&processor.tasks, Some(gc));
            let (rate, more) = terms.iter().fold((0.0, 0.0), |sum, (rate, more)| (sum.0 + rate.to_f64(), sum.1 + more));
            let pages: u64 = processor.write_streams.iter().map(|writer| writer.pages).sum();
            let mut nearest = f64::INFINITY;
            for length in 1..3_000 {
                let presence = Presence::new(&processor.tasks, Some(gc), ns(length));
                let live: u128 = processor.tasks.iter().map(|item| u128::from(item.live(ns(length)))).sum();
                let line = rate * length as f64 + more;
                let above = line - (presence.S_j - live - 1) as f64;
                assert!(above > -1e-6, "seed {seed}, {length} ns: {above}");
                nearest = nearest.min(above);
            }
            assert!(nearest <= 1.0 + pages as f64 / gc.reclaimed as f64, "seed {seed}: {nearest}");
            compared += 1;
        }
        assert!(compared > 500, "{compared}");
    }
}
