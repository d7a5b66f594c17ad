//! A host that steps a device: where it releases what a run would release, the two are the same,
//! record by record.

use rtflash_judge::Checks;
use rtflash_model::random::Stream;
use rtflash_model::{Allocation, Cluster, ClusterId, Device, Instant, Lpn, TaskSet};
use rtflash_plan::{
    ArrivalQueue, ClusterTerms, Dispatch, NoServers, Options, Plan, Promise, Releases, Service, SourceId, Timing,
    Waits, release_jitter,
};
use rtflash_sim::{Hosted, HostedJob, run};
use rtflash_trace::{Action, JobId, Kind, Observer, Record};

use crate::common::{ALWAYS_HOLD, Broken, World, ns};
use crate::placed_worlds::engine;

/// The action of a host at an instant.
#[derive(Debug, Clone, Copy)]
enum Handed {
    /// The request of this source, with its nominal arrival.
    Request(u32, Instant),
    Job(HostedJob),
    /// So many pages of this source are trimmed, from this one on, round and round.
    Trim(u32, u64, u32),
}

/// Steps a device from instant to instant, and hands over what is planned, in order of time. Says
/// what was recorded, and when which job was over.
fn hosted<O: Observer + Send>(
    plan: &Plan,
    options: &Options,
    planned: &[(Instant, Handed)],
    observer: O,
) -> (O, Vec<(Instant, JobId)>) {
    let mut device = Hosted::new(plan, options, observer);
    let (mut over, mut ended) = (Vec::new(), Vec::new());
    let mut planned = planned.iter().peekable();
    loop {
        let next = device.next_instant().into_iter().chain(planned.peek().map(|(at, _)| *at)).min();
        let Some(now) = next.filter(|&now| now < options.duration) else { break };
        device.advance(now, &mut ended);
        over.extend(ended.drain(..).map(|job| (now, job)));
        while let Some((_, handed)) = planned.next_if(|(at, _)| *at == now) {
            let is_taken = match *handed {
                Handed::Request(source, nominal) => device.request(SourceId(source), nominal, now).is_some(),
                Handed::Job(job) => device.hand_over(job, now).is_some(),
                Handed::Trim(source, first, pages) => {
                    let all = plan.pages_of(&plan.sources()[SourceId(source)]);
                    let first = u32::try_from(first % u64::from(all)).expect("a page");
                    let end = first + pages.min(all - first);
                    let again = pages - (end - first);
                    device.trim(SourceId(source), first..end, now)
                        && (again == 0 || device.trim(SourceId(source), 0..again, now))
                }
            };
            assert!(is_taken, "{handed:?}");
        }
        device.settle(now);
    }
    // Ends at the end of the run still count.
    device.advance(options.duration, &mut ended);
    over.extend(ended.drain(..).map(|job| (options.duration, job)));
    device.settle(options.duration);
    (device.finish(), over)
}

/// All that a run of its own would release.
fn as_planned(plan: &Plan, options: &Options) -> Vec<(Instant, Handed)> {
    let mut planned = Vec::new();
    for (source, number) in plan.sources().iter().zip(0..) {
        let (Releases::Periodic(period), Kind::Read | Kind::Write) = (source.releases, source.kind) else { continue };
        for index in 0.. {
            let nominal = period.release(index);
            let at = nominal.saturating_add(release_jitter(options.seed, SourceId(number), index, source.jitter));
            if nominal >= options.duration {
                break;
            }
            if at < options.duration {
                planned.push((at, Handed::Request(number, nominal)));
            }
        }
    }
    let mut queue = ArrivalQueue::new(plan, options.seed);
    while let Some(arrival) = queue.next_before(options.duration, &mut NoServers) {
        let (read_pages, write_pages) = (arrival.read_pages, arrival.write_pages);
        let job = HostedJob { source: arrival.job.source, read_pages, write_pages, first_page: None };
        planned.push((arrival.at, Handed::Job(job)));
    }
    for trim in &options.trims {
        let Ok(_) = trim.pages_in(plan, options) else { continue };
        let is_of = |of: &rtflash_plan::Source| of.task() == Some(trim.task) && of.kind != Kind::Gc;
        let number = plan.sources().iter().position(is_of).expect("a task has requests");
        let source = u32::try_from(number).expect("few sources");
        for (count, at) in (0..).zip((1..).map(|count| count * trim.every.as_ns())) {
            let Some(at) = Instant::from_ns(at).filter(|&at| at < options.duration) else { break };
            planned.push((at, Handed::Trim(source, count * u64::from(trim.pages), trim.pages)));
        }
    }
    // Stable: at one instant in the order of sources.
    planned.sort_by_key(|(at, _)| *at);
    planned
}

