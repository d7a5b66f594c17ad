//! Two jobs in front of the device of Koshiba et al.: one synchronous and real-time, one in the
//! background.

use rtflash::host::run::{HostRunError, HostSetup, Job, JobPattern, JobReleases, Scenario, run};
use rtflash::host::{Class, Op, SchedulerSettings};
use rtflash::model::{Instant, Span};

const GIB: u64 = 1 << 30;

/// The difference between two runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Setting {
    /// The operation of both jobs.
    pub op: Op,
    /// The pattern of their places.
    pub pattern: JobPattern,
    /// The scheduler.
    pub scheduler: SchedulerSettings,
    /// The longest request, in KiB; `None` for the host's own.
    pub max_sectors: Option<u64>,
    /// The size of real-time I/Os, in KiB.
    pub real_time: u64,
    /// I/Os that the background has outstanding.
    pub depth: u32,
    /// Their size, in KiB.
    pub size: u64,
}

/// The results of a run.
#[derive(Debug, Clone, Copy)]
pub struct Answer {
    /// The 99th percentile of real-time latencies, in milliseconds.
    pub p99: f64,
    /// Their 99.99th percentile, in milliseconds.
    pub p9999: f64,
    /// Both jobs together, in MiB/s.
    pub throughput: f64,
}

impl Setting {
    /// Runs it for `seconds` seconds after one of warm-up.
    pub fn run(&self, setup: &HostSetup, seconds: u32, seed: u64) -> Result<Answer, HostRunError> {
        let mut host = setup.host;
        if let Some(kib) = self.max_sectors {
            host.max_sectors = kib << 10;
        }
        let warmup = Instant::START.saturating_add(Span::from_us(1_000_000));
        let second = |from: Instant, _| from.saturating_add(Span::from_us(1_000_000));
        let scenario = Scenario {
            device: setup.device.clone(),
            host,
            scheduler: self.scheduler,
            jobs: vec![
                self.job("rt", Class::RealTime, 0, self.real_time, 1),
                self.job("bg", Class::Idle, 2 * GIB, self.size, self.depth),
            ],
            duration: (0..seconds).fold(warmup, second),
            warmup,
        };
        let reports = run(&scenario, seed)?;
        let percentile = |of: u32| {
            let found = reports.first().and_then(|job| job.latencies.percentile(of));
            found.map_or(f64::NAN, |of| of as f64 / 1e6)
        };
        let bytes: u128 = reports.iter().map(|job| job.bytes_per_s).sum();
        Ok(Answer { p99: percentile(9_900), p9999: percentile(9_999), throughput: bytes as f64 / f64::from(1 << 20) })
    }

    fn job(&self, name: &str, class: Class, from: u64, kib: u64, depth: u32) -> Job {
        Job {
            name: name.into(),
            op: self.op,
            pattern: self.pattern,
            from,
            span: Some(2 * GIB),
            size: kib << 10,
            class,
            level: 4,
            cpu: 0,
            user_centric: false,
            is_async: false,
            releases: JobReleases::Closed { depth, think: Span::ZERO },
            phase: Instant::START,
            count: None,
            until: None,
            pace: None,
            ..Job::default()
        }
    }
}
