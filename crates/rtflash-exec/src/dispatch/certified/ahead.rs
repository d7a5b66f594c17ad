//! Superblocks that run ahead, each on its own clock, while nothing is released: all that orders
//! them is since when each of them wants its buses. No operation takes no time, and so what one
//! asks for later comes behind the first that all of them ask for now.

use rtflash_ftl::GcStep;
use rtflash_model::Instant;

use super::CertifiedGroup;
use super::lane_asks::LaneAsks;
use super::operate::{BusUse, OpenOperation, Planned};
use super::over_bus::page_of;
use super::processor::{Part, ProcessorState, ProcessorStep};
use super::slab::Slab;
use crate::dispatch::core::Core;
use crate::earliest::Earliest;
use crate::flash::BusRequest;
use crate::ftl::{PagePlace, PageStore};
use crate::ids::Lpn;
use crate::options::{Arbitration, Options, Phases, Ties, Waits};
use crate::plan::Plan;
use crate::trace::{Action, Kind, Observer, OnBus, Operation};

/// Processors that run ahead.
#[derive(Debug)]
pub(super) struct LanesAhead {
    /// Whether they may at all.
    may: bool,
    /// Whether they do so now.
    pub(super) is_on: bool,
    /// Since when each of them wants a bus next.
    next: Earliest,
    lanes: Vec<LaneAsks>,
    /// On which buses the pages of a step are.
    buses: Vec<OnBus>,
}

impl LanesAhead {
    /// They may where all of them are superblocks, of which nothing fails or is suspended, that ask
    /// for their buses once, and are served in the order in which they ask.
    pub(super) fn new(plan: &Plan, processors: &[ProcessorState], options: &Options) -> LanesAhead {
        let is_plain =
            |of: &ProcessorState| !of.stripe && of.registers.is_none() && of.faults.is_none() && of.suspends.is_none();
        let may = processors.iter().all(is_plain)
            && !plan.device().has_commands()
            && options.placed.waits == Waits::Actual
            && options.ties == Ties::Lowest
            && options.arbitration == Arbitration::Fifo
            && options.phases != Phases::AtErases;
        let lanes = processors.iter().map(|of| LaneAsks::new(plan, &of.chips)).collect();
        LanesAhead { may, is_on: false, next: Earliest::new(processors.len()), lanes, buses: Vec::new() }
    }
}

