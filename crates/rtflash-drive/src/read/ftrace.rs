//! The events `block_rq_issue`, `block_rq_complete` and `block_split` in the text of ftrace,
//! `trace-cmd report` and `perf script` (include/trace/events/block.h of Linux).

use std::num::NonZeroU32;

use super::{ReadEvent, Seconds, TimedEvent, device_of, op_of};
use crate::pair::{Phase, TraceEvent};
use crate::refused::MeasurementRefused;

/// Whether a line says that events were lost.
pub fn lost(line: &str) -> bool {
    line.contains("LOST") && (line.contains("EVENTS") || line.contains("PERF_RECORD_LOST"))
}

/// The refusal of a trace that lost events.
pub fn lost_events() -> MeasurementRefused {
    MeasurementRefused::because(
        "the trace lost events: record again with larger buffers (`trace-cmd record -b 65536`, or more in \
         `buffer_size_kb`)",
    )
}

const EVENTS: [(&str, Phase); 3] =
    [("block_rq_issue: ", Phase::Issued), ("block_rq_complete: ", Phase::Ended), ("block_split: ", Phase::Cut)];

/// A line: `… seconds: block_rq_issue: 7,0 R 16384 () 252968 + 32 be,0,5 [fio]`.
pub fn line(text: &str) -> Result<ReadEvent, MeasurementRefused> {
    let found = EVENTS.into_iter().find_map(|(name, phase)| Some((text.find(name)?, phase)));
    let Some((at, phase)) = found else {
        return if lost(text) { Err(lost_events()) } else { Ok(ReadEvent::Other) };
    };
    let before = text[..at].trim_end().trim_end_matches("block:").trim_end();
    let Some(clock) = before.rsplit(char::is_whitespace).next().map(|clock| clock.trim_end_matches(':')) else {
        return Ok(ReadEvent::Wrong);
    };
    if !clock.is_empty() && clock.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(MeasurementRefused::because(
            "the trace counts ticks of its clock: record with `trace-cmd record -C mono` or `echo mono > trace_clock`",
        ));
    }
    let Some(seconds) = Seconds::read(clock) else { return Ok(ReadEvent::Wrong) };
    let process = process(before);
    let text = &text[at..];
    let event = if phase == Phase::Cut { cut(text, seconds.ns) } else { event(text, phase, process, seconds.ns) };
    Ok(event.map_or(ReadEvent::Wrong, |event| ReadEvent::Event(TimedEvent { event, resolution: seconds.resolution })))
}

/// The process in front of the core: `fio-1676 [001]`, `fio-1676 (1670) [001]` where the group of
/// threads is recorded, or `fio 1676 [001]` of `perf script`.
fn process(before: &str) -> Option<NonZeroU32> {
    let name = before.rsplit_once(" [").map_or("", |(name, _)| name.trim_end());
    let name = if name.ends_with(')') { name.rsplit_once('(').map_or("", |(name, _)| name.trim_end()) } else { name };
    name.rsplit([' ', '-']).next()?.parse().ok()
}

/// The text after the time.
fn event(text: &str, phase: Phase, process: Option<NonZeroU32>, at: u64) -> Option<TraceEvent> {
    // The command of SCSI stands in parentheses, and has blanks.
    let (head, tail) = (text.split_once('(')?.0, text.split_once(") ")?.1);
    let mut head = head.split_ascii_whitespace().skip(1);
    let device = device_of(head.next()?)?;
    let op = op_of(head.next()?);
    let mut tail = tail.split_ascii_whitespace();
    let sector = tail.next()?.parse().ok()?;
    let sectors = (tail.next()? == "+").then(|| tail.next()?.parse().ok()).flatten()?;
    let failed = phase == Phase::Ended && tail.last().is_some_and(|error| error.starts_with("[-"));
    let phase = if failed { Phase::Failed } else { phase };
    Some(TraceEvent { at, device, phase, op, process, sector, sectors })
}

/// A cut: `block_split: 7,0 R 1024 / 2048 [fio]`, the first sector of the I/O and of its rest.
fn cut(text: &str, at: u64) -> Option<TraceEvent> {
    let fields: Vec<&str> = text.split_ascii_whitespace().skip(1).collect();
    let [device, rwbs, _, "/", sector, ..] = fields[..] else { return None };
    let (device, op, sector) = (device_of(device)?, op_of(rwbs), sector.parse().ok()?);
    Some(TraceEvent { at, device, phase: Phase::Cut, op, process: None, sector, sectors: 0 })
}
