//! Task-set files: a device, real-time tasks, and jobs that are not real-time.

use super::change::field;
use super::derived;
use super::device::device;
use super::diagnostic::Diagnostics;
use super::job::{job, name, stand_in_name};
use super::meta::MetaJson;
use super::place::{Place, Slot};
use super::reader::Reader;
use super::request::{Amount, SHORTEST, amount, request};
use super::tree::JsonKind;
use crate::invalid::{Invalid, PathStep};
use crate::task::{Request, Task};
use crate::task_set::{TaskSet, faults};

const A_TASK_SET: &str = "a task set: a JSON object with `device` and `tasks`";

/// The content of a task-set file.
#[derive(Debug, Clone)]
pub struct TaskSetFile {
    /// The task set.
    pub set: TaskSet,
    /// The field `meta`: any JSON value but null, as it was written.
    pub meta: Option<MetaJson>,
}

/// Reads the text of one JSON value.
///
/// # Errors
/// All that is wrong with it.
pub fn read_task_set(text: &str) -> Result<TaskSetFile, Diagnostics> {
    match derived::task_set(text) {
        Some((set, meta)) => Ok(TaskSetFile { set, meta }),
        None => read_thoroughly(text),
    }
}

pub(super) fn read_thoroughly(text: &str) -> Result<TaskSetFile, Diagnostics> {
    let (mut reader, root) = Reader::open(text, A_TASK_SET)?;
    task_set(&mut reader, root).ok_or_else(|| reader.into_diagnostics())
}

/// As [`read_task_set`].
///
/// # Errors
/// All that is wrong; if the bytes are not UTF-8, only the range of the first that are not.
pub fn read_task_set_bytes(bytes: &[u8]) -> Result<TaskSetFile, Diagnostics> {
    match std::str::from_utf8(bytes) {
        Ok(text) => read_task_set(text),
        Err(error) => {
            let start = error.valid_up_to();
            let end = error.error_len().map_or(bytes.len(), |length| start + length);
            Err(Diagnostics::one(start..end, "these bytes are not UTF-8", "text in UTF-8"))
        }
    }
}

/// `None` where something wrong has been recorded.
fn task_set<'t>(reader: &mut Reader<'t>, root: &'t str) -> Option<TaskSetFile> {
    if JsonKind::of(root) != JsonKind::Object {
        reader.refuse(root, &Place::Root, format!("the text holds {}", JsonKind::of(root).noun()), A_TASK_SET);
        return None;
    }
    let place = Place::Root;
    if field(root, "clusters").is_some() && field(root, "tasks").is_none() {
        reader.refuse(root, &place, "this is an allocation".to_owned(), "a task set: are the two files swapped?");
        return None;
    }
    let [device_slot, tasks_slot, jobs_slot, meta] =
        reader.object(root, &place, &["device", "tasks", "jobs", "meta"])?;
    let device = reader
        .required(device_slot, root, &place, "device", "a profile's name, or an object with its fields")
        .and_then(|raw| device(reader, raw, &place.key("device")));
    let page_size = device.map(|device| u64::from(device.page_size()));
    let mut tasks = Entries::default();
    if let Some(raw) = reader.required(tasks_slot, root, &place, "tasks", "an array of tasks") {
        reader.list(raw, &place.key("tasks"), "an array of tasks", |reader, raw, place| {
            let task = task(reader, raw, place, page_size);
            tasks.push(reader, raw, task);
        });
    }
    let mut jobs = Entries::default();
    if let Slot::Given(raw) = jobs_slot.or_null() {
        reader.list(raw, &place.key("jobs"), "an array of jobs", |reader, raw, place| {
            let job = job(reader, raw, place, page_size);
            jobs.push(reader, raw, job);
        });
    }
    if reader.is_hopeless() {
        return None;
    }
    let readable = reader.faults() == 0;
    let checked = match device {
        Some(device) => TaskSet::new(device, tasks.values, jobs.values).map(Some),
        // The faults on every device.
        None => Err(faults(None, &tasks.values, &jobs.values)),
    };
    match checked {
        Ok(Some(set)) if readable => {
            let meta = match meta.or_null() {
                Slot::Given(raw) => MetaJson::from_json(raw),
                _ => None,
            };
            Some(TaskSetFile { set, meta })
        }
        Ok(_) => None,
        Err(wrong) => {
            for invalid in wrong {
                let (value, skip) = nearest_entry(&invalid, &tasks.raw, &jobs.raw).unwrap_or((root, 0));
                reader.refuse_invalid(value, &place, invalid, skip);
            }
            None
        }
    }
}

struct Entries<'t, T> {
    raw: Vec<&'t str>,
    values: Vec<T>,
}

impl<T> Default for Entries<'_, T> {
    fn default() -> Self {
        Entries { raw: Vec::new(), values: Vec::new() }
    }
}

impl<'t, T> Entries<'t, T> {
    /// Unless the text is beyond hope: millions of wrong elements are no reason to take memory.
    fn push(&mut self, reader: &Reader<'_>, raw: &'t str, value: T) {
        if reader.is_hopeless() {
            *self = Entries::default();
            return;
        }
        self.raw.push(raw);
        self.values.push(value);
    }
}

/// The text that the path of a fault begins with: from the root each time would be quadratic.
fn nearest_entry<'t>(invalid: &Invalid, tasks: &[&'t str], jobs: &[&'t str]) -> Option<(&'t str, usize)> {
    match invalid.path.steps() {
        [PathStep::Key(list), PathStep::Index(index), ..] => {
            let list = if list == "tasks" { tasks } else { jobs };
            list.get(*index).map(|raw| (*raw, 2))
        }
        _ => None,
    }
}

/// A task; with stand-ins for what is wrong in it, which has been recorded.
fn task<'t>(reader: &mut Reader<'t>, raw: &'t str, place: &Place<'_>, page_size: Option<u64>) -> Task {
    match reader.object(raw, place, &["name", "read", "write", "data_pages", "data_size"]) {
        Some([name_slot, read, write, pages, size]) => Task {
            name: name(reader, name_slot, raw, place),
            read: request(reader, read, &place.key("read"), page_size),
            write: request(reader, write, &place.key("write"), page_size),
            data_pages: match amount(reader, [("data_pages", pages), ("data_size", size)], place) {
                Some(Amount::Pages(pages)) => Some(pages),
                Some(Amount::Bytes(bytes)) => page_size.map(|page_size| bytes.div_ceil(page_size)),
                None => None,
            },
        },
        None => {
            Task { name: stand_in_name(reader, raw), read: Request::new(1, SHORTEST), write: None, data_pages: None }
        }
    }
}
