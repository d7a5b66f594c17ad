//! The grounds of each step of a promise: the theorem of docs/analysis.md, and whether a machine
//! has checked it.

use rtflash_model::{Access, Allocation, Cluster, Reliance, TaskSet};

use super::report::Held;

/// A step of the argument that a cluster meets its deadlines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ground {
    /// Its statement.
    pub claim: &'static str,
    /// The place in docs/analysis.md that proves it.
    pub theorem: &'static str,
    /// The theorem of `proofs/` and its file; `None` where people alone read the proof.
    pub machine: Option<(&'static str, &'static str)>,
}

const fn checked(claim: &'static str, theorem: &'static str, name: &'static str, file: &'static str) -> Ground {
    Ground { claim, theorem, machine: Some((name, file)) }
}

const fn by_hand(claim: &'static str, theorem: &'static str) -> Ground {
    Ground { claim, theorem, machine: None }
}

macro_rules! grounds {
    ($($name:ident = $ground:expr;)*) => {
        $(const $name: Ground = $ground;)*

        /// All of them, in the order of the argument.
        pub const GROUNDS: &[Ground] = &[$($name),*];
    };
}

grounds! {
    BUS = checked("a page waits for one transfer of each other chip of its channel", "Lemma 1", "lemma_1", "Bus.v");
    ALONE = checked("a read of a superblock waits for other clusters' chips alone",
        "Section 4", "read_by_others", "Device.v");
    COMMANDS = by_hand("commands wait for the bus, and hold it", "Lemma 9");
    COUNTS = checked("a request has at most n(L) jobs due in an interval", "Lemma 7", "requests_due", "Edf.v");
    STREAMS = by_hand("k jobs of a stream have at most γ(k) pages on a chip", "Lemma 10");
    RESERVE = checked("every program finds a free page", "Lemma 2", "lemma_2", "Reserve.v");
    VICTIMS = checked("a victim has v valid pages at most", "Lemma 3", "lemma_3", "Victims.v");
    PASS_ROWS = checked("a pass of a superblock has at most n reads and its rows",
        "Section 4", "superblock_pass", "Superblock.v");
    PASS = checked("a pass costs C_g at most", "Sections 3 and 4", "pass_cost_bound", "Costs.v");
    STATED = checked("the numbers of the certificate are enough", "Lemma 20", "lemma_20", "Closing.v");
    FAILURES = by_hand("failed programs are repeated, and spare blocks exist for them", "Theorem 8");
    SUSPENSIONS = by_hand("the job that suspends an erase pays for it", "Theorem 9");
    SHARE = checked("a server takes its share at most", "Lemma 11", "lemma_11", "Server.v");
    SERVER_PAGES = checked("a server draws R pages at most", "Lemma 12", "lemma_12", "Reserve.v");
    DEMAND = checked("a processor that passes (T) meets its deadlines", "Lemma 4", "lemma_4", "Edf.v");
    STRIPE = checked("all of this holds together on a chip of a stripe",
        "Theorem S", "theorem_S_on_a_bus", "Device.v");
    ZONES = by_hand("all of this holds together on a chip whose tasks reset their own zones", "Theorem 7");
    SUPERBLOCK = checked("all of this holds together in a superblock that does not backfill",
        "Theorem D", "theorem_D_on_buses", "Device.v");
    BACKFILL = by_hand("backfill delays no job beyond its deadline", "Theorem D");
    NEIGHBOURS = checked("pages wait for no more than the neighbours move", "Theorem 3", "theorem_3", "Theorem3.v");
    SUPERBLOCK_WAITS = by_hand("steps of a superblock wait for no more than that", "Lemma 22");
    QUEUE = by_hand("sensing and waiting overlap in a queue", "Theorem 4");
    QUEUE_OF_COMMANDS = by_hand("a read waits for one page or program of another chip, and one command", "Lemma 9b");
    REGISTERS = checked("a second page register takes a page while the array works",
        "Theorem 5", "theorem_5", "Channel.v");
    REGISTERS_SERVER = by_hand("a server uses both page registers", "Theorem 5");
    REGISTERS_SUPERBLOCK = by_hand("a superblock whose chips have a second page register is as one such chip",
        "Theorem 6");
    REGISTERS_COMMANDS = by_hand("a read's command waits with the page before it, or alone", "Lemma 23");
    LAST = checked("no interval beyond the last length fails", "Section 2.7", "last_length_suffices", "Demand.v");
    LAST_WITH_WAITS = checked("no interval beyond the last length fails, waits for neighbours included",
        "Section 6", "last_length'_suffices", "LastLength.v");
    LAST_OF_OTHERS = by_hand(
        "no interval beyond the last length fails, with waits of a queue, a second register or a superblock",
        "Section 6");
    SEGMENTS = checked("no interval up to it is left out", "Lemma 5", "lemma_5_code", "Qpa.v");
    TIGHTEST = checked("the tightest interval has the least slack", "Section 2.7", "tightest_correct", "Tightest.v");
}

