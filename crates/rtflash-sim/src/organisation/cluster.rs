//! A cluster as both dispatchers see it: its pages, its collector, and the addresses that its jobs
//! draw.

use rtflash_ftl::Frontiers;
use rtflash_model::{ChipId, ClusterId, Instant, Lpn, PerId, TIME_LIMIT_NS};
use rtflash_plan::{Addresses, ClusterPlan, ColumnId, Options, Plan, SourceId, groups};
use rtflash_trace::{Action, JobId, Kind, LeftOut, Observer, Selection};
use serde::{Deserialize, Serialize};

use crate::engine::priority::{JobDue, Priority};
use crate::engine::slab::Slab;
use crate::store::{Collector, PageMap, PagePlace};

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ClusterState {
    pub(crate) position: ClusterId,
    pub(crate) chips: PerId<ColumnId, ChipId>,
    pub(crate) map: PageMap,
    pub(crate) collector: Collector,
    /// The chip that the next page to be written goes to, if writes just go round.
    pub(crate) pointer: ColumnId,
    addresses: Vec<Addresses>,
    /// The first slot of the job streams in `addresses`: each has two, of its reads and writes.
    pub(crate) streams: usize,
    /// Pages of background jobs that are not finished.
    pub(crate) background: u64,
    /// w(φ) of background jobs.
    pub(crate) written: u64,
    /// αs.
    pub(crate) reclaimed: u64,
    /// Whether each task's source of GC jobs, by slot, has left out its last pass; last the server.
    left_out: Vec<bool>,
}

impl ClusterState {
    pub(crate) fn new(plan: &Plan, position: ClusterId, options: &Options) -> ClusterState {
        let cluster: &ClusterPlan = &plan.clusters()[position];
        let (layout, device) = (&cluster.layout, plan.device());
        let map = PageMap::new(cluster, options);
        let mut addresses = Vec::new();
        let mut add = |source: SourceId, reads: bool, owner: usize| {
            let chip_of = |lpn: Lpn| map.chip_of(lpn);
            addresses.push(Addresses::new(
                options.pattern,
                options.seed,
                position,
                source,
                reads,
                layout.part(owner),
                chip_of,
            ));
        };
        for (number, source) in plan.sources().enumerate().filter(|(_, source)| source.cluster == Some(position)) {
            // GC draws nothing; its slot keeps the order of the sources.
            let task = source.task().expect("under Theorem 1 a source with a cluster is a task's");
            let owner = cluster.tasks.binary_search(&task).expect("a source's task is one of its cluster's");
            add(number, source.kind == Kind::Read, owner);
        }
        let streams = plan.sources().iter().filter(|source| source.cluster == Some(position)).count();
        let of_jobs = plan.sources().enumerate().filter_map(|(number, source)| Some((number, source.stream()?)));
        for (number, stream) in of_jobs {
            add(number, true, cluster.tasks.len() + stream);
            add(SourceId(number.0 | 1 << 31), false, cluster.tasks.len() + stream);
        }
        let reclaimed = u64::from(device.reclaimed_per_chip()) * u64::from(layout.chips());
        ClusterState {
            position,
            chips: cluster.chips.clone().into(),
            collector: Collector::new(
                layout.chips(),
                layout.pages(),
                layout.reserve_pages(),
                options.victims,
                device.valid_pages_bound(),
            ),
            map,
            pointer: ColumnId(0),
            addresses,
            streams,
            background: 0,
            written: 0,
            reclaimed,
            left_out: vec![false; streams + 1],
        }
    }

    /// Whether a job that draws its addresses from this slot leaves its next pass out, because
    /// there is nothing to do.
    pub(crate) fn leaves_out(&mut self, slot: usize) -> bool {
        // Slots behind the tasks' are those of job streams: the server's.
        let own = slot.min(self.left_out.len() - 1);
        self.left_out[own] = false;
        let others = self.left_out.iter().filter(|&&left_out| left_out).count() as u64;
        self.left_out[own] = self.collector.is_void(&self.map, self.reclaimed.saturating_mul(others + 1));
        self.left_out[own]
    }

    /// Begins a pass for a job, and notifies of each victim; `false` where there is nothing to
    /// collect. `forced`: it was not asked whether to leave it out.
    pub(crate) fn begin_pass(
        &mut self,
        job: JobId,
        forced: bool,
        at: Instant,
        mut notify: impl FnMut(Selection),
    ) -> bool {
        if !self.collector.begin(&mut self.map) {
            return false;
        }
        for (position, &chip) in self.chips.enumerate() {
            if let Some(block) = self.collector.victim(position) {
                let valid = self.map.valid(position, block);
                notify(Selection { at, job, cluster: self.position, chip, block, valid, forced });
            }
        }
        true
    }

    pub(crate) fn leaving_out(&self, job: JobId, at: Instant) -> LeftOut {
        LeftOut { at, job, cluster: self.position, chip: self.chips[ColumnId(0)], free: self.map.free() }
    }

    pub(crate) fn first_in_pass(&self) -> ChipId {
        let first = self.chips.enumerate().find(|&(position, _)| self.collector.victim(position).is_some());
        *first.expect("a chip takes part in the pass under way").1
    }

