//! Real-time I/O tasks, and jobs that are not real-time.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::arrivals::Arrivals;
use crate::time::Span;

/// (r, T^r) or (w, T^w): pages every period, due D after the nominal arrival, and released at most
/// J after it, 0 < D and J < min(D, T). D is above T where requests wait in a buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Request {
    pages: u64,
    period: Span,
    access: Access,
    /// D where it is stated; the period where it is not.
    deadline: Option<Span>,
    jitter: Span,
}

/// Which pages a request reads or writes.
// The comments are the schema's descriptions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Access {
    /// Any pages of the task's data.
    #[default]
    Random,
    /// Consecutive pages of the task's own range, from anywhere.
    Sequential,
    /// Consecutive pages from where the request before it ended, round and round in the task's own
    /// range.
    // So do loggers, cameras, and readers of their recordings. In a stripe the range is in whole
    // rows, so that it goes round from the last chip to the first.
    Stream,
}

crate::names! {
    Access {
        Random = "random",
        Sequential = "sequential",
        Stream = "stream",
    }
}

impl Access {
    /// Whether the pages of a request are consecutive.
    pub const fn is_consecutive(self) -> bool {
        match self {
            Access::Random => false,
            Access::Sequential | Access::Stream => true,
        }
    }
}

impl Request {
    /// `pages` every `period`, or `None` where one of them is zero.
    pub fn new(pages: u64, period: Span) -> Option<Request> {
        let request = Request { pages, period, access: Access::Random, deadline: None, jitter: Span::ZERO };
        (pages > 0 && period > Span::ZERO).then_some(request)
    }

    /// This request with another access pattern.
    #[must_use]
    pub fn with_access(self, access: Access) -> Request {
        Request { access, ..self }
    }

    /// Which pages it reads or writes.
    pub fn access(&self) -> Access {
        self.access
    }

    /// r or w: pages a request. Never zero.
    pub fn pages(&self) -> u64 {
        self.pages
    }

    /// T^r or T^w: the period, the least time between two nominal arrivals. Never zero.
    pub fn period(&self) -> Span {
        self.period
    }

    /// D, from the nominal arrival; the period where none is stated. Never zero.
    pub fn deadline(&self) -> Span {
        self.deadline.unwrap_or(self.period)
    }

    /// The relative deadline where it is stated.
    pub fn stated_deadline(&self) -> Option<Span> {
        self.deadline
    }

    /// J, from the nominal arrival to the release; below the deadline and the period.
    pub fn jitter(&self) -> Span {
        self.jitter
    }

    /// D − J: the least time from the release to the deadline. Never zero.
    pub fn window(&self) -> Span {
        self.deadline().saturating_sub(self.jitter)
    }

    /// J = 0 and D ≥ T: a test that supposes D = T is sufficient for it.
    pub fn has_a_whole_period(&self) -> bool {
        self.jitter == Span::ZERO && self.deadline() >= self.period
    }

    /// ⌈D/T⌉: pending requests at the end of an instant, at most (docs/analysis.md, Lemma 6).
    pub fn waiting(&self) -> u64 {
        self.deadline().as_ns().div_ceil(self.period.as_ns())
    }

    /// Sets D; `None` stands for the period. Returns `None` unless J < D.
    pub fn with_deadline(self, deadline: Option<Span>) -> Option<Request> {
        Request { deadline, ..self }.checked()
    }

    /// This request with the release jitter J. Returns `None` unless J < min(D, T).
    pub fn with_jitter(self, jitter: Span) -> Option<Request> {
        Request { jitter, ..self }.checked()
    }

    /// A stated deadline and the jitter stay. `None` if the period is zero, or not above J, or
    /// newly below D: a request that ends before the next one has no buffer for two.
    pub fn with_period(self, period: Span) -> Option<Request> {
        let of = Request { period, ..self }.checked()?;
        (of.deadline() <= period || self.deadline() > self.period).then_some(of)
    }

    /// This request with another number of pages; `None` for zero pages.
    pub fn with_pages(self, pages: u64) -> Option<Request> {
        Request { pages, ..self }.checked()
    }

    fn checked(self) -> Option<Request> {
        let valid = self.pages > 0 && self.jitter < self.deadline().min(self.period);
        valid.then_some(self)
    }
}

