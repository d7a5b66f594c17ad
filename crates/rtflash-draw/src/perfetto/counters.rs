//! Counters beside the tracks of a trace: free pages and pending jobs of each cluster, and how much
//! of its time each chip and each bus is busy.
//!
//! An event of phase `C` sets a counter of its process, which Perfetto calls by the event's name
//! and the argument's. A counter is written when it has changed, at most once an instant: as it
//! stands when all records of the instant are seen.

use std::collections::BTreeSet;
use std::io::{self, Write};

use rtflash_model::{ChipId, ClusterId, Instant, PerId, Span};
use rtflash_plan::{Aging, BlockId, ChannelId, Plan, Promise, free_pages_at_start};
use rtflash_trace::{Action, Failed, JsonLine, Kind, NONE, Operation, Setup, TraceEvents, Transfer};

/// The place of a counter: numbers of a process and of one of its threads.
type Track = (u64, u64);

/// A number, and what of it has been written. It begins with zero, which need not be written.
#[derive(Debug, Clone, Copy, Default)]
struct TrackCounter {
    value: u64,
    written: u64,
}

impl TrackCounter {
    /// Its value, if that has to be written.
    fn change(&mut self) -> Option<u64> {
        let is_new = self.value != self.written;
        self.written = self.value;
        is_new.then_some(self.value)
    }
}

/// Blocks being erased together, and the pages that this frees.
#[derive(Debug, Clone, Copy)]
struct Erasing {
    end: Instant,
    pages: u64,
}

#[derive(Debug)]
struct ClusterCounters {
    track: Track,
    pending: TrackCounter,
    /// `None` where it is not known what was on the device at the start.
    free: Option<TrackCounter>,
    erasing: Vec<Erasing>,
    /// Those of the row of a superblock that is being erased.
    row: Option<Erasing>,
    block_pages: u64,
    /// Pages that are free at the start of an aged device, and of a fresh one.
    at_start: [u64; 2],
    /// Whether the pages of a superblock are free only when its last block is erased.
    superblock: bool,
    /// Whether a copy inside a chip is one operation, which takes its page as it is read.
    copybacks: bool,
    chips: Vec<ChipId>,
    /// Superblocks that were programmed last, and how many pages of each.
    programmed: Vec<(BlockId, u64)>,
    /// Superblocks that have failed.
    retired: BTreeSet<BlockId>,
}

/// A row of a superblock may go on in the next one.
const FRONTIERS: usize = 2;

#[derive(Debug)]
struct ChipBusy {
    track: Track,
    name: String,
    time: Span,
    /// When what it does now is over.
    until: Instant,
    permille: TrackCounter,
}

impl ChipBusy {
    fn new(track: Track, name: String) -> ChipBusy {
        ChipBusy { track, name, time: Span::ZERO, until: Instant::START, permille: TrackCounter::default() }
    }

    /// It is busy from one instant until another; what is counted ends at `end`.
    fn over(&mut self, from: Instant, until: Instant, end: Instant) {
        // With two page registers it may be busy with what it did before.
        let from = from.max(self.until);
        self.time = self.time.saturating_add(until.min(end).since(from.min(end)));
        self.until = until;
    }
}

#[derive(Debug)]
pub(super) struct Counters {
    clusters: PerId<ClusterId, ClusterCounters>,
    chips: PerId<ChipId, Option<ChipBusy>>,
    buses: PerId<ChannelId, ChipBusy>,
    now: Instant,
    /// The window under way, and how long windows are.
    window: Instant,
    length: Span,
    /// When the run ends, if that is known: what goes on behind it does not count.
    limit: Instant,
}

/// The length of a window, in longest operations.
const WINDOW: u64 = 4;

