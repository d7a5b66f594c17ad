//! The input of `rtflash host run`: a scenario, or a job file of fio and the device that it runs
//! on.

use std::path::{Path, PathBuf};

use rtflash_alloc::allocator::{Outcome, usual};
use rtflash_analysis::Work;
use rtflash_analysis::verdict::completed;
use rtflash_drive::claims::Fitted;
use rtflash_host::run::{FioJobs, FioOutside, Outside, Scenario, is_fio, read_fio, read_scenario_with, read_setup};
use rtflash_model::{Allocation, Diagnostics, Placement, Reliance, TaskSet};
use rtflash_verify::verify_certified;

use super::{allocate, analysis_relying_on};
use crate::answer::{Status, Unanswered};
use crate::args::HostInputArgs;
use crate::{CommandFailure, source};

/// Files beside the scenario, and certificates of the sound analysis.
struct HostFiles<'p>(Option<&'p Path>);

impl Outside for HostFiles<'_> {
    fn file(&mut self, name: &str) -> Result<String, String> {
        let path = self.0.map_or_else(|| Path::new(name).to_owned(), |folder| folder.join(name));
        source::read(&path).map(|(_, text)| text).map_err(|failure| failure.0)
    }

    fn certified(&mut self, set: &TaskSet, given: Option<Allocation>) -> Result<Allocation, String> {
        let analysis = analysis_relying_on("sound", Reliance::Neighbours).map_err(|failure| failure.0)?;
        if let Some(given) = given {
            return Ok(completed(set, analysis, given));
        }
        match allocate(set, usual(analysis), analysis, false, &Work::new()) {
            Outcome::Schedulable(allocation) => Ok(allocation),
            Outcome::CannotTell(limit) => Err(limit.to_string()),
            _ => Err("the sound analysis finds no allocation by which all deadlines are kept".to_owned()),
        }
    }

    /// By the verifier of `check`.
    fn judge(&mut self, set: &TaskSet, allocation: &Allocation) -> Result<(), String> {
        let verification = verify_certified(set, allocation, &Placement::ALL, Reliance::Neighbours);
        if verification.accepts() {
            return Ok(());
        }
        let wrong = verification.clusters.iter().position(|of| of.holds != Some(true) || !of.discrepancies.is_empty());
        let cluster = wrong.expect("some cluster is refused");
        let complaint = verification.clusters[cluster].discrepancies.first();
        let problem = complaint.map_or_else(|| "its test does not hold".to_owned(), Clone::clone);
        Err(format!("the certificate of cluster {cluster} promises nothing: {problem}"))
    }
}

impl FioOutside for HostFiles<'_> {
    fn file(&mut self, name: &str) -> Result<String, String> {
        Outside::file(self, name)
    }

    fn variable(&mut self, name: &str) -> Option<String> {
        std::env::var(name).ok()
    }
}

/// A text, and what it is called in complaints.
#[derive(Debug, Clone)]
pub struct NamedText {
    /// Its name.
    pub name: String,
    /// The text.
    pub text: String,
}

impl NamedText {
    /// Reads a file.
    pub fn read(path: &Path) -> Result<NamedText, CommandFailure> {
        source::read(path).map(|(name, text)| NamedText { name, text })
    }

    fn is_of_fio(&self) -> bool {
        let ending = Path::new(&self.name).extension();
        ending.is_some_and(|ending| ending.eq_ignore_ascii_case("fio")) || is_fio(&self.text)
    }

    fn refused(&self, wrong: &Diagnostics) -> Unanswered {
        Unanswered::refused(&self.name, &self.text, wrong)
    }
}

pub fn advice(scenario: &Scenario) -> String {
    scenario.advice().iter().map(|line| format!("advice: {line}\n")).collect()
}

pub struct Input {
    file: NamedText,
    /// For a job file of fio.
    setup: Option<NamedText>,
    /// The folder of the files that a scenario names.
    folder: Option<PathBuf>,
}

