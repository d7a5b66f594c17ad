//! The sources of a plan by their names, as lines have them.

use std::collections::HashMap;

use crate::ids::SourceId;
use crate::plan::Plan;

/// Names that are remembered as they were asked for: a power of two.
const RECENT: usize = 128;

/// The sources of a plan by their names.
#[derive(Debug)]
pub(super) struct Sources<'p> {
    all: HashMap<&'p str, SourceId>,
    /// Those asked for of late, each where its name says. To compare one name is much quicker than
    /// the map.
    recent: Vec<Option<(&'p str, SourceId)>>,
}

impl<'p> Sources<'p> {
    pub(super) fn new(plan: &'p Plan) -> Sources<'p> {
        let all = plan.sources().enumerate().map(|(number, source)| (source.name.as_str(), number)).collect();
        Sources { all, recent: vec![None; RECENT] }
    }

    pub(super) fn of(&self, name: &str) -> Option<SourceId> {
        self.all.get(name).copied()
    }

    /// The same, remembered.
    #[inline]
    pub(super) fn of_bytes(&mut self, name: &[u8]) -> Option<SourceId> {
        let mixed = name.iter().fold(0u32, |sum, byte| sum.wrapping_mul(31).wrapping_add(u32::from(*byte)));
        let place = (mixed ^ (mixed >> 7)) as usize % RECENT;
        match self.recent[place] {
            Some((known, source)) if known.as_bytes() == name => Some(source),
            _ => {
                let (known, source) = self.all.get_key_value(std::str::from_utf8(name).ok()?)?;
                self.recent[place] = Some((known, *source));
                Some(*source)
            }
        }
    }
}
