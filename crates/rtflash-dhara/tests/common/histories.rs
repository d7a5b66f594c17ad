//! Random histories of every kind.

// Each of those who include this uses a part of it.
#![allow(dead_code)]

use std::fmt::Write as _;

use chacha20::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use rtflash_dhara::costs::DharaShape;
use rtflash_dhara::history::{Call, DharaRun, last_line};
use rtflash_dhara::nand::{DharaError, NandGeometry};

/// The shape of a history.
#[derive(Debug, Clone, Copy)]
pub struct Kind {
    /// The chip.
    pub geometry: NandGeometry,
    /// The ratio.
    pub gc_ratio: u32,
    /// Sectors that are used.
    pub sectors: u32,
    /// Trims among a thousand calls.
    pub trims: u32,
    syncs: u32,
    reads: u32,
    starts: u32,
    cuts: u32,
    fails: u32,
    /// The writes, in a hundred, that go to a few sectors.
    hot: u32,
    bad: u32,
}

/// A generator.
pub fn seeded(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

impl Kind {
    /// A random kind; whether blocks fail and power is lost, `faults` says.
    pub fn draw(random: &mut ChaCha8Rng, faults: bool) -> Kind {
        loop {
            let geometry = NandGeometry {
                log2_page: random.random_range(9..=12),
                log2_block: random.random_range(3..=6),
                blocks: random.random_range(14..=120),
            };
            let gc_ratio = [1, 2, 4, 8, 16][random.random_range(0..5)];
            let some = |random: &mut ChaCha8Rng, most: u32| {
                if random.random_bool(0.5) { 0 } else { random.random_range(0..most) }
            };
            let mut kind = Kind {
                geometry,
                gc_ratio,
                sectors: 1,
                trims: some(random, 400),
                syncs: some(random, 100),
                reads: some(random, 300),
                starts: some(random, 30),
                cuts: if faults { some(random, 20) } else { 0 },
                fails: if faults { some(random, 4) } else { 0 },
                hot: some(random, 100),
                bad: if faults { some(random, 6) } else { 0 },
            };
            let capacity = u32::try_from(kind.shape().new_capacity()).unwrap_or(0);
            if capacity > 8 {
                let share = random.random_range(10..=103_u32);
                kind.sectors = (capacity * share / 100).max(2);
                return kind;
            }
        }
    }

    /// The assumptions of bounds without failures.
    pub fn shape(&self) -> DharaShape {
        let Kind { geometry, gc_ratio, sectors, .. } = *self;
        let losses = self.starts + self.cuts + self.fails + self.bad > 0;
        DharaShape { geometry, gc_ratio, sectors, bad_run: 0, failures: 0, losses, failed: 0 }
    }

    /// Bad blocks, and the first start.
    pub fn beginning(&self, random: &mut ChaCha8Rng) -> Vec<Call> {
        let bad = (0..self.bad).map(|_| Call::Bad(random.random_range(0..self.geometry.blocks)));
        bad.chain([Call::Start]).collect()
    }

    fn sector(&self, random: &mut ChaCha8Rng) -> u32 {
        let below = if random.random_range(0..100) < self.hot { self.sectors.min(5) } else { self.sectors };
        random.random_range(0..below)
    }

    /// The next call; after a loss of power it is a start.
    pub fn next(&self, random: &mut ChaCha8Rng, last: Result<(), DharaError>) -> Call {
        if last == Err(DharaError::Cut) {
            return Call::Start;
        }
        let mut thousandth = random.random_range(0..1_000);
        let mut falls = |of: u32| {
            let yes = thousandth < of;
            thousandth = thousandth.saturating_sub(of);
            yes && {
                thousandth = 1_000;
                true
            }
        };
        if falls(self.trims) {
            Call::Trim(self.sector(random))
        } else if falls(self.syncs) {
            Call::Sync
        } else if falls(self.reads) {
            Call::Read(self.sector(random))
        } else if falls(self.starts) {
            Call::Start
        } else if falls(self.cuts) {
            Call::Cut(random.random_range(1..60))
        } else if falls(self.fails) {
            // The second fails while the first block is copied, or in peace.
            let soon = random.random_bool(0.6);
            Call::Fail(random.random_range(1..400), random.random_range(0..if soon { 90 } else { 2_000 }))
        } else {
            Call::Write(self.sector(random))
        }
    }

    /// A chip as it leaves the factory.
    pub fn run(&self) -> DharaRun {
        DharaRun::new(self.geometry, self.gc_ratio)
    }
}

/// Calls of a history.
const CALLS: usize = 6_000;

/// A history as text, what we do on it, and how many operations.
pub struct History {
    /// With the line of the chip.
    pub calls: String,
    /// Operations, and how each call ends.
    pub ours: String,
    /// How many operations.
    pub operations: u64,
}

/// A history of the kind that the seed draws.
pub fn history(seed: u64) -> Result<History, std::fmt::Error> {
    let mut random = seeded(seed);
    let faults = random.random_bool(0.7);
    let kind = Kind::draw(&mut random, faults);
    let mut run = kind.run();
    let mut all =
        History { calls: DharaRun::first_line(kind.geometry, kind.gc_ratio), ours: String::new(), operations: 0 };
    all.calls.push('\n');
    let mut beginning = kind.beginning(&mut random).into_iter();
    let mut last = Ok(());
    for _ in 0..CALLS {
        let call = beginning.next().unwrap_or_else(|| kind.next(&mut random, last));
        writeln!(all.calls, "{call}")?;
        last = run.call(call);
        for operation in run.take_log() {
            writeln!(all.ours, "{operation}")?;
            all.operations += 1;
        }
        if !matches!(call, Call::Bad(_) | Call::Fail(..) | Call::Cut(_)) {
            writeln!(all.ours, "{}", last_line(last))?;
        }
    }
    Ok(all)
}