#[derive(Debug, Clone, Copy)]
struct Promised {
    cached: bool,
    superblock: bool,
    zoned: bool,
    backfill: bool,
    server: bool,
    streams: bool,
    commands: bool,
    failing: bool,
    suspends: bool,
    relies_on: Reliance,
    beside: OtherClusters,
}

#[derive(Debug, Clone, Copy, Default)]
struct OtherClusters {
    cached: bool,
    plain: bool,
    superblock: bool,
    zoned: bool,
    backfill: bool,
    streams: bool,
    server: bool,
}

fn has_streams(set: &TaskSet, cluster: &Cluster) -> bool {
    let tasks = cluster.tasks.iter().filter_map(|&task| set.tasks().get(task));
    tasks.flat_map(|task| task.read.iter().chain(&task.write)).any(|request| request.access() == Access::Stream)
}

impl OtherClusters {
    fn new(set: &TaskSet, allocation: &Allocation, position: usize) -> OtherClusters {
        let clusters = allocation.clusters();
        let channel = |chip: &rtflash_model::ChipId| set.device().channel_of(chip.0);
        let shares = |other: &Cluster| {
            other.chips.iter().any(|chip| clusters[position].chips.iter().any(|own| channel(own) == channel(chip)))
        };
        let mut beside = OtherClusters::default();
        for (at, cluster) in clusters.iter().enumerate().filter(|&(at, cluster)| at != position && shares(cluster)) {
            let Some(certificate) = allocation.certificate(at) else { continue };
            let (placement, server) = (certificate.placement, certificate.server_thousandths > 0);
            if cluster.tasks.is_empty() && !server {
                continue;
            }
            let superblock = !placement.is_by_chip();
            beside.cached |= placement.is_cached();
            beside.plain |= !superblock && !placement.is_cached();
            beside.superblock |= superblock;
            beside.zoned |= placement.is_zoned();
            beside.backfill |= superblock && certificate.backfill && !placement.is_cached();
            beside.streams |= !superblock && has_streams(set, cluster);
            beside.server |= server;
        }
        beside
    }
}

impl Promised {
    /// Whether the cluster passes (T): what a superblock that backfills waits for is in its costs.
    fn passes_t(&self) -> bool {
        !self.cached && (self.relies_on == Reliance::Nothing || self.superblock && self.backfill)
    }

    /// Whether waits are counted by intervals in a way that is proved by hand.
    fn waits_by_hand(&self) -> bool {
        self.cached || !self.passes_t() && (self.superblock || self.relies_on == Reliance::Queue)
    }

