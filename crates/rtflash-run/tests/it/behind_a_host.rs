//! Certified clusters behind a host: with places of their own no real-time request misses, whatever
//! the other jobs do; with a shared bound one does.

use rtflash_testkit::ns;
use std::collections::BTreeSet;

use rtflash_alloc::allocator::{Allocator, ClusteringBfd, Global, Outcome};
use rtflash_analysis::analysis_relying_on;
use rtflash_host::bound::bounds;
use rtflash_host::run::{
    CertifiedClusters, Host, HostDevice, Job, JobPattern, JobReleases, RunEvent, Scenario, Watch, hand_over_jitter,
    read_scenario_with, run_watched,
};
use rtflash_host::scheduler::{BfqSettings, Cut, K2Settings, MqDeadlineSettings, SchedulerSettings, Split};
use rtflash_host::{Class, Op};
use rtflash_judge::Checks;
use rtflash_model::random::Stream;
use rtflash_model::{
    Access, Allocation, ClusterId, DeviceSpec, Instant, LogicalRatio, Lpn, Reliance, Request, Span, Task, TaskSet,
    read_allocation,
};
use rtflash_plan::{Aging, Dispatch};
use rtflash_trace::{Action, Kind, Observer, Record};

use rtflash_testkit::cases;

fn at(nanoseconds: u64) -> Instant {
    Instant::from_ns(nanoseconds).expect("a short time")
}

fn device(rng: &mut Stream) -> Option<rtflash_model::Device> {
    let spec = DeviceSpec {
        chips: rng.small(1, 6),
        chips_per_channel: rng.small(1, 3),
        blocks_per_chip: rng.small(8, 24),
        pages_per_block: rng.small(2, 8),
        page_size: 512,
        logical_ratio: LogicalRatio::from_decimal(rng.within(10, 70).into(), 2).ok()?,
        page_read: ns(rng.within(1, 25)),
        page_program: ns(rng.within(1, 80)),
        block_erase: ns(rng.within(1, 200)),
        page_transfer: ns(rng.within(1, 10)),
        ..DeviceSpec::default()
    };
    rtflash_model::Device::new(spec).ok()
}

fn tasks(rng: &mut Stream) -> Option<Vec<Task>> {
    let count = rng.within(1, 4);
    let request = |rng: &mut Stream, cost: u64| {
        let pages = rng.within(1, 6);
        let period = pages * cost * count * rng.within(2, 10);
        let longest = period * rng.one_of(&[1, 1, 3]);
        let deadline = rng.within(period / 2, longest);
        let access = rng.one_of(&Access::ALL);
        let request = Request::new(pages, ns(period))?.with_access(access).with_deadline(Some(ns(deadline)))?;
        request.with_jitter(ns(rng.one_of(&[0, 0, deadline / 8, deadline / 3])))
    };
    let task = |number: u64, rng: &mut Stream| {
        let kinds = rng.within(0, 2);
        let read = if kinds == 0 { None } else { Some(request(rng, 40)?) };
        let write = if kinds == 1 { None } else { Some(request(rng, 150)?) };
        Some(Task { name: format!("t{number}"), read, write, data_pages: None })
    };
    (0..count).map(|number| task(number, rng)).collect()
}

/// Jobs beside the tasks, as hostile as may be.
fn beside(rng: &mut Stream) -> Vec<Job> {
    let job = |number: u64, rng: &mut Stream| Job {
        name: format!("beside{number}"),
        op: rng.one_of(&[Op::Read, Op::Write]),
        pattern: rng.one_of(&[JobPattern::Sequential, JobPattern::Random]),
        from: 512 * rng.within(0, 9),
        span: Some(1 << 16),
        size: rng.one_of(&[100, 512, 2_048, 10_000]),
        class: rng.one_of(&[Class::BestEffort, Class::Idle]),
        level: rng.one_of(&[0, 4, 7]),
        cpu: 0,
        user_centric: false,
        is_async: false,
        releases: JobReleases::Closed { depth: rng.small(1, 6), think: ns(rng.one_of(&[0, 0, 300])) },
        phase: at(rng.within(0, 500)),
        count: None,
        until: None,
        pace: None,
        ..Job::default()
    };
    (0..rng.within(0, 3)).map(|number| job(number, rng)).collect()
}

