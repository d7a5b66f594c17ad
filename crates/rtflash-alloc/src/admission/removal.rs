//! When a task that runs may be left out.

use std::cell::OnceCell;

use rtflash_analysis::Work;
use rtflash_analysis::certified::ChannelContention;
use rtflash_model::{Placement, Reliance, Span, TaskId, TaskSet};

use super::idle::longest;
use super::{RunningDevice, longest_idle};

/// A running device, asked how soon after its last request each task can be left out.
#[derive(Debug)]
pub struct Removals<'a> {
    set: &'a TaskSet,
    running: &'a RunningDevice,
    granted: Reliance,
    work: &'a Work,
    contention: ChannelContention<'a>,
    clusters: Vec<Option<usize>>,
    idle: Vec<OnceCell<Option<Span>>>,
}

impl<'a> Removals<'a> {
    /// From a device whose clusters are in time, relying on so much.
    pub fn new(set: &'a TaskSet, running: &'a RunningDevice, granted: Reliance, work: &'a Work) -> Removals<'a> {
        let contention =
            ChannelContention::of_certificates(set, &running.clusters, &running.certificates, granted, work);
        let mut clusters = vec![None; set.tasks().len()];
        for (at, cluster) in running.clusters.iter().enumerate() {
            for task in &cluster.tasks {
                clusters[task.index()] = Some(at);
            }
        }
        let idle = vec![OnceCell::new(); running.clusters.len()];
        Removals { set, running, granted, work, contention, clusters, idle }
    }

    /// Whether a task runs.
    pub fn runs(&self, task: TaskId) -> bool {
        self.clusters.get(task.index()).is_some_and(Option::is_some)
    }

    /// The time from a task's last request after which nothing of it is left that a test counts:
    /// its cluster, and those on its channels, have been idle since. `None` because of a server, or
    /// where a cluster is not sure to be in time without it.
    pub fn within(&self, task: TaskId) -> Option<Span> {
        let position = (*self.clusters.get(task.index())?)?;
        let of = self.set.tasks().get(task)?;
        let due = [of.read, of.write].into_iter().flatten().map(|request| request.deadline()).max()?;
        // To (T) it is the same what others have asked for.
        let alone = self.granted == Reliance::Nothing;
        let near = if alone { vec![position] } else { self.contention.beside_on_channels(position) };
        let own = self.idle(position)?;
        // Passes of its pages are over when its cluster has been idle; then all are idle once more.
        let settled = own.checked_add(longest(near.iter().map(|&at| self.idle(at)))?)?;
        // A cluster that serves only jobs can get tasks, and the analysis never knows it idle.
        if !alone && !self.contention.serving_on_channels(position).is_empty() {
            return None;
        }
        let stripe = |at: &usize| self.running.certificates[*at].placement == Placement::Stripe;
        let simple = self.granted != Reliance::Queue && near.iter().all(stripe);
        (simple || self.hold_without(task, position, &near)).then_some(due.checked_add(settled)?)
    }

    fn idle(&self, at: usize) -> Option<Span> {
        let found = || longest_idle(&self.contention, at, &self.running.certificates[at], self.work);
        *self.idle[at].get_or_init(found)
    }

    /// On stripes by (T) and (T'): no term of a test grows when a request goes.
    fn hold_without(&self, task: TaskId, position: usize, near: &[usize]) -> bool {
        let (mut clusters, certificates) = (self.running.clusters.clone(), &self.running.certificates);
        clusters[position].tasks.retain(|&other| other != task);
        let without = ChannelContention::of_certificates(self.set, &clusters, certificates, self.granted, self.work);
        let mut still = near.iter().filter(|&&at| !clusters[at].tasks.is_empty());
        still.all(|&at| without.holds_as_stated(at, &certificates[at]))
    }
}
