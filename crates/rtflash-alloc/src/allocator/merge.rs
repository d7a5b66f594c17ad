//! Which two clusters to merge: the pair with the lowest U at the merged size (Algorithm 1, lines
//! 12 and 13).
//!
//! Trying all pairs at every merge costs K² evaluations each. Instead every cluster keeps its best
//! partner among those after it. When clusters change, only what could have improved is evaluated
//! again; where a best partner is gone or got fuller, the old value stays as a lower bound
//! (utilization grows with the tasks) and is renewed only if it would win. To renew all takes 2.8
//! times the instructions for 200 tasks of three kinds on 64 chips.

use std::cmp::Ordering;

use rtflash_model::{PerId, TaskId};

use super::clusters::{GrowingClusters, SlotId};
use super::loads::{Load, LoadShare, Loads, TasksOnChips, Total};
use super::ties::TiedTasks;

#[derive(Debug, Clone, Copy)]
struct BestPartner {
    /// U of the two merged; a lower bound where `fresh` is false.
    total: f64,
    partner: SlotId,
    fresh: bool,
}

#[derive(Debug, Clone, Copy)]
struct ClusterPair {
    position: usize,
    partner: SlotId,
    total: f64,
}

const STALE: BestPartner = BestPartner { total: 0.0, partner: SlotId(0), fresh: false };

/// Without them 1,000 tasks on 256 chips take 1.5 times the instructions.
const REMEMBERED: usize = 4;

#[derive(Debug, Clone, Copy, Default)]
struct Memo {
    shares: [(u32, LoadShare); REMEMBERED],
    next: usize,
}

/// The best pairs, from the first merge of clusters with tasks on.
#[derive(Debug, Default)]
pub(super) struct Merger {
    /// A row for each position in `live`. Empty until the first merge.
    rows: Vec<BestPartner>,
    memos: PerId<SlotId, Memo>,
}

pub(super) struct LoadTable<'a> {
    pub loads: &'a Loads<'a>,
    pub table: &'a PerId<TaskId, Load>,
}

impl Merger {
    /// The pair with the lowest U, ties by the smallest pair of positions; the merged cluster's
    /// slot. Needs two clusters, all of them slots.
    pub fn merge_lowest(
        &mut self,
        clusters: &mut GrowingClusters,
        ties: &mut TiedTasks,
        view: &LoadTable<'_>,
    ) -> SlotId {
        if self.rows.is_empty() {
            self.rows.resize(clusters.live.len(), STALE);
        }
        self.memos.resize(clusters.slots.count(), Memo::default());
        let (lower, partner) = self.lowest_pair(clusters, ties, view);
        let upper = clusters.live.iter().position(|&slot| slot == partner).unwrap_or(lower + 1);
        let merged = clusters.merge(lower, upper, view.loads, view.table);
        ties.touch(merged);
        self.rows.remove(upper);
        self.memos[merged] = Memo::default();
        for (position, row) in self.rows.iter_mut().enumerate() {
            row.fresh &= row.partner != merged && row.partner != partner && position != lower;
        }
        self.rows[lower].total = 0.0;
        // The merged cluster is the one thing that may be a better partner than before.
        for position in 0..lower {
            let total = self.total(clusters, view, clusters.live[position], merged);
            let row = self.rows[position];
            let order = row.fresh.then(|| {
                let pair = |partner, total| ClusterPair { position, partner, total };
                self.compare(clusters, ties, view, pair(merged, total), pair(row.partner, row.total))
            });
            if order == Some(Ordering::Less) {
                self.rows[position] = BestPartner { total, partner: merged, fresh: true };
            } else if order == Some(Ordering::Equal) || (row.fresh && row.total >= total) {
                // A tie: the lower position wins, and renewing finds it.
                self.rows[position].fresh = false;
                self.rows[position].total = total.min(row.total);
            } else if total < row.total {
                self.rows[position].total = total;
            }
        }
        merged
    }

    pub fn touch(&mut self, clusters: &GrowingClusters, slot: SlotId) {
        if self.rows.is_empty() {
            return;
        }
        self.memos[slot] = Memo::default();
        for (row, &owner) in self.rows.iter_mut().zip(&clusters.live) {
            row.fresh &= owner != slot && row.partner != slot;
        }
    }

