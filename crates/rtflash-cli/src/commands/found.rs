//! The allocation that a command is about: a given one, or one that is looked for.

use rtflash_alloc::allocator::{Allocator, Outcome};
use rtflash_analysis::verdict::completed;
use rtflash_analysis::{Analysis, Work};
use rtflash_answers::Verdict;
use rtflash_model::{Allocation, Frame, TaskSet};

use super::allocate;
use crate::answer::{SetAnswer, Unanswered};
use crate::pairs::{Given, read_given};
use crate::render::kind::promises;
use crate::status::Status;
use crate::{CommandFailure, output};

pub enum FoundAllocation {
    Allocation(Allocation),
    /// None: why, and the analysis's verdict, which makes the exit status.
    Nothing(String, Verdict),
    Wrong(String),
    Refused(Box<SetAnswer>),
}

/// The allocation in a file, or that the algorithm finds; also one that the analysis rejects.
pub fn find(
    set: &TaskSet,
    file: Option<&(String, String)>,
    allocator: &dyn Allocator,
    analysis: &dyn Analysis,
    spread: bool,
    warnings: &mut String,
) -> FoundAllocation {
    let Some((name, text)) = file else { return search(set, allocator, analysis, spread) };
    let frame = Frame { text: text.clone().into_bytes(), first_line: 1, first_column: 1 };
    match read_given(name, &frame, set) {
        Ok(given) => of_given(set, given, analysis, warnings),
        Err(answer) => FoundAllocation::Refused(answer),
    }
}

/// What was given; what is wrong with it is a message.
pub fn of_given(set: &TaskSet, given: Given<'_>, analysis: &dyn Analysis, warnings: &mut String) -> FoundAllocation {
    match given {
        Given::Allocation { allocation, name, .. } => given_one(set, name, allocation, analysis, warnings),
        Given::Nothing { schedulable: Some(_), reason } => {
            FoundAllocation::Nothing(reason.clone(), Verdict::no(reason))
        }
        Given::Nothing { schedulable: None, reason } => FoundAllocation::cannot_tell(reason),
    }
}

pub fn search(set: &TaskSet, allocator: &dyn Allocator, analysis: &dyn Analysis, spread: bool) -> FoundAllocation {
    let outcome = allocate(set, allocator, analysis, spread, &Work::new());
    if let Some(allocation) = outcome.allocation() {
        return FoundAllocation::Allocation(allocation.clone());
    }
    let own = Verdict::of_outcome(set, analysis, &outcome);
    let why = || own.reason.clone().expect("a verdict other than yes has a reason");
    match outcome {
        Outcome::Partitioned(_) => {
            FoundAllocation::cannot_tell(format!("{} makes no clusters: there is nothing to run", allocator.name()))
        }
        Outcome::NotSchedulable(_) => FoundAllocation::Nothing(
            format!("{} finds no allocation, so there is none to run: {}", allocator.name(), why()),
            own,
        ),
        Outcome::Impossible(_) => FoundAllocation::Nothing(format!("there is none to run: {}", why()), own),
        Outcome::CannotTell(_) | Outcome::Schedulable(_) => FoundAllocation::Nothing(why(), own),
    }
}

/// How a set without an allocation is run all the same, for commands that run any.
pub fn any_runs(own: &Verdict) -> &'static str {
    if own.holds() == Some(false) { " (global and equal-split always give one, --allocation runs any)" } else { "" }
}

impl FoundAllocation {
    /// The allocation; if there is none, the reason, with a `hint` by the analysis's verdict.
    pub fn into_run(self, hint: impl Fn(&Verdict) -> &'static str) -> Result<Allocation, Unanswered> {
        match self {
            FoundAllocation::Allocation(allocation) => Ok(allocation),
            FoundAllocation::Nothing(reason, own) => {
                let (complaint, status) = (format!("{reason}{}\n", hint(&own)), Status::of(own.holds()));
                Err(Unanswered::Input(Box::new(SetAnswer { complaint, status, ..SetAnswer::default() })))
            }
            FoundAllocation::Wrong(complaint) => Err(CommandFailure(complaint).into()),
            FoundAllocation::Refused(answer) => Err(Unanswered::Input(answer)),
        }
    }

    fn cannot_tell(reason: String) -> FoundAllocation {
        FoundAllocation::Nothing(reason.clone(), Verdict::cannot_tell(reason))
    }
}

/// A given allocation with the certificates that it lacks. Under an analysis that has none it is
/// run by all that it has or by none.
fn given_one(
    set: &TaskSet,
    name: &str,
    allocation: Allocation,
    analysis: &dyn Analysis,
    warnings: &mut String,
) -> FoundAllocation {
    let missing = uncertified(&allocation);
    if !missing.is_empty() && missing.len() < allocation.len() {
        if !promises(analysis) {
            let positions: Vec<String> = missing.iter().map(ToString::to_string).collect();
            return FoundAllocation::Wrong(format!(
                "{name}: some clusters have a certificate and others ({}) have none: --analysis sound looks for \
                 these, and without any it is run by Theorem 1",
                positions.join(", ")
            ));
        }
        *warnings += &output::warning(&format!("{name}: {}", looked_for(&allocation, &missing)));
    }
    for note in (0..allocation.len()).flat_map(|position| gone_tasks(&allocation, position)) {
        *warnings += &output::warning(&format!("{name}: {note}"));
    }
    FoundAllocation::Allocation(completed(set, analysis, allocation))
}

pub fn uncertified(allocation: &Allocation) -> Vec<usize> {
    (0..allocation.len()).filter(|&position| allocation.certificate(position).is_none()).collect()
}

/// That certificates were looked for, and of which clusters.
pub fn looked_for(allocation: &Allocation, missing: &[usize]) -> String {
    if missing.len() == allocation.len() {
        return "it has no certificates: they were looked for".into();
    }
    let positions: Vec<String> = missing.iter().map(ToString::to_string).collect();
    match positions.as_slice() {
        [one] => format!("cluster {one} has no certificate: one was looked for, next to the others as they are"),
        many => format!(
            "clusters {} have no certificates: they were looked for, next to the others as they are",
            many.join(", ")
        ),
    }
}

/// What is to be said of tasks of a cluster that the set does not have.
pub fn gone_tasks(allocation: &Allocation, position: usize) -> impl Iterator<Item = String> {
    let gone = allocation.remarks(position).into_iter().flat_map(|remarks| &remarks.gone_tasks);
    gone.map(|name| format!("task `{name}` is not in the task set"))
}
