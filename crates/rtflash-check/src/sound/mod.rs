//! Whether an allocation's certificates are true: docs/analysis.md, from its text, with nothing searched for.
//!
//! From the deadline D_g of a certificate follow all of its other numbers (Section 2.2); they are compared. Then the demand test (Sections 2.6
//! and 6) is decided on the device as it is allocated, with the neighbours that each cluster has there, by looking at every length of
//! interval at which demand grows.

mod collection;
mod demand;
mod lengths;
mod numbers;
mod queue;
mod site;
mod unit;

#[cfg(test)]
mod tests;

use rtflash_model::{Allocation, Certificate, Cluster, Placement, Reliance, Space, Span, TaskSet, Tightest};

use collection::Recomputed;
use lengths::Verdict;
use site::Site;
use unit::Unit;

/// What the judge found of an allocation with certificates.
#[derive(Debug, Clone)]
pub struct SoundJudgement {
    /// Of each cluster, in order.
    pub clusters: Vec<SoundClusterJudgement>,
}

impl SoundJudgement {
    /// Whether every cluster's test holds: `Some(false)` where one fails, else `None` where one was given up.
    pub fn holds(&self) -> Option<bool> {
        if self.clusters.iter().any(|cluster| cluster.holds == Some(false)) {
            return Some(false);
        }
        self.clusters.iter().all(|cluster| cluster.holds == Some(true)).then_some(true)
    }

    /// Whether every cluster's test holds and no certificate says anything that is not so.
    pub fn approves(&self) -> bool {
        self.holds() == Some(true) && self.clusters.iter().all(|cluster| cluster.complaints.is_empty())
    }
}

/// What the judge found of one cluster. It counts on the other clusters of its channels: what it says is true if theirs hold, too.
#[derive(Debug, Clone)]
pub struct SoundClusterJudgement {
    /// Its chips and tasks.
    pub cluster: Cluster,
    /// Whether its tasks' data fit and they meet their deadlines with the certificate's placement, D_g and server; `None` where that takes too
    /// many steps to find out. Numbers of the certificate that follow from these are not used, but recomputed.
    pub holds: Option<bool>,
    /// What the certificate says, or leaves out, and is not so.
    pub complaints: Vec<String>,
    /// Whether the tasks' data fit.
    pub data_fits: bool,
    /// Their data beside the cluster's logical pages, as the model has it.
    pub space: Space,
    /// Whether the test of time holds, whatever space the data take; `None` as for `holds`.
    pub in_time: Option<bool>,
    /// What fills the interval that the certificate calls the tightest; `None` where it names none, or is too wrong to tell.
    pub shares: Option<Shares>,
    /// An interval that comes nearer to missing a deadline than the one that the certificate calls the tightest, where the test holds and one was
    /// seen. Nothing that is promised depends on it.
    pub tighter: Option<Tightest>,
}

/// What fills an interval of some length L: shares of L, on the unit of the cluster that has the most to do.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shares {
    /// L in nanoseconds.
    pub length_ns: u64,
    /// L less the server's share of it, demand and blocking, in nanoseconds, rounded down.
    pub slack_ns: i128,
    /// Reads.
    pub reads: f64,
    /// Writes.
    pub writes: f64,
    /// Waits for the transfers of neighbours whose load is known; other waits are in reads and writes. Where the queue for the bus is known well,
    /// less what these count too much, and then it may be below zero.
    pub waiting: f64,
    /// What the bus's being given first come, first served takes off the waits, in nanoseconds: a slack below it is owed to that.
    pub saved_ns: i128,
    /// Garbage collection.
    pub gc: f64,
    /// Blocking.
    pub blocking: f64,
    /// Reads, writes, waiting, GC and blocking together, (dbf''(L) + B(L)) / L. The server's share comes on top.
    pub utilization: f64,
}

/// Tests each cluster of an allocation of the set's tasks by its certificate, which is to have one of these placements. Where there are no tasks
/// but a server alone, the placement may be another. The test is (T), (T') or (T''), as a cluster may rely on what is granted.
pub fn judge_sound(
    set: &TaskSet,
    allocation: &Allocation,
    placements: &[Placement],
    granted: Reliance,
) -> SoundJudgement {
    let clusters = allocation.clusters();
    let judge = |position: usize| judge_cluster(set, allocation, &clusters, position, placements, granted);
    SoundJudgement { clusters: (0..clusters.len()).map(judge).collect() }
}

