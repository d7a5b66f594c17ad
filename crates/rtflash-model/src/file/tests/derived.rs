//! The reader by serde against the one with carets.

use proptest::prelude::*;

use super::GOOD;
use crate::file::derived;
use crate::file::set::read_thoroughly;

const LINES: [&str; 4] = [
    r#"{"device":"dgist-2021","tasks":[{"name":"t1","read":{"pages":87,"period":"437.850179ms"},"write":{"pages":2,"period":"1s"}},{"name":"é","read":{"pages":21,"period":"457.027379ms"}}],"meta":{"utilization":0.1,"index":0}}"#,
    r#" { "meta" : null, "jobs": null, "tasks": [ { "write": { "access" : "sequential", "period": "12.5 ms", "pages": 3 , "jitter": "0ns" }, "data_pages": 5, "name": "a" } ] , "device": {"profile":"dgist-2021", "chips": 4} } "#,
    r#"{"tasks":[{"read":{"pages":1,"period":"10ms","deadline":"8ms","jitter":"1ms","access":"random"},"name":"b"}],"jobs":[{"name":"log","write_size":"1MB","arrivals":{"every":"1/30s"}}],"device":"mt29f4g08abada-slc"}"#,
    GOOD,
];

/// Whether serde reads a text. The reader with carets reads such a text alike.
fn is_read(text: &str) -> bool {
    let Some((set, meta)) = derived::task_set(text) else { return false };
    let file = read_thoroughly(text).unwrap_or_else(|wrong| panic!("{text}: {wrong}"));
    assert_eq!(
        (&file.set, file.meta.as_deref().map(|raw| raw.get())),
        (&set, meta.as_deref().map(|raw| raw.get())),
        "{text}"
    );
    true
}

#[test]
fn right_texts_are_read_and_others_left() {
    assert!(LINES.into_iter().all(is_read));
    assert!(is_read(r#"{"device":"dgist-2021","tasks":[]}"#));
    let line = LINES[0];
    for (old, new) in [
        // Left to the other reader.
        ("t1", "\\u0074"),
        ("\"pages\":87", "\"size\":\"1MB\""),
        ("{\"device\"", "\u{feff}{\"device\""),
        // Wrong.
        ("}}", "}}}"),
        ("\"pages\":87", "\"pages\":0"),
        ("\"pages\":87", "\"pages\":087"),
        ("\"pages\":87", "\"pages\":87.0"),
        ("\"pages\":87", "\"pages\":87,\"pages\":87"),
        ("\"pages\":87", "\"pages\":9999999999999999999"),
        ("\"pages\":87", "\"pages\":87,\"deadline\":\"0ms\""),
        ("\"pages\":87", "\"pages\":87,\"jitter\":\"1s\""),
        ("\"pages\":87", "\"pages\":87,\"access\":\"any\""),
        ("179ms", "179"),
        ("\"1s\"", "\"0s\""),
        ("t1", "é"),
        ("t1", ""),
        ("t1", "\u{1}"),
        ("dgist", "digst"),
        ("{\"utilization\"", "{utilization"),
        (",\"meta\"", ",\"jobs\":[{\"name\":\"log\"}],\"meta\""),
        (",\"meta\"", ",\"jobs\":{},\"meta\""),
    ] {
        assert!(line.contains(old));
        assert!(!is_read(&line.replace(old, new)), "{new}");
    }
}

proptest! {
    #[test]
    fn both_readers_read_changed_texts_alike(
        line in proptest::sample::select(LINES.to_vec()),
        changes in proptest::collection::vec((any::<prop::sample::Index>(), 0..6usize, bit()), 1..4),
    ) {
        let mut bytes = line.as_bytes().to_vec();
        for (at, length, bit) in changes {
            let at = at.index(bytes.len());
            let end = bytes.len().min(at + length);
            bytes.splice(at..end, bit);
        }
        if let Ok(text) = std::str::from_utf8(&bytes) {
            is_read(text);
        }
    }

    #[test]
    fn both_readers_read_tasks_of_any_fields_alike(tasks in proptest::collection::vec(task(), 0..4), space in "[ \n]?") {
        let tasks = tasks.join(&format!(",{space}"));
        is_read(&format!(r#"{{"device":"dgist-2021","tasks":[{tasks}]{space}}}"#));
    }
}

/// The parts to put into a text.
fn bit() -> impl Strategy<Value = Vec<u8>> {
    let bits = [
        "", "0", "9", "-", ".", "e", "\"", "\\", ",", "}", "{", "]", "[", ":", " ", "\n", "null", "ms", "s", "é",
        "\"a\":1,",
    ];
    let known = proptest::sample::select(bits.to_vec()).prop_map(|bit| bit.as_bytes().to_vec());
    prop_oneof![4 => known, 1 => any::<[u8; 1]>().prop_map(Vec::from)]
}

/// A task of known fields in any order, most of them right.
fn task() -> impl Strategy<Value = String> {
    let time = prop_oneof!["[0-9]{1,3}(\\.[0-9]{1,3})? ?(ms|us|s)", "[0-9]{0,3}[a-z]?"];
    let time = time.prop_map(|time| format!("\"{time}\"")).boxed();
    let pages = prop_oneof![3 => "[1-9][0-9]{0,2}", 1 => "0?[0-9]{1,22}", 1 => Just("null".to_owned())].boxed();
    let key =
        |key: &'static str, value: BoxedStrategy<String>| value.prop_map(move |value| format!("\"{key}\":{value}"));
    let access = proptest::sample::select(vec!["\"random\"", "\"sequential\"", "\"Random\"", "null"]);
    let optional = proptest::collection::vec(
        prop_oneof![
            key("deadline", time.clone()),
            key("jitter", time.clone()),
            key("access", access.prop_map(str::to_owned).boxed()),
        ],
        0..3,
    );
    let request = (key("pages", pages.clone()), key("period", time), optional)
        .prop_map(|(pages, period, more)| [vec![pages, period], more].concat())
        .prop_shuffle()
        .prop_map(|fields| format!("{{{}}}", fields.join(", ")))
        .boxed();
    let name = "\"([a-d]|é){0,2}\"".boxed();
    let fields = prop_oneof![key("read", request.clone()), key("write", request), key("data_pages", pages)];
    (key("name", name), proptest::collection::vec(fields, 1..4))
        .prop_map(|(name, more)| [vec![name], more].concat())
        .prop_shuffle()
        .prop_map(|fields| format!("{{ {}}}", fields.join(" ,")))
}
