//! A stage of a migration as the executor makes it (docs/migration.md): tasks at both places, and
//! who copies their pages.

use std::collections::BTreeSet;

use rtflash_alloc::admission::{AddedHow, Admitted, RunningDevice};
use rtflash_alloc::migration::{CopyServer, Stage, TaskMove};
use rtflash_model::{ClusterId, Id, Instant, Span, Task, TaskId, TaskSet};
use rtflash_plan::{Plan, ReleasePattern, SharedPages};
use rtflash_trace::Kind;

use crate::{History, PlanRefusal};

/// The numbers of a task that moves, in the set that is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MovedRun {
    /// It, at its old place.
    pub task: TaskId,
    /// Its writes at its new place.
    pub mirror: Option<TaskId>,
    /// Its reads at its new place.
    pub reads: Option<TaskId>,
    /// The reader and the writer of copied pages; `None` where its own writes bring them.
    pub copies: Option<[TaskId; 2]>,
    /// When the first page that is copied is asked for, or its writes go to both places.
    pub copied_from: Instant,
    /// When the last one has been written.
    pub copied_by: Instant,
}

/// A stage, and what happens in a run of it.
#[derive(Debug, Clone)]
pub struct StageRun {
    /// Each task, and each part of one that moves.
    pub set: TaskSet,
    /// The tasks that run, each with its times.
    pub history: History,
    /// The tasks that move.
    pub moves: Vec<MovedRun>,
    /// From when on requests go to the new place alone.
    pub switched: Instant,
    /// From when on nothing is left of them at their old places.
    pub over: Instant,
    cluster: ClusterId,
    servers: Vec<Option<(CopyServer, u64)>>,
    shared: Vec<SharedPages>,
}

/// A set that grows.
struct Growing {
    all: Vec<Task>,
}

impl Growing {
    fn add(&mut self, of: TaskId, what: &str, edit: impl FnOnce(&mut Task)) -> TaskId {
        let mut task = self.all[of.index()].clone();
        task.name = format!("{} ({what})", task.name);
        while self.all.iter().any(|other| other.name == task.name) {
            task.name.push('\'');
        }
        task.data_pages = None;
        edit(&mut task);
        self.all.push(task);
        TaskId::from_index(self.all.len() - 1)
    }

    /// A task's writes and its reads at its new place. Its data are those of the first.
    fn add_parts(&mut self, of: TaskId) -> (Option<TaskId>, Option<TaskId>) {
        let own = self.all[of.index()].clone();
        let data = own.data_pages;
        let mirror = own.write.map(|_| self.add(of, "mirror", |it| (it.read, it.data_pages) = (None, data)));
        let data = data.filter(|_| mirror.is_none());
        let reads = own.read.map(|_| self.add(of, "moved", |it| (it.write, it.data_pages) = (None, data)));
        (mirror, reads)
    }
}

