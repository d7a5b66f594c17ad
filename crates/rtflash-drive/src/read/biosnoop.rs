//! The output of biosnoop (bcc): a line a command, with the latency in ms to two decimals.

use rtflash_host::Op;

use super::{BEFORE, Seconds};
use crate::command::Done;
use crate::pair::Seen;
use crate::refused::MeasurementRefused;

/// The unit of its latencies, in ns.
pub const RESOLUTION: u64 = 10_000;

/// Mean latency from which two decimals of a millisecond are a hundredth or less, in ns.
const SLOW: u64 = 1_000_000;

/// The fields of a line, counted from its end: names of processes have blanks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SnoopColumns {
    disk: usize,
    op: usize,
    sector: usize,
    bytes: usize,
    latency: usize,
}

impl SnoopColumns {
    /// The heading's columns; `None` for another line.
    pub fn of(heading: &str) -> Option<SnoopColumns> {
        let names: Vec<&str> = heading.split_ascii_whitespace().rev().collect();
        let at = |wanted: &str| names.iter().position(|name| *name == wanted);
        at("TIME(s)")?;
        let disk = at("DISK")?;
        Some(SnoopColumns { disk, op: at("T")?, sector: at("SECTOR")?, bytes: at("BYTES")?, latency: at("LAT(ms)")? })
    }

    /// The disk of a line.
    pub fn disk<'t>(&self, text: &'t str) -> Option<&'t str> {
        text.split_ascii_whitespace().rev().nth(self.disk)
    }

    /// A command; `None` for one that moves no data.
    pub fn line(&self, text: &str) -> Result<Option<Done>, ()> {
        let fields: Vec<&str> = text.split_ascii_whitespace().rev().collect();
        let Some(ended) = fields.last().and_then(|time| Seconds::read(time)) else { return Ok(None) };
        let field = |at: usize| fields.get(at).copied().ok_or(());
        let op = match field(self.op)? {
            "R" => Op::Read,
            "W" => Op::Write,
            _ => return Ok(None),
        };
        let number = |at: usize| field(at)?.parse::<u64>().map_err(|_| ());
        let (sector, size) = (number(self.sector)?, number(self.bytes)?);
        // Milliseconds read as seconds are a thousand times too long.
        let took = Seconds::read(field(self.latency)?).ok_or(())?.ns / 1_000;
        // A flush comes out as a read of 8 bytes.
        if size == 0 || size % 512 != 0 {
            return Ok(None);
        }
        let ended = ended.ns.saturating_add(BEFORE);
        let issued = ended.saturating_sub(took);
        let from = sector.saturating_mul(512);
        let (process, others, is_joined, continues, idle, free) = (None, 0, false, false, 0, 0);
        Ok(Some(Done { issued, ended, op, process, from, size, others, is_joined, continues, idle, free }))
    }
}

/// Commands in order of their ends, with what is known of the commands beside them.
#[derive(Debug, Default)]
pub struct Snooped {
    seen: Seen,
    sum: u64,
    disk: Option<String>,
    before: Option<Done>,
}

impl Snooped {
    /// One more, with how it lies to the one before.
    ///
    /// # Errors
    /// If it is another disk's.
    pub fn take(&mut self, mut done: Done, disk: &str) -> Result<Done, MeasurementRefused> {
        let own = self.disk.get_or_insert_with(|| disk.to_owned());
        if own != disk {
            return Err(MeasurementRefused::because(format!(
                "the trace has commands of the disks {own} and {disk}: record one with `biosnoop -d {disk}`"
            )));
        }
        if let Some(before) = self.before {
            done.others = u32::from(before.ended > done.issued);
            done.free = before.ended;
            done.idle = done.issued.saturating_sub(before.ended);
        }
        self.seen.first = if self.seen.paired == 0 { done.issued } else { self.seen.first };
        self.seen.last = done.ended;
        self.seen.paired += 1;
        self.sum = self.sum.saturating_add(done.residence());
        self.seen.most_in_flight = self.seen.most_in_flight.max(done.others + 1);
        self.before = Some(done);
        Ok(done)
    }

    /// The end of the file.
    pub fn finish(&self) -> Result<Seen, MeasurementRefused> {
        if self.sum.checked_div(self.seen.paired).is_some_and(|mean| mean < SLOW) {
            return Err(MeasurementRefused::because(
                "biosnoop writes latencies to 10 µs, which is too coarse for a drive below 1 ms: record with ftrace \
                 (`trace-cmd record -e block_rq_issue -e block_rq_complete`)",
            ));
        }
        Ok(self.seen)
    }
}