/// When which job was complete.
fn completions(records: &[Record]) -> Vec<(Instant, JobId)> {
    let complete = |record: &Record| match record {
        Record::Complete(complete) => Some((complete.at, complete.job)),
        _ => None,
    };
    records.iter().filter_map(complete).collect()
}

fn assert_same(case: u64, world: &World, own: &[Record]) -> usize {
    let planned = as_planned(&world.plan, &world.options);
    let (mut records, mut over) = hosted(&world.plan, &world.options, &planned, Vec::<Record>::new());
    // Which of two chips leaves a pass out first says nothing, where a change of terms makes both.
    let order = |record: &Record| match record {
        Record::LeftOut(left_out) => (record.order(), left_out.chip.0),
        _ => (record.order(), 0),
    };
    let mut own = own.to_vec();
    own.sort_by_key(order);
    records.sort_by_key(order);
    let own = own.as_slice();
    assert_eq!(records.len(), own.len(), "case {case}: {world:?}");
    let differs = records.iter().zip(own).position(|(hosted, own)| hosted != own);
    assert_eq!(differs.map(|at| (records[at], own[at])), None, "case {case}: {world:?}");
    over.sort_unstable_by_key(|&(at, job)| (job, at));
    let mut complete = completions(own);
    complete.sort_unstable_by_key(|&(at, job)| (job, at));
    assert_eq!(over.len(), complete.len(), "case {case}");
    for ((told, job), (at, of)) in over.into_iter().zip(complete) {
        let left_out = |record: &Record| matches!(record, Record::LeftOut(of) if of.job == job && of.at == at);
        // Pages are moved, of a block that has failed or is worn least, until nothing more is found
        // there. Nothing is erased then.
        let erases = |record: &Record| matches!(record, Record::Operation(of) if of.job == job && of.action.erases());
        let chooses = |record: &Record| matches!(record, Record::Selected(of) if of.job == job);
        let moves = |record: &Record| chooses(record) && !own.iter().any(erases);
        let finds_nothing = |record: &Record| matches!(record, Record::EmptyPage(of) if of.job == job && of.at == at);
        // A pass that is left out at last, has moved all, or finds that its last page holds nothing
        // is reported a nanosecond later.
        let is_later = |record: &Record| left_out(record) || moves(record) || finds_nothing(record);
        let later = u64::from(told != at && own.iter().any(is_later));
        assert_eq!((told.as_ns(), job), (at.as_ns() + later, of), "case {case}");
    }
    records.len()
}

#[test]
fn a_host_that_releases_as_a_run_does_gets_the_same_run() {
    let (mut records, mut served) = (0, 0);
    for case in 0..6_000 {
        let Some(mut world) = World::draw_certified(21, case) else { continue };
        world.set_periodic();
        if world.plan.clusters().len() > 1 {
            world.options.service = Service::Tbs;
        }
        served += usize::from(!world.plan.jobs().is_empty());
        records += assert_same(case, &world, &engine(&world)[1..]);
    }
    assert!(records > 300_000 && served > 500, "{records} {served}");
}

/// A world of parallel dispatch: jobs alone, on one cluster without a certificate.
fn parallel(case: u64) -> Option<World> {
    let placed = World::draw_certified(22, case)?;
    let mut rng = Stream::numbered(22, b"parallel", case);
    let device: Device = *placed.plan.device();
    let jobs = crate::common::jobs(&mut rng)?;
    let set = TaskSet::new(device, vec![], jobs).ok()?;
    let all = Cluster::of(0..device.chips(), []);
    let allocation = Allocation::new(device.chips(), 0, &[all]).ok()?;
    let terms = [ClusterTerms::Utilization { page_delay: ns(0), gc_periods: vec![] }];
    let timing = Timing::new(
        device.page_read().checked_add(device.page_transfer())?,
        device.page_program().checked_add(device.page_transfer())?,
        device.page_transfer(),
    )?;
    let plan = Plan::new(&set, &allocation, timing, &terms).ok()?;
    let options = Options { dispatch: Dispatch::Parallel, service: Service::Background, ..placed.options };
    Some(World { plan, options, arrivals: Vec::new() })
}

#[test]
fn the_same_by_parallel_dispatch() {
    let mut records = 0;
    for (case, mut world) in (0..4_000).filter_map(|case| Some((case, parallel(case)?))) {
        world.set_periodic();
        let own = run(&world.plan, &world.options, &mut NoServers, |_| Vec::<Record>::new());
        let mut own: Vec<Record> = own.expect("small worlds reach no limit").concat();
        own.sort_by_key(Record::order);
        records += assert_same(case, &world, &own);
    }
    assert!(records > 100_000, "{records}");
}

