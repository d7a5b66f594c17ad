//! `exact` under the sound analyses against every allocation that there is, on small devices.

use crate::common::{Rng, draw};
use rtflash_alloc::Work;
use rtflash_alloc::allocator::allocator;
use rtflash_alloc::analysis::{Analysis, analysis_relying_on};
use rtflash_alloc::certified::certified;
use rtflash_model::random::Stream;
use rtflash_model::{Allocation, Reliance};

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

/// Where there is one, `exact` finds one, and nothing is found where there is none.
///
/// Whether there is a set of this number.
fn agrees(name: &str, granted: Reliance, number: u64) -> bool {
    let test: &dyn Analysis = analysis_relying_on(name, granted).expect("there is");
    let Some(set) = draw(&mut Rng(Stream::numbered(7, b"hands___", number)), 4, 4) else { return false };
    let found = allocator("exact").expect("there is").allocate(&set, test).is_schedulable();
    let (chips, tasks) = (set.device().chips() as usize, set.tasks().len());
    let holds =
        |hand: &Allocation| certified(&set, hand, test.placements(), granted, &Work::new()).1.failing.is_empty();
    let hand = hands(chips, tasks).into_iter().find(holds);
    assert_eq!(found, Some(hand.is_some()), "{name} relying on {} {number}: {hand:?}", granted.name());
    true
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
