//! What the checkers make of operations: a look for each class of them and each kind of rules, so
//! that none asks for every operation what it is.

use rtflash_model::Instant;

use super::gauge::Gauge;
use super::rule_set::RuleSet;
use super::rules::{ByCertificates, ByUtilization, Rules};
use super::timing::place;
use super::{CLASSES, Checks, WatchedChip};
use crate::ids::{ClusterId, ColumnId, Lpn};
use crate::trace::{Action, Kind, NONE, Operation};

impl<'a> Checks<'a> {
    /// Operations of a step, which are alike.
    #[inline(always)]
    pub(super) fn look_at(&mut self, operations: &[Operation]) {
        let Some((first, others)) = operations.split_first() else { return };
        let class = class_of(first.action, first.kind);
        if others.iter().any(|other| class_of(other.action, other.kind) != class) {
            return operations.iter().for_each(|operation| self.look_at(std::slice::from_ref(operation)));
        }
        if class == PARTS {
            return operations.iter().for_each(|part| self.look_at_part(part));
        }
        match self.rules {
            Rules::Utilization(_) => self.look_by::<ByUtilization>(class, operations),
            Rules::Certified(_) => self.look_by::<ByCertificates<'a>>(class, operations),
        }
    }

    #[inline(always)]
    fn look_by<R: RuleSet<'a>>(&mut self, class: usize, operations: &[Operation]) {
        if cfg!(target_family = "wasm") {
            // A page in a browser has to be small.
            return self.look_at_any::<R>(class, operations);
        }
        match class {
            0 => self.look::<0, R>(operations),
            1 => self.look::<1, R>(operations),
            3 => self.look::<3, R>(operations),
            4 => self.look::<4, R>(operations),
            5 => self.look::<5, R>(operations),
            _ => self.look::<2, R>(operations),
        }
    }

    /// A part of an erase.
    #[cold]
    #[inline(never)]
    fn look_at_part(&mut self, part: &Operation) {
        let Some(pending) = self.ledger.get(part.job) else { return self.violation(part.start, part.job) };
        let at = self.chips[part.chip].of(part.cluster, pending).filter(|_| part.kind == Kind::Gc);
        let Some(WatchedChip { position, processor, watched, .. }) = at else {
            // A chip of another cluster, or not of a pass.
            return self.conservation.note(0, 1, || place(part.start, pending, Some(part.chip)));
        };
        match &mut self.rules {
            Rules::Certified(by) => {
                by.processors.operation((part, part), (processor, false), pending, self.plan);
                by.collections.operation(part, (position, processor, false), pending, &self.mapping, false);
            }
            Rules::Utilization(by) => by.passes.operation(part, (position, watched), pending, &self.mapping, false),
        }
        self.chip_exclusion.operation(part, false);
        self.desks.part(part);
        pending.collects(part);
        self.latest = self.latest.max(part.start);
    }

    /// Operations of one class, by the rules of one kind.
    #[inline(never)]
    fn look<const CLASS: usize, R: RuleSet<'a>>(&mut self, operations: &[Operation]) {
        self.look_in_class::<R>(CLASS, operations);
    }

    /// The same of any class.
    #[inline(never)]
    fn look_at_any<R: RuleSet<'a>>(&mut self, class: usize, operations: &[Operation]) {
        self.look_in_class::<R>(class, operations);
    }

    #[inline(always)]
    fn look_in_class<R: RuleSet<'a>>(&mut self, class: usize, operations: &[Operation]) {
        let Some(first) = operations.first() else { return };
        let (gc, action) = (class >= CLASSES / 2, ACTIONS[class % ACTIONS.len()]);
        let Some(pending) = self.ledger.get(first.job) else {
            self.violation(first.start, first.job);
            return;
        };
        if pending.starved {
            pending.starved = false;
            self.rules.waits(pending);
        }
        let rules = R::of(&mut self.rules).expect("rules of this kind");
        rules.begins(first, pending, first.start > self.quiet[class]);
        for told in operations {
            let operation = &Operation { action, kind: if gc { Kind::Gc } else { told.kind }, ..*told };
            let Some(at) = self.chips[operation.chip].of(operation.cluster, pending) else {
                // A chip of another cluster.
                self.conservation.note(0, 1, || place(told.start, pending, Some(told.chip)));
                continue;
            };
            let WatchedChip { position, watched: chip, .. } = at;
            let quiet = operation.start > self.quiet[class];
            rules.operation((operation, told), at, pending, (self.plan, &self.mapping), quiet);
            // With two page registers operations of a chip overlap; each counts from the end of the
            // one before.
            let cached = R::CERTIFIED && self.desks.is_in_registers(told);
            let own = if cached { self.desks.own_time(told) } else { operation.end.since(operation.start) };
            if !cached {
                self.chip_exclusion.operation(operation, quiet);
            }
            self.desks.operation((operation, told), quiet);
            self.zones.operation((operation, told), chip, (&self.page_order, self.plan), quiet);
            self.page_order.operation(operation, chip, quiet);
            self.mapping.operation((operation, told), position, chip, quiet);
            rules.took((operation, told), at.processor, pending, &mut self.mapping);
            if gc {
                pending.collects(operation);
                continue;
            }
            if is_astray(operation, pending, &self.ranges[first.job.source]) {
                self.mapping.gauge.note(0, 1, || place(told.start, pending, Some(told.chip)));
            }
            pending.serves(operation, own);
            if action != Action::Read {
                // It has found a page.
                self.starved.note_zero(quiet, 0, || place(told.start, pending, Some(told.chip)));
            }
            if !cached {
                self.bus_wait.operation(operation, pending, self.plan);
            }
        }
        // A copy inside a chip is begun with its read.
        let behind = gc && action == Action::Program && R::CERTIFIED;
        if !behind {
            self.latest = self.latest.max(first.start);
        }
        if first.start <= self.quiet[class] {
            self.find_quiet(class);
        }
    }

    /// From when on zeroes of this class of operations need not be noted any more: behind what each
    /// of the gauges says that look at such operations.
    #[cold]
    #[inline(never)]
    fn find_quiet(&mut self, class: usize) {
        let (gc, program) = (class >= CLASSES / 2, class % (CLASSES / 2) == Action::Program as usize);
        let (copies, order) = match &self.rules {
            Rules::Utilization(by) => (&by.passes.gc.copies, by.order.gauges()),
            Rules::Certified(by) => (&by.collections.gc.copies, [None, None]),
        };
        let gauges = [
            Some(&self.chip_exclusion.gauge),
            Some(&self.mapping.gauge),
            Some(&self.desks.lengths),
            gc.then_some(copies),
            order[0],
            order[1],
            program.then_some(&self.page_order.gauge),
            (program && !gc).then_some(&self.starved),
            self.zones.gauge_of_all().filter(|_| program && !gc),
        ];
        self.quiet[class] = gauges.into_iter().flatten().map(Gauge::zeroes_until).fold(Instant::START, Instant::max);
    }
}

