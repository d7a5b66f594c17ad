//! The processor-demand test against its plain form over every whole length, and what must follow
//! from what.

use proptest::prelude::*;
use rtflash_analysis::Work;
use rtflash_analysis::certified::{Choice, ChosenGc, Contention, Demand, DemandVerdict, Processor, SharedBus, choose};
use rtflash_model::{Access, Device, DeviceSpec, LogicalRatio, Placement, Request, Span, Task};

fn span(ns: u64) -> Span {
    Span::from_ns(ns).expect("a time")
}

prop_compose! {
    fn any_device()(
        chips_per_channel in 1u32..5, blocks in 4u32..40, pages in 2u32..9, ratio in 1u32..10,
        read in 1u64..6, program in 1u64..9, erase in 1u64..30, transfer in 1u64..4,
        command in prop_oneof![2 => Just(None), 1 => (0u64..3).prop_map(Some)],
    ) -> Option<Device> {
        Device::new(DeviceSpec {
            chips: 8, chips_per_channel, blocks_per_chip: blocks, pages_per_block: pages, page_size: 4096,
            logical_ratio: LogicalRatio::from_decimal(ratio.into(), 1).ok()?,
            page_read: span(read), page_program: span(program), block_erase: span(erase), page_transfer: span(transfer),
            command: command.map(span),
            ..DeviceSpec::default()
        }).ok()
    }
}

/// D in thousandths of T, and J in thousandths of the smaller of D and T.
fn any_due() -> impl Strategy<Value = (u64, u64)> {
    prop_oneof![
        2 => Just((1_000, 0)),
        1 => (200u64..1_000, Just(0)),
        2 => (200u64..=1_000, 0u64..1_000),
        2 => (1_001u64..4_000, 0u64..1_000),
    ]
}

prop_compose! {
    fn any_task()(
        read in prop::option::of((1u64..8, 20u64..400, prop::sample::select(Access::ALL.to_vec()), any_due())),
        write in prop::option::of((1u64..8, 20u64..400, prop::sample::select(Access::ALL.to_vec()), any_due())),
    ) -> Task {
        let request = |(pages, period, access, (deadline, jitter)): (u64, u64, Access, (u64, u64))| {
            let request = Request::new(pages, span(period))?.with_access(access);
            let due = (period * deadline / 1_000).max(1);
            let request = if deadline == 1_000 { request } else { request.with_deadline(Some(span(due)))? };
            request.with_jitter(span(due.min(period) * jitter / 1_000))
        };
        let read = read.and_then(request);
        let write = write.and_then(request);
        let other = || request((1, 399, Access::Random, (1_000, 0)));
        Task { name: "t".into(), read: read.or_else(|| other().filter(|_| write.is_none())), write, data_pages: None }
    }
}

/// A unit with its neighbours on the channel: their tasks and the number of their chips.
#[derive(Debug)]
struct Case {
    device: Device,
    unit: Processor,
    neighbours: Vec<(Vec<Task>, u64)>,
    contention: Contention,
}

prop_compose! {
    fn any_case()(
        device in any_device(), tasks in prop::collection::vec(any_task(), 1..5), chips in 1u32..9,
        placement in prop::sample::select(vec![Placement::Stripe, Placement::Superblock]), compact in any::<bool>(),
        neighbours in prop::collection::vec((prop::collection::vec(any_task(), 1..3), 1u64..3), 0..3),
    ) -> Option<Case> {
        let device = device?;
        let bus = if compact { SharedBus::compact(&device, chips) } else { SharedBus::anywhere(&device) };
        let unit = Processor::new(&device, &tasks, chips, placement, bus)?;
        let neighbours = if placement == Placement::Stripe { neighbours } else { vec![] };
        let mut contention = Contention::new(&device);
        for (tasks, chips) in &neighbours {
            contention.add(&Processor::new(&device, tasks, 2, Placement::Stripe, bus)?, None, *chips);
        }
        Some(Case { device, unit, neighbours, contention })
    }
}

