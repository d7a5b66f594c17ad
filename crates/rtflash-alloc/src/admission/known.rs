//! The running clusters, and those of them that are in time whatever their neighbours do.

use std::cell::OnceCell;

use rtflash_analysis::Work;
use rtflash_analysis::certified::ChannelContention;
use rtflash_model::{Reliance, TaskSet};

use super::RunningDevice;

/// Clusters that run, which are in time, beside which something changes.
pub(super) struct KnownNeighbours<'a> {
    pub(super) running: &'a RunningDevice,
    pub(super) begun: ChannelContention<'a>,
    granted: Reliance,
    steady: Vec<OnceCell<bool>>,
}

impl<'a> KnownNeighbours<'a> {
    pub(super) fn new(set: &'a TaskSet, running: &'a RunningDevice, granted: Reliance, work: &'a Work) -> Self {
        let begun = ChannelContention::of_certificates(set, &running.clusters, &running.certificates, granted, work);
        KnownNeighbours { running, begun, granted, steady: vec![OnceCell::new(); running.clusters.len()] }
    }

    /// Whether a cluster is in time by (T), to which it is the same what is beside it.
    fn is_steady(&self, at: usize) -> bool {
        let holds = || self.begun.holds_beside_anyone(at, &self.running.certificates[at]);
        *self.steady[at].get_or_init(holds)
    }

    fn beside(contention: &ChannelContention<'_>, position: usize) -> impl Iterator<Item = usize> {
        contention.beside_on_channels(position).into_iter().filter(move |&at| at != position)
    }

    /// The first on the channels of a cluster of `contention` that is not in time there.
    pub(super) fn late_beside(&self, contention: &ChannelContention<'_>, position: usize) -> Option<usize> {
        // (T) supposes nothing about neighbours, so none is late by a change.
        if self.granted == Reliance::Nothing {
            return None;
        }
        let holds = |at: usize| self.is_steady(at) || contention.holds_as_stated(at, &self.running.certificates[at]);
        Self::beside(contention, position).find(|&at| !holds(at))
    }

    pub(super) fn all_are_steady_beside(&self, contention: &ChannelContention<'_>, position: usize) -> bool {
        self.granted == Reliance::Nothing || Self::beside(contention, position).all(|at| self.is_steady(at))
    }
}
