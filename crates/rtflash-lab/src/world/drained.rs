//! Clusters with two page registers that read alone: where the last page of a request leaves behind
//! another task's page, it has taken all that blocks it (docs/analysis.md, Sections 13 and 15).

use rtflash_alloc::allocator::Global;
use rtflash_analysis::analysis_relying_on;
use rtflash_model::random::Stream;
use rtflash_model::{Access, Device, DeviceSpec, Reliance, Request, Span, Task, TaskSet};

use super::limit::{LimitSet, limited};
use super::prescribed::Prescribed;
use crate::small_device::SmallDevice;

/// The set of this number: one cluster of a channel, at the limit by the last task's reads alone.
pub(super) fn draw(seed: u64, number: u64, left_out: Option<&'static str>) -> Option<LimitSet> {
    let mut rng = Stream::numbered(seed, b"drained\0", number);
    let superblock = rng.within(0, 1) == 0;
    let allocator = Prescribed::cached(&Global, superblock);
    let analysis = analysis_relying_on(if superblock { "superblock" } else { "stripe" }, Reliance::Nothing)?;
    let device = device(&mut rng)?;
    let step = u64::from(device.chips()) * device.page_transfer().as_ns() + device.page_read().as_ns();
    let read = |pages: u64, longer: u64| {
        let pages = pages * u64::from(device.chips());
        let request = Request::new(pages, Span::from_ns(longer * pages * step)?)?;
        Some(request.with_access(Access::Sequential))
    };
    let long = (read(rng.within(8, 24), rng.within(2, 4)), "long");
    let last = (read(rng.within(1, 4), 8), "last");
    let tasks = [long, last].map(|(read, name)| Task { name: name.into(), read, write: None, data_pages: None });
    let set = TaskSet::new(device, tasks.to_vec(), Vec::new()).ok()?;
    limited(&mut rng, set, allocator, analysis, left_out, true)
}

fn device(rng: &mut Stream) -> Option<Device> {
    let [read, transfer] = [20, 12].map(|most| rng.within(1, most));
    let chips = rng.small(1, 4);
    let times = [read, 20, transfer, 40];
    let spec = SmallDevice { chips, ways: chips, blocks: 16, pages: 16, logical: 50, times }.spec()?;
    Device::new(DeviceSpec { page_registers: Some(2), ..spec }).ok()
}
