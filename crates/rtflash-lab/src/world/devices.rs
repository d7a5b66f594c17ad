//! Devices of worlds that have something more, or something that fails.

use rtflash_model::random::Stream;
use rtflash_model::{Device, DeviceSpec, Span};

use super::SmallWorld;

/// The device as the world that is drawn from has it, where the set is one of the `other`.
pub(super) fn of_world(rng: &mut Stream, device: Device, drawn: SmallWorld, other: SmallWorld) -> Option<Device> {
    let commands = matches!(drawn, SmallWorld::Command | SmallWorld::RegisterCommand);
    let commands = commands || other == SmallWorld::Zoned && rng.within(0, 3) == 0;
    let device = if commands { with_commands(rng, &device)? } else { device };
    let suspends = drawn == SmallWorld::Suspending;
    let device = if suspends { suspended_erases(rng, &device)? } else { device };
    let failing = drawn == SmallWorld::Failing || suspends && rng.within(0, 3) == 0;
    let device = if failing { failing_blocks(rng, &device)? } else { device };
    let device = if drawn == SmallWorld::Levelling { levelled_wear(rng, &device)? } else { device };
    let cached = matches!(drawn, SmallWorld::Register | SmallWorld::RegisterCommand);
    if cached { with_two_registers(&device) } else { Some(device) }
}

fn with_commands(rng: &mut Stream, device: &Device) -> Option<Device> {
    let command = Span::from_ns(rng.within(1, 8));
    Device::new(DeviceSpec { command, ..device.spec() }).ok()
}

/// The device with some blocks more, of which some may fail, all at programs or a few at once.
fn failing_blocks(rng: &mut Stream, device: &Device) -> Option<Device> {
    let spare = rng.small(1, 3);
    let program_failures = (rng.within(0, 2) > 0).then(|| rng.small(1, spare));
    let blocks_per_chip = device.blocks_per_chip() + rng.small(0, 4 * spare);
    Device::new(DeviceSpec { blocks_per_chip, spare_blocks: Some(spare), program_failures, ..device.spec() }).ok()
}

fn suspended_erases(rng: &mut Stream, device: &Device) -> Option<Device> {
    let spec = device.spec();
    let block_erase = spec.block_erase.checked_mul(rng.within(1, 8))?.saturating_add(Span::NANOSECOND);
    let suspend = rng.within(1, (block_erase.as_ns() / 3).max(1));
    let resume = rng.within(0, 1) * rng.within(0, suspend);
    let (erase_suspend, erase_resume) = (Span::from_ns(suspend), Span::from_ns(resume));
    Device::new(DeviceSpec { block_erase, erase_suspend, erase_resume, ..spec }).ok()
}

/// Often as soon as blocks differ, and with blocks that fail in some.
fn levelled_wear(rng: &mut Stream, device: &Device) -> Option<Device> {
    let device = if rng.within(0, 3) == 0 { failing_blocks(rng, device)? } else { *device };
    let wear_gap = Some(rng.small(1, 3));
    let wear_passes = (rng.within(0, 1) == 0).then(|| rng.small(2, 8));
    Device::new(DeviceSpec { wear_gap, wear_passes, ..device.spec() }).ok()
}

fn with_two_registers(device: &Device) -> Option<Device> {
    Device::new(DeviceSpec { page_registers: Some(2), ..device.spec() }).ok()
}
