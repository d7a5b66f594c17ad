//! Zones: each ring is written in order, and each of its blocks is reset when the ring comes to it,
//! by who writes there. The lowest block that is kept back takes the place of one that has failed.

use std::collections::BTreeMap;

use rtflash_model::{ClusterId, PerId};
use rtflash_plan::{BlockId, Plan, Promise, SourceId, ring_of};
use rtflash_trace::{Action, Failed, Kind, NONE, Operation};
use serde::{Deserialize, Serialize};

use super::page_order::PageOrder;
use crate::gauge::Gauge;
use crate::place::Place;

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ZoneOrder {
    pub(crate) gauge: Gauge,
    /// By watched chip and ring, counted through the ring's blocks; [`NONE`]: not known yet.
    next: Vec<Vec<u32>>,
    own: PerId<SourceId, Option<usize>>,
    replaced: BTreeMap<usize, ReplacedBlocks>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct ReplacedBlocks {
    /// For each that has failed first in its place, the one that is there now.
    by: BTreeMap<BlockId, BlockId>,
    failed: Vec<BlockId>,
}

impl ReplacedBlocks {
    /// The place of a block in a ring: the block that was there first.
    fn place(&self, block: BlockId) -> Option<BlockId> {
        if self.failed.contains(&block) {
            return None;
        }
        let place = self.by.iter().find(|&(_, &by)| by == block).map(|(&place, _)| place);
        Some(place.unwrap_or(block))
    }
}

impl ZoneOrder {
    pub(crate) fn new(plan: &Plan, clusters: &[ClusterId]) -> ZoneOrder {
        let mut next = Vec::new();
        for &number in clusters {
            let rings = match plan.promise() {
                Promise::Certified(certified) => certified[number].rings.len(),
                Promise::Utilization => 0,
            };
            next.extend(plan.clusters()[number].chips.iter().map(|_| vec![NONE; rings]));
        }
        let ring = |source: &rtflash_plan::Source| {
            let tasks = &plan.clusters()[source.cluster?].tasks;
            tasks.binary_search(&source.task()?).ok()
        };
        ZoneOrder {
            gauge: Gauge::default(),
            next,
            own: plan.sources().iter().map(ring).collect(),
            replaced: BTreeMap::new(),
        }
    }

    /// The lowest block kept back takes its place, and its first page is the ring's next one.
    pub(crate) fn failed(&mut self, failed: &Failed, chip: usize, plan: &Plan) {
        let Promise::Certified(certified) = plan.promise() else { return };
        let by = &certified[failed.cluster];
        if !by.is_zoned() {
            return;
        }
        let layout = &plan.clusters()[failed.cluster].layout;
        let of = self.replaced.entry(chip).or_default();
        let Some(place) = of.place(failed.block) else { return };
        // Each that has failed in a ring has taken one, from the lowest on.
        let taken = u32::try_from(of.failed.len()).unwrap_or(NONE);
        of.failed.push(failed.block);
        let next = layout.blocks().saturating_add(taken);
        of.by.insert(place, BlockId(if taken < layout.spare_blocks() { next } else { NONE }));
        if let Some(at) = by.rings.iter().position(|ring| ring.blocks.contains(&place)) {
            self.next[chip][at] = (place.0 - by.rings[at].blocks.start.0) * layout.pages();
        }
    }

    fn place(&self, chip: usize, block: BlockId) -> Option<BlockId> {
        self.replaced.get(&chip).map_or(Some(block), |of| of.place(block))
    }

    pub(crate) fn starts(&mut self, chip: usize, next: &[u32]) {
        self.next[chip].clear();
        self.next[chip].extend_from_slice(next);
    }

    /// `chip`: among all that are watched, before `order` knows. Outside of its zones a request
    /// erases nothing.
    pub(crate) fn operation(&mut self, operation: &Operation, chip: usize, order: &PageOrder, plan: &Plan) {
        let is_valid = match operation.action {
            _ if operation.kind == Kind::Gc => return,
            Action::Read | Action::ErasePart => return,
            Action::Program => self.programs(operation, chip, plan),
            Action::Erase => order.programmed(chip, operation.block) != Some(0) && self.resets(operation, chip, plan),
        };
        self.gauge.note(0, u64::from(!is_valid), || Place::from(operation));
    }

    /// Rule Z1; `true` where tasks own no zones.
    fn programs(&mut self, operation: &Operation, chip: usize, plan: &Plan) -> bool {
        let Promise::Certified(certified) = plan.promise() else { return true };
        let by = &certified[operation.cluster];
        if !by.is_zoned() {
            return true;
        }
        let own = self.own[operation.job.source];
        let Some(at) = ring_of(&by.rings, operation.lpn).filter(|&at| Some(at) == own) else { return false };
        let ring = &by.rings[at];
        let Some(place) = self.place(chip, operation.block).filter(|place| ring.blocks.contains(place)) else {
            return false;
        };
        let pages = plan.device().pages_per_block();
        let here = (place.0 - ring.blocks.start.0) * pages + operation.page;
        let next = std::mem::replace(&mut self.next[chip][at], (here + 1) % (ring.zones() * pages));
        next == NONE || next == here
    }

    /// Rule Z2.
    fn resets(&mut self, operation: &Operation, chip: usize, plan: &Plan) -> bool {
        let Promise::Certified(certified) = plan.promise() else { return false };
        let by = &certified[operation.cluster];
        let own = self.own[operation.job.source].and_then(|at| Some((at, by.rings.get(at)?)));
        let Some(place) = self.place(chip, operation.block) else { return false };
        let Some((at, ring)) = own.filter(|(_, ring)| ring.blocks.contains(&place)) else { return false };
        let here = (place.0 - ring.blocks.start.0) * plan.device().pages_per_block();
        let next = std::mem::replace(&mut self.next[chip][at], here);
        next == NONE || next == here
    }
}
