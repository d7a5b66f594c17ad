//! When the requests of tasks arrive nominally, and how large they are.

use rtflash_model::{Instant, Span};
use rtflash_plan::{
    MAX_REQUEST_PAGES, Options, Phases, Plan, Recurrence, RequestPattern, Source, SourceId, release_gap, release_offset,
};
use rtflash_trace::{JobId, Kind, Policed};

#[derive(Debug)]
pub(crate) struct RequestTimes {
    source: SourceId,
    period: Span,
    seed: u64,
    recurrence: Recurrence,
    offset: Span,
    declared: u64,
    stated: RequestPattern,
    police: bool,
}

impl RequestTimes {
    pub(crate) fn new(options: &Options, number: SourceId, source: &Source, period: Span) -> RequestTimes {
        let stated = options.releases.as_ref();
        let stated = stated.and_then(|pattern| pattern.of(source));
        let drawn = || match options.phases {
            Phases::Periodic | Phases::AtErases => Span::ZERO,
            Phases::Random => release_offset(options.seed, number, period),
        };
        RequestTimes {
            source: number,
            period,
            seed: options.seed,
            recurrence: options.recurrence,
            offset: stated.and_then(|stated| stated.offset).unwrap_or_else(drawn),
            declared: source.read_pages + source.write_pages,
            stated: stated.map_or_else(RequestPattern::default, Clone::clone),
            police: options.police,
        }
    }

    /// T.
    pub(crate) fn period(&self) -> Span {
        self.period
    }

    pub(crate) fn first(&self) -> Instant {
        self.stated.releases.first().copied().unwrap_or(Instant::START.saturating_add(self.offset))
    }

    /// The arrival of the request behind the one of this number, which arrived then.
    pub(crate) fn after(&self, nominal: Instant, index: u64) -> Instant {
        let allowed = nominal.saturating_add(self.period);
        if let Some(came) = self.came(index + 1) {
            return came.max(if self.police { allowed } else { nominal });
        }
        let stated = usize::try_from(index).ok().and_then(|index| self.stated.gaps.get(index));
        let gap = match (stated, self.recurrence) {
            (Some(&gap), _) => gap,
            (None, Recurrence::Periodic) => Span::ZERO,
            (None, Recurrence::Sporadic) => release_gap(self.seed, self.source, index, self.period),
        };
        allowed.saturating_add(gap)
    }

    fn came(&self, index: u64) -> Option<Instant> {
        self.stated.releases.get(usize::try_from(index).ok()?).copied()
    }

    fn asked(&self, index: u64) -> u64 {
        let stated = usize::try_from(index).ok().and_then(|index| self.stated.pages.get(index));
        stated.map_or(self.declared, |&pages| pages.clamp(1, MAX_REQUEST_PAGES))
    }

    pub(crate) fn pages(&self, index: u64) -> u64 {
        let asked = self.asked(index);
        if self.police { asked.min(self.declared) } else { asked }
    }

    /// The police's change to a request that arrives nominally then and is released `at`, if there
    /// is one.
    pub(crate) fn policed(&self, job: JobId, nominal: Instant, at: Instant) -> Option<Policed> {
        let arrived = self.came(job.index).filter(|_| self.police).map_or(nominal, |came| came.min(nominal));
        let pages = self.asked(job.index);
        let untouched = arrived == nominal && pages == self.pages(job.index);
        (!untouched).then_some(Policed { at, job, arrived, pages })
    }
}

/// The arrival of the first write request of the task whose garbage collection this source is: from
/// then on its periods count.
pub(crate) fn collection_starts(plan: &Plan, options: &Options, source: &Source) -> Instant {
    let mut sources = plan.sources().enumerate();
    let of_task = |of: &Source| of.kind == Kind::Write && of.owner == source.owner;
    let writer = sources.find(|(_, of)| of_task(of)).and_then(|(number, of)| Some((number, of, of.period()?)));
    let (number, of, period) = writer.expect("a task with garbage collection writes");
    RequestTimes::new(options, number, of, period.of_request()).first()
}
