//! TrialAnswers answer as certifying does, whatever was tried before.

use rtflash_analysis::Work;
use rtflash_analysis::certified::{TrialAnswers, certify, certify_whole, tried};
use rtflash_model::random::Stream;
use rtflash_model::{Cluster, Device, DeviceSpec, Placement, Reliance, Request, Span, Task, TaskSet};

fn draw(random: &mut Stream) -> TaskSet {
    let mut within = |low: u64, high: u64| u32::try_from(low + random.below(high - low + 1)).expect("small");
    let spec = Device::profile("dgist-2021").expect("a profile").spec();
    let (chips, chips_per_channel) = (within(4, 8), within(2, 4));
    let page_transfer = Span::from_us(within(1, 8) * 25);
    let device = Device::new(DeviceSpec { chips, chips_per_channel, page_transfer, blocks_per_chip: 64, ..spec });
    let device = device.expect("a device");
    let tasks = within(2, 5);
    let task = |index| {
        let period = within(20_000, 80_000);
        let mut of = |most: u64| Request::new(u64::from(within(1, most)), Span::from_us(period));
        let (read, write) = (of(60), of(16));
        let (read, write) = if within(0, 3) == 0 { (read, None) } else { (read, write) };
        Task { name: format!("t{index}"), read, write, data_pages: None }
    };
    TaskSet::new(device, (0..tasks).map(task).collect(), vec![]).expect("a task set")
}

/// Each chip in a cluster by itself, or in one of a few; each task in one of these.
fn allocation(set: &TaskSet, random: &mut Stream) -> (Vec<Cluster>, Vec<Placement>) {
    let (chips, count) = (set.device().chips(), 1 + random.below(3));
    let mut members: Vec<(Vec<u32>, Vec<u32>)> = vec![Default::default(); usize::try_from(count).expect("few")];
    let mut pick = |more: u64| usize::try_from(random.below(count + more)).expect("few");
    let mut free = Vec::new();
    for chip in 0..chips {
        match members.get_mut(pick(1)) {
            Some(member) => member.0.push(chip),
            None => free.push(chip),
        }
    }
    for task in 0..set.tasks().count() {
        members[pick(0)].1.push(task);
    }
    let mut clusters: Vec<Cluster> = members
        .into_iter()
        .filter(|(chips, tasks)| !chips.is_empty() && !tasks.is_empty())
        .map(|(chips, tasks)| Cluster::of(chips, tasks))
        .collect();
    clusters.extend(free.into_iter().map(|chip| Cluster::of([chip], [])));
    clusters.sort_by_key(|cluster| cluster.chips[0]);
    let placements = clusters.iter().map(|_| Placement::COLLECTING[usize::from(random.below(4) == 0)]).collect();
    (clusters, placements)
}

#[test]
fn trials_answer_as_certifying_does() {
    let (mut holding, mut failing) = (0_u32, 0_u32);
    for number in 0..150 {
        let mut random = Stream::numbered(11, b"trialset", number);
        let set = draw(&mut random);
        for granted in [Reliance::Nothing, Reliance::Neighbours, Reliance::Queue] {
            let trials = TrialAnswers::default();
            for _ in 0..60 {
                let (clusters, placements) = allocation(&set, &mut random);
                let work = Work::new();
                let certified = certify(&set, &clusters, &placements, granted, &work);
                let trial = tried(&set, &clusters, &placements, granted, &work, &trials);
                assert_eq!(
                    trial.failing.is_none(),
                    certified.failing.is_empty(),
                    "{number}, {granted:?}: {clusters:?}"
                );
                // A search goes on from the first that fails.
                let whole = certify_whole(&set, &clusters, &placements, granted, &work);
                assert_eq!(trial.failing, whole.failing.first().copied(), "{number}, {granted:?}: {clusters:?}");
                // One that surely fails is a no, even where the test of another is given up.
                assert!(certified.given_up || !trial.given_up);
                *(if trial.failing.is_none() { &mut holding } else { &mut failing }) += 1;
            }
        }
    }
    assert!(holding > 1_000 && failing > 1_000, "{holding} {failing}");
}
