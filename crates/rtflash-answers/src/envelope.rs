//! The frame of every answer in JSON: the format, in a stream the line, and the fault that replaces
//! an answer to a wrong input. `docs/formats.md` says what is promised of it.

use rtflash_model::ANSWER_FORMAT;
use schemars::{JsonSchema, Schema, schema_for};
use serde::{Deserialize, Serialize};
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
    let written = serde_json::to_string(&Envelope { format: ANSWER_FORMAT, answer });
    let mut text = written.expect("every key of an answer is a string");
    text.push('\n');
    text
}

/// An answer of a command. It is written beside the answers, so that a printer of it compiles no
/// writer.
pub trait Answer {
    /// One line of JSON, as the command prints it.
    fn line(&self) -> String;
}

macro_rules! answers {
    ($($answer:ty),* $(,)?) => {
        $(impl Answer for $answer {
            fn line(&self) -> String {
                line(self)
            }
        })*
    };
}

answers! {
    crate::AdmitAnswer<'_>, crate::MigrateAnswer<'_>, crate::AllocAnswer<'_>, crate::BoundAnswer<'_>, crate::CheckAnswer<'_>, crate::DatasheetAnswer, crate::DriveCheckAnswer, crate::DriveFitAnswer, crate::DriveProtocolAnswer, crate::ExecAnswer<'_>, crate::ExplainAnswer<'_>,
    crate::Explanation<'_>, crate::ExportAnswer<'_>, crate::ReplayAnswer<'_>, crate::HostAnswer<'_>, crate::ImportAnswer<'_>, crate::ServeAnswer<'_>, crate::SizeAnswer<'_>, crate::SoakAnswer, crate::Summary, crate::TuneAnswer<'_>, crate::Unexplained<'_>,
    ErrorLine,
}

/// The answer in its envelope on several lines, for a file that a person reads.
pub fn pretty(answer: &impl Serialize) -> String {
    // As above.
    let written = serde_json::to_string_pretty(&Envelope { format: ANSWER_FORMAT, answer });
    let mut text = written.expect("every key of an answer is a string");
    text.push('\n');
    text
}

/// Says in an answer of [`line()`] on which line of the stream its task set begins, from 1.
pub fn number(text: &mut String, line: usize) {
    debug_assert!(text.starts_with(HEAD), "{text}");
    text.insert_str(HEAD.len(), &format!(r#""line":{line},"#));
}

/// The content of a line that [`read`] reads.
#[derive(Debug, Clone)]
pub struct ReadAnswer<T> {
    /// In a stream, the line of the input on which the task set begins.
    pub line: Option<usize>,
    /// The answer, or what was wrong with the input.
    pub answer: Result<T, Fault>,
}

/// The frame of an answer. The fields of the answer are passed over.
#[derive(Deserialize)]
struct Head {
    format: u64,
    line: Option<usize>,
    error: Option<Fault>,
}

/// Reads an answer back: a whole file, or one line of a stream.
///
/// # Errors
/// If the text is not JSON, if it is in another format than ours, or if it is not an answer of this
/// kind. Fields that this version does not know are passed over.
pub fn read<'t, T: Deserialize<'t>>(text: &'t str) -> Result<ReadAnswer<T>, ReadError> {
    let Head { format, line, error } = serde_json::from_str(text).map_err(ReadError::Json)?;
    if format != ANSWER_FORMAT {
        return Err(ReadError::Format(format));
    }
    let answer = match error {
        Some(fault) => Err(fault),
        None => Ok(serde_json::from_str(text).map_err(ReadError::Json)?),
    };
    Ok(ReadAnswer { line, answer })
}

impl<T: Serialize> ReadAnswer<T> {
    /// The line that it was read from.
    pub fn to_line(&self) -> String {
        let mut text = match &self.answer {
            Ok(answer) => line(answer),
            Err(fault) => line(&ErrorLine { error: fault.clone() }),
        };
        if let Some(line) = self.line {
            number(&mut text, line);
        }
        text
    }
}

/// Why an answer cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// It is not JSON, or not an answer of the kind that was expected: what the reader says.
    #[error("not an answer of this kind: {0}")]
    Json(serde_json::Error),
    /// It is in this format, which this version does not know.
    #[error("an answer in format {0}; this version reads format {ANSWER_FORMAT}")]
    Format(u64),
}

/// The line in a stream that replaces an answer to a wrong input.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct ErrorLine {
    /// The fault.
    pub error: Fault,
}

/// The fault of an input: the first one of several. Standard error has them all.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Fault {
    /// The fault, and what would be right.
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

/// The schema of an answer, with what is around it. In a stream an answer may have a line, or be an
/// error.
pub fn framed(answers: &[Schema], streamed: bool) -> Schema {
    let mut parts: Vec<Map<String, Value>> = answers.iter().filter_map(|schema| schema.as_object().cloned()).collect();
    for part in &mut parts {
        frame(part, if streamed { Some(false) } else { None });
    }
    if streamed {
        let mut error = schema_for!(ErrorLine).as_object().cloned().expect("the schema of an object");
        frame(&mut error, Some(true));
        parts.push(error);
    }
    if parts.len() < 2 {
        return parts.pop().expect("a command has an answer").into();
    }
    alternatives(parts)
}

/// Adds the fields of the envelope to the schema of an object. `line`: whether it must be there,
/// where it may be.
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
        let title = part.remove("title").and_then(|title| title.as_str().map(str::to_owned));
        let title = title.expect("the schema of a type has its name");
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

    #[test]
    fn lines_are_read_back() {
        for text in [
            "{\"format\":1,\"a\":[1]}\n",
            "{\"format\":1,\"line\":7,\"a\":[]}\n",
            "{\"format\":1,\"line\":7,\"error\":{\"message\":\"no\",\"path\":\"\",\"line\":7,\"column\":1}}\n",
        ] {
            #[derive(Serialize, Deserialize)]
            struct Some {
                a: Vec<u64>,
            }
            assert_eq!(read::<Some>(text).expect("an answer").to_line(), text);
        }
        let refused = |text: &str| read::<Value>(text).expect_err("no answer").to_string();
        assert_eq!(refused("{\"format\":2}"), "an answer in format 2; this version reads format 1");
        assert!(refused("{\"a\":1}").starts_with("not an answer of this kind: missing field `format`"));
    }
}
