//! Experiments: parts as bytes, results as files in memory.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

use rtflash_answers::Answer;
use rtflash_draw::figures;
use rtflash_experiment::output::summary;
use rtflash_experiment::{Plan, Progress, Shard, Watcher, run};

use super::{other, parse, plainly};
use crate::CommandFailure;
use crate::answer::{Status, Unanswered};
use crate::args::{Commands, ExperimentKind};
use crate::commands::experiment::{Joined, Manifest, join, join_as, plan, texts, warnings};
use crate::commands::generate::DeviceFrom;
use crate::commands::on_threads;

pub use crate::commands::experiment::OwnContenders;

/// An experiment to be done: `experiment`, with its options.
pub struct Study {
    plan: Plan,
    manifest: Manifest,
    kind: ExperimentKind,
    threads: Option<usize>,
}

/// The results of an experiment.
pub struct Results {
    /// The answer as JSON, on one line.
    pub json: String,
    /// The files that the command writes, but for pictures other than SVG, by their names.
    pub files: Vec<(String, Vec<u8>)>,
    /// The gaps in the results.
    pub warnings: String,
    /// Its exit status.
    pub status: Status,
}

struct Shown<'s> {
    advance: &'s mut (dyn FnMut(u64) + Send),
    stop: &'s AtomicBool,
}

impl Watcher for Shown<'_> {
    fn advance(&mut self, sets: u64) {
        (self.advance)(sets);
    }

    fn keep_every(&self) -> std::time::Duration {
        std::time::Duration::from_millis(20)
    }

    fn keep(&mut self, _: &Progress) -> io::Result<()> {
        if self.stop.load(Ordering::Relaxed) { Err(io::Error::other("it was stopped")) } else { Ok(()) }
    }
}

impl Study {
    /// An experiment from the command's options, such as `["experiment", "schedulability",
    /// "--sets", "10"]`, without `--out`, `--shard` and `--format`. `--algorithms`, `--analyses`
    /// and `--analysis` are apart, because they may name what `own` has. Fails if there is no such
    /// option, or a value is wrong.
    pub fn new(
        words: &[&str],
        algorithms: Vec<String>,
        analyses: Vec<String>,
        analysis: Option<String>,
        own: &OwnContenders,
    ) -> Result<Study, Unanswered> {
        let Commands::Experiment(mut args) = parse(words.iter().copied().chain(["--out", "."]))? else {
            return Err(other(words).into());
        };
        (args.algorithms, args.analyses, args.analysis) = (algorithms, analyses, analysis);
        let (plan, manifest) = plan(&args, DeviceFrom::Anywhere, own).map_err(plainly)?;
        Ok(Study { plan, manifest, kind: args.kind, threads: args.jobs.map(usize::from) })
    }

    /// Sets of a part.
    pub fn sets(&self, shard: Shard) -> u64 {
        shard.sets(self.plan.sets())
    }

    /// Works a part through: its bytes, those of the command's `tallies.json`. It calls `advance`
    /// with sets that are done, on any thread; `stop` ends it early. Fails if it was stopped, or
    /// threads cannot be started.
    pub fn part(
        &self,
        shard: Shard,
        advance: &mut (dyn FnMut(u64) + Send),
        stop: &AtomicBool,
    ) -> Result<Vec<u8>, CommandFailure> {
        let blank = Progress::new(&self.plan, self.manifest.identity()?, shard);
        let mut shown = Shown { advance, stop };
        let done = on_threads(self.threads, || run(&self.plan, blank, &mut shown))?;
        let kept = done.and_then(|progress| Ok(progress.to_kept()?));
        kept.map_err(|error| CommandFailure(format!("the experiment has no end: {error}")))
    }

    /// Joins parts of this experiment, which complaints call so. Fails if they are not all of its
    /// parts.
    pub fn join(&self, names: &[String], parts: &[Vec<u8>]) -> Result<Results, Unanswered> {
        let whole = join_as(&self.plan, &self.manifest, names, &read(names, parts)?)?;
        results(&self.plan, &self.manifest, self.kind, &whole)
    }
}

/// Joins the parts of an experiment, which say what it is; complaints call them so. Fails if they
/// are not all the parts of one experiment.
pub fn join_parts(names: &[String], parts: &[Vec<u8>]) -> Result<Results, Unanswered> {
    let Joined { plan, manifest, kind, whole } = join(names, &read(names, parts)?).map_err(plainly)?;
    results(&plan, &manifest, kind, &whole)
}

fn read(names: &[String], parts: &[Vec<u8>]) -> Result<Vec<Progress>, CommandFailure> {
    let read = |(name, bytes): (&String, &Vec<u8>)| {
        Progress::from_kept(bytes).map_err(|error| CommandFailure(format!("{name}: {error}")))
    };
    names.iter().zip(parts).map(read).collect()
}

fn results(plan: &Plan, manifest: &Manifest, kind: ExperimentKind, whole: &Progress) -> Result<Results, Unanswered> {
    let tallies = whole.tallies();
    let summary = summary(plan, kind.name(), tallies);
    let kept = whole.to_kept().map_err(|error| CommandFailure(error.to_string()))?;
    let mut files =
        vec![("manifest.json".to_owned(), manifest.text(None)?.into_bytes()), ("tallies.json".to_owned(), kept)];
    files.extend(texts(plan, tallies, &summary).into_iter().map(|(name, text)| (name, text.into_bytes())));
    for drawn in figures(plan, tallies) {
        files.extend(drawn.text_files());
    }
    let (status, warnings) = warnings(&summary);
    let warnings = anstream::adapter::strip_str(&warnings).to_string();
    Ok(Results { json: summary.line(), files, warnings, status })
}
