//! `rtflash check --mqsim` and `--fio`: what came of an export, beside the deadlines.

use std::borrow::Cow;
use std::path::Path;

use rtflash_answers::{ExportAnswer, ExportedStream, ReplayAnswer, ReplayLine, line, read};
use rtflash_exchange::export::ReplayedStream;
use rtflash_exchange::export::fio::APERIODIC;
use rtflash_model::{Request, TaskSet, format_ns};

use super::export::{MANIFEST, read_one};
use crate::answer::{Status, Unanswered};
use crate::args::{CheckArgs, Format};
use crate::render::table::table;
use crate::{CommandFailure, output, source};

pub fn run(args: &CheckArgs, results: &Path, from: &'static str) -> Result<Status, Unanswered> {
    let file = read_one(&args.file, &args.set)?;
    let (name, text) = source::read(results)?;
    let manifest = results.parent().unwrap_or(Path::new("")).join(MANIFEST);
    let (manifest_name, manifest) = source::read(&manifest).map_err(|CommandFailure(why)| {
        CommandFailure(format!("{why}; results are read in the folder that `rtflash export {from}` made"))
    })?;
    let wrong = |why: &str| CommandFailure(format!("{manifest_name}: {why}"));
    let exported = read::<ExportAnswer<'_>>(&manifest).map_err(|error| wrong(&error.to_string()))?;
    let exported = exported.answer.map_err(|fault| wrong(&fault.message))?;
    if exported.to != from {
        return Err(wrong(&format!("an export to {}, not to {from}", exported.to)).into());
    }
    let streams = match from {
        "mqsim" => rtflash_exchange::export::mqsim::read_results(&text),
        _ => rtflash_exchange::export::fio::read_results(&text),
    };
    let mut streams = streams.map_err(|why| CommandFailure(format!("cannot read {name}: {why}")))?;
    // Aperiodic requests have no deadline.
    streams.retain(|stream| !stream.name.ends_with(APERIODIC));
    if streams.len() != exported.streams.len() {
        let (there, here) = (streams.len(), exported.streams.len());
        fail!("{name} has {there} streams, and {manifest_name} {here}");
    }
    let page_bytes = exported.page_bytes.filter(|bytes| *bytes > 0).ok_or_else(|| wrong("it has no `page_bytes`"))?;
    let pairs = exported.streams.iter().zip(&streams);
    let lines = pairs.map(|(exported, stream)| judged(&file.set, exported, stream, page_bytes).map_err(CommandFailure));
    let lines = lines.collect::<Result<Vec<_>, _>>()?;
    // A line that is late fails the whole, even if others are open.
    let fails = |line: &ReplayLine<'_>| {
        line.in_time == Some(false) || line.served != line.requests || line.handed_in != line.requests
    };
    let holds = if lines.iter().any(fails) {
        Some(false)
    } else {
        lines.iter().all(|line| line.in_time.is_some()).then_some(true)
    };
    let answer = ReplayAnswer { from: from.into(), holds, streams: lines };
    output::print(&match args.format.format {
        Format::Json => line(&answer),
        Format::Text => text_of(&answer),
    })?;
    Ok(Status::of(answer.holds))
}

fn judged<'a>(
    set: &TaskSet,
    exported: &'a ExportedStream<'a>,
    stream: &ReplayedStream,
    page_bytes: u64,
) -> Result<ReplayLine<'a>, String> {
    let writes = exported.operation == "write";
    let of_task = set.tasks().iter().find(|task| task.name == exported.task);
    let request = of_task.and_then(|task| if writes { task.write } else { task.read });
    let is_same =
        |request: &Request| request.pages() == exported.pages && request.period().as_ns() == exported.period_ns;
    let Some(request) = request.filter(is_same) else {
        let (task, operation) = (&exported.task, &exported.operation);
        let period = format_ns(exported.period_ns);
        return Err(format!(
            "the task set has no {operation} of {} pages every {period} of `{task}`: another was exported",
            exported.pages
        ));
    };
    if !stream.name.contains(exported.name.as_ref()) || (stream.requests > 0 && stream.writes != writes) {
        return Err(format!(
            "`{}` stands in the place of `{}`: these results are of another export",
            stream.name, exported.name
        ));
    }
    let deadline = request.deadline().as_ns();
    let [p50_ns, p99_ns, p999_ns] = stream.carried();
    let lagged = stream.lagged(exported.requests, exported.period_ns);
    let in_time = stream.longest.map_or(Some(exported.requests == 0), |longest| longest.meets(deadline));
    Ok(ReplayLine {
        task: Cow::Borrowed(&exported.task),
        operation: Cow::Borrowed(&exported.operation),
        requests: exported.requests,
        handed_in: stream.requests,
        served: stream.served_bytes / exported.pages.saturating_mul(page_bytes).max(1),
        deadline_ns: deadline,
        p50_ns,
        p99_ns,
        p999_ns,
        longest_ns: stream.longest.map(|longest| longest.at_least),
        lasted_ns: stream.lasted_ms.map(|lasted| lasted.saturating_mul(1_000_000)),
        lagged,
        in_time: in_time.filter(|in_time| !(*in_time && lagged)),
    })
}

fn text_of(answer: &ReplayAnswer<'_>) -> String {
    let verdict = match answer.holds {
        Some(true) => "pass: every request was served, and none was late",
        Some(false) => "fail: requests were late, or were not served",
        None if answer.streams.iter().any(|line| line.lagged) => {
            "cannot tell: the replay lagged behind its releases, so that the drive had less to do"
        }
        None => "cannot tell: the results are too coarse",
    };
    let time = |ns: Option<u64>| ns.map_or("-".into(), format_ns);
    let row = |line: &ReplayLine<'_>| {
        let mark = match line.in_time {
            Some(true) => String::new(),
            Some(false) => "late".into(),
            None if line.lagged => {
                format!("lagged: it lasted {}", line.lasted_ns.map_or_else(String::new, format_ns))
            }
            None => "cannot tell".into(),
        };
        vec![
            crate::diagnose::visible(&line.task, 22),
            line.operation.to_string(),
            line.requests.to_string(),
            line.served.to_string(),
            time(line.p50_ns),
            time(line.p99_ns),
            time(line.p999_ns),
            time(line.longest_ns),
            format_ns(line.deadline_ns),
            mark,
        ]
    };
    let headings = ["task", "", ">requests", ">served", ">p50", ">p99", ">p99.9", ">longest", ">deadline", ""];
    format!("{verdict} ({})\n\n{}", answer.from, table(&headings, answer.streams.iter().map(row)))
}
