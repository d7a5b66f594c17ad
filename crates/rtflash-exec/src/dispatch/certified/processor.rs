//! What one EDF queue serves: a chip of a stripe, or a whole superblock cluster.

use std::collections::{BTreeSet, VecDeque};

use rtflash_model::{Id, Instant, Span};
use serde::{Deserialize, Serialize};

use super::queue::{Key, PartQueue};
use super::registers::ChipRegisters;
use crate::dispatch::cluster::BACKGROUND;
use crate::ftl::{PaddedPass, PageStore, PassState, ProcessorStore};
use crate::ids::{BlockId, ChipId, ClusterId, ColumnId, Lpn, PerId, SourceId};
use crate::options::{Options, Victims};
use crate::plan::{Certified, ClusterPlan};
use crate::trace::{JobId, Kind};

/// A job that is not complete.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct OpenJob {
    pub(super) id: JobId,
    /// Parts not over yet, one for each processor that it has pages on.
    pub(super) parts: u64,
}

impl Part {
    /// A part without pages.
    pub(super) fn new(job: usize, processor: usize, key: Key) -> Part {
        let (reads, writes) = (VecDeque::new(), VecDeque::new());
        Part { job, processor, key, reads, writes, unfinished: 0, owes: key.1 == Kind::Gc, starved: false }
    }

    /// Its job.
    #[inline]
    pub(super) fn id(&self) -> JobId {
        JobId { source: self.key.2, index: self.key.3 }
    }

    /// Whether it is a job's in the background.
    pub(super) fn is_background(&self) -> bool {
        self.key.0.0 >= BACKGROUND
    }
}

/// A job's part on a processor.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Part {
    pub(super) job: usize,
    pub(super) processor: usize,
    pub(super) key: Key,
    /// Pages not begun.
    pub(super) reads: VecDeque<Lpn>,
    /// Likewise.
    pub(super) writes: VecDeque<Lpn>,
    /// Pages not ended.
    pub(super) unfinished: u64,
    /// Whether a pass is due, or under way: a GC job's, or a server's behind what it has
    /// programmed.
    pub(super) owes: bool,
    /// Whether it has been recorded as starved and not gone on since.
    pub(super) starved: bool,
}

impl Part {
    /// Whether a page of it has not begun, or a pass is not over.
    pub(super) fn has_more_to_begin(&self) -> bool {
        self.owes || !self.reads.is_empty() || !self.writes.is_empty()
    }

    /// Whether nothing is left to be done.
    pub(super) fn is_over(&self) -> bool {
        self.unfinished == 0 && !self.owes
    }
}

/// What the certificate says of a processor.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct ProcessorTerms {
    /// D_g; `None` where no GC jobs are released.
    pub(super) deadline: Option<Span>,
    /// α.
    pub(super) reclaimed: u64,
    /// H.
    pub(super) reserve: u64,
    /// What a pass takes at least.
    pub(super) padded: PaddedPass,
}

/// What a processor is doing: all of its chips that take part end before the next step.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct ProcessorStep {
    /// Whether there is one.
    pub(super) is_under_way: bool,
    /// Chips of which it is not known yet when they end.
    pub(super) chips: usize,
    /// When the last of the others ends, and which it is.
    pub(super) last: (Instant, ChipId),
    /// Parts that a page is read or programmed for, once for each page.
    pub(super) pages: Vec<usize>,
    /// The part whose pass erases its victim.
    pub(super) erases: Option<usize>,
    /// The part that goes on with more of the same behind it, if nothing comes between: a copy of
    /// its pass, or the only page.
    pub(super) more: Option<usize>,
}

impl ProcessorStep {
    /// A step of so many chips begins.
    #[inline]
    pub(super) fn begin(&mut self, chips: usize) {
        (self.is_under_way, self.chips, self.last) = (true, chips, (Instant::START, ChipId(0)));
        (self.erases, self.more) = (None, None);
    }
}

/// A processor at run time.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct ProcessorState {
    /// Its cluster, by position in the group, and in the plan.
    pub(super) cluster: usize,
    pub(super) number: ClusterId,
    /// Its chips' numbers in the device.
    pub(super) chips: PerId<ColumnId, ChipId>,
    /// Channels that they are on.
    pub(super) channels: usize,
    pub(super) stripe: bool,
    pub(super) store: ProcessorStore,
    pub(super) terms: ProcessorTerms,
    /// The source of its GC jobs; `None` where none are released.
    pub(super) source: Option<SourceId>,
    pub(super) queue: PartQueue,
    /// Parts that found no free page, until an erase ends.
    pub(super) starved: Vec<Key>,
    /// b: pages of real-time writes that arrived and are not programmed.
    pub(super) pending: u64,
    /// a: pages of real-time writes that arrived.
    pub(super) arrived: u64,
    /// a, when somebody was notified last.
    pub(super) notified: u64,
    /// GC jobs released.
    pub(super) collected: u64,
    /// Whether a change of its terms is to come.
    pub(super) awaits_change: bool,
    /// The last change of its terms that it has made, from 1, and when; and extra GC jobs since
    /// then.
    pub(super) stage: usize,
    pub(super) changed: Option<Instant>,
    pub(super) extra: u64,
    /// The pass of the GC jobs under way.
    pub(super) pass: Option<PassState>,
    /// The server's.
    pub(super) server_pass: Option<PassState>,
    /// Pages that the server's jobs have programmed.
    pub(super) served: u64,
    /// Passes of the server that are over or left out.
    pub(super) server_passes: u64,
    pub(super) step: ProcessorStep,
    /// Where its chip uses a second page register: what users' pages do there, step by step.
    pub(super) registers: Option<ChipRegisters>,
}

