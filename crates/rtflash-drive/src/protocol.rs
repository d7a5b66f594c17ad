//! The protocol of a measurement: a job file of fio, in interleaved rounds.

use std::fmt::Write;

use rtflash_host::run::{Job, JobPattern, JobReleases};
use rtflash_host::{Class, Op};
use rtflash_model::Span;

use crate::sample::ROUNDS;

/// Sizes that lone commands are measured at, each as often as the others: in KiB.
const SIZES: [u64; 4] = [4, 32, 128, 512];

/// Depths of the cells with several reads outstanding.
const DEPTHS: [u32; 5] = [2, 4, 8, 16, 32];

/// The think time of the cells that leave the drive idle, in µs: mq-deadline holds lower classes
/// for a few ms behind a real-time I/O.
const THINK: u32 = 2_000;

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
    /// How Linux reaches the drive, if that is known: `--attach` of `host fit`.
    pub attach: Option<&'a str>,
    /// Its number in traces, if that is known: `--of` of `host fit`.
    pub number: Option<&'a str>,
    /// The jobs of the user's own scenario.
    pub jobs: Vec<&'a Job>,
}

/// A part of a round: jobs that run at the same time.
struct ProtocolCell {
    name: String,
    /// The options of each job.
    jobs: Vec<Vec<String>>,
    /// Whether fio's own latencies are those of lone commands. With others in flight, they contain
    /// the wait: the trace alone has these.
    is_lone: bool,
}

impl Protocol<'_> {
    /// How long each job of a round runs, in whole seconds. Jobs of lone commands divide their time
    /// among four sizes; half as much again covers a guess that is too short.
    pub fn seconds(&self) -> u64 {
        let commands = if self.tail { 3_000 } else { 200 } * SIZES.len() as u64;
        (commands * self.guess.as_ns() * 3 / 2).div_ceil(1_000_000_000).max(1)
    }

    fn cells(&self) -> Vec<ProtocolCell> {
        let split: Vec<String> = SIZES.iter().map(|kib| format!("{kib}k/25")).collect();
        let split = format!("bssplit={}", split.join(":"));
        let lone = |name: &str, options: &[String]| {
            let jobs = vec![options.to_vec()];
            ProtocolCell { name: name.to_owned(), jobs, is_lone: true }
        };
        let beside = |name: String, jobs: Vec<Vec<String>>| ProtocolCell { name, jobs, is_lone: false };
        let deep = |rw: &str, depth: u32| vec![format!("rw={rw}"), "bs=4k".into(), format!("iodepth={depth}")];
        let thinks = format!("thinktime={THINK}");
        let mut cells = vec![
            lone("read", &["rw=randread".into(), split.clone()]),
            lone("write", &["rw=randwrite".into(), split]),
            lone("idle", &["rw=randread".into(), "bs=4k".into(), thinks.clone()]),
            lone("idlew", &["rw=randwrite".into(), "bs=4k".into(), thinks.clone()]),
            beside("mixed".into(), vec![[deep("randrw", 8), vec!["rwmixread=50".into()]].concat()]),
            beside("deepw".into(), vec![deep("randwrite", 8)]),
        ];
        cells.extend(DEPTHS.into_iter().map(|depth| beside(format!("deep{depth}"), vec![deep("randread", depth)])));
        let class = |class: u32| format!("prioclass={class}");
        let urgent = vec!["rw=randwrite".into(), "bs=4k".into(), thinks, class(1)];
        let background = |class: String| vec!["rw=read".into(), "bs=512k".into(), "iodepth=4".into(), class];
        cells.push(beside("classes".into(), vec![urgent.clone(), background(class(2))]));
        cells.push(beside("alike".into(), vec![urgent, background(class(1))]));
        for (number, job) in self.jobs.iter().filter(|job| job.is_real_time()).enumerate() {
            let is_lone = !matches!(job.releases, JobReleases::Closed { depth: 2.., .. });
            let jobs: Vec<Vec<String>> = own(job).into_iter().collect();
            if !jobs.is_empty() {
                cells.push(ProtocolCell { name: format!("own{number}"), jobs, is_lone });
            }
        }
        let together: Vec<Vec<String>> = self.jobs.iter().filter_map(|job| own(job)).collect();
        if together.len() > 1 {
            cells.push(beside("own".into(), together));
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
        let known = [("of", self.number), ("attach", self.attach)];
        let known = known.map(|(name, value)| value.map_or_else(String::new, |value| format!(" --{name} {value}")));
        let mut text = format!(
            "; Measures {name} in {ROUNDS} rounds: rtflash host fit reads the result.\n\
             ; IT OVERWRITES THE FIRST {mib} MiB OF {name}.\n\
             ; It takes {total} s ({parts} parts of {seconds} s a round). Record a trace at the same time:\n\
             ;   trace-cmd record -C mono -b 65536 -e block_rq_issue -e block_rq_complete -e block_split \\\n\
             ;     fio --output-format=json+ --output=measured.json FILE\n\
             ;   trace-cmd report > trace.txt; rtflash host fit --trace trace.txt{known} --out drive.json\n\
             ; Without a trace: rtflash host fit --fio measured.json r*_lat.*.log --out drive.json\n\
             [global]\nfilename={name}\nsize={mib}m\ndirect=1\nioengine=libaio\nrandrepeat=0\nnorandommap\n\
             time_based\nruntime={seconds}\nlog_avg_msec=0\nlog_offset=1\nlog_prio=1\nallow_mounted_write=0\n",
            name = self.filename,
            known = known.concat(),
            mib = self.size >> 20,
            total = self.total_seconds(),
            parts = cells.len(),
        );
        for round in 1..=ROUNDS {
            for cell in &cells {
                for (number, options) in cell.jobs.iter().enumerate() {
                    let part = if cell.jobs.len() == 1 { String::new() } else { format!("-{number}") };
                    let name = format!("r{round:02}-{}{part}", cell.name);
                    // Jobs without `stonewall` begin together with the one before.
                    let wall = if number == 0 { "\nstonewall" } else { "" };
                    // Writing to a string cannot fail.
                    let _ = writeln!(text, "\n[{name}]{wall}\n{}", options.join("\n"));
                    if cell.is_lone {
                        let _ = writeln!(text, "write_lat_log={name}");
                    }
                }
            }
        }
        text
    }
}

