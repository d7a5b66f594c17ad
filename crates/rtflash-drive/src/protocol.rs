//! The protocol of a measurement: a job file of fio, in interleaved rounds.

use std::fmt::Write;

use rtflash_host::run::{Job, JobPace, JobPattern, JobReleases, MixedIo};
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
/// that goes through the page cache: its log times that. Write-back and bursts have a rate of I/Os.
fn own(job: &Job) -> Option<Vec<String>> {
    if job.is_chain() || job.is_buffered || job.is_flusher() {
        return None;
    }
    let class = match job.class {
        Class::RealTime => 1,
        Class::Idle => 3,
        _ => 2,
    };
    let mut options = kinds(job)?;
    options.extend([format!("prioclass={class}"), format!("prio={}", job.level)]);
    let second = 1_000_000_000;
    match job.releases {
        JobReleases::Every { period, .. } => {
            let ios = second * u64::from(job.burst) / period.as_ns().max(1);
            options.push(format!("rate_iops={}", ios.max(1)));
        }
        JobReleases::Closed { depth, think } => {
            options.extend((think > Span::ZERO).then(|| format!("thinktime={}", think.as_ns().div_ceil(1_000))));
            options.extend((depth > 1).then(|| format!("iodepth={depth}")));
            options.extend(pace(job));
        }
        JobReleases::WriteBack(written) => {
            options.push(format!("rate_iops={}", (written.rate / job.size.max(1)).max(1)));
        }
        JobReleases::Flusher => return None,
    }
    options.extend(job.is_poisson.then(|| "rate_process=poisson".to_owned()));
    Some(options)
}

/// Operations and sizes, with the shares of each in whole percent; `None` beside reads and writes.
fn kinds(job: &Job) -> Option<Vec<String>> {
    let of = |op: Op| job.ios().filter(|io| io.op == op).collect::<Vec<_>>();
    let (reads, writes) = (of(Op::Read), of(Op::Write));
    if job.ios().count() > reads.len() + writes.len() {
        return None;
    }
    let sum = |ios: &[MixedIo]| ios.iter().map(|io| u128::from(io.share)).sum::<u128>();
    let percent = |part: u128, whole: u128| (100 * part + whole / 2) / whole.max(1);
    let pattern = if job.pattern == JobPattern::Sequential { "" } else { "rand" };
    let (all, direction) = (
        sum(&reads) + sum(&writes),
        match (reads.is_empty(), writes.is_empty()) {
            (false, false) => "rw",
            (false, true) => "read",
            _ => "write",
        },
    );
    let mut options = vec![format!("rw={pattern}{direction}")];
    if direction == "rw" {
        options.push(format!("rwmixread={}", percent(sum(&reads), all)));
    }
    // The shares of an operation's sizes up to each of these are rounded, so that they sum up.
    let sizes = |ios: &[MixedIo]| {
        let up_to = |number: usize| percent(sum(&ios[..number]), sum(ios));
        let of = |at: usize| format!("{}/{}", ios[at].size, up_to(at + 1) - up_to(at));
        (0..ios.len()).map(of).collect::<Vec<_>>().join(":")
    };
    options.push(match job.mix.as_slice() {
        [] => format!("bs={}", job.size),
        _ if writes.is_empty() => format!("bssplit={}", sizes(&reads)),
        _ if reads.is_empty() => format!("bssplit={}", sizes(&writes)),
        _ => format!("bssplit={},{}", sizes(&reads), sizes(&writes)),
    });
    Some(options)
}

/// The pace of a closed job's operations, if fio has one: bytes or I/Os of both.
fn pace(job: &Job) -> Option<String> {
    let all = if job.paces == [None; 3] { [job.pace.map(JobPace::Bytes); 3] } else { job.paces };
    let or_none = |rate: Option<u64>| rate.map_or_else(String::new, |rate| rate.to_string());
    let of = |rate: fn(JobPace) -> Option<u64>| [0, 1].map(|kind: usize| all[kind].and_then(rate));
    let bytes = of(|pace| if let JobPace::Bytes(rate) = pace { Some(rate) } else { None });
    let ios = of(|pace| if let JobPace::Ios(rate) = pace { Some(rate) } else { None });
    let (name, [reads, writes]) = match (bytes, ios) {
        ([None, None], [None, None]) => return None,
        ([None, None], ios) => ("rate_iops", ios),
        (bytes, _) => ("rate", bytes),
    };
    Some(format!("{name}={},{}", or_none(reads), or_none(writes)))
}

#[cfg(test)]
mod tests {
    use rtflash_host::run::{read_fio, read_scenario, read_setup};

    use super::*;

    const DEVICE: &str = r#""device": { "kind": "emmc", "read": { "first": "10us", "next": "5us", "per_kib": "1us" },
        "write": { "first": "10us", "next": "5us", "per_kib": "1us" } }"#;

    /// Jobs are read back as they were: operations, sizes, shares, pace and arrivals.
    #[test]
    fn jobs_are_read_back() {
        let shares = |job: &Job| {
            let all: u64 = job.ios().map(|io| io.share).sum();
            job.ios().map(|io| (io.op, io.size, io.share * 10_000 / all)).collect::<Vec<_>>()
        };
        let read = r#""op": "read", "size": "4KiB""#;
        let mix = r#""mix": [{ "op": "read", "size": "4KiB", "share": 42 }, { "op": "read", "size": "64KiB", "share": 28 },
            { "op": "write", "size": "8KiB", "share": 30 }]"#;
        for (fields, text) in [
            (format!("{read}, \"pattern\": \"shuffled\", \"span\": \"1MiB\""), "rw=randread"),
            (format!("{read}, \"every\": \"2ms\", \"arrivals\": \"poisson\""), "rate_iops=500\nrate_process=poisson"),
            (format!("{read}, \"every\": \"2ms\", \"burst\": 3"), "rate_iops=1500"),
            (
                format!("{mix}, \"rate_iops\": {{ \"read\": 70, \"write\": 30 }}"),
                "rwmixread=70\nbssplit=4096/60:65536/40,8192/100",
            ),
            (
                format!("{mix}, \"rate\": {{ \"write\": \"4MB\" }}, \"arrivals\": \"poisson\""),
                "rate=,4000000\nrate_process",
            ),
            (format!("{read}, \"rate\": \"4MB\""), "rate=4000000,4000000"),
        ] {
            let scenario = format!(r#"{{ {DEVICE}, "duration": "1s", "jobs": [{{ "name": "a", {fields} }}] }}"#);
            let job = read_scenario(&scenario, None).expect("a scenario").jobs.remove(0);
            let options = own(&job).expect("a job of fio").join("\n");
            assert!(options.contains(text), "{options}");
            let file = format!("[a]\nioengine=libaio\ndirect=1\nnorandommap\nsize=1m\n{options}\n");
            let setup = read_setup(&format!("{{ {DEVICE} }}"), None).expect("a setup");
            let back = read_fio(&file, &setup, &mut ()).expect("a job file").scenario.jobs.remove(0);
            assert_eq!((shares(&back), back.is_poisson), (shares(&job), job.is_poisson), "{options}");
            assert_eq!(back.pattern == JobPattern::Sequential, job.pattern == JobPattern::Sequential, "{options}");
        }
        let others = r#""mix": [{ "op": "read", "size": "4KiB" }, { "op": "discard", "size": "4KiB" }]"#;
        let scenario = format!(r#"{{ {DEVICE}, "duration": "1s", "jobs": [{{ "name": "a", {others} }}] }}"#);
        assert_eq!(own(&read_scenario(&scenario, None).expect("a scenario").jobs[0]), None);
    }
}
