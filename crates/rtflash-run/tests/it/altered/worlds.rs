//! Runs that are honest, one for each organisation of the device.

use rtflash_alloc::allocator::allocator;
use rtflash_analysis::certified::certified;
use rtflash_analysis::{Analysis, Stripe, Superblock, Thesis, Work, Zoned};
use rtflash_judge::Checks;
use rtflash_model::{
    Allocation, Certificate, ClusterId, Collection, Instant, Placement, Reliance, Span, TaskId, TaskSet, read_task_set,
};
use rtflash_plan::{
    Aging, Arbitration, Dispatch, Options, Pattern, PeriodicTrim, Phases, Placed, Plan, Recurrence, Service, Ties,
    Times, Victims, Waits,
};
use rtflash_run::{TbsServers, execute, plan};
use rtflash_testkit::ns;
use rtflash_trace::{Observer, Record};

/// How the device is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Organisation {
    Serial,
    Parallel,
    Stripe,
    Superblock,
    CachedStripe,
    CachedSuperblock,
    Zoned,
}

/// A run and its trace.
pub struct World {
    pub name: &'static str,
    pub organisation: Organisation,
    pub text: String,
    pub set: TaskSet,
    pub allocation: Allocation,
    pub options: Options,
    pub records: Vec<Record>,
}

/// Two clusters on two channels, with garbage collection and a server. With `ways` chips a channel.
fn text(ways: u32) -> String {
    format!(
        r#"{{
        "device": {{ "chips": 4, "chips_per_channel": {ways}, "blocks_per_chip": 16, "pages_per_block": 8, "page_size": 4096,
            "logical_ratio": 0.4, "page_read": "50us", "page_program": "500us", "block_erase": "1ms", "page_transfer": "20us" }},
        "tasks": [
            {{ "name": "a", "read": {{ "pages": 6, "period": "40ms" }}, "write": {{ "pages": 6, "period": "60ms" }}, "data_pages": 20 }},
            {{ "name": "b", "read": {{ "pages": 3, "period": "25ms" }}, "write": {{ "pages": 4, "period": "90ms" }} }}
        ],
        "jobs": [{{ "name": "log", "read_pages": 2, "write_pages": 3, "arrivals": {{ "every": "50ms" }} }}]
    }}"#
    )
}

static STRIPE: Stripe = Stripe { rely_on: Reliance::Neighbours };
static ZONED: Zoned = Zoned { rely_on: Reliance::Neighbours };
static SUPERBLOCK: Superblock = Superblock { rely_on: Reliance::Neighbours };

/// How an organisation is analysed, dispatched, and how many chips share a channel.
fn terms(organisation: Organisation) -> (&'static dyn Analysis, Dispatch, u32) {
    match organisation {
        Organisation::Serial => (&Thesis, Dispatch::Serial, 1),
        Organisation::Parallel => (&Thesis, Dispatch::Parallel, 1),
        Organisation::Stripe | Organisation::CachedStripe => (&STRIPE, Dispatch::Serial, 2),
        Organisation::Zoned => (&ZONED, Dispatch::Serial, 2),
        Organisation::Superblock | Organisation::CachedSuperblock => (&SUPERBLOCK, Dispatch::Serial, 2),
    }
}

/// One world for each organisation and way to choose victims; with certificates, also where each
/// page waits for as long as it ever may.
pub fn worlds() -> Vec<World> {
    let cases = [
        ("serial", (Organisation::Serial, Victims::Actual, Waits::Actual)),
        ("serial, worst victims", (Organisation::Serial, Victims::Worst, Waits::Actual)),
        ("parallel", (Organisation::Parallel, Victims::Actual, Waits::Actual)),
        ("parallel, worst victims", (Organisation::Parallel, Victims::Worst, Waits::Actual)),
        ("stripe", (Organisation::Stripe, Victims::Actual, Waits::Actual)),
        ("stripe, worst victims", (Organisation::Stripe, Victims::Worst, Waits::Actual)),
        ("superblock", (Organisation::Superblock, Victims::Actual, Waits::Actual)),
        ("superblock, worst victims", (Organisation::Superblock, Victims::Worst, Waits::Actual)),
        ("stripe, worst waits", (Organisation::Stripe, Victims::Actual, Waits::Worst)),
        ("superblock, worst waits", (Organisation::Superblock, Victims::Actual, Waits::Worst)),
    ];
    let world = |(name, run)| World::new(name, run, "global");
    cases.into_iter().map(world).collect()
}

