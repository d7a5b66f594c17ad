//! From a failing case to a smaller one that fails alike.

use rtflash_judge::{Assumption, Finding};
use rtflash_model::{Access, Device, DeviceSpec, Instant, Job, Request, Span, Task, TaskSet};
use rtflash_plan::{Aging, Arbitration, Dispatch, Options, Pattern, Phases, Recurrence, Service, Ties, Times, Victims};

use super::{Case, SoakOutcome};

/// Cases that are run for one shrinking, at most.
const ATTEMPTS: u32 = 250;

/// The assumption breaks in the smallest case, too; `None` where it does not in this one. `judge`
/// runs a case, and none once `stops`.
pub fn shrink(
    case: Case,
    assumption: Assumption,
    judge: &dyn Fn(&Case) -> SoakOutcome,
    stops: &dyn Fn() -> bool,
) -> Option<(Case, Finding)> {
    let broken = |case: &Case| match judge(case) {
        SoakOutcome::Judged { findings, .. } => {
            findings.into_iter().find(|finding| finding.assumption == assumption && !finding.gauge.holds())
        }
        SoakOutcome::Nothing => None,
    };
    let mut finding = broken(&case)?;
    let mut smallest = case;
    let mut attempts = 0;
    loop {
        let mut better = None;
        for candidate in candidates(&smallest, &finding) {
            attempts += 1;
            if attempts > ATTEMPTS || stops() {
                return Some((smallest, finding));
            }
            if let Some(found) = broken(&candidate) {
                better = Some((candidate, found));
                break;
            }
        }
        match better {
            Some(found) => (smallest, finding) = found,
            None => return Some((smallest, finding)),
        }
    }
}

/// Simpler cases, the boldest steps first.
fn candidates(case: &Case, finding: &Finding) -> Vec<Case> {
    let (set, options) = (&case.set, &case.options);
    // Short runs first: all that follow are the quicker for it.
    let simpler = simpler_options(options, finding).into_iter().map(|options| Case { options, ..case.clone() });
    let mut candidates: Vec<Case> = simpler.collect();
    let device = *set.device();
    let mut add = |device: Option<Device>, tasks: Vec<Task>, jobs: Vec<Job>| {
        if let Some(set) = device.and_then(|device| TaskSet::new(device, tasks, jobs).ok()) {
            candidates.push(Case { set, ..case.clone() });
        }
    };
    let (tasks, jobs) = (set.tasks().as_slice(), set.jobs());
    let all = || (tasks.to_vec(), jobs.to_vec());
    for skipped in 0..tasks.len() {
        let mut tasks = tasks.to_vec();
        tasks.remove(skipped);
        add(Some(device), tasks, jobs.to_vec());
    }
    if !jobs.is_empty() {
        add(Some(device), tasks.to_vec(), Vec::new());
    }
    for (position, task) in tasks.iter().enumerate() {
        for simpler in simpler_tasks(task) {
            let mut tasks = tasks.to_vec();
            tasks[position] = simpler;
            add(Some(device), tasks, jobs.to_vec());
        }
    }
    let spec = device.spec();
    for smaller in smaller_devices(spec) {
        let (tasks, jobs) = all();
        add(Device::new(smaller).ok(), tasks, jobs);
    }
    candidates
}

/// A task with less to do, or less to say of it.
fn simpler_tasks(task: &Task) -> Vec<Task> {
    let mut simpler = Vec::new();
    let mut replace = |task: Task| simpler.push(task);
    if task.read.is_some() && task.write.is_some() {
        replace(Task { read: None, ..task.clone() });
        replace(Task { write: None, ..task.clone() });
    }
    if task.data_pages.is_some() {
        replace(Task { data_pages: None, ..task.clone() });
    }
    let random = |request: Option<Request>| request.map(|of| of.with_access(Access::Random));
    for (read, write) in [(random(task.read), task.write), (task.read, random(task.write))] {
        if (read, write) != (task.read, task.write) {
            replace(Task { read, write, ..task.clone() });
        }
    }
    let punctual = |request: Option<Request>| request.and_then(|of| of.with_jitter(Span::ZERO));
    let undue = |request: Option<Request>| request.and_then(|of| of.with_deadline(None));
    for (read, write) in [
        (punctual(task.read), task.write),
        (task.read, punctual(task.write)),
        (undue(task.read), task.write),
        (task.read, undue(task.write)),
    ] {
        if (read, write) != (task.read, task.write) {
            replace(Task { read, write, ..task.clone() });
        }
    }
    let half = |request: Option<Request>| request.and_then(|of| of.with_pages(of.pages() / 2));
    for (read, write) in [(half(task.read), task.write), (task.read, half(task.write))] {
        if read.is_some() == task.read.is_some()
            && write.is_some() == task.write.is_some()
            && (read, write) != (task.read, task.write)
        {
            replace(Task { read, write, ..task.clone() });
        }
    }
    simpler
}

fn smaller_devices(spec: DeviceSpec) -> Vec<DeviceSpec> {
    let mut smaller = Vec::new();
    for chips in [spec.chips / 2, spec.chips - 1] {
        smaller.push(DeviceSpec { chips, ..spec });
    }
    smaller.push(DeviceSpec { chips_per_channel: spec.chips_per_channel - 1, ..spec });
    for blocks_per_chip in [spec.blocks_per_chip / 2, spec.blocks_per_chip * 3 / 4] {
        smaller.push(DeviceSpec { blocks_per_chip, ..spec });
    }
    for pages_per_block in [spec.pages_per_block / 2, spec.pages_per_block * 3 / 4] {
        smaller.push(DeviceSpec { pages_per_block, ..spec });
    }
    smaller.retain(|smaller| *smaller != spec);
    smaller
}

fn simpler_options(options: &Options, finding: &Finding) -> Vec<Options> {
    // Just long enough for what was seen, to the millisecond.
    let seen = finding.gauge.worst().map_or(0, |worst| worst.place.at.as_ns());
    let until = |nanoseconds: u64| {
        let end = Instant::from_ns(nanoseconds.div_ceil(1_000_000) * 1_000_000).unwrap_or(options.duration);
        Options { duration: end.min(options.duration), ..options.clone() }
    };
    let simpler = [
        until(seen.saturating_add(1)),
        until(options.duration.as_ns() / 2),
        Options { dispatch: Dispatch::Serial, ..options.clone() },
        Options { service: Service::Tbs, ..options.clone() },
        Options { victims: Victims::Actual, ..options.clone() },
        Options { pattern: Pattern::Uniform, ..options.clone() },
        Options { aging: Aging::Worst, ..options.clone() },
        Options { times: Times::Worst, ..options.clone() },
        Options { phases: Phases::Periodic, ..options.clone() },
        Options { recurrence: Recurrence::Periodic, ..options.clone() },
        Options { arbitration: Arbitration::Fifo, ..options.clone() },
        Options { ties: Ties::Lowest, ..options.clone() },
        Options { releases: None, ..options.clone() },
        Options { seed: 1, ..options.clone() },
    ];
    simpler.into_iter().filter(|simpler| simpler != options).collect()
}
