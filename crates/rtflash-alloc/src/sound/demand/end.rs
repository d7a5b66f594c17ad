//! Up to where the demand test has to look: a line above demand and blocking, in doubles where these are sure and exactly where they are not.

use super::Demand;
use crate::fraction::{Fraction, Rational};
use crate::sound::unit::Writer;

/// The part of what is added up that ten thousand roundings of doubles, and more, stay below.
pub(super) const ROUNDINGS: f64 = 1e-10;

/// dbf(L) + q ≤ load·L + constant for every L from the longest relative deadline on.
pub(super) struct Line {
    /// The long-run load, term by term.
    load: Vec<Fraction>,
    /// Its sum, about.
    pub(super) estimate: f64,
    /// The constant, about.
    constant: f64,
    /// The sum of its parts without their signs.
    magnitude: f64,
    /// The part of it that is waiting for the bus.
    waiting: f64,
}

/// From where on demand and blocking fit.
pub(super) enum End {
    At(u64),
    Overloaded,
    TooLong,
}

impl Demand<'_> {
    /// The line that demand and blocking stay below, from the longest relative deadline on.
    pub(super) fn line(&self) -> Option<Line> {
        let mut load = Vec::new();
        let (mut constant, mut magnitude) = (self.server_step as f64, self.server_step as f64);
        if let Some((gc, deadline)) = self.gc.and_then(|gc| Some((gc, gc.deadline?))) {
            let per_page = gc.cost as f64 / gc.reclaimed as f64;
            let mut pages = (gc.reclaimed - 1) as f64;
            let mut all = pages;
            for writer in &self.unit.writers {
                let (own, period) = (writer.pages as f64, writer.period as f64);
                let (before, late) = (deadline as f64 / period, writer.jitter as f64 / period);
                pages += own * (1.0 - before + late);
                all += own * (1.0 + before + late);
                load.push(Fraction::new(
                    u128::from(gc.cost) * u128::from(writer.pages),
                    u128::from(gc.reclaimed).checked_mul(writer.period.into())?,
                ));
            }
            constant += per_page * pages;
            magnitude += per_page * all;
        }
        let waiting = self.contention.add_to(&mut load, self.unit, self.gc);
        let estimate = load.iter().map(|term| term.to_f64()).sum();
        Some(Line { load, estimate, constant: constant + waiting, magnitude: magnitude + waiting.abs(), waiting })
    }

    /// The length from which on demand and blocking fit into every interval.
    pub(super) fn end(&self) -> End {
        let Some(line) = self.line() else { return End::TooLong };
        let share = self.share as f64 / 1_000.0;
        let room = share - line.estimate;
        let longest = self.deadlines.last().map_or(0, |last| last.0);
        if room.abs() < 10.0 * ROUNDINGS * (1.0 + line.estimate) {
            return self.exact_end(line, longest);
        }
        if room < 0.0 {
            return End::Overloaded;
        }
        let constant = line.constant + ROUNDINGS * line.magnitude;
        let bound = (constant / (room - ROUNDINGS * (1.0 + line.estimate)) * (1.0 + 1e-6) + 2.0).max(0.0);
        if bound > 9e18 {
            return End::TooLong;
        }
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // Between 0 and 2⁶³.
        End::At(longest.max(bound as u64))
    }

    /// The same where the load is too near to what there is for doubles.
    fn exact_end(&self, mut line: Line, longest: u64) -> End {
        line.load.push(Fraction::new((1_000 - self.share).into(), 1_000));
        let Some(room) = Rational::sum(&line.load).complement().filter(|room| !room.is_zero()) else {
            return End::Overloaded;
        };
        let mut more = vec![Rational::product([self.server_step.into()], [])];
        let mut less = Vec::new();
        if let Some((gc, deadline)) = self.gc.and_then(|gc| Some((gc, gc.deadline?))) {
            let (cost, reclaimed) = (u128::from(gc.cost), u128::from(gc.reclaimed));
            more.push(Rational::product([cost, reclaimed - 1], [reclaimed]));
            for &Writer { pages, period, jitter } in &self.unit.writers {
                more.push(Rational::product([cost, pages.into()], [reclaimed]));
                more.push(Rational::product([cost, pages.into(), jitter.into()], [reclaimed, period.into()]));
                less.push(Rational::product([cost, pages.into(), deadline.into()], [reclaimed, period.into()]));
            }
        }
        if line.waiting > 0.0 {
            // An upper bound in any case.
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // Above zero, and saturates.
            more.push(Rational::product([(line.waiting * (1.0 + 1e-6)) as u128 + 1], []));
        }
        match Rational::sum(&more).minus(&Rational::sum(&less)) {
            // The demand is nowhere above the load.
            None => End::At(longest),
            Some(constant) => constant.ceil_quotient(&room).map_or(End::TooLong, |bound| End::At(longest.max(bound))),
        }
    }
}

