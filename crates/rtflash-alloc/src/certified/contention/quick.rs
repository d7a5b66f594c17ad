//! Waiting for the bus within one interval after another, for a search that looks at hundreds.

use rtflash_model::Span;

use super::word_presence::WordPresence;
use super::words::{OwnChip, WordActivity, WordChip};
use super::{Contention, ForeignChip, WordWaits, steps_on_chip};
use crate::certified::processor::{ChosenGc, DemandTask, Processor, Rows};
use crate::certified::quick::{Divisor, QuickPages, QuickPasses, sum};

/// [`Contention::waiting_in_words`] of all intervals up to a longest one: no number is too large.
#[derive(Debug)]
pub(in crate::certified) struct QuickWaits<'c> {
    contention: &'c Contention,
    waits: WordWaits,
    neighbours: Vec<QuickChip>,
    /// What the processor's siblings do, where pages stand in a queue.
    own: Option<QuickPresence>,
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
    /// Where pages stand in a queue.
    presence: Option<QuickPresence>,
}

/// S_j and V_j of a chip.
#[derive(Debug)]
struct QuickPresence {
    reads: Vec<QuickPages>,
    writes: Vec<QuickPages>,
    passes: Option<QuickPasses>,
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
    /// What it takes a decision to look at a request in one interval more, once numbers are ready
    /// for that: as much as before where pages stand in a queue, and the least of a stripe on a
    /// plain bus without commands.
    pub(in crate::certified) fn quick_look(&self, processor: &Processor) -> u64 {
        if self.queue.is_some() || self.told.is_some() {
            4
        } else if processor.registers().is_some() {
            3
        } else if self.command > Span::ZERO || processor.rows().is_some() {
            2
        } else {
            1
        }
    }

    /// The same for whoever asks of many intervals, none of them longer than this one. `None` where
    /// a number on the way may not fit into a word.
    pub(in crate::certified) fn quick_waits(
        &self,
        waits: WordWaits,
        longest: Span,
        (processor, gc): (&Processor, Option<ChosenGc>),
    ) -> Option<QuickWaits<'_>> {
        let (in_line, counts_commands) = (self.queue.is_some() || self.told.is_some(), self.command > Span::ZERO);
        let neighbours = self.neighbours.iter().map(|chip| {
            let presence = match in_line {
                true => Some(QuickPresence::new(&chip.requests, chip.gc, longest)?),
                false => None,
            };
            Some(QuickChip { presence, ..chip.quick(counts_commands, longest)? })
        });
        let neighbours: Vec<QuickChip> = neighbours.collect::<Option<_>>()?;
        let own = match in_line {
            true => Some(QuickPresence::new(&processor.tasks, gc, longest)?),
            false => None,
        };
        Some(QuickWaits { contention: self, waits, neighbours, own })
    }
}

impl QuickWaits<'_> {
    /// Whether numbers of any interval up to the longest fit into words, of a plain bus, of a
    /// processor that asks no more than `most` times for it.
    pub(in crate::certified) fn is_surely_plain(&self, longest: Span, most: u64) -> bool {
        let Contention { hold, command, always, .. } = self.contention;
        let (hold, command) = (hold.as_ns(), command.as_ns());
        let fits = || {
            let all = hold.checked_mul(most)?;
            for chip in &self.neighbours {
                let known = hold.checked_mul(chip.transfers(longest.as_ns()))?;
                known.checked_add(command.checked_mul(chip.commands(longest.as_ns()))?)?;
            }
            let chips = sum(self.neighbours.iter().map(|chip| chip.chips))?;
            all.checked_mul(chips.checked_add(*always)?)
        };
        self.waits.are_plain() && fits().is_some()
    }

    /// Nanoseconds that a processor waits on a plain bus which asks `n_i` times for it, and where
    /// all its steps wait in full no more than that.
    #[inline]
    pub(in crate::certified) fn waiting(&self, length: u64, n_i: u64, in_full: u64) -> u64 {
        let Contention { hold, command, always, .. } = self.contention;
        let (hold, command) = (hold.as_ns(), command.as_ns());
        let all = hold * n_i;
        let of_one = |chip: &QuickChip| {
            let known = hold * chip.transfers(length).min(n_i);
            let commands = if command > 0 { command * chip.commands(length) } else { 0 };
            all.min(known + commands) * chip.chips
        };
        let waiting = all * always + self.neighbours.iter().map(of_one).sum::<u64>();
        if self.waits.are_bounded() { waiting.min(in_full) } else { waiting }
    }

    /// [`Contention::waiting_in_words`], of any bus.
    pub(in crate::certified) fn waiting_of(&self, activity: WordActivity) -> Option<[u64; 2]> {
        self.contention.waiting_for(&self.neighbours, self.waits, activity, &self.own)
    }
}

