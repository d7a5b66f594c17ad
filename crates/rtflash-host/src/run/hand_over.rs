//! How late a task's request reaches a device of clusters: the J of docs/analysis.md, Section 2.9,
//! that the host adds.

use rtflash_model::Span;

use super::device::HostDevice;
use super::job::JobReleases;
use super::scenario::Scenario;
use crate::scheduler::{K2Settings, SchedulerSettings};
use crate::{Class, Command, Op};

/// How long after its nominal arrival a task's request is handed over to a device of
/// [`CertifiedClusters`](super::CertifiedClusters), at most: J. `job` is its position in the
/// scenario. The certificate has to be one for this J at least
/// ([`declared_jitter`](super::CertifiedClusters::declared_jitter)); then deadlines hold from end
/// to end.
///
/// The host adds nothing to what the releases themselves are late where the request finds a tag and
/// a place at once, as a release asks at once:
///
/// - Tags: there are as many as requests and pieces can be outstanding, those of tasks ⌈D/T⌉ each.
///   (A request is over by its deadline; if that is its period, before the next one of its kind.)
/// - Places: K2 lets as many commands in as real-time jobs and the rest, or `max_inflight_rest` of
///   these, can have outstanding. `none`, mq-deadline, BFQ and user-centric queues hold nothing
///   back, as the device always has room, and minimal-effort no reads.
///
/// Otherwise a request may wait for commands that end when a server pleases.
///
/// # Errors
/// Why nothing bounds it, in a sentence.
pub fn hand_over_jitter(scenario: &Scenario, job: usize) -> Result<Span, String> {
    let HostDevice::Clusters(clusters) = &scenario.device else {
        return Err("the device has no certificates".to_owned());
    };
    let Some(of) = scenario.jobs.get(job).filter(|_| job < clusters.tasks()) else {
        return Err("it is no task of the device: a server ends its commands when it pleases".to_owned());
    };
    let JobReleases::Every { jitter, .. } = of.releases else {
        return Err(format!("`{}` has no period", of.name));
    };
    let outstanding = |real_time: bool| -> Result<u64, String> {
        let jobs = scenario.jobs.iter().enumerate();
        let mut jobs = jobs.filter(|(_, job)| (job.class == Class::RealTime) == real_time);
        jobs.try_fold(0_u64, |sum, (position, job)| {
            let own = clusters.waiting(position).or_else(|| commands(scenario, position));
            let own = own.ok_or_else(|| format!("any number of I/Os of `{}` can be outstanding", job.name))?;
            Ok(sum.saturating_add(own))
        })
    };
    let scheduler = scenario.scheduler();
    let (urgent, rest) = (outstanding(true)?, outstanding(false)?);
    let all = urgent.saturating_add(rest);
    let limits = (0..scenario.jobs.len()).filter_map(|job| {
        let buffered = scenario.jobs[job].writes_back();
        let wholes = scenario.jobs[job].ios().filter_map(|io| scenario.whole_of(job, io, 0));
        let limits = wholes.filter_map(|whole| scheduler.tag_limit(&whole, buffered, &scenario.host));
        limits.map(|limit| scenario.host.tags_within(limit)).min()
    });
    let tags = limits.fold(scenario.host.requests, u32::min);
    if all > tags.into() {
        return Err(format!("{all} requests can be outstanding, and there are {tags} tags for some of them"));
    }
    match scenario.scheduler {
        SchedulerSettings::None
        | SchedulerSettings::MqDeadline(_)
        | SchedulerSettings::Bfq(_)
        | SchedulerSettings::UserCentric(_) => Ok(jitter),
        SchedulerSettings::K2(K2Settings { max_inflight, max_inflight_rest, .. }) => {
            let let_in = max_inflight_rest.map_or(rest, |max| rest.min(max.into()));
            if urgent.saturating_add(let_in) <= max_inflight.into() {
                return Ok(jitter);
            }
            Err(format!(
                "commands outstanding at once: {let_in} of the rest and {urgent} real-time; places: {max_inflight}; \
                 those of the rest end when a server pleases"
            ))
        }
        SchedulerSettings::MinimalEffort(_) if of.op == Op::Read => Ok(jitter),
        SchedulerSettings::MinimalEffort(_) => Err("writes are held back".to_owned()),
        SchedulerSettings::Kyber(_) => Err("tokens are taken by all classes alike, and may become one".to_owned()),
    }
}

/// Requests and pieces that a job can have outstanding; `None` where nothing bounds that.
fn commands(scenario: &Scenario, position: usize) -> Option<u64> {
    let job = scenario.jobs.get(position)?;
    let ios = match job.releases {
        JobReleases::Closed { depth, .. } => u64::from(depth).min(job.max_ios()),
        JobReleases::Every { .. } | JobReleases::WriteBack(_) | JobReleases::Flusher => job.count?,
    };
    let scheduler = scenario.scheduler.scheduler();
    let pieces = |request: Command| {
        let piece = scheduler.piece(&request).unwrap_or(request.size);
        request.size.div_ceil(piece.max(1))
    };
    let wholes = job.ios().filter_map(|io| scenario.whole_of(position, io, 0));
    let most = wholes.map(|whole| scenario.requests(whole).map(pieces).sum()).max()?;
    Some(ios.saturating_mul(most))
}