#[cfg(test)]
mod tests {
    use rtflash_model::random::Stream;
    use rtflash_model::{Access, Device, DeviceSpec, LogicalRatio, Placement, Request, Shortest, Span, Task};

    use super::*;
    use crate::sound::{Bus, Contention, Unit};

    struct Dice(Stream);

    impl Dice {
        fn within(&mut self, low: u64, high: u64) -> u64 {
            low + self.0.below(high - low + 1)
        }

        fn small(&mut self, low: u64, high: u64) -> u32 {
            u32::try_from(self.within(low, high)).expect("a small number")
        }

        fn span(&mut self, low: u64, high: u64) -> Span {
            Span::from_ns(self.within(low, high)).expect("a time")
        }

        fn device(&mut self) -> Option<Device> {
            Device::new(DeviceSpec {
                chips: 8,
                chips_per_channel: self.small(1, 4),
                blocks_per_chip: self.small(6, 40),
                pages_per_block: self.small(2, 8),
                page_size: 4096,
                logical_ratio: LogicalRatio::from_decimal(self.within(1, 9).into(), 1).ok()?,
                page_read: self.span(1, 5),
                page_program: self.span(1, 8),
                block_erase: self.span(1, 29),
                page_transfer: self.span(1, 3),
                shortest: Shortest::default(),
                erase_cycles: None,
            })
            .ok()
        }

        fn tasks(&mut self, most: u64) -> Vec<Task> {
            let mut request = || {
                let period = self.within(20, 400);
                let request = Request::new(self.within(1, 7), Span::from_ns(period)?)?.with_access(Access::Random);
                let deadline = self.within(period / 3 + 1, period);
                let request = request.with_deadline(Span::from_ns(deadline))?;
                request.with_jitter(Span::from_ns(self.within(0, 1) * self.within(0, deadline - 1))?)
            };
            let mut task = |number: u64| {
                let (read, write) = (request(), request());
                let (read, write) = match number % 3 {
                    0 => (read, None),
                    1 => (None, write),
                    _ => (read, write),
                };
                Task { name: "t".into(), read, write, data_pages: None }
            };
            let first = 7 * most;
            (first..first + most).map(&mut task).collect()
        }
    }

    /// At random lengths, and just at the longest deadline, where little is left of what comes on top.
    #[test]
    fn demand_stays_below_the_line() {
        let (mut compared, mut queued, mut near) = (0, 0, 0);
        for seed in 0..20_000 {
            let mut dice = Dice(Stream::numbered(seed, b"the-line", 0));
            let Some(device) = dice.device() else { continue };
            let bus = Bus::anywhere(&device);
            let stripe = dice.within(0, 3) > 0;
            let placement = if stripe { Placement::Stripe } else { Placement::Superblock };
            let most = dice.within(1, 4);
            let Some(unit) = Unit::new(&device, &dice.tasks(most), dice.small(1, 3), placement, bus) else { continue };
            let mut contention = Contention::new(&device).with_more(dice.within(0, 1) * dice.within(0, 2));
            let mut dice_of_gc = Dice(Stream::numbered(seed, b"the-gc--", 0));
            let mut gc =
                |unit: &Unit| if unit.writers.is_empty() { None } else { unit.gc(dice_of_gc.within(1, 300), false) };
            for _ in 0..(if stripe { dice.within(0, 2) } else { 0 }) {
                let most = dice.within(1, 3);
                let Some(other) = Unit::new(&device, &dice.tasks(most), 1, Placement::Stripe, bus) else { continue };
                contention.add(&other, gc(&other), dice.within(1, 2));
            }
            let queue = stripe && dice.within(0, 2) > 0;
            if queue {
                contention = contention.in_a_queue(&device, dice.within(0, 2));
            }
            let own = gc(&unit);
            let demand = Demand::new(&unit, &contention, own, 0);
            let Some(line) = demand.line() else { continue };
            let longest = demand.deadlines.last().map_or(0, |last| last.0);
            for round in 0..12 {
                let length = longest + if round == 0 { 0 } else { dice.within(0, 300 << round) };
                // Just where something more is due.
                let length = demand.step_at(length).max(longest);
                let at = demand.at(length) as f64;
                let most = line.estimate * length as f64 + line.constant;
                assert!(at <= most + 1e-6 * (1.0 + most.abs()), "seed {seed}, {length} ns: {at} above {most}");
                compared += 1;
                queued += u32::from(queue);
                near += u32::from(at > 0.9 * most);
            }
        }
        assert!(compared > 100_000 && queued > 40_000 && near > 20_000, "{compared} {queued} {near}");
    }
}