    fn lowest_pair(
        &mut self,
        clusters: &GrowingClusters,
        ties: &mut TiedTasks,
        view: &LoadTable<'_>,
    ) -> (usize, SlotId) {
        let last = clusters.live.len() - 1;
        let count = view.table.len();
        let contends = |row: &BestPartner, bound: f64| {
            let [total, bound] = [row.total, bound].map(|sum| Total { sum, tasks: count });
            total.compare(bound) != Some(Ordering::Greater)
        };
        let fresh = self.rows[..last].iter().filter(|row| row.fresh);
        let mut bound = fresh.map(|row| row.total).fold(f64::INFINITY, f64::min);
        for position in 0..last {
            if !self.rows[position].fresh && contends(&self.rows[position], bound) {
                self.renew(clusters, ties, view, position);
                bound = bound.min(self.rows[position].total);
            }
        }
        let mut best: Option<(usize, BestPartner)> = None;
        for (position, &row) in
            self.rows[..last].iter().enumerate().filter(|(_, row)| row.fresh && contends(row, bound))
        {
            let better = best.is_none_or(|(champion, least)| {
                let pair =
                    |position, row: BestPartner| ClusterPair { position, partner: row.partner, total: row.total };
                self.compare(clusters, ties, view, pair(position, row), pair(champion, least)) == Ordering::Less
            });
            if better {
                best = Some((position, row));
            }
        }
        best.map_or((0, clusters.live[last]), |(position, row)| (position, row.partner))
    }

    /// Finds a cluster's best partner among those after it, ties by position.
    fn renew(&mut self, clusters: &GrowingClusters, ties: &mut TiedTasks, view: &LoadTable<'_>, position: usize) {
        let owner = clusters.live[position];
        let mut best: Option<(SlotId, f64)> = None;
        for later in position + 1..clusters.live.len() {
            let partner = clusters.live[later];
            let total = self.total(clusters, view, owner, partner);
            let better = best.is_none_or(|(champion, least)| {
                let pair = |partner, total| ClusterPair { position, partner, total };
                self.compare(clusters, ties, view, pair(partner, total), pair(champion, least)) == Ordering::Less
            });
            if better {
                best = Some((partner, total));
            }
        }
        if let Some((partner, total)) = best {
            self.rows[position] = BestPartner { total, partner, fresh: true };
        }
    }

    fn compare(
        &self,
        clusters: &GrowingClusters,
        ties: &mut TiedTasks,
        view: &LoadTable<'_>,
        left: ClusterPair,
        right: ClusterPair,
    ) -> Ordering {
        let pair = |of: ClusterPair| [clusters.live[of.position], of.partner];
        let (a, b) = (pair(left), pair(right));
        let count = |pair: [SlotId; 2]| pair.map(|slot| clusters.slots[slot].count as usize).iter().sum();
        let total = |of: ClusterPair, pair| Total { sum: of.total, tasks: count(pair) };
        if let Some(order) = total(left, a).compare(total(right, b)) {
            return order;
        }
        let mut alike = |x: SlotId, y: SlotId| ties.alike(view.loads.set, clusters, x, y);
        if (alike(a[0], b[0]) && alike(a[1], b[1])) || (alike(a[0], b[1]) && alike(a[1], b[0])) {
            return Ordering::Equal;
        }
        let merged = |pair: [SlotId; 2]| {
            let tasks = pair.iter().flat_map(|&slot| clusters.list_of(slot)).collect();
            TasksOnChips { tasks, chips: pair.iter().map(|&slot| clusters.slots[slot].size).sum() }
        };
        view.loads.compare_exactly(&merged(a), &merged(b))
    }

    fn total(&mut self, clusters: &GrowingClusters, view: &LoadTable<'_>, a: SlotId, b: SlotId) -> f64 {
        let size = clusters.slots[a].size + clusters.slots[b].size;
        self.share(clusters, view, a, size).with(self.share(clusters, view, b, size)).total()
    }

    fn share(&mut self, clusters: &GrowingClusters, view: &LoadTable<'_>, slot: SlotId, size: u32) -> LoadShare {
        let memo = &mut self.memos[slot];
        if let Some(&(_, share)) = memo.shares.iter().find(|(remembered, _)| *remembered == size) {
            return share;
        }
        let share = clusters.share_at(slot, view.loads.size_costs(size), view.loads, view.table);
        memo.shares[memo.next] = (size, share);
        memo.next = (memo.next + 1) % REMEMBERED;
        share
    }
}
