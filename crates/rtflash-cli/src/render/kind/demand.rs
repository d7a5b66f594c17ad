//! Demand tests: clusters where they are placed, with certificates.

use rtflash_analysis::certified::is_independent;
use rtflash_analysis::{Analysis, DemandTest};
use rtflash_model::{Allocation, Reliance, Span, TaskSet, TaskSetFile};
use rtflash_verify::{CertifiedClusterVerification, verify_certified};
use rtflash_wire::{CheckAnswer, CheckedAllocation, beyond, needed};

use super::{KindText, Verified};
use crate::render::explain_certified;
use crate::render::numbers::time;

/// An analysis of this kind.
pub struct DemandKind<'a> {
    pub analysis: &'a dyn Analysis,
    pub test: DemandTest,
}

impl KindText for DemandKind<'_> {
    fn promises(&self) -> bool {
        true
    }

    fn rely_on(&self) -> Option<Reliance> {
        Some(self.test.rely_on)
    }

    fn granted_for_nothing(&self, set: &TaskSet) -> String {
        let device = set.device();
        if self.test.rely_on != Reliance::Queue || device.has_steady_reads() {
            return String::new();
        }
        let stated = |[least, most]: [Span; 2]| {
            if least == most { most.to_string() } else { format!("{least} to {most}") }
        };
        let sensing = stated([device.page_read_min(), device.page_read()]);
        let transfers = stated([device.page_transfer_min(), device.page_transfer()]);
        if device.has_commands() {
            let command = device.command();
            return format!(
                "--rely-on queue allows no more than --rely-on neighbours here: the device has no steady reads, with \
                 commands of {command}, sensing of {sensing} and transfers of {transfers} (docs/analysis.md, Section \
                 6.3, Q5).\n"
            );
        }
        format!(
            "--rely-on queue allows no more than --rely-on neighbours here: the device has no steady reads, with \
             sensing of {sensing} and transfers of {transfers} (docs/analysis.md, Section 6.1, Q3).\n"
        )
    }

    fn needed(&self, set: &TaskSet, allocation: &Allocation) -> Option<Reliance> {
        needed(set, allocation)
    }

    fn beyond(&self, set: &TaskSet, allocation: &Allocation, granted: Reliance) -> Option<String> {
        beyond(set, allocation, granted)
    }

    fn leans(&self, set: &TaskSet, allocation: &Allocation) -> bool {
        !is_independent(set, allocation)
    }

    fn verify<'f>(&self, file: &'f TaskSetFile, allocation: &Allocation) -> Verified<'f> {
        let rely_on = self.test.rely_on;
        let verification = verify_certified(&file.set, allocation, self.test.verified(), rely_on);
        let answer = CheckAnswer::sound(&file.set, self.analysis, &verification, rely_on, file.meta.as_deref());
        let intervals = verification.clusters.iter().map(CertifiedClusterVerification::tightest).collect();
        let utilizations = verification.clusters.into_iter().map(|judged| judged.utilizations).collect();
        Verified { answer, utilizations, intervals }
    }

    fn accepts(&self, set: &TaskSet, allocation: &Allocation) -> Option<bool> {
        let verification = verify_certified(set, allocation, self.test.verified(), self.test.rely_on);
        verification.holds().map(|_| verification.accepts())
    }

    fn contenders(&self, bandwidth: bool) -> &'static [&'static str] {
        if bandwidth {
            &["best-fit+tbs", "equal-split+background"]
        } else {
            // Part-FTL makes no clusters that could be placed.
            &["best-fit", "clustering-bfd", "equal-split", "global"]
        }
    }

    fn terms(&self, set: &TaskSet, checked: Option<&CheckedAllocation<'_>>) -> String {
        explain_certified::terms(set, self.test, checked)
    }

    fn how(&self, relies_on: Option<Reliance>) -> String {
        let relies_on = match relies_on {
            Some(Reliance::Nothing) => "relies on no neighbour".into(),
            Some(Reliance::Neighbours) => "relies on its neighbours' tasks".into(),
            Some(Reliance::Queue) => "relies on its neighbours' tasks, a FIFO bus and steady reads".into(),
            None => format!("--rely-on {}", self.test.rely_on.name()),
        };
        format!("(analysis: {}; {relies_on})", self.analysis.name())
    }

    fn exact_tries_all(&self) -> bool {
        false
    }

    fn only_data(&self) -> &'static str {
        "The deadlines alone would be met in every cluster.\n"
    }

    fn write_amplification(&self) -> &'static str {
        "1 + v / alpha, by the certificate"
    }

    fn share(&self) -> &'static str {
        ">demand"
    }

    fn organisation(&self, allocation: &Allocation, position: usize) -> Option<[String; 2]> {
        let placement = allocation.certificate(position).map_or("none", |each| each.placement.name());
        Some([placement.to_owned(), slack(allocation, position)])
    }
}

/// The slack of the tightest interval, of its length.
fn slack(allocation: &Allocation, position: usize) -> String {
    match allocation.certificate(position).and_then(|certificate| certificate.tightest) {
        None => "-".into(),
        Some(tightest) => {
            let (sign, slack) = (if tightest.slack_ns < 0 { "-" } else { "" }, tightest.slack_ns.unsigned_abs() as f64);
            format!("{sign}{} of {}", time(slack), time(tightest.length.as_ns() as f64))
        }
    }
}
