//! Pages that tasks give back: they hold nothing, and no pass copies them.

use std::cmp::Reverse;

use rtflash_model::{ClusterId, Instant, Lpn, Span};
use rtflash_plan::{Options, Plan};
use rtflash_trace::{Observer, Record, Trimmed};

use super::{CertifiedGroup, RequestEvent};

#[derive(Debug)]
pub(super) struct TaskTrims {
    /// By position in the group.
    cluster: usize,
    first: Lpn,
    length: u64,
    pages: u32,
    every: Span,
}

impl TaskTrims {
    pub(super) fn all(plan: &Plan, clusters: &[ClusterId], options: &Options) -> Vec<TaskTrims> {
        let of_task = options.trims.iter().filter_map(|trim| {
            let (cluster, range) = trim.pages_in(plan, options).ok()?;
            let (cluster, length) = (clusters.binary_search(&cluster).ok()?, u64::from(range.end.0 - range.start.0));
            Some(TaskTrims { cluster, first: range.start, length, pages: trim.pages, every: trim.every })
        });
        of_task.collect()
    }

    /// The pages of the trim with this number, in order.
    fn pages(&self, number: u64) -> impl Iterator<Item = Lpn> + use<> {
        let (first, length) = (self.first.0, self.length);
        let from = number % length * u64::from(self.pages);
        (from..from + u64::from(self.pages))
            .map(move |page| Lpn(first + u32::try_from(page % length).expect("a page of a range")))
    }
}

impl<O: Observer> CertifiedGroup<'_, O> {
    pub(super) fn trim_later(&mut self, which: usize, number: u64, last: Instant) {
        let at = last.saturating_add(self.trims[which].every);
        if at < self.options.duration {
            self.events.push(Reverse((at, RequestEvent::Trim(which, number))));
        }
    }

    /// A trim is at this instant, behind all that ends.
    pub(super) fn trim_is_due(&mut self, which: usize, number: u64, now: Instant) {
        self.trims_due.push((which, number));
        self.trim_later(which, number + 1, now);
    }

    pub(super) fn trim_all(&mut self, now: Instant) {
        let mut due = std::mem::take(&mut self.trims_due);
        for (which, number) in due.drain(..) {
            let of = &self.trims[which];
            let (cluster, pages) = (of.cluster, of.pages(number));
            self.trim_pages(cluster, pages, now);
        }
        self.trims_due = due;
    }

    /// Pages of a cluster hold nothing any more, but for those that their processors have
    /// programmed last.
    pub(super) fn trim_pages(&mut self, cluster: usize, lpns: impl Iterator<Item = Lpn>, now: Instant) {
        let (processors, position) = (self.clusters[cluster].processors.clone(), self.clusters[cluster].position);
        let mut stretch: Option<Trimmed> = None;
        for lpn in lpns {
            let processor = processors.start + lpn.index() % processors.len();
            let kept = !self.processors[processor].store.trim(lpn);
            match &mut stretch {
                Some(last) if last.kept == kept && last.lpn.0 + last.pages == lpn.0 => last.pages += 1,
                _ => {
                    let next = Trimmed { at: now, cluster: position, lpn, pages: 1, kept };
                    let last = stretch.replace(next);
                    last.into_iter().for_each(|last| self.core.observer.push(Record::Trimmed(last)));
                }
            }
        }
        stretch.into_iter().for_each(|last| self.core.observer.push(Record::Trimmed(last)));
    }
}
