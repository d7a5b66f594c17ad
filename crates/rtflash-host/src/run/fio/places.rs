//! The places of fio's files on the device.
//!
//! fio gives each job, and each clone of one, a file of its own unless `filename` names one. Here
//! the files lie one behind the other, in the order of the jobs.

use std::collections::HashMap;

use crate::run::job::Job;

/// Room for a file of a job without `size`, which has no end: a sequential job goes on from there.
const ENDLESS: u64 = 64 << 20;

/// Bytes of a file system's block: a file begins at a multiple of them.
const BLOCK: u64 = 4_096;

/// The files of the jobs.
#[derive(Default)]
pub(super) struct FioFiles {
    /// How far the jobs go in each file.
    lengths: Vec<u64>,
    named: HashMap<String, usize>,
    /// The file of each job.
    of_jobs: Vec<usize>,
}

impl FioFiles {
    /// One more job, whose place counts from the begin of its file.
    pub(super) fn add(&mut self, filename: Option<&str>, job: &Job) {
        let next = self.lengths.len();
        let file = match filename {
            Some(name) => *self.named.entry(name.to_owned()).or_insert(next),
            None => next,
        };
        if file == next {
            self.lengths.push(0);
        }
        let end = job.from.saturating_add(job.span.unwrap_or(ENDLESS));
        self.lengths[file] = self.lengths[file].max(end);
        self.of_jobs.push(file);
    }

    /// Moves the jobs to where their files lie. Gives the first job that would end beyond 2⁶⁴
    /// bytes.
    pub(super) fn place(&self, jobs: &mut [Job]) -> Result<(), usize> {
        let mut end = 0_u64;
        let begins: Vec<u64> = self
            .lengths
            .iter()
            .map(|&length| {
                let begin = end;
                end = end.saturating_add(length).checked_next_multiple_of(BLOCK).unwrap_or(u64::MAX);
                begin
            })
            .collect();
        for (position, (job, &file)) in jobs.iter_mut().zip(&self.of_jobs).enumerate() {
            let from = begins[file].checked_add(job.from);
            let fits = |from: &u64| from.checked_add(job.span.unwrap_or(job.size)).is_some();
            job.from = from.filter(fits).ok_or(position)?;
        }
        Ok(())
    }
}
