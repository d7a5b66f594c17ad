//! Whether an allocation's certificates are true: docs/analysis.md, from its text, with nothing
//! searched for.
//!
//! A certificate states D_g, H, F, v and α. They have to satisfy the inequalities of Section 8 for
//! the load as it is. Then the demand tests (Sections 2.6, 6 and 6.1) are decided with the numbers
//! that are stated, on the device as it is allocated, by looking at every length of interval at
//! which demand grows: the one that supposes least first.

mod behind;
mod channels;
mod collection;
mod demand;
mod items;
mod lengths;
mod levels;
mod lines;
mod numbers;
mod processor;
mod queue;
mod registers;
mod space;
mod statements;
mod suspension;
mod told;
mod zones;

#[cfg(test)]
mod tests;

use rtflash_model::{Access, Allocation, Cluster, Placement, Reliance, Space, Span, TaskSet, Tightest};

use collection::Stated;
use levels::TestLevels;

/// The verifier's findings for an allocation with certificates.
#[derive(Debug, Clone)]
pub struct CertifiedVerification {
    /// The findings for each cluster, in order.
    pub clusters: Vec<CertifiedClusterVerification>,
}

impl CertifiedVerification {
    /// `Some(false)` where one cluster fails, else `None` where a test was given up.
    pub fn holds(&self) -> Option<bool> {
        if self.clusters.iter().any(|cluster| cluster.holds == Some(false)) {
            return Some(false);
        }
        self.clusters.iter().all(|cluster| cluster.holds == Some(true)).then_some(true)
    }

    /// Whether every cluster's test holds and no certificate promises more than is so.
    pub fn accepts(&self) -> bool {
        self.holds() == Some(true) && self.clusters.iter().all(|cluster| cluster.discrepancies.is_empty())
    }
}

/// True if the other clusters of its channels hold, too.
#[derive(Debug, Clone)]
pub struct CertifiedClusterVerification {
    /// Its chips and tasks.
    pub cluster: Cluster,
    /// Whether data fit and deadlines are met by the stated numbers, relying on no more than
    /// granted; `None` where that takes too many steps.
    pub holds: Option<bool>,
    /// May be more than was granted; `None` where it does not hold, or is not known.
    pub relies_on: Option<Reliance>,
    /// Without which nothing is promised, or that promises more than is so.
    pub discrepancies: Vec<String>,
    /// Stated, but not so (any longer); no promise depends on it.
    pub notes: Vec<String>,
    /// Whether the tasks' data fit.
    pub data_fits: bool,
    /// Their data beside the cluster's logical pages, as the model has it.
    pub space: Space,
    /// Whether the test of time holds, whatever space the data take; `None` as for `holds`.
    pub in_time: Option<bool>,
    /// Shares of the interval that the certificate calls the tightest, or of another one.
    pub shares: Option<Shares>,
    /// The utilization of that interval by each of the three tests, as [`Reliance::ALL`] has them.
    pub utilizations: Vec<f64>,
    /// An interval with less slack than the stated one, if one was seen; no promise depends on it.
    pub tighter: Option<Tightest>,
}

impl CertifiedClusterVerification {
    /// The interval that comes nearest to missing a deadline, as far as one was seen.
    pub fn tightest(&self) -> Option<Tightest> {
        self.tighter.or_else(|| {
            let Shares { length_ns, slack_ns, .. } = self.shares?;
            Some(Tightest { length: Span::from_ns(length_ns)?, slack_ns: slack_ns.try_into().ok()? })
        })
    }
}

/// Shares of an interval of length L, on the processor of the cluster that has the most to do.
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
    /// Waits for known neighbours; below zero where the queue spares more. Others are in the rest.
    pub waiting: f64,
    /// Waits that first come, first served spares, in nanoseconds: a slack below is owed to it.
    pub saved_ns: i128,
    /// Garbage collection.
    pub gc: f64,
    /// Blocking.
    pub blocking: f64,
    /// All of them, (dbf''(L) + B(L)) / L; the server's share comes on top.
    pub utilization: f64,
}

/// Tests each cluster by its certificate, relying on this at most, in one of these placements (a
/// server alone may have another).
///
/// [`Reliance::Nothing`] asks for (T) with all other chips as busy as can be,
/// [`Reliance::Neighbours`] for (T'), [`Reliance::Queue`] for (T'').
pub fn verify_certified(
    set: &TaskSet,
    allocation: &Allocation,
    placements: &[Placement],
    granted: Reliance,
) -> CertifiedVerification {
    let clusters = allocation.clusters();
    let verify = |position: usize| verify_cluster(set, allocation, &clusters, position, placements, granted);
    CertifiedVerification { clusters: (0..clusters.len()).map(verify).collect() }
}

