//! The history of an allocation while it runs: tasks that are added and removed, as the executor
//! makes them (docs/admission.md).

use std::collections::BTreeMap;

use rtflash_alloc::admission::{AddedHow, Admitted, RunningDevice};
use rtflash_model::{Allocation, Certificate, Cluster, ClusterId, Id, Instant, Span, TaskId, TaskSet};
use rtflash_plan::{ClusterTerms, CollectionChange, Plan, ReleasePattern, SharedPages, Timing};
use rtflash_trace::Kind;

use crate::PlanRefusal;

/// Between which instants a task asks for something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Lifetime {
    /// Its first request comes no sooner.
    from: Instant,
    /// None comes from then on.
    until: Instant,
}

/// An allocation, and what is changed while it runs.
#[derive(Debug, Clone)]
pub struct History {
    /// Each cluster with every task that it ever serves.
    clusters: Vec<Cluster>,
    /// The certificates with which the clusters begin.
    certificates: Vec<Certificate>,
    changes: Vec<Vec<CollectionChange>>,
    lifetimes: BTreeMap<TaskId, Lifetime>,
}

impl History {
    /// A history that begins with what runs on this device.
    pub fn new(running: &RunningDevice) -> History {
        let always = Lifetime { from: Instant::START, until: Instant::END };
        let tasks = running.clusters.iter().flat_map(|cluster| &cluster.tasks);
        History {
            clusters: running.clusters.clone(),
            certificates: running.certificates.clone(),
            changes: vec![Vec::new(); running.clusters.len()],
            lifetimes: tasks.map(|&task| (task, always)).collect(),
        }
    }

    /// When the first request of an admitted task may come.
    ///
    /// # Panics
    /// If it was admitted to something else than what runs by this history.
    pub fn admit(&mut self, at: Instant, task: TaskId, admitted: &Admitted) -> Instant {
        let position = admitted.cluster.index();
        let from = at.saturating_add(admitted.ready_within);
        match &admitted.change {
            AddedHow::Kept => {}
            AddedHow::Staged(stages) => {
                let changes = stages.iter().map(|stage| CollectionChange {
                    not_before: at,
                    collection: stage.collection,
                    goal_pages: stage.goal_pages,
                    extra_passes: stage.extra.map_or(0, |extra| extra.passes),
                    spacing: stage.extra.map_or(Span::NANOSECOND, |extra| extra.spacing),
                });
                self.changes[position].extend(changes);
                // A cluster without writes states no deadline, and releases no GC jobs before the
                // change.
                let first = self.certificates[position].collection.as_mut();
                if let (Some(first), Some(next)) = (first, stages.first()) {
                    first.deadline = first.deadline.or(next.collection.deadline);
                }
            }
            AddedHow::NewCluster => {
                assert_eq!(position, self.clusters.len(), "a new cluster comes behind the others");
                self.clusters
                    .push(Cluster { tasks: Vec::new(), chips: admitted.running.clusters[position].chips.clone() });
                self.certificates.push(admitted.running.certificates[position]);
                self.changes.push(Vec::new());
            }
        }
        let tasks = &mut self.clusters[position].tasks;
        let place = tasks.partition_point(|&other| other < task);
        tasks.insert(place, task);
        self.lifetimes.insert(task, Lifetime { from, until: Instant::END });
        from
    }

    /// A task asks for nothing more from an instant on.
    pub fn remove(&mut self, at: Instant, task: TaskId) {
        if let Some(lifetime) = self.lifetimes.get_mut(&task) {
            lifetime.until = at;
        }
    }

    /// Whether a task is ever served.
    pub fn serves(&self, task: TaskId) -> bool {
        self.lifetimes.contains_key(&task)
    }

    /// From when on a task's requests may come; `None` where it is never served.
    pub fn begins(&self, task: TaskId) -> Option<Instant> {
        self.lifetimes.get(&task).map(|of| of.from)
    }

    /// Tasks have other numbers, in the same order; a task without one is left out.
    #[must_use]
    pub fn renamed(self, number: impl Fn(TaskId) -> Option<TaskId>) -> History {
        let cluster = |cluster: Cluster| Cluster {
            tasks: cluster.tasks.into_iter().filter_map(&number).collect(),
            chips: cluster.chips,
        };
        History {
            clusters: self.clusters.into_iter().map(cluster).collect(),
            lifetimes: self.lifetimes.into_iter().filter_map(|(task, of)| Some((number(task)?, of))).collect(),
            ..self
        }
    }

    /// The plan, for a set of every task that ever runs.
    ///
    /// # Errors
    /// Why it cannot be executed.
    pub fn plan(&self, set: &TaskSet) -> Result<Plan, PlanRefusal> {
        self.plan_sharing(set, &[])
    }

    /// [`History::plan`], if some tasks share the pages of others.
    ///
    /// # Errors
    /// Why it cannot be executed.
    pub fn plan_sharing(&self, set: &TaskSet, shared: &[SharedPages]) -> Result<Plan, PlanRefusal> {
        let other = || PlanRefusal::Plan(rtflash_plan::PlanError::OtherAllocation);
        let allocation =
            Allocation::new(set.device().chips(), set.tasks().len(), &self.clusters).map_err(|_| other())?;
        let terms: Vec<ClusterTerms> = self.certificates.iter().copied().map(ClusterTerms::Certified).collect();
        let plan = Plan::sharing(set, &allocation, Timing::of_device(set.device()), &terms, shared);
        let plan = plan.map_err(PlanRefusal::Plan)?;
        let changed = self.changes.iter().enumerate().filter(|(_, changes)| !changes.is_empty());
        changed
            .into_iter()
            .try_fold(plan, |plan, (at, changes)| plan.with_changes(ClusterId::from_index(at), changes))
            .map_err(PlanRefusal::Plan)
    }

    /// The first request of each task `offset` behind its instant, others a period and a gap apart.
    pub fn releases(
        &self,
        set: &TaskSet,
        duration: Instant,
        mut offset: impl FnMut(TaskId, bool) -> Span,
        mut gap: impl FnMut(TaskId, bool) -> Span,
    ) -> ReleasePattern {
        let mut pattern = ReleasePattern::default();
        for (&id, &Lifetime { from, until }) in &self.lifetimes {
            let Some(task) = set.tasks().get(id) else { continue };
            for (request, writes) in task.requests() {
                let first = from.saturating_add(offset(id, writes));
                let end = until.min(duration);
                let mut gaps = Vec::new();
                let mut next = first;
                while next < end {
                    let after = gap(id, writes);
                    next = next.saturating_add(request.period()).saturating_add(after);
                    gaps.push(if next < end { after } else { Span::LONGEST });
                }
                let stated = pattern.request_mut(id, if writes { Kind::Write } else { Kind::Read });
                stated.offset = Some(if first < end { first.since(Instant::START) } else { Span::LONGEST });
                stated.gaps = gaps;
            }
        }
        pattern
    }
}
