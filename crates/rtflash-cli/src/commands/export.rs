//! `rtflash export`: task sets and allocations for simulators and drives of others.

use std::borrow::Cow;
use std::path::Path;

use rtflash_alloc::rectangles::in_rectangles;
use rtflash_answers::{ExportAnswer, ExportedStream, line, pretty};
use rtflash_exchange::export::{
    Exported, NotExported, RequestStream, femu, fio,
    fio::FioOptions,
    mqsim,
    mqsim::{MqsimGc, MqsimOptions},
    nvme,
    nvme::NvmeKind,
    request_streams,
};
use rtflash_model::{Allocation, TaskSet, TaskSetFile};

use super::found::{any_runs, certified, find};
use super::{DecidedBy, export_firmware};
use crate::answer::{Status, Unanswered};
use crate::args::{
    ExportAllocationArgs, ExportArgs, ExportCommand, ExportSetArgs, FioClassArg, Format, MqsimGcArg, NvmeKindArg,
    ReplayArgs,
};
use crate::render::rendered;
use crate::{CommandFailure, output, source};

/// The file beside an export that says what was asked for.
pub const MANIFEST: &str = "export.json";

pub fn run(args: &ExportArgs) -> Result<Status, Unanswered> {
    match &args.command {
        ExportCommand::Mqsim { set, allocation, replay, gc } => {
            let file = read_set(set)?;
            let (found, inside) = allocation_of(&file.set, allocation)?;
            let options = MqsimOptions {
                duration: replay.duration,
                gc: match gc {
                    MqsimGcArg::Default => MqsimGc::Default,
                    MqsimGcArg::Preemptible => MqsimGc::Preemptible,
                },
                transfer_inside: inside,
                seed: replay.seed,
            };
            let streams = request_streams(&file.set, options.duration).map_err(refused)?;
            let exported = mqsim::export(&file.set, &found, &options).map_err(refused)?;
            write("mqsim", &exported, &streams, replay)
        }
        ExportCommand::Fio { set, replay, target, pages, class } => {
            let file = read_set(set)?;
            if target.contains(|c: char| c.is_whitespace() || c.is_control() || c == ':')
                || ["", "-"].contains(&target.as_str())
            {
                fail!("--target: fio takes no blank and no colon in the name of a file");
            }
            let duration = replay.duration;
            let class = class.map(FioClassArg::number);
            let options = FioOptions { target: target.clone(), duration, pages: *pages, seed: replay.seed, class };
            let streams = request_streams(&file.set, duration).map_err(refused)?;
            let exported = fio::export(&file.set, &options).map_err(refused)?;
            write("fio", &exported, &streams, replay)
        }
        ExportCommand::Femu { set, format } => {
            let file = read_set(set)?;
            let (text, notes) = femu::device_line(file.set.device()).map_err(refused)?;
            print(&text_answer("femu", text + "\n", notes), format.format)
        }
        ExportCommand::Nvme { set, allocation, by, format } => {
            let file = read_set(set)?;
            let (found, _) = allocation_of(&file.set, allocation)?;
            let kind = if *by == NvmeKindArg::Sets { NvmeKind::Sets } else { NvmeKind::Fdp };
            print(&text_answer("nvme", nvme::script(&file.set, &found, kind), Vec::new()), format.format)
        }
        ExportCommand::Firmware { set, allocation, analysis, rely_on, out, late, no_backfill, format } => {
            let file = read_set(set)?;
            let found = certified(allocation.as_deref(), analysis, rely_on.granted, &file.set)?;
            print(&export_firmware::write(&file.set, &found, out, *late, !no_backfill)?, format.format)
        }
    }
}

fn refused(why: NotExported) -> CommandFailure {
    CommandFailure(format!("this cannot be exported: {why}"))
}

fn read_set(args: &ExportSetArgs) -> Result<TaskSetFile, Unanswered> {
    read_one(&args.file, &args.set)
}

