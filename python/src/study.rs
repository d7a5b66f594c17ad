//! Experiments.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use rtflash_alloc::allocator::Allocator;
use rtflash_analysis::Analysis;
use rtflash_cli::ask::{self, OwnContenders, Results};
use rtflash_experiment::Shard;

use crate::failure;
use crate::own::{OwnAlgorithm, OwnTest, PythonAllocator, PythonTest};
use crate::pool::pool;
use crate::task_set::TaskSet;

/// How often progress is shown, and Python is asked for signals.
const LOOK: Duration = Duration::from_millis(50);

/// An experiment, planned.
#[pyclass(frozen, module = "rtflash._rtflash")]
pub struct Study {
    study: ask::Study,
    algorithms: Vec<&'static PythonAllocator>,
    tests: Vec<&'static PythonTest>,
}

fn shard(index: u32, count: u32) -> PyResult<Shard> {
    Shard::new(index, count).map_err(|error| PyValueError::new_err(error.to_string()))
}

impl Study {
    /// The exception that Python code has raised, which is forgotten here.
    fn raised(&self) -> Option<PyErr> {
        let algorithms = self.algorithms.iter().map(|own| own.raised.take());
        let all: Vec<PyErr> = algorithms.chain(self.tests.iter().map(|own| own.raised.take())).flatten().collect();
        all.into_iter().next()
    }

    fn has_raised(&self) -> bool {
        self.algorithms.iter().any(|own| own.raised.is_some()) || self.tests.iter().any(|own| own.raised.is_some())
    }
}

#[pymethods]
impl Study {
    #[new]
    #[pyo3(signature = (
        words, algorithms, analyses, analysis=None, own_algorithms=vec![], own_tests=vec![], task_sets=None
    ))]
    #[allow(clippy::too_many_arguments)] // They are those of Python's constructor.
    fn new(
        py: Python<'_>,
        words: Vec<String>,
        algorithms: Vec<String>,
        analyses: Vec<String>,
        analysis: Option<String>,
        own_algorithms: Vec<PyRef<'_, OwnAlgorithm>>,
        own_tests: Vec<PyRef<'_, OwnTest>>,
        task_sets: Option<Vec<PyRef<'_, TaskSet>>>,
    ) -> PyResult<Study> {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let tests: Vec<&'static PythonTest> = own_tests.iter().map(|own| own.test).collect();
        let own_algorithms: Vec<&'static PythonAllocator> = own_algorithms.iter().map(|own| own.allocator).collect();
        own_algorithms.iter().for_each(|own| own.meet(&tests));
        let own = OwnContenders {
            allocators: own_algorithms.iter().map(|&own| own as &'static dyn Allocator).collect(),
            analyses: tests.iter().map(|&own| own as &'static dyn Analysis).collect(),
            sets: task_sets.map(|sets| sets.iter().map(|set| set.named().file().set.clone()).collect()),
        };
        let planned = py.detach(|| ask::Study::new(&words, algorithms, analyses, analysis, &own));
        let study = planned.map_err(|wrong| failure::of(py, wrong))?;
        Ok(Study { study, algorithms: own_algorithms, tests })
    }

    /// Sets of part `index` of `count`.
    fn sets(&self, index: u32, count: u32) -> PyResult<u64> {
        Ok(self.study.sets(shard(index, count)?))
    }

    /// Part `index` of `count`, worked through: the bytes of its `tallies.json`. `progress` is
    /// called on this thread with numbers of sets that were done.
    #[pyo3(signature = (index, count, progress=None))]
    fn part<'py>(
        &self,
        py: Python<'py>,
        index: u32,
        count: u32,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let shard = shard(index, count)?;
        let (stop, pool) = (AtomicBool::new(false), pool()?);
        let (kept, interrupted) = py.detach(|| {
            thread::scope(|scope| {
                let (done, news) = channel::<u64>();
                let worker = scope.spawn(|| {
                    let done = done;
                    let mut advance = |sets| {
                        // Nobody listens any more: it is about to be stopped.
                        let _ = done.send(sets);
                    };
                    pool.install(|| self.study.part(shard, &mut advance, &stop))
                });
                let mut interrupted = None;
                loop {
                    let first = news.recv_timeout(LOOK);
                    let sets: u64 = first.iter().chain(&news.try_iter().collect::<Vec<u64>>()).sum();
                    if interrupted.is_none() {
                        interrupted = Python::attach(|py| show(py, progress.as_ref(), sets)).err();
                    }
                    if interrupted.is_some() || self.has_raised() {
                        stop.store(true, Ordering::Relaxed);
                    }
                    match first {
                        Err(RecvTimeoutError::Disconnected) => break,
                        Ok(_) => thread::sleep(Duration::from_millis(5)),
                        Err(RecvTimeoutError::Timeout) => {}
                    }
                }
                (worker.join(), interrupted)
            })
        });
        if let Some(error) = interrupted.or_else(|| self.raised()) {
            return Err(error);
        }
        match kept {
            Ok(Ok(bytes)) => Ok(PyBytes::new(py, &bytes)),
            Ok(Err(failure)) => Err(PyRuntimeError::new_err(failure.0)),
            Err(_) => Err(PyRuntimeError::new_err("the experiment broke off")),
        }
    }

    /// The results of these parts; messages call them so.
    fn join(&self, py: Python<'_>, names: Vec<String>, parts: Vec<Vec<u8>>) -> PyResult<StudyResults> {
        let joined = py.detach(|| self.study.join(&names, &parts));
        joined.map(|results| StudyResults { results }).map_err(|wrong| failure::of(py, wrong))
    }
}

/// Tells of sets that are done, and looks for signals.
fn show(py: Python<'_>, progress: Option<&Py<PyAny>>, sets: u64) -> PyResult<()> {
    if let Some(progress) = progress.filter(|_| sets > 0) {
        progress.bind(py).call1((sets,))?;
    }
    py.check_signals()
}

/// The results of the parts of an experiment, which say what it is; messages call them so.
#[pyfunction]
pub fn join_parts(py: Python<'_>, names: Vec<String>, parts: Vec<Vec<u8>>) -> PyResult<StudyResults> {
    let joined = py.detach(|| ask::join_parts(&names, &parts));
    joined.map(|results| StudyResults { results }).map_err(|wrong| failure::of(py, wrong))
}

/// The results of an experiment.
#[pyclass(frozen, module = "rtflash._rtflash")]
pub struct StudyResults {
    results: Results,
}

#[pymethods]
impl StudyResults {
    /// The output of the command with `--format json`.
    #[getter]
    fn json(&self) -> &str {
        &self.results.json
    }

    /// The gaps in the results; empty if there are none.
    #[getter]
    fn warnings(&self) -> &str {
        &self.results.warnings
    }

    /// The names of its files.
    #[getter]
    fn names(&self) -> Vec<&str> {
        self.results.files.iter().map(|(name, _)| name.as_str()).collect()
    }

    /// The file of this name.
    fn file<'py>(&self, py: Python<'py>, name: &str) -> Option<Bound<'py, PyBytes>> {
        let found = self.results.files.iter().find(|(known, _)| known == name);
        found.map(|(_, bytes)| PyBytes::new(py, bytes))
    }
}
