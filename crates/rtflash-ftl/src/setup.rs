//! From an image and memory to a state machine.

mod error;
mod stated;

use core::mem::take;

use crate::backfill::{Backfill, CHANNEL_WORDS};
use crate::blocks::{BlockMemory, GROUP};
use crate::ftl::Ftl;
use crate::geometry::{Geometry, gc_jobs, levels_wear, waiting};
use crate::grants::{AskedPages, ServerGrants};
use crate::image::{Image, ImageCluster, ImageJobs, ImageSource};
use crate::memory::{Lent, NONE, index};
use crate::pages::{Columns, Pages};
use crate::pass::{PaddedPass, Pass, pass_words};
use crate::police::SourcePolice;
use crate::processor::{EdfProcessor, PassTerms};
use crate::registers::PageRegisters;
use crate::slots::{FtlCluster, FtlProcessor, GcJob, GcJobs, JobKind, RequestSlot, SourceSlot, StepWork};
use crate::step_pages::{STEP_PAGE_WORDS, StepPages};
use crate::zones::{RING_WORDS, Ring};
pub use error::SetupError;
use stated::Stated;

/// Memory for a state machine, as long as its [`Geometry`] says: what is in it does not matter.
#[derive(Debug)]
pub struct FtlMemory<'s, 'm> {
    /// [`Geometry::words`].
    pub words: &'m mut [u32],
    /// [`Geometry::bits`].
    pub bits: &'m mut [u64],
    /// [`Geometry::gc_jobs`].
    pub gc_jobs: &'m mut [GcJob],
    /// [`Geometry::processors`].
    pub processors: &'s mut [Option<FtlProcessor<'m>>],
    /// [`Geometry::clusters`].
    pub clusters: &'s mut [FtlCluster],
    /// [`Geometry::sources`].
    pub sources: &'s mut [SourceSlot],
    /// [`Geometry::requests`].
    pub requests: &'s mut [RequestSlot],
}

/// The pages on the chips when the state machine begins.
pub trait AtStart {
    /// The pages of a processor: `lpns` has a word for each, block by block, in a superblock row by
    /// row, chip by chip, all [`NONE`]. Each becomes the logical page of the cluster that it holds.
    /// Returns how many pages, the first ones, are programmed. Rule R5 asks for as many others as
    /// the certificate's reserve.
    ///
    /// If tasks own zones any pages can be programmed, and the answer does not matter.
    fn pages(&mut self, processor: u32, lpns: &mut [u32]) -> u32;

    /// How often a block of a processor was erased, where wear is levelled.
    fn erase_count(&mut self, processor: u32, block: u32) -> u32 {
        let _ = (processor, block);
        0
    }

    /// The next page of a ring on a processor, counted through its blocks.
    fn ring(&mut self, processor: u32, ring: u32) -> u32;

    /// Whether anything, stale or not, is in a block of a zone.
    fn is_written(&mut self, processor: u32, block: u32) -> bool;
}

/// A device whose blocks are all erased.
#[derive(Debug, Clone, Copy, Default)]
pub struct AllErased;

impl AtStart for AllErased {
    fn pages(&mut self, _: u32, _: &mut [u32]) -> u32 {
        0
    }

    fn ring(&mut self, _: u32, _: u32) -> u32 {
        0
    }

    fn is_written(&mut self, _: u32, _: u32) -> bool {
        false
    }
}

fn first<'m, T>(of: &mut &'m mut [T], count: usize) -> Result<&'m mut [T], SetupError> {
    let (taken, rest) = take(of).split_at_mut_checked(count).ok_or(SetupError::Memory)?;
    *of = rest;
    Ok(taken)
}

pub(crate) struct Unlent<'m> {
    words: &'m mut [u32],
    bits: &'m mut [u64],
    gc_jobs: &'m mut [GcJob],
}

impl<'m> Unlent<'m> {
    pub(crate) fn words(&mut self, count: usize) -> Result<&'m mut [u32], SetupError> {
        first(&mut self.words, count)
    }

    pub(crate) fn bits(&mut self, count: usize) -> Result<&'m mut [u64], SetupError> {
        first(&mut self.bits, count)
    }

    fn chips(&mut self, count: usize) -> Result<&'m mut [u64], SetupError> {
        let bits = self.bits(count.div_ceil(64))?;
        bits.fill(0);
        Ok(bits)
    }
}

pub(crate) struct NewProcessor<'a> {
    pub(crate) of: &'a ImageCluster<'a>,
    /// Its cluster's position, and its own number among all processors.
    pub(crate) cluster: u32,
    pub(crate) number: u32,
    pub(crate) columns: Columns,
    pub(crate) chips: &'a [u32],
    pub(crate) block_pages: u32,
    /// Blocks that are kept back for those that fail.
    pub(crate) spare: u32,
    /// Δ; 0 where its erases are not counted.
    pub(crate) wear_gap: u32,
}

