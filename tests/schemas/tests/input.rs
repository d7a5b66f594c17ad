//! The schemas of task sets and allocations accept what their readers accept.

use jsonschema::Validator;
use proptest::prelude::*;
use rtflash_model::*;
use serde_json::Value;

#[path = "../../../crates/rtflash-model/src/file/tests/drawn.rs"]
mod drawn;

/// A valid task set that has some of everything.
const GOOD: &str = include_str!("../../../crates/rtflash-model/src/file/tests/good.json");

fn validator() -> Validator {
    jsonschema::validator_for(task_set_schema().as_value()).unwrap()
}

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

proptest! {
    #[test]
    fn a_written_task_set_is_valid(set in drawn::set()) {
        let text = write_task_set(&set, None);
        prop_assert!(validator().is_valid(&parsed(&text)), "{text}");
    }
}

#[test]
fn the_schema_and_the_reader_agree() {
    let schema = validator();
    assert!(schema.is_valid(&parsed(GOOD)));
    let time = |time: &str| (r#""36ms""#, format!("\"{time}\""));
    let changes = [
        ("\"tasks\"", "\"task\"".to_owned()),
        ("\"meta\"", "\"Meta\"".to_owned()),
        ("\"name\": \"camera\"", "\"name\": \"\"".to_owned()),
        ("\"name\": \"camera\"", "\"name\": 3".to_owned()),
        ("\"pages\": 40,", "\"pages\": 0,".to_owned()),
        ("\"pages\": 40,", "\"pages\": -1,".to_owned()),
        ("\"pages\": 40,", "\"pages\": \"40\",".to_owned()),
        ("\"pages\": 40,", String::new()),
        ("\"pages\": 40,", "\"pages\": 40, \"access\": \"random\",".to_owned()),
        ("\"pages\": 40,", "\"pages\": 40, \"access\": null,".to_owned()),
        ("\"sequential\"", "\"Sequential\"".to_owned()),
        ("\"sequential\"", "\"mixed\"".to_owned()),
        ("\"sequential\"", "0".to_owned()),
        ("\"data_pages\": 4096", "\"data_pages\": 0".to_owned()),
        ("\"data_pages\": 4096", "\"data_pages\": null".to_owned()),
        ("\"data_pages\": 4096", "\"data_pages\": 24".to_owned()),
        ("\"data_pages\": 4096", "\"data_pages\": \"24\"".to_owned()),
        ("\"data_pages\": 4096", "\"pages\": 24".to_owned()),
        ("\"pages\": 40,", "\"pages\": 40, \"deadline\": 1,".to_owned()),
        ("\"read\": { \"pages\": 80, \"period\": \"36ms\" }", "\"read\": null".to_owned()),
        ("\"write\": { \"pages\": 24, \"period\": \"30ms\" }", "\"write\": null".to_owned()),
        ("\"write_pages\": 128,", String::new()),
        ("\"write_pages\": 128,", "\"write_pages\": 0, \"read_pages\": null,".to_owned()),
        ("\"write_pages\": 128,", "\"write_pages\": 0, \"read_pages\": 1,".to_owned()),
        ("\"every\": \"12.5ms\"", String::new()),
        ("\"every\": \"12.5ms\"", "\"every\": \"12.5ms\", \"at\": []".to_owned()),
        ("\"every\": \"12.5ms\"", "\"every\": null".to_owned()),
        ("\"at\": [\"0s\", \"1ms\", \"1ms\"]", "\"at\": []".to_owned()),
        ("[\"100us\", \"1ms\"]", "[\"100us\"]".to_owned()),
        ("[\"100us\", \"1ms\"]", "[\"0us\", \"1ms\"]".to_owned()),
        ("\"page_size\": 8192,", String::new()),
        ("\"page_size\": 8192,", "\"page_size\": null,".to_owned()),
        ("\"page_size\": 8192,", "\"profile\": \"dgist-2021\",".to_owned()),
        ("\"page_size\": 8192,", "\"profile\": \"dgist-2021\", \"page_size\": null,".to_owned()),
        ("\"page_size\": 8192,", "\"profile\": \"dgist\",".to_owned()),
        ("\"chips\": 4,", "\"chips\": 0,".to_owned()),
        ("\"chips\": 4,", "\"chips\": 1048577,".to_owned()),
        ("\"chips\": 4,", "\"chips\": 1048576,".to_owned()),
        ("0.5,", "1,".to_owned()),
        ("0.5,", "0,".to_owned()),
        ("0.5,", "\"0.5\",".to_owned()),
        time("36"),
        time("0ms"),
        time("0.00ms"),
        time("000.10 s"),
        time("10.0 \u{b5}s"),
        time("10 \u{3bc}s "),
        time("1.ms"),
        time(".1ms"),
        time("-1ms"),
        time("1e3ms"),
        time("1m"),
        time("1min"),
        time("0.5 h"),
        ("\"pages\": 40,", "\"size\": \"320KiB\",".to_owned()),
        ("\"pages\": 40,", "\"size\": \"0KiB\",".to_owned()),
        ("\"pages\": 40,", "\"size\": 320,".to_owned()),
        ("\"pages\": 40,", "\"size\": \"1.5MB\",".to_owned()),
        ("\"pages\": 40,", "\"size\": null, \"pages\": 40,".to_owned()),
        ("\"pages\": 40,", "\"size\": \"1MB\", \"pages\": 40,".to_owned()),
        ("\"pages\": 40,", "\"size\": \"1MB\", \"pages\": null,".to_owned()),
        ("\"pages\": 40,", "\"rate\": \"40MB/s\",".to_owned()),
        ("\"pages\": 40,", "\"rate\": \"0MB/s\",".to_owned()),
        ("\"pages\": 40,", "\"rate\": \"40MB\",".to_owned()),
        ("\"pages\": 40,", "\"rate\": \"40MB/s\", \"pages\": 40,".to_owned()),
        ("\"pages\": 40, \"period\": \"36ms\"", "\"rate\": \" 40 MiB /s\", \"pages\": 40".to_owned()),
        ("\"pages\": 40, \"period\": \"36ms\"", "\"rate\": \"40MB/s\"".to_owned()),
        ("\"pages\": 40, \"period\": \"36ms\"", "\"pages\": 40, \"every\": \"1/30s\"".to_owned()),
        ("\"pages\": 40, \"period\": \"36ms\"", "\"pages\": 40, \"every\": \"36ms\"".to_owned()),
        ("\"pages\": 40, \"period\": \"36ms\"", "\"pages\": 40, \"every\": \"0/30s\"".to_owned()),
        ("\"pages\": 40, \"period\": \"36ms\"", "\"pages\": 40, \"every\": \"1/29.97s\"".to_owned()),
        ("\"pages\": 40, \"period\": \"36ms\"", "\"pages\": 40, \"every\": \"1/0.50 s\"".to_owned()),
        ("\"pages\": 40, \"period\": \"36ms\"", "\"pages\": 40, \"every\": \"1/29.s\"".to_owned()),
        ("\"pages\": 40, \"period\": \"36ms\"", "\"pages\": 40, \"every\": \"1/.5s\"".to_owned()),
        ("\"pages\": 40, \"period\": \"36ms\"", "\"pages\": 40, \"every\": \"1/0.0s\"".to_owned()),
        ("\"pages\": 40, \"period\": \"36ms\"", "\"pages\": 40, \"every\": \"1/3\"".to_owned()),
        ("\"pages\": 40, \"period\": \"36ms\"", "\"pages\": 40, \"every\": \"1.5/3s\"".to_owned()),
        ("\"pages\": 40, \"period\": \"36ms\"", "\"pages\": 40, \"every\": \"1/3.5.2s\"".to_owned()),
        ("\"page_size\": 8192,", "\"page_size\": 8192, \"profile\": null,".to_owned()),
        ("\"pages_per_block\": 256", "\"pages_per_block\": 4294967296".to_owned()),
        ("\"pages\": 40, \"period\": \"36ms\"", "\"pages\": 40, \"every\": \"1/0s\"".to_owned()),
        ("\"pages\": 40, \"period\": \"36ms\"", "\"pages\": 40, \"period\": \"1/30s\"".to_owned()),
        ("\"pages\": 40,", "\"every\": \"1ms\", \"pages\": 40,".to_owned()),
        ("\"data_pages\": 4096", "\"data_size\": \"32MiB\"".to_owned()),
        ("\"data_pages\": 4096", "\"data_size\": \"32MiB\", \"data_pages\": 7000".to_owned()),
        ("\"write_pages\": 128,", "\"write_size\": \"1MiB\",".to_owned()),
        ("\"write_pages\": 128,", "\"write_size\": \"0B\",".to_owned()),
        ("\"write_pages\": 128,", "\"write_size\": \"1MiB\", \"write_pages\": 1,".to_owned()),
        ("\"every\": \"12.5ms\"", "\"every\": \"1/80s\"".to_owned()),
        ("\"page_size\": 8192,", "\"page_size\": \"8KiB\",".to_owned()),
        ("\"page_size\": 8192,", "\"page_size\": \"8\",".to_owned()),
        ("\"page_read\"", "\"tR\"".to_owned()),
        ("\"page_program\"", "\"tPROG\"".to_owned()),
        ("\"block_erase\"", "\"tBERS\"".to_owned()),
        ("\"page_read\"", "\"tR\": \"50us\", \"page_read\"".to_owned()),
        ("\"page_read\"", "\"tR\": null, \"page_read\"".to_owned()),
    ];
    for (old, new) in changes {
        let text = GOOD.replacen(old, &new, 1);
        assert_ne!(text, GOOD, "{old}");
        assert_eq!(schema.is_valid(&parsed(&text)), read_task_set(&text).is_ok(), "{old} -> {new}");
    }
    for device in [
        r#""dgist-2021""#,
        r#""dgist""#,
        "{}",
        r#"{"profile": "dgist-2021", "page_read": "1us"}"#,
        r#"{"profile": "dgist-2021", "tR": "1us"}"#,
        r#"{"profile": "dgist-2021", "tR": null, "page_read": "1us"}"#,
        r#"{"profile": "dgist-2021", "tR": "1us", "page_read": "1us"}"#,
        r#"{"profile": "dgist-2021", "page_size": "4KiB"}"#,
    ] {
        let text = format!(r#"{{"device": {device}, "tasks": []}}"#);
        assert_eq!(schema.is_valid(&parsed(&text)), read_task_set(&text).is_ok(), "{device}");
    }
}

#[test]
fn the_schema_of_an_allocation_lets_other_fields_be() {
    let schema = jsonschema::validator_for(allocation_schema().as_value()).unwrap();
    for (text, valid) in [
        (r#"{"clusters": [{"chips": [0, 1], "tasks": ["a"], "utilization": 0.5}], "unplaced": null}"#, true),
        (r#"{"clusters": [{"chips": [0], "tasks": null}, {"chips": [1]}]}"#, true),
        (r#"{"clusters": [{"chips": []}]}"#, false),
        (r#"{"clusters": [{"chips": [0, 0]}]}"#, false),
        (r#"{"clusters": [{"tasks": ["a"]}]}"#, false),
        (r#"{"clusters": [{"chips": [-1]}]}"#, false),
        ("{}", false),
    ] {
        assert_eq!(schema.is_valid(&parsed(text)), valid, "{text}");
    }
}
