//! How far an experiment, or a part of one, has come: what is kept on disk.

use serde::{Deserialize, Serialize};

use crate::audit;
use crate::plan::Plan;
use crate::shard::Shard;
use crate::stretches::Stretches;
use crate::tally::Tally;

/// The sums over the sets that are done, and which these are.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Progress {
    manifest: String,
    shard: Shard,
    /// Positions within the part that are done.
    done: Stretches,
    tallies: Vec<Tally>,
}

/// Why parts do not make a whole. Says what would be right.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MergeError {
    /// There are no parts.
    #[error("no parts to merge")]
    Nothing,
    /// This part, by position in the list, belongs to another experiment than the first.
    #[error("a part of another experiment than the first: their manifests differ")]
    Mixed(usize),
    /// This part, by position in the list, has counts that cannot be those of its experiment.
    #[error("a part with counts that do not fit together: it was changed")]
    Impossible(usize),
    /// This part, by position in the list, has only some of its sets done.
    #[error("a part that is not finished: {done} of its {sets} sets are done; run it again, it goes on")]
    Unfinished {
        /// The part.
        part: usize,
        /// Sets done.
        done: u64,
        /// Sets it has.
        sets: u64,
    },
    /// Two parts, by position in the list, are the same.
    #[error("a part that is there twice")]
    Twice(usize, usize),
    /// These parts are not there.
    #[error("{}", missing(.0))]
    Missing(Vec<Shard>),
}

fn missing(shards: &[Shard]) -> String {
    let few: Vec<String> = shards.iter().take(5).map(Shard::to_string).collect();
    let more = if shards.len() > 5 { ", …" } else { "" };
    let parts = if shards.len() == 1 { "part is" } else { "parts are" };
    format!("{} {parts} missing: {}{more}", shards.len(), few.join(", "))
}

impl Progress {
    /// Nothing done yet. The manifest is any text that says which experiment this is: parts with
    /// the same can be joined. That of a program that keeps progress should say what it was built
    /// of, too ([`BUILD`](crate::BUILD)).
    pub fn new(plan: &Plan, manifest: impl Into<String>, shard: Shard) -> Progress {
        Progress {
            manifest: manifest.into(),
            shard,
            done: Stretches::default(),
            tallies: vec![Tally::new(plan); plan.points()],
        }
    }

    /// Says which experiment this is.
    pub fn manifest(&self) -> &str {
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

    /// Whether these can be the counts of that plan: as many points, contenders and pairs, at each
    /// point the sets that are said to be done, and all that is counted twice agrees.
    pub fn suits(&self, plan: &Plan) -> bool {
        let Some(sets) = audit::sets_done(plan, self.shard, &self.done) else { return false };
        sets.len() == self.tallies.len()
            && self.tallies.iter().zip(sets).all(|(tally, sets)| audit::is_possible(tally, plan, sets))
    }

    /// Whether all sets of the part are done.
    pub fn is_finished(&self, plan: &Plan) -> bool {
        self.done() == self.shard.sets(plan.sets())
    }

    pub(crate) fn stretches(&self) -> &Stretches {
        &self.done
    }

    pub(crate) fn add(&mut self, range: std::ops::Range<u64>, tallies: &[(usize, Tally)]) {
        self.done.insert(range);
        for (point, tally) in tallies {
            if let Some(sums) = self.tallies.get_mut(*point) {
                sums.add(tally);
            }
        }
    }
}

/// The whole from its parts, in any order. Fails if a part is missing, there twice, unfinished or
/// of another experiment.
pub fn merge(plan: &Plan, parts: &[Progress]) -> Result<Progress, MergeError> {
    let first = parts.first().ok_or(MergeError::Nothing)?;
    let count = first.shard.count();
    let mut whole = Progress::new(plan, first.manifest.clone(), Shard::WHOLE);
    let mut seen = vec![None; count as usize];
    for (position, part) in parts.iter().enumerate() {
        if part.manifest != first.manifest || part.shard.count() != count {
            return Err(MergeError::Mixed(position));
        }
        if !part.suits(plan) {
            return Err(MergeError::Impossible(position));
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