/// Jobs of a request that are released at `from` at the earliest and due at `to` at the latest: the
/// first is as late as it may be, the others come as soon as they may, one after another.
fn due_within(period: u64, deadline: u64, jitter: u64, length: u64) -> u128 {
    // Nominal arrivals at −J, T − J, …: the first is released at 0.
    (0u64..).take_while(|k| k * period + deadline <= length + jitter).count() as u128
}

/// dbf(L) as Section 2.6 has it.
fn plain_demand(case: &Case, gc: Option<&ChosenGc>, length: u64) -> u128 {
    let Case { device, unit, neighbours, .. } = case;
    let (mut sum, mut own) = (0, 0);
    let passes = plain_passes(unit, gc, length);
    if device.has_commands() {
        // Copies in the chip and an erase.
        own += passes * gc.map_or(0, |gc| u128::from(gc.valid) + 1);
    }
    for item in &unit.tasks {
        let [period, deadline, jitter] = [item.period, item.deadline, item.jitter].map(Span::as_ns);
        let jobs = due_within(period, deadline, jitter, length);
        let pages = item.transfers.of(jobs);
        sum += pages * u128::from(item.step_cost.as_ns());
        own += pages * if device.has_commands() && !item.writes { 2 } else { 1 };
    }
    for (tasks, chips) in neighbours {
        let requests = tasks.iter().flat_map(|task| [task.read, task.write]).flatten();
        // Nominal arrivals just behind −D and each T from there, as long as they are before L.
        let jobs = |request: &Request| {
            let (period, deadline) = (request.period().as_ns(), request.deadline().as_ns());
            (0u64..).take_while(|k| k * period < length + deadline).count() as u128
        };
        // On one of two chips.
        let moved: u128 = requests
            .map(|request| {
                let (jobs, pages) = (jobs(&request), u128::from(request.pages()));
                match request.access() {
                    Access::Random => jobs * pages,
                    Access::Sequential => jobs * pages.div_ceil(2),
                    Access::Stream => (jobs * pages).div_ceil(2),
                }
            })
            .sum();
        sum += u128::from(*chips) * u128::from(device.bus_hold().as_ns()) * moved.min(own);
    }
    sum + passes * gc.map_or(0, |gc| u128::from(gc.cost.as_ns()))
}

/// [L ≥ D_g] ⌈X(L − D_g)/α⌉.
fn plain_passes(unit: &Processor, gc: Option<&ChosenGc>, length: u64) -> u128 {
    let deadline = gc.and_then(|gc| Some((gc, gc.deadline?.as_ns())));
    let Some((gc, deadline)) = deadline.filter(|(_, deadline)| *deadline <= length) else { return 0 };
    // Nominal arrivals at −J and each T from there, up to the end.
    let arrivals = |period: Span, jitter: Span| due_within(period.as_ns(), 0, jitter.as_ns(), length - deadline);
    let writers = unit.write_streams.iter();
    let pages: u128 = writers.map(|writer| writer.pages.of(arrivals(writer.period, writer.jitter))).sum();
    pages.div_ceil(gc.reclaimed.into())
}

/// B(L) as docs/analysis.md has it.
fn plain_blocking(unit: &Processor, gc: Option<&ChosenGc>, server: bool, length: u64) -> u64 {
    let items =
        unit.tasks.iter().filter(|item| item.deadline.as_ns() > length + item.jitter.as_ns()).map(|item| item.step);
    let gc = gc.filter(|gc| gc.deadline.is_some_and(|deadline| deadline.as_ns() > length)).map(|gc| gc.step);
    let server = server.then(|| unit.server_step());
    items.chain(gc).chain(server).max().map_or(0, |step| step.as_ns())
}

