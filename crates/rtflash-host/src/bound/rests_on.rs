//! Grounds of bounds: what a device and a scheduler state.

use super::{Why, deadline};
use crate::run::{Attach, HostDevice, Job, JobReleases, Scenario};
use crate::scheduler::SchedulerSettings;

/// Grounds of a scenario's bounds, a clause each that begins with the name of an
/// [assumption](super::Assumptions::NAMES) where `host run` observes it.
pub fn rests_on(scenario: &Scenario) -> Vec<String> {
    if let HostDevice::Clusters(_) = &scenario.device {
        let kept = "certificates: the device keeps its rules (docs/analysis.md)";
        return vec![kept.to_owned(), "hand-over: each request finds a tag and a place at once".to_owned()];
    }
    let mut rests_on = vec![
        format!("tags: each request finds one of {} at once", scenario.tags()),
        "one-pending: each real-time I/O with a period ends before the next one of its job".to_owned(),
    ];
    if let Some(max) = scenario.scheduler.max_inflight() {
        rests_on.push(format!("inside: commands inside at once: {max} at most"));
    }
    if let SchedulerSettings::MqDeadline(settings) = scenario.scheduler {
        rests_on.extend(deadline::rests_on(scenario, settings));
    }
    rests_on.push("classes-apart: no request holds anything of another class or level".to_owned());
    match &scenario.device {
        HostDevice::Nvme(nvme) => {
            if let Some(limit) = nvme.ends_within {
                let inside = nvme.inside;
                rests_on.push(format!(
                    "ends-within: each command ends within {limit}; commands inside at once: {inside} at most"
                ));
            }
        }
        HostDevice::Emmc(emmc) => {
            let how = match emmc.attach {
                Attach::Unstated => "as over USB, SCSI and UFS",
                Attach::Budget => "each with a budget",
                Attach::Tags | Attach::MmcCqe => "one of them without a tag",
                Attach::Mmc => "one of them without a tag, issued from lists",
            };
            rests_on.push(format!("attach: commands out of the scheduler at once: {} at most, {how}", emmc.depth));
            rests_on.push("costs: no command takes longer than the device states".to_owned());
        }
        HostDevice::Measured(measured) => {
            let depth = measured.depth;
            rests_on.push(format!("attach: commands out of the scheduler at once: {depth} at most"));
            rests_on.push("costs: no command takes longer than the longest that was measured".to_owned());
            let limits: Vec<String> = measured.stalls.iter().map(ToString::to_string).collect();
            if !limits.is_empty() {
                rests_on.push(format!("stalls: commands that take longer than usual: {}", limits.join(", ")));
            }
        }
        HostDevice::Clusters(_) => {}
    }
    rests_on
}

/// Why no bound of a scenario is proved, whatever its numbers are.
pub(super) fn unproved(scenario: &Scenario) -> Option<Why> {
    if scenario.device.has_cache()
        && let Some(job) = scenario.jobs.iter().find(|job| job.flushes())
    {
        return Some(Why::Flushes { job: job.name.clone() });
    }
    if let Some(job) = scenario.jobs.iter().find(|job| job.writes_into_memory()) {
        return Some(Why::Buffered { job: job.name.clone() });
    }
    let by_chance = |job: &&Job| job.is_poisson && matches!(job.releases, JobReleases::Every { .. });
    if let Some(job) = scenario.jobs.iter().find(by_chance) {
        return Some(Why::Chance { job: job.name.clone() });
    }
    let is_unproved = match scenario.scheduler {
        SchedulerSettings::K2(k2) => k2.max_inflight_ahead.is_some(),
        SchedulerSettings::MqDeadline(_) => true,
        _ => false,
    };
    if is_unproved && matches!(&scenario.device, HostDevice::Measured(drive) if drive.together > 1) {
        return Some(Why::Batches);
    }
    unattached(scenario)
}

/// Commands out of the scheduler can be more than the `depth` of a device whose driver is not
/// known: as many as the scheduler lets.
fn unattached(scenario: &Scenario) -> Option<Why> {
    let (attach, depth) = match &scenario.device {
        HostDevice::Emmc(emmc) => (emmc.attach, emmc.depth),
        HostDevice::Measured(measured) => (measured.attach, measured.depth),
        HostDevice::Nvme(_) | HostDevice::Clusters(_) => return None,
    };
    let is_alone = matches!(scenario.scheduler, SchedulerSettings::K2(k2) if k2.max_inflight.max(k2.max_inflight_ahead.unwrap_or(1)) == 1);
    if attach == Attach::Mmc && !is_alone {
        return Some(Why::List);
    }
    let handed = match scenario.scheduler {
        // In one queue a command has its place, in the device or in front of it.
        SchedulerSettings::None => return None,
        _ => scenario.scheduler.max_inflight(),
    };
    let is_known = attach != Attach::Unstated || handed.is_some_and(|handed| handed <= depth);
    (!is_known).then_some(Why::Attach { handed, depth })
}
