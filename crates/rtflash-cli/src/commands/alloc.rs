//! `rtflash alloc`: the main job.

use rtflash_alloc::advice::advise;
use rtflash_alloc::allocator::Allocator;
use rtflash_alloc::analysis::Analysis;
use rtflash_model::{Reliance, TaskSetFile};

use super::guarantee::Guarantee;
use super::{allocate, allocator, analysis_relying_on};
use crate::Failure;
use crate::args::{AllocArgs, Format, GuaranteeArg};
use crate::batch::{Answer, Batch};
use crate::render::alloc_text;
use crate::render::wire::{AllocAnswer, line};
use crate::source::Source;
use crate::status::Status;

/// What was asked for.
struct Plan {
    allocator: &'static dyn Allocator,
    analysis: &'static dyn Analysis,
    granted: Reliance,
    guarantee: GuaranteeArg,
    format: Format,
    spread: bool,
}

/// Carries the command out.
pub fn run(args: &AllocArgs) -> Result<Status, Failure> {
    let granted = args.rely_on.granted();
    let analysis = analysis_relying_on(&args.analysis.analysis, granted)?;
    let plan = Plan {
        allocator: allocator(args.algorithm.under(analysis))?,
        analysis,
        granted,
        guarantee: args.guarantee,
        format: args.format.format,
        spread: args.spread.spread,
    };
    let source = Source::open(&args.file)?;
    let batch = Batch { format: plan.format };
    batch.run(source, &args.set.changes, |file, alone| plan.answer(file, alone))
}

impl Plan {
    fn answer(&self, file: &TaskSetFile, alone: bool) -> Answer {
        let (set, name) = (&file.set, self.allocator.name());
        let outcome = allocate(set, self.allocator, self.analysis, self.spread);
        let guarantee = if self.guarantee.wanted(alone) {
            Guarantee::of(set, self.allocator, self.analysis, &outcome, self.granted)
        } else {
            Guarantee::known(set, self.analysis, &outcome)
        };
        let failed = outcome.is_schedulable() == Some(false);
        let advice = (alone && failed).then(|| advise(set, self.allocator, self.analysis));
        let text = match self.format {
            Format::Json => line(&AllocAnswer {
                advice: advice.map(Into::into),
                ..AllocAnswer::new(set, name, self.analysis, &outcome, &guarantee, file.meta.as_deref())
            }),
            Format::Text if !alone => alloc_text::headline(set, name, self.analysis, &outcome, &guarantee),
            Format::Text => {
                let mut text = alloc_text::answer(set, name, self.analysis, &outcome, &guarantee);
                text += &alloc_text::second_opinion(&guarantee, self.analysis, &outcome);
                if let Some(advice) = advice {
                    text += &alloc_text::advice(set, &advice);
                }
                text
            }
        };
        Answer { text, status: Status::of(outcome.is_schedulable()), ..Answer::default() }
    }
}
