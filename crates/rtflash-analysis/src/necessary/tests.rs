use rtflash_model::{Device, DeviceSpec, LogicalRatio, Request, Task, TaskSet};
use rtflash_testkit::ns;

use super::*;

/// 4 chips on 2 channels, blocks of 8 pages, 16 blocks, λ = 0.75: 96 logical pages a chip. A read
/// occupies its chip for 3, a program for 7, a transfer is 1 of each, an erase 16.
fn device() -> DeviceSpec {
    DeviceSpec {
        chips: 4,
        chips_per_channel: 2,
        blocks_per_chip: 16,
        pages_per_block: 8,
        logical_ratio: LogicalRatio::from_decimal(75, 2).unwrap(),
        page_read: ns(2),
        page_program: ns(6),
        block_erase: ns(16),
        page_transfer: ns(1),
        ..Device::profile("dgist-2021").unwrap().spec()
    }
}

fn request(pages: u64, period: u64) -> Request {
    Request::new(pages, ns(period)).unwrap()
}

fn sequential(pages: u64, period: u64) -> Request {
    request(pages, period).with_access(Access::Sequential)
}

fn set(device: DeviceSpec, tasks: &[(Option<Request>, Option<Request>, Option<u64>)]) -> TaskSet {
    let task =
        |(index, &(read, write, data_pages)): (usize, &_)| Task { name: format!("t{index}"), read, write, data_pages };
    TaskSet::new(Device::new(device).unwrap(), tasks.iter().enumerate().map(task).collect(), vec![]).unwrap()
}

fn found(set: &TaskSet) -> Option<Impossible> {
    impossible(set, PageCosts::transfer_on_top(set.device()))
}

#[test]
fn buses_are_full_at_one_and_not_before() {
    // A device on which moving takes long: 8 a page, sensing 1; two channels.
    let device = DeviceSpec { page_read: ns(1), page_transfer: ns(8), ..device() };
    let reads = |pages: u64, period: u64| (Some(sequential(pages, period)), None, None);
    assert_eq!(found(&set(device, &[reads(2, 16), reads(2, 16)])), None);
    let Some(Impossible::Bus { load }) = found(&set(device, &[reads(2, 15), reads(2, 16)])) else { panic!() };
    assert!((load - (16.0 / 15.0 + 1.0) / 2.0).abs() < 1e-12, "{load}");
}

#[test]
fn chips_are_full_at_one_with_their_erases() {
    // 4 chips; a page programmed takes 7, and an eighth of an erase, 2: nine.
    let writes = |period: u64| (None, Some(sequential(1, period)), None);
    let full = [writes(9), writes(9), writes(9), writes(9)];
    assert_eq!(found(&set(device(), &full)), None);
    let too_full = found(&set(device(), &[full[0], full[0], full[0], writes(8)]));
    let Some(Impossible::Chips { load, collection, .. }) = too_full else { panic!("{too_full:?}") };
    assert!((load - (3.0 + 9.0 / 8.0) / 4.0).abs() < 1e-12, "{load}");
    assert!((collection - (6.0 / 9.0 + 2.0 / 8.0) / 4.0).abs() < 1e-12, "{collection}");
}

#[test]
fn random_writers_force_copies() {
    // ν = ceil((96 - 4) / 16) - 1 = 5 of 8 pages: a page costs 7, 5/3 copies of 8, and an erase of
    // three: 7 + 40/3 + 16/3 = 77/3.
    let writes = |access: Access, period: u64| (None, Some(request(1, period).with_access(access)), None);
    let four = |access, period| [writes(access, period); 4];
    assert_eq!(found(&set(device(), &four(Access::Random, 26))), None);
    let Some(Impossible::Chips { load, .. }) = found(&set(device(), &four(Access::Random, 25))) else { panic!() };
    assert!((load - 77.0 / 75.0).abs() < 1e-12, "{load}");
    assert_eq!(found(&set(device(), &four(Access::Sequential, 10))), None);
    // The writes of others reduce the copies: three quarters of 5/3, less a quarter, is one copy a
    // page written, and a quarter of an erase: 7 + 8 + 4 = 19.
    let mixed = |period| {
        let random = writes(Access::Random, period);
        set(device(), &[random, random, random, writes(Access::Sequential, period)])
    };
    assert_eq!(found(&mixed(19)), None);
    assert!(matches!(found(&mixed(18)), Some(Impossible::Chips { load, .. }) if (load - 19.0 / 18.0).abs() < 1e-12));
}