pub fn read_one(file: &Path, changes: &crate::args::ChangeArg) -> Result<TaskSetFile, Unanswered> {
    let (name, text) = source::read(file)?;
    let mut text = text;
    for change in &changes.changes {
        text = change.apply(&text).map_err(|error| CommandFailure(format!("--set: {error}")))?;
    }
    rtflash_model::read_task_set(&text).map_err(|diagnostics| Unanswered::refused(&name, &text, &diagnostics))
}

/// The allocation, and whether its analysis takes transfers for parts of the stated times where the
/// device does not say.
fn allocation_of(set: &TaskSet, args: &ExportAllocationArgs) -> Result<(Allocation, bool), Unanswered> {
    let DecidedBy { allocator, analysis, .. } = DecidedBy::of(&args.by)?;
    let given = args.allocation.as_deref().map(source::read).transpose()?;
    let is_given = given.is_some();
    let mut warnings = String::new();
    let found = find(set, given.as_ref(), allocator, analysis, false, &mut warnings);
    output::complain(&warnings);
    let found = found?.map_err(|none| {
        let hint = if is_given { "" } else { any_runs(&none.own) };
        none.refused(hint)
    })?;
    // A target can ask for a layout of what was found; a given allocation stays as it is.
    let laid_out = if is_given { None } else { in_rectangles(set, analysis, &found) };
    Ok((laid_out.unwrap_or(found), analysis.name() == "thesis"))
}

fn write(
    to: &'static str,
    exported: &Exported,
    streams: &[RequestStream],
    replay: &ReplayArgs,
) -> Result<Status, Unanswered> {
    let folder = &replay.out;
    output::folder(folder)?;
    // A file of an earlier export is not of this one. If there was none, nothing is ours.
    let old: &[&str] = if folder.join(MANIFEST).exists() { &["workload_scenario_1.xml", "result.json"] } else { &[] };
    for old in old.iter().map(|old| folder.join(old)) {
        match std::fs::remove_file(&old) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(CommandFailure::writing(&old, &error).into());
            }
            _ => {}
        }
    }
    for file in &exported.files {
        output::save(&folder.join(&file.name), file.text.as_bytes())?;
    }
    let exported_stream = |(position, stream): (usize, &RequestStream)| ExportedStream {
        name: stream.file_name(position).into(),
        task: Cow::Owned(stream.name.clone()),
        operation: stream.operation().into(),
        pages: stream.request.pages(),
        requests: stream.count,
        period_ns: stream.request.period().as_ns(),
    };
    let answer = ExportAnswer {
        to: to.into(),
        files: exported.files.iter().map(|file| Cow::Borrowed(file.name.as_str())).collect(),
        text: None,
        notes: exported.notes.iter().map(|note| Cow::Borrowed(note.as_str())).collect(),
        page_bytes: Some(exported.page_bytes),
        streams: streams.iter().enumerate().map(exported_stream).collect(),
    };
    output::save(&folder.join(MANIFEST), pretty(&answer).as_bytes())?;
    output::print(&match replay.format.format {
        Format::Json => line(&answer),
        Format::Text => {
            let requests: u64 = streams.iter().map(|stream| stream.count).sum();
            let (files, streams) = (exported.files.len(), streams.len());
            let head = format!("{files} files in {}: {requests} requests of {streams} streams\n", folder.display());
            format!("{head}- {}\n", exported.notes.join("\n- "))
        }
    })?;
    Ok(Status::Yes)
}

fn print(answer: &ExportAnswer<'_>, format: Format) -> Result<Status, Unanswered> {
    if format == Format::Text && !answer.notes.is_empty() && !output::is_quiet() {
        output::complain(&format!("- {}\n", answer.notes.join("\n- ")));
    }
    output::print(&rendered(format, answer, || answer.text.as_deref().unwrap_or("").to_owned()))?;
    Ok(Status::Yes)
}

fn text_answer(to: &'static str, text: String, notes: Vec<String>) -> ExportAnswer<'static> {
    ExportAnswer {
        to: to.into(),
        text: Some(text.into()),
        notes: notes.into_iter().map(Cow::Owned).collect(),
        ..ExportAnswer::default()
    }
}
