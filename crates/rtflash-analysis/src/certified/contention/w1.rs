//! W1: each page waits for one transfer of each neighbour, as far as the neighbour makes so many
//! (docs/analysis.md, Section 6).

use rtflash_model::Span;

use super::queue::{passes, passes_live};
use super::{ChipLines, ChipSum, Contention, ForeignChip, PerStep, more_live, steps_on_chip};
use crate::certified::long_run::{Line, LongRun};
use crate::certified::processor::{ChosenGc, Processor, Rows, WriteStream};
use crate::certified::term::Term;
use crate::certified::time::{Cost, ProcessorTime, ns, quotient_up};
use crate::fraction::{Fraction, to_f64};

impl Contention {
    /// W1, Eq. (45): t_d Σ min(n_i, N_j) over the neighbours, and t_d n_i for each chip that always
    /// counts; with commands Σ min(t_b n_i, t_b N_j + t_c G_j), Section 2.10.
    #[allow(non_snake_case)] // The document's letters.
    pub(super) fn w1(&self, length: Span, n_i: u128) -> ProcessorTime {
        let always = Cost::from(self.hold).times(n_i).saturating_mul(self.always.into());
        let waits = self.neighbours.iter().map(|j| self.w1_of(j, length, n_i).saturating_mul(j.chips.into()));
        waits.fold(always, |sum, wait| sum.saturating_add(wait))
    }

    /// The part of one of these chips.
    #[allow(non_snake_case)] // The document's letters.
    pub(super) fn w1_of(&self, j: &ForeignChip, length: Span, n_i: u128) -> ProcessorTime {
        let all = |pages: u128| Cost::from(self.hold).times(pages);
        let N_j = j.transfers(length, n_i);
        // What is charged in full already is no more with commands.
        if self.command == Span::ZERO || N_j == n_i {
            return all(N_j);
        }
        let G_j = self.kept(Term::Commands, j.commands(length));
        all(n_i).min(all(N_j).saturating_add(Cost::from(self.command).times(G_j)))
    }

    /// A line above W1 and the requests' own time, Eqs. (35) and (36): of each neighbour the
    /// smaller rate counts. `None` where numbers are too large.
    pub(super) fn w1_line<L: ChipSum>(&self, processor: &Processor, gc: Option<ChosenGc>) -> Option<Line<L>> {
        let hold = u128::from(self.hold.as_ns());
        let asks = self.asks(processor, gc);
        let mut line = self.own_line(processor, gc, asks, hold.checked_mul(self.always.into())?)?;
        if self.neighbours.is_empty() {
            return Some(line);
        }
        let mu_i = self.rate_of_asks(processor, gc);
        for neighbour in &self.neighbours {
            let each = hold * u128::from(neighbour.chips);
            self.add_neighbour(&mut line, (processor, gc), neighbour, (mu_i, each))?;
        }
        Some(line)
    }

    /// A line above the requests' own time, and `each` for each of what is counted by step of all
    /// that a processor does; `None` where numbers are too large.
    pub(super) fn own_line<L: ChipSum>(
        &self,
        processor: &Processor,
        gc: Option<ChosenGc>,
        counted: PerStep,
        each: u128,
    ) -> Option<Line<L>> {
        let mut line = Line::default();
        for item in &processor.tasks {
            line.add_due(item, item.step_cost.as_ns().into())?;
        }
        if each > 0 {
            add_counted(&mut line, processor, gc, counted, each)?;
        }
        Some(line)
    }

    /// Adds a line above `each` · min(n_i, N_j), of these requests at a rate of μ_i, and of
    /// commands: the smaller rate counts. `None` where numbers are too large.
    pub(super) fn add_neighbour<L: ChipSum>(
        &self,
        line: &mut Line<L>,
        (processor, gc): (&Processor, Option<ChosenGc>),
        neighbour: &ForeignChip,
        (mu_i, each): (f64, u128),
    ) -> Option<()> {
        if self.add_busy(line, neighbour, (mu_i, each))? {
            return Some(());
        }
        add_counted(line, processor, gc, self.asks(processor, gc), each)
    }

    /// Adds a line above what a neighbour's transfers and commands take, `each` for a transfer,
    /// where that has a smaller rate than what asks of this rate may wait for one each; says
    /// whether. `None` where numbers are too large.
    pub(super) fn add_busy<L: ChipSum>(
        &self,
        line: &mut Line<L>,
        neighbour: &ForeignChip,
        (rate, each): (f64, u128),
    ) -> Option<bool> {
        if self.rate_of_waits(neighbour, rate) >= ns(self.hold) * rate {
            return Some(false);
        }
        self.add_transfers(line, neighbour, each)?;
        if self.command > Span::ZERO {
            let commands = u128::from(self.command.as_ns()).checked_mul(neighbour.chips.into())?;
            let times = self.kept(Term::Commands, commands);
            with_lines(neighbour, |lines| line.add_scaled(&lines.commands, times, 1))?;
        }
        Some(true)
    }

