//! Why no allocation was found under a demand test, and the outcome of a division that is given.

use rtflash_analysis::certified::{
    ChannelContention, Contention, PlacedProcessor, Processor, SharedBus, Shortfall, never_served,
};
use rtflash_analysis::reason::Reason;
use rtflash_analysis::{DemandTest, Work};
use rtflash_model::{Allocation, Cluster, Placement, TaskId, TaskSet};

use super::organisations::{ContentionAssumption, DemandHeld, Organisation, Organisations};
use super::sizes::DemandSizes;
use super::{KnownLoads, NoGroups, Problem, merged};
use crate::allocator::best_fit::{Filled, filled};
use crate::allocator::merging::Stuck;
use crate::allocator::sizes::TaskGroup;
use crate::allocator::space::first_too_many;
use crate::allocator::{Failure, Limit, Outcome, Strategy, Unplaced};

/// The cluster that the task comes nearest to fit in, by what the first search came to; `None`
/// where none is found to fail, but a test was left open.
pub(super) fn failure(
    problem: Problem<'_>,
    organisations: &Organisations<'_>,
    strategy: Strategy,
    first: Result<Vec<TaskGroup<DemandHeld>>, NoGroups>,
) -> Option<Failure> {
    let ((unplaced, fails), by_merge) = match (strategy, first) {
        (Strategy::Merging, _) => not_merged(problem, organisations),
        // Best fit was made already.
        (_, Err(NoGroups::Full(task, before))) => (nearest(problem, organisations, task, &before), false),
        (Strategy::OneChipEach | Strategy::Growing, Ok(groups)) => (not_settled(problem, organisations, groups), false),
        _ => (not_filled(problem, organisations), false),
    };
    (fails || !organisations.left_open()).then_some(Failure { unplaced, overloaded: None, by_merge })
}

/// A task, and whether it is found to fail where it comes nearest to fit in.
type Unfit = (Unplaced, bool);

fn not_filled(problem: Problem<'_>, organisations: &Organisations<'_>) -> Unfit {
    match filled(DemandSizes::new(organisations)) {
        Filled::Full { task, before } => nearest(problem, organisations, task, &before),
        Filled::Fits(groups) => not_settled(problem, organisations, groups),
        // Nothing bounds it.
        Filled::GivenUp(_) => nearest(problem, organisations, TaskId(0), &[]),
    }
}

/// The groups fit, but not where their chips are: the last task is as good as any.
fn not_settled(
    problem: Problem<'_>,
    organisations: &Organisations<'_>,
    mut groups: Vec<TaskGroup<DemandHeld>>,
) -> Unfit {
    let last = groups.iter().flat_map(|group| group.tasks.iter().copied()).max();
    let last = last.expect("without tasks every allocation holds");
    groups.retain(|group| !group.tasks.contains(&last));
    nearest(problem, organisations, last, &groups)
}

fn not_merged(problem: Problem<'_>, organisations: &Organisations<'_>) -> (Unfit, bool) {
    // A cluster that a merge left overloaded may have any organisation.
    let allowed = |size: u32| {
        organisations
            .allowed()
            .iter()
            .copied()
            .filter(move |&organisation| organisations.on_chips(organisation, size) == Some(size))
    };
    match merged(organisations) {
        Err(Stuck::Unplaced { task, clusters }) => {
            let group = |Cluster { chips, tasks }: Cluster| {
                let size = u32::try_from(chips.len()).ok()?;
                let organisation =
                    organisations.holds(&tasks, size).map(|held| held.organisation).or_else(|| allowed(size).next())?;
                Some(TaskGroup { tasks, size, held: DemandHeld { organisation, load: 0.0 } })
            };
            let busy = clusters.into_iter().filter(|cluster| !cluster.tasks.is_empty());
            (nearest(problem, organisations, task, &busy.filter_map(group).collect::<Vec<_>>()), false)
        }
        Err(Stuck::Overloaded { last, position, clusters }) => {
            let cluster = &clusters[position];
            let others: Vec<TaskId> = cluster.tasks.iter().copied().filter(|&task| task != last).collect();
            let as_it_is = |organisation: Organisation| Tried {
                position,
                others: others.clone(),
                organisation,
                chips: cluster.size(),
            };
            (nearest_of(problem, last, allowed(cluster.size()).map(as_it_is)), true)
        }
        Ok(groups) => (not_settled(problem, organisations, groups), false),
        // The tests that it takes are too many.
        Err(Stuck::GivenUp(_)) => (nearest(problem, organisations, TaskId(0), &[]), false),
    }
}

struct Tried {
    position: usize,
    others: Vec<TaskId>,
    organisation: Organisation,
    chips: u32,
}

