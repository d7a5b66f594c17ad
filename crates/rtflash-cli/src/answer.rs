//! The answer of a command to one task set, the words for its faults, and exit statuses.

use std::process::ExitCode;

use rtflash_answers::Fault;
use rtflash_model::{Diagnostics, Frame};

use crate::{CommandFailure, diagnose, output};

/// How a command, or one line of a batch, ended. Ordered from best to worst.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Status {
    /// 0: schedulable, all checks hold, done.
    #[default]
    Yes,
    /// 1: not schedulable, a check failed.
    No,
    /// 3: a limit was reached, or an algorithm does not apply.
    CannotTell,
    /// 2: the input or the call is wrong.
    Wrong,
}

impl Status {
    /// The status of a verdict; `None` is "cannot tell".
    pub fn of(verdict: Option<bool>) -> Status {
        match verdict {
            Some(true) => Status::Yes,
            Some(false) => Status::No,
            None => Status::CannotTell,
        }
    }
}

impl From<Status> for ExitCode {
    fn from(status: Status) -> ExitCode {
        ExitCode::from(match status {
            Status::Yes => 0,
            Status::No => 1,
            Status::CannotTell => 3,
            Status::Wrong => 2,
        })
    }
}

/// The answer to one task set, or to one question of another kind.
#[derive(Debug, Default, Clone)]
pub struct SetAnswer {
    /// For standard output.
    pub text: String,
    /// For standard error.
    pub complaint: String,
    /// Its part in the exit status.
    pub status: Status,
    /// The first fault if there is no answer because something is wrong.
    pub fault: Option<InputFault>,
    /// A drawing, where one was asked for.
    pub drawing: Option<RunDrawing>,
}

/// A stretch of a run, drawn.
#[derive(Debug, Clone)]
pub struct RunDrawing {
    /// For a terminal.
    pub text: String,
    /// As a figure.
    pub svg: String,
}

/// The fault of an input.
#[derive(Debug, Clone)]
pub struct InputFault {
    /// The fault, a clause.
    pub problem: String,
    /// The expected value, a clause; empty where the problem says it.
    pub expected: String,
    /// The value at fault, such as `tasks[3].read.period`; empty for the whole.
    pub path: String,
    /// Its line in the input, from 1; 0 where it has no place there.
    pub line: usize,
    /// Its column, from 1, in characters; 0 where it has no place there.
    pub column: usize,
}

impl InputFault {
    /// A fault of the whole.
    pub fn of(problem: &str) -> InputFault {
        let (problem, expected) = (problem.to_owned(), String::new());
        InputFault { problem, expected, path: String::new(), line: 0, column: 0 }
    }

    fn first(frame: &Frame, diagnostics: &Diagnostics) -> Option<InputFault> {
        let text = String::from_utf8_lossy(&frame.text);
        let fault = diagnostics.first().first()?;
        let (line, column) = diagnose::place(&text, frame.first_line.max(1), frame.first_column.max(1), fault);
        let (problem, expected) = (fault.problem.clone(), fault.expected.clone());
        Some(InputFault { problem, expected, path: fault.path.to_string(), line, column })
    }
}

impl From<InputFault> for Fault {
    fn from(fault: InputFault) -> Fault {
        let InputFault { problem, expected, path, line, column } = fault;
        let message = if expected.is_empty() { problem } else { format!("{problem} (expected {expected})") };
        Fault { message, path, line, column }
    }
}

impl SetAnswer {
    /// Something is wrong with the task set, or with what was asked of it.
    pub fn wrong(message: &str) -> SetAnswer {
        let fault = Some(InputFault::of(message));
        SetAnswer { complaint: output::error(message), status: Status::Wrong, fault, ..SetAnswer::default() }
    }
}

/// Why a question has no answer.
#[derive(Debug)]
pub enum Unanswered {
    /// A word of the command line is wrong, or a file cannot be read or written.
    Failure(CommandFailure),
    /// The answer that stands instead: the faults of an input, or the reason why no answer exists.
    Input(Box<SetAnswer>),
}

impl Unanswered {
    /// An input cannot be read.
    pub fn refused(name: &str, text: &str, diagnostics: &Diagnostics) -> Unanswered {
        Unanswered::refused_in(name, &whole(text.as_bytes().to_vec()), diagnostics)
    }

    /// A value of a stream cannot be read.
    pub fn refused_in(name: &str, frame: &Frame, diagnostics: &Diagnostics) -> Unanswered {
        let fault = InputFault::first(frame, diagnostics);
        let complaint = refuse(name, frame, diagnostics);
        SetAnswer { complaint, status: Status::Wrong, fault, ..SetAnswer::default() }.into()
    }

    /// The value at this path of a frame is wrong.
    pub fn wrong_at(name: &str, frame: &Frame, message: &str, path: &str) -> Unanswered {
        let (line, column) = (frame.first_line, frame.first_column);
        let mut answer = SetAnswer::wrong(&format!("{name}:{line}:{column}: {message}"));
        answer.fault = Some(InputFault { path: path.to_owned(), line, column, ..InputFault::of(message) });
        answer.into()
    }

    /// Nothing is wrong with the input, and there is no answer for this reason, with this status.
    pub fn because(reason: &str, status: Status) -> Unanswered {
        SetAnswer { complaint: output::error(reason), status, ..SetAnswer::default() }.into()
    }

    /// The substitute for an answer.
    pub fn into_answer(self) -> SetAnswer {
        match self {
            Unanswered::Failure(failure) => SetAnswer::wrong(&failure.0),
            Unanswered::Input(answer) => *answer,
        }
    }

    /// Complains to the user about an input; a failure goes to the caller, which reports it.
    pub fn tell(self) -> Result<Status, CommandFailure> {
        match self {
            Unanswered::Failure(failure) => Err(failure),
            Unanswered::Input(answer) => {
                output::complain(&answer.complaint);
                Ok(answer.status)
            }
        }
    }
}

impl From<CommandFailure> for Unanswered {
    fn from(failure: CommandFailure) -> Unanswered {
        Unanswered::Failure(failure)
    }
}

impl From<SetAnswer> for Unanswered {
    fn from(answer: SetAnswer) -> Unanswered {
        Unanswered::Input(Box::new(answer))
    }
}

pub fn whole(text: Vec<u8>) -> Frame {
    Frame { text, first_line: 1, first_column: 1 }
}

pub fn print(answered: Result<SetAnswer, Unanswered>) -> Result<Status, CommandFailure> {
    match answered {
        Ok(answer) => {
            if !answer.complaint.is_empty() {
                output::complain(&answer.complaint);
            }
            output::print(&answer.text)?;
            Ok(answer.status)
        }
        Err(unanswered) => unanswered.tell(),
    }
}

pub fn refuse(name: &str, frame: &Frame, diagnostics: &Diagnostics) -> String {
    let text = String::from_utf8_lossy(&frame.text);
    diagnose::render(
        name,
        &text,
        frame.first_line.max(1),
        frame.first_column.max(1),
        diagnostics,
        output::complaints_in_colour(),
    )
}
