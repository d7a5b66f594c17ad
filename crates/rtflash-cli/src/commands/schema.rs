//! `rtflash schema`: JSON Schemas of what is read and written.

use rtflash_model::{allocation_schema, task_set_schema};
use rtflash_wire::framed;
use schemars::schema_for;

use super::experiment::Manifest;
use super::soak::SoakAnswer;
use crate::Failure;
use crate::output;
use crate::status::Status;

/// Prints a schema.
///
/// # Errors
/// Where there is none of that name, or it cannot be written.
pub fn run(name: &str) -> Result<Status, Failure> {
    let schema = text(name).ok_or_else(|| Failure(format!("there is no schema `{name}`")))?;
    output::print(&schema)?;
    Ok(Status::Yes)
}

/// The text of a schema.
pub fn text(name: &str) -> Option<String> {
    let schema = match name {
        "task-set" => task_set_schema(),
        "allocation" => allocation_schema(),
        "soak" => framed(&[schema_for!(SoakAnswer)], false),
        "manifest" => framed(&[schema_for!(Manifest)], false),
        answers => rtflash_wire::schema(answers)?,
    };
    let mut text = serde_json::to_string_pretty(&schema).ok()?;
    text.push('\n');
    Some(text)
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_name_has_a_schema() {
        assert!(crate::args::SCHEMAS.into_iter().all(|name| super::text(name).is_some()));
    }
}