/// A set that the sound analysis accepts, in front of it a host that hands over at once.
fn draw(case: u64) -> Option<Scenario> {
    let mut rng = Stream::numbered(7, b"hostcert", case);
    let set = TaskSet::new(device(&mut rng)?, tasks(&mut rng)?, vec![]).ok()?;
    let sound = analysis_relying_on("sound", Reliance::Neighbours)?;
    let allocator: &dyn Allocator = rng.one_of(&[&ClusteringBfd as &dyn Allocator, &Global]);
    let Outcome::Schedulable(allocation) = allocator.allocate(&set, sound) else { return None };
    let others = beside(&mut rng);
    let names: Vec<String> = others.iter().map(|job| job.name.clone()).collect();
    let clusters = CertifiedClusters::new(&set, &allocation, &names, Span::ZERO).ok()?;
    let clusters = clusters.aged(rng.one_of(&[Aging::Worst, Aging::Worst, Aging::Random, Aging::Fresh]));
    let mut jobs = clusters.jobs();
    for (position, job) in jobs.iter_mut().enumerate() {
        let JobReleases::Every { period, .. } = job.releases else { return None };
        job.phase = at(rng.within(0, period.as_ns()));
        job.releases = JobReleases::Every { period, jitter: clusters.declared_jitter(position)? };
    }
    let requests = set.tasks().iter().flat_map(|task| [task.read, task.write]).flatten();
    let urgent = u32::try_from(requests.map(|request| request.waiting()).sum::<u64>()).ok()?;
    jobs.extend(others);
    let max_inflight_rest = Some(rng.small(1, 9));
    let k2 = K2Settings { max_inflight: urgent + max_inflight_rest?, max_inflight_rest, ..K2Settings::k2() };
    let split = Split { cut: Cut::Rest, max_sectors: 4_096, multiples: false };
    let scheduler = rng.one_of(&[
        SchedulerSettings::K2(k2),
        SchedulerSettings::K2(k2),
        SchedulerSettings::K2(K2Settings { split: Some(split), ..k2 }),
        SchedulerSettings::None,
        SchedulerSettings::MqDeadline(MqDeadlineSettings::default()),
        SchedulerSettings::Bfq(BfqSettings::default()),
    ]);
    let longest = jobs.iter().filter_map(|job| match job.releases {
        JobReleases::Every { period, .. } => Some(period.as_ns()),
        JobReleases::Closed { .. } | JobReleases::WriteBack(_) | JobReleases::Flusher => None,
    });
    let duration = at(longest.max()? * 25);
    let host = Host {
        cpus: 1,
        max_sectors: 1 << 14,
        requests: 1 << 10,
        turnaround: ns(rng.one_of(&[0, 40])),
        merge: false,
        ..Host::default()
    };
    Some(Scenario {
        device: HostDevice::Clusters(Box::new(clusters)),
        host,
        scheduler,
        jobs,
        duration,
        warmup: Instant::START,
    })
}

/// Hands what the flash does to its checkers.
struct Judged<'a> {
    checks: Checks<'a>,
    complete: usize,
}

impl Watch for Judged<'_> {
    fn see(&mut self, _: Instant, _: &RunEvent<'_>) {}

    fn looks_inside(&self) -> bool {
        true
    }

    fn inside(&mut self, record: &Record) {
        self.complete += usize::from(matches!(record, Record::Complete(_)));
        self.checks.record(record);
    }
}

/// Which checkers fail, how many jobs of the flash were complete, and by how much each task's
/// slowest request was late.
fn judged(scenario: &Scenario) -> (Vec<&'static str>, usize, Vec<u64>) {
    let HostDevice::Clusters(clusters) = &scenario.device else { panic!("no clusters") };
    let all: Vec<ClusterId> = clusters.plan().clusters().ids().collect();
    let mut judged = Judged { checks: Checks::new(clusters.plan(), Dispatch::Serial, &all), complete: 0 };
    let reports = run_watched(scenario, 3, &mut judged).expect("few I/Os");
    let deadlines = clusters.plan().sources().iter().filter_map(|source| source.deadline);
    let late = |(report, deadline): (&rtflash_host::run::JobReport, Span)| {
        report.latencies.max().unwrap_or(0).saturating_sub(deadline.as_ns())
    };
    let late = reports.iter().zip(deadlines).map(late).collect();
    let findings = judged.checks.finish(scenario.duration);
    let failed = findings.iter().filter(|finding| !finding.gauge.holds()).map(|finding| finding.assumption.name());
    (failed.collect(), judged.complete, late)
}

