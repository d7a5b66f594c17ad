//! The answer of `explain`: by the equations of the thesis, or by certificates.

use rtflash_alloc::analysis::Analysis;
use rtflash_model::TaskSetFile;
use rtflash_wire::{Answer, CheckedAllocation, Explanation};

use super::kind::kind;
use super::{Render, explain_text};

/// The terms of an allocation, or why there is none.
pub struct ExplainView<'a> {
    /// The task set.
    pub file: &'a TaskSetFile,
    /// The analysis.
    pub analysis: &'a dyn Analysis,
    /// The allocation, if there is one.
    pub checked: Option<&'a CheckedAllocation<'a>>,
    /// The verdict in a line, if one is told.
    pub headline: &'a str,
}

impl Render for ExplainView<'_> {
    fn text(&self) -> String {
        let ExplainView { analysis, checked, headline, .. } = *self;
        let set = &self.file.set;
        let headline = if headline.is_empty() { String::new() } else { format!("{headline}\n") };
        headline + &kind(analysis).terms(set, checked) + &explain_text::assumptions(analysis)
    }

    fn json(&self) -> String {
        let meta = self.file.meta.as_deref();
        Explanation::new(&self.file.set, self.analysis, self.checked, meta).line()
    }
}
