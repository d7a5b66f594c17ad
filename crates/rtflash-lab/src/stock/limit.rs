//! Small drives, and sets of requests brought to the limit of `stock`.

use rtflash_analysis::Stock;
use rtflash_model::random::Stream;
use rtflash_model::{Device, Request, Span, Task, TaskId, TaskSet};

use super::drive::{StockArrivals, StockDrive, StockSource};
use super::memory::{StockAddresses, StockMemory};
use crate::small_device::SmallDevice;
use crate::{leaving_out, weakened};

/// A device, and requests whose periods are stretched until the test accepts.
struct DrawnStock {
    device: Device,
    requests: Vec<DrawnRequest>,
}

struct DrawnRequest {
    pages: u64,
    period: u64,
    writes: bool,
}

/// Accepted, and with periods a bit shorter not. `None` for no device, or accepted at no load.
pub(super) fn at_limit(left_out: Option<&'static str>, rng: &mut Stream) -> Option<TaskSet> {
    let drawn = DrawnStock::new(rng)?;
    let accepts = |stretch| Some(accepts(left_out, &drawn.set(stretch)?));
    let (mut no, mut yes) = (0, 1 << 20);
    if !accepts(yes)? {
        return None;
    }
    while no + 1 < yes {
        let middle = u64::midpoint(no, yes);
        if accepts(middle)? { yes = middle } else { no = middle }
    }
    drawn.set(yes)
}

pub(super) fn accepts(left_out: Option<&'static str>, set: &TaskSet) -> bool {
    let tasks: Vec<TaskId> = set.tasks().ids().collect();
    leaving_out(left_out, || weakened::test_cluster(set, &weakened::Stock as &dyn weakened::Analysis, &tasks, 1))
}

impl DrawnStock {
    fn new(rng: &mut Stream) -> Option<DrawnStock> {
        let device = device(rng).filter(|device| device.logical_pages() > 0)?;
        let count = 1 + rng.index(4);
        let request =
            |_| DrawnRequest { pages: rng.within(1, 9), period: rng.within(200, 1_000), writes: rng.within(0, 1) == 0 };
        Some(DrawnStock { device, requests: (0..count).map(request).collect() })
    }

    fn set(&self, stretch: u64) -> Option<TaskSet> {
        let task = |(at, of): (usize, &DrawnRequest)| {
            let request = Request::new(of.pages, Span::from_ns((of.period * stretch / 1_000).max(1))?);
            let (read, write) = if of.writes { (None, request) } else { (request, None) };
            Some(Task { name: format!("t{}", at + 1), read, write, data_pages: None })
        };
        let tasks = self.requests.iter().enumerate().map(task).collect::<Option<_>>()?;
        TaskSet::new(self.device, tasks, Vec::new()).ok()
    }
}

fn device(rng: &mut Stream) -> Option<Device> {
    let (blocks, pages, logical) = (rng.small(3, 9), rng.small(2, 9), rng.within(20, 85));
    let (read, program, erase) = (rng.within(1, 20), rng.within(5, 60), rng.within(20, 400));
    let times = [read, program, 1, erase];
    Device::new(SmallDevice { chips: 1, ways: 1, blocks, pages, logical, times }.spec()?).ok()
}

/// A drive before its first request, held to the whole test.
pub(super) fn drive<'a>(
    set: &TaskSet,
    sources: Vec<StockSource>,
    coming: StockArrivals,
    addresses: StockAddresses,
    rng: &'a mut Stream,
) -> StockDrive<'a> {
    let device = set.device();
    let few = |number: u128| usize::try_from(number).expect("few");
    let (blocks, pages) = (few(device.blocks_per_chip().into()), few(device.pages_per_block().into()));
    let data = few(device.logical_pages());
    let bound = Stock.victim_pages(device, 1).and_then(|bound| usize::try_from(bound).ok());
    let times = [device.page_read(), device.page_program(), device.block_erase()].map(Span::as_ns);
    let memory = StockMemory::aged(blocks, pages, data);
    StockDrive::new(times, memory, bound.unwrap_or(pages), sources, coming, addresses, rng)
}

pub(super) fn by_chance<'a>(set: &TaskSet, rng: &'a mut Stream) -> StockDrive<'a> {
    let coming = rng.one_of(&[
        StockArrivals::Together,
        StockArrivals::Apart,
        StockArrivals::Seldom,
        StockArrivals::BehindOperations,
    ]);
    let addresses = rng.one_of(&StockAddresses::ALL);
    let source = |(request, writes): (Request, bool)| {
        let period = request.period().as_ns();
        let first = if coming == StockArrivals::Apart { rng.within(0, period) } else { 0 };
        let held = coming == StockArrivals::BehindOperations && !writes;
        let (pages, comes) = (request.pages(), (!held).then_some(first));
        StockSource { pages, period, writes, may: 0, comes, releases: 0, gaps: Vec::new() }
    };
    let sources = set.tasks().iter().flat_map(Task::requests).map(source).collect();
    drive(set, sources, coming, addresses, rng)
}
