//! Task sets of the usual form, which is that of streams of them: fields of any order, each once;
//! requests in pages and periods; strings without escapes. They are read in one go, without a look
//! at what might be wrong. Whatever is not of this form, or wrong, is left to the thorough reader;
//! what is read here, that one would read alike.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::device::device;
use super::job::job;
use super::meta::MetaJson;
use super::place::Place;
use super::reader::Reader;
use super::tree::range_in;
use crate::cursor::Cursor;
use crate::device::Device;
use crate::task::{Access, Job, Request, Task};
use crate::task_set::TaskSet;
use crate::time::{Span, parse_ns};

/// A text that is being read.
struct Usual<'t> {
    text: &'t str,
    cursor: Cursor<'t>,
}

/// The task set that a text holds, and its field `meta`. `None` where the thorough reader has to
/// look.
pub(super) fn task_set(text: &str) -> Option<(TaskSet, Option<MetaJson>)> {
    let mut usual = Usual { text, cursor: Cursor::new(text.as_bytes()) };
    let (mut device, mut tasks, mut jobs, mut meta) = (None, None, None, None);
    usual.cursor.space();
    usual.object(|usual, key| match key {
        b"device" => once(&mut device, usual.device()),
        b"tasks" => once(&mut tasks, usual.tasks()),
        b"jobs" => once(&mut jobs, usual.raw()),
        b"meta" => once(&mut meta, usual.raw()),
        _ => None,
    })?;
    usual.cursor.space();
    if !usual.cursor.rest().is_empty() {
        return None;
    }
    let device = device?;
    let jobs = match given(jobs) {
        Some(raw) => usual.jobs(raw, device.page_size())?,
        None => Vec::new(),
    };
    let set = TaskSet::new(device, tasks?, jobs).ok()?;
    Some((set, given(meta).and_then(MetaJson::from_raw)))
}

/// Keeps the value of a field that is given once.
fn once<T>(slot: &mut Option<T>, value: Option<T>) -> Option<()> {
    if slot.is_some() {
        return None;
    }
    *slot = Some(value?);
    Some(())
}

/// The value of a field that may be left out: then null means that it is.
fn given(slot: Option<&RawValue>) -> Option<&RawValue> {
    slot.filter(|raw| raw.get() != "null")
}

impl<'t> Usual<'t> {
    /// An object; `each` reads the value of every field.
    #[inline]
    fn object(&mut self, mut each: impl FnMut(&mut Self, &'t [u8]) -> Option<()>) -> Option<()> {
        self.enclosed(b"{", b"}", |usual| {
            let key = usual.cursor.string()?;
            usual.cursor.space();
            usual.cursor.text(b":")?;
            usual.cursor.space();
            each(usual, key)
        })
    }

    /// Parts between commas, in brackets.
    #[inline]
    fn enclosed(
        &mut self,
        open: &[u8; 1],
        close: &[u8; 1],
        mut each: impl FnMut(&mut Self) -> Option<()>,
    ) -> Option<()> {
        self.cursor.text(open)?;
        self.cursor.space();
        if self.cursor.text(close).is_some() {
            return Some(());
        }
        loop {
            each(self)?;
            self.cursor.space();
            if self.cursor.text(b",").is_none() {
                return self.cursor.text(close);
            }
            self.cursor.space();
        }
    }

    /// Any value.
    fn raw(&mut self) -> Option<&'t RawValue> {
        let rest = self.text.get(self.text.len() - self.cursor.rest().len()..)?;
        let raw = <&RawValue>::deserialize(&mut serde_json::Deserializer::from_str(rest)).ok()?;
        self.cursor = Cursor::new(&self.text.as_bytes()[range_in(self.text, raw.get()).end..]);
        Some(raw)
    }

    #[inline]
    fn string(&mut self) -> Option<&'t str> {
        let start = self.text.len() - self.cursor.rest().len() + 1;
        let inside = self.cursor.string()?;
        self.text.get(start..start + inside.len())
    }

    fn device(&mut self) -> Option<Device> {
        if self.cursor.rest().starts_with(b"\"") {
            return Device::profile(self.string()?);
        }
        let raw = self.raw()?;
        device(&mut Reader::of(self.text), raw.get(), &Place::Root)
    }

    fn jobs(&self, raw: &'t RawValue, page_size: u32) -> Option<Vec<Job>> {
        let mut reader = Reader::of(self.text);
        let mut jobs = Vec::new();
        let is_list = reader.list(raw.get(), &Place::Root, "an array of jobs", |reader, raw, place| {
            jobs.push(job(reader, raw, place, Some(page_size.into())));
        });
        (is_list && reader.faults() == 0).then_some(jobs)
    }

    fn tasks(&mut self) -> Option<Vec<Task>> {
        let mut tasks = Vec::new();
        self.enclosed(b"[", b"]", |usual| {
            tasks.push(usual.task()?);
            Some(())
        })?;
        Some(tasks)
    }

    fn task(&mut self) -> Option<Task> {
        let (mut name, mut read, mut write, mut data_pages) = (None, None, None, None);
        self.object(|usual, key| match key {
            b"name" => once(&mut name, usual.string()),
            b"read" => once(&mut read, usual.request()),
            b"write" => once(&mut write, usual.request()),
            b"data_pages" => once(&mut data_pages, usual.cursor.number().filter(|&pages| pages > 0)),
            _ => None,
        })?;
        Some(Task { name: name?.to_owned(), read, write, data_pages })
    }

    fn request(&mut self) -> Option<Request> {
        let (mut pages, mut period, mut deadline, mut jitter, mut access) = (None, None, None, None, None);
        self.object(|usual, key| match key {
            b"pages" => once(&mut pages, usual.cursor.number()),
            b"period" => once(&mut period, usual.time()),
            b"deadline" => once(&mut deadline, usual.time()),
            b"jitter" => once(&mut jitter, usual.time()),
            b"access" => once(&mut access, usual.access()),
            _ => None,
        })?;
        let request = Request::new(pages?, period?)?;
        let request = if let Some(access) = access { request.with_access(access) } else { request };
        let request = if deadline.is_some() { request.with_deadline(deadline)? } else { request };
        if let Some(jitter) = jitter { request.with_jitter(jitter) } else { Some(request) }
    }

    fn time(&mut self) -> Option<Span> {
        parse_ns(self.string()?).ok().and_then(Span::from_ns)
    }

    fn access(&mut self) -> Option<Access> {
        let name = self.string()?;
        Access::ALL.into_iter().find(|access| access.name() == name)
    }
}
