//! `rtflash experiment` and `rtflash merge`.

mod directory;
mod manifest;
mod options;
mod shard;
mod watcher;

use std::path::PathBuf;

use clap::Parser;
use rtflash_draw::{NamedFigure, figures};
use rtflash_experiment::output::{Summary, summary, tables};
use rtflash_experiment::tally::Tally;
use rtflash_experiment::{Plan, Progress, RunFailure, Shard, merge as joined, run as work};

use super::generate::DeviceFrom;
use crate::answer::{Status, Unanswered};
use crate::args::{Cli, Commands, ExperimentArgs, ExperimentKind, Format, MergeArgs};
use crate::render::{experiment_text, rendered};
use crate::{CommandFailure, output, report};

use directory::{Directory, PROGRESS};
pub use manifest::Manifest;
pub use options::{OwnContenders, plan};
use watcher::TerminalBar;

pub fn run(args: &ExperimentArgs) -> Result<Status, Unanswered> {
    let report = report::place(args.report.as_deref())?;
    let (plan, manifest) = plan(args, DeviceFrom::Anywhere, &OwnContenders::default())?;
    let shard = match &args.shard {
        None => Shard::WHOLE,
        Some(text) => shard::shard(text, |name| std::env::var(name).ok())?,
    };
    let directory = Directory::occupy(&args.out)?;
    let part = args.shard.is_some().then_some(shard);
    let found = resumable(&directory, &plan, &manifest, shard, part)?;
    directory.tidy();
    let progress = match found {
        None => Progress::new(&plan, manifest.identity()?, shard),
        Some(found) => found,
    };
    // Said at once: an experiment that is killed leaves word of what it was.
    directory.describe(&manifest.text(part)?)?;
    let all = shard.sets(plan.sets());
    if progress.done() > 0 && progress.done() < all {
        output::complain(&format!("going on: {} of {all} sets are done\n", progress.done()));
    }
    let mut watcher = TerminalBar::new(&directory, progress.done(), all);
    let jobs = args.jobs.map(usize::from);
    let progress = super::on_threads(jobs, || work(&plan, progress, &mut watcher))?;
    watcher.finish();
    let progress = progress.map_err(|failure| match failure {
        RunFailure::Unkept(error) => directory.failure(PROGRESS, &error),
        RunFailure::NoDivision { .. } => CommandFailure(failure.to_string()),
    })?;
    let figures = !args.no_figure && args.shard.is_none();
    let written = Written { directory: &directory, figures, report, format: args.format.format };
    Ok(finish(&plan, &progress, args.kind, &manifest, &written)?)
}

/// The files found in the directory, if any: an earlier stage of the same, or it is refused. `part`
/// is what the manifest names.
fn resumable(
    directory: &Directory,
    plan: &Plan,
    manifest: &Manifest,
    shard: Shard,
    part: Option<Shard>,
) -> Result<Option<Progress>, CommandFailure> {
    let progress = directory.progress()?;
    let described = directory.manifest()?.map_or(Ok(()), |text| manifest.compare(&text, part));
    let there = match (&progress, described) {
        (Some(found), _) if found.manifest() == manifest.identity()? => {
            if found.shard() != shard {
                "another part of this experiment"
            } else if !found.suits(plan) {
                "counts that fit no experiment"
            } else {
                return Ok(progress);
            }
        }
        (_, Err(there)) => there,
        (Some(_), Ok(())) => "another experiment",
        (None, Ok(())) => return Ok(None),
    };
    Err(CommandFailure(format!(
        "{} holds {there}: choose another --out, or remove that directory to begin anew",
        directory.path().display()
    )))
}

#[cfg(feature = "full")]
pub fn merge(args: &MergeArgs) -> Result<Status, Unanswered> {
    let report = report::place(args.report.as_deref())?;
    let mut parts = Vec::with_capacity(args.parts.len());
    for path in &args.parts {
        let found = Directory::existing(path).progress()?;
        let part = found.ok_or_else(|| {
            CommandFailure(format!("{} holds no part of an experiment: there is no tallies.json in it", path.display()))
        })?;
        parts.push(part);
    }
    let names: Vec<String> = args.parts.iter().map(|path| path.display().to_string()).collect();
    let Joined { plan, manifest, kind, whole } = join(&names, &parts)?;
    let directory = Directory::occupy(&args.out)?;
    resumable(&directory, &plan, &manifest, Shard::WHOLE, None)?;
    directory.tidy();
    directory.describe(&manifest.text(None)?)?;
    directory.keep(&whole).map_err(|error| directory.failure(PROGRESS, &error))?;
    let written = Written { directory: &directory, figures: !args.no_figure, report, format: args.format.format };
    Ok(finish(&plan, &whole, kind, &manifest, &written)?)
}

pub struct Joined {
    pub plan: Plan,
    pub manifest: Manifest,
    pub kind: ExperimentKind,
    pub whole: Progress,
}

