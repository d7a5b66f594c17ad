//! `rtflash check --trace`: a recorded run before the checkers.

use std::borrow::Cow;
use std::io::BufReader;
use std::path::Path;

use rtflash_alloc::allocator::usual;
use rtflash_answers::{ExecAnswer, Settings, Verdict, Verdicts};
use rtflash_judge::Checks;
use rtflash_judge::report::Statistics;
use rtflash_model::{Allocation, ClusterId, Frames, Instant, Span, TaskSetFile, read_task_set_bytes};
use rtflash_plan::{DEFAULT_MEMORY, Plan, memory_of_trace};
use rtflash_run::{NotRun, PlanRefusal};
use rtflash_trace::{Observer, Record, TraceError, TraceReader};

use super::exec::{of_certificates, predicted, refused};
use super::found::{FoundAllocation, NothingToRun, find};
use super::{allocator, analysis_relying_on};
use crate::answer::{SetAnswer, Status, Unanswered, print};
use crate::args::CheckArgs;
use crate::pairs::{change, next_batch};
use crate::render::exec_text::ExecView;
use crate::render::rendered;
use crate::source::{InputSource, read};
use crate::{CommandFailure, output};

fn cannot_be(refusal: PlanRefusal) -> Unanswered {
    let refusal = NotRun::Refused(refusal);
    Unanswered::because(&refusal.to_string(), refused(&refusal))
}

pub fn run(args: &CheckArgs, trace: &Path) -> Result<Status, CommandFailure> {
    let given = args.allocation.as_deref().map(read).transpose()?;
    let mut warnings = String::new();
    let answered = one_set(args).and_then(|file| check(args, trace, &file, given.as_ref(), &mut warnings));
    output::complain(&warnings);
    print(answered)
}

/// The judge's answer about the trace of a task set, under the allocation of this name and text or
/// under the one that the algorithm finds.
pub fn check(
    args: &CheckArgs,
    trace: &Path,
    file: &TaskSetFile,
    given: Option<&(String, String)>,
    warnings: &mut String,
) -> Result<SetAnswer, Unanswered> {
    if trace.as_os_str() == "-" {
        fail!("--trace takes a file: it is read twice");
    }
    let analysis = analysis_relying_on(&args.analysis.analysis, args.rely_on.granted)?;
    let name = args.algorithm.as_deref().unwrap_or_else(|| usual(analysis).name());
    let allocator = allocator(name)?;
    let allocation = allocation(find(&file.set, given, allocator, analysis, false, warnings)?)?;
    let analysis = of_certificates(&allocation, analysis, args.rely_on.granted);
    let plan = rtflash_run::plan(&file.set, &allocation, analysis).map_err(cannot_be)?;
    let needed = memory_of_trace(&plan);
    if needed > DEFAULT_MEMORY {
        return Err(cannot_be(PlanRefusal::Memory { needed, limit: DEFAULT_MEMORY }));
    }
    let all: Vec<ClusterId> = plan.clusters().ids().collect();
    let servers = rtflash_run::TbsServers::new(&file.set, &allocation, analysis);
    let mut checks = Checks::of_trace(&plan, args.dispatch, &all).with_admission(Box::new(servers));
    let mut trace_records = records(&plan, trace)?.peekable();
    let known = args.duration.or(length_stated(trace_records.peek(), trace)?);
    let mut statistics = known.map(|duration| Statistics::new(&plan, duration));
    let end = observe(trace_records, trace, &mut checks, statistics.as_mut())?;
    let setup = checks.setup_stated();
    // If the end of the run is unknown, nothing is missing behind the last record.
    let duration = known.unwrap_or(end.saturating_add(Span::NANOSECOND));
    let statistics = match statistics {
        Some(statistics) => statistics,
        // Use is a share of the time, which is known only now: the trace is read a second time.
        None => {
            let mut statistics = Statistics::new(&plan, duration);
            records(&plan, trace)?.flatten().for_each(|record| statistics.record(&record));
            statistics
        }
    };
    let findings = checks.finish(duration);
    let report = statistics.finish(&plan);
    let predicted = predicted(&file.set, &allocation, analysis, given.is_some());
    let own = Verdict::of_allocation(&file.set, analysis, &allocation, predicted);
    let verdicts = Verdicts::of(&file.set, analysis, &own);
    let blank = ExecAnswer {
        verdicts,
        algorithm: given.is_none().then_some(name.into()),
        analysis: analysis.name().into(),
        predicted_schedulable: predicted,
        settings: Settings::traced(&setup, duration, args.dispatch),
        meta: file.meta.as_deref().map(Cow::Borrowed),
        ..ExecAnswer::default()
    };
    let answer = blank.with(&file.set, &plan, &findings, &report);
    let view = ExecView { answer, page_size: plan.device().page_size(), alone: true, drawing: String::new() };
    let text = rendered(args.format.format, &view.answer, || view.text());
    let status = Status::of(Some(findings.iter().all(|finding| finding.gauge.holds())));
    Ok(SetAnswer { text, status, ..SetAnswer::default() })
}

