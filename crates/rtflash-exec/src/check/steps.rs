//! Steps of a superblock that are told with their pages on one bus, and are as they should be in
//! all respects: nearly all are. Those that follow others are kept as in `row_runs`.

use rtflash_model::Instant;

use super::Checks;
use super::desks::StepTurns;
use super::rules::Rules;
use super::runs::PageRun;
use crate::trace::{Action, Kind, Observer, OnBus, Operation};

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
        let (Some(first), Some(on)) = (operations.first(), buses.first()) else { return false };
        let Some((turns, end)) = self.turns_of_step((operations, first), (buses, on)) else { return false };
        let processor = self.chips[first.chip].processor;
        let (Rules::Certified(by), Some(run)) = (&mut self.rules, self.rows.get_mut(processor)) else { return false };
        *self.bus_exclusion.free_at(on.channel) = turns.free_at;
        self.desks.had_turns(&turns);
        for operation in operations {
            let at = self.chips[operation.chip];
            *self.chip_exclusion.free_at(operation.chip) = operation.end;
            if first.action == Action::Program {
                self.page_order.programs(at.watched, operation);
                self.mapping.programs_in_row(operation, at);
            }
        }
        by.processors.goes_on_in_row(processor, operations, (end, run.deadline), self.plan);
        if first.kind == Kind::Gc {
            let (chips, mapping) = (&self.chips, &self.mapping);
            by.collections.pass_of(processor, run.server).goes_on_in_row(operations, end, |operation| {
                mapping.spot(chips[operation.chip].position, operation.block, operation.page)
            });
        }
        run.keep(operations, end);
        if self.runs.get_mut(processor).is_some_and(PageRun::is_to_be_listed) {
            self.kept.push(processor);
        }
        true
    }

    /// The turns that the pages of such a step have on its bus, and when it ends; `None` where it
    /// is not as it should be.
    #[inline(always)]
    fn turns_of_step(
        &mut self,
        (operations, first): (&[Operation], &Operation),
        (buses, on): (&[OnBus], &OnBus),
    ) -> Option<(StepTurns, Instant)> {
        let processor = self.chips[first.chip].processor;
        let (Rules::Certified(by), Some(run)) = (&mut self.rules, self.rows.get(processor)) else { return None };
        let follows = run.breaks == self.breaks.1 && run.has_next(first);
        if !follows || operations.len() != buses.len() || on.start <= self.quiet_buses {
            return None;
        }
        let pass = by.collections.pass_of(processor, run.server);
        if !run.may_go_on(operations, pass.moves.is_some()) {
            return None;
        }
        let mut turns = self.desks.turns(on.channel, *self.bus_exclusion.free_at(on.channel));
        let (mut end, mut before) = (first.end, None);
        for (place, (operation, bus)) in operations.iter().zip(buses).enumerate() {
            let Operation { start, chip, action, job, kind, cluster, lpn, .. } = *operation;
            let at = self.chips[chip];
            let is_alike = before.is_none_or(|before| {
                before < chip
                    && (start, job) == (first.start, first.job)
                    && (action, kind, cluster) == (first.action, first.kind, first.cluster)
            });
            let is_plain = is_alike
                && at.cluster == first.cluster
                && *self.chip_exclusion.free_at(chip) <= start
                && self.desks.has_turn(&mut turns, operation, bus)
                && if action == Action::Program {
                    self.page_order.is_next(at.watched, operation)
                        && operations[..place].iter().all(|other| other.lpn != lpn)
                        && run.programs(operation, pass, &self.mapping)
                } else {
                    run.reads(operation, at, pass, &self.mapping)
                };
            if !is_plain {
                return None;
            }
            (end, before) = (end.max(operation.end), Some(chip));
        }
        Some((turns, end))
    }
}
