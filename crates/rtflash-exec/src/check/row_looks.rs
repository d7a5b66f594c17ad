//! Looks at steps of a superblock together, one behind the other, as far as they are as they should
//! be in all respects.

use rtflash_model::Instant;

use super::flash::NextPages;
use super::kept_steps::KeptSteps;
use super::mapping::RowMap;
use super::row_runs::RowRun;
use super::rules::Rules;
use super::runs::PageRun;
use super::watched_pass::WatchedPass;
use super::{Checks, WatchedChip};
use crate::ids::{ChannelId, ChipId, PerId};
use crate::trace::{Action, Kind, ListedStep, Operation, StepHead, StepPage};

/// What is looked at of a superblock.
struct RowLook<'c> {
    run: &'c RowRun,
    pass: &'c mut WatchedPass,
    map: RowMap<'c>,
    next_pages: NextPages<'c>,
    free_at: &'c mut PerId<ChipId, Instant>,
    chips: &'c PerId<ChipId, WatchedChip>,
}

impl RowLook<'_> {
    /// Steps of a pass.
    #[inline(never)]
    fn collects<'s>(&mut self, steps: &'s [ListedStep], pages: &'s [StepPage]) -> KeptSteps<'s> {
        if self.pass.moves.is_some() {
            return KeptSteps::default();
        }
        KeptSteps::of(steps, pages, |kept, (head, pages)| {
            if !self.run.has_room(kept.programs.pages, pages.len()) {
                return None;
            }
            if head.action == Action::Read {
                let end = self.reads_victim(pages)?;
                kept.reads.add((head, pages));
                return Some(end);
            }
            if head.action != Action::Program {
                return None;
            }
            let end = self.programs(pages, |run, page, pass, map| run.moves(page, pass, map).then_some(()))?;
            self.pass.programs_all(pages);
            kept.programs.add((head, pages));
            Some(end)
        })
    }

    /// Those of a request that writes.
    #[inline(never)]
    fn writes<'s>(&mut self, steps: &'s [ListedStep], pages: &'s [StepPage]) -> KeptSteps<'s> {
        KeptSteps::of(steps, pages, |kept, (head, pages)| {
            if head.action != Action::Program {
                return None;
            }
            let mut served = kept.served;
            let end = self.programs(pages, |run, page, _, map| {
                served.add(head.start, page.chip, run.writes(head.start, page, map)?);
                Some(())
            })?;
            kept.served = served;
            kept.programs.add((head, pages));
            Some(end)
        })
    }

    /// Those of a request that reads.
    #[inline(never)]
    fn reads<'s>(&mut self, steps: &'s [ListedStep], pages: &'s [StepPage]) -> KeptSteps<'s> {
        KeptSteps::of(steps, pages, |kept, (head, pages)| {
            let [page] = pages else { return None };
            let took = self.run.reads(head.start, page)?;
            if head.action != Action::Read || !self.map.is_at(page.lpn, self.spot(page)) {
                return None;
            }
            self.free_at[page.chip] = page.end;
            kept.served.add(head.start, page.chip, took);
            kept.reads.add((head, pages));
            Some(page.end)
        })
    }

    #[inline(always)]
    fn spot(&self, page: &StepPage) -> u32 {
        self.map.spot(self.map.block(self.chips[page.chip].position, page.block), page.page)
    }

    /// Whether pages are those of a step of a pass that reads, and as they should be. Then it ends
    /// then; else nothing has changed.
    #[inline(always)]
    fn reads_victim(&mut self, pages: &[StepPage]) -> Option<Instant> {
        if let [page] = pages {
            let here = self.spot(page);
            if self.pass.victim != Some(page.block) || !self.map.is_at(page.lpn, here) {
                return None;
            }
            self.pass.buffer.push((page.lpn, here));
            self.free_at[page.chip] = page.end;
            return Some(page.end);
        }
        let (held, mut end) = (self.pass.buffer.len(), Instant::START);
        for page in pages {
            let here = self.spot(page);
            if self.pass.victim != Some(page.block) || !self.map.is_at(page.lpn, here) {
                self.pass.buffer.truncate(held);
                return None;
            }
            self.pass.buffer.push((page.lpn, here));
            end = end.max(page.end);
        }
        for page in pages {
            self.free_at[page.chip] = page.end;
        }
        Some(end)
    }

    /// The same of a step that programs, of whose pages `may_be` says whether they may be
    /// programmed.
    #[inline(always)]
    fn programs(
        &mut self,
        pages: &[StepPage],
        mut may_be: impl FnMut(&RowRun, &StepPage, &WatchedPass, &RowMap<'_>) -> Option<()>,
    ) -> Option<Instant> {
        let RowLook { run, pass, map, next_pages, free_at, chips } = self;
        let mut end = Instant::START;
        for (place, page) in pages.iter().enumerate() {
            let block = map.block(chips[page.chip].position, page.block);
            let is_plain = map.has_block(page.block)
                && next_pages.of((block, page.page)).is_some()
                && pages[..place].iter().all(|other| other.lpn != page.lpn)
                && may_be(run, page, pass, map).is_some();
            if !is_plain {
                return None;
            }
            end = end.max(page.end);
        }
        for page in pages {
            let block = map.block(chips[page.chip].position, page.block);
            next_pages.goes_on(block, page.page);
            map.programs(page, map.spot(block, page.page));
            free_at[page.chip] = page.end;
        }
        Some(end)
    }
}