/// A job of a scenario as fio does it. `None` stands for a flush, a discard, a chain, and a job
/// that goes through the page cache: its log times that. Write-back has a rate of whole I/Os.
fn own(job: &Job) -> Option<Vec<String>> {
    let direction = match job.op {
        _ if job.is_chain() || job.is_buffered || job.is_flusher() => return None,
        Op::Read => "read",
        Op::Write => "write",
        _ => return None,
    };
    let pattern = if job.pattern == JobPattern::Random { "rand" } else { "" };
    let class = match job.class {
        Class::RealTime => 1,
        Class::Idle => 3,
        _ => 2,
    };
    let mut options = vec![
        format!("rw={pattern}{direction}"),
        format!("bs={}", job.size),
        format!("prioclass={class}"),
        format!("prio={}", job.level),
    ];
    let second = 1_000_000_000;
    match job.releases {
        JobReleases::Every { period, .. } => {
            options.push(format!("rate_iops={}", (second / period.as_ns().max(1)).max(1)));
        }
        JobReleases::Closed { depth, think } => {
            options.extend((think > Span::ZERO).then(|| format!("thinktime={}", think.as_ns().div_ceil(1_000))));
            options.extend((depth > 1).then(|| format!("iodepth={depth}")));
        }
        JobReleases::WriteBack(written) => {
            options.push(format!("rate_iops={}", (written.rate / job.size.max(1)).max(1)));
        }
        JobReleases::Flusher => return None,
    }
    Some(options)
}
