//! `rtflash check`: a given allocation before the independent verifier.

use rtflash_analysis::Analysis;
use rtflash_analysis::verdict::completed;
use rtflash_answers::{CheckAnswer, CheckedAllocation, Verdict};
use rtflash_model::{Allocation, Certificate, TaskSetFile};

use super::found::{gone_tasks, looked_for, uncertified};
use super::verified::{Verified, verified};
use crate::answer::{SetAnswer, Status, Unanswered};
use crate::args::{CheckArgs, Format};
use crate::batch::{Batch, SetCommand};
use crate::pairs::{Given, Pairs};
use crate::render::kind::promises;
use crate::render::{check_text, rendered};
use crate::{CommandFailure, output};

struct CheckPlan {
    analysis: &'static dyn Analysis,
    format: Format,
}

#[cfg(feature = "exchange")]
const UNASKED: &str = "tell check what to judge: --allocation, --trace, --mqsim or --fio";
#[cfg(not(feature = "exchange"))]
const UNASKED: &str = "tell check what to judge: --allocation or --trace";

/// Carries the command out: the k-th allocation is tested with the k-th task set.
pub fn run(args: &CheckArgs) -> Result<Status, Unanswered> {
    if let Some(trace) = &args.trace {
        return Ok(super::trace::run(args, trace)?);
    }
    #[cfg(feature = "exchange")]
    for (results, from) in [(&args.mqsim, "mqsim"), (&args.fio, "fio")] {
        if let Some(results) = results {
            return super::replayed::run(args, results, from);
        }
    }
    let Some(allocation) = &args.allocation else { fail!("{UNASKED}") };
    let command = command(args)?;
    let pairs = Pairs::open(&args.file, Some(allocation), &args.set)?;
    Ok(Batch { format: args.format.format }.run(pairs, &*command)?)
}

pub fn command(args: &CheckArgs) -> Result<Box<dyn SetCommand>, CommandFailure> {
    let analysis = super::analysis_relying_on(&args.analysis.analysis, args.rely_on.granted)?;
    Ok(Box::new(CheckPlan { analysis, format: args.format.format }))
}

impl SetCommand for CheckPlan {
    fn answer(&self, file: &TaskSetFile, given: Option<Given<'_>>, _: bool) -> Result<SetAnswer, Unanswered> {
        Ok(match given {
            Some(Given::Allocation { allocation, text, name }) => self.verified(file, allocation, &text, name),
            Some(Given::Nothing { schedulable: Some(_), reason }) => self.nothing(file, Verdict::no(reason)),
            Some(Given::Nothing { schedulable: None, reason }) => self.nothing(file, Verdict::cannot_tell(reason)),
            None => fail!("no allocation to test"),
        })
    }
}

impl CheckPlan {
    fn verified(&self, file: &TaskSetFile, read: Allocation, text: &str, name: &str) -> SetAnswer {
        if let Some(request) = self.analysis.refuses(&file.set) {
            return self.nothing(file, Verdict::cannot_tell(request.to_string()));
        }
        let (CheckedAllocation { verdict, .. }, complaint) = checked(file, self.analysis, read, text, name);
        let text = rendered(self.format, &verdict, || check_text::text(&verdict));
        SetAnswer { text, complaint, status: Status::of(verdict.schedulable), ..SetAnswer::default() }
    }

    fn nothing(&self, file: &TaskSetFile, own: Verdict) -> SetAnswer {
        let status = Status::of(own.holds());
        let answer = CheckAnswer::nothing(&file.set, self.analysis, own, file.meta.as_deref());
        let text = rendered(self.format, &answer, || check_text::text(&answer));
        SetAnswer { text, status, ..SetAnswer::default() }
    }
}

/// The findings on an allocation, which stands in the file `name` as `text`, and a warning if
/// certificates were looked for.
pub fn checked<'f>(
    file: &'f TaskSetFile,
    analysis: &dyn Analysis,
    read: Allocation,
    text: &str,
    name: &str,
) -> (CheckedAllocation<'f>, String) {
    let missing = if promises(analysis) { uncertified(&read) } else { Vec::new() };
    // The analysis completes a certificate that is missing; the verifier then judges it as given.
    let read = if missing.is_empty() { read } else { completed(&file.set, analysis, read) };
    let Verified { mut answer, utilizations, intervals } = verified(file, analysis, &read);
    for &position in missing.iter().filter(|&&position| read.certificate(position).is_some()) {
        answer.clusters[position].notes.push("it has no certificate: this one was looked for".into());
    }
    for (cluster, position) in answer.clusters.iter_mut().zip(0..) {
        cluster.notes.extend(gone_tasks(&read, position));
    }
    disagreements(text, &missing, &utilizations, &mut answer);
    let warning = if missing.is_empty() {
        String::new()
    } else {
        output::warning(&format!("{name}: {}", looked_for(&read, &missing)))
    };
    let judged = intervals.into_iter().enumerate().map(|(position, tightest)| {
        read.certificate(position).map(|certificate| Certificate { tightest, ..*certificate })
    });
    let judged: Vec<Option<Certificate>> = judged.collect();
    let allocation = if judged.is_empty() { read } else { read.with_certificates(judged) };
    (CheckedAllocation { allocation, verdict: answer }, warning)
}

/// Notes utilizations that an allocation states and does not have: the verdict ignores them, but a
/// user can depend on them. Clusters whose certificates were looked for are skipped, because their
/// utilizations are another analysis's.
fn disagreements(allocation: &str, looked_for: &[usize], utilizations: &[Vec<f64>], answer: &mut CheckAnswer<'_>) {
    // A text that is nested too deeply for this reader states none.
    let Ok(stated) = serde_json::from_str::<serde_json::Value>(allocation) else { return };
    for (cluster, position) in answer.clusters.iter_mut().zip(0usize..).filter(|(_, at)| !looked_for.contains(at)) {
        let of = || stated.get("clusters")?.get(position)?.get("utilization")?.as_f64();
        let Some(says) = of() else { continue };
        let differs = |is: f64| (says - is).abs() > 1e-9 * is.max(1.0);
        // A promise that rests on less is right, too.
        let by_others = utilizations.get(position).map_or(&[][..], Vec::as_slice);
        if differs(cluster.utilization) && by_others.iter().all(|&is| differs(is)) {
            cluster.notes.push(format!("it states a utilization of {says}, and has {}", cluster.utilization));
        }
    }
}
