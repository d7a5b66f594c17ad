//! The worked examples of docs/analysis.md, in the order of its sections, with its letters.

#![allow(non_snake_case)] // The document's letters.

use rtflash_analysis::Work;
use rtflash_analysis::certified::{
    Choice, Contention, Cost, Demand, DemandVerdict, Nearest, Processor, SharedBus, choose, largest_server,
};
use rtflash_lab::climb::{
    Arrivals,
    channel::{self, ChannelModel, ChannelTies, Latest, UnitTimes},
};
use rtflash_model::{Access, Device, DeviceSpec, LogicalRatio, Placement, Request, Span, Task};

const US: u64 = 1_000;
const MS: u64 = 1_000 * US;

/// Four chips on a channel, t_r, t_w, t_e, t_d = 50 µs, 500 µs, 5 ms, 40 µs, 1,024 blocks of 256
/// pages, λ = 0.5.
fn device() -> Device {
    device_with(4, [50 * US, 500 * US, 5 * MS, 40 * US])
}

/// A device of `m_c` chips on one channel, with these t_r, t_w, t_e and t_d in nanoseconds.
fn device_with(m_c: u32, times: [u64; 4]) -> Device {
    let [page_read, page_program, block_erase, page_transfer] = times.map(span);
    let spec = Device::profile("dgist-2021").expect("a profile").spec();
    Device::new(DeviceSpec {
        chips: m_c,
        chips_per_channel: m_c,
        blocks_per_chip: 1_024,
        pages_per_block: 256,
        logical_ratio: LogicalRatio::HALF,
        page_read,
        page_program,
        block_erase,
        page_transfer,
        ..spec
    })
    .expect("a device")
}

fn span(ns: u64) -> Span {
    Span::from_ns(ns).expect("a time")
}

fn request(pages: u64, T: u64) -> Option<Request> {
    Request::new(pages, span(T))
}

/// A task of these requests.
fn task(read: Option<Request>, write: Option<Request>) -> Task {
    Task { name: "task".into(), read, write, data_pages: None }
}

fn reader(pages: u64, T: u64) -> Task {
    task(request(pages, T), None)
}

/// A chip whose neighbours are known: its unit for (T') and (T'').
fn beside_known(device: &Device, tasks: &[Task]) -> Processor {
    let m_c = device.chips_per_channel();
    Processor::new(
        device,
        tasks,
        1,
        Placement::Stripe,
        SharedBus { ways: 1, most: m_c, foreign: m_c - 1, most_foreign: m_c - 1 },
    )
    .expect("a unit")
}

/// Section 6: 300 pages every 40 ms beside three chips that write 12 pages every 30 ms.
#[test]
fn a_reader_beside_three_writers() {
    let device = device();
    let reader = reader(300, 40 * MS);
    // (T): 300 · 210 µs every 40 ms.
    let unit = Processor::new(&device, [&reader], 1, Placement::Stripe, SharedBus::anywhere(&device)).expect("a unit");
    let (alone, demand) = (Contention::none(), 63 * MS);
    assert_eq!(Demand::new(&unit, &alone, None, 0, &Work::new()).at(span(40 * MS)).as_ns(), demand.into());
    assert!(!choose(&unit, &[Contention::none()], 0, &Work::new()).holds());
    // (T'): 300 · 90 µs + 40 µs · 3 · min(300, 3 · 12).
    let writer = beside_known(&device, &[task(None, request(12, 30 * MS))]);
    let mut contention = Contention::new(&device);
    contention.add(&writer, None, 3);
    let unit = beside_known(&device, &[reader]);
    assert_eq!(Demand::new(&unit, &contention, None, 0, &Work::new()).at(span(40 * MS)).as_ns(), (31_320 * US).into());
    assert_eq!(choose(&unit, &[contention], 0, &Work::new()), Choice::Holds(None));
}