impl NewProcessor<'_> {
    fn logical(&self) -> usize {
        index(self.of.logical_per_chip()) * index(self.columns.width)
    }

    pub(crate) fn has(&self, lpn: u32) -> bool {
        let Columns { offset, stride, .. } = self.columns;
        let nth = lpn.checked_sub(offset);
        nth.is_some_and(|nth| nth.is_multiple_of(stride) && index(nth / stride) < self.logical())
    }

    /// H.
    pub(crate) fn reserve(&self) -> u64 {
        self.of.collection().map_or(0, |collection| collection.reserve_pages)
    }

    fn page_memory<'m>(&self, blocks: usize, rest: &mut Unlent<'m>) -> Result<PageMemory<'m>, SetupError> {
        let pages = blocks * index(self.block_pages);
        Ok(PageMemory {
            blocks: BlockMemory {
                lpns: rest.words(pages)?,
                bits: rest.bits(pages.div_ceil(64))?,
                valid: rest.words(blocks)?,
                erased: rest.bits(blocks.div_ceil(64))?,
                least: rest.words(blocks.div_ceil(index(GROUP)))?,
            },
            places: rest.words(self.logical())?,
            erases: rest.words(if self.wear_gap > 0 { blocks } else { 0 })?,
        })
    }

    /// The rings of its chip, each at its `next` page.
    pub(crate) fn rings<'m>(
        &self,
        rest: &mut Unlent<'m>,
        mut next: impl FnMut(u32) -> u32,
    ) -> Result<&'m mut [u32], SetupError> {
        let rings = rest.words(index(self.of.rings()) * RING_WORDS)?;
        for (number, words) in (0..).zip(rings.chunks_exact_mut(RING_WORDS)) {
            let of = self.of.ring(number).ok_or(SetupError::Memory)?;
            let ring = Ring { first: of.first_block, pages: of.blocks * self.block_pages, next: next(number) };
            if ring.next >= ring.pages {
                return Err(SetupError::Start(self.number));
            }
            words.copy_from_slice(&ring.words());
        }
        Ok(rings)
    }
}

pub(crate) struct PageMemory<'m> {
    pub(crate) blocks: BlockMemory<Lent<'m>>,
    pub(crate) places: &'m mut [u32],
    /// A word for each block, where wear is levelled.
    pub(crate) erases: &'m mut [u32],
}

pub(crate) trait PagesAtStart {
    fn pages<'m>(
        &mut self,
        of: &NewProcessor<'_>,
        memory: PageMemory<'m>,
        rest: &mut Unlent<'m>,
    ) -> Result<Pages<Lent<'m>>, SetupError>;
}

impl<'s, 'm> Ftl<'s, 'm> {
    /// The state machine of an image, as the chips are at the start. `late` as in [`Geometry::of`].
    /// Fails if the memory is too short, or the chips do not begin as the certificate asks.
    pub fn new(
        image: &Image<'_>,
        late: u32,
        memory: FtlMemory<'s, 'm>,
        start: &mut impl AtStart,
    ) -> Result<Ftl<'s, 'm>, SetupError> {
        Ftl::with(image, late, memory, &mut Stated(start))
    }

    pub(crate) fn with(
        image: &Image<'_>,
        late: u32,
        memory: FtlMemory<'s, 'm>,
        start: &mut impl PagesAtStart,
    ) -> Result<Ftl<'s, 'm>, SetupError> {
        let geometry = Geometry::of(image, late).ok_or(SetupError::Memory)?;
        let FtlMemory { words, bits, gc_jobs, mut processors, mut clusters, mut sources, mut requests } = memory;
        let mut rest = Unlent { words, bits, gc_jobs };
        let of_chip = rest.words(geometry.chips)?;
        of_chip.fill(NONE);
        let at_work = rest.chips(geometry.chips)?;
        let moving = rest.chips(geometry.chips)?;
        let suspended = rest.chips(geometry.chips)?;
        let words = rest.words(2 * geometry.request_pages + geometry.parts)?;
        let clusters = first(&mut clusters, geometry.clusters)?;
        let sources = first(&mut sources, geometry.sources)?;
        let requests = first(&mut requests, geometry.requests)?;
        let processors = first(&mut processors, geometry.processors)?;
        let mut number = 0;
        for (cluster, slot) in (0..).zip(clusters.iter_mut()) {
            let of = image.cluster(cluster).ok_or(SetupError::Memory)?;
            *slot =
                FtlCluster { first: NONE, first_processor: number, processors: of.processors(), server: of.server() };
            for column in 0..of.processors() {
                let new = FtlProcessor::new(image, late, cluster, column, number, &mut rest, start)?;
                new.chips.iter().for_each(|&chip| of_chip[index(chip)] = number);
                processors[index(number)] = Some(new);
                number += 1;
            }
        }
        lend_requests(image, late, clusters, sources, requests)?;
        Ok(Ftl {
            identity: image.identity(),
            sources,
            requests,
            clusters,
            processors,
            words,
            of_chip,
            at_work,
            moving,
            suspended,
            streams_from: image.sources(),
            sequence: 0,
        })
    }
}

