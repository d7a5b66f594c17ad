//! Chips that share a bus, one task on each. The last one is looked at: it stands last in the queue
//! where several ask at once. The others read much and seldom, or a page often, and may write.

use rtflash_model::random::Stream;
use rtflash_model::{Device, DeviceSpec, Request, Shortest, Span, Task};

use crate::climb::channel::ChannelWork;
use crate::climb::rows::{Row, TABLE};
use crate::small_device::SmallDevice;

pub(super) struct Queued {
    pub(super) device: Device,
    pub(super) tasks: Vec<Task>,
}

struct DrawnQueue {
    times: [u64; 4],
    block: u32,
    chips: Vec<[Option<(u64, u64)>; 2]>,
}

/// The shortest times of a device whose reads are as steady as Q3 asks. Transfers take one time.
pub(super) fn steady(rng: &mut Stream, device: &Device) -> Option<Device> {
    let spec = device.spec();
    let within = |rng: &mut Stream, least: u64, most: Span| Span::from_ns(rng.within(least, most.as_ns()));
    let least = device.page_read().as_ns().saturating_sub(device.page_transfer().as_ns()) + 1;
    let shortest = Shortest {
        page_read: within(rng, least, spec.page_read),
        page_program: within(rng, 1, spec.page_program),
        block_erase: within(rng, 1, spec.block_erase),
        page_transfer: None,
    };
    Device::new(DeviceSpec { shortest, ..spec }).ok()
}

impl Queued {
    pub(super) fn new(rng: &mut Stream) -> Option<Queued> {
        let drawn = if rng.within(0, 1) == 0 { anywhere(rng) } else { near_a_row(rng)? };
        let chips = u32::try_from(drawn.chips.len()).ok()?;
        // With this number of blocks, a victim has next to no valid pages: the search is about
        // reads.
        let (blocks, times) = (48, drawn.times);
        let small = SmallDevice { chips, ways: chips, blocks, pages: drawn.block, logical: 10, times };
        let device = Device::new(small.spec()?);
        let request =
            |of: Option<(u64, u64)>| of.and_then(|(pages, period)| Request::new(pages, Span::from_ns(period)?));
        let task = |(chip, [read, write]): (usize, [Option<(u64, u64)>; 2])| Task {
            name: format!("t{}", chip + 1),
            read: request(read),
            write: request(write),
            data_pages: None,
        };
        Some(Queued { device: device.ok()?, tasks: drawn.chips.into_iter().enumerate().map(task).collect() })
    }
}

/// Or times with which chips stay in step: sensing, programs and erases take one or two transfers.
fn anywhere(rng: &mut Stream) -> DrawnQueue {
    let times = if rng.within(0, 3) > 0 {
        let transfer = rng.within(2, 8);
        let mut turns = || transfer * rng.within(1, 2);
        [turns(), turns(), transfer, turns()]
    } else {
        [rng.within(1, 20), rng.within(1, 20), rng.within(1, 12), rng.within(1, 20)]
    };
    let most = rng.one_of(&[6, 16, 60]);
    let watched = (rng.within(3, most), rng.within(40, 60));
    let mut chips = Vec::new();
    for _ in 0..rng.within(1, 3) {
        let read = if rng.within(0, 2) == 0 {
            (1, rng.within(20, 60))
        } else {
            (rng.within(watched.0, 4 * watched.0), rng.within(30_000, 40_000))
        };
        let write = (rng.within(0, 2) == 0).then(|| (1, rng.within(20, 80)));
        chips.push([Some(read), write]);
    }
    chips.push([Some(watched), (rng.within(0, 2) == 0).then(|| (1, rng.within(15, 120)))]);
    DrawnQueue { times, block: rng.one_of(&[1, 16]), chips }
}

/// From the table "What is necessary", a little changed. An erase alone there comes
/// with a page written here, one for each block.
fn near_a_row(rng: &mut Stream) -> Option<DrawnQueue> {
    let terms: Vec<&Row> = TABLE.iter().filter(|row| row.left_out.term().is_some()).collect();
    let row = rng.one_of(&terms);
    let mut drawn = DrawnQueue { times: row.times.map(u64::from), block: 16, chips: Vec::new() };
    for chip in (1..row.chips.len()).chain([0]) {
        let mut requests = [None, None];
        for task in row.chips[chip] {
            let period = u64::try_from(task.T).ok()?;
            let near =
                |rng: &mut Stream, number: u64, most: u64| (number + rng.within(0, 2 * most)).saturating_sub(most);
            let pages = |rng: &mut Stream, pages: i128| {
                Some(near(rng, u64::try_from(pages).ok()?, if pages > 3 { 2 } else { 0 }).max(1))
            };
            let (place, pages, period) = match task.work {
                ChannelWork::Read(of) => (0, pages(rng, of)?, near(rng, period, 3)),
                ChannelWork::Write(of) => (1, pages(rng, of)?, near(rng, period, 3)),
                ChannelWork::Collect(_) => {
                    drawn.block = 1;
                    // With twice the time a program and its erase are an odd number of turns.
                    drawn.times[1] *= rng.within(1, 2);
                    (1, 1, period + rng.within(0, 20))
                }
            };
            requests[place] = Some((pages, period));
        }
        drawn.chips.push(requests);
    }
    Some(drawn)
}