impl StageRun {
    /// A stage that begins at an instant of the run; `None` where it ends beyond the end of time.
    pub fn new(set: &TaskSet, stage: &Stage, begins: Instant) -> Option<StageRun> {
        let mut all = Growing { all: set.tasks().iter().cloned().collect() };
        let mut history = History::new(&stage.before);
        let after = |span: Span| begins.checked_add(span);
        let cluster = stage.cluster;
        let switched = after(stage.switched_within)?;
        let mut from = after(stage.erase.unwrap_or(Span::ZERO))?;
        let (mut moves, mut servers, mut shared) = (Vec::new(), Vec::new(), Vec::new());
        let mut is_new = stage.joins.is_empty();
        let mut places = Vec::with_capacity(stage.moves.len());
        for (place, of) in stage.moves.iter().enumerate() {
            let task = of.parts.task;
            let (mirror, reads) = all.add_parts(task);
            let first = mirror.or(reads)?;
            // How it joins says from when on its writes go to both places.
            match stage.joins.get(place) {
                Some(joins) => from = history.admit(from, first, joins),
                None => {
                    let joins = kept(cluster, std::mem::take(&mut is_new), &stage.together);
                    history.admit(if mirror.is_some() { from } else { switched }, first, &joins);
                }
            }
            for id in reads.into_iter().filter(|&id| id != first) {
                history.admit(switched, id, &kept(cluster, false, &stage.together));
            }
            places.push((mirror, reads, first));
        }
        let zoned = stage.together.certificates[cluster.index()].placement.is_zoned();
        // Terms change for who copies when they have changed for who moves.
        for (of, (mirror, reads, first)) in stage.moves.iter().zip(places) {
            let task = of.parts.task;
            let [copied_from, copied_by] = [after(of.copying_after)?, after(of.copied_within)?];
            let copies = match of.by.server() {
                Some(server) => {
                    let copies = add_copies(&mut all, task, server, Some(of.pages).filter(|_| zoned))?;
                    add_copying(&mut history, of, server, copies, cluster, copied_from, &stage.together)?;
                    Some(copies)
                }
                None => None,
            };
            // A task that writes in zones owns them.
            let owner = copies.filter(|_| zoned).map_or(first, |[_, writes]| writes);
            let others = [Some(first), reads, copies.map(|[_, writes]| writes)].into_iter().flatten();
            let others: BTreeSet<TaskId> = others.filter(|&id| id != owner).collect();
            shared.extend(copies.map(|[reads, _]| SharedPages { cluster: of.from, task: reads, whose: task }));
            shared.extend(others.into_iter().map(|id| SharedPages { cluster, task: id, whose: owner }));
            history.remove(switched, task);
            servers.push(of.by.server().map(|server| (server, of.pages)));
            moves.push(MovedRun { task, mirror, reads, copies, copied_from, copied_by });
        }
        let set = TaskSet::new(*set.device(), all.all, set.jobs().to_vec()).ok()?;
        let over = after(stage.over_within)?;
        Some(StageRun { set, history, moves, switched, over, cluster, servers, shared })
    }

    /// The plan, for requests of [`releases`](StageRun::releases).
    ///
    /// # Errors
    /// Why it cannot be executed.
    pub fn plan(&self, releases: &ReleasePattern) -> Result<Plan, PlanRefusal> {
        let mut plan = self.history.plan_sharing(&self.set, &self.shared)?;
        for of in &self.moves {
            // A task that goes round begins at the start of its new range.
            let Some(mirror) = of.mirror.filter(|_| of.copies.is_some()) else { continue };
            let begins = self.history.begins(mirror).expect("a mirror is admitted in its stage");
            let skipped = self.before(releases, of.task, begins);
            plan = plan.with_mirror(mirror, of.task, skipped).map_err(PlanRefusal::Plan)?;
        }
        Ok(plan)
    }

    /// How many write requests of a task arrive nominally before an instant.
    fn before(&self, releases: &ReleasePattern, task: TaskId, end: Instant) -> u64 {
        let write = self.set.tasks().get(task).and_then(|of| of.write);
        let (Some(write), Some(stated)) = (write, releases.request(task, Kind::Write)) else { return 0 };
        let mut next = Instant::START.saturating_add(stated.offset.unwrap_or(Span::ZERO));
        let mut before = 0;
        for &gap in &stated.gaps {
            if next >= end {
                break;
            }
            before += 1;
            next = next.saturating_add(write.period()).saturating_add(gap);
        }
        before
    }

    /// The new place.
    pub fn cluster(&self) -> ClusterId {
        self.cluster
    }

