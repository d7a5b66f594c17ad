//! `rtflash check`: a given allocation before the independent judge.

use std::collections::VecDeque;

use rtflash_alloc::verdict::completed;
use rtflash_check::{Equations, judge, judge_sound};
use rtflash_model::{Allocation, Frame, Frames, TaskSetFile, read_allocation, read_task_set_bytes};

use crate::Failure;
use crate::args::{CheckArgs, Format};
use crate::batch::{next_batch, refuse};
use crate::output::{self, Output};
use crate::render::check_text;
use crate::render::wire::{CheckAnswer, line};
use crate::source::Source;
use crate::status::Status;

/// The values of one stream, one after another.
struct Values {
    name: String,
    frames: Frames<Source>,
    ready: VecDeque<Frame>,
}

impl Values {
    fn of(source: Source) -> Values {
        Values { name: source.name.clone(), frames: Frames::new(source), ready: VecDeque::new() }
    }

    fn next(&mut self) -> Result<Option<Frame>, Failure> {
        if self.ready.is_empty() {
            self.ready.extend(next_batch(&mut self.frames, &self.name)?.unwrap_or_default());
        }
        Ok(self.ready.pop_front())
    }
}

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
    if args.file == *allocation && args.file.as_os_str() == "-" {
        return Err(Failure("the task set and the allocation cannot both come from standard input".into()));
    }
    let mut sets = Values::of(Source::open(&args.file)?);
    let mut allocations = Values::of(Source::open(allocation)?);
    let mut output = Output::stdout();
    let mut worst = Status::Yes;
    let (mut set, mut allocation) = (sets.next()?, allocations.next()?);
    for (values, first) in [(&sets, &set), (&allocations, &allocation)] {
        if first.is_none() {
            return Err(Failure(format!("{}:1:1: there is nothing in it", values.name)));
        }
    }
    let mut number = 1;
    loop {
        match (&set, &allocation) {
            (None, None) => return Ok(worst),
            (Some(set_frame), Some(allocation_frame)) => {
                let text = plan.answer((&sets.name, set_frame), (&allocations.name, allocation_frame), &mut worst);
                let failure = |error: std::io::Error| Failure::io("cannot write", &error);
                if !output.write(&text).and_then(|_| output.flush()).map_err(failure)? {
                    return Ok(worst);
                }
            }
            _ => {
                let (longer, shorter) =
                    if set.is_some() { (&sets.name, &allocations.name) } else { (&allocations.name, &sets.name) };
                return Err(Failure(format!(
                    "{longer} goes on after {shorter} has ended, behind number {}",
                    number - 1
                )));
            }
        }
        (set, allocation) = (sets.next()?, allocations.next()?);
        number += 1;
    }
}

impl Plan {
    /// The answer; what is wrong with the input is complained of.
    fn answer(
        &self,
        (set_name, set): (&str, &Frame),
        (name, allocation): (&str, &Frame),
        worst: &mut Status,
    ) -> String {
        let file = match read_task_set_bytes(&set.text) {
            Ok(file) => file,
            Err(diagnostics) => {
                output::complain(&refuse(set_name, set, &diagnostics));
                *worst = Status::Wrong;
                return String::new();
            }
        };
        let text = String::from_utf8_lossy(&allocation.text);
        match read_allocation(&text, &file.set) {
            Err(diagnostics) => {
                output::complain(&refuse(name, allocation, &diagnostics));
                *worst = Status::Wrong;
                String::new()
            }
            Ok(read) => {
                let missing = if self.equations.is_none() { uncertified(&read) } else { vec![] };
                // What is not promised is looked for, and then judged as if it had been given.
                let read = if missing.is_empty() { read } else { completed(&file.set, self.analysis, read) };
                let mut answer = self.judge(&file, &read);
                *worst = (*worst).max(Status::of(answer.schedulable));
                for &position in missing.iter().filter(|&&position| read.certificate(position).is_some()) {
                    answer.clusters[position].notes.push("it has no certificate: this one was looked for".into());
                }
                for (cluster, position) in answer.clusters.iter_mut().zip(0..) {
                    cluster.notes.extend(gone_tasks(&read, position));
                }
                disagreements(&text, &missing, &mut answer);
                if !missing.is_empty() {
                    output::complain(&output::warning(&format!("{name}: {}", looked_for(&read, &missing))));
                }
                match self.format {
                    Format::Json => line(&answer),
                    Format::Text => check_text::answer(&answer),
                }
            }
        }
    }
}

impl Plan {
    fn judge<'f>(&self, file: &'f TaskSetFile, allocation: &Allocation) -> CheckAnswer<'f> {
        let (set, meta) = (&file.set, file.meta.as_deref());
        match self.equations {
            Some(equations) => CheckAnswer::new(set, equations.name(), &judge(set, allocation, equations), meta),
            None => {
                let granted = self.analysis.relies_on();
                let judgement = judge_sound(set, allocation, self.analysis.placements(), granted);
                CheckAnswer::sound(set, self.analysis.name(), &judgement, granted, meta)
            }
        }
    }
}

/// The clusters without a certificate.
pub fn uncertified(allocation: &Allocation) -> Vec<usize> {
    (0..allocation.len()).filter(|&position| allocation.certificate(position).is_none()).collect()
}

/// That certificates were looked for, and of which clusters.
pub fn looked_for(allocation: &Allocation, missing: &[usize]) -> String {
    if missing.len() == allocation.len() {
        return "it has no certificates: they were looked for".into();
    }
    let positions: Vec<String> = missing.iter().map(ToString::to_string).collect();
    match positions.as_slice() {
        [one] => format!("cluster {one} has no certificate: one was looked for, next to the others as they are"),
        many => format!(
            "clusters {} have no certificates: they were looked for, next to the others as they are",
            many.join(", ")
        ),
    }
}

/// What is to be said of tasks of a cluster that the set does not have.
pub fn gone_tasks(allocation: &Allocation, position: usize) -> impl Iterator<Item = String> {
    let gone = allocation.remarks(position).into_iter().flat_map(|remarks| &remarks.gone_tasks);
    gone.map(|name| format!("task `{name}` is not in the task set"))
}

/// Notes where the utilizations that an allocation states are not those that it has: nothing depends on them, but somebody may. Of clusters whose
/// certificates were looked for they are another analysis's.
fn disagreements(allocation: &str, looked_for: &[usize], answer: &mut CheckAnswer<'_>) {
    let stated = serde_json::from_str::<serde_json::Value>(allocation).unwrap_or_default();
    for (cluster, position) in answer.clusters.iter_mut().zip(0usize..).filter(|(_, at)| !looked_for.contains(at)) {
        let of = || stated.get("clusters")?.get(position)?.get("utilization")?.as_f64();
        let Some(says) = of() else { continue };
        let differs = |is: f64| (says - is).abs() > 1e-9 * is.max(1.0);
        // A promise that rests on less is right, too.
        if differs(cluster.utilization) && cluster.utilizations.iter().all(|&is| differs(is)) {
            cluster.notes.push(format!("it states a utilization of {says}, and has {}", cluster.utilization));
        }
    }
}
