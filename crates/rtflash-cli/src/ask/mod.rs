//! The command's answers for programs that embed it: the words of a command line in, what the
//! command would print out. Nothing is read from a terminal or written to one; only options that
//! name a file open it.

mod study;

use std::iter::once;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use clap::Parser;
use rayon::prelude::*;
use rtflash_model::reading::Change;
use rtflash_model::{Frame, TaskSetFile, read_task_set_bytes};

use crate::args::{CheckArgs, Cli, Commands, HostCommand};
use crate::batch::{Rest, SetCommand, number};
use crate::commands::generate::GeneratePlan;
use crate::commands::host_input::Input;
use crate::commands::{self, on_threads};
use crate::pairs::{change, read_given};
use crate::{CommandFailure, output};

use crate::answer::whole;
pub use crate::answer::{InputFault, SetAnswer, Status, Unanswered};
pub use crate::commands::host_input::NamedText;
pub use study::{OwnContenders, Results, Study, join_parts};

/// A task set as it was written, and as it was read.
#[derive(Debug, Clone)]
pub struct NamedSet {
    name: String,
    frame: Frame,
    file: TaskSetFile,
}

impl NamedSet {
    /// Reads a task set, which complaints call so. The error is all that is wrong with it.
    pub fn read(name: &str, text: &[u8]) -> Result<NamedSet, Box<SetAnswer>> {
        let read = NamedSet::of_frame(name, whole(text.to_vec()));
        read.map_err(|refused| Box::new(plain(refused.into_answer())))
    }

    fn of_frame(name: &str, frame: Frame) -> Result<NamedSet, Unanswered> {
        match read_task_set_bytes(&frame.text) {
            Ok(file) => Ok(NamedSet { name: name.to_owned(), frame, file }),
            Err(diagnostics) => Err(Unanswered::refused_in(name, &frame, &diagnostics)),
        }
    }

    /// Its name in complaints.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its text.
    pub fn text(&self) -> &[u8] {
        &self.frame.text
    }

    /// Its content.
    pub fn file(&self) -> &TaskSetFile {
        &self.file
    }
}

fn plain(mut answer: SetAnswer) -> SetAnswer {
    if !answer.complaint.is_empty() {
        answer.complaint = anstream::adapter::strip_str(&answer.complaint).to_string();
    }
    answer
}

fn plainly(unanswered: Unanswered) -> Unanswered {
    match unanswered {
        Unanswered::Input(answer) => plain(*answer).into(),
        failure @ Unanswered::Failure(_) => failure,
    }
}

