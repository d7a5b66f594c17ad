//! The costs of random overwrites, by the executor.

use chacha20::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use rtflash_dhara::costs::{CallCost, DharaShape, DriverTimes};
use rtflash_dhara::history::{Call, DharaRun};

/// The costs that were seen.
pub struct Observed {
    /// The dearest write.
    pub dearest: CallCost,
    /// Its time, in nanoseconds.
    pub longest: u128,
    /// The mean time of a write, in nanoseconds.
    pub mean: u128,
}

/// Writes the sectors of the shape in order, overwrites random ones until the journal has gone
/// round twice, and then measures `writes` more.
pub fn overwrite(shape: &DharaShape, times: &DriverTimes, writes: u32) -> Observed {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let mut run = DharaRun::new(shape.geometry, shape.gc_ratio);
    let _ = run.call(Call::Start);
    let mut write = |sector: u32| {
        run.call(Call::Write(sector)).expect("the sectors fit");
        CallCost::of(&run.take_log())
    };
    for nth in 0..shape.sectors {
        write(nth);
    }
    for _ in 0..2 * shape.capacity(0) {
        write(random.random_range(0..shape.sectors));
    }
    let mut seen = Observed { dearest: CallCost::default(), longest: 0, mean: 0 };
    for _ in 0..writes {
        let did = write(random.random_range(0..shape.sectors));
        let time = did.time(times);
        seen.mean += time;
        if time > seen.longest {
            (seen.longest, seen.dearest) = (time, did);
        }
    }
    seen.mean /= u128::from(writes);
    seen
}
