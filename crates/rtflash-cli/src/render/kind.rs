//! The words in which the kinds of tests differ.

use rtflash_analysis::{Analysis, baseline};

pub struct KindWords {
    /// The name of a cluster's share in tables.
    pub share: &'static str,
    /// That the data alone are at fault.
    pub only_data: &'static str,
    /// How write amplification is bounded.
    pub write_amplification: &'static str,
}

const EVEN: &str = "1 + ceil(lambda P) / alpha, which holds if valid pages spread evenly";

const BASELINE: KindWords =
    KindWords { share: ">full", only_data: "Every cluster would pass the test itself.\n", write_amplification: EVEN };

const DHARA: KindWords = KindWords {
    write_amplification: "1 + the copies of a page that Dhara makes, and its share of a checkpoint (docs/dhara.md)",
    ..BASELINE
};

const DEMAND: KindWords = KindWords {
    share: ">demand",
    only_data: "The deadlines alone would be met in every cluster.\n",
    write_amplification: "1 + v / alpha, by the certificate",
};

const UTILIZATION: KindWords = KindWords {
    share: ">U",
    only_data: "Theorem 1 itself would pass every cluster: it knows nothing of space.\n",
    write_amplification: EVEN,
};

pub fn words(analysis: &dyn Analysis) -> &'static KindWords {
    if let Some(scheme) = baseline(analysis.name()) {
        if scheme.name().starts_with("dhara") { &DHARA } else { &BASELINE }
    } else if promises(analysis) {
        &DEMAND
    } else {
        &UTILIZATION
    }
}

/// Whether a yes of the analysis is a promise about the device, with certificates.
pub fn promises(analysis: &dyn Analysis) -> bool {
    analysis.demand_test().is_some()
}
