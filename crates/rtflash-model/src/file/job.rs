//! Jobs that are not real-time, and names.

use super::place::{Place, Slot, quoted};
use super::reader::Reader;
use super::request::{Amount, SHORTEST, amount, refuse_both};
use crate::arrivals::Arrivals;
use crate::task::Job;
use crate::time::Instant;

/// A name for an entry without one. No user writes such a name, so it causes no further fault.
pub(super) fn stand_in_name(reader: &Reader<'_>, raw: &str) -> String {
    format!("\0{}", reader.range(raw).start)
}

pub(super) fn name<'t>(reader: &mut Reader<'t>, slot: Slot<'t>, raw: &str, place: &Place<'_>) -> String {
    reader
        .required(slot, raw, place, "name", "a string that tells it from the others")
        .and_then(|name| reader.string(name, &place.key("name"), "a string"))
        .unwrap_or_else(|| stand_in_name(reader, raw))
}

/// A job stream; with stand-ins for what is wrong in it, which has been recorded.
pub(super) fn job<'t>(reader: &mut Reader<'t>, raw: &'t str, place: &Place<'_>, page_size: Option<u64>) -> Job {
    let fields = ["name", "read_pages", "write_pages", "arrivals", "read_size", "write_size"];
    let fields = reader.object(raw, place, &fields);
    let Some([name_slot, read, write, arrivals_slot, read_size, write_size]) = fields else {
        let name = stand_in_name(reader, raw);
        return Job { name, read_pages: 1, write_pages: 0, arrivals: Arrivals::Every(SHORTEST) };
    };
    let arrivals = reader
        .required(arrivals_slot, raw, place, "arrivals", "when its jobs come, such as { \"every\": \"12.5ms\" }")
        .and_then(|raw| arrivals(reader, raw, &place.key("arrivals")));
    Job {
        name: name(reader, name_slot, raw, place),
        read_pages: job_pages(reader, [("read_pages", read), ("read_size", read_size)], place, page_size),
        write_pages: job_pages(reader, [("write_pages", write), ("write_size", write_size)], place, page_size),
        arrivals: arrivals.unwrap_or(Arrivals::Every(SHORTEST)),
    }
}

/// As stated, or what the stated bytes fill; none if neither is given.
fn job_pages<'t>(
    reader: &mut Reader<'t>,
    [pages, size]: [(&'static str, Slot<'t>); 2],
    place: &Place<'_>,
    page_size: Option<u64>,
) -> u64 {
    match (pages.1.or_null(), size.1.or_null()) {
        (Slot::Absent, Slot::Absent) => 0,
        (Slot::Given(raw), Slot::Absent) => reader.whole(raw, &place.key(pages.0), u64::MAX).unwrap_or(1),
        (Slot::Absent, Slot::Given(_)) => match amount(reader, [pages, size], place).zip(page_size) {
            Some((Amount::Bytes(bytes), page_size)) => bytes.div_ceil(page_size),
            _ => 1,
        },
        (Slot::Given(_), Slot::Given(raw)) => {
            refuse_both(reader, raw, place, [pages.0, size.0]);
            1
        }
        _ => 1,
    }
}

const ARRIVALS: [&str; 5] = ["every", "uniform", "poisson", "at", "burst"];

fn arrivals<'t>(reader: &mut Reader<'t>, raw: &'t str, place: &Place<'_>) -> Option<Arrivals> {
    let slots = reader.object(raw, place, &ARRIVALS)?;
    match slots {
        [Slot::Given(every), Slot::Absent, Slot::Absent, Slot::Absent, burst] => {
            let every = reader.share_of_time(every, &place.key("every"));
            match burst {
                Slot::Absent => every.map(Arrivals::Every),
                Slot::Misspelt => None,
                Slot::Given(burst) => {
                    let burst = reader.whole(burst, &place.key("burst"), u64::MAX);
                    every.zip(burst).map(|(every, burst)| Arrivals::Bursts { every, burst })
                }
            }
        }
        [Slot::Absent, Slot::Given(uniform), Slot::Absent, Slot::Absent, Slot::Absent] => {
            gaps(reader, uniform, &place.key("uniform"))
        }
        [Slot::Absent, Slot::Absent, Slot::Given(mean), Slot::Absent, Slot::Absent] => {
            reader.share_of_time(mean, &place.key("poisson")).map(Arrivals::Poisson)
        }
        [Slot::Absent, Slot::Absent, Slot::Absent, Slot::Given(at), Slot::Absent] => {
            instants(reader, at, &place.key("at"))
        }
        _ => {
            if !slots.contains(&Slot::Misspelt) {
                let given = ARRIVALS.iter().zip(slots).filter(|(_, slot)| *slot != Slot::Absent);
                let given: Vec<&str> = given.map(|(name, _)| *name).collect();
                let problem = match given.as_slice() {
                    [] => "arrivals of no kind".to_owned(),
                    given => format!("arrivals of several kinds: {}", quoted(given)),
                };
                reader.refuse(
                    raw,
                    place,
                    problem,
                    "exactly one of `every`, `uniform`, `poisson` and `at`; `burst` with `every`",
                );
            }
            None
        }
    }
}

fn gaps<'t>(reader: &mut Reader<'t>, raw: &'t str, place: &Place<'_>) -> Option<Arrivals> {
    const TWO_GAPS: &str = "an array of two times, the shorter gap first";
    let mut gaps = Vec::new();
    let before = reader.faults();
    reader.list(raw, place, TWO_GAPS, |reader, raw, place| gaps.push(reader.time(raw, place)));
    if reader.faults() == before && gaps.len() != 2 {
        reader.refuse(raw, place, format!("`uniform` has {} elements", gaps.len()), TWO_GAPS);
    }
    match gaps.as_slice() {
        [Some(low), Some(high)] => Some(Arrivals::Uniform(*low, *high)),
        _ => None,
    }
}

fn instants<'t>(reader: &mut Reader<'t>, raw: &'t str, place: &Place<'_>) -> Option<Arrivals> {
    let mut times = Vec::new();
    let before = reader.faults();
    reader.list(raw, place, "an array of times", |reader, raw, place| {
        times.extend(reader.time(raw, place).and_then(|time| Instant::from_ns(time.as_ns())));
    });
    (reader.faults() == before).then_some(Arrivals::At(times))
}
