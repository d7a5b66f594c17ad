//! The protocol of a measurement: a job file of fio, in interleaved rounds.

use std::fmt::Write;

use rtflash_host::Op;
use rtflash_host::run::{Job, JobPattern, JobReleases};
use rtflash_model::Span;

use crate::sample::ROUNDS;

/// Sizes that lone commands are measured at, each as often as the others: in KiB.
const SIZES: [u64; 4] = [4, 32, 128, 512];

/// The settings of a protocol.
#[derive(Debug, Clone)]
pub struct Protocol<'a> {
    /// The drive.
    pub filename: &'a str,
    /// Bytes of it that are used.
    pub size: u64,
    /// The mean time of a command, at a guess.
    pub guess: Span,
    /// Whether 3,000 commands a size and round are wanted, in place of 200.
    pub tail: bool,
    /// Real-time jobs of the user's own.
    pub jobs: Vec<&'a Job>,
}

impl Protocol<'_> {
    /// How long each job of a round runs, in whole seconds. Jobs of lone commands divide their time
    /// among four sizes; half as much again covers a guess that is too short.
    pub fn seconds(&self) -> u64 {
        let commands = if self.tail { 3_000 } else { 200 } * SIZES.len() as u64;
        (commands * self.guess.as_ns() * 3 / 2).div_ceil(1_000_000_000).max(1)
    }

    fn cells(&self) -> Vec<(String, Vec<String>)> {
        let split: Vec<String> = SIZES.iter().map(|kib| format!("{kib}k/25")).collect();
        let split = format!("bssplit={}", split.join(":"));
        let lone = |rw: &str| vec![format!("rw={rw}"), split.clone()];
        let deep = |rw: &str, depth: u32| vec![format!("rw={rw}"), "bs=4k".into(), format!("iodepth={depth}")];
        let mut cells = vec![
            ("read".to_owned(), lone("randread")),
            ("write".to_owned(), lone("randwrite")),
            ("idle".to_owned(), vec!["rw=randread".into(), "bs=4k".into(), "thinktime=2000".into()]),
            ("deep2".to_owned(), deep("randread", 2)),
            ("deep8".to_owned(), deep("randread", 8)),
            ("deep32".to_owned(), deep("randread", 32)),
            ("deepw".to_owned(), deep("randwrite", 8)),
        ];
        for (number, job) in self.jobs.iter().enumerate() {
            cells.push((format!("own{number}"), own(job)));
        }
        cells
    }

    /// How long all of it takes, in seconds.
    pub fn total_seconds(&self) -> u64 {
        self.cells().len() as u64 * ROUNDS as u64 * self.seconds()
    }

    /// The job file, for fio 3.28 and later.
    pub fn job_file(&self) -> String {
        let (cells, seconds) = (self.cells(), self.seconds());
        let mut text = format!(
            "; Measures {name} in {ROUNDS} rounds: rtflash host fit reads the result.\n\
             ; IT OVERWRITES THE FIRST {mib} MiB OF {name}.\n\
             ; It takes {total} s ({jobs} jobs of {seconds} s a round). Record a trace at the same time:\n\
             ;   trace-cmd record -C mono -b 65536 -e block_rq_issue -e block_rq_complete \\\n\
             ;     fio --output-format=json+ --output=measured.json FILE\n\
             ;   trace-cmd report > trace.txt; rtflash host fit --trace trace.txt --out drive.json\n\
             ; Without a trace: rtflash host fit --fio measured.json r*_lat.*.log --out drive.json\n\
             [global]\nfilename={name}\nsize={mib}m\ndirect=1\nioengine=libaio\nrandrepeat=0\nnorandommap\n\
             time_based\nruntime={seconds}\nlog_avg_msec=0\nlog_offset=1\nlog_prio=1\nallow_mounted_write=0\n",
            name = self.filename,
            mib = self.size >> 20,
            total = self.total_seconds(),
            jobs = cells.len(),
        );
        for round in 1..=ROUNDS {
            for (name, options) in &cells {
                // Writing to a string cannot fail.
                let _ = write!(text, "\n[r{round:02}-{name}]\nstonewall\n{}\n", options.join("\n"));
                // Depth above 1 has the wait in its latencies: the trace alone tells these.
                if !name.starts_with("deep") {
                    let _ = writeln!(text, "write_lat_log=r{round:02}-{name}");
                }
            }
        }
        text
    }
}

/// A real-time job as fio does it.
fn own(job: &Job) -> Vec<String> {
    let direction = if job.op == Op::Read { "read" } else { "write" };
    let pattern = if job.pattern == JobPattern::Random { "rand" } else { "" };
    let mut options =
        vec![format!("rw={pattern}{direction}"), format!("bs={}", job.size), "prioclass=1".into(), "prio=0".into()];
    match job.releases {
        JobReleases::Every { period, .. } => {
            options.push(format!("rate_iops={}", (1_000_000_000 / period.as_ns().max(1)).max(1)));
        }
        JobReleases::Closed { depth: _, think } if think > Span::ZERO => {
            options.push(format!("thinktime={}", think.as_ns().div_ceil(1_000)));
        }
        JobReleases::Closed { .. } | JobReleases::WriteBack(_) => {}
    }
    options
}
