//! `stripe`, `superblock`, `sound` and `zoned`: what may be promised on the device that the
//! executor models.

use rtflash_model::{Placement, Reliance, TaskSet};

use super::{Analysis, Assumption, DEADLINES, DemandTest, Test};

const RULES: Assumption = Assumption {
    name: "device-rules",
    statement: "the device places pages, collects garbage and chooses operations by the rules of docs/analysis.md, \
                with what the certificate says",
};
const BUS: Assumption = Assumption {
    name: "fifo-bus",
    statement: "a channel's bus serves one transfer at a time, first come, first served, and a chip asks for one at a \
                time",
};
const TIMES: Assumption = Assumption {
    name: "worst-case-times",
    statement: "no operation takes longer than the device says: no retries, no suspensions but those of erases that \
                it states, no traffic of the map; for a cluster that assumes a first-come, first-served bus (--assume \
                fifo-bus), a transfer takes exactly its time, and sensing its time or less than a transfer less \
                (docs/analysis.md, Section 6.1)",
};
const ACCESS: Assumption = Assumption {
    name: "access-as-declared",
    statement: "a request that is declared sequential has consecutive pages of its task's range; any other may have \
                any pages",
};
const BLOCKS: Assumption = Assumption {
    name: "good-blocks",
    statement: "every chip has as many good blocks as the device says, and starts with its reserve of free pages",
};
/// Every writer of [`Zoned`] is a stream.
const RINGS: Assumption = Assumption {
    name: "zones-in-order",
    statement: "who writes is a stream, whose pages go round in zones of its own; the first page of a block is written \
                when the block has been reset, by the request that writes it (docs/analysis.md, Section 16)",
};

/// An analysis with a demand test: its names, placements and assumptions, and what else it says.
macro_rules! sound {
    (
        $(#[$doc:meta])* $analysis:ident, $name:literal, $summary:literal, $placements:expr, $assumes:expr;
        $($more:tt)*
    ) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
        pub struct $analysis {
            /// The most that its promises may rely on.
            pub rely_on: Reliance,
        }

        impl $analysis {
            /// The one whose promises may rely on so much.
            pub const fn relying_on(rely_on: Reliance) -> $analysis {
                $analysis { rely_on }
            }
        }

        impl Analysis for $analysis {
            fn name(&self) -> &'static str {
                $name
            }

            fn summary(&self) -> &'static str {
                $summary
            }

            fn assumes(&self) -> &'static [Assumption] {
                &$assumes
            }

            fn takes_deadlines(&self) -> bool {
                true
            }

            fn test(&self) -> Test<'_> {
                Test::Demand(DemandTest { placements: &$placements, rely_on: self.rely_on })
            }

            $($more)*
        }
    };
}

sound! {
    /// Static stripe: the address of a page fixes its chip, and each chip is an EDF processor of
    /// its own.
    Stripe, "stripe", "processor demand on each chip of a static stripe (docs/analysis.md)",
    [Placement::Stripe, Placement::CachedStripe], [RULES, BUS, TIMES, ACCESS, BLOCKS, DEADLINES];
}

sound! {
    /// Superblock: rows are striped over the chips of a cluster as they are written, and the
    /// cluster is one EDF processor.
    Superblock, "superblock", "processor demand on clusters of superblocks (docs/analysis.md)",
    [Placement::Superblock, Placement::CachedSuperblock], [RULES, BUS, TIMES, ACCESS, BLOCKS, DEADLINES];
}

sound! {
    /// The better of [`Stripe`] and [`Superblock`] for each cluster.
    Sound, "sound", "the better of stripe and superblock for each cluster: holds on the device that exec runs",
    Placement::COLLECTING, [RULES, BUS, TIMES, ACCESS, BLOCKS, DEADLINES];
}

sound! {
    /// Zones: the tasks own blocks on every chip of their cluster and reset them themselves, so
    /// that nothing is collected. Every writer is a stream. Each chip is an EDF processor of its
    /// own.
    Zoned, "zoned", "processor demand on each chip where tasks own zones and reset them (docs/analysis.md)",
    [Placement::Zoned], [RULES, RINGS, BUS, TIMES, ACCESS, BLOCKS, DEADLINES];

    fn undefined(&self, set: &TaskSet) -> Option<&'static str> {
        let jumps = set.tasks().iter().any(|task| !task.fits_zones());
        jumps.then_some(
            "write requests need \"access\": \"stream\", as a zone is written in order; --analysis stripe and \
             --analysis superblock accept others",
        )
    }
}