/// Requests a period apart or later, released up to their jitter late, and jobs whenever the rng
/// say, each with as many pages as they say.
fn at_random(world: &World, rng: &mut Stream) -> Vec<(Instant, Handed)> {
    let end = world.options.duration.as_ns();
    let mut planned = Vec::new();
    for (number, source) in world.plan.sources().enumerate() {
        match (source.releases, source.kind) {
            (Releases::Periodic(period), Kind::Read | Kind::Write) => {
                let mut nominal = rng.within(0, 50);
                while nominal < end {
                    let late = if source.jitter == ns(0) { 0 } else { rng.within(0, source.jitter.as_ns()) };
                    let handed = Handed::Request(number.0, Instant::from_ns(nominal).expect("a time"));
                    planned.push((nominal + late, handed));
                    nominal += period.release(1).as_ns() + rng.one_of(&[0, 0, 7, 60]);
                }
            }
            (Releases::Handed, _) => {
                let mut at = rng.within(0, 50);
                while at < end {
                    let first_page = (rng.within(0, 3) > 0).then(|| rng.within(0, 1_000));
                    let (read_pages, write_pages) = rng.one_of(&[(1, 0), (0, 1), (3, 0), (0, 4), (2, 2)]);
                    let job = HostedJob { source: SourceId(number.0), read_pages, write_pages, first_page };
                    planned.push((at, Handed::Job(job)));
                    at += rng.within(10, 150);
                }
            }
            _ => {}
        }
    }
    planned.retain(|(at, _)| *at < end);
    planned.sort_by_key(|(at, _)| *at);
    planned.into_iter().map(|(at, handed)| (Instant::from_ns(at).expect("a time"), handed)).collect()
}

#[test]
fn checkers_judge_what_a_host_hands_over() {
    let (mut judged, mut complete) = (0, 0);
    let mut broken = Broken::default();
    for case in 0..7_000 {
        let Some(mut world) = (if case % 3 == 0 { parallel(case) } else { World::draw_certified(23, case) }) else {
            continue;
        };
        if world.plan.device().pages_per_block() == 1 {
            continue;
        }
        world.plan = world.plan.for_host();
        // The host says when requests are released, and how large they are.
        (world.options.releases, world.options.police) = (None, false);
        let planned = at_random(&world, &mut Stream::numbered(23, b"handed\0\0", case));
        let all: Vec<ClusterId> = world.plan.clusters().ids().collect();
        let checks = Checks::new(&world.plan, world.options.dispatch, &all);
        let (checks, over) = hosted(&world.plan, &world.options, &planned, checks);
        broken.note(case, &checks.finish(world.options.duration), &ALWAYS_HOLD);
        (judged, complete) = (judged + 1, complete + over.len());
    }
    broken.assert_none();
    assert!(judged > 2_000 && complete > 30_000, "{judged} {complete}");
}

#[test]
fn a_request_that_is_later_than_its_jitter_is_reported() {
    let case = (0..).find(|&case| {
        World::draw_certified(24, case).is_some_and(|world| {
            world.plan.sources().iter().any(|source| source.deadline.is_some() && source.jitter > ns(0))
        })
    });
    let mut world = World::draw_certified(24, case.expect("a case")).expect("a world");
    world.plan = world.plan.for_host();
    (world.options.releases, world.options.police) = (None, false);
    let mut sources = world.plan.sources().enumerate();
    let source = sources.find(|(_, source)| source.deadline.is_some() && source.jitter > ns(0));
    let (number, source) = source.expect("a source");
    let nominal = Instant::from_ns(10).expect("a time");
    let all: Vec<ClusterId> = world.plan.clusters().ids().collect();
    for (late, is_valid) in [(source.jitter, true), (source.jitter.saturating_add(ns(1)), false)] {
        let planned = [(nominal.saturating_add(late), Handed::Request(number.0, nominal))];
        let checks = Checks::new(&world.plan, world.options.dispatch, &all);
        let (checks, _) = hosted(&world.plan, &world.options, &planned, checks);
        let findings = checks.finish(world.options.duration);
        let releases = findings.iter().find(|finding| finding.assumption.name() == "releases").expect("a checker");
        assert_eq!(releases.gauge.holds(), is_valid, "{findings:?}");
    }
}

