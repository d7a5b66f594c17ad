//! `rtflash import`: task sets and devices from what others have recorded or configured.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::BufReader;
use std::path::Path;

use rtflash_answers::{
    CurveAnswer, ExtentAnswer, ImportAnswer, RawMeta, RecorderAnswer, RefusedAnswer, TopicAnswer, line,
};
use rtflash_exchange::import::bag::{Bag, read_bag};
use rtflash_exchange::import::mqsim::{SsdConfig, read_ssd_config};
use rtflash_exchange::import::{
    BlockFormat, BlockTrace, CurvePoint, Extent, Lines, TimeBase, arrival_curve, job_streams, read_block_trace,
};
use rtflash_model::{Device, Invalid, Job, Span, Task, TaskSet, format_ns, write_device_in_full, write_task_set};
use serde_json::value::RawValue;

use super::generate::{DeviceFrom, device};
use crate::answer::{Status, Unanswered};
use crate::args::{BlockImportArgs, Format, ImportArgs, ImportCommand, OfDeviceArgs};
use crate::render::numbers::{count, volume};
use crate::render::table::table;
use crate::source::{self, InputSource};
use crate::{CommandFailure, diagnose, output};

const MAX_SHOWN: usize = 5;

const MAX_NAMES: usize = 10;

pub fn run(args: &ImportArgs) -> Result<Status, Unanswered> {
    match &args.command {
        ImportCommand::Mcap { input, flush, buffers } => mcap(input, *flush, *buffers),
        ImportCommand::Mqsim { file, format } => mqsim(file, format.format),
        ImportCommand::Fio(block) => requests("fio", block, BlockFormat::Fio),
        ImportCommand::Blkparse { block, action } => {
            requests("blkparse", block, BlockFormat::Blkparse { action: *action })
        }
        ImportCommand::Msr(block) => requests("msr", block, BlockFormat::Msr),
    }
}

fn mcap(input: &OfDeviceArgs, flush: Span, buffers: u32) -> Result<Status, Unanswered> {
    let device = device(&input.device, DeviceFrom::Anywhere)?;
    let source = InputSource::open(&input.file)?;
    let name = source.name.clone();
    let bag = read_bag(BufReader::with_capacity(1 << 16, source)).map_err(|error| cannot_read(&name, &error))?;
    let page_size = device.page_size();
    let late =
        || CommandFailure(format!("`--buffers`: {buffers} intervals of {flush} are 2^63 ns or more; state fewer"));
    let task = bag.task(flush, buffers, page_size).ok_or_else(late)?;
    let set = task_set(device, vec![task.clone()], Vec::new())?;
    let (topics, recorder) = (topics(&bag, flush), recorder(&bag, flush));
    let extent = bag.extent().expect("a bag has messages");
    let mut about = String::new();
    for topic in &topics {
        let (name, messages) = (diagnose::visible(&topic.topic, 80), count(topic.messages, "message"));
        let [bytes, most] = [topic.bytes as f64, topic.most_bytes as f64].map(volume);
        let _ = writeln!(about, "{name}: {messages}, {bytes} (the fullest window of {flush} has {most})");
    }
    show_recorder(&mut about, &recorder, &task, page_size);
    let mut answer = ImportAnswer {
        topics: Some(topics),
        recorder: Some(recorder),
        task_set: Some(raw(&set)),
        ..of_extent("mcap", &bag.messages, &extent, TimeBase::Unix)
    };
    if bag.unread_bytes > 0 {
        let (unread, places) = (count(bag.unread_bytes, "byte"), count(bag.unread_parts, "place"));
        let says =
            format!("The import skips {unread} in {places}. Task and rates lack them and promise nothing on them.");
        answer.warnings.insert(0, says.into());
    }
    print(input.format, &set, &answer, "messages", TimeBase::Unix, &about)
}

