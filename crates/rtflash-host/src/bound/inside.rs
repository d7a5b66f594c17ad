//! The most that can be inside at a time.

use super::max::Max;
use super::view::Loops;

/// Commands that some jobs may have outstanding, the most expensive first: cost, whether they are
/// real-time, how many.
#[derive(Debug)]
pub(super) struct Inside(Vec<(u64, bool, u64)>);

impl Inside {
    pub(super) fn new<'a>(loops: impl Iterator<Item = &'a Loops>) -> Inside {
        let commands = loops.flat_map(|of| {
            let longest = of.merging.iter().filter(|_| of.is_merged).map(|&(_, cost)| cost).fold(0, u64::max);
            of.commands
                .iter()
                .map(move |&(cost, several)| (cost.max(longest), of.is_real_time, several.saturating_mul(of.pending)))
        });
        let mut commands: Vec<_> = commands.collect();
        commands.sort_unstable_by(|one, other| other.cmp(one));
        Inside(commands)
    }

    /// The most expensive of them, as many as may be inside: cost, how many.
    fn taken(&self, max: Max) -> impl Iterator<Item = (u64, u64)> + '_ {
        let Max { mut all, mut rest } = max;
        self.0.iter().map(move |&(cost, is_real_time, several)| {
            let taken = several.min(all).min(if is_real_time { u64::MAX } else { rest });
            all -= taken;
            rest -= if is_real_time { 0 } else { taken };
            (cost, taken)
        })
    }

    /// The cost of the most expensive of them together, as many as can be inside.
    pub(super) fn max(&self, max: Max) -> u128 {
        self.taken(max).map(|(cost, taken)| u128::from(cost) * u128::from(taken)).sum()
    }

    /// How many of them may be inside.
    pub(super) fn number(&self, max: Max) -> u64 {
        self.taken(max).map(|(_, taken)| taken).sum()
    }

    /// The cost of the `number` most expensive of them together.
    pub(super) fn max_of(&self, number: u64) -> u128 {
        self.max(Max { all: number, rest: number })
    }

    /// How many there are.
    pub(super) fn count(&self) -> u64 {
        self.0.iter().fold(0, |sum: u64, &(_, _, several)| sum.saturating_add(several))
    }
}
