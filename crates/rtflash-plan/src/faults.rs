//! Which programs and erases fail, where [`Placed::faults`](crate::Placed::faults) lets some.

use rtflash_model::random::Stream;
use rtflash_model::{ChipId, Instant};

/// [`Placed::faults`](crate::Placed::faults) counts of these.
const WHOLE: u16 = 1_000;

/// Drawn from the seed, the chip and the instant alone, at which the step ends.
pub fn random_failure(seed: u64, faults: u16, chip: ChipId, at: Instant) -> bool {
    let mut key = [0; 32];
    key[..8].copy_from_slice(&seed.to_le_bytes());
    key[8..16].copy_from_slice(b"faults\0\0");
    key[16..24].copy_from_slice(&at.as_ns().to_le_bytes());
    key[24..28].copy_from_slice(&chip.0.to_le_bytes());
    Stream::new(key).below(WHOLE.into()) < faults.into()
}
