//! How far an experiment, or a part of one, has come: what is kept on disk.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::plan::Plan;
use crate::shard::Shard;
use crate::stretches::Stretches;
use crate::tally::Tally;

/// The sums over the sets that are done, and which these are.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    /// Says which experiment this is.
    manifest: Value,
    /// Which part of it.
    shard: Shard,
    /// Positions within the part that are done.
    done: Stretches,
    /// For each point.
    tallies: Vec<Tally>,
}

/// Why parts do not make a whole. Says what would be right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MergeError {
    /// There are no parts.
    Nothing,
    /// This part, by position in the list, belongs to another experiment than the first.
    Mixed(usize),
    /// This part, by position in the list, has so many of its sets done.
    Unfinished {
        /// The part.
        part: usize,
        /// Sets done.
        done: u64,
        /// Sets it has.
        sets: u64,
    },
    /// Two parts, by position in the list, are the same.
    Twice(usize, usize),
    /// These parts are not there.
    Missing(Vec<Shard>),
}

impl fmt::Display for MergeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MergeError::Nothing => f.write_str("no parts to merge"),
            MergeError::Mixed(_) => f.write_str("a part of another experiment than the first: their manifests differ"),
            MergeError::Unfinished { done, sets, .. } => {
                write!(f, "a part that is not finished: {done} of its {sets} sets are done; run it again, it goes on")
            }
            MergeError::Twice(..) => f.write_str("a part that is there twice"),
            MergeError::Missing(shards) => {
                let few: Vec<String> = shards.iter().take(5).map(Shard::to_string).collect();
                let more = if shards.len() > 5 { ", …" } else { "" };
                write!(f, "{} part(s) missing: {}{more}", shards.len(), few.join(", "))
            }
        }
    }
}

impl std::error::Error for MergeError {}

impl Progress {
    /// Nothing done yet.
    pub fn new(plan: &Plan, manifest: Value, shard: Shard) -> Progress {
        Progress { manifest, shard, done: Stretches::default(), tallies: vec![Tally::new(plan); plan.points()] }
    }

    /// Says which experiment this is.
    pub fn manifest(&self) -> &Value {
        &self.manifest
    }

    /// Which part of the experiment.
    pub fn shard(&self) -> Shard {
        self.shard
    }

    /// For each point of the plan.
    pub fn tallies(&self) -> &[Tally] {
        &self.tallies
    }

    /// Sets that are done.
    pub fn done(&self) -> u64 {
        self.done.len()
    }

    /// Whether this is about that plan: as many points, as many contenders, not more sets than there are.
    pub fn suits(&self, plan: &Plan) -> bool {
        self.tallies.len() == plan.points()
            && self.tallies.iter().all(|tally| tally.suits(plan))
            && self.done.end() <= self.shard.sets(plan.sets())
            && self
                .tallies
                .iter()
                .map(|tally| tally.sets.saturating_add(tally.exhausted))
                .try_fold(0u64, u64::checked_add)
                == Some(self.done())
    }

    /// Whether all sets of the part are done.
    pub fn is_finished(&self, plan: &Plan) -> bool {
        self.done() == self.shard.sets(plan.sets())
    }

    pub(crate) fn stretches(&self) -> &Stretches {
        &self.done
    }

    /// Counts a range of positions that has been done.
    pub(crate) fn add(&mut self, range: std::ops::Range<u64>, tallies: &[(usize, Tally)]) {
        self.done.insert(range);
        for (point, tally) in tallies {
            if let Some(sums) = self.tallies.get_mut(*point) {
                sums.add(tally);
            }
        }
    }
}

/// The whole from its parts, in any order.
///
/// # Errors
/// Where a part is missing, there twice, unfinished or of another experiment.
pub fn merge(plan: &Plan, parts: &[Progress]) -> Result<Progress, MergeError> {
    let first = parts.first().ok_or(MergeError::Nothing)?;
    let count = first.shard.count();
    let mut whole = Progress::new(plan, first.manifest.clone(), Shard::WHOLE);
    let mut seen = vec![None; count as usize];
    for (position, part) in parts.iter().enumerate() {
        if part.manifest != first.manifest || part.shard.count() != count || !part.suits(plan) {
            return Err(MergeError::Mixed(position));
        }
        if !part.is_finished(plan) {
            return Err(MergeError::Unfinished {
                part: position,
                done: part.done(),
                sets: part.shard.sets(plan.sets()),
            });
        }
        if let Some(earlier) = seen[part.shard.index() as usize].replace(position) {
            return Err(MergeError::Twice(earlier, position));
        }
        for (sums, tally) in whole.tallies.iter_mut().zip(&part.tallies) {
            sums.add(tally);
        }
    }
    let missing = (0..count).zip(&seen).filter(|(_, seen)| seen.is_none());
    let missing: Vec<Shard> = missing.filter_map(|(index, _)| Shard::new(index, count).ok()).collect();
    if !missing.is_empty() {
        return Err(MergeError::Missing(missing));
    }
    whole.done.insert(0..plan.sets());
    Ok(whole)
}
