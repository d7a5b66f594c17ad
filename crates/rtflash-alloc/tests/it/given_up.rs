//! Four chips filled to the brim: for one of them the test that relies on neighbours is given up,
//! and the one that relies on nothing holds.

use rtflash_alloc::admission::RunningDevice;
use rtflash_alloc::allocator::{Allocator, ClusteringBfd};
use rtflash_analysis::certified::{DemandVerdict, held, holding};
use rtflash_analysis::{Sound, Work};
use rtflash_model::{Reliance, read_task_set};

#[test]
fn whoever_asks_gets_one_answer() {
    let set = read_task_set(include_str!("given-up.json")).expect("a task set").set;
    let (outcome, granted) = (ClusteringBfd.allocate(&set, &Sound::default()), Reliance::Neighbours);
    let allocation = outcome.allocation().filter(|_| outcome.is_schedulable() == Some(true)).expect("accepted");
    let work = Work::new();
    let given_up = |reliance: Reliance| {
        let held = held(&set, allocation, reliance).into_iter().flatten();
        held.filter(|held| held.demands(&work).any(|demand| demand.test() == DemandVerdict::TooLong)).count()
    };
    assert_eq!(Reliance::ALL.map(given_up), [0, 1, 0], "it is no such set");
    assert_eq!(holding(&set, allocation, granted, &work), [true; 4]);
    let running = RunningDevice::new(&set, allocation).expect("certificates");
    assert_eq!(running.late(&set, granted, &work), None);
}
