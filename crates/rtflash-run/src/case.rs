//! One allocation, run and judged.

use std::fmt;
use std::io;

use rtflash_alloc::analysis::Analysis;
use rtflash_exec::check::{Checks, Finding, merge};
use rtflash_exec::report::{Report, Statistics};
use rtflash_exec::trace::Record;
use rtflash_exec::{DEFAULT_MEMORY, Options, Plan, Promise, RunError, Service, memory, run, run_traced, run_watched};
use rtflash_model::{Allocation, ClusterId, Instant, TaskSet};

use crate::plan::{PlanRefusal, plan};
use crate::servers::TbsServers;

/// Operations of chips until now.
fn operations(statistics: &Statistics) -> u64 {
    let all = statistics.operations();
    all.reads + all.programs + all.erases
}

/// Counts the records of a trace, and tells of them now and then.
struct Told<'w> {
    watch: Option<Watch<'w>>,
    records: u64,
    operations: u64,
}

/// Records between two times that somebody is told.
const RECORDS_TOLD: u64 = 1 << 14;

impl Told<'_> {
    fn record(&mut self, record: &Record) {
        let Some(watch) = &mut self.watch else { return };
        self.records += 1;
        self.operations += u64::from(matches!(record, Record::Operation(_)));
        if self.records.is_multiple_of(RECORDS_TOLD) {
            watch(record.start(), self.operations);
        }
    }
}

/// Why a case could not be run to its end.
#[derive(Debug)]
pub enum NotRun {
    /// It cannot be run at all.
    Refused(PlanRefusal),
    /// A limit was reached.
    GivenUp(RunError),
    /// Its trace could not be written.
    Trace(io::Error),
}

impl From<RunError> for NotRun {
    fn from(error: RunError) -> NotRun {
        NotRun::GivenUp(error)
    }
}

impl From<io::Error> for NotRun {
    fn from(error: io::Error) -> NotRun {
        NotRun::Trace(error)
    }
}

impl fmt::Display for NotRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NotRun::Refused(refusal) => refusal.fmt(f),
            NotRun::GivenUp(error) => error.fmt(f),
            NotRun::Trace(error) => write!(f, "cannot write the trace: {error}"),
        }
    }
}

impl std::error::Error for NotRun {}

/// A run that is over.
#[derive(Debug)]
pub struct Executed {
    /// What was run.
    pub plan: Plan,
    /// What every checker has found.
    pub findings: Vec<Finding>,
    /// What it came to, in numbers.
    pub report: Report,
}

impl Executed {
    /// Whether no check fails.
    pub fn passes(&self) -> bool {
        self.findings.iter().all(|finding| finding.gauge.holds())
    }
}

/// Somebody who is handed every record, in the order of a trace, with the plan that it belongs to.
pub type Sink<'s> = &'s mut dyn FnMut(&Plan, &Record) -> io::Result<()>;

/// Somebody who wants to know how far a run is: before which instant all has been simulated, and
/// with how many operations of chips.
pub type Watch<'w> = &'w mut dyn FnMut(Instant, u64);

/// Runs an allocation under an analysis (whose page costs, delays, periods and servers it obeys)
/// and judges it. With certificates it obeys these instead. Groups of clusters run on the threads
/// of the current rayon pool. It may take [`DEFAULT_MEMORY`].
///
/// # Errors
/// Why it could not be run to its end.
pub fn execute(
    set: &TaskSet,
    allocation: &Allocation,
    analysis: &dyn Analysis,
    options: &Options,
    sink: Option<Sink<'_>>,
) -> Result<Executed, NotRun> {
    execute_within(DEFAULT_MEMORY, set, allocation, analysis, options, sink)
}

/// As [`execute`], in so many bytes of memory, and what the jobs pending take.
///
/// # Errors
/// As there, and where its tables would take more.
pub fn execute_within(
    limit: u64,
    set: &TaskSet,
    allocation: &Allocation,
    analysis: &dyn Analysis,
    options: &Options,
    sink: Option<Sink<'_>>,
) -> Result<Executed, NotRun> {
    execute_watched(limit, set, allocation, analysis, options, sink, None)
}

/// As [`execute_within`], with somebody who is told now and then how far it is.
///
/// # Errors
/// As there.
pub fn execute_watched(
    limit: u64,
    set: &TaskSet,
    allocation: &Allocation,
    analysis: &dyn Analysis,
    options: &Options,
    sink: Option<Sink<'_>>,
    watch: Option<Watch<'_>>,
) -> Result<Executed, NotRun> {
    let plan = plan(set, allocation, analysis).map_err(NotRun::Refused)?;
    let needed = memory(&plan, options);
    if needed > limit {
        return Err(NotRun::Refused(PlanRefusal::Memory { needed, limit }));
    }
    let mut servers = match (options.service, plan.promise()) {
        (Service::Tbs, Promise::Utilization) => TbsServers::new(set, allocation, analysis),
        // Certificates have servers of their own.
        (Service::Tbs, Promise::Certified(_)) | (Service::Background, _) => TbsServers::none(),
    };
    let observe =
        |group: &[ClusterId]| (Checks::new(&plan, options.dispatch, group), Statistics::new(&plan, options.duration));
    let observers = match (sink, watch) {
        (None, None) => run(&plan, options, &mut servers, observe)?,
        (None, Some(watch)) => run_watched(&plan, options, &mut servers, observe, |now, observers| {
            watch(now, observers.iter().map(|(_, statistics)| operations(statistics)).sum());
        })?,
        (Some(sink), watch) => {
            let mut told = Told { watch, records: 0, operations: 0 };
            run_traced::<_, NotRun>(&plan, options, &mut servers, observe, |record| {
                told.record(record);
                Ok(sink(&plan, record)?)
            })?
        }
    };
    let mut findings = Vec::with_capacity(observers.len());
    let mut report = Statistics::new(&plan, options.duration).finish(&plan);
    for (checks, statistics) in observers {
        findings.push(checks.finish(options.duration));
        report = report.merge(statistics.finish(&plan));
    }
    Ok(Executed { findings: merge(findings), report, plan })
}
