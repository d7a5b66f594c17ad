//! Free chips for clusters, so that the chips that wear fastest last longer.
//!
//! The writes of a cluster wear its chips, and chips left free are wear thrown away. Chips are
//! given to the cluster that wears fastest, as many as are left divided by twice the clusters that
//! write, fewer if the cluster fails with that number; then again, until no chip is free or the
//! cluster that wears fastest passes with none more. Every cluster is tested again after each
//! change, and certificates are made anew.

use rtflash_analysis::verdict::victim;
use rtflash_analysis::{Analysis, DemandTest, Fraction, Work, WorkBound};
use rtflash_model::{Allocation, Certificate, ChipId, Cluster, Placement, TaskSet};

use crate::rectangles::arranged;

const MOST_TRIALS: u64 = 512;
/// Tasks and chips in all of them together, at most.
const MOST_WORK: u64 = 64_000_000;
/// Work of the tests of sound analyses, in requests looked at in an interval, at most.
const MAX_TEST_WORK: u64 = 100_000_000;

/// Free chips given to the clusters that wear fastest; `None` where the fastest gains nothing.
/// `allocation` passes, and so does the result; the work is bounded.
pub fn spread(set: &TaskSet, analysis: &dyn Analysis, allocation: &Allocation) -> Option<Allocation> {
    let size = set.tasks().len() as u64 + u64::from(set.device().chips());
    let trials = MOST_TRIALS.min(MOST_WORK / size.max(1));
    let work = Work::new();
    let bound = work.bound(MAX_TEST_WORK);
    let test = analysis.demand_test().map(|test| test.on(set.device()));
    let mut search = SpreadSearch { set, analysis, test, trials, work: &work, bound };
    let mut found = None;
    let mut now = Arranged::of(set, analysis, allocation);
    while let Some(better) = search.step(&now) {
        now = Arranged::of(set, analysis, &better);
        found = Some(better);
    }
    found
}

fn writes(set: &TaskSet, cluster: &Cluster) -> bool {
    cluster.tasks.iter().any(|&task| set.tasks().get(task).is_some_and(|task| task.write.is_some()))
}

#[derive(Debug, Clone)]
struct Busy {
    cluster: Cluster,
    placement: Option<Placement>,
    /// Pages programmed on each of its chips in 2⁶⁴ ns, at most.
    wear: Fraction,
}

#[derive(Debug)]
struct Arranged {
    busy: Vec<Busy>,
    free: Vec<ChipId>,
}

impl Arranged {
    fn of(set: &TaskSet, analysis: &dyn Analysis, allocation: &Allocation) -> Arranged {
        let (mut busy, mut free) = (Vec::new(), Vec::new());
        for (position, cluster) in allocation.clusters().into_iter().enumerate() {
            if cluster.tasks.is_empty() {
                free.extend(cluster.chips);
                continue;
            }
            let certificate = allocation.certificate(position);
            let wear = wear(set, analysis, &cluster, certificate);
            busy.push(Busy { cluster, placement: certificate.map(|certificate| certificate.placement), wear });
        }
        free.sort_unstable();
        Arranged { busy, free }
    }

    fn fastest(&self) -> Option<usize> {
        let wearing = (0..self.busy.len()).filter(|&at| self.busy[at].wear.numerator() > 0);
        wearing.max_by(|&a, &b| self.busy[a].wear.cmp(&self.busy[b].wear).then(b.cmp(&a)))
    }
}

/// Pages programmed on each chip of a cluster, at most: Σ w/T (1 + v/α)/s.
fn wear(set: &TaskSet, analysis: &dyn Analysis, cluster: &Cluster, certificate: Option<&Certificate>) -> Fraction {
    let (valid, reclaimed) = victim(set, analysis, certificate).unwrap_or((0, 1));
    let requests = cluster.tasks.iter().filter_map(|&task| set.tasks().get(task)?.write);
    // Pages of a request are below 2⁶³.
    let pages = requests.map(|write| (u128::from(write.pages()) << 64) / u128::from(write.period().as_ns()));
    let pages = pages.fold(0, u128::saturating_add);
    let programmed = pages.saturating_mul(u128::from(valid) + u128::from(reclaimed));
    Fraction::new(programmed, u128::from(reclaimed) * u128::from(cluster.size()))
}

