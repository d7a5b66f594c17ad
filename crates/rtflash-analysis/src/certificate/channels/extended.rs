//! Clusters that run, one of which gets a task more, or with a cluster more beside them: what
//! the admission of rtflash-alloc asks about.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::rc::Rc;

use rtflash_model::{Certificate, Cluster, Placement, Reliance, TaskId};

use super::{ChannelContention, add_chips};
use crate::certificate::choice::{Choice, largest_server};
use crate::certificate::placed::PlacedProcessor;
use crate::gc::ChosenGc;

impl<'a> ChannelContention<'a> {
    /// With a task more in a cluster, which collects as its certificate states, if it may.
    pub fn with_task(&self, position: usize, task: TaskId, certificate: &Certificate) -> ChannelContention<'a> {
        let mut with = self.clone();
        let tasks = &mut with.clusters[position].to_mut().tasks;
        tasks.insert(tasks.partition_point(|&other| other < task), task);
        with.alone[position] = OnceCell::new();
        with.states(position, certificate);
        with
    }

    /// With a cluster more on chips that no other has.
    pub fn with_cluster(&self, cluster: Cluster, placement: Placement) -> ChannelContention<'a> {
        let mut with = self.clone();
        let ways = self.set.device().chips_per_channel();
        add_chips(Rc::make_mut(&mut with.channels), ways, with.clusters.len(), &cluster);
        with.clusters.push(Cow::Owned(cluster));
        with.placements.push(placement);
        with.servers.push(0);
        with.backfill.push(true);
        with.gcs.push(None);
        with.alone.push(OnceCell::new());
        with
    }

    /// Whether a cluster without certificate relies on others; `None` where it does not hold.
    pub fn settle_alone(&mut self, position: usize) -> Option<bool> {
        if !self.holds_data(position) {
            return None;
        }
        let (gc, fragile) = self.first_gc(position);
        self.gcs[position] = gc;
        if fragile && (self.granted == Reliance::Nothing || !self.holds_now(position)) {
            // By (T) it fails whatever they do.
            let chosen = if self.granted == Reliance::Nothing { None } else { self.chosen_now(position) };
            let Some(Choice::Holds(gc)) = chosen else { return None };
            self.gcs[position] = Some(gc);
        }
        Some(fragile)
    }

    /// `None` where the decision was used up before the tightest interval was found.
    pub fn settled_certificate(&self, position: usize) -> Option<Certificate> {
        let certificate = self.certificate(position, self.gcs[position]?);
        certificate.filter(|_| !self.work.is_used_up())
    }

    /// Gives a cluster the largest server that there is room for beside the busiest neighbours.
    pub fn serves_all_it_can(&mut self, position: usize) {
        let Some(placed) = self.in_the_worst_case(position) else { return };
        if let Some((thousandths, gc)) = largest_server(&placed.processor, &placed.contentions, self.work) {
            self.servers[position] = thousandths;
            self.gcs[position] = Some(Some(gc));
        }
    }

    /// Whether a cluster is in time by its certificate whatever those beside it do: by (T).
    pub fn holds_beside_anyone(&self, position: usize, certificate: &Certificate) -> bool {
        self.holds_by(position, certificate, Reliance::Nothing)
    }

    /// The clusters.
    pub fn into_clusters(self) -> Vec<Cluster> {
        self.clusters.into_iter().map(Cow::into_owned).collect()
    }

    /// Whether a certificate states what a cluster's load needs of collection, wherever it is.
    pub fn is_stated(&self, position: usize) -> bool {
        self.gcs[position].is_some()
    }

    /// The cluster and those with tasks that share a channel with it, ascending.
    pub fn beside_on_channels(&self, position: usize) -> Vec<usize> {
        let members = self.channels_of(position).flat_map(|(_, members)| members).map(|&(cluster, _)| cluster);
        let mut near: Vec<usize> = members.filter(|&cluster| !self.clusters[cluster].tasks.is_empty()).collect();
        near.push(position);
        near.sort_unstable();
        near.dedup();
        near
    }

    /// The clusters with a server that share a channel with one.
    pub fn serving_on_channels(&self, position: usize) -> Vec<usize> {
        let members = self.channels_of(position).flat_map(|(_, members)| members).map(|&(cluster, _)| cluster);
        members.filter(|&cluster| self.servers[cluster] > 0).collect()
    }

    /// Whether what others rely on counts how often a cluster collects: P_j.
    pub fn counts_collection_of(&self, position: usize) -> bool {
        let relied = self.granted != Reliance::Nothing;
        let queued = self.granted == Reliance::Queue;
        relied && (queued || !self.is_on_one_channel(position) || self.set.device().has_commands())
    }

    /// A cluster's processor as far as it may rely on others, but for (T'').
    pub fn beside_others(&self, position: usize) -> Option<PlacedProcessor> {
        match self.granted {
            Reliance::Nothing => self.in_the_worst_case(position),
            Reliance::Neighbours | Reliance::Queue => self.relying_on(position, Reliance::Neighbours),
        }
    }

    /// Whether commands use the bus.
    pub fn has_commands(&self) -> bool {
        self.set.device().has_commands()
    }

    /// If it has a server, the cluster moves an unknown amount.
    pub fn charge_by(&mut self, position: usize, thousandths: u32) {
        self.servers[position] = thousandths;
    }

    /// A cluster collects by these terms.
    pub fn collects(&mut self, position: usize, gc: ChosenGc) {
        self.gcs[position] = Some(Some(gc));
    }
}
