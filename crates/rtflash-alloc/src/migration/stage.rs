//! One stage: tasks that move to one cluster.

use std::collections::BTreeSet;

use rtflash_analysis::Work;
use rtflash_model::{Certificate, ChipId, Cluster, ClusterId, Id, Placement, Span, TaskId, TaskSet};

use super::copying::{CopyRoom, Destination, hold_beside};
use super::near::{Near, NearStage};
use super::parts::{StageTasks, whole_rows};
use super::{MigrationOptions, MovedBy, MovedParts, Stage, StageRefusal, TaskMove};
use crate::admission::{Admitted, Decision, RunningDevice, admit_into, removable_within};

#[derive(Debug, Clone, Copy)]
pub(super) struct Goal<'a> {
    pub(super) cluster: &'a Cluster,
    pub(super) placement: Option<Placement>,
}

const NOTHING: Certificate = Certificate {
    placement: Placement::Stripe,
    collection: None,
    server_thousandths: 0,
    backfill: true,
    tightest: None,
};

#[derive(Debug, Clone, Copy)]
pub(super) struct Scene<'a> {
    pub(super) set: &'a TaskSet,
    pub(super) now: &'a RunningDevice,
    pub(super) taken: &'a BTreeSet<ChipId>,
    /// Chips that have served tasks.
    pub(super) used: &'a BTreeSet<ChipId>,
    pub(super) options: MigrationOptions<'a>,
    pub(super) work: &'a Work,
}

#[derive(Debug)]
struct Setting {
    cluster: usize,
    joins: Vec<Admitted>,
    /// From the stage's start on: when the tasks' writes go to both places.
    mirrored_after: Span,
    mirrored: RunningDevice,
    together: RunningDevice,
}

pub(super) type Leaving = (MovedParts, usize, u64);