fn topics(bag: &Bag, flush: Span) -> Vec<TopicAnswer<'_>> {
    let topic = |topic: &'_ rtflash_exchange::import::bag::Topic| {
        let fullest = topic.fullest_window(flush);
        TopicAnswer {
            topic: Cow::Owned(topic.name.clone()),
            messages: topic.messages.len() as u64,
            bytes: sum(&topic.messages),
            most_bytes: fullest.bytes,
            most_begins_ns: fullest.begins,
        }
    };
    bag.topics.iter().map(topic).collect()
}

fn sum(records: &[(u64, u64)]) -> u128 {
    records.iter().map(|(_, bytes)| u128::from(*bytes)).sum()
}

fn recorder(bag: &Bag, flush: Span) -> RecorderAnswer {
    let fullest = bag.fullest_window(flush);
    RecorderAnswer {
        most_bytes: fullest.bytes,
        most_begins_ns: fullest.begins,
        attachments: bag.attachments.len() as u64,
        attachment_bytes: sum(&bag.attachments),
        other_bytes: sum(&bag.others),
        summary_bytes: bag.summary_bytes,
        bags: bag.bags,
        unread_bytes: bag.unread_bytes,
        unread_parts: bag.unread_parts,
    }
}

fn show_recorder(text: &mut String, recorder: &RecorderAnswer, task: &Task, page_size: u32) {
    if recorder.attachments > 0 {
        let (number, size) = (count(recorder.attachments, "attachment"), volume(recorder.attachment_bytes as f64));
        let _ = writeln!(text, "{number}, {size}: in the window of the time when it was logged");
    }
    let _ = writeln!(
        text,
        "indexes, heads of chunks, schemas, metadata: {}; the summary, which no window has: {}",
        volume(recorder.other_bytes as f64),
        volume(recorder.summary_bytes as f64)
    );
    if recorder.bags > 1 {
        let _ = writeln!(text, "{} bags, one behind the other: their times are on one clock", recorder.bags);
    }
    let write = task.write.expect("a recorder writes");
    let (pages, most) = (count(write.pages(), "page"), volume(recorder.most_bytes as f64));
    let due = write.stated_deadline().map_or_else(String::new, |due| format!(", each due after {due}"));
    let _ = writeln!(
        text,
        "task recorder: {pages} of {page_size} bytes every {}{due} (the fullest window of all has {most})",
        write.period()
    );
}

