//! `rtflash check --trace`: a recorded run before the checkers.

use std::borrow::Cow;
use std::io::BufReader;
use std::path::Path;

use rtflash_alloc::allocator::usual;
use rtflash_exec::check::Checks;
use rtflash_exec::report::Statistics;
use rtflash_exec::trace::{Observer, TraceReader};
use rtflash_exec::{DEFAULT_MEMORY, Dispatch, memory_of_trace};
use rtflash_model::{Instant, Span, read_task_set_bytes};
use rtflash_run::Refusal;
use rtflash_wire::{ExecAnswer, traced};

use super::exec::{Found, find, predicted, refused};
use super::policies::duration;
use super::{allocator, analysis_relying_on};
use crate::Failure;
use crate::args::{self, CheckArgs};
use crate::batch::refuse;
use crate::output;
use crate::pairs::{change, next_batch};
use crate::render::Render;
use crate::render::exec_text::View;
use crate::source::Source;
use crate::source::read;
use crate::status::Status;

/// Carries the command out for a trace.
pub fn run(args: &CheckArgs, trace: &Path) -> Result<Status, Failure> {
    if trace.as_os_str() == "-" {
        return Err(Failure("--trace takes a file: it is read twice".into()));
    }
    let analysis = analysis_relying_on(&args.analysis.analysis, args.rely_on.granted())?;
    let name = args.algorithm.as_deref().unwrap_or_else(|| usual(analysis).name());
    let allocator = allocator(name)?;
    let given = args.allocation.as_deref().map(read).transpose()?;
    let source = Source::open(&args.file)?;
    let file_name = source.name.clone();
    let mut frames = rtflash_model::Frames::new(source);
    let mut sets = next_batch(&mut frames, &file_name)?.unwrap_or_else(Vec::new);
    if sets.len() > 1 || (sets.len() == 1 && next_batch(&mut frames, &file_name)?.is_some()) {
        return Err(Failure(format!("{file_name}: a trace is that of one task set, and here are several")));
    }
    let Some(mut frame) = sets.pop() else { return Err(Failure(format!("{file_name}:1:1: there is nothing in it"))) };
    change(&mut frame, &args.set.changes).map_err(|problem| Failure(format!("{file_name}: {problem}")))?;
    let file = match read_task_set_bytes(&frame.text) {
        Ok(file) => file,
        Err(diagnostics) => {
            output::complain(&refuse(&file_name, &frame, &diagnostics));
            return Ok(Status::Wrong);
        }
    };
    let allocation = match find(&file.set, given.as_ref(), allocator, analysis, false) {
        Found::Allocation(allocation) => allocation,
        Found::Wrong(complaint) => {
            output::complain(&complaint);
            return Ok(Status::Wrong);
        }
        Found::Nothing(reason, Status::CannotTell) => {
            output::complain(&output::error(&reason));
            return Ok(Status::CannotTell);
        }
        Found::Nothing(reason, _) => return Err(Failure(format!("{reason}: of what allocation is the trace?"))),
    };
    let plan = match rtflash_run::plan(&file.set, &allocation, analysis) {
        Ok(plan) => plan,
        Err(refusal) => {
            let refusal = rtflash_run::NotRun::Refused(refusal);
            output::complain(&output::error(&refusal.to_string()));
            return Ok(refused(&refusal));
        }
    };
    let (dispatch, dispatch_name) = match args.dispatch {
        args::Dispatch::Serial => (Dispatch::Serial, "serial"),
        args::Dispatch::Parallel => (Dispatch::Parallel, "parallel"),
    };
    let told = args.duration.as_deref().map(duration).transpose()?;
    let needed = memory_of_trace(&plan);
    if needed > DEFAULT_MEMORY {
        let refusal = rtflash_run::NotRun::Refused(Refusal::Memory { needed, limit: DEFAULT_MEMORY });
        output::complain(&output::error(&refusal.to_string()));
        return Ok(refused(&refusal));
    }
    let all: Vec<u32> = (0..).zip(plan.clusters()).map(|(position, _)| position).collect();
    let servers = rtflash_run::Servers::new(&file.set, &allocation, analysis);
    let mut checks = Checks::of_trace(&plan, dispatch, &all).with_admission(Box::new(servers));
    let records = |trace: &Path| -> Result<_, Failure> {
        Ok(TraceReader::new(&plan, BufReader::with_capacity(1 << 18, Source::open(trace)?)))
    };
    // Use is a share of the time, which may be known only at the end: statistics are made in a
    // second reading.
    let mut end = Instant::START;
    let mut last = None;
    for record in records(trace)? {
        let record = record.map_err(|error| Failure(format!("{}: {error}", trace.display())))?;
        let order = record.order();
        if let Some(last) = last.filter(|&last| order.0 < last) {
            return Err(Failure(format!(
                "{}: an event at {} comes behind one at {}: a trace is in order of time",
                trace.display(),
                order.0,
                last
            )));
        }
        last = Some(order.0);
        end = end.max(order.0);
        checks.record(&record);
    }
    let setup = checks.setup_told();
    // Where nobody says when the run ended, nothing is missing behind its last record.
    let behind = end.saturating_add(Span::NANOSECOND);
    let duration = told.or(setup.duration).unwrap_or(behind);
    let mut statistics = Statistics::new(&plan, duration);
    for record in records(trace)?.flatten() {
        statistics.record(&record);
    }
    let findings = checks.finish(duration);
    let report = statistics.finish(&plan);
    let settings = traced(&setup, duration, dispatch_name);
    let predicted = predicted(&file.set, &allocation, analysis, given.is_some());
    let algorithm = given.is_none().then_some(name);
    let blank = ExecAnswer::refused(algorithm, analysis.name(), predicted, settings, String::new());
    let answer = ExecAnswer {
        reason: None,
        meta: file.meta.as_deref().map(Cow::Borrowed),
        ..blank.with(&file.set, &plan, &findings, &report)
    };
    let page_size = plan.device().page_size();
    let text = View { answer, page_size, alone: true, drawing: String::new() }.render(args.format.format);
    output::print(&text)?;
    Ok(Status::of(Some(findings.iter().all(|finding| finding.gauge.holds()))))
}