/// τ_i = [(r_i, T_i^r), (w_i, T_i^w)]; one of the two can be absent (thesis, Section 4.1.1).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Task {
    /// Its name.
    pub name: String,
    /// Its read request.
    pub read: Option<Request>,
    /// Its write request.
    pub write: Option<Request>,
    /// Its data, which its requests read and write; `None`: unknown. At least one, at most the
    /// device's, and no fewer than a sequential request has.
    pub data_pages: Option<u64>,
}

impl Task {
    /// Its read and its write request, as far as it has them, each with whether it writes.
    #[inline]
    pub fn requests(&self) -> impl Iterator<Item = (Request, bool)> {
        self.read.map(|read| (read, false)).into_iter().chain(self.write.map(|write| (write, true)))
    }

    /// Pages that it keeps: those that it declares, or one.
    pub fn kept_pages(&self) -> u64 {
        self.data_pages.unwrap_or(1)
    }

    /// Zones of `zone_pages` pages that its data fill, and one more if it writes, which is reset
    /// while the others are kept.
    pub fn zones(&self, zone_pages: u64) -> u64 {
        self.kept_pages().div_ceil(zone_pages.max(1)) + u64::from(self.write.is_some())
    }

    /// Whether it can own zones: what it writes, if anything, is a stream.
    pub fn fits_zones(&self) -> bool {
        self.write.is_none_or(|write| write.access() == Access::Stream)
    }

    /// Every request has J = 0 and D ≥ T.
    pub fn has_whole_periods(&self) -> bool {
        self.requests().all(|(request, _)| request.has_a_whole_period())
    }
}

/// A stream of I/O jobs that are not real-time, J_j = (r_j, w_j) each (thesis, Section 4.1.2).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job {
    /// Its name.
    pub name: String,
    /// r_j: pages that each job reads. May be zero where `write_pages` is not.
    pub read_pages: u64,
    /// w_j: pages that each job writes. May be zero where `read_pages` is not.
    pub write_pages: u64,
    /// When they arrive.
    pub arrivals: Arrivals,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(pages: u64, us: u32) -> Option<Request> {
        Request::new(pages, Span::from_us(us))
    }

    #[test]
    fn jitters_are_below_the_deadline_and_the_period() {
        let us = Span::from_us;
        let plain = request(3, 10).unwrap();
        assert_eq!((plain.deadline(), plain.jitter(), plain.window()), (us(10), Span::ZERO, us(10)));
        assert!(plain.has_a_whole_period() && plain.stated_deadline().is_none());
        let due = plain.with_deadline(Some(us(8))).unwrap();
        assert_eq!((due.deadline(), due.stated_deadline(), due.has_a_whole_period()), (us(8), Some(us(8)), false));
        assert!(plain.with_deadline(Some(us(10))).unwrap().has_a_whole_period());
        // In a buffer of several.
        let buffered = plain.with_deadline(Some(us(25))).unwrap();
        assert_eq!((buffered.deadline(), buffered.window(), buffered.has_a_whole_period()), (us(25), us(25), true));
        assert_eq!([due, plain, buffered].map(|of| of.waiting()), [1, 1, 3]);
        assert_eq!(buffered.with_jitter(us(9)).map(|of| (of.window(), of.has_a_whole_period())), Some((us(16), false)));
        assert_eq!(buffered.with_jitter(us(10)), None);
        assert_eq!(plain.with_deadline(Some(Span::ZERO)), None);
        let late = due.with_jitter(us(7)).unwrap();
        assert_eq!((late.jitter(), late.window(), late.has_a_whole_period()), (us(7), us(1), false));
        assert_eq!(due.with_jitter(us(8)), None);
        assert!(!plain.with_jitter(us(1)).unwrap().has_a_whole_period());
        // A deadline that is stated stays where the period changes; one that is not follows it.
        assert_eq!(due.with_period(us(20)).unwrap().deadline(), us(8));
        assert_eq!(plain.with_period(us(20)).unwrap().deadline(), us(20));
        assert_eq!(due.with_period(us(7)), None);
        assert_eq!(buffered.with_period(us(7)).map(|of| of.waiting()), Some(4));
        assert_eq!(plain.with_jitter(us(5)).unwrap().with_period(us(5)), None);
        assert_eq!((plain.with_period(Span::ZERO), plain.with_pages(0)), (None, None));
        let task = Task { name: "a".into(), read: Some(plain), write: Some(due), data_pages: None };
        assert!(!task.has_whole_periods() && task.requests().count() == 2);
    }
}
