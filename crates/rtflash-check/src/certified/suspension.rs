//! Erases that are suspended: docs/analysis.md, Section 18.

use rtflash_model::{Device, Placement};

use super::processor::{Processor, VerifiedTask};

/// c_s = t_s + t_u, Eq. (79), where erases are suspended: not behind commands, not with zones, and
/// not with a second page register.
pub(super) fn suspension(device: &Device, placement: Placement) -> Option<i128> {
    let spec = device.spec();
    if spec.command.is_some_and(|command| command.as_ns() > 0) {
        return None;
    }
    match placement {
        Placement::Stripe | Placement::Superblock => {
            let resume = spec.erase_resume.map_or(0, |resume| i128::from(resume.as_ns()));
            Some(i128::from(spec.erase_suspend?.as_ns()) + resume)
        }
        Placement::CachedStripe | Placement::CachedSuperblock | Placement::Zoned => None,
    }
}

impl Processor {
    /// What the jobs of a request take to suspend erases: those that have a page here.
    pub fn preempting(&self, item: &VerifiedTask, length: i128) -> Option<i128> {
        let jobs = item.requests_due(length);
        self.preempts.checked_mul(jobs.min(item.pages.of(jobs)?))
    }
}
