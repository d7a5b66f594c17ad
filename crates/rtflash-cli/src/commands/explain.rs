//! `rtflash explain`: where the utilization goes.

use std::borrow::Cow;

use rtflash_alloc::allocator::Outcome;
use rtflash_analysis::{Analysis, baseline};
use rtflash_answers::{Answer as _, CheckedAllocation, Explanation, Unexplained, Verdict, Verdicts};
use rtflash_model::{TaskSet, TaskSetFile};

use super::DecidedBy;
use super::check::checked;
use crate::answer::{SetAnswer, Status, Unanswered};
use crate::args::{ExplainArgs, Format};
use crate::batch::{Batch, SetCommand};
use crate::pairs::{Given, Pairs};
use crate::render::alloc_text::OutcomeText;
use crate::render::{explain_baseline, explain_certified, explain_text, verdicts};
use crate::{CommandFailure, output};

struct ExplainPlan {
    by: DecidedBy,
    format: Format,
}

/// Carries the command out. The exit status is the verdict on the allocation explained.
pub fn run(args: &ExplainArgs) -> Result<Status, CommandFailure> {
    let command = command(args)?;
    let pairs = Pairs::open(&args.file, args.allocation.as_deref(), &args.set)?;
    Batch { format: args.format.format }.run(pairs, &*command)
}

pub fn command(args: &ExplainArgs) -> Result<Box<dyn SetCommand>, CommandFailure> {
    Ok(Box::new(ExplainPlan { by: DecidedBy::of(&args.by)?, format: args.format.format }))
}

impl SetCommand for ExplainPlan {
    fn answer(&self, file: &TaskSetFile, given: Option<Given<'_>>, alone: bool) -> Result<SetAnswer, Unanswered> {
        let ExplainPlan { by, format } = *self;
        let DecidedBy { allocator, analysis, .. } = by;
        let set = &file.set;
        let untold = |reason: String| Ok(refusal(file, analysis, reason, format));
        if let Some(request) = analysis.refuses(set) {
            return untold(request.to_string());
        }
        let mut warnings = String::new();
        let (checked, verdicts, headline) = match given {
            None => {
                let outcome = allocator.allocate(set, analysis);
                if let Outcome::Partitioned(_) | Outcome::CannotTell(_) = outcome {
                    return untold(refused(&outcome, allocator.name()));
                }
                let guarantee = by.guarantee(set, &outcome, alone);
                let verdicts = Verdicts::of_outcome(set, allocator.name(), analysis, &outcome, &guarantee.verdict);
                let headline = OutcomeText::new(set, allocator.name(), analysis, &outcome, &guarantee).headline();
                let found = outcome.allocation().cloned();
                let found = found.map(|allocation| checked(file, analysis, allocation, "", "").0);
                (found, verdicts, Some(headline))
            }
            Some(Given::Allocation { allocation, text, name }) => {
                let (checked, warning) = checked(file, analysis, allocation, &text, name);
                warnings += &warning;
                let verdicts = checked.verdict.verdicts.clone();
                (Some(checked), verdicts, None)
            }
            Some(Given::Nothing { schedulable: Some(_), reason }) => {
                (None, Verdicts::of(set, analysis, &Verdict::no(reason)), None)
            }
            Some(Given::Nothing { schedulable: None, reason }) => return untold(reason),
        };
        let status = Status::of(checked.as_ref().map_or(Some(false), |checked| checked.verdict.schedulable));
        let checked = checked.as_ref();
        let text = match format {
            Format::Text => {
                let headline = headline.unwrap_or_else(|| verdicts::text(&verdicts));
                headline + "\n" + &terms(set, analysis, checked) + &explain_text::assumptions(analysis)
            }
            Format::Json => Explanation::new(set, analysis, checked, verdicts, file.meta.as_deref()).line(),
        };
        Ok(SetAnswer { text, complaint: warnings, status, ..SetAnswer::default() })
    }
}

fn terms(set: &TaskSet, analysis: &dyn Analysis, checked: Option<&CheckedAllocation<'_>>) -> String {
    match (baseline(analysis.name()), analysis.demand_test()) {
        (Some(scheme), _) => explain_baseline::terms(set, scheme, checked),
        (None, Some(test)) => explain_certified::terms(set, test, checked),
        (None, None) => explain_text::terms(set, analysis, checked),
    }
}

fn refused(outcome: &Outcome, algorithm: &str) -> String {
    match outcome {
        Outcome::CannotTell(limit) => limit.to_string(),
        _ => format!(
            "{algorithm} makes no clusters: it has a test of its own, see `rtflash alloc --algorithm {algorithm}`"
        ),
    }
}

fn refusal(file: &TaskSetFile, analysis: &dyn Analysis, reason: String, format: Format) -> SetAnswer {
    let (text, complaint) = match format {
        Format::Json => {
            let meta = file.meta.as_deref().map(Cow::Borrowed);
            let verdicts = Verdicts::of(&file.set, analysis, &Verdict::cannot_tell(reason.clone()));
            let answer = Unexplained { schedulable: None, verdicts, analysis: analysis.name().into(), reason, meta };
            (answer.line(), String::new())
        }
        Format::Text => (String::new(), output::error(&reason)),
    };
    SetAnswer { text, complaint, status: Status::CannotTell, ..SetAnswer::default() }
}
