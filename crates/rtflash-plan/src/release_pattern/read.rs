//! Release patterns in JSON.

use std::collections::HashMap;

use rtflash_model::reading::{JsonKind, Place, Reader, Slot, quote};
use rtflash_model::{Diagnostics, Instant, PerId, Task, TaskId, TaskSet};

use super::{ReleasePattern, RequestPattern};
use crate::jobs::Kind;
use crate::plan::MAX_REQUEST_PAGES;

const A_PATTERN: &str = "an object that gives each task an object with the offsets of its requests, \
                         such as {\"camera\": {\"read\": \"3ms\", \"write\": \"0ms\"}}";

const AN_OFFSET: &str = "an offset such as \"3ms\", or an object with `offset` or `releases`";

/// Thousandths in the whole.
const WHOLE: u64 = 1_000;

/// An entry for each task, by name, with one for each request: an offset, or an object as
/// [`RequestPattern`]. Errors are all that is wrong.
pub fn read_release_pattern(text: &str, set: &TaskSet) -> Result<ReleasePattern, Diagnostics> {
    open(text, set, true)
}

/// As [`read_release_pattern`], but what is left out is as [`Options`](crate::Options) state.
pub fn read_partial_release_pattern(text: &str, set: &TaskSet) -> Result<ReleasePattern, Diagnostics> {
    open(text, set, false)
}

/// `all`: each request must have an offset.
fn open(text: &str, set: &TaskSet, all: bool) -> Result<ReleasePattern, Diagnostics> {
    let (mut reader, root) = Reader::open(text, A_PATTERN)?;
    let pattern = read(&mut reader, root, set, all);
    if reader.faults() == 0 { Ok(pattern) } else { Err(reader.into_diagnostics()) }
}

fn read<'t>(reader: &mut Reader<'t>, root: &'t str, set: &TaskSet, all: bool) -> ReleasePattern {
    let mut pattern = ReleasePattern::default();
    let place = Place::Root;
    let known: HashMap<&str, TaskId> = set.tasks().enumerate().map(|(id, task)| (task.name.as_str(), id)).collect();
    let mut missing: PerId<TaskId, bool> = PerId::filled(true, set.tasks().count());
    let is_object = reader.entries(root, &place, A_PATTERN, |reader, (key, name), raw, place| {
        let Some(&id) = known.get(name) else {
            let nearest = reader.nearest(name, set.tasks().iter().map(|task| task.name.as_str()));
            let expected = match nearest {
                Some(near) => format!("{}, the nearest of the tasks", quote(&set.tasks().as_slice()[near].name)),
                None => "a task of the set".to_owned(),
            };
            return reader.refuse(key, place, format!("there is no task {}", quote(name)), expected);
        };
        missing[id] = false;
        task(reader, raw, place, id, &set.tasks()[id], all, &mut pattern);
    });
    if is_object && all {
        for (id, _) in missing.enumerate().filter(|&(_, &missing)| missing) {
            reader.refuse_absence(root, &place, &set.tasks()[id].name, "an object with the offsets of its requests");
        }
    }
    pattern
}

fn task<'t>(
    reader: &mut Reader<'t>,
    raw: &'t str,
    place: &Place<'_>,
    id: TaskId,
    task: &Task,
    all: bool,
    pattern: &mut ReleasePattern,
) {
    let Some(slots) = reader.object(raw, place, &["read", "write"]) else { return };
    let requests = [("read", Kind::Read, task.read), ("write", Kind::Write, task.write)];
    for ((name, kind, request), slot) in requests.into_iter().zip(slots) {
        let own = place.key(name);
        match (slot, request) {
            (Slot::Given(value), Some(_)) => {
                if let Some(stated) = of_request(reader, value, &own, all) {
                    *pattern.request_mut(id, kind) = stated;
                }
            }
            (Slot::Given(value), None) => {
                let problem = format!("task {} has no `{name}`", quote(&task.name));
                reader.refuse(value, &own, problem, "the requests that the task has");
            }
            (Slot::Absent, Some(_)) if all => reader.refuse_absence(raw, place, name, AN_OFFSET),
            (Slot::Absent, _) | (Slot::Misspelt, _) => {}
        }
    }
}

