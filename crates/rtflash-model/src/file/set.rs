//! Task-set files: a device, real-time tasks, and jobs that are not real-time.

use super::device::{SHORTEST, device};
use super::diagnostic::Diagnostics;
use super::meta::MetaJson;
use super::place::{Place, Slot, quote, quoted};
use super::reader::Reader;
use super::tree::Kind;
use crate::invalid::{Invalid, Step};
use crate::task::{Access, Arrivals, Job, Request, Task, TaskSet, faults};
use crate::time::{Instant, Span};

const A_TASK_SET: &str = "a task set: a JSON object with `device` and `tasks`";

/// What a task-set file holds.
#[derive(Debug, Clone)]
pub struct TaskSetFile {
    /// The task set.
    pub set: TaskSet,
    /// What the file says about itself (its field `meta`): any JSON value but null, as it was written.
    pub meta: Option<MetaJson>,
}

/// Reads a task set from the text of one JSON value.
///
/// # Errors
/// All that is wrong with it.
pub fn read_task_set(text: &str) -> Result<TaskSetFile, Diagnostics> {
    let (mut reader, root) = Reader::open(text, A_TASK_SET)?;
    task_set(&mut reader, root).ok_or_else(|| reader.into_diagnostics())
}

/// Reads a task set as [`read_task_set`] does, from bytes that should be UTF-8.
///
/// # Errors
/// All that is wrong with it. Where the bytes are not UTF-8, only that, with the range of the first bytes that are not.
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
    if Kind::of(root) != Kind::Object {
        reader.refuse(root, &Place::Root, format!("the text holds {}", Kind::of(root).noun()), A_TASK_SET);
        return None;
    }
    let place = Place::Root;
    let [device_slot, tasks_slot, jobs_slot, meta] =
        reader.object(root, &place, &["device", "tasks", "jobs", "meta"])?;
    let device = reader
        .required(device_slot, root, &place, "device", "a profile's name, or an object with its fields")
        .and_then(|raw| device(reader, raw, &place.key("device")));
    let mut tasks = Entries::default();
    if let Some(raw) = reader.required(tasks_slot, root, &place, "tasks", "an array of tasks") {
        reader.list(raw, &place.key("tasks"), "an array of tasks", |reader, raw, place| {
            let task = task(reader, raw, place);
            tasks.push(reader, raw, task);
        });
    }
    let mut jobs = Entries::default();
    if let Slot::Given(raw) = jobs_slot.or_null() {
        reader.list(raw, &place.key("jobs"), "an array of jobs", |reader, raw, place| {
            let job = job(reader, raw, place);
            jobs.push(reader, raw, job);
        });
    }
    if reader.is_hopeless() {
        return None;
    }
    let readable = reader.faults() == 0;
    let checked = match device {
        Some(device) => TaskSet::new(device, tasks.values, jobs.values).map(Some),
        // What would be wrong on every device.
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

/// The elements of a list, read, with their texts.
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
    /// Keeps an element, unless the text is beyond hope: millions of wrong ones are no reason to take memory.
    fn push(&mut self, reader: &Reader<'_>, raw: &'t str, value: T) {
        if reader.is_hopeless() {
            *self = Entries::default();
            return;
        }
        self.raw.push(raw);
        self.values.push(value);
    }
}

/// The text of the task or job that the path of a fault begins with, and the steps up to it: to look for each fault from the
/// root would take quadratic time.
fn nearest_entry<'t>(invalid: &Invalid, tasks: &[&'t str], jobs: &[&'t str]) -> Option<(&'t str, usize)> {
    match invalid.path.steps() {
        [Step::Key(list), Step::Index(index), ..] => {
            let list = if list == "tasks" { tasks } else { jobs };
            list.get(*index).map(|raw| (*raw, 2))
        }
        _ => None,
    }
}

/// A name for what has none: unlike any that somebody would give, so that it makes no fault of its own.
fn stand_in_name(reader: &Reader<'_>, raw: &str) -> String {
    format!("\0{}", reader.range(raw).start)
}

fn name<'t>(reader: &mut Reader<'t>, slot: Slot<'t>, raw: &str, place: &Place<'_>) -> String {
    reader
        .required(slot, raw, place, "name", "a string that tells it from the others")
        .and_then(|name| reader.string(name, &place.key("name"), "a string"))
        .unwrap_or_else(|| stand_in_name(reader, raw))
}

