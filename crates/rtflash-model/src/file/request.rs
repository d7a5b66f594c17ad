//! Requests: pages or bytes, a period or a rate.

use super::place::{Place, Slot};
use super::reader::Reader;
use crate::capped::capped;
use crate::task::{Access, Request};
use crate::time::Span;

/// The substitute for a number of pages that is wrong.
const A_PAGE: u64 = 1;

pub(super) const SHORTEST: Span = Span::from_ns(1).expect("one is below 2^63");

/// How much a request moves, or a task keeps. Above zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Amount {
    Pages(u64),
    /// Bytes: as many pages as they fill, the last one perhaps in part.
    Bytes(u64),
}

pub(super) fn refuse_both(reader: &mut Reader<'_>, raw: &str, place: &Place<'_>, [one, other]: [&'static str; 2]) {
    let problem = format!("`{other}` is given beside `{one}`");
    reader.refuse(raw, &place.key(other), problem, format!("`{one}` or `{other}`, not both"));
}

/// Pages, or bytes. `None` where neither is given, or where something wrong has been recorded.
pub(super) fn amount<'t>(
    reader: &mut Reader<'t>,
    [pages, bytes]: [(&'static str, Slot<'t>); 2],
    place: &Place<'_>,
) -> Option<Amount> {
    match (pages.1.or_null(), bytes.1.or_null()) {
        (Slot::Given(_), Slot::Given(raw)) => {
            refuse_both(reader, raw, place, [pages.0, bytes.0]);
            None
        }
        (Slot::Given(raw), _) => {
            let place = place.key(pages.0);
            let pages = reader.whole(raw, &place, u64::MAX)?;
            above_zero(reader, raw, &place, pages, "zero pages", "a whole number from 1 up").map(Amount::Pages)
        }
        (_, Slot::Given(raw)) => {
            let place = place.key(bytes.0);
            let bytes = reader.bytes(raw, &place)?;
            above_zero(reader, raw, &place, bytes, "zero bytes", "a size above zero, such as \"640KiB\"")
                .map(Amount::Bytes)
        }
        _ => None,
    }
}

fn above_zero(
    reader: &mut Reader<'_>,
    raw: &str,
    place: &Place<'_>,
    number: u64,
    problem: &str,
    expected: &str,
) -> Option<u64> {
    if number == 0 {
        reader.refuse(raw, place, problem, expected);
    }
    (number > 0).then_some(number)
}

const FIELDS: [&str; 8] = ["pages", "period", "deadline", "jitter", "access", "size", "every", "rate"];

/// Stand-ins for what is wrong, which has been recorded; `None` where there is none. `page_size` is
/// unknown where the device is wrong.
pub(super) fn request<'t>(
    reader: &mut Reader<'t>,
    slot: Slot<'t>,
    place: &Place<'_>,
    page_size: Option<u64>,
) -> Option<Request> {
    let raw = match slot.or_null() {
        Slot::Absent => return None,
        Slot::Misspelt => return Request::new(1, SHORTEST),
        Slot::Given(raw) => raw,
    };
    let Some([pages, period, due, late, pattern, size, every, rate]) = reader.object(raw, place, &FIELDS) else {
        return Request::new(1, SHORTEST);
    };
    let volume = Volume { pages, size, period, every, rate };
    let (pages, period) = volume.read(reader, raw, place, page_size);
    let pattern = match pattern.or_null() {
        Slot::Given(raw) => access(reader, raw, &place.key("access")),
        _ => None,
    };
    // Stand-ins for what is wrong, so that the other fields are checked all the same.
    let known = Request::new(pages.unwrap_or(A_PAGE), period.unwrap_or(SHORTEST))?;
    let known = if let Some(access) = pattern { known.with_access(access) } else { known };
    let known = deadline(reader, due.or_null(), known, place);
    Some(jitter(reader, late.or_null(), known, period, place))
}

/// How much a request moves, and how often: two of amount, period and rate.
struct Volume<'t> {
    pages: Slot<'t>,
    size: Slot<'t>,
    period: Slot<'t>,
    every: Slot<'t>,
    rate: Slot<'t>,
}