impl Scene<'_> {
    /// The stage that makes a cluster, or adds to one that runs what is missing there.
    pub(super) fn stage(&self, goal: Goal<'_>) -> Result<Stage, StageRefusal> {
        let position = self.now.clusters.iter().position(|cluster| cluster.chips == goal.cluster.chips);
        let there: &[TaskId] = position.map_or(&[], |at| &self.now.clusters[at].tasks);
        let mut moving: Vec<TaskId> = goal.cluster.tasks.iter().copied().filter(|task| !there.contains(task)).collect();
        if position.is_none() {
            if let Some(&chip) = goal.cluster.chips.iter().find(|chip| self.taken.contains(chip)) {
                return Err(StageRefusal::Chip(chip));
            }
        } else if moving.is_empty() {
            // A task that is too much there has to leave first.
            return Err(StageRefusal::Chip(goal.cluster.chips[0]));
        }
        if let Some(refusal) = position.and_then(|at| self.overloaded(at, &moving)) {
            return Err(refusal);
        }
        // The most pages first: a new cluster's certificate is made with them.
        moving.sort_by_key(|&task| (std::cmp::Reverse(self.pages(task)), task));
        let tasks = StageTasks::new(self.set, &moving);
        let set = || tasks.set(self.set.device()).ok_or(StageRefusal::TooLong);
        if let Some(position) = position {
            let placement = self.now.certificates[position].placement;
            let leaving = self.leaving(&tasks, placement, &goal.cluster.chips)?;
            let setting = self.joined(&tasks, position)?;
            return self.moved(goal, &tasks, set()?, (setting, &leaving), None);
        }
        let mut refusal = StageRefusal::Late;
        let stated = goal.placement.as_slice();
        for &placement in if stated.is_empty() { self.options.placements } else { stated } {
            if !placement.is_possible_on(self.set.device()) {
                continue;
            }
            let leaving = self.leaving(&tasks, placement, &goal.cluster.chips)?;
            // A zone is reset before anything is written there.
            let erase = if placement.is_zoned() { None } else { self.erase(&goal.cluster.chips)? };
            let setting = self.fresh(goal, placement, &tasks.parts);
            match self.moved(goal, &tasks, set()?, (setting, &leaving), erase) {
                Ok(stage) => return Ok(stage),
                Err(why) => refusal = why,
            }
        }
        Err(refusal)
    }

    fn erase(&self, chips: &[ChipId]) -> Result<Option<Span>, StageRefusal> {
        let device = self.set.device();
        let Some(&used) = chips.iter().find(|chip| self.used.contains(chip)) else { return Ok(None) };
        if device.has_commands() {
            return Err(StageRefusal::EraseCommands(used));
        }
        let whole = device.block_erase().checked_mul(device.blocks_per_chip().into());
        whole.map(Some).ok_or(StageRefusal::TooLong)
    }

    fn leaving(
        &self,
        tasks: &StageTasks,
        placement: Placement,
        chips: &[ChipId],
    ) -> Result<Vec<Leaving>, StageRefusal> {
        let mut leaving = Vec::with_capacity(tasks.parts.len());
        for &parts in &tasks.parts {
            let serves = |cluster: &Cluster| cluster.tasks.contains(&parts.task);
            let from = self.now.clusters.iter().position(serves).ok_or(StageRefusal::NotAdmitted(parts.task, None))?;
            let zones = placement.is_zoned() || self.now.certificates[from].placement.is_zoned();
            let of = &self.set.tasks()[parts.task];
            if zones && (of.data_pages.is_none() || !of.fits_zones()) {
                return Err(StageRefusal::Zones(parts.task));
            }
            leaving.push((parts, from, self.pages(parts.task)));
        }
        self.is_free_of_servers(chips, &leaving)?;
        Ok(leaving)
    }

    /// A cluster of free chips. Its certificate is made with the first copy server.
    fn fresh(&self, goal: Goal<'_>, placement: Placement, parts: &[MovedParts]) -> Setting {
        let cluster = self.now.clusters.len();
        let certificate = Certificate { placement, ..NOTHING };
        let with = |tasks: Vec<TaskId>| {
            let mut running = self.now.clone();
            running.clusters.push(Cluster { chips: goal.cluster.chips.clone(), tasks });
            running.certificates.push(certificate);
            running
        };
        Setting {
            cluster,
            joins: Vec::new(),
            mirrored_after: Span::ZERO,
            mirrored: with(parts.iter().filter_map(|parts| parts.mirror).collect()),
            together: with(parts.iter().map(|parts| parts.moved).collect()),
        }
    }

    /// A cluster that runs, the tasks added one behind the other.
    fn joined(&self, tasks: &StageTasks, position: usize) -> Result<Setting, StageRefusal> {
        let (mut joins, mut running, mut after) = (Vec::new(), self.now.clone(), Span::ZERO);
        for parts in &tasks.parts {
            let near = Near::new(self.set.device(), &tasks.all, &[&running], &[position], Some(parts.moved));
            let set = near.set(self.set.device()).ok_or(StageRefusal::TooLong)?;
            let (before, new, place) = (near.running(&running), near.task(parts.moved), near.place(position));
            let admitted = match admit_into(&set, &before, new, place, self.options.granted, self.work) {
                Decision::Admitted(admitted) => admitted,
                Decision::Refused(why) => {
                    let why = why.first().map(|&(_, why)| near.refusal(why));
                    return Err(StageRefusal::NotAdmitted(parts.task, why));
                }
            };
            after = after.checked_add(admitted.ready_within).ok_or(StageRefusal::TooLong)?;
            running.clusters[position].tasks.push(parts.moved);
            running.certificates[position] = admitted.running.certificates[place];
            let cluster = ClusterId::from_index(position);
            joins.push(Admitted { cluster, running: running.clone(), ..*admitted });
        }
        Ok(Setting { cluster: position, joins, mirrored_after: after, mirrored: running.clone(), together: running })
    }

    /// The tasks' pages copied one task after another, and what is left behind taken away.
    fn moved(
        &self,
        goal: Goal<'_>,
        tasks: &StageTasks,
        set: TaskSet,
        (mut setting, leaving): (Setting, &[Leaving]),
        erase: Option<Span>,
    ) -> Result<Stage, StageRefusal> {
        self.fits(&setting.together, setting.cluster, tasks, leaving)?;
        let begin = erase.unwrap_or(Span::ZERO).checked_add(setting.mirrored_after).ok_or(StageRefusal::TooLong)?;
        let (mut moves, mut free) = (Vec::with_capacity(leaving.len()), begin);
        let placement = setting.mirrored.certificates[setting.cluster].placement;
        let mut switched = begin;
        for of in leaving {
            let when = (begin, free, moves.is_empty());
            if self.goes_by_rounds(of.0, of.1, placement) {
                let moved = self.rounded(tasks, &set, &mut setting, *of, (begin, moves.is_empty()))?;
                switched = switched.max(moved.copied_within);
                moves.push(moved);
                continue;
            }
            let (moved, settled) = self.copied(tasks, &mut setting, *of, when)?;
            moves.push(moved);
            free = settled;
        }
        let switched = switched.max(free);
        let Setting { cluster, joins, mirrored, together, .. } = setting;
        let places: Vec<usize> = leaving.iter().map(|&(_, from, _)| from).chain([cluster]).collect();
        if ![&mirrored, &together].iter().all(|of| hold_beside(&set, of, &places, self.options.granted, self.work)) {
            return Err(StageRefusal::Late);
        }
        let (left, over_within) = self.left(&set, &together, leaving, switched)?;
        Ok(Stage {
            set,
            before: self.now.clone(),
            chips: goal.cluster.chips.clone(),
            cluster: ClusterId::from_index(cluster),
            erase,
            joins,
            moves,
            mirrored,
            together,
            switched_within: switched,
            over_within,
            after: renumbered(left, tasks),
        })
    }

    /// By what the cluster runs then, and when nothing is left of the copy server. Writes go to
    /// both places from `begin` on, and no other copy server is there from `free` on.
    fn copied(
        &self,
        tasks: &StageTasks,
        setting: &mut Setting,
        (parts, from, pages): Leaving,
        (begin, free, is_first): (Span, Span, bool),
    ) -> Result<(TaskMove, Span), StageRefusal> {
        // Rule M1: requests that wrote to the old place alone are over.
        let over = self.set.tasks()[parts.task].write.map_or(Span::ZERO, |write| write.deadline());
        let asked_after = begin.checked_add(over).ok_or(StageRefusal::TooLong)?.max(free);
        let near = self.near(tasks, setting, parts.task, from);
        let copying = self.room(&near, setting, pages, is_first).fastest()?;
        for running in [&mut setting.mirrored, &mut setting.together] {
            running.certificates[setting.cluster] = copying.running.certificates[near.places[1]];
        }
        let waits = copying.admitted.as_ref().map_or(Span::ZERO, |admitted| admitted.ready_within);
        let copied = tasks.copying(self.set.device(), parts.task, copying.server);
        let (copying_set, [reads, writes]) = copied.ok_or(StageRefusal::TooLong)?;
        let mut running = setting.mirrored.clone();
        running.clusters[from].tasks.push(reads);
        running.clusters[setting.cluster].tasks.push(writes);
        let cluster = ClusterId::from_index(setting.cluster);
        let joins = copying.admitted.map(|admitted| Admitted { cluster, running: running.clone(), ..admitted });
        let copying_after = asked_after.checked_add(waits).ok_or(StageRefusal::TooLong)?;
        let within = copying.server.within(pages).and_then(|within| copying_after.checked_add(within));
        let settled = asked_after.checked_add(copying.settled_within).ok_or(StageRefusal::TooLong)?;
        let moved = TaskMove {
            parts,
            from: ClusterId::from_index(from),
            pages,
            by: MovedBy::Copies(copying.server),
            joins,
            copying_after,
            copied_within: within.ok_or(StageRefusal::TooLong)?,
            copying: running,
            copying_set,
        };
        Ok((moved, settled))
    }

    fn near(&self, tasks: &StageTasks, setting: &Setting, task: TaskId, from: usize) -> NearStage {
        let devices = [&setting.mirrored, &setting.together];
        NearStage::new(self.set.device(), tasks, devices, task, [from, setting.cluster])
    }

    fn room<'a>(&'a self, near: &'a NearStage, setting: &Setting, pages: u64, is_first: bool) -> CopyRoom<'a> {
        let placement = setting.mirrored.certificates[setting.cluster].placement;
        let destination = match (setting.joins.is_empty(), is_first) {
            (true, true) => Destination::New(placement, &near.together),
            (true, false) => Destination::Certified,
            (false, _) => Destination::Running,
        };
        CopyRoom {
            device: self.set.device(),
            tasks: &near.tasks,
            running: &near.mirrored,
            task: near.task,
            places: near.places,
            destination,
            pages,
            granted: self.options.granted,
            buffer_pages: self.options.buffer_pages,
            work: self.work,
        }
    }

    /// A task that goes round in zones, there or where it was.
    pub(super) fn goes_by_rounds(&self, parts: MovedParts, from: usize, to: Placement) -> bool {
        parts.mirror.is_some() && (self.now.certificates[from].placement.is_zoned() || to.is_zoned())
    }

    /// Writes go to both places from `begin` on. A first task's new cluster gets its certificate.
    fn rounded(
        &self,
        tasks: &StageTasks,
        set: &TaskSet,
        setting: &mut Setting,
        (parts, from, pages): Leaving,
        (begin, is_first): (Span, bool),
    ) -> Result<TaskMove, StageRefusal> {
        let write = self.set.tasks()[parts.task].write.ok_or(StageRefusal::Late)?;
        if is_first && setting.joins.is_empty() {
            let near = self.near(tasks, setting, parts.task, from);
            let own = near.tasks.set(self.set.device()).ok_or(StageRefusal::TooLong)?;
            let room = self.room(&near, setting, pages, is_first);
            let certificate = room.certified_alone(&own, &near.together).ok_or(StageRefusal::Late)?;
            for running in [&mut setting.mirrored, &mut setting.together] {
                running.certificates[setting.cluster] = certificate;
            }
        }
        // All of the range that it has, and of the one that it gets.
        let (size, placement) = {
            let running = &setting.mirrored;
            (running.clusters[setting.cluster].size(), running.certificates[setting.cluster].placement)
        };
        let pages =
            self.set.tasks()[parts.task].data_pages.map_or(pages, |of| pages.max(whole_rows(of, size, placement)));
        // The first one comes within a period.
        let requests = pages.div_ceil(write.pages().max(1));
        let round = write.period().checked_mul(requests).and_then(|round| round.checked_add(write.jitter()));
        let within = round.and_then(|round| round.checked_add(write.deadline())?.checked_add(begin));
        Ok(TaskMove {
            parts,
            from: ClusterId::from_index(from),
            pages,
            by: MovedBy::Round(requests),
            joins: None,
            copying_after: begin,
            copied_within: within.ok_or(StageRefusal::TooLong)?,
            copying: setting.mirrored.clone(),
            copying_set: set.clone(),
        })
    }

    /// The clusters that run without the tasks at their old places, and the end of the last rest of
    /// them.
    fn left(
        &self,
        set: &TaskSet,
        together: &RunningDevice,
        leaving: &[Leaving],
        switched: Span,
    ) -> Result<(RunningDevice, Span), StageRefusal> {
        let (mut running, mut over) = (together.clone(), switched);
        for &(parts, from, _) in leaving {
            let near = Near::new(self.set.device(), set.tasks().as_slice(), &[&running], &[from], None);
            let own = near.set(self.set.device()).ok_or(StageRefusal::TooLong)?;
            let (here, task) = (near.running(&running), near.task(parts.task));
            let within = removable_within(&own, &here, task, self.options.granted, self.work);
            let within = within.ok_or(StageRefusal::NotSettled(parts.task))?;
            over = over.checked_add(within).ok_or(StageRefusal::TooLong)?;
            running.clusters[from].tasks.retain(|&task| task != parts.task);
        }
        Ok((running, over))
    }
}

/// `running` with each task's own number for all of it, without clusters that serve no request.
fn renumbered(running: RunningDevice, tasks: &StageTasks) -> RunningDevice {
    let own = |task: TaskId| tasks.parts.iter().find(|parts| parts.moved == task).map_or(task, |of| of.task);
    let pairs = running.clusters.into_iter().zip(running.certificates);
    let busy = pairs.filter(|(cluster, of)| !cluster.tasks.is_empty() || of.server_thousandths > 0);
    let (clusters, certificates) = busy
        .map(|(cluster, certificate)| {
            let mut tasks: Vec<TaskId> = cluster.tasks.into_iter().map(own).collect();
            tasks.sort_unstable();
            (Cluster { chips: cluster.chips, tasks }, certificate)
        })
        .unzip();
    RunningDevice { clusters, certificates }
}