/// A task; with stand-ins for what is wrong in it, which has been recorded.
fn task<'t>(reader: &mut Reader<'t>, raw: &'t str, place: &Place<'_>) -> Task {
    match reader.object(raw, place, &["name", "read", "write", "data_pages"]) {
        Some([name_slot, read, write, data]) => Task {
            name: name(reader, name_slot, raw, place),
            read: request(reader, read, &place.key("read")),
            write: request(reader, write, &place.key("write")),
            data_pages: match data.or_null() {
                Slot::Given(raw) => above_zero_pages(reader, raw, &place.key("data_pages")),
                _ => None,
            },
        },
        None => {
            Task { name: stand_in_name(reader, raw), read: Request::new(1, SHORTEST), write: None, data_pages: None }
        }
    }
}

fn request<'t>(reader: &mut Reader<'t>, slot: Slot<'t>, place: &Place<'_>) -> Option<Request> {
    let raw = match slot.or_null() {
        Slot::Absent => return None,
        Slot::Misspelt => return Request::new(1, SHORTEST),
        Slot::Given(raw) => raw,
    };
    let (mut pages, mut period, mut pattern) = (None, None, None);
    let (mut due, mut late) = (Slot::Absent, Slot::Absent);
    let fields = ["pages", "period", "deadline", "jitter", "access"];
    if let Some([pages_slot, period_slot, deadline, jitter, access_slot]) = reader.object(raw, place, &fields) {
        pages = reader
            .required(pages_slot, raw, place, "pages", "how many pages each request has")
            .and_then(|raw| above_zero_pages(reader, raw, &place.key("pages")));
        period = reader
            .required(period_slot, raw, place, "period", "a time with its unit, such as \"36ms\"")
            .and_then(|raw| above_zero_time(reader, raw, &place.key("period"), "period"));
        if let Slot::Given(raw) = access_slot.or_null() {
            pattern = access(reader, raw, &place.key("access"));
        }
        (due, late) = (deadline.or_null(), jitter.or_null());
    }
    let known = Request::new(pages.unwrap_or(1), period.unwrap_or(SHORTEST))?.with_access(pattern.unwrap_or_default());
    let known = deadline(reader, due, known, period, place);
    Some(jitter(reader, late, known, period, place))
}

/// The request with the deadline that is stated; `period` is `None` where it could not be read, and nothing is compared with it.
fn deadline<'t>(
    reader: &mut Reader<'t>,
    slot: Slot<'t>,
    request: Request,
    period: Option<Span>,
    place: &Place<'_>,
) -> Request {
    let Slot::Given(raw) = slot else { return request };
    let place = place.key("deadline");
    let Some((deadline, period)) = above_zero_time(reader, raw, &place, "deadline").zip(period) else { return request };
    request.with_deadline(Some(deadline)).unwrap_or_else(|| {
        reader.refuse(
            raw,
            &place,
            format!("a deadline of {deadline} is longer than the period of {period}"),
            format!(
                "at most {period}: the analyses suppose that a request is over when the next one of its kind arrives"
            ),
        );
        request
    })
}

/// The request with the jitter that is stated.
fn jitter<'t>(
    reader: &mut Reader<'t>,
    slot: Slot<'t>,
    request: Request,
    period: Option<Span>,
    place: &Place<'_>,
) -> Request {
    let Slot::Given(raw) = slot else { return request };
    let place = place.key("jitter");
    let Some((jitter, _)) = reader.time(raw, &place).zip(period) else { return request };
    request.with_jitter(jitter).unwrap_or_else(|| {
        let due = request.deadline();
        reader.refuse(
            raw,
            &place,
            format!("a jitter of {jitter} leaves a request no time before its deadline of {due}"),
            format!("a time below {due}"),
        );
        request
    })
}

fn access<'t>(reader: &mut Reader<'t>, raw: &'t str, place: &Place<'_>) -> Option<Access> {
    let names = Access::ALL.map(Access::name);
    let either = "`random` or `sequential`";
    let name = reader.string(raw, place, &format!("{either}, in a string"))?;
    let found = Access::ALL.into_iter().find(|access| access.name() == name);
    if found.is_none() {
        let expected = match reader.nearest(&name, names.into_iter()) {
            Some(near) => format!("`{}`, the nearest of {}", names[near], quoted(&names)),
            None => either.to_owned(),
        };
        reader.refuse(raw, place, format!("there is no access pattern {}", quote(&name)), expected);
    }
    found
}

