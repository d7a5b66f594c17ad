//! Streams of task sets: answered as they come, on all cores, in input order, in constant memory.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rayon::prelude::*;
use rtflash_model::{TaskSetFile, read_task_set_bytes};

use crate::CommandFailure;
use crate::answer::{SetAnswer, Status, Unanswered, refuse, whole};
use crate::args::Format;
use crate::output::{self, Output};
use crate::pairs::{Beside, Given, Pairs, SetAndAllocation, read_given};
use rtflash_answers::ErrorLine;

pub trait SetCommand: Send + Sync {
    /// The answer to a task set, with what was given beside it, where anything was. `alone`:
    /// whether it is the only one.
    fn answer(&self, file: &TaskSetFile, given: Option<Given<'_>>, alone: bool) -> Result<SetAnswer, Unanswered>;

    /// The answer to a task set that is the only one, without its guarantee, and what adds that;
    /// `None` where the options ask for it, or for none.
    fn begin(&self, _: &TaskSetFile) -> Option<(SetAnswer, Rest)> {
        None
    }
}

/// Makes the whole of the answer to a task set that a command has begun.
pub type Rest = Box<dyn Fn(&TaskSetFile) -> SetAnswer + Send + Sync>;

#[derive(Debug, Clone, Copy)]
pub struct Batch {
    pub format: Format,
}

impl Batch {
    pub fn run(&self, mut pairs: Pairs, command: &dyn SetCommand) -> Result<Status, CommandFailure> {
        let names = StreamNames { sets: pairs.sets_name.clone(), allocations: pairs.allocations_name().to_owned() };
        let (output, waiting) = (Output::stdout(), BTreeMap::new());
        let mut printer = Printer { output, worst: Status::Yes, wrong: 0, next: 0, waiting, written: Ok(true) };
        let Some(mut batch) = pairs.next_batch()? else {
            if let Err(diagnostics) = read_task_set_bytes(b"") {
                output::complain(&refuse(&names.sets, &whole(Vec::new()), &diagnostics));
            }
            return Ok(Status::Wrong);
        };
        // The first answer waits for what comes next: it looks different where it is the only one.
        let mut next = if batch.len() == 1 { Some(pairs.next_batch()?) } else { None };
        let alone = matches!(next, Some(None));
        loop {
            if !self.answer(&names, &batch, alone, command, &mut printer)? {
                return Ok(printer.end());
            }
            let following = match next.take() {
                Some(following) => following,
                None => pairs.next_batch()?,
            };
            match following {
                Some(pairs) => batch = pairs,
                None => return Ok(printer.end()),
            }
        }
    }

    /// Answers a batch. Returns whether anybody still listens.
    fn answer(
        &self,
        names: &StreamNames,
        batch: &[SetAndAllocation],
        alone: bool,
        command: &dyn SetCommand,
        printer: &mut Printer,
    ) -> Result<bool, CommandFailure> {
        let read = |pair: &SetAndAllocation| read_set(&names.sets, pair);
        let sets: Vec<Result<TaskSetFile, Unanswered>> =
            if batch.len() == 1 { batch.iter().map(read).collect() } else { batch.par_iter().map(read).collect() };
        let mut sets: Vec<(&SetAndAllocation, _)> = batch.iter().zip(sets).collect();
        while !sets.is_empty() {
            let rest = sets.split_off(together(&sets));
            let first = printer.next;
            let shared = Mutex::new(&mut *printer);
            let one = |(number, (pair, set))| {
                if lock(&shared).listens() {
                    let answer = self.one(names, pair, set, alone, command);
                    lock(&shared).print(first + number, answer);
                }
            };
            if sets.len() == 1 {
                sets.into_iter().enumerate().for_each(one);
            } else {
                sets.into_iter().enumerate().par_bridge().for_each(one);
            }
            if !std::mem::replace(&mut printer.written, Ok(true))? {
                return Ok(false);
            }
            sets = rest;
        }
        Ok(true)
    }

