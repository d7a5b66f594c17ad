//! Sets for small devices.

use rtflash_model::random::Stream;
use rtflash_model::{Access, Device, DeviceSpec, LogicalRatio, Request, Span, Task, TaskSet};

fn us(micros: u64) -> Span {
    Span::from_us(u32::try_from(micros).expect("short"))
}

/// A set of a few tasks whose load is about what its device carries.
pub fn draw(rng: &mut Stream, chips: u64, tasks: u64) -> Option<TaskSet> {
    let mut count = |low, high| u32::try_from(rng.within(low, high)).ok();
    let (chips, ways, blocks, pages) = (count(1, chips)?, count(1, 4)?, count(24, 200)?, count(8, 64)?);
    let device = Device::new(DeviceSpec {
        chips,
        chips_per_channel: ways,
        blocks_per_chip: blocks,
        pages_per_block: pages,
        page_size: 4096,
        logical_ratio: LogicalRatio::from_decimal(rng.within(2, 8).into(), 1).ok()?,
        page_read: us(rng.within(10, 80)),
        page_program: us(rng.within(100, 600)),
        block_erase: us(rng.within(500, 4_000)),
        page_transfer: us(rng.within(5, 60)),
        ..DeviceSpec::default()
    })
    .ok()?;
    let count = rng.within(1, tasks);
    let share = rng.within(200, 1_600) * u64::from(chips) / count;
    let mut tasks = Vec::new();
    for index in 0..count {
        let mut request = |cost: u64| {
            let pages = rng.within(1, 60);
            let access = match rng.within(0, 3) {
                0 => Access::Random,
                1 => Access::Stream,
                _ => Access::Sequential,
            };
            // `share` thousandths of a chip, more or less.
            let part = (share * rng.within(20, 100) / 100).max(1);
            Request::new(pages, us(pages * cost * 1_000 / part)).map(|request| request.with_access(access))
        };
        let (read, write) = (request(100), request(900));
        let kind = rng.within(0, 2);
        let task = Task {
            name: format!("t{index}"),
            read: read.filter(|_| kind != 1),
            write: write.filter(|_| kind != 0),
            data_pages: None,
        };
        tasks.push(task);
    }
    TaskSet::new(device, tasks, vec![]).ok()
}