fn above_zero_pages(reader: &mut Reader<'_>, raw: &str, place: &Place<'_>) -> Option<u64> {
    let pages = reader.whole(raw, place, u64::MAX)?;
    if pages == 0 {
        reader.refuse(raw, place, "zero pages", "a whole number from 1 up");
    }
    (pages > 0).then_some(pages)
}

fn above_zero_time(reader: &mut Reader<'_>, raw: &str, place: &Place<'_>, what: &str) -> Option<Span> {
    let time = reader.time(raw, place)?;
    if time == Span::ZERO {
        reader.refuse(raw, place, format!("a {what} of zero"), "a time above zero, such as \"36ms\"");
    }
    (time > Span::ZERO).then_some(time)
}

/// A job stream; with stand-ins for what is wrong in it, which has been recorded.
fn job<'t>(reader: &mut Reader<'t>, raw: &'t str, place: &Place<'_>) -> Job {
    let fields = reader.object(raw, place, &["name", "read_pages", "write_pages", "arrivals"]);
    let Some([name_slot, read, write, arrivals_slot]) = fields else {
        let name = stand_in_name(reader, raw);
        return Job { name, read_pages: 1, write_pages: 0, arrivals: Arrivals::Every(SHORTEST) };
    };
    let arrivals = reader
        .required(arrivals_slot, raw, place, "arrivals", "when its jobs come, such as { \"every\": \"12.5ms\" }")
        .and_then(|raw| arrivals(reader, raw, &place.key("arrivals")));
    Job {
        name: name(reader, name_slot, raw, place),
        read_pages: job_pages(reader, read, &place.key("read_pages")),
        write_pages: job_pages(reader, write, &place.key("write_pages")),
        arrivals: arrivals.unwrap_or(Arrivals::Every(SHORTEST)),
    }
}

fn job_pages<'t>(reader: &mut Reader<'t>, slot: Slot<'t>, place: &Place<'_>) -> u64 {
    match slot.or_null() {
        Slot::Absent => 0,
        Slot::Misspelt => 1,
        Slot::Given(raw) => reader.whole(raw, place, u64::MAX).unwrap_or(1),
    }
}

const ARRIVALS: [&str; 3] = ["every", "uniform", "at"];

fn arrivals<'t>(reader: &mut Reader<'t>, raw: &'t str, place: &Place<'_>) -> Option<Arrivals> {
    let slots = reader.object(raw, place, &ARRIVALS)?;
    match slots {
        [Slot::Given(every), Slot::Absent, Slot::Absent] => {
            reader.time(every, &place.key("every")).map(Arrivals::Every)
        }
        [Slot::Absent, Slot::Given(uniform), Slot::Absent] => gaps(reader, uniform, &place.key("uniform")),
        [Slot::Absent, Slot::Absent, Slot::Given(at)] => instants(reader, at, &place.key("at")),
        _ => {
            if !slots.contains(&Slot::Misspelt) {
                let given = ARRIVALS.iter().zip(slots).filter(|(_, slot)| *slot != Slot::Absent);
                let given: Vec<&str> = given.map(|(name, _)| *name).collect();
                let problem = match given.as_slice() {
                    [] => "arrivals of no kind".to_owned(),
                    given => format!("arrivals of several kinds: {}", quoted(given)),
                };
                reader.refuse(raw, place, problem, "exactly one of `every`, `uniform` and `at`");
            }
            None
        }
    }
}

fn gaps<'t>(reader: &mut Reader<'t>, raw: &'t str, place: &Place<'_>) -> Option<Arrivals> {
    const TWO_GAPS: &str = "an array of two times, the shorter gap first";
    let mut gaps = Vec::new();
    let before = reader.faults();
    reader.list(raw, place, TWO_GAPS, |reader, raw, place| gaps.push(reader.time(raw, place)));
    if reader.faults() == before && gaps.len() != 2 {
        reader.refuse(raw, place, format!("`uniform` has {} elements", gaps.len()), TWO_GAPS);
    }
    match gaps.as_slice() {
        [Some(low), Some(high)] => Some(Arrivals::Uniform(*low, *high)),
        _ => None,
    }
}

fn instants<'t>(reader: &mut Reader<'t>, raw: &'t str, place: &Place<'_>) -> Option<Arrivals> {
    let mut times = Vec::new();
    let before = reader.faults();
    reader.list(raw, place, "an array of times", |reader, raw, place| {
        times.extend(reader.time(raw, place).and_then(|time| Instant::from_ns(time.as_ns())));
    });
    (reader.faults() == before).then_some(Arrivals::At(times))
}
