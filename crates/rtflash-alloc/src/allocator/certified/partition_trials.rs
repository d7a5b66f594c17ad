//! Clusters on their chips, tried: what every search over partitions asks.

use std::rc::Rc;

use rtflash_analysis::certified::{NumberedMember, TrialAnswers};
use rtflash_model::{Allocation, Cluster, Placement};
use rustc_hash::FxHashMap;

use super::organisations::{Organisation, Organisations};
use super::plans::{Plans, TaskBlock};
use super::{BoundedSearch, Problem};

/// What a trial counts for, where a step towards one counts for one.
pub(super) const TRIAL: u64 = 64;
/// Channels beyond which clusters are only tried one behind the other.
pub(super) const MOST_CHANNELS: usize = 64;

/// What searches over the partitions of a set share.
pub(super) struct PartitionTrials<'s> {
    pub(super) problem: Problem<'s>,
    pub(super) organisations: &'s Organisations<'s>,
    search: &'s BoundedSearch<'s>,
    /// Work that is left.
    pub(super) left: u64,
    trials: TrialAnswers,
    /// The placements with which a subset of the tasks holds in a cluster of some size, without any
    /// waiting.
    fitting: FxHashMap<(usize, u32), Rc<[Placement]>>,
    /// The numbers that trials have for clusters.
    numbers: FxHashMap<(usize, u32, Placement), u32>,
}

impl<'s> PartitionTrials<'s> {
    /// Nothing tried yet, and so much work left. `organisations` are as if no page ever waited for
    /// the bus.
    pub(super) fn new(
        search: &'s BoundedSearch<'s>,
        organisations: &'s Organisations<'s>,
        left: u64,
    ) -> PartitionTrials<'s> {
        let (trials, fitting, numbers) = (TrialAnswers::default(), FxHashMap::default(), FxHashMap::default());
        PartitionTrials { problem: search.problem, organisations, search, left, trials, fitting, numbers }
    }

    /// The placements that a part of this size may have, of stripes with one register and two the
    /// one that has less to do where its channels are busy, and of superblocks.
    pub(super) fn fitting(&mut self, part: &TaskBlock, chips: u32) -> Rc<[Placement]> {
        let (organisations, placements) = (self.organisations, self.problem.test.placements);
        let found = || {
            let holds = |placement: &Placement| {
                let organisation = Organisation::on_any_chips(*placement);
                organisations.may_be(organisation, chips)
                    && organisations.load(&part.tasks, organisation, chips).is_some()
            };
            let mut fitting: Vec<Placement> = placements.iter().copied().filter(holds).collect();
            // One register or two: of many clusters not every choice can be tried.
            let busy = |placement: Placement| {
                let organisation = Organisation::on_any_chips(placement);
                organisations.load_in_the_worst_case(&part.tasks, organisation, chips)
            };
            for either in
                [[Placement::Stripe, Placement::CachedStripe], [Placement::Superblock, Placement::CachedSuperblock]]
            {
                if either.iter().all(|each| fitting.contains(each)) {
                    let [one, two] = either.map(busy);
                    fitting.retain(|&placement| placement != either[usize::from(one <= two)]);
                }
            }
            fitting.into()
        };
        Rc::clone(self.fitting.entry((part.block, chips)).or_insert_with(found))
    }

    /// Whether a cluster of a plan has too much to do on one of its channels, so that a trial of it
    /// is sure to fail.
    pub(super) fn overloads(&mut self, parts: &[TaskBlock], plans: &Plans, placements: &[Placement]) -> bool {
        let numbers = self.numbers(parts, plans, placements);
        self.has_too_much(&numbers, plans, None)
    }

    /// The first cluster of a plan that has too much to do on one of its channels: a trial is sure
    /// to fail with it.
    pub(super) fn first_overloads(
        &mut self,
        parts: &[TaskBlock],
        plans: &Plans,
        placements: &[Placement],
    ) -> Option<usize> {
        let numbers = self.numbers(parts, plans, placements);
        plans.order().find(|&first| self.has_too_much(&numbers, plans, Some(first)))
    }

    /// The numbers that trials have for the clusters of a plan.
    fn numbers(&mut self, parts: &[TaskBlock], plans: &Plans, placements: &[Placement]) -> Vec<u32> {
        let (set, trials, numbers) = (self.problem.set, &self.trials, &mut self.numbers);
        let mut number = |(part, (&size, &placement)): (&TaskBlock, (&u32, &Placement))| {
            let made = || trials.number(set, &part.tasks, size, placement);
            *numbers.entry((part.block, size, placement)).or_insert_with(made)
        };
        parts.iter().zip(plans.sizes.iter().zip(placements)).map(&mut number).collect()
    }

    /// Whether a cluster of a plan, or any of them, has too much to do on one of its channels.
    fn has_too_much(&self, numbers: &[u32], plans: &Plans, part: Option<usize>) -> bool {
        let Problem { set, test, work, .. } = self.problem;
        let mut members: Vec<NumberedMember> = Vec::with_capacity(numbers.len());
        let on_one = |channel: usize| {
            members.clear();
            let all = numbers.iter().zip(plans.on(channel)).map(|(&number, &chips)| NumberedMember { number, chips });
            members.extend(all.filter(|member| member.chips > 0));
            let chips = set.device().chips_on(u32::try_from(channel).expect("channels are counted so"));
            let number = part.map(|part| numbers[part]);
            test.has_too_much(set, number, &mut members, chips, work, &self.trials)
        };
        (0..plans.room.len()).filter(|&channel| part.is_none_or(|part| plans.on(channel)[part] > 0)).any(on_one)
    }

    /// The allocation of these clusters where each of them holds; otherwise one that does not.
    pub(super) fn tried(
        &mut self,
        clusters: &[Cluster],
        placements: &[Placement],
    ) -> Result<Option<Allocation>, usize> {
        let Problem { set, test, work, .. } = self.problem;
        let trial = test.tried(set, clusters, placements, work, &self.trials);
        self.search.gives_up(trial.given_up);
        if let Some(failing) = trial.failing {
            return Err(failing);
        }
        let certified = test.certify(set, clusters, placements, work);
        if let Some(&failing) = certified.failing.first() {
            return Err(failing);
        }
        let allocation = Allocation::new(set.device().chips(), set.tasks().count() as usize, clusters).ok();
        Ok(allocation.map(|allocation| allocation.with_certificates(certified.certificates)))
    }
}