impl Counters {
    pub(super) fn new(
        plan: &Plan,
        track_of: impl Fn(ClusterId, ChipId) -> Track,
        bus: impl Fn(ChannelId) -> Track,
    ) -> Counters {
        let device = plan.device();
        let mut chips: PerId<ChipId, Option<ChipBusy>> = ChipId::first(device.chips()).map(|_| None).collect();
        let mut clusters = PerId::default();
        for (number, cluster) in plan.clusters().enumerate() {
            for &chip in &cluster.chips {
                chips[chip] = Some(ChipBusy::new(track_of(number, chip), format!("chip {chip}")));
            }
            let (superblock, copybacks) = match plan.promise() {
                Promise::Utilization => (false, false),
                Promise::Certified(certified) => (!certified[number].is_stripe(), certified[number].is_stripe()),
            };
            clusters.push(ClusterCounters {
                track: track_of(number, *cluster.chips.first().expect("a cluster has chips")),
                pending: TrackCounter::default(),
                free: None,
                erasing: Vec::new(),
                row: None,
                block_pages: cluster.layout.pages().into(),
                at_start: [Aging::Worst, Aging::Fresh].map(|aging| free_pages_at_start(plan, number, aging)),
                superblock,
                copybacks,
                chips: cluster.chips.clone(),
                programmed: Vec::new(),
                retired: BTreeSet::new(),
            });
        }
        let buses =
            ChannelId::first(device.channels()).map(|channel| ChipBusy::new(bus(channel), format!("bus {channel}")));
        let longest = device.page_read().max(device.page_program()).max(device.block_erase());
        Counters {
            clusters,
            chips,
            buses: buses.collect(),
            now: Instant::START,
            window: Instant::START,
            limit: Instant::END,
            length: longest.checked_mul(WINDOW).unwrap_or(Span::LONGEST),
        }
    }

    pub(super) fn starts(&mut self, setup: &Setup) {
        self.limit = setup.duration.unwrap_or(self.limit);
        let Some(aging) = setup.aging else { return };
        for cluster in self.clusters.iter_mut() {
            let [aged, fresh] = cluster.at_start;
            let free = if aging == Aging::Fresh { fresh } else { aged };
            cluster.free = Some(TrackCounter { value: free, ..TrackCounter::default() });
        }
    }

    pub(super) fn released(&mut self, cluster: ClusterId) {
        self.clusters[cluster].pending.value += 1;
    }

    pub(super) fn completed(&mut self, cluster: ClusterId) {
        let pending = &mut self.clusters[cluster].pending;
        pending.value = pending.value.checked_sub(1).expect("it was released before");
    }

    pub(super) fn operation(&mut self, operation: &Operation) {
        let end = self.window_end();
        if let Some(chip) = &mut self.chips[operation.chip] {
            chip.over(operation.start, operation.end, end);
        }
        self.clusters[operation.cluster].operation(operation);
    }

    pub(super) fn failed(&mut self, failed: &Failed) {
        self.clusters[failed.cluster].failed(failed);
    }

    pub(super) fn transfer(&mut self, transfer: &Transfer) {
        let end = self.window_end();
        self.buses[transfer.channel].over(transfer.start, transfer.end, end);
    }

    pub(super) fn finish<W: Write>(&mut self, duration: Instant, events: &mut TraceEvents<W>) -> io::Result<()> {
        self.advance(duration, events)?;
        self.instant(events)?;
        let part = duration.since(self.window);
        if part > Span::ZERO {
            self.close(part, events)?;
        }
        Ok(())
    }

    fn window_end(&self) -> Instant {
        self.window.saturating_add(self.length).min(self.limit)
    }

    /// Goes on to an instant: what was counted before it is final.
    pub(super) fn advance<W: Write>(&mut self, to: Instant, events: &mut TraceEvents<W>) -> io::Result<()> {
        let to = to.min(self.limit);
        if to <= self.now {
            return Ok(());
        }
        while let Some(next) = self.clusters.iter().filter_map(|cluster| cluster.next_free(self.now)).min() {
            if next > to {
                break;
            }
            // Behind what else there was at the instant before.
            if next > self.now {
                self.instant(events)?;
                self.now = next;
            }
            self.clusters.iter_mut().for_each(|cluster| cluster.erased(next));
        }
        self.instant(events)?;
        self.now = to;
        while self.window.saturating_add(self.length) <= to {
            let is_idle = self.close(self.length, events)?;
            // Windows in which nothing happens are like the first of them.
            let windows = if is_idle { to.since(self.window).div_floor(self.length) } else { 0 };
            let skipped = self.length.checked_mul(windows).expect("no longer than the time until now");
            self.window = self.window.saturating_add(skipped);
        }
        Ok(())
    }

    fn instant<W: Write>(&mut self, events: &mut TraceEvents<W>) -> io::Result<()> {
        for cluster in self.clusters.iter_mut() {
            if let Some(pending) = cluster.pending.change() {
                write(events, cluster.track, self.now, "pending", |line| line.text("jobs\":").number(pending))?;
            }
            if let Some(free) = cluster.free.as_mut().and_then(TrackCounter::change) {
                write(events, cluster.track, self.now, "free", |line| line.text("pages\":").number(free))?;
            }
        }
        Ok(())
    }