impl<O: Observer> CertifiedGroup<'_, O> {
    /// Runs all that happens from `now` on up to `until`, before which nothing is released. Says
    /// whether that can be; if not, nothing has happened.
    #[inline]
    pub(super) fn run_ahead(&mut self, now: Instant, until: Instant) -> bool {
        if cfg!(target_family = "wasm") || !self.ahead.may || self.core.channels.least().is_some() {
            return false;
        }
        self.run_lanes(now, until)
    }

    #[inline(never)]
    fn run_lanes(&mut self, now: Instant, until: Instant) -> bool {
        if self.processors.iter().any(|of| of.awaits_change) || !self.core.observer.runs_ahead(now) {
            return false;
        }
        self.ahead.is_on = true;
        for number in 0..self.processors.len() {
            let step = &self.processors[number].step;
            if step.is_under_way && step.last.0 < until {
                self.core.ends.set(step.last.1, None);
                self.run_lane(number, until);
            }
        }
        while let Some((since, lane, other)) = self.ahead.next.first_before_others().filter(|first| first.0 < until) {
            let other = Instant::from_ns(other).unwrap_or(Instant::END);
            let is_first = since < other;
            let left =
                if is_first { self.runs_lane(lane, Some(since), (other.min(until), until)) } else { Some(since) };
            if let Some(since) = left {
                self.moves_page(lane, (since, other), until);
            }
        }
        self.ahead.is_on = false;
        self.hand_over();
        true
    }

    /// A processor that wants its buses since then, if it does, has them and goes on from step to
    /// step, until it wants them no sooner than `before`, or is busy or idle until then. Says since
    /// when it wants them, if it does so before that, and has none as pages have to go one by one.
    #[inline(always)]
    fn runs_lane(
        &mut self,
        number: usize,
        mut since: Option<Instant>,
        (before, until): (Instant, Instant),
    ) -> Option<Instant> {
        loop {
            let CertifiedGroup { processors, parts, core, ahead, entered, .. } = self;
            let LanesAhead { next, lanes, buses, .. } = ahead;
            let (of, asks) = (&mut processors[number], &mut lanes[number]);
            let (now, chip, step) = loop {
                if let Some(since) = since {
                    let may = since < before;
                    if !may || !moves_step(core, &mut of.step, (asks, buses), since) {
                        next.set(number, Some(since));
                        return Some(since).filter(|_| may);
                    }
                }
                let (end, chip) = of.step.last;
                if end >= until || !of.step.is_under_way {
                    if of.step.is_under_way {
                        core.ends.set(chip, Some(end));
                    }
                    next.set(number, None);
                    return None;
                }
                since = match goes_on_with_rows(of, parts, (core, asks), end) {
                    GoesOn::Wants(since) => since,
                    GoesOn::With(part, step) => break (end, chip, Some((part, step))),
                    GoesOn::Stops => match goes_on_writing(of, (parts, entered), (core, asks), end) {
                        None => break (end, chip, None),
                        wants => wants,
                    },
                };
            };
            if let Some((part, step)) = step {
                self.row.clear();
                self.row.extend(self.ahead.lanes[number].places(&self.processors[number].chips));
                self.ahead.lanes[number].clear();
                self.start_gc(number, part, step, now);
            } else {
                self.processor_ends(chip, now);
                self.dispatch_processors(now);
            }
            self.core.observer.passes_step();
            since = self.ahead.lanes[number].next();
        }
    }

    /// The same of one that is busy until now, or has not been looked at: until it wants a bus.
    #[inline(never)]
    fn run_lane(&mut self, number: usize, until: Instant) {
        self.runs_lane(number, None, (Instant::START, until));
    }

    /// Pages of a step ask for their buses, of a processor that runs ahead.
    #[inline(never)]
    pub(super) fn asks_ahead(&mut self, number: usize, pages: impl Iterator<Item = Planned>, now: Instant) {
        let CertifiedGroup { processors, parts, core, ahead, .. } = self;
        let (of, asks) = (&processors[number], &mut ahead.lanes[number]);
        for page in pages {
            let part = &mut parts[page.part];
            let operation = page_of((of, part), (page.kind, page.action), (page.spot, page.lpn), now);
            asks.pages.push(Operation { end: core.wanted(&operation), ..operation });
        }
        asks.put_into_order();
    }

    /// A page has its bus: of those that want it at this instant that of the lowest chip. What
    /// comes of it is kept back, until none of its step is left out.
    #[cold]
    #[inline(never)]
    fn moves_page(&mut self, lane: usize, (since, other): (Instant, Instant), until: Instant) {
        let mut first = lane;
        if since == other {
            let ahead = &self.ahead;
            let chip = |lane: usize| {
                let asks = &ahead.lanes[lane];
                asks.next_chip().filter(|_| asks.next() == Some(since))
            };
            let lowest = (0..ahead.lanes.len()).filter_map(|lane| Some((chip(lane)?, lane))).min();
            first = lowest.map_or(lane, |(_, lane)| lane);
        }
        let CertifiedGroup { core, ahead, .. } = self;
        let asks = &mut ahead.lanes[first];
        asks.spread();
        let mut page = asks.pages[asks.moved];
        let bus = core.moves_ahead(&mut page, since);
        core.observer.keep_back(&page, &bus);
        asks.moved += 1;
        let next = asks.next();
        if next.is_none() {
            asks.clear();
        }
        ahead.next.set(first, next);
        self.works(first, page.chip, page.end);
        if self.ahead.lanes.iter().all(|asks| asks.moved == 0) {
            self.core.observer.passes_kept();
        }
        if next.is_none() {
            self.run_lane(first, until);
        }
    }

    /// What has no bus yet goes on chip by chip.
    fn hand_over(&mut self) {
        for number in 0..self.processors.len() {
            let asks = &mut self.ahead.lanes[number];
            asks.spread();
            let left = asks.pages.get(asks.moved..).unwrap_or(&[]);
            left.iter().for_each(|page| self.core.observer.keep_open(page));
        }
        self.core.observer.goes_on();
        for number in 0..self.processors.len() {
            let asks = &mut self.ahead.lanes[number];
            for &operation in &asks.pages[asks.moved..] {
                let Operation { chip, start, end: since, .. } = operation;
                let operation = Operation { end: start, ..operation };
                let ticket = self.core.observer.ticket_of(chip, start);
                self.chips[chip].open = Some(OpenOperation { operation, ticket, asks_for: BusUse::Page });
                let channel = self.core.channel_of(chip);
                self.core.channels.request(BusRequest { since, channel, chip, lane: number });
            }
            asks.clear();
            self.ahead.next.set(number, None);
        }
    }
}

/// How a pass goes on.
enum GoesOn {
    /// Its pages want their buses since then.
    Wants(Option<Instant>),
    /// With a step of this part that is no row of its own.
    With(usize, GcStep),
    /// That is to be decided.
    Stops,
}

