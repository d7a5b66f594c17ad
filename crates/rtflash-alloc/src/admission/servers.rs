//! Servers that are left out.

use rtflash_analysis::Work;
use rtflash_analysis::certified::ChannelContention;
use rtflash_model::{Certificate, Reliance, Span, TaskSet};

use super::idle::{idle_after_jobs, longest};
use super::{RunningDevice, longest_idle};

/// Servers that get no more jobs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOutServers {
    /// From the end of their last job on: when they may be left out, at most.
    pub within: Span,
    /// The clusters by which the device runs from then on. Clusters that served jobs alone are free
    /// chips.
    pub running: RunningDevice,
}

/// When these servers may be left out, from the end of their last job on (docs/admission.md,
/// Theorem 14). `None` where that is not known, as beside another server that is relied on, and
/// where tasks would suspend erases from then on.
pub fn servers_left_out(
    set: &TaskSet,
    running: &RunningDevice,
    positions: &[usize],
    granted: Reliance,
    work: &Work,
) -> Option<LeftOutServers> {
    let contention = ChannelContention::of_certificates(set, &running.clusters, &running.certificates, granted, work);
    let serves = |at: usize| running.certificates[at].server_thousandths > 0;
    let suspends = |&at: &usize| {
        let placement = running.certificates[at].placement;
        set.device().erase_suspend().is_some()
            && placement.may_suspend_erases()
            && !running.clusters[at].tasks.is_empty()
    };
    if positions.iter().any(suspends) {
        return None;
    }
    // Nothing is known of a neighbour whose server is left out, too, until it is.
    let idle = |at: usize| {
        let certificate = &running.certificates[at];
        if !positions.contains(&at) {
            return longest_idle(&contention, at, certificate, work);
        }
        let placed = contention.as_granted(at)?;
        let gc = placed.processor.stated(&Certificate { server_thousandths: 0, ..*certificate })?;
        longest(placed.demands(gc, 0, work).map(|demand| idle_after_jobs(&demand)))
    };
    let own = longest(positions.iter().map(|&at| idle(at)))?;
    // To (T) it is the same what neighbours do.
    let settled = if granted == Reliance::Nothing {
        Span::ZERO
    } else {
        let near = positions.iter().flat_map(|&at| contention.beside_on_channels(at));
        let servers = positions.iter().flat_map(|&at| contention.serving_on_channels(at));
        longest(near.chain(servers).map(idle))?
    };
    let mut after = running.clone();
    for &at in positions.iter().filter(|&&at| serves(at)) {
        let placed = contention.as_granted(at)?;
        after.certificates[at] = placed.processor.without_server(&running.certificates[at])?;
    }
    let pairs = after.clusters.into_iter().zip(after.certificates);
    let busy = pairs.filter(|(cluster, of)| !cluster.tasks.is_empty() || of.server_thousandths > 0);
    let (clusters, certificates) = busy.unzip();
    let after = RunningDevice { clusters, certificates };
    let in_time = after.late(set, granted, work).is_none();
    in_time.then_some(LeftOutServers { within: own.checked_add(settled)?, running: after })
}
