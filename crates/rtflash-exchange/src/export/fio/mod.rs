//! fio, the flexible I/O tester: a job file and an iolog for each request, to be replayed on a
//! drive, and its results.

mod aperiodic;
mod results;

use std::fmt::Write as _;

use rtflash_model::{Instant, TaskSet};

pub use aperiodic::APERIODIC;
pub use results::read_results;

use crate::export::exported::{Exported, ExportedFile, NotExported};
use crate::export::streams::{RequestStream, request_streams};

/// The options of an export for fio.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FioOptions {
    /// The file or the block device that is read and written. Its data are lost.
    pub target: String,
    /// How long requests come.
    pub duration: Instant,
    /// Pages of the target that are used, behind each other for each task. `None`: as many as its
    /// data have, or 64 requests of it.
    pub pages: Option<u64>,
    /// The seed of the places.
    pub seed: u64,
    /// The class of all requests for Linux's schedulers (`IOPRIO_CLASS_RT` is 1, `_BE` 2, `_IDLE`
    /// 3); `None` for that of the process.
    pub class: Option<u8>,
}

/// Requests that a task's part of the target has room for where nothing says how much it keeps.
const ROOM: u64 = 64;

/// Sections of a job file at most (fio, fio.h, `REAL_MAX_JOBS`).
const MAX_SECTIONS: usize = 4_096;

/// A part of the target, in pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct TargetPart {
    begin: u64,
    pages: u64,
}

/// A job file under way.
struct JobFile<'a> {
    options: &'a FioOptions,
    page_size: u64,
    text: String,
    files: Vec<ExportedFile>,
    /// Pages of the target that are given out.
    given: u64,
    /// Aperiodic requests so far.
    requests: u128,
    notes: Vec<String>,
}

impl JobFile<'_> {
    /// The next part of the target, for a task or stream that keeps these pages and moves up to
    /// `moved` at once.
    fn next_part(&mut self, kept: Option<u64>, moved: u64) -> Result<TargetPart, NotExported> {
        let pages = self.options.pages.or(kept).unwrap_or_else(|| moved.saturating_mul(ROOM));
        let begin = self.given;
        let end = begin.checked_add(pages).filter(|end| end.checked_mul(self.page_size).is_some());
        let field = if self.options.pages.is_some() { "pages" } else { "data_pages" };
        self.given = end.ok_or(NotExported::OutOfRange(field))?;
        Ok(TargetPart { begin, pages })
    }

    /// A section that replays this log.
    fn add_log(&mut self, section: &str, text: String) {
        let name = format!("{section}.iolog");
        // Writing to a string cannot fail.
        let _ = write!(self.text, "\n[{section}]\nread_iolog={name}\n");
        self.files.push(ExportedFile { name, text });
    }
}

/// The files of a replay by fio: `replay.fio`, and an iolog of version 3 for each request.
///
/// One request of a stream is on its way at a time. As long as none is late, the one before is over
/// when the next one comes, if no deadline is longer than its period. With a deeper queue fio takes
/// completions when it hands in the next request, and latencies would be periods.
///
/// Streams of aperiodic jobs come behind, each with a section of its own, and a burst with one for
/// each of its jobs. fio draws Poisson arrivals itself if their rate is a whole number of I/Os a
/// second. All other arrivals are replayed from an iolog, with the times that `exec` draws from the
/// seed.
///
/// # Errors
/// A request that fio cannot express: drives take whole sectors of 512 bytes, no deadline is beyond
/// its period, and a burst has few jobs.
pub fn export(set: &TaskSet, options: &FioOptions) -> Result<Exported, NotExported> {
    let streams = request_streams(set, options.duration)?;
    if streams.is_empty() && set.jobs().is_empty() {
        return Err(NotExported::NoRequests);
    }
    let page_size = u64::from(set.device().page_size());
    if !page_size.is_multiple_of(512) {
        return Err(NotExported::NoSectors);
    }
    if let Some(stream) = streams.iter().find(|stream| stream.request.waiting() > 1) {
        return Err(NotExported::Buffered(stream.name.clone()));
    }
    let mut text = format!(
        "; Replays a task set on a drive. What is on {} is lost.\n\
         ; fio replay.fio --output-format=json --output=result.json\n\
         [global]\nioengine=psync\ndirect=1\nthread\nfilename={}\n\
         clat_percentiles=0\nlat_percentiles=1\npercentile_list=50:99:99.9\n",
        options.target, options.target
    );
    if let Some(class) = options.class {
        let _ = writeln!(text, "prioclass={class}");
    }
    let requests = streams.iter().map(|stream| u128::from(stream.count)).sum();
    let mut file = JobFile { options, page_size, text, files: Vec::new(), given: 0, requests, notes: Vec::new() };
    for (position, stream) in streams.iter().enumerate() {
        let part = file.next_part(set.tasks()[stream.task].data_pages, stream.request.pages())?;
        let log = iolog(stream, position, part, &file)?;
        file.add_log(&stream.file_name(position), log);
    }
    for (position, job) in set.jobs().iter().enumerate() {
        file.add_aperiodic(job, position, streams.len() + position)?;
    }
    let sections = file.text.matches("\n[").count() - 1;
    if sections > MAX_SECTIONS {
        return Err(NotExported::TooManyStreams(sections, MAX_SECTIONS));
    }
    let mut notes = notes(file.given * page_size);
    notes.append(&mut file.notes);
    file.files.insert(0, ExportedFile { name: "replay.fio".into(), text: file.text });
    Ok(Exported { files: file.files, notes, page_bytes: page_size })
}

/// `timestamp file action [offset length]`: µs from the start, bytes. A time is rounded down, so
/// that no request comes late.
fn iolog(stream: &RequestStream, position: usize, part: TargetPart, file: &JobFile<'_>) -> Result<String, NotExported> {
    let (target, page_size) = (&file.options.target, file.page_size);
    let too_large = || NotExported::TooLarge(stream.name.clone());
    let length = stream.request.pages().checked_mul(page_size).ok_or_else(too_large)?;
    let mut text = format!("fio version 3 iolog\n0 {target} add\n0 {target} open\n");
    let mut last = 0;
    for (number, place) in (0..).zip(stream.places(position, part.pages, file.options.seed)?) {
        last = stream.arrival(number) / 1_000;
        let _ = writeln!(text, "{last} {target} {} {} {length}", stream.operation(), (part.begin + place) * page_size);
    }
    let _ = writeln!(text, "{last} {target} close");
    Ok(text)
}

fn notes(bytes: u64) -> Vec<String> {
    vec![
        format!("The target needs {bytes} bytes, and what is on them is lost."),
        "A drive serves requests as it likes and collects garbage when it likes: nothing is promised there.".into(),
        "One request of a stream is on its way at a time: behind one that is late the next ones begin late, too."
            .into(),
    ]
}
