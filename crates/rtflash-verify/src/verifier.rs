//! Whether a given allocation passes Theorem 1, and its clusters hold the data.

use std::cmp::Ordering;

use num_rational::BigRational;
use rtflash_model::{Allocation, Cluster, Space, Task, TaskSet};

use crate::equations::{Equations, Theory};
use crate::quotient::Quotient;

/// The verifier's findings.
#[derive(Debug, Clone)]
pub struct Verification {
    /// The findings for each cluster, in order.
    pub clusters: Vec<ClusterVerification>,
}

impl Verification {
    /// Whether every cluster passes.
    pub fn schedulable(&self) -> bool {
        self.clusters.iter().all(|cluster| cluster.schedulable)
    }
}

/// The verifier's findings for one cluster.
#[derive(Debug, Clone)]
pub struct ClusterVerification {
    /// Its chips and tasks.
    pub cluster: Cluster,
    /// Whether it passes: in time, and its tasks' declared data fit.
    pub schedulable: bool,
    /// U ≤ 1, Eq. (IV.8), exactly, where deadlines are implicit; with others nothing passes.
    pub in_time: bool,
    /// Its tasks' data beside its logical pages.
    pub space: Space,
    /// U, Eq. (IV.9), to the nearest double or its neighbour; zero without tasks.
    pub utilization: f64,
    /// t_e / min(T), to the nearest double or its neighbour; zero without tasks.
    pub blocking: f64,
    /// The obstacle to the cluster whatever its utilization; `None` where nothing does.
    pub obstacle: Option<String>,
    exact: Quotient,
}

impl ClusterVerification {
    pub(crate) fn summed(
        set: &TaskSet,
        cluster: Cluster,
        blocking: Quotient,
        terms: impl Iterator<Item = Quotient>,
        obstacle: Option<String>,
    ) -> ClusterVerification {
        let total = Quotient::sum([blocking.clone()].into_iter().chain(terms));
        // The double stays on the side of one on which the number is.
        let (order, double) = (total.compare(&Quotient::ratio(1, 1)), total.to_double());
        let utilization = match order {
            Ordering::Less => double.min(1.0f64.next_down()),
            Ordering::Equal => 1.0,
            Ordering::Greater => double.max(1.0f64.next_up()),
        };
        let space = set.space(&cluster.tasks, cluster.size(), None);
        let mut tasks = cluster.tasks.iter().filter_map(|&task| set.tasks().get(task));
        let in_time = order != Ordering::Greater && tasks.all(Task::has_whole_periods) && obstacle.is_none();
        ClusterVerification {
            schedulable: in_time && space.fits(),
            in_time,
            space,
            utilization,
            blocking: blocking.to_double(),
            exact: total,
            obstacle,
            cluster,
        }
    }

    /// U, Eq. (IV.9), exactly, in lowest terms. Slow for very many tasks.
    pub fn exact_utilization(&self) -> BigRational {
        self.exact.reduced()
    }
}

/// Tests each cluster of an allocation of the set's tasks.
pub fn verify(set: &TaskSet, allocation: &Allocation, equations: Equations) -> Verification {
    let theory = Theory::new(equations, set.device());
    Verification {
        clusters: allocation.clusters().into_iter().map(|cluster| verify_cluster(set, cluster, &theory)).collect(),
    }
}

fn verify_cluster(set: &TaskSet, cluster: Cluster, theory: &Theory<'_>) -> ClusterVerification {
    let size = cluster.size();
    let tasks = || cluster.tasks.iter().filter_map(|&task| set.tasks().get(task));
    let longest = tasks().filter_map(|task| theory.blocking(task, size)).max_by(Quotient::compare);
    let longest = longest.unwrap_or(Quotient::ratio(0, 1));
    let terms: Vec<Quotient> = tasks().flat_map(|task| theory.utilizations(task, size)).collect();
    ClusterVerification::summed(set, cluster, longest, terms.into_iter(), None)
}

#[cfg(test)]
mod tests {
    use rtflash_model::{Device, DeviceSpec, Request, Span};

    use super::*;

    fn set(chips: u32, requests: &[(u64, u32, u64, u32)]) -> TaskSet {
        let profile = Device::profile("dgist-2021").unwrap().spec();
        let device = Device::new(DeviceSpec { chips, chips_per_channel: 2, ..profile }).unwrap();
        let task = |(index, &(read, read_ms, write, write_ms)): (usize, &(u64, u32, u64, u32))| Task {
            name: format!("t{index}"),
            read: Request::new(read, Span::from_us(read_ms * 1000)),
            write: Request::new(write, Span::from_us(write_ms * 1000)),
            data_pages: None,
        };
        TaskSet::new(device, requests.iter().enumerate().map(task).collect(), vec![]).unwrap()
    }

