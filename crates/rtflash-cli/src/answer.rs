//! What a command says of one task set, and the words for what is wrong with it.

use rtflash_model::{Diagnostics, Frame};
use rtflash_wire::Fault;

use crate::diagnose;
use crate::output;
use crate::status::Status;

/// The answer to one task set.
#[derive(Debug, Default)]
pub struct SetAnswer {
    /// For standard output.
    pub text: String,
    /// For standard error.
    pub complaint: String,
    /// Its part in the exit status.
    pub status: Status,
    /// Where there is no answer because something is wrong: what stands in its place in a stream.
    pub fault: Option<Fault>,
}

impl SetAnswer {
    /// Something is wrong with the task set, or with what was asked of it.
    pub fn wrong(message: &str) -> SetAnswer {
        let fault = Fault { message: message.to_owned(), path: String::new(), line: 0, column: 0 };
        SetAnswer { complaint: output::error(message), status: Status::Wrong, fault: Some(fault), text: String::new() }
    }

    /// As [`SetAnswer::wrong`], with the value at fault and the path to it.
    pub fn wrong_at(name: &str, frame: &Frame, message: &str, path: &str) -> SetAnswer {
        let (line, column) = (frame.first_line, frame.first_column);
        let mut answer = SetAnswer::wrong(&format!("{name}:{line}:{column}: {message}"));
        answer.fault = Some(Fault { message: message.to_owned(), path: path.to_owned(), line, column });
        answer
    }

    /// A value could not be read.
    pub fn refused(name: &str, frame: &Frame, diagnostics: &Diagnostics) -> SetAnswer {
        let text = String::from_utf8_lossy(&frame.text);
        let fault = diagnostics.first().first().map(|fault| {
            let (line, column) = diagnose::place(&text, frame.first_line.max(1), frame.first_column.max(1), fault);
            let message = format!("{} (expected {})", fault.problem, fault.expected);
            Fault { message, path: fault.path.to_string(), line, column }
        });
        SetAnswer { complaint: refuse(name, frame, diagnostics), status: Status::Wrong, fault, text: String::new() }
    }
}

/// The complaint about a value.
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
