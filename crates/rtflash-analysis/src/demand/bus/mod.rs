//! The wait of a processor's pages for the bus within an interval, beyond the charge of each page:
//! the device-level test (docs/analysis.md, Sections 6, 6.1, 6.3, 13 and 14).
//!
//! A bound is a file, which begins with what it assumes:
//! - [`w1`]: neighbours make few transfers. It is the bound of (T').
//! - [`w2`], [`w3`]: reads in a queue, and reads in a queue beside neighbours that move little. The
//!   smallest of the three is the bound of (T'').
//! - [`queued_commands`]: the bound of (T'') if commands use the bus.
//! - [`w4`]: two page registers, the bound of (T2).
//!
//! Each has the wait in an interval, and a line above it for the last length of the test. The cheap
//! sufficient test uses the shares of W1 and W4. [`neighbour`] counts what another chip does.

#[cfg(test)]
mod lines;
mod neighbour;
mod queue;
mod queued_commands;
mod w1;
mod w2;
mod w3;
mod w4;

use rtflash_model::{Device, Span};

use crate::fraction::to_f64;
use crate::gc::ChosenGc;
use crate::long_run::{Line, LongRun};
use crate::organisation::processor::{DemandTask, Processor};
use crate::organisation::registers::RegisterTurns;
use crate::time::ProcessorTime;
use neighbour::{Neighbour, PassTerm, passes, total};
use queue::FifoBus;

/// Waiting for the bus beyond what [`SharedBus::ways`](crate::certified::SharedBus) charges.
#[derive(Debug, Clone, Default)]
pub struct Contention {
    /// t_b: the longest that one request holds the bus; t_d without commands.
    hold: Span,
    /// t_c: zero without commands.
    command: Span,
    neighbours: Vec<Neighbour>,
    /// Transfers that every page waits for here beside those that it is charged anyway.
    always: u64,
    queue: Option<FifoBus>,
    /// The chip's siblings, if commands stand in a queue and all other chips are known.
    queued_siblings: Option<u64>,
    /// Rows of the processor wait elsewhere for at least as long as on the neighbours' channel.
    rows_wait_elsewhere: bool,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Waiter<'p> {
    pub(crate) processor: &'p Processor,
    pub(crate) gc: Option<ChosenGc>,
    pub(crate) server: bool,
}

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Activity {
    /// L.
    pub(crate) length: Span,
    /// n_r: pages read for users.
    pub(crate) reads: u128,
    /// n_w: pages programmed for users.
    pub(crate) writes: u128,
    pub(crate) resets: u128,
    /// J_i, Eq. (40): jobs released and due in it, those of garbage collection included.
    pub(crate) jobs: u128,
    pub(crate) passes: u128,
    /// I: how often an array with two page registers may wait for a transfer.
    pub(crate) turns: RegisterTurns,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Wait {
    /// Beyond what its pages are charged.
    pub(crate) more: ProcessorTime,
    /// By which that charge is too much; less than the charge for its reads.
    pub(crate) less: ProcessorTime,
}

impl<'p> Waiter<'p> {
    fn passes(self) -> impl Iterator<Item = PassTerm> + 'p {
        passes(&self.processor.tasks, self.gc)
    }

    /// A line above the own time of its requests; `None` where numbers are too large.
    fn own_line<L: LongRun>(self) -> Option<Line<L>> {
        let mut line = Line::default();
        for item in &self.processor.tasks {
            line.add_due(item, item.step_cost.as_ns().into())?;
        }
        Some(line)
    }
}

impl Contention {
    /// Nothing beyond what each page is charged.
    pub fn none() -> Contention {
        Contention::default()
    }

    /// Whether it comes to nothing beyond what each page is charged.
    pub fn is_none(&self) -> bool {
        self.neighbours.is_empty() && self.always == 0
    }

    /// Chips that a page may wait for beyond those that it is charged.
    pub(crate) fn chips(&self) -> u64 {
        self.neighbours.iter().fold(self.always, |sum, j| sum.saturating_add(j.chips))
    }

