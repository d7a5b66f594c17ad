//! Release patterns as JSON.

use rtflash_model::{TaskSet, format_ns};
use serde_json::{Map, Value, json};

use super::{ReleasePattern, RequestPattern};
use crate::jobs::Kind;

/// On one line, as [`read_partial_release_pattern`](super::read_partial_release_pattern) reads it.
pub fn write_release_pattern(pattern: &ReleasePattern, set: &TaskSet) -> String {
    let mut tasks = Map::new();
    for (id, task) in set.tasks().enumerate() {
        let requests = [("read", Kind::Read, task.read), ("write", Kind::Write, task.write)];
        let stated = requests.into_iter().filter(|(.., request)| request.is_some()).filter_map(|(name, kind, _)| {
            let stated = pattern.request(id, kind).filter(|&stated| *stated != RequestPattern::default())?;
            Some((name.to_owned(), Value::Object(fields(stated))))
        });
        let stated: Map<String, Value> = stated.collect();
        if !stated.is_empty() {
            tasks.insert(task.name.clone(), Value::Object(stated));
        }
    }
    Value::Object(tasks).to_string()
}

fn fields(stated: &RequestPattern) -> Map<String, Value> {
    let times = |times: &mut dyn Iterator<Item = u64>| -> Value { times.map(format_ns).collect() };
    let RequestPattern { offset, gaps, releases, pages, lengths } = stated;
    let mut fields = Map::new();
    // The first of the releases goes before an offset.
    if let Some(offset) = offset.filter(|_| releases.is_empty()) {
        fields.insert("offset".into(), format_ns(offset.as_ns()).into());
    }
    let lists = [
        ("gaps", gaps.is_empty(), times(&mut gaps.iter().map(|gap| gap.as_ns()))),
        ("releases", releases.is_empty(), times(&mut releases.iter().map(|at| at.as_ns()))),
        ("pages", pages.is_empty(), json!(pages)),
        ("lengths", lengths.is_empty(), json!(lengths)),
    ];
    fields.extend(lists.into_iter().filter(|(_, empty, _)| !empty).map(|(name, _, list)| (name.to_owned(), list)));
    fields
}

#[cfg(test)]
mod tests {
    use rtflash_model::random::Stream;
    use rtflash_model::{Instant, Span, TaskId, read_task_set};

    use super::*;
    use crate::release_pattern::read_partial_release_pattern;

    /// A state is read back as it was written, whatever is stated.
    #[test]
    fn what_is_written_is_read_back() {
        let text = r#"{"device":"dgist-2021","tasks":[
            {"name":"a \"camera\"","read":{"pages":4,"period":"36ms"},"write":{"pages":2,"period":"30ms"}},
            {"name":"map","read":{"pages":8,"period":"36ms"}}]}"#;
        let set = read_task_set(text).expect("a set").set;
        let mut seen = [0; 6];
        for case in 0..900 {
            let mut stream = Stream::numbered(1, b"patterns", case);
            let mut pattern = ReleasePattern::default();
            for (task, kind) in [(0, Kind::Read), (0, Kind::Write), (1, Kind::Read)] {
                let stated = pattern.request_mut(TaskId(task), kind);
                let mut draw = |below| stream.below(below);
                let some = |draw: &mut dyn FnMut(u64) -> u64| (0..draw(3)).collect::<Vec<_>>();
                let span = |ns| Span::from_ns(ns).expect("short");
                stated.offset = (draw(2) > 0).then(|| span(draw(5_000_000_000)));
                stated.gaps = some(&mut draw).into_iter().map(|_| span(draw(3) * 1_000)).collect();
                stated.pages = some(&mut draw).into_iter().map(|_| draw(100) + 1).collect();
                stated.lengths =
                    some(&mut draw).into_iter().map(|_| u16::try_from(draw(1_001)).expect("few")).collect();
                if stated.offset.is_none() {
                    let mut at = Instant::START;
                    for _ in some(&mut draw) {
                        at = at.saturating_add(span(draw(1_000_000)));
                        stated.releases.push(at);
                    }
                }
                let stated = pattern.request(TaskId(task), kind).expect("it is there");
                let fields = [
                    stated.offset.is_some(),
                    !stated.gaps.is_empty(),
                    !stated.releases.is_empty(),
                    !stated.pages.is_empty(),
                    !stated.lengths.is_empty(),
                    *stated == RequestPattern::default(),
                ];
                seen.iter_mut().zip(fields).for_each(|(seen, is)| *seen += usize::from(is));
            }
            let written = write_release_pattern(&pattern, &set);
            let read = read_partial_release_pattern(&written, &set).expect(&written);
            for (task, kind) in [(0, Kind::Read), (0, Kind::Write), (1, Kind::Read)] {
                let stated = |of: &ReleasePattern| of.request(TaskId(task), kind).cloned().unwrap_or_default();
                assert_eq!(stated(&read), stated(&pattern), "{written}");
            }
        }
        assert!(seen.iter().all(|&seen| seen > 5), "{seen:?}");
    }
}