    /// The rate at which one chip of a neighbour makes such requests wait, at most.
    pub(super) fn rate_of_waits(&self, neighbour: &ForeignChip, mu_i: f64) -> f64 {
        let busy = ns(self.hold) * neighbour.rate() + ns(self.command) * neighbour.rate_of_commands();
        busy.min(ns(self.hold) * mu_i)
    }

    /// Adds a line above `each` for each transfer of a neighbour; `None` where numbers are too
    /// large.
    pub(super) fn add_transfers<L: ChipSum>(
        &self,
        line: &mut Line<L>,
        neighbour: &ForeignChip,
        each: u128,
    ) -> Option<()> {
        with_lines(neighbour, |lines| line.add_scaled(&lines.pages, each, 1))
    }

    /// The share of intervals of `length` and more that is waiting, at most, for a processor that
    /// asks for the bus `rate` times a nanosecond, as far as that may make it wait for more.
    pub(crate) fn share(&self, processor: &Processor, length: f64, rate: f64) -> f64 {
        if let Some(registers) = processor.registers() {
            return self.w4_share(registers, length, rate);
        }
        self.w1_share(length, rate)
    }

    /// The same of W1.
    pub(super) fn w1_share(&self, length: f64, rate: f64) -> f64 {
        let (hold, command) = (ns(self.hold), ns(self.command));
        let shares = self.neighbours.iter().map(|j| {
            let busy = hold * j.busy(length) + command * in_time(&j.lines.commands, length);
            j.chips as f64 * busy.min(hold * rate)
        });
        shares.sum::<f64>() + hold * self.always as f64 * rate
    }
}

/// Adds `each` for each of what is counted by step of all that a processor does; `None` where that
/// is too large.
pub(super) fn add_counted<L: ChipSum>(
    line: &mut Line<L>,
    processor: &Processor,
    gc: Option<ChosenGc>,
    counted: PerStep,
    each: u128,
) -> Option<()> {
    for item in &processor.tasks {
        line.add_due(item, each.checked_mul(counted.of(item))?)?;
    }
    add_counted_passes(line, processor, gc, each.checked_mul(counted.pass)?)
}

/// Adds so much for each pass; `None` where that is too large.
pub(super) fn add_counted_passes<L: ChipSum>(
    line: &mut Line<L>,
    processor: &Processor,
    gc: Option<ChosenGc>,
    of_a_pass: u128,
) -> Option<()> {
    if of_a_pass > 0 {
        for (rate, _) in passes(&processor.tasks, gc) {
            line.add(of_a_pass.checked_mul(rate.numerator())?, rate.denominator(), 0.0);
        }
        line.constant += to_f64(of_a_pass) * more_due(processor, gc);
    }
    Some(())
}

/// What ⌈X(L − D_g)/α⌉ is above its rate, at most.
fn more_due(processor: &Processor, gc: Option<ChosenGc>) -> f64 {
    let Some((gc, deadline)) = gc.and_then(|gc| Some((gc, gc.deadline?))) else { return 0.0 };
    let early = |it: &WriteStream| it.pages.at_most(1.0 - (ns(deadline) - ns(it.jitter)) / ns(it.period));
    let pages: f64 = processor.write_streams.iter().map(early).sum();
    ((pages + gc.reclaimed as f64 - 1.0) / gc.reclaimed as f64).max(0.0)
}

/// A part of intervals of `length`, and of longer ones, at most.
fn in_time(line: &Line<f64>, length: f64) -> f64 {
    line.slope + line.constant / length
}

/// What is made of the lines above what a neighbour does.
fn with_lines<L: ChipSum, R>(neighbour: &ForeignChip, of: impl FnOnce(&ChipLines<L>) -> R) -> R {
    match L::kept(neighbour) {
        Some(kept) => of(kept),
        None => of(&neighbour.lines(true)),
    }
}

impl ForeignChip {
    /// Transfers of one of these chips in a nanosecond of intervals of `length` and more, at most.
    pub(super) fn busy(&self, length: f64) -> f64 {
        in_time(&self.lines.pages, length)
    }

