use rtflash_analysis::DemandTest;
use rtflash_model::random::Stream;
use rtflash_model::{Device, DeviceSpec, LogicalRatio, Placement, Reliance, Request, Span};

use super::*;

const ASSUMPTIONS: [ContentionAssumption; 5] = [
    ContentionAssumption::WorstCase,
    ContentionAssumption::Optimistic(1),
    ContentionAssumption::Optimistic(2),
    ContentionAssumption::Queue,
    ContentionAssumption::NoContention,
];

fn drawn(seed: u64) -> Option<TaskSet> {
    let mut stream = Stream::numbered(seed, b"together", 0);
    let mut within = |low: u64, high: u64| low + stream.below(high - low + 1);
    let profile = Device::profile("dgist-2021").expect("the profile").spec();
    let device = Device::new(DeviceSpec {
        chips: 8,
        chips_per_channel: u32::try_from(within(1, 8)).expect("few"),
        logical_ratio: LogicalRatio::from_decimal(within(1, 9).into(), 1).expect("below one"),
        page_registers: (within(0, 1) == 1).then_some(2),
        command: [None, Span::from_ns(700)][usize::from(within(0, 3) == 0)],
        ..profile
    })
    .ok()?;
    let mut request = || {
        let period = within(2_000_000, 300_000_000);
        let pages = (within(1, 400) * period / 300_000_000).max(1);
        let access = Access::ALL[usize::try_from(within(0, 2)).expect("one of three")];
        let request = Request::new(pages, Span::from_ns(period)?)?.with_access(access);
        request.with_jitter(Span::from_ns(within(0, 1) * within(0, period / 2))?)
    };
    let mut task = |number: u64| {
        let (read, write) = (request().filter(|_| number % 3 != 1), request().filter(|_| !number.is_multiple_of(3)));
        Task { name: format!("t{number}"), read, write, data_pages: None }
    };
    let tasks = (seed..seed + 2 + seed % 4).map(&mut task).collect();
    TaskSet::new(device, tasks, Vec::new()).ok()
}

/// Tasks have no less to do together than alone, whatever is supposed of waiting, in every
/// organisation: a search relies on it.
#[test]
fn tasks_have_no_less_to_do_together() {
    let (mut compared, mut near, mut queued) = (0, 0, 0);
    for seed in 0..1_500 {
        let Some(set) = drawn(seed) else { continue };
        let (work, known) = (Work::new(), KnownLoads::default());
        let allowed = |organisation: &Organisation| organisation.placement.is_possible_on(set.device());
        for (assumption, chips) in ASSUMPTIONS.into_iter().flat_map(|it| [(it, 1), (it, 2), (it, 3)]) {
            let test = DemandTest { placements: &[], rely_on: Reliance::Queue };
            let organisations = Organisations::new(Problem { set: &set, test, work: &work, known: &known }, assumption);
            let load = |tasks: &[TaskId], organisation: Organisation| {
                let (processor, others) = organisations.processor(tasks, organisation, chips)?;
                Some(organisations.long_run_load(&processor, &others))
            };
            let all: Vec<TaskId> = TaskId::first(set.tasks().count()).collect();
            for organisation in Placement::ALL.into_iter().flat_map(Organisation::of).filter(allowed) {
                let Some(together) = load(&all, organisation) else { continue };
                let alone: Option<f64> = all.iter().map(|&task| load(&[task], organisation)).sum();
                let alone = alone.expect("each of them is there");
                let where_it_is = format!("seed {seed}, {assumption:?}, {organisation:?} of {chips}");
                assert!(alone <= together * (1.0 + 1e-10), "{where_it_is}: {alone} alone and {together} together");
                compared += 1;
                near += u32::from(alone > 0.9 * together);
                queued += u32::from(assumption == ContentionAssumption::Queue && alone > 0.9 * together);
            }
        }
    }
    assert!(compared > 20_000 && near > 10_000 && queued > 2_000, "{compared} {near} {queued}");
}

const BOTH: &[Placement] = &[Placement::Stripe, Placement::Superblock];

/// Results shared between assumptions are those that each assumption finds by itself.
#[test]
fn what_is_shared_is_what_each_finds() {
    let (mut compared, mut holds) = (0, 0);
    for seed in 0..300 {
        let Some(set) = drawn(seed) else { continue };
        for placements in [BOTH, &[Placement::Superblock], &Placement::ALL] {
            let (work, shared) = (Work::new(), KnownLoads::default());
            let test = DemandTest { placements, rely_on: Reliance::Queue };
            for assumption in ASSUMPTIONS {
                let own = KnownLoads::default();
                let [here, apart] = [&shared, &own]
                    .map(|known| Organisations::new(Problem { set: &set, test, work: &work, known }, assumption));
                let allowed = |organisation: &&Organisation| organisation.placement.is_possible_on(set.device());
                for &organisation in here.allowed().iter().filter(allowed) {
                    for (task, chips) in TaskId::first(set.tasks().count()).flat_map(|task| [(task, 1), (task, 3)]) {
                        let [here, apart] =
                            [&here, &apart].map(|each| each.load_alone(&[task], organisation, chips).to_bits());
                        assert_eq!(here, apart, "seed {seed}, {assumption:?}, {organisation:?} of {chips}");
                        compared += 1;
                    }
                }
                let all: Vec<TaskId> = TaskId::first(set.tasks().count()).collect();
                for tasks in [&all[..1], &all] {
                    assert!(here.least_load(tasks, 2) == apart.least_load(tasks, 2), "seed {seed}, {assumption:?}");
                    let held = [&here, &apart].map(|each| each.holds(tasks, 2).map(|held| held.load.to_bits()));
                    assert_eq!(held[0], held[1], "seed {seed}, {assumption:?}");
                    holds += u32::from(held[0].is_some());
                }
            }
        }
    }
    assert!(compared > 20_000 && holds > 200, "{compared}, {holds}");
}

/// A cluster with too much to do does not hold, whatever its garbage collection.
#[test]
fn who_has_too_much_to_do_does_not_hold() {
    let (mut too_much, mut holds) = ([0; 5], [0; 5]);
    for seed in 0..1_500 {
        let Some(set) = drawn(seed) else { continue };
        for (at, assumption) in ASSUMPTIONS.into_iter().enumerate() {
            let (work, known) = (Work::new(), KnownLoads::default());
            let test = DemandTest { placements: BOTH, rely_on: Reliance::Queue };
            let organisations = Organisations::new(Problem { set: &set, test, work: &work, known: &known }, assumption);
            let all: Vec<TaskId> = TaskId::first(set.tasks().count()).collect();
            for (organisation, chips) in
                [Placement::Stripe, Placement::Superblock].map(|it| (Organisation::on_any_chips(it), 2))
            {
                let Some(key) = organisations.key(&all, organisation, chips) else { continue };
                let Some((processor, others)) = organisations.processor(&all, organisation, chips) else { continue };
                let choice = choose_with(Patience::Full, &processor, &[others], 0, &work);
                let has_too_much = organisations.has_too_much(key, organisation, chips);
                let where_it_is = format!("seed {seed}, {assumption:?}, {organisation:?} of {chips}");
                assert!(!(has_too_much && choice.holds()), "{where_it_is}");
                too_much[at] += u32::from(has_too_much);
                holds[at] += u32::from(choice.holds());
            }
        }
    }
    assert!(too_much.iter().chain(&holds).all(|&count| count > 50), "{too_much:?} {holds:?}");
}
