//! The transfers of the other chips on the same channel, as far as they are known: the device-level
//! test.
//!
//! Bounds on the time that a chip's pages wait for the bus within an interval: [`w1`] by the
//! transfers that its neighbours make, [`w2`] by the queue for the bus, [`w3`] by both. The
//! smallest one counts. Of chips with two page registers there is one, [`registers`], and where
//! commands stand in a queue one, [`told`]. The letters
//! are those of docs/analysis.md, Sections 6 and 6.1, with deadlines and jitter as in Section 2.9.

#[cfg(test)]
mod lines;
mod queue;
mod registers;
mod told;
mod w1;
mod w2;
mod w3;

use rtflash_model::{Device, Span};

use super::long_run::{Line, LongRun};
use super::processor::{ChosenGc, DemandTask, Processor, Rows};
use super::registers::RegisterTurns;
use super::term::Term;
use super::time::{ProcessorTime, ns, product_of_two};
use crate::fraction::{Fraction, to_f64};
use queue::{FifoBus, passes};

/// A chip of another cluster on the channel: it moves no more pages in an interval than its
/// requests have, and in a superblock its copies.
#[derive(Debug, Clone)]
struct ForeignChip {
    /// Chips like this.
    chips: u64,
    requests: Vec<DemandTask>,
    gc: Option<ChosenGc>,
    /// Programs that may ever fail, and are repeated: of a superblock on any of its chips.
    repeated: u64,
    /// Where it is one of a superblock.
    rows: Option<Rows>,
    /// What it does in the long run, about.
    lines: ChipLines<f64>,
}

/// Lines above what a chip does within an interval.
#[derive(Debug, Clone, Default)]
struct ChipLines<L> {
    /// Pages moved; the slope is μ_j.
    pages: Line<L>,
    /// Above S_j, of chips in a queue.
    switches: Line<L>,
    /// Above V_j, of chips in a queue.
    writes: Line<L>,
    /// Above G_j: commands of copies and erases, where they use the bus.
    commands: Line<L>,
}

/// Waiting for the bus that is counted by intervals, beyond what
/// [`SharedBus::ways`](super::SharedBus) charges each page.
#[derive(Debug, Clone, Default)]
pub struct Contention {
    /// t_b: the longest that one request holds the bus; t_d without commands.
    hold: Span,
    /// t_c: zero without commands.
    command: Span,
    neighbours: Vec<ForeignChip>,
    /// Transfers that every page waits for here beside those that it is charged anyway.
    always: u64,
    queue: Option<FifoBus>,
    /// The chip's siblings, where all others are known and commands stand in the queue.
    told: Option<u64>,
    /// Whether rows of the processor, a superblock, wait on another of its channels for at least as
    /// long as they may on that of the neighbours.
    rows_wait_elsewhere: bool,
    /// What a search leaves out.
    left_out: Option<Term>,
}

/// What a processor does within an interval.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Activity {
    /// L.
    pub(super) length: Span,
    /// n_r: pages read for users.
    pub(super) reads: u128,
    /// n_w: pages programmed for users.
    pub(super) writes: u128,
    /// Resets of zones.
    pub(super) resets: u128,
    /// J_i, Eq. (39): jobs released and due in it, those of garbage collection included.
    pub(super) jobs: u128,
    /// GC jobs released and due in it.
    pub(super) passes: u128,
    /// I: how often an array with two page registers may wait for a transfer.
    pub(super) turns: RegisterTurns,
}

/// A number for each step of a kind, and for each pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PerStep {
    /// With each page that is read for users.
    pub(super) read: u128,
    /// With each page, or row, that is programmed for users.
    pub(super) write: u128,
    /// With each reset of a zone.
    pub(super) reset: u128,
    /// In each pass.
    pub(super) pass: u128,
}

impl PerStep {
    /// With each step of an item.
    pub(super) fn of(self, item: &DemandTask) -> u128 {
        match item.writes {
            _ if item.resets => self.reset,
            true => self.write,
            false => self.read,
        }
    }

