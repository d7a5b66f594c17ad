//! The processor-demand test with non-preemptive steps, exactly.

pub(crate) mod bus;
mod end;
pub(crate) mod least_load;
mod patience;
mod search;
mod share;
#[cfg(test)]
mod tests;
mod windows;

use rtflash_model::Span;

use crate::fraction::{Fraction, Rational};
use crate::gc::ChosenGc;
use crate::organisation::processor::{DemandTask, Processor, WriteStream};
use crate::organisation::registers::TurnCounts;
use crate::time::{Cost, ProcessorTime, quotient_up};
use crate::work::Work;
use bus::{Activity, Contention, Waiter};
use end::FitsFrom;
pub(crate) use share::SureShares;

pub use patience::Patience;

/// Iterations, times requests, after which a test is given up; more for each relative deadline.
const MAX_ITERATIONS: usize = 1 << 20;

/// The verdict of a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DemandVerdict {
    /// Demand and blocking fit into every interval.
    Holds,
    /// They do not fit into an interval of this length.
    Fails(Span),
    /// The load itself is too much.
    Overloaded,
    /// Given up, after too many steps or with numbers too large.
    TooLong,
}

/// The interval that demand and blocking come nearest to filling, and how near.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Nearest {
    /// L.
    pub length: Span,
    /// ⌊(1 − U_s)L⌋ − dbf(L) − B(L), in nanoseconds.
    pub slack: i128,
}

/// A processor with its garbage collection and a server's share, ready to be tested.
#[derive(Debug)]
pub struct Demand<'u> {
    processor: &'u Processor,
    contention: &'u Contention,
    gc: Option<ChosenGc>,
    work: &'u Work,
    /// Thousandths of the processor that are left for real-time tasks: 1000 (1 − U_s).
    share: u64,
    /// The blocking in any interval: q_s, zero without a server; B where it is the same in all.
    always_blocking: Cost,
    /// E: repeated programs, in any interval.
    repeats: Cost,
    /// The longest wait of the processor for each job beside its steps.
    turnaround: Cost,
    /// c_s: what each job of a request takes where it may suspend an erase.
    preemption: Cost,
    server: bool,
    segments: Vec<Segment>,
}

#[derive(Debug, Clone, Copy)]
struct DuePasses {
    count: u128,
    /// C_g.
    each: Cost,
}

impl DuePasses {
    fn time(self) -> ProcessorTime {
        self.each.times(self.count)
    }
}

/// Lengths on which B stays as it is: from one relative deadline up to the next.
#[derive(Debug, Clone, Copy)]
struct Segment {
    /// One of the distinct times from release to deadline at least: D − J of a request, or D_g.
    from: Span,
    /// B from there on.
    blocking: Cost,
}

