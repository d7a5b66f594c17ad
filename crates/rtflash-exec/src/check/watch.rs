//! What the checkers make of what happens.

use rtflash_model::Instant;

use super::gauge::Place;
use super::timing::{lateness, place};
use super::{Checks, start};
use crate::ids::{ChipId, ClusterId, ColumnId, Lpn};
use crate::options::{Dispatch, Waits};
use crate::plan::Releases;
use crate::trace::{
    Action, Complete, JobId, Kind, LeftOut, Moved, Observer, Operation, Release, Reserve, Selection, Setup, Silent,
    Starved, Transfer,
};

impl Checks<'_> {
    fn violation(&mut self, at: Instant, job: JobId) {
        self.conservation.note(0, 1, || Place { at, job: Some(job), ..Place::default() });
    }

    fn is_serial(&self) -> bool {
        self.units.is_none() && self.dispatch == Dispatch::Serial
    }

    /// A chip's position in its cluster, and among those that are watched, if it is one of this
    /// cluster.
    fn chip(&self, cluster: ClusterId, chip: ChipId) -> Option<(ColumnId, usize)> {
        let (of, position, watched) = self.chips[chip]?;
        (of == cluster).then_some((position, watched))
    }

    /// Looks for operations under way that block a job released now.
    fn look_for_blocking(&mut self, release: &Release) {
        let Some(cluster) = release.cluster else { return };
        let Some(pending) = self.ledger.get(release.job) else { return };
        let erase = self.plan.device().block_erase();
        let chips = &self.plan.clusters()[cluster].chips;
        match self.dispatch {
            Dispatch::Serial => {
                if let Some(left) = self.under_way.blocks(cluster.index(), release.at, pending.deadline()) {
                    self.blocking.blocked(left, erase, pending, chips[0]);
                }
            }
            Dispatch::Parallel => {
                for &chip in chips {
                    if let Some(left) = self.under_way.blocks(chip.index(), release.at, pending.deadline()) {
                        pending.blockers.push((chip, left));
                    }
                }
            }
        }
    }

    /// When a job that is complete should have been.
    fn end_of(&self, pending: &super::Pending) -> Instant {
        let cluster = pending.release.cluster.map(|cluster| &self.plan.clusters()[cluster]);
        let superblock = cluster.filter(|cluster| cluster.certificate.is_some() && !cluster.is_stripe());
        // A superblock's pages are done when the step is.
        let step = superblock
            .filter(|_| pending.last_end > pending.release.at)
            .and_then(|cluster| self.units.as_ref().and_then(|(units, _)| units.step_end(cluster.chips[0])));
        step.unwrap_or(pending.last_end).max(pending.left_out.unwrap_or_default())
    }
}

