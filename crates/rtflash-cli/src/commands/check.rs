//! `rtflash check`: a given allocation before the independent judge.

use rtflash_alloc::verdict::completed;
use rtflash_check::{Equations, judge, judge_sound};
use rtflash_model::{Allocation, TaskSetFile};

use crate::Failure;
use crate::args::{CheckArgs, Format};
use crate::batch::{Answer, Batch};
use crate::output;
use crate::pairs::{Given, Pairs};
use crate::render::check_text;
use crate::render::wire::{CheckAnswer, line};
use crate::status::Status;

struct Plan {
    /// `None` for the sound analyses.
    equations: Option<Equations>,
    analysis: &'static dyn rtflash_alloc::analysis::Analysis,
    format: Format,
}

/// Carries the command out: the k-th allocation is tested with the k-th task set.
pub fn run(args: &CheckArgs) -> Result<Status, Failure> {
    if let Some(trace) = &args.trace {
        return super::trace::run(args, trace);
    }
    let Some(allocation) = &args.allocation else { return Err(Failure("no allocation to test".into())) };
    let analysis = super::analysis_relying_on(&args.analysis.analysis, args.rely_on.granted())?;
    let equations = Equations::from_name(analysis.name());
    if equations.is_none() && analysis.placements().is_empty() {
        return Err(Failure(format!("the judge knows no analysis `{}`", analysis.name())));
    }
    let plan = Plan { equations, analysis, format: args.format.format };
    let pairs = Pairs::open(&args.file, Some(allocation))?;
    let batch = Batch { format: plan.format };
    batch.run_pairs(pairs, |file, given, _| match given {
        Some(Given::Allocation { allocation, text, name }) => plan.answer(file, allocation, &text, name),
        Some(Given::Nothing { schedulable, reason }) => plan.nothing(file, schedulable, reason),
        None => Answer::wrong("no allocation to test"),
    })
}

impl Plan {
    /// The answer to an allocation, which stands in the file `name` as `text`.
    fn answer(&self, file: &TaskSetFile, read: Allocation, text: &str, name: &str) -> Answer {
        let missing = self.equations.is_none() && !read.is_certified();
        // What it promises is looked for, and then judged as if it had been given.
        let read = if missing { completed(&file.set, self.analysis, read) } else { read };
        let answer = self.judge(file, &read);
        let mut complaint = String::new();
        if missing {
            let note = format!("{name}: it has no certificates: they were looked for, and are judged here");
            complaint += &output::warning(&note);
        } else {
            for warning in disagreements(text, &answer) {
                complaint += &output::warning(&format!("{name}: {warning}"));
            }
        }
        let text = match self.format {
            Format::Json => line(&answer),
            Format::Text => check_text::answer(&answer),
        };
        Answer { text, complaint, status: Status::of(answer.schedulable), fault: None }
    }

    /// The answer where there is none.
    fn nothing(&self, file: &TaskSetFile, schedulable: Option<bool>, reason: String) -> Answer {
        let answer = CheckAnswer::nothing(self.analysis.name(), schedulable, reason, file.meta.as_deref());
        let text = match self.format {
            Format::Json => line(&answer),
            Format::Text => check_text::nothing(&answer),
        };
        Answer { text, status: Status::of(schedulable), ..Answer::default() }
    }
}

impl Plan {
    fn judge<'f>(&self, file: &'f TaskSetFile, allocation: &Allocation) -> CheckAnswer<'f> {
        let (set, meta) = (&file.set, file.meta.as_deref());
        match self.equations {
            Some(equations) => CheckAnswer::new(set, equations.name(), &judge(set, allocation, equations), meta),
            None => {
                let judgement = judge_sound(set, allocation, self.analysis.placements(), self.analysis.relies_on());
                CheckAnswer::sound(set, self.analysis.name(), &judgement, meta)
            }
        }
    }
}

/// Where the utilizations that an allocation states are not those that it has: nothing depends on them, but somebody may.
fn disagreements(allocation: &str, answer: &CheckAnswer<'_>) -> Vec<String> {
    let stated = serde_json::from_str::<serde_json::Value>(allocation).unwrap_or_default();
    let clusters = answer.clusters.iter().enumerate();
    let disagreement = clusters.filter_map(|(position, cluster)| {
        let says = stated.get("clusters")?.get(position)?.get("utilization")?.as_f64()?;
        let off = (says - cluster.utilization).abs() > 1e-9 * cluster.utilization.max(1.0);
        off.then(|| {
            format!("it states a utilization of {says} for cluster {position}, which has {}", cluster.utilization)
        })
    });
    disagreement.collect()
}
