//! In the place of exec_checkpoint.rs: a command that keeps no state of runs, for pages.

use std::io::{self, Read};

use rtflash_analysis::Analysis;
use rtflash_model::{Allocation, Instant, TaskSet};
use rtflash_plan::Options;
use rtflash_plan::resume::State;
use rtflash_run::Checkpoint;

use crate::CommandFailure;
use crate::args::ExecArgs;

#[derive(Debug)]
pub enum UnkeptRun {}

impl UnkeptRun {
    pub fn asked(_: &ExecArgs) -> Result<Option<UnkeptRun>, CommandFailure> {
        Ok(None)
    }
}

pub enum UnkeptFile {}

impl UnkeptFile {
    pub fn new(kept: &UnkeptRun, _: &TaskSet, _: &Allocation, _: &dyn Analysis, _: &Options) -> UnkeptFile {
        match *kept {}
    }

    pub fn failure(&self, _: &io::Error) -> String {
        match *self {}
    }
}

impl Checkpoint for UnkeptFile {
    fn last(&mut self) -> io::Result<Option<Box<dyn Read>>> {
        match *self {}
    }

    fn is_due(&mut self) -> bool {
        match *self {}
    }

    fn keep(&mut self, _: Instant, _: &dyn Fn(State<'_>) -> io::Result<()>) -> io::Result<()> {
        match *self {}
    }
}
