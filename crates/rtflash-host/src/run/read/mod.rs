//! Scenarios in JSON.

mod attach;
mod clusters;
mod device;
mod job;
mod measured;
mod nvme;
mod outside;
mod page_cache;
mod slow;

use std::cmp::Reverse;
use std::collections::HashMap;

use rtflash_model::reading::{JsonKind, Place, Reader, quote};
use rtflash_model::{Diagnostics, Instant};

use self::clusters::beside;
use self::device::device;
use self::job::{JobsBefore, job};
pub use self::outside::{Alone, Outside};
use super::device::CertifiedClusters;
use super::device::HostDevice;
use super::job::{Job, JobReleases, MixedIo, kind_of};
use super::scenario::{HostSetup, Scenario, cut};
use crate::file::{ObjectField, above_zero, bytes_above_zero, scheduler, time_above_zero};
use crate::host::{Host, Kernel};
use crate::scheduler::{Scheduler, SchedulerSettings};
use crate::{Class, Op};

/// Controllers of I/O for cgroups (Documentation/admin-guide/cgroup-v2.rst of Linux). None is
/// modelled.
const CGROUPS: [(&str, &str); 9] = [
    ("io.max", "no `io.max`: it holds I/Os back in front of the scheduler, and no group is modelled"),
    ("io.latency", "no `io.latency`: it holds back I/Os of other groups, and no group is modelled"),
    ("io.weight", "no `io.weight`: BFQ and io.cost share the drive by it, and no group is modelled"),
    ("io.bfq.weight", "no `io.bfq.weight`: BFQ shares the drive by it, and no group is modelled"),
    ("io.cost", "no `io.cost`: it holds I/Os back by costs of its own, and no group is modelled"),
    ("io.cost.qos", "no `io.cost.qos`: it holds I/Os back by costs of its own, and no group is modelled"),
    ("io.cost.model", "no `io.cost.model`: it holds I/Os back by costs of its own, and no group is modelled"),
    ("io.prio.class", "the `class` of each job instead: no group is modelled"),
    ("cgroup", "no `cgroup`: no group of processes is modelled"),
];

const A_SCENARIO: &str = "a scenario: an object with `device`, `jobs` and `duration`";

/// Reads a scenario, and checks that it can be run by its scheduler; or by the one of this name,
/// which has its defaults where the scenario has another one.
///
/// # Errors
/// All that is wrong with it.
pub fn read_scenario(text: &str, instead: Option<&str>) -> Result<Scenario, Diagnostics> {
    read_scenario_with(text, instead, &mut Alone)
}

/// Reads a scenario as [`read_scenario`] does; `outside` reads the files that it names, and finds
/// the certificates that it lacks.
///
/// # Errors
/// As [`read_scenario`].
pub fn read_scenario_with(
    text: &str,
    instead: Option<&str>,
    outside: &mut dyn Outside,
) -> Result<Scenario, Diagnostics> {
    let (mut reader, root) = Reader::open(text, A_SCENARIO)?;
    reader.explain(&CGROUPS);
    let scenario = scenario(&mut reader, root, instead, outside);
    match scenario {
        Some(scenario) if reader.faults() == 0 => Ok(scenario),
        _ => Err(reader.into_diagnostics()),
    }
}

/// Reads what jobs run on: an object with `device`, and `host` and `scheduler` or not; by the
/// scheduler of this name instead, as [`read_scenario`].
///
/// # Errors
/// All that is wrong with it.
pub fn read_setup(text: &str, instead: Option<&str>) -> Result<HostSetup, Diagnostics> {
    let (mut reader, root) = Reader::open(text, "a setup: an object with `device`")?;
    reader.explain(&CGROUPS);
    let place = Place::Root;
    let mut described = root;
    let setup =
        ObjectField::open(&mut reader, root, &place, ["device", "host", "scheduler", "size"]).and_then(|mut fields| {
            let (device, host, scheduler) = setup(&mut fields, root, instead, &mut Alone, &mut described);
            let size = fields.maybe("size", bytes_above_zero);
            Some(HostSetup { device: device?, host, scheduler: scheduler?, size })
        });
    if let Some(HostSetup { device: HostDevice::Clusters(_), .. }) = setup {
        let problem = "the tasks of `clusters` are jobs of a scenario";
        reader.refuse(described, &place.key("device"), problem, "`emmc` or `nvme` for a job file of fio");
    }
    match setup {
        Some(setup) if reader.faults() == 0 => Ok(setup),
        _ => Err(reader.into_diagnostics()),
    }
}

