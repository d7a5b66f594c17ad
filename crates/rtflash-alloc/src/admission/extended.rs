//! A cluster that runs, with a task more in it.

use rtflash_analysis::Work;
use rtflash_analysis::certified::{ChannelContention, collects};
use rtflash_model::{Certificate, ClusterId, Id, Span, TaskId, TaskSet};

use super::idle::longest;
use super::known::KnownNeighbours;
use super::path::{TermsPath, TermsSearch};
use super::{AddedHow, AdmissionRefusal, Admitted, Decision, RunningDevice, longest_idle};

pub(super) struct ExtendedCluster<'a> {
    set: &'a TaskSet,
    known: &'a KnownNeighbours<'a>,
    position: usize,
    new: TaskId,
    work: &'a Work,
    contention: ChannelContention<'a>,
}

impl<'a> ExtendedCluster<'a> {
    pub(super) fn new(
        set: &'a TaskSet,
        known: &'a KnownNeighbours<'a>,
        new: TaskId,
        position: usize,
        work: &'a Work,
    ) -> ExtendedCluster<'a> {
        let contention = known.begun.with_task(position, new, &known.running.certificates[position]);
        ExtendedCluster { set, known, position, new, work, contention }
    }

    pub(super) fn id(&self) -> ClusterId {
        ClusterId::from_index(self.position)
    }

    fn certificate(&self) -> &'a Certificate {
        &self.known.running.certificates[self.position]
    }

    fn has_server(&self) -> bool {
        self.certificate().server_thousandths > 0
    }

    fn has_collection(&self) -> bool {
        self.certificate().collection.is_some()
    }

    fn writes(&self) -> bool {
        self.set.tasks().get(self.new).is_some_and(|task| task.write.is_some())
    }

    fn admitted(self, change: AddedHow, ready_within: Span, certificates: Vec<Certificate>) -> Decision {
        let cluster = self.id();
        let running = RunningDevice { clusters: self.contention.into_clusters(), certificates };
        Decision::Admitted(Box::new(Admitted { cluster, change, ready_within, running }))
    }

    pub(super) fn admitted_by(self, path: TermsPath, certificate: Certificate) -> Decision {
        let mut certificates = self.known.running.certificates.clone();
        certificates[self.position] = certificate;
        self.admitted(AddedHow::Staged(path.stages), path.ready_within, certificates)
    }

    pub(super) fn admitted_as_it_is(self) -> Decision {
        let certificates = self.known.running.certificates.clone();
        self.admitted(AddedHow::Kept, Span::ZERO, certificates)
    }

    /// An error if a task is late by the certificates as they are and by any others.
    pub(super) fn kept(&self) -> Result<bool, AdmissionRefusal> {
        if !self.contention.holds_data(self.position) {
            return Err(AdmissionRefusal::Data);
        }
        if self.writes() && !self.has_collection() && collects(self.certificate().placement) {
            return Err(AdmissionRefusal::NoReserve);
        }
        let is_late = !self.contention.is_stated(self.position)
            || !self.contention.holds_as_stated(self.position, self.certificate());
        let held = if is_late { Err(AdmissionRefusal::Late) } else { self.neighbours_hold() };
        match held {
            Ok(()) => Ok(true),
            // If nothing is written no other terms help.
            Err(refusal) if !self.has_collection() => Err(refusal),
            Err(_) if self.has_server() => Err(AdmissionRefusal::Server),
            // Others count how often it collects, which is not known while its terms change: who is
            // late where it is known is so then, too, but for rare superblocks.
            Err(refusal @ AdmissionRefusal::Neighbour(_)) if self.contention.counts_collection_of(self.position) => {
                Err(refusal)
            }
            Err(_) => Ok(false),
        }
    }

    fn neighbours_hold(&self) -> Result<(), AdmissionRefusal> {
        match self.known.late_beside(&self.contention, self.position) {
            None => Ok(()),
            // Nor is it known that they would not.
            Some(_) if self.work.is_used_up() => Err(AdmissionRefusal::Late),
            Some(at) => Err(AdmissionRefusal::Neighbour(ClusterId::from_index(at))),
        }
    }

    pub(super) fn search(&mut self) -> Result<TermsSearch<'a>, AdmissionRefusal> {
        if self.work.is_used_up() {
            return Err(AdmissionRefusal::Late);
        }
        let position = self.position;
        // How often a cluster's collection uses the bus is not known while its terms change.
        if self.contention.counts_collection_of(position) {
            self.contention.charge_by(position, 1);
            let held = self.neighbours_hold();
            self.contention.charge_by(position, 0);
            held?;
        }
        TermsSearch::new(&self.known.begun, &self.contention, position, self.certificate(), self.work)
    }

    pub(super) fn settled(&mut self, found: TermsPath) -> Result<(TermsPath, Certificate), AdmissionRefusal> {
        let position = self.position;
        self.contention.collects(position, found.gc);
        // Also who is in time where nothing is known of what it does: rows of a superblock may be
        // charged more where that is known.
        self.neighbours_hold()?;
        let counts = self.contention.counts_collection_of(position);
        let certificate = self.contention.settled_certificate(position).ok_or(AdmissionRefusal::Late)?;
        // No interval has both the change and what is admitted next.
        let settled = if counts { longest([self.others_idle(), found.idle_after]) } else { Some(Span::ZERO) };
        let ready = settled.and_then(|settled| found.ready_within.checked_add(settled));
        Ok((TermsPath { ready_within: ready.ok_or(AdmissionRefusal::Reserve)?, ..found }, certificate))
    }

    /// `None` while nothing is known of what its collection does.
    fn others_idle(&mut self) -> Option<Span> {
        let (certificates, position) = (&self.known.running.certificates, self.position);
        self.contention.charge_by(position, 1);
        let others = self.contention.beside_on_channels(position).into_iter().filter(|&at| at != position);
        let idle = longest(others.map(|at| longest_idle(&self.contention, at, &certificates[at], self.work)));
        self.contention.charge_by(position, 0);
        idle
    }
}
