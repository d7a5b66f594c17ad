//! The order among equals.

use rtflash_model::Instant;

use crate::ids::ChipId;
use crate::jobs::{JobId, Kind};
use crate::options::{Options, Ties};
use crate::release_times::stream_of;

/// The place of a job among those of one deadline with [`Ties::Random`], drawn for each job.
pub fn random_job_place(seed: u64, job: JobId) -> u64 {
    stream_of(seed, b"tie\0", job.source.0, job.index).below(u64::MAX)
}

/// [`Ties::Random`]: drawn for each chip and instant.
pub fn random_chip_place(seed: u64, chip: ChipId, at: Instant) -> u64 {
    stream_of(seed, b"bus\0", chip.0, at.as_ns()).below(u64::MAX)
}

/// How ties are broken: the lower place goes first, and equal places as with [`Ties::Lowest`].
#[derive(Debug, Clone, Copy, Default)]
pub struct TieBreaker {
    ties: Ties,
    seed: u64,
}

impl TieBreaker {
    /// Ties of this kind; places that are drawn are drawn from `seed`.
    pub fn new(ties: Ties, seed: u64) -> TieBreaker {
        TieBreaker { ties, seed }
    }

    /// The place of a job among those of the same deadline.
    pub fn of_job(self, kind: Kind, job: JobId) -> u64 {
        match self.ties {
            Ties::Lowest => 0,
            Ties::Highest => u64::MAX - ((kind as u64) << u32::BITS) - u64::from(job.source),
            Ties::Random => random_job_place(self.seed, job),
        }
    }

    /// Whether a chip is known to go behind another one that asks for a bus at the same instant.
    #[inline]
    pub fn is_behind(self, chip: ChipId, other: ChipId) -> bool {
        self.ties == Ties::Lowest && chip > other
    }

    /// The place of a chip among those that ask for a bus at the same instant.
    #[inline]
    pub fn of_chip(self, chip: ChipId, at: Instant) -> u64 {
        match self.ties {
            Ties::Lowest => 0,
            Ties::Highest => u64::MAX - u64::from(chip),
            Ties::Random => random_chip_place(self.seed, chip, at),
        }
    }
}

impl From<&Options> for TieBreaker {
    fn from(options: &Options) -> TieBreaker {
        TieBreaker::new(options.ties, options.seed)
    }
}
