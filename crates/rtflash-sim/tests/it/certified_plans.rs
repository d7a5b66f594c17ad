//! The certificates that no run can obey.

use rtflash_model::{
    Allocation, Certificate, ChipId, Cluster, ClusterId, Collection, Device, DeviceSpec, LogicalRatio, Lpn, Placement,
    Request, Task, TaskSet,
};
use rtflash_plan::{Certified, ClusterTerms, Plan, PlanError, Promise, Releases, Timing};

use crate::common::ns;

const COLLECTION: Collection =
    Collection { deadline: None, reclaimed_pages: 2, reserve_pages: 6, victim_pages: 2, open_blocks: 2 };

fn certificate(placement: Placement, collection: Option<Collection>) -> Option<Certificate> {
    Some(Certificate { placement, collection, server_thousandths: 0, backfill: true, tightest: None })
}

/// The plan of two clusters of two chips, 32 pages each, half of them logical; a writer with so
/// much data is in the first one.
fn plan(data_pages: Option<u64>, certificates: [Option<Certificate>; 2]) -> Result<Plan, PlanError> {
    plan_with(None, data_pages, certificates)
}

/// The plan on a device of which this many blocks of a chip may fail.
fn plan_with(
    spare_blocks: Option<u32>,
    data_pages: Option<u64>,
    certificates: [Option<Certificate>; 2],
) -> Result<Plan, PlanError> {
    let spec = DeviceSpec {
        chips: 4,
        chips_per_channel: 2,
        blocks_per_chip: 8,
        pages_per_block: 4,
        page_size: 512,
        spare_blocks,
        logical_ratio: LogicalRatio::HALF,
        page_read: ns(2),
        page_program: ns(4),
        block_erase: ns(9),
        page_transfer: ns(1),
        ..DeviceSpec::default()
    };
    let device = Device::new(spec).expect("a small device");
    let write = Request::new(3, ns(100));
    let task = Task { name: "w".to_owned(), read: None, write, data_pages };
    let set = TaskSet::new(device, vec![task], vec![]).expect("a small set");
    let clusters = [Cluster::of([0, 1], [0]), Cluster::of([2, 3], [])];
    let allocation = Allocation::new(4, 1, &clusters).expect("a partition");
    let terms = [(vec![None], certificates[0]), (vec![], certificates[1])].map(|(gc_periods, certificate)| {
        let utilization = ClusterTerms::Utilization { page_delay: ns(0), gc_periods };
        certificate.map_or(utilization, ClusterTerms::Certified)
    });
    Plan::new(&set, &allocation, Timing::of_device(&device), &terms)
}

/// The additional part of a plan's first cluster.
fn first_of(plan: &Plan) -> &Certified {
    let Promise::Certified(certified) = plan.promise() else { panic!("certificates") };
    &certified[ClusterId(0)]
}

/// An allocation of another device, or of another set, is no plan of this one.
#[test]
fn allocations_of_something_else_are_refused() {
    let spec = Device::profile("dgist-2021").expect("a profile").spec();
    let device = Device::new(DeviceSpec { chips: 2, chips_per_channel: 2, ..spec }).expect("a device of two chips");
    let task = Task { name: "w".to_owned(), read: None, write: Request::new(3, ns(100_000_000)), data_pages: None };
    let set = TaskSet::new(device, vec![task], vec![]).expect("a set of one task");
    let refused = |chips: Vec<u32>, tasks: Vec<u32>| {
        let task_count = tasks.len();
        let clusters = [Cluster::of(chips, tasks)];
        let allocation = Allocation::new(3, task_count, &clusters).expect("an allocation to three chips");
        let terms = [ClusterTerms::Utilization { page_delay: ns(0), gc_periods: vec![None; task_count] }];
        Plan::new(&set, &allocation, Timing::of_device(&device), &terms).err()
    };
    assert_eq!(refused(vec![0, 1, 2], vec![0]), Some(PlanError::OtherAllocation));
    assert_eq!(refused(vec![0, 1], vec![0, 1]), Some(PlanError::OtherAllocation));
}

