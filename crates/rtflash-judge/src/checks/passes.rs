//! Garbage collection without certificates: when passes begin and are left out, which victims they
//! take, what they copy, what they cost.

use rtflash_model::{ClusterId, Instant, Lpn, PerId};
use rtflash_plan::{BlockId, ColumnId, Dispatch, Plan, SourceId};
use rtflash_trace::{Action, Kind, LeftOut, NO_LPN, NONE, Operation, Padding, Selection, Step};
use serde::{Deserialize, Serialize};

use crate::gauge::Gauges;
use crate::place::Place;
use crate::shadow::jobs::Pending;
use crate::shadow::pages::Mapping;
use crate::{Assumption, WatchedChip};

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct WatchedChipPass {
    time: u64,
    victim: Option<BlockId>,
    valid: u64,
    reads: u64,
    /// A page read and not programmed: the logical page ([`NO_LPN`]: none), and where it was.
    held: (Lpn, u32),
    last: u32,
}

const IDLE: WatchedChipPass =
    WatchedChipPass { time: 0, victim: None, valid: 0, reads: 0, held: (NO_LPN, NONE), last: NONE };

#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
struct ClusterPass {
    /// When the last GC read step began, and how many there were.
    began: Option<Instant>,
    steps: u64,
    /// Pages above which a pass is left out, but for what other sources have left out: R.
    reserve: u64,
    /// αs.
    reclaimed: u64,
    left_out: u64,
    chips: u32,
}

/// Passes within C^g, victims within ⌈λP⌉ valid pages when erased, and what each pass does.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Passes {
    chips: Vec<WatchedChipPass>,
    clusters: PerId<ClusterId, ClusterPass>,
    /// Whether each source's last pass was left out, and that of each cluster's server.
    left_out: PerId<SourceId, bool>,
    left_out_by_server: PerId<ClusterId, bool>,
    /// How many programs of an instant a record of that instant may know of.
    parallel: bool,
    bound: u64,
    pass: u64,
    pub(crate) worst: bool,
}

pub(crate) fn complete(at: Instant, pending: &Pending, gauges: &mut Gauges) {
    let neither = !pending.erased && pending.left_out.is_none();
    gauges[Assumption::GcLeftOut].note(0, u64::from(neither), || pending.place(at, None));
}

/// It has `valid` pages (`NONE`: it is not closed, or a victim already), while `fewest` in the
/// `lowest` block is what there was. `off`: how far apart they may be at the instant.
pub(crate) fn chosen(selection: &Selection, fewest: u32, lowest: BlockId, valid: u32, off: u32, gauges: &mut Gauges) {
    let place = || Place::from(selection);
    let tie = off == 0 && valid == fewest && lowest != selection.block;
    let observed = if valid == NONE { NONE } else { valid.saturating_add(u32::from(tie)) };
    gauges[Assumption::VictimChoice].note(u64::from(fewest) + u64::from(off), observed.into(), place);
    // The record's statement about its victim.
    let claimed = selection.valid > valid || selection.valid.saturating_add(off) < valid;
    gauges[Assumption::Copies].note(0, u64::from(claimed), place);
}

impl Passes {
    pub(crate) fn new(plan: &Plan, dispatch: Dispatch, chips: usize) -> Self {
        let device = plan.device();
        let clusters = plan.clusters().iter().map(|cluster| ClusterPass {
            reserve: cluster.layout.reserve_pages(),
            reclaimed: u64::from(device.reclaimed_per_chip()) * u64::from(cluster.layout.chips()),
            chips: cluster.layout.chips(),
            ..ClusterPass::default()
        });
        Passes {
            chips: vec![IDLE; chips],
            clusters: clusters.collect(),
            left_out: plan.per_source(false),
            left_out_by_server: plan.per_cluster(false),
            parallel: dispatch == Dispatch::Parallel,
            bound: device.valid_pages_bound().into(),
            pass: device.gc_pass().as_ns(),
            worst: false,
        }
    }

