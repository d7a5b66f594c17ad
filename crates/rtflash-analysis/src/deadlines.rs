//! The features that an analysis does not know: it refuses the set, with a sentence.

use std::fmt;

use rtflash_model::{Request, Span, TaskSet};

use super::Analysis;

/// A refusal of an analysis.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Untestable {
    /// The analysis, by name.
    pub analysis: &'static str,
    /// The feature that it does not know.
    pub cause: UntestableCause,
}

/// A feature that an analysis does not know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UntestableCause {
    /// A request whose deadline is before the end of its period, or which has a release jitter.
    Request {
        /// The task, by name.
        task: String,
        /// Whether it is the task's write request, not its read.
        writes: bool,
        /// The request.
        request: Request,
    },
    /// Commands that use the bus for so long.
    Commands(Span),
    /// The device: why, as a sentence.
    Device(&'static str),
}

impl fmt::Display for Untestable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Untestable { analysis, cause } = self;
        match cause {
            UntestableCause::Request { task, writes, request } => {
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
            UntestableCause::Device(why) => write!(f, "{analysis} does not analyse this set: {why}"),
            UntestableCause::Commands(command) => write!(
                f,
                "{analysis} knows no commands on the bus, and the device has a `command` of {command}: --analysis \
                 sound takes it"
            ),
        }
    }
}

impl std::error::Error for Untestable {}

impl dyn Analysis + '_ {
    /// Commands on the bus, the device, or the first request with D < T or J > 0.
    pub fn refuses(&self, set: &TaskSet) -> Option<Untestable> {
        let because = |cause| Untestable { analysis: self.name(), cause };
        if set.device().has_commands() && !self.takes_commands() {
            return Some(because(UntestableCause::Commands(set.device().command())));
        }
        if let Some(why) = self.undefined(set) {
            return Some(because(UntestableCause::Device(why)));
        }
        if self.takes_deadlines() {
            return None;
        }
        set.tasks().iter().find_map(|task| {
            let (request, writes) = task.requests().find(|(request, _)| !request.has_a_whole_period())?;
            Some(because(UntestableCause::Request { task: task.name.clone(), writes, request }))
        })
    }
}
