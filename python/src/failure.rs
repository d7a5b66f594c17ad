//! Why there is no answer, as Python's exceptions.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rtflash_cli::ask::{SetAnswer, Unanswered};

/// The exception of this name in `rtflash._errors`, with these fields.
fn exception(py: Python<'_>, name: &str, text: &str, fields: Option<&Bound<'_, PyDict>>) -> PyErr {
    let made = py.import("rtflash._errors").and_then(|module| module.getattr(name)?.call((text,), fields));
    made.map_or_else(|error| error, |value| PyErr::from_value(value))
}

/// The exception for an answer that is none.
pub fn of_answer(py: Python<'_>, answer: &SetAnswer) -> PyErr {
    let text = answer.complaint.trim_end();
    let text = text.strip_prefix("error: ").unwrap_or(text);
    let Some(fault) = &answer.fault else { return exception(py, "CannotTellError", text, None) };
    let fields = PyDict::new(py);
    let place = |number: usize| (number > 0).then_some(number);
    let filled = fields
        .set_item("path", &fault.path)
        .and_then(|()| fields.set_item("problem", &fault.problem))
        .and_then(|()| fields.set_item("expected", &fault.expected))
        .and_then(|()| fields.set_item("line", place(fault.line)))
        .and_then(|()| fields.set_item("column", place(fault.column)));
    match filled {
        Ok(()) => exception(py, "InputError", text, Some(&fields)),
        Err(error) => error,
    }
}

/// The exception for a question without an answer.
pub fn of(py: Python<'_>, unanswered: Unanswered) -> PyErr {
    match unanswered {
        Unanswered::Failure(failure) => PyValueError::new_err(failure.0),
        Unanswered::Input(answer) => of_answer(py, &answer),
    }
}
