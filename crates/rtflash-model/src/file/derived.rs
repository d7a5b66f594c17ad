//! Task sets as serde reads them: the reader of what is right. It says nothing of what is wrong,
//! and leaves that, sizes, rates and escaped names to the reader with carets. The reader with
//! carets reads the same texts with the same results.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::device::device;
use super::job::job;
use super::meta::MetaJson;
use super::place::Place;
use super::reader::Reader;
use super::wire::{RequestWire, TaskWire};
use crate::task::{Job, Request, Task};
use crate::task_set::TaskSet;

/// The device and the jobs have many written forms, so their own readers take them.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TaskSetText<'t> {
    #[serde(borrow)]
    device: &'t RawValue,
    tasks: Vec<TaskWire<'t>>,
    jobs: Option<&'t RawValue>,
    meta: Option<&'t RawValue>,
}

/// The set and its field `meta`; `None` where the reader with carets has to take it.
pub(super) fn task_set(text: &str) -> Option<(TaskSet, Option<MetaJson>)> {
    let TaskSetText { device: raw, tasks, jobs: raw_jobs, meta } = serde_json::from_str(text).ok()?;
    let device = device(&mut Reader::of(text), raw.get(), &Place::Root)?;
    let tasks: Option<Vec<Task>> = tasks.into_iter().map(task).collect();
    let jobs = raw_jobs.map_or(Some(Vec::new()), |raw| jobs(text, raw, device.page_size()))?;
    let set = TaskSet::new(device, tasks?, jobs).ok()?;
    Some((set, meta.and_then(MetaJson::from_raw)))
}

fn jobs(text: &str, raw: &RawValue, page_size: u32) -> Option<Vec<Job>> {
    let mut reader = Reader::of(text);
    let mut jobs = Vec::new();
    let is_list = reader.list(raw.get(), &Place::Root, "an array of jobs", |reader, raw, place| {
        jobs.push(job(reader, raw, place, Some(page_size.into())));
    });
    (is_list && reader.faults() == 0).then_some(jobs)
}

fn task(wire: TaskWire<'_>) -> Option<Task> {
    let TaskWire { name, read, write, data_pages } = wire;
    let read = read.map_or(Some(None), |wire| request(wire).map(Some))?;
    let write = write.map_or(Some(None), |wire| request(wire).map(Some))?;
    (data_pages != Some(0)).then(|| Task { name: name.to_owned(), read, write, data_pages })
}

fn request(wire: RequestWire) -> Option<Request> {
    let RequestWire { pages, period, deadline, jitter, access } = wire;
    let request = Request::new(pages, period.0)?.with_deadline(deadline.map(|time| time.0))?;
    let request = jitter.map_or(Some(request), |time| request.with_jitter(time.0))?;
    Some(access.map_or(request, |access| request.with_access(access)))
}