    fn flag(&mut self, cluster: ClusterId, pending: &Pending) -> &mut bool {
        match pending.release.kind {
            Kind::Server => &mut self.left_out_by_server[cluster],
            _ => &mut self.left_out[pending.release.job.source],
        }
    }

    /// A job looks whether to leave a pass out: above how many free pages it does.
    fn threshold(&mut self, cluster: ClusterId, pending: &Pending) -> u64 {
        let flagged = std::mem::take(self.flag(cluster, pending));
        let of = &mut self.clusters[cluster];
        of.left_out -= u64::from(flagged);
        of.reserve.saturating_add(of.reclaimed.saturating_mul(of.left_out + 1))
    }

    pub(crate) fn selected(
        &mut self,
        selection: &Selection,
        at: WatchedChip,
        pending: &Pending,
        map: &mut Mapping,
        gauges: &mut Gauges,
    ) {
        let cluster = selection.cluster;
        let chips = self.clusters[cluster].chips;
        let off = if self.parallel { chips } else { 0 };
        let place = || Place::from(selection);
        let begins = self.chips[at.first()..].iter().zip(0..chips).all(|(of, _)| of.victim.is_none());
        if selection.forced {
            // A job that is not real-time collects for itself when it finds no page.
            let is_valid = pending.release.kind == Kind::Server && pending.starved;
            gauges[Assumption::GcLeftOut].note(0, u64::from(!is_valid), place);
        }
        if begins {
            let of = &mut self.clusters[cluster];
            (of.began, of.steps) = (None, 0);
        }
        if begins && !selection.forced {
            let threshold = self.threshold(cluster, pending);
            if let Some(free) = map.free(at, selection.at) {
                let needless = free.saturating_sub(off.into()) > threshold;
                gauges[Assumption::GcLeftOut].note(0, u64::from(needless), place);
            }
        }
        if let Some((fewest, lowest, _)) = map.fewest(at) {
            let closed = map.take(at, selection.block);
            // Under parallel dispatch the page that closes a block may be begun at the same
            // instant.
            let closing = || map.about_to_close(at, selection.block).filter(|_| off > 0);
            let valid = closed.or_else(closing).unwrap_or(NONE);
            chosen(selection, fewest, lowest, valid, off, gauges);
        }
        let of = &mut self.chips[at.watched];
        gauges[Assumption::Copies].note(0, u64::from(of.victim.is_some()), place);
        *of = WatchedChipPass { victim: Some(selection.block), ..IDLE };
    }

    pub(crate) fn left_out(
        &mut self,
        left_out: &LeftOut,
        at: WatchedChip,
        pending: &Pending,
        map: &mut Mapping,
        gauges: &mut Gauges,
    ) {
        let cluster = left_out.cluster;
        let threshold = self.threshold(cluster, pending);
        let chips = self.clusters[cluster].chips;
        let off = if self.parallel { u64::from(chips) } else { 0 };
        let mut is_valid = true;
        if let Some(free) = map.free(at, left_out.at) {
            is_valid &= left_out.free <= free && left_out.free.saturating_add(off) >= free;
        }
        if left_out.free > threshold {
            *self.flag(cluster, pending) = true;
            self.clusters[cluster].left_out += 1;
        } else {
            // There was nothing to collect.
            let closed = |position: ColumnId| {
                let chip = WatchedChip { position, watched: at.first() + position.index(), ..at };
                map.fewest(chip).is_some_and(|(fewest, ..)| fewest != NONE)
            };
            is_valid &= !ColumnId::first(chips).any(closed);
        }
        gauges[Assumption::GcLeftOut].note(0, u64::from(!is_valid), || Place::from(left_out));
    }

    pub(crate) fn padding(&mut self, padding: &Padding, chip: usize, gauges: &mut Gauges) {
        gauges[Assumption::Padding].note(0, u64::from(!self.worst), || Place::from(padding));
        let (of, cluster) = (&mut self.chips[chip], &mut self.clusters[padding.cluster]);
        of.time = of.time.saturating_add(padding.end.since(padding.start).as_ns());
        if padding.step == Step::Read {
            of.reads += 1;
            cluster.steps += 1;
        }
    }

