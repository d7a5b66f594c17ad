//! Pages of requests and of other jobs, under serial dispatch, that are as they should be in all
//! respects: nearly all are. No gauge changes, but that of waiting for buses.

use std::slice;

use super::Checks;
use super::look::{class_of, is_astray};
use super::rules::{Order, Rules};
use crate::trace::{Action, Kind, Observer, OnBus, Operation};

impl Checks<'_> {
    /// An operation on a page of a job's own, and the transfer inside it.
    #[inline]
    pub(super) fn look_at_page(&mut self, operation: &Operation, bus: &OnBus) {
        if !self.keeps_page_of_lane(operation, bus) {
            self.look_at_page_anew(operation, bus);
        }
    }

    /// The same of one that is not kept.
    #[inline(never)]
    fn look_at_page_anew(&mut self, operation: &Operation, bus: &OnBus) {
        self.settle_lane(operation.cluster, operation.chip);
        if self.is_plain_page(operation, bus) {
            self.begins_lane(operation);
        } else {
            self.look_at(slice::from_ref(operation));
            self.transfer(&operation.transfer(bus));
        }
    }

    /// Looks at a page that is as it should be, where zeroes need not be noted. Says whether it is,
    /// and if not, nothing has changed.
    fn is_plain_page(&mut self, operation: &Operation, bus: &OnBus) -> bool {
        let Rules::Utilization(by) = &mut self.rules else { return false };
        let Order::Serial(edf, idling) = &mut by.order else { return false };
        let Operation { start, end, cluster, chip, action, job, kind, .. } = *operation;
        let (Some(pending), at) = (self.ledger.get(job), self.chips[chip]) else { return false };
        let is_plain = kind != Kind::Gc
            && matches!(action, Action::Read | Action::Program)
            && start > self.quiet[class_of(action, kind)]
            && bus.start > self.quiet_buses
            && !pending.starved
            && pending.release.cluster == Some(cluster)
            && at.cluster == cluster
            && edf.is_right(cluster, job)
            && idling.is_busy(cluster, start, pending)
            && !is_astray(operation, pending, &self.ranges[job.source])
            && self.mapping.has_plain_copies(cluster)
            && !self.zones.has_any();
        let (free_at, bus_free_at) = (self.chip_exclusion.free_at(chip), self.bus_exclusion.free_at(bus.channel));
        if !is_plain || *free_at > start || *bus_free_at > bus.start {
            return false;
        }
        let Some(turn) = self.desks.turn(operation, bus) else { return false };
        match action {
            Action::Read => {
                let here = self.mapping.spot(at.position, operation.block, operation.page);
                if !self.mapping.is_at(cluster, operation.lpn, here) {
                    return false;
                }
            }
            Action::Program => {
                let mut next = self.page_order.next_pages(at.watched);
                let Some(next) = next.of((operation.block, operation.page)) else { return false };
                if !self.mapping.programs_plainly(operation, at) {
                    return false;
                }
                *next += 1;
            }
            Action::Erase | Action::ErasePart => return false,
        }
        turn.take();
        (*free_at, *bus_free_at) = (end, bus.end);
        by.under_way.begins(cluster.index(), (start, end), pending.deadline());
        idling.works(cluster, start, end);
        pending.serves(operation, end.since(start));
        self.bus_wait.operation(operation, pending, self.plan);
        self.latest = self.latest.max(start);
        true
    }
}
