//! Runs that measure bandwidth.

use rtflash_model::{Instant, Span};
use rtflash_plan::{Aging, Dispatch, Pattern, Victims};

/// How bandwidth is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bandwidth {
    /// How long a run goes on, in simulated time, before pages are counted; `None` until writes
    /// have filled the device's free pages once.
    pub warmup: Option<Span>,
    /// How long pages are counted, in simulated time.
    pub duration: Instant,
    /// Pages of each read-only job.
    pub read_pages: u64,
    /// Pages of each write-only job.
    pub write_pages: u64,
    /// The shortest and the longest gap between two jobs; gaps are uniform.
    pub gap: (Span, Span),
    /// How chips are kept busy.
    pub dispatch: Dispatch,
    /// How many pages a pass of garbage collection copies.
    pub victims: Victims,
    /// The history of the device.
    pub aging: Aging,
    /// Which pages are read and written.
    pub pattern: Pattern,
}

impl Default for Bandwidth {
    /// As `rtflash experiment bandwidth` has it: five seconds behind the warm-up, reads of 20 pages
    /// or writes of 5, every 0.1 ms to 1 ms.
    fn default() -> Bandwidth {
        Bandwidth {
            warmup: None,
            duration: Instant::START.checked_add(Span::from_us(5_000_000)).unwrap_or(Instant::END),
            read_pages: 20,
            write_pages: 5,
            gap: (Span::from_us(100), Span::from_us(1_000)),
            dispatch: Dispatch::default(),
            victims: Victims::default(),
            aging: Aging::default(),
            pattern: Pattern::default(),
        }
    }
}
