use proptest::prelude::*;

use super::GOOD;
use crate::TaskSet;
use crate::file::{Diagnostics, read_allocation, read_device, read_task_set, read_task_set_bytes};

const ALLOCATION: &str = r#"{ "schedulable": true, "clusters": [{ "chips": [0, 3], "tasks": ["camera", "film"] }, { "chips": [1], "tasks": ["map"] }] }"#;

const DEVICE: &str = r#"{ "profile": "dgist-2021", "chips": 8, "logical_ratio": 0.75, "page_read": "50us" }"#;

fn set() -> TaskSet {
    read_task_set(GOOD).unwrap().set
}

/// The rules for any answer of a reader.
fn sound<T>(text: &str, read: Result<T, Diagnostics>) {
    let Err(wrong) = read else { return };
    let wrong = wrong.first();
    assert!(!wrong.is_empty());
    assert!(wrong.is_sorted_by_key(|wrong| wrong.range.start));
    for wrong in wrong {
        assert!(text.get(wrong.range.clone()).is_some(), "{wrong} at {:?}", wrong.range);
        assert!(!wrong.problem.is_empty() && !wrong.expected.is_empty());
    }
}

fn read_by_all(bytes: &[u8]) {
    if let Err(wrong) = read_task_set_bytes(bytes) {
        assert!(wrong.first().iter().all(|wrong| wrong.range.end <= bytes.len()));
    }
    if let Ok(text) = std::str::from_utf8(bytes) {
        sound(text, read_task_set(text));
        sound(text, read_device(text));
        sound(text, read_allocation(text, &set()));
    }
}

/// Texts of the words that the readers know.
fn words() -> impl Strategy<Value = String> {
    let words = [
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "0",
        "-1",
        "1e9",
        "0.5",
        "null",
        "true",
        "\"1ms\"",
        "\"\\ud800\"",
        "\"a\"",
        " ",
        "\n",
        "\"device\":",
        "\"tasks\":",
        "\"jobs\":",
        "\"meta\":",
        "\"name\":",
        "\"read\":",
        "\"pages\":",
        "\"period\":",
        "\"access\":",
        "\"sequential\"",
        "\"data_pages\":",
        "µ",
        "\"dgist-2021\"",
        "\"profile\":",
        "\"arrivals\":",
        "\"at\":",
        "\"every\":",
        "\"clusters\":",
        "\"chips\":",
        "\"x\":",
    ];
    proptest::collection::vec(proptest::sample::select(words.to_vec()), 0..40).prop_map(|words| words.concat())
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..100), words in words()) {
        read_by_all(&bytes);
        read_by_all(words.as_bytes());
    }

    #[test]
    fn a_file_with_a_byte_changed_is_read_or_refused(
        which in 0..3usize, at in any::<prop::sample::Index>(),
        byte in prop_oneof![any::<u8>(), proptest::sample::select(b"{}[]\",:\\-0.eE \n".to_vec())], what in 0..3u8,
    ) {
        let mut bytes = [GOOD, ALLOCATION, DEVICE][which].as_bytes().to_vec();
        let at = at.index(bytes.len());
        match what {
            0 => bytes[at] = byte,
            1 => bytes.insert(at, byte),
            _ => drop(bytes.remove(at)),
        }
        read_by_all(&bytes);
    }
}

#[test]
fn the_files_that_are_changed_are_good() {
    assert!(read_allocation(ALLOCATION, &set()).is_ok() && read_device(DEVICE).is_ok());
}

#[test]
fn deep_nesting_is_refused() {
    const DEPTH: usize = 200_000;
    let (arrays, objects) = ("[".repeat(DEPTH), "{\"a\":".repeat(DEPTH));
    for text in [
        arrays.clone(),
        objects.clone(),
        format!("{arrays}{}", "]".repeat(DEPTH)),
        format!("{objects}1{}", "}".repeat(DEPTH)),
        format!("{{\"device\": {objects}1{}}}", "}".repeat(DEPTH)),
        format!("{{\"clusters\": {arrays}{}}}", "]".repeat(DEPTH)),
    ] {
        read_by_all(text.as_bytes());
    }
    let meta = format!("{{\"device\":\"dgist-2021\",\"tasks\":[],\"meta\":{arrays}{}}}", "]".repeat(DEPTH));
    let file = read_task_set(&meta).unwrap();
    assert_eq!(crate::file::write_task_set(&file.set, file.meta.as_ref()).len(), meta.len());
}

#[test]
fn ten_thousand_faults_are_counted_and_a_hundred_kept() {
    for task in ["{}", r#"{"name": "a"}"#, r#"{"name": "aaaaaaaaaaaaaaaaaaaa", "raed": 1}"#, "5"] {
        let tasks = vec![task; 10_000].join(",");
        let text = format!(r#"{{"device": "dgist-2021", "tasks": [{tasks}]}}"#);
        let wrong = read_task_set(&text).unwrap_err();
        assert!(wrong.count() >= 10_000 && wrong.first().len() == 100, "{}", wrong.count());
        // Those kept are the first.
        assert!(wrong.first().iter().all(|wrong| wrong.range.start < 100 * (task.len() + 1) + 100));
    }
    let names: Vec<String> = (0..10_000).map(|n| format!("\"name-{n}-of-a-task\"")).collect();
    let allocation = format!(r#"{{"clusters": [{{"chips": [0], "tasks": [{}]}}]}}"#, names.join(","));
    assert!(read_allocation(&allocation, &set()).is_err());
}
