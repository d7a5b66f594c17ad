//! fio's iolog of version 3 (fio's manual, "Trace file format v3").

use crate::import::trace_line::{LineRequest, ReadLine, TraceLine};

/// Requests that move no data.
const WITHOUT_DATA: [&str; 5] = ["sync", "datasync", "sync_file_range", "trim", "syncfs"];

/// The first line, which tells the version.
pub fn head(text: &str) -> Result<ReadLine<'static>, String> {
    match text.trim() {
        "fio version 3 iolog" => Ok(Ok(TraceLine::Other)),
        "fio version 2 iolog" => {
            Err("an iolog of version 2, which has no times: fio 3.31 and later write version 3".into())
        }
        _ => Err("no iolog of fio: the first line is not `fio version 3 iolog`".into()),
    }
}

/// A line behind the first: `timestamp file action [offset length]`. A file's name has no spaces,
/// fio itself reads none with them.
pub fn line(text: &str) -> ReadLine<'_> {
    let mut fields = text.split_ascii_whitespace();
    let (Some(time), Some(device), Some(action)) = (fields.next(), fields.next(), fields.next()) else {
        return Err("fewer than three fields: `timestamp file action`".into());
    };
    let us: u64 = time.parse().map_err(|_| format!("no time in µs: `{time}`"))?;
    let at = us.checked_mul(1_000).ok_or("a time beyond 2^64 ns")?;
    let writes = match action {
        "read" => false,
        "write" => true,
        "add" | "open" | "close" => return Ok(TraceLine::Other),
        other if WITHOUT_DATA.contains(&other) => return Ok(TraceLine::WithoutData),
        other => return Err(format!("no action of version 3: `{other}`")),
    };
    let mut number = |what: &str| {
        let field = fields.next().ok_or_else(|| format!("no {what}"))?;
        field.parse::<u64>().map_err(|_| format!("no {what} in bytes: `{field}`"))
    };
    let (offset, bytes) = (number("offset")?, number("length")?);
    if fields.next().is_some() {
        return Err("more than five fields".into());
    }
    Ok(TraceLine::Request(LineRequest { at, writes, offset, bytes, device }))
}