struct SpreadSearch<'a> {
    set: &'a TaskSet,
    analysis: &'a dyn Analysis,
    test: Option<DemandTest>,
    trials: u64,
    work: &'a Work,
    bound: WorkBound<'a>,
}

impl SpreadSearch<'_> {
    /// The cluster that wears fastest wears less, and none as fast as it did.
    fn step(&mut self, now: &Arranged) -> Option<Allocation> {
        let fastest = now.fastest()?;
        let writers = now.busy.iter().filter(|busy| writes(self.set, &busy.cluster)).count();
        let ways = self.set.device().chips_per_channel();
        let chips = now.busy[fastest].cluster.size();
        let most = (now.free.len() / (2 * writers.max(1))).max(1);
        let fewer = std::iter::successors(Some(most), |&count| (count > 1).then_some(count / 2));
        // A number that completes a channel may pass where fewer do not.
        let whole = std::iter::once((ways - chips % ways) as usize);
        let kept = now.busy[fastest].placement;
        let all = self.test.map_or(&[][..], |test| test.placements);
        let others = all.iter().copied().map(Some).filter(|&other| other != kept);
        let placements: Vec<Option<Placement>> = std::iter::once(kept).chain(others).collect();
        for count in fewer.chain(whole).filter(|&count| count <= now.free.len()) {
            for chips in self.picks(now, fastest, count) {
                for &placement in &placements {
                    if self.trials == 0 || self.bound.left() == 0 {
                        return None;
                    }
                    self.trials -= 1;
                    if let Some(better) = self.with(now, fastest, &chips, placement) {
                        return Some(better);
                    }
                }
            }
        }
        None
    }

    /// `count` free chips in two ways: next to the cluster's own, and where few others are at work.
    fn picks(&self, now: &Arranged, cluster: usize, count: usize) -> Vec<Vec<ChipId>> {
        let device = self.set.device();
        let channels = device.channels() as usize;
        let channel = |chip: ChipId| (chip.0 / device.chips_per_channel()) as usize;
        let (mut own, mut others, mut free) = (vec![0_u32; channels], vec![0_u32; channels], vec![0_u32; channels]);
        for (at, busy) in now.busy.iter().enumerate() {
            let counts = if at == cluster { &mut own } else { &mut others };
            busy.cluster.chips.iter().for_each(|&chip| counts[channel(chip)] += 1);
        }
        now.free.iter().for_each(|&chip| free[channel(chip)] += 1);
        let first = |mut chips: Vec<ChipId>| {
            chips.truncate(count);
            chips.sort_unstable();
            chips
        };
        let (mut near, mut least_loaded) = (now.free.clone(), now.free.clone());
        near.sort_by_key(|&chip| (std::cmp::Reverse(own[channel(chip)]), std::cmp::Reverse(free[channel(chip)]), chip));
        least_loaded.sort_by_key(|&chip| (others[channel(chip)], chip));
        let (near, least_loaded) = (first(near), first(least_loaded));
        // The places of chips decide nothing under Theorem 1.
        if near == least_loaded || self.test.is_none() { vec![near] } else { vec![near, least_loaded] }
    }

    /// If all clusters pass, the cluster wears less, and none as fast as it did.
    fn with(
        &self,
        now: &Arranged,
        cluster: usize,
        chips: &[ChipId],
        placement: Option<Placement>,
    ) -> Option<Allocation> {
        let mut clusters: Vec<(Cluster, Option<Placement>)> =
            now.busy.iter().map(|busy| (busy.cluster.clone(), busy.placement)).collect();
        clusters[cluster].0.chips.extend(chips);
        clusters[cluster].0.chips.sort_unstable();
        clusters[cluster].1 = placement;
        let rest = now.free.iter().copied().filter(|chip| chips.binary_search(chip).is_err());
        let allocation = arranged(self.set, self.analysis, self.test, clusters, rest, self.work)?;
        let after = Arranged::of(self.set, self.analysis, &allocation);
        let before = now.busy[cluster].wear;
        // The others may have new certificates; those that wore as fast still do.
        let tasks = &now.busy[cluster].cluster.tasks;
        let holds = |busy: &Busy| busy.wear < before || busy.wear == before && busy.cluster.tasks != *tasks;
        after.busy.iter().all(holds).then_some(allocation)
    }
}

