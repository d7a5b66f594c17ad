//! Streams of task sets: answered as they come, on all cores, in input order, in constant memory.

use std::io;

use rayon::prelude::*;
use rtflash_model::{Diagnostics, Frame, FrameTooLong, Frames, TaskSetFile, read_task_set_bytes};

use crate::Failure;
use crate::diagnose;
use crate::output::{self, Output};
use crate::source::Source;
use crate::status::Status;

/// The answer to one task set.
#[derive(Debug, Default)]
pub struct Answer {
    /// For standard output.
    pub text: String,
    /// For standard error.
    pub complaint: String,
    /// Its part in the exit status.
    pub status: Status,
}

/// How a stream is answered.
#[derive(Debug, Clone, Copy)]
pub struct Batch {
    /// Whether an answer depends on being the only one: a person is told more about one task set than about each of many.
    pub separate: bool,
}

impl Batch {
    /// Answers every task set of the source. `answer` gets the file and whether it is known to be the only one.
    ///
    /// # Errors
    /// Where reading or writing fails. What is wrong with a task set is complained of and is no error here.
    pub fn run(&self, source: Source, answer: impl Fn(&TaskSetFile, bool) -> Answer + Sync) -> Result<Status, Failure> {
        let name = source.name.clone();
        let mut frames = Frames::new(source);
        let mut output = Output::stdout();
        let mut worst = Status::Yes;
        let Some(mut batch) = next_batch(&mut frames, &name)? else {
            output::complain(&refuse(
                &name,
                &Frame { text: Vec::new(), first_line: 1, first_column: 1 },
                &no_task_set(),
            ));
            return Ok(Status::Wrong);
        };
        // The first answer waits for what comes next: more is said of a set that is the only one.
        let mut next = if batch.len() == 1 { Some(next_batch(&mut frames, &name)?) } else { None };
        let alone = batch.len() == 1 && matches!(next, Some(None));
        loop {
            let answers: Vec<Answer> = if batch.len() == 1 {
                batch.iter().map(|frame| self.one(&name, frame, alone, &answer)).collect()
            } else {
                batch.par_iter().map(|frame| self.one(&name, frame, alone, &answer)).collect()
            };
            let failure = |error: io::Error| Failure::io("cannot write", &error);
            for answer in &answers {
                worst = worst.max(answer.status);
                if !answer.complaint.is_empty() {
                    output.flush().map_err(failure)?;
                    output::complain(&answer.complaint);
                }
                if !output.write(&answer.text).map_err(failure)? {
                    return Ok(worst);
                }
            }
            if !output.flush().map_err(failure)? {
                return Ok(worst);
            }
            let following = match next.take() {
                Some(following) => following,
                None => next_batch(&mut frames, &name)?,
            };
            match following {
                Some(frames) => batch = frames,
                None => return Ok(worst),
            }
        }
    }

    fn one(
        &self,
        name: &str,
        frame: &Frame,
        alone: bool,
        answer: &(impl Fn(&TaskSetFile, bool) -> Answer + Sync),
    ) -> Answer {
        match read_task_set_bytes(&frame.text) {
            Err(diagnostics) => {
                Answer { complaint: refuse(name, frame, &diagnostics), status: Status::Wrong, ..Answer::default() }
            }
            Ok(file) => {
                let mut answer = answer(&file, alone);
                if self.separate && !alone {
                    answer.text.insert_str(0, &format!("line {}: ", frame.first_line));
                }
                answer
            }
        }
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

fn no_task_set() -> Diagnostics {
    match read_task_set_bytes(b"") {
        Err(diagnostics) => diagnostics,
        Ok(_) => Diagnostics(Vec::new()),
    }
}

/// The next values of a stream.
///
/// # Errors
/// Where reading fails, or a value is longer than anything that is read.
pub fn next_batch(frames: &mut Frames<Source>, name: &str) -> Result<Option<Vec<Frame>>, Failure> {
    frames.next_batch().map_err(|error| match error.get_ref().and_then(|inner| inner.downcast_ref::<FrameTooLong>()) {
        Some(long) => Failure(format!("{name}:{}:{}: {long}", long.first_line, long.first_column)),
        None => Failure::io(&format!("cannot read {name}"), &error),
    })
}
