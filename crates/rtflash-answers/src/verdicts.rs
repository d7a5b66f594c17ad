//! The two verdicts that begin every answer about a set: what Theorem 1 says of it, and the
//! guarantee on the device. Each has one wording: [`Verdicts::lines`] for people, and the fields
//! for programs.

use std::fmt;

use rtflash_alloc::allocator::{Allocator as _, Outcome, PartFtlTest};
use rtflash_analysis::verdict::{in_time, report, spaces};
use rtflash_analysis::{Analysis, PartFtl, Test};
use rtflash_model::{Allocation, Space, TaskSet};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::parts::Text;
use crate::reasons::{alone, data_sentence, failure_reason, impossible_reason, load_above_one};

/// The two verdicts, in every answer about a set.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Verdicts {
    /// The verdict of Theorem 1 (Kim 2021) on the set: `not asked` if another analysis than
    /// `thesis` or `thesis-evaluated` was asked for.
    pub theorem: Verdict,
    /// Whether every deadline is guaranteed on the device: with the clusters printed here (`yes`),
    /// or `with other clusters`.
    pub guarantee: Verdict,
    /// For a drive whose firmware is fixed: which command bounds what such a drive does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<Text<'static>>,
    /// The verdict of a test that neither of the two shows, with its name. People read it below
    /// them; programs read `schedulable`.
    #[serde(skip)]
    pub test: Option<TestVerdict>,
}

/// The verdict of a test other than Theorem 1's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestVerdict {
    /// The name of the analysis, or of the algorithm that has its own test.
    pub name: String,
    /// Its verdict.
    pub verdict: Verdict,
}

/// A verdict and its reason.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Verdict {
    /// The verdict.
    pub verdict: VerdictWord,
    /// Why, in a clause: of every `no` and `cannot tell`; with other clusters, which command prints
    /// them. `typical times` where the device states no maxima.
    pub reason: Option<String>,
}

/// A verdict in a word.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum VerdictWord {
    /// Schedulable, or guaranteed with the clusters of the answer.
    #[serde(rename = "yes")]
    Yes,
    /// Guaranteed, with other clusters than those of the answer.
    #[serde(rename = "with other clusters")]
    WithOtherClusters,
    /// Not schedulable, or not guaranteed.
    #[serde(rename = "no")]
    No,
    /// A limit was reached, or the test does not apply.
    #[serde(rename = "cannot tell")]
    CannotTell,
    /// Nothing was asked.
    #[default]
    #[serde(rename = "not asked")]
    NotAsked,
}

/// A verdict as people read it: `Theorem 1 (Kim 2021)  not schedulable: …`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerdictLine {
    /// The subject of the line.
    pub label: String,
    /// The verdict, by which a line is coloured; `None` for a note.
    pub word: Option<VerdictWord>,
    /// The verdict in words; empty for a note.
    pub verdict: &'static str,
    /// The text behind the verdict; empty if there is none.
    pub reason: String,
}

/// The reason where a device states typical times.
const TYPICAL_TIMES: &str = "typical times";

/// The reason where there is nothing to be guaranteed.
const NO_TASKS: &str = "the set has no tasks";

/// Columns of a label.
const LABEL: usize = 22;

impl Verdict {
    /// Nothing was asked.
    pub const NOT_ASKED: Verdict = Verdict { verdict: VerdictWord::NotAsked, reason: None };

    /// A yes.
    pub const YES: Verdict = Verdict { verdict: VerdictWord::Yes, reason: None };

    /// A no, and why, in a clause.
    pub fn no(reason: impl Into<String>) -> Verdict {
        Verdict { verdict: VerdictWord::No, reason: Some(reason.into()) }
    }

    /// A yes for other clusters than those at hand, and how to see them.
    pub fn with_other_clusters(how: String) -> Verdict {
        Verdict { verdict: VerdictWord::WithOtherClusters, reason: Some(how) }
    }

    /// The verdict is not decided, for this reason, a clause.
    pub fn cannot_tell(reason: impl Into<String>) -> Verdict {
        Verdict { verdict: VerdictWord::CannotTell, reason: Some(reason.into()) }
    }

