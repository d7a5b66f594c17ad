//! `rtflash exec`: the allocation on the simulated device.

use std::borrow::Cow;
use std::ops::ControlFlow;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use rtflash_analysis::Analysis;
use rtflash_analysis::certified::is_independent;
use rtflash_analysis::verdict::{passing, spaces};
use rtflash_answers::reasons::{data_sentence, suspends_nothing};
use rtflash_answers::{ExecAnswer, Guarantee, Settings, Verdict, Verdicts, beyond, needed};
use rtflash_draw::page::Picture;
use rtflash_model::{Allocation, Instant, Reliance, TaskSet, TaskSetFile, format_ns};
use rtflash_plan::{Options, Plan, PlanError};
use rtflash_run::{Checkpoint, Executed, NotRun, PlanRefusal, RunWatch, Sink, Watch, execute_watched};

use super::exec_checkpoint::{CheckpointFile, KeptRun};
use super::exec_options::{disobeys, exec_options, possible, unserved, with_effect};
use super::exec_output::{Keeper, PNG, PngWriter, Wanted};
use super::found::{NothingToRun, any_runs, of_given, search};
use super::releases::ReleaseFile;
use super::trims::TrimOption;
use super::verified::accepts;
use super::{DecidedBy, analysis_relying_on, on_threads};
use crate::answer::{SetAnswer, Status, Unanswered};
use crate::args::{ExecArgs, Format};
use crate::batch::{Batch, SetCommand};
use crate::pairs::{Given, Pairs};
use crate::progress::RunBar;
use crate::render::exec_text::ExecView;
use crate::render::kind::promises;
use crate::render::rendered;
use crate::whole::SignalHold;
use crate::{CommandFailure, report};

struct ExecPlan {
    by: DecidedBy,
    options: Options,
    releases: Option<ReleaseFile>,
    trims: Vec<TrimOption>,
    settings: Settings,
    wanted: Wanted,
    checkpoint: Option<KeptRun>,
    /// Bytes that the tables of a run may take.
    memory: u64,
    /// Whether a task set has been run: files are for one.
    kept: AtomicBool,
    /// Whether a signal ends a run early, and not the process at once.
    stops: bool,
    /// Signals, held from the first such run until all is printed.
    signals: OnceLock<SignalHold>,
    format: Format,
    spread: bool,
}

pub fn run(args: &ExecArgs) -> Result<Status, CommandFailure> {
    let command = exec_plan(args, PNG, true)?;
    let pairs = Pairs::open(&args.file, args.allocation.as_deref(), &args.set)?;
    let batch = Batch { format: args.format.format };
    on_threads(Some(args.jobs.into()), || batch.run(pairs, &command))?
}

/// The command with its options, apart from where task sets and allocations come from, and from
/// the threads it is run on. Without `png` figures are SVG alone.
pub fn command(args: &ExecArgs, png: Option<PngWriter>) -> Result<Box<dyn SetCommand>, CommandFailure> {
    Ok(Box::new(exec_plan(args, png, false)?))
}

fn exec_plan(args: &ExecArgs, png: Option<PngWriter>, stops: bool) -> Result<ExecPlan, CommandFailure> {
    let (options, settings) = exec_options(args);
    let wanted = Wanted::new(args, png)?;
    if let Some(gantt) = &args.gantt
        && wanted.begins().is_some_and(|from| from >= options.duration)
    {
        let duration = format_ns(args.duration.as_ns());
        fail!("--gantt {gantt} --duration {duration}: the stretch begins after the run has ended");
    }
    Ok(ExecPlan {
        by: DecidedBy::of(&args.by)?,
        options,
        releases: ReleaseFile::open(&args.phases, args.releases.as_deref())?,
        trims: args.trims.iter().map(|text| TrimOption::read(text)).collect::<Result<_, _>>()?,
        settings,
        wanted,
        checkpoint: KeptRun::asked(args)?,
        memory: args.memory,
        kept: AtomicBool::new(false),
        stops,
        signals: OnceLock::new(),
        format: args.format.format,
        spread: args.spread,
    })
}

