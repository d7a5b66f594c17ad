//! Dear histories: climbs towards the dearest call of each kind.

// Each of those who include this uses a part of it.
#![allow(dead_code)]

use chacha20::ChaCha8Rng;
use rand::RngExt;
use rtflash_dhara::costs::{CallCost, ChipTimes, DharaShape, DriverTimes};
use rtflash_dhara::history::{Call, DharaRun};
use rtflash_dhara::nand::{DharaError, NandGeometry, NandOperation};

/// Choices that a step is the dearest of.
const CHOICES: u32 = 6;

/// The dearest call of a kind so far.
#[derive(Debug, Default, Clone, Copy)]
pub struct Worst {
    /// Its time, in nanoseconds.
    pub time: u128,
    /// Its operations.
    pub did: CallCost,
}

/// A bound.
#[derive(Debug, Clone, Copy)]
pub struct Bound {
    /// On each operation.
    pub operations: CallCost,
    /// On the time, in nanoseconds.
    pub time: u128,
}

/// The names of kinds of calls. The last one comes after losses of power, where no block fails.
pub const KINDS: [&str; 6] = ["write", "read", "trim", "sync", "start", "sync after losses"];

/// A climb, on a chip of one shape.
pub struct Climb {
    /// The chip.
    pub shape: DharaShape,
    /// Those of `mt29f4g08abada-slc`.
    pub times: DriverTimes,
    /// By kind.
    pub bounds: [Bound; 6],
    /// By kind.
    pub worst: [Worst; 6],
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

/// The pages that a log programs or copies to, in order.
fn appended(log: &[NandOperation]) -> impl DoubleEndedIterator<Item = u32> {
    log.iter().filter_map(|operation| match *operation {
        NandOperation::Program(page) | NandOperation::Copy(_, page) => Some(page),
        _ => None,
    })
}

impl Climb {
    /// A chip of `blocks` blocks, 95 % of whose capacity is in use.
    pub fn new(blocks: u32, gc_ratio: u32, failures: u32) -> Climb {
        let geometry = NandGeometry { log2_page: 11, log2_block: 6, blocks };
        let bad_run = if failures > 0 { 4 } else { 0 };
        let mut shape = DharaShape { geometry, gc_ratio, sectors: 1, bad_run, failures, losses: false, failed: 0 };
        shape.sectors = u32::try_from(shape.new_capacity() * 95 / 100).expect("pages of a small chip");
        Climb::of(shape)
    }

    /// A chip of this shape, before its first call.
    pub fn of(shape: DharaShape) -> Climb {
        let chip = ChipTimes { read: 25_000, program: 600_000, erase: 3_000_000, transfer: 43_000, page: 2_048 };
        let times = DriverTimes::of(&chip);
        let lost = DharaShape { losses: true, ..shape };
        let bounds = [shape.write(), shape.read(), shape.trim(), shape.sync(), shape.start(), lost.sync()]
            .map(|operations| Bound { operations, time: shape.time(&operations, &times) });
        Climb { shape, times, bounds, worst: Default::default() }
    }

    /// L.
    fn bits(&self) -> u32 {
        u32::try_from(self.shape.walk() - 1).expect("bits of a sector")
    }

    /// Makes a call, and keeps it if it is the dearest of its kind.
    fn call(&mut self, run: &mut DharaRun, call: Call) -> Vec<NandOperation> {
        run.take_log();
        let _ = run.call(call);
        let log = run.take_log();
        self.count(call, kind(call), &log);
        log
    }

    fn count(&mut self, call: Call, kind: usize, log: &[NandOperation]) {
        let did = CallCost::of(log);
        // Which reads are of whole pages, a log does not say.
        let bound = self.bounds[kind];
        let did = CallCost { whole: bound.operations.whole.min(did.reads), ..did };
        let time = did.time(&self.times);
        let within = did.within(&bound.operations) && time <= bound.time;
        assert!(within, "{call}: {time} ns, {did:?} above {bound:?} of {:?}", self.shape);
        if time > self.worst[kind].time {
            self.worst[kind] = Worst { time, did };
        }
    }

