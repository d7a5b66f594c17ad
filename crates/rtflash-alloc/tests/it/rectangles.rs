//! Clusters as rectangles: what is returned is an allocation that the verifier, which shares no
//! code, accepts; and few sets lose theirs.

use rtflash_alloc::allocator::{Allocator, BestFit, ClusteringBfd};
use rtflash_alloc::rectangles::in_rectangles;
use rtflash_analysis::{Analysis, ClusterTest, ClusterVerdict, Fraction, Sound, Test, Thesis};
use rtflash_model::random::Stream;
use rtflash_model::{
    Allocation, ChipRectangle, Cluster, Device, DeviceSpec, Placement, Reliance, Request, Span, Task, TaskId, TaskSet,
};
use rtflash_verify::{Equations, verify, verify_certified};

/// A set whose load is between so many hundredths of what its chips carry, about.
fn draw(number: u64, [least, most]: [u64; 2]) -> TaskSet {
    let mut random = Stream::numbered(7, b"rectangl", number);
    let mut within = |low: u64, high: u64| u32::try_from(low + random.below(high - low + 1)).expect("small");
    let spec = Device::profile("dgist-2021").expect("a profile").spec();
    let (ways, channels, missing) = (within(2, 5), within(3, 6), within(0, 2));
    let chips = (ways * channels).saturating_sub(missing).max(1);
    let device = Device::new(DeviceSpec { chips, chips_per_channel: ways, ..spec }).expect("a device");
    let tasks = within(2, 6);
    // Hundredths of a chip that a task alone may need, about.
    let share = u64::from(chips) * u64::from(within(least, most)) / u64::from(tasks);
    let task = |index| {
        let period = within(20_000, 200_000);
        let of = |kind: u32, us: u64| {
            let pages = share * u64::from(period) / us * u64::from(kind) / 1_000;
            Request::new(pages.max(1), Span::from_us(period))
        };
        let reads = within(0, 10);
        let read = (reads > 0).then(|| of(reads, 50)).flatten();
        Task { name: format!("t{index}"), read, write: of(10 - reads.min(9), 1_000), data_pages: None }
    };
    TaskSet::new(device, (0..tasks).map(task).collect(), vec![]).expect("a task set")
}

fn are_rectangles(set: &TaskSet, allocation: &Allocation) -> bool {
    let served = allocation.clusters().into_iter().filter(|cluster| !cluster.tasks.is_empty());
    served.into_iter().all(|cluster| ChipRectangle::of(set.device(), &cluster.chips).is_some())
}

fn verified(set: &TaskSet, allocation: &Allocation, analysis: &dyn Analysis) -> bool {
    if analysis.name() == "thesis" {
        return verify(set, allocation, Equations::Thesis).schedulable();
    }
    let verification = verify_certified(set, allocation, &Placement::COLLECTING, Reliance::Neighbours);
    verification.clusters.iter().all(|cluster| cluster.holds == Some(true))
}

#[test]
fn what_is_laid_out_is_verified_and_few_sets_lose_their_allocation() {
    let sound = Sound::default();
    for (analysis, by, sets, load) in [
        (&Thesis as &dyn Analysis, &ClusteringBfd as &dyn Allocator, 600, [20, 75]),
        (&sound as &dyn Analysis, &BestFit, 300, [10, 45]),
        // Some layout fails here.
        (&sound, &BestFit, 400, [20, 45]),
    ] {
        let (mut accepted, mut expressible, mut kept) = (0_u32, 0_u32, 0_u32);
        for number in 0..sets {
            let set = draw(number, load);
            let Some(allocation) =
                Some(by.allocate(&set, analysis)).filter(|outcome| outcome.is_schedulable() == Some(true))
            else {
                continue;
            };
            let allocation = allocation.allocation().expect("a schedulable set has one");
            accepted += 1;
            let laid_out = in_rectangles(&set, analysis, allocation);
            assert_eq!(laid_out, in_rectangles(&set, analysis, allocation));
            if are_rectangles(&set, allocation) {
                expressible += 1;
                assert_eq!(laid_out.as_ref(), Some(allocation), "what are rectangles stays");
            }
            let Some(laid_out) = laid_out else { continue };
            kept += 1;
            assert!(are_rectangles(&set, &laid_out), "{number}: {laid_out:?}");
            assert!(verified(&set, &laid_out, analysis), "{number}: {laid_out:?}");
        }
        let name = analysis.name();
        assert!(accepted > 60 && expressible < accepted, "{name}: {accepted} {expressible}: too easy");
        assert!(kept * 100 >= accepted * 95, "{name}: of {accepted} {kept} keep an allocation, {expressible} had it");
    }
}