#[test]
fn plans_by_certificates() {
    let collection = Some(Collection { deadline: Some(ns(50)), ..COLLECTION });
    let stripe = certificate(Placement::Stripe, collection);
    let reads = certificate(Placement::Superblock, None);
    let sources = |plan: &Plan| -> Vec<(String, Releases)> {
        plan.sources().iter().skip(1).map(|source| (source.name.clone(), source.releases)).collect()
    };
    let two = plan(Some(5), [stripe, reads]).expect("a plan");
    let (first, second) =
        (Releases::Collected { chip: Some(ChipId(0)) }, Releases::Collected { chip: Some(ChipId(1)) });
    assert_eq!(sources(&two), [("chip0.gc".to_owned(), first), ("chip1.gc".to_owned(), second)]);
    assert_eq!(first_of(&two).ranges, vec![Lpn(0)..Lpn(6)]);
    assert_eq!(two.clusters()[ClusterId(0)].page_delay, ns(1));
    // v(t_r + t_w) + t_e, and min(v, P)(t_r + t_d) + ⌈v/s⌉(t_w + m_c t_d) + t_e: alone on the
    // channel.
    assert_eq!(first_of(&two).pass, Some(ns(2 * 6 + 9)));
    let superblock = certificate(Placement::Superblock, collection);
    let one = plan(None, [superblock, reads]).expect("a plan");
    assert_eq!(sources(&one), [("cluster0.gc".to_owned(), Releases::Collected { chip: None })]);
    assert_eq!(first_of(&one).ranges, vec![Lpn(0)..Lpn(32)]);
    assert_eq!(first_of(&one).pass, Some(ns(2 * 3 + 6 + 9)));

    assert_eq!(plan(None, [stripe, None]).err(), Some(PlanError::MixedCertificates));
    let faults = [
        (None, "has no garbage collection, and tasks write"),
        (Some(COLLECTION), "has no deadline of garbage collection"),
        (
            Some(Collection { reclaimed_pages: 0, deadline: Some(ns(1)), ..COLLECTION }),
            "has passes that reclaim nothing",
        ),
        (
            Some(Collection { victim_pages: u64::MAX, deadline: Some(ns(1)), ..COLLECTION }),
            "has passes that take 2^63 ns or longer",
        ),
    ];
    for (collection, fault) in faults {
        let error = plan(None, [certificate(Placement::Stripe, collection), reads]).err();
        assert_eq!(error, Some(PlanError::Certificate { cluster: 0, fault }));
    }
    // Data that do not fit are reported; they are run in equal shares.
    let crowded = plan(Some(33), [stripe, reads]).expect("a plan");
    assert_eq!(crowded.clusters()[ClusterId(0)].data, Some(rtflash_plan::Data { pages: 34, room: 32 }));
    assert_eq!(first_of(&crowded).ranges, vec![Lpn(0)..Lpn(32)]);
    let crowded = collection.map(|of| Collection { reserve_pages: 17, ..of });
    assert_eq!(
        plan(None, [certificate(Placement::Stripe, crowded), reads]).err(),
        Some(PlanError::NoRoom { cluster: 0 })
    );
    assert!(plan(None, [certificate(Placement::Superblock, crowded), reads]).is_ok());
}

/// A superblock of two chips would have to keep back six of eight blocks, and the others do not
/// hold its pages.
#[test]
fn where_nothing_is_written_no_block_is_kept_back() {
    let writes =
        certificate(Placement::Stripe, Some(Collection { deadline: Some(ns(50)), reserve_pages: 4, ..COLLECTION }));
    let reads = certificate(Placement::Superblock, None);
    let found = plan_with(Some(3), None, [writes, reads]).expect("reads do not make blocks fail");
    let layouts: Vec<u32> = found.clusters().iter().map(|of| of.layout.spare_blocks()).collect();
    assert_eq!(layouts, [3, 0]);
    // As many as there is room beside are, as ever.
    let found = plan_with(Some(2), None, [writes, reads]).expect("they fit");
    assert_eq!(found.clusters()[ClusterId(1)].layout.spare_blocks(), 4);
    let collects = certificate(Placement::Superblock, Some(Collection { reserve_pages: 0, ..COLLECTION }));
    let refused = plan_with(Some(3), None, [writes, collects]).expect_err("they do not fit");
    assert!(matches!(refused, PlanError::NoRoom { cluster: 1 }), "{refused:?}");
}
