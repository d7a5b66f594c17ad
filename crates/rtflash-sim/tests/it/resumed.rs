//! A run that is broken off, and gone on with from its state by one that knows nothing of it, is
//! the run that was not broken off: record for record, finding for finding, number for number.

use rtflash_judge::report::{Report, Statistics};
use rtflash_judge::{Checks, Finding, merge};
use rtflash_model::random::Stream;
use rtflash_model::{ClusterId, Span};
use rtflash_plan::resume::{NoState, Rest, Resume, State};
use rtflash_plan::{Admission, Dispatch, NoServers, Promise, Service};
use rtflash_sim::Running;
use rtflash_trace::Record;

use crate::common::World;
use crate::worlds::replay;

/// The observers of a run: the checkers, the statistics, and the list of all records.
type Seen<'a> = ((Checks<'a>, Statistics), Vec<Record>);

fn admission(world: &World) -> Box<dyn Admission> {
    match world.plan.promise() {
        Promise::Utilization => Box::new(replay(world, 0)),
        Promise::Certified(_) => Box::new(NoServers),
    }
}

fn begin<'a>(world: &'a World, admission: &'a mut dyn Admission) -> Running<'a, Seen<'a>> {
    Running::new(&world.plan, &world.options, admission, |group: &[ClusterId]| {
        let checks = Checks::new(&world.plan, world.options.dispatch, group);
        ((checks, Statistics::new(&world.plan, world.options.duration)), Vec::new())
    })
}

/// A window of a random length, most of them short.
fn window(stream: &mut Stream) -> Span {
    let longest = [1, 10, 100, 1_000][usize::try_from(stream.below(4)).expect("few")];
    Span::from_ns(stream.below(longest) + 1).expect("short")
}

/// All that a run came to.
fn end(world: &World, running: Running<'_, Seen<'_>>) -> (Vec<Record>, Vec<Finding>, Report) {
    let (mut records, mut findings) = (Vec::new(), Vec::new());
    let mut report = Statistics::new(&world.plan, world.options.duration).finish(&world.plan);
    for ((checks, statistics), seen) in running.finish() {
        records.extend(seen);
        findings.push(checks.finish(world.options.duration));
        report = report.merge(statistics.finish(&world.plan));
    }
    // Between clusters the order is the windows' affair.
    records.sort_by_key(Record::order);
    (records, merge(findings), report)
}

fn state(running: &Running<'_, Seen<'_>>) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut state = State::to(&mut bytes);
    running.save(&mut state);
    state.finish().expect("there is memory");
    bytes
}

/// How often runs of each kind were broken off.
#[derive(Debug, Default)]
struct Broken {
    serial: usize,
    parallel: usize,
    certified: usize,
    served: usize,
}

impl Broken {
    fn look(&mut self, world: &World) {
        match (world.plan.promise(), world.options.dispatch) {
            (Promise::Certified(_), _) => self.certified += 1,
            (Promise::Utilization, Dispatch::Serial) => self.serial += 1,
            (Promise::Utilization, Dispatch::Parallel) => self.parallel += 1,
        }
        self.served += usize::from(!world.arrivals.is_empty() && world.options.service == Service::Tbs);
    }
}

fn look(world: &World, case: u64, broken: &mut Broken) {
    let mut stream = Stream::numbered(7, b"resumed\0", case);
    let (mut one, mut last) = (admission(world), admission(world));
    let mut pieces: Vec<Box<dyn Admission>> = (0..6).map(|_| admission(world)).collect();
    let mut whole = begin(world, &mut *one);
    while !whole.is_over() {
        whole.advance(Span::LONGEST).expect("small worlds reach no limit");
    }
    let mut bytes = Vec::new();
    for admission in &mut pieces {
        let mut running = begin(world, &mut **admission);
        if !bytes.is_empty() {
            running.restore(&mut Rest::of(&mut bytes.as_slice())).expect("the state of such a run");
            // Under parallel dispatch a state has a table in the order of its hashes.
            assert!(world.options.dispatch == Dispatch::Parallel || state(&running) == bytes, "case {case}");
            broken.look(world);
        }
        for _ in 0..stream.below(4) {
            running.advance(window(&mut stream)).expect("small worlds reach no limit");
        }
        bytes = state(&running);
    }
    let mut running = begin(world, &mut *last);
    running.restore(&mut Rest::of(&mut bytes.as_slice())).expect("the state of such a run");
    running.advance(Span::LONGEST).expect("small worlds reach no limit");
    let (whole, pieces) = (end(world, whole), end(world, running));
    if let Some(at) = (0..whole.0.len()).find(|&at| whole.0.get(at) != pieces.0.get(at)) {
        panic!("case {case}, record {at}: {:?}, and in pieces {:?}", whole.0[at], pieces.0.get(at));
    }
    assert_eq!(whole.0.len(), pieces.0.len(), "case {case}");
    assert_eq!(whole.1, pieces.1, "case {case}");
    assert_eq!(format!("{:?}", whole.2), format!("{:?}", pieces.2), "case {case}");
}

#[test]
fn a_run_in_pieces_is_the_run_in_one() {
    let mut broken = Broken::default();
    // In the last one, jobs of one source are complete in two clusters.
    for case in (0..400).chain([702]) {
        let drawn = [World::draw(3, case), World::draw_certified(3, case), World::draw_superblocks(3, case)];
        for world in drawn.into_iter().flatten() {
            look(&world, case, &mut broken);
        }
    }
    let Broken { serial, parallel, certified, served } = broken;
    assert!([serial, parallel, certified, served].iter().all(|&times| times > 300), "{broken:?}");
}

/// Why a state cannot be written is told, and not written over.
#[test]
fn what_cannot_be_written_is_told() {
    struct Full(usize);
    impl std::io::Write for Full {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 = self.0.checked_sub(bytes.len()).ok_or(std::io::ErrorKind::StorageFull)?;
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let world = (0..).find_map(|case| World::draw(3, case)).expect("a world");
    let mut one = admission(&world);
    let running = begin(&world, &mut *one);
    for room in [0, 1, 100] {
        let mut full = Full(room);
        let mut state = State::to(&mut full);
        running.save(&mut state);
        let error = state.finish().expect_err("there is no room");
        assert_eq!(error.kind(), std::io::ErrorKind::StorageFull, "{room}");
    }
}

/// Bytes that are cut off, or another run's, are no state; nothing panics.
#[test]
fn what_is_no_state_is_refused() {
    let mut tried = 0;
    for case in 0..40 {
        let Some(world) = World::draw(3, case) else { continue };
        let mut one = admission(&world);
        let mut running = begin(&world, &mut *one);
        running.advance(Span::from_ns(150).expect("short")).expect("no limit");
        let bytes = state(&running);
        for length in [0, 1, bytes.len() / 2, bytes.len() - 1] {
            let mut again = admission(&world);
            let restored = begin(&world, &mut *again).restore(&mut Rest::of(&mut &bytes[..length]));
            assert_eq!(restored, Err(NoState), "case {case}, {length} of {}", bytes.len());
            tried += 1;
        }
    }
    assert!(tried > 40);
}