fn lend_requests(
    image: &Image<'_>,
    late: u32,
    clusters: &[FtlCluster],
    sources: &mut [SourceSlot],
    requests: &mut [RequestSlot],
) -> Result<(), SetupError> {
    let (mut next, mut word) = (0, 0);
    for (position, slot) in (0..).zip(sources) {
        let made = match image.source(position) {
            Some(of) => image.cluster(of.cluster).and_then(|cluster| source(of, cluster.chips(), late)),
            None => image.job_stream(position - image.sources()).and_then(|of| stream(&of, late)),
        };
        *slot = SourceSlot { first: next, ..made.ok_or(SetupError::Memory)? };
        for request in &mut requests[index(next)..index(next + slot.count)] {
            let heads = word + 2 * slot.declared.pages;
            *request = RequestSlot { pages: word, heads, ..RequestSlot::EMPTY };
            word = heads + clusters[index(slot.declared.cluster)].processors;
        }
        next += slot.count;
    }
    Ok(())
}

fn source(declared: ImageSource, chips: u32, late: u32) -> Option<SourceSlot> {
    let kind = if declared.writes { JobKind::Write } else { JobKind::Read };
    let count = waiting(declared.deadline_ns, declared.jitter_ns, declared.period_ns, late)?;
    Some(SourceSlot { declared, kind, police: SourcePolice::new(chips), count, ..SourceSlot::EMPTY })
}

fn stream(of: &ImageJobs, late: u32) -> Option<SourceSlot> {
    let ImageJobs { number, cluster, pages, waiting, first_page, page_count } = *of;
    let declared = ImageSource { number, cluster, pages, first_page, page_count, ..SourceSlot::EMPTY.declared };
    Some(SourceSlot { declared, kind: JobKind::Server, count: waiting.checked_add(late)?, ..SourceSlot::EMPTY })
}

impl<'m> FtlProcessor<'m> {
    fn new(
        image: &Image<'_>,
        late: u32,
        cluster: u32,
        column: u32,
        number: u32,
        rest: &mut Unlent<'m>,
        start: &mut impl PagesAtStart,
    ) -> Result<FtlProcessor<'m>, SetupError> {
        let device = image.device();
        let of = &image.cluster(cluster).ok_or(SetupError::Memory)?;
        let superblock = of.is_superblock();
        let (width, stride) = if superblock { (of.chips(), 1) } else { (1, of.chips()) };
        let columns = Columns { superblock, width, stride, offset: column };
        let chips = rest.words(index(width))?;
        for (place, chip) in (column..).zip(chips.iter_mut()) {
            *chip = of.chip(place).ok_or(SetupError::Memory)?;
        }
        // If nothing is written nothing fails.
        let writes = of.collection().is_some() || (0..of.rings()).any(|ring| of.ring(ring).is_some_and(|of| of.writes));
        let spare = if writes { device.spare_blocks * width } else { 0 };
        let wear_gap = if levels_wear(device, of) { device.wear_gap } else { 0 };
        let block_pages = device.pages_per_block * width;
        let new = NewProcessor { of, cluster, number, columns, chips, block_pages, spare, wear_gap };
        let memory = new.page_memory(index(device.blocks_per_chip), rest)?;
        let pages = start.pages(&new, memory, rest)?;
        let terms = PassTerms::new(of.collection(), PaddedPass::default());
        let (rows, buffer) = pass_words(columns);
        let pass = Pass::new(rest.words(rows)?, rest.words(buffer)?);
        let (rows, buffer) = if of.server().is_some() { (rows, buffer) } else { (0, 0) };
        let server_pass = Pass::new(rest.words(rows)?, rest.words(buffer)?);
        let channels = if of.backfills() { CHANNEL_WORDS * chips.len() } else { 0 };
        let backfill = Backfill::new(image, of, chips, rest.words(channels)?);
        let gc_jobs = gc_jobs(image, cluster, late).ok_or(SetupError::Memory)?;
        Ok(FtlProcessor {
            ftl: EdfProcessor::new(pages, terms, [pass, server_pass]),
            cluster,
            chips,
            jobs: GcJobs::new(first(&mut rest.gc_jobs, index(gc_jobs))?),
            doing: StepWork::Nothing,
            busy: 0,
            changed: false,
            starved: [false; 4],
            served: ServerGrants::default(),
            asked: AskedPages::default(),
            owing: NONE,
            pages: StepPages::new(rest.words(STEP_PAGE_WORDS * index(width))?),
            registers: of.is_cached().then(|| PageRegisters::new(&device)),
            backfill,
            suspends: of.suspends_erases(),
            erase_failed: false,
        })
    }
}
