//! Admission at run time: may a task be added to a device that runs by certificates, without
//! moving data, and how is the change made (docs/admission.md).

mod allowance;
mod alone;
mod extended;
mod idle;
mod into;
mod known;
mod path;
mod removal;
mod servers;
mod streams;
#[cfg(test)]
mod tests;

use rtflash_model::{
    Allocation, Certificate, Cluster, ClusterId, Id, Placement, Reliance, Span, TaskId, TaskSet, Tightest,
};

use allowance::most_taken;
use alone::alone;
use extended::ExtendedCluster;
pub use into::admit_into;
use known::KnownNeighbours;
pub use path::{CollectionStage, ExtraPasses};
use rtflash_analysis::certified::ChannelContention;
use rtflash_analysis::{DemandTest, Work};

use path::{TermsPath, idle_by};
pub use removal::Removals;
pub use servers::{LeftOutServers, servers_left_out};
pub use streams::{StreamRefusal, served_streams};

/// Clusters with certificates. A task of the set in none of them does not run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunningDevice {
    /// The clusters.
    pub clusters: Vec<Cluster>,
    /// The processors of each cluster.
    pub certificates: Vec<Certificate>,
}

impl RunningDevice {
    /// `None` without certificates. Clusters without tasks are free chips. If the set has no job
    /// streams, no cluster has a server: tasks get its share.
    pub fn new(set: &TaskSet, allocation: &Allocation) -> Option<RunningDevice> {
        let clusters = allocation.clusters();
        let certificates = (0..clusters.len()).map(|at| allocation.certificate(at).copied());
        Some(RunningDevice::of_parts(set, clusters, certificates.collect::<Option<Vec<Certificate>>>()?))
    }

    /// Each cluster with its certificate. A server is dropped, as if it had served no job so far,
    /// but where erases would be suspended without it: that is another way to run.
    pub fn of_parts(set: &TaskSet, clusters: Vec<Cluster>, certificates: Vec<Certificate>) -> RunningDevice {
        let serves = !set.jobs().is_empty();
        let of = |certificate: Certificate| {
            let without = Certificate { server_thousandths: 0, ..certificate };
            if serves || without.suspends_erases(set.device()) { certificate } else { without }
        };
        let pairs = clusters.into_iter().zip(certificates);
        let busy = pairs.filter(|(cluster, _)| serves || !cluster.tasks.is_empty());
        let (clusters, certificates) = busy.map(|(cluster, certificate)| (cluster, of(certificate))).unzip();
        RunningDevice { clusters, certificates }
    }

    /// The device with the tightest interval of each certificate computed for these tasks.
    #[must_use]
    pub fn tightened(mut self, set: &TaskSet, granted: Reliance, work: &Work) -> RunningDevice {
        let contention = ChannelContention::of_certificates(set, &self.clusters, &self.certificates, granted, work);
        let tightest = (0..self.clusters.len()).map(|at| contention.tightest(at, &self.certificates[at]));
        let tightest: Vec<Option<Tightest>> = tightest.collect();
        for (certificate, tightest) in self.certificates.iter_mut().zip(tightest) {
            certificate.tightest = tightest;
        }
        self
    }

    /// The first cluster that is not in time, relying on no more than is granted, or without room.
    pub fn late(&self, set: &TaskSet, granted: Reliance, work: &Work) -> Option<ClusterId> {
        let contention = ChannelContention::of_certificates(set, &self.clusters, &self.certificates, granted, work);
        let busy = (0..self.clusters.len()).filter(|&at| !self.clusters[at].tasks.is_empty());
        let holds = |at: &usize| contention.holds_data(*at) && contention.holds_as_stated(*at, &self.certificates[*at]);
        busy.filter(|at| !holds(at)).map(ClusterId::from_index).next()
    }
}

/// How a task is added.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AddedHow {
    /// Its cluster runs on by the certificate that it has.
    Kept,
    /// Terms by which the cluster's processors go on, the last ones those of the new certificate.
    Staged(Vec<CollectionStage>),
    /// On chips that were free. These begin with the reserve of the certificate, as R5 asks for.
    NewCluster,
}

/// A task may be added.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Admitted {
    /// The cluster that serves it.
    pub cluster: ClusterId,
    /// How.
    pub change: AddedHow,
    /// The time from the decision until its first request may come, at most.
    pub ready_within: Span,
    /// The clusters by which the device runs from then on.
    pub running: RunningDevice,
}

