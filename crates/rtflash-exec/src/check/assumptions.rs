//! What is guarded, in words.

/// What a bound is counted in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Nanoseconds.
    Nanoseconds,
    /// Pages.
    Pages,
    /// Occurrences of what must not happen.
    Occurrences,
}

/// What a checker guards.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Assumption {
    /// The checker's name, and the assumption's where an analysis names it too.
    pub name: &'static str,
    /// The assumption in a sentence.
    pub statement: &'static str,
    /// What bound and observation are counted in.
    pub unit: Unit,
}

/// Where the ones that only certificates need begin.
const COMMON: usize = 27;

/// All that is guarded, in the order of reports.
pub const ASSUMPTIONS: [Assumption; COMMON] = {
    const fn of(name: &'static str, unit: Unit, statement: &'static str) -> Assumption {
        Assumption { name, statement, unit }
    }
    use Unit::{Nanoseconds, Occurrences, Pages};
    [
        of("deadlines", Nanoseconds, "every complete read, write and GC job was complete within its relative deadline"),
        of("overdue", Nanoseconds, "no pending real-time job is past its deadline when the run ends"),
        of(
            "server-deadlines",
            Nanoseconds,
            "every job of a server was complete by the deadline it was granted (IV.11)",
        ),
        of("server-overdue", Nanoseconds, "no pending job of a server is past its deadline when the run ends"),
        of(
            "service",
            Nanoseconds,
            "a request's own pages take at most C + D, waiting for the bus included (IV.1, IV.2, IV.5, IV.6)",
        ),
        of("bus-wait", Nanoseconds, "a page waits for its channel's bus at most D(s) (IV.5, IV.6)"),
        of("gc-cost", Nanoseconds, "a GC pass takes a chip at most C^g (IV.3)"),
        of("victim-bound", Pages, "a victim block holds at most ceil(lambda P) valid pages (IV.3)"),
        of(
            "gc-keeps-pace",
            Occurrences,
            "GC at the period T^g frees pages before they are needed: no job ever finds no free page (IV.4)",
        ),
        of("one-blocking-erase", Nanoseconds, "an operation of a later deadline blocks a job for at most t_e (IV.8)"),
        of("edf-order", Nanoseconds, "no operation starts while one of an earlier deadline waits for its place"),
        of("chip-exclusion", Nanoseconds, "a chip does one operation at a time"),
        of("bus-exclusion", Nanoseconds, "a bus carries one transfer at a time"),
        of("page-order", Occurrences, "pages of a block are programmed in order, each once between erases"),
        of("mapping", Occurrences, "what is read is what was written last, and no valid page is erased"),
        of("conservation", Occurrences, "jobs are released in order, complete once, with all their pages, or pending"),
        of(
            "releases",
            Occurrences,
            "every job is released when the task set says, with its deadline and pages, and none is missing",
        ),
        of(
            "completion",
            Nanoseconds,
            "a job is complete when the last of its operations ends, and not at any other time",
        ),
        of(
            "operation-lengths",
            Nanoseconds,
            "an operation takes as long as the device's times and its transfer make it",
        ),
        of(
            "transfers",
            Occurrences,
            "every page that a request reads or writes is transferred once, inside its operation, on its channel",
        ),
        of("bus-order", Nanoseconds, "a free bus at once takes the page that has waited longest"),
        of(
            "victim-choice",
            Pages,
            "the victim is the closed block with the fewest valid pages, the lowest among equals",
        ),
        of("copies", Occurrences, "a pass copies what it has read from its victim and is still valid, then erases it"),
        of("gc-left-out", Occurrences, "a GC pass is left out where enough pages are free, and only there"),
        of("padding", Pages, "no copy only lets time pass; with worst victims as many do as a pass then lacks"),
        of(
            "work-conserving",
            Nanoseconds,
            "no cluster (under parallel dispatch: no chip) is idle while a job waits for it",
        ),
        of("data-fit", Pages, "the data that tasks declare fit on the chips of their clusters"),
    ]
};

/// The same under certificates, in the same order, and what is guarded beside.
pub const CERTIFIED: [Assumption; COMMON + 2] = {
    let mut all = [ASSUMPTIONS[0]; COMMON + 2];
    let mut at = 0;
    while at < COMMON {
        all[at] = ASSUMPTIONS[at];
        at += 1;
    }
    all[2].statement = "every job of a server was complete by the deadline it was granted, or a step later if that was shorter than all others";
    all[4].statement = "a request's own pages take at most c_r or c_w each, waiting for the bus included";
    all[5].statement = "a page waits for its channel's bus for at most one transfer of each other chip; a user's read in a superblock, of each of other clusters";
    all[6].statement = "a GC pass takes a chip at most C_g";
    all[7].statement = "a victim holds at most v valid pages";
    all[8].statement = "the reserve suffices: no program ever finds no free page";
    all[9].statement = "a step of a later deadline blocks a job for at most the longest step there is";
    all[10].statement = "no unit starts a step while a job of an earlier deadline waits for it";
    all[14].statement =
        "what is read is what was written last, where its address says in a stripe, and no valid page is erased";
    all[16].statement = "every job is released when the task set says, GC at every alpha pages that arrive, with its deadline and pages, and none is missing";
    all[22].statement = "a pass copies what it has read from its victim and is still valid, then erases it, on all its chips at once; those that are suspended are so at once, and go on at once";
    all[23].statement =
        "a GC pass is left out where H pages are free beside those that wait to be written, and only there";
    all[25].statement = "no unit is idle while a job with a deadline waits for it";
    all[COMMON] = Assumption {
        name: "open-blocks",
        statement: "at most F blocks are free, open or being collected when a victim is chosen",
        unit: Unit::Occurrences,
    };
    all[COMMON + 1] = Assumption {
        name: "reserve",
        statement: "as many pages are free as have arrived to be written and are not programmed yet",
        unit: Unit::Pages,
    };
    all
};

/// The same on devices that keep blocks back for those that fail.
pub const FAILING: [Assumption; COMMON + 3] = {
    let mut all = [CERTIFIED[0]; COMMON + 3];
    let mut at = 0;
    while at < CERTIFIED.len() {
        all[at] = CERTIFIED[at];
        at += 1;
    }
    all[CERTIFIED.len()] = Assumption {
        name: "failures",
        statement: "no more blocks fail than the device states, and what a program was to hold that failed is programmed next, at once",
        unit: Unit::Occurrences,
    };
    all
};

/// The same where wear is levelled, whether or not blocks may fail.
pub const LEVELLED: [Assumption; COMMON + 4] = {
    let mut all = [FAILING[0]; COMMON + 4];
    let mut at = 0;
    while at < FAILING.len() {
        all[at] = FAILING[at];
        at += 1;
    }
    all[FAILING.len()] = Assumption {
        name: "levelled-wear",
        statement: "of the erased blocks the one that was erased least often takes pages next",
        unit: Unit::Occurrences,
    };
    all
};