impl Checks<'_> {
    /// Whether operations are a step of a superblock that is as it should be, behind others that
    /// are. Then it is kept; else nothing has changed.
    #[inline(never)]
    pub(super) fn keeps_row(&mut self, operations: &[Operation]) -> bool {
        let Some((first, others)) = operations.split_first() else { return false };
        let at = self.chips[first.chip];
        if self.rows.get(at.processor).is_none_or(|run| run.breaks != self.breaks.1) {
            return false;
        }
        let head = StepHead::of(first, ChannelId(0));
        let mut before = first.chip;
        let mut is_next = |other: &Operation| {
            std::mem::replace(&mut before, other.chip) < other.chip && StepHead::of(other, ChannelId(0)) == head
        };
        let may_ask = |operation: &Operation| {
            self.chips[operation.chip].cluster == head.cluster
                && operation.start < operation.end
                && self.desks.is_clear(operation.chip)
        };
        if !others.iter().all(&mut is_next) || !operations.iter().all(may_ask) {
            return false;
        }
        let mut pages = std::mem::take(&mut self.step_pages);
        pages.extend(operations.iter().map(|operation| StepPage::of(operation, (head.start, head.start))));
        let is_kept = self.keeps_steps(at.processor, &[ListedStep::of_first(head, pages.len())], &pages) > 0;
        pages.clear();
        self.step_pages = pages;
        if is_kept {
            operations.iter().for_each(|operation| self.desks.asks_plainly(operation));
        }
        is_kept
    }

    /// Looks at steps of a superblock, on chips of its cluster, as far as they follow each other
    /// without a break and are as they should be. Says how many are kept: of the others nothing has
    /// changed.
    #[inline(never)]
    pub(super) fn keeps_steps(&mut self, processor: usize, steps: &[ListedStep], pages: &[StepPage]) -> usize {
        let Checks { rules, rows, chip_exclusion, mapping, chips, plan, page_order, .. } = self;
        let (Rules::Certified(by), Some(run)) = (rules, rows.get_mut(processor)) else { return 0 };
        let Some(ListedStep { head, .. }) = steps.first() else { return 0 };
        if run.breaks != self.breaks.1 || !run.has_next(head) {
            return 0;
        }
        let of_cluster = &plan.clusters()[run.cluster].chips;
        let free_at = chip_exclusion.all_free_at();
        if !of_cluster.iter().all(|&chip| free_at[chip] <= head.start) {
            return 0;
        }
        let first = chips[of_cluster[0]].watched;
        let (map, next_pages) =
            (mapping.row_map(run.cluster, first), page_order.next_pages_of(first, of_cluster.len()));
        let pass = by.collections.pass_of(processor, run.server);
        let mut look = RowLook { pass, map, run, next_pages, free_at, chips };
        let kept = match look.run.kind {
            Kind::Gc => look.collects(steps, pages),
            Kind::Write => look.writes(steps, pages),
            Kind::Read => look.reads(steps, pages),
            Kind::Server => return 0,
        };
        if kept.steps == 0 {
            return 0;
        }
        if let Some(last) = kept.programs.last {
            look.map.programs_last(last);
        }
        if look.run.kind == Kind::Gc {
            look.pass.goes_on_in_rows(&kept);
        }
        run.keep(&kept);
        let (deadline, steps) = (run.deadline, &steps[..kept.steps]);
        by.processors.goes_on_in_rows(processor, (steps, pages), (kept.last.1, deadline), plan);
        if self.runs.get_mut(processor).is_some_and(PageRun::is_to_be_listed) {
            self.kept.push(processor);
        }
        kept.steps
    }
}