    fn one(
        &self,
        names: &StreamNames,
        pair: &SetAndAllocation,
        set: Result<TaskSetFile, Unanswered>,
        alone: bool,
        command: &dyn SetCommand,
    ) -> SetAnswer {
        let answered = set.and_then(|file| command.answer(&file, given(names, pair, &file)?, alone));
        let mut answer = answered.unwrap_or_else(Unanswered::into_answer);
        // JSON stays one line on standard output; the drawing goes to standard error.
        if let (Format::Json, Some(drawing)) = (self.format, &answer.drawing) {
            answer.complaint += &drawing.text;
        }
        if alone {
            return answer;
        }
        let line = pair.set.first_line;
        match self.format {
            Format::Text if answer.text.is_empty() => {}
            Format::Text => answer.text.insert_str(0, &format!("line {line}:\n")),
            Format::Json => number(&mut answer, line, pair.set.first_column),
        }
        answer
    }
}

/// Makes an answer in JSON one of a stream, to the value that begins at this line and column: a
/// wrong value has an error in the place of the answer.
pub fn number(answer: &mut SetAnswer, line: usize, column: usize) {
    if let Some(fault) = &mut answer.fault {
        if fault.line == 0 {
            (fault.line, fault.column) = (line, column);
        }
        answer.text = rtflash_answers::line(&ErrorLine { error: fault.clone().into() });
    }
    rtflash_answers::number(&mut answer.text, line);
}

/// The limit of the memory in use at once, in [`weight`]: about a gigabyte.
const TOGETHER: u64 = 1 << 20;

/// How many task sets from the front are answered at the same time, and kept until all of them are:
/// at least one. A line of a hundred bytes may describe a device of a million chips, and a thousand
/// answers about it would not fit into memory.
fn together(sets: &[(&SetAndAllocation, Result<TaskSetFile, Unanswered>)]) -> usize {
    let mut sum = 0u64;
    let weights = sets.iter().map(|(_, set)| set.as_ref().map_or(1, weight));
    let fitting = weights.take_while(|weight| {
        sum = sum.saturating_add(*weight);
        sum <= TOGETHER
    });
    fitting.count().max(1)
}

/// Kilobytes that an answer and its making take, about: one for each chip, task and job.
fn weight(file: &TaskSetFile) -> u64 {
    u64::from(file.set.device().chips()) + file.set.tasks().len() as u64 + file.set.jobs().len() as u64
}

fn lock<'p, 'o>(printer: &'p Mutex<&'o mut Printer>) -> MutexGuard<'p, &'o mut Printer> {
    printer.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Complaints about wrong values of one stream that are printed. A file of another kind has a
/// hundred thousand.
const MAX_COMPLAINTS: usize = 100;

/// Prints answers in the order of their task sets, each when all before it are printed: a signal
/// that ends the process leaves them on standard output.
struct Printer {
    output: Output,
    worst: Status,
    wrong: usize,
    /// The number of the answer that is printed next, and later ones that are there already.
    next: usize,
    waiting: BTreeMap<usize, SetAnswer>,
    /// Whether anybody still listens.
    written: Result<bool, CommandFailure>,
}

impl Printer {
    fn listens(&self) -> bool {
        matches!(self.written, Ok(true))
    }

    fn print(&mut self, number: usize, answer: SetAnswer) {
        self.waiting.insert(number, answer);
        while let Some(answer) = self.waiting.remove(&self.next) {
            self.next += 1;
            self.worst = answer.status.max(self.worst);
            if self.listens() {
                self.written = self.write(&answer).map_err(|error| CommandFailure::io("cannot write", &error));
            }
        }
        if self.listens() {
            self.written = self.output.flush().map_err(|error| CommandFailure::io("cannot write", &error));
        }
    }

    /// Counts the complaints that were left out. Returns the status of all answers.
    fn end(self) -> Status {
        match self.wrong.saturating_sub(MAX_COMPLAINTS) {
            0 => {}
            more => output::complain(&format!("… and {more} more values of the stream are wrong\n")),
        }
        self.worst
    }

    fn write(&mut self, answer: &SetAnswer) -> io::Result<bool> {
        self.wrong += usize::from(answer.status == Status::Wrong);
        let is_left_out = answer.status == Status::Wrong && self.wrong > MAX_COMPLAINTS;
        if !answer.complaint.is_empty() && !is_left_out {
            self.output.flush()?;
            output::complain(&answer.complaint);
        }
        self.output.write(&answer.text)
    }
}

fn read_set(name: &str, pair: &SetAndAllocation) -> Result<TaskSetFile, Unanswered> {
    if let Some(problem) = &pair.unchanged {
        return Err(Unanswered::wrong_at(name, &pair.set, problem, ""));
    }
    read_task_set_bytes(&pair.set.text).map_err(|diagnostics| Unanswered::refused_in(name, &pair.set, &diagnostics))
}

struct StreamNames {
    sets: String,
    allocations: String,
}

fn given<'t>(
    StreamNames { sets, allocations }: &'t StreamNames,
    pair: &'t SetAndAllocation,
    file: &TaskSetFile,
) -> Result<Option<Given<'t>>, Unanswered> {
    match &pair.allocation {
        Beside::Nothing => Ok(None),
        Beside::Value(frame) => read_given(allocations, frame, &file.set).map(Some),
        Beside::Ended(count) => {
            let message = format!("there is no allocation for it: {allocations} has ended, behind number {count}");
            Err(Unanswered::wrong_at(sets, &pair.set, &message, ""))
        }
    }
}