fn one_set(args: &CheckArgs) -> Result<TaskSetFile, Unanswered> {
    let source = InputSource::open(&args.file)?;
    let name = source.name.clone();
    let mut frames = Frames::new(source);
    let mut sets = next_batch(&mut frames, &name)?.unwrap_or_else(Vec::new);
    if sets.len() > 1 || (sets.len() == 1 && next_batch(&mut frames, &name)?.is_some()) {
        fail!("{name}: a trace is that of one task set, and here are several");
    }
    let Some(mut frame) = sets.pop() else {
        fail!("{name}:1:1: there is nothing in it");
    };
    change(&mut frame, &args.set.changes).map_err(|problem| CommandFailure(format!("{name}: {problem}")))?;
    read_task_set_bytes(&frame.text).map_err(|diagnostics| Unanswered::refused_in(&name, &frame, &diagnostics))
}

fn allocation(found: FoundAllocation) -> Result<Allocation, Unanswered> {
    found.map_err(|NothingToRun { reason, own }| match own.holds() {
        None => Unanswered::because(&reason, Status::CannotTell),
        Some(_) => CommandFailure(format!("{reason}: of what allocation is the trace?")).into(),
    })
}

fn records<'p>(plan: &'p Plan, trace: &Path) -> Result<TraceReader<'p, BufReader<InputSource>>, CommandFailure> {
    Ok(TraceReader::new(plan, BufReader::with_capacity(1 << 18, InputSource::open(trace)?)))
}

/// When the run ended, where the first record of its trace says so.
fn length_stated(first: Option<&Result<Record, TraceError>>, trace: &Path) -> Result<Option<Instant>, CommandFailure> {
    match first {
        None => Err(CommandFailure(format!("{}:1:1: there is nothing in it", trace.display()))),
        Some(Ok(Record::Setup(setup))) => Ok(setup.duration),
        Some(_) => Ok(None),
    }
}

/// Shows all records of a trace to the checkers, and to the statistics where there are some
/// already, and says when the last event was.
fn observe(
    records: impl Iterator<Item = Result<Record, TraceError>>,
    trace: &Path,
    checks: &mut Checks<'_>,
    mut statistics: Option<&mut Statistics>,
) -> Result<Instant, CommandFailure> {
    let mut last = Instant::START;
    for record in records {
        let record = record.map_err(|error| CommandFailure(format!("{}: {error}", trace.display())))?;
        let (at, ..) = record.order();
        if at < last {
            let trace = trace.display();
            fail!("{trace}: an event at {at} comes behind one at {last}: a trace is in order of time");
        }
        last = at;
        checks.record(&record);
        if let Some(statistics) = &mut statistics {
            statistics.record(&record);
        }
    }
    Ok(last)
}