fn requests(from: &'static str, block: &BlockImportArgs, format: BlockFormat) -> Result<Status, Unanswered> {
    let input = &block.input;
    let device = device(&input.device, DeviceFrom::Anywhere)?;
    let source = InputSource::open(&input.file)?;
    let name = source.name.clone();
    let trace = read_block_trace(BufReader::with_capacity(1 << 16, source), format)
        .map_err(|error| cannot_read(&name, &error))?;
    let mut trace = of_one_device(trace, block.only.as_deref(), format, &name)?;
    let jobs = job_streams(&trace.requests, device.page_size())
        .ok_or_else(|| CommandFailure(format!("{name}: it is longer than 2^63 ns")))?;
    let (requests, streams) = (count(trace.requests.len(), "request"), count(jobs.len(), "job stream"));
    let set = task_set(device, Vec::new(), jobs)?;
    let curve = arrival_curve(&trace.requests, set.device().page_size());
    let extent = trace.extent().expect("a trace has requests");
    // The set has their times; as text it takes as much memory again.
    trace.requests = Vec::new();
    let mut about = String::new();
    if trace.without_data > 0 {
        let number = count(trace.without_data, "request");
        let _ = writeln!(about, "{number} without data (discards, write zeroes, flushes, …): in no job");
    }
    let _ = writeln!(about, "{requests} make {streams}; times count from the first");
    show_curve(&mut about, &curve, set.device().page_size());
    let points = curve.iter().map(|point| CurveAnswer {
        window_ns: point.window.as_ns(),
        read_bytes: point.read_bytes,
        write_bytes: point.write_bytes,
        bytes: point.bytes,
        read_pages: point.read_pages,
        write_pages: point.write_pages,
        pages: point.pages,
    });
    let answer = ImportAnswer {
        curve: Some(points.collect()),
        without_data: Some(trace.without_data),
        task_set: Some(raw(&set)),
        ..of_extent(from, &trace.lines, &extent, format.clock())
    };
    print(input.format, &set, &answer, "lines", format.clock(), &about)
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

fn show_curve(text: &mut String, curve: &[CurvePoint], page_size: u32) {
    let row = |point: &CurvePoint| {
        let pages = [point.read_pages, point.write_pages, point.pages].map(|pages| pages.to_string());
        let bytes = [point.read_bytes, point.write_bytes, point.bytes].map(|bytes| volume(bytes as f64));
        [point.window.to_string()].into_iter().chain(pages).chain(bytes).collect()
    };
    let headings = [">window", ">pages read", ">written", ">both", ">bytes read", ">written", ">both"];
    *text += &format!(
        "most that comes in any window; pages are those of {page_size} bytes that requests touch\n{}",
        table(&headings, curve.iter().map(row))
    );
}

fn mqsim(file: &Path, format: Format) -> Result<Status, Unanswered> {
    let (name, text) = source::read(file)?;
    let config = read_ssd_config(&text).map_err(|faults| Unanswered::refused(&name, &text, &faults))?;
    let SsdConfig { device, not_kept } = config;
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
    let refused = |line: &rtflash_exchange::import::RefusedLine| RefusedAnswer {
        line: line.line,
        problem: Cow::Owned(diagnose::visible(&line.problem, 400)),
    };
    ImportAnswer {
        from: from.into(),
        read: lines.read,
        passed_over: lines.passed_over,
        refused: lines.refused,
        first_refused: lines.first_refused.iter().map(refused).collect(),
        ..ImportAnswer::default()
    }
}

/// The answer of a bag or a trace: when its messages or requests came, with what is implausible in
/// it.
fn of_extent(from: &'static str, lines: &Lines, extent: &Extent, clock: TimeBase) -> ImportAnswer<'static> {
    ImportAnswer {
        extent: Some(ExtentAnswer {
            first_ns: extent.first,
            length_ns: extent.length(),
            bytes: extent.bytes,
            mean_bytes_per_s: extent.mean_rate(),
        }),
        warnings: extent.doubts(clock).into_iter().map(Cow::Owned).collect(),
        ..answer(from, lines)
    }
}

fn show_extent(text: &mut String, extent: &ExtentAnswer, clock: TimeBase) {
    let first = clock.date(extent.first_ns).map_or_else(|| format_ns(extent.first_ns), |date| date + " UTC");
    let rate =
        extent.mean_bytes_per_s.map_or_else(|| "all at once".into(), |rate| volume(rate as f64) + "/s on average");
    let length = format_ns(extent.length_ns);
    let _ = writeln!(text, "first at {first}; {} in {length}, {rate}", volume(extent.bytes as f64));
}

fn print(
    format: Format,
    set: &TaskSet,
    answer: &ImportAnswer<'_>,
    what: &str,
    clock: TimeBase,
    about: &str,
) -> Result<Status, Unanswered> {
    match format {
        Format::Json => output::print(&line(answer))?,
        Format::Text => {
            if !output::is_quiet() {
                let (read, over, refused) = (answer.read, answer.passed_over, answer.refused);
                let mut text = format!("{what}: {read} read, {over} passed over, {refused} refused\n");
                for line in answer.first_refused.iter().take(MAX_SHOWN) {
                    let _ = writeln!(text, "refused: {}: {}", line.line, diagnose::visible(&line.problem, 200));
                }
                if let Some(extent) = &answer.extent {
                    show_extent(&mut text, extent, clock);
                }
                text += about;
                for warning in &answer.warnings {
                    let _ = writeln!(text, "warning: {warning}");
                }
                output::complain(&text);
            }
            output::print(&(write_task_set(set, None) + "\n"))?;
        }
    }
    Ok(Status::of(if answer.refused == 0 { Some(true) } else { None }))
}
