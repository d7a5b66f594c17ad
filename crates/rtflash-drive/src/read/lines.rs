//! Lines of a file of any length, in bounded memory.

use std::io::{BufRead, Read};

use crate::refused::MeasurementRefused;

/// Bytes of a line, at most. A longer one is passed over.
const MAX_LINE: u64 = 1 << 16;

/// Gives each line, without its end, to `each`.
pub fn each_line(
    mut from: impl BufRead,
    mut each: impl FnMut(&str) -> Result<(), MeasurementRefused>,
) -> Result<(), MeasurementRefused> {
    let (mut bytes, mut goes_on) = (Vec::new(), false);
    loop {
        bytes.clear();
        if from.by_ref().take(MAX_LINE).read_until(b'\n', &mut bytes)? == 0 {
            return Ok(());
        }
        let ends = bytes.last() == Some(&b'\n');
        let is_part = std::mem::replace(&mut goes_on, !ends && bytes.len() as u64 == MAX_LINE);
        if !is_part && !goes_on {
            each(String::from_utf8_lossy(&bytes).trim_end_matches(['\n', '\r']))?;
        }
    }
}
