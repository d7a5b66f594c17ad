//! Tasks in a cluster of which nothing is known but its number of chips.

use rtflash_model::{Placement, TaskId, TaskSet};

use super::choice::{Choice, choose};
use crate::demand::bus::Contention;
use crate::organisation::processor::Processor;
use crate::organisation::shared_bus::SharedBus;
use crate::work::Work;

/// Whether these tasks of the set hold in a cluster of `chips` chips, with one of these
/// placements of pages, wherever its chips are and whatever its neighbours do.
pub fn holds_anywhere(set: &TaskSet, placements: &[Placement], tasks: &[TaskId], chips: u32, work: &Work) -> bool {
    let holds = |placement: Placement| {
        let members = tasks.iter().filter_map(|&task| set.tasks().get(task));
        let processor = Processor::new(set.device(), members, chips, placement, SharedBus::anywhere(set.device()))?;
        Some(matches!(choose(&processor, &[Contention::none()], 0, work), Choice::Holds(_)))
    };
    let fits = |placement: Placement| set.space(tasks, chips, Some(placement)).fits();
    placements.iter().any(|&placement| fits(placement) && holds(placement) == Some(true))
}