    /// Each task's first is at `offset`, then a period and a gap apart, at its old place or its new
    /// one, writes at both in between; those of copy servers at their pace.
    pub fn releases(
        &self,
        duration: Instant,
        mut offset: impl FnMut(TaskId, bool) -> Span,
        mut gap: impl FnMut(TaskId, bool) -> Span,
    ) -> ReleasePattern {
        let mut pattern = ReleasePattern::default();
        for (id, task) in self.set.tasks().enumerate() {
            if self.is_part(id) {
                continue;
            }
            let moved = self.moves.iter().find(|of| of.task == id);
            for (request, writes) in task.requests() {
                let mut times = Vec::new();
                let mut next = Instant::START.saturating_add(offset(id, writes));
                while next < duration {
                    times.push(next);
                    next = next.saturating_add(request.period()).saturating_add(gap(id, writes));
                }
                let kind = if writes { Kind::Write } else { Kind::Read };
                let Some(of) = moved else {
                    state(&mut pattern, id, kind, request.period(), &times);
                    continue;
                };
                let old: Vec<Instant> = times.iter().copied().filter(|&at| at < self.switched).collect();
                state(&mut pattern, id, kind, request.period(), &old);
                if let Some(part) = if writes { of.mirror } else { of.reads } {
                    times.retain(|&at| self.history.begins(part).is_some_and(|from| at >= from));
                    state(&mut pattern, part, kind, request.period(), &times);
                }
            }
        }
        for (of, served) in self.moves.iter().zip(&self.servers) {
            let (Some(copies), &Some((server, pages))) = (of.copies, served) else { continue };
            let requests = server.requests(pages);
            let paced = |first: Instant| {
                let at = |number: u64| server.period.checked_mul(number).map(|later| first.saturating_add(later));
                (0..requests).map_while(at).collect::<Vec<Instant>>()
            };
            let last = pages - (requests - 1) * server.pages;
            let kinds = [(Kind::Read, Span::ZERO), (Kind::Write, server.period)];
            for ((kind, later), id) in kinds.into_iter().zip(copies) {
                let first = of.copied_from.saturating_add(later);
                state(&mut pattern, id, kind, server.period, &paced(first));
                let size = |number| if number < requests { server.pages } else { last };
                pattern.request_mut(id, kind).pages = (1..=requests).map(size).collect();
            }
        }
        pattern
    }

    fn is_part(&self, id: TaskId) -> bool {
        self.moves.iter().any(|of| {
            of.copies.is_some_and(|copies| copies.contains(&id)) || of.mirror == Some(id) || of.reads == Some(id)
        })
    }
}

/// A task that is added to a cluster at once: a new one, or one whose certificate stays.
fn kept(cluster: ClusterId, is_new: bool, running: &RunningDevice) -> Admitted {
    let change = if is_new { AddedHow::NewCluster } else { AddedHow::Kept };
    Admitted { cluster, change, ready_within: Span::ZERO, running: running.clone() }
}

/// Adds the reader of a task's pages, and the writer of their copies, with `data` pages of its own.
fn add_copies(all: &mut Growing, task: TaskId, server: CopyServer, data: Option<u64>) -> Option<[TaskId; 2]> {
    let request = server.request()?;
    Some([
        all.add(task, "copied from", |it| (it.read, it.write) = (Some(request), None)),
        all.add(task, "copied to", |it| (it.read, it.write, it.data_pages) = (None, Some(request), data)),
    ])
}

/// The requests of a copy server are added at both places, and end with the last page.
fn add_copying(
    history: &mut History,
    of: &TaskMove,
    server: CopyServer,
    copies: [TaskId; 2],
    cluster: ClusterId,
    at: Instant,
    running: &RunningDevice,
) -> Option<()> {
    let pace = server.period.checked_mul(server.requests(of.pages))?;
    let [reads, writes] = copies;
    history.admit(at, reads, &kept(of.from, false, running));
    history.remove(at.checked_add(pace)?, reads);
    let joins = of.joins.clone().unwrap_or_else(|| kept(cluster, false, running));
    history.admit(at.saturating_sub(joins.ready_within), writes, &joins);
    history.remove(at.checked_add(pace)?.checked_add(server.period)?, writes);
    Some(())
}

/// The nominal arrivals of a source, and none behind them.
fn state(pattern: &mut ReleasePattern, task: TaskId, kind: Kind, period: Span, times: &[Instant]) {
    let stated = pattern.request_mut(task, kind);
    stated.offset = Some(times.first().map_or(Span::LONGEST, |first| first.since(Instant::START)));
    let gap = |pair: &[Instant]| pair[1].since(pair[0]).saturating_sub(period);
    stated.gaps = times.windows(2).map(gap).collect();
    if !times.is_empty() {
        stated.gaps.push(Span::LONGEST);
    }
}
