//! Single fields of a file replaced from outside, the rest left as it is written.

use std::fmt;
use std::str::FromStr;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::diagnostic::BYTE_ORDER_MARK;
use super::place::quote;
use super::tree::{Kind, decode, for_each_element, for_each_field, range_in};

/// Steps of a path at most.
const MAX_STEPS: usize = 16;

/// A field and its new value, as `device.chips=8` or `tasks.camera.read.period=36ms` says it.
///
/// Steps are separated by dots. An element of an array is meant by its number from 0, `tasks[0]` or `tasks.0`, or by its `name`.
/// The value is JSON; what is not JSON is a string. A device that is a profile's name becomes that profile with the field changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    steps: Vec<String>,
    value: String,
}

/// Why a text is no [`Change`], or why a change cannot be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangeError(String);

impl fmt::Display for ChangeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ChangeError {}

impl FromStr for Change {
    type Err = ChangeError;

    fn from_str(text: &str) -> Result<Change, ChangeError> {
        let wrong = || ChangeError("expected a field and its value, such as device.chips=8".to_owned());
        let (path, value) = text.split_once('=').ok_or_else(wrong)?;
        let path = path.trim().replace('[', ".").replace(']', "");
        let steps: Vec<String> = path.split('.').map(str::to_owned).collect();
        if steps.iter().any(String::is_empty) {
            return Err(wrong());
        }
        if steps.len() > MAX_STEPS {
            return Err(ChangeError(format!("a path of {} steps: no field lies so deep", steps.len())));
        }
        let value = value.trim();
        let is_json = <&RawValue>::deserialize(&mut serde_json::Deserializer::from_str(value))
            .is_ok_and(|raw| raw.get().len() == value.len());
        let value = if is_json { value.to_owned() } else { serde_json::Value::from(value).to_string() };
        Ok(Change { steps, value })
    }
}

impl Change {
    /// The text of a JSON value with this field changed. A text that is no JSON comes back as it is: its reader says what is wrong.
    ///
    /// # Errors
    /// Where the path leads nowhere. Only its last field may be new.
    pub fn apply(&self, text: &str) -> Result<String, ChangeError> {
        let body = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
        let Ok(root) = <&RawValue>::deserialize(&mut serde_json::Deserializer::from_str(body)) else {
            return Ok(text.to_owned());
        };
        let range = range_in(text, root.get());
        let changed = self.within(root.get(), 0)?;
        Ok(format!("{}{changed}{}", &text[..range.start], &text[range.end..]))
    }

    /// The value that the first so many steps lead to, changed.
    fn within(&self, raw: &str, depth: usize) -> Result<String, ChangeError> {
        let Some(step) = self.steps.get(depth) else { return Ok(self.value.clone()) };
        let last = depth + 1 == self.steps.len();
        let found = match Kind::of(raw) {
            Kind::Object => field(raw, step),
            Kind::Array => element(raw, step),
            _ => None,
        };
        if let Some(inner) = found {
            let range = range_in(raw, inner);
            let changed = self.within(inner, depth + 1)?;
            return Ok(format!("{}{changed}{}", &raw[..range.start], &raw[range.end..]));
        }
        let key = serde_json::Value::from(step.as_str());
        match Kind::of(raw) {
            Kind::Object if last => {
                let inner = raw.strip_prefix('{').unwrap_or(raw);
                let comma = if inner.trim_start().starts_with('}') { "" } else { "," };
                Ok(format!("{{{key}:{}{comma}{inner}", self.value))
            }
            Kind::Text if last && depth == 1 && self.steps[0] == "device" => {
                Ok(format!("{{\"profile\":{raw},{key}:{}}}", self.value))
            }
            kind => {
                let path = self.steps[..depth].join(".");
                let whole = if depth == 0 { "the value".to_owned() } else { quote(&path) };
                let problem = format!("{whole} is {} and has no {}", kind.noun(), quote(step));
                Err(ChangeError(problem))
            }
        }
    }
}

