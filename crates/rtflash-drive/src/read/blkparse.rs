//! The output of `blkparse` without `-f` (blktrace's manual, "DEFAULT OUTPUT"):
//! `%D %2c %8s %5T.%9t %5p %2a %3d`, then sector, `+` and sectors.

use super::{ReadEvent, Seconds, TimedEvent, device_of, op_of};
use crate::pair::{Phase, TraceEvent};
use crate::refused::MeasurementRefused;

/// Whether a line is an event of blktrace.
pub fn is_event(text: &str) -> bool {
    let mut fields = text.split_ascii_whitespace();
    let device = fields.next().and_then(device_of);
    device.is_some() && fields.nth(2).and_then(Seconds::read).is_some()
}

/// A line.
pub fn line(text: &str) -> Result<ReadEvent, MeasurementRefused> {
    // `Skips: N forward (…)` stands behind the events.
    if let Some(skips) = text.trim_start().strip_prefix("Skips:") {
        if skips.split_ascii_whitespace().next().is_some_and(|number| number != "0") {
            return Err(MeasurementRefused::because(
                "blktrace lost events: record again with larger buffers (`blktrace -b 4096 -n 16`)",
            ));
        }
        return Ok(ReadEvent::Other);
    }
    let fields: Vec<&str> = text.split_ascii_whitespace().collect();
    let Some(device) = fields.first().copied().and_then(device_of) else { return Ok(ReadEvent::Other) };
    let (Some(seconds), Some(action)) = (fields.get(3).copied().and_then(Seconds::read), fields.get(5)) else {
        return Ok(ReadEvent::Wrong);
    };
    let phase = match *action {
        "D" => Phase::Issued,
        "C" => Phase::Ended,
        "X" => Phase::Cut,
        // Queued, merged, inserted, remapped: no end of a command.
        _ => return Ok(ReadEvent::Other),
    };
    let number = |at: usize| fields.get(at).and_then(|field| field.parse::<u64>().ok());
    let process = fields.get(4).and_then(|process| process.parse().ok());
    if phase == Phase::Cut {
        // `X R 1024 / 2048`: the first sector of the I/O and of its rest.
        let (Some(rwbs), Some(sector)) = (fields.get(6), number(9)) else { return Ok(ReadEvent::Wrong) };
        let event = TraceEvent { at: seconds.ns, device, phase, op: op_of(rwbs), process, sector, sectors: 0 };
        return Ok(ReadEvent::Event(TimedEvent { event, resolution: seconds.resolution }));
    }
    let (Some(rwbs), Some(sector), Some("+"), Some(sectors)) =
        (fields.get(6), number(7), fields.get(8).copied(), number(9))
    else {
        // A command of SCSI, or a flush, has no place.
        return Ok(ReadEvent::Other);
    };
    // The error stands last, in brackets.
    let failed = phase == Phase::Ended && fields.last().is_some_and(|error| error.starts_with("[-"));
    let phase = if failed { Phase::Failed } else { phase };
    let event = TraceEvent { at: seconds.ns, device, phase, op: op_of(rwbs), process, sector, sectors };
    Ok(ReadEvent::Event(TimedEvent { event, resolution: seconds.resolution }))
}
