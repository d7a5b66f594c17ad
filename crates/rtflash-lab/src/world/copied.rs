//! Chips that share a bus, where a neighbour writes little and copies much: what it holds the bus
//! for are commands, of copies and erases (docs/analysis.md, Sections 2.10, 6.3, 14 and 15.1).
//! Elsewhere a pass copies few pages, beside more that its neighbours move.

use rtflash_alloc::allocator::{Allocator, EqualSplit};
use rtflash_analysis::analysis_relying_on;
use rtflash_model::random::Stream;
use rtflash_model::{Device, DeviceSpec, Reliance, Request, Span, Task, TaskSet};

use super::SmallWorld;
use super::limit::{LimitSet, limited};
use super::prescribed::{ALTERNATING, Prescribed};
use crate::small_device::SmallDevice;

/// At the limit by the last task's reads. In `command` half are on a superblock of one chip.
pub(super) fn draw(seed: u64, number: u64, world: SmallWorld, left_out: Option<&'static str>) -> Option<LimitSet> {
    let mut rng = Stream::numbered(seed, b"copied\0\0", number);
    let rows = world == SmallWorld::Command && rng.within(0, 1) == 0;
    let (analysis, granted, allocator): (_, _, &dyn Allocator) = match world {
        SmallWorld::QueueCommand => ("stripe", Reliance::Queue, &EqualSplit),
        SmallWorld::RegisterCommand => ("stripe", Reliance::Neighbours, Prescribed::cached(&EqualSplit, false)),
        _ if rows => ("sound", Reliance::Neighbours, &ALTERNATING),
        _ => ("stripe", Reliance::Neighbours, &EqualSplit),
    };
    let device = device(&mut rng, world == SmallWorld::RegisterCommand)?;
    let [read, program, hold] = [device.page_read(), device.page_program(), device.page_transfer()].map(Span::as_ns);
    let pass = u64::from(device.pages_per_block()) * (read + program + hold);
    let write = Request::new(rng.within(1, 2), Span::from_ns(rng.within(pass, 6 * pass))?)?;
    let reads = Request::new(rng.within(20, 90), Span::from_ns(40 * pass)?)?;
    let task = |name: &str, read, write| Task { name: name.into(), read, write, data_pages: None };
    let tasks = vec![task("t1", None, Some(write)), task("t2", Some(reads), None)];
    let set = TaskSet::new(device, tasks, Vec::new()).ok()?;
    limited(&mut rng, set, allocator, analysis_relying_on(analysis, granted)?, left_out, true)
}

/// Victims with many valid pages; a command takes a page's transfer at most, as Q5 asks.
fn device(rng: &mut Stream, cached: bool) -> Option<Device> {
    let command = rng.within(2, 8);
    let transfer = command + rng.within(0, 2);
    let [read, program, erase] = [6, 12, 20].map(|most| rng.within(1, most));
    let (blocks, pages, logical) = (rng.small(12, 32), rng.small(6, 24), rng.within(50, 80));
    let times = [read, program, transfer, erase];
    let spec = SmallDevice { chips: 2, ways: 2, blocks, pages, logical, times }.spec()?;
    let page_registers = cached.then_some(2);
    Device::new(DeviceSpec { command: Span::from_ns(command), page_registers, ..spec }).ok()
}

#[cfg(test)]
mod tests {
    use rtflash_run::soak::{Case, SoakOutcome, judge_allocated};

    use super::*;
    use crate::world::attack;

    /// At the limit of the test with all its terms none is late.
    #[test]
    fn with_all_terms_none_is_late() {
        for world in [SmallWorld::Command, SmallWorld::QueueCommand, SmallWorld::RegisterCommand] {
            let mut judged = 0;
            for run in 0..40 * SmallWorld::RUNS_OF_A_SET {
                let Some(limit) = draw(1, run / SmallWorld::RUNS_OF_A_SET, world, None) else { continue };
                let options = attack::options(1, run, &limit, false).expect("options");
                let LimitSet { set, allocator, analysis, allocation, .. } = limit;
                let case = Case { seed: 1, run, set, allocator, analysis, options };
                let judged_now = judge_allocated(&case, &allocation);
                let SoakOutcome::Judged { findings, .. } = judged_now else { panic!("{world:?}, {run}") };
                assert!(findings.iter().all(|finding| finding.gauge.holds()), "{world:?}, {run}: {findings:?}");
                judged += 1;
            }
            assert!(judged > 400, "{world:?}: {judged}");
        }
    }
}
