//! Small sets at the limit of one test, and what is meant to break them.

mod attack;
mod carried;
mod copied;
mod devices;
mod drained;
mod limit;
mod prescribed;
mod queued;
mod search;
mod told;

pub use search::{LeftOut, SmallSearch, case, judge, soak_small, soak_without};

/// A world that small sets are drawn from. Each is run 16 times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SmallWorld {
    /// Sets at the limit of (T) or (T'), for stripes.
    Stripe,
    /// Sets at the limit of (T''), of which (T') rejects a cluster at least.
    Queue,
    /// Sets at the limit of (T) or (T'), for superblocks.
    Superblock,
    /// Sets at the limit of (T'), stripes beside superblocks.
    Mixed,
    /// Sets of streams, most of them, at the limit of (T), (T') or (T''), for wide stripes.
    Stream,
    /// Stripes and superblocks, at the limit of (T) or (T'), with commands on the bus.
    Command,
    /// Stripes, at the limit of (T'') with commands, a cluster of which (T') rejects.
    QueueCommand,
    /// Stripes and superblocks, at the limit of (T2), most with two page registers.
    Register,
    /// Sets as of [`Register`](Self::Register), on devices whose commands use the bus.
    RegisterCommand,
    /// Zones, at the limit of (T) or (T'), some beside stripes, some with commands on the bus.
    Zoned,
    /// Stripes and superblocks, at the limit of (T) or (T'), whose blocks fail while they run.
    Failing,
    /// Stripes and superblocks, at the limit of (T) or (T'), that suspend long erases.
    Suspending,
    /// Sets of stripes and superblocks on devices that level wear.
    Levelling,
}

impl SmallWorld {
    /// All of them.
    pub const ALL: [SmallWorld; 13] = [
        SmallWorld::Stripe,
        SmallWorld::Queue,
        SmallWorld::Superblock,
        SmallWorld::Mixed,
        SmallWorld::Stream,
        SmallWorld::Command,
        SmallWorld::QueueCommand,
        SmallWorld::Register,
        SmallWorld::RegisterCommand,
        SmallWorld::Zoned,
        SmallWorld::Failing,
        SmallWorld::Suspending,
        SmallWorld::Levelling,
    ];

    /// Runs of each set.
    pub const RUNS_OF_A_SET: u64 = 16;

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            SmallWorld::Stripe => "stripe",
            SmallWorld::Queue => "queue",
            SmallWorld::Superblock => "superblock",
            SmallWorld::Mixed => "mixed",
            SmallWorld::Stream => "stream",
            SmallWorld::Command => "command",
            SmallWorld::QueueCommand => "queue-command",
            SmallWorld::Register => "register",
            SmallWorld::RegisterCommand => "register-command",
            SmallWorld::Zoned => "zoned",
            SmallWorld::Failing => "failing",
            SmallWorld::Suspending => "suspending",
            SmallWorld::Levelling => "levelling",
        }
    }

    /// The terms of its test that a search may leave out.
    #[rustfmt::skip] // Terms of one kind are a line.
    pub const fn terms(self) -> &'static [&'static str] {
        match self {
            SmallWorld::Stripe => &[
                "blocking", "step-wait", "transfer", "window",
                "arrivals", "server-reserve", "reserve-page", "victim-page", "carry-in", "servers",
            ],
            SmallWorld::Queue => &[
                "min-fresh", "sum-fresh", "shared-fresh", "ranked-fresh", "ranked-writes",
                "own-jobs", "served-twice", "first-read", "sigma-of-one", "carry-in",
            ],
            SmallWorld::Superblock => &[
                "blocking", "step-wait", "transfer", "window",
                "arrivals", "server-reserve", "reserve-page", "victim-page", "beside", "carry-in", "copies",
                "pass-wait",
            ],
            SmallWorld::Mixed => &["blocking", "transfer", "carry-in", "copies"],
            SmallWorld::Stream => &["blocking", "transfer", "stream-page"],
            SmallWorld::Command => &["blocking", "step-wait", "transfer", "commands", "command-wait"],
            SmallWorld::QueueCommand => &["blocking", "transfer", "queued-programs", "commands"],
            SmallWorld::Register => &[
                "blocking", "turnaround", "commit", "first-rank", "carry-in",
                "transfer", "arrivals", "last-page", "own-row", "pass-step",
            ],
            SmallWorld::RegisterCommand => &[
                "blocking", "turnaround", "commit", "transfer", "told-read", "pass-step", "commands",
            ],
            SmallWorld::Zoned => &[
                "blocking", "step-wait", "transfer", "window", "stream-page", "carry-in",
                "commands", "command-wait", "resets", "reset-page", "reset-step",
            ],
            SmallWorld::Failing => &["blocking", "transfer", "repeats", "repeated-transfers", "spare-blocks"],
            SmallWorld::Suspending => &["blocking", "pass-step", "suspend", "resume"],
            SmallWorld::Levelling => &["blocking", "arrivals", "reserve-page", "victim-page"],
        }
    }
}
