//! The unit that one EDF queue serves: a chip of a stripe, or a whole superblock cluster.

use std::collections::VecDeque;

use rtflash_ftl::{PaddedPass, PassTerms};
use rtflash_model::{ChipId, ClusterId, Id, Instant, Lpn, PerId};
use rtflash_plan::{BlockId, Certified, ClusterPlan, ColumnId, JobId, Kind, Options, Plan, SourceId, Victims};
use serde::{Deserialize, Serialize};

use super::faults::ProcessorFaults;
use super::registers::ChipRegisters;
use super::suspend::SuspendedErase;
use crate::engine::priority::{Priority, PriorityQueue};
use crate::organisation::cluster::BACKGROUND;
use crate::store::ProcessorStore;

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct OpenJob {
    pub(super) id: JobId,
    /// Parts not over yet, one for each processor that it has pages on.
    pub(super) parts: u64,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Part {
    pub(super) job: usize,
    pub(super) processor: usize,
    pub(super) key: Priority,
    pub(super) reads: VecDeque<Lpn>,
    pub(super) writes: VecDeque<Lpn>,
    pub(super) unfinished: u64,
    /// Whether a pass is due, or under way: a GC job's, or a server's behind what it has
    /// programmed.
    pub(super) owes: bool,
    pub(super) starved: bool,
}

impl Part {
    pub(super) fn new(job: usize, processor: usize, key: Priority, reads: usize, writes: usize) -> Part {
        let (reads, writes) = (VecDeque::with_capacity(reads), VecDeque::with_capacity(writes));
        Part { job, processor, key, reads, writes, unfinished: 0, owes: key.kind == Kind::Gc, starved: false }
    }

    #[inline]
    pub(super) fn id(&self) -> JobId {
        self.key.job()
    }

    pub(super) fn is_background(&self) -> bool {
        self.key.due.deadline >= BACKGROUND
    }

    /// Whether a page of it has not begun, or a pass is not over.
    pub(super) fn has_more_to_begin(&self) -> bool {
        self.owes || !self.reads.is_empty() || !self.writes.is_empty()
    }

    pub(super) fn is_over(&self) -> bool {
        self.unfinished == 0 && !self.owes
    }
}

/// The step of a processor: all of its chips that take part end before the next step.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct ProcessorStep {
    pub(super) is_under_way: bool,
    /// Chips of which it is not known yet when they end.
    pub(super) chips: usize,
    /// When the last of the others ends, and which it is.
    pub(super) last: (Instant, ChipId),
    /// Parts that a page is read or programmed for, once for each page.
    pub(super) pages: Vec<usize>,
    /// The part whose pass erases its victim.
    pub(super) erases: Option<usize>,
}

impl ProcessorStep {
    #[inline]
    pub(super) fn begin(&mut self, chips: usize) {
        assert!(!self.is_under_way, "a step begins when the one before has ended");
        (self.is_under_way, self.chips, self.last) = (true, chips, (Instant::START, ChipId(0)));
        self.erases = None;
    }
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct ProcessorState {
    pub(super) cluster: usize,
    pub(super) number: ClusterId,
    pub(super) chips: PerId<ColumnId, ChipId>,
    pub(super) channels: usize,
    pub(super) stripe: bool,
    pub(super) store: ProcessorStore,
    pub(super) source: Option<SourceId>,
    pub(super) queue: PriorityQueue,
    /// Parts that found no free page, until an erase ends.
    pub(super) starved: Vec<Priority>,
    /// Pages of real-time writes that had arrived at the last record of the reserve.
    pub(super) notified: u64,
    pub(super) awaits_change: bool,
    /// The last change of its terms that it has made, from 1, and when; and extra GC jobs since
    /// then.
    pub(super) stage: usize,
    pub(super) changed: Option<Instant>,
    pub(super) extra: u64,
    pub(super) step: ProcessorStep,
    /// The registers of a chip with a second page register: the work of users' pages there, step by
    /// step.
    pub(super) registers: Option<ChipRegisters>,
    pub(super) faults: Option<ProcessorFaults>,
    pub(super) suspends: Option<SuspendedErase>,
}

fn channels_of(chips: &[ChipId], chips_per_channel: u32) -> Vec<u32> {
    let mut channels: Vec<u32> = chips.iter().map(|chip| chip.0 / chips_per_channel).collect();
    channels.sort_unstable();
    channels.dedup();
    channels
}

/// The least that a pass takes on these chips, if a victim has `valid` pages at most.
pub(super) fn padded_pass(
    of: &ClusterPlan,
    by: &Certified,
    chips: &[ChipId],
    valid: u64,
    victims: Victims,
    chips_per_channel: u32,
) -> PaddedPass {
    let valid = match victims {
        Victims::Actual => 0,
        Victims::Worst => valid,
    };
    if by.is_stripe() {
        return PaddedPass { copies: valid, ..PaddedPass::default() };
    }
    let channels = channels_of(chips, chips_per_channel);
    let on = |channel: u32| chips.iter().filter(|chip| chip.0 / chips_per_channel == channel).count();
    let most = channels.iter().map(|&channel| on(channel)).max().expect("a processor has chips");
    PaddedPass {
        copies: valid.min(of.layout.pages().into()),
        rows: valid.div_ceil(of.layout.chips().into()),
        pages: valid,
        most: u32::try_from(most).expect("chips are numbered with 32 bits"),
    }
}

impl ProcessorState {
    /// The processor with this position in the cluster with this number in the plan, which is
    /// `cluster` among those that are run; 0 for a superblock. `source` releases its garbage
    /// collection.
    pub(super) fn new(
        plan: &Plan,
        by: &Certified,
        cluster: usize,
        number: ClusterId,
        position: usize,
        source: Option<SourceId>,
        options: &Options,
    ) -> ProcessorState {
        let (of, device) = (&plan.clusters()[number], plan.device());
        let chips_per_channel = device.chips_per_channel();
        let stripe = by.is_stripe();
        let numbers = if stripe { &of.chips[position..=position] } else { &of.chips[..] };
        let channels = channels_of(numbers, chips_per_channel);
        let column = ColumnId::from_index(position);
        let victims = by.certificate.collection.map_or(0, |collection| collection.victim_pages);
        let padded = padded_pass(of, by, numbers, victims, options.victims, chips_per_channel);
        let terms = PassTerms::new(by.collection(of, device), padded);
        ProcessorState {
            cluster,
            number,
            chips: numbers.iter().copied().collect(),
            channels: channels.len(),
            stripe,
            store: ProcessorStore::new(of, by, column, numbers[0], terms, options),
            source,
            queue: PriorityQueue::default(),
            starved: Vec::new(),
            notified: 0,
            awaits_change: false,
            stage: 0,
            changed: None,
            extra: 0,
            step: ProcessorStep::default(),
            registers: by.is_cached().then(ChipRegisters::default),
            faults: ProcessorFaults::new(device, numbers.len(), options).filter(|_| !by.is_cached()),
            suspends: SuspendedErase::new(device, &by.certificate),
        }
    }

    /// The step under way erases a block, which may fail; `resets`: for this part, before it writes
    /// to a zone.
    pub(super) fn erase_may_fail(&mut self, block: BlockId, resets: Option<usize>) {
        if let Some(faults) = &mut self.faults {
            faults.erases(block, resets);
        }
    }

    pub(super) fn first_chip(&self) -> ChipId {
        self.chips[ColumnId(0)]
    }
}