    fn needs(&self, ground: Ground) -> bool {
        match ground {
            ALONE | PASS_ROWS => self.superblock,
            SUPERBLOCK => self.superblock && self.passes_t(),
            BACKFILL => self.superblock && self.backfill && !self.cached,
            SUPERBLOCK_WAITS => self.superblock && !self.passes_t() && !self.cached,
            COMMANDS => self.commands,
            FAILURES => self.failing,
            SUSPENSIONS => self.suspends,
            STREAMS => self.streams,
            SHARE | SERVER_PAGES => self.server,
            // Theorem 5 takes the place of both: its steps are others.
            DEMAND => self.passes_t(),
            STRIPE => !self.superblock && !self.zoned && self.passes_t(),
            ZONES => self.zoned,
            NEIGHBOURS => !self.cached && self.relies_on >= Reliance::Neighbours,
            QUEUE => self.relies_on == Reliance::Queue && !self.commands,
            QUEUE_OF_COMMANDS => self.relies_on == Reliance::Queue && self.commands,
            REGISTERS => self.cached && !self.superblock,
            REGISTERS_SERVER => self.cached && !self.superblock && self.server,
            REGISTERS_SUPERBLOCK => self.cached && self.superblock,
            REGISTERS_COMMANDS => self.cached && self.commands,
            LAST => self.passes_t(),
            LAST_WITH_WAITS => !self.passes_t() && !self.waits_by_hand(),
            LAST_OF_OTHERS => self.waits_by_hand(),
            TIGHTEST => self.passes_t(),
            _ => true,
        }
    }

    /// Machines count a number of pages a job, a bus that carries pages alone, servers of chips
    /// with one register, and no backfill.
    fn is_covered(&self, ground: Ground) -> bool {
        let Promised { cached, superblock, server, streams, commands, relies_on, beside, .. } = *self;
        let relies = relies_on > Reliance::Nothing;
        let others_are_covered = !relies || !beside.streams && !commands;
        let is_shared = matches!(ground, BUS | ALONE | COUNTS | PASS_ROWS | PASS | SHARE | SERVER_PAGES);
        match ground {
            // No machine knows of either.
            _ if (self.failing || self.suspends) && !is_shared => false,
            ALONE => !commands && !cached,
            RESERVE | VICTIMS | PASS | STATED if cached && (server || superblock || commands) => false,
            SHARE | SERVER_PAGES => !cached,
            RESERVE | STATED | DEMAND | LAST | TIGHTEST => !streams,
            STRIPE => !streams,
            SUPERBLOCK => !relies,
            NEIGHBOURS => {
                let by_theorem_3 = relies_on == Reliance::Neighbours && !superblock && !streams && !self.zoned;
                by_theorem_3 && others_are_covered && !beside.cached && !beside.backfill && !beside.zoned
            }
            REGISTERS => {
                let alone = !relies || !beside.plain && !beside.superblock && !beside.streams && !beside.server;
                !streams && !server && !commands && alone
            }
            LAST_WITH_WAITS => !streams && others_are_covered,
            SEGMENTS => !streams && others_are_covered && !self.waits_by_hand(),
            _ => true,
        }
    }
}

/// The promise of the cluster at this position, in the order of the argument.
pub fn grounds(
    set: &TaskSet,
    allocation: &Allocation,
    position: usize,
    held: &Held,
    relies_on: Reliance,
) -> Vec<Ground> {
    let certificate = held.certificate;
    let superblock = !certificate.placement.is_by_chip();
    let clusters = allocation.clusters();
    let promised = Promised {
        cached: certificate.placement.is_cached(),
        superblock,
        zoned: certificate.placement.is_zoned(),
        backfill: certificate.backfill,
        server: certificate.server_thousandths > 0,
        streams: !superblock && clusters.get(position).is_some_and(|cluster| has_streams(set, cluster)),
        commands: set.device().has_commands(),
        failing: set.device().spare_blocks() > 0,
        suspends: certificate.suspends_erases(set.device()) && held.gc.is_some(),
        relies_on,
        beside: OtherClusters::new(set, allocation, position),
    };
    let is_there = |ground: &Ground| match *ground {
        RESERVE | VICTIMS | PASS | PASS_ROWS | STATED => held.gc.is_some(),
        TIGHTEST => certificate.tightest.is_some(),
        _ => true,
    };
    let as_far_as_checked = |ground: Ground| match ground {
        _ if !promised.is_covered(ground) => Ground { machine: None, ..ground },
        // Lemma 9's costs are not of one device of Section 1.
        STRIPE | SUPERBLOCK if promised.commands => Ground { machine: Some(("closing", "Closing.v")), ..ground },
        _ => ground,
    };
    let needed = GROUNDS.iter().copied().filter(|&ground| promised.needs(ground) && is_there(&ground));
    needed.map(as_far_as_checked).collect()
}
