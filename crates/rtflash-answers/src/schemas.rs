//! The schemas of all answers.

use rtflash_experiment::output::Summary;
use schemars::{Schema, schema_for};

use crate::envelope::framed;
use crate::{
    AdmitAnswer, AllocAnswer, BoundAnswer, CheckAnswer, DatasheetAnswer, DriveCheckAnswer, DriveFitAnswer,
    DriveProtocolAnswer, ExecAnswer, Explanation, ExportAnswer, HostAnswer, ImportAnswer, MigrateAnswer, ReplayAnswer,
    ServeAnswer, SizeAnswer, SoakAnswer, TuneAnswer, Unexplained,
};

/// The JSON Schema of a command's answers, by the command's name (`host-run` for `host run`), or
/// `None` for a command without any.
pub fn schema(command: &str) -> Option<Schema> {
    Some(match command {
        "alloc" => framed(&[schema_for!(AllocAnswer<'static>)], true),
        "admit" => framed(&[schema_for!(AdmitAnswer<'static>)], false),
        "migrate" => framed(&[schema_for!(MigrateAnswer<'static>)], false),
        "check" => framed(&[schema_for!(CheckAnswer<'static>)], true),
        "explain" => framed(&[schema_for!(Explanation<'static>), schema_for!(Unexplained<'static>)], true),
        "size" => framed(&[schema_for!(SizeAnswer<'static>)], true),
        "soak" => framed(&[schema_for!(SoakAnswer)], false),
        "exec" => framed(&[schema_for!(ExecAnswer<'static>)], true),
        "experiment" => framed(&[schema_for!(Summary)], false),
        "host-bound" => framed(&[schema_for!(BoundAnswer<'static>)], false),
        "host-check" => framed(&[schema_for!(DriveCheckAnswer)], false),
        "host-fit" => framed(&[schema_for!(DriveFitAnswer)], false),
        "host-protocol" => framed(&[schema_for!(DriveProtocolAnswer)], false),
        "host-datasheet" => framed(&[schema_for!(DatasheetAnswer)], false),
        "host-tune" => framed(&[schema_for!(TuneAnswer<'static>)], false),
        "export" => framed(&[schema_for!(ExportAnswer<'static>)], false),
        "replay" => framed(&[schema_for!(ReplayAnswer<'static>)], false),
        "import" => framed(&[schema_for!(ImportAnswer<'static>)], false),
        "serve" => framed(&[schema_for!(ServeAnswer<'static>)], false),
        "host-run" => framed(&[schema_for!(HostAnswer<'static>)], false),
        _ => return None,
    })
}