fn judge_cluster(
    set: &TaskSet,
    allocation: &Allocation,
    clusters: &[Cluster],
    position: usize,
    placements: &[Placement],
    granted: Reliance,
) -> SoundClusterJudgement {
    let cluster = clusters[position].clone();
    let mut found = SoundClusterJudgement {
        holds: Some(false),
        complaints: vec![],
        data_fits: true,
        space: set.space(&cluster.tasks, cluster.size(), allocation.certificate(position).map(|it| it.placement)),
        in_time: Some(false),
        shares: None,
        tighter: None,
        cluster,
    };
    let Some(certificate) = allocation.certificate(position) else {
        if found.cluster.tasks.is_empty() {
            (found.holds, found.in_time) = (Some(true), Some(true));
        } else {
            found.complaints.push("a cluster with tasks has no certificate".into());
        }
        return found;
    };
    if !found.cluster.tasks.is_empty() && !placements.contains(&certificate.placement) {
        found.complaints.push(format!("the placement is {}", certificate.placement.name()));
    }
    let promised = certificate.server_thousandths <= 1000;
    if !promised {
        found.complaints.push(format!("the server has {} thousandths", certificate.server_thousandths));
    }
    found.data_fits = unit::data_fits(set, &found.cluster, certificate.placement);
    let recomputed = collection::recompute(set, &found.cluster, certificate);
    collection::compare(&recomputed, certificate, &mut found.complaints);
    let gc = match recomputed {
        Recomputed::None => None,
        Recomputed::Impossible(_) => return found,
        Recomputed::Numbers(numbers) => Some(numbers),
    };
    let site = Site::of(set, allocation, clusters, position, granted);
    let unit = |channel| Unit::new(set, &found.cluster, certificate, gc.as_ref(), &site, channel);
    let Some(units) = site.channels.iter().map(unit).collect::<Option<Vec<Unit>>>() else {
        (found.holds, found.in_time) = (None, None);
        found.complaints.push("its numbers are beyond the arithmetic of the judge".into());
        return found;
    };
    let verdict = if found.cluster.tasks.is_empty() {
        Verdict::holding()
    } else {
        Verdict::of_all(units.iter().map(lengths::decide))
    };
    found.in_time = verdict.holds;
    found.holds = if found.data_fits && promised { verdict.holds } else { Some(false) };
    compare_tightest(&units, certificate, &verdict, &mut found);
    found
}

/// Compares the slack of the interval that is said to be the tightest, and all that was seen of others.
fn compare_tightest(units: &[Unit], certificate: &Certificate, verdict: &Verdict, found: &mut SoundClusterJudgement) {
    let stated = match (certificate.tightest, found.cluster.tasks.is_empty()) {
        (Some(stated), false) => stated,
        (None, true) => return,
        (None, false) => return found.complaints.push("no tightest length is stated".into()),
        (Some(_), true) => return found.complaints.push("a tightest length without tasks".into()),
    };
    let Tightest { length, slack_ns } = stated;
    let from = units.iter().find_map(Unit::shortest_deadline);
    if from.is_some_and(|from| i128::from(length.as_ns()) < from) {
        found.complaints.push(format!("the tightest length {length} is below the shortest deadline"));
    }
    let Some((shares, slack)) = shares(units, length.as_ns()) else {
        return found.complaints.push(format!("the slack of {length} is beyond the arithmetic of the judge"));
    };
    found.shares = Some(shares).filter(|_| length > Span::ZERO);
    if slack != i128::from(slack_ns) {
        found.complaints.push(format!("the slack of {length} is {slack} ns, not {slack_ns}"));
    }
    let nearer = verdict.least.filter(|&(_, least)| verdict.holds == Some(true) && least < slack);
    found.tighter = nearer.and_then(|(length, least)| {
        Some(Tightest { length: Span::from_ns(length.try_into().ok()?)?, slack_ns: least.try_into().ok()? })
    });
}

fn shares(units: &[Unit], length_ns: u64) -> Option<(Shares, i128)> {
    let length = i128::from(length_ns);
    let slacks: Option<Vec<i128>> = units.iter().map(|unit| unit.slack(length)).collect();
    let (slack_ns, unit) = slacks?.into_iter().zip(units).min_by_key(|&(slack, _)| slack)?;
    let demand = unit.demand(length)?;
    let share = |part: i128| part as f64 / length_ns as f64;
    let shares = Shares {
        length_ns,
        slack_ns,
        reads: share(demand.reads),
        writes: share(demand.writes),
        waiting: share(demand.waiting),
        saved_ns: unit.saved(length)?,
        gc: share(demand.gc),
        blocking: share(unit.blocking(length)),
        utilization: share(demand.total()?.checked_add(unit.blocking(length))?),
    };
    Some((shares, slack_ns))
}
