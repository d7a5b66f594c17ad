//! Steps of superblocks, which observers are notified of together.

use rtflash_model::Instant;

use super::record::{Action, OnBus, Operation};
use crate::ids::{BlockId, ChannelId, ChipId, ClusterId, Lpn};
use crate::jobs::{JobId, Kind};

/// What the operations of a step have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StepHead {
    /// When all of them begin.
    pub start: Instant,
    /// The job that they are for.
    pub job: JobId,
    /// The cluster that their chips are of.
    pub cluster: ClusterId,
    /// The channel that their pages are on.
    pub channel: ChannelId,
    /// What they do.
    pub action: Action,
    /// What the job is for.
    pub kind: Kind,
}

impl StepHead {
    /// That of an operation, and of others like it.
    #[inline(always)]
    pub(crate) fn of(operation: &Operation, channel: ChannelId) -> StepHead {
        let Operation { start, job, cluster, action, kind, .. } = *operation;
        StepHead { start, job, cluster, channel, action, kind }
    }
}

/// What a chip does in a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StepPage {
    /// When it ends.
    pub end: Instant,
    /// When its page is on the bus: from then until then.
    pub on_bus: (Instant, Instant),
    /// The chip.
    pub chip: ChipId,
    /// The block.
    pub block: BlockId,
    /// The page in the block.
    pub page: u32,
    /// The logical page.
    pub lpn: Lpn,
}

impl StepPage {
    /// That of an operation, with its page on a bus.
    #[inline(always)]
    pub(crate) fn of(operation: &Operation, on_bus: (Instant, Instant)) -> StepPage {
        let Operation { end, chip, block, page, lpn, .. } = *operation;
        StepPage { end, on_bus, chip, block, page, lpn }
    }
}

/// A step, and where its pages are among those of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListedStep {
    /// What its operations have in common.
    pub head: StepHead,
    begun: usize,
    end: usize,
}

impl ListedStep {
    /// One of the first pages, so many.
    pub(crate) fn of_first(head: StepHead, pages: usize) -> ListedStep {
        ListedStep { head, begun: 0, end: pages }
    }

    /// Its pages among these.
    #[inline(always)]
    pub fn of(self, pages: &[StepPage]) -> &[StepPage] {
        &pages[self.begun..self.end]
    }
}

/// Steps of superblocks, each of them with its pages on one bus: those of a cluster one behind the
/// other, and of those on a bus first whoever has it first.
#[derive(Debug, Clone, Default)]
pub struct StepBatch {
    steps: Vec<ListedStep>,
    pages: Vec<StepPage>,
    /// Pages of the steps that are complete.
    listed: usize,
}

impl StepBatch {
    /// Adds operations that begin together, and their pages on a bus. Says whether they are a step
    /// on one bus; if not, nothing is added.
    pub fn push(&mut self, operations: &[Operation], buses: &[OnBus]) -> bool {
        let (Some(first), Some(on)) = (operations.first(), buses.first()) else { return false };
        let head = StepHead::of(first, on.channel);
        let is_one = operations.len() == buses.len()
            && operations.iter().zip(buses).all(|(operation, bus)| StepHead::of(operation, bus.channel) == head);
        if is_one {
            let pages = operations.iter().zip(buses);
            self.pages.extend(pages.map(|(operation, bus)| StepPage::of(operation, (bus.start, bus.end))));
            self.ends(&head);
        }
        is_one
    }

    /// Adds the pages of the step that [`ends`](StepBatch::ends) next.
    #[inline(always)]
    pub(crate) fn add(&mut self, pages: impl Iterator<Item = StepPage>) {
        self.pages.extend(pages);
    }

    /// All pages of this step have been added.
    #[inline(always)]
    pub(crate) fn ends(&mut self, head: &StepHead) {
        let end = self.pages.len();
        let begun = std::mem::replace(&mut self.listed, end);
        self.steps.push(ListedStep { head: *head, begun, end });
    }

    /// All steps.
    #[inline]
    pub fn steps(&self) -> &[ListedStep] {
        &self.steps
    }

    /// The pages of all of them.
    #[inline]
    pub fn pages(&self) -> &[StepPage] {
        &self.pages
    }

    /// Each step with its pages.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = (&StepHead, &[StepPage])> {
        self.steps.iter().map(|step| (&step.head, step.of(&self.pages)))
    }

    /// The operations of a step, and its pages on buses.
    pub fn operations(head: &StepHead, pages: &[StepPage]) -> (Vec<Operation>, Vec<OnBus>) {
        let StepHead { start, job, cluster, channel, action, kind } = *head;
        let operation = |of: &StepPage| {
            let StepPage { end, chip, block, page, lpn, .. } = *of;
            Operation { start, end, cluster, chip, action, job, kind, block, page, lpn }
        };
        let bus = |of: &StepPage| OnBus { channel, start: of.on_bus.0, end: of.on_bus.1 };
        (pages.iter().map(operation).collect(), pages.iter().map(bus).collect())
    }

    /// There is none any more.
    #[inline]
    pub fn clear(&mut self) {
        self.steps.clear();
        self.pages.clear();
        self.listed = 0;
    }
}
