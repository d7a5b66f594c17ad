//! Response times: exact as long as they are few, and to three digits where they are many.

use hdrhistogram::Histogram;
use rtflash_model::Span;
use rtflash_plan::EXACT_RESPONSES;
use serde::{Deserialize, Serialize};

/// The response times of one source's complete jobs.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Responses {
    exact: Vec<u64>,
    #[serde(with = "counts")]
    many: Option<Histogram<u64>>,
    max: u64,
}

mod counts {
    use hdrhistogram::Histogram;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::histogram;

    /// The upper end of each step that something was counted in, and how much.
    type Counts = Vec<(u64, u64)>;

    pub(super) fn serialize<S: Serializer>(many: &Option<Histogram<u64>>, to: S) -> Result<S::Ok, S::Error> {
        let steps = |of: &Histogram<u64>| -> Counts {
            of.iter_recorded().map(|step| (step.value_iterated_to(), step.count_at_value())).collect()
        };
        many.as_ref().map(steps).serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Histogram<u64>>, D::Error> {
        let many = Option::<Counts>::deserialize(from)?;
        Ok(many.and_then(|counts| {
            let mut histogram = histogram()?;
            for (response, times) in counts {
                let _ = histogram.record_n(response, times);
            }
            Some(histogram)
        }))
    }
}

fn histogram() -> Option<Histogram<u64>> {
    let mut histogram = Histogram::new(3).ok()?;
    histogram.auto(true);
    Some(histogram)
}

impl Responses {
    pub(super) fn note(&mut self, response: Span) {
        self.note_ns(response.as_ns());
    }

    fn note_ns(&mut self, response: u64) {
        self.max = self.max.max(response);
        match &mut self.many {
            Some(histogram) => {
                let _ = histogram.record(response);
            }
            None => self.exact.push(response),
        }
        if self.exact.len() == EXACT_RESPONSES {
            self.count();
        }
    }

    fn count(&mut self) {
        let Some(mut histogram) = histogram() else { return };
        // The list has come to an end, and its memory is given back.
        for response in std::mem::take(&mut self.exact) {
            let _ = histogram.record(response);
        }
        self.many = Some(histogram);
    }

    /// The shortest first: between clusters, which comes first is the affair of a run's windows.
    pub(super) fn put_into_order(&mut self) {
        self.exact.sort_unstable();
    }

    pub(super) fn merge(&mut self, other: Responses) {
        other.exact.into_iter().for_each(|response| self.note_ns(response));
        let Some(theirs) = other.many else { return };
        self.max = self.max.max(other.max);
        if self.many.is_none() {
            self.count();
        }
        if let Some(histogram) = &mut self.many {
            for step in theirs.iter_recorded() {
                let _ = histogram.record_n(step.value_iterated_to(), step.count_at_value());
            }
        }
    }

    /// The longest, exactly; `None` where no job is complete.
    pub fn max(&self) -> Option<Span> {
        if self.exact.is_empty() && self.many.is_none() { None } else { Span::from_ns(self.max) }
    }

    /// `per_mille` of a thousand jobs do not exceed it (nearest rank): exact up to 65,535 jobs,
    /// above that at most one thousandth too long. `None` where no job is complete.
    pub fn percentile(&self, per_mille: u16) -> Option<Span> {
        let rank = |count: u64| (u128::from(count) * u128::from(per_mille)).div_ceil(1_000).max(1);
        if let Some(histogram) = &self.many {
            let value = histogram.value_at_quantile(f64::from(per_mille) / 1_000.0);
            return Span::from_ns(value.min(self.max));
        }
        let mut sorted = self.exact.clone();
        sorted.sort_unstable();
        let rank = usize::try_from(rank(sorted.len() as u64)).ok()?;
        sorted.get(rank - 1).copied().and_then(Span::from_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ns(nanoseconds: u64) -> Span {
        Span::from_ns(nanoseconds).unwrap()
    }

    #[test]
    fn ranks_are_nearest() {
        let mut responses = Responses::default();
        assert_eq!((responses.max(), responses.percentile(500)), (None, None));
        (1..=10).rev().for_each(|response| responses.note(ns(response)));
        assert_eq!(responses.percentile(500), Some(ns(5)));
        assert_eq!(responses.percentile(990), Some(ns(10)));
        assert_eq!(responses.percentile(1), Some(ns(1)));
        assert_eq!(responses.max(), Some(ns(10)));
    }

    /// Several groups have the counts that one would have.
    #[test]
    fn few_and_many_are_joined() {
        for (few, many) in [(0, 70_000), (10, 70_000), (65_000, 70_000), (40_000, 40_000), (70_000, 10)] {
            let (mut one, mut left, mut right) = (Responses::default(), Responses::default(), Responses::default());
            for response in 1..=few + many {
                let of = if response <= few { &mut left } else { &mut right };
                [&mut one, of].into_iter().for_each(|of| of.note(ns(response * 977)));
            }
            left.merge(right);
            assert_eq!(left.max(), one.max());
            for per_mille in [1, 500, 990, 999, 1_000] {
                // A value that was counted once is counted by the upper end of its step.
                let (left, one) = (left.percentile(per_mille).unwrap(), one.percentile(per_mille).unwrap());
                assert!(left >= one && left.as_ns() <= one.as_ns() + one.as_ns() / 1_000, "{few} {many} {per_mille}");
            }
        }
    }

    #[test]
    fn many_are_kept_to_a_thousandth() {
        let mut responses = Responses::default();
        (1..=200_000).for_each(|response| responses.note(ns(response * 1_000)));
        assert_eq!(responses.max(), Some(ns(200_000_000)));
        for (per_mille, exact) in [(500, 100_000_000), (990, 198_000_000), (999, 199_800_000)] {
            let found = responses.percentile(per_mille).unwrap().as_ns();
            assert!((exact..=exact + exact / 1_000).contains(&found), "{per_mille}: {found}");
        }
    }
}
