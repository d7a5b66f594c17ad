//! The task set: tasks, jobs that are not real-time and their device, checked together.

use std::collections::HashMap;

use crate::arrivals::Arrivals;
use crate::device::Device;
use crate::ids::{PerId, TaskId};
use crate::invalid::{Invalid, Path};
use crate::task::{Job, Task};
use crate::time::{Span, TIME_LIMIT_NS};

/// Checked together: names differ, every task reads or writes, its data fit the device and its
/// sequential requests its data, and every cost is below 2⁶³ ns under every analysis.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskSet {
    device: Device,
    tasks: PerId<TaskId, Task>,
    jobs: Vec<Job>,
}

impl TaskSet {
    /// Checks the parts against each other; faults have paths such as `tasks[3].read.pages`.
    pub fn new(device: Device, tasks: Vec<Task>, jobs: Vec<Job>) -> Result<TaskSet, Vec<Invalid>> {
        let wrong = faults(Some(&device), &tasks, &jobs);
        if wrong.is_empty() { Ok(TaskSet { device, tasks: tasks.into(), jobs }) } else { Err(wrong) }
    }

    /// Its tasks have none of [`TaskSet::new`]'s faults: names differ, each reads or
    /// writes, no data are known, and costs are below 2⁶³ ns.
    pub(crate) fn of_known_tasks(device: Device, tasks: Vec<Task>) -> TaskSet {
        debug_assert!(TaskSet::new(device, tasks.clone(), Vec::new()).is_ok());
        TaskSet { device, tasks: tasks.into(), jobs: Vec::new() }
    }

    /// The device they run on.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// τ: the real-time tasks, in the user's order.
    pub fn tasks(&self) -> &PerId<TaskId, Task> {
        &self.tasks
    }

    /// J: the streams of jobs that are not real-time.
    pub fn jobs(&self) -> &[Job] {
        &self.jobs
    }

    /// This set on another device, where costs can be too large and data have no room.
    pub fn on(&self, device: Device) -> Result<TaskSet, Vec<Invalid>> {
        TaskSet::new(device, self.tasks.as_slice().to_vec(), self.jobs.clone())
    }
}

/// All that is wrong with tasks and jobs: on this device, or where that is not known, on any.
pub(crate) fn faults(device: Option<&Device>, tasks: &[Task], jobs: &[Job]) -> Vec<Invalid> {
    let mut wrong = Vec::new();
    if u32::try_from(tasks.len()).is_err() {
        wrong.push(Invalid::new(Path::root().key("tasks"), "too many tasks", "fewer than 2^32 tasks"));
    }
    let names = tasks.iter().enumerate().map(|(i, task)| ("tasks", i, task.name.as_str()));
    let names = names.chain(jobs.iter().enumerate().map(|(i, job)| ("jobs", i, job.name.as_str())));
    if !surely_distinct(names.clone()) {
        refuse_bad_names(names, &mut wrong);
    }
    for (index, task) in tasks.iter().enumerate() {
        check_task(device, task, || Path::root().key("tasks").index(index), &mut wrong);
    }
    for (index, job) in jobs.iter().enumerate() {
        check_job(device, job, &Path::root().key("jobs").index(index), &mut wrong);
    }
    wrong
}

fn check_task(device: Option<&Device>, task: &Task, path: impl Fn() -> Path, wrong: &mut Vec<Invalid>) {
    if task.read.is_none() && task.write.is_none() {
        wrong.push(Invalid::new(
            path(),
            format!("{} neither reads nor writes", called("task", &task.name)),
            "a `read` or a `write` request, or both",
        ));
    }
    for (request, kind) in [(task.read, "read"), (task.write, "write")] {
        let Some(request) = request else { continue };
        let pages = || path().key(kind).key("pages");
        if let Some((read_cost, write_cost)) = device.map(Device::page_cost_bound) {
            let page_cost = if kind == "read" { read_cost } else { write_cost };
            if too_long(u128::from(request.pages()).checked_mul(page_cost)) {
                wrong.push(too_many_pages(pages(), request.pages(), read_cost.min(page_cost)));
                continue;
            }
        }
        if let Some(data) = task.data_pages.filter(|&data| data > 0 && data < request.pages())
            && request.access().is_consecutive()
        {
            wrong.push(Invalid::new(
                pages(),
                format!(
                    "a {} request of {} pages does not fit in the task's data of {data} pages",
                    request.access().name(),
                    request.pages()
                ),
                format!("at most {data} pages, more `data_pages`, or random access"),
            ));
        }
    }
    let Some(pages) = task.data_pages else { return };
    let data = || path().key("data_pages");
    if pages == 0 {
        wrong.push(Invalid::new(data(), "data of zero pages", "a whole number from 1 up"));
    } else if let Some(max) = device.map(Device::logical_pages).filter(|&max| max < u128::from(pages)) {
        wrong.push(Invalid::new(
            data(),
            format!("data of {pages} pages does not fit on the device"),
            format!("at most {max} pages, the logical pages of this device"),
        ));
    }
}