impl QuickPresence {
    /// `None` where a number on the way does not fit into a word, of lengths up to the longest.
    fn new(requests: &[DemandTask], gc: Option<ChosenGc>, longest: Span) -> Option<QuickPresence> {
        let of = |writes: bool| {
            let those = requests.iter().filter(move |item| item.writes == writes);
            let live =
                |item: &DemandTask| QuickPages::live(item.transfers, item.period, item.deadline.as_ns(), longest);
            those.map(live).collect::<Option<Vec<QuickPages>>>()
        };
        let presence =
            QuickPresence { reads: of(false)?, writes: of(true)?, passes: quick_passes(requests, gc, longest)? };
        let QuickPresence { reads, writes, passes } = &presence;
        let longest = longest.as_ns();
        sum(reads.iter().chain(writes).map(|each| each.jobs(longest)))?
            .checked_add(passes.as_ref().map_or(0, |passes| passes.within(longest)))?
            .checked_add(1)?;
        sum(writes.iter().map(|each| each.within(longest)))?;
        Some(presence)
    }

    #[allow(non_snake_case)] // The document's letters.
    fn within(&self, length: u64) -> WordPresence {
        let passes = self.passes.as_ref().map_or(0, |passes| passes.within(length));
        let reads: u64 = self.reads.iter().map(|each| each.jobs(length)).sum();
        let (mut S_j, mut V_j) = (reads + passes + 1, 0);
        for each in &self.writes {
            let jobs = each.jobs(length);
            (S_j, V_j) = (S_j + jobs, V_j + each.of(jobs));
        }
        WordPresence { S_j, V_j }
    }

    fn programmed(&self, length: u64) -> u64 {
        self.writes.iter().map(|each| each.within(length)).sum()
    }
}

#[allow(private_interfaces)]
impl OwnChip for Option<QuickPresence> {
    fn presence(&self, length: Span) -> Option<WordPresence> {
        self.as_ref().map(|own| own.within(length.as_ns()))
    }

    fn programmed(&self, length: Span) -> Option<u64> {
        self.as_ref().map(|own| own.programmed(length.as_ns()))
    }
}

impl WordChip for QuickChip {
    fn chips(&self) -> u64 {
        self.chips
    }

    fn moved(&self, length: Span, n_i: u64) -> Option<u64> {
        Some(self.transfers(length.as_ns()).min(n_i))
    }

    fn commanded(&self, length: Span) -> Option<u64> {
        Some(self.commands(length.as_ns()))
    }

    fn presence(&self, length: Span) -> Option<WordPresence> {
        self.presence.presence(length)
    }

    fn programmed(&self, length: Span) -> Option<u64> {
        self.presence.programmed(length)
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
            passes: quick_passes(&self.requests, self.gc, longest)?,
            rows,
            commands: counts_commands.then_some(commands),
            presence: None,
        };
        quick.fits(longest.as_ns()).then_some(quick)
    }
}

/// Passes that are live; `None` inside where nothing is collected.
fn quick_passes(requests: &[DemandTask], gc: Option<ChosenGc>, longest: Span) -> Option<Option<QuickPasses>> {
    let Some((gc, deadline)) = gc.and_then(|gc| Some((gc, gc.deadline?))) else {
        return Some(None);
    };
    let arriving = requests.iter().filter(|item| item.writes).map(|item| {
        let within = deadline.as_ns().checked_add(item.jitter.as_ns())?;
        QuickPages::live(item.pages, item.period, within, longest)
    });
    QuickPasses::new(arriving, gc, longest).map(Some)
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
