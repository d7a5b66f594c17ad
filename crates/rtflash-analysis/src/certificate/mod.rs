//! Certificates: clusters on their chips, what each of them is promised, and on what that rests
//! (docs/analysis.md, Section 8).

pub(crate) mod anywhere;
pub(crate) mod channels;
pub(crate) mod choice;
pub(crate) mod grounds;
pub(crate) mod placed;
pub(crate) mod report;
pub(crate) mod shortfall;
