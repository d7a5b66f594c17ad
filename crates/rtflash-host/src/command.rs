//! A request, or a piece of one, as a scheduler sees it.

/// An operation on a stretch of the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Op {
    /// Reads it.
    Read,
    /// Writes it.
    Write,
    /// Gives it up (trim).
    Discard,
    /// Anything else.
    Other,
}

impl Op {
    /// All of them.
    pub const ALL: [Op; 4] = [Op::Read, Op::Write, Op::Discard, Op::Other];

    /// How files call it.
    pub fn name(self) -> &'static str {
        match self {
            Op::Read => "read",
            Op::Write => "write",
            Op::Discard => "discard",
            Op::Other => "other",
        }
    }
}

/// Linux's I/O priority class, the most urgent first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub enum Class {
    /// Real-time.
    RealTime,
    /// Best effort.
    #[default]
    BestEffort,
    /// Idle.
    Idle,
}

impl Class {
    /// All of them, the most urgent first.
    pub const ALL: [Class; 3] = [Class::RealTime, Class::BestEffort, Class::Idle];

    /// How files call it.
    pub fn name(self) -> &'static str {
        match self {
            Class::RealTime => "rt",
            Class::BestEffort => "be",
            Class::Idle => "idle",
        }
    }
}

/// Levels in a class: 0 is the first, 7 the last.
pub const LEVELS: u8 = 8;

/// A request, or a piece of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Command {
    /// Its number, which no other command has.
    pub id: u64,
    /// Its operation.
    pub op: Op,
    /// Its first byte on the device.
    pub from: u64,
    /// How long it is, in bytes; above zero, but for a flush.
    pub size: u64,
    /// Its class.
    pub class: Class,
    /// Its level in the class, below [`LEVELS`].
    pub level: u8,
    /// The core that it comes from.
    pub cpu: u32,
    /// Whose it is: a number for each job.
    pub job: u32,
    /// Whether a user waits for it (Kim et al. 2020).
    pub user_centric: bool,
}

impl Command {
    /// Whether it is real-time.
    pub fn is_real_time(&self) -> bool {
        self.class == Class::RealTime
    }

    /// Whether it is a flush of the device's volatile cache: it has no bytes.
    pub fn is_flush(&self) -> bool {
        self.size == 0
    }
}
