//! Allocations with certificates: making those of an allocation that has none, testing them, and
//! what there is to report.

use rtflash_model::{Allocation, Certificate, Cluster, Placement, Reliance, Space, Span, TaskId, TaskSet, Tightest};

use super::channels::{Certification, ChannelContention, certify_beside};
use super::placed::PlacedProcessor;
use crate::cluster_report::{ClusterReport, GcReport};
use crate::demand::Demand;
use crate::fraction::Fraction;
use crate::gc::ChosenGc;
use crate::time::ns;
use crate::work::Work;

/// The invariant of demand tests, for `expect`.
pub const ONE_PLACEMENT: &str = "a demand test has at least one placement";

/// A certificate for each cluster: those that it has stay, and for the others the placement is
/// looked for that they hold with, or come nearest to.
///
/// # Panics
/// Without a placement to choose.
pub fn certified(
    set: &TaskSet,
    allocation: &Allocation,
    placements: &[Placement],
    granted: Reliance,
    work: &Work,
) -> (Allocation, Certification) {
    let placements: Vec<Placement> =
        placements.iter().copied().filter(|placement| placement.is_possible_on(set.device())).collect();
    let placements = placements.as_slice();
    let clusters = allocation.clusters();
    let given: Vec<Option<Certificate>> = (0..clusters.len()).map(|at| allocation.certificate(at).copied()).collect();
    // Each cluster by itself: the others as busy as can be.
    let least = |position: usize| {
        let tried = placements.iter().map(|&placement| {
            // Those of the others say nothing where each has a server.
            let contention = ChannelContention::new(
                set,
                &clusters,
                vec![placement; clusters.len()],
                vec![1; clusters.len()],
                granted,
                work,
            );
            (contention.holds_in_the_worst_case(position), contention.shortfall(position).order, placement)
        });
        let best = tried.min_by(|a, b| b.0.cmp(&a.0).then(a.1.total_cmp(&b.1)));
        best.expect(ONE_PLACEMENT).2
    };
    let chosen = |position: usize| match given[position] {
        Some(certificate) => certificate.placement,
        None if clusters[position].tasks.is_empty() => *placements.first().expect(ONE_PLACEMENT),
        None => least(position),
    };
    let chosen: Vec<Placement> = (0..clusters.len()).map(chosen).collect();
    let certified = certify_beside(set, &clusters, &chosen, &given, granted, work);
    let certified = if certified.failing.is_empty() {
        certified
    } else {
        // Another placement of one may hold, or leave its neighbours the room that they need.
        let free: Vec<usize> = (0..clusters.len())
            .filter(|&position| !clusters[position].tasks.is_empty() && given[position].is_none())
            .collect();
        let others = others(&free, placements, &chosen);
        let mut others = others.map(|chosen| certify_beside(set, &clusters, &chosen, &given, granted, work));
        others.find(|other| other.failing.is_empty()).unwrap_or(certified)
    };
    (allocation.clone().with_certificates(certified.certificates.clone()), certified)
}

/// All choices where there are few, else each busy cluster changed alone.
fn others<'p>(
    busy: &'p [usize],
    placements: &'p [Placement],
    chosen: &'p [Placement],
) -> impl Iterator<Item = Vec<Placement>> + 'p {
    const FEW: usize = 6;
    const MOST: usize = 64;
    let count = match (placements.len(), busy.len()) {
        (0 | 1, _) => 0,
        (kinds, few @ 0..=FEW) => kinds.pow(u32::try_from(few).expect("at most six")).min(MOST),
        (kinds, many) if many * kinds <= MOST => many * kinds,
        _ => 0,
    };
    let choice = move |number: usize| {
        let mut all = chosen.to_vec();
        if busy.len() <= FEW {
            let mut rest = number;
            for &position in busy {
                all[position] = placements[rest % placements.len()];
                rest /= placements.len();
            }
        } else {
            all[busy[number / placements.len()]] = placements[number % placements.len()];
        }
        all
    };
    (0..count).map(choice).filter(move |all| all != chosen)
}

/// Each certificate with the tightest interval that it has if this is granted.
#[must_use]
pub fn tightened(set: &TaskSet, allocation: Allocation, granted: Reliance) -> Allocation {
    let Some(mut certificates) = allocation.certificates() else { return allocation };
    let (clusters, work) = (allocation.clusters(), Work::new());
    let contention = ChannelContention::of_certificates(set, &clusters, &certificates, granted, &work);
    let tightest = certificates.iter().enumerate().map(|(at, certificate)| contention.tightest(at, certificate));
    let tightest: Vec<Option<Tightest>> = tightest.collect();
    certificates.iter_mut().zip(tightest).for_each(|(certificate, tightest)| certificate.tightest = tightest);
    allocation.with_certificates(certificates.into_iter().map(Some).collect())
}

