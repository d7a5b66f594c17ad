//! Single fields of a file replaced from outside, the rest left as it is written.

use std::fmt;
use std::str::FromStr;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::diagnostic::BYTE_ORDER_MARK;
use super::place::quote;
use super::tree::{JsonKind, decode, for_each_element, for_each_field, range_in};

const MAX_STEPS: usize = 16;

/// A field and its new value, as `device.chips=8` or `tasks.camera.read.period=36ms`.
///
/// Dots separate steps. An element of an array has its number, `tasks[0]`, or its `name`,
/// `tasks.camera` or, with dots in it, `tasks[cam.front]`. A value that is not JSON is a string. A
/// profile's name becomes that profile with the field changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    steps: Vec<Way>,
    value: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Way {
    /// A field, or the element of that name.
    Name(String),
    Number(usize),
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Way::Name(name) => f.write_str(name),
            Way::Number(number) => number.fmt(f),
        }
    }
}

fn steps(path: &str) -> Option<Vec<Way>> {
    let mut steps = Vec::new();
    let mut rest = path.trim();
    loop {
        if let Some(inner) = rest.strip_prefix('[') {
            let (name, behind) = inner.split_once(']')?;
            let is_number = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit());
            steps.push(if is_number { Way::Number(name.parse().ok()?) } else { Way::Name(name.to_owned()) });
            rest = behind;
        } else {
            let end = rest.find(['.', '[']).unwrap_or(rest.len());
            steps.push(Way::Name(rest[..end].to_owned()));
            rest = &rest[end..];
        }
        if rest.is_empty() {
            break;
        }
        if let Some(behind) = rest.strip_prefix('.') {
            rest = behind;
            if rest.is_empty() || rest.starts_with('[') {
                return None;
            }
        } else if !rest.starts_with('[') {
            return None;
        }
    }
    let whole = |step: &Way| !matches!(step, Way::Name(name) if name.is_empty() || name.contains([']', '[']));
    steps.iter().all(whole).then_some(steps)
}

/// Why a text is no [`Change`], or why a change cannot be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ChangeError(String);

impl FromStr for Change {
    type Err = ChangeError;

    fn from_str(text: &str) -> Result<Change, ChangeError> {
        let wrong = || ChangeError("expected a field and its value, such as device.chips=8".to_owned());
        let (path, value) = text.split_once('=').ok_or_else(wrong)?;
        let steps = steps(path).ok_or_else(wrong)?;
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

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let steps: Vec<String> = self.steps.iter().map(Way::to_string).collect();
        f.write_str(&quote(&steps.join(".")))
    }
}

impl Change {
    /// The change as a command takes it, such as `device.chips=8`.
    pub fn argument(&self) -> String {
        let step = |(at, way): (usize, &Way)| match way {
            Way::Name(name) if name.contains('.') => format!("[{name}]"),
            Way::Name(name) if at == 0 => name.clone(),
            Way::Name(name) => format!(".{name}"),
            Way::Number(number) => format!("[{number}]"),
        };
        let path: String = self.steps.iter().enumerate().map(step).collect();
        format!("{path}={}", self.value)
    }

    /// The JSON text with this field changed. A text that is no JSON comes back as it is: its
    /// reader says what is wrong.
    ///
    /// # Errors
    /// If the path leads nowhere. Only its last field may be new.
    pub fn apply(&self, text: &str) -> Result<String, ChangeError> {
        let body = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
        let Ok(root) = <&RawValue>::deserialize(&mut serde_json::Deserializer::from_str(body)) else {
            return Ok(text.to_owned());
        };
        let range = range_in(text, root.get());
        let changed = self.within(root.get(), 0)?;
        Ok(format!("{}{changed}{}", &text[..range.start], &text[range.end..]))
    }

    /// The text of the value that the first `depth` steps lead to, changed.
    fn within(&self, raw: &str, depth: usize) -> Result<String, ChangeError> {
        let Some(step) = self.steps.get(depth) else { return Ok(self.value.clone()) };
        let last = depth + 1 == self.steps.len();
        let found = match (JsonKind::of(raw), step) {
            (JsonKind::Object, Way::Name(name)) => field(raw, name),
            (JsonKind::Array, step) => element(raw, step),
            _ => None,
        };
        if let Some(inner) = found {
            let range = range_in(raw, inner);
            let changed = self.within(inner, depth + 1)?;
            return Ok(format!("{}{changed}{}", &raw[..range.start], &raw[range.end..]));
        }
        let key = serde_json::Value::from(step.to_string());
        let is_name = matches!(step, Way::Name(_));
        match JsonKind::of(raw) {
            JsonKind::Object if last && is_name => {
                let inner = raw.strip_prefix('{').unwrap_or(raw);
                let comma = if inner.trim_start().starts_with('}') { "" } else { "," };
                Ok(format!("{{{key}:{}{comma}{inner}", self.value))
            }
            JsonKind::Text if last && is_name && depth == 1 && self.steps[0].to_string() == "device" => {
                Ok(format!("{{\"profile\":{raw},{key}:{}}}", self.value))
            }
            kind => {
                let path: Vec<String> = self.steps[..depth].iter().map(Way::to_string).collect();
                let whole = if depth == 0 { "the value".to_owned() } else { quote(&path.join(".")) };
                let step = quote(&step.to_string());
                let names = if kind == JsonKind::Array { names(raw) } else { Vec::new() };
                Err(ChangeError(match &names[..] {
                    [] => format!("{whole} is {} and has no {step}", kind.noun()),
                    names => format!("{whole} has no {step}; it has {}", names.join(", ")),
                }))
            }
        }
    }
}

