//! `exec --trim`: pages that tasks give back.

use rtflash_model::{Span, TaskSet, parse_ns};
use rtflash_plan::{Options, PeriodicTrim};

use crate::CommandFailure;

pub struct TrimOption {
    text: String,
    task: String,
    pages: u32,
    every: Span,
}

impl TrimOption {
    /// The trims that were typed: `TASK=PAGES/EVERY`.
    pub fn read(text: &str) -> Result<TrimOption, CommandFailure> {
        let wrong = |problem: String| {
            CommandFailure(format!("--trim {text}: {problem}; expected TASK=PAGES/EVERY, such as camera=8/20ms"))
        };
        // The task's own name may have such signs in it.
        let (task, trim) = text.rsplit_once('=').ok_or_else(|| wrong("there is no `=`".into()))?;
        let (pages, every) = trim.split_once('/').ok_or_else(|| wrong("there is no `/`".into()))?;
        let count = pages.parse().ok().filter(|&pages| pages > 0);
        let pages = count.ok_or_else(|| wrong(format!("`{pages}` is no number of pages")))?;
        let every = parse_ns(every).map_err(|error| wrong(error.to_string()))?;
        let every = Span::from_ns(every).filter(|&every| every > Span::ZERO);
        let every = every.ok_or_else(|| wrong("that is no time between two trims".into()))?;
        Ok(TrimOption { text: text.into(), task: task.into(), pages, every })
    }

    pub fn apply(all: &[TrimOption], set: &TaskSet, options: Options) -> Result<Options, CommandFailure> {
        let trims = all.iter().map(|of| of.of_set(set)).collect::<Result<Vec<PeriodicTrim>, CommandFailure>>()?;
        Ok(Options { trims, ..options })
    }

    fn of_set(&self, set: &TaskSet) -> Result<PeriodicTrim, CommandFailure> {
        let named = set.tasks().enumerate().find(|(_, task)| task.name == self.task);
        let (task, _) = named.ok_or_else(|| self.complaint(&format!("there is no task `{}`", self.task)))?;
        Ok(PeriodicTrim { task, pages: self.pages, every: self.every })
    }

    fn complaint(&self, problem: &str) -> CommandFailure {
        CommandFailure(format!("--trim {}: {problem}", self.text))
    }

    pub fn refused(all: &[TrimOption], trim: usize, why: &rtflash_plan::NoTrim) -> CommandFailure {
        all[trim].complaint(&why.to_string())
    }
}