/// Why a cluster does not take a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum AdmissionRefusal {
    /// There is no room for its data.
    #[error("its data do not fit")]
    Data,
    /// It writes, and the cluster keeps no free pages in reserve.
    #[error("it writes, and no free pages are kept in reserve")]
    NoReserve,
    /// The certificate would have to change, and the cluster's server is perhaps never idle.
    #[error("its certificate would have to change, and with a server it may never idle")]
    Server,
    /// No certificate was found with which the cluster is in time.
    #[error("no certificate was found by which it is in time")]
    Late,
    /// With the task in it this cluster would no longer be in time.
    #[error("cluster {0} would no longer be in time")]
    Neighbour(ClusterId),
    /// Certificates would do, but no way was found to the reserve that they need.
    #[error("no way was found to the reserve of a certificate that would do")]
    Reserve,
}

/// Whether a task may be added.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// Yes.
    Admitted(Box<Admitted>),
    /// Not as far as was found: why, for each cluster that runs.
    Refused(Vec<(ClusterId, AdmissionRefusal)>),
}

/// Whether `new`, a task that does not run, may be added to what runs, supposed to be in time: with
/// the certificate kept; then with terms that change at the next idle instant; then with a reserve
/// that grows first; then on free chips. Among equals the smallest cluster, the lowest position.
/// A search beyond its bound refuses (docs/admission.md).
pub fn admit(test: DemandTest, set: &TaskSet, running: &RunningDevice, new: TaskId, work: &Work) -> Decision {
    work.deciding(most_taken(set), || decide(set, running, new, (test.placements, test.rely_on), work))
}

fn decide(
    set: &TaskSet,
    running: &RunningDevice,
    new: TaskId,
    (placements, granted): (&[Placement], Reliance),
    work: &Work,
) -> Decision {
    let mut order: Vec<usize> = (0..running.clusters.len()).collect();
    order.sort_by_key(|&position| (running.clusters[position].size(), position));
    let known = KnownNeighbours::new(set, running, granted, work);
    let mut refused = Vec::with_capacity(order.len());
    let mut open = Vec::with_capacity(order.len());
    for position in order {
        if work.is_used_up() {
            refused.push((ClusterId::from_index(position), AdmissionRefusal::Late));
            continue;
        }
        let candidate = ExtendedCluster::new(set, &known, new, position, work);
        match candidate.kept() {
            Ok(true) => return candidate.admitted_as_it_is(),
            Ok(false) => open.push(candidate),
            Err(refusal) => refused.push((candidate.id(), refusal)),
        }
    }
    if let Some((candidate, path, certificate)) = changed(open, &mut refused) {
        return candidate.admitted_by(path, certificate);
    }
    if let Some(admitted) = alone(set, new, placements, &known, work) {
        return Decision::Admitted(Box::new(admitted));
    }
    refused.sort_by_key(|&(cluster, _)| cluster);
    Decision::Refused(refused)
}

/// The first cluster with terms at the next idle instant, else once the reserve has grown.
fn changed<'a>(
    open: Vec<ExtendedCluster<'a>>,
    refused: &mut Vec<(ClusterId, AdmissionRefusal)>,
) -> Option<(ExtendedCluster<'a>, TermsPath, Certificate)> {
    let mut growing = Vec::new();
    for mut candidate in open {
        let found = match candidate.search() {
            Ok(search) => match search.direct() {
                Some(gc) => search.one_stage(gc).and_then(|path| candidate.settled(path)),
                None => {
                    growing.push((candidate, search));
                    continue;
                }
            },
            Err(refusal) => Err(refusal),
        };
        match found {
            Ok((path, certificate)) => return Some((candidate, path, certificate)),
            Err(refusal) => refused.push((candidate.id(), refusal)),
        }
    }
    for (mut candidate, search) in growing {
        match search.two_stages().and_then(|path| candidate.settled(path)) {
            Ok((path, certificate)) => return Some((candidate, path, certificate)),
            Err(refusal) => refused.push((candidate.id(), refusal)),
        }
    }
    None
}

/// How soon after its last request one task of what runs may be left out ([`Removals::within`]).
pub fn removable_within(
    set: &TaskSet,
    running: &RunningDevice,
    task: TaskId,
    granted: Reliance,
    work: &Work,
) -> Option<Span> {
    Removals::new(set, running, granted, work).within(task)
}

/// `None` with a server, and where it is not known.
fn longest_idle(contention: &ChannelContention<'_>, at: usize, certificate: &Certificate, work: &Work) -> Option<Span> {
    if certificate.server_thousandths > 0 {
        return None;
    }
    let placed = contention.as_granted(at)?;
    let gc = placed.processor.stated(certificate)?;
    idle_by(&placed, gc, work)
}
