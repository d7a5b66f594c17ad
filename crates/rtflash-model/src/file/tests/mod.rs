//! Tests of the readers, the writer, the schemas and the framer.

mod accepted;
mod arbitrary;
mod refused;
mod refused_allocations;
mod round_trip;
mod stream;
mod usual;

use crate::file::Diagnostics;

/// A valid task set that has some of everything.
pub(super) const GOOD: &str = r#"{
  "device": {
    "chips": 4, "chips_per_channel": 2, "blocks_per_chip": 1024, "pages_per_block": 256, "page_size": 8192,
    "logical_ratio": 0.5,
    "page_read": "50us", "page_program": "500us", "block_erase": "5ms", "page_transfer": "40us"
  },
  "tasks": [
    { "name": "camera", "read": { "pages": 40, "period": "36ms" }, "write": { "pages": 24, "period": "30ms" } },
    { "name": "map",    "read": { "pages": 80, "period": "36ms" } },
    { "name": "film", "write": { "pages": 24, "period": "2s", "access": "sequential" }, "data_pages": 4096 }
  ],
  "jobs": [
    { "name": "log", "write_pages": 128, "arrivals": { "every": "12.5ms" } },
    { "name": "scan", "read_pages": 5, "arrivals": { "uniform": ["100us", "1ms"] } },
    { "name": "boot", "read_pages": 5, "write_pages": 1, "arrivals": { "at": ["0s", "1ms", "1ms"] } }
  ],
  "meta": { "seed": 7, "twice": 1, "twice": 2 }
}"#;

/// A fault: the text that is pointed at (a beginning of it), the path, a part of the message.
pub(super) type Fault<'a> = (&'a str, &'a str, &'a str);

#[track_caller]
pub(super) fn check<T: std::fmt::Debug>(text: &str, read: Result<T, Diagnostics>, faults: &[Fault<'_>]) {
    let wrong = read.expect_err(text).first().to_vec();
    let shown: Vec<String> = wrong.iter().map(ToString::to_string).collect();
    assert_eq!(wrong.len(), faults.len(), "{text}\n{shown:#?}");
    for ((wrong, shown), (slice, path, part)) in wrong.iter().zip(shown).zip(faults) {
        assert!(text[wrong.range.clone()].starts_with(slice), "{text}\nnot at {slice}: {shown}, {:?}", wrong.range);
        assert_eq!(wrong.range.is_empty(), slice.is_empty(), "{text}\n{shown}");
        assert_eq!(wrong.path.to_string(), *path, "{text}\n{shown}");
        assert!(shown.contains(part), "{text}\n{shown} lacks {part}");
    }
}