impl Observer for Checks<'_> {
    fn setup(&mut self, setup: &Setup) {
        self.setup = *setup;
        self.releases.setup(setup, self.plan);
        self.desks.setup(setup.waits);
        self.passes.setup(setup.victims);
        if let Some((_, collections)) = &mut self.units {
            collections.setup(setup.victims);
        }
        if let (Some(aging), Some(seed)) = (setup.aging, setup.seed) {
            start::fill(self.plan, &self.clusters, (aging, seed), &mut self.page_order, &mut self.mapping);
        }
    }

    fn release(&mut self, release: &Release) {
        if !self.ledger.is_next(release) {
            self.violation(release.at, release.job);
            return;
        }
        // From now on it is judged by what it should be, and not by what it is said to be.
        let release = &self.releases.judge(release);
        self.ledger.release(release);
        self.released += 1;
        match release.kind {
            Kind::Server => self.kinds.1 |= release.deadline.is_some(),
            _ => self.kinds.0 = true,
        }
        if let Some((_, collections)) = &mut self.units {
            collections.released(release);
            return;
        }
        self.look_for_blocking(release);
        if let (Dispatch::Serial, Some(pending)) = (self.dispatch, self.ledger.get(release.job)) {
            self.serial.waits(pending);
        }
    }

    fn complete(&mut self, complete: &Complete) {
        let Some(pending) = self.ledger.complete(complete.job) else {
            self.violation(complete.at, complete.job);
            return;
        };
        self.completed += 1;
        let source = &self.plan.sources()[complete.job.source];
        let all = match source.releases {
            // A host says how many there are in all.
            Releases::Handed => pending.reads + pending.programs == pending.release.pages,
            _ => (pending.reads, pending.programs) == (source.read_pages, source.write_pages),
        };
        self.conservation.note(0, u64::from(!all), || place(complete.at, &pending, None));
        let due = self.end_of(&pending);
        let off = complete.at.since(due).max(due.since(complete.at));
        self.completion.note(0, off.as_ns(), || place(complete.at, &pending, None));
        if pending.release.kind == Kind::Gc {
            match &mut self.units {
                Some((_, collections)) => collections.gc.complete(complete.at, &pending),
                None => self.passes.gc.complete(complete.at, &pending),
            }
        }
        match pending.release.kind {
            Kind::Server => self.server_deadlines.complete(complete, &pending, lateness(self.plan, &pending)),
            _ => self.deadlines.complete(complete, &pending, rtflash_model::Span::ZERO),
        }
        self.service.complete(complete, &pending, self.plan);
        if self.is_serial() {
            self.serial.leaves(&pending);
        }
    }

    fn starved(&mut self, starved: &Starved) {
        let serial = self.is_serial();
        let Some(pending) = self.ledger.get(starved.job) else {
            self.violation(starved.at, starved.job);
            return;
        };
        (pending.starved, pending.was_starved) = (true, true);
        self.starved.note(0, 1, || place(starved.at, pending, Some(starved.chip)));
        if serial {
            self.serial.leaves(pending);
        }
    }

    fn operations(&mut self, operations: &[Operation]) {
        let Some(first) = operations.first() else { return };
        let serial = self.is_serial();
        let Some(pending) = self.ledger.get(first.job) else {
            self.violation(first.start, first.job);
            return;
        };
        if pending.starved {
            pending.starved = false;
            if serial {
                self.serial.waits(pending);
            }
        }
        let gc = first.kind == Kind::Gc;
        if serial {
            self.serial.operation(first, pending);
            self.under_way.begins(first.cluster.index(), first, pending.deadline());
            self.idling.works(first.cluster, first.start, first.end);
            self.idling.serves(first.cluster, first.start, pending);
        }
        let certified = self.units.is_some();
        let background = pending.release.kind == Kind::Server && pending.release.deadline.is_none();
        let within = match pending.release.kind {
            Kind::Server => None,
            _ => Some(&self.ranges[first.job.source]),
        };
        for operation in operations {
            let known = self.chips[operation.chip];
            let own = |&(cluster, ..): &(ClusterId, ColumnId, usize)| {
                cluster == operation.cluster && Some(cluster) == pending.release.cluster
            };
            let Some((_, position, chip)) = known.filter(own) else {
                // A chip of another cluster.
                self.conservation.note(0, 1, || place(operation.start, pending, Some(operation.chip)));
                continue;
            };
            if let Some((units, collections)) = &mut self.units {
                units.operation(operation, pending, self.plan);
                if gc {
                    collections.operation(operation, position, pending, &self.mapping);
                } else {
                    collections.own(operation);
                }
            } else {
                if !serial {
                    if let Some(at) = pending.blockers.iter().position(|&(blocker, _)| blocker == operation.chip) {
                        let (_, left) = pending.blockers.swap_remove(at);
                        self.blocking.blocked(left, self.plan.device().block_erase(), pending, operation.chip);
                    }
                    self.parallel.operation(operation, pending);
                    self.under_way.begins(operation.chip.index(), operation, pending.deadline());
                }
                if gc {
                    self.passes.operation(operation, (position, chip), pending, &self.mapping);
                }
            }
            self.chip_exclusion.operation(operation);
            self.desks.operation(operation);
            self.page_order.operation(operation, chip);
            self.mapping.operation(operation, position, chip);
            let copied = gc && (operation.action == Action::Program || operation.action == Action::Read);
            let takes = copied || (first.kind == Kind::Server && operation.action == Action::Program);
            if let Some((_, collections)) = self.units.as_mut().filter(|_| takes) {
                collections.took(operation, background && !gc, &mut self.mapping);
            }
            pending.last_end = operation.end.max(pending.last_end);
            if gc {
                pending.collected = true;
                pending.erased |= operation.action == Action::Erase;
                pending.erases += u64::from(operation.action == Action::Erase);
                continue;
            }
            if within.is_some_and(|within| !within.contains(&operation.lpn)) {
                // A page of somebody else.
                self.mapping.gauge.note(0, 1, || place(operation.start, pending, Some(operation.chip)));
            }
            pending.service = pending.service.saturating_add(operation.end.since(operation.start).as_ns());
            if operation.action == Action::Read {
                pending.reads += 1;
            } else {
                pending.programs += 1;
                // It has found a page.
                self.starved.note(0, 0, || place(operation.start, pending, Some(operation.chip)));
            }
            pending.begun.get_or_insert(operation.start);
            self.bus_wait.operation(operation, pending, self.plan);
        }
        // A copy inside a chip is begun with its read.
        let behind = certified && gc && first.action == Action::Program;
        if !behind {
            self.latest = self.latest.max(first.start);
        }
    }

    fn transfer(&mut self, transfer: &Transfer) {
        if self.setup.waits == Waits::Worst && self.units.is_some() {
            // Nobody looks at buses then.
            self.violation(transfer.start, transfer.job);
        }
        self.bus_exclusion.transfer(transfer);
        self.desks.transfer(transfer);
    }

    fn reserve(&mut self, reserve: &Reserve) {
        if let Some((_, collections)) = &mut self.units {
            collections.reserved(reserve, &mut self.mapping);
        }
    }

    fn left_out(&mut self, left_out: &LeftOut) {
        let chip = self.chip(left_out.cluster, left_out.chip);
        let (Some(pending), Some((position, chip))) = (self.ledger.get(left_out.job), chip) else {
            self.violation(left_out.at, left_out.job);
            return;
        };
        // A job of garbage collection has one pass.
        let again = pending.release.kind == Kind::Gc && pending.left_out.is_some();
        self.conservation.note(0, u64::from(again), || place(left_out.at, pending, None));
        pending.left_out = Some(left_out.at);
        match &mut self.units {
            Some((_, collections)) => collections.left_out(left_out, &mut self.mapping),
            None => self.passes.left_out(left_out, chip - position.index(), pending, &mut self.mapping),
        }
    }

    fn moved(&mut self, moved: &Moved) {
        self.parallel.moved(moved);
    }

    fn selected(&mut self, selection: &Selection) {
        let chip = self.chip(selection.cluster, selection.chip);
        let (Some(pending), Some(at)) = (self.ledger.get(selection.job), chip) else {
            self.violation(selection.at, selection.job);
            return;
        };
        pending.victims += 1;
        match &mut self.units {
            Some((_, collections)) => collections.selected(selection, pending, &mut self.mapping),
            None => self.passes.selected(selection, at, pending, &mut self.mapping),
        }
    }

    fn silent(&mut self, silent: &Silent) {
        let (serial, chip) = (self.is_serial(), self.chip(silent.cluster, silent.chip));
        let (Some(pending), Some((_, chip))) = (self.ledger.get(silent.job), chip) else {
            self.violation(silent.start, silent.job);
            return;
        };
        self.desks.silent(silent);
        pending.collected = true;
        pending.last_end = silent.end.max(pending.last_end);
        if pending.starved && serial {
            pending.starved = false;
            self.serial.waits(pending);
        }
        match &mut self.units {
            Some((units, collections)) => {
                units.silent(silent.chip, silent.start, silent.end);
                collections.silent(silent, pending);
            }
            None => {
                self.passes.silent(silent, chip);
                if serial {
                    self.idling.works(silent.cluster, silent.start, silent.end);
                    self.idling.serves(silent.cluster, silent.start, pending);
                } else {
                    self.parallel.silent(silent);
                }
            }
        }
        self.latest = self.latest.max(silent.start);
    }

    #[inline]
    fn expect(&self, cluster: ClusterId, lpn: Lpn) {
        self.mapping.prefetch(cluster, lpn);
    }
}
