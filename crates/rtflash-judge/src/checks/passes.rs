//! Garbage collection without certificates: when passes begin and are left out, which victims they
//! take, what they copy, what they cost.

use rtflash_model::{ClusterId, Instant, Lpn, PerId};
use rtflash_plan::{BlockId, ColumnId, Dispatch, Plan, SourceId, Victims};
use rtflash_trace::{Action, Kind, LeftOut, NO_LPN, NONE, Operation, Padding, Selection, Step};
use serde::{Deserialize, Serialize};

use crate::gauge::Gauge;
use crate::place::Place;
use crate::shadow::jobs::Pending;
use crate::shadow::pages::Mapping;

/// What a chip has done for the pass under way.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct WatchedChipPass {
    time: u64,
    /// The block that is collected; `None` between passes.
    victim: Option<BlockId>,
    /// Pages read from it.
    valid: u64,
    /// Copies that have been read, padding included.
    reads: u64,
    /// A page that has been read and not programmed: the logical page, and where it was;
    /// [`NO_LPN`] where there is none.
    held: (Lpn, u32),
    /// Where the page programmed last is.
    last: u32,
}

const IDLE: WatchedChipPass =
    WatchedChipPass { time: 0, victim: None, valid: 0, reads: 0, held: (NO_LPN, NONE), last: NONE };

/// A cluster's pass.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
struct ClusterPass {
    /// When the last GC read step began, and how many there were.
    began: Option<Instant>,
    steps: u64,
    /// Pages above which a pass is left out, but for what other sources have left out: R.
    reserve: u64,
    /// αs.
    reclaimed: u64,
    /// How many sources of passes have left out their last one.
    left_out: u64,
    chips: u32,
}

/// What garbage collection is judged by.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Passes {
    /// A pass within C^g.
    pub(crate) cost: Gauge,
    /// The valid pages of a victim within ⌈λP⌉, when it is erased.
    pub(crate) victims: Gauge,
    pub(crate) gc: Collecting,
    chips: Vec<WatchedChipPass>,
    clusters: PerId<ClusterId, ClusterPass>,
    /// Whether each source's last pass was left out, and that of each cluster's server.
    left_out: PerId<SourceId, bool>,
    left_out_by_server: PerId<ClusterId, bool>,
    /// How many programs of an instant a record of that instant may know of.
    parallel: bool,
    bound: u64,
    pass: u64,
    worst: bool,
}

/// The gauges of garbage collection, with and without certificates.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Collecting {
    /// Valid pages of a victim against the fewest that a closed block has.
    pub(crate) choice: Gauge,
    /// What is done for passes that copies, reads and victims do not account for, against zero.
    pub(crate) copies: Gauge,
    /// Passes that begin, or are left out, where they should not, against zero.
    pub(crate) left_out: Gauge,
    /// Copies that a pass lacks with worst victims; padding without.
    pub(crate) padding: Gauge,
}

impl Collecting {
    /// A job of garbage collection is complete: it has done its pass or left it out.
    pub(crate) fn complete(&mut self, at: Instant, pending: &Pending) {
        let neither = !pending.erased && pending.left_out.is_none();
        self.left_out.note(0, u64::from(neither), || pending.place(at, None));
    }

    /// A victim is chosen that has `valid` pages (`NONE`: it is not closed, or a victim already),
    /// where `fewest` in the `lowest` block is what there was. `off`: how far the two may be apart,
    /// because of what else happens at the instant.
    pub(crate) fn chosen(&mut self, selection: &Selection, fewest: u32, lowest: BlockId, valid: u32, off: u32) {
        let at = || Place::from(selection);
        let tie = off == 0 && valid == fewest && lowest != selection.block;
        let observed = if valid == NONE { NONE } else { valid.saturating_add(u32::from(tie)) };
        self.choice.note(u64::from(fewest) + u64::from(off), observed.into(), at);
        // What the record says of its victim.
        let claimed = selection.valid > valid || selection.valid.saturating_add(off) < valid;
        self.copies.note(0, u64::from(claimed), at);
    }
}

