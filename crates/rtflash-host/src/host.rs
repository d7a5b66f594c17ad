//! The host between jobs and the scheduler, and its tags: how many requests there are at a time,
//! and how many of them may be writes.
//!
//! A request holds a tag from its arrival at the scheduler to its end. Linux keeps free tags in a
//! bitmap (`lib/sbitmap.c`); a scheduler can limit some requests to a part of it
//! (`blk_mq_alloc_data.shallow_depth`). Other requests wait for a tag.

use rtflash_model::{Instant, Span};

/// The host's settings between jobs and the scheduler.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Host {
    /// Cores, above zero.
    pub cpus: u32,
    /// The longest request, in bytes, above zero: longer I/Os are cut.
    pub max_sectors: u64,
    /// Tags, `nr_requests`: one for each request or piece from its arrival at the scheduler to its
    /// end; above zero.
    pub requests: u32,
    /// The value of `nr_requests` before it was written last, above zero; `None` where it is what
    /// the choice of the scheduler made it.
    pub requests_before: Option<u32>,
    /// The kernel whose rules on tags hold.
    pub kernel: Kernel,
    /// From a completion to the asking that it causes.
    pub turnaround: Span,
    /// From the end of a closed job's I/O to its next one, beside the think time: the process has
    /// to run. A bound counts on no such time, so runs alone have it.
    pub overhead: Span,
    /// Ticks of the kernel's clock a second, above zero.
    pub hz: u32,
    /// Whether requests are merged at the scheduler.
    pub merge: bool,
    /// The memory for buffered writes; `None` where it is not stated, so that no job is buffered.
    pub page_cache: Option<PageCacheSize>,
}

/// The page cache, as its files in `/proc/sys/vm` have it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageCacheSize {
    /// Dirty bytes above which the flusher writes back: `dirty_background_bytes`. Below `dirty`.
    pub background: u64,
    /// Bytes, dirty or on their way to the device, from which on a process that writes waits:
    /// `dirty_bytes`.
    pub dirty: u64,
    /// Bytes a second that a process copies into memory, above zero.
    pub copy: u64,
    /// The time after which a file that became dirty is written back:
    /// `dirty_expire_centisecs`.
    pub expire: Span,
    /// The time between two looks for such files, above zero: `dirty_writeback_centisecs`.
    pub interval: Span,
}

impl Default for Host {
    /// One core, requests of at most 1,280 KiB, 256 tags, and nothing is merged.
    fn default() -> Host {
        Host {
            cpus: 1,
            max_sectors: 1_280 << 10,
            requests: 256,
            requests_before: None,
            kernel: Kernel::default(),
            turnaround: Span::ZERO,
            overhead: Span::ZERO,
            hz: 250,
            merge: false,
            page_cache: None,
        }
    }
}

/// The kernel whose rules on tags hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Kernel {
    /// Linux 6.5: a scheduler limits the tags of each word of the bitmap.
    V6_5,
    /// Linux 6.12.117: it limits those of the whole bitmap.
    #[default]
    V6_12,
}

impl Kernel {
    /// How files call them, in order.
    pub const NAMES: [&'static str; 2] = ["6.5", "6.12"];
    /// All of them, in that order.
    pub const ALL: [Kernel; 2] = [Kernel::V6_5, Kernel::V6_12];
}

impl Host {
    /// `nr_requests` as a scheduler learns of it: `blk_mq_update_nr_requests` of block/blk-mq.c
    /// stores the new value behind the call that tells the scheduler.
    pub(crate) fn requests_known(&self) -> u32 {
        self.requests_before.unwrap_or(self.requests)
    }

    /// The instant at which a queue is asked again that kept all it has: `BLK_MQ_BUDGET_DELAY` of
    /// block/blk-mq-sched.c, 3 ms in whole ticks, behind the tick that runs (kernel/time/timer.c).
    pub(crate) fn retry(&self, now: Instant) -> Instant {
        let tick = self.tick();
        let ticks = now.as_ns() / tick + (3_000_000_u64).div_ceil(tick) + 1;
        Instant::from_ns(ticks.saturating_mul(tick)).unwrap_or(Instant::END)
    }

    /// The time between two ticks of the kernel's clock, in nanoseconds.
    pub(crate) fn tick(&self) -> u64 {
        1_000_000_000 / u64::from(self.hz)
    }

    /// Tags of a word of the bitmap (`sbitmap_calculate_shift`). It was allocated for the larger
    /// number, as `blk_mq_tag_update_depth` of block/blk-mq-tag.c lets it shrink in place.
    pub(crate) fn tags_of_word(&self) -> u32 {
        word_of(self.requests.max(self.requests_known()))
    }

    /// Tags that requests get which are limited to this many, of each word or of all of them.
    pub(crate) fn tags_within(&self, depth: u32) -> u32 {
        match self.kernel {
            Kernel::V6_12 => depth.min(self.requests),
            Kernel::V6_5 => {
                let word = self.tags_of_word();
                let (words, rest) = (self.requests / word, self.requests % word);
                words * depth.min(word) + depth.min(rest)
            }
        }
    }
}

/// Tags of a word of a bitmap that was made for `allocated` tags (`sbitmap_calculate_shift`).
pub(crate) fn word_of(allocated: u32) -> u32 {
    let shift = (0..=6).rev().find(|shift| allocated < 4 || 4 << shift <= allocated);
    1 << shift.expect("a word has a tag at least")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Words of the bitmap, and what a limit comes to, by hand from the kernel's lines.
    #[test]
    fn limits_are_the_kernels() {
        let of = |requests, requests_before, kernel| Host { requests, requests_before, kernel, ..Host::default() };
        for (requests, before, word) in
            [(2, None, 64), (3, None, 64), (4, None, 1), (32, None, 8), (256, None, 64), (300, None, 64)]
        {
            assert_eq!(of(requests, before, Kernel::V6_5).tags_of_word(), word, "{requests}");
        }
        // Two tags grow into 256; 256 shrink to 2 in their words.
        assert_eq!(of(256, Some(2), Kernel::V6_5).tags_of_word(), 64);
        assert_eq!(of(2, Some(256), Kernel::V6_5).tags_of_word(), 64);
        for (requests, depth, of_words, of_all) in
            [(256, 1, 4, 1), (256, 2, 8, 2), (256, 192, 256, 192), (300, 3, 15, 3), (257, 2, 9, 2), (2, 9, 2, 2)]
        {
            assert_eq!(of(requests, None, Kernel::V6_5).tags_within(depth), of_words, "{requests} {depth}");
            assert_eq!(of(requests, None, Kernel::V6_12).tags_within(depth), of_all, "{requests} {depth}");
        }
    }
}