/// Joins the parts of an experiment, which complaints call so. The parts say which it is.
#[cfg(feature = "full")]
pub fn join(names: &[String], parts: &[Progress]) -> Result<Joined, Unanswered> {
    let Some(first) = parts.first() else { fail!("no parts to merge") };
    let command = Manifest::command_of(first.manifest()).and_then(|command| Cli::try_parse_from(command).ok());
    let Some(Cli { command: Commands::Experiment(experiment), .. }) = command else {
        let name = names.first().map_or("", String::as_str);
        fail!("{name}: tallies.json does not say which experiment it belongs to");
    };
    // Another user can have written the file: its command opens no files.
    let (plan, manifest) = plan(&experiment, DeviceFrom::Inline, &OwnContenders::default())?;
    let whole = join_as(&plan, &manifest, names, parts)?;
    Ok(Joined { plan, manifest, kind: experiment.kind, whole })
}

pub fn join_as(
    plan: &Plan,
    manifest: &Manifest,
    names: &[String],
    parts: &[Progress],
) -> Result<Progress, CommandFailure> {
    let blame = |position: usize, problem: &str| {
        CommandFailure(format!("{}: {problem}", names.get(position).map_or("", String::as_str)))
    };
    let Some(first) = parts.first() else { fail!("no parts to merge") };
    if manifest.identity()? != first.manifest() {
        let there = manifest.compare(first.manifest().as_bytes(), None).err().unwrap_or("a changed manifest");
        return Err(blame(0, &format!("holds {there}: {}", manifest.built())));
    }
    joined(plan, parts).map_err(|error| {
        use rtflash_experiment::MergeError::{Impossible, Missing, Mixed, Nothing, Twice, Unfinished};
        match error {
            Mixed(part) | Impossible(part) | Unfinished { part, .. } | Twice(_, part) => {
                blame(part, &error.to_string())
            }
            Missing(_) | Nothing => CommandFailure(error.to_string()),
        }
    })
}

struct Written<'a> {
    directory: &'a Directory,
    figures: bool,
    report: Option<PathBuf>,
    format: Format,
}

fn finish(
    plan: &Plan,
    progress: &Progress,
    kind: ExperimentKind,
    manifest: &Manifest,
    wanted: &Written<'_>,
) -> Result<Status, CommandFailure> {
    let directory = wanted.directory;
    let tallies = progress.tallies();
    let summary = summary(plan, kind.name(), tallies);
    let mut written = vec!["manifest.json".to_owned()];
    let mut write = |name: &str, content: &[u8]| {
        written.push(name.to_owned());
        directory.write(name, content)
    };
    let tables = tables(plan, tallies);
    for (name, text) in texts(plan, tallies, &summary) {
        write(&name, text.as_bytes())?;
    }
    let figures = if wanted.figures { figures(plan, tallies) } else { Vec::new() };
    for figure in &figures {
        for (name, content) in files(figure)? {
            write(&name, &content)?;
        }
    }
    let page_size = plan.spec().sets.device.page_size();
    if let Some(path) = &wanted.report {
        report::write(path, &report::experiment(&summary, page_size, &manifest.text(None)?, &figures, &tables))?;
    }
    let (status, warnings) = warnings(&summary);
    output::complain(&warnings);
    let directory = directory.path().display().to_string();
    let text = || experiment_text::text(&summary, page_size, &directory, &written);
    output::print(&rendered(wanted.format, &summary, text))?;
    Ok(status)
}

fn files(figure: &NamedFigure) -> Result<Vec<(String, Vec<u8>)>, CommandFailure> {
    #[cfg(feature = "pictures")]
    return figure.files().map_err(|error| CommandFailure(format!("no figure: {error}")));
    #[cfg(not(feature = "pictures"))]
    Ok(figure.text_files())
}

pub fn texts(plan: &Plan, tallies: &[Tally], summary: &Summary) -> Vec<(String, String)> {
    let tables = tables(plan, tallies).into_iter().map(|table| (table.name.to_owned(), table.text));
    tables.chain([("summary.json".to_owned(), rtflash_answers::pretty(summary))]).collect()
}

/// The gaps in the results, and the status that they make.
pub fn warnings(summary: &Summary) -> (Status, String) {
    let mut warnings = Vec::new();
    if summary.exhausted > 0 {
        warnings.push(format!(
            "{} sets could not be drawn: the points where they are missing have fewer sets, or none; ask for less \
             utilization or more tasks (`rtflash gen` says why)",
            summary.exhausted
        ));
    }
    if summary.not_run > 0 {
        warnings.push(format!(
            "{} sets could not be run on the simulated device, and are left out (`rtflash exec` says why)",
            summary.not_run
        ));
    }
    for contender in summary.contenders.iter().filter(|contender| contender.at.is_none()) {
        let undecided = summary.sets.saturating_sub(contender.sets);
        if undecided > 0 {
            warnings.push(format!(
                "{} cannot tell for {undecided} of {} sets: its ratios are those of the others",
                contender.algorithm, summary.sets
            ));
        }
    }
    let status = if warnings.is_empty() { Status::Yes } else { Status::CannotTell };
    (status, warnings.iter().map(|warning| output::warning(warning)).collect())
}
