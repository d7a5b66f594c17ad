//! `rtflash schema`: JSON Schemas of what is read and written.

use rtflash_answers::framed;
use rtflash_model::{allocation_schema, task_set_schema};
use schemars::schema_for;
use serde_json::{Map, Value};

use super::experiment::Manifest;
use crate::answer::Status;
use crate::{CommandFailure, output};

pub fn run(name: &str) -> Result<Status, CommandFailure> {
    let schema = text(name).ok_or_else(|| CommandFailure(format!("there is no schema `{name}`")))?;
    output::print(&schema)?;
    Ok(Status::Yes)
}

pub fn text(name: &str) -> Option<String> {
    let mut schema = match name {
        "task-set" => task_set_schema(),
        "allocation" => allocation_schema(),
        "manifest" => framed(&[schema_for!(Manifest)], false),
        answers => rtflash_answers::schema(answers)?,
    };
    join_lines(schema.ensure_object());
    let mut text = serde_json::to_string_pretty(&schema).ok()?;
    text.push('\n');
    Some(text)
}

/// A reader of descriptions does not need the line breaks of the source: paragraphs alone stay
/// apart.
fn join_lines(fields: &mut Map<String, Value>) {
    if let Some(Value::String(description)) = fields.get_mut("description") {
        *description = joined(description);
    }
    fields.values_mut().for_each(join_lines_in);
}

fn join_lines_in(value: &mut Value) {
    match value {
        Value::Object(fields) => join_lines(fields),
        Value::Array(values) => values.iter_mut().for_each(join_lines_in),
        _ => {}
    }
}

fn joined(text: &str) -> String {
    let paragraphs: Vec<String> = text.split("\n\n").map(|paragraph| paragraph.replace('\n', " ")).collect();
    paragraphs.join("\n\n")
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_name_has_a_schema() {
        assert!(crate::args::SCHEMAS.split(' ').all(|name| super::text(name).is_some()));
    }
}