#[test]
fn given_pages_follow_each_other_round_the_range() {
    let mut seen = 0;
    for world in
        (0..600).filter_map(|case| if case % 2 == 0 { parallel(case) } else { World::draw_certified(25, case) })
    {
        let plan = world.plan.clone().for_host();
        let handed = plan.sources().enumerate().find(|(_, source)| source.releases == Releases::Handed);
        let Some((number, source)) = handed else { continue };
        let options = Options { service: Service::Background, ..world.options.clone() };
        let job = |first| HostedJob { source: number, read_pages: 3, write_pages: 0, first_page: Some(first) };
        let planned = [(Instant::START, Handed::Job(job(u64::MAX)))];
        let (records, _) = hosted(&plan, &options, &planned, Vec::<Record>::new());
        let mut pages: Vec<(ClusterId, Lpn)> = records
            .iter()
            .filter_map(|record| match record {
                Record::Operation(of) if of.action == Action::Read && of.kind == Kind::Server => {
                    Some((of.cluster, of.lpn))
                }
                _ => None,
            })
            .collect();
        let Some(&(cluster, _)) = pages.first() else { continue };
        let of = &plan.clusters()[cluster];
        let owner = of.tasks.len() + source.stream().expect("a job is a stream's");
        let range = match plan.promise() {
            Promise::Utilization => of.layout.part(owner),
            Promise::Certified(certified) => certified[cluster].ranges[owner].clone(),
        };
        let length = u64::from(range.end.0 - range.start.0);
        let page = |step: u64| Lpn(range.start.0 + u32::try_from((u64::MAX % length + step) % length).expect("a page"));
        let mut expected: Vec<(ClusterId, Lpn)> = (0..3).map(|step| (cluster, page(step))).collect();
        pages.sort_unstable();
        expected.sort_unstable();
        assert_eq!(pages, expected);
        seen += 1;
    }
    assert!(seen > 50, "{seen}");
}

#[test]
fn nothing_begins_at_the_end_of_the_run() {
    let world = (0..).find_map(parallel).expect("a world");
    let plan = world.plan.for_host();
    let placed = rtflash_plan::Placed { waits: Waits::Actual, ..world.options.placed };
    let options = Options { placed, ..world.options.clone() };
    let mut device = Hosted::new(&plan, &options, Vec::<Record>::new());
    let source = plan.sources().enumerate().find(|(_, source)| source.releases == Releases::Handed);
    let job = source.map(|(source, _)| HostedJob { source, read_pages: 1, write_pages: 0, first_page: None });
    if let Some(job) = job {
        assert_eq!(device.hand_over(job, options.duration), None);
    }
    assert_eq!(
        device.hand_over(
            HostedJob { source: SourceId(99), read_pages: 1, write_pages: 0, first_page: None },
            Instant::START
        ),
        None
    );
    assert_eq!(device.request(SourceId(0), Instant::START, Instant::START), None);
    assert_eq!((device.next_instant(), device.is_overloaded()), (None, false));
}

#[test]
fn a_request_has_the_pages_that_are_given_or_is_none() {
    let mut seen = 0;
    for world in (0..400).filter_map(|case| World::draw_certified(26, case)) {
        let mut sources = world.plan.sources().enumerate();
        let Some((number, source)) = sources.find(|(_, of)| of.kind == Kind::Read && of.cluster.is_some()) else {
            continue;
        };
        let (of, declared) = (world.plan.pages_of(source), source.read_pages);
        let cluster = source.cluster.expect("it has one");
        let Promise::Certified(certified) = world.plan.promise() else { panic!("it has certificates") };
        let place = world.plan.clusters()[cluster].tasks.iter().position(|&task| Some(task) == source.task());
        let range = &certified[cluster].ranges[place.expect("its task is there")];
        let mut device = Hosted::new(&world.plan, &world.options, Vec::<Record>::new());
        let mut request = |pages: &[u32]| device.request_of(number, Instant::START, Instant::START, pages);
        let many = vec![0; usize::try_from(declared).expect("a few") + 1];
        for wrong in [&[][..], &[of], &[u32::MAX], &many] {
            assert_eq!(request(wrong), None);
        }
        let pages = vec![of - 1; many.len() - 1];
        let job = request(&pages).expect("a request");
        assert_eq!((job.source, job.index), (number, 0));
        device.settle(Instant::START);
        let read = |record: &Record| match record {
            Record::Operation(of) if of.kind == Kind::Read => Some(of.lpn),
            _ => None,
        };
        let read: Vec<Lpn> = device.finish().iter().filter_map(read).collect();
        assert_eq!(read, vec![Lpn(range.end.0 - 1); 1.max(read.len())]);
        seen += 1;
    }
    assert!(seen > 50, "{seen}");
}