/// Worlds whose requests come later than a period after each other, or whose buses and ties are
/// decided otherwise.
pub fn other_worlds() -> Vec<World> {
    // Nothing promises servers their deadlines under Theorem 1: of this seed they meet them.
    let sporadic = |options| Options { phases: Phases::Random, recurrence: Recurrence::Sporadic, seed: 6, ..options };
    let in_turn = |options| Options { arbitration: Arbitration::RoundRobin, ties: Ties::Highest, ..options };
    let cases = [
        ("serial", Organisation::Serial),
        ("parallel", Organisation::Parallel),
        ("stripe", Organisation::Stripe),
        ("superblock", Organisation::Superblock),
    ];
    let world = |(name, organisation)| {
        let run = (organisation, Victims::Actual, Waits::Actual);
        [World::changed(name, run, "global", sporadic), World::changed(name, run, "global", in_turn)]
    };
    cases.into_iter().flat_map(world).collect()
}

/// Worlds whose chips use a second page register.
pub fn cached_worlds() -> Vec<World> {
    let cases = [("cached stripe", Organisation::CachedStripe), ("cached superblock", Organisation::CachedSuperblock)];
    let world = |(name, organisation)| {
        [Waits::Actual, Waits::Worst].map(|waits| World::new(name, (organisation, Victims::Actual, waits), "global"))
    };
    cases.into_iter().flat_map(world).collect()
}