/// One of these groups, or a cluster of its own on the chips that they leave.
fn nearest(
    problem: Problem<'_>,
    organisations: &Organisations<'_>,
    task: TaskId,
    groups: &[TaskGroup<DemandHeld>],
) -> Unfit {
    let used: u64 = groups.iter().map(|group| u64::from(group.size)).sum();
    let left = u64::from(problem.set.device().chips()).checked_sub(used).and_then(|left| u32::try_from(left).ok());
    let left = left.expect("the groups before have no more chips than there are");
    let own = organisations.allowed().iter().filter_map(|&organisation| {
        Some(Tried {
            position: groups.len(),
            others: Vec::new(),
            organisation,
            chips: organisations.on_chips(organisation, left)?,
        })
    });
    let others = groups.iter().enumerate().map(|(position, group)| Tried {
        position,
        others: group.tasks.clone(),
        organisation: group.held.organisation,
        chips: group.size,
    });
    nearest_of(problem, task, own.chain(others))
}

fn nearest_of(problem: Problem<'_>, task: TaskId, tried: impl Iterator<Item = Tried>) -> Unfit {
    let short = |mut tried: Tried| {
        tried.others.sort_unstable();
        let shortfall =
            shortfall(problem, &[tried.others.as_slice(), &[task]].concat(), tried.organisation, tried.chips);
        (tried, shortfall)
    };
    let mut tried: Vec<(Tried, Shortfall<'_>)> = tried.map(short).collect();
    tried.sort_by(|a, b| a.1.order.total_cmp(&b.1.order));
    // Only a few tasks are tried in each group, and one of the other groups may hold it after all.
    let failing = tried.iter().find_map(|(tried, shortfall)| Some((tried, shortfall.reason()?)));
    let fails = failing.is_some();
    let failing = failing.or_else(|| tried.first().map(|(tried, shortfall)| (tried, shortfall.nearest_reason())));
    let (cluster, chips, others, reason) = match failing {
        Some((tried, reason)) => (tried.position, tried.chips, tried.others.clone(), reason),
        None => (0, problem.set.device().chips(), Vec::new(), Reason::Load { utilization: f64::MAX }),
    };
    (Unplaced { task, reason: or_too_long(problem, task, reason), cluster, chips, others }, fails)
}

/// The reason, or where it is one of time, a request of the task that no cluster can serve in time.
fn or_too_long(Problem { set, test, .. }: Problem<'_>, task: TaskId, reason: Reason) -> Reason {
    if !matches!(reason, Reason::Load { .. } | Reason::Demand(_)) {
        return reason;
    }
    let too_long = set
        .tasks()
        .get(task)
        .and_then(|task| never_served(set.device(), test.placements, task, set.device().chips()).next());
    too_long.map_or(reason, Reason::Request)
}

fn shortfall<'a>(problem: Problem<'a>, tasks: &[TaskId], organisation: Organisation, chips: u32) -> Shortfall<'a> {
    let Problem { set, work, .. } = problem;
    let device = set.device();
    let bus = if organisation.is_compact() { SharedBus::compact(device, chips) } else { SharedBus::anywhere(device) };
    let tasks = || tasks.iter().filter_map(|&task| set.tasks().get(task));
    let placement = organisation.placement;
    let processor = Processor::new(device, tasks(), chips, placement, bus);
    let placed = processor.map(|processor| PlacedProcessor { processor, contentions: vec![Contention::none()] });
    Shortfall::new(device, tasks(), chips, placement, placed, work)
}

/// The outcome of a given division: certificates are made for its clusters where they are.
pub(crate) fn tested(
    set: &TaskSet,
    test: DemandTest,
    work: &Work,
    clusters: &[Cluster],
    allocation: &Allocation,
) -> Outcome {
    let test = test.on(set.device());
    let problem = Problem { set, test, work, known: &KnownLoads::default() };
    let (allocation, certified) = test.certified(set, allocation, work);
    let Some(&position) = certified.failing.first() else { return Outcome::Schedulable(allocation) };
    if certified.given_up {
        return Outcome::CannotTell(Limit::TestGivenUp);
    }
    let placement = |at: usize| allocation.certificate(at).map_or(test.idle(), |certificate| certificate.placement);
    let chosen: Vec<Placement> = (0..clusters.len()).map(placement).collect();
    let (cluster, placement) = (&clusters[position], chosen[position]);
    let organisations = Organisations::new(problem, ContentionAssumption::WorstCase);
    let organisation = Organisation::on_any_chips(placement);
    let contention = ChannelContention::new(set, clusters, chosen, vec![0; clusters.len()], test.rely_on, work);
    let reason = contention.shortfall(position).nearest_reason();
    let holds = |tasks: &[TaskId]| match reason {
        Reason::Data(_) => set.space(tasks, cluster.size(), Some(placement)).fits(),
        _ => organisations.load(tasks, organisation, cluster.size()).is_some(),
    };
    let task = first_too_many(&cluster.tasks, holds).expect("a cluster that fails has tasks");
    let unplaced = Unplaced {
        task,
        reason: or_too_long(problem, task, reason),
        cluster: position,
        chips: cluster.size(),
        others: cluster.tasks.iter().copied().filter(|&other| other != task).collect(),
    };
    Outcome::NotSchedulable(Failure { unplaced, overloaded: Some(allocation), by_merge: false })
}