    /// The sum over all that a processor does within an interval.
    pub(super) fn of_all(self, activity: Activity) -> u128 {
        let of = |each: u128, times: u128| if each == 0 { 0 } else { product_of_two(each, times) };
        let users = of(self.read, activity.reads).saturating_add(of(self.write, activity.writes));
        users.saturating_add(of(self.reset, activity.resets)).saturating_add(of(self.pass, activity.passes))
    }
}

/// Sums of what other chips do in the long run: some are kept.
pub(super) trait ChipSum: LongRun {
    /// Those that are kept.
    #[allow(private_interfaces)] // Nobody else has chips.
    fn kept(chip: &ForeignChip) -> Option<&ChipLines<Self>>;
}

#[allow(private_interfaces)]
impl ChipSum for f64 {
    fn kept(chip: &ForeignChip) -> Option<&ChipLines<f64>> {
        Some(&chip.lines)
    }
}

#[allow(private_interfaces)]
impl ChipSum for Vec<Fraction> {
    fn kept(_: &ForeignChip) -> Option<&ChipLines<Vec<Fraction>>> {
        None
    }
}

impl Contention {
    /// Nothing beyond what each page is charged.
    pub fn none() -> Contention {
        Contention::default()
    }

    /// Whether it is that of [`Contention::none`], or comes to as much.
    pub fn is_none(&self) -> bool {
        self.neighbours.is_empty() && self.always == 0
    }

    /// Chips that a page may wait for beyond those that it is charged.
    pub(super) fn chips(&self) -> u64 {
        self.neighbours.iter().fold(self.always, |sum, neighbour| sum.saturating_add(neighbour.chips))
    }

    /// Waiting on this device's buses.
    pub fn new(device: &Device) -> Contention {
        Contention { hold: device.bus_hold(), command: device.command(), ..Contention::default() }
    }

    /// Adds that many chips of another cluster, which has no server: each a processor such as this,
    /// or a part of it, with its garbage collection.
    pub fn add(&mut self, processor: &Processor, gc: Option<ChosenGc>, chips: u64) {
        let mut requests = processor.tasks.clone();
        if self.left_out == Some(Term::CarryIn) {
            // ⌈(L + D)/T⌉ is ⌈L/T⌉ then.
            requests.iter_mut().for_each(|request| request.deadline = Span::ZERO);
        }
        let rows = if self.left_out == Some(Term::Copies) {
            processor.rows().map(|rows| Rows { chip_pages: 0, ..rows })
        } else {
            processor.rows()
        };
        let left_out = self.left_out == Some(Term::RepeatedTransfers);
        let repeated = if left_out { 0 } else { processor.repeated_programs() };
        let mut chip = ForeignChip { chips, gc, repeated, rows, requests, lines: ChipLines::default() };
        chip.lines = chip.lines(self.command > Span::ZERO);
        self.neighbours.push(chip);
    }

    /// With a term left out of what is added from now on.
    #[must_use]
    pub(super) fn leaving_out(self, term: Option<Term>) -> Contention {
        Contention { left_out: term, ..self }
    }

    /// Charges every page so many transfers more.
    #[must_use]
    pub fn with_more(self, transfers: u64) -> Contention {
        Contention { always: self.always + transfers, ..self }
    }

    /// Says that the chips added, all of stripes, and `siblings` more of the processor's own are
    /// all chips of the channel, that none of them serves other jobs, and that the bus
    /// serves first come, first served.
    #[must_use]
    pub fn in_a_queue(mut self, device: &Device, siblings: u64) -> Contention {
        let others = siblings + self.neighbours.iter().map(|neighbour| neighbour.chips).sum::<u64>();
        let queue = FifoBus::new(device, siblings, others, self.left_out == Some(Term::SigmaOfOne));
        let told = device.has_commands().then_some(siblings);
        let in_line = queue.is_some() || told.is_some();
        self.neighbours.iter_mut().filter(|_| in_line).for_each(ForeignChip::queues);
        Contention { queue, told, ..self }
    }

