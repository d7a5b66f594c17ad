//! Attacks the bounds: climbs over histories towards the dearest calls, and prints each beside its
//! bound.
//!
//! `cargo run --release -p rtflash-dhara --example climb -- [STEPS [SEED]]`

#[path = "../tests/common/histories.rs"]
mod histories;

use std::collections::HashMap;
use std::env;
use std::error::Error;

use chacha20::ChaCha8Rng;
use histories::seeded;
use rand::RngExt;
use rtflash_dhara::costs::{CallCost, ChipTimes, DharaShape, DriverTimes};
use rtflash_dhara::history::{Call, DharaRun};
use rtflash_dhara::nand::{NandGeometry, NandOperation};

/// Choices that a step is the dearest of.
const CHOICES: u32 = 6;

/// The dearest call of a kind so far.
#[derive(Debug, Default, Clone, Copy)]
struct Worst {
    time: u128,
    did: CallCost,
}

struct Climb {
    shape: DharaShape,
    times: DriverTimes,
    /// By call: write, read, trim, sync, start.
    worst: [Worst; 5],
}

/// Which bound a call has.
fn kind(call: Call) -> usize {
    match call {
        Call::Write(_) => 0,
        Call::Read(_) => 1,
        Call::Trim(_) => 2,
        Call::Sync => 3,
        _ => 4,
    }
}

impl Climb {
    fn bounds(&self) -> [CallCost; 5] {
        let shape = &self.shape;
        [shape.write(), shape.read(), shape.trim(), shape.sync(), shape.start()]
    }

    /// Makes a call, and keeps it if it is the dearest of its kind.
    fn call(&mut self, run: &mut DharaRun, call: Call) -> u128 {
        run.take_log();
        let _ = run.call(call);
        let did = CallCost::of(&run.take_log());
        let kind = kind(call);
        // Which reads are of whole pages, a log does not say.
        let whole = self.bounds()[kind].whole.min(did.reads);
        let did = CallCost { whole, ..did };
        assert!(did.within(&self.bounds()[kind]), "{call}: {did:?} above {:?}", self.bounds()[kind]);
        let time = did.time(&self.times);
        if time > self.worst[kind].time {
            self.worst[kind] = Worst { time, did };
        }
        time
    }

    /// Tries a call on a copy.
    fn probe(&mut self, run: &DharaRun, call: Call) -> u128 {
        self.call(&mut run.clone(), call)
    }

    /// Tries a call on a copy, after another.
    fn probe_after(&mut self, run: &DharaRun, before: Call, call: Call) {
        let mut run = run.clone();
        let _ = run.call(before);
        self.call(&mut run, call);
    }

    /// Tries calls in which a program, a copy or an erase fails.
    fn probe_failures(&mut self, run: &DharaRun, random: &mut ChaCha8Rng, sector: u32) {
        for call in [Call::Write(sector), Call::Trim(sector), Call::Sync] {
            let soon = random.random_range(1..=2 * self.shape.gc_ratio + 2);
            self.probe_after(run, Call::Fail(soon, 0), call);
        }
    }

    /// A sector whose number differs from another in one bit, or any.
    fn near(&self, random: &mut ChaCha8Rng, last: u32) -> u32 {
        let bits = u32::try_from(self.shape.walk() - 1).unwrap_or(1);
        let flipped = last ^ (1 << random.random_range(0..bits.max(1)));
        if random.random_bool(0.7) && flipped < self.shape.sectors {
            flipped
        } else {
            random.random_range(0..self.shape.sectors)
        }
    }

    /// Overwrites by the dearest of some choices, in a map that is full of these sectors.
    fn climb(&mut self, steps: u32, random: &mut ChaCha8Rng) {
        let mut run = DharaRun::new(self.shape.geometry, self.shape.gc_ratio);
        (1..self.shape.bad_run).for_each(|nth| {
            let _ = run.call(Call::Bad(5 + nth));
        });
        let _ = run.call(Call::Start);
        let greedy = random.random_bool(0.7);
        let mirrored = random.random_bool(0.5);
        let bits = u32::try_from(self.shape.walk() - 1).unwrap_or(1);
        for nth in 0..1_u32 << bits {
            let sector = if mirrored { nth.reverse_bits() >> (32 - bits) } else { nth };
            if sector < self.shape.sectors {
                self.call(&mut run, Call::Write(sector));
            }
        }
        // Until the journal has its longest, nothing is collected.
        for _ in 0..2 * self.shape.new_capacity() {
            let _ = run.call(Call::Write(random.random_range(0..self.shape.sectors)));
        }
        let mut last = 0;
        for _ in 0..steps {
            let choices: Vec<u32> = (0..CHOICES).map(|_| self.near(random, last)).collect();
            let dearest = choices.iter().copied().max_by_key(|&sector| self.probe(&run, Call::Write(sector)));
            last = dearest.filter(|_| greedy).unwrap_or(choices[0]);
            self.probe(&run, Call::Read(choices[0]));
            self.probe(&run, Call::Trim(choices[0]));
            if self.shape.failures > 0 {
                self.probe_failures(&run, random, choices[0]);
            }
            self.call(&mut run, Call::Write(last));
            if random.random_bool(0.01) {
                self.probe(&run, Call::Sync);
                self.probe(&run, Call::Start);
            }
        }
    }

