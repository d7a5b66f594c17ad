//! One case to be run: task set, allocation, policies.

use rtflash_alloc::analysis::Analysis;
use rtflash_exec::check::{Checks, Finding, merge};
use rtflash_exec::{Options, RunError, Service};
use rtflash_model::{Allocation, TaskSet};

use crate::plan::{Refusal, plan};
use crate::servers::Servers;

/// Why a case could not be run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotRun {
    /// Before it began.
    Refused(Refusal),
    /// A limit was reached.
    GivenUp(RunError),
}

/// Runs an allocation and judges it: what every checker has found.
///
/// # Errors
/// Why it could not be run.
pub fn judge(
    set: &TaskSet,
    allocation: &Allocation,
    analysis: &dyn Analysis,
    options: &Options,
) -> Result<Vec<Finding>, NotRun> {
    let plan = plan(set, allocation, analysis).map_err(NotRun::Refused)?;
    let mut servers = match options.service {
        Service::Tbs => Servers::new(set, allocation, analysis),
        Service::Background => Servers::none(),
    };
    let checks = |group: &[u32]| Checks::new(&plan, options.dispatch, group);
    let checks = rtflash_exec::run(&plan, options, &mut servers, checks).map_err(NotRun::GivenUp)?;
    Ok(merge(checks.into_iter().map(|checks| checks.finish(options.duration))))
}
