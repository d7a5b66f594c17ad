//! What `rtflash host run` is given: a scenario, or a job file of fio and what it runs on.

use std::path::Path;

use rtflash_host::run::{Scenario, is_fio, read_fio, read_scenario, read_setup};
use rtflash_model::Diagnostics;

use crate::args::HostRunArgs;
use crate::output;
use crate::{Failure, diagnose, source};

/// A text, and what it is called in complaints.
struct Text {
    name: String,
    text: String,
}

impl Text {
    fn read(path: &Path) -> Result<Text, Failure> {
        source::read(path).map(|(name, text)| Text { name, text })
    }

    fn complain(&self, wrong: &Diagnostics) {
        output::complain(&diagnose::render(&self.name, &self.text, 1, 1, wrong, output::complaints_in_colour()));
    }
}

/// The input of a run.
pub struct Input {
    file: Text,
    /// For a job file of fio.
    setup: Option<Text>,
}

impl Input {
    /// Reads the files.
    ///
    /// # Errors
    /// Where one cannot be read, or is one too many or too few.
    pub fn read(args: &HostRunArgs) -> Result<Input, Failure> {
        let file = Text::read(&args.file)?;
        let has_ending = args.file.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("fio"));
        let setup = match (has_ending || is_fio(&file.text), &args.device) {
            (true, Some(device)) if device == &args.file => {
                return Err(Failure("--device: the job file itself, where its device has to be".into()));
            }
            (true, Some(device)) => Some(Text::read(device)?),
            (false, None) => None,
            (true, None) => {
                let problem = "is a job file of fio, and these have no device";
                return Err(Failure(format!("{} {problem}: --device FILE says what it runs on", file.name)));
            }
            (false, Some(_)) => {
                let problem = "is no job file of fio (these begin with a section in brackets)";
                return Err(Failure(format!(
                    "{} {problem}, and a scenario has its own device: --device is for job files",
                    file.name
                )));
            }
        };
        Ok(Input { file, setup })
    }

    /// The scenario, with its own scheduler or the one of this name. `None` where something is wrong with it, which has been said.
    pub fn scenario(&self, scheduler: Option<&str>) -> Option<Scenario> {
        let Some(setup) = &self.setup else {
            return read_scenario(&self.file.text, scheduler).map_err(|wrong| self.file.complain(&wrong)).ok();
        };
        let on = read_setup(&setup.text, scheduler).map_err(|wrong| setup.complain(&wrong)).ok()?;
        read_fio(&self.file.text, &on).map_err(|wrong| self.file.complain(&wrong)).ok()
    }
}