/// A pass goes on with another step that is no erase: what it would decide, without the asking.
#[inline(always)]
fn goes_on_with_rows<O: Observer>(
    of: &mut ProcessorState,
    parts: &mut Slab<Part>,
    (core, asks): (&Core<O>, &mut LaneAsks),
    now: Instant,
) -> GoesOn {
    let Some(part) = of.step.more else { return GoesOn::Stops };
    if !of.queue.is_first(part) || !of.step.pages.is_empty() {
        return GoesOn::Stops;
    }
    let at = &mut parts[part];
    let (server, job) = (at.key.1 != Kind::Gc, at.id());
    asks.begin((of.number, job, Kind::Gc), now);
    let ProcessorState { store, chips, .. } = of;
    let step = store.ftl.step_of_pass(server, |page| {
        let spot = PagePlace::from(page.spot);
        asks.add(chips[spot.chip], spot, Lpn(page.lpn));
    });
    let action = match step {
        None | Some(GcStep::Erase(_) | GcStep::Starved | GcStep::Moved) => return GoesOn::Stops,
        Some(GcStep::Read) => Action::Read,
        Some(GcStep::Row) if asks.row.len() == of.chips.len() => Action::Program,
        Some(step) => return GoesOn::With(part, step),
    };
    at.starved = false;
    of.step.begin_another(asks.row.len());
    GoesOn::Wants(asks.all_want(action, core))
}

/// A request of a task that has had a row programmed goes on with the next whole one, if it does.
/// Says since when its pages want their buses.
#[inline(always)]
fn goes_on_writing<O: Observer>(
    of: &mut ProcessorState,
    (parts, entered): (&mut Slab<Part>, &mut u64),
    (core, asks): (&Core<O>, &mut LaneAsks),
    now: Instant,
) -> Option<Instant> {
    let part = *of.step.pages.first().filter(|_| of.step.more.is_none() && of.step.erases.is_none())?;
    let (at, width, done) = (&mut parts[part], of.chips.len(), of.step.pages.len());
    let is_plain = at.key.1 == Kind::Write
        && at.reads.is_empty()
        && at.writes.len() >= width
        && of.queue.is_first(part)
        && of.store.free() >= width as u64
        && of.notified == of.store.ftl.arrived()
        && of.step.pages.iter().all(|&other| other == part);
    if !is_plain {
        return None;
    }
    // The pages before are over, and the part is not.
    at.unfinished -= done as u64;
    *entered -= done as u64;
    if done != width {
        of.step.pages.resize(width, part);
    }
    of.step.begin_another(width);
    asks.begin((of.number, at.id(), Kind::Write), now);
    for soon in width..2 * width {
        let Some(&soon) = at.writes.get(soon) else { break };
        of.store.prefetch_page(soon);
    }
    let (store, chips, writes) = (&mut of.store, &of.chips, &mut at.writes);
    let are_together = store.write_all(
        width,
        || writes.pop_front().expect("it has a row to write"),
        |spot, lpn| asks.add(chips[spot.chip], spot, lpn),
    );
    for _ in 0..if are_together { 0 } else { width } {
        let Some(lpn) = writes.pop_front() else { break };
        let spot = store.write(lpn).expect("as many pages are free");
        asks.add(chips[spot.chip], spot, lpn);
    }
    at.starved = false;
    asks.all_want(Action::Program, core)
}

/// All pages of a processor's step have their buses, which they want since then, if all of them
/// want them at one instant, and nothing is kept back. Says whether that is so; if not, nothing has
/// happened.
#[inline(always)]
fn moves_step<O: Observer>(
    core: &mut Core<O>,
    step: &mut ProcessorStep,
    (asks, buses): (&mut LaneAsks, &mut Vec<OnBus>),
    since: Instant,
) -> bool {
    if core.observer.keeps_back() {
        return false;
    }
    if let (Some(first), Some(last)) = (asks.row.first(), asks.row.last()) {
        let (first, last) = (first.chip, last.chip);
        if !asks.has_one_bus {
            asks.head.channel = core.channel_of(first);
        }
        let is_one = asks.has_one_bus || core.channel_of(last) == asks.head.channel;
        let mut end = Instant::START;
        let moved = is_one
            && core.moves_row_ahead((&asks.head, last), asks.wanted, |steps, (free_at, held, behind)| {
                let mut free_at = free_at;
                steps.add(asks.row.iter().map(|page| {
                    let start = free_at;
                    free_at = start.saturating_add(held);
                    end = free_at.saturating_add(behind);
                    page.with(end, (start, free_at))
                }));
                free_at
            });
        if moved {
            // These are all chips of the step.
            (step.chips, step.last) = (0, (end, last));
            asks.row.clear();
            return true;
        }
        asks.spread();
    }
    if asks.moved > 0 || asks.pages.last().is_none_or(|last| since < last.end) {
        return false;
    }
    step.chips -= asks.pages.len();
    step.last = step.last.max(core.moves_each_ahead(&mut asks.pages, since, buses));
    asks.clear();
    true
}
