//! The device `clusters` in JSON.

use rtflash_model::reading::{Place, Reader};
use rtflash_model::{read_allocation, read_task_set};
use rtflash_plan::{Aging, Policy};

use super::outside::{Outside, held};
use crate::file::ObjectField;
use crate::host::Host;
use crate::run::device::CertifiedClusters;
use crate::run::device::HostDevice;
use crate::run::job::Job;

/// A task set and its allocation, without aperiodic requests yet.
pub(super) fn clusters<'t>(
    reader: &mut Reader<'t>,
    raw: &'t str,
    place: &Place<'_>,
    outside: &mut dyn Outside,
) -> Option<HostDevice> {
    let mut fields = ObjectField::open(reader, raw, place, ["kind", "taskset", "allocation", "jitter", "aging"])?;
    const A_SET: &str = "a task set";
    let set = fields.required(raw, "taskset", A_SET, |reader, raw, place| {
        held(reader, raw, place, outside, A_SET, |text| read_task_set(text).map(|file| file.set))
    });
    let given = fields.or("allocation", Some(None), |reader, raw, place| {
        let set = set.as_ref()?;
        let read = |text: &str| read_allocation(text, set);
        Some(held(reader, raw, place, outside, "an allocation of the task set", read).map(Some))
    });
    let jitter = fields.or("jitter", rtflash_model::Span::ZERO, Reader::time);
    let aging = fields.or("aging", Aging::default(), aging);
    let (set, given) = (set?, given?);
    let found = outside.certified(&set, given).and_then(|allocation| {
        let clusters = CertifiedClusters::new(&set, &allocation, &[], jitter).map_err(|error| error.to_string())?;
        Ok(clusters.judged(outside.judge(&set, &allocation)))
    });
    match found {
        Ok(clusters) => Some(HostDevice::Clusters(Box::new(clusters.aged(aging)))),
        Err(problem) => {
            reader.refuse(raw, &place.key("allocation"), problem, "an allocation with a certificate for each cluster");
            None
        }
    }
}

/// The state of the device before the run.
pub(super) fn aging<'t>(reader: &mut Reader<'t>, raw: &'t str, place: &Place<'_>) -> Option<Aging> {
    let names: Vec<&str> = Aging::ALL.iter().map(|of| of.name()).collect();
    Some(Aging::ALL[reader.choice(raw, place, "state of the device", &names)?])
}

/// The device with the jobs beside its tasks, and the jobs of the tasks; `None` where something
/// wrong has been recorded. `raw` is the device.
pub(super) fn beside(
    reader: &mut Reader<'_>,
    raw: &str,
    clusters: &CertifiedClusters,
    host: &Host,
    jobs: &[Job],
) -> Option<(CertifiedClusters, Vec<Job>)> {
    let place = Place::Root.key("device");
    let tasks = clusters.jobs();
    for job in tasks.iter().filter(|job| job.size > host.max_sectors) {
        let problem = format!("a request of `{}` has {} bytes, and is one request to the device", job.name, job.size);
        reader.refuse(raw, &place, problem, "`max_sectors` of `host` that holds it");
    }
    let names: Vec<String> = jobs.iter().map(|job| job.name.clone()).collect();
    match clusters.beside(&names) {
        Ok(clusters) => Some((clusters, tasks)),
        Err(error) => {
            reader.refuse(raw, &place, error.to_string(), "an allocation that has it, and names of their own for all");
            None
        }
    }
}
