//! Steps of a superblock that are told with their pages on one bus, and are as they should be in
//! all respects: nearly all are. Those that follow others are kept as in `row_runs`.

use super::rules::Rules;
use super::runs::PageRun;
use super::{Checks, WatchedChip};
use crate::trace::{Action, Kind, Observer, OnBus, Operation};

/// A step, with its first operation and the chip of that, and its pages on a bus.
#[derive(Clone, Copy)]
struct StepWithPages<'s> {
    first: &'s Operation,
    at: WatchedChip,
    operations: &'s [Operation],
    buses: &'s [OnBus],
}

impl<'s> StepWithPages<'s> {
    fn pages(self) -> impl Iterator<Item = (&'s Operation, &'s OnBus)> {
        self.operations.iter().zip(self.buses)
    }
}

/// Whether others do what the first operation does, on one chip after another.
#[inline(always)]
fn are_alike(first: &Operation, others: &[Operation]) -> bool {
    let mut before = first.chip;
    for other in others {
        let is_next = before < other.chip
            && (other.start, other.job) == (first.start, first.job)
            && (other.action, other.kind, other.cluster) == (first.action, first.kind, first.cluster);
        if !is_next {
            return false;
        }
        before = other.chip;
    }
    true
}

impl Checks<'_> {
    /// Operations of one step, and their pages on buses meanwhile.
    #[inline]
    pub(super) fn look_at_step(&mut self, operations: &[Operation], buses: &[OnBus]) {
        if !cfg!(target_family = "wasm") && self.plain_steps && self.keeps_step(operations, buses) {
            return;
        }
        self.operations(operations);
        operations.iter().zip(buses).for_each(|(operation, bus)| self.transfer(&operation.transfer(bus)));
    }

    /// Whether operations are a step of a superblock, behind others, that is as it should be, and
    /// so are their pages on one bus. Then it is kept; else nothing has changed.
    #[inline(never)]
    fn keeps_step(&mut self, operations: &[Operation], buses: &[OnBus]) -> bool {
        let (Some((first, others)), Some(on)) = (operations.split_first(), buses.first()) else { return false };
        let at = self.chips[first.chip];
        let Some(run) = self.rows.get(at.processor) else { return false };
        let follows = run.breaks == self.breaks.1
            && run.has_next(first)
            && at.cluster == first.cluster
            && operations.len() == buses.len()
            && on.start > self.quiet_buses
            && are_alike(first, others);
        let step = StepWithPages { first, at, operations, buses };
        let is_kept = follows
            && match first.action {
                Action::Read => self.keeps_reads(step, on),
                Action::Program => self.keeps_programs(step, on),
                _ => false,
            };
        if is_kept && self.runs.get_mut(at.processor).is_some_and(PageRun::is_to_be_listed) {
            self.kept.push(at.processor);
        }
        is_kept
    }

    /// The same of a step that reads.
    #[inline(always)]
    fn keeps_reads(&mut self, step: StepWithPages<'_>, on: &OnBus) -> bool {
        let StepWithPages { first, at, operations, .. } = step;
        let Checks { rules, rows, desks, bus_exclusion, chip_exclusion, mapping, chips, plan, .. } = self;
        let (Rules::Certified(by), Some(run)) = (rules, rows.get_mut(at.processor)) else { return false };
        let pass = by.collections.pass_of(at.processor, run.server);
        let free_at = bus_exclusion.free_at(on.channel);
        let Some(mut turns) = desks.turns((first, operations), on.channel, *free_at) else { return false };
        if !run.may_go_on(operations, pass.moves.is_some()) {
            return false;
        }
        let mut end = first.end;
        for (operation, bus) in step.pages() {
            let of = chips[operation.chip];
            let is_plain = of.cluster == at.cluster
                && *chip_exclusion.free_at(operation.chip) <= first.start
                && desks.has_turn(&mut turns, operation, bus)
                && run.reads(operation, of, pass, mapping);
            if !is_plain {
                return false;
            }
            end = end.max(operation.end);
        }
        *free_at = turns.next();
        desks.had_turns(&turns, operations);
        for operation in operations {
            *chip_exclusion.free_at(operation.chip) = operation.end;
        }
        by.processors.goes_on_in_row(at.processor, operations, (end, run.deadline), plan);
        if first.kind == Kind::Gc {
            pass.reads_row(operations, end, |operation| {
                mapping.spot(chips[operation.chip].position, operation.block, operation.page)
            });
        }
        run.keep(operations, end);
        true
    }

    /// The same of a step that programs.
    #[inline(always)]
    fn keeps_programs(&mut self, step: StepWithPages<'_>, on: &OnBus) -> bool {
        let StepWithPages { first, at, operations, .. } = step;
        let Checks { rules, rows, desks, bus_exclusion, chip_exclusion, mapping, chips, plan, page_order, .. } = self;
        let (Rules::Certified(by), Some(run)) = (rules, rows.get_mut(at.processor)) else { return false };
        let pass = by.collections.pass_of(at.processor, run.server);
        let free_at = bus_exclusion.free_at(on.channel);
        let Some(mut turns) = desks.turns((first, operations), on.channel, *free_at) else { return false };
        if !run.may_go_on(operations, pass.moves.is_some()) {
            return false;
        }
        let (mut end, gc) = (first.end, first.kind == Kind::Gc);
        for (place, (operation, bus)) in step.pages().enumerate() {
            let of = chips[operation.chip];
            let is_plain = of.cluster == at.cluster
                && *chip_exclusion.free_at(operation.chip) <= first.start
                && desks.has_turn(&mut turns, operation, bus)
                && page_order.is_next(of.watched, operation)
                && operations[..place].iter().all(|other| other.lpn != operation.lpn)
                && if gc { run.moves(operation, place, pass, mapping) } else { run.writes(operation, mapping) };
            if !is_plain {
                return false;
            }
            end = end.max(operation.end);
        }
        *free_at = turns.next();
        desks.had_turns(&turns, operations);
        for operation in operations {
            *chip_exclusion.free_at(operation.chip) = operation.end;
            page_order.programs(chips[operation.chip].watched, operation);
        }
        mapping.programs_row(operations, at, |chip| chips[chip].position);
        if gc {
            pass.programs_row(operations, end);
        }
        by.processors.goes_on_in_row(at.processor, operations, (end, run.deadline), plan);
        run.keep(operations, end);
        true
    }
}
