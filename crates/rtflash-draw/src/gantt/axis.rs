//! The scale of a chart: ticks, and what is in a cell of time.

use super::{ChartBar, JobId, Look};

#[derive(Debug, PartialEq, Eq)]
pub(super) struct TimeAxis {
    pub unit: &'static str,
    pub ticks: Vec<(u64, String)>,
}

impl TimeAxis {
    /// As many ticks from `from` up to `to` as have room for their labels, `room` characters in
    /// all; at most a dozen.
    pub fn new(from: u64, to: u64, room: usize) -> TimeAxis {
        let mut last = TimeAxis { unit: "ns", ticks: Vec::new() };
        for intervals in (1..=12).rev() {
            let step = round_up((to - from).div_ceil(intervals));
            let (unit, scale) = match step {
                1_000_000_000.. => ("s", 1_000_000_000),
                1_000_000.. => ("ms", 1_000_000),
                1_000.. => ("us", 1_000),
                _ => ("ns", 1),
            };
            let first = from.div_ceil(step).saturating_mul(step);
            let ticks = std::iter::successors(Some(first), |tick| tick.checked_add(step)).take_while(|&tick| tick < to);
            last = TimeAxis { unit, ticks: ticks.map(|tick| (tick, (tick / scale).to_string())).collect() };
            // Two blanks between labels.
            if last.ticks.iter().map(|(_, label)| label.len() + 2).sum::<usize>() <= room {
                break;
            }
        }
        last
    }
}

/// The next of 1, 2, 5, 10, 20, 50, …
fn round_up(length: u64) -> u64 {
    let mut power = 1_u64;
    loop {
        for step in [power, 2 * power, 5 * power] {
            if step >= length {
                return step;
            }
        }
        // 5·10¹⁸ is below 2⁶³, the limit of time, by less than a factor of two.
        match power.checked_mul(10) {
            Some(next) if next <= 1_000_000_000_000_000_000 => power = next,
            _ => return length,
        }
    }
}

pub(super) fn cell_start(from: u64, to: u64, cells: usize, cell: usize) -> u64 {
    let offset = u128::from(to - from) * cell as u128 / (cells.max(1) as u128);
    from + u64::try_from(offset).unwrap_or(to - from)
}

/// The cell that a moment is in; the last one for all later moments.
pub(super) fn cell_of(from: u64, to: u64, cells: usize, at: u64) -> usize {
    // The last cell that starts at or before: (cell_start is rounded down).
    let offset = u128::from(at.saturating_sub(from)) + 1;
    let cell = (offset * cells as u128).div_ceil(u128::from(to - from)).saturating_sub(1);
    let last = cells.saturating_sub(1);
    usize::try_from(cell).map_or(last, |cell| cell.min(last))
}

/// At most `cells` cells, each of at least a nanosecond: a shorter one would look idle.
pub(super) fn at_most(cells: usize, from: u64, to: u64) -> usize {
    usize::try_from(to - from).map_or(cells, |length| cells.min(length))
}

/// The look that occupies most of each cell, if any does, and of this look the bar with the largest
/// share.
pub(super) fn cells(bars: &[ChartBar], from: u64, to: u64, cells: usize) -> Vec<Option<(Look, JobId)>> {
    #[derive(Clone, Default)]
    struct Cell {
        of_look: [u64; Look::ALL.len()],
        largest: [Option<(u64, JobId)>; Look::ALL.len()],
    }
    let mut shares = vec![Cell::default(); cells];
    for bar in bars {
        for (cell, known) in shares.iter_mut().enumerate().skip(cell_of(from, to, cells, bar.start)) {
            let (start, end) = (cell_start(from, to, cells, cell), cell_start(from, to, cells, cell + 1));
            if start >= bar.end {
                break;
            }
            let share = bar.end.min(end).saturating_sub(bar.start.max(start));
            let Cell { of_look, largest } = known;
            if share > 0 {
                let look = bar.look as usize;
                of_look[look] = of_look[look].saturating_add(share);
                if largest[look].is_none_or(|(known, _)| share > known) {
                    largest[look] = Some((share, bar.job));
                }
            }
        }
    }
    let max = |cell: Cell| {
        let (share, look) = cell.of_look.into_iter().zip(Look::ALL).rev().max_by_key(|&(share, _)| share)?;
        let (_, job) = cell.largest[look as usize].filter(|_| share > 0)?;
        Some((look, job))
    };
    shares.into_iter().map(max).collect()
}

/// The bars at the resolution of `count` cells: adjacent cells with the same occupant become one
/// bar.
pub(super) fn joined(bars: &[ChartBar], from: u64, to: u64, count: usize) -> Vec<ChartBar> {
    let mut joined: Vec<ChartBar> = Vec::new();
    let count = at_most(count, from, to);
    for (cell, occupant) in cells(bars, from, to, count).into_iter().enumerate() {
        let Some((look, job)) = occupant else { continue };
        let (start, end) = (cell_start(from, to, count, cell), cell_start(from, to, count, cell + 1));
        match joined.last_mut() {
            Some(last) if last.end == start && (last.look, last.job) == (look, job) => last.end = end,
            _ => joined.push(ChartBar { start, end, job, look }),
        }
    }
    joined
}