#[test]
fn declared_data_are_all_that_a_writer_overwrites() {
    // 96 logical pages a chip. With all 384 declared ν is as above; with 100, ceil(96/64) - 1.
    let writes = |data| set(device(), &[(None, Some(request(4, 25)), Some(data))]);
    assert!(matches!(found(&writes(384)), Some(Impossible::Chips { .. })));
    assert_eq!(found(&writes(100)), None);
    let both = (None, Some(request(1, 1000)), Some(200));
    let data = Impossible::Data { data_pages: 400, logical_pages: 384 };
    assert_eq!(found(&set(device(), &[both, both])), Some(data));
}

#[test]
fn a_request_has_to_be_over_in_time() {
    let reads = |request: Request, data| set(device(), &[(Some(request), None, data)]);
    // 8 pages on 4 chips are 2 on one: 6. By bus 4, after sensing for 2: 6.
    assert_eq!(found(&reads(sequential(8, 6), None)), None);
    let Some(Impossible::Request(long)) = found(&reads(sequential(8, 5), None)) else { panic!() };
    assert_eq!((long.on_one_chip, long.least_ns, long.window), (2, 6, ns(5)));
    // Any 8 pages may be on one chip, and of 20 pages of data 5 are.
    assert!(matches!(found(&reads(request(8, 23), None)), Some(Impossible::Request(long)) if long.least_ns == 24));
    assert_eq!(found(&reads(request(8, 24), None)), None);
    assert_eq!(found(&reads(request(8, 15), Some(20))), None);
    assert!(
        matches!(found(&reads(request(8, 14), Some(20))), Some(Impossible::Request(long)) if long.on_one_chip == 5)
    );
    // A write goes where there is room; and jitter takes from what it has.
    let write = request(8, 1000).with_deadline(Some(ns(15))).unwrap().with_jitter(ns(1)).unwrap();
    assert_eq!(found(&set(device(), &[(None, Some(write), None)])), None);
    let later = write.with_jitter(ns(2)).unwrap();
    assert!(
        matches!(found(&set(device(), &[(None, Some(later), None)])), Some(Impossible::Request(long)) if long.writes)
    );
}

#[test]
fn short_deadlines_fill_windows() {
    // Each has 6 of 100 to read 8 pages: 24 of chips' time. One fills four chips; two do not fit.
    let reads = |deadline| (Some(sequential(8, 100).with_deadline(Some(ns(deadline))).unwrap()), None, None);
    assert_eq!(found(&set(device(), &[reads(6)])), None);
    assert_eq!(found(&set(device(), &[reads(6), reads(12)])), None);
    let Some(Impossible::Window(full)) = found(&set(device(), &[reads(6), reads(11)])) else { panic!() };
    assert_eq!(full, FullWindow { bus: false, interval: ns(11), demand_ns: 48, servers: 4 });
}

#[test]
fn fewer_chips_than_the_fewest_do_not_do() {
    let set = set(device(), &[(None, Some(sequential(4, 5)), None)]);
    let costs = PageCosts::transfer_on_top(set.device());
    // Nine a page, 36 every 5 on chips: eight. A page by the bus of each channel: 1 + 6 at least.
    assert_eq!(fewest_chips(&set, costs), None);
    let set = set.on(Device::new(DeviceSpec { page_program: ns(2), ..device() }).unwrap()).unwrap();
    let costs = PageCosts::transfer_on_top(set.device());
    // Now 3 and 2 of an erase: 20 every 5, four chips.
    assert_eq!(fewest_chips(&set, costs), Some(4));
}
