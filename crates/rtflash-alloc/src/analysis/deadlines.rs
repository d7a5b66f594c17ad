//! Deadlines and jitter that an analysis does not know of: it refuses the set, with a sentence.

use std::fmt;

use rtflash_model::{Request, TaskSet};

use super::Analysis;

/// A request that an analysis cannot test: its deadline is not its period, or it has a release
/// jitter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotImplicit {
    /// The analysis, by name.
    pub analysis: &'static str,
    /// The task, by name.
    pub task: String,
    /// Whether it is the task's write request, not its read.
    pub writes: bool,
    /// The request.
    pub request: Request,
}

impl fmt::Display for NotImplicit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let NotImplicit { analysis, task, writes, request } = self;
        let kind = if *writes { "write" } else { "read" };
        let (deadline, period, jitter) = (request.deadline(), request.period(), request.jitter());
        write!(f, "{analysis} knows implicit deadlines only, and the {kind} request of `{task}` has ")?;
        if deadline < period {
            write!(f, "a deadline of {deadline} with a period of {period}: ")?;
        } else {
            write!(f, "a release jitter of {jitter}: ")?;
        }
        f.write_str("--analysis sound takes deadlines and jitter")
    }
}

impl std::error::Error for NotImplicit {}

impl dyn Analysis + '_ {
    /// Why it has nothing to say of this set: the first request with D < T or J > 0, where the
    /// analysis does not know of these.
    pub fn refuses(&self, set: &TaskSet) -> Option<NotImplicit> {
        if self.takes_deadlines() {
            return None;
        }
        set.tasks().iter().find_map(|task| {
            let (request, writes) = task.requests().find(|(request, _)| !request.is_implicit())?;
            Some(NotImplicit { analysis: self.name(), task: task.name.clone(), writes, request })
        })
    }
}
