//! The policeman of one source of requests: commands of clients wait here, and leave as requests
//! that the certificate allows.
//!
//! A request arrives nominally a period after the one before at the earliest, has as many pages as
//! declared at most, and its pages lie as the task's access says. Commands that come early wait;
//! larger ones are cut; smaller ones share a request where their pages may. So whatever clients
//! do, what the device sees is a sporadic task with requests that are no larger than declared, and
//! such tasks keep their deadlines, and their neighbours' (docs/analysis.md, "Sustainability").

use std::collections::VecDeque;

use rtflash_model::{Instant, Span};
use rtflash_plan::{Plan, Releases, SourceId};

use crate::export::PageRule;

/// The number of a client's command.
pub(crate) type Ticket = u64;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct WaitingPages {
    ticket: Ticket,
    first: u32,
    pages: u32,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AllowedRequest {
    pub nominal: Instant,
    pub pages: Vec<u32>,
    /// How many of them are whose.
    pub shares: Vec<(Ticket, u32)>,
}

/// Commands that wait for one source of requests.
#[derive(Debug)]
pub(crate) struct Policeman {
    /// w.
    declared: u32,
    period: Span,
    jitter: Span,
    rule: PageRule,
    waiting: VecDeque<WaitingPages>,
    /// When the next request may arrive nominally.
    free_from: Instant,
    /// The chip on which a stream goes on.
    column: u32,
}

impl Policeman {
    pub(crate) fn new(plan: &Plan, source: SourceId) -> Option<Policeman> {
        let of = plan.sources().get(source)?;
        let Releases::Periodic(period) = of.releases else { return None };
        let period = period.numerator().checked_div(period.denominator())?;
        Some(Policeman {
            declared: u32::try_from(of.read_pages + of.write_pages).expect("a plan has no longer requests"),
            period: Span::from_ns(u64::try_from(period).ok()?)?,
            jitter: of.jitter,
            rule: PageRule::of(plan, of),
            waiting: VecDeque::new(),
            free_from: Instant::START,
            column: 0,
        })
    }

    pub(crate) fn wait(&mut self, ticket: Ticket, first: u32, pages: u32) {
        self.waiting.push_back(WaitingPages { ticket, first, pages });
    }

    /// When the next request may leave; `None` where nothing waits.
    pub(crate) fn next(&self) -> Option<Instant> {
        self.waiting.front().map(|_| self.free_from)
    }

    /// Nothing of these commands leaves from now on. Says how many pages of whose.
    pub(crate) fn withdraw(&mut self, is_gone: impl Fn(Ticket) -> bool) -> Vec<(Ticket, u32)> {
        let all = self.waiting.drain(..);
        let (gone, left): (Vec<_>, Vec<_>) = all.partition(|waiting| is_gone(waiting.ticket));
        self.waiting = left.into();
        gone.into_iter().map(|waiting| (waiting.ticket, waiting.pages)).collect()
    }

    /// A stream turns towards the chip of its next page in periods without a request: the shaper
    /// counts them as requests for pages that are skipped.
    fn turn(&mut self, now: Instant) {
        let (PageRule::Stream { chips }, Some(next)) = (self.rule, self.waiting.front()) else { return };
        let mut skipped = (next.first % chips + chips - self.column) % chips;
        while skipped > 0 && self.free_from.saturating_add(self.period) <= now.saturating_sub(self.jitter) {
            let turned = skipped.min(self.declared);
            self.column = (self.column + turned) % chips;
            skipped -= turned;
            self.free_from = self.free_from.saturating_add(self.period);
        }
    }

    /// The request that leaves now, if one may.
    pub(crate) fn take(&mut self, now: Instant) -> Option<AllowedRequest> {
        self.turn(now);
        while self.free_from <= now && !self.waiting.is_empty() {
            // As early as its jitter allows: the next one may come so much sooner.
            let nominal = self.free_from.max(now.saturating_sub(self.jitter));
            self.free_from = nominal.saturating_add(self.period);
            let (pages, shares) = self.cut();
            // A stream that has to turn to another chip may take a whole request for that.
            if !pages.is_empty() {
                return Some(AllowedRequest { nominal, pages, shares });
            }
        }
        None
    }

    /// The pages of the next request.
    fn cut(&mut self) -> (Vec<u32>, Vec<(Ticket, u32)>) {
        let (mut left, mut pages, mut shares) = (self.declared, Vec::new(), Vec::new());
        while let Some(next) = self.waiting.front_mut().filter(|_| left > 0) {
            let before = pages.last().map(|&last: &u32| last + 1);
            match self.rule {
                PageRule::Any => {}
                PageRule::Consecutive if before.is_none_or(|before| before == next.first) => {}
                PageRule::Consecutive => break,
                PageRule::Stream { chips } => {
                    // Pages that it does without, up to the chip of the next one.
                    let skipped = (next.first % chips + chips - self.column) % chips;
                    self.column = (self.column + skipped.min(left)) % chips;
                    left -= skipped.min(left);
                }
            }
            let taken = next.pages.min(left);
            if taken == 0 {
                break;
            }
            pages.extend(next.first..next.first + taken);
            shares.push((next.ticket, taken));
            if let PageRule::Stream { chips } = self.rule {
                self.column = (self.column + taken % chips) % chips;
            }
            left -= taken;
            (next.first, next.pages) = (next.first + taken, next.pages - taken);
            if next.pages == 0 {
                self.waiting.pop_front();
            }
        }
        (pages, shares)
    }
}

#[cfg(test)]
mod tests {
    use rtflash_model::random::Stream;

    use super::*;

    fn at(ns: u64) -> Instant {
        Instant::from_ns(ns).expect("an instant")
    }

    fn policeman(declared: u32, rule: PageRule) -> Policeman {
        let span = |ns| Span::from_ns(ns).expect("a span");
        Policeman {
            declared,
            period: span(10),
            jitter: span(3),
            rule,
            waiting: VecDeque::new(),
            free_from: Instant::START,
            column: 0,
        }
    }

    /// When requests leave, with their nominal arrivals and pages.
    fn all(policeman: &mut Policeman, from: u64) -> Vec<(u64, u64, Vec<u32>)> {
        let mut left = Vec::new();
        while let Some(next) = policeman.next() {
            let now = next.max(at(from));
            if let Some(request) = policeman.take(now) {
                left.push((now.as_ns(), request.nominal.as_ns(), request.pages));
            }
        }
        left
    }

    #[test]
    fn what_is_too_large_is_cut_and_what_comes_early_waits() {
        let mut of = policeman(4, PageRule::Any);
        of.wait(1, 7, 9);
        of.wait(2, 0, 2);
        // Late by its jitter at most: the second one may come as if the first had come at 97.
        assert_eq!(
            all(&mut of, 100),
            [(100, 97, vec![7, 8, 9, 10]), (107, 107, vec![11, 12, 13, 14]), (117, 117, vec![15, 0, 1])]
        );
    }

    #[test]
    fn only_what_goes_on_shares_a_sequential_request() {
        let mut of = policeman(4, PageRule::Consecutive);
        of.wait(1, 7, 1);
        of.wait(2, 8, 1);
        of.wait(3, 2, 1);
        assert_eq!(all(&mut of, 0), [(0, 0, vec![7, 8]), (10, 10, vec![2])]);
    }

    #[test]
    fn a_stream_does_without_pages_where_it_jumps() {
        let mut of = policeman(3, PageRule::Stream { chips: 4 });
        of.wait(1, 0, 4);
        // The next page would be on chip 0: to chip 2 it does without two.
        of.wait(2, 6, 1);
        of.wait(3, 7, 2);
        assert_eq!(all(&mut of, 0), [(0, 0, vec![0, 1, 2]), (10, 10, vec![3]), (20, 20, vec![6, 7, 8])]);
        // To the chip before it needs a request of its own for three.
        of.wait(4, 0, 1);
        assert_eq!(all(&mut of, 30), [(40, 40, vec![0])]);
        // Or a period that has gone by, the last one but 3.
        of.wait(5, 0, 1);
        assert_eq!(all(&mut of, 62), [(69, 69, vec![0])]);
        of.wait(6, 0, 1);
        assert_eq!(all(&mut of, 93), [(93, 90, vec![0])]);
    }

    /// γ of docs/analysis.md, Section 3.1: of any requests in a row a chip gets no more pages than
    /// an s-th, rounded up, of those that a stream could have asked for in the time.
    #[test]
    fn no_chip_gets_more_of_a_stream_than_its_share() {
        let mut stream = Stream::numbered(1, b"police\0\0", 0);
        let mut below = |bound: u64| u32::try_from(stream.below(bound)).expect("small");
        let mut left = 0;
        for _ in 0..4_000 {
            let (chips, declared) = (1 + below(5), 1 + below(4));
            let mut of = policeman(declared, PageRule::Stream { chips });
            let (mut now, mut requests, aims) = (0, Vec::new(), below(2) == 0);
            for ticket in 0..12 {
                let pause = [1, 12, 25, 60][below(4) as usize];
                now += u64::from(below(pause));
                let (first, pages) = if aims { (chips * below(9), 1) } else { (below(40), 1 + below(5)) };
                of.wait(ticket, first, pages);
                while let Some(next) = of.next().filter(|&next| next <= at(now)) {
                    requests.extend(of.take(next.max(at(now))));
                }
            }
            while let Some(next) = of.next() {
                requests.extend(of.take(next.max(at(now))));
            }
            left += requests.len();
            for from in 0..requests.len() {
                let mut on = vec![0; chips as usize];
                for request in &requests[from..] {
                    request.pages.iter().for_each(|page| on[(page % chips) as usize] += 1);
                    let slots = request.nominal.since(requests[from].nominal).as_ns() / 10 + 1;
                    let share = (slots * u64::from(declared)).div_ceil(chips.into());
                    assert!(on.iter().all(|&pages| pages <= share), "{declared} on {chips}: {requests:?}");
                }
            }
        }
        assert!(left > 30_000, "{left}");
    }

    #[test]
    fn what_is_withdrawn_does_not_leave() {
        let mut of = policeman(4, PageRule::Any);
        of.wait(1, 0, 6);
        of.wait(2, 8, 1);
        assert_eq!(of.take(at(3)).map(|request| request.shares), Some(vec![(1, 4)]));
        assert_eq!(of.withdraw(|ticket| ticket == 1), [(1, 2)]);
        assert_eq!(all(&mut of, 10), [(10, 10, vec![8])]);
    }
}
