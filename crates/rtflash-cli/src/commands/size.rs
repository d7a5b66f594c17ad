//! `rtflash size`: limits of a task set and its device, and what the allocation costs.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use rtflash_alloc::allocator::Outcome;
use rtflash_alloc::sizing::{FrontAxes, Sizing, front, size};
use rtflash_answers::{FrontAnswer, SizeAnswer};
use rtflash_model::TaskSetFile;

use super::DecidedBy;
use crate::answer::{SetAnswer, Status, Unanswered};
use crate::args::{Format, SizeArgs};
use crate::batch::{Batch, SetCommand};
use crate::pairs::{Given, Pairs};
use crate::render::alloc_text::OutcomeText;
use crate::render::kind::words;
use crate::render::rendered;
use crate::render::size_text::SizeView;
use crate::{CommandFailure, report};

struct SizePlan {
    by: DecidedBy,
    spread: bool,
    over: Option<FrontAxes>,
    report: Option<ReportOfOne>,
    format: Format,
}

/// Carries the command out. The exit status is the verdict on the set as it is.
pub fn run(args: &SizeArgs) -> Result<Status, CommandFailure> {
    let command = command(args)?;
    Batch { format: args.format.format }.run(Pairs::open(&args.file, None, &args.set)?, &*command)
}

pub fn command(args: &SizeArgs) -> Result<Box<dyn SetCommand>, CommandFailure> {
    let by = DecidedBy::of(&args.by)?;
    let (spread, format) = (args.spread.spread, args.format.format);
    let report = report::place(args.report.as_deref())?.map(ReportOfOne::new);
    let over = args.axes();
    Ok(Box::new(SizePlan { by, spread, over, report, format }))
}

impl SetCommand for SizePlan {
    fn answer(&self, file: &TaskSetFile, _: Option<Given<'_>>, alone: bool) -> Result<SetAnswer, Unanswered> {
        let SizePlan { by, spread, over, ref report, format } = *self;
        let DecidedBy { allocator, analysis, .. } = by;
        let sizing = size(&file.set, allocator, analysis);
        let sizing = if spread { used(sizing) } else { sizing };
        let guarantee = by.guarantee(&file.set, &sizing.outcome, alone);
        let (set, algorithm) = (&file.set, allocator.name());
        let front = over.map(|axes| FrontAnswer::new(axes, &front(set, allocator, analysis, axes)));
        let answer = SizeAnswer::new(set, algorithm, analysis, &sizing, &guarantee, file.meta.as_deref());
        let view = SizeView {
            answer: SizeAnswer { front, ..answer },
            verdict: OutcomeText::new(set, algorithm, analysis, &sizing.outcome, &guarantee),
            words: words(analysis),
            device: set.device(),
            is_refused: analysis.refuses(set).is_some(),
            alone,
        };
        report.iter().try_for_each(|report| report.write(&view))?;
        let text = rendered(format, &view.answer, || view.text());
        Ok(SetAnswer { text, status: Status::of(sizing.outcome.is_schedulable()), ..SetAnswer::default() })
    }
}

struct ReportOfOne {
    path: PathBuf,
    /// Whether a task set has been reported.
    written: AtomicBool,
}

impl ReportOfOne {
    fn new(path: PathBuf) -> ReportOfOne {
        ReportOfOne { path, written: AtomicBool::new(false) }
    }

    fn write(&self, view: &SizeView<'_>) -> Result<(), CommandFailure> {
        if self.written.swap(true, Ordering::Relaxed) {
            fail!("--report takes one task set, and this is another one");
        }
        report::write(&self.path, &report::size(&view.answer, view.device, &view.verdict()))
    }
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