    /// The analysis's own verdict on an outcome.
    pub fn of_outcome(set: &TaskSet, analysis: &dyn Analysis, outcome: &Outcome) -> Verdict {
        match outcome {
            Outcome::Schedulable(_) => Verdict::YES,
            Outcome::NotSchedulable(failure) => Verdict::no(failure_reason(set, analysis, failure)),
            Outcome::Impossible(proof) => {
                Verdict::no(format!("no allocation meets every deadline: {}", impossible_reason(set, proof, alone)))
            }
            Outcome::CannotTell(limit) => Verdict::cannot_tell(limit.to_string()),
            Outcome::Partitioned(verdict) if !verdict.space.fits() => Verdict::no("the data do not fit the data chips"),
            Outcome::Partitioned(verdict) if !verdict.schedulable => Verdict::no(partitioned_reason(verdict)),
            Outcome::Partitioned(_) => Verdict::YES,
        }
    }

    /// The analysis's verdict on a given allocation, if it is known. A no names the first cluster
    /// that fails.
    pub fn of_allocation(
        set: &TaskSet,
        analysis: &dyn Analysis,
        allocation: &Allocation,
        accepted: Option<bool>,
    ) -> Verdict {
        match accepted {
            Some(true) => return Verdict::YES,
            None => return Verdict::cannot_tell("a test was given up"),
            Some(false) => {}
        }
        if let Some((position, space)) = too_full(set, analysis, allocation) {
            return Verdict::no(format!(
                "the data of cluster {position} do not fit: {}",
                data_sentence(set.device(), &space)
            ));
        }
        let late = in_time(set, analysis, allocation).iter().position(|in_time| !in_time);
        Verdict::no(match late {
            Some(position) if analysis.is_theorem() => {
                let load = report(set, analysis, allocation)[position].utilization;
                format!("cluster {position} has U = {}, the limit is 1", load_above_one(load))
            }
            Some(position) => format!("cluster {position} fails its test"),
            None => "its certificates do not state what holds".to_owned(),
        })
    }

    /// The verdict on a guarantee that follows from the set alone, whatever analysis is asked: a
    /// set without tasks asks for nothing, and typical times guarantee nothing. `None` for other
    /// sets.
    pub fn without_asking(set: &TaskSet) -> Option<Verdict> {
        if set.tasks().is_empty() {
            return Some(Verdict { reason: Some(NO_TASKS.into()), ..Verdict::NOT_ASKED });
        }
        set.device().has_typical_times().then(|| Verdict::no(TYPICAL_TIMES))
    }

    /// Yes, no, or `None`.
    pub fn holds(&self) -> Option<bool> {
        match self.verdict {
            VerdictWord::Yes | VerdictWord::WithOtherClusters => Some(true),
            VerdictWord::No => Some(false),
            VerdictWord::CannotTell | VerdictWord::NotAsked => None,
        }
    }

    fn line(&self, label: &str, words: [&'static str; 3]) -> VerdictLine {
        let [yes, other, no] = words;
        let (verdict, explained) = match self.verdict {
            VerdictWord::Yes => (yes, true),
            VerdictWord::WithOtherClusters => (other, true),
            VerdictWord::No => (no, true),
            VerdictWord::CannotTell => ("cannot tell", true),
            VerdictWord::NotAsked => ("not asked", false),
        };
        let reason = self.reason.as_deref().filter(|_| explained).map(|reason| match reason {
            TYPICAL_TIMES => {
                "the device's times are typical values; enter the maxima of its datasheet, with \"times\": \"maximum\""
            }
            reason => reason,
        });
        let reason = reason.map_or_else(String::new, |reason| format!(": {reason}"));
        VerdictLine { label: label.to_owned(), word: Some(self.verdict), verdict, reason }
    }
}

/// Why PaRT-FTL's own test fails, in a clause.
fn partitioned_reason(verdict: &PartFtl) -> String {
    let read = ("read", verdict.read_utilization, verdict.reads_fit);
    let write = ("write", verdict.write_utilization, verdict.writes_fit);
    let full = [read, write].into_iter().filter(|(_, _, fits)| !fits);
    match full.max_by(|one, other| one.1.total_cmp(&other.1)) {
        None => "a request is due before its period ends, and its test knows none of these".into(),
        Some((mode, most, _)) => {
            format!("the chips in {mode} mode have U = {}, the limit is 1", load_above_one(most))
        }
    }
}

/// The first cluster of an allocation whose data do not fit.
fn too_full(set: &TaskSet, analysis: &dyn Analysis, allocation: &Allocation) -> Option<(usize, Space)> {
    spaces(set, analysis, allocation).into_iter().enumerate().find(|(_, space)| !space.fits())
}

impl Verdicts {
    /// The verdicts where `own` is that of the analysis and nothing else was asked: Theorem 1's, or
    /// a guarantee with the clusters at hand, or that of another test.
    pub fn of(set: &TaskSet, analysis: &dyn Analysis, own: &Verdict) -> Verdicts {
        let sound = matches!(analysis.test(), Test::Demand(_));
        let guarantee = Verdict::without_asking(set).unwrap_or_else(|| match sound {
            true => own.clone(),
            false => Verdict::NOT_ASKED,
        });
        Verdicts::new(set, analysis.name(), analysis.is_theorem(), own, guarantee)
    }

