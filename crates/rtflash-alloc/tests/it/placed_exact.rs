//! `exact` under the sound analyses against every allocation that there is, on small devices.

use rtflash_alloc::allocator::{Outcome, allocator};
use rtflash_analysis::certified::certified;
use rtflash_analysis::{Analysis, Work, analysis_relying_on};
use rtflash_model::random::Stream;
use rtflash_model::{
    Access, Allocation, Device, DeviceSpec, LogicalRatio, Placement, Reliance, Request, Span, Task, TaskSet,
    read_task_set,
};

use crate::common::draw;

/// Every way to give `items` to clusters 0, 1, …: the first to 0, each next to one that has been
/// used or the next new one.
fn partitions(items: usize) -> Vec<Vec<u32>> {
    let mut all = vec![vec![]];
    for _ in 0..items {
        all = all
            .into_iter()
            .flat_map(|owners: Vec<u32>| {
                let next = owners.iter().max().map_or(0, |most| most + 1);
                (0..=next).map(move |owner| [owners.clone(), vec![owner]].concat())
            })
            .collect();
    }
    all
}

/// Every allocation of the tasks: clusters of chips, each task to one of them.
fn hands(chips: usize, tasks: usize) -> Vec<Allocation> {
    let mut all = Vec::new();
    for of_chip in partitions(chips) {
        let clusters = of_chip.iter().max().map_or(0, |most| most + 1);
        let mut owners: Vec<Vec<u32>> = vec![vec![]];
        for _ in 0..tasks {
            let with = |of_task: Vec<u32>| (0..clusters).map(move |owner| [of_task.clone(), vec![owner]].concat());
            owners = owners.into_iter().flat_map(with).collect();
        }
        all.extend(
            owners.into_iter().flat_map(|of_task| Allocation::from_owners(of_chip.clone().into(), of_task.into())),
        );
    }
    all
}

/// If an allocation exists, `exact` finds one, and nothing finds one if none exists.
///
/// Whether there is a set of this number.
fn agrees(name: &str, granted: Reliance, number: u64) -> bool {
    let test: &dyn Analysis = analysis_relying_on(name, granted).expect("there is");
    let Some(set) = draw(&mut Stream::numbered(7, b"hands___", number), 4, 4) else { return false };
    let found = allocator("exact").expect("there is").allocate(&set, test).is_schedulable();
    let (chips, tasks) = (set.device().chips() as usize, set.tasks().len());
    let holds =
        |hand: &Allocation| certified(&set, hand, test.placements(), granted, &Work::new()).1.failing.is_empty();
    let hand = hands(chips, tasks).into_iter().find(holds);
    assert_eq!(found, Some(hand.is_some()), "{name} relying on {} {number}: {hand:?}", granted.name());
    true
}

/// A set on a device whose chips do anything in some nanoseconds, so that any of its times can be
/// the longest.
fn tiny(number: u64) -> Option<TaskSet> {
    let mut stream = Stream::numbered(11, b"tiny____", number);
    let mut within = |low: u64, high: u64| low + stream.below(high - low + 1);
    let short = |ns: u64| Span::from_ns(ns).expect("a short time");
    let profile = Device::profile("dgist-2021").expect("the profile").spec();
    let pages_per_block = u32::try_from(within(1, 2) * 4).expect("few");
    let device = Device::new(DeviceSpec {
        chips: u32::try_from(within(1, 3)).expect("few"),
        chips_per_channel: u32::try_from(within(1, 3)).expect("few"),
        blocks_per_chip: u32::try_from(within(12, 24)).expect("few"),
        pages_per_block,
        logical_ratio: LogicalRatio::from_decimal(within(2, 6).into(), 1).expect("below one"),
        page_read: short(within(1, 30)),
        page_program: short(within(1, 30)),
        block_erase: short(within(1, 40)),
        page_transfer: short(within(1, 10)),
        erase_suspend: (within(0, 2) == 0).then(|| short(3)),
        spare_blocks: (within(0, 3) == 0).then_some(1),
        page_registers: (within(0, 3) == 0).then_some(2),
        command: (within(0, 3) == 0).then(|| short(2)),
        ..profile
    })
    .ok()?;
    let mut request = || {
        let (period, pages) = (within(40, 400), within(1, 2));
        let access = Access::ALL[usize::try_from(within(0, 2)).expect("one of three")];
        let request = Request::new(pages, short(period))?.with_access(access);
        request.with_deadline(Some(short(period - within(0, period / 2))))
    };
    let mut task = |number: u64| {
        let (read, write) = (request().filter(|_| !number.is_multiple_of(3)), request().filter(|_| number % 3 != 1));
        Task { name: format!("t{number}"), read, write, data_pages: None }
    };
    TaskSet::new(device, (number..number + 1 + number % 3).map(&mut task).collect(), Vec::new()).ok()
}

