//! Job files of fio, the flexible I/O tester: the I/Os that their options ask for, and when.
//!
//! Job files have no device, and no host: a [`HostSetup`] has these.

mod build;
mod cached;
mod known;
mod options;
mod places;
mod release;
mod sizes;
mod units;
mod variables;

use std::collections::HashMap;
use std::ops::Range;

use rtflash_model::reading::{nearest, quote};
use rtflash_model::{Diagnostic, Diagnostics, Instant, Path};

use self::known::{Treatment, is_off};
use self::options::{NamedFault, OptionFault, Said, SectionOptions};
use self::places::FioFiles;
use super::job::Job;
use super::scenario::{HostSetup, Scenario};

/// Jobs that a file may have.
const MAX_JOBS: usize = 4_096;

/// Faults after which a file is given up.
const MAX_FAULTS: usize = 1_000;

/// Files that can include one another.
const MAX_INCLUDED: usize = 64;

/// Sources beside a job file: files that it includes, and variables of the environment.
pub trait FioOutside {
    /// The text of a file that is named in the job file.
    ///
    /// # Errors
    /// Why it cannot be read.
    fn file(&mut self, name: &str) -> Result<String, String>;

    /// A variable of the environment; `None` where there is none.
    fn variable(&mut self, name: &str) -> Option<String>;
}

/// Neither files nor variables.
impl FioOutside for () {
    fn file(&mut self, name: &str) -> Result<String, String> {
        Err(format!("{} cannot be read from here", quote(name)))
    }

    fn variable(&mut self, _: &str) -> Option<String> {
        None
    }
}

/// A job file that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FioJobs {
    /// Its jobs, on the setup. The duration is the end of time if the jobs end by themselves.
    pub scenario: Scenario,
    /// Its files and devices, and where each begins on the setup's device.
    pub files: Vec<(String, u64)>,
    /// Options that change no I/O, in the order in which they come.
    pub ignored: Vec<&'static str>,
    /// Options that change I/O in fio and not here: their names, and how jobs differ.
    pub differs: Vec<(String, String)>,
}

impl FioJobs {
    /// Options that change no I/O, and those by which jobs differ from fio's, a line each. `name`:
    /// the file's.
    pub fn remarks(&self, name: &str) -> String {
        let mut remarks = String::new();
        if !self.ignored.is_empty() {
            remarks += &format!("{name}: ignored, as they change no I/O: {}\n", self.ignored.join(", "));
        }
        for (option, how) in &self.differs {
            remarks += &format!("{name}: differs from fio: `{option}`: {how}\n");
        }
        remarks
    }
}

/// Whether a text is a fio job file: its first line that is not empty and no comment begins a
/// section.
pub fn is_fio(text: &str) -> bool {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with([';', '#']));
    // A list of JSON begins so, too.
    let name = |line: &str| line.strip_prefix('[').map(|name| name.trim_start().starts_with(char::is_alphanumeric));
    lines.next().and_then(name).unwrap_or(false)
}

/// Reads a fio job file, and checks that it can be run on this setup.
///
/// # Errors
/// All that is wrong with it.
pub fn read_fio(text: &str, setup: &HostSetup, outside: &mut dyn FioOutside) -> Result<FioJobs, Diagnostics> {
    let mut reader = FioReader {
        text,
        setup,
        outside,
        faults: Vec::new(),
        jobs: Vec::new(),
        sections: Vec::new(),
        files: FioFiles::default(),
        names: HashMap::new(),
        barrier: (Vec::new(), Instant::START),
        waited: Vec::new(),
        is_doubtful: false,
        ignored: Vec::new(),
        differs: Vec::new(),
        included: 0,
    };
    reader.file();
    let files = reader.files.place(&mut reader.jobs).unwrap_or_else(|position| {
        let path = Path::root().key(&reader.jobs[position].name);
        let wrong = ("its file ends beyond 2^64 bytes".into(), "files that stay below together".into());
        reader.refuse(reader.sections[position].clone(), path, wrong);
        Vec::new()
    });
    if reader.faults.is_empty() && reader.jobs.is_empty() {
        let end = text.len()..text.len();
        reader.refuse(
            end,
            Path::root(),
            ("no jobs".into(), "a job's name in brackets, and its options below it".into()),
        );
    }
    reader.write_back();
    if !reader.faults.is_empty() {
        return Err(Diagnostics::new(reader.faults));
    }
    // Jobs that wait for others, or have no time, end when they are done.
    let jobs = reader.jobs.iter().filter(|job| !job.is_flusher());
    let ends = jobs.map(|job| job.until.filter(|_| job.after.is_empty()));
    let duration = ends.collect::<Option<Vec<Instant>>>().and_then(|ends| ends.into_iter().max());
    let (HostSetup { device, host, scheduler, .. }, duration) = (setup.clone(), duration.unwrap_or(Instant::END));
    let scenario = Scenario { device, host, scheduler, jobs: reader.jobs, duration, warmup: Instant::START };
    Ok(FioJobs { scenario, files, ignored: reader.ignored, differs: reader.differs })
}

