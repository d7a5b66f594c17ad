//! Bounds on a call of Dhara, in operations and in time. SPEC.md has the proofs.

use std::ops::{Add, Mul};

use crate::META_BYTES;
use crate::excess::excess;
use crate::nand::{NandGeometry, NandOperation};

/// Blocks that a search for a checkpoint tries (`DHARA_MAX_RETRIES` of `journal.h`).
const TRIES: u64 = 8;
/// Pages that the bound on the length of the journal and the bound on garbage allow for rounding.
const ROUNDED_PAGES: u64 = 8;

/// How often each operation is done.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CallCost {
    /// Reads, of whole pages or of one page's metadata.
    pub reads: u64,
    /// Reads among these of whole pages. A log does not tell them apart.
    pub whole: u64,
    /// Checks whether a block is marked bad.
    pub bad_checks: u64,
    /// Checks whether a page is free.
    pub free_checks: u64,
    /// Programs from memory: new data and checkpoints.
    pub programs: u64,
    /// Copies of a page.
    pub copies: u64,
    /// Erases.
    pub erases: u64,
    /// Blocks that are marked bad.
    pub marks: u64,
}

impl Add for CallCost {
    type Output = CallCost;

    fn add(self, other: CallCost) -> CallCost {
        self.zip(other, |mine, theirs| mine + theirs)
    }
}

impl Mul<u64> for CallCost {
    type Output = CallCost;

    fn mul(self, by: u64) -> CallCost {
        self.zip(self, |mine, _| mine * by)
    }
}

impl CallCost {
    fn zip(self, other: CallCost, of: impl Fn(u64, u64) -> u64) -> CallCost {
        CallCost {
            reads: of(self.reads, other.reads),
            whole: of(self.whole, other.whole),
            bad_checks: of(self.bad_checks, other.bad_checks),
            free_checks: of(self.free_checks, other.free_checks),
            programs: of(self.programs, other.programs),
            copies: of(self.copies, other.copies),
            erases: of(self.erases, other.erases),
            marks: of(self.marks, other.marks),
        }
    }

    /// Those of a log.
    pub fn of(log: &[NandOperation]) -> CallCost {
        let mut all = CallCost::default();
        for operation in log {
            let which = match operation {
                NandOperation::IsBad(_) => &mut all.bad_checks,
                NandOperation::MarkBad(_) => &mut all.marks,
                NandOperation::Erase(_) => &mut all.erases,
                NandOperation::Program(_) => &mut all.programs,
                NandOperation::IsFree(_) => &mut all.free_checks,
                NandOperation::Read(_) => &mut all.reads,
                NandOperation::Copy(..) => &mut all.copies,
            };
            *which += 1;
        }
        all
    }

    /// Whether none is done more often than `bound` says.
    pub fn within(&self, bound: &CallCost) -> bool {
        let counts =
            |of: &CallCost| [of.reads, of.bad_checks, of.free_checks, of.programs, of.copies, of.erases, of.marks];
        counts(self).iter().zip(counts(bound)).all(|(have, most)| *have <= most)
    }

    /// How long they take, in nanoseconds.
    pub fn time(&self, times: &DriverTimes) -> u128 {
        let parts = self.reads.saturating_sub(self.whole) + self.bad_checks;
        let wholes = self.whole + self.free_checks;
        let all = [
            (parts, times.part),
            (wholes, times.whole),
            (self.programs, times.program),
            (self.copies, times.copy),
            (self.erases, times.erase),
            (self.marks, times.mark),
        ];
        all.iter().map(|&(many, each)| u128::from(many) * each).sum()
    }
}

/// How long a driver takes for each operation, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DriverTimes {
    /// For a page's metadata, or a block's mark.
    pub part: u128,
    /// For a whole page.
    pub whole: u128,
    /// To program a page.
    pub program: u128,
    /// To copy a page.
    pub copy: u128,
    /// To erase a block.
    pub erase: u128,
    /// To mark a block bad.
    pub mark: u128,
}

/// The parts of a driver's times, in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChipTimes {
    /// t_r.
    pub read: u128,
    /// t_w.
    pub program: u128,
    /// t_e.
    pub erase: u128,
    /// t_d.
    pub transfer: u128,
    /// Bytes of a page.
    pub page: u128,
}

impl DriverTimes {
    /// The longer of what the drivers of Zephyr and Espressif do for each operation. Zephyr's
    /// copies through memory (`dhara_nand_copy` of `disk_ftl.c`). Espressif's reads a page before
    /// it programs it (`nand_prog` of `nand_impl.c`), and erases a block before it marks it
    /// (`nand_mark_bad`).
    pub fn of(chip: &ChipTimes) -> DriverTimes {
        let part = chip.read + (chip.transfer * u128::from(META_BYTES)).div_ceil(chip.page);
        DriverTimes {
            part,
            whole: chip.read + chip.transfer,
            program: chip.read + chip.transfer + chip.program,
            copy: chip.read + chip.program + 2 * chip.transfer,
            erase: chip.erase,
            mark: 2 * part + chip.erase + chip.program,
        }
    }
}

