//! The guarantee on the device, next to a verdict that need not guarantee anything.

use rtflash_alloc::allocator::{Allocator, BestFit, Outcome, PartFtlTest};
use rtflash_analysis::certified::{certified, reliances};
use rtflash_analysis::{Analysis, Sound, Test, Work, baseline};
use rtflash_model::{Allocation, Placement, Reliance, TaskSet};

use crate::verdicts::Verdict;

/// The guarantee of the sound analysis for a set for which some analysis has an outcome.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Guarantee {
    /// Whether it accepts the set, with the clusters of the outcome or with others.
    pub verdict: Verdict,
    /// Whether it accepts the clusters of the outcome; `None` where there are none, nothing was
    /// asked, or it cannot tell.
    pub as_placed: Option<bool>,
    /// The reliance of the clusters that it accepts.
    pub relies_on: Option<Reliance>,
}

/// Tasks times chips beyond which it takes longer than a person waits.
const TOO_LARGE: u64 = 1 << 20;

impl Guarantee {
    const NOT_ASKED: Guarantee = Guarantee { verdict: Verdict::NOT_ASKED, as_placed: None, relies_on: None };

    fn of_verdict(verdict: Verdict) -> Guarantee {
        Guarantee { verdict, ..Guarantee::NOT_ASKED }
    }

    /// The guarantee that follows from an outcome without a further search.
    pub fn known(set: &TaskSet, allocator: &str, analysis: &dyn Analysis, outcome: &Outcome) -> Guarantee {
        if let Some(verdict) = Verdict::without_asking(set) {
            let as_placed = verdict.holds().filter(|_| outcome.allocation().is_some());
            return Guarantee { verdict, as_placed, relies_on: None };
        }
        let demand = matches!(analysis.test(), Test::Demand(_));
        // If the sound analysis decides by its usual algorithm, its outcome is the answer about the
        // set.
        let usual = analysis.name() == SOUND && allocator == BestFit.name();
        match outcome {
            Outcome::Schedulable(allocation) if demand => {
                Guarantee { verdict: Verdict::YES, as_placed: Some(true), relies_on: needed(set, allocation) }
            }
            Outcome::NotSchedulable(failure) if failure.overloaded.is_some() => Guarantee::NOT_ASKED,
            Outcome::NotSchedulable(_) | Outcome::CannotTell(_) if usual => {
                Guarantee::of_verdict(Verdict::of_outcome(set, analysis, outcome))
            }
            Outcome::Impossible(_) => Guarantee::of_verdict(Verdict::of_outcome(set, analysis, outcome)),
            _ => Guarantee::NOT_ASKED,
        }
    }

    /// Looks for a guarantee: for an allocation of the set by the sound analysis, with what it may
    /// rely on. Schemes for devices that work in another way guarantee nothing here.
    pub fn of(
        set: &TaskSet,
        allocator: &dyn Allocator,
        analysis: &dyn Analysis,
        outcome: &Outcome,
        granted: Reliance,
    ) -> Guarantee {
        let known = Guarantee::known(set, allocator.name(), analysis, outcome);
        if known != Guarantee::NOT_ASKED || allocator.name() == PartFtlTest.name() {
            return known;
        }
        let accepted = outcome.is_schedulable() == Some(true);
        Guarantee::beside(set, allocator, analysis, outcome.allocation(), accepted, granted)
    }

    /// The guarantee next to the clusters of an allocation, if there is one, with whether the
    /// analysis accepts them.
    pub fn beside(
        set: &TaskSet,
        allocator: &dyn Allocator,
        analysis: &dyn Analysis,
        allocation: Option<&Allocation>,
        accepted: bool,
        granted: Reliance,
    ) -> Guarantee {
        if let Some(verdict) = Verdict::without_asking(set) {
            return Guarantee::of_verdict(verdict);
        }
        if baseline(analysis.name()).is_some() {
            return Guarantee::NOT_ASKED;
        }
        if set.tasks().len() as u64 * u64::from(set.device().chips()) > TOO_LARGE {
            let reason = format!("tasks times chips are more than {TOO_LARGE}, and an answer would take long");
            return Guarantee::of_verdict(Verdict::cannot_tell(reason));
        }
        let placed = allocation.map(|allocation| as_placed(set, allocation, granted));
        let as_placed = placed.as_ref().and_then(|(holds, _)| *holds);
        if let Some((Some(true), allocation)) = placed {
            return Guarantee { verdict: Verdict::YES, as_placed, relies_on: needed(set, &allocation) };
        }
        let sound = Sound::relying_on(granted);
        let (mut found, mut by) = (BestFit.allocate(set, &sound), BestFit.name());
        // An algorithm that looks further is asked as well, where it has found something.
        let further = ["clustering-search", "exact"].contains(&allocator.name());
        if found.is_schedulable() != Some(true) && further && accepted {
            (found, by) = (allocator.allocate(set, &sound), allocator.name());
        }
        let (verdict, relies_on) = match &found {
            Outcome::Schedulable(allocation) => {
                (Verdict::with_other_clusters(printed_by(analysis, by, granted)), needed(set, allocation))
            }
            _ => (Verdict::of_outcome(set, &sound, &found), None),
        };
        Guarantee { verdict, as_placed, relies_on }
    }
}

/// The name of the analysis that decides what is guaranteed.
const SOUND: &str = "sound";

/// Which options print the clusters that the sound analysis finds: none that were given already.
fn printed_by(analysis: &dyn Analysis, algorithm: &str, granted: Reliance) -> String {
    if analysis.name() == SOUND {
        return format!("--algorithm {algorithm} prints them");
    }
    let algorithm = if algorithm == BestFit.name() { String::new() } else { format!(" --algorithm {algorithm}") };
    let rely_on =
        if granted == Reliance::default() { String::new() } else { format!(" --assume {}", granted.assumption()) };
    format!("alloc --analysis {SOUND}{algorithm}{rely_on} prints them")
}

/// The reliance of an allocation; `None` if it has no certificates, or does not hold at all.
pub fn needed(set: &TaskSet, allocation: &Allocation) -> Option<Reliance> {
    let all: Option<Vec<Reliance>> = reliances(set, allocation).into_iter().collect();
    all?.into_iter().max()
}

/// Whether these clusters hold as they are, and the certificates with which they do.
fn as_placed(set: &TaskSet, allocation: &Allocation, granted: Reliance) -> (Option<bool>, Allocation) {
    let (allocation, certified) = certified(set, allocation, &Placement::COLLECTING, granted, &Work::new());
    let holds = match (certified.failing.is_empty(), certified.given_up) {
        (true, _) => Some(true),
        (false, true) => None,
        (false, false) => Some(false),
    };
    (holds, allocation)
}

/// Why a given allocation that holds is refused all the same: its clusters lean on more than was
/// granted.
pub fn beyond(set: &TaskSet, allocation: &Allocation, granted: Reliance) -> Option<String> {
    let needed = needed(set, allocation).filter(|&needed| needed > granted)?;
    let clusters: Vec<String> = reliances(set, allocation)
        .into_iter()
        .enumerate()
        .filter(|(_, reliance)| reliance.is_some_and(|reliance| reliance > granted))
        .map(|(position, _)| position.to_string())
        .collect();
    let (noun, verb) = if clusters.len() == 1 { ("cluster", "relies") } else { ("clusters", "rely") };
    Some(format!(
        "{noun} {} {verb} on more than `--assume {}` grants: `--assume {}` would do",
        clusters.join(", "),
        granted.assumption(),
        needed.assumption()
    ))
}