#[test]
fn no_request_misses_whatever_the_other_jobs_do() {
    let (mut worlds, mut complete, mut with_jobs, mut late_releases) = (0, 0, 0, 0);
    for (case, scenario) in (0..cases(200)).filter_map(|case| Some((case, draw(case)?))) {
        let HostDevice::Clusters(clusters) = &scenario.device else { panic!("no clusters") };
        for job in 0..clusters.tasks() {
            assert_eq!(hand_over_jitter(&scenario, job).ok(), clusters.declared_jitter(job), "case {case}");
            late_releases += usize::from(clusters.declared_jitter(job) > Some(Span::ZERO));
        }
        let (failed, jobs, late) = judged(&scenario);
        assert_eq!(failed, Vec::<&str>::new(), "case {case}: {scenario:?}");
        assert!(late.iter().all(|&late| late == 0), "case {case}: {late:?}");
        (worlds, complete) = (worlds + 1, complete + jobs);
        with_jobs += usize::from(scenario.jobs.len() > clusters.tasks());
    }
    assert!(worlds > 20 && complete > 2_000 && with_jobs > 10 && late_releases > 6, "{worlds} {complete} {with_jobs}");
}

/// Releases that are later than the certificate is for break what it says, and the checkers tell.
#[test]
fn later_releases_than_the_certificate_is_for_are_reported() {
    let mut told = 0;
    for mut scenario in (0..cases(80)).filter_map(draw) {
        let HostDevice::Clusters(clusters) = &scenario.device else { panic!("no clusters") };
        let declared: Vec<Span> = (0..clusters.tasks()).filter_map(|job| clusters.declared_jitter(job)).collect();
        for (job, declared) in scenario.jobs.iter_mut().zip(declared) {
            let JobReleases::Every { period, .. } = job.releases else { panic!("a task") };
            let jitter = declared.saturating_add(ns((period.as_ns() - declared.as_ns()) / 2));
            job.releases = JobReleases::Every { period, jitter };
        }
        told += usize::from(judged(&scenario).0.contains(&"releases"));
    }
    assert!(told > 4, "{told}");
}

/// The scenario of docs/host.md, by this scheduler.
fn documented(scheduler: &str) -> Scenario {
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/host.md")).expect("the page");
    let text = page.split("```json").find(|text| text.contains("\"clusters\"")).expect("a scenario");
    let text = text.split("```").next().expect("its end");
    let shared = text.replace(r#""max_inflight": 4, "max_inflight_rest": 2"#, scheduler);
    assert!(shared.contains(scheduler), "{text}");
    read_scenario_with(&shared, None, &mut Found).expect("a scenario")
}

/// Finds allocations by the sound analysis.
struct Found;

impl rtflash_host::run::Outside for Found {
    fn file(&mut self, name: &str) -> Result<String, String> {
        Err(format!("there is no {name}"))
    }

    fn certified(&mut self, set: &TaskSet, given: Option<Allocation>) -> Result<Allocation, String> {
        assert_eq!(given, None);
        let sound = analysis_relying_on("sound", Reliance::Neighbours).expect("an analysis");
        match ClusteringBfd.allocate(set, sound) {
            Outcome::Schedulable(allocation) => Ok(allocation),
            other => Err(format!("{other:?}")),
        }
    }

    fn judge(&mut self, _: &TaskSet, _: &Allocation) -> Result<(), String> {
        Ok(())
    }
}

#[test]
fn the_scenario_of_the_documentation_misses_by_a_shared_bound_alone() {
    let own = documented(r#""max_inflight": 4, "max_inflight_rest": 2"#);
    assert_eq!((0..2).map(|job| hand_over_jitter(&own, job)).collect::<Vec<_>>(), [Ok(Span::ZERO), Ok(Span::ZERO)]);
    assert_eq!(hand_over_jitter(&own, 2).map_err(|why| why.contains("no task")), Err(true));
    let (failed, complete, late) = judged(&own);
    assert_eq!((failed, late), (vec![], vec![0, 0]));
    assert!(complete > 500, "{complete}");
    let shared = documented(r#""max_inflight": 4"#);
    let why = hand_over_jitter(&shared, 0).expect_err("places are shared");
    assert!(why.contains("places: 4"), "{why}");
    let (failed, _, late) = judged(&shared);
    assert!(late.iter().all(|&late| late > 0), "{late:?}");
    assert!(failed.contains(&"releases"), "{failed:?}");
    // Tags that the rest may hold are no better.
    let few = Scenario { host: Host { requests: 13, ..own.host }, ..own.clone() };
    assert!(hand_over_jitter(&few, 0).expect_err("too few tags").contains("there are 13 tags"));
}

/// Two tasks whose writes touch, and two jobs beside them that do: nothing of a task is merged, and
/// what is merged of a job writes all of its pages.
#[test]
fn merging_leaves_each_job_its_pages() {
    let scenario = |merge: bool, jobs: &str| {
        let text = format!(
            r#"{{ "device": {{ "kind": "clusters", "taskset": {{ "device": {{ "profile": "dgist-2021", "chips": 2,
                "chips_per_channel": 1 }}, "tasks": [
                {{ "name": "a", "write": {{ "pages": 40, "period": "80ms", "access": "sequential" }}, "data_pages": 4096 }},
                {{ "name": "b", "write": {{ "pages": 6, "period": "10ms", "access": "sequential" }}, "data_pages": 4096 }} ] }} }},
            "host": {{ "merge": {merge} }}, "scheduler": "none", "jobs": [{jobs}], "duration": "2s" }}"#
        );
        read_scenario_with(&text, None, &mut Found).expect("a scenario")
    };
    let alone = scenario(true, "");
    let bounds = bounds(&alone);
    let limits: Vec<_> = bounds.iter().map(|bound| bound.terms.as_ref().map(|terms| terms.bound())).collect();
    assert_eq!(limits, [Ok(Span::from_us(80_000)), Ok(Span::from_us(10_000))]);
    assert_eq!(judged(&alone), judged(&scenario(false, "")));
    assert_eq!(judged(&alone).2, [0, 0]);
    // An I/O is a page, and the four of a job become one request.
    let beside = |name: &str, from: &str| {
        format!(
            r#"{{ "name": "{name}", "op": "write", "size": "8KiB", "from": "{from}", "span": "32KiB", "count": 4, "depth": 4 }}"#
        )
    };
    let jobs = [beside("c", "0KiB"), beside("d", "32KiB")].join(",");
    let written = |merge: bool| {
        let mut pages = Written::default();
        let reports = run_watched(&scenario(merge, &jobs), 3, &mut pages).expect("few I/Os");
        assert!(reports[2..].iter().all(|report| report.latencies.count() == 4), "{reports:?}");
        pages
    };
    let (merged, plain) = (written(true), written(false));
    assert_eq!((merged.merged, plain.merged), (6, 0));
    assert_eq!(merged.pages, plain.pages);
    assert_eq!(merged.pages.len(), 8);
}