/// On small devices `sound` finds an allocation where `stripe` or `superblock` does, and where
/// there is one: superblocks of one chip are among them.
#[test]
fn sound_finds_what_stripe_or_superblock_finds() {
    let exact = allocator("exact").expect("there is");
    let (mut compared, mut found, mut on_one_chip) = (0, 0, 0);
    for number in 0..12_000 {
        let Some(set) = tiny(number) else { continue };
        let granted = Reliance::ALL[usize::try_from(number % 3).expect("one of three")];
        let by = |name: &str| exact.allocate(&set, analysis_relying_on(name, granted).expect("there is"));
        let [stripe, superblock, sound] = ["stripe", "superblock", "sound"].map(by);
        let holds = |outcome: &Outcome| outcome.is_schedulable() == Some(true);
        let either = holds(&stripe) || holds(&superblock);
        assert!(!either || holds(&sound), "{number}, relying on {}", granted.name());
        compared += 1;
        found += u32::from(either);
        if let Outcome::Schedulable(allocation) = &sound {
            let is_one_chip = |&at: &usize| {
                let placement = allocation.certificate(at).map(|certificate| certificate.placement);
                let cluster = &allocation.clusters()[at];
                placement == Some(Placement::Superblock) && cluster.size() == 1 && !cluster.tasks.is_empty()
            };
            on_one_chip += u32::from((0..allocation.len()).any(|at| is_one_chip(&at)));
        }
    }
    assert!(compared > 1_000 && found > 200 && on_one_chip > 2, "{compared} {found} {on_one_chip}");
}

/// A write that a copy of 24 ns would block for too long, and a row of 21 ns does not, beside an
/// idle chip.
#[test]
fn a_superblock_of_one_chip_is_found() {
    let text = r#"{"device": {"chips": 2, "chips_per_channel": 2, "blocks_per_chip": 22, "pages_per_block": 8,
        "page_size": 4096, "logical_ratio": 0.5, "page_read": "10ns", "page_program": "14ns", "block_erase": "11ns",
        "page_transfer": "7ns", "wear_gap": 1, "wear_passes": 7, "page_read_includes_transfer": false,
        "page_program_includes_transfer": false},
        "tasks": [{"name": "t0", "write": {"pages": 1, "period": "86ns", "access": "sequential", "deadline": "60ns",
        "jitter": "18ns"}}]}"#;
    let set = read_task_set(text).expect("a set").set;
    for algorithm in ["exact", "best-fit", "clustering-search", "clustering-bfd"] {
        let by = |name: &str| {
            let analysis = analysis_relying_on(name, Reliance::Neighbours).expect("there is");
            allocator(algorithm).expect("there is").allocate(&set, analysis).is_schedulable()
        };
        assert_eq!((by("sound"), by("superblock"), by("stripe")), (Some(true), Some(true), Some(false)), "{algorithm}");
    }
}

#[test]
fn finds_one_whenever_there_is_one() {
    // Sets with an allocation that only the last resort finds, and one whose placements are best
    // chosen together.
    let hard: [(&str, &[u64]); 3] = [
        ("stripe", &[1899, 2234, 2526, 3022, 3213, 3364]),
        ("superblock", &[40, 43, 70, 73, 158, 366, 1168, 3679]),
        ("sound", &[558, 1899, 2234, 2526, 3022, 3364]),
    ];
    for (name, numbers) in hard {
        let tested = (0..100).chain(numbers.iter().copied()).filter(|&number| agrees(name, Reliance::Queue, number));
        assert!(tested.count() > 90, "{name}");
        for granted in [Reliance::Nothing, Reliance::Neighbours] {
            let tested = (0..40).chain(numbers.iter().copied()).filter(|&number| agrees(name, granted, number));
            assert!(tested.count() > 30, "{name}");
        }
    }
}
