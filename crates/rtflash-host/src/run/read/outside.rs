//! The files and certificates that a scenario names and does not hold.

use rtflash_model::reading::{JsonKind, Place, Reader};
use rtflash_model::{Allocation, Diagnostic, Diagnostics, PathStep, TaskSet};

/// A source of the files and certificates that a scenario names and does not hold.
pub trait Outside {
    /// The text of the file of this name.
    ///
    /// # Errors
    /// Why there is none, in a sentence.
    fn file(&mut self, name: &str) -> Result<String, String>;

    /// The allocation that is given, with a certificate for each cluster; any such where none is
    /// given.
    ///
    /// # Errors
    /// Why there is none, in a sentence.
    fn certified(&mut self, set: &TaskSet, given: Option<Allocation>) -> Result<Allocation, String>;

    /// Whether the certificates of an allocation hold. Bounds rest on that.
    ///
    /// # Errors
    /// Why they do not, in a sentence.
    fn judge(&mut self, set: &TaskSet, allocation: &Allocation) -> Result<(), String>;
}

/// An [`Outside`] that provides nothing: a scenario must contain all that it needs.
#[derive(Debug, Clone, Copy, Default)]
pub struct Alone;

impl Outside for Alone {
    fn file(&mut self, _: &str) -> Result<String, String> {
        Err("no files are read here".to_owned())
    }

    fn certified(&mut self, _: &TaskSet, given: Option<Allocation>) -> Result<Allocation, String> {
        given.ok_or_else(|| "no allocations are found here".to_owned())
    }

    fn judge(&mut self, _: &TaskSet, _: &Allocation) -> Result<(), String> {
        Err("no certificates are judged here".to_owned())
    }
}

/// Something that stands in the scenario, or in a file of the name that stands there. `None` where
/// something wrong has been recorded.
pub(super) fn held<'t, T>(
    reader: &mut Reader<'t>,
    raw: &'t str,
    place: &Place<'_>,
    outside: &mut dyn Outside,
    what: &str,
    read: impl FnOnce(&str) -> Result<T, Diagnostics>,
) -> Option<T> {
    match JsonKind::of(raw) {
        JsonKind::Object => match read(raw) {
            Ok(held) => Some(held),
            Err(wrong) => {
                for fault in wrong.first() {
                    refuse_inside(reader, raw, place, fault.path.steps(), fault);
                }
                None
            }
        },
        JsonKind::Text => {
            let name = reader.string(raw, place, what)?;
            let text = match outside.file(&name) {
                Ok(text) => text,
                Err(problem) => {
                    reader.refuse(raw, place, problem, format!("the name of a file with {what}, or {what} itself"));
                    return None;
                }
            };
            match read(&text) {
                Ok(held) => Some(held),
                Err(wrong) => {
                    let more =
                        if wrong.count() > 1 { format!(", and {} more", wrong.count() - 1) } else { String::new() };
                    let first = wrong.first().first().expect("a refusal says what is wrong").to_string();
                    reader.refuse(raw, place, format!("{name}: {first}{more}"), what);
                    None
                }
            }
        }
        _ => {
            reader.refuse_kind(raw, place, &format!("{what}: an object, or the name of a file"));
            None
        }
    }
}

/// Records a fault of a value inside `raw`.
fn refuse_inside(reader: &mut Reader<'_>, raw: &str, place: &Place<'_>, steps: &[PathStep], fault: &Diagnostic) {
    match steps {
        [PathStep::Key(key), rest @ ..] => refuse_inside(reader, raw, &place.key(key), rest, fault),
        [PathStep::Index(index), rest @ ..] => refuse_inside(reader, raw, &place.index(*index), rest, fault),
        [] => {
            let value = raw.get(fault.range.clone()).unwrap_or(raw);
            reader.refuse(value, place, fault.problem.as_str(), fault.expected.as_str());
        }
    }
}
