//! The clusters while an allocation is being made.
//!
//! Algorithm 1 starts with m clusters of one chip, and empty clusters merge before any other (U = 0
//! is the least there is). So the clusters without tasks are always the chips from `free_first` up,
//! one chip each but for the first of them, which may have grown. Only clusters that got a task are
//! kept one by one, as slots; the list `live` holds those that have not been merged away, by
//! position.

use rtflash_model::{Allocation, PerId, TaskId, TaskSet};

use super::loads::{Load, LoadShare, Loads, SizeCosts};

const END: TaskId = TaskId(u32::MAX);

rtflash_model::ids! {
    /// A slot, by position.
    SlotId
}

#[derive(Debug, Clone, Copy)]
pub(super) struct ClusterSlot {
    run: u32,
    /// The slot that this one was merged into, or itself.
    root: SlotId,
    pub size: u32,
    pub count: u32,
    pub share: LoadShare,
    pub costs: SizeCosts,
    first_task: TaskId,
    last_task: TaskId,
}

#[derive(Debug)]
pub(super) struct GrowingClusters {
    pub slots: PerId<SlotId, ClusterSlot>,
    /// Slots that are clusters of their own, by position.
    pub live: Vec<SlotId>,
    next_task: PerId<TaskId, TaskId>,
    chips: u32,
    free_first: u32,
    pub free_size: u32,
}

impl GrowingClusters {
    /// m clusters of one chip, no task placed.
    pub fn new(chips: u32, tasks: u32) -> GrowingClusters {
        let (slots, live, next_task) = (PerId::default(), Vec::new(), PerId::filled(END, tasks));
        GrowingClusters { slots, live, next_task, chips, free_first: 0, free_size: 1 }
    }

    pub fn free_clusters(&self) -> u32 {
        let chips = self.chips - self.free_first;
        if chips == 0 { 0 } else { chips - self.free_size + 1 }
    }

    pub fn len(&self) -> usize {
        self.live.len() + self.free_clusters() as usize
    }

    /// Makes the first cluster without tasks a slot, at the end of `live`; it still has no tasks.
    pub fn open(&mut self, costs: SizeCosts) -> SlotId {
        let slot = SlotId(self.slots.count());
        let size = self.free_size;
        self.slots.push(ClusterSlot {
            run: size,
            root: slot,
            size,
            count: 0,
            share: LoadShare::default(),
            costs,
            first_task: END,
            last_task: END,
        });
        self.live.push(slot);
        self.free_first += size;
        self.free_size = 1;
        slot
    }

    pub fn place(&mut self, task: TaskId, share: LoadShare, slot: SlotId) {
        let cluster = &mut self.slots[slot];
        cluster.share = cluster.share.with(share);
        cluster.count += 1;
        if cluster.last_task == END {
            cluster.first_task = task;
        } else {
            self.next_task[cluster.last_task] = task;
        }
        cluster.last_task = task;
    }

    /// Merges the clusters at two positions, `lower` < `upper`. The merged one stands at the lower.
    pub fn merge(&mut self, lower: usize, upper: usize, loads: &Loads<'_>, table: &PerId<TaskId, Load>) -> SlotId {
        let (kept, gone) = (self.live[lower], self.live.remove(upper));
        let away = self.slots[gone];
        self.slots[gone].root = kept;
        let cluster = &mut self.slots[kept];
        cluster.size += away.size;
        cluster.count += away.count;
        cluster.costs = loads.size_costs(cluster.size);
        if away.first_task != END {
            if cluster.last_task == END {
                cluster.first_task = away.first_task;
            } else {
                self.next_task[cluster.last_task] = away.first_task;
            }
            cluster.last_task = away.last_task;
        }
        let costs = cluster.costs;
        let share = self.share_at(kept, costs, loads, table);
        self.slots[kept].share = share;
        kept
    }

    pub fn share_at(
        &self,
        slot: SlotId,
        costs: SizeCosts,
        loads: &Loads<'_>,
        table: &PerId<TaskId, Load>,
    ) -> LoadShare {
        self.tasks_of(slot).fold(LoadShare::default(), |sum, task| sum.with(loads.share(&table[task], costs)))
    }

    /// The tasks of a live slot's cluster, in order of placing for clusters that were never merged.
    pub fn tasks_of(&self, slot: SlotId) -> impl Iterator<Item = TaskId> + '_ {
        let first = self.slots[slot].first_task;
        std::iter::successors((first != END).then_some(first), |&task| {
            let next = self.next_task[task];
            (next != END).then_some(next)
        })
    }

    pub fn list_of(&self, slot: SlotId) -> Vec<TaskId> {
        self.tasks_of(slot).collect()
    }

    /// The allocation as it stands; every task must have been placed.
    pub fn finish(&mut self, set: &TaskSet) -> Option<Allocation> {
        let mut of_chip = Vec::with_capacity(self.chips as usize);
        let mut of_task = PerId::filled(0, set.tasks().count());
        let mut next = 0;
        for slot in self.slots.ids() {
            // Slots are in order of their chips and merge towards the lower, so a root comes before
            // what was merged into it.
            let mut root = slot;
            while self.slots[root].root != root {
                root = self.slots[root].root;
            }
            let run = self.slots[slot].run;
            let number = if root == slot {
                self.tasks_of(slot).for_each(|task| of_task[task] = next);
                next += 1;
                next - 1
            } else {
                // A root's `run` has served: it now carries the cluster's number.
                self.slots[root].run
            };
            self.slots[slot].run = number;
            of_chip.extend(std::iter::repeat_n(number, run as usize));
        }
        of_chip.extend(next..next + (self.chips - self.free_first));
        Allocation::from_owners(of_chip.into(), of_task)
    }
}

pub(super) fn index(position: usize) -> u32 {
    u32::try_from(position).expect("tasks and chips are counted in 32 bits")
}
