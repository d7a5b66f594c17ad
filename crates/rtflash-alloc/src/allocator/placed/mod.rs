//! Allocation under analyses that test a placed cluster: which chips, and how pages are placed on them.
//!
//! Groups of tasks are formed first, each in the smallest cluster that it holds in wherever its chips are; then chips are given out and every
//! cluster is certified where it is. Where the chips do not suffice so, groups are formed again in the hope of less waiting for the bus, and chips
//! are given out so that those that move much have neighbours that move little: what [`certify`] then confirms is an allocation.

mod chips;
mod everywhere;
mod exact;
mod groups;
mod shape;

use rtflash_model::{Allocation, Cluster, Placement, Reliance, TaskSet};

use self::chips::{Group, Layout, place};
use self::exact::Subsets;
use self::groups::{Groups, Homeless};
use self::shape::{Form, Shape, Shapes, Waiting};
use super::space::first_too_many;
use super::{Exact, Failure, Limit, Outcome, Strategy, Unplaced};
use crate::analysis::Analysis;
use crate::reason::{Reason, never_served};
use crate::sound::{Bus, Contention, Placed, Shortfall, Site, Unit, certified, certify};

/// What an analysis allows: how pages are placed, and what promises may rely on.
#[derive(Clone, Copy)]
struct Terms<'p> {
    placements: &'p [Placement],
    granted: Reliance,
}

impl Terms<'_> {
    /// The placement of clusters without tasks.
    fn free(self) -> Placement {
        self.placements[0]
    }
}

/// Divides the chips among the tasks under an analysis that has placements.
pub(super) fn allocate(set: &TaskSet, analysis: &dyn Analysis, strategy: Strategy) -> Outcome {
    let terms = Terms { placements: analysis.placements(), granted: analysis.relies_on() };
    match strategy {
        Strategy::Global | Strategy::EqualSplit => fixed(set, terms, strategy == Strategy::Global),
        Strategy::Exact if set.tasks().len() > Exact::MAX_TASKS => {
            Outcome::CannotTell(Limit::TooManyTasks { tasks: set.tasks().len(), limit: Exact::MAX_TASKS })
        }
        _ => grouped(set, terms, strategy),
    }
}

/// Whether these tasks (positions in the set) hold in a cluster of `chips` chips wherever its chips are and whatever its neighbours do.
pub(crate) fn holds_anywhere(set: &TaskSet, placements: &[Placement], tasks: &[usize], chips: u32) -> bool {
    let shapes = Shapes::new(set, placements, Waiting::Full);
    let mut forms = shapes.forms().iter().filter(|&&form| form != Form::Compact);
    forms.any(|&form| shapes.load(tasks, Shape { chips, form }).is_some())
}

fn grouped(set: &TaskSet, terms: Terms<'_>, strategy: Strategy) -> Outcome {
    let shapes = Shapes::new(set, terms.placements, Waiting::Full).of_one_chip(strategy == Strategy::OneChipEach);
    let mut given_up = false;
    if let Some(groups) = form(&shapes, strategy)
        && let Some(allocation) = settle(set, terms, &groups, Layout::InOrder, &mut given_up)
    {
        return Outcome::Schedulable(allocation);
    }
    let found = if strategy == Strategy::Exact {
        exactly(set, terms, &mut given_up)
    } else {
        hopefully(set, terms, strategy, &mut given_up)
    };
    match found {
        Some(allocation) => Outcome::Schedulable(allocation),
        None if given_up || shapes.given_up() => Outcome::CannotTell(Limit::TestGivenUp),
        None => Outcome::NotSchedulable(Failure {
            unplaced: unplaced(set, terms.placements, &shapes),
            overloaded: None,
            by_merge: false,
        }),
    }
}

/// Groups in the hope of less waiting for the bus, confirmed where their chips are.
fn hopefully(set: &TaskSet, terms: Terms<'_>, strategy: Strategy, given_up: &mut bool) -> Option<Allocation> {
    let ways = set.device().chips_per_channel().min(set.device().chips());
    // Without relying on neighbours there is no such hope.
    if ways == 1 || !terms.placements.contains(&Placement::Stripe) || terms.granted == Reliance::Nothing {
        return None;
    }
    let queue = (terms.granted >= Reliance::Queue && set.device().has_exact_reads()).then_some(Waiting::Queue);
    let hopes = [Waiting::Hoped(1)].into_iter().chain(queue).chain((2..ways).rev().map(Waiting::Hoped));
    for hope in hopes {
        let hopeful = Shapes::new(set, terms.placements, hope).of_one_chip(strategy == Strategy::OneChipEach);
        let groups = form(&hopeful, strategy);
        *given_up |= hopeful.given_up();
        let Some(groups) = groups else {
            // What does not pass without any waiting passes nowhere: then nothing else is tried.
            if hope == Waiting::Hoped(1) {
                return None;
            }
            continue;
        };
        for layout in [Layout::InOrder, Layout::Balanced] {
            if let Some(allocation) = settle(set, terms, &groups, layout, given_up) {
                return Some(allocation);
            }
        }
    }
    None
}