    #[inline(always)]
    pub(crate) fn operation(
        &mut self,
        operation: &Operation,
        at: WatchedChip,
        pending: &Pending,
        map: &Mapping,
        gauges: &mut Gauges,
    ) {
        let (work, position) = (&mut self.chips[at.watched], at.position);
        work.time = work.time.saturating_add(operation.end.since(operation.start).as_ns());
        let place = || pending.place(operation.start, Some(operation.chip));
        // A page that was read and is still where it was has to be programmed before anything else.
        let dropped = |held: (Lpn, u32)| held.0 != NO_LPN && map.is_at(operation.cluster, held.0, held.1);
        let is_valid = match operation.action {
            Action::Program => {
                let held = std::mem::replace(&mut work.held, (NO_LPN, NONE));
                work.last = map.spot(position, operation.block, operation.page);
                held.0 == operation.lpn && map.is_at(operation.cluster, held.0, held.1)
            }
            Action::Read => {
                let here = map.spot(position, operation.block, operation.page);
                let held = std::mem::replace(&mut work.held, (operation.lpn, here));
                work.reads += 1;
                let cluster = &mut self.clusters[operation.cluster];
                if cluster.began != Some(operation.start) {
                    cluster.began = Some(operation.start);
                    cluster.steps += 1;
                }
                let of_victim = work.victim == Some(operation.block);
                work.valid += u64::from(of_victim);
                let again = self.worst && here == work.last;
                (of_victim || again) && !dropped(held)
            }
            Action::Erase => {
                let WatchedChipPass { time, victim, valid, reads, held, .. } = std::mem::replace(work, IDLE);
                gauges[Assumption::GcCost].note(self.pass, time, place);
                let valid = if victim == Some(operation.block) { valid } else { 0 };
                gauges[Assumption::VictimBound].note(self.bound, valid, place);
                if self.worst {
                    let copies = if self.parallel { reads } else { self.clusters[operation.cluster].steps };
                    gauges[Assumption::Padding].note(0, self.bound.saturating_sub(copies), place);
                }
                victim == Some(operation.block) && !dropped(held)
            }
            Action::ErasePart => false,
        };
        gauges[Assumption::Copies].note(0, u64::from(!is_valid), place);
    }
}

#[cfg(test)]
mod tests {
    use rtflash_trace::{JobId, Release};

    use super::*;
    use crate::samples;
    use crate::shadow::jobs::Ledger;

    /// A pass that a job takes for itself, because it found no page, changes no account: what its
    /// source left out before is still left out.
    #[test]
    fn a_forced_pass_says_nothing_of_what_was_left_out() {
        let plan = samples::plan();
        let source = plan.sources().enumerate().find(|(_, source)| source.kind == Kind::Server).expect("a stream").0;
        let (job, cluster, at) = (JobId { source, index: 0 }, ClusterId(1), samples::at(5));
        let mut ledger = Ledger::new(plan.sources().len(), true);
        let release = Release { at, job, kind: Kind::Server, deadline: None, pages: 8, cluster: Some(cluster) };
        assert!(ledger.release(&release));
        let pending = ledger.get(job).expect("it is pending");
        pending.starved = true;
        for forced in [true, false] {
            let mut passes = Passes::new(&plan, Dispatch::Serial, 2);
            let mut map = Mapping::new(&plan, 2, &[cluster]);
            passes.left_out_by_server[cluster] = true;
            passes.clusters[cluster].left_out = 1;
            let chip = plan.clusters()[cluster].chips[0];
            let selection = Selection { at, job, cluster, chip, block: BlockId(3), valid: 0, forced };
            let at = WatchedChip { cluster, ..WatchedChip::default() };
            passes.selected(&selection, at, pending, &mut map, &mut Gauges::default());
            assert_eq!(passes.left_out_by_server[cluster], forced);
            assert_eq!(passes.clusters[cluster].left_out, u64::from(forced));
        }
    }
}
