//! The events `block_rq_issue` and `block_rq_complete` in the text of ftrace, `trace-cmd report`
//! and `perf script` (include/trace/events/block.h of Linux).

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

/// A line: `… seconds: block_rq_issue: 7,0 R 16384 () 252968 + 32 be,0,5 [fio]`.
pub fn line(text: &str) -> Result<ReadEvent, MeasurementRefused> {
    let (is_issue, at) = match (text.find("block_rq_issue: "), text.find("block_rq_complete: ")) {
        (Some(at), _) => (true, at),
        (_, Some(at)) => (false, at),
        _ if lost(text) => return Err(lost_events()),
        _ => return Ok(ReadEvent::Other),
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
    let event = event(&text[at..], is_issue, seconds.ns);
    Ok(event.map_or(ReadEvent::Wrong, |event| ReadEvent::Event(TimedEvent { event, resolution: seconds.resolution })))
}

/// The text after the time.
fn event(text: &str, is_issue: bool, at: u64) -> Option<TraceEvent> {
    // The command of SCSI stands in parentheses, and has blanks.
    let (head, tail) = (text.split_once('(')?.0, text.split_once(") ")?.1);
    let mut head = head.split_ascii_whitespace().skip(1);
    let device = device_of(head.next()?)?;
    let op = op_of(head.next()?);
    let mut tail = tail.split_ascii_whitespace();
    let sector = tail.next()?.parse().ok()?;
    let sectors = (tail.next()? == "+").then(|| tail.next()?.parse().ok()).flatten()?;
    let failed = !is_issue && tail.last().is_some_and(|error| error.starts_with("[-"));
    let phase = match (is_issue, failed) {
        (true, _) => Phase::Issued,
        (false, false) => Phase::Ended,
        (false, true) => Phase::Failed,
    };
    Some(TraceEvent { at, device, phase, op, sector, sectors })
}