    /// Waiting on this device's buses.
    pub fn new(device: &Device) -> Contention {
        Contention { hold: device.bus_hold(), command: device.command(), ..Contention::default() }
    }

    /// Adds `chips` chips, each a processor such as this or a part of it, without server.
    pub fn add(&mut self, processor: &Processor, gc: Option<ChosenGc>, chips: u64) {
        let (requests, repeated) = (processor.tasks.clone(), processor.repeated_programs());
        self.neighbours.push(Neighbour::new(chips, requests, gc, repeated, processor.rows()));
    }

    /// Charges every page that many transfers more.
    #[must_use]
    pub fn with_more(self, transfers: u64) -> Contention {
        Contention { always: self.always + transfers, ..self }
    }

    /// The chips added and `siblings` are all of the channel, in stripes without servers, and the
    /// bus serves first come, first served.
    #[must_use]
    pub fn in_a_queue(self, device: &Device, siblings: u64) -> Contention {
        let others = siblings + self.neighbours.iter().map(|j| j.chips).sum::<u64>();
        let queue = FifoBus::new(device, siblings, others);
        Contention { queue, queued_siblings: device.has_commands().then_some(siblings), ..self }
    }

    pub(crate) fn requests(&self) -> usize {
        self.neighbours.iter().map(|j| j.requests.len()).sum()
    }

    /// σ: what each read may wait less; with commands one of the two waits for each sibling.
    pub(crate) fn saved(&self) -> Span {
        let of_siblings = |siblings| self.hold.checked_mul(siblings).unwrap_or(Span::ZERO);
        self.queued_siblings.map_or_else(|| self.queue.map_or(Span::ZERO, |queue| queue.sigma), of_siblings)
    }

    #[must_use]
    pub(crate) fn rows_wait_elsewhere(self, so: bool) -> Contention {
        Contention { rows_wait_elsewhere: so, ..self }
    }

    /// min(W1, W2, W3), or W4 of chips with two page registers.
    pub(crate) fn waiting(&self, activity: Activity, waiter: Waiter<'_>) -> Wait {
        let beyond = |more: ProcessorTime| Wait { more, less: ProcessorTime::ZERO };
        if let Some(registers) = waiter.processor.registers() {
            return beyond(self.w4(registers, activity));
        }
        let n_i = self.asks(waiter).of_all(activity);
        if let Some(siblings) = self.queued_siblings {
            return self.queued_commands(siblings, activity, n_i, waiter);
        }
        let w1 = self.w1(activity.length, n_i);
        if let Some(full) = self.in_full(waiter) {
            return beyond(w1.min(ProcessorTime::from_ns(full.of_all(activity))));
        }
        let Some(queue) = self.queue.filter(|_| activity.reads > 0) else { return beyond(w1) };
        let exceptions = self.exceptions(queue, activity, waiter);
        let w2 = self.w2(queue, activity, &exceptions);
        let w3 = self.w3_beside_w1(queue, activity, &exceptions);
        let below = |bound: ProcessorTime, back: ProcessorTime| w1.saturating_add(back).checked_sub(bound);
        let less = below(w2.more, w2.less).max(below(w1.saturating_add(w3.more), w3.less));
        // W1 is the smallest one where nothing is left.
        Wait { more: w1, less: less.unwrap_or(ProcessorTime::ZERO) }
    }

    /// A line above waiting and the requests' own time: the bound with the smallest rate.
    pub(crate) fn line<L: LongRun>(&self, waiter: Waiter<'_>) -> Option<Line<L>> {
        if let Some(registers) = waiter.processor.registers() {
            return self.w4_line(registers, waiter);
        }
        if let Some(siblings) = self.queued_siblings {
            return self.queued_commands_line(siblings, waiter);
        }
        let w1 = self.w1_line(waiter)?;
        if let Some(full) = self.in_full(waiter) {
            let mut line = waiter.own_line()?;
            full.add_to(&mut line, waiter, 1)?;
            return Some(if line.rate() < w1.rate() { line } else { w1 });
        }
        let Some(queue) = self.queue else { return Some(w1) };
        let lines = [self.w2_line(queue, waiter), self.w3_line(queue, waiter)].into_iter().flatten();
        Some(lines.fold(w1, |least, line| if line.rate() < least.rate() { line } else { least }))
    }