/// Which chip, and what is supposed of its use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DharaShape {
    /// The chip.
    pub geometry: NandGeometry,
    /// The garbage collection ratio; Dhara takes zero for one.
    pub gc_ratio: u32,
    /// All sectors that are used are below this.
    pub sectors: u32,
    /// The longest run of blocks that are marked bad, or failed and are not marked yet.
    pub bad_run: u32,
    /// Blocks that fail during the call.
    pub failures: u32,
    /// Whether power was lost or a block failed before this call, since the journal was empty.
    pub losses: bool,
    /// Blocks that failed before this call, since the journal was empty.
    pub failed: u32,
}

impl DharaShape {
    /// g.
    fn ratio(&self) -> u64 {
        u64::from(self.gc_ratio.max(1))
    }

    /// u: user pages of a group.
    pub fn group_users(&self) -> u64 {
        (1 << self.geometry.log2_group()) - 1
    }

    /// G: groups of a block.
    pub fn groups(&self) -> u64 {
        1 << (self.geometry.log2_block - self.geometry.log2_group())
    }

    /// V: user pages of a block.
    pub fn block_users(&self) -> u64 {
        self.groups() * self.group_users()
    }

    /// W: pages whose metadata a walk reads.
    pub fn walk(&self) -> u64 {
        1 + u64::from(self.bits())
    }

    /// L.
    fn bits(&self) -> u32 {
        u32::BITS - self.sectors.saturating_sub(1).leading_zeros()
    }

    /// Sectors that the map holds while this many blocks count as bad (`dhara_map_capacity`).
    pub fn capacity(&self, bad: u32) -> u64 {
        let journal = (u64::from(self.geometry.blocks).saturating_sub(u64::from(bad) + 1)) * self.block_users();
        let margin = TRIES << self.geometry.log2_block;
        journal.saturating_sub(journal / (self.ratio() + 1)).saturating_sub(margin)
    }

    /// The capacity of a new chip, on which a block in 64 counts as bad.
    pub fn new_capacity(&self) -> u64 {
        self.capacity(self.geometry.blocks >> 6)
    }

    /// The cost of appending `pages`, without their programs and copies.
    fn appended(&self, pages: u64) -> CallCost {
        let erases = pages.div_ceil(self.block_users());
        CallCost {
            programs: pages.div_ceil(self.group_users()),
            erases,
            bad_checks: erases * (1 + u64::from(self.bad_run)),
            ..CallCost::default()
        }
    }

    /// The cost of taking `pages` from the tail, with copies of all of them.
    fn collected(&self, pages: u64) -> CallCost {
        CallCost {
            reads: pages * (1 + self.walk()),
            copies: pages,
            bad_checks: pages.div_ceil(self.block_users()) * (1 + u64::from(self.bad_run)),
            ..CallCost::default()
        }
    }

    /// The cost of one block that fails: all its pages once more, a block of them at most, the
    /// metadata that are dumped, and the call.
    fn failure(&self, call: CallCost) -> CallCost {
        let pages = CallCost {
            reads: self.block_users() * (1 + self.walk()),
            copies: self.block_users(),
            programs: 1 + self.groups(),
            erases: 1,
            bad_checks: 1 + u64::from(self.bad_run),
            marks: 1,
            ..CallCost::default()
        };
        pages + call
    }

    /// How long a call takes that has this bound, in nanoseconds. A page of a failed block is
    /// copied or has the longest walk: those that are copied have log2 V steps each in the mean.
    pub fn time(&self, call: &CallCost, times: &DriverTimes) -> u128 {
        let saved_steps = (self.walk() - 1).saturating_sub(self.block_users().next_power_of_two().ilog2().into());
        let each = times.copy.min(u128::from(saved_steps) * times.part);
        // A bound has a mark for each block that fails.
        let pages = call.marks * (self.block_users() - self.group_users());
        call.time(times) - u128::from(pages) * each
    }

    fn with_failures(&self, of: CallCost, again: CallCost) -> CallCost {
        of + if self.failures > 0 { self.failure(again) * u64::from(self.failures) } else { CallCost::default() }
    }

    /// A read of a sector.
    pub fn read(&self) -> CallCost {
        CallCost { reads: self.walk() + 1, whole: 1, ..CallCost::default() }
    }

