//! Waiting for the bus within one interval after another, for a search that looks at hundreds.

use rtflash_model::Span;

use super::{Contention, ForeignChip, WordWaits, steps_on_chip};
use crate::certified::processor::{ChosenGc, DemandTask, Rows};
use crate::certified::quick::{Divisor, QuickPages, QuickPasses, sum};

/// [`Contention::waiting_in_words`] of all intervals up to a longest one: no number is too large.
#[derive(Debug)]
pub(in crate::certified) struct QuickWaits {
    hold: u64,
    command: u64,
    always: u64,
    neighbours: Vec<QuickChip>,
    /// Whether what waiting takes in full bounds it.
    in_full: bool,
}

/// A [`ForeignChip`].
#[derive(Debug)]
struct QuickChip {
    chips: u64,
    repeated: u64,
    pages: Vec<QuickPages>,
    /// Those that are programmed in rows.
    programmed: Vec<QuickPages>,
    passes: Option<QuickPasses>,
    rows: Option<QuickRows>,
    commands: Option<QuickCommands>,
}

/// What a chip of a superblock moves.
#[derive(Debug)]
struct QuickRows {
    /// Chips that rows go across.
    chips: Divisor,
    /// Pages that a pass reads there, and those that it programs on all of them.
    of_a_pass: [u64; 2],
}

/// Commands of copies and erases.
#[derive(Debug)]
struct QuickCommands {
    of_a_pass: u64,
    resets: Vec<QuickPages>,
}

impl Contention {
    /// The same for whoever asks of many intervals, none of them longer than this one, in each of
    /// which a processor asks for the bus no more than `most` times. `None` where a number on the
    /// way may not fit into a word.
    pub(in crate::certified) fn quick_waits(&self, waits: WordWaits, longest: Span, most: u64) -> Option<QuickWaits> {
        let (hold, command) = (self.hold.as_ns(), self.command.as_ns());
        let neighbours = self.neighbours.iter().map(|chip| chip.quick(command > 0, longest));
        let neighbours: Vec<QuickChip> = neighbours.collect::<Option<_>>()?;
        let all = hold.checked_mul(most)?;
        for chip in &neighbours {
            let known = hold.checked_mul(chip.transfers(longest.as_ns()))?;
            known.checked_add(command.checked_mul(chip.commands(longest.as_ns()))?)?;
        }
        let chips = sum(neighbours.iter().map(|chip| chip.chips))?;
        all.checked_mul(chips.checked_add(self.always)?)?;
        Some(QuickWaits { hold, command, always: self.always, neighbours, in_full: waits.are_bounded() })
    }
}

impl QuickWaits {
    /// Nanoseconds that a processor waits which asks `n_i` times for the bus, and where all its
    /// steps wait in full no more than that.
    #[inline]
    pub(in crate::certified) fn waiting(&self, length: u64, n_i: u64, in_full: u64) -> u64 {
        let all = self.hold * n_i;
        let of_one = |chip: &QuickChip| {
            let known = self.hold * chip.transfers(length).min(n_i);
            let commands = if self.command > 0 { self.command * chip.commands(length) } else { 0 };
            all.min(known + commands) * chip.chips
        };
        let waiting = all * self.always + self.neighbours.iter().map(of_one).sum::<u64>();
        if self.in_full { waiting.min(in_full) } else { waiting }
    }
}

impl ForeignChip {
    /// `None` where a number on the way does not fit into a word, of lengths up to the longest.
    fn quick(&self, counts_commands: bool, longest: Span) -> Option<QuickChip> {
        let live = |item: &DemandTask, curve| QuickPages::live(curve, item.period, item.deadline.as_ns(), longest);
        let of = |programmed: bool| {
            let those = self
                .requests
                .iter()
                .filter(move |item| !item.resets && (item.writes && self.rows.is_some()) == programmed);
            those.map(|item| live(item, item.pages)).collect::<Option<Vec<QuickPages>>>()
        };
        let resets = self.requests.iter().filter(|item| item.resets).map(|item| live(item, item.transfers));
        let commands = QuickCommands {
            of_a_pass: match self.gc {
                Some(gc) if self.rows.is_none() => u64::try_from(steps_on_chip(gc)).ok()?,
                gc => gc.map_or(0, |_| 1),
            },
            resets: resets.collect::<Option<_>>()?,
        };
        let rows = match self.rows {
            Some(Rows { chips, chip_pages }) => Some(QuickRows {
                chips: Divisor::new(chips)?,
                of_a_pass: match self.gc {
                    Some(gc) => [gc.valid.min(chip_pages), u64::try_from(self.copied(gc)).ok()?],
                    None => [0; 2],
                },
            }),
            None => None,
        };
        let quick = QuickChip {
            chips: self.chips,
            repeated: self.repeated,
            pages: of(false)?,
            programmed: of(true)?,
            passes: self.quick_passes(longest)?,
            rows,
            commands: counts_commands.then_some(commands),
        };
        quick.fits(longest.as_ns()).then_some(quick)
    }

    /// Those that are live; `None` inside where nothing is collected.
    fn quick_passes(&self, longest: Span) -> Option<Option<QuickPasses>> {
        let Some((gc, deadline)) = self.gc.and_then(|gc: ChosenGc| Some((gc, gc.deadline?))) else {
            return Some(None);
        };
        let arriving = self.requests.iter().filter(|item| item.writes).map(|item| {
            let within = deadline.as_ns().checked_add(item.jitter.as_ns())?;
            QuickPages::live(item.pages, item.period, within, longest)
        });
        QuickPasses::new(arriving, gc, longest).map(Some)
    }
}

impl QuickChip {
    /// Whether its numbers fit into words, of lengths up to this one.
    fn fits(&self, longest: u64) -> bool {
        let counted = || {
            let (passes, within) = (self.passes(longest), |each: &QuickPages| each.within(longest));
            let mut n_j = sum(self.pages.iter().map(within))?.checked_add(self.repeated)?;
            let programmed = sum(self.programmed.iter().map(within))?;
            if let Some(QuickRows { chips, of_a_pass: [read, copied] }) = self.rows {
                n_j = n_j.checked_add(passes.checked_mul(read)?)?;
                let programmed = programmed.checked_add(passes.checked_mul(copied)?)?;
                n_j.checked_add(chips.checked_quotient_up(programmed)?)?;
            }
            let Some(QuickCommands { of_a_pass, resets }) = &self.commands else { return Some(()) };
            passes.checked_mul(*of_a_pass)?.checked_add(sum(resets.iter().map(within))?)?;
            Some(())
        };
        counted().is_some()
    }

    #[inline]
    fn passes(&self, length: u64) -> u64 {
        self.passes.as_ref().map_or(0, |passes| passes.within(length))
    }

    /// [`ForeignChip::transfers`], however often the processor asks for the bus.
    #[inline]
    fn transfers(&self, length: u64) -> u64 {
        let within = |each: &QuickPages| each.within(length);
        let n_j = self.repeated + self.pages.iter().map(within).sum::<u64>();
        let Some(QuickRows { chips, of_a_pass: [read, copied] }) = self.rows else { return n_j };
        let passes = self.passes(length);
        let programmed = self.programmed.iter().map(within).sum::<u64>() + passes * copied;
        n_j + passes * read + chips.quotient_up(programmed)
    }

    /// [`ForeignChip::commands`].
    #[inline]
    fn commands(&self, length: u64) -> u64 {
        let Some(QuickCommands { of_a_pass, resets }) = &self.commands else { return 0 };
        self.passes(length) * of_a_pass + resets.iter().map(|each| each.within(length)).sum::<u64>()
    }
}
