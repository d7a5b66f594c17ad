//! `rtflash schema`: JSON Schemas of what is read and written.

use rtflash_experiment::output::Summary;
use rtflash_model::{allocation_schema, task_set_schema};
use schemars::{Schema, schema_for};

use super::experiment::Manifest;
use super::soak::SoakAnswer;
use crate::Failure;
use crate::output::Output;
use crate::render::exec_wire::ExecAnswer;
use crate::render::explain_wire::Explanation;
use crate::render::wire::{AllocAnswer, CheckAnswer};
use crate::status::Status;

/// A schema that has a name.
#[derive(Clone, Copy)]
pub struct NamedSchema {
    /// What the user calls it.
    pub name: &'static str,
    make: fn() -> Schema,
}

/// Every schema.
pub const SCHEMAS: [NamedSchema; 9] = [
    NamedSchema { name: "task-set", make: task_set_schema },
    NamedSchema { name: "allocation", make: allocation_schema },
    NamedSchema { name: "alloc", make: || schema_for!(AllocAnswer<'static>) },
    NamedSchema { name: "check", make: || schema_for!(CheckAnswer<'static>) },
    NamedSchema { name: "exec", make: || schema_for!(ExecAnswer<'static>) },
    NamedSchema { name: "explain", make: || schema_for!(Explanation<'static>) },
    NamedSchema { name: "soak", make: || schema_for!(SoakAnswer) },
    NamedSchema { name: "experiment", make: || schema_for!(Summary) },
    NamedSchema { name: "manifest", make: || schema_for!(Manifest) },
];

/// Prints a schema.
///
/// # Errors
/// Where there is none of that name, or it cannot be written.
pub fn run(name: &str) -> Result<Status, Failure> {
    let schema = text(name).ok_or_else(|| Failure(format!("there is no schema `{name}`")))?;
    let mut output = Output::stdout();
    output.write(&schema).and_then(|_| output.flush()).map_err(|error| Failure::io("cannot write", &error))?;
    Ok(Status::Yes)
}

/// The text of a schema.
pub fn text(name: &str) -> Option<String> {
    let schema = SCHEMAS.iter().find(|schema| schema.name == name)?;
    let mut text = serde_json::to_string_pretty(&(schema.make)()).ok()?;
    text.push('\n');
    Some(text)
}
