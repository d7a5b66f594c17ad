//! What the checkers of one kind of plan make of operations.

use super::WatchedChip;
use super::ledger::Pending;
use super::mapping::Mapping;
use super::rules::{ByCertificates, ByUtilization, Order, Rules};
use crate::plan::Plan;
use crate::trace::{Action, Kind, Operation};

/// The checkers of one kind of plan, as they are asked for every operation. An operation comes in a
/// copy of which it is known what it does, and as it was told.
pub(super) trait RuleSet<'a>: Sized {
    /// Whether they judge by certificates.
    const CERTIFIED: bool;

    /// Those of a plan, if they are of this kind.
    fn of<'r>(rules: &'r mut Rules<'a>) -> Option<&'r mut Self>;

    /// Operations of a job begin together, the first of them this one. `quiet`: zeroes need not be
    /// noted.
    fn begins(&mut self, first: &Operation, pending: &Pending, quiet: bool);

    /// An operation of a job on a chip, before the map knows of it. `quiet`: zeroes need not be
    /// noted.
    fn operation(
        &mut self,
        operation: (&Operation, &Operation),
        at: WatchedChip,
        pending: &mut Pending,
        of: (&Plan, &Mapping),
        quiet: bool,
    );

    /// The map knows of the operation of a processor now.
    fn took(&mut self, operation: (&Operation, &Operation), processor: usize, pending: &Pending, mapping: &mut Mapping);
}

impl<'a> RuleSet<'a> for ByCertificates<'a> {
    const CERTIFIED: bool = true;

    #[inline(always)]
    fn of<'r>(rules: &'r mut Rules<'a>) -> Option<&'r mut Self> {
        match rules {
            Rules::Certified(by) => Some(by),
            Rules::Utilization(_) => None,
        }
    }

    #[inline(always)]
    fn begins(&mut self, _: &Operation, _: &Pending, _: bool) {}

    #[inline(always)]
    fn operation(
        &mut self,
        (operation, told): (&Operation, &Operation),
        WatchedChip { position, processor, .. }: WatchedChip,
        pending: &mut Pending,
        (plan, mapping): (&Plan, &Mapping),
        quiet: bool,
    ) {
        let repeated = self.failures.may_fail()
            && self.failures.is_repeated(told, processor, self.processors.is_stripe(processor));
        self.processors.operation((operation, told), (processor, repeated), pending, plan);
        if operation.kind == Kind::Gc {
            self.collections.operation(operation, (position, processor, repeated), pending, mapping, quiet);
        } else {
            self.collections.own(operation, processor);
        }
    }

    /// One that may have taken a page that is not pending has begun.
    #[inline(always)]
    fn took(
        &mut self,
        (operation, told): (&Operation, &Operation),
        processor: usize,
        pending: &Pending,
        mapping: &mut Mapping,
    ) {
        let takes = match operation.kind {
            Kind::Gc => !operation.action.erases(),
            Kind::Server => operation.action == Action::Program,
            Kind::Read | Kind::Write => false,
        };
        if takes {
            let background = pending.is_background() && operation.kind != Kind::Gc;
            let repeated = self.failures.is_repeating(told, processor);
            self.collections.took((told, processor), (background, repeated), mapping);
        }
    }
}

impl<'a> RuleSet<'a> for ByUtilization {
    const CERTIFIED: bool = false;

    #[inline(always)]
    fn of<'r>(rules: &'r mut Rules<'a>) -> Option<&'r mut Self> {
        match rules {
            Rules::Utilization(by) => Some(by),
            Rules::Certified(_) => None,
        }
    }

    #[inline(always)]
    fn begins(&mut self, first: &Operation, pending: &Pending, quiet: bool) {
        if let Order::Serial(edf, idling) = &mut self.order {
            edf.operation(first, pending);
            self.under_way.begins(first.cluster.index(), (first.start, first.end), pending.deadline());
            idling.works(first.cluster, first.start, first.end);
            idling.serves(first.cluster, first.start, pending, quiet);
        }
    }

    #[inline(always)]
    fn operation(
        &mut self,
        (operation, _): (&Operation, &Operation),
        WatchedChip { position, watched, .. }: WatchedChip,
        pending: &mut Pending,
        (plan, mapping): (&Plan, &Mapping),
        quiet: bool,
    ) {
        if matches!(self.order, Order::Parallel(_)) {
            self.on_chip_of_its_own(operation, pending, plan, quiet);
        }
        if operation.kind == Kind::Gc {
            self.passes.operation(operation, (position, watched), pending, mapping, quiet);
        }
    }

    #[inline(always)]
    fn took(&mut self, _: (&Operation, &Operation), _: usize, _: &Pending, _: &mut Mapping) {}
}

impl ByUtilization {
    /// An operation on a chip under parallel dispatch.
    #[inline(always)]
    fn on_chip_of_its_own(&mut self, operation: &Operation, pending: &mut Pending, plan: &Plan, quiet: bool) {
        let Order::Parallel(edf) = &mut self.order else { return };
        if !pending.blockers.is_empty()
            && let Some(at) = pending.blockers.iter().position(|&(blocker, _)| blocker == operation.chip)
        {
            let (_, left) = pending.blockers.swap_remove(at);
            self.blocking.blocked(left, plan.device().block_erase(), pending, operation.chip);
        }
        edf.operation(operation, pending, quiet);
        self.under_way.begins(operation.chip.index(), (operation.start, operation.end), pending.deadline());
    }
}