fn unverified(cluster: &Cluster, space: Space) -> CertifiedClusterVerification {
    CertifiedClusterVerification {
        holds: Some(false),
        relies_on: None,
        discrepancies: vec![],
        notes: vec![],
        data_fits: true,
        space,
        in_time: Some(false),
        shares: None,
        utilizations: vec![],
        tighter: None,
        cluster: cluster.clone(),
    }
}

/// Whether chips of the device, and the tasks, can work so; says where they cannot.
fn is_possible(
    set: &TaskSet,
    placement: Placement,
    placements: &[Placement],
    found: &mut CertifiedClusterVerification,
) -> bool {
    if !found.cluster.tasks.is_empty() && !placements.contains(&placement) {
        found.discrepancies.push(format!("the placement is {}", placement.name()));
    }
    let possible = placement.is_possible_on(set.device());
    if !possible {
        let kind = placement.name();
        found.discrepancies.push(format!("the kind is {kind}, and chips of this device cannot work so"));
    }
    possible && (!placement.is_zoned() || only_streams_write(set, found))
}

/// Whether all that writes is a stream, so that it can own zones; says who is not.
fn only_streams_write(set: &TaskSet, found: &mut CertifiedClusterVerification) -> bool {
    let tasks = found.cluster.tasks.iter().map(|&task| &set.tasks()[task]);
    let jumping = tasks.filter(|task| task.write.is_some_and(|write| write.access() != Access::Stream));
    let said = jumping.map(|task| format!("`{}` writes zones, and its writes are no stream", task.name));
    let said: Vec<String> = said.collect();
    let none = said.is_empty();
    found.discrepancies.extend(said);
    none
}

fn verify_cluster(
    set: &TaskSet,
    allocation: &Allocation,
    clusters: &[Cluster],
    position: usize,
    placements: &[Placement],
    granted: Reliance,
) -> CertifiedClusterVerification {
    let cluster = &clusters[position];
    let placement = allocation.certificate(position).map(|certificate| certificate.placement);
    let mut found = unverified(cluster, set.space(&cluster.tasks, cluster.size(), placement));
    let without_tasks = found.cluster.tasks.is_empty();
    let Some(certificate) = allocation.certificate(position) else {
        if without_tasks {
            (found.holds, found.in_time) = (Some(true), Some(true));
            found.relies_on = Some(Reliance::Nothing);
        } else {
            found.discrepancies.push("a cluster with tasks has no certificate".into());
        }
        return found;
    };
    if !is_possible(set, certificate.placement, placements, &mut found) {
        return found;
    }
    let promised = certificate.server_thousandths <= 1000;
    if !promised {
        found.discrepancies.push(format!("the server has {} thousandths", certificate.server_thousandths));
    }
    found.data_fits = space::data_fits(set, &found.cluster, certificate.placement);
    let verified = collection::verify(set, &found.cluster, certificate);
    found.discrepancies.extend(verified.discrepancies);
    found.notes.extend(verified.notes);
    let gc = match verified.stated {
        Stated::Nothing => None,
        Stated::Unusable => return found,
        Stated::Numbers(numbers) => Some(numbers),
    };
    let Some(levels) = TestLevels::new(granted, |granted| {
        let neighbours = channels::ChannelNeighbours::of(set, allocation, clusters, position, granted);
        let processor =
            |channel| processor::Processor::new(set, &found.cluster, certificate, gc.as_ref(), &neighbours, channel);
        neighbours.channels.iter().map(processor).collect()
    }) else {
        (found.holds, found.in_time) = (None, None);
        found.discrepancies.push("its numbers are beyond the arithmetic of the judge".into());
        return found;
    };
    found.in_time = levels.holds();
    found.relies_on = if found.data_fits && promised { levels.least() } else { None };
    found.holds = if found.data_fits && promised { levels.holds() } else { Some(false) };
    if let Some(stated) = allocation.remarks(position).and_then(|remarks| remarks.relies_on) {
        statements::reliance(stated, &levels, &mut found);
    }
    if !without_tasks {
        statements::tightest(&levels, certificate, &mut found);
    } else if certificate.tightest.is_some() {
        found.notes.push("a tightest length is stated, and there are no tasks".into());
    }
    found
}
