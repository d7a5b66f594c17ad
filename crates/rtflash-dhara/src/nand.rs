//! A NAND chip in memory, which reports every operation and fails where it is asked to.

use std::fmt;
use std::ops::Range;
use std::rc::Rc;

use crate::at;

/// A page number that stands for none.
pub const NONE: u32 = u32::MAX;

/// A failure of a call, with the number that Dhara's `dhara_error_t` gives it (`error.h`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DharaError {
    /// The chip reports that a program or an erase failed.
    BadBlock = 1,
    /// More blocks in a row are bad than Dhara skips.
    TooBad = 3,
    /// The caller has to copy the pages of a block that failed.
    Recover = 4,
    /// The head of the journal would enter the block of its tail.
    JournalFull = 5,
    /// The map has its whole capacity.
    MapFull = 7,
    /// A block failed after all sectors were trimmed, and before the next page was written. Dhara
    /// then reads the page 0xffffffff (`dhara_journal_next_recoverable`), which no chip has, so its
    /// number is ours.
    NoRoot = 98,
    /// Power was lost: the operation did not begin, and the call does not return.
    Cut = 99,
}

/// The geometry that Dhara is given (`struct dhara_nand`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NandGeometry {
    /// log2 of the bytes of a page.
    pub log2_page: u32,
    /// log2 of the pages of a block.
    pub log2_block: u32,
    /// Blocks.
    pub blocks: u32,
}

impl NandGeometry {
    /// Pages of the chip.
    pub fn pages(self) -> u32 {
        self.blocks << self.log2_block
    }

    /// Page `p`'s block.
    pub fn block_of(self, p: u32) -> u32 {
        p >> self.log2_block
    }

    /// log2 of the pages of a checkpoint group: as many as have their metadata on its last page
    /// (`choose_ppc` of `journal.c`), a block at most.
    pub fn log2_group(self) -> u32 {
        let room = (1_u32 << self.log2_page) - crate::HEADER_BYTES;
        (2..=self.log2_block).take_while(|log2| ((1 << log2) - 1) * crate::META_BYTES <= room).last().unwrap_or(1)
    }
}

/// An operation of the chip's driver (`nand.h`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NandOperation {
    /// Is this block marked bad?
    IsBad(u32),
    /// Marks this block bad.
    MarkBad(u32),
    /// Erases this block.
    Erase(u32),
    /// Programs this page.
    Program(u32),
    /// Was this page programmed since its block was erased?
    IsFree(u32),
    /// Reads a page, or a part of it.
    Read(u32),
    /// Reads the first page and programs the second with it.
    Copy(u32, u32),
}

impl fmt::Display for NandOperation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NandOperation::IsBad(block) => write!(f, "bad? {block}"),
            NandOperation::MarkBad(block) => write!(f, "mark {block}"),
            NandOperation::Erase(block) => write!(f, "erase {block}"),
            NandOperation::Program(page) => write!(f, "program {page}"),
            NandOperation::IsFree(page) => write!(f, "free? {page}"),
            NandOperation::Read(page) => write!(f, "read {page}"),
            NandOperation::Copy(from, to) => write!(f, "copy {from} {to}"),
        }
    }
}

/// The metadata of a user page: its sector, and for each bit of a sector number the page from which
/// the other half of that subtree is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageMeta {
    /// The sector, or [`NONE`] for a filler.
    pub sector: u32,
    /// By bit, the highest first; [`NONE`] where that half is empty.
    pub others: [u32; 32],
}

impl PageMeta {
    /// That of a filler, and of erased flash.
    pub const ONES: PageMeta = PageMeta { sector: NONE, others: [NONE; 32] };
    const ZEROS: PageMeta = PageMeta { sector: 0, others: [0; 32] };
}

/// A page of metadata: what the journal has of its own, and a [`PageMeta`] for each user page of
/// the group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MetaPage {
    /// Whether it is stamped as one.
    pub stamped: bool,
    /// How often the journal has gone round the chip, modulo 256.
    pub epoch: u8,
    /// The page at which the journal begins.
    pub tail: u32,
    /// Bad blocks before the head in this round.
    pub bad_now: u32,
    /// Bad blocks of the round before.
    pub bad_before: u32,
    /// Sectors that the map has.
    pub count: u32,
    /// By user page of the group.
    pub metas: Vec<PageMeta>,
}

impl MetaPage {
    fn all(meta: PageMeta, of: NandGeometry) -> MetaPage {
        // All its bits are alike.
        let [tail, bad_now, bad_before, count] = [meta.sector; 4];
        let metas = vec![meta; (1 << of.log2_group()) - 1];
        MetaPage { stamped: false, epoch: meta.sector.to_le_bytes()[0], tail, bad_now, bad_before, count, metas }
    }

    /// An erased page.
    pub fn ones(of: NandGeometry) -> MetaPage {
        MetaPage::all(PageMeta::ONES, of)
    }
}

/// The content of a page. Data are zeros, as are pages after a failed program or erase.
#[derive(Debug, Clone)]
enum Content {
    Ones,
    Zeros,
    MetaPage(Rc<MetaPage>),
}

#[derive(Debug, Clone)]
struct NandPage {
    content: Content,
    programmed: bool,
}