/// The slack of every length from the shortest deadline up to `end`.
fn plain_slacks<'a>(
    case: &'a Case,
    gc: Option<&'a ChosenGc>,
    thousandths: u32,
    end: u64,
) -> impl Iterator<Item = (u64, i128)> + 'a {
    let periods = case.unit.tasks.iter().map(|item| item.deadline.as_ns() - item.jitter.as_ns());
    let least = periods.chain(gc.and_then(|gc| gc.deadline.map(Span::as_ns))).min().unwrap_or(end + 1);
    (least..=end).map(move |length| {
        let blocking = plain_blocking(&case.unit, gc, thousandths > 0, length);
        let work = plain_demand(case, gc, length) + u128::from(blocking);
        let room = u128::from(length) * u128::from(1_000 - thousandths) / 1_000;
        (length, room as i128 - work as i128)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3_000, ..ProptestConfig::default() })]

    #[test]
    fn the_test_is_that_of_every_length(
        case in any_case(), deadline in 1u64..2_000, thousandths in prop_oneof![Just(0u32), 0u32..1_000],
    ) {
        let Some(case) = case else { return Ok(()) };
        let gc = case.unit.gc(span(deadline), thousandths > 0);
        if gc.is_none() && !case.unit.write_streams.is_empty() {
            return Ok(());
        }
        let gc = gc.filter(|_| !case.unit.write_streams.is_empty());
        let work = Work::new();
        let demand = Demand::new(&case.unit, &case.contention, gc, thousandths, &work);
        for length in [1, 19, 20, 77, 400, 1_999, 2_000, 12_345] {
            let (at, blocking) = (demand.at(span(length)).as_ns(), demand.blocking(span(length)).as_ns());
            prop_assert_eq!(at, plain_demand(&case, gc.as_ref(), length));
            prop_assert_eq!(blocking, plain_blocking(&case.unit, gc.as_ref(), thousandths > 0, length));
        }
        const END: u64 = 12_000;
        let slacks: Vec<(u64, i128)> = plain_slacks(&case, gc.as_ref(), thousandths, END).collect();
        let found = demand.test();
        match slacks.iter().find(|(_, slack)| *slack < 0) {
            Some((first, _)) => {
                match found {
                    DemandVerdict::Overloaded => {}
                    // The length it names is one at which it fails.
                    DemandVerdict::Fails(at) => {
                        let fails = |&(length, slack): &(u64, i128)| length == at.as_ns() && slack < 0;
                        prop_assert!(at.as_ns() > END || slacks.iter().any(fails));
                    }
                    _ => return Err(TestCaseError::fail(format!("{found:?}, fails at {first}"))),
                }
                prop_assert!(!demand.surely_holds());
            }
            // It may fail beyond.
            None => prop_assert!(!matches!(found, DemandVerdict::Fails(at) if at.as_ns() <= END), "{found:?}"),
        }
        if demand.surely_holds() {
            prop_assert_eq!(found, DemandVerdict::Holds);
        }
        if found == DemandVerdict::Holds
            && let Some(tightest) = demand.tightest()
        {
            // The least of all up to the longest deadline.
            let windows = case.unit.tasks.iter().map(|item| item.deadline.as_ns() - item.jitter.as_ns());
            let longest = windows.chain(gc.and_then(|gc| gc.deadline.map(Span::as_ns))).max();
            let within = slacks.iter().filter(|(length, _)| Some(*length) <= longest);
            let least = within.map(|(_, slack)| *slack).min();
            prop_assert_eq!(Some(tightest.slack), least);
            prop_assert!(slacks.contains(&(tightest.length.as_ns(), tightest.slack)));
        }
    }

    /// A chosen deadline holds, at every length.
    #[test]
    fn what_is_chosen_holds(case in any_case(), thousandths in prop_oneof![Just(0u32), 0u32..900]) {
        let Some(case) = case else { return Ok(()) };
        let Choice::Holds(gc) = choose(&case.unit, std::slice::from_ref(&case.contention), thousandths, &Work::new()) else { return Ok(()) };
        prop_assert_eq!(gc.is_some(), !case.unit.write_streams.is_empty() || thousandths > 0);
        prop_assert!(plain_slacks(&case, gc.as_ref(), thousandths, 12_000).all(|(_, slack)| slack >= 0));
        if let Some(gc) = gc {
            prop_assert_eq!(case.unit.gc(gc.deadline.unwrap_or(Span::NANOSECOND), thousandths > 0), Some(gc));
            prop_assert_eq!(gc.valid + gc.reclaimed, case.unit.block_pages);
        }
    }
}