fn too_long(cost: Option<u128>) -> bool {
    cost.is_none_or(|cost| cost >= u128::from(TIME_LIMIT_NS))
}

fn too_many_pages(path: Path, pages: u64, page_cost: u128) -> Invalid {
    let max = (u128::from(TIME_LIMIT_NS) - 1) / page_cost.max(1);
    Invalid::new(
        path,
        format!("{pages} pages would take 2^63 ns or more"),
        format!("at most {max} pages on this device"),
    )
}

/// Distinct and not empty: to compare each two is quicker than the map that says where.
fn surely_distinct<'a>(names: impl Iterator<Item = (&'static str, usize, &'a str)> + Clone) -> bool {
    let mut rest = names.map(|(_, _, name)| name);
    if rest.size_hint().1.is_none_or(|count| count > 32) {
        return false;
    }
    while let Some(name) = rest.next() {
        if name.is_empty() || rest.clone().any(|other| other == name) {
            return false;
        }
    }
    true
}

fn refuse_bad_names<'a>(names: impl Iterator<Item = (&'static str, usize, &'a str)>, wrong: &mut Vec<Invalid>) {
    let mut first: HashMap<&str, (&str, usize)> = HashMap::new();
    for (list, index, name) in names {
        let path = || Path::root().key(list).index(index).key("name");
        if name.is_empty() {
            wrong.push(Invalid::new(path(), "an empty name", "a name that tells it from the others"));
        } else if let Some((list, index)) = first.get(name) {
            wrong.push(Invalid::new(
                path(),
                format!("the name `{name}` is taken by {list}[{index}]"),
                "a name of its own",
            ));
        } else {
            first.insert(name, (list, index));
        }
    }
}

/// Readers give what has no name one that begins with a zero byte.
fn called(what: &str, name: &str) -> String {
    if name.starts_with('\0') { format!("the {what}") } else { format!("{what} `{name}`") }
}

const GAP: &str = "a time above zero, such as \"12.5ms\"";

fn check_job(device: Option<&Device>, job: &Job, path: &Path, wrong: &mut Vec<Invalid>) {
    if job.read_pages == 0 && job.write_pages == 0 {
        wrong.push(Invalid::new(
            path.clone(),
            format!("{} neither reads nor writes", called("job", &job.name)),
            "`read_pages` or `write_pages`, or both, above zero",
        ));
    }
    if let Some(device) = device {
        check_job_cost(device, job, path, wrong);
    }
    let arrivals = path.key("arrivals");
    match &job.arrivals {
        Arrivals::Every(span) if *span == Span::ZERO => {
            wrong.push(Invalid::new(arrivals.key("every"), "a gap of zero", GAP));
        }
        Arrivals::Poisson(span) if *span == Span::ZERO => {
            wrong.push(Invalid::new(arrivals.key("poisson"), "a gap of zero", GAP));
        }
        Arrivals::Bursts { every, burst } => {
            if *every == Span::ZERO {
                wrong.push(Invalid::new(arrivals.key("every"), "a gap of zero", GAP));
            }
            if *burst == 0 {
                wrong.push(Invalid::new(arrivals.key("burst"), "a burst of no job", "a whole number from 1 up"));
            }
        }
        Arrivals::Uniform(low, high) => {
            if *low == Span::ZERO {
                wrong.push(Invalid::new(arrivals.key("uniform").index(0), "a gap of zero", "a time above zero"));
            } else if low > high {
                wrong.push(Invalid::new(
                    arrivals.key("uniform"),
                    format!("{low} is longer than {high}"),
                    "the shorter gap first",
                ));
            }
        }
        Arrivals::At(times) => {
            if let Some(late) = times.windows(2).position(|pair| pair[0] > pair[1]) {
                wrong.push(Invalid::new(
                    arrivals.key("at").index(late + 1),
                    "earlier than the arrival before it",
                    "arrivals in order of time",
                ));
            }
        }
        Arrivals::Every(_) | Arrivals::Poisson(_) => {}
    }
}

