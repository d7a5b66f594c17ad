//! The extension module of the Python package rtflash: task sets, questions about them and their
//! answers. The users' functions are in `rtflash/`, in Python.

mod failure;
mod own;
mod pool;
mod question;
mod study;
mod table;
mod task_set;

use pyo3::prelude::*;

/// The parts of `rtflash`.
#[pymodule]
mod _rtflash {
    #[pymodule_export]
    use crate::own::{DeviceFields, OwnAlgorithm, OwnTest, RequestFields, TaskFields, VerdictOf};
    #[pymodule_export]
    use crate::question::{AnswerText, AnswerTexts, Question, draw, host, soak};
    #[pymodule_export]
    use crate::study::{Study, StudyResults, join_parts};
    #[pymodule_export]
    use crate::table::{Table, rows};
    #[pymodule_export]
    use crate::task_set::{TaskSet, split};

    use super::*;

    /// The version of rtflash, and the hash of the sources that results depend on.
    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))?;
        module.add("BUILD", rtflash_experiment::BUILD)
    }
}