/// Three chips on channels of two ways: two clusters of three chips need all six, and no channel
/// has three ways; three channels have.
#[test]
fn three_chips_lie_on_three_channels() {
    let spec = Device::profile("dgist-2021").unwrap().spec();
    let device = |channels: u32| Device::new(DeviceSpec { chips: 2 * channels, chips_per_channel: 2, ..spec }).unwrap();
    let task = |index| Task {
        name: format!("t{index}"),
        read: None,
        write: Request::new(40, Span::from_us(36_000)),
        data_pages: None,
    };
    let set = |channels: u32| TaskSet::new(device(channels), vec![task(0), task(1)], vec![]).unwrap();
    for (channels, laid) in [(3, true), (2, false)] {
        let set = set(channels);
        let found = ClusteringBfd.allocate(&set, &Thesis);
        let Some(allocation) = found.allocation().filter(|_| found.is_schedulable() == Some(true)) else {
            assert!(!laid);
            continue;
        };
        let sizes: Vec<u32> = allocation.clusters().iter().map(rtflash_model::Cluster::size).collect();
        assert_eq!(sizes, [3, 3]);
        let in_shape = in_rectangles(&set, &Thesis, allocation).expect("each way of all channels");
        let chips: Vec<Vec<u32>> =
            in_shape.clusters().iter().map(|cluster| cluster.chips.iter().map(|chip| chip.0).collect()).collect();
        assert_eq!(chips, [[0, 2, 4], [1, 3, 5]]);
    }
}

/// No rectangle of a grid of four by four has five chips: two channels of three ways have six.
#[test]
fn five_chips_become_six() {
    let device = Device::profile("dgist-2021").expect("a profile");
    let write = Request::new(500, Span::from_us(360_000));
    let task = Task { name: "t".into(), read: None, write, data_pages: None };
    let set = TaskSet::new(device, vec![task], vec![]).expect("a task set");
    let found = ClusteringBfd.allocate(&set, &Thesis);
    let allocation = found.allocation().expect("an allocation");
    assert_eq!(allocation.clusters()[0].size(), 5);
    let laid_out = in_rectangles(&set, &Thesis, allocation).expect("there are free chips");
    assert_eq!(laid_out.clusters()[0].size(), 6);
    assert!(are_rectangles(&set, &laid_out) && verified(&set, &laid_out, &Thesis));
}

/// No cluster of six chips, and else as many as one likes.
struct NeverSix;

impl Analysis for NeverSix {
    fn name(&self) -> &'static str {
        "never-six"
    }

    fn summary(&self) -> &'static str {
        "no cluster of six chips"
    }

    fn test(&self) -> Test<'_> {
        Test::Cluster(self)
    }
}

impl ClusterTest for NeverSix {
    fn verdict(&self, _: &Device, _: &[&Task], chips: u32) -> ClusterVerdict {
        ClusterVerdict::up_to_one(Fraction::new(if chips == 6 { 2 } else { 1 }, 1))
    }
}

/// A layout counts when every cluster of it passes. Five chips of sixteen are no rectangle, six do
/// not pass beside a cluster that does, seven are none either: eight.
#[test]
fn layouts_in_which_one_cluster_fails_do_not_count() {
    let device = Device::profile("dgist-2021").expect("a profile");
    let task = |index| {
        let read = Request::new(1, Span::from_us(360_000));
        Task { name: format!("t{index}"), read, write: None, data_pages: None }
    };
    let set = TaskSet::new(device, vec![task(0), task(1)], vec![]).expect("a task set");
    let free = (7..16).map(|chip| Cluster::of([chip], []));
    let clusters: Vec<Cluster> = [Cluster::of(0..5, [0]), Cluster::of(5..7, [1])].into_iter().chain(free).collect();
    let allocation = Allocation::new(16, 2, &clusters).expect("an allocation");
    let laid_out = in_rectangles(&set, &NeverSix, &allocation).expect("eight of sixteen chips");
    let of = |task| laid_out.clusters()[laid_out.cluster_of_task(TaskId(task)).expect("a cluster")].size();
    assert_eq!((of(0), of(1)), (8, 2));
    assert!(are_rectangles(&set, &laid_out));
}
