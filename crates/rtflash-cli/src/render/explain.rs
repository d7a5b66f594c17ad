//! The answer of `explain`: by the equations of the thesis, or by certificates.

use rtflash_analysis::{Analysis, baseline};
use rtflash_answers::{Answer, CheckedAllocation, Explanation, Verdicts};
use rtflash_model::{TaskSet, TaskSetFile};

use super::{explain_baseline, explain_certified, explain_text, verdicts};
use crate::args::Format;

/// The terms of an allocation, or why there is none.
pub struct ExplainView<'a> {
    pub file: &'a TaskSetFile,
    pub analysis: &'a dyn Analysis,
    pub checked: Option<&'a CheckedAllocation<'a>>,
    pub verdicts: &'a Verdicts,
    /// The sentence on what an algorithm found, if one was asked.
    pub headline: Option<String>,
}

impl ExplainView<'_> {
    pub fn render(&self, format: Format) -> String {
        match format {
            Format::Text => self.text(),
            Format::Json => self.json(),
        }
    }

    fn text(&self) -> String {
        let ExplainView { analysis, checked, .. } = *self;
        let set = &self.file.set;
        let headline = self.headline.clone().unwrap_or_else(|| verdicts::text(self.verdicts));
        headline + "\n" + &terms(set, analysis, checked) + &explain_text::assumptions(analysis)
    }

    fn json(&self) -> String {
        let meta = self.file.meta.as_deref();
        Explanation::new(&self.file.set, self.analysis, self.checked, self.verdicts.clone(), meta).line()
    }
}

/// Where utilization or demand goes, in an allocation if there is one.
fn terms(set: &TaskSet, analysis: &dyn Analysis, checked: Option<&CheckedAllocation<'_>>) -> String {
    match (baseline(analysis.name()), analysis.demand_test()) {
        (Some(scheme), _) => explain_baseline::terms(set, scheme, checked),
        (None, Some(test)) => explain_certified::terms(set, test, checked),
        (None, None) => explain_text::terms(set, analysis, checked),
    }
}