    /// Requests of the neighbours.
    pub(super) fn requests(&self) -> usize {
        self.neighbours.iter().map(|neighbour| neighbour.requests.len()).sum()
    }

    /// σ: what each read may wait less, at most; with commands one of the two waits for each
    /// sibling.
    pub(super) fn saved(&self) -> Span {
        let of_siblings = |siblings| self.hold.checked_mul(siblings).unwrap_or(Span::ZERO);
        self.told.map_or_else(|| self.queue.map_or(Span::ZERO, FifoBus::sigma), of_siblings)
    }

    /// Says that rows of the processor, a superblock, wait on another of its channels, if so, for
    /// at least as long as they may on that of the neighbours.
    #[must_use]
    pub(super) fn rows_wait_elsewhere(self, so: bool) -> Contention {
        Contention { rows_wait_elsewhere: so, ..self }
    }

    /// How often what a processor does may wait for a transfer of each neighbour: of a stripe each
    /// request for the bus, with commands as in Section 2.10; of a superblock each step that uses
    /// the bus, Eq. (67), with commands twice where it reads.
    pub(super) fn asks(&self, processor: &Processor, gc: Option<ChosenGc>) -> PerStep {
        let commands = u128::from(self.command > Span::ZERO && self.left_out != Some(Term::CommandWait));
        if processor.registers().is_some() {
            // With commands, too, a page and the command behind it ask once.
            return PerStep { read: 1, write: 1, reset: 0, pass: 0 };
        }
        let (read, victim) = (1 + commands, gc.map_or(0, |gc| gc.valid));
        let Some(Rows { chips, chip_pages }) = processor.rows() else {
            return PerStep { read, write: 1, reset: commands, pass: commands * gc.map_or(0, steps_on_chip) };
        };
        let row = u128::from(!self.rows_wait_elsewhere);
        let steps = u128::from(victim.min(chip_pages)) * read;
        let programs = row * (u128::from(victim.div_ceil(chips)) + commands);
        let pass = if gc.is_none() { 0 } else { self.kept(Term::PassWait, steps + programs) };
        PerStep { read, write: row, reset: 0, pass }
    }

    /// Nanoseconds that each step of a superblock waits, at most, beyond what it is charged: with
    /// them (T) is the test, so that what passes (T) passes beside known neighbours.
    fn in_full(&self, processor: &Processor, gc: Option<ChosenGc>) -> Option<PerStep> {
        let [read, write, pass] = processor.saved_waits(gc)?.map(u128::from);
        Some(PerStep { read, write, reset: 0, pass })
    }

    /// Their rate in the long run, of all that a processor does.
    fn rate_of_asks(&self, processor: &Processor, gc: Option<ChosenGc>) -> f64 {
        let asks = self.asks(processor, gc);
        let pages = processor.tasks.iter().map(|item| to_f64(asks.of(item)) * item.transfers.mean() / ns(item.period));
        let all_passes = passes(&processor.tasks, gc).filter(|_| asks.pass > 0);
        pages.sum::<f64>() + all_passes.map(|(rate, _)| rate.to_f64() * to_f64(asks.pass)).sum::<f64>()
    }

    /// min(W1, W2, W3), or W4 of chips with two page registers, as time that a processor waits in
    /// an interval beyond what its pages are charged, and time by which that charge is too much;
    /// the second is less than the charge for its reads.
    pub(super) fn waiting(
        &self,
        activity: Activity,
        processor: &Processor,
        gc: Option<ChosenGc>,
    ) -> (ProcessorTime, ProcessorTime) {
        if let Some(registers) = processor.registers() {
            return (self.w4(registers, activity), ProcessorTime::ZERO);
        }
        // Eq. (32).
        let n_i = self.asks(processor, gc).of_all(activity);
        if let Some(siblings) = self.told {
            return self.told(siblings, activity, n_i, processor);
        }
        let w1 = self.w1(activity.length, n_i);
        if let Some(full) = self.in_full(processor, gc) {
            return (w1.min(ProcessorTime::from_ns(full.of_all(activity))), ProcessorTime::ZERO);
        }
        let Some(queue) = self.queue.filter(|_| activity.reads > 0) else {
            return (w1, ProcessorTime::ZERO);
        };
        let exceptions = self.exceptions(queue, activity, processor, gc);
        let (w2, taken_back) = self.w2(queue, activity, &exceptions);
        let (more, less) = self.w3_beside_w1(queue, activity, &exceptions);
        let below = |bound: ProcessorTime, back: ProcessorTime| w1.saturating_add(back).checked_sub(bound);
        let relief = below(w2, taken_back).max(below(w1.saturating_add(more), less));
        // W1 is the smallest one where nothing is left.
        (w1, relief.unwrap_or(ProcessorTime::ZERO))
    }

