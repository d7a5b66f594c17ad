//! How much memory a run takes, known before any of it is asked for.

use rtflash_model::{Arrivals, Instant, capped};

use crate::groups::groups;
use crate::options::{Dispatch, Options, Pattern};
use crate::plan::{Plan, Promise, Releases, Source};

/// Bytes that a run takes at most, if no limit is given: 2 GiB, with room for pending jobs.
pub const DEFAULT_MEMORY: u64 = 2 << 30;

/// Samples that are kept one by one.
pub const EXACT_RESPONSES: usize = 1 << 16;

/// A chip in the engine and the observers of a group, which have tables of all chips.
const CHIP_IN_GROUP: u128 = 512;
const CHANNEL_IN_GROUP: u128 = 256;
const SOURCE_IN_GROUP: u128 = 768;
/// A chip, its processor and its blocks, once.
const CHIP: u128 = 2_048;
/// A cluster, once.
const CLUSTER: u128 = 1_024;
/// A source's addresses in one cluster.
const ADDRESSES: u128 = 512;
/// A block, in the engine and the checkers.
const BLOCK: u128 = 36;
/// A page. Building the tables of a processor takes it three times.
const PAGE: u128 = 4;
/// A logical page, in the engine and the checkers.
const LOGICAL_PAGE: u128 = 8;
/// Under parallel dispatch also the read that waits for it, and its last program.
const LOGICAL_PAGE_BY_CHIPS: u128 = 12;
/// A response time in a list that grows; twice, because groups are joined.
const RESPONSE: u128 = 32;
const HISTOGRAM: u128 = 1 << 20;

/// The most bytes that the tables of a run take, without pending jobs, whose number is limited.
pub fn memory(plan: &Plan, options: &Options) -> u64 {
    let groups = groups(plan, options).len().max(1) as u128;
    let tables = everything(plan, groups, options.duration);
    let drawn = plan.clusters().iter().map(|cluster| {
        let layout = &cluster.layout;
        let chips = u128::from(layout.chips());
        let streams = match plan.promise() {
            Promise::Utilization => 2 * plan.jobs().len() as u128,
            Promise::Certified(_) => 0,
        };
        // Under `one-chip` the pages that are there, for reads and for writes, in lists that grow.
        let on_one = if matches!(options.pattern, Pattern::OneChip | Pattern::Fullest) {
            16 * u128::from(layout.logical_pages()) / chips
        } else {
            0
        };
        let by_chips = match (plan.promise(), options.dispatch) {
            (Promise::Utilization, Dispatch::Parallel) => LOGICAL_PAGE_BY_CHIPS * u128::from(layout.logical_pages()),
            (Promise::Utilization, Dispatch::Serial) | (Promise::Certified(_), _) => 0,
        };
        streams * ADDRESSES + on_one + by_chips
    });
    let building = plan.clusters().enumerate().map(|(number, cluster)| {
        let chips = match plan.promise() {
            Promise::Utilization => 1,
            Promise::Certified(certified) => certified[number].width(cluster.layout.chips()),
        };
        3 * PAGE * u128::from(cluster.layout.pages_per_chip()) * u128::from(chips)
    });
    let pages = plan.clusters().iter().map(|cluster| {
        let layout = &cluster.layout;
        let spare = u128::from(layout.spare_blocks()) * u128::from(layout.pages());
        let pages = (u128::from(layout.pages_per_chip()) + spare) * u128::from(layout.chips());
        // And a bit, whether it is valid.
        PAGE * pages + pages.div_ceil(8)
    });
    // Requests that may come earlier than their periods have it.
    let stated = plan.sources().iter().map(|source| {
        let pattern = options.releases.as_ref();
        let stated = pattern.and_then(|pattern| pattern.of(source));
        stated.map_or(0, |stated| stated.releases.len() as u128 * RESPONSE)
    });
    let stated = stated.sum::<u128>();
    capped(tables + stated + drawn.sum::<u128>() + pages.sum::<u128>() + building.fold(0, u128::max))
}

/// Bytes that judging a recorded trace of a plan takes at most, beside what grows with the trace.
pub fn memory_of_trace(plan: &Plan) -> u64 {
    capped(everything(plan, 1, Instant::START))
}

/// All but the pages of the engine.
fn everything(plan: &Plan, groups: u128, end: Instant) -> u128 {
    let device = plan.device();
    let (chips, sources) = (u128::from(device.chips()), plan.sources().len() as u128);
    // One more for the report of all groups.
    let in_groups = (groups + 1)
        * (chips * CHIP_IN_GROUP + u128::from(device.channels()) * CHANNEL_IN_GROUP + sources * SOURCE_IN_GROUP);
    let streams = plan.jobs().len() as u128;
    let clusters = plan.clusters().iter().map(|cluster| {
        let layout = &cluster.layout;
        CLUSTER
            + u128::from(layout.chips()) * u128::from(layout.blocks() + layout.spare_blocks()) * BLOCK
            + u128::from(layout.logical_pages()) * LOGICAL_PAGE
            // The range of pages of each.
            + (cluster.tasks.len() as u128 + streams) * 16
    });
    let responses = plan.sources().iter().map(|source| {
        let exact = releases(plan, source, end).min(EXACT_RESPONSES as u128);
        exact * RESPONSE + if exact == EXACT_RESPONSES as u128 { HISTOGRAM } else { 0 }
    });
    in_groups + chips * CHIP + sources * ADDRESSES + clusters.sum::<u128>() + responses.sum::<u128>()
}

/// The most jobs of a source that can be complete before the end.
fn releases(plan: &Plan, source: &Source, end: Instant) -> u128 {
    let end = u128::from(end.as_ns());
    let every = |gap: u64| end / u128::from(gap.max(1)) + 1;
    match source.releases {
        Releases::Periodic(period) => end.saturating_mul(period.denominator()) / period.numerator() + 1,
        // Each erases a block.
        Releases::Collected { .. } => every(plan.device().block_erase().as_ns()),
        // A host's jobs are counted by the host.
        Releases::Handed => 0,
        Releases::Arrivals(stream) => match plan.jobs().get(stream).map(|job| &job.arrivals) {
            Some(Arrivals::Every(gap) | Arrivals::Uniform(gap, _)) => every(gap.as_ns()),
            Some(Arrivals::Bursts { every: gap, burst }) => every(gap.as_ns()).saturating_mul((*burst).into()),
            // More arrive with a probability below 10⁻²⁴, by Chernoff's bound.
            Some(Arrivals::Poisson(mean)) => 4 * every(mean.as_ns()) + 64,
            Some(Arrivals::At(times)) => times.len() as u128,
            None => 0,
        },
    }
}