    /// Garbage of one sector, and above it a path as deep as it can be.
    fn bury(&mut self, random: &mut ChaCha8Rng) {
        let mut run = DharaRun::new(self.shape.geometry, self.shape.gc_ratio);
        let _ = run.call(Call::Start);
        let chip = u64::from(self.shape.geometry.blocks) * self.shape.block_users();
        for _ in 0..2 * chip {
            let _ = run.call(Call::Write(0));
        }
        self.write_path(&mut run);
        for _ in 0..random.random_range(0..60_u32) {
            let _ = run.call(Call::Write(self.shape.sectors / 2 + 1));
            self.probe(&run, Call::Sync);
            self.probe(&run, Call::Trim(0));
            self.probe(&run, Call::Read(0));
        }
    }

    /// Makes garbage alone. The newest sector is written until every (g + 1)-th page of the journal
    /// is garbage. Then each call trims the sector that was copied last.
    fn drain(&mut self) {
        let DharaShape { geometry, sectors, .. } = self.shape;
        let mut run = DharaRun::new(geometry, self.shape.gc_ratio);
        let _ = run.call(Call::Start);
        let mut sector_of = HashMap::new();
        // Does a call; the sectors that it copied, in order.
        let mut call = |run: &mut DharaRun, call: Call| {
            run.take_log();
            let _ = run.call(call);
            let mut copied = Vec::new();
            for operation in run.take_log() {
                match (operation, call) {
                    (NandOperation::Program(page), Call::Write(sector)) => {
                        sector_of.insert(page, sector);
                    }
                    (NandOperation::Copy(from, to), _) => {
                        let sector = sector_of.get(&from).copied().unwrap_or(0);
                        sector_of.insert(to, sector);
                        copied.push(sector);
                    }
                    _ => {}
                }
            }
            copied
        };
        for nth in 0..sectors + 4 * geometry.pages() {
            call(&mut run, Call::Write(if nth < sectors { nth } else { 0 }));
        }
        let mut copied = Vec::new();
        for nth in 0..2 * sectors {
            let next = copied.pop().unwrap_or(0);
            let mut more = call(&mut run, Call::Trim(next));
            copied.append(&mut more);
            copied.dedup();
            if nth.is_multiple_of(20) {
                self.probe(&run, Call::Sync);
            }
        }
    }

    /// Writes the sectors whose numbers have one bit.
    fn write_path(&self, run: &mut DharaRun) {
        for bit in 0..32 {
            if 1 << bit < self.shape.sectors {
                let _ = run.call(Call::Write(1 << bit));
            }
        }
    }

    fn print(&self, what: &str) {
        let names = ["write", "read", "trim", "sync", "start"];
        for ((name, bound), worst) in names.iter().zip(self.bounds()).zip(self.worst) {
            if worst.time == 0 {
                continue;
            }
            let DharaShape { geometry, gc_ratio, sectors, .. } = self.shape;
            let most = bound.time(&self.times);
            let [whole, hundredths] = [most / worst.time, most * 100 / worst.time % 100];
            println!(
                "{} {gc_ratio} {sectors} {what} {name}: {most} ns, {} ns, {whole}.{hundredths:02}\n  {bound:?}\n  {:?}",
                geometry.blocks, worst.time, worst.did
            );
        }
    }

    /// The first pages of a new chip: groups of data and of fillers by turns.
    fn begin(&mut self) {
        let mut run = DharaRun::new(self.shape.geometry, self.shape.gc_ratio);
        let _ = run.call(Call::Start);
        for _ in 0..2 * self.shape.groups() {
            for _ in 0..self.shape.group_users() {
                let _ = run.call(Call::Write(0));
                self.probe(&run, Call::Start);
            }
            let _ = run.call(Call::Trim(0));
            let _ = run.call(Call::Sync);
            self.probe(&run, Call::Start);
        }
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut numbers = env::args().skip(1).map(|word| word.parse::<u32>());
    let [steps, seed] = [numbers.next().unwrap_or(Ok(1_000))?, numbers.next().unwrap_or(Ok(1))?];
    let mut random = seeded(seed.into());
    let chip = ChipTimes { read: 25_000, program: 600_000, erase: 3_000_000, transfer: 43_000, page: 2_048 };
    println!("blocks gc_ratio sectors what call: bound, found, bound / found");
    for (blocks, gc_ratio) in [(64, 1), (64, 4), (64, 16), (256, 1), (256, 4), (256, 16)] {
        let geometry = NandGeometry { log2_page: 11, log2_block: 6, blocks };
        let mut calm = DharaShape { geometry, gc_ratio, sectors: 1, bad_run: 0, failures: 0, losses: false };
        calm.sectors = u32::try_from(calm.new_capacity() * 95 / 100)?;
        let failing = DharaShape { bad_run: 4, failures: 1, losses: true, ..calm };
        for (what, shape) in [("calm", calm), ("failing", failing)] {
            let mut climb = Climb { shape, times: DriverTimes::of(&chip), worst: Default::default() };
            climb.drain();
            for _ in 0..4 {
                climb.climb(steps, &mut random);
                climb.bury(&mut random);
                climb.begin();
            }
            climb.print(what);
        }
    }
    Ok(())
}
