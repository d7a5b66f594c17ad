//! What every answer in JSON has around it: the format, in a stream the line, and what stands in the place of an answer where
//! the input is wrong. `docs/formats.md` says what is promised of it.

use rtflash_model::ANSWER_FORMAT;
use schemars::{JsonSchema, Schema, schema_for};
use serde::Serialize;
use serde_json::{Map, Value, json};

/// How every answer begins.
const HEAD: &str = r#"{"format":1,"#;

/// An answer, after the format that it is in.
#[derive(Serialize)]
struct Envelope<'a, T> {
    format: u64,
    #[serde(flatten)]
    answer: &'a T,
}

/// One line of JSON: an answer, which is an object that is not empty.
pub fn line(answer: &impl Serialize) -> String {
    // Nothing that is printed has a key that is not a string: this cannot fail.
    let mut text = serde_json::to_string(&Envelope { format: ANSWER_FORMAT, answer }).unwrap_or_default();
    text.push('\n');
    text
}

/// The same on several lines, for a file that a person may read.
pub fn pretty(answer: &impl Serialize) -> String {
    // As above.
    let mut text = serde_json::to_string_pretty(&Envelope { format: ANSWER_FORMAT, answer }).unwrap_or_default();
    text.push('\n');
    text
}

/// Says in an answer of [`line()`] on which line of the stream its task set begins, from 1.
pub fn number(text: &mut String, line: usize) {
    debug_assert!(text.starts_with(HEAD), "{text}");
    text.insert_str(HEAD.len(), &format!(r#""line":{line},"#));
}

/// What stands in a stream in the place of an answer where the input is wrong.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ErrorLine {
    /// What is wrong.
    pub error: Fault,
}

/// What is wrong with an input: the first fault where there are several. Standard error has them all.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Fault {
    /// What is wrong, and what would be right.
    pub message: String,
    /// The value at fault, such as `tasks[3].read.period`; empty for the whole.
    pub path: String,
    /// Its line in the file (of task sets, or of allocations), from 1.
    #[schemars(range(min = 1))]
    pub line: usize,
    /// Its column, from 1, in characters.
    #[schemars(range(min = 1))]
    pub column: usize,
}

/// The schema of an answer, with what is around it. In a stream an answer may have a line, or be an error.
pub fn schema(answers: &[Schema], streamed: bool) -> Schema {
    let mut parts: Vec<Map<String, Value>> = answers.iter().filter_map(|schema| schema.as_object().cloned()).collect();
    for part in &mut parts {
        frame(part, if streamed { Some(false) } else { None });
    }
    if streamed {
        let mut error = schema_for!(ErrorLine).as_object().cloned().unwrap_or_default();
        frame(&mut error, Some(true));
        parts.push(error);
    }
    if parts.len() < 2 {
        return parts.pop().map(Schema::from).unwrap_or_default();
    }
    alternatives(parts)
}

/// Adds the fields of the envelope to the schema of an object. `line`: whether it must be there, where it may be.
fn frame(object: &mut Map<String, Value>, line: Option<bool>) {
    let mut add = |name: &str, property: Value, required: bool| {
        if let Value::Object(properties) = object.entry("properties").or_insert_with(|| json!({})) {
            properties.insert(name.into(), property);
        }
        if let (true, Value::Array(names)) = (required, object.entry("required").or_insert_with(|| json!([]))) {
            names.insert(0, name.into());
        }
    };
    if let Some(required) = line {
        let description = "The line of the input on which the task set begins, from 1. Only in a stream of task sets.";
        add("line", json!({ "description": description, "type": "integer", "minimum": 1 }), required);
    }
    let description = "The format of this answer: fields may be added to it, those that are here stay as they are.";
    add("format", json!({ "description": description, "const": ANSWER_FORMAT }), true);
}

/// One schema for whatever of these there is, the first of which gives its title and description.
fn alternatives(parts: Vec<Map<String, Value>>) -> Schema {
    let mut root = Map::new();
    let (mut any, mut all) = (Vec::new(), Map::new());
    for mut part in parts {
        if let Some(Value::Object(definitions)) = part.remove("$defs") {
            all.extend(definitions);
        }
        if let Some(version) = part.remove("$schema") {
            root.entry("$schema").or_insert(version);
        }
        let title = part.remove("title").and_then(|title| title.as_str().map(str::to_owned)).unwrap_or_default();
        root.entry("title").or_insert_with(|| title.clone().into());
        if let Some(description) = part.get("description") {
            root.entry("description").or_insert_with(|| description.clone());
        }
        any.push(json!({ "$ref": format!("#/$defs/{title}") }));
        all.insert(title, Value::Object(part));
    }
    root.insert("anyOf".into(), Value::Array(any));
    root.insert("$defs".into(), Value::Object(all));
    Schema::from(root)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_says_its_format_first_and_then_its_line() {
        let mut text = line(&json!({ "a": [1] }));
        assert_eq!(text, "{\"format\":1,\"a\":[1]}\n");
        number(&mut text, 12);
        assert_eq!(text, "{\"format\":1,\"line\":12,\"a\":[1]}\n");
        assert!(pretty(&json!({ "a": 1 })).starts_with("{\n  \"format\": 1,\n"));
    }
}
