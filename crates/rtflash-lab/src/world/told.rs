//! Stripes whose commands stand in the queue for a bus, at the limit of (T'') with commands
//! (docs/analysis.md, Section 6.3).

use rtflash_alloc::allocator::{Allocator, EqualSplit};
use rtflash_analysis::analysis_relying_on;
use rtflash_analysis::certified::reliances;
use rtflash_model::random::Stream;
use rtflash_model::{Device, DeviceSpec, Reliance, Shortest, Span, TaskSet};
use rtflash_run::soak::with_deadlines;

use super::SmallWorld;
use super::limit::{LimitSet, Shape, limited, tasks};
use super::queued::Queued;

/// One task on each chip, at the limit by the last one's reads, or stripes of one and two chips.
pub(super) fn draw(seed: u64, number: u64, left_out: Option<&'static str>) -> Option<LimitSet> {
    let mut rng = Stream::numbered(seed, b"told\0\0\0\0", number);
    let analysis = analysis_relying_on("stripe", Reliance::Queue)?;
    let watches_last = rng.within(0, 1) == 0;
    let (allocator, device, tasks): (&'static dyn Allocator, _, _) = if watches_last {
        let Queued { device, tasks } = Queued::new(&mut rng)?;
        (&EqualSplit, device, tasks)
    } else {
        let shape = Shape::new(&mut rng, SmallWorld::Stripe);
        let device = shape.device(&mut rng, false)?;
        let tasks = tasks(&mut rng, shape.tasks, SmallWorld::Stripe)?;
        (shape.allocator, device, with_deadlines(&mut rng, tasks, false)?)
    };
    let varies = rng.within(0, 2) == 0;
    let device = with_commands(&mut rng, &device, varies)?;
    let set = TaskSet::new(device, tasks, Vec::new()).ok()?;
    let limited = limited(&mut rng, set, allocator, analysis, left_out, watches_last)?;
    let limit = LimitSet { varies, ..limited };
    let queues = || reliances(&limit.set, &limit.allocation).contains(&Some(Reliance::Queue));
    let shows = left_out.is_some() || queues();
    shows.then_some(limit)
}

/// The device with commands no longer than transfers. If times vary, sensing does as Q5 allows.
fn with_commands(rng: &mut Stream, device: &Device, varies: bool) -> Option<Device> {
    let spec = device.spec();
    let command = rng.within(1, spec.page_transfer.as_ns());
    let within = |rng: &mut Stream, least: u64, most: Span| Span::from_ns(rng.within(least, most.as_ns()));
    let shortest = Shortest {
        page_read: within(rng, spec.page_read.as_ns().saturating_sub(command) + 1, spec.page_read),
        page_program: within(rng, 1, spec.page_program),
        block_erase: within(rng, 1, spec.block_erase),
        page_transfer: within(rng, 1, spec.page_transfer),
    };
    let shortest = if varies { shortest } else { Shortest::default() };
    Device::new(DeviceSpec { command: Span::from_ns(command), shortest, ..spec }).ok()
}