    /// min(n_i, N_j) with N_j(L) of Eq. (33): transfers of one of these chips that are live in an
    /// interval of this length. Σ γ(⌈(L + D)/T⌉); in a superblock of s chips, a part of what
    /// is programmed, and the copies of P_j passes. And what is programmed once more, Eq. (78).
    pub(super) fn transfers(&self, length: Span, n_i: u128) -> u128 {
        let (mut n_j, mut programmed) = (u128::from(self.repeated), 0u128);
        for request in self.requests.iter().filter(|request| !request.resets) {
            let pages = request.pages.of(request.live(length).into());
            let sum = if request.writes && self.rows.is_some() { &mut programmed } else { &mut n_j };
            *sum = sum.saturating_add(pages);
            if n_j >= n_i {
                return n_i;
            }
        }
        if let Some(Rows { chips, chip_pages }) = self.rows {
            if let Some(gc) = self.gc {
                let passes = passes_live(&self.requests, gc, length);
                n_j = n_j.saturating_add(passes.saturating_mul(gc.valid.min(chip_pages).into()));
                programmed = programmed.saturating_add(passes.saturating_mul(self.copied(gc)));
            }
            n_j = n_j.saturating_add(quotient_up(programmed, chips));
        }
        n_j.min(n_i)
    }

    /// G_j, Section 2.10: steps that use the bus for their command alone, and are live in an
    /// interval of this length. Copies and the erase of each pass; in a superblock, whose copies
    /// are among the transfers, the erases. Resets of zones.
    pub(super) fn commands(&self, length: Span) -> u128 {
        let of_zones = self.requests.iter().filter(|request| request.resets);
        let of_zones = of_zones.map(|request| request.transfers.of(request.live(length).into()));
        let of_zones = of_zones.fold(0u128, u128::saturating_add);
        let live = |gc| passes_live(&self.requests, gc, length).saturating_mul(self.commands_of_a_pass(gc));
        self.gc.map_or(0, live).saturating_add(of_zones)
    }

    fn commands_of_a_pass(&self, gc: ChosenGc) -> u128 {
        if self.rows.is_some() { 1 } else { steps_on_chip(gc) }
    }

    /// Pages that a pass programs.
    pub(super) fn copied(&self, gc: ChosenGc) -> u128 {
        if self.rows.is_some_and(|rows| rows.chip_pages == 0) { 0 } else { gc.valid.into() }
    }

    /// μ_j, about.
    pub(super) fn rate(&self) -> f64 {
        self.lines.pages.slope
    }

    /// The rate of G_j, about.
    fn rate_of_commands(&self) -> f64 {
        self.lines.commands.slope
    }

    /// Lines above what the chip does; pages by ⌈(L + D)/T⌉ ≤ L/T + 1 + D/T, summed. What a queue
    /// asks for is not among them.
    pub(super) fn lines<L: LongRun>(&self, with_commands: bool) -> ChipLines<L> {
        let mut pages = Line::default();
        for item in self.requests.iter().filter(|item| !item.resets) {
            let chips = self.rows.filter(|_| item.writes).map_or(1, |rows| rows.chips);
            let (of_a_job, among) = item.pages.rate();
            // In a superblock nothing is shared otherwise.
            let shared = u128::from(item.period.as_ns()) * u128::from(chips.max(among));
            pages.add(of_a_job.into(), shared, item.pages.at_most(more_live(item)) / chips as f64);
        }
        if let (Some(Rows { chips, chip_pages }), Some(gc)) = (self.rows, self.gc) {
            // Of a pass: what it reads on the chip, and its part of what the pass programs.
            let each =
                Fraction::new(u128::from(gc.valid.min(chip_pages)) * u128::from(chips) + self.copied(gc), chips.into());
            for (rate, more) in passes(&self.requests, Some(gc)) {
                // Shared by nobody where that cannot be written down: it is above then.
                let shared = rate.denominator().checked_mul(each.denominator()).unwrap_or(rate.denominator());
                pages.add(rate.numerator().saturating_mul(each.numerator()), shared, more * each.to_f64());
            }
        }
        // And a round-up, and what is repeated.
        pages.constant += if self.rows.is_some() { 1.0 } else { 0.0 } + self.repeated as f64;
        let commands = if with_commands { self.commands_line() } else { Line::default() };
        ChipLines { pages, commands, ..ChipLines::default() }
    }

    /// A line above its commands.
    fn commands_line<L: LongRun>(&self) -> Line<L> {
        let mut commands = Line::default();
        for item in self.requests.iter().filter(|item| item.resets) {
            let (of_a_job, among) = item.transfers.rate();
            let shared = u128::from(item.period.as_ns()).saturating_mul(among.into());
            commands.add(of_a_job.into(), shared, item.transfers.at_most(more_live(item)));
        }
        if let Some(gc) = self.gc {
            let of_a_pass = self.commands_of_a_pass(gc);
            for (rate, more) in passes(&self.requests, Some(gc)) {
                commands.add(rate.numerator().saturating_mul(of_a_pass), rate.denominator(), more * of_a_pass as f64);
            }
        }
        commands
    }
}
