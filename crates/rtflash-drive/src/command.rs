//! Commands that a drive has carried out.

use std::num::NonZeroU32;

use rtflash_host::Op;

/// A command that a drive has carried out, as a measurement has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Done {
    /// When the drive got it, in ns of the measurement's clock.
    pub issued: u64,
    /// When it ended, no earlier.
    pub ended: u64,
    /// A read or a write.
    pub op: Op,
    /// The process that issued it, if that is known.
    pub process: Option<NonZeroU32>,
    /// Its first byte.
    pub from: u64,
    /// Bytes, above zero.
    pub size: u64,
    /// Other commands in flight as it was issued.
    pub others: u32,
    /// Whether another command was issued while it was in flight.
    pub is_joined: bool,
    /// Whether it continues the I/O of the command before it: it begins where that one ended, does
    /// the same, and was issued no later than that one's end.
    pub continues: bool,
    /// How long the drive had nothing to do before, in ns; zero where it had.
    pub idle: u64,
    /// When the command before it ended, or zero: a serial drive began it no earlier.
    pub free: u64,
}

impl Done {
    /// From issue to end, in ns.
    pub fn residence(&self) -> u64 {
        self.ended.saturating_sub(self.issued)
    }

    /// Whether it had the drive alone from issue to end.
    pub fn is_alone(&self) -> bool {
        self.others == 0 && !self.is_joined
    }

    /// Its time on a drive that does one command at a time, in ns.
    pub fn service(&self) -> u64 {
        self.ended.saturating_sub(self.issued.max(self.free))
    }
}