/// Device, host and scheduler in an object that has them among others. `described` becomes the text
/// of the device.
fn setup<'t, const N: usize>(
    fields: &mut ObjectField<'_, 't, '_, N>,
    root: &'t str,
    instead: Option<&str>,
    outside: &mut dyn Outside,
    described: &mut &'t str,
) -> (Option<HostDevice>, Host, Option<SchedulerSettings>) {
    let mut defaults = Host::default();
    let device =
        fields.required(root, "device", "an object with `kind` and what belongs to it", |reader, raw, place| {
            *described = raw;
            if JsonKind::of(raw) != JsonKind::Text {
                return device(reader, raw, place, outside);
            }
            // A file that `host fit` wrote, for one. It states the host, too.
            let read = |text: &str| read_setup(text, None);
            let setup = outside::held(reader, raw, place, outside, "a setup with `device`", read)?;
            defaults = setup.host;
            Some(setup.device)
        });
    let host = fields.or("host", defaults, |reader, raw, place| host(reader, raw, place, &defaults));
    let settings = fields
        .or("scheduler", Some(SchedulerSettings::None), |reader, raw, place| scheduler(reader, raw, place).map(Some));
    let settings = match instead {
        Some(name) if settings.is_none_or(|settings| settings.name() != name) => SchedulerSettings::named(name),
        _ => settings,
    };
    (device, host, settings)
}

fn instant(reader: &mut Reader<'_>, raw: &str, place: &Place<'_>) -> Option<Instant> {
    Instant::from_ns(reader.time(raw, place)?.as_ns())
}

fn scenario<'t>(
    reader: &mut Reader<'t>,
    root: &'t str,
    instead: Option<&str>,
    outside: &mut dyn Outside,
) -> Option<Scenario> {
    let place = Place::Root;
    let names = ["device", "host", "scheduler", "jobs", "duration", "warmup"];
    let mut fields = ObjectField::open(reader, root, &place, names)?;
    let mut described = root;
    let (device, host, settings) = setup(&mut fields, root, instead, outside, &mut described);
    let duration = fields.required(root, "duration", "how long to run, such as \"10s\"", |reader, raw, place| {
        Instant::from_ns(time_above_zero(reader, raw, place)?.as_ns())
    });
    let warmup = fields.or("warmup", Instant::START, |reader, raw, place| {
        let warmup = instant(reader, raw, place)?;
        if duration.is_some_and(|duration| warmup >= duration) {
            reader.refuse(raw, place, "nothing is left behind the warm-up", "a time before `duration`");
        }
        Some(warmup)
    });
    let on = device.as_ref().zip(settings.as_ref());
    let clusters = match &device {
        Some(HostDevice::Clusters(clusters)) => Some(clusters.as_ref()),
        _ => None,
    };
    let tasks = clusters.map_or_else(Vec::new, CertifiedClusters::jobs);
    let mut known: HashMap<String, usize> = tasks.iter().map(|job| job.name.clone()).zip(0..).collect();
    let jobs = fields.required(root, "jobs", "an array of jobs", |reader, raw, place| {
        let mut jobs = Vec::new();
        let is_list = reader.list(raw, place, "an array of jobs", |reader, raw, place| {
            if reader.is_hopeless() {
                return;
            }
            if let Some(job) = job(reader, raw, place, &JobsBefore { host: &host, positions: &known }) {
                if known.insert(job.name.clone(), tasks.len() + jobs.len()).is_some() {
                    let problem = format!("a second job is called {}", quote(&job.name));
                    reader.refuse(raw, &place.key("name"), problem, "a name of its own for each");
                }
                if let Some(misfit) = on.and_then(|(device, settings)| misfit(&job, device, &host, settings)) {
                    let at = misfit.field.map_or(*place, |field| place.key(field));
                    reader.refuse(raw, &at, misfit.problem, misfit.expected);
                }
                jobs.push(job);
            }
        });
        if is_list && jobs.is_empty() && tasks.is_empty() && reader.faults() == 0 {
            reader.refuse(raw, place, "no jobs", "at least one");
        }
        if !is_list {
            return None;
        }
        jobs.extend(flusher(reader, raw, place, &[&tasks[..], &jobs].concat(), &host, on));
        let Some(clusters) = clusters else { return Some((jobs, None)) };
        let (clusters, tasks) = beside(reader, described, clusters, &host, &jobs)?;
        Some(([tasks, jobs].concat(), Some(HostDevice::Clusters(Box::new(clusters)))))
    });
    let (jobs, with_jobs) = jobs?;
    Some(Scenario { device: with_jobs.or(device)?, host, scheduler: settings?, jobs, duration: duration?, warmup })
}

