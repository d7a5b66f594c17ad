//! Files of measurements, read into a sample, with what tells each one from others.

use std::io::{BufRead, BufReader, Read};

use sha2::{Digest, Sha256};

use crate::claims::FittedSource;
use crate::read::fio_json::LoggedJob;
use crate::read::{fio_log, read_trace};
use crate::refused::MeasurementRefused;
use crate::sample::DriveSample;

/// A reader that hashes what it hands on.
struct Hashed<R> {
    from: R,
    hash: Sha256,
}

impl<R: Read> Read for Hashed<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let read = self.from.read(buffer)?;
        self.hash.update(&buffer[..read]);
        Ok(read)
    }
}

/// Reads a file by `read`, which says how many commands it held.
fn hashed<R: Read>(
    name: &str,
    from: R,
    read: impl FnOnce(&mut BufReader<Hashed<R>>) -> Result<u64, MeasurementRefused>,
) -> Result<FittedSource, MeasurementRefused> {
    let mut from = BufReader::with_capacity(1 << 16, Hashed { from, hash: Sha256::new() });
    let commands = text_of(&mut from).and_then(|()| read(&mut from));
    let commands = commands.map_err(|refused| MeasurementRefused::because(format!("{name}: {refused}")))?;
    let hash = from.into_inner().hash.finalize();
    let sha256 = hash.iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(FittedSource { name: name.to_owned(), sha256, commands })
}

/// First bytes of files that are no text, and what to do: RFC 1952, the formats of xz, zstd and
/// bzip2; `TRACECMD_MAGIC` of trace-cmd, `PERF_MAGIC2` of perf, `BLK_IO_TRACE_MAGIC` of blktrace.
const BINARY: [(&[u8], &str); 7] = [
    (b"\x1f\x8b", "is compressed: unpack it with `gunzip`"),
    (b"\xfd7zXZ", "is compressed: unpack it with `xz -d`"),
    (b"\x28\xb5\x2f\xfd", "is compressed: unpack it with `zstd -d`"),
    (b"BZh", "is compressed: unpack it with `bunzip2`"),
    (b"\x17\x08\x44tracing", "is a binary trace: pass the text that `trace-cmd report` prints"),
    (b"PERFILE2", "is a binary trace: pass the text that `perf script` prints"),
    (b"\x07tae", "is a binary trace: pass the text that `blkparse` prints"),
];

/// Refuses what is no text.
fn text_of(from: &mut impl BufRead) -> Result<(), MeasurementRefused> {
    let begin = from.fill_buf()?;
    let found = BINARY.into_iter().find(|(magic, _)| begin.starts_with(magic));
    found.map_or(Ok(()), |(_, what)| Err(MeasurementRefused::because(format!("the file {what}"))))
}

/// Reads a trace into a sample.
///
/// # Errors
/// As [`read_trace`].
pub fn add_trace(
    sample: &mut DriveSample,
    name: &str,
    from: impl Read,
    device: Option<(u32, u32)>,
) -> Result<FittedSource, MeasurementRefused> {
    hashed(name, from, |from| {
        let read = read_trace(from as &mut dyn BufRead, device, |done| sample.push(done))?;
        sample.end_of_file(Some(&read.seen), round_of(name));
        Ok(read.seen.paired)
    })
}

/// Reads a job's log of fio into a sample.
///
/// # Errors
/// As [`fio_log::read_log`].
pub fn add_log(
    sample: &mut DriveSample,
    name: &str,
    from: impl Read,
    job: &LoggedJob,
) -> Result<FittedSource, MeasurementRefused> {
    hashed(name, from, |from| {
        let read = fio_log::read_log(from as &mut dyn BufRead, job, |done| sample.push(done))?;
        sample.end_of_file(None, round_of(name));
        Ok(read)
    })
}

/// The round that a file's name says: `r07-…` is of round 7.
fn round_of(name: &str) -> Option<u32> {
    let base = name.rsplit('/').next()?;
    base.strip_prefix('r')?.split_once('-')?.0.parse().ok()
}