/// One cluster of an allocation with certificates, as its certificate has it.
#[derive(Debug)]
pub struct Held {
    /// Its processor, and the neighbours.
    pub placed: PlacedProcessor,
    /// Garbage collection as the certificate states it.
    pub gc: Option<ChosenGc>,
    /// The certificate.
    pub certificate: Certificate,
    /// The tasks' data beside the cluster's logical pages.
    pub space: Space,
}

impl Held {
    /// The demand of its processors, garbage collection and the server as the certificate has them.
    pub fn demands<'h>(&'h self, work: &'h Work) -> impl Iterator<Item = Demand<'h>> {
        self.placed.demands(self.gc, self.certificate.server_thousandths, work)
    }
}

/// `None` without certificate, and where one states less collection than the load needs.
pub fn held(set: &TaskSet, allocation: &Allocation, granted: Reliance) -> Vec<Option<Held>> {
    let clusters = allocation.clusters();
    let Some(certificates) = allocation.certificates() else { return clusters.iter().map(|_| None).collect() };
    let work = Work::new();
    let contention = ChannelContention::of_certificates(set, &clusters, &certificates, granted, &work);
    let one = |(position, certificate): (usize, &Certificate)| {
        let placed = contention.as_granted(position)?;
        let gc = placed.processor.stated(certificate)?;
        Some(Held { placed, gc, certificate: *certificate, space: contention.space(position) })
    };
    certificates.iter().enumerate().map(one).collect()
}

/// Whether each cluster is in time by its certificate; data are another matter ([`Held::space`]).
pub fn holding(set: &TaskSet, allocation: &Allocation, granted: Reliance, work: &Work) -> Vec<bool> {
    let least = least_reliances(set, allocation, granted, work);
    least.map_or_else(|| vec![false; allocation.len()], |least| least.iter().map(Option::is_some).collect())
}

/// Each cluster in numbers for a reader: shares of its tightest interval.
pub fn reports(set: &TaskSet, allocation: &Allocation, granted: Reliance) -> Vec<ClusterReport> {
    let tasks = allocation.clusters().into_iter().map(|cluster| cluster.tasks);
    held(set, allocation, granted).iter().zip(tasks).map(|(held, tasks)| report(set, held.as_ref(), &tasks)).collect()
}

fn report(set: &TaskSet, held: Option<&Held>, tasks: &[TaskId]) -> ClusterReport {
    let mut report = ClusterReport::default();
    // Not even garbage collection can be made to keep up.
    let Some(held) = held else { return ClusterReport { utilization: f64::MAX, ..report } };
    report.server = f64::from(held.certificate.server_thousandths) / 1_000.0;
    let processor = &held.placed.processor;
    let periods = processor.tasks.iter().map(|item| item.period).chain(held.gc.and_then(|gc| gc.deadline));
    report.min_period = periods.min().map(|period| Fraction::new(period.as_ns().into(), 1));
    if let Some(gc) = held.gc {
        let writing = tasks.iter().filter(|&&task| set.tasks().get(task).is_some_and(|task| task.write.is_some()));
        let gc_tasks = writing.zip(&processor.write_streams).map(|(&task, writer)| GcReport {
            task,
            cost: gc.cost.span().unwrap_or(Span::LONGEST),
            // As if it wrote alone: a pass for each α of its pages.
            period: {
                let (pages, chips) = writer.pages.rate();
                let time = u128::from(gc.reclaimed) * u128::from(writer.period.as_ns());
                Fraction::new(time.saturating_mul(chips.into()), pages.into())
            },
        });
        report.gc_tasks = gc_tasks.collect();
    }
    let Some(tightest) = held.certificate.tightest else { return report };
    let length = tightest.length;
    let work = Work::new();
    let shares = held.demands(&work).map(|demand| {
        let whole = ns(length.max(Span::NANOSECOND));
        let (all, gc) = (demand.at(length).to_f64() / whole, demand.gc_at(length).to_f64() / whole);
        let blocking = demand.blocking(length).to_f64() / whole;
        let of = |writes: bool| {
            let items = processor.tasks.iter().filter(|item| item.writes == writes);
            items
                .map(|item| demand.own_time(item, item.due(length).into()).to_f64() / whole)
                .fold(0.0, |sum, share| sum + share)
        };
        // Waiting for neighbours goes to reads and writes as their own time does, and to passes
        // where none of these is due.
        let (read, write) = (of(false), of(true));
        let gc = if read + write > 0.0 { gc } else { all };
        let waiting = (all - gc - read - write) / (read + write).max(f64::MIN_POSITIVE);
        (all + blocking, blocking, read * (1.0 + waiting), write * (1.0 + waiting), gc)
    });
    let Some(most) = shares.max_by(|a, b| a.0.total_cmp(&b.0)) else { return report };
    (report.utilization, report.blocking, report.read, report.write, report.gc) = most;
    report
}