pub fn refused(error: &NotRun) -> Status {
    match error {
        NotRun::Refused(PlanRefusal::Plan(
            PlanError::TooFewBlocks { .. } | PlanError::SameName(_) | PlanError::NoRoom { .. },
        )) => Status::Wrong,
        NotRun::Refused(PlanRefusal::Trim { .. }) => Status::Wrong,
        NotRun::Refused(_) | NotRun::GivenUp(_) => Status::CannotTell,
        NotRun::Trace(_) | NotRun::State(_) => Status::Wrong,
    }
}

/// Certificates are run as they are, and it is their analysis that predicts.
pub fn of_certificates(
    allocation: &Allocation,
    analysis: &'static dyn Analysis,
    granted: Reliance,
) -> &'static dyn Analysis {
    let others = allocation.is_certified() && !promises(analysis);
    if others { analysis_relying_on("sound", granted).expect("there is one") } else { analysis }
}

/// Whether the analysis accepts every cluster; certificates from elsewhere are judged as `check`
/// judges them.
pub fn predicted(set: &TaskSet, allocation: &Allocation, analysis: &dyn Analysis, given: bool) -> Option<bool> {
    if analysis.refuses(set).is_some() {
        return None;
    }
    if given {
        return accepts(set, analysis, allocation);
    }
    Some(passing(set, analysis, allocation).into_iter().all(|passes| passes))
}

/// The data that do not fit, as `data-fit` fails it: all is run with the actual pages, an equal
/// share for each.
fn too_full(set: &TaskSet, allocation: &Allocation, analysis: &dyn Analysis) -> Option<String> {
    let mut spaces = spaces(set, analysis, allocation).into_iter().enumerate();
    let (position, space) = spaces.find(|(_, space)| !space.fits())?;
    Some(format!("the data of cluster {position} do not fit: {}", data_sentence(set.device(), &space)))
}

struct AskedRun<'a> {
    file: &'a TaskSetFile,
    /// The algorithm that is to find the allocation; `None` where one is given.
    algorithm: Option<&'static str>,
    alone: bool,
    settings: &'a Settings,
}

impl<'a> AskedRun<'a> {
    fn blank(&self, analysis: &dyn Analysis, prediction: Prediction, reason: String) -> ExecAnswer<'a> {
        let Prediction { predicted, verdicts } = prediction;
        ExecAnswer {
            verdicts,
            reason: Some(reason),
            algorithm: self.algorithm.map(Into::into),
            analysis: analysis.name().into(),
            predicted_schedulable: predicted,
            settings: self.settings.clone(),
            meta: self.file.meta.as_deref().map(Cow::Borrowed),
            ..ExecAnswer::default()
        }
    }

    fn ended(&self, analysis: &dyn Analysis, prediction: Prediction, stopped: Option<Instant>) -> ExecAnswer<'a> {
        let mut answer = self.blank(analysis, prediction, String::new());
        if let Some(at) = stopped {
            answer.settings.stopped_before_ns = Some(answer.settings.duration_ns);
            answer.settings.duration_ns = at.as_ns();
        }
        answer
    }
}

struct Prediction {
    predicted: Option<bool>,
    verdicts: Verdicts,
}

/// A run that cannot be, although nothing is wrong with the call: why, and the exit status.
struct NotExecuted {
    reason: String,
    status: Status,
}

impl SetCommand for ExecPlan {
    fn answer(&self, file: &TaskSetFile, given: Option<Given<'_>>, alone: bool) -> Result<SetAnswer, Unanswered> {
        let mut warnings = String::new();
        let mut answer = self.run(file, given, alone, &mut warnings).unwrap_or_else(Unanswered::into_answer);
        answer.complaint.insert_str(0, &warnings);
        Ok(answer)
    }
}

