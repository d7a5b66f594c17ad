//! Job files of fio, the flexible I/O tester: the options that say what is done and when.
//!
//! They have no device, and no host: a [`HostSetup`] has these.

mod options;
mod places;
mod units;

use std::collections::HashSet;
use std::ops::Range;

use rtflash_model::reading::quote;
use rtflash_model::{Diagnostic, Diagnostics, Instant, Path, Span};

use self::options::{OptionFault, SectionOptions};
use self::places::FioFiles;
use super::job::{Job, JobPattern, JobReleases};
use super::read::misfit;
use super::scenario::{HostSetup, Scenario};
use crate::{Class, Op};

/// Jobs that a file may have.
const MAX_JOBS: usize = 4_096;

/// What fio takes where a job does not say: `numjobs`, `iodepth`, `offset`.
const NUMJOBS: u32 = 1;
const IODEPTH: u32 = 1;
const OFFSET: u64 = 0;

/// Faults after which a file is given up.
const MAX_FAULTS: usize = 1_000;

/// Whether a text is a fio job file: its first line that is not empty and no comment begins a
/// section.
pub fn is_fio(text: &str) -> bool {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with([';', '#']));
    lines.next().is_some_and(|line| line.starts_with('['))
}

/// Reads a fio job file, and checks that it can be run on this setup.
///
/// # Errors
/// All that is wrong with it.
pub fn read_fio(text: &str, setup: &HostSetup) -> Result<Scenario, Diagnostics> {
    let mut reader = FioReader {
        text,
        setup,
        faults: Vec::new(),
        jobs: Vec::new(),
        sections: Vec::new(),
        files: FioFiles::default(),
        known: HashSet::new(),
        end: None,
        is_doubtful: false,
    };
    reader.file();
    if let Err(position) = reader.files.place(&mut reader.jobs) {
        let path = Path::root().key(&reader.jobs[position].name);
        let wrong = ("its file ends beyond 2^64 bytes".into(), "files that stay below together".into());
        reader.refuse(reader.sections[position].clone(), path, wrong);
    }
    if reader.faults.is_empty() && reader.jobs.is_empty() {
        let end = text.len()..text.len();
        reader.refuse(
            end,
            Path::root(),
            ("no jobs".into(), "a job's name in brackets, and its options below it".into()),
        );
    }
    match (reader.end, reader.faults.is_empty()) {
        (Some(duration), true) => {
            let HostSetup { device, host, scheduler } = setup.clone();
            Ok(Scenario { device, host, scheduler, jobs: reader.jobs, duration, warmup: Instant::START })
        }
        (None, true) => {
            let wrong = (
                "no job says how long to run".into(),
                "`runtime=` in one of them at least, such as `runtime=10`".into(),
            );
            reader.refuse(text.len()..text.len(), Path::root(), wrong);
            Err(Diagnostics::new(reader.faults))
        }
        _ => Err(Diagnostics::new(reader.faults)),
    }
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
    faults: Vec<Diagnostic>,
    jobs: Vec<Job>,
    /// The head of each job's section.
    sections: Vec<Range<usize>>,
    files: FioFiles,
    known: HashSet<String>,
    /// The end of the last job that has one.
    end: Option<Instant>,
    /// Whether a global section is wrong: what is missing below may be there.
    is_doubtful: bool,
}

