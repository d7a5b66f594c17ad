//! Buffered writes and their writeback (mm/page-writeback.c and fs/fs-writeback.c of 6.12.117).
//!
//! A buffered write ends in memory. The flusher, a process of the kernel, writes dirty pages later,
//! under its own class and level. A process that dirties pages waits while too many are dirty.

use std::cmp::Reverse;
use std::collections::{HashMap, VecDeque};

use rtflash_model::{Instant, Span, capped};

use super::{CausedRelease, EngineEvent, HostEngine, Io};
use crate::run::dirty::DirtyPages;
use crate::run::job::MAX_BIO;
use crate::run::scenario::Scenario;
use crate::run::watch::Watch;
use crate::{Command, Op};

/// Bytes of a file after which the flusher turns to the next one, the least of the kernel
/// (`MIN_WRITEBACK_PAGES`, `writeback_chunk_size`).
const CHUNK: u64 = 4 << 20;

/// The file of a buffered job.
#[derive(Debug, Clone, Default)]
struct CachedFile {
    pages: DirtyPages,
    /// When it became dirty (`dirtied_when` of `struct inode`).
    dirtied: Instant,
    /// Whether that was too long ago as the flusher looked last.
    is_old: bool,
}

/// An I/O that writes pages back.
#[derive(Debug)]
struct PageWrite {
    /// The job whose file has the pages.
    file: usize,
    bytes: u64,
    /// Other I/Os, of `fsync`, that wait for it.
    waiters: Vec<u64>,
}

/// Memory between buffered jobs and the device.
#[derive(Debug, Default)]
pub(super) struct PageCache {
    /// The position of the flusher among the jobs; `None` if no job is buffered.
    flusher: Option<usize>,
    /// By job.
    files: Vec<CachedFile>,
    /// Files with dirty pages, the one first that the flusher writes next.
    order: VecDeque<usize>,
    /// I/Os by number that write pages, and bytes of these.
    writes: HashMap<u64, PageWrite>,
    writing: u64,
    /// Buffered writes that wait while too much is dirty.
    throttled: VecDeque<u64>,
    /// Whether the flusher has something to submit, and whether it wakes up later.
    is_flushing: bool,
    wakes: bool,
}

impl PageCache {
    pub(super) fn new(scenario: &Scenario) -> PageCache {
        let flusher = scenario.host.page_cache.and_then(|_| scenario.jobs.iter().position(|job| job.is_flusher()));
        PageCache { flusher, files: vec![CachedFile::default(); scenario.jobs.len()], ..PageCache::default() }
    }

    fn dirty(&self) -> u64 {
        self.order.iter().map(|&job| self.files[job].pages.bytes()).sum()
    }

    /// Stretches of dirty pages, which take memory.
    pub(super) fn stretches(&self) -> usize {
        self.order.iter().map(|&job| self.files[job].pages.stretches()).sum()
    }
}

