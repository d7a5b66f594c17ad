//! `rtflash import`: task sets and devices from what others have recorded or configured.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::BufReader;
use std::path::Path;

use rtflash_import::bag::{Bag, read_bag};
use rtflash_import::mqsim::{SsdConfig, read_ssd_config};
use rtflash_import::{BlockFormat, BlockTrace, CurvePoint, Lines, arrival_curve, job_streams, read_block_trace};
use rtflash_model::{Device, Invalid, Job, Span, Task, TaskSet, write_device_in_full, write_task_set};
use rtflash_wire::{CurveAnswer, ImportAnswer, RawMeta, RefusedAnswer, TopicAnswer, line};
use serde_json::value::RawValue;

use super::generate::{DeviceFrom, device};
use crate::args::{BlockImportArgs, Format, ImportArgs, ImportCommand, OfDeviceArgs};
use crate::render::numbers::{bytes, count, volume};
use crate::source::{self, InputSource};
use crate::status::Status;
use crate::{CommandFailure, diagnose, output};

/// Refused lines that are shown to people.
const MAX_SHOWN: usize = 5;

/// Names of devices that are shown to people.
const MAX_NAMES: usize = 10;

/// Carries the command out.
///
/// # Errors
/// Where a file cannot be read, or is not what it is said to be.
pub fn run(args: &ImportArgs) -> Result<Status, CommandFailure> {
    match &args.command {
        ImportCommand::Mcap { input, flush } => mcap(input, *flush),
        ImportCommand::Mqsim { file, format } => mqsim(file, format.format),
        ImportCommand::Fio(block) => requests("fio", block, BlockFormat::Fio),
        ImportCommand::Blkparse { block, action } => {
            requests("blkparse", block, BlockFormat::Blkparse { action: *action })
        }
        ImportCommand::Msr(block) => requests("msr", block, BlockFormat::Msr),
    }
}

fn mcap(input: &OfDeviceArgs, flush: Span) -> Result<Status, CommandFailure> {
    let device = match device(&input.device, DeviceFrom::Anywhere) {
        Ok(device) => device,
        Err(unanswered) => return unanswered.tell(),
    };
    let source = InputSource::open(&input.file)?;
    let name = source.name.clone();
    let bag = read_bag(BufReader::with_capacity(1 << 16, source)).map_err(|error| cannot_read(&name, &error))?;
    let page_size = device.page_size();
    let tasks: Option<Vec<Task>> = bag.topics.iter().map(|topic| topic.task(flush, page_size)).collect();
    let set = task_set(device, tasks.expect("topics have messages, the interval is above zero"), Vec::new())?;
    let topics = topics(&bag, flush);
    let summary = |text: &mut String| {
        for topic in &topics {
            let pages = count(topic.most_bytes.div_ceil(page_size.into()), "page");
            let _ = writeln!(
                text,
                "{}: {}, {}; {pages} of {page_size} bytes every {flush} (the fullest window has {})",
                diagnose::visible(&topic.topic, 80),
                count(topic.messages, "message"),
                bytes(topic.bytes),
                bytes(topic.most_bytes.into())
            );
        }
    };
    let answer =
        ImportAnswer { topics: Some(topics.clone()), task_set: Some(raw(&set)), ..answer("mcap", &bag.messages) };
    print(input.format, &set, &answer, "messages", summary)
}

fn topics(bag: &Bag, flush: Span) -> Vec<TopicAnswer<'_>> {
    let topic = |topic: &'_ rtflash_import::bag::Topic| {
        let fullest = topic.fullest_window(flush);
        TopicAnswer {
            topic: Cow::Owned(topic.name.clone()),
            messages: topic.messages.len() as u64,
            bytes: topic.messages.iter().map(|(_, bytes)| u128::from(*bytes)).sum(),
            most_bytes: fullest.bytes,
            most_begins_ns: fullest.begins,
        }
    };
    bag.topics.iter().map(topic).collect()
}

fn requests(from: &'static str, block: &BlockImportArgs, format: BlockFormat) -> Result<Status, CommandFailure> {
    let input = &block.input;
    let device = match device(&input.device, DeviceFrom::Anywhere) {
        Ok(device) => device,
        Err(unanswered) => return unanswered.tell(),
    };
    let source = InputSource::open(&input.file)?;
    let name = source.name.clone();
    let trace = read_block_trace(BufReader::with_capacity(1 << 16, source), format)
        .map_err(|error| cannot_read(&name, &error))?;
    let trace = of_one_device(trace, block.only.as_deref(), format, &name)?;
    let jobs = job_streams(&trace.requests, device.page_size())
        .ok_or_else(|| CommandFailure(format!("{name}: it is longer than 2^63 ns")))?;
    let (requests, streams) = (count(trace.requests.len(), "request"), count(jobs.len(), "job stream"));
    let set = task_set(device, Vec::new(), jobs)?;
    let curve = arrival_curve(&trace.requests);
    let summary = |text: &mut String| {
        let _ = writeln!(text, "{requests} make {streams}; times count from the first");
        show_curve(text, &curve);
    };
    let points = curve.iter().map(|point| CurveAnswer {
        window_ns: point.window.as_ns(),
        read_bytes: point.read_bytes,
        write_bytes: point.write_bytes,
        bytes: point.bytes,
    });
    let points = Some(points.collect());
    let answer = ImportAnswer { curve: points, task_set: Some(raw(&set)), ..answer(from, &trace.lines) };
    print(input.format, &set, &answer, "lines", summary)
}