pub(super) fn field<'t>(object: &'t str, name: &str) -> Option<&'t str> {
    let mut found = None;
    for_each_field(object, |key, value| {
        if found.is_none() && decode(key).as_deref() == Some(name) {
            found = Some(value);
        }
    });
    found
}

fn names(array: &str) -> Vec<String> {
    const SHOWN: usize = 8;
    let mut names = Vec::new();
    for_each_element(array, |value| {
        let name = if JsonKind::of(value) == JsonKind::Object { field(value, "name") } else { None };
        names.extend(name.and_then(decode).map(String::from));
    });
    let more = names.len() > SHOWN;
    names.truncate(SHOWN);
    if more {
        names.push("…".into());
    }
    names
}

fn element<'t>(array: &'t str, step: &Way) -> Option<&'t str> {
    let (mut found, mut index) = (None, 0usize);
    for_each_element(array, |value| {
        let is_it = match step {
            Way::Number(number) => *number == index,
            Way::Name(wanted) => {
                let name = if JsonKind::of(value) == JsonKind::Object { field(value, "name") } else { None };
                name.and_then(decode).as_deref() == Some(wanted)
            }
        };
        if is_it && found.is_none() {
            found = Some(value);
        }
        index += 1;
    });
    found
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
            ("tasks[1].write=null", "{ \"name\": \"b.c\" }", "{\"write\":null, \"name\": \"b.c\" }"),
            ("tasks[b.c].write=null", "{ \"name\": \"b.c\" }", "{\"write\":null, \"name\": \"b.c\" }"),
            ("tasks[1]={}", "{ \"name\": \"b.c\" }", "{}"),
            ("n=2", "1e999", "2"),
            ("x=a=b", " { \"device\"", " {\"x\":\"a=b\", \"device\""),
        ] {
            assert!(text.contains(old));
            assert_eq!(changed(text, change), Ok(text.replacen(old, new, 1)), "{change}");
        }
        // A number in brackets is a position, whatever the names are.
        let numbers = r#"[{ "name": "1" }, { "name": "0" }]"#;
        assert_eq!(changed(numbers, "[1].x=2"), Ok(r#"[{ "name": "1" }, {"x":2, "name": "0" }]"#.to_owned()));
        assert_eq!(changed(r#"{ "t": [{ "name": "0" }] }"#, "t.1=2"), Err("`t` has no `1`; it has 0".to_owned()));
        assert_eq!(changed("{}", "a=1"), Ok("{\"a\":1}".to_owned()));
        assert_eq!(changed("{ \"a\"", "a=1"), Ok("{ \"a\"".to_owned()), "no JSON");
    }

    #[test]
    fn paths_that_lead_nowhere_are_told() {
        let text = r#"{ "device": "d", "tasks": [ { "name": "a" } ], "jobs": null }"#;
        for (change, problem) in [
            ("device.chips.x=1", "`device` is a string and has no `chips`"),
            ("tasks[1].read=1", "`tasks` has no `1`; it has a"),
            ("tasks.b=1", "`tasks` has no `b`; it has a"),
            ("jobs.log.pages=1", "`jobs` is null and has no `log`"),
            ("tasks.a.read.pages=1", "`tasks.a` is an object and has no `read`"),
            ("chips", "expected a field and its value, such as device.chips=8"),
            ("=1", "expected a field and its value, such as device.chips=8"),
            ("tasks[0]].name=q", "expected a field and its value, such as device.chips=8"),
            ("tasks[0]name=q", "expected a field and its value, such as device.chips=8"),
            ("tasks.[0]=q", "expected a field and its value, such as device.chips=8"),
            ("tasks[]=q", "expected a field and its value, such as device.chips=8"),
            ("tasks[=q", "expected a field and its value, such as device.chips=8"),
            ("a..b=1", "expected a field and its value, such as device.chips=8"),
        ] {
            assert_eq!(changed(text, change), Err(problem.to_owned()), "{change}");
        }
        assert!(changed("[]", &format!("{}=1", ["a"; 20].join("."))).is_err());
        assert_eq!(changed("3", "a=1"), Err("the value is a number and has no `a`".to_owned()));
    }
}
