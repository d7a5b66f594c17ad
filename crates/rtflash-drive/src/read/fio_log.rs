//! Latency logs of fio: `time ms, ns, direction, bs, [offset], prio, [issue ns]` (fio's manual,
//! "Log File Formats"; `flush_samples` of iolog.c, fio 3.28 to 3.41). The time of issue is there
//! since 3.38. Logs of completion latency alone state it: those of latency have 0 there
//! (`add_lat_sample` of stat.c).

use std::io::BufRead;

use rtflash_host::Op;

use super::BEFORE;
use super::fio_json::LoggedJob;
use super::lines::each_line;
use crate::command::Done;
use crate::refused::MeasurementRefused;

/// Reads the log of a job and hands on each I/O.
///
/// # Errors
/// If the log is windowed, does not agree with its JSON (columns, extremes), or its job had several
/// I/Os outstanding.
pub fn read_log(from: impl BufRead, job: &LoggedJob, mut each: impl FnMut(Done)) -> Result<u64, MeasurementRefused> {
    if job.depth > 1 {
        return Err(MeasurementRefused::because(format!(
            "job `{}` has {} I/Os outstanding, whose log holds the wait: pass a trace of the same run with --trace",
            job.name, job.depth
        )));
    }
    let columns = 5 + usize::from(job.has_offset) + usize::from(job.has_issue);
    let (mut read, mut end, mut number) = (0_u64, 0, 0_u64);
    each_line(from, |line| {
        number += 1;
        if line.trim().is_empty() {
            return Ok(());
        }
        let fields: Vec<&str> = line.split(',').map(str::trim).collect();
        let wrong =
            |what: &str| MeasurementRefused::because(format!("line {number} of the log of job `{}` {what}", job.name));
        if fields.len() != columns {
            return Err(wrong(&other_columns(fields.len(), columns)));
        }
        let number = |at: usize| fields[at].parse::<u64>().map_err(|_| wrong("is no line of a latency log"));
        let (ms, took, direction, size) = (number(0)?, number(1)?, number(2)?, number(3)?);
        if size == 0 {
            return Err(wrong("has bs = 0, a mean over a window: measure with log_avg_msec=0"));
        }
        let op = match direction {
            0 => Op::Read,
            1 => Op::Write,
            // Trims and syncs move no data.
            _ => return Ok(()),
        };
        if let Some(problem) = beyond(job, op, took) {
            return Err(wrong(&problem));
        }
        let from = if job.has_offset { number(4)? } else { 0 };
        let at_issue = if job.has_issue { number(fields.len() - 1)? } else { 0 };
        let ended = match at_issue {
            0 => ms.saturating_mul(1_000_000).saturating_add(BEFORE),
            at_issue => at_issue.saturating_add(took),
        };
        let issued = ended.saturating_sub(took);
        // One at a time: the drive was idle at the issue. Milliseconds do not state for how long,
        // nor that the command before had ended.
        let (idle, free) = if at_issue > 0 { (issued.saturating_sub(end), end) } else { (job.think, 0) };
        let (process, others, is_joined, continues) = (None, 0, false, false);
        each(Done { issued, ended, op, process, from, size, others, is_joined, continues, idle, free });
        (end, read) = (ended, read + 1);
        Ok(())
    })?;
    if read == 0 {
        return Err(MeasurementRefused::because(format!(
            "the log of job `{}` is empty: run it with write_lat_log=",
            job.name
        )));
    }
    Ok(read)
}

/// The fault of a line with this number of columns.
fn other_columns(found: usize, columns: usize) -> String {
    match found {
        4 => "has four columns, as fio before 3.28 writes them: measure with fio 3.28 or later".to_owned(),
        _ => format!("has {found} columns, and its JSON says {columns}: pass the JSON of this run"),
    }
}

/// The fault of a latency that the JSON excludes.
fn beyond(job: &LoggedJob, op: Op, took: u64) -> Option<String> {
    let [shortest, longest] = job.extremes[usize::from(op != Op::Read)]?;
    (!(shortest..=longest).contains(&took)).then(|| {
        format!("has {took} ns, and its JSON says {shortest} to {longest}: pass a log and the JSON of one run, in ns")
    })
}

/// The job whose log a file is, by its name (`PREFIX_lat.N.log`), or the only job that has a log.
///
/// # Errors
/// If no job or several ones match.
pub fn job_of<'a>(file: &str, jobs: &'a [LoggedJob]) -> Result<&'a LoggedJob, MeasurementRefused> {
    let base = |path: &str| path.rsplit('/').next().unwrap_or(path).to_owned();
    let file = base(file);
    if ["_slat.", "_bw.", "_iops."].iter().any(|kind| file.contains(kind)) {
        return Err(MeasurementRefused::because(format!(
            "`{file}` holds no times of whole I/Os: pass the logs with `_lat.` in their names alone"
        )));
    }
    let with_log: Vec<&LoggedJob> = jobs.iter().filter(|job| job.log.is_some()).collect();
    if let [only] = with_log[..] {
        return Ok(only);
    }
    let stem = ["_lat.", "_clat."].iter().find_map(|mark| file.split_once(mark)).map_or(&*file, |(stem, _)| stem);
    let mut named = with_log.into_iter().filter(|job| job.log.as_deref().map(base).as_deref() == Some(stem));
    match (named.next(), named.next()) {
        (Some(job), None) => Ok(job),
        _ => Err(MeasurementRefused::because(format!(
            "no single job of the JSON has the log `{file}`: give each job a write_lat_log= of its own"
        ))),
    }
}
