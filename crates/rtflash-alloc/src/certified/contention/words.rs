//! Waiting for the bus in single words, which hold the numbers of most devices. A search near a
//! full load looks at hundreds of intervals.

use rtflash_model::Span;

use super::word_presence::{WordPresence, passes_live_in_words, presence, programs};
use super::{Contention, ForeignChip, PerStep, steps_on_chip};
use crate::certified::processor::{ChosenGc, DemandTask, Processor, Rows};
use crate::certified::registers::{RegisterTurns, Registers};

/// What a processor does within an interval, as [`Activity`](super::Activity) says it.
#[derive(Debug, Clone, Copy)]
pub(in crate::certified) struct WordActivity {
    pub(in crate::certified) length: Span,
    pub(in crate::certified) reads: u64,
    pub(in crate::certified) writes: u64,
    pub(in crate::certified) resets: u64,
    /// Jobs, those of garbage collection included.
    pub(in crate::certified) jobs: u64,
    pub(in crate::certified) passes: u64,
    pub(in crate::certified) turns: RegisterTurns,
}

/// A number for each step of a kind, and for each pass, in single words.
#[derive(Debug, Clone, Copy)]
struct PerStepWords {
    read: u64,
    write: u64,
    reset: u64,
    pass: u64,
}

impl PerStepWords {
    fn new(each: PerStep) -> Option<PerStepWords> {
        let word = |each: u128| u64::try_from(each).ok();
        let [read, write] = [word(each.read)?, word(each.write)?];
        Some(PerStepWords { read, write, reset: word(each.reset)?, pass: word(each.pass)? })
    }

    /// The sum over all that a processor does within an interval.
    fn of_all(self, activity: WordActivity) -> Option<u64> {
        let users = self.read.checked_mul(activity.reads)?.checked_add(self.write.checked_mul(activity.writes)?)?;
        let users = users.checked_add(self.reset.checked_mul(activity.resets)?)?;
        users.checked_add(self.pass.checked_mul(activity.passes)?)
    }
}

/// [`Contention::waiting`] of a processor in single words, with what is the same in all intervals.
#[derive(Debug, Clone, Copy)]
pub(in crate::certified) struct WordWaits {
    asks: PerStepWords,
    /// With them (T) is the test.
    in_full: Option<PerStepWords>,
    /// Where chips use a second page register.
    registers: Option<Registers>,
    /// Whether pages stand in a queue.
    in_line: bool,
}

/// What a chip of another cluster does within an interval. `None` where a number on the way does
/// not fit into a word.
pub(super) trait WordChip {
    /// Chips like this.
    fn chips(&self) -> u64;
    /// min(n_i, N_j).
    fn moved(&self, length: Span, n_i: u64) -> Option<u64>;
    /// G_j.
    fn commanded(&self, length: Span) -> Option<u64>;
    /// S_j and V_j, of chips in a queue.
    fn presence(&self, length: Span) -> Option<WordPresence>;
    /// V_j, of chips in a queue.
    fn programmed(&self, length: Span) -> Option<u64>;
}

/// What a processor's siblings in a queue do.
pub(in crate::certified) trait OwnChip {
    /// S_j and V_j.
    #[allow(private_interfaces)] // Nobody else looks at them.
    fn presence(&self, length: Span) -> Option<WordPresence>;
    /// V_j.
    fn programmed(&self, length: Span) -> Option<u64>;
}

#[allow(private_interfaces)]
impl OwnChip for (&Processor, Option<ChosenGc>) {
    fn presence(&self, length: Span) -> Option<WordPresence> {
        presence(&self.0.tasks, self.1, length)
    }

    fn programmed(&self, length: Span) -> Option<u64> {
        programs(&self.0.tasks, length)
    }
}

impl WordWaits {
    /// For each step of a request: how often it asks for the bus, and how long it waits in full.
    pub(in crate::certified) fn of_step(&self, item: &DemandTask) -> [u64; 2] {
        let of = |each: PerStepWords| match item.writes {
            _ if item.resets => each.reset,
            true => each.write,
            false => each.read,
        };
        [of(self.asks), self.in_full.map_or(0, of)]
    }

    /// Whether each of a neighbour's transfers counts alike, and nothing is taken back: with one
    /// page register, and without a queue.
    pub(in crate::certified) fn are_plain(&self) -> bool {
        self.registers.is_none() && !self.in_line
    }

    /// Whether what steps wait in full bounds it.
    pub(super) fn are_bounded(&self) -> bool {
        self.in_full.is_some()
    }

    /// The same for each pass.
    pub(in crate::certified) fn of_pass(&self) -> [u64; 2] {
        [self.asks.pass, self.in_full.map_or(0, |full| full.pass)]
    }
}