/// The requests to one device: that which is wanted, or the only one. Files of fio are on one
/// device together.
fn of_one_device(
    trace: BlockTrace,
    only: Option<&str>,
    format: BlockFormat,
    name: &str,
) -> Result<BlockTrace, CommandFailure> {
    let listed = |devices: &[String]| {
        let names: Vec<String> =
            devices.iter().take(MAX_NAMES).map(|name| format!("`{}`", diagnose::visible(name, 80))).collect();
        let more = devices.len().saturating_sub(MAX_NAMES);
        if more == 0 { names.join(", ") } else { format!("{} and {more} more", names.join(", ")) }
    };
    match only {
        Some(wanted) => {
            let devices = listed(&trace.devices);
            let found = trace.of_device(wanted);
            found.ok_or_else(|| CommandFailure(format!("{name}: no request to `{wanted}`; there are {devices}")))
        }
        None if trace.devices.len() > 1 && format != BlockFormat::Fio => {
            let devices = listed(&trace.devices);
            Err(CommandFailure(format!("{name}: requests to several devices; choose one by --only: {devices}")))
        }
        None => Ok(trace),
    }
}

fn show_curve(text: &mut String, curve: &[CurvePoint]) {
    let _ = writeln!(
        text,
        "most bytes that come in any window\n{:>14}{:>16}{:>16}{:>16}",
        "window", "read", "written", "both"
    );
    for point in curve {
        let CurvePoint { window, read_bytes, write_bytes, bytes } = point;
        let _ = writeln!(
            text,
            "{:>14}{:>16}{:>16}{:>16}",
            window.to_string(),
            volume(*read_bytes as f64),
            volume(*write_bytes as f64),
            volume(*bytes as f64)
        );
    }
}

fn mqsim(file: &Path, format: Format) -> Result<Status, CommandFailure> {
    let (name, text) = source::read(file)?;
    let SsdConfig { device, not_kept } = match read_ssd_config(&text) {
        Ok(config) => config,
        Err(faults) => {
            output::complain(&diagnose::render(&name, &text, 1, 1, &faults, output::complaints_in_colour()));
            return Ok(Status::Wrong);
        }
    };
    match format {
        Format::Text => {
            if !output::is_quiet() {
                output::complain(&format!("not kept:\n- {}\n", not_kept.join("\n- ")));
            }
            output::print(&super::profile::in_lines(&write_device_in_full(&device)))?;
        }
        Format::Json => {
            let device = RawValue::from_string(write_device_in_full(&device)).expect("a device is written as JSON");
            let not_kept = not_kept.into_iter().map(Cow::Owned).collect();
            let answer = answer("mqsim", &Lines::default());
            output::print(&line(&ImportAnswer {
                not_kept: Some(not_kept),
                device: Some(Cow::Owned(device)),
                ..answer
            }))?;
        }
    }
    Ok(Status::Yes)
}

fn cannot_read(name: &str, error: &dyn std::fmt::Display) -> CommandFailure {
    CommandFailure(format!("cannot read {name}: {}", diagnose::visible(&error.to_string(), 400)))
}

fn task_set(device: Device, tasks: Vec<Task>, jobs: Vec<Job>) -> Result<TaskSet, CommandFailure> {
    TaskSet::new(device, tasks, jobs).map_err(|wrong: Vec<Invalid>| {
        let first = wrong.first().map_or_else(String::new, ToString::to_string);
        CommandFailure(format!("what it holds is no task set on this device: {}", diagnose::visible(&first, 400)))
    })
}

fn raw(set: &TaskSet) -> RawMeta<'static> {
    Cow::Owned(RawValue::from_string(write_task_set(set, None)).expect("a task set is written as JSON"))
}

fn answer(from: &'static str, lines: &Lines) -> ImportAnswer<'static> {
    let refused = |line: &rtflash_import::RefusedLine| RefusedAnswer {
        line: line.line,
        problem: Cow::Owned(diagnose::visible(&line.problem, 400)),
    };
    ImportAnswer {
        from: from.into(),
        read: lines.read,
        passed_over: lines.passed_over,
        refused: lines.refused,
        first_refused: lines.first_refused.iter().map(refused).collect(),
        topics: None,
        curve: None,
        not_kept: None,
        device: None,
        task_set: None,
    }
}

/// The task set, and beside it what was read; or both in one line.
fn print(
    format: Format,
    set: &TaskSet,
    answer: &ImportAnswer<'_>,
    what: &str,
    summary: impl FnOnce(&mut String),
) -> Result<Status, CommandFailure> {
    match format {
        Format::Json => output::print(&line(answer))?,
        Format::Text => {
            if !output::is_quiet() {
                let (read, over, refused) = (answer.read, answer.passed_over, answer.refused);
                let mut text = format!("{what}: {read} read, {over} passed over, {refused} refused\n");
                for line in answer.first_refused.iter().take(MAX_SHOWN) {
                    let _ = writeln!(text, "refused: {}: {}", line.line, diagnose::visible(&line.problem, 200));
                }
                summary(&mut text);
                output::complain(&text);
            }
            output::print(&(write_task_set(set, None) + "\n"))?;
        }
    }
    Ok(Status::of(if answer.refused == 0 { Some(true) } else { None }))
}
