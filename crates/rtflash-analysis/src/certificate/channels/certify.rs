//! Certificates for clusters on their chips.

use rtflash_model::{Certificate, Cluster, Placement, Reliance, TaskSet};

use super::{ChannelContention, PlacedProcessor, nearest_terms};
use crate::certificate::choice::{Choice, choose};
use crate::demand::bus::Contention;
use crate::gc::ChosenGc;
use crate::work::Work;

/// The outcome of certifying.
#[derive(Debug)]
pub struct Certification {
    /// `None` where no garbage collection keeps up. Empty if [`certify_whole`] finds one that
    /// fails.
    pub certificates: Vec<Option<Certificate>>,
    /// The clusters that fail.
    pub failing: Vec<usize>,
    /// Whether a test was given up.
    pub given_up: bool,
}

/// Certifies clusters: the tests, next to the neighbours where that is needed and granted, then
/// servers for what is left. A cluster that relies on its neighbours gets no server, nor do they.
pub fn certify(
    set: &TaskSet,
    clusters: &[Cluster],
    placements: &[Placement],
    granted: Reliance,
    work: &Work,
) -> Certification {
    certify_beside(set, clusters, placements, &vec![None; clusters.len()], granted, work)
}

/// As [`certify`], next to clusters whose certificates stay as they are.
pub fn certify_beside(
    set: &TaskSet,
    clusters: &[Cluster],
    placements: &[Placement],
    given: &[Option<Certificate>],
    granted: Reliance,
    work: &Work,
) -> Certification {
    certified(contention(set, clusters, placements, given, granted, work), given)
}

/// As [`certify`], of all clusters or of none: the first one that fails is the only one named.
pub fn certify_whole(
    set: &TaskSet,
    clusters: &[Cluster],
    placements: &[Placement],
    granted: Reliance,
    work: &Work,
) -> Certification {
    let given = vec![None; clusters.len()];
    let contention = contention(set, clusters, placements, &given, granted, work);
    certified(ChannelContention { whole: true, ..contention }, &given)
}

/// As [`certify`], without servers; erases are suspended where the device can.
pub fn certify_without_servers(
    set: &TaskSet,
    clusters: &[Cluster],
    placements: &[Placement],
    granted: Reliance,
    work: &Work,
) -> Certification {
    let given = vec![None; clusters.len()];
    let contention = contention(set, clusters, placements, &given, granted, work);
    certified(ChannelContention { reserves: false, ..contention }, &given)
}

fn contention<'a>(
    set: &'a TaskSet,
    clusters: &'a [Cluster],
    placements: &[Placement],
    given: &[Option<Certificate>],
    granted: Reliance,
    work: &'a Work,
) -> ChannelContention<'a> {
    let servers = given.iter().map(|given| given.map_or(0, |certificate| certificate.server_thousandths)).collect();
    ChannelContention::new(set, clusters, placements.to_vec(), servers, granted, work)
}

struct TestedClusters {
    /// Those that need others, or fail.
    fragile: Vec<bool>,
    failing: Vec<usize>,
    given_up: bool,
}

fn certified(mut contention: ChannelContention<'_>, given: &[Option<Certificate>]) -> Certification {
    let (count, busy) = (contention.clusters.len(), contention.busy());
    let TestedClusters { fragile, mut failing, given_up } = contention.tested(&busy, given);
    if contention.whole && !failing.is_empty() {
        return Certification { certificates: Vec::new(), failing, given_up };
    }
    contention.settle_beside_failing(&busy, &fragile, given, &mut failing);
    if failing.is_empty() && contention.reserves {
        // Beside a server a chip counts on less.
        let quiet = contention.near(&fragile);
        for position in (0..count).filter(|&position| !quiet[position] && given[position].is_none()) {
            contention.serves_all_it_can(position);
        }
    }
    let certificate = |position: usize| {
        if given[position].is_some() {
            given[position]
        // If only the data do not fit, it is as for a cluster that holds.
        } else if failing.contains(&position) && !contention.holds_now(position) {
            contention.failing_certificate(position)
        } else {
            contention.certificate(position, contention.gcs[position].flatten())
        }
    };
    Certification { certificates: (0..count).map(certificate).collect(), failing, given_up }
}

