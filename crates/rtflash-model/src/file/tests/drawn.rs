//! Task sets with some of every field, drawn at random. The package `tests/schemas` draws them,
//! too.

use proptest::prelude::*;

use crate::{
    Access, Arrivals, Device, DeviceSpec, Instant, Job, LogicalRatio, PROFILES, Request, Shortest, Span, StatedTimes,
    Task, TaskSet, capped,
};

fn span() -> impl Strategy<Value = Span> {
    (0..5u32, 1..1_000_000_000u64).prop_map(|(zeros, number)| Span::from_ns(number * 10u64.pow(zeros)).unwrap())
}

fn device() -> impl Strategy<Value = Device> {
    let counts = (1..=1u32 << 20, 1..100u32, 1..=u32::MAX, 2..5000u32, 1..=u32::MAX);
    let times = (span(), span(), span(), span());
    // Per cent of each time that the shortest is, where there is a range.
    let parts = proptest::array::uniform4(proptest::option::weighted(0.3, 1..100u64));
    let erase_cycles = proptest::option::of(1..=u32::MAX);
    let command = proptest::option::of((0..10_000u64).prop_map(|ns| Span::from_ns(ns).unwrap()));
    let registers = (proptest::option::of(1..=2u32), proptest::option::of(0..9u32), proptest::option::of(0..9u32));
    let includes = (proptest::option::of(any::<bool>()), proptest::option::of(any::<bool>()));
    let suspends = (proptest::option::of(1..1_000u64), proptest::option::of(0..1_000u64));
    let described = (counts, 1..10u128.pow(12), times, parts, (erase_cycles, command, registers, includes, suspends))
        .prop_filter_map(
            "α = 0, or nothing beside the transfer",
            |(counts, ratio, times, parts, (erase_cycles, command, registers, includes, suspends))| {
                let (chips, chips_per_channel, blocks_per_chip, pages_per_block, page_size) = counts;
                let (page_read, page_program, block_erase, page_transfer) = times;
                let logical_ratio = LogicalRatio::from_decimal(ratio, 12).ok()?;
                let (page_read, page_program) = (Span::from_ns(page_read.as_ns() % 1_000_000_007 + 1)?, page_program);
                let (page_registers, spare_blocks, program_failures) = registers;
                let [read, program, erase, transfer] = parts;
                let part = |of: Span, part: Option<u64>| {
                    part.and_then(|part| Span::from_ns((of.as_ns() / 100 * part).max(1)))
                        .filter(|&shortest| shortest < of)
                };
                let shortest = Shortest {
                    page_read: part(page_read, read),
                    page_program: part(page_program, program),
                    block_erase: part(block_erase, erase),
                    page_transfer: part(page_transfer, transfer),
                };
                let erase_suspend = suspends.0.and_then(Span::from_ns);
                let erase_resume = suspends.1.and_then(Span::from_ns).filter(|_| erase_suspend.is_some());
                // Derived: wear is levelled in some.
                let wear_gap = chips.is_multiple_of(3).then_some(1 + pages_per_block);
                let wear_passes = wear_gap.filter(|gap| gap.is_multiple_of(2)).map(|_| 2 + blocks_per_chip / 3);
                #[rustfmt::skip]
        let spec = DeviceSpec {
            chips, chips_per_channel, blocks_per_chip, pages_per_block, page_size, logical_ratio,
            page_read, page_program, block_erase, page_transfer, shortest, erase_cycles, command,
            page_registers, spare_blocks, program_failures, erase_suspend, erase_resume,
            wear_gap, wear_passes,
            page_read_includes_transfer: includes.0, page_program_includes_transfer: includes.1,
            times: block_erase.as_ns().is_multiple_of(2).then_some(StatedTimes::ALL[(chips % 2) as usize]),
        };
                Device::new(spec).ok()
            },
        );
    prop_oneof![3 => described, 1 => Just(Device::profile(PROFILES[0].name).unwrap())]
}

fn request() -> impl Strategy<Value = Request> {
    let share = |most| prop_oneof![2 => Just(None), 1 => (1..=most).prop_map(Some)];
    (1..10_000u64, span(), proptest::sample::select(Access::ALL.to_vec()), share(4_000), share(1_000u64)).prop_map(
        |(pages, period, access, deadline, jitter)| {
            let part = |of: Span, permille: u64| Span::from_ns((of.as_ns() / 1_000 * permille).max(1)).unwrap();
            let plain = Request::new(pages, period).unwrap().with_access(access);
            let due = plain.with_deadline(deadline.map(|permille| part(period, permille))).unwrap();
            jitter.and_then(|permille| due.with_jitter(part(due.deadline().min(period), permille))).unwrap_or(due)
        },
    )
}

fn arrivals() -> impl Strategy<Value = Arrivals> {
    prop_oneof![
        span().prop_map(Arrivals::Every),
        span().prop_map(Arrivals::Poisson),
        (span(), 1..9u64).prop_map(|(every, burst)| Arrivals::Bursts { every, burst }),
        (span(), span()).prop_map(|(a, b)| Arrivals::Uniform(a.min(b), a.max(b))),
        proptest::collection::vec(0..1u64 << 40, 0..4).prop_map(|mut times| {
            times.sort_unstable();
            Arrivals::At(times.into_iter().filter_map(Instant::from_ns).collect())
        }),
    ]
}

pub(crate) fn set() -> impl Strategy<Value = TaskSet> {
    let task =
        (".{0,8}", proptest::option::of(request()), request(), any::<bool>(), proptest::option::of(any::<u64>()));
    let job = ("\\PC{0,8}", 0..1000u64, 1..1000u64, arrivals());
    let (tasks, jobs) = (proptest::collection::vec(task, 0..5), proptest::collection::vec(job, 0..3));
    (device(), tasks, jobs).prop_filter_map("too costly", |(device, tasks, jobs)| {
        let mut index = 0;
        let mut unlike = |name: String| {
            index += 1;
            format!("{name}{index}")
        };
        let room = capped(device.logical_pages());
        let tasks = tasks.into_iter().map(|(name, one, other, swap, data)| {
            let (read, write) = if swap { (Some(other), one) } else { (one, Some(other)) };
            let sequential = |request: Option<Request>| request.filter(|of| of.access().is_consecutive());
            let min = [read, write].map(|request| sequential(request).map_or(1, |request| request.pages()));
            let min = min[0].max(min[1]);
            let data_pages = data.filter(|_| min <= room).map(|data| min + data % (room - min + 1));
            Task { name: unlike(name), read, write, data_pages }
        });
        let tasks = tasks.collect();
        let jobs = jobs.into_iter().map(|(name, few, some, arrivals)| {
            let (read_pages, write_pages) = if few % 2 == 0 { (few, some) } else { (some, few) };
            Job { name: unlike(name), read_pages, write_pages, arrivals }
        });
        TaskSet::new(device, tasks, jobs.collect()).ok()
    })
}