fn check_job_cost(device: &Device, job: &Job, path: &Path, wrong: &mut Vec<Invalid>) {
    let (read_cost, write_cost) = device.page_cost_bound();
    // The most GC passes that Eq. (IV.12) can charge to one job: on one chip, after a job of the
    // same size.
    let passes = u128::from(job.write_pages) * 2 / u128::from(device.reclaimed_per_chip()) + 2;
    let gc = if job.write_pages == 0 { Some(0) } else { passes.checked_mul(u128::from(device.gc_pass().as_ns())) };
    let reads = u128::from(job.read_pages).checked_mul(read_cost);
    let writes =
        u128::from(job.write_pages).checked_mul(write_cost).zip(gc).and_then(|(writes, gc)| writes.checked_add(gc));
    if too_long(reads) {
        wrong.push(too_many_pages(path.key("read_pages"), job.read_pages, read_cost));
    } else if too_long(writes) || too_long(reads.zip(writes).and_then(|(reads, writes)| reads.checked_add(writes))) {
        let problem = format!("{} pages, with their garbage collection, would take 2^63 ns or more", job.write_pages);
        wrong.push(Invalid::new(path.key("write_pages"), problem, "fewer pages a job"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::Request;

    fn request(pages: u64, us: u32) -> Option<Request> {
        Request::new(pages, Span::from_us(us))
    }

    fn task(name: &str, read: Option<Request>, write: Option<Request>) -> Task {
        Task { name: name.into(), read, write, data_pages: None }
    }

    #[test]
    fn data_holds_sequential_requests_and_fits_on_the_device() {
        let device = Device::profile("dgist-2021").unwrap();
        let paths = |device: Option<&Device>, read: u64, write: u64, data: u64| {
            let sequential = |pages| request(pages, 1).map(|request| request.with_access(crate::task::Access::Stream));
            let task = Task { data_pages: Some(data), ..task("a", sequential(read), sequential(write)) };
            faults(device, &[task], &[]).iter().map(|wrong| wrong.path.to_string()).collect::<Vec<_>>()
        };
        let all = 16 * 1024 * 128;
        assert!(paths(Some(&device), 5, all, all).is_empty());
        assert_eq!(paths(Some(&device), 5, 6, 5), ["tasks[0].write.pages"]);
        assert_eq!(paths(Some(&device), 6, u64::MAX, 5), ["tasks[0].read.pages", "tasks[0].write.pages"]);
        assert_eq!(paths(Some(&device), 5, 6, all + 1), ["tasks[0].data_pages"]);
        assert_eq!(paths(Some(&device), 5, 6, 0), ["tasks[0].data_pages"]);
        // On a device that is not known, data may have any size.
        assert_eq!(paths(None, 5, u64::MAX, u64::MAX - 1), ["tasks[0].write.pages"]);
        // Data that fit here may not fit elsewhere.
        let full = Task { data_pages: Some(all), ..task("a", request(1, 1), None) };
        let set = TaskSet::new(device, vec![full], vec![]).unwrap();
        let smaller = Device::new(crate::DeviceSpec { chips: 15, ..device.spec() }).unwrap();
        assert_eq!(set.on(smaller).unwrap_err()[0].path.to_string(), "tasks[0].data_pages");
    }

    #[test]
    fn all_faults_are_found_with_their_paths() {
        let device = Device::profile("dgist-2021").unwrap();
        let tasks = vec![
            task("a", None, None),
            task("a", request(u64::MAX, 5), None),
            task("", request(1, 1), request(1 << 60, 1)),
        ];
        let jobs = vec![
            Job { name: "a".into(), read_pages: 0, write_pages: 0, arrivals: Arrivals::Every(Span::ZERO) },
            Job {
                name: "j".into(),
                read_pages: u64::MAX,
                write_pages: 0,
                arrivals: Arrivals::Uniform(Span::from_us(2), Span::from_us(1)),
            },
            Job { name: "k".into(), read_pages: 0, write_pages: u64::MAX, arrivals: Arrivals::At(vec![]) },
        ];
        let wrong = TaskSet::new(device, tasks, jobs).unwrap_err();
        let mut paths: Vec<String> = wrong.iter().map(|wrong| wrong.path.to_string()).collect();
        paths.sort();
        assert_eq!(
            paths,
            [
                "jobs[0]",
                "jobs[0].arrivals.every",
                "jobs[0].name",
                "jobs[1].arrivals.uniform",
                "jobs[1].read_pages",
                "jobs[2].write_pages",
                "tasks[0]",
                "tasks[1].name",
                "tasks[1].read.pages",
                "tasks[2].name",
                "tasks[2].write.pages"
            ]
        );
    }
}