impl<W: Watch> HostEngine<'_, W> {
    /// Whether an I/O of a job with this operation ends in memory.
    pub(super) fn ends_in_memory(&self, job: usize, op: Op) -> bool {
        self.scenario.jobs[job].is_buffered && op == Op::Write && self.cache.flusher.is_some()
    }

    /// A job writes into memory.
    pub(super) fn copy(&mut self, job: usize, whole: &Command) {
        let Some(of) = self.scenario.host.page_cache else { return };
        let io = self.begin_io(Io { left: 1, ..Io::new(job, self.now, whole) });
        let time = capped((u128::from(whole.size) * 1_000_000_000).div_ceil(of.copy.into()));
        let at = self.now.saturating_add(Span::from_ns(time).unwrap_or(Span::LONGEST));
        self.events.push(Reverse((at, EngineEvent::Copied { io, from: whole.from })));
    }

    /// The data of a buffered write is in memory. Says whether the flusher submits something.
    pub(super) fn copied(&mut self, io: u64, from: u64) -> bool {
        let (Some(of), Some(&Io { job, bytes, .. })) = (self.scenario.host.page_cache, self.ios.get(&io)) else {
            return false;
        };
        let file = &mut self.cache.files[job];
        if file.pages.bytes() == 0 {
            (file.dirtied, file.is_old) = (self.now, false);
            self.cache.order.push_back(job);
        }
        file.pages.add(from, bytes);
        // The first dirty page has the flusher wake up (`__mark_inode_dirty`).
        if !std::mem::replace(&mut self.cache.wakes, true) {
            self.events.push(Reverse((self.now.saturating_add(of.interval), EngineEvent::Wake)));
        }
        let submits = self.kick_flusher();
        // A process waits behind its write (`balance_dirty_pages`).
        self.cache.throttled.push_back(io);
        self.unthrottle();
        submits
    }

    /// Buffered writes end while there is memory for dirty pages.
    fn unthrottle(&mut self) {
        let Some(of) = self.scenario.host.page_cache else { return };
        while self.cache.dirty().saturating_add(self.cache.writing) < of.dirty
            && let Some(io) = self.cache.throttled.pop_front()
        {
            self.part(Some(io));
        }
    }

    /// The flusher looks for old files, and does so again after a while if anything is dirty
    /// (`wb_check_old_data_flush`, `wb_workfn`).
    pub(super) fn wake_flusher(&mut self) -> bool {
        let Some(of) = self.scenario.host.page_cache else { return false };
        for &job in &self.cache.order {
            let file = &mut self.cache.files[job];
            file.is_old = self.now.since(file.dirtied) >= of.expire;
        }
        self.cache.wakes = !self.cache.order.is_empty();
        if self.cache.wakes {
            self.events.push(Reverse((self.now.saturating_add(of.interval), EngineEvent::Wake)));
        }
        self.kick_flusher()
    }

    fn kick_flusher(&mut self) -> bool {
        !self.cache.is_flushing && self.write_back()
    }

    /// The flusher has submitted all that it had, and writes a chunk of the next file: of any
    /// while too much is dirty (`wb_over_bg_thresh`), else of one that is old. Says whether there
    /// is one.
    pub(super) fn write_back(&mut self) -> bool {
        let (Some(of), Some(flusher)) = (self.scenario.host.page_cache, self.cache.flusher) else { return false };
        let is_over = self.cache.dirty() > of.background;
        let next = self.cache.order.iter().position(|&job| is_over || self.cache.files[job].is_old);
        let file = next.and_then(|at| self.cache.order.remove(at));
        self.cache.is_flushing = file.is_some();
        let Some(file) = file else { return false };
        let mut left = CHUNK;
        while left > 0
            && let Some((from, bytes)) = self.cache.files[file].pages.take(left.min(MAX_BIO))
        {
            left -= bytes;
            let io = self.next_io;
            let piece = self.piece_of(flusher, from, bytes);
            self.send(flusher, piece, None, false);
            self.lives[flusher].live += 1;
            self.begin_page_write(io, PageWrite { file, bytes, waiters: Vec::new() });
        }
        if self.cache.files[file].pages.bytes() > 0 {
            self.cache.order.push_back(file);
        }
        true
    }

    fn piece_of(&self, job: usize, from: u64, size: u64) -> Command {
        let number = u32::try_from(job).expect("a job has a number of 32 bits (invariant)");
        self.scenario.jobs[job].io(number, crate::run::MixedIo { op: Op::Write, size, share: 1 }, from)
    }

    fn begin_page_write(&mut self, io: u64, of: PageWrite) {
        self.cache.writing += of.bytes;
        self.cache.writes.insert(io, of);
    }

    /// An I/O has ended. If it wrote pages, others go on that wait for these, or for memory.
    pub(super) fn end_page_write(&mut self, io: u64) {
        let Some(of) = self.cache.writes.remove(&io) else { return };
        self.cache.writing -= of.bytes;
        of.waiters.into_iter().for_each(|waiter| self.part(Some(waiter)));
        self.unthrottle();
    }

    /// A job calls `fsync` as a write has ended: at this instant, after all else.
    pub(super) fn plan_sync(&mut self, job: usize) {
        let now = self.now;
        self.foresee(|foresight| foresight.plan(job, now));
        self.caused.push_back(CausedRelease::Sync(job));
    }

    /// The data of an `fsync` has ended. Says whether a flush follows.
    pub(super) fn end_of_data(&mut self, job: usize, io: u64) -> bool {
        if self.counts(job) {
            self.lives[job].moved += self.cache.writes.get(&io).map_or(0, |of| u128::from(of.bytes));
        }
        self.end_page_write(io);
        let follows = self.scenario.device.has_cache();
        if follows {
            self.wait_for_flush(job, io);
        }
        follows
    }

    /// The process of a job writes the dirty pages of its file itself, waits for those that are on
    /// their way (`file_write_and_wait_range` of mm/filemap.c), and flushes the device's cache.
    /// Says whether it submits something.
    pub(super) fn sync_file(&mut self, job: usize) -> bool {
        let (op, released) = (Op::Other, self.now);
        let all = Io { job, released, op, bytes: 0, left: 0, begun: false, chain: None, fua: false, flushes: true };
        let io = self.begin_io(all);
        let bytes = self.cache.files[job].pages.bytes();
        let mut left = 0;
        for of in self.cache.writes.values_mut().filter(|of| of.file == job) {
            of.waiters.push(io);
            left += 1;
        }
        while let Some((from, bytes)) = self.cache.files[job].pages.take(MAX_BIO) {
            left += self.submit(io, self.piece_of(job, from, bytes));
        }
        self.cache.order.retain(|&file| file != job);
        self.begin_page_write(io, PageWrite { file: job, bytes, waiters: Vec::new() });
        // One part more ends here, so that a clean file has one, too.
        if let Some(of) = self.ios.get_mut(&io) {
            of.left = left + 1;
        }
        self.part(Some(io));
        bytes > 0
    }
}