/// A task set of a stream.
#[derive(Debug, Clone, Copy)]
pub enum StreamSource<'s> {
    /// It was read before.
    Read(&'s NamedSet),
    /// Its name in complaints, and its text.
    Named(&'s str, &'s [u8]),
    /// Its text, of which each has a line of the stream.
    Line(&'s [u8]),
}

/// A question about task sets: `alloc`, `check`, `explain`, `size` or `exec`, with its options.
pub struct SetQuestion {
    asked: AskedCommand,
    changes: Vec<Change>,
    threads: Option<usize>,
}

/// Makes the whole of an answer that [`SetQuestion::begin`] gave.
pub struct AnswerRest {
    set: Arc<NamedSet>,
    rest: Rest,
    whole: OnceLock<SetAnswer>,
}

impl AnswerRest {
    /// The whole answer.
    pub fn whole(&self) -> &SetAnswer {
        self.whole.get_or_init(|| (self.rest)(&self.set.file))
    }
}

enum AskedCommand {
    Command(Box<dyn SetCommand>),
    Trace(Box<CheckArgs>, PathBuf),
}

impl SetQuestion {
    /// A question from the command's name and options, such as `["alloc", "--algorithm", "exact"]`.
    /// There is no FILE and no `--format` among them; `--allocation -` says that allocations are
    /// given beside the task sets. Fails if there is no such option, or a value is wrong.
    pub fn new(words: &[&str]) -> Result<SetQuestion, Unanswered> {
        let (command, options) = words.split_first().ok_or_else(|| other(words))?;
        let all = once(*command).chain(["-", "--format", "json"]).chain(options.iter().copied());
        let mut threads = None;
        let (asked, changes) = match parse(all)? {
            Commands::Alloc(args) => (AskedCommand::Command(commands::alloc::command(&args)?), args.set.changes),
            Commands::Check(mut args) => {
                let changes = std::mem::take(&mut args.set.changes);
                let asked = match args.trace.clone() {
                    Some(trace) => AskedCommand::Trace(Box::new(args), trace),
                    None => AskedCommand::Command(commands::check::command(&args)?),
                };
                (asked, changes)
            }
            Commands::Explain(args) => (AskedCommand::Command(commands::explain::command(&args)?), args.set.changes),
            Commands::Size(args) => (AskedCommand::Command(commands::size::command(&args)?), args.set.changes),
            Commands::Exec(args) => {
                threads = Some(args.jobs.into());
                (AskedCommand::Command(commands::exec::command(&args, None)?), args.set.changes)
            }
            _ => return Err(other(words).into()),
        };
        Ok(SetQuestion { asked, changes, threads })
    }

    /// The answer to one task set, with the allocation that is given beside it, if one is. Fails if
    /// there is no answer.
    pub fn answer(&self, set: &NamedSet, allocation: Option<&NamedText>) -> Result<SetAnswer, Unanswered> {
        let one = || self.one(set, allocation, true).map(plain).map_err(plainly);
        on_threads(self.threads, one)?
    }

    /// The answer to one task set without its guarantee, which takes longest, and what adds that;
    /// `None` where [`SetQuestion::answer`] has to make the whole at once.
    pub fn begin(&self, set: &Arc<NamedSet>) -> Option<(SetAnswer, AnswerRest)> {
        let AskedCommand::Command(command) = &self.asked else { return None };
        let (begun, rest) = self.changes.is_empty().then(|| command.begin(&set.file))??;
        Some((begun, AnswerRest { set: Arc::clone(set), rest, whole: OnceLock::new() }))
    }

    /// The answers to a stream of task sets, of which the first has this number, on all cores, with
    /// an allocation for each where there are any. A set that cannot be read has its error in the
    /// place of an answer. Fails if threads cannot be started, or there are more or fewer
    /// allocations than sets.
    pub fn stream(
        &self,
        sets: &[StreamSource<'_>],
        allocations: Option<&[NamedText]>,
        first: usize,
    ) -> Result<Vec<SetAnswer>, Unanswered> {
        if let Some(given) = allocations.filter(|given| given.len() != sets.len()) {
            fail!("there are {} allocations for {} task sets", given.len(), sets.len());
        }
        let answer = |position: usize| {
            let allocation = allocations.and_then(|all| all.get(position));
            let answered = match sets[position] {
                StreamSource::Read(set) => self.one(set, allocation, false),
                StreamSource::Named(name, text) => {
                    let read = NamedSet::read(name, text).map_err(Unanswered::Input);
                    read.and_then(|set| self.one(&set, allocation, false))
                }
                StreamSource::Line(text) => {
                    let frame = Frame { text: text.to_vec(), first_line: first + position, first_column: 1 };
                    NamedSet::of_frame("<stream>", frame).and_then(|set| self.one(&set, allocation, false))
                }
            };
            let mut answer = answered.unwrap_or_else(Unanswered::into_answer);
            number(&mut answer, first + position, 1);
            plain(answer)
        };
        let all = || (0..sets.len()).into_par_iter().map(answer).collect();
        Ok(on_threads(self.threads, all)?)
    }

    fn one(&self, set: &NamedSet, allocation: Option<&NamedText>, alone: bool) -> Result<SetAnswer, Unanswered> {
        let changed = self.changed(set)?;
        let set = changed.as_ref().unwrap_or(set);
        let command = match &self.asked {
            AskedCommand::Command(command) => command,
            AskedCommand::Trace(args, trace) => return judged(args, trace, set, allocation),
        };
        let framed = allocation.map(|of| (&of.name, whole(of.text.clone().into_bytes())));
        let given = framed.as_ref().map(|(name, frame)| read_given(name, frame, &set.file.set)).transpose()?;
        let answer = command.answer(&set.file, given, alone).unwrap_or_else(Unanswered::into_answer);
        if answer.fault.is_some() { Err(answer.into()) } else { Ok(answer) }
    }

    fn changed(&self, set: &NamedSet) -> Result<Option<NamedSet>, Unanswered> {
        if self.changes.is_empty() {
            return Ok(None);
        }
        let mut frame = set.frame.clone();
        change(&mut frame, &self.changes)
            .map_err(|problem| Unanswered::wrong_at(&set.name, &set.frame, &problem, ""))?;
        NamedSet::of_frame(&set.name, frame).map(Some)
    }
}

fn judged(
    args: &CheckArgs,
    trace: &Path,
    set: &NamedSet,
    allocation: Option<&NamedText>,
) -> Result<SetAnswer, Unanswered> {
    let given = allocation.map(|of| (of.name.clone(), of.text.clone()));
    let mut complaint = String::new();
    let answer = commands::trace::check(args, trace, &set.file, given.as_ref(), &mut complaint)?;
    Ok(SetAnswer { complaint, ..answer })
}

/// Task sets to be drawn: `gen`, with its options.
pub struct DrawnSets(GeneratePlan);

impl DrawnSets {
    /// The sets of options such as `["gen", "--util", "0.7"]`. Fails if there is no such
    /// option, or a value is wrong.
    pub fn new(words: &[&str]) -> Result<DrawnSets, Unanswered> {
        match parse(words.iter().copied())? {
            Commands::Gen(args) => Ok(DrawnSets(commands::generate::plan(&args).map_err(plainly)?)),
            _ => Err(other(words).into()),
        }
    }

    /// How many there are.
    pub fn total(&self) -> u64 {
        self.0.total()
    }

    /// Those with these numbers, each a line of JSON, on all cores. Fails if one cannot be drawn.
    pub fn lines(&self, numbers: Range<u64>) -> Result<Vec<String>, Unanswered> {
        let drawn: Result<Vec<String>, _> = numbers.into_par_iter().map(|number| self.0.line(number)).collect();
        drawn.map_err(|exhausted| plainly(Unanswered::because(&exhausted.to_string(), Status::CannotTell)))
    }
}

/// The answer of `host`: the words `["host", "run", …]` without FILE, `--device` and `--format`, a
/// scenario, or a job file of fio and the device that it runs on; `folder` is where the files are
/// that a scenario names. Fails if something is wrong with either.
pub fn host(
    words: &[&str],
    scenario: NamedText,
    device: Option<NamedText>,
    folder: Option<PathBuf>,
) -> Result<SetAnswer, Unanswered> {
    let [command, action, options @ ..] = words else { return Err(other(words).into()) };
    let format: &[&str] = if *action == "order" { &[] } else { &["--format", "json"] };
    let all = [command, action, "-"].into_iter().chain(format.iter().copied()).chain(options.iter().copied());
    let Commands::Host(args) = parse(all)? else { return Err(other(words).into()) };
    if let HostCommand::Order { .. } = &args.command {
        let mut text = String::new();
        commands::host::ordered(&scenario, &mut text).map_err(plainly)?;
        return Ok(SetAnswer { text, ..SetAnswer::default() });
    }
    let input = Input::new(scenario, device, folder)?;
    let answered = match &args.command {
        HostCommand::Run(args) => commands::host::answer(args, &input),
        HostCommand::Bound(args) => commands::host_bound::answer(args, &input),
        HostCommand::Tune(args) => commands::host_tune::answer(args, &input),
        _ => Err(other(words).into()),
    };
    answered.map(plain).map_err(plainly)
}

/// Answers `soak`, of the words `["soak", …]` without `--format`. Fails if something is wrong
/// with them.
pub fn soak(words: &[&str]) -> Result<SetAnswer, Unanswered> {
    match parse(words.iter().copied().chain(["--format", "json"]))? {
        Commands::Soak(args) => commands::soak::answer(&args, None).map(plain).map_err(plainly),
        _ => Err(other(words).into()),
    }
}

fn parse<'w>(words: impl IntoIterator<Item = &'w str>) -> Result<Commands, CommandFailure> {
    let parsed = Cli::try_parse_from(once("rtflash").chain(words));
    parsed.map(|cli| cli.command).map_err(|error| {
        let text = output::in_plain_words(&error.render().to_string());
        // How a shell is to call it is nothing to a program.
        let before = |text: &str, of: &str| text.split_once(of).map_or(text, |(before, _)| before).to_owned();
        let problem = before(&before(&text, "\n\nUsage:"), "\n\nFor more information");
        let problem = problem.trim();
        CommandFailure(problem.strip_prefix("error: ").unwrap_or(problem).to_owned())
    })
}

fn other(words: &[&str]) -> CommandFailure {
    CommandFailure(format!("`{}` is not answered here", words.first().unwrap_or(&"")))
}
