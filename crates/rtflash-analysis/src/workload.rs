//! How many pages jobs in a row have on a processor.

use super::time::product;

/// Upper workload curve (docs/analysis.md, Eq. (24)): γ(k) = ⌈k n/s⌉ pages or steps of k jobs in a
/// row. For a stream on a stripe n is a job's, and s the cluster's chips; else n is a job's on
/// the processor, and s is 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WorkloadCurve {
    pages: u64,
    chips: u64,
    /// s − 1, which rounds up.
    pub(crate) more: u64,
}

impl WorkloadCurve {
    /// This number of each job, whatever the one before it had.
    pub const fn each(pages: u64) -> WorkloadCurve {
        WorkloadCurve { pages, chips: 1, more: 0 }
    }

    /// Jobs of `pages` pages in a row on one of `chips` chips; no chips count as one.
    pub const fn stream(pages: u64, chips: u64) -> WorkloadCurve {
        let chips = if chips == 0 { 1 } else { chips };
        WorkloadCurve { pages, chips, more: chips - 1 }
    }

    /// γ(k).
    #[inline]
    pub fn of(self, jobs: u128) -> u128 {
        let all = product(jobs, self.pages);
        if self.chips == 1 { all } else { all.saturating_add(self.more.into()) / u128::from(self.chips) }
    }

    /// γ(1).
    pub fn of_one(self) -> u64 {
        u64::try_from(self.of(1)).expect("a part of what a job has")
    }

    /// n and s: a job has n/s in the long run.
    pub fn rate(self) -> (u64, u64) {
        (self.pages, self.chips)
    }

    /// n/s, about.
    #[inline]
    pub fn mean(self) -> f64 {
        if self.chips == 1 { self.pages as f64 } else { self.pages as f64 / self.chips as f64 }
    }

    /// 1 − 1/s: what γ(k) is above k n/s, at most.
    #[inline]
    pub fn round_up(self) -> f64 {
        if self.more == 0 { 0.0 } else { self.more as f64 / self.chips as f64 }
    }

    /// k n/s + 1 − 1/s, which is γ(k) at least, of any number of jobs.
    #[inline]
    pub fn at_most(self, jobs: f64) -> f64 {
        self.mean() * jobs + self.round_up()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The most consecutive pages on a chip, counted one by one, wherever they begin.
    #[test]
    fn the_curve_is_what_a_chip_has_at_most() {
        for (pages, chips) in (1..=9).flat_map(|pages| (1..=5).map(move |chips| (pages, chips))) {
            let curve = WorkloadCurve::stream(pages, chips);
            for jobs in 0..=12 {
                let on_chip = |first: u64| (first..first + jobs * pages).filter(|page| page % chips == 0).count();
                let most = (0..chips).map(on_chip).max().expect("a chip");
                assert_eq!(curve.of(jobs.into()), most as u128, "{jobs} of {pages} on {chips}");
                assert!(curve.at_most(jobs as f64) > most as f64 - 1e-9);
                assert!(most as u128 <= WorkloadCurve::each(curve.of_one()).of(jobs.into()));
            }
            assert_eq!(u128::from(curve.of_one()), curve.of(1));
        }
    }
}