    /// Ends the window under way, which is so long, and begins the next one. Says whether
    /// everything rested in it, and does in the next one as far as is known.
    fn close<W: Write>(&mut self, length: Span, events: &mut TraceEvents<W>) -> io::Result<bool> {
        let start = self.window;
        self.window = start.saturating_add(length);
        let (next, end) = (self.window, self.window_end());
        let mut is_idle = true;
        for busy in self.chips.iter_mut().flatten().chain(self.buses.iter_mut()) {
            let permille = u128::from(busy.time.as_ns()) * 1_000 / u128::from(length.as_ns());
            // It exceeds 1,000 only if the end of the run is unknown.
            busy.permille.value = u64::try_from(permille.min(1_000)).expect("at most a thousand");
            busy.time = Span::ZERO;
            busy.over(next.min(busy.until), busy.until, end);
            if let Some(permille) = busy.permille.change() {
                write(events, busy.track, start, &busy.name, |line| {
                    line.text("busy %\":").number(permille / 10).text(".").number(permille % 10)
                })?;
            }
            is_idle &= busy.permille.value == 0 && busy.time == Span::ZERO;
        }
        Ok(is_idle)
    }
}

impl ClusterCounters {
    /// A program or copyback takes a page as it begins; an erase gives a block back as it ends.
    fn operation(&mut self, operation: &Operation) {
        let copyback = self.copybacks && operation.kind == Kind::Gc;
        match operation.action {
            Action::Read | Action::Program => {
                if copyback != (operation.action == Action::Read) {
                    return;
                }
                if let Some(free) = &mut self.free {
                    free.value = free.value.saturating_sub(1);
                }
                if self.superblock {
                    self.programs(operation);
                }
            }
            Action::ErasePart => {}
            Action::Erase => {
                let end = operation.end;
                if !self.superblock {
                    return self.erasing.push(Erasing { end, pages: self.block_pages });
                }
                // The row is free once its last block is erased.
                let row = self.row.get_or_insert(Erasing { end, pages: 0 });
                (row.end, row.pages) = (row.end.max(end), row.pages + self.block_pages);
                if row.pages >= self.block_pages * self.chips.len() as u64 {
                    self.erasing.extend(self.row.take());
                }
            }
        }
    }

    /// A page of a superblock is programmed: those before it have been.
    fn programs(&mut self, operation: &Operation) {
        let Some(column) = (0..).zip(&self.chips).find(|of| *of.1 == operation.chip).map(|of| of.0) else { return };
        let pages = u64::from(operation.page) * self.chips.len() as u64 + column + 1;
        if let Some(of) = self.programmed.iter_mut().find(|of| of.0 == operation.block) {
            of.1 = of.1.max(pages);
            return;
        }
        if self.programmed.len() == FRONTIERS {
            self.programmed.remove(0);
        }
        self.programmed.push((operation.block, pages));
    }

    /// One that was kept back is free in the place of a block that has failed, whose pages that
    /// were not programmed are not. An erase that has failed frees as much as another.
    fn failed(&mut self, failed: &Failed) {
        if failed.page == NONE || self.superblock && !self.retired.insert(failed.block) {
            return;
        }
        let mut programmed = u64::from(failed.page) + 1;
        if self.superblock {
            programmed = self.programmed.iter().find(|of| of.0 == failed.block).map_or(0, |of| of.1);
        }
        if let Some(free) = &mut self.free {
            free.value = free.value.saturating_add(programmed);
        }
    }

    /// When blocks are erased next.
    fn next_free(&self, now: Instant) -> Option<Instant> {
        self.erasing.iter().map(|erasing| erasing.end.max(now)).min()
    }

    /// Blocks whose erases are over by now are free.
    fn erased(&mut self, now: Instant) {
        let free = &mut self.free;
        self.erasing.retain(|erasing| {
            let is_over = erasing.end <= now;
            if let Some(free) = free.as_mut().filter(|_| is_over) {
                free.value += erasing.pages;
            }
            !is_over
        });
    }
}

/// Sets a counter: `value` adds the name of its unit, a quotation mark and a colon, and the value.
fn write<W: Write>(
    events: &mut TraceEvents<W>,
    (pid, tid): Track,
    at: Instant,
    name: &str,
    value: impl FnOnce(&mut JsonLine) -> &mut JsonLine,
) -> io::Result<()> {
    let line = events.begin("C", pid, tid, at).text(",\"cat\":\"counter\",\"name\":\"").text(name);
    value(line.text("\",\"args\":{\"")).text("}");
    events.end()
}