/// The pages that servers write, whichever of them does, and how many requests are merged.
#[derive(Debug, Default)]
struct Written {
    pages: BTreeSet<Lpn>,
    merged: u32,
}

impl Watch for Written {
    fn see(&mut self, _: Instant, event: &RunEvent<'_>) {
        self.merged += u32::from(matches!(event, RunEvent::Merged { .. }));
    }

    fn looks_inside(&self) -> bool {
        true
    }

    fn inside(&mut self, record: &Record) {
        if let Record::Operation(of) = record
            && of.kind == Kind::Server
            && of.action == Action::Program
        {
            self.pages.insert(of.lpn);
        }
    }
}

#[test]
fn what_cannot_be_run() {
    let own = documented(r#""max_inflight": 4, "max_inflight_rest": 2"#);
    let HostDevice::Clusters(clusters) = &own.device else { panic!("no clusters") };
    let bare = r#"{"clusters":[{"chips":[0,1,2,3],"tasks":["camera","map"]}]}"#;
    let bare = read_allocation(bare, clusters.set()).expect("an allocation");
    let refused = CertifiedClusters::new(clusters.set(), &bare, &[], Span::ZERO).expect_err("no certificate");
    assert_eq!(refused.to_string(), "cluster 0 has no certificate: nothing is promised for it");
    let named = CertifiedClusters::new(clusters.set(), clusters.allocation(), &["map".to_owned()], Span::ZERO);
    assert!(named.expect_err("a task's name").to_string().contains("map"));
    let mut none = Vec::new();
    for position in 0..clusters.allocation().len() {
        let certificate = clusters.allocation().certificate(position).copied();
        none.push(certificate.map(|certificate| rtflash_model::Certificate { server_thousandths: 0, ..certificate }));
    }
    let unserved = clusters.allocation().clone().with_certificates(none);
    let refused = CertifiedClusters::new(clusters.set(), &unserved, &["log".to_owned()], Span::ZERO);
    assert_eq!(
        refused.expect_err("no server").to_string(),
        "no cluster has a server, and there are jobs beside the tasks"
    );
    assert!(CertifiedClusters::new(clusters.set(), &unserved, &[], Span::ZERO).is_ok());
}
