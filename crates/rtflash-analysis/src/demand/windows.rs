//! Requests in the order in which they are due, and the stretches on which blocking is constant.

use rtflash_model::Span;

use super::{Demand, Segment};
use crate::organisation::processor::Processor;

/// D − J of each request of a processor and its place there, ascending.
pub(super) fn windows(processor: &Processor) -> Vec<(Span, usize)> {
    let mut windows: Vec<(Span, usize)> =
        processor.tasks.iter().enumerate().map(|(place, item)| (item.window(), place)).collect();
    // One number, which is compared without a branch.
    windows.sort_unstable_by_key(|&(window, place)| u128::from(window.as_ns()) << 64 | place as u128);
    windows
}

impl Demand<'_> {
    /// From each time within which something is due to the next, by what comes later.
    pub(super) fn segments_of(&self) -> Vec<Segment> {
        let windows = windows(self.processor);
        let mut segments: Vec<Segment> = Vec::with_capacity(windows.len() + 1);
        let mut blocking = self.always_blocking;
        let mut add = |from: Span, step| {
            if segments.last().is_none_or(|last| last.from != from) {
                segments.push(Segment { from, blocking: blocking.saturating_add(self.repeats) });
            }
            blocking = blocking.max(step);
        };
        let mut of_gc = self.gc.and_then(|gc| Some((gc.deadline?, gc.step)));
        for (from, place) in windows.into_iter().rev() {
            if let Some((deadline, step)) = of_gc.take_if(|&mut (deadline, _)| deadline >= from) {
                add(deadline, step);
            }
            add(from, self.processor.tasks[place].step);
        }
        if let Some((deadline, step)) = of_gc {
            add(deadline, step);
        }
        segments.reverse();
        segments
    }
}
