//! The file of `--phases`.

use std::borrow::Cow;
use std::sync::Arc;

use rtflash_exec::{Options, read_release_pattern};
use rtflash_model::{Frame, TaskSet};

use crate::CommandFailure;
use crate::answer::SetAnswer;
use crate::args::PhasesArg;
use crate::source;

/// A release pattern as it is written, for any task set.
pub struct ReleaseFile {
    name: String,
    frame: Frame,
}

impl ReleaseFile {
    /// The file that is asked for, if one is.
    ///
    /// # Errors
    /// Where it cannot be read.
    pub fn open(phases: &PhasesArg) -> Result<Option<ReleaseFile>, CommandFailure> {
        let PhasesArg::File(path) = phases else { return Ok(None) };
        let (name, text) = source::read(path).map_err(|failure| {
            CommandFailure(format!("{}; --phases takes periodic, at-erases, random or a file", failure.0))
        })?;
        let frame = Frame { text: text.into_bytes(), first_line: 1, first_column: 1 };
        Ok(Some(ReleaseFile { name, frame }))
    }

    /// Options with what it says of a task set, if there is one.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn apply<'o>(
        file: Option<&ReleaseFile>,
        set: &TaskSet,
        options: &'o Options,
    ) -> Result<Cow<'o, Options>, Box<SetAnswer>> {
        let Some(ReleaseFile { name, frame }) = file else { return Ok(Cow::Borrowed(options)) };
        let text = String::from_utf8_lossy(&frame.text);
        let pattern = read_release_pattern(&text, set)
            .map_err(|diagnostics| Box::new(SetAnswer::refused(name, frame, &diagnostics)))?;
        Ok(Cow::Owned(Options { releases: Some(Arc::new(pattern)), ..options.clone() }))
    }
}