impl<'t> Volume<'t> {
    fn read(
        self,
        reader: &mut Reader<'t>,
        raw: &'t str,
        place: &Place<'_>,
        page_size: Option<u64>,
    ) -> (Option<u64>, Option<Span>) {
        let Volume { pages, size, period, every, rate } = self;
        let is_there = |slots: [Slot<'_>; 2]| slots.iter().any(|slot| slot.or_null() != Slot::Absent);
        let (has_amount, has_period) = (is_there([pages, size]), is_there([period, every]));
        let amount = amount(reader, [("pages", pages), ("size", size)], place);
        let span = time_between(reader, period, every, place);
        let of = |amount: Amount| match amount {
            Amount::Pages(pages) => Some(pages),
            Amount::Bytes(bytes) => page_size.map(|page_size| bytes.div_ceil(page_size)),
        };
        let Slot::Given(rate_raw) = rate.or_null() else {
            if rate.or_null() == Slot::Absent {
                if !has_amount {
                    reader.refuse_absence(raw, place, "pages", "how many pages each request has");
                }
                if !has_period {
                    reader.refuse_absence(raw, place, "period", "a time with its unit, such as \"36ms\"");
                }
            }
            return (amount.and_then(of), span);
        };
        let rate_place = place.key("rate");
        let bytes_a_second = reader.rate(rate_raw, &rate_place);
        match (has_amount, has_period) {
            (true, true) => {
                let problem = "`rate` is given beside an amount and a period";
                reader.refuse(rate_raw, &rate_place, problem, "two of the three: the third follows from them");
                (amount.and_then(of), span)
            }
            (false, false) => {
                let problem = "a rate alone does not say how large a request is";
                let expected =
                    "beside it how much a request has (`pages` or `size`), or how often it comes (`period` or `every`)";
                reader.refuse(rate_raw, &rate_place, problem, expected);
                (None, None)
            }
            (true, false) => {
                let pages = amount.and_then(of);
                let bytes = match amount {
                    Some(Amount::Bytes(bytes)) => Some(u128::from(bytes)),
                    _ => pages.zip(page_size).map(|(pages, size)| u128::from(pages) * u128::from(size)),
                };
                let exact = bytes.zip(bytes_a_second);
                (pages, exact.and_then(|(bytes, rate)| period_at(reader, rate_raw, &rate_place, bytes, rate)))
            }
            (false, true) => {
                let exact = span.zip(bytes_a_second).zip(page_size);
                (exact.map(|((span, rate), page_size)| pages_at(span, rate, page_size)), span)
            }
        }
    }
}

/// Rounded down, so that the request moves at least the stated rate.
fn period_at(reader: &mut Reader<'_>, raw: &str, place: &Place<'_>, bytes: u128, rate: u64) -> Option<Span> {
    let period = bytes.checked_mul(1_000_000_000).map(|bytes| bytes / u128::from(rate));
    let period = period.and_then(|period| u64::try_from(period).ok()).and_then(Span::from_ns);
    period.filter(|&period| period > Span::ZERO).or_else(|| {
        let problem = format!("{bytes} bytes a request at this rate make no period");
        reader.refuse(raw, place, problem, "a period from 1 ns to 2^63 ns");
        None
    })
}

/// The pages that a rate fills in a period, the last one perhaps in part.
fn pages_at(period: Span, rate: u64, page_size: u64) -> u64 {
    // Both are below 2⁶⁴. A number of more than 64 bits exceeds every device.
    let bytes = (u128::from(rate) * u128::from(period.as_ns())).div_ceil(1_000_000_000);
    capped(bytes.div_ceil(page_size.into()))
}

/// The period: exactly, or as a share such as 1/30s.
fn time_between<'t>(reader: &mut Reader<'t>, period: Slot<'t>, every: Slot<'t>, place: &Place<'_>) -> Option<Span> {
    match (period.or_null(), every.or_null()) {
        (Slot::Given(_), Slot::Given(raw)) => {
            refuse_both(reader, raw, place, ["period", "every"]);
            None
        }
        (Slot::Given(raw), _) => above_zero_time(reader, raw, &place.key("period"), "period"),
        (_, Slot::Given(raw)) => {
            let place = place.key("every");
            let time = reader.share_of_time(raw, &place)?;
            if time == Span::ZERO {
                reader.refuse(raw, &place, "a period of zero", "a time above zero, such as \"1/30s\"");
            }
            (time > Span::ZERO).then_some(time)
        }
        _ => None,
    }
}

fn deadline<'t>(reader: &mut Reader<'t>, slot: Slot<'t>, request: Request, place: &Place<'_>) -> Request {
    let Slot::Given(raw) = slot else { return request };
    let stated = above_zero_time(reader, raw, &place.key("deadline"), "deadline");
    stated.and_then(|deadline| request.with_deadline(Some(deadline))).unwrap_or(request)
}

/// `period` is `None` where it could not be read, and nothing is compared with it.
fn jitter<'t>(
    reader: &mut Reader<'t>,
    slot: Slot<'t>,
    request: Request,
    period: Option<Span>,
    place: &Place<'_>,
) -> Request {
    let Slot::Given(raw) = slot else { return request };
    let place = place.key("jitter");
    let Some((jitter, _)) = reader.time(raw, &place).zip(period) else { return request };
    request.with_jitter(jitter).unwrap_or_else(|| {
        let (due, period) = (request.deadline(), request.period());
        let (problem, most) = if jitter < due {
            (
                format!("a jitter of {jitter} lets a request come behind the next one, a period of {period} later"),
                period,
            )
        } else {
            (format!("a jitter of {jitter} leaves a request no time before its deadline of {due}"), due.min(period))
        };
        reader.refuse(raw, &place, problem, format!("a time below {most}"));
        request
    })
}

fn access<'t>(reader: &mut Reader<'t>, raw: &'t str, place: &Place<'_>) -> Option<Access> {
    let (names, either) = (Access::ALL.map(Access::name), "`random`, `sequential` or `stream`");
    let found = reader.named(raw, place, &names, either, |name| format!("there is no access pattern {name}"));
    found.map(|at| Access::ALL[at])
}

fn above_zero_time(reader: &mut Reader<'_>, raw: &str, place: &Place<'_>, what: &str) -> Option<Span> {
    let time = reader.time(raw, place)?;
    if time == Span::ZERO {
        reader.refuse(raw, place, format!("a {what} of zero"), "a time above zero, such as \"36ms\"");
    }
    (time > Span::ZERO).then_some(time)
}
