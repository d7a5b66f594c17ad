//! Clusters with two page registers that read alone: where the last page of a request leaves behind
//! another task's page, it has taken all that blocks it (docs/analysis.md, Sections 13 and 15).

use rtflash_alloc::allocator::Global;
use rtflash_analysis::analysis_relying_on;
use rtflash_analysis::certified::Term;
use rtflash_model::{Access, Device, DeviceSpec, LogicalRatio, Reliance, Request, Span, Task, TaskSet};

use super::draw::Rng;
use super::limit::{LimitSet, limited};
use super::prescribed::Prescribed;

/// The set of this number: one cluster of a channel, at the limit by the last task's reads alone.
pub(super) fn draw(seed: u64, number: u64, left_out: Option<Term>) -> Option<LimitSet> {
    let mut rng = Rng::new(seed, b"drained\0", number);
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

/// A channel of one to four chips.
fn device(rng: &mut Rng) -> Option<Device> {
    let [page_read, page_transfer] = [20, 12].map(|most| Span::from_ns(rng.within(1, most)));
    let chips = rng.small(1, 4);
    Device::new(DeviceSpec {
        chips,
        chips_per_channel: chips,
        blocks_per_chip: 16,
        pages_per_block: 16,
        page_size: 512,
        page_registers: Some(2),
        logical_ratio: LogicalRatio::HALF,
        page_read: page_read?,
        page_program: Span::from_ns(20)?,
        block_erase: Span::from_ns(40)?,
        page_transfer: page_transfer?,
        ..DeviceSpec::default()
    })
    .ok()
}
