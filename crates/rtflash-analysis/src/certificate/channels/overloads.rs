//! Channels on which a cluster has too much to do whatever it and its neighbours are run with:
//! trials end there.

use rtflash_model::{Placement, Reliance, TaskId, TaskSet};
use std::cell::OnceCell;

use crate::demand::least_load::{LeastLoad, SURELY_ABOVE_ONE};
use crate::organisation::{is_on_one_channel, waits_for_each};
use crate::work::Work;

/// A cluster on a channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct NumberedMember {
    /// [`TrialAnswers::number`](super::TrialAnswers::number) of the cluster.
    pub number: u32,
    /// Its chips on the channel.
    pub chips: u32,
}

/// A cluster wherever it is.
#[derive(Debug)]
pub(crate) struct KnownCluster {
    pub(crate) tasks: Vec<TaskId>,
    pub(crate) size: u32,
    pub(crate) placement: Placement,
    /// Whether its data fit.
    pub(crate) fits: bool,
    pub(crate) least: OnceCell<LeastLoad>,
}

/// A test of whole channels.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ChannelTest<'a> {
    pub(crate) set: &'a TaskSet,
    /// What a cluster may rely on.
    pub(crate) granted: Reliance,
    pub(crate) work: &'a Work,
}

impl ChannelTest<'_> {
    /// Whether one of the clusters with tasks on a channel of `chips` chips, by their numbers among
    /// those that are known, has too much to do there: no deadline of garbage collection makes it
    /// hold then, nor any of the others'.
    pub(crate) fn is_too_much(
        &self,
        position: usize,
        members: &[NumberedMember],
        known: &[KnownCluster],
        chips: u32,
    ) -> bool {
        let cluster = |member: &NumberedMember| (&known[member.number as usize], member.chips);
        let (device, (one, own)) = (self.set.device(), cluster(&members[position]));
        let least = self.least(one);
        let load = if !waits_for_each(one.placement) {
            least.alone()
        } else if self.granted == Reliance::Nothing {
            least.waiting_for(device, chips - 1)
        } else {
            let others = members.iter().enumerate().filter(|&(at, _)| at != position);
            let others = others.map(|(_, other)| cluster(other));
            let stripes = others.filter(|(other, _)| is_on_one_channel(other.placement));
            least.beside(device, self.granted, own, stripes.map(|(other, chips)| (chips, self.least(other))))
        };
        load > SURELY_ABOVE_ONE
    }

    fn least(&self, of: &KnownCluster) -> LeastLoad {
        *of.least.get_or_init(|| {
            let tasks = of.tasks.iter().filter_map(|&task| self.set.tasks().get(task));
            LeastLoad::new(self.set.device(), tasks, of.size, of.placement, self.work)
        })
    }
}
