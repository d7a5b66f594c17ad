//! Reports: what `--report FILE` writes, as pages of `rtflash_draw::page`. A file for each command.

pub mod command;
mod exec;
mod experiment;
mod fit;
mod host;
mod size;

use std::path::{Path, PathBuf};

use rtflash_answers::{AnswerTable, Tone, VerdictLine, VerdictWord, Verdicts};
use rtflash_draw::page::{HtmlReport, LabelledVerdict, ReportPart};
use rtflash_experiment::BUILD;
use rtflash_model::Device;
use serde::Serialize;

use crate::render::numbers::{count, names};
use crate::{CommandFailure, output};

pub use exec::{chart_end, exec};
pub use experiment::experiment;
pub use fit::fit;
pub use host::host;
pub use size::size;

pub fn place(path: Option<&Path>) -> Result<Option<PathBuf>, CommandFailure> {
    if path == Some(Path::new("-")) {
        fail!("--report takes a file: the answer is on standard output");
    }
    Ok(path.map(Path::to_owned))
}

pub fn write(path: &Path, report: &HtmlReport) -> Result<(), CommandFailure> {
    output::save(path, report.html().as_bytes())
}

fn labelled(verdicts: &Verdicts) -> Vec<LabelledVerdict> {
    let one = |line: VerdictLine| LabelledVerdict {
        tone: match line.word {
            Some(VerdictWord::Yes | VerdictWord::WithOtherClusters) => Tone::Good,
            Some(VerdictWord::No) => Tone::Bad,
            Some(VerdictWord::CannotTell | VerdictWord::NotAsked) | None => Tone::Open,
        },
        text: format!("{}{}", line.verdict, line.reason),
        label: line.label,
    };
    verdicts.lines().into_iter().map(one).collect()
}

const NAMED: usize = 8;

fn subject(tasks: &[&str], device: &Device) -> ReportPart {
    let named = names(tasks.iter().copied(), NAMED);
    ReportPart::Note(format!(
        "{} ({named}) on a device of {}, {} on a channel; a chip has {} of {} of {} bytes; logical_ratio {}",
        count(tasks.len() as u64, "task"),
        count(device.chips(), "chip"),
        device.chips_per_channel(),
        count(device.blocks_per_chip(), "block"),
        count(device.pages_per_block(), "page"),
        device.page_size(),
        device.logical_ratio()
    ))
}

/// Rows of a table; all of them are in the data.
const ROWS: usize = 2_000;

fn table_parts(heading: &str, mut table: AnswerTable) -> Vec<ReportPart> {
    let more = table.rows.len().saturating_sub(ROWS);
    table.rows.truncate(ROWS);
    let note = (more > 0).then(|| ReportPart::Note(format!("{more} further rows are in the data alone.")));
    [ReportPart::Heading(heading.into()), ReportPart::Table(table)].into_iter().chain(note).collect()
}

#[derive(Debug, Serialize)]
struct Origin {
    rtflash: &'static str,
    /// The sources that it was built of, as a hash.
    build: &'static str,
    /// The command, without what changes no answer.
    command: Vec<String>,
    /// The seed of the randomness, if there is any.
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<u64>,
}

impl Origin {
    fn of_call(seed: Option<u64>) -> Origin {
        Origin::new(command::of_call(), seed)
    }

    fn new(command: Vec<String>, seed: Option<u64>) -> Origin {
        Origin { rtflash: env!("CARGO_PKG_VERSION"), build: BUILD, command, seed }
    }

    fn facts(&self) -> Vec<(String, String)> {
        let seed = self.seed.map(|seed| ("seed".to_owned(), seed.to_string()));
        let rest =
            [("version".to_owned(), format!("rtflash {}", self.rtflash)), ("build".to_owned(), self.build.to_owned())];
        let command = ("command".to_owned(), command::line(&self.command));
        [command].into_iter().chain(seed).chain(rest).collect()
    }

    /// A page of this origin, whose data are an answer as JSON.
    fn page(&self, title: &str, verdict: (Tone, String), parts: Vec<ReportPart>, answer: String) -> HtmlReport {
        HtmlReport {
            title: title.to_owned(),
            verdict: Some(verdict),
            verdicts: Vec::new(),
            parts,
            facts: self.facts(),
            manifest: rtflash_answers::line(self),
            answer,
        }
    }
}