/// Worlds of two page registers whose commands use the bus.
pub fn told_worlds() -> Vec<World> {
    let cases = [("told stripe", Organisation::CachedStripe), ("told superblock", Organisation::CachedSuperblock)];
    let world = |(name, organisation)| {
        [Waits::Actual, Waits::Worst].map(|waits| {
            let run = (organisation, Victims::Actual, waits);
            World::on_device(name, run, "global", r#""command": "1us", "#, |options| options)
        })
    };
    cases.into_iter().flat_map(world).collect()
}

/// Worlds whose blocks fail.
pub fn failing_worlds() -> Vec<World> {
    let cases = [("failing stripe", Organisation::Stripe), ("failing superblock", Organisation::Superblock)];
    let world = |(name, organisation)| {
        [Waits::Actual, Waits::Worst].map(|waits| {
            let run = (organisation, Victims::Actual, waits);
            let fails = |options: Options| Options { placed: Placed { faults: 100, ..options.placed }, ..options };
            World::on_device(name, run, "global", r#""spare_blocks": 1, "#, fails)
        })
    };
    cases.into_iter().flat_map(world).collect()
}

/// Worlds in which erases alone fail.
pub fn failing_erases() -> Vec<World> {
    let cases = [
        ("failing erases of zones", Organisation::Zoned),
        ("failing erases of a stripe", Organisation::Stripe),
        ("failing erases of a superblock", Organisation::Superblock),
    ];
    let world = |(name, organisation)| {
        let run = (organisation, Victims::Actual, Waits::Actual);
        let fails = |options: Options| Options { placed: Placed { faults: 200, ..options.placed }, ..options };
        World::on_device(name, run, "global", r#""spare_blocks": 1, "program_failures": 0, "#, fails)
    };
    cases.into_iter().map(world).collect()
}

/// Worlds whose erases are suspended: without servers.
pub fn suspending_worlds() -> Vec<World> {
    let cases = [("suspending stripe", Organisation::Stripe), ("suspending superblock", Organisation::Superblock)];
    let world = |(name, organisation)| {
        [Waits::Actual, Waits::Worst].map(|waits| {
            let run = (organisation, Victims::Actual, waits);
            let behind_erases = |options: Options| Options { phases: Phases::AtErases, ..options };
            World::on_device(name, run, "global", r#""erase_suspend": "30us", "erase_resume": "10us", "#, behind_erases)
        })
    };
    cases.into_iter().flat_map(world).collect()
}

/// Worlds that level wear as soon as blocks differ.
pub fn levelling_worlds() -> Vec<World> {
    let cases = [("levelling stripe", Organisation::Stripe), ("levelling superblock", Organisation::Superblock)];
    let world = |(name, organisation)| {
        let run = (organisation, Victims::Actual, Waits::Actual);
        World::on_device(name, run, "global", r#""wear_gap": 1, "wear_passes": 2, "#, |options| options)
    };
    cases.into_iter().map(world).collect()
}

/// Worlds whose tasks trim pages.
pub fn trimming_worlds() -> Vec<World> {
    let cases = [
        ("trimming stripe", Organisation::Stripe, Waits::Actual),
        ("trimming superblock", Organisation::Superblock, Waits::Actual),
        ("trimming stripe, worst waits", Organisation::Stripe, Waits::Worst),
        ("trimming superblock, worst waits", Organisation::Superblock, Waits::Worst),
        ("trimming cached stripe", Organisation::CachedStripe, Waits::Actual),
        ("trimming cached superblock", Organisation::CachedSuperblock, Waits::Actual),
    ];
    let every = |ns| Span::from_ns(ns).expect("a short time");
    let world = |(name, organisation, waits)| {
        let run = (organisation, Victims::Actual, waits);
        let trims = vec![
            PeriodicTrim { task: TaskId(0), pages: 3, every: every(9_100_000) },
            PeriodicTrim { task: TaskId(1), pages: 1, every: every(1_700_000) },
        ];
        World::changed(name, run, "global", |options| Options { trims, ..options })
    };
    cases.into_iter().map(world).collect()
}

/// Worlds whose tasks own zones, which begin with a block or anywhere.
pub fn zoned_worlds() -> Vec<World> {
    let world = |waits| {
        let run = (Organisation::Zoned, Victims::Actual, waits);
        let anywhere = |options| Options { aging: Aging::Random, ..options };
        [World::new("zones", run, "global"), World::changed("zones from anywhere", run, "global", anywhere)]
    };
    [Waits::Actual, Waits::Worst].into_iter().flat_map(world).collect()
}

impl World {
    /// A run of what this algorithm finds.
    pub fn new(name: &'static str, run: (Organisation, Victims, Waits), algorithm: &str) -> World {
        World::changed(name, run, algorithm, |options| options)
    }

    /// A world with changed options.
    fn changed(
        name: &'static str,
        run: (Organisation, Victims, Waits),
        algorithm: &str,
        change: impl FnOnce(Options) -> Options,
    ) -> World {
        World::on_device(name, run, algorithm, "", change)
    }

    /// A world on a device that `change` states more of.
    fn on_device(
        name: &'static str,
        run: (Organisation, Victims, Waits),
        algorithm: &str,
        more: &str,
        change: impl FnOnce(Options) -> Options,
    ) -> World {
        let (organisation, victims, waits) = run;
        let (analysis, dispatch, ways) = terms(organisation);
        let placement = match organisation {
            Organisation::CachedStripe => Some(Placement::CachedStripe),
            Organisation::CachedSuperblock => Some(Placement::CachedSuperblock),
            _ => None,
        };
        let mut text = text(ways);
        let registers = if placement.is_some() { r#""page_registers": 2, "# } else { "" };
        text = text.replacen(r#""logical_ratio""#, &format!(r#"{more}{registers}"logical_ratio""#), 1);
        if organisation == Organisation::Zoned {
            for pages in [6, 4] {
                let (write, stream) = (format!(r#""write": {{ "pages": {pages},"#), r#""access": "stream","#);
                text = text.replacen(&write, &format!("{write} {stream}"), 1);
            }
        }
        let mut set = read_task_set(&text).expect("a task set").set;
        let suspends = set.device().erase_suspend().is_some();
        if suspends {
            set = TaskSet::new(*set.device(), set.tasks().as_slice().to_vec(), vec![]).expect("the same tasks");
        }
        let outcome = allocator(algorithm).expect("an allocator").allocate(&set, analysis);
        assert_eq!(outcome.is_schedulable(), Some(true), "{name}");
        let mut allocation = outcome.allocation().expect("an allocation").clone();
        if let Some(placement) = placement {
            let bare = allocation.clone().with_certificates(vec![None; allocation.len()]);
            allocation = certified(&set, &bare, &[placement], Reliance::Neighbours, &Work::new()).0;
            let certificate = allocation.certificate(0).expect("it holds so, too");
            assert_eq!(certificate.placement, placement);
        }
        if suspends {
            let certificates = (0..allocation.len()).map(|at| allocation.certificate(at).copied());
            let served = |of: Certificate| Certificate { server_thousandths: 0, ..of };
            let alone = certificates.map(|of| of.map(served)).collect();
            allocation = allocation.with_certificates(alone);
        }
        let options = Options {
            duration: Instant::from_ns(1_200_000_000).expect("a second or so"),
            dispatch,
            service: Service::Tbs,
            victims,
            aging: Aging::Worst,
            pattern: Pattern::Uniform,
            times: Times::Worst,
            seed: 5,
            placed: Placed { waits, ..Placed::default() },
            ..Options::default()
        };
        let options = change(options);
        let mut records = Vec::new();
        let mut sink = |_: &Plan, record: &Record| {
            records.push(*record);
            Ok(())
        };
        let run = execute(&set, &allocation, analysis, &options, Some(&mut sink)).expect("it can be run");
        let failing = run.findings.iter().filter(|finding| !finding.gauge.holds());
        let failing: Vec<_> = failing.map(|finding| (finding.assumption.name(), finding.gauge.worst())).collect();
        assert!(failing.is_empty(), "{name}: {failing:?}");
        World { name, organisation, text, set, allocation, options, records }
    }

    /// The checks that fail for a trace.
    pub fn judge(&self, records: &[Record]) -> Vec<&'static str> {
        self.judge_by(&self.set, &self.allocation, records, self.options.duration)
    }

    fn judge_by(
        &self,
        set: &TaskSet,
        allocation: &Allocation,
        records: &[Record],
        duration: Instant,
    ) -> Vec<&'static str> {
        let (analysis, dispatch, _) = terms(self.organisation);
        let plan = plan(set, allocation, analysis).expect("a plan");
        let all: Vec<ClusterId> = plan.clusters().ids().collect();
        let servers = TbsServers::new(set, allocation, analysis);
        let mut checks = Checks::of_trace(&plan, dispatch, &all).with_admission(Box::new(servers));
        records.iter().for_each(|record| checks.record(record));
        let findings = checks.finish(duration);
        findings.iter().filter(|finding| !finding.gauge.holds()).map(|finding| finding.assumption.name()).collect()
    }

    /// The trace judged by what it is not a trace of: what differs, and the checks that fail.
    pub fn elsewhere(&self) -> Vec<(&'static str, Vec<&'static str>)> {
        let other = |what: &'static str, from: &str, to: &str| {
            let text = self.text.replacen(from, to, 1);
            assert_ne!(text, self.text, "{what}");
            let set = read_task_set(&text).expect("a task set").set;
            (what, self.judge_by(&set, &self.allocation, &self.records, self.options.duration))
        };
        let mut found = vec![
            other("other periods", "\"25ms\"", "\"26ms\""),
            other("slower reads", "\"page_read\": \"50us\"", "\"page_read\": \"51us\""),
            other("slower programs", "\"500us\"", "\"501us\""),
            other("slower erases", "\"block_erase\": \"1ms\"", "\"block_erase\": \"2ms\""),
            other("too much data", "\"data_pages\": 20", "\"data_pages\": 204"),
        ];
        let later = self.options.duration.saturating_add(Span::from_us(3_000_000));
        found.push(("a longer run", self.judge_by(&self.set, &self.allocation, &self.records, later)));
        type Change = fn(Certificate, Collection) -> Certificate;
        let changes: [(&str, Change); 6] = [
            ("another D_g", |certificate, of| Certificate {
                collection: Some(Collection { deadline: of.deadline.map(|span| span.saturating_add(ns(1))), ..of }),
                ..certificate
            }),
            ("another alpha", |certificate, of| Certificate {
                collection: Some(Collection { reclaimed_pages: of.reclaimed_pages + 1, ..of }),
                ..certificate
            }),
            ("another v", |certificate, of| Certificate {
                collection: Some(Collection { victim_pages: 0, ..of }),
                ..certificate
            }),
            ("another F", |certificate, of| Certificate {
                collection: Some(Collection { open_blocks: 0, ..of }),
                ..certificate
            }),
            ("another H", |certificate, of| Certificate {
                collection: Some(Collection { reserve_pages: of.reserve_pages / 2, ..of }),
                ..certificate
            }),
            ("another server", |certificate, _| Certificate {
                server_thousandths: certificate.server_thousandths / 2 + 1,
                ..certificate
            }),
        ];
        let certificates = self.certificates();
        for (what, change) in changes.into_iter().filter(|_| !certificates.is_empty()) {
            let changed = certificates.iter().map(|&certificate| match certificate.collection {
                Some(collection) => change(certificate, collection),
                None => certificate,
            });
            let allocation = self.allocation.clone().with_certificates(changed.map(Some).collect());
            let broken = self.judge_by(&self.set, &allocation, &self.records, self.options.duration);
            found.push((what, broken));
        }
        if self.organisation == Organisation::Superblock {
            let strict = certificates.iter().map(|&certificate| Certificate { backfill: false, ..certificate });
            let allocation = self.allocation.clone().with_certificates(strict.map(Some).collect());
            let broken = self.judge_by(&self.set, &allocation, &self.records, self.options.duration);
            found.push(("no backfill", broken));
        }
        found
    }

    fn certificates(&self) -> Vec<Certificate> {
        (0..self.allocation.len()).filter_map(|cluster| self.allocation.certificate(cluster).copied()).collect()
    }
}
