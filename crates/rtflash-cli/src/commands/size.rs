//! `rtflash size`: limits of a task set and its device, and what the allocation costs.

use rtflash_alloc::allocator::Outcome;
use rtflash_alloc::sizing::{Sizing, size};

use super::{allocator, analysis_relying_on};
use crate::CommandFailure;
use crate::answer::SetAnswer;
use crate::args::SizeArgs;
use crate::batch::Batch;
use crate::render::Render;
use crate::render::size_text::SizeView;
use crate::source::InputSource;
use crate::status::Status;

/// Carries the command out. The exit status is the verdict on the set as it is.
pub fn run(args: &SizeArgs) -> Result<Status, CommandFailure> {
    let granted = args.rely_on.granted();
    let analysis = analysis_relying_on(&args.analysis.analysis, granted)?;
    let allocator = allocator(args.algorithm.under(analysis))?;
    let format = args.format.format;
    let batch = Batch { format };
    batch.run(InputSource::open(&args.file)?, &args.set.changes, |file, alone| {
        let sizing = size(&file.set, allocator, analysis);
        let sizing = if args.spread.spread { used(sizing) } else { sizing };
        let view = SizeView { file, allocator, analysis, granted, sizing: &sizing, alone };
        SetAnswer {
            text: view.render(format),
            status: Status::of(sizing.outcome.is_schedulable()),
            ..SetAnswer::default()
        }
    })
}

/// With free chips used, where that is a gain.
fn used(sizing: Sizing) -> Sizing {
    match sizing.spread {
        None => sizing,
        Some(spread) => {
            let outcome = match sizing.outcome {
                Outcome::Schedulable(_) => Outcome::Schedulable(spread.allocation),
                outcome => outcome,
            };
            Sizing { outcome, cost: Some(spread.cost), spread: None, ..sizing }
        }
    }
}
