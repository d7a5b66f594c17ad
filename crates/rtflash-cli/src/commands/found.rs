//! The allocation that a command is about: a given one, or one that is looked for.

use rtflash_alloc::allocator::{Allocator, Outcome};
use rtflash_analysis::verdict::completed;
use rtflash_analysis::{Analysis, Work};
use rtflash_answers::Verdict;
use rtflash_model::{Allocation, TaskSet};
#[cfg(feature = "exchange")]
use rtflash_model::{Placement, Reliance};

use super::allocate;
#[cfg(feature = "exchange")]
use crate::answer::{SetAnswer, Status};
use crate::answer::{Unanswered, whole};
use crate::pairs::{Given, read_given};
use crate::render::kind::promises;
use crate::{CommandFailure, output};

/// There is no allocation: why, and the analysis's verdict, which makes the exit status.
pub struct NothingToRun {
    pub reason: String,
    pub own: Verdict,
}

pub type FoundAllocation = Result<Allocation, NothingToRun>;

/// The allocation in a file, or that the algorithm finds; also one that the analysis rejects.
pub fn find(
    set: &TaskSet,
    file: Option<&(String, String)>,
    allocator: &dyn Allocator,
    analysis: &dyn Analysis,
    spread: bool,
    warnings: &mut String,
) -> Result<FoundAllocation, Unanswered> {
    let Some((name, text)) = file else { return Ok(search(set, allocator, analysis, spread)) };
    let frame = whole(text.clone().into_bytes());
    Ok(of_given(set, read_given(name, &frame, set)?, analysis, warnings)?)
}

pub fn of_given(
    set: &TaskSet,
    given: Given<'_>,
    analysis: &dyn Analysis,
    warnings: &mut String,
) -> Result<FoundAllocation, CommandFailure> {
    Ok(match given {
        Given::Allocation { allocation, name, .. } => Ok(given_one(set, name, allocation, analysis, warnings)?),
        Given::Nothing { schedulable: Some(_), reason } => {
            Err(NothingToRun { reason: reason.clone(), own: Verdict::no(reason) })
        }
        Given::Nothing { schedulable: None, reason } => Err(NothingToRun::cannot_tell(reason)),
    })
}

pub fn search(set: &TaskSet, allocator: &dyn Allocator, analysis: &dyn Analysis, spread: bool) -> FoundAllocation {
    let outcome = allocate(set, allocator, analysis, spread, &Work::new());
    if let Some(allocation) = outcome.allocation() {
        return Ok(allocation.clone());
    }
    let own = Verdict::of_outcome(set, analysis, &outcome);
    let why = || own.reason.clone().expect("a verdict other than yes has a reason");
    let reason = match outcome {
        Outcome::Partitioned(_) => {
            let reason = format!("{} makes no clusters: there is nothing to run", allocator.name());
            return Err(NothingToRun::cannot_tell(reason));
        }
        Outcome::NotSchedulable(_) => {
            format!("{} finds no allocation, so there is none to run: {}", allocator.name(), why())
        }
        Outcome::Impossible(_) => format!("there is none to run: {}", why()),
        Outcome::CannotTell(_) | Outcome::Schedulable(_) => why(),
    };
    Err(NothingToRun { reason, own })
}

/// How a set without an allocation is run all the same, for commands that run any.
pub fn any_runs(own: &Verdict) -> &'static str {
    if own.holds() == Some(false) { " (global and equal-split always give one, --allocation runs any)" } else { "" }
}

impl NothingToRun {
    /// The complaint of a command that needs an allocation, with a hint at its end.
    #[cfg(feature = "exchange")]
    pub fn refused(self, hint: &str) -> Unanswered {
        let (complaint, status) = (format!("{}{hint}\n", self.reason), Status::of(self.own.holds()));
        SetAnswer { complaint, status, ..SetAnswer::default() }.into()
    }

    fn cannot_tell(reason: String) -> NothingToRun {
        NothingToRun { reason: reason.clone(), own: Verdict::cannot_tell(reason) }
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
) -> Result<Allocation, CommandFailure> {
    let missing = uncertified(&allocation);
    if !missing.is_empty() && missing.len() < allocation.len() {
        if !promises(analysis) {
            let positions: Vec<String> = missing.iter().map(ToString::to_string).collect();
            fail!(
                "{name}: some clusters have a certificate and others ({}) have none: --analysis sound looks for \
                 these, and without any it is run by Theorem 1",
                positions.join(", ")
            );
        }
        *warnings += &output::warning(&format!("{name}: {}", looked_for(&allocation, &missing)));
    }
    for note in (0..allocation.len()).flat_map(|position| gone_tasks(&allocation, position)) {
        *warnings += &output::warning(&format!("{name}: {note}"));
    }
    Ok(completed(set, analysis, allocation))
}

/// The allocation of this file, or without one the one that is found under an analysis, where the
/// verifier finds it in time.
#[cfg(feature = "exchange")]
pub fn certified(
    given: Option<&std::path::Path>,
    analysis: &str,
    granted: Reliance,
    set: &TaskSet,
) -> Result<Allocation, Unanswered> {
    let analysis = super::analysis_relying_on(analysis, granted)?;
    let algorithm = super::allocator(rtflash_alloc::allocator::usual(analysis).name())?;
    let given = given.map(crate::source::read).transpose()?;
    let mut warnings = String::new();
    let found = find(set, given.as_ref(), algorithm, analysis, false, &mut warnings);
    output::complain(&warnings);
    let found = found?.map_err(|none| none.refused(""))?;
    if !found.is_certified() || holds(set, &found, granted) {
        return Ok(found);
    }
    let why = if holds(set, &found, Reliance::Queue) {
        "it holds only beside its neighbours as they are: see --assume".into()
    } else {
        format!("it does not keep its deadlines as it is: see `rtflash check --analysis {}`", analysis.name())
    };
    let name = given.map_or_else(|| "the allocation".into(), |given| given.0);
    Err(Unanswered::because(&format!("{name}: {why}"), Status::No))
}

#[cfg(feature = "exchange")]
fn holds(set: &TaskSet, allocation: &Allocation, granted: Reliance) -> bool {
    let verification = rtflash_verify::verify_certified(set, allocation, &Placement::ALL, granted);
    verification.clusters.iter().all(|cluster| cluster.holds == Some(true) && cluster.discrepancies.is_empty())
}

pub fn uncertified(allocation: &Allocation) -> Vec<usize> {
    (0..allocation.len()).filter(|&position| allocation.certificate(position).is_none()).collect()
}

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

pub fn gone_tasks(allocation: &Allocation, position: usize) -> impl Iterator<Item = String> {
    let gone = allocation.remarks(position).into_iter().flat_map(|remarks| &remarks.gone_tasks);
    gone.map(|name| format!("task `{name}` is not in the task set"))
}