/// Section 16: the camera of Section 8, whose writes are a stream, in zones of two chips.
#[test]
fn a_camera_in_zones() {
    let device = device();
    let stream = request(24, 30 * MS).map(|write| write.with_access(Access::Stream));
    let sequential = request(40, 36 * MS).map(|read| read.with_access(Access::Sequential));
    let camera = task(sequential, stream);
    let unit = Processor::new(&device, [&camera], 2, Placement::Zoned, SharedBus::anywhere(&device)).expect("a unit");
    let (alone, work) = (Contention::none(), Work::new());
    let demand = Demand::new(&unit, &alone, None, 0, &work);
    let write = |resets: u64| 12 * 660 * US + resets * 5 * MS;
    // A read is due every 36 ms: 20 pages of 210 µs.
    assert_eq!(demand.at(span(30 * MS)).as_ns(), write(1).into());
    assert_eq!(demand.at(span(36 * MS)).as_ns(), (write(1) + 20 * 210 * US).into());
    // The last page of 22 requests is the 264-th: a second reset.
    assert_eq!(demand.at(span(22 * 30 * MS)).as_ns(), (22 * write(0) + 2 * 5 * MS + 18 * 20 * 210 * US).into());
    assert_eq!(demand.tightest(), Some(Nearest { length: span(30 * MS), slack: 16_870_000 }));
    let load = 4.2 / 36.0 + 7.92 / 30.0 + 5.0 / 30.0 * 12.0 / 256.0;
    assert!((demand.load() - load).abs() < 1e-9 && (load - 0.388).abs() < 5e-4);
    assert_eq!(choose(&unit, &[Contention::none()], 0, &work), Choice::Holds(None));
    // Sequential writes may jump.
    let jumps = task(None, request(24, 30 * MS).map(|write| write.with_access(Access::Sequential)));
    assert!(Processor::new(&device, [&jumps], 2, Placement::Zoned, SharedBus::anywhere(&device)).is_none());
}

/// Notes to Theorem 3: "The +1 is necessary", its smallest case.
#[test]
fn the_one_in_N_j_is_necessary() {
    let (t_d, t_e) = (10, 60);
    // Chip 0 reads 6 pages every 80. With ⌈L/T⌉ for ⌈L/T⌉ + 1 it passes at every length up to
    // L'_max, and so at all lengths: U' = 60/80 + 20/100 and K' = 20, so K' / (1 − U') = 400.
    let without_one = |L: u64| (L / 80) * 6 * t_d + t_d * (6 * (L / 80)).min(2 * L.div_ceil(100));
    assert_eq!(without_one(80), 60 + 20);
    assert!((80..=400).all(|L| without_one(L) <= L));
    // (T') rejects it. A device of the library senses in 1 at least; here it takes no time.
    let device = device_with(2, [1, 1, t_e, t_d]);
    let mut unit = beside_known(&device, &[reader(6, 80)]);
    unit.tasks[0].step_cost = Cost::from_ns(unit.tasks[0].step_cost.as_ns() - 1);
    let mut contention = Contention::new(&device);
    contention.add(&beside_known(&device, &[reader(2, 100)]), None, 1);
    let work = Work::new();
    let demand = Demand::new(&unit, &contention, None, 0, &work);
    assert_eq!(demand.at(span(80)).as_ns(), 60 + 40);
    assert_eq!(demand.tightest(), Some(Nearest { length: span(80), slack: -20 }));
    assert!(matches!(demand.test(), DemandVerdict::Fails(_)));
    // And it is late. The erase starts at 0, chip 1's read arrives at 1 and chip 0's at 60. Chip 0
    // needs 100.
    let reads = |pages, T| channel::ChannelTask { work: channel::ChannelWork::Read(pages), T };
    let erases = channel::ChannelTask { work: channel::ChannelWork::Collect(0), T: 1_000 };
    let channel = ChannelModel {
        times: UnitTimes { t_r: 0, t_w: 1, t_d: 10, t_e: 60 },
        chips: &[&[reads(6, 80)], &[reads(2, 100), erases]],
        ties: ChannelTies::Fixed,
        others_sense: 0,
    };
    let arrivals = [60, 1, 0].map(Arrivals::periodic);
    let Latest { chip_0, others } = channel.run(&arrivals, 1_000);
    assert_eq!(chip_0, 100 - 80);
    assert!(others <= 0, "chip 1 is in time, {others}");
}