#[cfg(test)]
mod tests {
    use rtflash_analysis::verdict::passing;
    use rtflash_analysis::{Sound, Thesis};
    use rtflash_model::{Device, DeviceSpec, Request, Span, Task};

    use super::*;
    use crate::allocator::{Allocator, ClusteringBfd};

    fn set(chips: u32, writers: &[(u64, u32)]) -> TaskSet {
        let spec = Device::profile("dgist-2021").unwrap().spec();
        let device = Device::new(DeviceSpec { chips, chips_per_channel: 4, ..spec }).unwrap();
        let task = |(index, &(pages, us)): (usize, &(u64, u32))| Task {
            name: format!("w{index}"),
            read: Request::new(pages, Span::from_us(us)),
            write: Request::new(pages, Span::from_us(us)),
            data_pages: None,
        };
        TaskSet::new(device, writers.iter().enumerate().map(task).collect(), vec![]).unwrap()
    }

    fn fastest(set: &TaskSet, analysis: &dyn Analysis, allocation: &Allocation) -> f64 {
        let arranged = Arranged::of(set, analysis, allocation);
        arranged.fastest().map_or(0.0, |at| arranged.busy[at].wear.to_f64())
    }

    /// All chips in one cluster are all there is; several share them about as they write.
    #[test]
    fn free_chips_are_used() {
        for (chips, writers, most) in [
            (8, &[(4, 40_000)][..], 1.0 / 8.0),
            (16, &[(24, 30_000), (12, 30_000), (6, 30_000)], 1.2 * 42.0 / 24.0 / 16.0),
        ] {
            let set = set(chips, writers);
            let allocation = ClusteringBfd.allocate(&set, &Thesis).allocation().cloned().unwrap();
            let before = fastest(&set, &Thesis, &allocation);
            let better = spread(&set, &Thesis, &allocation).unwrap();
            assert!(passing(&set, &Thesis, &better).into_iter().all(|passes| passes));
            let per_chip = (u128::from(writers[0].0) << 64) as f64 * 2.0 / (f64::from(writers[0].1) * 1e3);
            let after = fastest(&set, &Thesis, &better);
            assert!(after < before && after <= per_chip * most * 1.000_001, "{after} {before} {better:?}");
            assert_eq!(spread(&set, &Thesis, &better), None);
        }
    }

    #[test]
    fn certificates_are_made_anew() {
        let set = set(12, &[(8, 40_000), (2, 40_000)]);
        let allocation = ClusteringBfd.allocate(&set, &Sound::default()).allocation().cloned().unwrap();
        let better = spread(&set, &Sound::default(), &allocation).unwrap();
        assert!(passing(&set, &Sound::default(), &better).into_iter().all(|passes| passes));
        assert!(fastest(&set, &Sound::default(), &better) * 2.0 < fastest(&set, &Sound::default(), &allocation));
    }

    #[test]
    fn nothing_to_gain_is_nothing() {
        let full = set(1, &[(4, 100_000)]);
        let allocation = ClusteringBfd.allocate(&full, &Thesis).allocation().cloned().unwrap();
        assert_eq!(spread(&full, &Thesis, &allocation), None);
        let reader =
            Task { name: "r".into(), read: Request::new(1, Span::from_us(9_000)), write: None, data_pages: None };
        let idle = TaskSet::new(*full.device(), vec![reader], vec![]).unwrap();
        let allocation = ClusteringBfd.allocate(&idle, &Sound::default()).allocation().cloned().unwrap();
        assert_eq!(spread(&idle, &Sound::default(), &allocation), None);
    }
}
