//! The guarded assumption, in words.

use serde::{Deserialize, Serialize};

/// The unit of a bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Nanoseconds.
    Nanoseconds,
    /// Pages.
    Pages,
    /// Occurrences of what must not happen.
    Occurrences,
}

/// One table: an assumption, its name, its unit, and the assumption in a sentence for a plan that
/// runs by Theorem 1; behind it, where it differs, the sentence for one that runs by certificates.
macro_rules! assumptions {
    ($($assumption:ident, $name:literal, $unit:ident, $theorem:literal $(, $certificates:literal)?;)*) => {
        /// An assumption that a checker guards, in the order of reports.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
        pub enum Assumption {
            $(#[doc = $theorem] $assumption,)*
        }

        impl Assumption {
            /// All assumptions that a plan of either kind may have, in their order.
            pub const ALL: &[Assumption] = &[$(Assumption::$assumption,)*];

            /// The checker's name, and the assumption's where an analysis names it too.
            pub fn name(self) -> &'static str {
                match self {
                    $(Assumption::$assumption => $name,)*
                }
            }

            /// The unit of bound and observation.
            pub fn unit(self) -> Unit {
                match self {
                    $(Assumption::$assumption => Unit::$unit,)*
                }
            }

            pub(super) fn statement(self, by_certificates: bool) -> &'static str {
                let sentences: &[&str] = match self {
                    $(Assumption::$assumption => &[$theorem $(, $certificates)?],)*
                };
                sentences[if by_certificates { sentences.len() - 1 } else { 0 }]
            }
        }
    };
}

assumptions! {
    Deadlines, "deadlines", Nanoseconds,
        "every complete read, write and GC job was complete within its relative deadline";
    Overdue, "overdue", Nanoseconds,
        "no pending real-time job is past its deadline when the run ends";
    ServerDeadlines, "server-deadlines", Nanoseconds,
        "every job of a server was complete by the deadline it was granted (IV.11)",
        "every job of a server was complete by the deadline it was granted, or a step later if \
         that was shorter than all others";
    ServerOverdue, "server-overdue", Nanoseconds,
        "no pending job of a server is past its deadline when the run ends";
    Service, "service", Nanoseconds,
        "a request's own pages take at most C + D, waiting for the bus included (IV.1, IV.2, \
         IV.5, IV.6)",
        "a request's own pages take at most c_r or c_w each, waiting for the bus included";
    BusWait, "bus-wait", Nanoseconds,
        "a page waits for its channel's bus at most D(s) (IV.5, IV.6)",
        "a page waits for its channel's bus for at most one transfer of each other chip; a \
         user's read in a superblock, of each of other clusters";
    GcCost, "gc-cost", Nanoseconds,
        "a GC pass takes a chip at most C^g (IV.3)",
        "a GC pass takes a chip at most C_g";
    VictimBound, "victim-bound", Pages,
        "a victim block holds at most ceil(lambda P) valid pages (IV.3)",
        "a victim holds at most v valid pages";
    GcKeepsPace, "gc-keeps-pace", Occurrences,
        "GC at the period T^g frees pages before they are needed: no job ever finds no free page \
         (IV.4)",
        "the reserve suffices: no program ever finds no free page";
    OneBlockingErase, "one-blocking-erase", Nanoseconds,
        "an operation of a later deadline blocks a job for at most t_e (IV.8)",
        "a step of a later deadline blocks a job for at most the longest step there is";
    EdfOrder, "edf-order", Nanoseconds,
        "no operation starts while one of an earlier deadline waits for its place",
        "no unit starts a step while a job of an earlier deadline waits for it";
    ChipExclusion, "chip-exclusion", Nanoseconds,
        "a chip does one operation at a time";
    BusExclusion, "bus-exclusion", Nanoseconds,
        "a bus carries one transfer at a time";
    PageOrder, "page-order", Occurrences,
        "pages of a block are programmed in order, each once between erases";
    Mapping, "mapping", Occurrences,
        "what is read is what was written last, and no valid page is erased",
        "what is read is what was written last, where its address says in a stripe, and no valid \
         page is erased";
    Conservation, "conservation", Occurrences,
        "jobs are released in order, complete once, with all their pages, or pending";
    Releases, "releases", Occurrences,
        "every job is released when the task set says, with its deadline and pages, and none is \
         missing",
        "every job is released when the task set says, GC at every alpha pages that arrive, with \
         its deadline and pages, and none is missing";
    Completion, "completion", Nanoseconds,
        "a job is complete when the last of its operations ends, and not at any other time";
    OperationLengths, "operation-lengths", Nanoseconds,
        "an operation takes as long as the device's times and its transfer make it";
    Transfers, "transfers", Occurrences,
        "every page that a request reads or writes is transferred once, inside its operation, on \
         its channel";
    BusOrder, "bus-order", Nanoseconds,
        "a free bus at once takes the page that has waited longest";
    VictimChoice, "victim-choice", Pages,
        "the victim is the closed block with the fewest valid pages, the lowest among equals";
    Copies, "copies", Occurrences,
        "a pass copies what it has read from its victim and is still valid, then erases it",
        "a pass copies what it has read from its victim and is still valid, then erases it, on \
         all its chips at once; those that are suspended are so at once, and go on at once";
    GcLeftOut, "gc-left-out", Occurrences,
        "a GC pass is left out where enough pages are free, and only there",
        "a GC pass is left out where H pages are free beside those that wait to be written, and \
         only there";
    Padding, "padding", Pages,
        "no copy only lets time pass; with worst victims as many do as a pass then lacks";
    WorkConserving, "work-conserving", Nanoseconds,
        "no cluster (under parallel dispatch: no chip) is idle while a job waits for it",
        "no unit is idle while a job with a deadline waits for it";
    DataFit, "data-fit", Pages,
        "the data that tasks declare fit on the chips of their clusters";
    OpenBlocks, "open-blocks", Occurrences,
        "at most F blocks are free, open or being collected when a victim is chosen";
    Reserve, "reserve", Pages,
        "as many pages are free as have arrived to be written and are not programmed yet";
    Failures, "failures", Occurrences,
        "no more blocks fail than the device states, and what a program was to hold that failed \
         is programmed next, at once";
    LevelledWear, "levelled-wear", Occurrences,
        "of the erased blocks the one that was erased least often takes pages next";
}