/// A millionth of a millionth below one the load is decided as exactly as anywhere, and at one it
/// is refused.
#[test]
fn a_load_next_to_one_is_decided() {
    let device = Device::new(DeviceSpec {
        chips: 1,
        chips_per_channel: 1,
        blocks_per_chip: 64,
        pages_per_block: 8,
        page_size: 4096,
        logical_ratio: LogicalRatio::from_decimal(5, 1).expect("a ratio"),
        page_read: span(1),
        page_program: span(2),
        block_erase: span(4),
        page_transfer: span(1),
        ..DeviceSpec::default()
    })
    .expect("a device");
    let task = |pages, period, writes: bool| {
        let request = Request::new(pages, span(period));
        Task {
            name: "t".into(),
            read: request.filter(|_| !writes),
            write: request.filter(|_| writes),
            data_pages: None,
        }
    };
    let verdict = |tasks: &[Task], deadline: u64| {
        let unit = Processor::new(&device, tasks, 1, Placement::Stripe, SharedBus::alone()).expect("a unit");
        let gc = if unit.write_streams.is_empty() { None } else { Some(unit.gc(span(deadline), false).expect("room")) };
        Demand::new(&unit, &Contention::none(), gc, 0, &Work::new()).test()
    };
    let (trillion, half) = (1_000_000_000_000, 250_000_000_000);
    let reads = |long| verdict(&[task(1, 4, false), task(long, trillion, false)], 1);
    assert_eq!(
        [reads(half - 1), reads(half), reads(half + 1)],
        [DemandVerdict::Holds, DemandVerdict::Overloaded, DemandVerdict::Overloaded]
    );
    // With garbage collection whose demand is below its load everywhere, from the second multiple
    // of the period on; and with one where it is not.
    let write = task(1, trillion, true);
    let unit = Processor::new(&device, [&write], 1, Placement::Stripe, SharedBus::alone()).expect("a unit");
    let gc = unit.gc(span(10 * trillion), false).expect("room");

    let room = trillion - gc.cost.as_ns().div_ceil(gc.reclaimed) - 3;
    let both = |pages| [task(pages, trillion, false), write.clone()];
    assert_eq!(verdict(&both(room / 2 - 10), 10 * trillion), DemandVerdict::Holds);
    assert_eq!(verdict(&both(room / 2 + 10), 10 * trillion), DemandVerdict::Overloaded);
}

/// docs/applying.md: a recorder whose erases leave a period too little time is in time with four
/// buffers. Its collection counts the pages of four requests.
#[test]
fn a_recorder_is_in_time_with_its_buffers() {
    let device = Device::profile("dgist-2021").expect("a profile");
    let device = Device::new(DeviceSpec { chips: 2, ..device.spec() }).expect("a device");
    let unit = |buffers: u64, placement| {
        let write = Request::new(12, span(8_000_000)).expect("a request").with_access(Access::Stream);
        let write = write.with_deadline(Some(span(8_000_000 * buffers)));
        let task = Task { name: "camera".into(), read: None, write, data_pages: None };
        Processor::new(&device, [&task], 2, placement, SharedBus::anywhere(&device)).expect("a unit")
    };
    let holds = |buffers| {
        let units = [Placement::Stripe, Placement::Superblock].map(|placement| unit(buffers, placement));
        units.iter().any(|unit| choose(unit, &[Contention::none()], 0, &Work::new()).holds())
    };
    assert_eq!([1, 4].map(holds), [false, true]);
    // A + P − 1 = H, and W = 24 pages more can be free: one of them fills a block.
    let open = |buffers, arriving: u64| {
        let unit = unit(buffers, Placement::Stripe);
        let gc = unit.gc(span(8_000_000 * arriving), false).expect("room");
        (gc.reserve, gc.open)
    };
    assert_eq!([open(1, 1), open(4, 1)], [(6 + 255, 1 + 266 / 256), (6 + 255, 1 + 284 / 256)]);
    assert_eq!([open(1, 39), open(4, 39)], [(234 + 255, 1 + 494 / 256), (234 + 255, 1 + 512 / 256)]);
}
