//! Algorithms and tests that are written in Python, as rtflash asks them.

use std::sync::{Mutex, PoisonError};

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use rtflash_alloc::allocator::{Allocator, Limit, Outcome, allocator, decreasing_order, tested, unplaceable};
use rtflash_analysis::{Analysis, ClusterTest, ClusterVerdict, Fraction, Test, Work, analysis_relying_on, cluster_verdict};
use rtflash_model::{ChipId, Cluster, Device, Reliance, Request, Span, Task, TaskId, TaskSet};

/// A device, as a test or an algorithm written in Python sees it. Times are nanoseconds.
#[pyclass(frozen, module = "rtflash._rtflash", name = "Device")]
pub struct DeviceFields {
    device: Device,
}

#[pymethods]
impl DeviceFields {
    /// m: chips.
    #[getter]
    fn chips(&self) -> u32 {
        self.device.chips()
    }

    /// m_c: chips on a channel.
    #[getter]
    fn chips_per_channel(&self) -> u32 {
        self.device.chips_per_channel()
    }

    /// Blocks on a chip.
    #[getter]
    fn blocks_per_chip(&self) -> u32 {
        self.device.blocks_per_chip()
    }

    /// P: pages in a block.
    #[getter]
    fn pages_per_block(&self) -> u32 {
        self.device.pages_per_block()
    }

    /// Bytes of a page.
    #[getter]
    fn page_size(&self) -> u32 {
        self.device.page_size()
    }

    /// t_r.
    #[getter]
    fn page_read_ns(&self) -> u64 {
        self.device.page_read().as_ns()
    }

    /// t_w.
    #[getter]
    fn page_program_ns(&self) -> u64 {
        self.device.page_program().as_ns()
    }

    /// t_e.
    #[getter]
    fn block_erase_ns(&self) -> u64 {
        self.device.block_erase().as_ns()
    }

    /// t_d.
    #[getter]
    fn page_transfer_ns(&self) -> u64 {
        self.device.page_transfer().as_ns()
    }

    /// Page registers of a chip: 1 or 2.
    #[getter]
    fn page_registers(&self) -> u32 {
        self.device.page_registers()
    }

    /// N_s: blocks of a chip that may fail.
    #[getter]
    fn spare_blocks(&self) -> u32 {
        self.device.spare_blocks()
    }

    /// How many of them at programs while the chip is busy.
    #[getter]
    fn program_failures(&self) -> u32 {
        self.device.program_failures()
    }

    /// Δ: `None` where wear is not levelled.
    #[getter]
    fn wear_gap(&self) -> Option<u32> {
        self.device.wear_gap()
    }

    /// N_g: one GC job in so many is left for wear, if any is.
    #[getter]
    fn wear_passes(&self) -> Option<u32> {
        self.device.wear_passes()
    }

    /// t_s: `None` where erases are not suspended.
    #[getter]
    fn erase_suspend_ns(&self) -> Option<u64> {
        self.device.erase_suspend().map(Span::as_ns)
    }

    /// t_u.
    #[getter]
    fn erase_resume_ns(&self) -> u64 {
        self.device.erase_resume().as_ns()
    }

    /// t_c: zero where commands are not counted.
    #[getter]
    fn command_ns(&self) -> u64 {
        self.device.command().as_ns()
    }

    /// C^g: what a pass of garbage collection takes.
    #[getter]
    fn gc_pass_ns(&self) -> u64 {
        self.device.gc_pass().as_ns()
    }

    /// alpha: pages that a pass frees on a chip.
    #[getter]
    fn reclaimed_per_chip(&self) -> u32 {
        self.device.reclaimed_per_chip()
    }
}

/// A periodic request, as a test written in Python sees it. Times are nanoseconds.
#[pyclass(frozen, module = "rtflash._rtflash", name = "Request")]
pub struct RequestFields {
    request: Request,
}

#[pymethods]
impl RequestFields {
    /// Pages that it moves.
    #[getter]
    fn pages(&self) -> u64 {
        self.request.pages()
    }

    /// T: the period.
    #[getter]
    fn period_ns(&self) -> u64 {
        self.request.period().as_ns()
    }

    /// D: the relative deadline.
    #[getter]
    fn deadline_ns(&self) -> u64 {
        self.request.deadline().as_ns()
    }

    /// J: the release jitter.
    #[getter]
    fn jitter_ns(&self) -> u64 {
        self.request.jitter().as_ns()
    }
}

/// A task, as a test or an algorithm written in Python sees it.
#[pyclass(frozen, module = "rtflash._rtflash", name = "Task")]
pub struct TaskFields {
    task: Task,
}