    /// The verdicts on an outcome, with what is guaranteed of the set.
    pub fn of_outcome(
        set: &TaskSet,
        algorithm: &str,
        analysis: &dyn Analysis,
        outcome: &Outcome,
        guarantee: &Verdict,
    ) -> Verdicts {
        let own = Verdict::of_outcome(set, analysis, outcome);
        // An organisation of the device with a test of its own.
        let partitioned = algorithm == PartFtlTest.name();
        let name = if partitioned { algorithm } else { analysis.name() };
        Verdicts::new(set, name, analysis.is_theorem() && !partitioned, &own, guarantee.clone())
    }

    fn new(set: &TaskSet, name: &str, theorem: bool, own: &Verdict, guarantee: Verdict) -> Verdicts {
        let shown = theorem || *own == guarantee;
        Verdicts {
            theorem: if theorem { own.clone() } else { Verdict::NOT_ASKED },
            test: (!shown).then(|| TestVerdict { name: name.to_owned(), verdict: own.clone() }),
            guarantee,
            note: set.device().is_sealed().then(|| {
                "a guarantee needs firmware of your own; for a drive that nobody can reprogram `rtflash host bound` \
                 bounds what Linux's I/O schedulers do"
                    .into()
            }),
        }
    }

    /// The lines with which an answer begins: Theorem 1, the guarantee, and where there are any,
    /// another test's verdict and the note.
    pub fn lines(&self) -> Vec<VerdictLine> {
        let schedulable = ["schedulable", "schedulable", "not schedulable"];
        let guaranteed = ["yes, with these clusters", "yes, with other clusters", "no"];
        let test = self.test.iter().map(|test| test.verdict.line(&format!("Test of {}", test.name), schedulable));
        let note = self.note.iter().map(|note| VerdictLine {
            label: "Note".into(),
            word: None,
            verdict: "",
            reason: note.to_string(),
        });
        [self.theorem.line("Theorem 1 (Kim 2021)", schedulable), self.guarantee.line("Guarantee on device", guaranteed)]
            .into_iter()
            .chain(test)
            .chain(note)
            .collect()
    }

    /// Why checks of a run by Theorem 1 can fail, whatever certificates would guarantee; `None` for
    /// other runs, and for a set without tasks.
    pub fn why_checks_can_fail(&self) -> Option<&'static str> {
        let has_tasks = self.guarantee.reason.as_deref() != Some(NO_TASKS);
        let why = match self.guarantee.verdict {
            VerdictWord::Yes => {
                "checks can fail: this run keeps no certificates, and Theorem 1 does not guarantee this device: \
                 `--analysis sound` does"
            }
            VerdictWord::WithOtherClusters => {
                "checks can fail: Theorem 1 does not guarantee this device: `--analysis sound` does"
            }
            _ => "checks can fail: Theorem 1 does not guarantee this device",
        };
        (self.theorem.verdict == VerdictWord::Yes && has_tasks).then_some(why)
    }
}

impl VerdictLine {
    /// The label, filled up so that verdicts stand in one column.
    pub fn label(&self) -> String {
        format!("{:<1$}", self.label, LABEL.max(self.label.len() + 1))
    }
}

