//! What the checkers make of operations.

use rtflash_model::{ClusterId, Lpn};
use rtflash_plan::ColumnId;
use rtflash_trace::{Action, Kind, NONE, Operation};

use crate::rules::Rules;
use crate::{Checks, WatchedChip};

impl Checks<'_> {
    /// An operation begins.
    pub(crate) fn operation(&mut self, operation: &Operation) {
        let Some(pending) = self.ledger.get(operation.job) else {
            return self.violation(operation.start, operation.job);
        };
        if operation.action == Action::ErasePart {
            return self.part_of_erase(operation);
        }
        if pending.starved {
            pending.starved = false;
            self.rules.waits(pending);
        }
        if let Rules::Utilization(by) = &mut self.rules {
            by.begins(operation, pending);
        }
        let Some(at) = self.chips[operation.chip].of(operation.cluster, pending) else {
            // A chip of another cluster.
            return self.conservation.note(0, 1, || pending.place(operation.start, Some(operation.chip)));
        };
        let chip = at.watched;
        self.rules.operation(operation, at, pending, self.plan, &self.mapping);
        // With two page registers operations of a chip overlap; each counts from the end of the
        // one before.
        let cached = self.desks.is_in_registers(operation);
        let own = if cached { self.desks.own_time(operation) } else { operation.end.since(operation.start) };
        if !cached {
            self.chip_exclusion.operation(operation);
        }
        self.desks.operation(operation);
        self.zones.operation(operation, chip, &self.page_order, self.plan);
        self.page_order.operation(operation, chip);
        self.mapping.operation(operation, at.position, chip);
        let mut is_begun_with_read = false;
        if let Rules::Certified(by) = &mut self.rules {
            by.took(operation, at.processor, pending, &mut self.mapping);
            // A copy inside a chip is begun with its read.
            is_begun_with_read = operation.kind == Kind::Gc && operation.action == Action::Program;
        }
        if !is_begun_with_read {
            self.latest = self.latest.max(operation.start);
        }
        if operation.kind == Kind::Gc {
            pending.collects(operation);
            return;
        }
        if is_astray(operation, pending, &self.ranges[operation.job.source]) {
            self.mapping.gauge.note(0, 1, || pending.place(operation.start, Some(operation.chip)));
        }
        pending.serves(operation, own);
        if operation.action != Action::Read {
            // It has found a page.
            self.starved.note(0, 0, || pending.place(operation.start, Some(operation.chip)));
        }
        if !cached {
            self.bus_wait.operation(operation, pending, self.plan);
        }
    }

    /// A part of an erase that is suspended.
    fn part_of_erase(&mut self, part: &Operation) {
        let Some(pending) = self.ledger.get(part.job) else { return self.violation(part.start, part.job) };
        let at = self.chips[part.chip].of(part.cluster, pending).filter(|_| part.kind == Kind::Gc);
        let Some(WatchedChip { position, processor, watched, .. }) = at else {
            // A chip of another cluster, or not of a pass.
            return self.conservation.note(0, 1, || pending.place(part.start, Some(part.chip)));
        };
        match &mut self.rules {
            Rules::Certified(by) => {
                by.processors.operation(part, processor, false, pending, self.plan);
                by.collections.operation(part, position, processor, false, pending, &self.mapping);
            }
            Rules::Utilization(by) => by.passes.operation(part, position, watched, pending, &self.mapping),
        }
        self.chip_exclusion.operation(part);
        self.desks.part(part);
        pending.collects(part);
        self.latest = self.latest.max(part.start);
    }
}

/// Whether an operation is on a page of somebody else; a reset is on none.
#[inline(always)]
pub(crate) fn is_astray(operation: &Operation, pending: &crate::Pending, range: &std::ops::Range<Lpn>) -> bool {
    let own = operation.action == Action::Erase || pending.release.kind == Kind::Server;
    !own && !range.contains(&operation.lpn)
}

impl WatchedChip {
    /// One that is not watched.
    pub(crate) const NOWHERE: WatchedChip =
        WatchedChip { cluster: ClusterId(NONE), position: ColumnId(0), watched: 0, processor: 0 };

    /// Itself, if it is a chip of this cluster, which is the job's.
    #[inline(always)]
    fn of(self, cluster: ClusterId, pending: &crate::Pending) -> Option<WatchedChip> {
        let own = self.cluster == cluster && pending.release.cluster == Some(cluster);
        own.then_some(self)
    }
}