#[pymethods]
impl TaskFields {
    /// Its name.
    #[getter]
    fn name(&self) -> &str {
        &self.task.name
    }

    /// Its reads, or `None`.
    #[getter]
    fn read(&self) -> Option<RequestFields> {
        self.task.read.map(|request| RequestFields { request })
    }

    /// Its writes, or `None`.
    #[getter]
    fn write(&self) -> Option<RequestFields> {
        self.task.write.map(|request| RequestFields { request })
    }
}

/// The first exception that Python code has raised where an answer has no room for one.
#[derive(Default)]
pub struct Raised(Mutex<Option<PyErr>>);

impl Raised {
    fn keep(&self, error: PyErr) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
    }

    /// The exception, which is forgotten here.
    pub fn take(&self) -> Option<PyErr> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Whether there is one.
    pub fn is_some(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }
}

/// A test that asks a Python function.
pub struct PythonTest {
    name: &'static str,
    summary: &'static str,
    ask: Py<PyAny>,
    /// The exception that Python raised.
    pub raised: Raised,
}

impl PythonTest {
    fn asked(&self, device: &Device, tasks: &[&Task], chips: u32) -> PyResult<ClusterVerdict> {
        Python::attach(|py| {
            let device = DeviceFields { device: *device };
            let tasks: Vec<TaskFields> = tasks.iter().map(|&task| TaskFields { task: task.clone() }).collect();
            let said = self.ask.bind(py).call1((device, tasks, chips))?;
            let (passes, numerator, denominator): (bool, u128, u128) = said.extract()?;
            if denominator == 0 {
                return Err(PyValueError::new_err("a load with the denominator 0"));
            }
            Ok(ClusterVerdict::new(passes, Fraction::new(numerator, denominator)))
        })
    }
}

impl Analysis for PythonTest {
    fn name(&self) -> &'static str {
        self.name
    }

    fn summary(&self) -> &'static str {
        self.summary
    }

    fn test(&self) -> Test<'_> {
        Test::Cluster(self)
    }
}

impl ClusterTest for PythonTest {
    fn verdict(&self, device: &Device, tasks: &[&Task], chips: u32) -> ClusterVerdict {
        let no = || ClusterVerdict::new(false, Fraction::new(2, 1));
        // Behind an exception all that counts is to come to an end.
        if self.raised.is_some() {
            return no();
        }
        self.asked(device, tasks, chips).unwrap_or_else(|error| {
            self.raised.keep(error);
            no()
        })
    }
}

/// An algorithm that asks a Python function.
pub struct PythonAllocator {
    name: &'static str,
    summary: &'static str,
    ask: Py<PyAny>,
    /// Tests that are written in Python, too.
    tests: Mutex<Vec<&'static PythonTest>>,
    /// The exception that Python raised.
    pub raised: Raised,
}

impl PythonAllocator {
    /// The analysis as it can be kept: one that has a name, or a test of Python.
    fn kept(&self, analysis: &dyn Analysis) -> Option<&'static dyn Analysis> {
        let tests = self.tests.lock().unwrap_or_else(PoisonError::into_inner);
        let own = tests.iter().find(|test| test.name == analysis.name()).map(|&test| test as &'static dyn Analysis);
        own.or_else(|| analysis_relying_on(analysis.name(), analysis.relies_on()))
    }

    /// Lets it ask these tests.
    pub fn meet(&self, tests: &[&'static PythonTest]) {
        self.tests.lock().unwrap_or_else(PoisonError::into_inner).extend(tests);
    }

    fn asked(&self, set: &TaskSet, analysis: &'static dyn Analysis) -> PyResult<Vec<Cluster>> {
        Python::attach(|py| {
            let tasks: Vec<TaskFields> = set.tasks().iter().map(|task| TaskFields { task: task.clone() }).collect();
            let device = DeviceFields { device: *set.device() };
            let verdict = VerdictOf { set: set.clone(), analysis };
            let said = self.ask.bind(py).call1((device, tasks, verdict))?;
            let clusters: Vec<(Vec<u32>, Vec<u32>)> = said.extract()?;
            let cluster = |(chips, tasks): (Vec<u32>, Vec<u32>)| Cluster {
                chips: chips.into_iter().map(ChipId).collect(),
                tasks: tasks.into_iter().map(TaskId).collect(),
            };
            Ok(clusters.into_iter().map(cluster).collect())
        })
    }
}

impl Allocator for PythonAllocator {
    fn name(&self) -> &'static str {
        self.name
    }

