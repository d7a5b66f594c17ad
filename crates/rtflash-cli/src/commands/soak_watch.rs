//! How far `soak` is, on the terminal, and signals that stop it.

use rtflash_run::soak::SoakWatch;
use rtflash_wire::SoakAnswer;

use super::policies;
use super::soak_answer::text;
use crate::answer::{SetAnswer, Unanswered};
use crate::args::SoakArgs;
use crate::progress::Bar;
use crate::render::rendered;
use crate::status::Status;
use crate::whole::SignalHold;

/// Shows how far a search is, and stops it where a signal is held.
pub struct BarWatch<'s> {
    /// What is shown.
    pub bar: Bar,
    signals: Option<&'s SignalHold>,
}

impl<'s> BarWatch<'s> {
    /// A bar for a search of `cases` cases.
    pub fn new(cases: u64, signals: Option<&'s SignalHold>) -> BarWatch<'s> {
        let template = "{wide_bar} {percent} % of {human_len} cases, {per_sec} a second, {eta} left";
        BarWatch { bar: Bar::new(template, 0, cases), signals }
    }

    /// The cases that are over, if the search was stopped.
    pub fn stopped_after(&self, cases: u64) -> Option<u64> {
        self.stops().then_some(cases)
    }
}

impl SoakWatch for BarWatch<'_> {
    fn over(&self, cases: u64) {
        self.bar.inc(cases);
    }

    fn stops(&self) -> bool {
        self.signals.is_some_and(|signals| signals.signal().is_some())
    }
}

/// The answer of a search.
pub fn answered(
    args: &SoakArgs,
    watch: &BarWatch<'_>,
    searched: impl FnOnce() -> SoakAnswer + Send,
) -> Result<SetAnswer, Unanswered> {
    let answer = policies::on_threads(args.jobs.map(usize::from), searched)?;
    watch.bar.finish();
    // A term that is left out is to be missed.
    let is_found = answer.without.iter().all(|line| !line.checks.is_empty());
    let status = Status::of(Some(answer.broken.is_empty() && is_found));
    let text = rendered(args.format.format, &answer, || text(&answer));
    Ok(SetAnswer { text, status, ..SetAnswer::default() })
}
