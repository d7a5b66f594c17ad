//! The state of a run in a file, from which the same command goes on.
//!
//! A line of JSON says which run it is, another one how far it has come; the state follows, and
//! last a CRC-32 over all that is before it.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant as Clock};

use rtflash_analysis::Analysis;
use rtflash_experiment::BUILD;
use rtflash_model::{Allocation, Instant, TaskSet, format_ns, write_task_set};
use rtflash_plan::Options;
use rtflash_plan::resume::State;
use rtflash_run::Checkpoint;
use serde::{Deserialize, Serialize};

use crate::args::ExecArgs;
use crate::whole::{SignalHold, WholeFile};
use crate::{CommandFailure, output};

const HEAD: &[u8] = b"{\"rtflash\":\"checkpoint\",";
const SUM: u64 = 4;

/// Which run it is: all that its result depends on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct RunIdentity {
    rtflash: String,
    format: u32,
    build: String,
    analysis: String,
    set: String,
    allocation: String,
    options: String,
}

impl RunIdentity {
    fn differs(&self, other: &RunIdentity) -> Option<&'static str> {
        let parts = [
            (self.format == other.format, "form"),
            (self.build == other.build, "build of rtflash"),
            (self.set == other.set, "task set"),
            (self.analysis == other.analysis, "analysis"),
            (self.allocation == other.allocation, "allocation"),
            (self.options == other.options, "length, seed or option of the run"),
        ];
        parts.into_iter().find(|(same, _)| !same).map(|(_, name)| name)
    }
}

#[derive(Debug, Serialize, Deserialize)]
struct Reached {
    at_ns: u64,
}

fn line(of: &impl Serialize) -> Vec<u8> {
    let mut line = serde_json::to_vec(of).expect("texts and numbers can be written");
    line.push(b'\n');
    line
}

#[derive(Debug)]
pub struct KeptRun {
    path: PathBuf,
    every: Duration,
}

impl KeptRun {
    pub fn asked(args: &ExecArgs) -> Result<Option<KeptRun>, CommandFailure> {
        if args.checkpoint.as_deref() == Some(Path::new("-")) {
            fail!("--checkpoint takes a file: the answer is on standard output");
        }
        Ok(args.checkpoint.clone().map(|path| KeptRun { path, every: args.checkpoint_every }))
    }
}

pub struct CheckpointFile {
    path: PathBuf,
    identity: RunIdentity,
    every: Duration,
    last: Clock,
    /// Held from the first time on that the state could be kept.
    signals: Option<SignalHold>,
}

fn invalid(problem: impl Into<String>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, problem.into())
}

impl CheckpointFile {
    pub fn new(
        kept: &KeptRun,
        set: &TaskSet,
        allocation: &Allocation,
        analysis: &dyn Analysis,
        options: &Options,
    ) -> CheckpointFile {
        CheckpointFile {
            path: kept.path.clone(),
            identity: RunIdentity {
                rtflash: "checkpoint".into(),
                format: 2,
                build: BUILD.into(),
                analysis: analysis.name().into(),
                set: write_task_set(set, None),
                allocation: format!("{allocation:?}"),
                options: format!("{options:?}"),
            },
            every: kept.every,
            last: Clock::now(),
            signals: None,
        }
    }

    pub fn failure(&self, error: &io::Error) -> String {
        format!("--checkpoint {}: {error}", self.path.display())
    }

    /// Reads who it is of, and leaves the reader behind that, and behind how far it has come.
    fn check(&self, file: &mut BufReader<File>, length: u64) -> io::Result<Instant> {
        let mut head = Vec::new();
        file.by_ref().take(HEAD.len() as u64).read_to_end(&mut head)?;
        if head != HEAD {
            return Err(invalid("it is no checkpoint, so it is left as it is"));
        }
        file.rewind()?;
        let mut hasher = crc32fast::Hasher::new();
        let mut content = file.by_ref().take(length.saturating_sub(SUM));
        loop {
            let bytes = content.fill_buf()?;
            if bytes.is_empty() {
                break;
            }
            hasher.update(bytes);
            let read = bytes.len();
            content.consume(read);
        }
        let mut sum = Vec::new();
        file.by_ref().read_to_end(&mut sum)?;
        if sum != hasher.finalize().to_le_bytes() {
            return Err(invalid("its checksum is not that of its content: it is damaged, or was changed"));
        }
        file.rewind()?;
        let mut lines = [Vec::new(), Vec::new()];
        for line in &mut lines {
            file.read_until(b'\n', line)?;
        }
        let identity: RunIdentity =
            serde_json::from_slice(&lines[0]).map_err(|_| invalid("it is of another version of rtflash"))?;
        if let Some(part) = self.identity.differs(&identity) {
            return Err(invalid(format!("it is of another run: the {part} is not the same")));
        }
        let reached: Reached = serde_json::from_slice(&lines[1]).map_err(|error| invalid(error.to_string()))?;
        Instant::from_ns(reached.at_ns).ok_or_else(|| invalid("it has come too far"))
    }
}

impl Checkpoint for CheckpointFile {
    fn last(&mut self) -> io::Result<Option<Box<dyn Read>>> {
        let length = match fs::metadata(&self.path) {
            Ok(there) if there.is_file() => there.len(),
            Ok(_) => return Err(invalid("it is no regular file")),
            Err(error) if error.kind() == io::ErrorKind::NotFound => 0,
            Err(error) => return Err(error),
        };
        if length == 0 {
            return Ok(None);
        }
        let mut file = BufReader::new(File::open(&self.path)?);
        let reached = self.check(&mut file, length)?;
        if !output::is_quiet() {
            let (path, at) = (self.path.display(), format_ns(reached.as_ns()));
            output::complain(&format!("{}: goes on at {at}, from {path}\n", output::paint(output::BOLD, "note")));
        }
        Ok(Some(Box::new(file)))
    }

    fn is_due(&mut self) -> bool {
        let signals = self.signals.get_or_insert_with(SignalHold::new);
        self.last.elapsed() >= self.every || signals.signal().is_some()
    }

    fn keep(&mut self, now: Instant, save: &dyn Fn(State<'_>) -> io::Result<()>) -> io::Result<()> {
        let mut file = Summed { file: WholeFile::create(&self.path)?, hasher: crc32fast::Hasher::new() };
        file.write_all(&line(&self.identity))?;
        file.write_all(&line(&Reached { at_ns: now.as_ns() }))?;
        save(State::to(&mut file))?;
        let Summed { mut file, hasher } = file;
        file.write_all(&hasher.finalize().to_le_bytes())?;
        file.finish()?;
        self.last = Clock::now();
        self.signals.iter().for_each(SignalHold::obey);
        Ok(())
    }
}

struct Summed {
    file: WholeFile,
    hasher: crc32fast::Hasher,
}

impl Write for Summed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.hasher.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}