/// A section that is being read.
struct Section {
    name: String,
    at: Range<usize>,
    options: SectionOptions,
    is_global: bool,
    /// Those found above it.
    faults: usize,
}

struct FioReader<'a> {
    text: &'a str,
    setup: &'a HostSetup,
    outside: &'a mut dyn FioOutside,
    faults: Vec<Diagnostic>,
    jobs: Vec<Job>,
    /// The head of each job's section.
    sections: Vec<Range<usize>>,
    files: FioFiles,
    /// Jobs, and the jobs that belong to them, by the names of their sections.
    names: HashMap<String, Vec<usize>>,
    /// The jobs that all jobs from here on wait for, and when the first of these can begin.
    barrier: (Vec<usize>, Instant),
    /// Those that the present section waits for by name.
    waited: Vec<usize>,
    /// Whether a global section is wrong: what is missing below may be there.
    is_doubtful: bool,
    ignored: Vec<&'static str>,
    differs: Vec<(String, String)>,
    /// Files that were included.
    included: usize,
}

/// A line as fio sees it: a semicolon or a hash begins a comment.
fn stripped(line: &str) -> &str {
    let line = line.trim_matches(|c: char| c.is_whitespace() || c.is_control() || c == '\u{feff}');
    let line = line.split(';').next().unwrap_or(line);
    line.split('#').next().unwrap_or(line).trim_end()
}

