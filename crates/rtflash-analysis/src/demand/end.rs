//! Up to where the demand test has to look: a line above demand and blocking, in doubles where
//! these are sure and exactly where they are not.

use rtflash_model::Span;

use super::Demand;
use crate::fraction::{Fraction, Rational};
use crate::long_run::LongRun;
use crate::organisation::processor::WriteStream;
use crate::time::{Cost, ns};

/// The part of what is added up that ten thousand roundings of doubles, and more, stay below.
pub(crate) const ROUNDINGS: f64 = 1e-10;

/// dbf(L) + q ≤ load·L + constant for every L from the longest relative deadline on.
pub(crate) struct DemandBound<L> {
    pub(crate) load: L,
    pub(crate) estimate: f64,
    pub(crate) constant: f64,
    /// The sum of its parts without their signs.
    pub(crate) magnitude: f64,
    waiting: f64,
}

/// From where on demand and blocking fit.
pub(crate) enum FitsFrom {
    At(Span),
    Overloaded,
    TooLong,
}

impl Demand<'_> {
    /// The line above demand and blocking from the last deadline on: U and K, Eqs. (15) and (16).
    pub(crate) fn line<L: LongRun>(&self) -> Option<DemandBound<L>> {
        let mut load = L::default();
        let always = self.always_blocking.saturating_add(self.repeats).to_f64();
        let (mut constant, mut magnitude) = (always, always);
        if let Some((gc, deadline)) = self.gc.and_then(|gc| Some((gc, gc.deadline?))) {
            let per_page = gc.cost.to_f64() / gc.reclaimed as f64;
            let mut pages = (gc.reclaimed - 1) as f64;
            let mut all = pages;
            for writer in &self.processor.write_streams {
                let period = ns(writer.period);
                let (before, late) = (ns(deadline) / period, ns(writer.jitter) / period);
                pages += writer.pages.at_most(1.0 - before + late);
                all += writer.pages.at_most(1.0 + before + late);
                let (own, chips) = writer.pages.rate();
                let shared = u128::from(gc.reclaimed).checked_mul(writer.period.as_ns().into())?;
                load.add(gc.cost.times(own.into()).as_ns(), shared.checked_mul(chips.into())?);
            }
            constant += per_page * pages;
            magnitude += per_page * all;
        }
        if self.preemption > Cost::ZERO {
            for item in &self.processor.tasks {
                let (jobs, chips) = item.with_pages().rate();
                load.add(
                    self.preemption.times(jobs.into()).as_ns(),
                    u128::from(item.period.as_ns()) * u128::from(chips),
                );
                let early = self.preemption.to_f64() * item.with_pages().at_most(item.early());
                constant += early;
                magnitude += early;
            }
        }
        let line = self.contention.line(self.waiter())?;
        load.append(line.slope);
        let waiting = line.constant;
        Some(DemandBound {
            estimate: load.estimate(),
            load,
            constant: constant + waiting,
            magnitude: magnitude + waiting.abs(),
            waiting,
        })
    }

    /// From where on they fit into every interval: L_max or L'_max, Eqs. (17) and (38).
    pub(crate) fn end(&self) -> FitsFrom {
        let Some(line) = self.line::<f64>() else { return FitsFrom::TooLong };
        let share = self.share as f64 / 1_000.0;
        let room = share - line.estimate;
        let longest = self.segments.last().map_or(Span::ZERO, |last| last.from);
        if room.abs() < 10.0 * ROUNDINGS * (1.0 + line.estimate) {
            return self.exact_end(longest);
        }
        if room < 0.0 {
            return FitsFrom::Overloaded;
        }
        let constant = line.constant + ROUNDINGS * line.magnitude;
        let bound = (constant / (room - ROUNDINGS * (1.0 + line.estimate)) * (1.0 + 1e-6) + 2.0).max(0.0);
        if bound > 9e18 {
            return FitsFrom::TooLong;
        }
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // Between 0 and 2⁶³.
        let bound = Span::from_ns(bound as u64).expect("9·10¹⁸ is below 2⁶³");
        FitsFrom::At(longest.max(bound))
    }

    /// [`end`](Demand::end) exactly: the load is too near to what there is for doubles.
    fn exact_end(&self, longest: Span) -> FitsFrom {
        let Some(mut line) = self.line::<Vec<Fraction>>() else { return FitsFrom::TooLong };
        line.load.push(Fraction::new((1_000 - self.share).into(), 1_000));
        let Some(room) = Rational::sum(&line.load).complement().filter(|room| !room.is_zero()) else {
            return FitsFrom::Overloaded;
        };
        let mut more = vec![time(self.always_blocking), time(self.repeats)];
        let mut less = Vec::new();
        if let Some((gc, deadline)) = self.gc.and_then(|gc| Some((gc, gc.deadline?))) {
            let (cost, reclaimed) = (u128::from(gc.cost.as_ns()), u128::from(gc.reclaimed));
            more.push(Rational::product([cost, reclaimed - 1], [reclaimed]));
            for &WriteStream { pages, period, jitter, .. } in &self.processor.write_streams {
                let [period, jitter, deadline] = [period, jitter, deadline].map(|span| u128::from(span.as_ns()));
                let (own, chips) = pages.rate();
                let (own, chips) = (u128::from(own), u128::from(chips));
                more.push(Rational::product([cost, own + chips - 1], [reclaimed, chips]));
                more.push(Rational::product([cost, own, jitter], [reclaimed, period, chips]));
                less.push(Rational::product([cost, own, deadline], [reclaimed, period, chips]));
            }
        }
        if self.preemption > Cost::ZERO {
            let each = u128::from(self.preemption.as_ns());
            for item in &self.processor.tasks {
                let (jobs, chips) = item.with_pages().rate();
                let [jobs, chips] = [jobs, chips].map(u128::from);
                more.push(Rational::product([each, jobs + chips - 1], [chips]));
                let [window, period] = [item.window(), item.period].map(|span| u128::from(span.as_ns()));
                less.push(Rational::product([each, jobs, window], [period, chips]));
            }
        }
        if line.waiting > 0.0 {
            // An upper bound in any case.
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // Above zero, and saturates.
            more.push(Rational::product([(line.waiting * (1.0 + 1e-6)) as u128 + 1], []));
        }
        match Rational::sum(&more).minus(&Rational::sum(&less)) {
            // The demand is nowhere above the load.
            None => FitsFrom::At(longest),
            Some(constant) => {
                let bound = constant.ceil_quotient(&room).and_then(Span::from_ns);
                bound.map_or(FitsFrom::TooLong, |bound| FitsFrom::At(longest.max(bound)))
            }
        }
    }
}