impl ChannelContention<'_> {
    fn busy(&self) -> Vec<usize> {
        (0..self.clusters.len()).filter(|&position| !self.clusters[position].tasks.is_empty()).collect()
    }

    fn tested(&mut self, busy: &[usize], given: &[Option<Certificate>]) -> TestedClusters {
        let mut fragile = vec![false; self.clusters.len()];
        for &position in busy {
            if let Some(certificate) = &given[position] {
                self.backfill[position] = certificate.backfill;
                self.states(position, certificate);
                fragile[position] = !self.holds_beside_anyone(position, certificate);
            } else {
                (self.gcs[position], fragile[position]) = self.first_gc(position);
            }
        }
        let (failing, given_up) = self.settle(busy, &fragile, given);
        TestedClusters { fragile, failing, given_up }
    }

    /// As far as it is known with the busiest neighbours, and whether the cluster needs others.
    pub(super) fn first_gc(&self, position: usize) -> (Option<Option<ChosenGc>>, bool) {
        let Some(placed) = self.in_the_worst_case(position) else { return (None, true) };
        match self.choose(&placed) {
            Choice::Holds(gc) => (Some(gc), false),
            Choice::Fails | Choice::TooLong => (self.likely_gc(position, &placed), true),
        }
    }

    pub(super) fn holds_now(&self, position: usize) -> bool {
        let (Some(placed), Some(gc)) = (self.as_granted(position), self.gcs[position]) else { return false };
        // A pass that copies over the bus costs more here than by itself.
        let here = gc.map_or(Some(None), |gc| placed.processor.costing(gc).map(Some));
        here.is_some_and(|gc| self.holds_at(position, &placed, gc))
    }

    /// Without backfill if need be.
    pub(super) fn chosen_now(&mut self, position: usize) -> Option<Choice> {
        let mut best = None;
        for backfill in [true, false] {
            let before = (!backfill).then(|| self.granted_neighbourhoods(position));
            self.backfill[position] = backfill;
            if before.is_some_and(|before| before == self.granted_neighbourhoods(position)) {
                break;
            }
            let choice = self.as_granted(position).map(|placed| self.choose(&placed));
            if choice.is_some_and(Choice::holds) {
                return choice;
            }
            best = if best == Some(Choice::TooLong) { best } else { choice };
        }
        self.backfill[position] = true;
        best
    }

    /// Next to neighbours that are less loaded than they can be.
    fn likely_gc(&self, position: usize, worst: &PlacedProcessor) -> Option<Option<ChosenGc>> {
        if worst.processor.write_streams.is_empty() {
            return Some(None);
        }
        if self.is_on_one_channel(position)
            && let Choice::Holds(gc) = choose(self.alone(position)?, &[Contention::none()], 0, self.work)
        {
            return Some(gc);
        }
        nearest_terms(&worst.processor, self.work).map(Some)
    }

    /// Tests fragile clusters, with other deadlines of garbage collection where these are not
    /// given: those that fail, and whether a test was given up.
    fn settle(&mut self, busy: &[usize], fragile: &[bool], given: &[Option<Certificate>]) -> (Vec<usize>, bool) {
        // The neighbours of a changed cluster were tested without the change: as long as there are
        // changes, all are tested again.
        const ROUNDS: usize = 4;
        for _ in 0..ROUNDS {
            let (mut failing, mut changed, mut given_up) = (Vec::new(), false, false);
            for &position in busy {
                if self.whole && !failing.is_empty() {
                    break;
                }
                if !self.holds_data(position) {
                    failing.push(position);
                } else if fragile[position] && !self.holds_now(position) {
                    if given[position].is_some() {
                        failing.push(position);
                        continue;
                    }
                    match self.chosen_now(position) {
                        Some(Choice::Holds(gc)) => {
                            changed |= self.gcs[position] != Some(gc);
                            self.gcs[position] = Some(gc);
                        }
                        other => {
                            given_up |= other == Some(Choice::TooLong);
                            failing.push(position);
                        }
                    }
                }
            }
            if !changed || !failing.is_empty() {
                return (failing, given_up);
            }
        }
        (busy.iter().copied().filter(|&position| fragile[position] && !self.holds_now(position)).collect(), false)
    }

    /// Runs what fails with the nearest garbage collection, and tests its neighbours again.
    fn settle_beside_failing(
        &mut self,
        busy: &[usize],
        fragile: &[bool],
        given: &[Option<Certificate>],
        failing: &mut Vec<usize>,
    ) {
        if failing.is_empty() {
            return;
        }
        // In these rounds others are given other deadlines; after them each adds one that fails.
        const ROUNDS: usize = 4;
        for round in 0..ROUNDS + busy.len() {
            let mut changed = false;
            for &position in failing.iter().filter(|&&position| given[position].is_none()) {
                if !self.holds_now(position) {
                    let nearest = self.nearest_gc(position);
                    changed |= self.gcs[position] != nearest;
                    self.gcs[position] = nearest;
                }
            }
            for &position in busy {
                if !fragile[position] || failing.contains(&position) || self.holds_now(position) {
                    continue;
                }
                changed = true;
                let chosen = if round < ROUNDS && given[position].is_none() { self.chosen_now(position) } else { None };
                match chosen {
                    Some(Choice::Holds(gc)) => self.gcs[position] = Some(gc),
                    _ => failing.push(position),
                }
            }
            if !changed {
                break;
            }
        }
        failing.retain(|&position| !self.holds_data(position) || !self.holds_now(position));
        failing.sort_unstable();
    }

    pub(crate) fn holds_at(&self, position: usize, placed: &PlacedProcessor, gc: Option<ChosenGc>) -> bool {
        placed.holds(gc, self.servers[position], self.work)
    }

    fn near(&self, marked: &[bool]) -> Vec<bool> {
        let mut near = marked.to_vec();
        for members in self.channels.values() {
            if members.iter().any(|&(cluster, _)| marked[cluster]) {
                members.iter().for_each(|&(cluster, _)| near[cluster] = true);
            }
        }
        near
    }
}
