//! One allocation, run and judged.

use std::io::{self, Read};
use std::ops::ControlFlow;

use rtflash_analysis::Analysis;
use rtflash_judge::report::{Report, Statistics};
use rtflash_judge::{Checks, Finding, merge};
use rtflash_model::{Allocation, ClusterId, Instant, Span, TaskSet};
use rtflash_plan::resume::{NoState, Rest, Resume, State};
use rtflash_plan::{DEFAULT_MEMORY, Options, Plan, Promise, Service, memory};
use rtflash_sim::{RunError, Running, run, run_traced_watched};
use rtflash_trace::Record;

use crate::plan::{PlanRefusal, plan};
use crate::servers::TbsServers;

/// Operations of chips until now.
fn operations<'o, 'p: 'o>(observers: impl IntoIterator<Item = &'o GroupObservers<'p>>) -> u64 {
    let all = observers.into_iter().map(|(_, statistics)| statistics.operations());
    all.map(|all| all.reads + all.programs + all.erases).sum()
}

/// Why a case could not be run to its end.
#[derive(Debug, thiserror::Error)]
pub enum NotRun {
    /// It cannot be run at all.
    #[error("{0}")]
    Refused(PlanRefusal),
    /// A limit was reached.
    #[error("{0}")]
    GivenUp(RunError),
    /// Its trace could not be written.
    #[error("cannot write the trace: {0}")]
    Trace(io::Error),
    /// Its state could not be read, or not be kept.
    #[error("cannot keep the state of the run: {0}")]
    State(io::Error),
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

impl From<NoState> for NotRun {
    fn from(error: NoState) -> NotRun {
        NotRun::State(io::Error::new(io::ErrorKind::InvalidData, error))
    }
}

/// A run that is over.
#[derive(Debug)]
pub struct Executed {
    /// The plan of the run.
    pub plan: Plan,
    /// The findings of every checker.
    pub findings: Vec<Finding>,
    /// The results of the run, in numbers.
    pub report: Report,
    /// If before the end asked for. All is as if that had been asked for, but what was under way on
    /// chips and buses counts to its end.
    pub stopped: Option<Instant>,
}

impl Executed {
    /// Whether no check fails.
    pub fn passes(&self) -> bool {
        self.findings.iter().all(|finding| finding.gauge.holds())
    }
}

/// A consumer of every record, in the order of a trace, with the plan that it belongs to.
pub type Sink<'s> = &'s mut dyn FnMut(&Plan, &Record) -> io::Result<()>;

/// An observer of progress: the instant before which all is simulated, and operations until then.
/// The first call comes when the device is prepared; a later call that breaks ends the run.
pub type Watch<'w> = &'w mut dyn FnMut(Instant, u64) -> ControlFlow<()>;

/// A store of the state of a run, so that an interrupted run can continue.
pub trait Checkpoint {
    /// The state kept last of this run, by the same build; `None` where it begins.
    ///
    /// # Errors
    /// If there is something else.
    fn last(&mut self) -> io::Result<Option<Box<dyn Read>>>;

    /// Whether the state is to be kept now. Asked now and then.
    fn is_due(&mut self) -> bool;

    /// Keeps what `save` writes: the state before `now`. The last one is the end's.
    ///
    /// # Errors
    /// If it cannot be kept.
    fn keep(&mut self, now: Instant, save: &dyn Fn(State<'_>) -> io::Result<()>) -> io::Result<()>;
}

/// The state that a run leaves behind.
struct RunEnd<'p> {
    observers: Vec<GroupObservers<'p>>,
    stopped: Option<Instant>,
}

impl<'p> From<Vec<GroupObservers<'p>>> for RunEnd<'p> {
    fn from(observers: Vec<GroupObservers<'p>>) -> RunEnd<'p> {
        RunEnd { observers, stopped: None }
    }
}

/// Runs a plan window by window.
fn run_in_windows<'p>(
    plan: &'p Plan,
    options: &Options,
    servers: &mut TbsServers,
    mut watch: Option<Watch<'_>>,
    mut checkpoint: Option<&mut dyn Checkpoint>,
) -> Result<RunEnd<'p>, NotRun> {
    let mut running = Running::new(plan, options, servers, |group| observer(plan, options, group));
    let last = checkpoint.as_mut().map(|checkpoint| checkpoint.last()).transpose().map_err(NotRun::State)?;
    if let Some(mut last) = last.flatten() {
        running.restore(&mut Rest::of(&mut last))?;
    }
    let mut look =
        |at: Instant, operations: u64| watch.as_mut().map_or(ControlFlow::Continue(()), |watch| watch(at, operations));
    let _ = look(running.now(), operations(running.observers().into_iter().map(|observers| &*observers)));
    running.advance_in_windows(Span::LONGEST, |running| {
        let settled = running.settled();
        let goes_on = look(settled, operations(running.observers().into_iter().map(|observers| &*observers)));
        if let Some(checkpoint) = &mut checkpoint
            && (running.is_over() || checkpoint.is_due())
        {
            let save = |mut state: State<'_>| {
                running.save(&mut state);
                state.finish()
            };
            checkpoint.keep(running.now(), &save).map_err(NotRun::State)?;
        }
        Ok::<_, NotRun>(goes_on)
    })?;
    let stopped = running.stopped();
    let observers = running.finish();
    let _ = look(Instant::END, operations(&observers));
    Ok(RunEnd { observers, stopped })
}

