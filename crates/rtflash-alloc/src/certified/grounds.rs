//! What each step of a promise rests on: the theorem of docs/analysis.md, and whether a machine has
//! checked it.

use rtflash_model::{Access, Cluster, Placement, Reliance, Task, TaskSet};

use super::report::Held;

/// A step of the argument that a cluster meets its deadlines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ground {
    /// What it says.
    pub claim: &'static str,
    /// Where docs/analysis.md proves it.
    pub theorem: &'static str,
    /// The theorem of `proofs/` that says so, and its file; `None` where the proof was read by
    /// people alone.
    pub machine: Option<(&'static str, &'static str)>,
}

/// By a machine.
const fn checked(claim: &'static str, theorem: &'static str, name: &'static str, file: &'static str) -> Ground {
    Ground { claim, theorem, machine: Some((name, file)) }
}

/// By hand.
const fn by_hand(claim: &'static str, theorem: &'static str) -> Ground {
    Ground { claim, theorem, machine: None }
}

const BUS: Ground =
    checked("a page waits for one transfer of each other chip of its channel", "Lemma 1", "lemma_1", "Bus.v");
const ALONE: Ground =
    checked("a read of a superblock waits for other clusters' chips alone", "Section 4", "read_by_others", "Device.v");
const COMMANDS: Ground = by_hand("commands wait for the bus, and hold it", "Lemma 21");
const COUNTS: Ground = checked("so many jobs of a request are due in an interval", "Lemma 10", "requests_due", "Edf.v");
const STREAMS: Ground = by_hand("so many pages of a stream's jobs are on a chip", "Lemma 20");
const RESERVE: Ground = checked("every program finds a free page", "Lemma 2", "lemma_2", "Reserve.v");
const VICTIMS: Ground = checked("a victim has v valid pages at most", "Lemma 3", "lemma_3", "Victims.v");
const PASS: Ground = checked("a pass costs C_g at most", "Sections 3 and 4", "pass_cost_bound", "Costs.v");
const PASS_ROWS: Ground =
    checked("a pass of a superblock has so many reads and rows", "Section 4", "superblock_pass", "Superblock.v");
const STATED: Ground = checked("the numbers of the certificate are enough", "Lemma 8", "lemma_8", "Closing.v");
const SHARE: Ground = checked("a server takes its share at most", "Lemma 6", "lemma_6", "Server.v");
const SERVER_PAGES: Ground = checked("a server draws R pages at most", "Lemma 7", "lemma_7", "Reserve.v");
const DEMAND: Ground =
    checked("who passes (T) is not late, pages and passes being as said", "Lemma 4", "lemma_4", "Edf.v");
const STRIPE: Ground =
    checked("all of this holds together on a chip of a stripe", "Theorem S", "theorem_S_on_a_bus", "Device.v");
const SUPERBLOCK: Ground = checked(
    "all of this holds together in a superblock that does not backfill",
    "Theorem D",
    "theorem_D_on_buses",
    "Device.v",
);
const BACKFILL: Ground = by_hand("backfill makes nobody late", "Theorem D");
const NEIGHBOURS: Ground =
    checked("pages wait for no more than the neighbours move", "Theorem 3", "theorem_3", "Theorem3.v");
const QUEUE: Ground = by_hand("sensing and waiting overlap in a queue", "Theorem 4");
const REGISTERS: Ground =
    checked("a second page register takes a page while the array goes on", "Theorem 5", "theorem_5", "Channel.v");
const REGISTERS_SERVER: Ground = by_hand("a server does so, too", "Theorem 5");
const LAST: Ground =
    checked("no interval beyond the last length fails", "Section 2.7", "last_length_suffices", "Demand.v");
const LAST_WITH_WAITS: Ground = checked(
    "no interval beyond the last length fails, waits for neighbours included",
    "Section 6",
    "last_length'_suffices",
    "LastLength.v",
);
const LAST_OF_OTHERS: Ground =
    by_hand("no interval beyond the last length fails, with waits of a queue or a second register", "Section 6");
const SEGMENTS: Ground = checked("no interval up to it is left out", "Lemma 5", "lemma_5_code", "Qpa.v");
const TIGHTEST: Ground =
    checked("the tightest interval has the least slack", "Section 2.7", "tightest_correct", "Tightest.v");

/// All of them, in the order of the argument.
pub const GROUNDS: [Ground; 25] = [
    BUS,
    ALONE,
    COMMANDS,
    COUNTS,
    STREAMS,
    RESERVE,
    VICTIMS,
    PASS_ROWS,
    PASS,
    STATED,
    SHARE,
    SERVER_PAGES,
    DEMAND,
    STRIPE,
    SUPERBLOCK,
    BACKFILL,
    NEIGHBOURS,
    QUEUE,
    REGISTERS,
    REGISTERS_SERVER,
    LAST,
    LAST_WITH_WAITS,
    LAST_OF_OTHERS,
    SEGMENTS,
    TIGHTEST,
];

/// What the promise of a cluster rests on that holds relying on this, in the order of the argument.
pub fn grounds(set: &TaskSet, cluster: &Cluster, held: &Held, relies_on: Reliance) -> Vec<Ground> {
    let placement = held.certificate.placement;
    let (cached, superblock) = (placement.is_cached(), placement == Placement::Superblock);
    let server = held.certificate.server_thousandths > 0;
    let tasks: Vec<&Task> = cluster.tasks.iter().filter_map(|&task| set.tasks().get(task)).collect();
    let of_streams =
        |task: &&Task| task.read.iter().chain(&task.write).any(|request| request.access() == Access::Stream);
    let streams = !superblock && tasks.iter().any(of_streams);
    let commands = set.device().has_commands();
    let waits = cached || relies_on > Reliance::Nothing;
    let by_hand = cached || relies_on == Reliance::Queue;
    let applies = |ground: &Ground| match *ground {
        ALONE | PASS_ROWS | SUPERBLOCK | BACKFILL => superblock && (*ground != PASS_ROWS || held.gc.is_some()),
        COMMANDS => commands,
        STREAMS => streams,
        RESERVE | VICTIMS | PASS | STATED => held.gc.is_some(),
        SHARE | SERVER_PAGES => server,
        // Theorem 5 takes the place of both: its steps are others.
        DEMAND => !cached,
        STRIPE => !superblock && !cached,
        NEIGHBOURS => relies_on >= Reliance::Neighbours,
        QUEUE => relies_on == Reliance::Queue,
        REGISTERS => cached,
        REGISTERS_SERVER => cached && server,
        LAST => !waits,
        LAST_WITH_WAITS => waits && !by_hand,
        LAST_OF_OTHERS => by_hand,
        TIGHTEST => !waits && held.certificate.tightest.is_some(),
        _ => true,
    };
    let as_far_as_checked = |ground: Ground| match ground {
        // What has been checked counts so many pages a job, and a bus that carries pages alone.
        RESERVE | STATED | DEMAND | STRIPE | NEIGHBOURS | REGISTERS | LAST | LAST_WITH_WAITS | TIGHTEST if streams => {
            Ground { machine: None, ..ground }
        }
        ALONE | NEIGHBOURS | LAST_WITH_WAITS if commands => Ground { machine: None, ..ground },
        // Checked with what steps take as a hypothesis.
        STRIPE if commands => Ground { machine: Some(("theorem_S", "Closing.v")), ..ground },
        SUPERBLOCK if commands => Ground { machine: Some(("theorem_D", "Closing.v")), ..ground },
        _ => ground,
    };
    GROUNDS.into_iter().filter(applies).map(as_far_as_checked).collect()
}