/// The kernel's flusher beside the jobs, if one of them writes into memory.
fn flusher(
    reader: &mut Reader<'_>,
    raw: &str,
    place: &Place<'_>,
    jobs: &[Job],
    host: &Host,
    on: Option<(&HostDevice, &SchedulerSettings)>,
) -> Option<Job> {
    let flusher = Job::flusher(jobs)?;
    if let Some(misfit) = on.and_then(|(device, settings)| misfit(&flusher, device, host, settings)) {
        reader.refuse(raw, place, format!("writeback: {}", misfit.problem), misfit.expected);
    }
    Some(flusher)
}

/// Why a job cannot be run.
pub(super) struct Misfit {
    /// The field of the job that is to blame, if it is one.
    pub(super) field: Option<&'static str>,
    /// The fault.
    pub(super) problem: String,
    /// The expected value.
    pub(super) expected: String,
}

/// Why a job cannot be run at all: its requests find no tags, or what is real-time and has a period
/// cannot end within it.
pub(super) fn misfit(job: &Job, device: &HostDevice, host: &Host, settings: &SchedulerSettings) -> Option<Misfit> {
    let mut ios: Vec<MixedIo> = job.ios().collect();
    ios.sort_unstable_by_key(|io| (kind_of(io.op), Reverse(io.size)));
    // The longest I/O of each operation says whether all can be run.
    ios.dedup_by_key(|io| io.op);
    ios.iter().find_map(|&io| misfit_of(job, io, device, host, settings))
}

/// Why one of a job's I/Os cannot be run.
fn misfit_of(job: &Job, io: MixedIo, device: &HostDevice, host: &Host, settings: &SchedulerSettings) -> Option<Misfit> {
    let misfit = |field, problem: String, expected: &str| Some(Misfit { field, problem, expected: expected.into() });
    if matches!(device, HostDevice::Measured(_)) && !matches!(io.op, Op::Read | Op::Write) {
        return misfit(Some("op"), format!("a {} was not measured", io.op.name()), "reads and writes");
    }
    let commands = io.size.div_ceil(host.max_sectors);
    if commands > MAX_COMMANDS {
        let problem = format!("each I/O is cut into {commands} requests");
        return misfit(Some("size"), problem, &format!("at most {MAX_COMMANDS}"));
    }
    let longest = io.size.min(host.max_sectors);
    if device.page_size().is_some_and(|page| longest / u64::from(page.max(1)) > MAX_PAGES) {
        let problem = format!("a request of {longest} bytes is more than {MAX_PAGES} pages of the flash");
        return misfit(Some("size"), problem, "a shorter `max_sectors` in `host`, or shorter I/Os");
    }
    let scheduler: Box<dyn Scheduler> = device.in_front(settings);
    for request in cut(job.io(0, io, job.from), host.max_sectors) {
        let piece = scheduler.piece(&request).unwrap_or(request.size);
        let pieces = request.size.div_ceil(piece);
        if pieces > host.requests.into() {
            let problem = format!("a request is cut into {pieces} pieces, and there are {} tags", host.requests);
            return misfit(None, problem, "longer pieces (`max_sectors`), or as many `requests` in `host`");
        }
    }
    let requests = cut(job.io(0, io, job.from), host.max_sectors);
    let pieces = requests.flat_map(|request| cut(request, scheduler.piece(&request).unwrap_or(request.size)));
    let alone = device.shortest(pieces, settings.max_inflight(), host.merge);
    if let JobReleases::Every { period, .. } = job.releases
        && job.class == Class::RealTime
        && alone > period
    {
        let problem = format!("an I/O takes {alone} alone, and the next one comes after {period}");
        return misfit(Some("every"), problem, "a period that an I/O can end in");
    }
    None
}