/// The best partition of a hope need not be the one that holds next to its neighbours: another may.
fn exactly(set: &TaskSet, terms: Terms<'_>, given_up: &mut bool) -> Option<Allocation> {
    if set.device().chips_per_channel().min(set.device().chips()) == 1 {
        return None;
    }
    let shapes = Shapes::new(set, terms.placements, Waiting::Nowhere);
    let subsets = Subsets::new(&shapes);
    *given_up |= shapes.given_up();
    subsets.best_partition()?;
    if let Some(allocation) = hopefully(set, terms, Strategy::Exact, given_up) {
        return Some(allocation);
    }
    // Never worse than the search.
    if let Outcome::Schedulable(allocation) = grouped(set, terms, Strategy::Search) {
        return Some(allocation);
    }
    let found = everywhere::search(set, terms, &shapes, &subsets, given_up);
    *given_up |= shapes.given_up();
    found
}

/// Groups that need no more chips than there are.
fn form(shapes: &Shapes<'_>, strategy: Strategy) -> Option<Vec<Group>> {
    let chips = u64::from(shapes.set().device().chips());
    if strategy == Strategy::Exact {
        return Subsets::new(shapes).best_partition();
    }
    let mut groups = Groups::new(shapes).ok()?;
    let order = groups.order();
    order.into_iter().for_each(|task| groups.insert(task));
    if strategy == Strategy::Search {
        groups.search();
    }
    (groups.needed() <= chips).then(|| groups.groups().to_vec())
}

/// Chips for the groups and certificates for the clusters, if all have one; chips left over are placed so.
fn settle(
    set: &TaskSet,
    terms: Terms<'_>,
    groups: &[Group],
    layout: Layout,
    given_up: &mut bool,
) -> Option<Allocation> {
    let (clusters, placements): (Vec<Cluster>, Vec<Placement>) = place(set, groups, layout)?
        .into_iter()
        .map(|(cluster, form)| (cluster, form.map_or(terms.free(), Form::placement)))
        .unzip();
    let certified = certify(set, &clusters, &placements, terms.granted);
    *given_up |= certified.given_up;
    if !certified.failing.is_empty() {
        return None;
    }
    let allocation = Allocation::new(set.device().chips(), set.tasks().len(), &clusters).ok()?;
    Some(allocation.with_certificates(certified.certificates))
}

/// The first task for which there are not enough chips, and the cluster that it comes nearest to fit in.
fn unplaced(set: &TaskSet, placements: &[Placement], shapes: &Shapes<'_>) -> Unplaced {
    let mut groups = match Groups::new(shapes) {
        Ok(groups) => groups,
        Err(Homeless(task)) => return nearest(set, placements, shapes, task, &[]),
    };
    let order = groups.order();
    for task in order {
        let before = groups.groups().to_vec();
        groups.insert(task);
        if groups.needed() > u64::from(set.device().chips()) {
            return nearest(set, placements, shapes, task, &before);
        }
    }
    // The groups fit, but not where their chips are: the last task is as good as any.
    let last = groups.groups().iter().flat_map(|group| group.tasks.iter().copied()).max().unwrap_or(0);
    let others: Vec<Group> = groups.groups().iter().filter(|group| !group.tasks.contains(&last)).cloned().collect();
    nearest(set, placements, shapes, last, &others)
}

