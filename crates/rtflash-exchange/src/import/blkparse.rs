//! The lines that `blkparse` prints if no `-f` changes them (blktrace's manual, "DEFAULT OUTPUT").

use crate::import::trace_line::{LineRequest, ReadLine, TraceLine};

/// Bytes of a sector, whatever the drive's own sectors are.
const SECTOR: u64 = 512;

/// `maj,min cpu sequence seconds pid action rwbs sector + sectors [process]`. Behind the events
/// stand sums by CPU, which begin with a line `CPU0 (sda):` or `Total (sda):`.
pub fn line(text: &str, wanted: char) -> ReadLine<'_> {
    if text.starts_with("CPU") || text.starts_with("Total (") {
        return Ok(TraceLine::Trailer);
    }
    // A line in which blkparse names its input files.
    if text.starts_with("Input file ") {
        return Ok(TraceLine::Other);
    }
    let mut fields = text.split_ascii_whitespace();
    let mut next = |what: &str| fields.next().ok_or_else(|| format!("it ends in front of the {what}"));
    let (device, _cpu, _sequence) = (next("device")?, next("CPU")?, next("sequence number")?);
    if !device.split_once(',').is_some_and(|(major, minor)| is_number(major) && is_number(minor)) {
        return Err(format!("no device as `8,0`: `{device}`"));
    }
    let at = nanoseconds(next("time")?)?;
    let (_pid, action) = (next("process's number")?, next("action")?);
    if action.is_empty() || action.len() > 2 || !action.bytes().all(|byte| byte.is_ascii_alphabetic()) {
        return Err(format!("no action of blktrace: `{action}`"));
    }
    // `UT` is an unplug by a timer, `ZP` and `ZU` are of zones.
    if action.strip_prefix(wanted) != Some("") {
        return Ok(TraceLine::Other);
    }
    let rwbs = next("kind of request")?;
    // A flush can stand in front of what the request does.
    let writes = match rwbs.strip_prefix('F').unwrap_or(rwbs).as_bytes() {
        // Write zeroes: an older kernel calls it `N`.
        [b'W', b'Z', ..] => return Ok(TraceLine::WithoutData),
        [b'R', ..] => false,
        // A zone append is a write whose place the drive chooses.
        [b'W', ..] | [b'Z', b'A', ..] => true,
        // Discards, flushes alone, secure erases, requests without data, commands to zones.
        [b'D' | b'N' | b'E' | b'F' | b'S' | b'Z', ..] | [] => return Ok(TraceLine::WithoutData),
        _ => return Err(format!("neither read nor write: `{rwbs}`")),
    };
    let Some(sector) = fields.next() else { return Ok(TraceLine::Other) };
    // A process's name: a request without a place.
    if sector.starts_with('[') {
        return Ok(TraceLine::Other);
    }
    let number = |field: &str| field.parse::<u64>().map_err(|_| format!("no number of sectors: `{field}`"));
    let sector = number(sector)?;
    match fields.next() {
        Some("+") => {}
        // A command of SCSI: its length, and its bytes in parentheses.
        Some(field) if field.starts_with('(') => return Ok(TraceLine::Other),
        _ => return Err("no `+` between sector and length".into()),
    }
    let sectors = number(fields.next().ok_or("no length behind the `+`")?)?;
    let bytes = |sectors: u64| sectors.checked_mul(SECTOR).ok_or("more than 2^64 bytes");
    Ok(TraceLine::Request(LineRequest { at, writes, offset: bytes(sector)?, bytes: bytes(sectors)?, device }))
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Seconds with up to nine decimals, as ns.
fn nanoseconds(text: &str) -> Result<u64, String> {
    let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
    let is_time = is_number(whole) && decimals.len() <= 9 && decimals.bytes().all(|byte| byte.is_ascii_digit());
    let part = format!("{decimals:0<9}").parse::<u64>().ok();
    let ns = whole.parse::<u64>().ok().and_then(|seconds| seconds.checked_mul(1_000_000_000)?.checked_add(part?));
    ns.filter(|_| is_time).ok_or_else(|| format!("no time in seconds: `{text}`"))
}
