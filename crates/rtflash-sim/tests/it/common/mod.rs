//! The parts that the small random worlds of the tests share.

#![allow(dead_code)] // Each test file uses its own part of this.

pub use rtflash_testkit::ns;
use std::collections::BTreeMap;
use std::sync::Arc;

use rtflash_judge::{Checks, Finding, merge};
use rtflash_model::random::Stream;
use rtflash_model::{Allocation, Arrivals, ChipId, Cluster, ClusterId, Instant, Job, Shortest, TaskSet};
use rtflash_plan::{
    Arbitration, Arrival, NoServers, Options, Pattern, Phases, Plan, Recurrence, ReleasePattern, Ties, Times,
};
use rtflash_sim::run;
use rtflash_trace::{Kind, Record};

/// Something to run.
#[derive(Debug)]
pub struct World {
    pub plan: Plan,
    pub options: Options,
    pub arrivals: Vec<Arrival>,
}

impl World {
    /// Whether requests may come earlier or be larger than their tasks declare.
    pub fn misbehaves(&self) -> bool {
        let Some(pattern) = self.options.releases.as_ref().filter(|_| !self.options.police) else { return false };
        let requests = self.plan.sources().iter().filter_map(|source| pattern.of(source));
        requests.into_iter().any(|stated| !stated.releases.is_empty() || !stated.pages.is_empty())
    }

    /// Requests are released at 0, T, 2T, …, whatever was drawn.
    pub fn set_periodic(&mut self) {
        let options = &mut self.options;
        (options.phases, options.recurrence, options.releases) = (Phases::Periodic, Recurrence::Periodic, None);
    }
}

/// Draws who goes first, and when requests are released, from streams of their own: all else stays
/// what it was.
pub fn draw_adversaries(options: &mut Options, set: &TaskSet, (seed, case): (u64, u64)) {
    let mut rng = Stream::numbered(seed, b"order\0\0\0", case);
    options.arbitration = rng.one_of(&[Arbitration::Fifo, Arbitration::Fifo, Arbitration::RoundRobin]);
    options.ties = rng.one_of(&[Ties::Lowest, Ties::Lowest, Ties::Highest, Ties::Random]);
    if rng.within(0, 7) == 0 {
        options.pattern = Pattern::Fullest;
    }
    draw_releases(options, set, (seed, case));
}

fn draw_releases(options: &mut Options, set: &TaskSet, (seed, case): (u64, u64)) {
    let mut rng = Stream::numbered(seed, b"releases", case);
    if rng.within(0, 3) == 0 && options.phases == Phases::Periodic {
        options.phases = Phases::Random;
    }
    options.recurrence = rng.one_of(&[Recurrence::Periodic, Recurrence::Periodic, Recurrence::Sporadic]);
    if rng.within(0, 2) > 0 {
        return;
    }
    let mut pattern = ReleasePattern::default();
    for (task, of) in set.tasks().enumerate() {
        for (kind, request) in [(Kind::Read, of.read), (Kind::Write, of.write)] {
            let Some(request) = request.filter(|_| rng.within(0, 3) > 0) else { continue };
            let period = request.period().as_ns();
            let stated = pattern.request_mut(task, kind);
            stated.offset = (rng.within(0, 2) > 0).then(|| ns(rng.within(0, 2 * period)));
            stated.gaps = (0..rng.within(0, 4)).map(|_| ns(rng.within(0, 1) * rng.within(0, period))).collect();
            if rng.within(0, 3) == 0 {
                let mut releases: Vec<u64> = (0..rng.within(1, 5)).map(|_| rng.within(0, 2 * period)).collect();
                releases.sort_unstable();
                stated.releases = releases.into_iter().filter_map(Instant::from_ns).collect();
                stated.pages = (0..rng.within(0, 5)).map(|_| rng.within(1, 2 * request.pages())).collect();
            }
            stated.lengths = (0..rng.within(0, 3)).map(|_| rng.one_of(&[0, 1, 250, 999, 1_000])).collect();
        }
    }
    options.police = rng.within(0, 1) == 0;
    options.releases = Some(Arc::new(pattern));
}

/// Ranges of t_r, t_w, t_e and t_d, in one world of two, and what is taken of them.
pub fn ranges(rng: &mut Stream, longest: [u64; 4]) -> (Times, Shortest) {
    let times = rng.one_of(&[Times::Worst, Times::Best, Times::Random]);
    let stated = rng.within(0, 1) == 1;
    let [page_read, page_program, block_erase, page_transfer] = longest.map(|most| {
        let least = rng.within(1, most.max(1));
        (stated && most > 0).then(|| ns(least))
    });
    (times, Shortest { page_read, page_program, block_erase, page_transfer })
}

/// At most two jobs that are not real-time.
pub fn jobs(rng: &mut Stream) -> Option<Vec<Job>> {
    let job = |number: u32, rng: &mut Stream| {
        let arrivals = match rng.within(0, 2) {
            0 => Arrivals::Every(ns(rng.within(20, 200))),
            1 => Arrivals::Uniform(ns(rng.within(10, 50)), ns(rng.within(50, 200))),
            _ => Arrivals::At(vec![Instant::START, Instant::from_ns(100)?, Instant::from_ns(100)?]),
        };
        let (read_pages, write_pages) = (rng.within(0, 6), rng.within(1, 6));
        Some(Job { name: format!("j{number}"), read_pages, write_pages, arrivals })
    };
    (0..rng.one_of(&[0, 0, 1, 2])).map(|number| job(number, rng)).collect()
}

