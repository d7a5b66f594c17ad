//! `rtflash explain`: where the utilization goes.

use std::borrow::Cow;

use rtflash_alloc::allocator::{Allocator, Outcome};
use rtflash_alloc::analysis::Analysis;
use rtflash_alloc::verdict::{completed, tightened};
use rtflash_model::{Allocation, Reliance, TaskSetFile};
use rtflash_wire::{Answer as _, CheckedAllocation, Guarantee, Unexplained};

use super::found::gone_tasks;
use super::{allocator, analysis_relying_on};
use crate::answer::SetAnswer;
use crate::args::{ExplainArgs, Format};
use crate::batch::{Batch, SetCommand};
use crate::pairs::{Given, Pairs};
use crate::render::Render;
use crate::render::alloc_text::OutcomeText;
use crate::render::explain::ExplainView;
use crate::render::kind::kind;
use crate::status::Status;
use crate::{CommandFailure, output};

/// What was asked for.
struct ExplainPlan {
    allocator: &'static dyn Allocator,
    analysis: &'static dyn Analysis,
    granted: Reliance,
    format: Format,
}

/// Carries the command out. The exit status is the verdict on the allocation explained.
pub fn run(args: &ExplainArgs) -> Result<Status, CommandFailure> {
    let command = command(args)?;
    let pairs = Pairs::open(&args.file, args.allocation.as_deref())?.changed_by(&args.set.changes);
    Batch { format: args.format.format }.run_pairs(pairs, &*command)
}

/// The command with its options, apart from where task sets and allocations come from.
pub fn command(args: &ExplainArgs) -> Result<Box<dyn SetCommand>, CommandFailure> {
    let granted = args.rely_on.granted();
    let analysis = analysis_relying_on(&args.analysis.analysis, granted)?;
    let allocator = allocator(args.algorithm.under(analysis))?;
    Ok(Box::new(ExplainPlan { allocator, analysis, granted, format: args.format.format }))
}

impl SetCommand for ExplainPlan {
    fn answer(&self, file: &TaskSetFile, given: Option<Given<'_>>, alone: bool) -> SetAnswer {
        let ExplainPlan { allocator, analysis, granted, format } = *self;
        if let Some(request) = analysis.refuses(&file.set) {
            return refusal(file, analysis, request.to_string(), format);
        }
        let mut warnings = String::new();
        let (allocation, headline) = match given {
            None => {
                let outcome = allocator.allocate(&file.set, analysis);
                let guarantee = match format {
                    Format::Text if alone => Guarantee::of(&file.set, allocator, &outcome, granted),
                    _ => Guarantee::known(&file.set, &outcome),
                };
                let headline = OutcomeText::new(&file.set, allocator.name(), analysis, &outcome, &guarantee).headline();
                if let Outcome::Partitioned(_) | Outcome::CannotTell(_) = outcome {
                    return refusal(file, analysis, refused(&outcome, allocator.name()), format);
                }
                (outcome.allocation().cloned(), headline)
            }
            Some(Given::Allocation { allocation, name, .. }) => {
                for note in (0..allocation.len()).flat_map(|position| gone_tasks(&allocation, position)) {
                    warnings += &output::warning(&format!("{name}: {note}"));
                }
                let allocation = completed(&file.set, analysis, allocation);
                let reason = kind(analysis).beyond(&file.set, &allocation, granted);
                let headline = reason.map_or_else(String::new, not_schedulable);
                (Some(allocation), headline)
            }
            Some(Given::Nothing { schedulable: Some(_), reason }) => (None, not_schedulable(reason)),
            Some(Given::Nothing { schedulable: None, reason }) => return refusal(file, analysis, reason, format),
        };
        let mut answer = explain(file, analysis, allocation, &headline, format);
        answer.complaint.insert_str(0, &warnings);
        answer
    }
}

/// A headline.
fn not_schedulable(reason: String) -> String {
    format!("{}: {reason}\n", output::paint(output::RED, "not schedulable"))
}

/// Why there are no terms to show.
fn refused(outcome: &Outcome, algorithm: &str) -> String {
    match outcome {
        Outcome::CannotTell(limit) => limit.to_string(),
        _ => format!(
            "{algorithm} makes no clusters: it has a test of its own, see `rtflash alloc --algorithm {algorithm}`"
        ),
    }
}

/// The answer where there are no terms to show.
fn refusal(file: &TaskSetFile, analysis: &dyn Analysis, reason: String, format: Format) -> SetAnswer {
    let (text, complaint) = match format {
        Format::Json => {
            let meta = file.meta.as_deref().map(Cow::Borrowed);
            let answer = Unexplained { schedulable: None, analysis: analysis.name().into(), reason, meta };
            (answer.line(), String::new())
        }
        Format::Text => (String::new(), output::error(&reason)),
    };
    SetAnswer { text, complaint, status: Status::CannotTell, ..SetAnswer::default() }
}

fn explain(
    file: &TaskSetFile,
    analysis: &dyn Analysis,
    allocation: Option<Allocation>,
    headline: &str,
    format: Format,
) -> SetAnswer {
    let checked = allocation.map(|allocation| CheckedAllocation {
        verdict: kind(analysis).verify(file, &allocation).0,
        allocation: tightened(&file.set, analysis, allocation),
    });
    let status = Status::of(checked.as_ref().map_or(Some(false), |checked| checked.verdict.schedulable));
    let text = ExplainView { file, analysis, checked: checked.as_ref(), headline }.render(format);
    SetAnswer { text, status, ..SetAnswer::default() }
}
