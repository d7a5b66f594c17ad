//! Four jobs in front of the drive of Park and Lee (2021): one synchronous and real-time, three
//! asynchronous.

use std::collections::BTreeMap;
use std::fs;

use rayon::prelude::*;
use rtflash::exec::Aging;
use rtflash::host::run::{
    HostDevice, HostRunError, HostSetup, Job, JobPattern, JobReleases, Scenario, read_setup, run,
};
use rtflash::host::scheduler::K2Settings;
use rtflash::host::tune::{Measured, TuneOptions, Tuning, k2, tune};
use rtflash::host::{Class, Op, SchedulerSettings};
use rtflash::model::{Instant, Span};

use Column::{AgedRandomRead, AgedSequentialRead, FullRandomWrite, FullSequentialWrite};
use Column::{RandomRead, RandomWrite, SequentialRead, SequentialWrite};

const GIB: u64 = 1 << 30;

/// The work of all four jobs, and the drive: a curve of the paper's figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Column {
    /// Figure 4a.
    SequentialRead,
    /// Figure 4b.
    RandomRead,
    /// Figure 5a.
    SequentialWrite,
    /// Figure 5b.
    RandomWrite,
    /// Figure 8a.
    FullSequentialWrite,
    /// Figure 8b.
    FullRandomWrite,
    /// Figure 7: all of the flash but its reserve has been written, at random.
    AgedSequentialRead,
    /// Figure 7, random reads: all of the flash but its reserve has been written, at random.
    AgedRandomRead,
}

/// K2's bound; `None` for the scheduler `none`.
pub type Bound = Option<u32>;

/// The bounds that are run where nothing is chosen.
pub const SOME: [Bound; 3] = [Some(1), Some(8), None];

/// The curves of which every bound is run.
pub const WHOLE: [Column; 6] =
    [SequentialRead, RandomRead, SequentialWrite, RandomWrite, FullSequentialWrite, FullRandomWrite];

/// A point of a curve.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// The 99.9th percentile of the real-time job's latency, in microseconds.
    pub tail: f64,
    /// All four jobs together, in megabytes a second.
    pub bandwidth: f64,
}

impl Point {
    fn of(tail: Option<u64>, bytes_per_s: u128) -> Point {
        Point { tail: tail.map_or(f64::NAN, |tail| tail as f64 / 1e3), bandwidth: bytes_per_s as f64 / 1e6 }
    }

    fn measured(of: &Measured) -> Point {
        Point::of(of.all.tails.first().copied().flatten(), of.all.bytes_per_s)
    }
}

/// The answers of one seed.
#[derive(Debug, Default)]
pub struct Answers {
    /// Each point that was run.
    pub points: BTreeMap<(Column, Bound), Point>,
    /// Curves of which every bound was run, as `host tune` has them.
    pub tunings: BTreeMap<Column, Tuning>,
}

/// The drive, about half of which is filled, and the full one.
#[derive(Debug)]
pub struct Drives {
    partial: HostSetup,
    full: HostSetup,
}

impl Drives {
    /// From their files.
    pub fn read() -> Result<Drives, String> {
        let read = |name: &str| {
            let path = format!("{}/scenarios/{name}", env!("CARGO_MANIFEST_DIR"));
            let text = fs::read_to_string(&path).map_err(|error| format!("{path}: {error}"))?;
            read_setup(&text, None).map_err(|problems| format!("{path}: {problems}"))
        };
        Ok(Drives { partial: read("nvme-2021.json")?, full: read("nvme-2021-full.json")? })
    }

