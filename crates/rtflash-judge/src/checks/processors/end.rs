//! Jobs that are pending when the run is over.

use rtflash_model::{ChipId, Instant, Span};

use super::Processors;
use crate::shadow::jobs::Pending;

impl Processors {
    /// The run is over, and a job is pending on the only processor of its cluster, that of a chip:
    /// it should not have idled.
    pub(crate) fn end(&mut self, chip: ChipId, duration: Instant, pending: &Pending) {
        let Some(processor) = self.processor(chip) else { return };
        let line = &mut self.lines[processor];
        let last = line.under_way.map_or(Instant::START, |step| step.end);
        let padded = line.paddings.back().map_or(Instant::START, |&(_, end)| end);
        let since = last.max(padded).max(pending.release.at);
        self.idling.note(0, duration.since(since).as_ns(), || pending.place(duration, Some(chip)));
    }

    /// The same of a stripe: a job's pages wait on chips that do not change, from its release on,
    /// so one of them at least has been busy ever since. Garbage collection is the affair of its
    /// own chip.
    pub(crate) fn end_on_chips(&mut self, chips: &[ChipId], duration: Instant, pending: &Pending) {
        let released = pending.release.at;
        let mut shortest = None;
        for &chip in chips {
            let Some(processor) = self.processor(chip) else { continue };
            let line = &mut self.lines[processor];
            let idle = duration.since(line.over().max(released)).max(line.busy_since.since(released));
            shortest = Some(shortest.map_or(idle, |shortest: Span| shortest.min(idle)));
        }
        self.idling.note(0, shortest.map_or(0, Span::as_ns), || pending.place(duration, None));
    }
}