/// Pages of the flash that a request may touch.
const MAX_PAGES: u64 = 1 << 16;

/// Requests that an I/O may be cut into, and I/Os of a job that may be outstanding.
pub(super) const MAX_COMMANDS: u64 = 1 << 14;

/// The host; what it leaves out is as in `defaults`.
fn host<'t>(reader: &mut Reader<'t>, raw: &'t str, place: &Place<'_>, defaults: &Host) -> Option<Host> {
    let names = ["cpus", "max_sectors", "requests", "kernel", "turnaround", "overhead", "hz", "merge", "page_cache"];
    let mut fields = ObjectField::open(reader, raw, place, names)?;
    let default = defaults.requests_before.into_iter().chain([defaults.requests]).collect();
    let written: Vec<u32> = fields.or("requests", default, requests);
    let (&last, before) = written.split_last().expect("a history has a last value");
    Some(Host {
        cpus: fields.or("cpus", defaults.cpus, above_zero),
        max_sectors: fields.or("max_sectors", defaults.max_sectors, bytes_above_zero),
        requests: last,
        requests_before: before.last().copied(),
        kernel: fields.or("kernel", defaults.kernel, |reader, raw, place| {
            reader.choice(raw, place, "kernel", &Kernel::NAMES).map(|at| Kernel::ALL[at])
        }),
        turnaround: fields.or("turnaround", defaults.turnaround, Reader::time),
        overhead: fields.or("overhead", defaults.overhead, Reader::time),
        hz: fields.or("hz", defaults.hz, |reader, raw, place| {
            const HZ: [u32; 4] = [100, 250, 300, 1_000];
            let hz = reader.whole_u32(raw, place)?;
            if !HZ.contains(&hz) {
                reader.refuse(raw, place, format!("{hz} ticks a second"), "100, 250, 300 or 1000, as kernels have");
            }
            HZ.contains(&hz).then_some(hz)
        }),
        page_cache: fields
            .or("page_cache", defaults.page_cache, |reader, raw, place| page_cache::size(reader, raw, place).map(Some)),
        merge: fields.or("merge", defaults.merge, |reader, raw, place| reader.truth(raw, place)),
    })
}

/// `nr_requests`: a number, or all values that it had one after the other.
fn requests<'t>(reader: &mut Reader<'t>, raw: &'t str, place: &Place<'_>) -> Option<Vec<u32>> {
    if JsonKind::of(raw) != JsonKind::Array {
        return above_zero(reader, raw, place).map(|number| vec![number]);
    }
    let mut written: Vec<u32> = Vec::new();
    reader.list(raw, place, "numbers of tags", |reader, raw, place| {
        // The kernel does nothing where the number is what it was.
        let number = above_zero(reader, raw, place).filter(|number| written.last() != Some(number));
        written.extend(number);
    });
    if written.is_empty() && reader.faults() == 0 {
        reader.refuse(raw, place, "no number of tags", "one at least");
    }
    (!written.is_empty()).then_some(written)
}
