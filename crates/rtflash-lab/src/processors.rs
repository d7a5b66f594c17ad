//! Processors with a term left out of their tasks and costs.

use rtflash_model::{Device, Placement, Span, Task};

use crate::leaves_out;
use crate::weakened::certified::{Cost, Processor, SharedBus};

/// As [`Processor::new`], with what is left out. A set that passes such a test is not guaranteed.
pub(crate) fn new<'t>(
    device: &Device,
    tasks: impl IntoIterator<Item = &'t Task>,
    chips: u32,
    placement: Placement,
    bus: SharedBus,
) -> Option<Processor> {
    let bus = if leaves_out("transfer") { less_one(bus) } else { bus };
    let mut processor = Processor::new(device, tasks, chips, placement, bus)?;
    let hold = Cost::from(device.bus_hold());
    let own = |base: Span| Cost::from(base).checked_add(hold);
    let (read, program) = (own(device.page_read()), own(device.page_program()));
    let erase = Cost::from(device.block_erase());
    for task in &mut processor.tasks {
        if leaves_out("blocking") || task.resets && leaves_out("reset-step") {
            task.step = Cost::ZERO;
        }
        if leaves_out("step-wait") {
            // If it cannot be added up, the step was that long already.
            let alone = if task.writes { program } else { read };
            task.step = if task.resets { erase } else { alone.unwrap_or(task.step) };
        }
        if leaves_out("window") {
            task.jitter = Span::ZERO;
        }
    }
    if leaves_out("resets") {
        processor.tasks.retain(|task| !task.resets);
    }
    if leaves_out("beside") {
        processor.costs.beside = Cost::ZERO;
    }
    if placement.is_cached() {
        cached(&mut processor, device, bus);
    }
    Some(processor)
}

/// Rows wait no longer than pages that are read, and reads whose commands do not wait.
fn cached(processor: &mut Processor, device: &Device, bus: SharedBus) {
    let most = bus.ways.max(bus.most);
    let superblock = processor.placement() == Placement::CachedSuperblock;
    let ways = if superblock { bus.most_foreign.saturating_add(1).min(most) } else { most };
    let waits = Cost::from(device.bus_hold()).checked_mul(ways.into()).expect("four times as much can be added up");
    for task in &mut processor.tasks {
        if task.writes && leaves_out("own-row") {
            task.step_cost = Cost::from(device.page_program()).max(waits);
        }
        if !task.writes && leaves_out("told-read") {
            task.step_cost = Cost::from(device.page_read()).max(waits);
        }
    }
}

fn less_one(bus: SharedBus) -> SharedBus {
    let less = |transfers: u32| transfers.saturating_sub(1).max(1);
    let (foreign, most_foreign) = (bus.foreign.saturating_sub(1), bus.most_foreign.saturating_sub(1));
    SharedBus { ways: less(bus.ways), most: less(bus.most), foreign, most_foreign }
}