impl FioReader<'_> {
    /// States a fault of a part of the text, once.
    fn refuse(&mut self, range: Range<usize>, path: Path, (problem, expected): OptionFault) {
        if !self.faults.iter().any(|fault| fault.range == range && fault.problem == problem) {
            self.faults.push(Diagnostic { range, path, problem, expected });
        }
    }

    fn file(&mut self) {
        let text = self.text;
        let mut global = SectionOptions::default();
        let mut section: Option<Section> = None;
        for line in text.split_inclusive('\n') {
            let line = stripped(line);
            if self.faults.len() >= MAX_FAULTS {
                break;
            }
            if line.is_empty() {
                continue;
            }
            if line.starts_with('[') {
                self.end_of(section.take(), &mut global);
                section = self.section(line, &global);
            } else if let Some(section) = &mut section {
                self.option(line, self.range(line), section);
            } else if self.faults.is_empty() {
                let wrong =
                    ("an option above all sections".into(), "`[global]`, or a job's name in brackets, above it".into());
                self.refuse(self.range(line), Path::root(), wrong);
            }
        }
        self.end_of(section, &mut global);
    }

    /// The bytes of the text that a part of it is.
    fn range(&self, part: &str) -> Range<usize> {
        let start = (part.as_ptr() as usize).saturating_sub(self.text.as_ptr() as usize).min(self.text.len());
        start..(start + part.len()).min(self.text.len())
    }

    fn section(&mut self, line: &str, global: &SectionOptions) -> Option<Section> {
        let inner = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')).map(str::trim);
        let Some(name) = inner.filter(|name| !name.is_empty()) else {
            let wrong = (format!("{} begins no section", quote(line)), "a name in brackets, such as `[reader]`".into());
            self.refuse(self.range(line), Path::root(), wrong);
            return None;
        };
        // fio compares the beginning alone (`__parse_jobs_ini` of init.c).
        let is_global = name.starts_with("global");
        Some(Section {
            name: name.into(),
            at: self.range(line),
            options: global.clone(),
            is_global,
            faults: self.faults.len(),
        })
    }

    /// An option. `at` is its place in the text; a line of an included file has that of the line
    /// that includes it.
    fn option(&mut self, line: &str, at: Range<usize>, section: &mut Section) {
        let path = Path::root().key(&section.name);
        if let Some(name) = line.strip_prefix("include").filter(|rest| rest.starts_with([' ', '\t', '='])) {
            self.include(name[1..].trim(), at, section);
            return;
        }
        let line = variables::with_variables(line, &mut |name| self.outside.variable(name));
        let line = match variables::with_keywords(&line, self.setup.host.cpus) {
            Ok(line) => line,
            Err(expected) => {
                self.refuse(at, path, (format!("{} cannot be calculated", quote(&line)), expected.into()));
                return;
            }
        };
        let (name, stated) = line.split_once('=').unwrap_or((&line, ""));
        let (name, value) = (name.trim_end(), stated.trim());
        let Some((known, treatment)) = known::option(name) else {
            let names: Vec<&str> = known::names().collect();
            let expected = match nearest(name, names.iter().copied()) {
                Some(near) => format!("`{}`, the nearest of the known options", names[near]),
                None => "an option of fio".into(),
            };
            let at = at.start..(at.start + name.len()).min(at.end);
            self.refuse(at, path.key(name), (format!("unknown option {}", quote(name)), expected));
            return;
        };
        let is_text = matches!(known, "filename" | "directory" | "filename_format" | "wait_for");
        match treatment {
            Treatment::Taken if !is_text && units::loses_unit(stated) => {
                let problem = format!("`{name}` is {}: fio reads no unit behind a blank", quote(stated));
                self.refuse(at, path.key(name), (problem, "the value without blanks".into()));
            }
            Treatment::Taken => section.options.set(known, Said { value: value.into(), at }),
            Treatment::Ignored => self.ignored.extend((!self.ignored.contains(&known)).then_some(known)),
            _ if is_off(value) => {}
            Treatment::Differs(how) => self.differs(known, how),
            Treatment::Refused(why) => {
                self.refuse(at, path.key(name), (format!("`{name}`: {why}"), "a file without it".into()));
            }
        }
    }

    fn differs(&mut self, name: &str, how: &str) {
        if !self.differs.iter().any(|(known, known_how)| known == name && known_how == how) {
            self.differs.push((name.to_owned(), how.to_owned()));
        }
    }

    /// The options of another file.
    fn include(&mut self, name: &str, at: Range<usize>, section: &mut Section) {
        let path = Path::root().key(&section.name).key("include");
        self.included += 1;
        if self.included > MAX_INCLUDED {
            let wrong = ("files include more and more files".into(), format!("at most {MAX_INCLUDED} in all"));
            self.refuse(at, path, wrong);
            return;
        }
        let text = match self.outside.file(name) {
            Ok(text) => text,
            Err(why) => {
                self.refuse(at, path, (why, "a file beside the job file".into()));
                return;
            }
        };
        for line in text.lines().map(stripped).filter(|line| !line.is_empty()) {
            if self.faults.len() >= MAX_FAULTS {
                return;
            }
            if line.starts_with('[') {
                let wrong =
                    (format!("{} begins a section", quote(name)), "options alone in a file that is included".into());
                self.refuse(at, path, wrong);
                return;
            }
            self.option(line, at.clone(), section);
        }
    }

    /// A section is over: it is that of jobs, or it holds for those below.
    fn end_of(&mut self, section: Option<Section>, global: &mut SectionOptions) {
        let Some(section) = section else { return };
        if section.is_global {
            self.is_doubtful |= section.faults < self.faults.len();
            *global = section.options;
        } else if section.faults == self.faults.len() && !self.is_doubtful {
            if section.options.flag("create_only") {
                self.differs("create_only", "a section that only creates files does nothing");
            } else if let Err(fault) = self.clones(&section) {
                self.complain(&section, fault);
            }
        }
    }

    /// States a fault of an option of a section. Its place is behind the equals sign, or where the
    /// section begins.
    fn complain(&mut self, section: &Section, (name, (problem, expected)): NamedFault) {
        let path = Path::root().key(&section.name);
        let place = section.options.place(name);
        let path = if name.is_empty() { path } else { path.key(name) };
        let at = place.map_or(section.at.clone(), |at| {
            let line = &self.text[at.clone()];
            match line.split_once('=') {
                Some((_, value)) if !value.trim().is_empty() => at.end - value.trim_start().len()..at.end,
                Some((name, _)) => at.start..at.start + name.trim_end().len(),
                None => at,
            }
        });
        self.refuse(at, path, (problem, expected));
    }
}
