//! The cost of an allocation whose tasks overwrite their data in a known manner: estimates
//! (docs/lifetime.md).

use rtflash_analysis::certified::processors;
use rtflash_analysis::{Analysis, Test};
use rtflash_model::{Certificate, Cluster, Collection, Request, TaskSet};

use super::overwriting::{Amplification, CopyFrontier, OverwriteOrder, SharedStore, Writer, amplification};
use super::wear::{ClusterCost, Expected, Wear, request_pages};

/// `bound`: the write amplification at most. Under a demand test the cluster has a certificate.
pub(super) fn expected(
    set: &TaskSet,
    analysis: &dyn Analysis,
    cluster: &Cluster,
    certificate: Option<&Certificate>,
    order: OverwriteOrder,
    bound: Option<f64>,
) -> Option<Expected> {
    if certificate.is_some_and(|certificate| certificate.placement.is_zoned()) {
        return in_zones(set, cluster);
    }
    let space = match analysis.test() {
        Test::Demand(_) => ExecutedSpace::certified(set, cluster, certificate?, certificate?.collection?)?,
        Test::Linear(_) | Test::Utilization(_) | Test::Cluster(_) => ExecutedSpace::of_theorem_1(set, cluster)?,
    };
    let (writers, at_rest) = writers(set, cluster, &space)?;
    let store = SharedStore { room: space.room as f64, at_rest, frontier: space.frontier };
    let found = amplification(&writers, order, store)?;
    let within = |found: f64| bound.map_or(found, |bound| found.min(bound));
    let Amplification { least, in_order, most } = found;
    let found = Amplification { least: within(least), in_order: within(in_order), most: within(most) };
    let pages = writers.iter().fold(0.0, |sum, writer| sum + writer.rate);
    let wear = |amplification: f64| Wear::new(set, pages, amplification, cluster.chips.len());
    Some(Expected { amplification: found, least: wear(found.least), most: wear(found.most) })
}

/// In zones nothing is copied, and who writes goes round.
fn in_zones(set: &TaskSet, cluster: &Cluster) -> Option<Expected> {
    let writes = cluster.tasks.iter().filter_map(|&task| set.tasks().get(task)?.write);
    let pages = writes.map(request_pages).fold(0.0, |sum, pages| sum + pages);
    let wear = Wear::new(set, pages, 1.0, cluster.chips.len());
    let amplification = Amplification { least: 1.0, in_order: 1.0, most: 1.0 };
    (pages > 0.0).then_some(Expected { amplification, least: wear, most: wear })
}

pub(super) fn in_all(clusters: &[ClusterCost], of: fn(&ClusterCost) -> Option<Expected>) -> Option<Expected> {
    let all = clusters.iter().filter(|cluster| cluster.write_amplification.is_some() && cluster.wear.pages > 0.0);
    let all: Vec<Expected> = all.map(of).collect::<Option<_>>()?;
    let sum = |wear: fn(&Expected) -> Wear| all.iter().map(wear).fold(Wear::default(), Wear::and);
    let (least, most) = (sum(|expected| expected.least), sum(|expected| expected.most));
    let ratio = |wear: Wear| (wear.pages + wear.gc_pages) / wear.pages;
    let copied = all.iter().map(|of| (of.amplification.in_order - 1.0) * of.least.pages).fold(0.0, |sum, of| sum + of);
    let in_order = 1.0 + copied / least.pages;
    let amplification = Amplification { least: ratio(least), in_order, most: ratio(most) };
    (least.pages > 0.0).then_some(Expected { amplification, least, most })
}

struct ExecutedSpace {
    /// C: pages that hold data, current or not.
    room: u128,
    /// Logical pages, all of which are mapped.
    logical: u128,
    /// Pages of data that there may be in any case: s ⌊λNP⌋.
    most: u128,
    frontier: CopyFrontier,
}

impl ExecutedSpace {
    /// Under a certificate, Eq. (3): on every processor about H pages are free.
    fn certified(
        set: &TaskSet,
        cluster: &Cluster,
        certificate: &Certificate,
        collection: Collection,
    ) -> Option<ExecutedSpace> {
        let device = set.device();
        let chips = u128::from(cluster.size());
        let units = u128::from(processors(certificate.placement, cluster.size().into()));
        let all = u128::from(device.blocks_per_chip()) * u128::from(device.pages_per_block()) * chips;
        let room = all.checked_sub(u128::from(collection.reserve_pages) * units)?;
        let logical = device.logical_pages_of(cluster.size());
        Some(ExecutedSpace { room, logical, most: logical, frontier: CopyFrontier::Shared })
    }

    /// Under Theorem 1, Eq. (4): λ of the pages outside the reserve. A source of GC skips a pass
    /// while more is free than the reserve, and αs for each source that skipped; half are assumed
    /// to (SPEC.md of rtflash-sim).
    fn of_theorem_1(set: &TaskSet, cluster: &Cluster) -> Option<ExecutedSpace> {
        let device = set.device();
        let (blocks, row) =
            (u128::from(device.blocks_per_chip()), u128::from(device.pages_per_block()) * u128::from(cluster.size()));
        let reclaimed = u128::from(device.reclaimed_per_chip()) * u128::from(cluster.size());
        let writes = || cluster.tasks.iter().filter_map(|&task| set.tasks().get(task)?.write);
        let drawn = writes().fold(reclaimed, |sum, write| sum + u128::from(write.pages()).max(reclaimed));
        let data_blocks = u64::try_from(blocks.checked_sub(drawn.div_ceil(row) + 2)?).ok()?;
        let sources = writes().count() as u128 + 1;
        let room = (blocks * row).checked_sub(drawn + 2 * row + (reclaimed * (sources + 1)).div_ceil(2))?;
        let data = data_blocks.checked_mul(u64::from(device.pages_per_block()))?;
        let logical = u128::from(device.logical_ratio().floor_of(data)) * u128::from(cluster.size());
        Some(ExecutedSpace {
            room,
            logical,
            most: device.logical_pages_of(cluster.size()),
            frontier: CopyFrontier::Apart,
        })
    }
}

/// In pages a day, and the pages that they do not overwrite. A task keeps what it declares, else an
/// equal share of the rest, as does each job stream; pages of no task hold data, too.
fn writers(set: &TaskSet, cluster: &Cluster, space: &ExecutedSpace) -> Option<(Vec<Writer>, f64)> {
    let tasks = || cluster.tasks.iter().filter_map(|&task| set.tasks().get(task));
    let declared: u128 = tasks().filter_map(|task| task.data_pages).map(u128::from).sum();
    // Theorem 1 knows of no reserve: what is declared may take its place.
    let logical = space.logical.max(declared.min(space.most));
    let sharers = tasks().filter(|task| task.data_pages.is_none()).count() + set.jobs().len();
    let left = logical.checked_sub(declared)?;
    let share = if sharers == 0 { 0 } else { left / sharers as u128 };
    let writer = |(write, pages): (Request, u128)| {
        // A request that would not fit behind the last one begins anew: so a ring is of whole
        // requests.
        let request = u128::from(write.pages());
        let data = if request <= pages { pages - pages % request } else { pages };
        Writer { rate: request_pages(write), data: data as f64 }
    };
    let writes = tasks().filter_map(|task| Some((task.write?, task.data_pages.map_or(share, u128::from))));
    let writers: Vec<Writer> = writes.map(writer).collect();
    if writers.iter().any(|writer| writer.data <= 0.0) {
        return None;
    }
    let overwritten = writers.iter().fold(0.0, |sum, writer| sum + writer.data);
    Some((writers, logical as f64 - overwritten))
}
