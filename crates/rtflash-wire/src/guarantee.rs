//! What holds on the device, beside a verdict that need not.

use rtflash_alloc::Work;
use rtflash_alloc::allocator::{Allocator, BestFit, Outcome};
use rtflash_alloc::analysis::Sound;
use rtflash_alloc::certified::{certified, reliances};
use rtflash_model::{Allocation, Placement, Reliance, TaskSet};

/// What the sound analysis says of a set for which another analysis has said something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Guarantee {
    /// Whether it accepts the set, with these clusters or with clusters of its own; `None` where it
    /// cannot tell.
    pub set: Option<bool>,
    /// Whether it accepts the clusters of the allocation at hand; `None` where there are none, or
    /// it cannot tell.
    pub as_placed: Option<bool>,
    /// What the clusters that it accepts rely on.
    pub relies_on: Option<Reliance>,
}

/// Tasks times chips beyond which it takes longer than a person waits.
const TOO_LARGE: u64 = 1 << 20;

impl Guarantee {
    /// Where nobody asked: what is known of an outcome without looking further.
    pub fn known(set: &TaskSet, outcome: &Outcome) -> Guarantee {
        let relies_on = match outcome {
            Outcome::Schedulable(allocation) => needed(set, allocation),
            _ => None,
        };
        let holds = relies_on.map(|_| true);
        Guarantee { set: holds, as_placed: holds, relies_on }
    }

    /// Looks for it: for an allocation of the set by the sound analysis, with what it may rely on.
    pub fn of(set: &TaskSet, allocator: &dyn Allocator, outcome: &Outcome, granted: Reliance) -> Guarantee {
        let known = Guarantee::known(set, outcome);
        if known.set.is_some() {
            return known;
        }
        if set.tasks().len() as u64 * u64::from(set.device().chips()) > TOO_LARGE {
            return known;
        }
        let placed = outcome.allocation().map(|allocation| as_placed(set, allocation, granted));
        let as_placed = placed.as_ref().and_then(|(holds, _)| *holds);
        if let Some((Some(true), allocation)) = placed {
            return Guarantee { set: Some(true), as_placed, relies_on: needed(set, &allocation) };
        }
        let sound = Sound::relying_on(granted);
        let mut found = BestFit.allocate(set, &sound);
        // An algorithm that looks further is asked as well, where it has found something.
        let further = ["clustering-search", "exact"].contains(&allocator.name());
        if found.is_schedulable() != Some(true) && further && outcome.is_schedulable() == Some(true) {
            found = allocator.allocate(set, &sound);
        }
        let relies_on = match &found {
            Outcome::Schedulable(allocation) => needed(set, allocation),
            _ => None,
        };
        Guarantee { set: found.is_schedulable(), as_placed, relies_on }
    }
}

/// What an allocation relies on; `None` where it has no certificates, or does not hold at all.
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
        "{noun} {} {verb} on more than `--rely-on {}` grants: `--rely-on {}` would do",
        clusters.join(", "),
        granted.name(),
        needed.name()
    ))
}