    fn collecting(&self, calls: u64) -> CallCost {
        self.collected(calls * (self.ratio() + 1)) + self.appended(calls * (self.ratio() + 2))
    }

    /// The cost of this number of writes in a row, without failures.
    pub fn writes(&self, calls: u64) -> CallCost {
        let own = CallCost { reads: calls * self.walk(), programs: calls, ..CallCost::default() };
        self.collecting(calls) + own
    }

    /// A write of a sector.
    pub fn write(&self) -> CallCost {
        self.with_failures(self.writes(1), self.writes(1))
    }

    fn trims(&self, calls: u64) -> CallCost {
        let own = CallCost { reads: calls * (self.walk() + 1), copies: calls, ..CallCost::default() };
        self.collecting(calls) + own
    }

    /// A trim of a sector.
    pub fn trim(&self) -> CallCost {
        self.with_failures(self.trims(1), self.trims(1))
    }

    /// User pages of the chip.
    fn users(&self) -> u64 {
        u64::from(self.geometry.blocks) * self.block_users()
    }

    /// The most calls since the page before the tail was appended: n of SPEC.md.
    fn calls_of_a_round(&self) -> u64 {
        let [ratio, sectors] = [self.ratio(), u64::from(self.sectors)];
        let calm = (self.capacity(0) + sectors.div_ceil(ratio + 1)).max((sectors * (ratio + 1)).div_ceil(ratio));
        let longest = if self.losses { self.users() } else { calm + ROUNDED_PAGES };
        longest.div_ceil(ratio + 1) + 1
    }

    /// The most pages of garbage between the tail and the head, without fillers, if trims leave
    /// this many besides one a call: B of SPEC.md.
    fn garbage(&self, by_trims: u64) -> u64 {
        let round = self.capacity(0).max(self.calls_of_a_round() + by_trims) + ROUNDED_PAGES;
        self.users().min(round + u64::from(self.failed) * self.block_users())
    }

    /// The most copies for each page that is written in the long run, if the sectors of `data`
    /// pages are used. They are g, or fewer if the journal has more garbage than that needs.
    pub fn copies(&self, data: u64) -> f64 {
        let ratio = self.ratio();
        // Pages that the tail passes between two checkpoints.
        let ahead = (self.group_users() + 1) * (ratio + 1);
        let garbage = self.new_capacity().saturating_sub(ahead).saturating_sub(data);
        if data >= garbage.saturating_mul(ratio) { ratio as f64 } else { data as f64 / garbage as f64 }
    }

    /// A synchronization.
    pub fn sync(&self) -> CallCost {
        let users = self.group_users();
        let trimmed = self.calls_of_a_round().min(self.sectors.into());
        // As many pages with the longest walk have the reads by which trims exceed writes.
        let walks = trimmed.min(excess(self.sectors, self.bits()).div_ceil(self.walk()));
        // The root's metadata are in memory, because it is in the group at the head.
        let walked = self.garbage(walks) + 2 * users;
        let fillers = if self.losses { self.users().saturating_sub(walked) } else { 0 };
        let pages = if self.losses { self.users() } else { self.garbage(trimmed) };
        let taken =
            CallCost { reads: walked * self.walk() + fillers, copies: users, ..self.collected(pages + 2 * users) };
        self.with_failures(taken + self.appended(users), CallCost::default())
    }

    /// A start after a loss of power.
    pub fn start(&self) -> CallCost {
        let bad = u64::from(self.bad_run);
        // A failed block without a mark is read. One with a mark is not.
        let read = bad.min(self.failed.into());
        let [bad_checks, checked] = [bad, read].map(|bad| self.tries(bad));
        let [group, groups] = [self.group_users() + 1, self.groups()];
        let halvings = u64::from(groups.ilog2());
        let free_checks = if read == 0 {
            (group + 1) * halvings + 2 * group
        } else {
            2 * group * (halvings + 1) + 2 * groups + group
        };
        let reads = checked + if self.losses { groups } else { groups.min(2) };
        CallCost { reads, whole: reads, bad_checks, free_checks, ..CallCost::default() }
    }

    /// Blocks that a start tries, where runs of `bad` have no checkpoint.
    fn tries(&self, bad: u64) -> u64 {
        TRIES.min(2 * (bad + 1)) + halved_tries(self.geometry.blocks.into(), TRIES.min(bad + 1))
    }
}

/// Blocks that the search for the last one of the round tries among `blocks`. A search before a
/// block of this round tries `success` at most. Any other ends a step.
fn halved_tries(blocks: u64, success: u64) -> u64 {
    if blocks == 0 {
        return 0;
    }
    let lower = TRIES + halved_tries((blocks - 1) / 2, success);
    let upper = 2 * success + halved_tries(blocks / 2, success);
    (success + TRIES).max(lower).max(upper)
}
