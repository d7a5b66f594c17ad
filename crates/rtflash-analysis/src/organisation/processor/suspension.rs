//! Erases that are suspended (docs/analysis.md, Section 18).

use rtflash_model::{Device, Placement};

use super::Processor;
use crate::time::Cost;

/// The time to suspend an erase, and to go on with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Suspension {
    /// t_s.
    suspend: Cost,
    /// t_u.
    resume: Cost,
}

/// `None` inside where no erase is suspended, and `None` where it cannot be added up.
pub(crate) fn of_erases(device: &Device, placement: Placement) -> Option<Option<Suspension>> {
    let Some(suspend) = device.erase_suspend().filter(|_| placement.may_suspend_erases()) else { return Some(None) };
    let (suspend, resume) = (Cost::from(suspend), Cost::from(device.erase_resume()));
    suspend.checked_add(resume)?;
    Some(Some(Suspension { suspend, resume }))
}

impl Processor {
    /// c_s = t_s + t_u, Eq. (82), of each job; zero without real-time writes, and beside a server.
    pub(crate) fn preemption(&self, server: bool) -> Cost {
        let Some(Suspension { suspend, resume }) = self.suspension.filter(|_| !server) else { return Cost::ZERO };
        if self.write_streams.is_empty() {
            return Cost::ZERO;
        }
        suspend.checked_add(resume).expect("it was added up before")
    }
}