    #[inline]
    pub(crate) fn draw(&mut self, slot: usize) -> Lpn {
        let map = &self.map;
        self.addresses[slot].draw(|lpn| map.chip_of(lpn))
    }

    pub(crate) fn write_next(&mut self, slot: usize, chip: ColumnId) -> (Lpn, PagePlace) {
        self.choose(slot, 1);
        let lpn = self.draw(slot);
        let place = self.write(slot, lpn, chip).expect("a chip that has room has a page");
        self.advance(chip);
        (lpn, place)
    }

    /// Asks memory for what will be known of the page that a slot draws a few draws later, and lets
    /// the observer do so. benches/execution.rs: without it serial dispatch takes twice as long.
    #[inline]
    pub(crate) fn ahead(&self, slot: usize, action: Action, observer: &impl Observer) {
        let addresses = &self.addresses[slot];
        // A program makes the page that was there stale, a read needs the place alone.
        if action == Action::Program {
            addresses.ahead(1).into_iter().for_each(|soon| self.map.prefetch_page(soon));
        }
        if let Some(later) = addresses.ahead(3) {
            self.map.prefetch_place(later);
            observer.expect(self.position, later);
        }
    }

    /// Chooses the pages that are about to be drawn from a slot for writes, if the content of the
    /// device decides.
    #[inline(always)]
    pub(crate) fn choose(&mut self, slot: usize, pages: u64) {
        if let Some(part) = self.addresses[slot].chooses_from() {
            let chosen = self.map.fullest(part, pages);
            self.addresses[slot].choose(chosen);
        }
    }

    /// A page of a job: its `number`-th one from `first` on in the slot's part, where that is
    /// given, else the next one that the slot draws.
    pub(crate) fn page(&mut self, slot: usize, first: Option<u64>, number: u64) -> Lpn {
        match first {
            Some(first) => self.addresses[slot].at(first, number),
            None => self.draw(slot),
        }
    }

    #[inline]
    pub(crate) fn chip_with_room(&self, from: ColumnId) -> Option<ColumnId> {
        if self.collector.has_room(&self.map, from) {
            return Some(from);
        }
        let size = self.chips.count();
        (1..size).map(|step| ColumnId((from.0 + step) % size)).find(|&chip| self.collector.has_room(&self.map, chip))
    }

    #[inline]
    pub(crate) fn advance(&mut self, chip: ColumnId) {
        self.pointer = ColumnId(if chip.0 + 1 < self.chips.count() { chip.0 + 1 } else { 0 });
    }

    #[inline]
    pub(crate) fn write(&mut self, slot: usize, lpn: Lpn, chip: ColumnId) -> Option<PagePlace> {
        let place = self.map.program(Frontiers::Write, lpn, chip)?;
        self.addresses[slot].written(lpn, chip);
        Some(place)
    }
}

/// Behind all deadlines: background jobs are served in order of arrival, after everything else.
pub(crate) const BACKGROUND: u64 = TIME_LIMIT_NS;

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct PendingJob {
    pub(crate) id: JobId,
    pub(crate) kind: Kind,
    /// In nanoseconds; in the background [`BACKGROUND`] and the arrival.
    pub(crate) deadline: u64,
    /// Its place among jobs of the same deadline: see [`TieBreaker`](rtflash_plan::TieBreaker).
    pub(crate) place: u64,
    pub(crate) cluster: usize,
    /// Slot of its addresses in the cluster: reads; writes.
    pub(crate) slots: (usize, usize),
    pub(crate) passes: u64,
    pub(crate) reads: u64,
    pub(crate) writes: u64,
    /// See [`Arrival::first_page`](super::Arrival::first_page).
    pub(crate) first_page: Option<u64>,
    /// Whether it has been recorded as starved and not gone on since.
    pub(crate) starved: bool,
}

impl PendingJob {
    pub(crate) fn is_over(&self) -> bool {
        self.passes == 0 && self.reads == 0 && self.writes == 0
    }

    pub(crate) fn is_background(&self) -> bool {
        self.deadline >= BACKGROUND
    }

    pub(crate) fn priority(&self, slot: usize) -> Priority {
        let due = JobDue { deadline: self.deadline, place: self.place };
        Priority { due, kind: self.kind, source: self.id.source, index: self.id.index, slot }
    }
}

/// Jobs (with parallel dispatch also pages) that may be pending in all groups of clusters when one
/// that is not real-time is taken.
const MAX_PENDING: usize = 1 << 20;

/// Jobs (with parallel dispatch also pages) that may be pending in one group: fewer where there are
/// many groups, and where each job is compared at its release with what many chips are doing,
/// `side_by_side`. So all of them together take less than a gigabyte.
pub(crate) fn max_pending(plan: &Plan, options: &Options, side_by_side: bool) -> usize {
    let widest = plan.clusters().iter().map(|cluster| cluster.chips.len()).fold(0, usize::max);
    let compared = if side_by_side { 1 + widest / 64 } else { 1 };
    (MAX_PENDING / groups(plan, options).len().max(1) / compared).max(64)
}

pub(crate) type Jobs = Slab<PendingJob>;
