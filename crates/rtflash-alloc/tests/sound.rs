//! The processor-demand test against its plain form over every whole length, and what must follow from what.

use proptest::prelude::*;
use rtflash_alloc::sound::{Choice, Collection, Demand, Kind, Unit, Verdict, choose};
use rtflash_model::{Access, Device, DeviceSpec, LogicalRatio, Request, Span, Task};

fn span(ns: u64) -> Span {
    Span::from_ns(ns).expect("a time")
}

prop_compose! {
    fn any_device()(
        chips_per_channel in 1u32..5, blocks in 4u32..40, pages in 2u32..9, ratio in 1u32..10,
        read in 1u64..6, program in 1u64..9, erase in 1u64..30, transfer in 1u64..4,
    ) -> Option<Device> {
        Device::new(DeviceSpec {
            chips: 8, chips_per_channel, blocks_per_chip: blocks, pages_per_block: pages, page_size: 4096,
            logical_ratio: LogicalRatio::from_decimal(ratio.into(), 1).ok()?,
            page_read: span(read), page_program: span(program), block_erase: span(erase), page_transfer: span(transfer),
        }).ok()
    }
}

prop_compose! {
    fn any_task()(
        read in prop::option::of((1u64..8, 20u64..400, any::<bool>())),
        write in prop::option::of((1u64..8, 20u64..400, any::<bool>())),
    ) -> Task {
        let request = |(pages, period, sequential): (u64, u64, bool)| {
            let access = if sequential { Access::Sequential } else { Access::Random };
            Request::new(pages, span(period)).map(|request| request.with_access(access))
        };
        let read = read.and_then(request);
        let write = write.and_then(request);
        Task { name: "t".into(), read: read.or_else(|| request((1, 399, false)).filter(|_| write.is_none())), write, data_pages: None }
    }
}

fn any_kind() -> impl Strategy<Value = Kind> {
    prop::sample::select(vec![Kind::Stripe, Kind::Superblock { compact: false }, Kind::Superblock { compact: true }])
}

/// dbf(L) as Section 2.6 has it.
fn plain_demand(unit: &Unit, gc: Option<&Collection>, length: u64) -> u128 {
    let mut sum = 0;
    for item in &unit.items {
        if item.period <= length {
            sum += (u128::from((length - item.period) / item.period) + 1) * u128::from(item.cost);
        }
    }
    if let Some(gc) = gc.filter(|gc| gc.deadline <= length) {
        let pages: u128 = unit
            .writers
            .iter()
            .map(|writer| (u128::from((length - gc.deadline) / writer.period) + 1) * u128::from(writer.pages))
            .sum();
        sum += pages.div_ceil(gc.reclaimed.into()) * u128::from(gc.cost);
    }
    sum
}

/// B(L) as Section 2.6 has it.
fn plain_blocking(unit: &Unit, gc: Option<&Collection>, server: bool, length: u64) -> u64 {
    let items = unit.items.iter().filter(|item| item.period > length).map(|item| item.step);
    let gc = gc.filter(|gc| gc.deadline > length).map(|gc| gc.step);
    let server = server.then(|| unit.server_step());
    items.chain(gc).chain(server).max().unwrap_or(0)
}

/// The first length up to `end` at which demand and blocking do not fit.
fn plain_failure(unit: &Unit, gc: Option<&Collection>, thousandths: u32, others: bool, end: u64) -> Option<u64> {
    let least = unit.items.iter().map(|item| item.period).chain(gc.map(|gc| gc.deadline)).min()?;
    (least..=end).find(|&length| {
        let work =
            plain_demand(unit, gc, length) + u128::from(plain_blocking(unit, gc, thousandths > 0 || others, length));
        work * 1_000 > u128::from(length) * u128::from(1_000 - thousandths)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4_000, ..ProptestConfig::default() })]

    #[test]
    fn the_test_is_that_of_every_length(
        device in any_device(), tasks in prop::collection::vec(any_task(), 1..5), chips in 1u32..9, kind in any_kind(),
        deadline in 1u64..2_000, thousandths in prop_oneof![Just(0u32), 0u32..1_000], others in any::<bool>(),
    ) {
        let Some(device) = device else { return Ok(()) };
        let unit = Unit::new(&device, &tasks, chips, kind).expect("small numbers");
        let gc = unit.collection(deadline, thousandths > 0);
        if gc.is_none() && !unit.writers.is_empty() {
            return Ok(());
        }
        let gc = gc.filter(|_| !unit.writers.is_empty());
        let demand = Demand::new(&unit, gc, thousandths, others);
        for length in [1, 19, 20, 77, 400, 1_999, 2_000, 12_345] {
            prop_assert_eq!(demand.at(length), plain_demand(&unit, gc.as_ref(), length));
        }
        let found = demand.test();
        match plain_failure(&unit, gc.as_ref(), thousandths, others, 20_000) {
            Some(first) => {
                let Verdict::Fails(at) = found else { return Err(TestCaseError::fail(format!("{found:?}, fails at {first}"))) };
                // The length it names is one at which it fails.
                prop_assert!(at == 0 || plain_failure(&unit, gc.as_ref(), thousandths, others, at).is_some());
                prop_assert!(!demand.surely_holds());
            }
            // It may fail beyond.
            None => prop_assert!(!matches!(found, Verdict::Fails(1..=20_000)), "{found:?}"),
        }
        if demand.surely_holds() {
            prop_assert_eq!(found, Verdict::Holds);
        }
    }

    /// What is chosen holds; less to do or more room does not make it fail.
    #[test]
    fn what_is_chosen_holds(
        device in any_device(), tasks in prop::collection::vec(any_task(), 1..5), chips in 1u32..9, kind in any_kind(),
    ) {
        let Some(device) = device else { return Ok(()) };
        let unit = Unit::new(&device, &tasks, chips, kind).expect("small numbers");
        let Choice::Holds(found) = choose(&unit, 0, false) else { return Ok(()) };
        prop_assert_eq!(found.gc.is_some(), !unit.writers.is_empty());
        prop_assert_eq!(plain_failure(&unit, found.gc.as_ref(), 0, false, 20_000), None);
        if let Some(gc) = found.gc {
            prop_assert_eq!(unit.collection(gc.deadline, false), Some(gc));
            prop_assert_eq!(gc.valid + gc.reclaimed, unit.block_pages);
        }
    }
}
