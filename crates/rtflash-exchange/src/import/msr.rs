//! The CSV of the block traces of Microsoft Research in Cambridge (Narayanan, Donnelly, Rowstron,
//! "Write Off-Loading", FAST 2008; SNIA's repository of traces).

use crate::import::trace_line::{LineRequest, ReadLine, TraceLine};

/// `Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime`; the timestamp in ticks of 100 ns
/// since 1601, offset and size in bytes. The response time is not used. The device's name is
/// `Hostname,DiskNumber`.
pub fn line(text: &str, is_first: bool) -> ReadLine<'_> {
    if is_first && text.trim_start().get(..9).is_some_and(|head| head.eq_ignore_ascii_case("timestamp")) {
        return Ok(TraceLine::Other);
    }
    let fields: Vec<&str> = text.splitn(8, ',').map(str::trim).collect();
    let [time, host, disk, kind, offset, size, _response] = fields[..] else {
        return Err(format!(
            "{} fields, not seven",
            if fields.len() > 7 { "more than seven".into() } else { fields.len().to_string() }
        ));
    };
    let ticks: u64 = time.parse().map_err(|_| format!("no timestamp: `{time}`"))?;
    let at = ticks.checked_mul(100).ok_or("a time beyond 2^64 ns")?;
    let writes = match kind {
        _ if kind.eq_ignore_ascii_case("read") => false,
        _ if kind.eq_ignore_ascii_case("write") => true,
        other => return Err(format!("neither Read nor Write: `{other}`")),
    };
    let bytes = |field: &str, what: &str| field.parse::<u64>().map_err(|_| format!("no {what} in bytes: `{field}`"));
    let (offset, size) = (bytes(offset, "offset")?, bytes(size, "size")?);
    let begin = host.as_ptr() as usize - text.as_ptr() as usize;
    let end = disk.as_ptr() as usize - text.as_ptr() as usize + disk.len();
    Ok(TraceLine::Request(LineRequest { at, writes, offset, bytes: size, device: &text[begin..end] }))
}
