//! Questions about task sets, and their answers.

use std::sync::Arc;

use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use rtflash_cli::ask::{self, AnswerRest, DrawnSets, NamedSet, NamedText, SetAnswer, SetQuestion, Status};

use crate::failure;
use crate::pool::pool;
use crate::task_set::TaskSet;

/// An answer as the command prints it.
#[pyclass(frozen, module = "rtflash._rtflash")]
pub struct AnswerText {
    answer: SetAnswer,
    /// Adds the guarantee, where the answer is begun and has none yet.
    rest: Option<AnswerRest>,
}

impl From<SetAnswer> for AnswerText {
    fn from(answer: SetAnswer) -> AnswerText {
        AnswerText { answer, rest: None }
    }
}

#[pymethods]
impl AnswerText {
    /// The output of the command with `--format json`.
    #[getter]
    fn json(&self, py: Python<'_>) -> &str {
        let whole = self.rest.as_ref().map(|rest| py.detach(|| rest.whole()));
        &whole.unwrap_or(&self.answer).text
    }

    /// `json` without a guarantee, where that is looked for when `json` is read.
    #[getter]
    fn begun(&self) -> Option<&str> {
        self.rest.as_ref().map(|_| self.answer.text.as_str())
    }

    /// The warnings; empty if there are none.
    #[getter]
    fn warnings(&self) -> &str {
        if self.answer.fault.is_some() { "" } else { &self.answer.complaint }
    }

    /// Its exit status.
    #[getter]
    fn status(&self) -> u8 {
        code(self.answer.status)
    }

    /// A drawing for a terminal, where one was asked for.
    #[getter]
    fn drawing(&self) -> Option<&str> {
        self.answer.drawing.as_ref().map(|drawing| drawing.text.as_str())
    }

    /// The figure as SVG.
    #[getter]
    fn svg(&self) -> Option<&str> {
        self.answer.drawing.as_ref().map(|drawing| drawing.svg.as_str())
    }

    /// The exception in the place of the answer, in a stream; `None` where there is an answer.
    fn error(&self, py: Python<'_>) -> Option<PyErr> {
        self.answer.fault.as_ref().map(|_| failure::of_answer(py, &self.answer))
    }
}

/// The exit status as a number.
fn code(status: Status) -> u8 {
    match status {
        Status::Yes => 0,
        Status::No => 1,
        Status::CannotTell => 3,
        Status::Wrong => 2,
    }
}

/// The answers to a stream of task sets.
#[pyclass(frozen, module = "rtflash._rtflash")]
pub struct AnswerTexts {
    answers: Vec<SetAnswer>,
}

#[pymethods]
impl AnswerTexts {
    fn __len__(&self) -> usize {
        self.answers.len()
    }

    fn __getitem__(&self, position: usize) -> PyResult<AnswerText> {
        let answer = self.answers.get(position).cloned();
        answer.map(AnswerText::from).ok_or_else(|| PyIndexError::new_err(position))
    }

    /// The output of the command with `--format json`: a line each.
    fn json(&self, py: Python<'_>) -> String {
        py.detach(|| self.answers.iter().map(|answer| answer.text.as_str()).collect())
    }

    /// The exit status of each.
    fn statuses(&self) -> Vec<u8> {
        self.answers.iter().map(|answer| code(answer.status)).collect()
    }

    /// The warnings of the command.
    fn warnings(&self) -> String {
        let warned = self.answers.iter().filter(|answer| answer.fault.is_none());
        warned.map(|answer| answer.complaint.as_str()).collect()
    }
}

/// A command on task sets, with its options.
#[pyclass(frozen, module = "rtflash._rtflash")]
pub struct Question {
    question: SetQuestion,
}

/// A task set as it is given in a stream: read already, JSON, or the name of a file and JSON.
#[derive(FromPyObject)]
enum Given<'py> {
    Set(PyRef<'py, TaskSet>),
    Text(PyBackedStr),
    Named(PyBackedStr, PyBackedStr),
}

/// A source, apart from Python.
enum Source {
    Set(Arc<NamedSet>),
    Text(PyBackedStr),
    Named(PyBackedStr, PyBackedStr),
}

