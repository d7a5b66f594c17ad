//! Commands that a drive takes, and ends, together.

use std::collections::BTreeMap;

use rtflash_host::Op;

use super::line::{LARGE, SizeLine, lone};
use crate::command::Done;
use crate::numbers::rounded;
use crate::sample::Measurement;
use crate::statistics::median;

/// Commands taken together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Batches {
    /// How many at most.
    pub together: u32,
    /// The cost of each further command, without its bytes, in ns.
    pub each: u64,
    /// The cost of 1,024 bytes of a further command, in ns, if large ones were seen.
    pub each_per_kib: Option<u64>,
}

impl Batches {
    /// One at a time.
    pub const SERIAL: Batches = Batches { together: 1, each: 0, each_per_kib: None };
}

/// Batches that a statement about them needs.
const MIN_BATCHES: usize = 20;

/// Finds groups of four commands or more whose ends lie closer together than a quarter of a lone
/// service: the drive (or its driver) ended them together. The cost of a further command is that of
/// groups that found the drive free: the rest of an earlier group can end right behind it.
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
            let is_free = before.replace(end).is_none_or(|before: u64| before <= first);
            let line = |done: &Done| &lines[usize::from(done.op != Op::Read)];
            let longest = group.iter().map(|&done| (line(done).at(done.size), line(done).bytes(done.size))).max();
            let (longest, own) = longest.unwrap_or((0, 0));
            let bytes = group.iter().map(|&done| line(done).bytes(done.size)).sum::<u64>() - own;
            if group.len() >= 4 {
                let others = group.len() as u64 - 1;
                let took = end.saturating_sub(first).saturating_sub(longest + bytes);
                let is_small = group.iter().all(|done| done.size < LARGE);
                each.extend((is_free && is_small).then_some(took / others));
                together = together.max(u32::try_from(group.len()).expect("fewer than 2^32 commands"));
            }
        }
    }
    if each.len() < MIN_BATCHES {
        return None;
    }
    let together = together.min(of.most_in_flight);
    let each = median(each)?;
    (together > 1).then(|| Batches { together, each, each_per_kib: each_per_kib(of, each) })
}

/// The cost of 1,024 bytes of further commands: the time that a drive is busy beyond a lone command
/// and what each further one costs, in the mean over busy times with large commands. Bandwidth is
/// a mean, and a drive with several large commands can be slower than lone ones let expect.
fn each_per_kib(of: &Measurement, each: u64) -> Option<u64> {
    let mut lone_times: BTreeMap<(Op, u64), (f64, f64)> = BTreeMap::new();
    for done in [Op::Read, Op::Write].into_iter().flat_map(|op| lone(of, op)) {
        let (sum, count) = lone_times.entry((done.op, done.size)).or_default();
        (*sum, *count) = (*sum + done.service() as f64, *count + 1.0);
    }
    let (mut busy, mut bytes, mut count) = (0.0, 0, 0);
    for period in of.rounds.iter().flat_map(|round| round.chunk_by(|_, next| next.others > 0)) {
        let (first, further) = period.split_first().expect("a chunk has commands");
        let large = further.iter().map(|done| done.size).sum::<u64>();
        let end = period.iter().map(|done| done.ended).fold(0, u64::max);
        if first.others == 0
            && is_busy(period)
            && !further.is_empty()
            && large >= LARGE * further.len() as u64
            && let Some((sum, number)) = lone_times.get(&(first.op, first.size))
        {
            let others = each.saturating_mul(further.len() as u64);
            busy += (end - first.issued) as f64 - sum / number - others as f64;
            (bytes, count) = (bytes + large, count + 1);
        }
    }
    (count >= MIN_BATCHES).then(|| rounded(busy * 1_024.0 / bytes as f64))
}

/// Whether one of these commands is in flight at all times. In a thinned measurement, some are
/// missing.
fn is_busy(period: &[Done]) -> bool {
    let mut end = period.first().map_or(0, |done| done.issued);
    period.iter().all(|done| {
        let is_in_flight = done.issued <= end;
        end = end.max(done.ended);
        is_in_flight
    })
}