/// The value of a field.
fn field<'t>(object: &'t str, name: &str) -> Option<&'t str> {
    let mut found = None;
    for_each_field(object, |key, value| {
        if found.is_none() && decode(key).as_deref() == Some(name) {
            found = Some(value);
        }
    });
    found
}

/// The element of that number, or else of that name.
fn element<'t>(array: &'t str, step: &str) -> Option<&'t str> {
    let (mut by_number, mut by_name, mut index) = (None, None, 0usize);
    let number = step.parse::<usize>().ok();
    for_each_element(array, |value| {
        if number == Some(index) {
            by_number = Some(value);
        }
        let name = if Kind::of(value) == Kind::Object { field(value, "name") } else { None };
        if by_name.is_none() && name.and_then(decode).as_deref() == Some(step) {
            by_name = Some(value);
        }
        index += 1;
    });
    by_name.or(by_number)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(text: &str, change: &str) -> Result<String, String> {
        change.parse::<Change>().and_then(|change| change.apply(text)).map_err(|error| error.to_string())
    }

    #[test]
    fn one_field_is_changed_and_the_rest_stays() {
        let text = "\u{feff} { \"device\": \"dgist-2021\", \"tasks\": [ {\"name\": \"a\", \"read\": {\"pages\": 1} }, { \"name\": \"b.c\" } ], \"n\": 1e999 }\n";
        for (change, old, new) in [
            ("device.chips=8", "\"dgist-2021\"", "{\"profile\":\"dgist-2021\",\"chips\":8}"),
            ("device=mt29", "\"dgist-2021\"", "\"mt29\""),
            ("device={\"profile\": null}", "\"dgist-2021\"", "{\"profile\": null}"),
            ("tasks.a.read.pages = 40", "\"pages\": 1", "\"pages\": 40"),
            ("tasks[0].read.period=36ms", "{\"pages\": 1}", "{\"period\":\"36ms\",\"pages\": 1}"),
            ("tasks.1.write=null", "{ \"name\": \"b.c\" }", "{\"write\":null, \"name\": \"b.c\" }"),
            ("tasks[1]={}", "{ \"name\": \"b.c\" }", "{}"),
            ("n=2", "1e999", "2"),
            ("x=a=b", " { \"device\"", " {\"x\":\"a=b\", \"device\""),
        ] {
            assert!(text.contains(old));
            assert_eq!(changed(text, change), Ok(text.replacen(old, new, 1)), "{change}");
        }
        assert_eq!(changed("{}", "a=1"), Ok("{\"a\":1}".to_owned()));
        assert_eq!(changed("{ \"a\"", "a=1"), Ok("{ \"a\"".to_owned()), "no JSON");
    }

    #[test]
    fn paths_that_lead_nowhere_are_told() {
        let text = r#"{ "device": "d", "tasks": [ { "name": "a" } ], "jobs": null }"#;
        for (change, problem) in [
            ("device.chips.x=1", "`device` is a string and has no `chips`"),
            ("tasks[1].read=1", "`tasks` is an array and has no `1`"),
            ("tasks.b=1", "`tasks` is an array and has no `b`"),
            ("jobs.log.pages=1", "`jobs` is null and has no `log`"),
            ("tasks.a.read.pages=1", "`tasks.a` is an object and has no `read`"),
            ("chips", "expected a field and its value, such as device.chips=8"),
            ("=1", "expected a field and its value, such as device.chips=8"),
            ("a..b=1", "expected a field and its value, such as device.chips=8"),
        ] {
            assert_eq!(changed(text, change), Err(problem.to_owned()), "{change}");
        }
        assert!(changed("[]", &format!("{}=1", ["a"; 20].join("."))).is_err());
        assert_eq!(changed("3", "a=1"), Err("the value is a number and has no `a`".to_owned()));
    }
}
