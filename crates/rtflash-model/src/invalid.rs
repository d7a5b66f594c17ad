//! The fault of a description, and its path, so that a reader of files can point at it.

use std::fmt;

/// One step of a [`Path`].
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum PathStep {
    /// A field of an object.
    Key(String),
    /// An element of an array, from 0.
    Index(usize),
}

/// The way to a value inside a description, such as `tasks[3].read.period`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Path(Vec<PathStep>);

impl Path {
    /// The whole description.
    pub fn root() -> Path {
        Path::default()
    }

    /// The field `key` of this value.
    #[must_use]
    pub fn key(&self, key: impl Into<String>) -> Path {
        self.then(PathStep::Key(key.into()))
    }

    /// The element `index` of this value.
    #[must_use]
    pub fn index(&self, index: usize) -> Path {
        self.then(PathStep::Index(index))
    }

    /// `rest`, seen from this value.
    #[must_use]
    pub fn join(&self, rest: &Path) -> Path {
        Path(self.0.iter().chain(&rest.0).cloned().collect())
    }

    /// The steps, outermost first.
    pub fn steps(&self) -> &[PathStep] {
        &self.0
    }

    fn then(&self, step: PathStep) -> Path {
        let mut steps = self.0.clone();
        steps.push(step);
        Path(steps)
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, step) in self.0.iter().enumerate() {
            match step {
                PathStep::Key(key) if position == 0 => write!(f, "{key}")?,
                PathStep::Key(key) => write!(f, ".{key}")?,
                PathStep::Index(index) => write!(f, "[{index}]")?,
            }
        }
        Ok(())
    }
}

/// One thing that is wrong with a description.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {problem} (expected: {expected})")]
pub struct Invalid {
    /// The value that is wrong.
    pub path: Path,
    /// The fault, a clause without a full stop.
    pub problem: String,
    /// The expected value.
    pub expected: String,
}

impl Invalid {
    /// A fault of the value at `path`.
    pub fn new(path: Path, problem: impl Into<String>, expected: impl Into<String>) -> Invalid {
        Invalid { path, problem: problem.into(), expected: expected.into() }
    }

    /// This fault with its path taken from a description that contains the faulty one at `outer`.
    #[must_use]
    pub fn within(mut self, outer: &Path) -> Invalid {
        self.path = outer.join(&self.path);
        self
    }
}
