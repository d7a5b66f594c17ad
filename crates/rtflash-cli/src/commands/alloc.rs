//! `rtflash alloc`: the main job.

use std::sync::Arc;

use rtflash_alloc::advice::{Advice, advise};
use rtflash_alloc::allocator::{Allocator, AnyAllocation, Outcome};
use rtflash_analysis::verdict::without_servers;
use rtflash_analysis::{Analysis, PlacementProgress, Work};
use rtflash_answers::{AdviceAnswer, AllocAnswer, Answer as _};
use rtflash_model::{TaskSet, TaskSetFile};

use super::{DecidedBy, allocate, allocator, analysis_relying_on, in_shape};
use crate::CommandFailure;
use crate::answer::{SetAnswer, Status, Unanswered};
use crate::args::{AllocArgs, Format, GuaranteeArg, ReserveArg, ShapeArg};
use crate::batch::{Batch, Rest, SetCommand};
use crate::output::is_quiet;
use crate::pairs::{Given, Pairs};
use crate::progress::Bar;
use crate::render::alloc_text::OutcomeText;

#[derive(Clone, Copy)]
struct AllocPlan {
    by: DecidedBy,
    guarantee: GuaranteeArg,
    format: Format,
    spread: bool,
    shape: ShapeArg,
    reserve_server: ReserveArg,
}

pub fn run(args: &AllocArgs) -> Result<Status, CommandFailure> {
    let command = command(args)?;
    Batch { format: args.format.format }.run(Pairs::open(&args.file, None, &args.set)?, &*command)
}

pub fn command(args: &AllocArgs) -> Result<Box<dyn SetCommand>, CommandFailure> {
    let granted = args.rely_on.granted;
    let analysis = analysis_relying_on(&args.analysis, granted)?;
    if args.reserve_server == ReserveArg::No && analysis.demand_test().is_none() {
        let name = analysis.name();
        fail!("--reserve-server no: --analysis {name} makes no certificates that reserve a server");
    }
    Ok(Box::new(AllocPlan {
        by: DecidedBy { allocator: allocator_for(args, analysis)?, analysis, granted },
        guarantee: args.guarantee,
        format: args.format.format,
        spread: args.spread.spread,
        shape: args.shape,
        reserve_server: args.reserve_server,
    }))
}

/// The algorithm asked for; none is under the necessary tests, which are of all allocations.
fn allocator_for(args: &AllocArgs, analysis: &dyn Analysis) -> Result<&'static dyn Allocator, CommandFailure> {
    match args.algorithm.algorithm.as_deref() {
        Some(name) if analysis.is_necessary() => Err(CommandFailure(format!(
            "--algorithm {name}: --analysis necessary asks of all allocations at once whether there can be one"
        ))),
        _ if analysis.is_necessary() => Ok(&AnyAllocation),
        _ => allocator(args.algorithm.under(analysis)),
    }
}

/// Tasks times chips from which on an answer may take seconds.
const LONG: u64 = 1_000_000;
/// Tasks after which the bar is drawn again.
const STEP: u32 = 64;

fn waiting(set: &TaskSet) -> Option<Arc<Bar>> {
    let (tasks, chips) = (set.tasks().count(), set.device().chips());
    let long = u64::from(tasks) * u64::from(chips) >= LONG;
    long.then(|| Arc::new(Bar::ticking(format!("dividing {chips} chips among {tasks} tasks"), tasks.into())))
}

fn watched(bar: Option<&Arc<Bar>>) -> Work {
    let Some(bar) = bar.filter(|bar| !bar.is_hidden()).map(Arc::clone) else { return Work::new() };
    Work::watched(move |PlacementProgress { attempt, placed, tasks }| {
        if placed % STEP == 0 || placed == tasks {
            bar.set(placed.into(), format!("{placed} of {tasks} tasks placed, attempt {attempt}"));
        }
    })
}

/// All that was found of a task set, without the guarantee.
struct Found {
    outcome: Outcome,
    advice: Option<Advice>,
    alone: bool,
}

impl AllocPlan {
    fn find(&self, set: &TaskSet, alone: bool) -> Found {
        let DecidedBy { allocator, analysis, .. } = self.by;
        let waiting = alone.then(|| waiting(set)).flatten();
        let work = watched(waiting.as_ref());
        let outcome = allocate(set, allocator, analysis, self.spread, &work);
        let outcome = match in_shape(set, analysis, outcome, self.shape) {
            Outcome::Schedulable(found) if self.reserve_server == ReserveArg::No => {
                Outcome::Schedulable(without_servers(set, analysis, found))
            }
            outcome => outcome,
        };
        let failed = outcome.is_schedulable() == Some(false);
        let is_advised = alone && failed && !analysis.is_necessary() && !is_quiet();
        let advice = is_advised.then(|| advise(set, allocator, analysis));
        waiting.iter().for_each(|bar| bar.finish());
        Found { outcome, advice, alone }
    }

    /// The answer, with a guarantee that is looked for if that is `wanted`.
    fn answer_of(&self, file: &TaskSetFile, found: &Found, wanted: bool) -> SetAnswer {
        let (set, Found { outcome, advice, alone }) = (&file.set, found);
        let (algorithm, analysis) = (self.by.allocator.name(), self.by.analysis);
        let guarantee = self.by.guarantee(set, outcome, wanted);
        let text = match self.format {
            Format::Text => {
                let words = OutcomeText::new(set, algorithm, analysis, outcome, &guarantee);
                if *alone { words.answer(advice.as_ref()) } else { words.headline() }
            }
            Format::Json => {
                let meta = file.meta.as_deref();
                let answer = AllocAnswer::new(set, algorithm, analysis, outcome, &guarantee, meta);
                let advice = advice.as_ref().map(|advice| AdviceAnswer::new(set, advice));
                AllocAnswer { advice, ..answer }.line()
            }
        };
        SetAnswer { text, status: Status::of(outcome.is_schedulable()), ..SetAnswer::default() }
    }
}

impl SetCommand for AllocPlan {
    fn answer(&self, file: &TaskSetFile, _: Option<Given<'_>>, alone: bool) -> Result<SetAnswer, Unanswered> {
        Ok(self.answer_of(file, &self.find(&file.set, alone), self.guarantee.wanted(alone)))
    }

    fn begin(&self, file: &TaskSetFile) -> Option<(SetAnswer, Rest)> {
        if self.guarantee.guarantee || self.guarantee.no_guarantee {
            return None;
        }
        let (plan, found) = (*self, self.find(&file.set, true));
        let begun = plan.answer_of(file, &found, false);
        Some((begun, Box::new(move |file| plan.answer_of(file, &found, true))))
    }
}