    /// The share of waiting in intervals of at least `length`, for `rate` requests a nanosecond.
    pub(crate) fn share(&self, processor: &Processor, length: f64, rate: f64) -> f64 {
        match processor.registers() {
            Some(registers) => self.w4_share(registers, length, rate),
            None => self.w1_share(length, rate),
        }
    }

    /// The work of a decision for each request in one interval more.
    pub(crate) fn quick_look(&self, processor: &Processor) -> u64 {
        if self.queue.is_some() || self.queued_siblings.is_some() {
            4
        } else if processor.registers().is_some() {
            3
        } else if self.command > Span::ZERO || processor.rows().is_some() {
            2
        } else {
            1
        }
    }

    /// Lengths up to this one from which on the other chips do no more.
    pub(crate) fn steps(&self, length: Span, Waiter { processor, gc, .. }: Waiter<'_>) -> Span {
        let siblings = self.queue.map(|queue| queue.siblings).or(self.queued_siblings);
        let siblings = siblings.filter(|&siblings| siblings > 0).map(|_| (&processor.tasks, gc));
        let chips = siblings.into_iter().chain(self.neighbours.iter().map(|j| (&j.requests, j.gc)));
        let mut last = Span::ZERO;
        for (requests, gc) in chips {
            for item in requests {
                // ⌈(L + x)/T⌉ grows just behind each multiple of T less x.
                let behind = |more: Span, yet_more: Span| {
                    let (more, period) = (total(more, yet_more), u128::from(item.period.as_ns()));
                    let last = (total(length, Span::ZERO) + more).saturating_sub(1);
                    let start = (last - last % period + 1).saturating_sub(more);
                    u64::try_from(start).ok().and_then(Span::from_ns).map_or(length, |start| start.min(length))
                };
                last = last.max(behind(item.deadline, Span::ZERO));
                if let Some(deadline) = gc.and_then(|gc| gc.deadline).filter(|_| item.writes) {
                    last = last.max(behind(deadline, item.jitter));
                }
            }
        }
        last
    }
}

impl<L: LongRun> Line<L> {
    /// Adds `each` for each page that is due; `None` where that is too large.
    #[inline]
    fn add_due(&mut self, item: &DemandTask, each: u128) -> Option<()> {
        let (pages, chips) = item.transfers.rate();
        let shared = u128::from(item.period.as_ns()) * u128::from(chips);
        self.add(each.checked_mul(pages.into())?, shared, to_f64(each) * item.transfers.at_most(item.early()));
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use rtflash_testkit::ns;

    use super::*;
    use crate::random_processors::Drawn;

    #[test]
    fn none_is_nothing_to_wait_for() {
        let drawn = (0..).find_map(Drawn::new).expect("a unit");
        let (processor, gc) = (&drawn.processor, drawn.gc);
        assert!(Contention::none().is_none() && !Contention::none().with_more(1).is_none());
        let mut one = Contention::none();
        one.add(processor, gc, 1);
        assert!(!one.is_none());
    }

    /// With this length on, nothing is added before the next one.
    #[test]
    fn between_steps_waiting_stays() {
        for seed in 0..3_000 {
            let Some(Drawn { processor, contention, gc, mut rng, .. }) = Drawn::new(seed) else { continue };
            let waiter = Waiter { processor: &processor, gc, server: false };
            let length = ns(rng.within(1, 2_000));
            let step = contention.steps(length, waiter);
            assert!(step <= length);
            let activity = |length| Activity {
                length,
                reads: 1_000,
                writes: 1_000,
                resets: 0,
                jobs: 10,
                passes: 0,
                turns: RegisterTurns { fills: 3, empties: 2 },
            };
            let at = contention.waiting(activity(length), waiter);
            for between in step.as_ns().max(1)..length.as_ns() {
                assert_eq!(contention.waiting(activity(ns(between)), waiter), at, "seed {seed}: {between} to {length}");
            }
        }
    }
}
