//! How far `soak` is, on the terminal, and signals that stop it.

use rtflash_run::soak::SoakWatch;

use crate::progress::Bar;
use crate::whole::SignalHold;

/// Shows how far a search is, and stops it where a signal is held.
pub struct BarWatch<'s> {
    pub bar: Bar,
    signals: Option<&'s SignalHold>,
}

impl<'s> BarWatch<'s> {
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