    /// Tries a call on a copy, and its time. If blocks fail, each of its programs, copies and
    /// erases does, one a try, or the last alone.
    fn probe(&mut self, run: &DharaRun, call: Call, each: bool) -> u128 {
        let log = self.call(&mut run.clone(), call);
        let changes = appended(&log).count() + log.iter().filter(|of| matches!(of, NandOperation::Erase(_))).count();
        let changes = u32::try_from(changes).expect("operations of a call");
        if self.shape.failures > 0 {
            for nth in if each { 1 } else { changes.max(1) }..=changes {
                let mut run = run.clone();
                let _ = run.call(Call::Fail(nth, 0));
                self.call(&mut run, call);
            }
        }
        CallCost::of(&log).time(&self.times)
    }

    /// A sector whose number differs from another in one bit, or any.
    fn near(&self, random: &mut ChaCha8Rng, last: u32) -> u32 {
        let flipped = last ^ (1 << random.random_range(0..self.bits()));
        if random.random_bool(0.7) && flipped < self.shape.sectors {
            flipped
        } else {
            random.random_range(0..self.shape.sectors)
        }
    }

    fn started(&self) -> DharaRun {
        let mut run = DharaRun::new(self.shape.geometry, self.shape.gc_ratio);
        let _ = run.call(Call::Start);
        run
    }

    /// Overwrites by the dearest of some choices, in a map that is full of these sectors. Blocks
    /// fail where nearly all their pages are programmed.
    pub fn climb(&mut self, steps: u32, random: &mut ChaCha8Rng) {
        let mut run = self.started();
        let greedy = random.random_bool(0.7);
        let mirrored = random.random_bool(0.5);
        for nth in 0..1_u32 << self.bits() {
            let sector = if mirrored { nth.reverse_bits() >> (32 - self.bits()) } else { nth };
            if sector < self.shape.sectors {
                let _ = run.call(Call::Write(sector));
            }
        }
        // Until the journal has its longest, nothing is collected.
        for _ in 0..2 * self.shape.new_capacity() {
            let _ = run.call(Call::Write(random.random_range(0..self.shape.sectors)));
        }
        let (mut last, mut head) = (0, 0);
        for _ in 0..steps {
            let choices: Vec<u32> = (0..CHOICES).map(|_| self.near(random, last)).collect();
            // Failures are tried where the block's last pages are next.
            let block = self.shape.geometry.pages() / self.shape.geometry.blocks;
            let full = self.shape.failures > 0 && head % block + 3 * (self.shape.gc_ratio + 2) / 2 + 4 > block;
            let mut dearest = (0, choices[0]);
            for &sector in &choices {
                dearest = dearest
                    .max((CallCost::of(&self.call(&mut run.clone(), Call::Write(sector))).time(&self.times), sector));
            }
            last = if greedy { dearest.1 } else { choices[0] };
            self.call(&mut run.clone(), Call::Read(choices[0]));
            if full || self.shape.failures == 0 {
                self.probe(&run, Call::Write(choices[0]), true);
                self.probe(&run, Call::Trim(choices[0]), true);
            }
            let log = self.call(&mut run, Call::Write(last));
            head = appended(&log).next_back().unwrap_or(head);
        }
    }