/// The line as plain text, without its end.
impl fmt::Display for VerdictLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}{}", self.label(), self.verdict, self.reason)
    }
}

#[cfg(test)]
mod tests {
    use rtflash_analysis::{Sound, Stripe, Thesis};
    use rtflash_model::{Reliance, read_task_set};

    use super::*;

    fn set(device: &str) -> TaskSet {
        let text =
            format!(r#"{{"device": {device}, "tasks": [{{"name": "a", "read": {{"pages": 1, "period": "1s"}}}}]}}"#);
        read_task_set(&text).expect("a task set").set
    }

    fn lines(verdicts: &Verdicts) -> Vec<String> {
        verdicts.lines().iter().map(ToString::to_string).collect()
    }

    /// Each analysis has its line, and what stands in no other one has a line of its own.
    #[test]
    fn every_verdict_is_shown_once() {
        let sound = Sound { rely_on: Reliance::default() };
        let (plain, typical) = (set("\"dgist-2021\""), set("{\"profile\": \"dgist-2021\", \"times\": \"typical\"}"));
        let no = Verdict::no("late");
        assert_eq!(
            lines(&Verdicts::of(&plain, &Thesis, &no)),
            ["Theorem 1 (Kim 2021)  not schedulable: late", "Guarantee on device   not asked"]
        );
        assert_eq!(
            lines(&Verdicts::of(&plain, &sound, &Verdict::YES)),
            ["Theorem 1 (Kim 2021)  not asked", "Guarantee on device   yes, with these clusters"]
        );
        let typical = lines(&Verdicts::of(&typical, &sound, &Verdict::YES));
        assert!(typical[1].starts_with("Guarantee on device   no: the device's times are typical values"));
        assert_eq!(typical[2..], ["Test of sound         schedulable"]);
        let stripe = Stripe { rely_on: Reliance::default() };
        assert_eq!(lines(&Verdicts::of(&plain, &stripe, &no))[1..], ["Guarantee on device   no: late"]);
        let sealed = Verdicts::of(&set("\"emmc-64gb-mlc\""), &Thesis, &Verdict::YES);
        assert!(lines(&sealed)[2].starts_with("Note                  ") && lines(&sealed)[2].contains("rtflash host"));
        let test = TestVerdict { name: "necessary-with-zones".into(), verdict: no };
        assert_eq!(
            lines(&Verdicts { test: Some(test), ..sealed })[2],
            "Test of necessary-with-zones not schedulable: late"
        );
    }

    #[test]
    fn programs_read_the_reason_that_is_fixed() {
        let typical = set("{\"profile\": \"dgist-2021\", \"times\": \"typical\"}");
        let verdicts = Verdicts::of(&typical, &Thesis, &Verdict::YES);
        let json =
            r#"{"theorem":{"verdict":"yes","reason":null},"guarantee":{"verdict":"no","reason":"typical times"}}"#;
        assert_eq!(serde_json::to_string(&verdicts).unwrap(), json);
        assert_eq!(serde_json::from_str::<Verdicts>(json).unwrap(), verdicts);
        assert!(verdicts.why_checks_can_fail().is_some());
        // A run by certificates is what is guaranteed.
        assert_eq!(Verdicts::of(&typical, &Sound::default(), &Verdict::YES).why_checks_can_fail(), None);
    }

    /// A utilization of one is accepted, and one that exceeds it by less than a double tells is
    /// not.
    #[test]
    fn part_ftl_names_the_mode_that_does_not_fit() {
        let space = Space { data_pages: 0, needed_pages: 0, logical_pages: 1, declared: false };
        let full = |reads_fit: bool, writes_fit: bool| {
            let (read_utilization, write_utilization) = (1.0, 1.0);
            let verdict =
                PartFtl { read_utilization, write_utilization, reads_fit, writes_fit, schedulable: false, space };
            partitioned_reason(&verdict)
        };
        assert!(full(false, true).starts_with("the chips in read mode have U = 1"), "{}", full(false, true));
        assert!(full(true, false).starts_with("the chips in write mode have U = 1"), "{}", full(true, false));
        assert!(full(true, true).starts_with("a request is due before its period ends"), "{}", full(true, true));
    }
}
