//! fio, the flexible I/O tester: a job file and an iolog for each request, to be replayed on a
//! drive, and its results.

mod results;

use std::fmt::Write as _;

use rtflash_model::{Instant, TaskSet};

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

/// The files of a replay by fio: `replay.fio`, and an iolog of version 3 for each request.
///
/// One request of a stream is on its way at a time. As long as none is late, the one before is over
/// when the next one comes, if no deadline is longer than its period. With a deeper queue fio takes
/// completions when it hands in the next request, and latencies would be periods.
///
/// # Errors
/// A request that fio cannot express: drives take whole sectors of 512 bytes, and no deadline is
/// beyond its period.
pub fn export(set: &TaskSet, options: &FioOptions) -> Result<Exported, NotExported> {
    let streams = request_streams(set, options.duration)?;
    let page_size = u64::from(set.device().page_size());
    if !page_size.is_multiple_of(512) {
        return Err(NotExported::NoSectors);
    }
    if let Some(stream) = streams.iter().find(|stream| stream.request.waiting() > 1) {
        return Err(NotExported::Buffered(stream.name.clone()));
    }
    let mut job = format!(
        "; Replays a task set on a drive. What is on {} is lost.\n\
         ; fio replay.fio --output-format=json --output=result.json\n\
         [global]\nioengine=psync\ndirect=1\nthread\nfilename={}\n\
         clat_percentiles=0\nlat_percentiles=1\npercentile_list=50:99:99.9\n",
        options.target, options.target
    );
    if let Some(class) = options.class {
        let _ = writeln!(job, "prioclass={class}");
    }
    let mut files = Vec::new();
    let mut begin = 0_u64;
    for (position, stream) in streams.iter().enumerate() {
        let pages = room(set, stream, options);
        let end = begin.checked_add(pages).filter(|end| end.checked_mul(page_size).is_some());
        let end = end.ok_or(NotExported::OutOfRange(if options.pages.is_some() { "pages" } else { "data_pages" }))?;
        let log = format!("{}.iolog", stream.file_name(position));
        let _ = write!(job, "\n[{}]\nread_iolog={log}\n", stream.file_name(position));
        let text = iolog(stream, position, [begin, pages, page_size], options)?;
        files.push(ExportedFile { name: log, text });
        begin = end;
    }
    files.insert(0, ExportedFile { name: "replay.fio".into(), text: job });
    Ok(Exported { files, notes: notes(set, begin * page_size), page_bytes: page_size })
}

fn room(set: &TaskSet, stream: &RequestStream, options: &FioOptions) -> u64 {
    let declared = set.tasks()[stream.task].data_pages;
    options.pages.or(declared).unwrap_or_else(|| stream.request.pages().saturating_mul(ROOM))
}

/// `timestamp file action [offset length]`: µs from the start, bytes. A time is rounded down, so
/// that no request comes late.
fn iolog(
    stream: &RequestStream,
    position: usize,
    [begin, pages, page_size]: [u64; 3],
    options: &FioOptions,
) -> Result<String, NotExported> {
    let target = &options.target;
    let too_large = || NotExported::TooLarge(stream.name.clone());
    let length = stream.request.pages().checked_mul(page_size).ok_or_else(too_large)?;
    let mut text = format!("fio version 3 iolog\n0 {target} add\n0 {target} open\n");
    let mut last = 0;
    for (number, place) in (0..).zip(stream.places(position, pages, options.seed)?) {
        last = stream.arrival(number) / 1_000;
        let _ = writeln!(text, "{last} {target} {} {} {length}", stream.operation(), (begin + place) * page_size);
    }
    let _ = writeln!(text, "{last} {target} close");
    Ok(text)
}

fn notes(set: &TaskSet, bytes: u64) -> Vec<String> {
    let mut notes = vec![
        format!("The target needs {bytes} bytes, and what is on them is lost."),
        "A drive serves requests as it likes and collects garbage when it likes: nothing is promised there.".into(),
        "One request of a stream is on its way at a time: behind one that is late the next ones begin late, too."
            .into(),
    ];
    if !set.jobs().is_empty() {
        notes.push("Jobs that are not real-time are left out.".into());
    }
    notes
}