    /// Garbage of one sector, and above it a path as deep as it can be: the sectors whose numbers
    /// have one bit, the lowest first.
    pub fn bury(&mut self, offsets: u64) {
        let mut run = self.started();
        // A round, after which fewer blocks count as bad.
        for _ in 0..u64::from(self.shape.geometry.blocks + 1) * self.shape.block_users() {
            let _ = run.call(Call::Write(0));
        }
        // The journal's length swings with the checkpoints.
        let stride = 2 * self.shape.group_users() * u64::from(self.shape.gc_ratio + 1) / offsets;
        for _ in 0..offsets {
            (0..stride).for_each(|_| {
                let _ = run.call(Call::Write(0));
            });
            let mut buried = run.clone();
            (0..self.bits()).for_each(|bit| {
                let _ = buried.call(Call::Write(1 << bit));
            });
            for _ in 0..=self.shape.group_users() {
                self.probe(&buried, Call::Sync, false);
                self.call(&mut buried.clone(), Call::Read(0));
                let _ = buried.call(Call::Write(1 << (self.bits() - 1)));
            }
        }
    }

    /// Loses power after each write, and before each checkpoint but the first of a block, without
    /// which a start does not find the block. The longest journal to which a write still fits.
    fn fill(&self, mut run: DharaRun) -> DharaRun {
        let [group, block] = [self.shape.geometry.log2_group(), self.shape.geometry.log2_block].map(|log2| 1 << log2);
        let (mut longest, mut head) = (run.clone(), 0);
        for _ in 0..4 * self.shape.geometry.pages() {
            let first_group = head % block < group;
            if !first_group && (head + 2) % group == 0 {
                let _ = run.call(Call::Cut(2));
            } else if head % block == group + 1 {
                longest = run.clone();
            }
            run.take_log();
            let written = run.call(Call::Write(0));
            head = appended(&run.take_log()).next_back().map_or(head, |page| page + 1);
            if !first_group {
                let _ = run.call(Call::Start);
            }
            if written == Err(DharaError::JournalFull) {
                break;
            }
        }
        longest
    }

    /// A synchronization after losses of power: of garbage of one sector below a path as deep as it
    /// can be, as it is or with fillers behind it. The garbage is as long as the capacity, or takes
    /// the place of fillers, this many pages more each time.
    pub fn lose(&mut self, stride: u64) {
        let mut run = self.started();
        (0..2 * self.shape.new_capacity()).for_each(|_| {
            let _ = run.call(Call::Write(0));
        });
        let top = Call::Write((1 << self.bits()) >> 1);
        let chip = u64::from(self.shape.geometry.blocks) * self.shape.block_users();
        for nth in 0..chip.div_ceil(u64::from(self.shape.gc_ratio + 1) * stride) + 3 {
            let mut buried = run.clone();
            (0..self.bits()).for_each(|bit| {
                let _ = buried.call(Call::Write(1 << bit));
            });
            (0..self.shape.group_users()).for_each(|_| {
                let _ = buried.call(top);
            });
            // One of two writes leaves a journal that is not clean.
            for mut lost in [self.fill(buried.clone()), buried] {
                for _ in 0..2 {
                    let _ = lost.call(top);
                    let mut synced = lost.clone();
                    synced.take_log();
                    let _ = synced.call(Call::Sync);
                    self.count(Call::Sync, 5, &synced.take_log());
                }
            }
            if nth == 0 {
                run = self.fill(run);
            }
            (0..stride).for_each(|_| {
                let _ = run.call(Call::Write(0));
            });
        }
    }

    /// The first pages of a new chip: groups of data and of fillers by turns. A run of bad blocks
    /// begins at this one.
    pub fn begin(&mut self, bad: u32) {
        let mut run = DharaRun::new(self.shape.geometry, self.shape.gc_ratio);
        for block in bad..bad + self.shape.bad_run {
            let _ = run.call(Call::Bad(block));
        }
        let _ = run.call(Call::Start);
        for _ in 0..2 * self.shape.groups() {
            for _ in 0..self.shape.group_users() {
                let _ = run.call(Call::Write(0));
                self.call(&mut run.clone(), Call::Start);
            }
            let _ = run.call(Call::Trim(0));
            let _ = run.call(Call::Sync);
            self.call(&mut run.clone(), Call::Start);
        }
    }
}
