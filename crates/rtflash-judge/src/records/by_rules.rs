//! Checks of an operation that depend on the kind of plan.

use rtflash_plan::Plan;
use rtflash_trace::{Action, Kind, Operation};

use crate::WatchedChip;
use crate::rules::{ByCertificates, ByUtilization, Order, Rules};
use crate::shadow::jobs::Pending;
use crate::shadow::pages::Mapping;

impl Rules<'_> {
    /// An operation of a job on a chip, before the map knows of it.
    pub(crate) fn operation(
        &mut self,
        operation: &Operation,
        at: WatchedChip,
        pending: &mut Pending,
        plan: &Plan,
        mapping: &Mapping,
    ) {
        match self {
            Rules::Certified(by) => by.operation(operation, at, pending, plan, mapping),
            Rules::Utilization(by) => by.operation(operation, at, pending, plan, mapping),
        }
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
    ) {
        let WatchedChip { position, processor, .. } = at;
        let repeated = self.failures.may_fail()
            && self.failures.is_repeated(operation, processor, self.processors.is_stripe(processor));
        self.processors.operation(operation, processor, repeated, pending, plan);
        if operation.kind == Kind::Gc {
            self.collections.operation(operation, position, processor, repeated, pending, mapping);
        } else {
            self.collections.own(operation, processor);
        }
    }

    /// The map knows of an operation of a processor now, which may have taken a page that is not
    /// pending.
    pub(crate) fn took(&mut self, operation: &Operation, processor: usize, pending: &Pending, mapping: &mut Mapping) {
        let takes = match operation.kind {
            Kind::Gc => !operation.action.erases(),
            Kind::Server => operation.action == Action::Program,
            Kind::Read | Kind::Write => false,
        };
        if takes {
            let background = pending.is_background() && operation.kind != Kind::Gc;
            let repeated = self.failures.is_repeating(operation, processor);
            self.collections.took(operation, processor, background, repeated, mapping);
        }
    }
}

impl ByUtilization {
    /// An operation of a job begins on a chip of the job's cluster, or of another one.
    pub(crate) fn begins(&mut self, operation: &Operation, pending: &Pending) {
        if let Order::Serial(edf, idling) = &mut self.order {
            let Operation { cluster, start, end, .. } = *operation;
            edf.operation(operation, pending);
            self.under_way.begins(cluster.index(), start, end, pending.deadline());
            idling.works(cluster, start, end);
            idling.serves(cluster, start, pending);
        }
    }

    fn operation(
        &mut self,
        operation: &Operation,
        at: WatchedChip,
        pending: &mut Pending,
        plan: &Plan,
        mapping: &Mapping,
    ) {
        let Operation { chip, start, end, .. } = *operation;
        if let Order::Parallel(edf) = &mut self.order {
            if let Some(at) = pending.blockers.iter().position(|&(blocker, _)| blocker == chip) {
                let (_, left) = pending.blockers.swap_remove(at);
                self.blocking.blocked(left, plan.device().block_erase(), pending, chip);
            }
            edf.operation(operation, pending);
            self.under_way.begins(chip.index(), start, end, pending.deadline());
        }
        if operation.kind == Kind::Gc {
            self.passes.operation(operation, at.position, at.watched, pending, mapping);
        }
    }
}
