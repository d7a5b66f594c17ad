//! Files of measurements, a file a format.

mod biosnoop;
mod blkparse;
pub mod fio_json;
pub mod fio_log;
mod ftrace;
mod lines;

use std::io::BufRead;

use rtflash_host::Op;

use crate::command::Done;
use crate::pair::{Pairing, Seen};
use crate::refused::MeasurementRefused;
use lines::each_line;

/// The form of a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// `block_rq_issue` and `block_rq_complete`, by ftrace, trace-cmd or perf.
    Ftrace,
    /// The output of blkparse.
    Blkparse,
    /// The output of biosnoop.
    Biosnoop(biosnoop::SnoopColumns),
}

impl Form {
    /// The form of the first line that is of one; `None` for a comment.
    fn of(line: &str) -> Result<Option<Form>, MeasurementRefused> {
        if line.starts_with('#') || line.trim().is_empty() || line.starts_with("cpus=") {
            return Ok(None);
        }
        if line.contains("block_rq_") || line.contains("block_split: ") {
            return Ok(Some(Form::Ftrace));
        }
        if let Some(columns) = biosnoop::SnoopColumns::of(line) {
            return Ok(Some(Form::Biosnoop(columns)));
        }
        if blkparse::is_event(line) {
            return Ok(Some(Form::Blkparse));
        }
        if ftrace::lost(line) {
            return Err(ftrace::lost_events());
        }
        Ok(None)
    }
}

/// The content of a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TraceRead {
    /// Its events.
    pub seen: Seen,
    /// The unit of its times, in ns: no time is known better.
    pub resolution: u64,
    /// Lines that could not be read.
    pub refused: u64,
}

/// The offset of times that begin at an end: an hour, in ns, so that no command begins before 0.
const BEFORE: u64 = 3_600_000_000_000;

/// Lines without an event after which a file is no trace.
const MAX_HEAD: u64 = 10_000;

/// Reads a trace (ftrace, trace-cmd, perf, blkparse, biosnoop) and hands on each command of one
/// device as it ends. Memory is that of the commands in flight.
///
/// # Errors
/// If the file cannot be read, is of no such form, or lost events.
pub fn read_trace(
    from: impl BufRead,
    device: Option<(u32, u32)>,
    mut each: impl FnMut(Done),
) -> Result<TraceRead, MeasurementRefused> {
    let (mut form, mut pairing, mut refused, mut head) = (None, Pairing::new(device), 0, 0);
    let (mut resolution, mut snooped) = (u64::MAX, biosnoop::Snooped::default());
    each_line(from, |line| {
        if form.is_none() {
            form = Form::of(line)?;
            head += 1;
            if head > MAX_HEAD {
                return Err(unknown());
            }
        }
        let parsed = match &form {
            None => return Ok(()),
            Some(Form::Ftrace) => ftrace::line(line)?,
            Some(Form::Blkparse) => blkparse::line(line)?,
            Some(Form::Biosnoop(columns)) => {
                match columns.line(line) {
                    Ok(Some(done)) => each(snooped.take(done, columns.disk(line).unwrap_or(""))?),
                    Ok(None) => {}
                    Err(()) => refused += 1,
                }
                return Ok(());
            }
        };
        match parsed {
            ReadEvent::Event(timed) => {
                resolution = resolution.min(timed.resolution);
                if let Some(done) = pairing.event(timed.event)? {
                    each(done);
                }
            }
            ReadEvent::Other => {}
            ReadEvent::Wrong => refused += 1,
        }
        Ok(())
    })?;
    let seen = match form {
        None => return Err(unknown()),
        Some(Form::Biosnoop(_)) => snooped.finish()?,
        Some(_) => pairing.finish()?,
    };
    if seen.paired == 0 {
        return Err(MeasurementRefused::because(
            "the trace holds no command with both ends: record `block_rq_issue` and `block_rq_complete` (blktrace: D \
             and C)",
        ));
    }
    let resolution = if let Some(Form::Biosnoop(_)) = form { biosnoop::RESOLUTION } else { resolution };
    Ok(TraceRead { seen, resolution, refused })
}

fn unknown() -> MeasurementRefused {
    MeasurementRefused::because(
        "the file is no trace of block commands: pass the text of ftrace, `trace-cmd report`, `perf script`, blkparse or \
         biosnoop",
    )
}

/// An event and the unit of its time.
struct TimedEvent {
    event: crate::pair::TraceEvent,
    resolution: u64,
}

/// The kind of a trace's line.
enum ReadEvent {
    Event(TimedEvent),
    Other,
    Wrong,
}

/// Seconds with up to nine decimals.
struct Seconds {
    ns: u64,
    /// The unit of the last decimal, in ns.
    resolution: u64,
}

impl Seconds {
    fn read(text: &str) -> Option<Seconds> {
        let (whole, decimals) = text.split_once('.')?;
        let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let places = u32::try_from(decimals.len()).ok().filter(|&places| places <= 9)?;
        if !digits(whole) || !digits(decimals) {
            return None;
        }
        let resolution = 10_u64.pow(9 - places);
        let part = decimals.parse::<u64>().ok()?.checked_mul(resolution)?;
        let ns = whole.parse::<u64>().ok()?.checked_mul(1_000_000_000)?.checked_add(part)?;
        Some(Seconds { ns, resolution })
    }
}

/// `8,0`.
fn device_of(text: &str) -> Option<(u32, u32)> {
    let (major, minor) = text.split_once(',')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

/// The operation of a command by its `rwbs` (`blk_fill_rwbs` of kernel/trace/blktrace.c); `None`
/// for a command that moves no data.
fn op_of(rwbs: &str) -> Option<Op> {
    match rwbs.strip_prefix('F').unwrap_or(rwbs).as_bytes() {
        [b'R', ..] => Some(Op::Read),
        [b'W', b'Z', ..] => None,
        [b'W', ..] | [b'Z', b'A', ..] => Some(Op::Write),
        _ => None,
    }
}