/// The least with which each cluster holds, `None` where it does not; empty without certificates.
pub fn reliances(set: &TaskSet, allocation: &Allocation) -> Vec<Option<Reliance>> {
    let Some(least) = least_reliances(set, allocation, Reliance::Queue, &Work::new()) else { return Vec::new() };
    let of = |(position, (cluster, least)): (usize, (Cluster, Option<Reliance>))| {
        let placement = allocation.certificate(position).map(|certificate| certificate.placement);
        let fits = set.space(&cluster.tasks, cluster.size(), placement).fits();
        if cluster.tasks.is_empty() { Some(Reliance::Nothing) } else { least.filter(|_| fits) }
    };
    allocation.clusters().into_iter().zip(least).enumerate().map(of).collect()
}

/// `None` inside where a cluster is not in time, outside where one has no certificate.
fn least_reliances(
    set: &TaskSet,
    allocation: &Allocation,
    granted: Reliance,
    work: &Work,
) -> Option<Vec<Option<Reliance>>> {
    let certificates = allocation.certificates()?;
    let clusters = allocation.clusters();
    let contention = ChannelContention::of_certificates(set, &clusters, &certificates, granted, work);
    let of = |(position, certificate)| contention.least_reliance(position, certificate);
    Some(certificates.iter().enumerate().map(of).collect())
}

/// Whether every cluster with its certificate holds whatever its neighbours do.
pub fn is_independent(set: &TaskSet, allocation: &Allocation) -> bool {
    let reliances = reliances(set, allocation);
    // There are none without certificates.
    !reliances.is_empty() && reliances.into_iter().all(|reliance| reliance == Some(Reliance::Nothing))
}

/// The load of the fullest cluster's real-time tasks and garbage collection, in millionths.
pub fn load_millionths(set: &TaskSet, allocation: &Allocation, granted: Reliance) -> u64 {
    let held = held(set, allocation, granted).into_iter().flatten();
    let busy = held.filter(|held| !held.placed.processor.tasks.is_empty());
    let loads = busy.map(|held| held.demands(&Work::new()).map(|demand| demand.load()).fold(0.0, f64::max));
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // Above zero, and saturates.
    let millionths = (loads.fold(0.0, f64::max) * 1e6) as u64;
    millionths
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    const BOTH: &[Placement] = &[Placement::Stripe, Placement::Superblock];

    /// All choices but the one that was made, each once; of one placement there is no other.
    #[test]
    fn few_clusters_are_tried_with_every_placement() {
        for busy in [vec![], vec![2], vec![0, 3], vec![0, 1, 2, 3], vec![0, 1, 2, 4, 5, 6]] {
            let mut chosen = vec![Placement::Stripe; 7];
            for placement in BOTH {
                busy.iter().step_by(2).for_each(|&position| chosen[position] = *placement);
                let tried: Vec<Vec<Placement>> = others(&busy, BOTH, &chosen).collect();
                assert_eq!(tried.len(), (1 << busy.len()) - 1, "{busy:?}");
                assert!(tried.iter().all(|all| *all != chosen));
                let same = |all: &Vec<Placement>| (0..7).all(|at| busy.contains(&at) || all[at] == chosen[at]);
                assert!(tried.iter().all(same), "{busy:?}");
                let names = |all: &Vec<Placement>| all.iter().map(|it| it.name()).collect::<Vec<_>>();
                assert_eq!(tried.iter().map(names).collect::<HashSet<_>>().len(), tried.len(), "{busy:?}");
                assert_eq!(others(&busy, &BOTH[..1], &chosen).count(), 0);
            }
        }
    }

    /// Each changed alone, as long as that is not too much.
    #[test]
    fn many_clusters_are_changed_one_by_one() {
        for (count, tried) in [(7, 7), (32, 32), (33, 0)] {
            let busy: Vec<usize> = (0..count).collect();
            let chosen = vec![Placement::Stripe; count];
            let changed = others(&busy, BOTH, &chosen).map(|all| {
                let changed: Vec<usize> = (0..count).filter(|&at| all[at] == Placement::Superblock).collect();
                assert_eq!(changed.len(), 1);
                changed[0]
            });
            assert_eq!(changed.collect::<Vec<_>>(), (0..tried).collect::<Vec<_>>());
        }
    }
}
