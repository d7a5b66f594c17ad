//! The kinds of analysis, as far as the command does and says different things under them.

mod baseline;
mod demand;
mod utilization;

use rtflash_analysis::{Analysis, Test, baseline};
use rtflash_model::{Allocation, Reliance, TaskSet, TaskSetFile, Tightest};
use rtflash_wire::{CheckAnswer, CheckedAllocation};

/// The findings of rtflash-verify on an allocation.
pub struct Verified<'f> {
    /// The verdict.
    pub answer: CheckAnswer<'f>,
    /// The utilization of each cluster by each of the tests, if there are several.
    pub utilizations: Vec<Vec<f64>>,
    /// The interval that the verdict on each cluster shows, where there are certificates.
    pub intervals: Vec<Option<Tightest>>,
}

impl<'f> Verified<'f> {
    /// The findings of one test, without certificates.
    fn plain(answer: CheckAnswer<'f>) -> Verified<'f> {
        Verified { answer, utilizations: Vec::new(), intervals: Vec::new() }
    }
}

/// What differs between the kinds. What is not said is as of tests that promise nothing.
pub trait KindText {
    /// Whether its yes is a promise about the device, with certificates.
    fn promises(&self) -> bool {
        false
    }

    /// What its promises may rely on; `None` where it makes none.
    fn rely_on(&self) -> Option<Reliance> {
        None
    }

    /// What the clusters of an allocation rely on as they are; `None` where nothing is promised, or
    /// it does not hold.
    fn needed(&self, _set: &TaskSet, _allocation: &Allocation) -> Option<Reliance> {
        None
    }

    /// Why an allocation that holds is refused all the same: it relies on more than is granted.
    fn beyond(&self, _set: &TaskSet, _allocation: &Allocation, _granted: Reliance) -> Option<String> {
        None
    }

    /// What was granted to rely on and is of no use on this device, behind a no; empty where there
    /// is nothing of the kind.
    fn granted_for_nothing(&self, _set: &TaskSet) -> String {
        String::new()
    }

    /// Whether some cluster holds only because of what is known of its neighbours.
    fn leans(&self, _set: &TaskSet, _allocation: &Allocation) -> bool {
        false
    }

    /// The verdict of rtflash-verify on an allocation.
    fn verify<'f>(&self, file: &'f TaskSetFile, allocation: &Allocation) -> Verified<'f>;

    /// Whether an allocation from elsewhere is accepted; `None` if that is not decided.
    fn accepts(&self, set: &TaskSet, allocation: &Allocation) -> Option<bool>;

    /// The contenders of an experiment that names none, of bandwidth or of schedulability.
    fn contenders(&self, bandwidth: bool) -> &'static [&'static str];

    /// Where utilization or demand goes, in an allocation if there is one.
    fn terms(&self, set: &TaskSet, checked: Option<&CheckedAllocation<'_>>) -> String;

    /// By what the clusters were tested, in brackets at the end of a line. Of a yes, with what its
    /// clusters rely on.
    fn how(&self, relies_on: Option<Reliance>) -> String;

    /// Whether `exact` leaves no allocation untried.
    fn exact_tries_all(&self) -> bool {
        true
    }

    /// That the data alone are at fault.
    fn only_data(&self) -> &'static str;

    /// How write amplification is bounded.
    fn write_amplification(&self) -> &'static str {
        "1 + ceil(lambda P) / alpha, which holds if valid pages spread evenly"
    }

    /// What the share of a cluster is called in tables.
    fn share(&self) -> &'static str;

    /// The cells that a cluster has beside those that every cluster has: its organisation, and its
    /// slack. `None` where tables have no such columns.
    fn organisation(&self, _allocation: &Allocation, _position: usize) -> Option<[String; 2]> {
        None
    }
}

/// The kind of an analysis. The one place of the command that tells them apart.
pub fn kind<'a>(analysis: &'a dyn Analysis) -> Box<dyn KindText + 'a> {
    if let Some(scheme) = baseline(analysis.name()) {
        return Box::new(baseline::BaselineKind(scheme));
    }
    match analysis.test() {
        Test::Demand(test) => Box::new(demand::DemandKind { analysis, test }),
        Test::Linear(_) | Test::Utilization(_) | Test::Cluster(_) => Box::new(utilization::UtilizationKind(analysis)),
    }
}

#[cfg(test)]
mod tests {
    use rtflash_analysis::analyses_and_baselines;
    use rtflash_verify::{BaselineScheme, Equations};

    use super::kind;

    #[test]
    fn the_verifier_knows_every_analysis_with_a_name() {
        for analysis in analyses_and_baselines() {
            let known = kind(analysis).promises()
                || Equations::from_name(analysis.name()).is_some()
                || BaselineScheme::from_name(analysis.name()).is_some();
            assert!(known, "{}: rtflash-verify does not have it", analysis.name());
        }
    }
}