fn time(cost: Cost) -> Rational {
    Rational::product([cost.as_ns().into()], [])
}

#[cfg(test)]
mod tests {
    use rtflash_testkit::ns;

    use super::FitsFrom;
    use crate::demand::Demand;
    use crate::random_processors::Drawn;
    use crate::work::Work;

    /// At random lengths, and just at the longest deadline, where little is left of what comes on
    /// top.
    #[test]
    fn demand_stays_below_the_line() {
        let (mut compared, mut queued, mut near, mut gaps) = (0, 0, 0, 0.0);
        for seed in 0..20_000 {
            let Some(Drawn { processor, contention, gc, queue, mut rng }) = Drawn::new(seed) else { continue };
            let work = Work::new();
            let demand = Demand::new(&processor, &contention, gc, 0, &work);
            let Some(line) = demand.line::<f64>() else { continue };
            let longest = demand.segments.last().map_or(0, |last| last.from.as_ns());
            for round in 0..12 {
                let length = longest + if round == 0 { 0 } else { rng.within(0, 300 << round) };
                // Just where something more is due.
                let length = demand.step_at(ns(length)).max(ns(longest));
                let at = demand.at(length).to_f64();
                let length = length.as_ns();
                let most = line.estimate * length as f64 + line.constant;
                assert!(at <= most + 1e-6 * (1.0 + most.abs()), "seed {seed}, {length} ns: {at} above {most}");
                compared += 1;
                queued += u32::from(queue);
                near += u32::from(at > 0.9 * most);
                gaps += 1.0 - at / most.max(1.0);
            }
        }
        assert!(compared > 100_000 && queued > 30_000 && near > 20_000, "{compared} {queued} {near}");
        // A line further above is no error. It is a loss: tests take longer, and some are given up.
        let gap = gaps / f64::from(compared);
        assert!(gap < 0.066, "{gap}");
    }

    /// Far from a load of all that there is, doubles find the length that fractions find.
    #[test]
    fn both_ends_are_the_same() {
        let (mut compared, mut waiting, mut overloaded) = (0, 0, 0);
        for seed in 0..20_000 {
            let Some(Drawn { processor, contention, gc, mut rng, .. }) = Drawn::new(seed) else { continue };
            let work = Work::new();
            let server = rng.small(0, 1) * rng.small(1, 200);
            let demand = Demand::new(&processor, &contention, gc, server, &work);
            let Some(line) = demand.line::<f64>() else { continue };
            let Some(longest) = demand.segments.last().map(|last| last.from) else { continue };
            let (room, waits) = (demand.share as f64 / 1_000.0 - line.estimate, line.waiting);
            if room.abs() < 0.01 {
                continue;
            }
            match (demand.end(), demand.exact_end(longest)) {
                (FitsFrom::At(about), FitsFrom::At(exact)) => {
                    let [about, exact] = [about, exact].map(|end| end.as_ns() as f64);
                    // The reduction by waiting is left out in fractions.
                    let near = 1e-5 * exact + 200.0;
                    assert!(about <= exact + near && (waits < 0.0 || exact <= about + near), "seed {seed}: {exact}");
                    compared += 1;
                    waiting += u32::from(waits > 100.0 && exact > longest.as_ns() as f64);
                }
                (FitsFrom::Overloaded, FitsFrom::Overloaded) => overloaded += 1,
                _ => panic!("seed {seed}: they do not agree"),
            }
        }
        assert!(compared > 2_000 && waiting > 200 && overloaded > 500, "{compared} {waiting} {overloaded}");
    }
}
