//! Clusters on their chips, tried: what every search over partitions asks.

use rtflash_analysis::certified::{TrialAnswers, tried};
use rtflash_model::{Allocation, Cluster, Placement};

use super::organisations::{Organisation, Organisations};
use super::plans::TaskBlock;
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
    pub(super) left: u64,
    trials: TrialAnswers,
}

impl<'s> PartitionTrials<'s> {
    /// Nothing tried yet, and so much work left. `organisations` are as if no page ever waited for
    /// the bus.
    pub(super) fn new(
        search: &'s BoundedSearch<'s>,
        organisations: &'s Organisations<'s>,
        left: u64,
    ) -> PartitionTrials<'s> {
        PartitionTrials { problem: search.problem, organisations, search, left, trials: TrialAnswers::default() }
    }

    /// The placements that a part of this size may have, of stripes with one register and two the
    /// one that has less to do where its channels are busy, and of superblocks.
    pub(super) fn fitting(&self, part: &TaskBlock, chips: u32) -> Vec<Placement> {
        let (organisations, placements) = (self.organisations, self.problem.test.placements);
        let holds = |placement: &Placement| {
            let organisation = Organisation::on_any_chips(*placement);
            organisations.may_be(organisation, chips) && organisations.load(&part.tasks, organisation, chips).is_some()
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
        fitting
    }

    /// The allocation of these clusters where each of them holds; otherwise one that does not.
    pub(super) fn tried(&self, clusters: &[Cluster], placements: &[Placement]) -> Result<Option<Allocation>, usize> {
        let Problem { set, test, work, .. } = self.problem;
        let trial = tried(set, clusters, placements, test.rely_on, work, &self.trials);
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
