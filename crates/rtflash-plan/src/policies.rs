//! The names of a run's policies.

use crate::{Aging, Arbitration, Dispatch, Pattern, Phases, Recurrence, Service, Ties, Times, Victims, Waits};

/// A policy of a run, by the name that users type, and that answers and traces print.
pub trait Policy: Copy + PartialEq + Default + Send + Sync + 'static {
    /// Every choice, in the order of help.
    const ALL: &'static [Self];

    /// Its name.
    fn name(self) -> &'static str;

    /// A name that is accepted as well.
    fn other_name(self) -> Option<&'static str>;

    /// Its description, in a line.
    fn summary(self) -> &'static str;

    /// The choice of this name.
    fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|of| of.name() == name || of.other_name() == Some(name))
    }

    /// Its name, unless it is the usual choice.
    fn stated(self) -> Option<&'static str> {
        (self != Self::default()).then(|| self.name())
    }
}

macro_rules! policies {
    ($($policy:ident { $($choice:ident $name:literal $(| $other:literal)? $summary:literal)* })*) => {$(
        impl Policy for $policy {
            const ALL: &'static [$policy] = &[$($policy::$choice),*];

            fn name(self) -> &'static str {
                match self { $($policy::$choice => $name),* }
            }

            fn other_name(self) -> Option<&'static str> {
                match self { $($policy::$choice => None$(.or(Some($other)))?),* }
            }

            fn summary(self) -> &'static str {
                match self { $($policy::$choice => $summary),* }
            }
        }
    )*};
}

policies! {
    Dispatch {
        Serial "serial" "One operation, or one step of garbage collection on all chips, at a time in a cluster, \
                         as Theorem 1 supposes"
        Parallel "parallel" "Every chip takes the earliest-deadline operation that waits for it"
    }
    Service {
        Tbs "tbs" "By Total Bandwidth Servers"
        Background "background" "When nothing real-time is pending"
    }
    Victims {
        Actual "actual" "Those that are valid"
        Worst "worst" "The most that the analysis charges: ceil(lambda P) on every chip, or v of the certificate"
    }
    Aging {
        Worst "worst" "Full, valid pages spread evenly over all blocks"
        Random "random" "Full, valid pages anywhere"
        Fresh "fresh" "Written once"
    }
    Pattern {
        Uniform "uniform" "Any page of the task's part, alike"
        Sequential "sequential" "One after another"
        HotCold "hot-cold" "Eight of ten in the first fifth"
        OneChip "one-chip" "Those on the cluster's first chip"
        Fullest "fullest" "Writes go to the fullest block, so that victims stay full; reads as with one-chip"
    }
    Waits {
        Actual "actual" "Until the transfers before it are over"
        Worst "worst" "As long as all other chips of the channel may take: for clusters that hold whatever their \
                       neighbours do"
    }
    Times {
        Worst "worst" "As long as they may"
        Best "best" | "early" "As short as they may (also `early`)"
        Random "random" | "range" "Each anything in between (also `range`)"
    }
    Phases {
        Periodic "periodic" "At 0"
        AtErases "at-erases" "Where possible just behind the beginning of an erase"
        Random "random" "Drawn below the period"
    }
    Recurrence {
        Periodic "periodic" "A period"
        Sporadic "sporadic" "A period, and every other time up to another one, drawn"
    }
    Arbitration {
        Fifo "fifo" "The one that has waited longest"
        RoundRobin "round-robin" "The first one behind the chip that had the bus last, round the channel"
    }
    Ties {
        Lowest "lowest" "Reads, writes, garbage collection, jobs; the first task; the lowest chip"
        Highest "highest" "The other way round"
        Random "random" "In an order that is drawn"
    }
}