impl PaddedPass {
    /// What a pass takes at least on these chips, with so many valid pages of a victim at most.
    pub(super) fn new(
        of: &ClusterPlan,
        by: &Certified,
        chips: &[ChipId],
        (valid, victims): (u64, Victims),
        chips_per_channel: u32,
    ) -> PaddedPass {
        let valid = match victims {
            Victims::Actual => 0,
            Victims::Worst => valid,
        };
        if by.is_stripe() {
            return PaddedPass { copies: valid, ..PaddedPass::default() };
        }
        let channels: BTreeSet<u32> = chips.iter().map(|&chip| chip.0 / chips_per_channel).collect();
        let on = |channel: u32| chips.iter().filter(|chip| chip.0 / chips_per_channel == channel).count();
        let most = channels.iter().map(|&channel| on(channel)).max().expect("a processor has chips");
        PaddedPass {
            copies: valid.min(of.layout.pages().into()),
            rows: valid.div_ceil(of.layout.chips().into()),
            pages: valid,
            most: u32::try_from(most).expect("chips are numbered with 32 bits"),
        }
    }
}

impl ProcessorState {
    /// The processor with this position in its cluster; 0 for a superblock.
    pub(super) fn new(
        (of, by): (&ClusterPlan, &Certified),
        (cluster, number): (usize, ClusterId),
        position: usize,
        (source, chips_per_channel): (Option<SourceId>, u32),
        options: &Options,
    ) -> ProcessorState {
        let stripe = by.is_stripe();
        let numbers = if stripe { &of.chips[position..=position] } else { &of.chips[..] };
        let channels: BTreeSet<u32> = numbers.iter().map(|&chip| chip.0 / chips_per_channel).collect();
        let column = ColumnId::from_index(position);
        let collection = by.certificate.collection;
        let victims = collection.map_or(0, |collection| collection.victim_pages);
        let padded = PaddedPass::new(of, by, numbers, (victims, options.victims), chips_per_channel);
        let terms = collection.map_or(
            // Nothing is collected, and so nothing may be written.
            ProcessorTerms { deadline: None, reclaimed: u64::MAX, reserve: u64::MAX, padded },
            |collection| ProcessorTerms {
                deadline: collection.deadline,
                reclaimed: collection.reclaimed_pages,
                reserve: collection.reserve_pages,
                padded,
            },
        );
        ProcessorState {
            cluster,
            number,
            chips: numbers.iter().copied().collect(),
            channels: channels.len(),
            stripe,
            store: ProcessorStore::new((of, by), column, numbers[0], options),
            terms,
            source,
            queue: PartQueue::default(),
            starved: Vec::new(),
            pending: 0,
            arrived: 0,
            notified: 0,
            collected: 0,
            awaits_change: false,
            stage: 0,
            changed: None,
            extra: 0,
            pass: None,
            server_pass: None,
            served: 0,
            server_passes: 0,
            step: ProcessorStep::default(),
            registers: by.is_cached().then(ChipRegisters::default),
        }
    }

    /// Whether so many more pages may be programmed and the reserve is still there, f − b ≥ H. With
    /// none: whether a pass is void.
    pub(super) fn has_reserve_beside(&self, pages: u64) -> bool {
        self.store.free() >= self.pending.saturating_add(self.terms.reserve).saturating_add(pages)
    }

    /// Its first chip's number in the device.
    pub(super) fn first_chip(&self) -> ChipId {
        self.chips[ColumnId(0)]
    }

    /// Rule V2: whether the server's next pass is due.
    pub(super) fn server_pass_is_due(&self) -> bool {
        self.served >= self.terms.reclaimed.saturating_mul(self.server_passes + 1)
    }

    /// Rule R4: begins a pass, for the server or for the GC jobs; `None` where there is nothing to
    /// collect. Says what its victim is, with its valid pages.
    pub(super) fn begin_pass(&mut self, server: bool) -> Option<(BlockId, u32)> {
        let (victim, valid) = self.store.take_victim()?;
        let pass = PassState::new(victim, self.chips.count(), self.terms.padded);
        *(if server { &mut self.server_pass } else { &mut self.pass }) = Some(pass);
        Some((victim, valid))
    }
}
