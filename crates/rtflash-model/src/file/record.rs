//! A line of a stream of allocations: an allocation, or why there is none.

use super::diagnostic::Diagnostics;
use super::place::Place;
use super::reader::Reader;
use super::tree::{JsonKind, for_each_element};

/// The format of the answers that rtflash writes and reads: their field `format`.
pub const ANSWER_FORMAT: u64 = 1;

const AN_ANSWER: &str = "an allocation, or a line that `rtflash alloc --format json` printed";

/// The content of a line where an allocation is expected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AllocationRecord {
    /// Clusters: [`read_allocation`](crate::read_allocation) reads them.
    Allocation,
    /// No clusters: the allocator found none, or cannot tell (`None`).
    Nothing {
        /// The field `schedulable`.
        schedulable: Option<bool>,
        /// The field `reason`, where there is one.
        reason: Option<String>,
    },
    /// Not even that: the task set that it was to be made for is wrong, in these words.
    Error(String),
}

/// An error if the line is no JSON object, or of another format than [`ANSWER_FORMAT`].
pub fn read_allocation_record(text: &str) -> Result<AllocationRecord, Diagnostics> {
    let (mut reader, root) = Reader::open(text, AN_ANSWER)?;
    let record = record(&mut reader, root);
    record.filter(|_| reader.faults() == 0).ok_or_else(|| reader.into_diagnostics())
}

/// `None` where something wrong has been recorded.
fn record<'t>(reader: &mut Reader<'t>, root: &'t str) -> Option<AllocationRecord> {
    const FIELDS: [&str; 6] = ["format", "error", "clusters", "schedulable", "algorithm", "reason"];
    let place = Place::Root;
    if JsonKind::of(root) != JsonKind::Object {
        // The reader of allocations reports this fault.
        return Some(AllocationRecord::Allocation);
    }
    let [format, error, clusters, schedulable, algorithm, reason] =
        reader.open_object(root, &place, &FIELDS, |_| ())?.map(super::place::Slot::given);
    if let Some(raw) = format {
        let number = reader.whole(raw, &place.key("format"), u64::MAX)?;
        if number != ANSWER_FORMAT {
            let problem = format!("this is an answer in format {number}");
            reader.refuse(raw, &place.key("format"), problem, format!("format {ANSWER_FORMAT}"));
            return None;
        }
    }
    if let Some(raw) = error.filter(|raw| *raw != "null") {
        return Some(AllocationRecord::Error(message(reader, raw)));
    }
    let mut empty = clusters.is_none_or(|raw| JsonKind::of(raw) == JsonKind::Array);
    for_each_element(clusters.unwrap_or("[]"), |_| empty = false);
    let schedulable = match schedulable {
        Some("false") if empty => Some(false),
        Some("null") if empty => None,
        // It makes no clusters, whatever it finds.
        Some("true") if empty && algorithm == Some("\"part-ftl\"") => {
            let reason = Some("part-ftl makes no clusters".to_owned());
            return Some(AllocationRecord::Nothing { schedulable: None, reason });
        }
        _ => return Some(AllocationRecord::Allocation),
    };
    let reason = reason.filter(|raw| JsonKind::of(raw) == JsonKind::Text);
    let reason = reason.and_then(|raw| reader.string(raw, &place.key("reason"), "a reason"));
    Some(AllocationRecord::Nothing { schedulable, reason })
}

fn message<'t>(reader: &mut Reader<'t>, error: &'t str) -> String {
    let outer = Place::Root;
    let place = outer.key("error");
    let message = match JsonKind::of(error) {
        JsonKind::Object => reader.open_object(error, &place, &["message"], |_| ()).and_then(|[slot]| slot.given()),
        _ => Some(error),
    };
    let message = message.filter(|raw| JsonKind::of(raw) == JsonKind::Text);
    message.and_then(|raw| reader.string(raw, &place, "a message")).unwrap_or_else(|| "it says no more".to_owned())
}

#[cfg(test)]
mod tests {
    use super::AllocationRecord::{Allocation, Error, Nothing};
    use super::*;

    #[test]
    fn lines_are_told_apart() {
        let nothing = |schedulable, reason: Option<&str>| Nothing { schedulable, reason: reason.map(Into::into) };
        for (text, record) in [
            (r#"{"clusters":[{"chips":[0]}]}"#, Allocation),
            (r#"{"format":1,"line":3,"schedulable":false,"clusters":[{"chips":[0]}]}"#, Allocation),
            (r#"{"format":1,"line":3,"schedulable":false,"clusters":[],"unplaced":{}}"#, nothing(Some(false), None)),
            (r#"{"schedulable":false}"#, nothing(Some(false), None)),
            (r#"{"schedulable":null,"clusters":[],"reason":"17 tasks"}"#, nothing(None, Some("17 tasks"))),
            (
                r#"{"schedulable":true,"algorithm":"part-ftl","clusters":[]}"#,
                nothing(None, Some("part-ftl makes no clusters")),
            ),
            (r#"{"schedulable":true,"clusters":[]}"#, Allocation),
            (r#"{"clusters":[]}"#, Allocation),
            (r#"{"schedulable":false,"clusters":{}}"#, Allocation),
            (r#"{"error":{"message":"zero \"pages\"","path":"","line":3}}"#, Error("zero \"pages\"".into())),
            (r#"{"error":"no"}"#, Error("no".into())),
            (r#"{"error":7}"#, Error("it says no more".into())),
            (r#"{"error":null,"schedulable":false}"#, nothing(Some(false), None)),
            ("[]", Allocation),
        ] {
            assert_eq!(read_allocation_record(text), Ok(record), "{text}");
        }
        for text in ["", "{", r#"{"format":2,"clusters":[]}"#, r#"{"format":"1"}"#, r#"{"format":1,"format":1}"#] {
            assert!(read_allocation_record(text).is_err(), "{text}");
        }
    }
}