impl FioReader<'_> {
    fn refuse(&mut self, range: Range<usize>, path: Path, (problem, expected): OptionFault) {
        self.faults.push(Diagnostic { range, path, problem, expected });
    }

    fn file(&mut self) {
        let text = self.text;
        let mut global = SectionOptions::default();
        let mut section: Option<Section> = None;
        for line in text.split_inclusive('\n') {
            let line = line.trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
            if self.faults.len() >= MAX_FAULTS {
                break;
            }
            if line.is_empty() || line.starts_with([';', '#']) {
                continue;
            }
            if line.starts_with('[') {
                self.end_of(section.take(), &mut global);
                section = self.section(line, &global);
            } else if let Some(section) = &mut section {
                self.option(line, section);
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
        let Some(name) = inner.filter(|name| !name.is_empty() && !name.contains(']')) else {
            let wrong = (format!("{} begins no section", quote(line)), "a name in brackets, such as `[reader]`".into());
            self.refuse(self.range(line), Path::root(), wrong);
            return None;
        };
        let is_global = name.eq_ignore_ascii_case("global");
        Some(Section {
            name: name.into(),
            at: self.range(line),
            options: global.clone(),
            is_global,
            faults: self.faults.len(),
        })
    }

    fn option(&mut self, line: &str, section: &mut Section) {
        let (name, value) = line.split_once('=').unwrap_or((line, ""));
        let (name, value) = (name.trim_end(), value.trim());
        let range = self.range(line);
        if let Err((in_name, wrong)) = section.options.set(name, value, range.clone(), &self.setup.host) {
            let at = if in_name || value.is_empty() { self.range(name) } else { self.range(value) };
            self.refuse(at, Path::root().key(&section.name).key(name), wrong);
        }
    }

    /// A section is over: it is that of jobs, or it holds for those below.
    fn end_of(&mut self, section: Option<Section>, global: &mut SectionOptions) {
        let Some(section) = section else { return };
        if section.is_global {
            self.is_doubtful |= section.faults < self.faults.len();
            *global = section.options;
        } else if section.faults == self.faults.len() && !self.is_doubtful {
            self.clones(&section);
        }
    }

    fn clones(&mut self, section: &Section) {
        let options = &section.options;
        let clones = options.numjobs.unwrap_or(NUMJOBS);
        if self.jobs.len() + clones as usize > MAX_JOBS {
            let wrong = ("too many jobs".into(), format!("at most {MAX_JOBS} in all"));
            self.refuse(section.at.clone(), Path::root().key(&section.name), wrong);
            return;
        }
        let Some(job) = self.job(section) else { return };
        let cores: u64 = options.cores.iter().map(|(first, last)| u64::from(last - first) + 1).sum();
        for number in 0..clones {
            let name = if clones == 1 { section.name.clone() } else { format!("{}.{number}", section.name) };
            if !self.known.insert(name.clone()) {
                let wrong = (format!("a second job is called {}", quote(&name)), "a name of its own for each".into());
                self.refuse(section.at.clone(), Path::root().key(&section.name), wrong);
                return;
            }
            let cpu = match cores {
                0 => 0,
                _ => core(&options.cores, u64::from(number) % cores).expect("one of the cores"),
            };
            self.files.add(options.filename.as_deref(), &job);
            self.sections.push(section.at.clone());
            self.jobs.push(Job { name, cpu, ..job.clone() });
        }
        self.end = self.end.max(job.until);
    }

    /// The job of a section, and of all its clones.
    fn job(&mut self, section: &Section) -> Option<Job> {
        let options = &section.options;
        let path = Path::root().key(&section.name);
        let place = |name: &str| options.place(name).unwrap_or(section.at.clone());
        let (op, pattern) = options.rw.unwrap_or((Op::Read, JobPattern::Sequential));
        let of = match op {
            Op::Read => 0,
            Op::Write => 1,
            _ => 2,
        };
        let size = options.bs.and_then(|sizes| sizes[of]).unwrap_or(4_096);
        let from = options.offset.unwrap_or(OFFSET);
        let phase = Instant::START.saturating_add(options.startdelay.unwrap_or(Span::ZERO));
        let until = options.runtime.map(|runtime| phase.checked_add(runtime));
        let mut wrong: Vec<SectionFault> = stretch(options, pattern, size, from).into_iter().collect();
        if until == Some(None) {
            wrong.push(("runtime", "it ends later than there is time", "less than 2^63 ns with `startdelay`"));
        }
        for &(name, problem, expected) in &wrong {
            let path = if name.is_empty() { path.clone() } else { path.key(name) };
            self.refuse(place(name), path, (problem.into(), expected.into()));
        }
        if !wrong.is_empty() {
            return None;
        }
        let job = Job {
            name: section.name.clone(),
            op,
            pattern,
            from,
            span: options.size,
            size,
            class: options.class.unwrap_or(Class::BestEffort),
            // A class without a level is at its first one.
            level: options.level.unwrap_or(if options.class.is_some() { 0 } else { 4 }),
            cpu: core(&options.cores, 0).unwrap_or(0),
            user_centric: false,
            is_async: options.iodepth.is_some_and(|depth| depth > 1),
            releases: JobReleases::Closed {
                depth: options.iodepth.unwrap_or(IODEPTH),
                think: options.thinktime.unwrap_or(Span::ZERO),
            },
            phase,
            count: options.size.map(|span| span / size),
            until: until.flatten(),
            pace: options.rate.and_then(|rates| rates[of]).filter(|&rate| rate > 0),
            deadline: None,
        };
        if let Some(misfit) = misfit(&job, &self.setup.device, &self.setup.host, &self.setup.scheduler) {
            self.refuse(place("bs"), path.key("bs"), (misfit.problem, misfit.expected));
            return None;
        }
        Some(job)
    }
}

/// An option, or none; what is wrong with it, and what would be right.
type SectionFault = (&'static str, &'static str, &'static str);

/// What is wrong with where a job's I/Os lie, and how many there are.
fn stretch(options: &SectionOptions, pattern: JobPattern, size: u64, from: u64) -> Option<SectionFault> {
    match options.size {
        Some(span) if span < size => Some(("size", "`size` is shorter than an I/O", "`bs` at least")),
        Some(span) if from.checked_add(span).is_none() => {
            Some(("offset", "it ends beyond 2^64 bytes", "`offset` and `size` that stay below together"))
        }
        None if pattern == JobPattern::Random => {
            Some(("rw", "random I/O without `size`", "`size=`: how long its stretch of the device is"))
        }
        None if options.runtime.is_none() => {
            Some(("", "a job without an end", "`size=`, after which it ends, or `runtime=`"))
        }
        _ => None,
    }
}

/// The core at this position in a list of ranges.
fn core(ranges: &[(u32, u32)], turn: u64) -> Option<u32> {
    let mut turn = turn;
    for &(first, last) in ranges {
        let length = u64::from(last - first) + 1;
        if turn < length {
            return u32::try_from(u64::from(first) + turn).ok();
        }
        turn -= length;
    }
    None
}