impl ExecPlan {
    fn run(
        &self,
        file: &TaskSetFile,
        given: Option<Given<'_>>,
        alone: bool,
        warnings: &mut String,
    ) -> Result<SetAnswer, Unanswered> {
        let set = &file.set;
        if (self.wanted.is_some() || self.checkpoint.is_some()) && self.kept.swap(true, Ordering::Relaxed) {
            fail!("--trace, --gantt, --report and --checkpoint take one task set, and this is another one");
        }
        let algorithm = given.is_none().then(|| self.by.allocator.name());
        let asked = AskedRun { file, algorithm, alone, settings: &self.settings };
        let options = ReleaseFile::apply(self.releases.as_ref(), set, &self.options)?;
        let options = TrimOption::apply(&self.trims, set, options.into_owned())?;
        let found = match given {
            Some(given) => of_given(set, given, self.by.analysis, warnings)?,
            None => search(set, self.by.allocator, self.by.analysis, self.spread),
        };
        match found {
            Ok(allocation) => self.run_one(&asked, &allocation, &options),
            Err(NothingToRun { reason, own }) => {
                let hint = if asked.algorithm.is_some() { any_runs(&own) } else { "" };
                let prediction = self.prediction(&asked, self.by.analysis, None, &own);
                let none = NotExecuted { reason: format!("{reason}{hint}"), status: Status::of(own.holds()) };
                self.not_run(&asked, self.by.analysis, prediction, none)
            }
        }
    }

    fn not_run(
        &self,
        asked: &AskedRun<'_>,
        analysis: &dyn Analysis,
        prediction: Prediction,
        why: NotExecuted,
    ) -> Result<SetAnswer, Unanswered> {
        let answer = asked.blank(analysis, prediction, why.reason);
        let view = ExecView { answer, page_size: 0, alone: asked.alone, drawing: String::new() };
        self.reported(&asked.file.set, view, None, why.status)
    }

    /// The analysis's own verdict, and next to it what is guaranteed: of a set that stands alone it
    /// is looked for.
    fn prediction(
        &self,
        asked: &AskedRun<'_>,
        analysis: &dyn Analysis,
        allocation: Option<&Allocation>,
        own: &Verdict,
    ) -> Prediction {
        let set = &asked.file.set;
        let verdicts = Verdicts::of(set, analysis, own);
        let predicted = own.holds();
        if !asked.alone || !analysis.is_theorem() {
            return Prediction { predicted, verdicts };
        }
        let accepted = predicted == Some(true);
        let guarantee =
            Guarantee::beside(set, self.by.allocator, analysis, allocation, accepted, self.by.granted).verdict;
        Prediction { predicted, verdicts: Verdicts { guarantee, ..verdicts } }
    }

    fn run_one(
        &self,
        asked: &AskedRun<'_>,
        allocation: &Allocation,
        options: &Options,
    ) -> Result<SetAnswer, Unanswered> {
        let set = &asked.file.set;
        let analysis = of_certificates(allocation, self.by.analysis, self.by.granted);
        if let Some(request) = analysis.refuses(set) {
            let reason = request.to_string();
            let prediction = self.prediction(asked, analysis, Some(allocation), &Verdict::cannot_tell(&*reason));
            return self.not_run(asked, analysis, prediction, NotExecuted { reason, status: Status::CannotTell });
        }
        let predicted = predicted(set, allocation, analysis, asked.algorithm.is_none());
        with_effect(promises(analysis), set.device(), options)?;
        possible(|| !is_independent(set, allocation), predicted, set.device(), options)?;
        // A run can keep every deadline, and yet lean on what the user does not grant.
        let beyond = beyond(set, allocation, self.by.granted);
        let own = match &beyond {
            Some(reason) => Verdict::no(&**reason),
            None => Verdict::of_allocation(set, analysis, allocation, predicted),
        };
        let prediction = Prediction { predicted, ..self.prediction(asked, analysis, Some(allocation), &own) };
        let mut keeper = Keeper::new(&self.wanted, set, options.duration);
        let executed = match self.execute(asked, allocation, analysis, options, &mut keeper)? {
            Ok(executed) => executed,
            Err(why) => return self.not_run(asked, analysis, prediction, why),
        };
        let Executed { plan, findings, report, stopped } = &executed;
        let drawn = keeper.finish(plan, stopped.unwrap_or(options.duration))?;
        let needed = needed(set, allocation);
        let passes = executed.passes() && beyond.is_none();
        let answer = ExecAnswer {
            reason: too_full(set, allocation, analysis).or(beyond),
            relies_on: needed.map(|needed| needed.name().into()),
            disobeys: disobeys(needed, options),
            ..asked.ended(analysis, prediction, *stopped).with(set, plan, findings, report)
        };
        let judged = stopped.and_then(|at| self.wanted.judged_until(at));
        let served = unserved(&answer.jobs, plan, stopped.unwrap_or(options.duration));
        let served = served.into_iter().chain(answer.outgrown());
        let notes = served.chain(suspends_nothing(set, allocation)).chain(judged).collect();
        let answer = ExecAnswer { notes, ..answer };
        let page_size = plan.device().page_size();
        let shown = drawn.drawing.as_ref().map_or_else(String::new, |drawing| drawing.text.clone());
        let view = ExecView { answer, page_size, alone: asked.alone, drawing: shown };
        let answer = self.reported(set, view, drawn.picture, Status::of(Some(passes)))?;
        Ok(SetAnswer { drawing: drawn.drawing, ..answer })
    }