    fn cluster(chips: &[u32], tasks: &[u32]) -> Cluster {
        Cluster::of(chips.iter().copied(), tasks.iter().copied())
    }

    fn rational(numerator: i64, denominator: i64) -> BigRational {
        BigRational::new(numerator.into(), denominator.into())
    }

    #[test]
    fn the_case_study_by_hand() {
        let set = set(4, &[(40, 36, 24, 30), (80, 36, 12, 130), (80, 36, 12, 130), (80, 36, 12, 130)]);
        let clusters = [cluster(&[0, 1], &[0]), cluster(&[2], &[1, 2, 3]), cluster(&[3], &[])];
        let verification = verify(&set, &Allocation::new(4, 4, &clusters).unwrap(), Equations::Thesis);
        // Reads, writes, GC passes of 75.4 ms every 300 ms and 1300 ms, blocking.
        let first = rational(2, 36) + rational(12, 30) + rational(754, 3000) + rational(5, 30);
        let second = (rational(4, 36) + rational(6, 130) + rational(754, 13000)) * rational(3, 1) + rational(5, 36);
        let exact: Vec<_> = verification.clusters.iter().map(ClusterVerification::exact_utilization).collect();
        assert_eq!(exact, [first, second, rational(0, 1)]);
        assert!(verification.schedulable());
    }

    #[test]
    fn both_branches_of_the_gc_period() {
        // α = 128: 129 pages need two passes each 1 s on one chip, and one each on two; 64 pages
        // one every two periods on one chip.
        for (pages, chips, share) in
            [(129, 1, rational(2 * 754, 10_000)), (129, 2, rational(754, 10_000)), (64, 1, rational(754, 20_000))]
        {
            let set = set(2, &[(0, 1, pages, 1000)]);
            let all: Vec<u32> = (0..chips).collect();
            let verification = verify(&set, &Allocation::new(2, 1, &[cluster(&all, &[0])]).unwrap(), Equations::Thesis);
            // t_e / min(T): two passes a second make the shortest period 500 ms.
            let blocking = if pages == 129 && chips == 1 { rational(5, 500) } else { rational(5, 1000) };
            let writing = rational(i64::try_from(pages).unwrap(), 2000);
            assert_eq!(
                verification.clusters[0].exact_utilization(),
                writing + share + blocking,
                "{pages} pages on {chips}"
            );
        }
    }

    #[test]
    fn transfer_delays() {
        // t_d = 40 us: waits counted in transfers, for sizes 1 to 9.
        let waits = |ways: u32, equations: Equations| {
            let profile = Device::profile("dgist-2021").unwrap().spec();
            let device = Device::new(DeviceSpec { chips_per_channel: ways, ..profile }).unwrap();
            (1..=9).map(|size| equations.delay(&device, size) / 40_000).collect::<Vec<_>>()
        };
        assert_eq!(waits(4, Equations::Thesis), [2, 2, 2, 2, 1, 1, 1, 1, 0]);
        assert_eq!(waits(4, Equations::ThesisEvaluated), [3, 2, 1, 0, 3, 2, 1, 0, 3]);
        assert_eq!(waits(1, Equations::Thesis), [0; 9]);
        assert_eq!(waits(2, Equations::ThesisEvaluated), [1, 0, 1, 0, 1, 0, 1, 0, 1]);
    }

    #[test]
    fn very_many_tasks_are_summed() {
        let requests: Vec<_> = (0..3000u32).map(|task| (1, 1009 + 2 * task, 1, 2003 + task)).collect();
        let set = set(1, &requests);
        let all = cluster(&[0], &(0..3000).collect::<Vec<_>>());
        let verification = verify(&set, &Allocation::new(1, 3000, &[all]).unwrap(), Equations::ThesisEvaluated);
        let terms = requests
            .iter()
            .flat_map(|&(_, read, _, write)| [0.13 / f64::from(read), (0.58 + 75.4 / 128.0) / f64::from(write)]);
        let expected: f64 = terms.sum::<f64>() + 5.0 / 1009.0;
        assert!((verification.clusters[0].utilization - expected).abs() < 1e-9);
    }
}
