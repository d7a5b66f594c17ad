//! Sources, requests, clusters and processors in the state machine. The lists are the caller's;
//! their entries are opaque.

use core::ops::Range;

use crate::backfill::Backfill;
use crate::grants::{AskedPages, ServerGrants};
use crate::image::{ImageServer, ImageSource, RequestOrder};
use crate::memory::{Lent, NONE};
use crate::police::SourcePolice;
use crate::processor::EdfProcessor;
use crate::registers::PageRegisters;
use crate::step_pages::StepPages;

/// In the order in which equals are served.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) enum JobKind {
    #[default]
    Read,
    Write,
    Collection,
    Server,
}

/// Priority: the earliest deadline, then by kind, then the lowest source, then the first request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) struct EdfKey {
    pub(crate) due: u64,
    pub(crate) kind: JobKind,
    pub(crate) source: u32,
    pub(crate) index: u64,
}

/// A source of requests.
#[derive(Debug, Clone, Copy, Default)]
pub struct SourceSlot {
    pub(crate) declared: ImageSource,
    pub(crate) kind: JobKind,
    pub(crate) police: SourcePolice,
    pub(crate) index: u64,
    /// The first slot of its requests, and how many.
    pub(crate) first: u32,
    pub(crate) count: u32,
}

/// A request that is not over, or room for one.
#[derive(Debug, Clone, Copy, Default)]
pub struct RequestSlot {
    pub(crate) key: EdfKey,
    /// Pages not ended, and one for each processor that owes a pass of the job; 0 if the slot is
    /// free.
    pub(crate) left: u32,
    /// How many of its pages, the first ones, are read.
    pub(crate) reads: u32,
    /// The slot of the next request of its cluster, by priority.
    pub(crate) behind: u32,
    /// The place of its logical pages: two words each, the page, and the next one of its processor.
    pub(crate) pages: u32,
    /// The place of the words of its cluster's processors: each has its first page that has not
    /// begun.
    pub(crate) heads: u32,
}

/// A cluster.
#[derive(Debug, Clone, Copy, Default)]
pub struct FtlCluster {
    /// The slot of its first request, by priority.
    pub(crate) first: u32,
    pub(crate) first_processor: u32,
    pub(crate) processors: u32,
    /// The server of each of its processors.
    pub(crate) server: Option<ImageServer>,
}

impl SourceSlot {
    /// Nothing, to fill memory with.
    pub const EMPTY: SourceSlot = SourceSlot {
        declared: ImageSource {
            number: 0,
            cluster: 0,
            writes: false,
            order: RequestOrder::Any,
            pages: 0,
            first_page: 0,
            page_count: 0,
            period_ns: 0,
            deadline_ns: 0,
            jitter_ns: 0,
        },
        kind: JobKind::Read,
        police: SourcePolice::new(1),
        index: 0,
        first: 0,
        count: 0,
    };
}

impl RequestSlot {
    /// Nothing, to fill memory with.
    pub const EMPTY: RequestSlot = RequestSlot {
        key: EdfKey { due: 0, kind: JobKind::Read, source: 0, index: 0 },
        left: 0,
        reads: 0,
        behind: NONE,
        pages: 0,
        heads: 0,
    };
}

impl FtlCluster {
    /// Nothing, to fill memory with.
    pub const EMPTY: FtlCluster = FtlCluster { first: NONE, first_processor: 0, processors: 0, server: None };

    pub(crate) fn processors(&self) -> Range<u32> {
        self.first_processor..self.first_processor + self.processors
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StepWork {
    Nothing,
    /// Pages of requests, or a step of a pass but its erase.
    Pages,
    /// The reset of this block, where tasks own zones.
    Reset(u32),
    Erase,
    SuspendedErase,
    ServerErase,
}

/// A processor.
#[derive(Debug)]
pub struct FtlProcessor<'m> {
    pub(crate) ftl: EdfProcessor<Lent<'m>>,
    pub(crate) cluster: u32,
    pub(crate) chips: &'m mut [u32],
    pub(crate) jobs: GcJobs<'m>,
    pub(crate) doing: StepWork,
    /// Chips of its step that have not ended.
    pub(crate) busy: u32,
    /// Something has changed since it decided.
    pub(crate) changed: bool,
    /// For each [`JobKind`], whether no page was free for it: it waits until an erase ends.
    pub(crate) starved: [bool; 4],
    pub(crate) served: ServerGrants,
    /// Pages of the job that arrives.
    pub(crate) asked: AskedPages,
    /// The slot of the job whose pass is due or under way; [`NONE`] where none is.
    pub(crate) owing: u32,
    /// The pages that its step reads for requests, and programs.
    pub(crate) pages: StepPages<'m>,
    /// If its chips use a second page register.
    pub(crate) registers: Option<PageRegisters>,
    /// If chips that a step leaves idle work meanwhile.
    pub(crate) backfill: Option<Backfill<'m>>,
    pub(crate) suspends: bool,
    /// Whether the erase that is suspended has failed on a chip.
    pub(crate) erase_failed: bool,
}

/// GC jobs that are released and not over, in order; those of one instant together.
#[derive(Debug)]
pub(crate) struct GcJobs<'m> {
    entries: &'m mut [GcJob],
    first: usize,
    count: usize,
}

/// GC jobs of one instant.
#[derive(Debug, Clone, Copy, Default)]
pub struct GcJob {
    pub(crate) due: u64,
    pub(crate) index: u64,
    pub(crate) jobs: u64,
}

impl GcJob {
    /// Nothing, to fill memory with.
    pub const EMPTY: GcJob = GcJob { due: 0, index: 0, jobs: 0 };
}

impl<'m> GcJobs<'m> {
    pub(crate) fn new(entries: &'m mut [GcJob]) -> GcJobs<'m> {
        GcJobs { entries, first: 0, count: 0 }
    }

    pub(crate) fn first(&self) -> Option<GcJob> {
        (self.count > 0).then(|| self.entries[self.first])
    }

    /// Releases a job, due no earlier than the others. If there is no room, which takes late jobs,
    /// it is due with the last one: earlier than it need be.
    pub(crate) fn release(&mut self, due: u64, index: u64) {
        let room = self.entries.len();
        let last = (self.first + self.count + room - 1) % room;
        if self.count > 0 && (self.entries[last].due == due || self.count == room) {
            self.entries[last].jobs += 1;
            return;
        }
        self.entries[(self.first + self.count) % room] = GcJob { due, index, jobs: 1 };
        self.count += 1;
    }

    pub(crate) fn over(&mut self) {
        let entry = &mut self.entries[self.first];
        assert!(self.count > 0 && entry.jobs > 0, "a GC job that is over was released");
        (entry.jobs, entry.index) = (entry.jobs - 1, entry.index + 1);
        if entry.jobs == 0 {
            self.first = (self.first + 1) % self.entries.len();
            self.count -= 1;
        }
    }
}