const ERASED: NandPage = NandPage { content: Content::Ones, programmed: false };
const SPOILED: NandPage = NandPage { content: Content::Zeros, programmed: true };

/// The chip.
#[derive(Debug, Clone)]
pub struct Nand {
    /// Its geometry.
    pub geometry: NandGeometry,
    /// Its operations since the log was emptied.
    pub log: Vec<NandOperation>,
    /// Programs and erases that failed.
    pub failures: u32,
    pages: Vec<NandPage>,
    marked: Vec<bool>,
    failed: Vec<bool>,
    /// Programs and erases until one fails, and until power is lost; zero: never.
    fail_in: u32,
    /// After that one, until another fails.
    fail_then: u32,
    cut_in: u32,
}

impl Nand {
    /// An erased chip.
    pub fn new(geometry: NandGeometry) -> Nand {
        Nand {
            geometry,
            log: Vec::new(),
            failures: 0,
            pages: vec![ERASED; at(geometry.pages())],
            marked: vec![false; at(geometry.blocks)],
            failed: vec![false; at(geometry.blocks)],
            fail_in: 0,
            fail_then: 0,
            cut_in: 0,
        }
    }

    /// A block that left the factory bad.
    pub fn factory_bad(&mut self, block: u32) {
        self.marked[at(block)] = true;
    }

    /// The n-th program or erase from now on fails, and all later ones of its block; so does the
    /// m-th after that, where m is not zero.
    pub fn fail_in(&mut self, n: u32, m: u32) {
        [self.fail_in, self.fail_then] = [n, m];
    }

    /// Power is lost before the n-th program or erase from now on.
    pub fn cut_in(&mut self, n: u32) {
        self.cut_in = n;
    }

    /// Power is back.
    pub fn power_on(&mut self) {
        self.cut_in = 0;
    }

    pub(crate) fn is_bad(&mut self, block: u32) -> bool {
        self.log.push(NandOperation::IsBad(block));
        self.marked[at(block)]
    }

    pub(crate) fn mark_bad(&mut self, block: u32) {
        self.log.push(NandOperation::MarkBad(block));
        self.marked[at(block)] = true;
    }

    /// A program or an erase of `pages`, which have this content if it works.
    fn change(&mut self, operation: NandOperation, pages: Range<u32>, content: NandPage) -> Result<(), DharaError> {
        let block = at(self.geometry.block_of(pages.start));
        if self.cut_in == 1 {
            return Err(DharaError::Cut);
        }
        self.cut_in = self.cut_in.saturating_sub(1);
        self.log.push(operation);
        if self.fail_in == 1 {
            self.failed[block] = true;
            self.fail_in = std::mem::take(&mut self.fail_then);
        } else {
            self.fail_in = self.fail_in.saturating_sub(1);
        }
        let failed = self.failed[block];
        self.failures += u32::from(failed);
        self.pages[at(pages.start)..at(pages.end)].fill(if failed { SPOILED } else { content });
        if failed { Err(DharaError::BadBlock) } else { Ok(()) }
    }

    pub(crate) fn erase(&mut self, block: u32) -> Result<(), DharaError> {
        let log2 = self.geometry.log2_block;
        self.change(NandOperation::Erase(block), block << log2..(block + 1) << log2, ERASED)
    }

    fn put(&mut self, page: u32, content: Content, operation: NandOperation) -> Result<(), DharaError> {
        self.change(operation, page..page + 1, NandPage { content, programmed: true })
    }

    /// Programs data.
    pub(crate) fn program(&mut self, page: u32) -> Result<(), DharaError> {
        self.put(page, Content::Zeros, NandOperation::Program(page))
    }

    pub(crate) fn program_checkpoint(&mut self, page: u32, checkpoint: &MetaPage) -> Result<(), DharaError> {
        self.put(page, Content::MetaPage(Rc::new(checkpoint.clone())), NandOperation::Program(page))
    }

    pub(crate) fn copy(&mut self, from: u32, to: u32) -> Result<(), DharaError> {
        let content = self.pages[at(from)].content.clone();
        self.put(to, content, NandOperation::Copy(from, to))
    }

    pub(crate) fn is_free(&mut self, page: u32) -> bool {
        self.log.push(NandOperation::IsFree(page));
        !self.pages[at(page)].programmed
    }

    /// Reads data for the caller.
    pub(crate) fn read_data(&mut self, page: u32) {
        self.log.push(NandOperation::Read(page));
    }

    /// Reads a whole page of metadata.
    pub(crate) fn read_checkpoint(&mut self, page: u32) -> MetaPage {
        self.log.push(NandOperation::Read(page));
        match &self.pages[at(page)].content {
            Content::Ones => MetaPage::ones(self.geometry),
            Content::Zeros => MetaPage::all(PageMeta::ZEROS, self.geometry),
            Content::MetaPage(checkpoint) => checkpoint.as_ref().clone(),
        }
    }

    /// Reads the metadata of one user page of a group.
    pub(crate) fn read_meta(&mut self, page: u32, slot: u32) -> PageMeta {
        self.log.push(NandOperation::Read(page));
        match &self.pages[at(page)].content {
            Content::Ones => PageMeta::ONES,
            Content::Zeros => PageMeta::ZEROS,
            Content::MetaPage(checkpoint) => checkpoint.metas[at(slot)],
        }
    }
}
