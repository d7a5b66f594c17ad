//! The files of `--phases` and `--releases`.

use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

use rtflash_model::{Frame, TaskSet};
use rtflash_plan::{Options, read_partial_release_pattern, read_release_pattern};

use crate::answer::{Unanswered, whole};
use crate::args::PhasesArg;
use crate::{CommandFailure, source};

pub struct ReleaseFile {
    name: String,
    frame: Frame,
    /// Whether each request has to have an offset.
    all: bool,
}

impl ReleaseFile {
    pub fn open(phases: &PhasesArg, releases: Option<&str>) -> Result<Option<ReleaseFile>, CommandFailure> {
        let (name, text) = match (phases, releases) {
            (PhasesArg::File(_), Some(_)) => {
                fail!(
                    "--phases FILE and --releases both state releases: --releases states all that a file of --phases \
                     may"
                );
            }
            (PhasesArg::File(path), None) => source::read(path).map_err(|failure| {
                CommandFailure(format!("{}; --phases takes periodic, at-erases, random or a file", failure.0))
            })?,
            (_, Some(text)) if text.trim_start().starts_with('{') => ("--releases".to_owned(), text.to_owned()),
            (_, Some(path)) => source::read(Path::new(path))?,
            (_, None) => return Ok(None),
        };
        Ok(Some(ReleaseFile { name, frame: whole(text.into_bytes()), all: releases.is_none() }))
    }

    pub fn apply<'o>(
        file: Option<&ReleaseFile>,
        set: &TaskSet,
        options: &'o Options,
    ) -> Result<Cow<'o, Options>, Unanswered> {
        let Some(ReleaseFile { name, frame, all }) = file else { return Ok(Cow::Borrowed(options)) };
        let text = String::from_utf8_lossy(&frame.text);
        let read = if *all { read_release_pattern } else { read_partial_release_pattern };
        let pattern = read(&text, set).map_err(|diagnostics| Unanswered::refused_in(name, frame, &diagnostics))?;
        Ok(Cow::Owned(Options { releases: Some(Arc::new(pattern)), ..options.clone() }))
    }
}
