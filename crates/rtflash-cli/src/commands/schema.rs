//! `rtflash schema`: JSON Schemas of what is read and written.

use rtflash_experiment::output::Summary;
use rtflash_model::{allocation_schema, task_set_schema};
use schemars::schema_for;

use super::experiment::Manifest;
use super::soak::SoakAnswer;
use crate::Failure;
use crate::output::Output;
use crate::render::envelope::schema;
use crate::render::exec_wire::ExecAnswer;
use crate::render::explain_wire::{Explanation, Unexplained};
use crate::render::host::HostAnswer;
use crate::render::host_bound::BoundAnswer;
use crate::render::host_tune::TuneAnswer;
use crate::render::size_wire::SizeAnswer;
use crate::render::wire::{AllocAnswer, CheckAnswer};
use crate::status::Status;

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
    let schema = match name {
        "task-set" => task_set_schema(),
        "allocation" => allocation_schema(),
        "alloc" => schema(&[schema_for!(AllocAnswer<'static>)], true),
        "check" => schema(&[schema_for!(CheckAnswer<'static>)], true),
        "explain" => schema(&[schema_for!(Explanation<'static>), schema_for!(Unexplained<'static>)], true),
        "size" => schema(&[schema_for!(SizeAnswer<'static>)], true),
        "exec" => schema(&[schema_for!(ExecAnswer<'static>)], true),
        "soak" => schema(&[schema_for!(SoakAnswer)], false),
        "experiment" => schema(&[schema_for!(Summary)], false),
        "host-bound" => schema(&[schema_for!(BoundAnswer<'static>)], false),
        "host-tune" => schema(&[schema_for!(TuneAnswer<'static>)], false),
        "host-run" => schema(&[schema_for!(HostAnswer<'static>)], false),
        "manifest" => schema(&[schema_for!(Manifest)], false),
        _ => return None,
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