impl From<Given<'_>> for Source {
    fn from(given: Given<'_>) -> Source {
        match given {
            Given::Set(set) => Source::Set(Arc::clone(set.named())),
            Given::Text(text) => Source::Text(text),
            Given::Named(name, text) => Source::Named(name, text),
        }
    }
}

fn named((name, text): (String, String)) -> NamedText {
    NamedText { name, text }
}

fn words(words: &[String]) -> Vec<&str> {
    words.iter().map(String::as_str).collect()
}

#[pymethods]
impl Question {
    #[new]
    fn new(py: Python<'_>, words: Vec<String>) -> PyResult<Question> {
        let question = SetQuestion::new(&self::words(&words)).map_err(|wrong| failure::of(py, wrong))?;
        Ok(Question { question })
    }

    /// The answer to one task set, with the name and text of the allocation beside it.
    #[pyo3(signature = (set, allocation=None))]
    fn answer(&self, py: Python<'_>, set: &TaskSet, allocation: Option<(String, String)>) -> PyResult<AnswerText> {
        let (set, allocation) = (Arc::clone(set.named()), allocation.map(named));
        let answered = py.detach(|| match self.question.begin(&set) {
            Some((answer, rest)) => Ok(AnswerText { answer, rest: Some(rest) }),
            None => self.question.answer(&set, allocation.as_ref()).map(AnswerText::from),
        });
        answered.map_err(|wrong| failure::of(py, wrong))
    }

    /// The answers to these task sets, of which the first has the number `first`; with the name and
    /// text of an allocation for each, if there are any.
    #[pyo3(signature = (sets, allocations=None, first=1))]
    fn stream(
        &self,
        py: Python<'_>,
        sets: Vec<Given<'_>>,
        allocations: Option<Vec<(String, String)>>,
        first: usize,
    ) -> PyResult<AnswerTexts> {
        let sources: Vec<Source> = sets.into_iter().map(Source::from).collect();
        let allocations: Option<Vec<NamedText>> = allocations.map(|all| all.into_iter().map(named).collect());
        let pool = pool()?;
        let answers = py.detach(|| {
            let sources: Vec<ask::StreamSource<'_>> = sources
                .iter()
                .map(|source| match source {
                    Source::Set(set) => ask::StreamSource::Read(set),
                    Source::Text(text) => ask::StreamSource::Line(text.as_bytes()),
                    Source::Named(name, text) => ask::StreamSource::Named(name, text.as_bytes()),
                })
                .collect();
            pool.install(|| self.question.stream(&sources, allocations.as_deref(), first))
        });
        answers.map(|answers| AnswerTexts { answers }).map_err(|wrong| failure::of(py, wrong))
    }
}

/// Task sets of `gen`, as lines of JSON.
#[pyfunction]
pub fn draw(py: Python<'_>, words: Vec<String>) -> PyResult<Vec<String>> {
    let pool = pool()?;
    let drawn = py.detach(|| {
        let sets = DrawnSets::new(&self::words(&words))?;
        pool.install(|| sets.lines(0..sets.total()))
    });
    drawn.map_err(|wrong| failure::of(py, wrong))
}

/// The answer of `host` about a scenario, given by name and text; for a job file of fio, with the
/// device that it runs on.
#[pyfunction]
#[pyo3(signature = (words, scenario, device=None, folder=None))]
pub fn host(
    py: Python<'_>,
    words: Vec<String>,
    scenario: (String, String),
    device: Option<(String, String)>,
    folder: Option<std::path::PathBuf>,
) -> PyResult<AnswerText> {
    let answered = py.detach(|| ask::host(&self::words(&words), named(scenario), device.map(named), folder));
    answered.map(AnswerText::from).map_err(|wrong| failure::of(py, wrong))
}

/// The answer of `soak`.
#[pyfunction]
pub fn soak(py: Python<'_>, words: Vec<String>) -> PyResult<AnswerText> {
    let pool = pool()?;
    let answered = py.detach(|| pool.install(|| ask::soak(&self::words(&words))));
    answered.map(AnswerText::from).map_err(|wrong| failure::of(py, wrong))
}