impl Passes {
    /// For the chips of `chips` positions.
    pub(crate) fn new(plan: &Plan, dispatch: Dispatch, chips: usize) -> Self {
        let device = plan.device();
        let clusters = plan.clusters().iter().map(|cluster| ClusterPass {
            reserve: cluster.layout.reserve_pages(),
            reclaimed: u64::from(device.reclaimed_per_chip()) * u64::from(cluster.layout.chips()),
            chips: cluster.layout.chips(),
            ..ClusterPass::default()
        });
        Passes {
            cost: Gauge::default(),
            victims: Gauge::default(),
            gc: Collecting::default(),
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

    pub(crate) fn setup(&mut self, victims: Victims) {
        self.worst = victims == Victims::Worst;
    }

    /// Whether a job's source has left out its last pass.
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

    /// A victim is chosen on a chip, `chip` among all that are watched.
    pub(crate) fn selected(
        &mut self,
        selection: &Selection,
        position: ColumnId,
        chip: usize,
        pending: &Pending,
        map: &mut Mapping,
    ) {
        let cluster = selection.cluster;
        let chips = self.clusters[cluster].chips;
        let off = if self.parallel { chips } else { 0 };
        let at = || Place::from(selection);
        let first = chip - position.index();
        let begins = self.chips[first..].iter().zip(0..chips).all(|(of, _)| of.victim.is_none());
        if selection.forced {
            // A job that is not real-time collects for itself when it finds no page.
            let is_valid = pending.release.kind == Kind::Server && pending.starved;
            self.gc.left_out.note(0, u64::from(!is_valid), at);
        }
        if begins {
            let of = &mut self.clusters[cluster];
            (of.began, of.steps) = (None, 0);
        }
        if begins && !selection.forced {
            let threshold = self.threshold(cluster, pending);
            if let Some(free) = map.free(cluster, position, chip, selection.at) {
                let needless = free.saturating_sub(off.into()) > threshold;
                self.gc.left_out.note(0, u64::from(needless), at);
            }
        }
        if let Some((fewest, lowest, _)) = map.fewest(cluster, position, chip) {
            let closed = map.take(cluster, position, chip, selection.block);
            // Under parallel dispatch the page that closes a block may be begun at the same
            // instant.
            let closing = || map.about_to_close(cluster, position, chip, selection.block).filter(|_| off > 0);
            let valid = closed.or_else(closing).unwrap_or(NONE);
            self.gc.chosen(selection, fewest, lowest, valid, off);
        }
        let of = &mut self.chips[chip];
        self.gc.copies.note(0, u64::from(of.victim.is_some()), at);
        *of = WatchedChipPass { victim: Some(selection.block), ..IDLE };
    }

    /// A pass is left out.
    pub(crate) fn left_out(&mut self, left_out: &LeftOut, first: usize, pending: &Pending, map: &mut Mapping) {
        let cluster = left_out.cluster;
        let threshold = self.threshold(cluster, pending);
        let chips = self.clusters[cluster].chips;
        let off = if self.parallel { u64::from(chips) } else { 0 };
        let mut is_valid = true;
        if let Some(free) = map.free(cluster, ColumnId(0), first, left_out.at) {
            is_valid &= left_out.free <= free && left_out.free.saturating_add(off) >= free;
        }
        if left_out.free > threshold {
            *self.flag(cluster, pending) = true;
            self.clusters[cluster].left_out += 1;
        } else {
            // There was nothing to collect.
            let closed = |position: ColumnId| {
                let fewest = map.fewest(cluster, position, first + position.index());
                fewest.is_some_and(|(fewest, ..)| fewest != NONE)
            };
            is_valid &= !ColumnId::first(chips).any(closed);
        }
        self.gc.left_out.note(0, u64::from(!is_valid), || Place::from(left_out));
    }

    /// A copy only lets time pass.
    pub(crate) fn padding(&mut self, padding: &Padding, chip: usize) {
        self.gc.padding.note(0, u64::from(!self.worst), || Place::from(padding));
        let (of, cluster) = (&mut self.chips[chip], &mut self.clusters[padding.cluster]);
        of.time = of.time.saturating_add(padding.end.since(padding.start).as_ns());
        if padding.step == Step::Read {
            of.reads += 1;
            cluster.steps += 1;
        }
    }

    /// A GC operation on a chip, `chip` among all that are watched, at `position` in its cluster.
    #[inline(always)]
    pub(crate) fn operation(
        &mut self,
        operation: &Operation,
        position: ColumnId,
        chip: usize,
        pending: &Pending,
        map: &Mapping,
    ) {
        let work = &mut self.chips[chip];
        work.time = work.time.saturating_add(operation.end.since(operation.start).as_ns());
        let at = || pending.place(operation.start, Some(operation.chip));
        // What was read and is still where it was has to be programmed before anything else.
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
                self.cost.note(self.pass, time, at);
                self.victims.note(self.bound, if victim == Some(operation.block) { valid } else { 0 }, at);
                if self.worst {
                    let copies = if self.parallel { reads } else { self.clusters[operation.cluster].steps };
                    self.gc.padding.note(0, self.bound.saturating_sub(copies), at);
                }
                victim == Some(operation.block) && !dropped(held)
            }
            Action::ErasePart => false,
        };
        self.gc.copies.note(0, u64::from(!is_valid), at);
    }
}

#[cfg(test)]
mod tests {
    use rtflash_trace::{JobId, Release};

    use super::*;
    use crate::samples;
    use crate::shadow::jobs::Ledger;

    /// A pass that a job takes for itself, because it found no page, asks nobody: what its source
    /// left out before is still left out.
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
            passes.selected(&selection, ColumnId(0), 0, pending, &mut map);
            assert_eq!(passes.left_out_by_server[cluster], forced);
            assert_eq!(passes.clusters[cluster].left_out, u64::from(forced));
        }
    }
}