    fn summary(&self) -> &'static str {
        self.summary
    }

    fn divide(&self, set: &TaskSet, analysis: &dyn Analysis, work: &Work) -> Outcome {
        let none = Outcome::CannotTell(Limit::OtherAnalysis);
        let Some(kept) = self.kept(analysis).filter(|_| !self.raised.is_some()) else { return none };
        let clusters = match self.asked(set, kept) {
            Ok(clusters) => clusters,
            Err(error) => {
                self.raised.keep(error);
                return none;
            }
        };
        let placed = |task: &TaskId| clusters.iter().any(|cluster| cluster.tasks.contains(task));
        let left = decreasing_order(set, analysis, work).into_iter().find(|task| !placed(task));
        let outcome = match left {
            Some(task) => unplaceable(set, analysis, &clusters, task, work),
            None => tested(set, analysis, &clusters, work),
        };
        if let Outcome::CannotTell(limit @ Limit::NoDivision(_)) = &outcome {
            self.raised.keep(PyValueError::new_err(format!("{}: {limit}", self.name)));
        }
        outcome
    }
}

/// The verdict of an analysis on some tasks of a set, by position, on a number of chips.
#[pyclass(frozen, module = "rtflash._rtflash", name = "ClusterVerdicts")]
pub struct VerdictOf {
    set: TaskSet,
    analysis: &'static dyn Analysis,
}

#[pymethods]
impl VerdictOf {
    /// Whether these tasks, by position, are schedulable on so many chips, and how full these are.
    fn __call__(&self, tasks: Vec<u32>, chips: u32) -> PyResult<(bool, f64)> {
        let count = self.set.tasks().len();
        if let Some(beyond) = tasks.iter().find(|&&task| task as usize >= count) {
            return Err(PyValueError::new_err(format!("task {beyond}: there are {count} tasks")));
        }
        if chips == 0 || chips > self.set.device().chips() {
            return Err(PyValueError::new_err(format!("{chips} chips: there are {}", self.set.device().chips())));
        }
        let tasks: Vec<TaskId> = tasks.into_iter().map(TaskId).collect();
        let verdict = cluster_verdict(&self.set, self.analysis, &tasks, chips, &Work::new());
        Ok((verdict.passes, verdict.load.to_f64()))
    }

    /// The positions of the set's tasks in Algorithm 1's order, the heaviest first.
    fn decreasing_order(&self) -> Vec<u32> {
        decreasing_order(&self.set, self.analysis, &Work::new()).into_iter().map(|task| task.0).collect()
    }
}

/// Kept as long as the process: plans hold names and algorithms so long.
fn kept(text: String) -> &'static str {
    Box::leak(text.into_boxed_str())
}

fn callable(ask: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
    if ask.is_callable() { Ok(ask.clone().unbind()) } else { Err(PyTypeError::new_err("a function was expected")) }
}

/// A test that is written in Python: `ask(device, tasks, chips)` gives whether it passes, and its
/// load as numerator and denominator. It is kept as long as the process.
#[pyclass(frozen, module = "rtflash._rtflash")]
pub struct OwnTest {
    /// The test.
    pub test: &'static PythonTest,
}

#[pymethods]
impl OwnTest {
    #[new]
    fn new(name: String, summary: String, ask: &Bound<'_, PyAny>) -> PyResult<OwnTest> {
        if analysis_relying_on(&name, Reliance::Neighbours).is_some() {
            return Err(PyValueError::new_err(format!("{name} is an analysis of rtflash: another name")));
        }
        let test =
            PythonTest { name: kept(name), summary: kept(summary), ask: callable(ask)?, raised: Raised::default() };
        Ok(OwnTest { test: Box::leak(Box::new(test)) })
    }
}

/// An algorithm that is written in Python: `ask(device, tasks, verdicts)` gives clusters, each with
/// its chips and tasks. It is kept as long as the process.
#[pyclass(frozen, module = "rtflash._rtflash")]
pub struct OwnAlgorithm {
    /// The algorithm.
    pub allocator: &'static PythonAllocator,
}

#[pymethods]
impl OwnAlgorithm {
    #[new]
    fn new(name: String, summary: String, ask: &Bound<'_, PyAny>) -> PyResult<OwnAlgorithm> {
        if allocator(&name).is_some() {
            return Err(PyValueError::new_err(format!("{name} is an algorithm of rtflash: another name")));
        }
        let allocator = PythonAllocator {
            name: kept(name),
            summary: kept(summary),
            ask: callable(ask)?,
            tests: Mutex::default(),
            raised: Raised::default(),
        };
        Ok(OwnAlgorithm { allocator: Box::leak(Box::new(allocator)) })
    }
}
