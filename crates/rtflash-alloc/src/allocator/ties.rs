//! Clusters that are alike: same size, same tasks but for their names. Their utilizations are equal
//! without computing anything, which sets of many equal tasks would otherwise pay for again and
//! again: exact numbers alone take 34 times the instructions for 200 tasks of three kinds on 64
//! chips.

use std::collections::HashMap;

use rtflash_model::{PerId, Request, TaskId, TaskSet};

use super::clusters::{GrowingClusters, SlotId};

type RequestPair = (Option<Request>, Option<Request>);

/// Numbers are only ever compared for equality, so their order does not matter.
#[derive(Debug, Default)]
pub(super) struct TiedTasks {
    shapes: HashMap<RequestPair, u32>,
    shape_of_task: PerId<TaskId, u32>,
    kinds: HashMap<(u32, Vec<u32>), u32>,
    kind_of_slot: PerId<SlotId, Option<u32>>,
}

impl TiedTasks {
    pub fn touch(&mut self, slot: SlotId) {
        if let Some(kind) = self.kind_of_slot.get_mut(slot) {
            *kind = None;
        }
    }

    pub fn alike(&mut self, set: &TaskSet, clusters: &GrowingClusters, a: SlotId, b: SlotId) -> bool {
        a == b || {
            let (left, right) = (&clusters.slots[a], &clusters.slots[b]);
            left.size == right.size
                && left.count == right.count
                && self.kind(set, clusters, a) == self.kind(set, clusters, b)
        }
    }

    fn kind(&mut self, set: &TaskSet, clusters: &GrowingClusters, slot: SlotId) -> u32 {
        if self.kind_of_slot.count() <= slot.0 {
            self.kind_of_slot.resize(slot.0 + 1, None);
        }
        if let Some(kind) = self.kind_of_slot[slot] {
            return kind;
        }
        if self.shape_of_task.is_empty() {
            for task in set.tasks() {
                let fresh = super::clusters::index(self.shapes.len());
                self.shape_of_task.push(*self.shapes.entry((task.read, task.write)).or_insert(fresh));
            }
        }
        let mut shapes: Vec<u32> = clusters.tasks_of(slot).map(|task| self.shape_of_task[task]).collect();
        shapes.sort_unstable();
        let fresh = super::clusters::index(self.kinds.len());
        let kind = *self.kinds.entry((clusters.slots[slot].size, shapes)).or_insert(fresh);
        self.kind_of_slot[slot] = Some(kind);
        kind
    }
}
