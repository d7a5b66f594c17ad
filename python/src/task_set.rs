//! Task sets.

use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};
use rtflash_cli::ask::NamedSet;
use rtflash_model::{Frames, write_task_set};

use crate::failure;

/// A device and the tasks on it, read and checked.
///
/// `source` is a `str` that begins with `{` or `[` (JSON), any other `str` or a path (a file), a
/// `dict` as the JSON has it, or tasks: a list of dicts, or an Arrow, pandas or polars table with a
/// row for each task. Tasks need a `device`: a profile's name or a dict; `jobs` are those that are
/// not real-time. `name` is what messages call it.
///
/// Raises `InputError` where something is wrong with it.
#[pyclass(frozen, module = "rtflash", name = "TaskSet")]
pub struct TaskSet {
    inner: Arc<NamedSet>,
}

/// Whether a text is JSON, and not the name of a file.
fn is_json(text: &str) -> bool {
    text.trim_start_matches(['\u{feff}', ' ', '\t', '\r', '\n']).starts_with('{')
}

impl TaskSet {
    /// The text that it was read from.
    pub fn named(&self) -> &Arc<NamedSet> {
        &self.inner
    }

    fn read(py: Python<'_>, name: &str, text: &[u8]) -> PyResult<TaskSet> {
        let read = py.detach(|| NamedSet::read(name, text));
        read.map(|set| TaskSet { inner: Arc::new(set) }).map_err(|answer| failure::of_answer(py, &answer))
    }

    /// As a line of JSON.
    fn line(&self) -> String {
        let file = self.inner.file();
        let mut line = write_task_set(&file.set, file.meta.as_ref());
        line.push('\n');
        line
    }
}

#[pymethods]
impl TaskSet {
    #[new]
    #[pyo3(signature = (source, *, device=None, jobs=None, name=None))]
    fn new(
        py: Python<'_>,
        source: &Bound<'_, PyAny>,
        device: Option<&Bound<'_, PyAny>>,
        jobs: Option<&Bound<'_, PyAny>>,
        name: Option<&str>,
    ) -> PyResult<TaskSet> {
        if let Ok(text) = source.cast::<PyString>()
            && device.is_none()
            && jobs.is_none()
        {
            let text = text.to_str()?;
            if is_json(text) {
                return TaskSet::read(py, name.unwrap_or("<string>"), text.as_bytes());
            }
        }
        let written = py.import("rtflash._sources")?.call_method1("written", (source, device, jobs))?;
        let (found, text): (String, Bound<'_, PyBytes>) = written.extract()?;
        TaskSet::read(py, name.unwrap_or(&found), text.as_bytes())
    }

    /// The task set as `rtflash gen` prints it: one line of JSON.
    fn to_json(&self) -> String {
        self.line()
    }

    /// The text that it was read from.
    #[getter]
    fn source(&self) -> String {
        String::from_utf8_lossy(self.inner.text()).into_owned()
    }

    /// Its name in messages.
    #[getter]
    fn name(&self) -> &str {
        self.inner.name()
    }

    /// The task set as a dict, as the JSON has it.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        py.import("json")?.call_method1("loads", (self.line(),))
    }

    /// The file's own remarks in its field `meta`, or `None`.
    #[getter]
    fn meta<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let text = self.inner.file().meta.as_deref().map(|meta| meta.get().to_owned());
        text.map(|text| py.import("json")?.call_method1("loads", (text,))).transpose()
    }

    /// The names of its tasks, in order.
    #[getter]
    fn task_names(&self) -> Vec<String> {
        self.inner.file().set.tasks().iter().map(|task| task.name.clone()).collect()
    }

    /// Chips of its device.
    #[getter]
    fn chips(&self) -> u32 {
        self.inner.file().set.device().chips()
    }

    fn __len__(&self) -> usize {
        self.inner.file().set.tasks().len()
    }

    fn __eq__(&self, other: &TaskSet) -> bool {
        self.inner.file().set == other.inner.file().set && self.line() == other.line()
    }

    fn __hash__(&self) -> u64 {
        use std::hash::{DefaultHasher, Hash, Hasher};
        let mut hasher = DefaultHasher::new();
        self.line().hash(&mut hasher);
        hasher.finish()
    }

    fn __repr__(&self) -> String {
        let (set, name) = (&self.inner.file().set, self.inner.name());
        format!("<TaskSet {name:?}: {} tasks on {} chips>", set.tasks().len(), set.device().chips())
    }

    fn _repr_html_<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        py.import("rtflash._html")?.call_method1("task_set", (self.to_dict(py)?,))
    }

    fn __reduce__<'py>(slf: &Bound<'py, TaskSet>) -> PyResult<(Bound<'py, PyAny>, (String, String))> {
        let (set, py) = (slf.get(), slf.py());
        let made = py.import("rtflash._sources")?.getattr("named")?;
        Ok((made, (set.name().to_owned(), set.source())))
    }
}

/// The texts of a stream of JSON values, such as JSON Lines, one after another.
#[pyfunction]
pub fn split(py: Python<'_>, text: Vec<u8>) -> PyResult<Vec<String>> {
    let cut = py.detach(|| {
        let mut texts = Vec::new();
        let mut frames = Frames::new(text.as_slice());
        while let Some(batch) = frames.next_batch()? {
            for frame in batch {
                texts.push(String::from_utf8(frame.text).map_err(std::io::Error::other)?);
            }
        }
        Ok::<_, std::io::Error>(texts)
    });
    cut.map_err(|error| PyValueError::new_err(error.to_string()))
}