/// Any clusters: some chips may be in none.
pub fn allocation(rng: &mut Stream, set: &TaskSet) -> Option<Allocation> {
    let chips = set.device().chips();
    let most = rng.small(1, chips);
    let mut clusters: Vec<Cluster> = (0..most).map(|_| Cluster::default()).collect();
    for chip in ChipId::first(chips) {
        let cluster = rng.small(0, most);
        if let Some(cluster) = clusters.get_mut(cluster as usize) {
            cluster.chips.push(chip);
        }
    }
    clusters.retain(|cluster| !cluster.chips.is_empty());
    for task in set.tasks().ids() {
        let cluster = rng.within(0, (clusters.len() as u64).checked_sub(1)?);
        clusters[usize::try_from(cluster).ok()?].tasks.push(task);
    }
    if clusters.is_empty() {
        return None;
    }
    Allocation::new(chips, set.tasks().len(), &clusters).ok()
}

/// Whether a record says what the device does or is asked to do. The others say how it came to
/// that, which is for the checkers: the twins do not write them.
pub fn is_event(record: &Record) -> bool {
    matches!(
        record,
        Record::Release(_)
            | Record::Changed(_)
            | Record::Complete(_)
            | Record::Starved(_)
            | Record::Failed(_)
            | Record::Operation(_)
            | Record::Transfer(_)
            | Record::Trimmed(_)
            | Record::EmptyPage(_)
    )
}

/// Compares the engine with its twin on cases drawn from a seed, as many as asked for; shows what
/// both said where they differ first.
///
/// # Panics
/// At the first case that differs.
pub fn agree(
    cases: u64,
    draw: impl Fn(u64) -> Option<World>,
    engine: impl Fn(&World) -> Vec<Record>,
    twin: impl Fn(&World) -> Vec<Record>,
    mut look: impl FnMut(&World, &[Record]),
) {
    let drawn = (0..).filter_map(|case| Some((case, draw(case)?)));
    for (case, world) in drawn.take(usize::try_from(cases).expect("few cases")) {
        let all = engine(&world);
        let fast: Vec<Record> = all.iter().copied().filter(is_event).collect();
        let slow = twin(&world);
        let differs = |at: &usize| fast.get(*at) != slow.get(*at);
        if let Some(at) = (0..fast.len().max(slow.len())).find(differs) {
            let context = |records: &[Record]| {
                let near = records.iter().enumerate().skip(at.saturating_sub(12)).take(18);
                near.map(|(at, record)| format!("  {at} {record:?}\n")).collect::<String>()
            };
            let (fast, slow) = (context(&fast), context(&slow));
            panic!("case {case} differs at record {at}\n{world:?}\nengine\n{fast}twin\n{slow}");
        }
        look(&world, &all);
    }
}

/// The checkers' findings in a run in which jobs that are not real-time have no server but those of
/// certificates.
pub fn judged(world: &World) -> Vec<Finding> {
    let checks = |group: &[ClusterId]| Checks::new(&world.plan, world.options.dispatch, group);
    let checks = run(&world.plan, &world.options, &mut NoServers, checks).expect("small worlds reach no limit");
    merge(checks.into_iter().map(|checks| checks.finish(world.options.duration)))
}

/// The checks that hold under any load.
pub const ALWAYS_HOLD: [&str; 16] = [
    "edf-order",
    "chip-exclusion",
    "bus-exclusion",
    "page-order",
    "mapping",
    "conservation",
    "releases",
    "completion",
    "operation-lengths",
    "transfers",
    "bus-order",
    "victim-choice",
    "copies",
    "gc-left-out",
    "padding",
    "work-conserving",
];

/// Checkers that spoke: how often, in which case first, and what they said.
#[derive(Debug, Default)]
pub struct Broken(BTreeMap<&'static str, (u32, u64, String)>);

impl Broken {
    /// Looks for checkers of these names that speak; but for `releases` where requests are not as
    /// declared, and what requests take.
    pub fn note_in(&mut self, world: &World, case: u64, findings: &[Finding], names: &[&str]) {
        let excused = |name: &&&str| !world.misbehaves() || !["releases", "service"].contains(name);
        let names: Vec<&str> = names.iter().filter(excused).copied().collect();
        self.note(case, findings, &names);
    }

    /// Looks for checkers of these names that speak.
    pub fn note(&mut self, case: u64, findings: &[Finding], names: &[&str]) {
        for finding in findings.iter().filter(|finding| names.contains(&finding.assumption.name())) {
            if !finding.gauge.holds() {
                let place = finding.gauge.worst();
                let entry = self.0.entry(finding.assumption.name()).or_insert_with(|| (0, case, format!("{place:?}")));
                entry.0 += 1;
            }
        }
    }

    /// None did.
    pub fn assert_none(&self) {
        assert!(self.0.is_empty(), "{:#?}", self.0);
    }
}