    /// A line above waiting and the requests' own time: of the bounds', the one with the smallest
    /// rate. `None` where numbers are too large.
    pub(super) fn line<L: ChipSum>(
        &self,
        processor: &Processor,
        gc: Option<ChosenGc>,
        server: bool,
    ) -> Option<Line<L>> {
        if let Some(registers) = processor.registers() {
            return self.w4_line(registers, processor, (gc, server));
        }
        if let Some(siblings) = self.told {
            return self.told_line(siblings, processor, gc);
        }
        let w1 = self.w1_line(processor, gc)?;
        if let Some(full) = self.in_full(processor, gc) {
            let full = self.own_line(processor, gc, full, 1)?;
            return Some(if full.rate() < w1.rate() { full } else { w1 });
        }
        let Some(queue) = self.queue else { return Some(w1) };
        let lines = [self.w2_line(queue, processor, gc), self.w3_line(queue, processor, gc)].into_iter().flatten();
        Some(lines.fold(w1, |least, line| if line.rate() < least.rate() { line } else { least }))
    }

    /// What it takes a decision to look at a request in one interval more.
    pub(crate) fn quick_look(&self, processor: &Processor) -> u64 {
        if self.queue.is_some() || self.told.is_some() {
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
    pub(super) fn steps(&self, length: Span, processor: &Processor, gc: Option<ChosenGc>) -> Span {
        let siblings = self.queue.map(FifoBus::siblings).or(self.told).filter(|&siblings| siblings > 0);
        let siblings = siblings.map(|_| (&processor.tasks, gc));
        let chips = siblings.into_iter().chain(self.neighbours.iter().map(|each| (&each.requests, each.gc)));
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

/// v + 1: copies inside a chip and an erase, of a pass.
fn steps_on_chip(gc: ChosenGc) -> u128 {
    u128::from(gc.valid) + 1
}

/// Two lengths together, in nanoseconds.
fn total(one: Span, other: Span) -> u128 {
    u128::from(one.as_ns()) + u128::from(other.as_ns())
}

impl<L: LongRun> Line<L> {
    /// Adds `each` for each page of a request that is due within the interval; `None` where that is
    /// too large.
    #[inline]
    fn add_due(&mut self, item: &DemandTask, each: u128) -> Option<()> {
        let (pages, chips) = item.transfers.rate();
        let shared = u128::from(item.period.as_ns()) * u128::from(chips);
        self.add(each.checked_mul(pages.into())?, shared, to_f64(each) * item.transfers.at_most(item.early()));
        Some(())
    }
}

/// 1 + D/T: what [`DemandTask::live`] is above L/T, at most.
fn more_live(item: &DemandTask) -> f64 {
    1.0 + ns(item.deadline) / ns(item.period)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::certified::random_processors::{Drawn, ns};

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
            let length = ns(rng.within(1, 2_000));
            let step = contention.steps(length, &processor, gc);
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
            let at = contention.waiting(activity(length), &processor, gc);
            for between in step.as_ns().max(1)..length.as_ns() {
                assert_eq!(
                    contention.waiting(activity(ns(between)), &processor, gc),
                    at,
                    "seed {seed}: {between} to {length}"
                );
            }
        }
    }
}
