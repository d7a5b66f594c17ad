//! The page cache of a host in JSON.

use rtflash_model::Span;
use rtflash_model::reading::{Place, Reader};

use crate::file::{ObjectField, bytes_above_zero, time_above_zero};
use crate::host::PageCacheSize;

/// Defaults of `dirty_expire_centisecs` and `dirty_writeback_centisecs` (mm/page-writeback.c).
const EXPIRE: Span = Span::from_us(30_000_000);
const INTERVAL: Span = Span::from_us(5_000_000);

/// Thresholds, rate and times of a page cache.
pub(super) fn size<'t>(reader: &mut Reader<'t>, raw: &'t str, place: &Place<'_>) -> Option<PageCacheSize> {
    let mut fields = ObjectField::open(reader, raw, place, ["background", "dirty", "copy", "expire", "interval"])?;
    let bytes = "bytes with their unit, such as \"100MiB\"";
    let background = fields.required(raw, "background", bytes, Reader::bytes);
    let dirty = fields.required(raw, "dirty", bytes, bytes_above_zero);
    let copy = fields.required(raw, "copy", "bytes a second, such as \"1GB\"", bytes_above_zero);
    let expire = fields.or("expire", EXPIRE, Reader::time);
    let interval = fields.or("interval", INTERVAL, time_above_zero);
    let (background, dirty) = (background?, dirty?);
    if background >= dirty {
        let problem = "the flusher begins at `background`, and `dirty` is not above it";
        reader.refuse(raw, &place.key("background"), problem, "`background` below `dirty`");
    }
    Some(PageCacheSize { background, dirty, copy: copy?, expire, interval })
}