impl Contention {
    /// The same as [`Contention::waiting`]. `None` where it is not counted so.
    pub(in crate::certified) fn word_waits(&self, processor: &Processor, gc: Option<ChosenGc>) -> Option<WordWaits> {
        // Not what a search leaves out, nor in a browser, where a page has to be small.
        if self.left_out.is_some() || cfg!(target_family = "wasm") {
            return None;
        }
        let in_full = match self.in_full(processor, gc) {
            Some(full) => Some(PerStepWords::new(full)?),
            None => None,
        };
        let (registers, in_line) = (processor.registers(), self.queue.is_some() || self.told.is_some());
        Some(WordWaits { asks: PerStepWords::new(self.asks(processor, gc))?, in_full, registers, in_line })
    }

    /// Whether commands use the bus.
    #[cfg(test)]
    pub(in crate::certified) fn has_commands(&self) -> bool {
        self.command > Span::ZERO
    }

    /// Nanoseconds that a processor waits beyond what its pages are charged, and those by which
    /// that charge is too much; `None` where a number on the way does not fit into a word.
    pub(in crate::certified) fn waiting_in_words(
        &self,
        waits: WordWaits,
        activity: WordActivity,
        own: &impl OwnChip,
    ) -> Option<[u64; 2]> {
        self.waiting_for(&self.neighbours, waits, activity, own)
    }

    /// The same beside these chips.
    pub(super) fn waiting_for(
        &self,
        chips: &[impl WordChip],
        waits: WordWaits,
        activity: WordActivity,
        own: &impl OwnChip,
    ) -> Option<[u64; 2]> {
        if let Some(registers) = waits.registers {
            return Some([self.w4_in_words(chips, registers, activity)?, 0]);
        }
        let n_i = waits.asks.of_all(activity)?;
        if let Some(siblings) = self.told {
            return self.told_in_words(chips, siblings, (activity, n_i), own);
        }
        if let Some(queue) = self.queue.filter(|_| activity.reads > 0) {
            return self.queued_in_words(chips, queue, activity, own);
        }
        if self.is_none() {
            return Some([0; 2]);
        }
        let waiting = self.w1_in_words(chips, activity.length, n_i)?;
        match waits.in_full {
            Some(full) => Some([waiting.min(full.of_all(activity)?), 0]),
            None => Some([waiting, 0]),
        }
    }

    /// [`Contention::w1`].
    pub(super) fn w1_in_words(&self, chips: &[impl WordChip], length: Span, n_i: u64) -> Option<u64> {
        let all = self.hold.as_ns().checked_mul(n_i)?;
        let mut waiting = all.checked_mul(self.always)?;
        for j in chips {
            let of_one = self.of_one_in_words(j, length, (n_i, all))?;
            waiting = waiting.checked_add(of_one.checked_mul(j.chips())?)?;
        }
        Some(waiting)
    }

    /// What of W1 one of a neighbour's chips is.
    pub(super) fn of_one_in_words(&self, j: &impl WordChip, length: Span, (n_i, all): (u64, u64)) -> Option<u64> {
        let n_j = j.moved(length, n_i)?;
        if n_j == n_i {
            return Some(all);
        }
        let known = self.hold.as_ns().checked_mul(n_j)?;
        if self.command == Span::ZERO {
            return Some(known);
        }
        Some(all.min(known.checked_add(self.command.as_ns().checked_mul(j.commanded(length)?)?)?))
    }
}

impl WordChip for ForeignChip {
    fn chips(&self) -> u64 {
        self.chips
    }

    fn moved(&self, length: Span, n_i: u64) -> Option<u64> {
        let (mut n_j, mut programmed) = (self.repeated, 0u64);
        for request in self.requests.iter().filter(|request| !request.resets) {
            let pages = request.pages.of_word(request.live(length))?;
            let sum = if request.writes && self.rows.is_some() { &mut programmed } else { &mut n_j };
            *sum = sum.checked_add(pages)?;
            if n_j >= n_i {
                return Some(n_i);
            }
        }
        if let Some(Rows { chips, chip_pages }) = self.rows {
            if let Some(gc) = self.gc {
                let passes = passes_live_in_words(&self.requests, gc, length)?;
                n_j = n_j.checked_add(passes.checked_mul(gc.valid.min(chip_pages))?)?;
                programmed = programmed.checked_add(passes.checked_mul(u64::try_from(self.copied(gc)).ok()?)?)?;
            }
            n_j = n_j.checked_add(programmed.div_ceil(chips))?;
        }
        Some(n_j.min(n_i))
    }

    fn commanded(&self, length: Span) -> Option<u64> {
        let mut commands = match self.gc {
            Some(gc) => {
                let of_a_pass = if self.rows.is_some() { 1 } else { u64::try_from(steps_on_chip(gc)).ok()? };
                passes_live_in_words(&self.requests, gc, length)?.checked_mul(of_a_pass)?
            }
            None => 0,
        };
        for request in self.requests.iter().filter(|request| request.resets) {
            commands = commands.checked_add(request.transfers.of_word(request.live(length))?)?;
        }
        Some(commands)
    }

    fn presence(&self, length: Span) -> Option<WordPresence> {
        presence(&self.requests, self.gc, length)
    }

    fn programmed(&self, length: Span) -> Option<u64> {
        programs(&self.requests, length)
    }
}