impl Input {
    pub fn read(args: &HostInputArgs) -> Result<Input, CommandFailure> {
        let file = NamedText::read(&args.file)?;
        let setup = match &args.device {
            Some(device) if device == &args.file && file.is_of_fio() => {
                fail!("--device: the job file itself, where its device has to be");
            }
            Some(device) => Some(NamedText::read(device)?),
            None => None,
        };
        Input::new(file, setup, args.file.parent().map(Path::to_owned))
    }

    pub fn new(file: NamedText, setup: Option<NamedText>, folder: Option<PathBuf>) -> Result<Input, CommandFailure> {
        let setup = match (file.is_of_fio(), setup) {
            (true, Some(device)) => Some(device),
            (false, None) => None,
            (true, None) => {
                let name = file.name;
                fail!("{name} is a job file of fio, and these have no device: --device FILE says what it runs on");
            }
            (false, Some(_)) => {
                fail!(
                    "{} is no job file of fio (these begin with a section in brackets), and a scenario has its own \
                     device: --device is for job files",
                    file.name
                );
            }
        };
        Ok(Input { file, setup, folder })
    }

    /// The measurements behind a device that was fitted, if they carry bounds for this scenario.
    /// Fails if the drive had a trend, or a job does what was not measured (exit status 3).
    pub fn measured(&self, scenario: &Scenario) -> Result<Option<Fitted>, Unanswered> {
        let fitted = self.measured_jobs(scenario)?;
        match fitted.as_ref().and_then(Fitted::no_bound) {
            Some(reason) => Err(Unanswered::because(&reason, Status::CannotTell)),
            None => Ok(fitted),
        }
    }

    /// The measurements behind a device that was fitted, whether they carry bounds or not. Fails if
    /// a job does what was not measured (exit status 3).
    pub fn measured_jobs(&self, scenario: &Scenario) -> Result<Option<Fitted>, Unanswered> {
        let Some(fitted) = self.fitted() else { return Ok(None) };
        match fitted.not_measured(scenario) {
            Some(reason) => Err(Unanswered::because(&reason, Status::CannotTell)),
            None => Ok(Some(fitted)),
        }
    }

    pub fn fitted(&self) -> Option<Fitted> {
        if let Some(setup) = &self.setup {
            return Fitted::in_text(&setup.text);
        }
        let scenario: serde_json::Value = serde_json::from_str(&self.file.text).ok()?;
        match scenario.get("device")?.as_str() {
            Some(name) => Fitted::in_text(&Outside::file(&mut HostFiles(self.folder.as_deref()), name).ok()?),
            None => Fitted::in_text(&self.file.text),
        }
    }

    pub fn scenario(&self, scheduler: Option<&str>) -> Result<Scenario, Unanswered> {
        if let Some(setup) = &self.setup {
            return self.fio_jobs(setup, scheduler).map(|jobs| jobs.scenario);
        }
        let read = read_scenario_with(&self.file.text, scheduler, &mut HostFiles(self.folder.as_deref()));
        read.map_err(|wrong| self.file.refused(&wrong))
    }

    fn fio_jobs(&self, setup: &NamedText, scheduler: Option<&str>) -> Result<FioJobs, Unanswered> {
        let on = read_setup(&setup.text, scheduler).map_err(|wrong| setup.refused(&wrong))?;
        let read = read_fio(&self.file.text, &on, &mut HostFiles(self.folder.as_deref()));
        read.map_err(|wrong| self.file.refused(&wrong))
    }

    /// Options of a job file that are not used, and those by which its jobs differ from fio's, a
    /// line each.
    pub fn remarks(&self) -> Result<String, Unanswered> {
        let Some(setup) = &self.setup else { return Ok(String::new()) };
        Ok(self.fio_jobs(setup, None)?.remarks(&self.file.name))
    }
}
