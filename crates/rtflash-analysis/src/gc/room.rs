//! Whether there is room for garbage collection.

use rtflash_model::Span;

use crate::organisation::organisation;
use crate::organisation::processor::{Processor, WriteStream};
use crate::reason::NoRoomForGc;

#[derive(Debug, Clone, Copy)]
pub(crate) struct GcNumbers {
    pub(crate) reserve: u64,
    pub(crate) open: u64,
    pub(crate) valid: u64,
    pub(crate) reclaimed: u64,
}

impl Processor {
    pub(crate) fn numbers(&self, arrivals: u64, pending: u64, server: bool) -> Option<GcNumbers> {
        let reserve = self.reserve(arrivals, server)?;
        let open = self.open(reserve, pending, server)?;
        let valid = self.valid(open)?;
        Some(GcNumbers { reserve, open, valid, reclaimed: self.reclaimed(valid) })
    }

    /// H for this A, Eq. (8).
    pub(crate) fn reserve(&self, arrivals: u64, server: bool) -> Option<u64> {
        // R, Eq. (7).
        let drawn = if server { self.block_pages + organisation(self.placement).unfilled(self.chips) } else { 0 };
        arrivals.checked_add(self.block_pages - 1)?.checked_add(drawn)
    }

    /// v for this F, Eq. (10); `None` without more blocks, or if α would be zero, Eq. (11).
    pub(crate) fn valid(&self, open: u64) -> Option<u64> {
        let closed = self.blocks.checked_sub(open).filter(|&closed| closed > 0)?;
        let valid = self.mapped / closed;
        (valid < self.block_pages).then_some(valid)
    }

    /// F for this H, Eq. (9). Without a page in reserve no pass is ever begun.
    pub(crate) fn open(&self, reserve: u64, pending: u64, server: bool) -> Option<u64> {
        Some(reserve.saturating_sub(1).checked_add(pending)? / self.block_pages + 1 + u64::from(server))
    }

    /// min (T − J): one request of each writer arrives within it; `None` without writers.
    pub fn shortest_gc_deadline(&self) -> Option<Span> {
        let window = |writer: &WriteStream| writer.period.checked_sub(writer.jitter).expect("J < T");
        self.write_streams.iter().map(window).min()
    }

    /// C_g/α at the shortest deadline, in nanoseconds a page; `None` without room.
    pub(crate) fn gc_per_page(&self, arrivals: u64, pending: u64) -> Option<f64> {
        let gc = self.terms(None, self.numbers(arrivals, pending, false)?)?;
        Some(gc.cost.to_f64() / gc.reclaimed as f64)
    }

    /// How many times the actual blocks a pass would need to reclaim anything; orders only.
    pub(crate) fn crowding(&self) -> f64 {
        let pages = self.of_one_each().saturating_add(self.pending()).saturating_add(self.block_pages) as f64;
        let open = (pages / self.block_pages as f64).floor() + 1.0;
        (open + self.mapped as f64 / self.block_pages as f64) / self.blocks.max(1) as f64
    }

    /// F + ⌊Λ/PP⌋ + 1 if above N: at the shortest deadline no pass reclaims anything.
    pub fn too_few_blocks(&self) -> Option<NoRoomForGc> {
        let (arrivals, pending) = (self.of_one_each(), self.pending());
        let reserve = arrivals.saturating_add(self.block_pages - 1);
        let open = reserve.saturating_sub(1).saturating_add(pending) / self.block_pages + 1;
        let needed_blocks = open.saturating_add(self.mapped / self.block_pages).saturating_add(1);
        (needed_blocks > self.blocks).then_some(NoRoomForGc { needed_blocks, blocks: self.blocks })
    }
}