/// An offset alone, or an object.
fn of_request<'t>(reader: &mut Reader<'t>, raw: &'t str, place: &Place<'_>, all: bool) -> Option<RequestPattern> {
    match JsonKind::of(raw) {
        JsonKind::Object => {}
        JsonKind::Null | JsonKind::Bool | JsonKind::Array => {
            reader.refuse_kind(raw, place, AN_OFFSET);
            return None;
        }
        JsonKind::Text | JsonKind::Number => {
            return Some(RequestPattern { offset: Some(reader.time(raw, place)?), ..RequestPattern::default() });
        }
    }
    let [offset, gaps, releases, pages, lengths] =
        reader.object(raw, place, &["offset", "gaps", "releases", "pages", "lengths"])?;
    let mut stated = RequestPattern::default();
    if let Some(raw) = releases.or_null().given() {
        stated.releases = self::releases(reader, raw, &place.key("releases"));
    }
    match (offset, stated.releases.is_empty()) {
        (Slot::Given(value), true) => stated.offset = reader.time(value, &place.key("offset")),
        (Slot::Given(value), false) => {
            let problem = "an offset beside `releases`";
            reader.refuse(value, &place.key("offset"), problem, "the first of `releases` alone");
        }
        (_, true) if all => {
            reader.required(offset, raw, place, "offset", "a time such as \"3ms\"")?;
        }
        (_, true | false) => {}
    }
    if let Some(raw) = gaps.or_null().given() {
        reader.list(raw, &place.key("gaps"), "an array of times, such as [\"3ms\", \"0ms\"]", |reader, raw, place| {
            stated.gaps.extend(reader.time(raw, place));
        });
    }
    if let Some(raw) = pages.or_null().given() {
        let expected = "an array of numbers of pages, such as [40, 80]";
        reader.list(raw, &place.key("pages"), expected, |reader, raw, place| {
            let Some(pages) = reader.whole(raw, place, MAX_REQUEST_PAGES) else { return };
            if pages == 0 {
                reader.refuse(raw, place, "a request without pages", "a whole number from 1 up");
            }
            stated.pages.push(pages);
        });
    }
    if let Some(raw) = lengths.or_null().given() {
        let expected = "an array of whole numbers up to 1000, such as [0, 1000]";
        reader.list(raw, &place.key("lengths"), expected, |reader, raw, place| {
            let length = reader.whole(raw, place, WHOLE);
            stated.lengths.extend(length.and_then(|length| u16::try_from(length).ok()));
        });
    }
    Some(stated)
}

fn releases<'t>(reader: &mut Reader<'t>, raw: &'t str, place: &Place<'_>) -> Vec<Instant> {
    let mut releases: Vec<Instant> = Vec::new();
    reader.list(raw, place, "an array of times, such as [\"0ms\", \"3ms\"]", |reader, raw, place| {
        let Some(at) = reader.time(raw, place).map(|after| Instant::START.saturating_add(after)) else { return };
        if releases.last().is_some_and(|&last| at < last) {
            reader.refuse(raw, place, format!("{at} comes behind a later time"), "times in order");
        }
        releases.push(at);
    });
    releases
}

#[cfg(test)]
mod tests {
    use rtflash_model::{Span, read_task_set};

    use super::*;