    fn execute(
        &self,
        asked: &AskedRun<'_>,
        allocation: &Allocation,
        analysis: &dyn Analysis,
        options: &Options,
        keeper: &mut Keeper,
    ) -> Result<Result<Executed, NotExecuted>, CommandFailure> {
        let set = &asked.file.set;
        // Several sets are run side by side.
        let bar = if asked.alone { RunBar::new(options.duration) } else { None };
        // A checkpoint is what a run goes on from; several answers are printed as they come.
        let stops = self.stops && asked.alone && self.checkpoint.is_none();
        let mut advance = |now, operations| {
            bar.iter().for_each(|bar| bar.advance(now, operations));
            // From the first call on: while the device is prepared there is nothing to print.
            let is_held = stops && self.signals.get_or_init(SignalHold::new).signal().is_some();
            if is_held { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let progress: Option<Watch<'_>> = if bar.is_some() || stops { Some(&mut advance) } else { None };
        let mut checkpoint =
            self.checkpoint.as_ref().map(|kept| CheckpointFile::new(kept, set, allocation, analysis, options));
        let mut keep = |plan: &Plan, record: &_| keeper.keep(plan, record);
        let sink: Option<Sink<'_>> = if self.wanted.is_some() { Some(&mut keep) } else { None };
        let watch =
            RunWatch { sink, progress, checkpoint: checkpoint.as_mut().map(|file| file as &mut dyn Checkpoint) };
        let executed = execute_watched(self.memory, set, allocation, analysis, options, watch);
        bar.into_iter().for_each(RunBar::finish);
        let error = match executed {
            Ok(executed) => return Ok(Ok(executed)),
            Err(error) => error,
        };
        let reason = match (&error, checkpoint) {
            (NotRun::Trace(error), _) => self.wanted.failure(error),
            (NotRun::State(error), Some(file)) => file.failure(error),
            (NotRun::Refused(PlanRefusal::Trim { trim, why }), _) => {
                return Err(TrimOption::refused(&self.trims, *trim, why));
            }
            (NotRun::Refused(PlanRefusal::Memory { .. }), _) => format!("{error} (--memory allows more)"),
            _ => error.to_string(),
        };
        match refused(&error) {
            Status::Wrong => Err(CommandFailure(reason)),
            status => Ok(Err(NotExecuted { reason, status })),
        }
    }

    fn reported(
        &self,
        set: &TaskSet,
        view: ExecView<'_>,
        chart: Option<Picture>,
        status: Status,
    ) -> Result<SetAnswer, Unanswered> {
        if let Some(path) = self.wanted.report() {
            report::write(path, &report::exec(&view.answer, set, chart))?;
        }
        let text = rendered(self.format, &view.answer, || view.text());
        Ok(SetAnswer { text, status, ..SetAnswer::default() })
    }
}
