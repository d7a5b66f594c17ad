//! Chips that share a bus, where a neighbour writes little and copies much: what it holds the bus
//! for are commands, of copies and erases (docs/analysis.md, Sections 2.10, 6.3, 14 and 15.1).
//! Elsewhere a pass copies few pages, beside more that its neighbours move.

use rtflash_alloc::allocator::{Allocator, EqualSplit};
use rtflash_analysis::analysis_relying_on;
use rtflash_analysis::certified::Term;
use rtflash_model::{Device, DeviceSpec, LogicalRatio, Reliance, Request, Span, Task, TaskSet};

use super::World;
use super::draw::Rng;
use super::limit::{LimitSet, limited};
use super::prescribed::{ALTERNATING, Prescribed};

/// The set of this number, at the limit by the last task's reads alone. In `command` it is on a
/// superblock in half of the sets, of one chip.
pub(super) fn draw(seed: u64, number: u64, world: World, left_out: Option<Term>) -> Option<LimitSet> {
    let mut rng = Rng::new(seed, b"copied\0\0", number);
    let rows = world == World::Command && rng.within(0, 1) == 0;
    let (analysis, granted, allocator): (_, _, &dyn Allocator) = match world {
        World::QueueCommand => ("stripe", Reliance::Queue, &EqualSplit),
        World::RegisterCommand => ("stripe", Reliance::Neighbours, Prescribed::cached(&EqualSplit, false)),
        _ if rows => ("sound", Reliance::Neighbours, &ALTERNATING),
        _ => ("stripe", Reliance::Neighbours, &EqualSplit),
    };
    let device = device(&mut rng, world == World::RegisterCommand)?;
    let [read, program, hold] = [device.page_read(), device.page_program(), device.page_transfer()].map(Span::as_ns);
    let pass = u64::from(device.pages_per_block()) * (read + program + hold);
    let write = Request::new(rng.within(1, 2), Span::from_ns(rng.within(pass, 6 * pass))?)?;
    let reads = Request::new(rng.within(20, 90), Span::from_ns(40 * pass)?)?;
    let task = |name: &str, read, write| Task { name: name.into(), read, write, data_pages: None };
    let tasks = vec![task("t1", None, Some(write)), task("t2", Some(reads), None)];
    let set = TaskSet::new(device, tasks, Vec::new()).ok()?;
    limited(&mut rng, set, allocator, analysis_relying_on(analysis, granted)?, left_out, true)
}

/// A channel of two chips whose victims have many valid pages. A command takes about as long as a
/// page's transfer, and no longer, as Q5 asks.
fn device(rng: &mut Rng, cached: bool) -> Option<Device> {
    let command = rng.within(2, 8);
    let transfer = command + rng.within(0, 2);
    let times = [rng.within(1, 6), rng.within(1, 12), rng.within(1, 20), transfer, command].map(Span::from_ns);
    let [page_read, page_program, block_erase, page_transfer, command] = times;
    Device::new(DeviceSpec {
        chips: 2,
        chips_per_channel: 2,
        blocks_per_chip: rng.small(12, 32),
        pages_per_block: rng.small(6, 24),
        page_size: 512,
        command,
        page_registers: cached.then_some(2),
        logical_ratio: LogicalRatio::from_decimal(rng.within(50, 80).into(), 2).ok()?,
        page_read: page_read?,
        page_program: page_program?,
        block_erase: block_erase?,
        page_transfer: page_transfer?,
        ..DeviceSpec::default()
    })
    .ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::soak::{Case, SoakOutcome, attack, judge};

    /// At the limit of the test with all its terms none is late.
    #[test]
    fn with_all_terms_none_is_late() {
        for world in [World::Command, World::QueueCommand, World::RegisterCommand] {
            let mut judged = 0;
            for run in 0..40 * world.runs_of_a_set() {
                let Some(limit) = draw(1, run / world.runs_of_a_set(), world, None) else { continue };
                let options = attack::options(1, run, &limit, false).expect("options");
                let LimitSet { set, allocator, analysis, .. } = limit;
                let case = Case { seed: 1, run, set, allocator, analysis, options, left_out: None };
                let SoakOutcome::Judged { findings, .. } = judge(&case) else { panic!("{world:?}, {run}") };
                assert!(findings.iter().all(|finding| finding.gauge.holds()), "{world:?}, {run}: {findings:?}");
                judged += 1;
            }
            assert!(judged > 400, "{world:?}: {judged}");
        }
    }
}
