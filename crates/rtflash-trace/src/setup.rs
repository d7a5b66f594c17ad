//! The settings of a run.

use rtflash_model::Instant;
use serde::{Deserialize, Serialize};

use rtflash_plan::{Aging, Arbitration, Options, Service, Ties, Victims, Waits};

/// How a run was made, as far as its judge needs it: the first record of a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Setup {
    /// Whether a task's requests come a period or more after each other, instead of at 0, T, 2T, …
    pub sporadic: bool,
    /// How jobs that are not real-time are served.
    pub service: Service,
    /// How many pages a pass copies.
    pub victims: Victims,
    /// The wait of a page for its bus.
    pub waits: Waits,
    /// Whether chips of a superblock that a step leaves idle take pages of other requests.
    pub backfill: bool,
    /// Which of the chips that wait for a bus gets it.
    pub arbitration: Arbitration,
    /// The order among equals.
    pub ties: Ties,
    /// The content of the device at the start; `None` where that is not known.
    pub aging: Option<Aging>,
    /// The seed of the draws; `None` where nothing was, or it is not known.
    pub seed: Option<u64>,
    /// When the run ends; `None` where that is not known.
    pub duration: Option<Instant>,
}

impl Default for Setup {
    /// Periodic releases, as few copies as there are valid pages, no padding, an unknown start.
    fn default() -> Setup {
        Setup { aging: None, seed: None, duration: None, ..Setup::from(&Options::default()) }
    }
}

impl From<&Options> for Setup {
    fn from(options: &Options) -> Setup {
        Setup {
            sporadic: options.is_sporadic(),
            service: options.service,
            victims: options.victims,
            waits: options.placed.waits,
            backfill: options.placed.backfill,
            arbitration: options.arbitration,
            ties: options.ties,
            aging: Some(options.aging),
            seed: Some(options.seed),
            duration: Some(options.duration),
        }
    }
}