/// Whether an operation is on a page of somebody else; a reset is on none.
#[inline(always)]
pub(super) fn is_astray(operation: &Operation, pending: &super::Pending, range: &std::ops::Range<Lpn>) -> bool {
    let own = operation.action == Action::Erase || pending.release.kind == Kind::Server;
    !own && !range.contains(&operation.lpn)
}

/// What operations do, by class.
const ACTIONS: [Action; CLASSES / 2] = [Action::Read, Action::Program, Action::Erase];

/// The class of what is looked at by itself: parts of erases.
const PARTS: usize = CLASSES;

/// The class of operations: what they do, and whether for garbage collection.
#[inline(always)]
pub(super) fn class_of(action: Action, kind: Kind) -> usize {
    if action == Action::ErasePart {
        return PARTS;
    }
    action as usize + if kind == Kind::Gc { CLASSES / 2 } else { 0 }
}

impl WatchedChip {
    /// One that is not watched.
    pub(super) const NOWHERE: WatchedChip =
        WatchedChip { cluster: ClusterId(NONE), position: ColumnId(0), watched: 0, processor: 0 };

    /// Itself, if it is a chip of this cluster, which is the job's.
    #[inline(always)]
    fn of(self, cluster: ClusterId, pending: &super::Pending) -> Option<WatchedChip> {
        let own = self.cluster == cluster && pending.release.cluster == Some(cluster);
        own.then_some(self)
    }
}