/// Receivers of records and progress, and the keeper of state. No result depends on them.
#[derive(Default)]
pub struct RunWatch<'w> {
    /// Receives every record. No run with a checkpoint has one.
    pub sink: Option<Sink<'w>>,
    /// Receives the progress from time to time.
    pub progress: Option<Watch<'w>>,
    /// Keeps the state from time to time: a run that was interrupted goes on from there.
    pub checkpoint: Option<&'w mut dyn Checkpoint>,
}

/// Runs an allocation under an analysis (its page costs, delays, periods and servers) or by its
/// certificates, and judges it; on the current rayon pool, in [`DEFAULT_MEMORY`].
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
    execute_watched(DEFAULT_MEMORY, set, allocation, analysis, options, RunWatch { sink, ..RunWatch::default() })
}

/// [`execute`] in at most `limit` bytes besides those of pending jobs, with `watch`.
///
/// # Errors
/// Also if the tables need more, the state cannot be kept, or is none of this run.
pub fn execute_watched(
    limit: u64,
    set: &TaskSet,
    allocation: &Allocation,
    analysis: &dyn Analysis,
    options: &Options,
    watch: RunWatch<'_>,
) -> Result<Executed, NotRun> {
    assert!(watch.sink.is_none() || watch.checkpoint.is_none(), "a run with a checkpoint records nothing (invariant)");
    let plan = plan(set, allocation, analysis).map_err(NotRun::Refused)?;
    let servers = match (options.service, plan.promise()) {
        (Service::Tbs, Promise::Utilization) => TbsServers::new(set, allocation, analysis),
        // Certificates have servers of their own.
        (Service::Tbs, Promise::Certified(_)) | (Service::Background, _) => TbsServers::none(),
    };
    judged(limit, plan, options, servers, |plan, options, servers| match watch {
        RunWatch { sink: None, progress: None, checkpoint: None } => {
            Ok(run(plan, options, servers, |group: &[ClusterId]| observer(plan, options, group))?.into())
        }
        RunWatch { sink: Some(sink), progress, .. } => traced(plan, options, servers, sink, progress),
        RunWatch { progress, checkpoint, .. } => run_in_windows(plan, options, servers, progress, checkpoint),
    })
}

fn traced<'p>(
    plan: &'p Plan,
    options: &'p Options,
    servers: &mut TbsServers,
    sink: Sink<'_>,
    mut watch: Option<Watch<'_>>,
) -> Result<RunEnd<'p>, NotRun> {
    let mut look = |at: Instant, observers: Vec<&GroupObservers<'p>>| {
        watch.as_mut().map_or(ControlFlow::Continue(()), |watch| watch(at, operations(observers)))
    };
    let observe = |group: &[ClusterId]| observer(plan, options, group);
    let (observers, stopped) =
        run_traced_watched(plan, options, servers, observe, |record| Ok::<_, NotRun>(sink(plan, record)?), &mut look)?;
    let _ = look(Instant::END, observers.iter().collect());
    Ok(RunEnd { observers, stopped })
}

/// The observers of a group of clusters.
type GroupObservers<'p> = (Checks<'p>, Statistics);

fn observer<'p>(plan: &'p Plan, options: &Options, group: &[ClusterId]) -> GroupObservers<'p> {
    (Checks::new(plan, options.dispatch, group), Statistics::new(plan, options.duration))
}

/// A plan of clusters with certificates, in at most `limit` bytes.
///
/// # Errors
/// Why it could not be run to its end.
pub fn execute_plan(limit: u64, plan: Plan, options: &Options) -> Result<Executed, NotRun> {
    judged(limit, plan, options, TbsServers::none(), |plan, options, servers| {
        Ok(run(plan, options, servers, |group: &[ClusterId]| observer(plan, options, group))?.into())
    })
}

/// Has a plan run by `run`, and judges it.
fn judged(
    limit: u64,
    plan: Plan,
    options: &Options,
    mut servers: TbsServers,
    run: impl for<'p> FnOnce(&'p Plan, &'p Options, &'p mut TbsServers) -> Result<RunEnd<'p>, NotRun>,
) -> Result<Executed, NotRun> {
    for (trim, of) in options.trims.iter().enumerate() {
        of.pages_in(&plan, options).map_err(|why| NotRun::Refused(PlanRefusal::Trim { trim, why }))?;
    }
    let needed = memory(&plan, options);
    if needed > limit {
        return Err(NotRun::Refused(PlanRefusal::Memory { needed, limit }));
    }
    let RunEnd { observers, stopped } = run(&plan, options, &mut servers)?;
    let duration = stopped.unwrap_or(options.duration);
    let mut findings = Vec::with_capacity(observers.len());
    let mut report = Statistics::new(&plan, duration).finish(&plan);
    for (checks, statistics) in observers {
        findings.push(checks.finish(duration));
        report = report.merge(statistics.stopped(duration).finish(&plan));
    }
    Ok(Executed { findings: merge(findings), report, stopped, plan })
}
