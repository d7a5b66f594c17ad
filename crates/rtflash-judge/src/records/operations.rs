//! The checkers of operations.

use std::ops::Range;

use rtflash_model::Lpn;
use rtflash_plan::Plan;
use rtflash_trace::{Action, Kind, Operation};

use crate::checks::bus_wait;
use crate::gauge::Gauges;
use crate::place::Place;
use crate::rules::{ByCertificates, ByUtilization, Order, Rules};
use crate::shadow::jobs::Pending;
use crate::shadow::pages::Mapping;
use crate::{Assumption, Checks, WatchedChip};

impl Checks<'_> {
    pub(crate) fn operation(&mut self, operation: &Operation) {
        let Some(pending) = self.ledger.get(operation.job) else {
            return self.violation(operation.start, operation.job);
        };
        if operation.action == Action::ErasePart {
            return self.part_of_erase(operation);
        }
        let gauges = &mut self.gauges;
        if pending.starved {
            pending.starved = false;
            self.rules.serial().into_iter().for_each(|edf| edf.waits(pending));
        }
        if let Rules::Utilization(by) = &mut self.rules {
            by.begins(operation, pending, gauges);
        }
        let place = |pending: &Pending| pending.place(operation.start, Some(operation.chip));
        let Some(at) = self.chips[operation.chip].filter(|at| at.is_of(operation, pending)) else {
            // A chip of another cluster.
            return gauges[Assumption::Conservation].note(0, 1, || place(pending));
        };
        match &mut self.rules {
            Rules::Certified(by) => by.operation(operation, at, pending, self.plan, &self.mapping, gauges),
            Rules::Utilization(by) => by.operation(operation, at, pending, &self.mapping, gauges),
        }
        // With two page registers operations of a chip overlap; each counts from the end of the
        // one before.
        let cached = self.desks.is_in_registers(operation);
        let own = if cached { self.desks.own_time(operation) } else { operation.end.since(operation.start) };
        if !cached {
            let (end, gauge) = (operation.end, &mut gauges[Assumption::ChipExclusion]);
            self.chip_exclusion.takes(operation.chip, end, Place::from(operation), gauge);
        }
        self.desks.operation(operation, gauges);
        self.zones.operation(operation, at.watched, &self.page_order, self.plan);
        self.page_order.operation(operation, at.watched, &mut gauges[Assumption::PageOrder]);
        self.mapping.operation(operation, at, gauges);
        let certified = matches!(self.rules, Rules::Certified(_));
        if let Rules::Certified(by) = &mut self.rules {
            by.took(operation, at.processor, pending, &mut self.mapping, gauges);
        }
        // A copy inside a chip is begun with its read.
        if !certified || operation.kind != Kind::Gc || operation.action != Action::Program {
            self.latest = self.latest.max(operation.start);
        }
        if operation.kind == Kind::Gc {
            pending.collects(operation);
            return;
        }
        if is_astray(operation, pending, &self.ranges[operation.job.source]) {
            gauges[Assumption::Mapping].note(0, 1, || place(pending));
        }
        pending.serves(operation, own);
        if operation.action != Action::Read {
            // It has found a page.
            gauges[Assumption::GcKeepsPace].note(0, 0, || place(pending));
        }
        if !cached {
            bus_wait::operation(operation, pending, self.plan, &mut gauges[Assumption::BusWait]);
        }
    }

    fn part_of_erase(&mut self, part: &Operation) {
        let Some(pending) = self.ledger.get(part.job) else { return self.violation(part.start, part.job) };
        let gauges = &mut self.gauges;
        let at = self.chips[part.chip].filter(|at| at.is_of(part, pending) && part.kind == Kind::Gc);
        let Some(at) = at else {
            // A chip of another cluster, or not of a pass.
            return gauges[Assumption::Conservation].note(0, 1, || pending.place(part.start, Some(part.chip)));
        };
        match &mut self.rules {
            Rules::Certified(by) => {
                by.processors.operation(part, at.processor, false, pending, self.plan, gauges);
                by.collections.operation(part, at, false, pending, &self.mapping, gauges);
            }
            Rules::Utilization(by) => by.passes.operation(part, at, pending, &self.mapping, gauges),
        }
        let gauge = &mut gauges[Assumption::ChipExclusion];
        self.chip_exclusion.takes(part.chip, part.end, Place::from(part), gauge);
        self.desks.part(part, gauges);
        pending.collects(part);
        self.latest = self.latest.max(part.start);
    }
}

/// Whether an operation is on a page of another task; a reset is on none.
#[inline(always)]
fn is_astray(operation: &Operation, pending: &Pending, range: &Range<Lpn>) -> bool {
    let own = operation.action == Action::Erase || pending.release.kind == Kind::Server;
    !own && !range.contains(&operation.lpn)
}

impl WatchedChip {
    #[inline(always)]
    fn is_of(&self, operation: &Operation, pending: &Pending) -> bool {
        self.cluster == operation.cluster && pending.release.cluster == Some(operation.cluster)
    }
}

impl ByCertificates<'_> {
    fn operation(
        &mut self,
        operation: &Operation,
        at: WatchedChip,
        pending: &mut Pending,
        plan: &Plan,
        mapping: &Mapping,
        gauges: &mut Gauges,
    ) {
        let processor = at.processor;
        let repeated = self.failures.may_fail()
            && self.failures.is_repeated(operation, processor, self.certified[at.cluster].is_stripe(), gauges);
        self.processors.operation(operation, processor, repeated, pending, plan, gauges);
        if operation.kind == Kind::Gc {
            self.collections.operation(operation, at, repeated, pending, mapping, gauges);
        } else {
            self.collections.own(operation, processor);
        }
    }

    /// The map knows of an operation now, which may have taken a page that is not pending.
    fn took(
        &mut self,
        operation: &Operation,
        processor: usize,
        pending: &Pending,
        mapping: &mut Mapping,
        gauges: &mut Gauges,
    ) {
        let takes = match operation.kind {
            Kind::Gc => !operation.action.erases(),
            Kind::Server => operation.action == Action::Program,
            Kind::Read | Kind::Write => false,
        };
        if takes {
            let background = pending.is_background() && operation.kind != Kind::Gc;
            let repeated = self.failures.is_repeating(operation, processor);
            self.collections.took(operation, processor, background, repeated, mapping, gauges);
        }
    }
}

impl ByUtilization {
    fn begins(&mut self, operation: &Operation, pending: &Pending, gauges: &mut Gauges) {
        if let Order::Serial(edf, idling) = &mut self.order {
            let Operation { cluster, start, end, .. } = *operation;
            edf.operation(operation, pending, &mut gauges[Assumption::EdfOrder]);
            self.blocking.begins(cluster.index(), start, end, pending.deadline());
            idling.serves(cluster, start, end, pending, gauges);
        }
    }

    fn operation(
        &mut self,
        operation: &Operation,
        at: WatchedChip,
        pending: &mut Pending,
        mapping: &Mapping,
        gauges: &mut Gauges,
    ) {
        let Operation { chip, start, end, .. } = *operation;
        if let Order::Parallel(edf) = &mut self.order {
            if let Some(at) = pending.blockers.iter().position(|&(blocker, _)| blocker == chip) {
                let (_, left) = pending.blockers.swap_remove(at);
                self.blocking.blocked(left, pending, chip, gauges);
            }
            edf.operation(operation, pending, gauges);
            self.blocking.begins(chip.index(), start, end, pending.deadline());
        }
        if operation.kind == Kind::Gc {
            self.passes.operation(operation, at, pending, mapping, gauges);
        }
    }
}
