//! Commands that a drive takes, and ends, together.

use rtflash_host::Op;

use super::line::SizeLine;
use crate::command::Done;
use crate::sample::Measurement;
use crate::statistics::median;

/// Commands taken together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Batches {
    /// How many at most.
    pub together: u32,
    /// The cost of each further command, without its bytes, in ns.
    pub each: u64,
}

impl Batches {
    /// One at a time.
    pub const SERIAL: Batches = Batches { together: 1, each: 0 };
}

/// Batches that a statement about them needs.
const MIN_BATCHES: usize = 20;

/// Finds groups of four commands or more whose ends lie closer together than a quarter of a lone
/// service: the drive (or its driver) ended them together.
pub(super) fn batches(of: &Measurement, lines: &[SizeLine; 2]) -> Option<Batches> {
    let (mut each, mut together) = (Vec::new(), 0_u32);
    for round in &of.rounds {
        let mut ends: Vec<&Done> = round.iter().collect();
        ends.sort_by_key(|done| done.ended);
        let mut before = None;
        for group in ends.chunk_by(|one, other| {
            let service = lines[usize::from(other.op != Op::Read)].at(other.size);
            other.ended - one.ended <= service / 4
        }) {
            let end = group.last().map_or(0, |done| done.ended);
            let first = group.iter().map(|done| done.issued).min().expect("a group has commands");
            let begin = before.replace(end).map_or(first, |before: u64| first.max(before));
            let line = |done: &Done| &lines[usize::from(done.op != Op::Read)];
            let longest = group.iter().map(|&done| (line(done).at(done.size), line(done).bytes(done.size))).max();
            let (longest, own) = longest.unwrap_or((0, 0));
            let bytes = group.iter().map(|&done| line(done).bytes(done.size)).sum::<u64>() - own;
            if group.len() >= 4 {
                let others = group.len() as u64 - 1;
                each.push(end.saturating_sub(begin).saturating_sub(longest + bytes) / others);
                together = together.max(u32::try_from(group.len()).expect("fewer than 2^32 commands"));
            }
        }
    }
    if each.len() < MIN_BATCHES {
        return None;
    }
    let together = together.min(of.most_in_flight);
    (together > 1).then_some(Batches { together, each: median(each)? })
}
