//! Pages of a job under serial dispatch, one behind the other in its cluster, that are as they
//! should be in all respects: nearly all are. What each of them changes is kept, as far as nobody
//! asks for it meanwhile.

use std::ops::Range;

use rtflash_model::{Instant, Span};
use serde::{Deserialize, Serialize};

use super::Checks;
use super::rules::{Order, Rules};
use super::timing::place;
use crate::ids::{ChipId, ClusterId, Lpn, SourceId};
use crate::trace::{Action, JobId, Kind, NONE, OnBus, Operation};

/// Pages of a job in a cluster that follow each other.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct LaneRun {
    /// Whose they are: nobody's where there are none, or when that has been said of all.
    job: JobId,
    breaks: u64,
    /// Whether the cluster is in the list of those that have kept any.
    is_listed: bool,
    kind: Kind,
    action: Action,
    /// The logical pages of the job's source.
    range: Range<Lpn>,
    /// When the last one begins and ends, and when the first one begins that is kept.
    last: (Instant, Instant),
    first: Instant,
    /// What one takes that does not wait for its bus, and how long it may wait.
    times: (Span, Span),
    /// How many are kept, and the time that they take.
    pages: u64,
    service: u64,
    /// The longest that one of them waits for its bus, when and on which chip.
    waited: (Span, Instant, ChipId),
}

impl LaneRun {
    /// Of no job.
    pub(super) fn none() -> LaneRun {
        LaneRun {
            job: JobId { source: SourceId(NONE), index: 0 },
            breaks: 0,
            is_listed: false,
            kind: Kind::Read,
            action: Action::Read,
            range: Lpn(0)..Lpn(0),
            last: (Instant::START, Instant::START),
            first: Instant::START,
            times: (Span::ZERO, Span::ZERO),
            pages: 0,
            service: 0,
            waited: (Span::ZERO, Instant::START, ChipId(NONE)),
        }
    }

    /// Whether an operation is the next one of these.
    #[inline(always)]
    fn has_next(&self, operation: &Operation) -> bool {
        let Operation { start, end, action, job, kind, lpn, .. } = *operation;
        job == self.job
            && action == self.action
            && kind == self.kind
            && start == self.last.1
            && start < end
            && self.range.contains(&lpn)
    }
}

impl Checks<'_> {
    /// Whether a page and its transfer are as they should be, behind others that are. Then it is
    /// kept; else nothing has changed.
    #[inline(always)]
    pub(super) fn keeps_page_of_lane(&mut self, operation: &Operation, bus: &OnBus) -> bool {
        let Operation { start, end, cluster, chip, action, .. } = *operation;
        let at = self.chips[chip];
        let lane = at.watched.wrapping_sub(at.position.index());
        let Some(run) = self.lanes.get_mut(lane).filter(|_| !cfg!(target_family = "wasm")) else { return false };
        if run.breaks != self.breaks.1 || !run.has_next(operation) {
            return false;
        }
        let took = end.since(start);
        let waited = took.saturating_sub(run.times.0);
        let (free_at, bus_free_at) = (self.chip_exclusion.free_at(chip), self.bus_exclusion.free_at(bus.channel));
        if at.cluster != cluster || waited > run.times.1 || *free_at > start || *bus_free_at > bus.start {
            return false;
        }
        let Some(turn) = self.desks.turn(operation, bus) else { return false };
        if action == Action::Program {
            let mut next = self.page_order.next_pages(at.watched);
            let Some(next) = next.of((operation.block, operation.page)) else { return false };
            if !self.mapping.programs_plainly(operation, at) {
                return false;
            }
            *next += 1;
        } else {
            let here = self.mapping.spot(at.position, operation.block, operation.page);
            if !self.mapping.is_at(cluster, operation.lpn, here) {
                return false;
            }
        }
        turn.take();
        (*free_at, *bus_free_at) = (end, bus.end);
        if run.pages == 0 {
            run.first = start;
        }
        run.last = (start, end);
        run.service = run.service.saturating_add(took.as_ns());
        if run.pages == 0 || waited > run.waited.0 {
            run.waited = (waited, start, chip);
        }
        run.pages += 1;
        if !std::mem::replace(&mut run.is_listed, true) {
            self.kept_lanes.push(lane);
        }
        true
    }

    /// A page has been found to be as it should be: whatever follows it may be kept.
    pub(super) fn begins_lane(&mut self, operation: &Operation) {
        let Operation { start, end, cluster, action, job, kind, .. } = *operation;
        let is_own = matches!(kind, Kind::Read | Kind::Write) && !self.one_by_one && !cfg!(target_family = "wasm");
        let lane = self.lane_of(operation.chip);
        let Some(run) = self.lanes.get_mut(lane).filter(|run| is_own && run.pages == 0) else { return };
        let timing = self.plan.timing();
        let (alone, asks) = match action {
            Action::Read => (timing.read(), timing.asks_of_a_read()),
            _ => (timing.program(), 1),
        };
        let delay = self.plan.clusters()[cluster].page_delay.checked_mul(asks).unwrap_or(Span::LONGEST);
        (run.job, run.kind, run.action, run.breaks) = (job, kind, action, self.breaks.1);
        (run.range, run.last, run.times) = (self.ranges[job.source].clone(), (start, end), (alone, delay));
    }

    /// The place of a chip's cluster among the lanes.
    #[inline(always)]
    fn lane_of(&self, chip: ChipId) -> usize {
        let at = self.chips[chip];
        at.watched - at.position.index()
    }

    /// What is kept of the cluster of a chip, which is said to be this one, is told, and nothing
    /// follows it.
    #[inline(always)]
    pub(super) fn settle_lane(&mut self, cluster: ClusterId, chip: ChipId) {
        if self.lanes.is_empty() {
            return;
        }
        if self.chips[chip].cluster != cluster {
            self.notify_all();
        }
        self.notify_lane(self.lane_of(chip));
    }

    /// The same of all clusters.
    pub(super) fn settle_lanes(&mut self) {
        while let Some(lane) = self.kept_lanes.pop() {
            self.notify_lane(lane);
            self.lanes[lane].is_listed = false;
        }
    }

    #[inline(always)]
    fn notify_lane(&mut self, lane: usize) {
        let Some(run) = self.lanes.get_mut(lane) else { return };
        if run.pages > 0 {
            self.notify_pages_of(lane);
        }
        self.lanes[lane].job.source = SourceId(NONE);
    }

    #[inline(never)]
    fn notify_pages_of(&mut self, lane: usize) {
        let run = &mut self.lanes[lane];
        let cluster = self.chips[run.waited.2].cluster;
        let (start, end) = run.last;
        if let (Rules::Utilization(by), Some(pending)) = (&mut self.rules, self.ledger.get(run.job)) {
            by.under_way.begins(cluster.index(), (start, end), pending.deadline());
            if let Order::Serial(_, idling) = &mut by.order {
                idling.works(cluster, run.first, end);
            }
            pending.has_served(run.action, run.pages, (run.service, end));
            let (waited, at, chip) = run.waited;
            self.bus_wait.gauge.note_by_chip(run.times.1.as_ns(), waited.as_ns(), place(at, pending, Some(chip)));
        }
        self.latest = self.latest.max(start);
        (run.pages, run.service) = (0, 0);
    }
}
