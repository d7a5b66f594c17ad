//! Given allocations before the verifier, by the equations, schemes or certificates of an analysis.

use rtflash_analysis::Analysis;
use rtflash_analysis::verdict::passing;
use rtflash_answers::CheckAnswer;
use rtflash_model::{Allocation, TaskSet, TaskSetFile, Tightest};
use rtflash_verify::{
    BaselineScheme, CertifiedClusterVerification, Equations, verify, verify_baseline, verify_certified,
};

pub struct Verified<'f> {
    pub answer: CheckAnswer<'f>,
    /// The utilization of each cluster by each of the tests, if there are several.
    pub utilizations: Vec<Vec<f64>>,
    /// The interval that the verdict on each cluster shows, where there are certificates.
    pub intervals: Vec<Option<Tightest>>,
}

pub fn verified<'f>(file: &'f TaskSetFile, analysis: &dyn Analysis, allocation: &Allocation) -> Verified<'f> {
    let (set, meta) = (&file.set, file.meta.as_deref());
    if let Some(test) = analysis.demand_test() {
        let verification = verify_certified(set, allocation, test.verified(), test.rely_on);
        let answer = CheckAnswer::sound(set, analysis, &verification, test.rely_on, meta);
        let intervals = verification.clusters.iter().map(CertifiedClusterVerification::tightest).collect();
        let utilizations = verification.clusters.into_iter().map(|judged| judged.utilizations).collect();
        return Verified { answer, utilizations, intervals };
    }
    let verification = match BaselineScheme::from_name(analysis.name()) {
        Some(scheme) => verify_baseline(set, allocation, scheme),
        None => {
            let equations = Equations::from_name(analysis.name());
            verify(set, allocation, equations.expect("the verifier knows every analysis with a name"))
        }
    };
    let answer = CheckAnswer::new(set, analysis, &verification, meta);
    Verified { answer, utilizations: Vec::new(), intervals: Vec::new() }
}

/// Whether an allocation from elsewhere is accepted; `None` if that is not decided.
pub fn accepts(set: &TaskSet, analysis: &dyn Analysis, allocation: &Allocation) -> Option<bool> {
    let Some(test) = analysis.demand_test() else {
        return Some(passing(set, analysis, allocation).into_iter().all(|passes| passes));
    };
    let verification = verify_certified(set, allocation, test.verified(), test.rely_on);
    verification.holds().map(|_| verification.accepts())
}

#[cfg(test)]
mod tests {
    use rtflash_analysis::analyses_and_baselines;
    use rtflash_verify::{BaselineScheme, Equations};

    #[test]
    fn the_verifier_knows_every_analysis_with_a_name() {
        for analysis in analyses_and_baselines() {
            let known = analysis.demand_test().is_some()
                || Equations::from_name(analysis.name()).is_some()
                || BaselineScheme::from_name(analysis.name()).is_some();
            assert!(known, "{}: rtflash-verify does not have it", analysis.name());
        }
    }
}
