//! The answer of `explain`: by the equations of the thesis, or by certificates.

use rtflash_analysis::Analysis;
use rtflash_model::TaskSetFile;
use rtflash_wire::{Answer, CheckedAllocation, Explanation, Verdicts};

use super::kind::kind;
use super::{Render, explain_text, verdicts};

/// The terms of an allocation, or why there is none.
pub struct ExplainView<'a> {
    /// The task set.
    pub file: &'a TaskSetFile,
    /// The analysis.
    pub analysis: &'a dyn Analysis,
    /// The allocation, if there is one.
    pub checked: Option<&'a CheckedAllocation<'a>>,
    /// The verdicts.
    pub verdicts: &'a Verdicts,
    /// The sentence on what an algorithm found, if one was asked.
    pub headline: Option<String>,
}

impl Render for ExplainView<'_> {
    fn text(&self) -> String {
        let ExplainView { analysis, checked, .. } = *self;
        let set = &self.file.set;
        let headline = self.headline.clone().unwrap_or_else(|| verdicts::text(self.verdicts));
        headline + "\n" + &kind(analysis).terms(set, checked) + &explain_text::assumptions(analysis)
    }

    fn json(&self) -> String {
        let meta = self.file.meta.as_deref();
        Explanation::new(&self.file.set, self.analysis, self.checked, self.verdicts.clone(), meta).line()
    }
}
