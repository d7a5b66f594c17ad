//! `rtflash alloc`: the main job.

use rtflash_alloc::advice::advise;
use rtflash_alloc::allocator::{Allocator, ClusteringBfd, Outcome};
use rtflash_alloc::analysis::{Analysis, Sound};
use rtflash_model::TaskSetFile;

use super::{allocator, analysis};
use crate::Failure;
use crate::args::{AllocArgs, Format};
use crate::batch::{Answer, Batch};
use crate::render::alloc_text;
use crate::render::wire::{AllocAnswer, line};
use crate::source::Source;
use crate::status::Status;

/// What was asked for.
struct Plan {
    allocator: &'static dyn Allocator,
    analysis: &'static dyn Analysis,
    format: Format,
}

/// Carries the command out.
pub fn run(args: &AllocArgs) -> Result<Status, Failure> {
    let plan = Plan {
        allocator: allocator(&args.algorithm.algorithm)?,
        analysis: analysis(&args.analysis.analysis)?,
        format: args.format.format,
    };
    let source = Source::open(&args.file)?;
    let batch = Batch { separate: plan.format == Format::Text };
    batch.run(source, |file, alone| plan.answer(file, alone))
}

impl Plan {
    fn answer(&self, file: &TaskSetFile, alone: bool) -> Answer {
        let outcome = self.allocator.allocate(&file.set, self.analysis);
        let name = self.allocator.name();
        let text = match self.format {
            Format::Json => line(&AllocAnswer::new(&file.set, name, self.analysis, &outcome, file.meta.as_deref())),
            Format::Text if !alone => alloc_text::headline(&file.set, name, self.analysis, &outcome),
            Format::Text => {
                let mut text = alloc_text::answer(&file.set, name, self.analysis, &outcome);
                if self.analysis.placements().is_empty() {
                    text += &alloc_text::second_opinion(&second_opinion(file), outcome.is_schedulable());
                }
                if outcome.is_schedulable() == Some(false) {
                    text += &alloc_text::advice(&file.set, &advise(&file.set, self.allocator, self.analysis));
                }
                text
            }
        };
        Answer { text, complaint: String::new(), status: Status::of(outcome.is_schedulable()) }
    }
}

/// What the sound analysis says of the set, by an allocation of its own; `None` where that would take longer than a person waits.
fn second_opinion(file: &TaskSetFile) -> Option<Outcome> {
    const TOO_LARGE: u64 = 1 << 20;
    let size = file.set.tasks().len() as u64 * u64::from(file.set.device().chips());
    (size <= TOO_LARGE).then(|| ClusteringBfd.allocate(&file.set, &Sound))
}