impl<'u> Demand<'u> {
    /// The demand of a processor; `gc` is its [`Processor::gc`] where anything is written.
    pub fn new(
        processor: &'u Processor,
        contention: &'u Contention,
        gc: Option<ChosenGc>,
        server_thousandths: u32,
        work: &'u Work,
    ) -> Demand<'u> {
        let demand = Demand::in_the_long_run(processor, contention, gc, server_thousandths, work);
        work.prepare(processor.tasks.len() + 4);
        Demand { segments: demand.segments_of(), ..demand }
    }

    /// For its load alone: no interval can be tested.
    pub fn in_the_long_run(
        processor: &'u Processor,
        contention: &'u Contention,
        gc: Option<ChosenGc>,
        server_thousandths: u32,
        work: &'u Work,
    ) -> Demand<'u> {
        let server = server_thousandths > 0;
        let server_step = if server { processor.server_step() } else { Cost::ZERO };
        let always_blocking = processor.always_blocking(server).max(server_step);
        let share = 1_000 - u64::from(server_thousandths.min(1_000));
        let turnaround = processor.turnaround_beside(server, contention.chips());
        let (repeats, preemption) = (processor.repeats(server), processor.preemption(server));
        Demand {
            processor,
            contention,
            gc,
            work,
            share,
            always_blocking,
            repeats,
            turnaround,
            preemption,
            server,
            segments: Vec::new(),
        }
    }

    /// dbf(L), dbf'(L) or dbf''(L), Eqs. (12), (35) and (49), or Eqs. (67) and (74) with two page
    /// registers: time of jobs released and due within the interval, waiting for the bus included.
    pub fn at(&self, length: Span) -> ProcessorTime {
        self.work.charge(self.cost_of_look());
        self.at_uncharged(length)
    }

    fn at_uncharged(&self, length: Span) -> ProcessorTime {
        self.of_jobs(length, |item| item.due(length), self.passes(length))
    }

    /// The longest of all relative deadlines.
    pub fn longest_deadline(&self) -> Span {
        let own = self.processor.tasks.iter().map(|item| item.deadline);
        own.chain(self.gc.and_then(|gc| gc.deadline)).max().unwrap_or(Span::ZERO)
    }

    /// Time of jobs released within the interval, its end left out, and what they wait meanwhile.
    pub fn arriving(&self, length: Span) -> ProcessorTime {
        // Jobs released in [x, x + t) have nominal arrivals in (x − J − 1, x + t).
        let jobs = |item: &DemandTask| (length.as_ns() + item.jitter.as_ns()).div_ceil(item.period.as_ns());
        self.work.charge(self.cost_of_look());
        self.of_jobs(length, jobs, self.collected(Some(length)))
    }

    /// The time that these jobs of each request, and these passes, can take.
    fn of_jobs(&self, length: Span, jobs: impl Fn(&DemandTask) -> u64, passes: DuePasses) -> ProcessorTime {
        let mut sum = ProcessorTime::ZERO;
        let mut activity = Activity { length, ..Activity::default() };
        let mut with_page = 0u128;
        for item in &self.processor.tasks {
            let jobs = u128::from(jobs(item));
            // γ(n(L)).
            let pages = item.transfers.of(jobs);
            sum = sum.saturating_add(self.own_time(item, jobs));
            if item.resets {
                activity.resets = activity.resets.saturating_add(pages);
                continue;
            }
            with_page = with_page.saturating_add(jobs.min(pages));
            activity.jobs = activity.jobs.saturating_add(jobs);
            let all = if item.writes { &mut activity.writes } else { &mut activity.reads };
            *all = all.saturating_add(pages);
        }
        activity.jobs = activity.jobs.saturating_add(passes.count);
        activity.passes = passes.count;
        let turns =
            TurnCounts { J_c: with_page.saturating_add(passes.count), n_r: activity.reads, n_w: activity.writes };
        activity.turns = self.processor.turns(self.server, turns);
        let wait = self.contention.waiting(activity, self.waiter());
        let sum = sum.saturating_add(wait.more).saturating_add(passes.time());
        sum.checked_sub(wait.less).expect("what is taken back is part of what is charged")
    }

    /// Steps of `jobs` jobs, and the suspensions of erases by them.
    #[inline]
    pub(crate) fn own_time(&self, item: &DemandTask, jobs: u128) -> ProcessorTime {
        let steps = item.step_cost.times(item.transfers.of(jobs));
        if self.preemption == Cost::ZERO {
            return steps;
        }
        steps.saturating_add(self.preemption.times(item.with_pages().of(jobs)))
    }

    fn waiter(&self) -> Waiter<'_> {
        Waiter { processor: self.processor, gc: self.gc, server: self.server }
    }

    /// Whether a decision has taken what it may.
    pub fn is_used_up(&self) -> bool {
        self.work.is_used_up()
    }

    fn cost_of_look(&self) -> usize {
        self.processor.tasks.len() + self.contention.requests() + 4
    }

    /// The part of [`Demand::at`] that is garbage collection.
    pub fn gc_at(&self, length: Span) -> ProcessorTime {
        self.passes(length).time()
    }

    /// [L ≥ D_g] ⌈X(L − D_g)/α⌉, GC jobs released and due within an interval, and C_g.
    fn passes(&self, length: Span) -> DuePasses {
        let deadline = self.gc.and_then(|gc| gc.deadline);
        self.collected(deadline.and_then(|deadline| length.checked_sub(deadline)))
    }

    /// ⌈X(y)/α⌉, and C_g; none for no y, and without GC jobs.
    fn collected(&self, rest: Option<Span>) -> DuePasses {
        let (Some(gc), Some(rest)) = (self.gc.filter(|gc| gc.deadline.is_some()), rest) else {
            return DuePasses { count: 0, each: Cost::ZERO };
        };
        let writers = self.processor.write_streams.iter();
        let arrived = writers.fold(0u128, |sum, writer| sum.saturating_add(writer.arriving(rest)));
        DuePasses { count: quotient_up(arrived, gc.reclaimed), each: gc.cost }
    }

    /// B(L), Eq. (14): the longest step of what is due later. And E: failed programs are repeated.
    pub fn blocking(&self, length: Span) -> Cost {
        let after = self.segments.partition_point(|segment| segment.from <= length);
        match after.checked_sub(1) {
            Some(position) => self.segments[position].blocking,
            None => {
                let steps = self.processor.tasks.iter().map(|item| item.step);
                let blocking = steps.chain(self.gc.map(|gc| gc.step)).fold(self.always_blocking, Cost::max);
                blocking.saturating_add(self.repeats)
            }
        }
    }

    /// Whether [`Demand::test`] cannot hold; nothing is due in shorter intervals.
    pub(crate) fn fails_at(&self, length: Span) -> bool {
        self.share > 0
            && self.segments.first().is_some_and(|first| first.from <= length)
            && self.with_blocking(length, self.blocking(length)).shortest(self.share).is_none_or(|h| h > length)
    }

    /// The least slack up to the longest relative deadline; some interval once work is used up.
    pub fn tightest(&self) -> Option<Nearest> {
        let &Segment { from, blocking } = self.segments.first()?;
        let least = self.look(from, blocking);
        if least.slack < 0 {
            return Some(least);
        }
        let mut least = least;
        let mut iterations = MAX_ITERATIONS / (self.segments.len() + 1);
        for (position, &Segment { from, blocking }) in self.segments.iter().enumerate() {
            let mut length = self.segments.get(position + 1).map_or(from, |next| before(next.from));
            loop {
                // Nothing changes between here and there but the length.
                let nearest = self.look(self.step_at(length).max(from), blocking);
                if nearest.slack < least.slack {
                    least = nearest;
                }
                let time = self.with_blocking(nearest.length, blocking);
                let Ok(slack) = u128::try_from(least.slack) else { break };
                let below = time
                    .saturating_add(ProcessorTime::from_ns(slack))
                    .shortest(self.share.max(1))
                    .map_or(nearest.length, |below| below.min(nearest.length));
                let below = before(below);
                if below < from || iterations == 0 || self.work.is_used_up() {
                    break;
                }
                iterations -= 1;
                length = below;
            }
        }
        Some(least)
    }

    /// The tightest interval, or a longer one if the test fails in longer intervals only.
    pub fn nearest(&self) -> Option<Nearest> {
        let tightest = self.tightest()?;
        if tightest.slack < 0 || self.surely_holds() {
            return Some(tightest);
        }
        Some(match self.test() {
            DemandVerdict::Fails(length) => self.look(length, self.blocking(length)),
            DemandVerdict::Overloaded => self.long_run(),
            DemandVerdict::Holds | DemandVerdict::TooLong => tightest,
        })
    }

    /// The shortest length, or one near it, from which on up to this one no demand is added.
    fn step_at(&self, length: Span) -> Span {
        let ago = |span: Span| length.checked_sub(span).expect("not before the length's own start");
        let due = |item: &DemandTask| Some(ago(length.checked_sub(item.window())?.rest(item.period)));
        let gc = self.gc.and_then(|gc| length.checked_sub(gc.deadline?));
        let arriving = |writer: &WriteStream| {
            let y = gc?;
            // X grows where y + J is a multiple of T, and at y = 0.
            let beyond = (y.as_ns() + writer.jitter.as_ns()) % writer.period.as_ns();
            Some(ago(Span::from_ns(beyond).map_or(y, |beyond| beyond.min(y))))
        };
        let own =
            self.processor.tasks.iter().filter_map(due).chain(self.processor.write_streams.iter().filter_map(arriving));
        own.fold(self.contention.steps(length, self.waiter()), Span::max)
    }

    /// A long interval and its slack, for a processor whose load is too much.
    pub(crate) fn long_run(&self) -> Nearest {
        const LONG: Span = Span::from_ns(1 << 62).expect("below 2⁶³");
        let longest = self.segments.last().map_or(Span::NANOSECOND, |last| last.from);
        let length = longest.checked_mul(64).map_or(LONG, |length| length.min(LONG));
        let nearest = self.look(length, self.blocking(length));
        Nearest { slack: nearest.slack.min(-1), ..nearest }
    }

    fn with_blocking(&self, length: Span, blocking: Cost) -> ProcessorTime {
        self.at(length).saturating_add(blocking)
    }

    fn look(&self, length: Span, blocking: Cost) -> Nearest {
        let room = i128::from(length.as_ns()) * i128::from(self.share) / 1_000;
        // As low as a number goes where the demand is higher: it only has to be below zero.
        let slack = room.saturating_sub_unsigned(self.with_blocking(length, blocking).as_ns());
        Nearest { length, slack }
    }

    /// U: the long-run load, waiting and garbage collection included.
    pub fn load(&self) -> f64 {
        self.line::<f64>().map_or(f64::INFINITY, |line| line.estimate)
    }

    pub(crate) fn is_overloaded(&self) -> bool {
        self.work.charge(self.cost_of_look());
        matches!(self.end(), FitsFrom::Overloaded)
    }

    /// [`load`](Demand::load) exactly; `None` where its numbers are too large.
    pub fn exact_load(&self) -> Option<Rational> {
        Some(Rational::sum(&self.line::<Vec<Fraction>>()?.load))
    }
}

fn before(length: Span) -> Span {
    length.saturating_sub(Span::NANOSECOND)
}