    /// All that the table needs.
    pub fn answers(&self, seconds: u32, seed: u64) -> Result<Answers, HostRunError> {
        // A point is a run, as the paper's.
        let options = TuneOptions { seed, runs: 1, samples: 0 };
        let tunings = WHOLE.into_par_iter().map(|column| {
            let scenario = self.scenario(column, SchedulerSettings::None, seconds);
            tune(&scenario, &[SchedulerSettings::K2(K2Settings::k2())], options).map(|tuning| (column, tuning))
        });
        let tunings = tunings.collect::<Result<BTreeMap<Column, Tuning>, HostRunError>>()?;
        let aged =
            [AgedSequentialRead, AgedRandomRead].into_iter().flat_map(|column| SOME.map(|bound| (column, bound)));
        let mut points = self.points(&aged.collect::<Vec<_>>(), seconds, seed)?;
        for (column, tuning) in &tunings {
            points.insert((*column, None), Point::measured(&tuning.none));
            let bound = |of: &Measured| k2(&of.settings).map(|k2| k2.max_inflight);
            points.extend(tuning.measured.iter().map(|of| ((*column, bound(of)), Point::measured(of))));
        }
        Ok(Answers { points, tunings })
    }

    /// These points alone.
    pub fn points(
        &self,
        which: &[(Column, Bound)],
        seconds: u32,
        seed: u64,
    ) -> Result<BTreeMap<(Column, Bound), Point>, HostRunError> {
        let of = |&(column, bound): &(Column, Bound)| {
            let scheduler = bound.map_or(SchedulerSettings::None, |max_inflight| {
                SchedulerSettings::K2(K2Settings { max_inflight, ..K2Settings::k2() })
            });
            let reports = run(&self.scenario(column, scheduler, seconds), seed)?;
            let tail = reports.first().and_then(|job| job.latencies.percentile(9_990));
            Ok(((column, bound), Point::of(tail, reports.iter().map(|job| job.bytes_per_s).sum())))
        };
        which.par_iter().map(of).collect()
    }

    /// A scenario of `seconds` seconds after one of warm-up.
    fn scenario(&self, column: Column, scheduler: SchedulerSettings, seconds: u32) -> Scenario {
        let full = matches!(column, FullSequentialWrite | FullRandomWrite);
        let HostSetup { mut device, host, .. } = if full { self.full.clone() } else { self.partial.clone() };
        if let (HostDevice::Nvme(nvme), AgedSequentialRead | AgedRandomRead) = (&mut device, column) {
            nvme.aging = Aging::Random;
        }
        let warmup = Instant::START.saturating_add(Span::from_us(1_000_000));
        let second = |from: Instant, _| from.saturating_add(Span::from_us(1_000_000));
        let jobs = vec![
            job(column, "rt", 0, Class::RealTime, (1, Span::from_us(2_000))),
            job(column, "a", 1, Class::BestEffort, (DEPTH, Span::ZERO)),
            job(column, "b", 2, Class::BestEffort, (DEPTH, Span::ZERO)),
            job(column, "c", 3, Class::BestEffort, (DEPTH, Span::ZERO)),
        ];
        Scenario { device, host, scheduler, jobs, duration: (0..seconds).fold(warmup, second), warmup }
    }
}

/// I/Os that an asynchronous job has outstanding; the paper does not say.
const DEPTH: u32 = 32;

/// A job on a core of its own, in 8 GiB of its own.
fn job(column: Column, name: &str, cpu: u32, class: Class, (depth, think): (u32, Span)) -> Job {
    let reads = matches!(column, SequentialRead | RandomRead | AgedSequentialRead | AgedRandomRead);
    let random = matches!(column, RandomRead | RandomWrite | FullRandomWrite | AgedRandomRead);
    Job {
        name: name.into(),
        op: if reads { Op::Read } else { Op::Write },
        pattern: if random { JobPattern::Random } else { JobPattern::Sequential },
        from: u64::from(cpu) * 8 * GIB,
        span: Some(8 * GIB),
        size: 4 << 10,
        class,
        level: 4,
        cpu,
        user_centric: false,
        is_async: false,
        releases: JobReleases::Closed { depth, think },
        phase: Instant::START,
        count: None,
        until: None,
        pace: None,
        ..Job::default()
    }
}
