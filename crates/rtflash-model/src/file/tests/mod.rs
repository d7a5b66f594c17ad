//! Tests of the readers, the writer, the schemas and the framer.

mod accepted;
mod arbitrary;
mod derived;
mod drawn;
mod refused;
mod refused_allocations;
mod round_trip;
mod stream;

use crate::file::Diagnostics;

/// A valid task set that has some of everything.
pub(super) const GOOD: &str = include_str!("good.json");

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