/// The cluster that a task comes nearest to fit in: one of these groups, or a cluster of its own on the chips that they leave.
fn nearest(set: &TaskSet, placements: &[Placement], shapes: &Shapes<'_>, task: usize, groups: &[Group]) -> Unplaced {
    let used: u64 = groups.iter().map(|group| u64::from(group.shape.chips)).sum();
    let left = u32::try_from(u64::from(set.device().chips()).saturating_sub(used)).unwrap_or(0);
    let own = shapes.forms().iter().filter_map(|&form| shapes.on_chips(form, left));
    let own = own.map(|shape| (groups.len(), &[][..], shape));
    let others = groups.iter().enumerate().map(|(position, group)| (position, group.tasks.as_slice(), group.shape));
    let mut tried: Vec<(usize, Vec<usize>, Shape, Shortfall)> = own
        .chain(others)
        .map(|(position, others, shape)| {
            let mut others = others.to_vec();
            others.sort_unstable();
            let shortfall = shortfall(set, &[others.as_slice(), &[task]].concat(), shape);
            (position, others, shape, shortfall)
        })
        .collect();
    tried.sort_by(|a, b| a.3.order.total_cmp(&b.3.order));
    // Only a few tasks are tried in each group, and one of the other groups may hold it after all.
    let failing = tried.iter().find_map(|tried| Some((tried, tried.3.reason()?)));
    let failing = failing.or_else(|| tried.first().map(|tried| (tried, tried.3.nearest_reason())));
    match failing {
        Some(((position, others, shape, _), reason)) => Unplaced {
            task,
            reason: or_too_long(set, placements, task, reason),
            cluster: *position,
            chips: shape.chips,
            others: others.clone(),
        },
        None => Unplaced {
            task,
            reason: or_too_long(set, placements, task, Reason::Load { utilization: f64::MAX }),
            cluster: 0,
            chips: set.device().chips(),
            others: Vec::new(),
        },
    }
}

/// The reason, or where it is one of time, a request of the task that no cluster can serve in time.
fn or_too_long(set: &TaskSet, placements: &[Placement], task: usize, reason: Reason) -> Reason {
    if !matches!(reason, Reason::Load { .. } | Reason::Demand(_)) {
        return reason;
    }
    let too_long = set.tasks().get(task).and_then(|task| never_served(set.device(), placements, task));
    too_long.map_or(reason, Reason::Request)
}

fn shortfall(set: &TaskSet, tasks: &[usize], shape: Shape) -> Shortfall {
    let device = set.device();
    let bus = match shape.form {
        Form::Compact => Bus::compact(device, shape.chips),
        _ => Bus::anywhere(device),
    };
    let tasks = || tasks.iter().filter_map(|&task| set.tasks().get(task));
    let placement = shape.form.placement();
    let unit = Unit::new(device, tasks(), shape.chips, placement, bus);
    let placed = unit.map(|unit| Placed { unit, contentions: vec![Contention::none()] });
    Shortfall::new(device, tasks(), shape.chips, placement, placed)
}

/// Clusters that do not depend on the test.
fn fixed(set: &TaskSet, terms: Terms<'_>, global: bool) -> Outcome {
    let (chips, count) = (set.device().chips(), set.tasks().len());
    let clusters = match u32::try_from(count) {
        _ if global => 1,
        Ok(0) | Err(_) => chips,
        Ok(tasks) => tasks.min(chips),
    };
    let (each, more) = (chips / clusters, chips % clusters);
    let mut next = 0;
    let mut made: Vec<Cluster> = Vec::with_capacity(clusters as usize);
    for cluster in 0..clusters {
        let size = each + u32::from(cluster < more);
        let tasks = (cluster as usize..count).step_by(clusters as usize).collect();
        made.push(Cluster { chips: (next..next + size).collect(), tasks });
        next += size;
    }
    let Ok(allocation) = Allocation::new(chips, count, &made) else {
        return Outcome::CannotTell(Limit::TooMuchWork { limit: 0 });
    };
    let (allocation, certified) = certified(set, &allocation, terms.placements, terms.granted);
    let chosen: Vec<Placement> = (0..made.len())
        .map(|position| allocation.certificate(position).map_or(terms.free(), |certificate| certificate.placement))
        .collect();
    let Some(&position) = certified.failing.first() else { return Outcome::Schedulable(allocation) };
    if certified.given_up {
        return Outcome::CannotTell(Limit::TestGivenUp);
    }
    let cluster = &made[position];
    let shapes = Shapes::new(set, terms.placements, Waiting::Full);
    let form = if chosen[position] == Placement::Stripe { Form::Stripe } else { Form::Superblock };
    let shape = Shape { chips: cluster.size(), form };
    let site = Site::new(set, &made, chosen, vec![0; made.len()], terms.granted);
    let reason = site.shortfall(position).nearest_reason();
    let holds = |tasks: &[usize]| match reason {
        Reason::Data(_) => set.space(tasks, shape.chips, Some(form.placement())).fits(),
        _ => shapes.load(tasks, shape).is_some(),
    };
    // A cluster that fails has tasks.
    let task = first_too_many(&cluster.tasks, holds).unwrap_or(0);
    let unplaced = Unplaced {
        task,
        reason: or_too_long(set, terms.placements, task, reason),
        cluster: position,
        chips: cluster.size(),
        others: cluster.tasks.iter().copied().filter(|&other| other != task).collect(),
    };
    Outcome::NotSchedulable(Failure { unplaced, overloaded: Some(allocation), by_merge: false })
}
