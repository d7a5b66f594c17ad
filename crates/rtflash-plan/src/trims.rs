//! Which pages may be trimmed, and whose they are.

use std::ops::Range;

use crate::ids::{ClusterId, Lpn};
use crate::jobs::Kind;
use crate::options::{Options, PeriodicTrim};
use crate::plan::{Plan, Promise};

/// Why pages are not trimmed as it is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoTrim {
    /// The task has no requests.
    #[error("it has no requests, and so no pages")]
    NoRequests,
    /// Its cluster is run without a certificate.
    #[error("only clusters with certificates know pages that hold nothing: --analysis sound gives them")]
    NoCertificate,
    /// The task owns zones, which are overwritten as a whole.
    #[error("it owns zones, which are overwritten as a whole")]
    Zones,
    /// The task has only this number of pages.
    #[error("it has {0} pages")]
    Pages(u32),
    /// There is no page, or no time between two trims.
    #[error("that is no page, or no time")]
    Nothing,
    /// Programs and erases are to fail meanwhile.
    #[error("nothing is trimmed while programs and erases fail (--faults)")]
    Faults,
}

impl PeriodicTrim {
    /// The task's cluster, and its requests' pages; or why a run trims nothing.
    pub fn pages_in(&self, plan: &Plan, options: &Options) -> Result<(ClusterId, Range<Lpn>), NoTrim> {
        let is_request = |kind| matches!(kind, Kind::Read | Kind::Write);
        let mut sources = plan.sources().iter();
        let source = sources.find(|source| source.task() == Some(self.task) && is_request(source.kind));
        let source = source.ok_or(NoTrim::NoRequests)?;
        let cluster = source.cluster.ok_or(NoTrim::NoRequests)?;
        let Promise::Certified(certified) = plan.promise() else { return Err(NoTrim::NoCertificate) };
        if certified[cluster].is_zoned() {
            return Err(NoTrim::Zones);
        }
        if options.placed.faults > 0 {
            return Err(NoTrim::Faults);
        }
        let range = plan.range(source);
        let pages = range.end.0 - range.start.0;
        if self.pages == 0 || self.every.as_ns() == 0 {
            return Err(NoTrim::Nothing);
        }
        if self.pages > pages {
            return Err(NoTrim::Pages(pages));
        }
        Ok((cluster, range))
    }
}
