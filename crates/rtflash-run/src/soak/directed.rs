//! Which sets show what a term is for that chance seldom shows.

use rtflash_analysis::certified::Term;

use super::limit::LimitSet;
use super::{World, carried, copied, drained, limit, told};

/// The set of this number: among those that show what the term that is left out is for, where
/// others seldom do.
pub(super) fn set_at_the_limit(seed: u64, number: u64, world: World, left_out: Option<Term>) -> Option<LimitSet> {
    match (left_out, world) {
        (Some(Term::CarryIn), World::Stripe | World::Queue | World::Register | World::Mixed | World::Superblock) => {
            carried::draw(seed, number, world, left_out)
        }
        (Some(Term::LastPage), World::Register) => drained::draw(seed, number, left_out),
        (Some(Term::Commands), World::Command | World::QueueCommand | World::RegisterCommand) => {
            copied::draw(seed, number, world, left_out)
        }
        (_, World::QueueCommand) => told::draw(seed, number, left_out),
        _ => limit::draw(seed, number, world, left_out),
    }
}