    fn set() -> TaskSet {
        let text = r#"{"device":"dgist-2021","tasks":[
            {"name":"camera","read":{"pages":4,"period":"36ms"},"write":{"pages":2,"period":"30ms"}},
            {"name":"map","read":{"pages":8,"period":"36ms"}}]}"#;
        read_task_set(text).expect("a set").set
    }

    #[test]
    fn offsets_gaps_and_lengths() {
        let text = r#"{"map":{"read":{"offset":"2us","gaps":["1ms","0ns"],"lengths":[0,1000]}},
            "camera":{"read":"3ms","write":"0ms"}}"#;
        let pattern = read_release_pattern(text, &set()).expect("a pattern");
        let of = |task, kind| pattern.request(TaskId(task), kind).expect("it is stated").clone();
        assert_eq!(of(0, Kind::Read).offset, Some(Span::from_us(3_000)));
        assert_eq!(of(0, Kind::Write).offset, Some(Span::ZERO));
        let map = of(1, Kind::Read);
        assert_eq!((map.offset, map.gaps), (Some(Span::from_us(2)), vec![Span::from_us(1_000), Span::ZERO]));
        assert_eq!(map.lengths, [0, 1_000]);
    }

    #[test]
    fn anything_may_be_left_out_of_a_part() {
        let stated = |text: &str| read_partial_release_pattern(text, &set());
        assert_eq!(stated("{}"), Ok(ReleasePattern::default()));
        let gaps = stated(r#"{"camera":{"write":{"gaps":["1ms"]}}}"#).expect("a pattern");
        let of = gaps.request(TaskId(0), Kind::Write).expect("it is stated");
        assert_eq!((of.offset, of.gaps.as_slice()), (None, [Span::from_us(1_000)].as_slice()));
        assert!(stated(r#"{"camera":{"erase":"1ms"}}"#).is_err());
    }

    #[test]
    fn what_is_wrong_is_named_with_its_place() {
        let camera = r#""camera":{"read":"3ms","write":"0ms"}"#;
        for (text, path, problem) in [
            ("[]".to_owned(), "", "the value is an array"),
            ("{}".to_owned(), "", "missing field `camera`"),
            (format!("{{{camera}}}"), "", "missing field `map`"),
            (format!("{{{camera},\"map\":{{}}}}"), "map", "missing field `read`"),
            (format!("{{{camera},\"map\":{{\"read\":\"1\"}}}}"), "map.read", "`read` is a time without a unit"),
            (format!("{{{camera},\"map\":{{\"read\":7}}}}"), "map.read", "`read` is a time without a unit"),
            (format!("{{{camera},\"map\":{{\"read\":[]}}}}"), "map.read", "`read` is an array"),
            (
                format!("{{{camera},\"map\":{{\"read\":\"1s\",\"write\":\"1s\"}}}}"),
                "map.write",
                "task `map` has no `write`",
            ),
            (format!("{{{camera},\"map\":{{\"read\":\"1s\"}},\"mapp\":{{}}}}"), "mapp", "there is no task `mapp`"),
            (format!("{{{camera},{camera},\"map\":{{\"read\":\"1s\"}}}}"), "camera", "`camera` is given a second time"),
            (format!("{{{camera},\"map\":{{\"read\":{{\"gaps\":[]}}}}}}"), "map.read", "missing field `offset`"),
            (
                format!("{{{camera},\"map\":{{\"read\":{{\"offset\":\"1s\",\"gaps\":[\"1s\",2]}}}}}}"),
                "map.read.gaps[1]",
                "`gaps[1]` is a time without a unit",
            ),
            (
                format!("{{{camera},\"map\":{{\"read\":{{\"releases\":[\"2s\",\"1s\"]}}}}}}"),
                "map.read.releases[1]",
                "1s comes behind a later time",
            ),
            (
                format!("{{{camera},\"map\":{{\"read\":{{\"offset\":\"1s\",\"releases\":[\"2s\"]}}}}}}"),
                "map.read.offset",
                "an offset beside `releases`",
            ),
            (
                format!("{{{camera},\"map\":{{\"read\":{{\"offset\":\"1s\",\"pages\":[1,0]}}}}}}"),
                "map.read.pages[1]",
                "a request without pages",
            ),
            (
                format!("{{{camera},\"map\":{{\"read\":{{\"offset\":\"1s\",\"lengths\":[1001]}}}}}}"),
                "map.read.lengths[0]",
                "`lengths[0]` is too large",
            ),
        ] {
            let wrong = read_release_pattern(&text, &set()).expect_err("it is wrong");
            let first = &wrong.first()[0];
            assert_eq!((first.path.to_string().as_str(), first.problem.as_str()), (path, problem), "{text}");
        }
    }
}