/// Section 6.1, "What it gains": a read is charged 210 µs, and 160 µs in long runs of reads.
#[test]
fn reads_in_a_queue_are_charged_less() {
    let device = device();
    let T = 100 * MS;
    // The cost of one more page of a request, beside three chips that read for as long as can be.
    let page = |pages: u64, queued: bool| {
        let at = |pages| {
            let mut contention = Contention::new(&device);
            contention.add(&beside_known(&device, &[reader(100_000, 1_000 * T)]), None, 3);
            let contention = if queued { contention.in_a_queue(&device, 0) } else { contention };
            Demand::new(&beside_known(&device, &[reader(pages, T)]), &contention, None, 0, &Work::new())
                .at(span(T))
                .as_ns()
        };
        at(pages + 1) - at(pages)
    };
    // (T'), at any length: t_r + 3 t_d + t_d. (T'') for few pages: W1 is the smaller.
    assert_eq!([1, 300].map(|pages| page(pages, false)), [(210 * US).into(); 2]);
    assert_eq!(page(1, true), (210 * US).into());
    // In long runs: 4 t_d.
    assert_eq!([100, 300].map(|pages| page(pages, true)), [(160 * US).into(); 2]);
}

/// Section 8: a camera writes 24 pages every 30 ms and reads 40 every 36 ms, on two chips.
#[test]
fn a_camera_on_a_stripe() {
    let device = device();
    let sequential = |pages, T| request(pages, T).map(|request| request.with_access(Access::Sequential));
    let camera = task(sequential(40, 36 * MS), sequential(24, 30 * MS));
    let unit = Processor::new(&device, [&camera], 2, Placement::Stripe, SharedBus::anywhere(&device)).expect("a unit");
    let (c_r, c_w) = unit.page_costs();
    let (c_r, c_w) = (c_r.as_ns(), c_w.as_ns());
    assert_eq!((c_r, c_w), (210 * US, 660 * US));
    assert_eq!(unit.tasks.iter().map(|item| item.transfers.of_one()).collect::<Vec<_>>(), [20, 12]);
    let PP = unit.block_pages;
    let D_g = 360 * MS;
    // Pages that arrive within (t − D_g, t]: in a closed interval, one nanosecond shorter.
    let A: u128 = unit.write_streams.iter().map(|writer| writer.arriving(span(D_g - 1))).sum();
    let W: u64 = unit.write_streams.iter().map(|writer| writer.pages.of_one()).sum();
    assert_eq!((PP, A, W), (256, 144, 12));
    // The library chooses this D_g by itself.
    let Choice::Holds(Some(gc)) = choose(&unit, &[Contention::none()], 0, &Work::new()) else {
        panic!("the camera's unit holds")
    };
    assert_eq!(unit.gc(span(D_g), false), Some(gc));
    let (H, F, v, alpha, C_g) = (gc.reserve, gc.open, gc.valid, gc.reclaimed, gc.cost.as_ns());
    assert_eq!((H, F, v, alpha, C_g), (144 + 255, 2, 128, 128, 128 * 550 * US + 5 * MS));
    assert_eq!(C_g, 75_400 * US);
    // U = 4.2/36 + 7.92/30 + 75.4/128 · 12/30, to the document's three places.
    let none = Contention::none();
    let work = Work::new();
    let demand = Demand::new(&unit, &none, Some(gc), 0, &work);
    assert_eq!(format!("{:.3}", demand.load()), "0.616");
    assert!((demand.load() - (4.2 / 36.0 + 7.92 / 30.0 + 75.4 / 128.0 * 12.0 / 30.0)).abs() < 1e-9);
    // 7.92 ms of demand and 5 ms of blocking at 30 ms.
    assert_eq!(
        (demand.at(span(30 * MS)).as_ns(), demand.blocking(span(30 * MS)).as_ns()),
        ((7_920 * US).into(), 5 * MS)
    );
    assert_eq!(demand.tightest(), Some(Nearest { length: span(30 * MS), slack: (17_080 * US).into() }));
    assert_eq!(demand.test(), DemandVerdict::Holds);
    // With a server, U_s = 0.383 at most.
    let gc = unit.gc(span(D_g), true).expect("room for a server");
    assert_eq!((gc.reserve, gc.open, gc.valid, gc.reclaimed), (655, 4, 128, 128));
    let verdict = |thousandths| Demand::new(&unit, &none, Some(gc), thousandths, &work).test();
    assert_eq!((verdict(383), verdict(384)), (DemandVerdict::Holds, DemandVerdict::Overloaded));
    // The library finds as much.
    let largest = largest_server(&unit, &[Contention::none()], &work);
    assert_eq!(largest.map(|(thousandths, _)| thousandths), Some(383));
}
