//! The job files of `tests/jobs` in fio, and in a run here.
//!
//! `recorded.csv` has the facts of fio 3.33 with `ioengine=null`. .ci/long runs the test beside an
//! installed fio.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command as Process;

use rtflash_host::run::{
    FioOutside, HostSetup, Job, JobPattern, RunEvent, Watch, read_fio, read_setup, run_watched, until_over,
};
use rtflash_host::{Command, Op};
use rtflash_model::{Instant, Span};

/// A device that takes no time to speak of, so that rates and think times decide.
const SETUP: &str = r#"{ "device": { "kind": "emmc", "depth": 64, "read": { "first": "1us", "next": "1us", "per_kib": "0us" },
    "write": { "first": "1us", "next": "1us", "per_kib": "0us" } }, "host": { "cpus": 4, "max_sectors": "16MiB", "requests": 1024 },
    "size": "64MiB" }"#;

fn setup() -> HostSetup {
    read_setup(SETUP, None).expect("a setup")
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/jobs")
}

/// Variables of the environment in the job files.
const VARIABLES: [(&str, &str); 4] =
    [("SIZE", "768k"), ("BLOCK", "8"), ("NAME", "of the environment"), ("RW", "write")];

/// Files beside the job files, and [`VARIABLES`].
struct Beside;

impl FioOutside for Beside {
    fn file(&mut self, name: &str) -> Result<String, String> {
        std::fs::read_to_string(folder().join(name)).map_err(|error| format!("{name}: {error}"))
    }

    fn variable(&mut self, name: &str) -> Option<String> {
        VARIABLES.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
    }
}

/// The job files, by name.
fn files() -> Vec<(String, String)> {
    let entries = std::fs::read_dir(folder()).expect("the job files");
    let mut files: Vec<(String, String)> = entries
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "fio"))
        .map(|path| {
            let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
            (name, std::fs::read_to_string(&path).expect("a job file"))
        })
        .collect();
    files.sort();
    files
}

/// An I/O: its end in microseconds, its operation, and its place in its job's file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct DoneIo {
    us: u64,
    kind: u8,
    from: u64,
    size: u64,
}

/// The compared facts of an operation of a job.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Facts {
    ios: u64,
    bytes: u64,
    lowest: u64,
    highest: u64,
    /// Different places.
    places: u64,
    /// A sum over the places in order, for I/Os one after the other.
    order: u64,
    first_ms: u64,
    last_ms: u64,
}

/// The facts of each job and operation, by number of the job.
fn facts(jobs: &[Vec<DoneIo>]) -> BTreeMap<(usize, u8), Facts> {
    let mut all = BTreeMap::new();
    for (number, done) in jobs.iter().enumerate() {
        for kind in 0..3 {
            let own: Vec<&DoneIo> = done.iter().filter(|io| io.kind == kind).collect();
            let (Some(first), Some(last)) = (own.first(), own.last()) else { continue };
            let places: BTreeSet<u64> = own.iter().map(|io| io.from).collect();
            let order = own.iter().fold(0_u64, |sum, io| sum.wrapping_mul(31).wrapping_add(io.from / 512));
            all.insert(
                (number, kind),
                Facts {
                    ios: own.len() as u64,
                    bytes: own.iter().map(|io| io.size).sum(),
                    lowest: *places.first().expect("a place"),
                    highest: own.iter().map(|io| io.from + io.size).max().expect("an I/O"),
                    places: places.len() as u64,
                    order,
                    first_ms: first.us / 1_000,
                    last_ms: last.us / 1_000,
                },
            );
        }
    }
    all
}

fn table(file: &str, facts: &BTreeMap<(usize, u8), Facts>, text: &mut String) {
    for ((job, kind), of) in facts {
        let op = ["read", "write", "trim"][usize::from(*kind)];
        let Facts { ios, bytes, lowest, highest, places, order, first_ms, last_ms } = of;
        let _ =
            writeln!(text, "{file},{job},{op},{ios},{bytes},{lowest},{highest},{places},{order},{first_ms},{last_ms}");
    }
}

/// The places of each job's I/Os, counted from its file's begin.
#[derive(Default)]
struct Places {
    jobs: Vec<Vec<DoneIo>>,
    ios: BTreeMap<u64, (usize, u8, u64, u64)>,
}

impl Watch for Places {
    fn see(&mut self, now: Instant, what: &RunEvent<'_>) {
        match *what {
            RunEvent::Queued { io, command: &Command { op, from, size, job, .. } } => {
                let kind = match op {
                    Op::Read => 0,
                    Op::Write => 1,
                    _ => 2,
                };
                self.ios.entry(io).or_insert((job as usize, kind, from, 0)).3 += size;
            }
            RunEvent::Finished { io, .. } => {
                let (job, kind, from, size) = self.ios.remove(&io).expect("an I/O that was queued");
                self.jobs[job].push(DoneIo { us: now.as_ns() / 1_000, kind, from, size });
            }
            _ => {}
        }
    }
}

/// The facts of a run here, and the jobs of the scenario that fio has, too.
fn own(name: &str, text: &str) -> (BTreeMap<(usize, u8), Facts>, Vec<Job>) {
    let jobs = read_fio(text, &setup(), &mut Beside).unwrap_or_else(|wrong| panic!("{name}: {wrong}"));
    let mut scenario = until_over(jobs.scenario.clone(), 7).expect("a run");
    let mut places = Places { jobs: vec![Vec::new(); scenario.jobs.len()], ..Places::default() };
    run_watched(&scenario, 7, &mut places).expect("a run");
    let begin = |from: u64| jobs.files.iter().map(|(_, begin)| *begin).rfind(|begin| *begin <= from).expect("a file");
    for (done, job) in places.jobs.iter_mut().zip(&scenario.jobs) {
        // fio counts time from the begin of a job, and its log lacks the ramp.
        let first = if job.after.is_empty() { job.phase.as_ns() / 1_000 } else { done.first().map_or(0, |io| io.us) };
        done.retain(|io| io.us >= first + job.ramp.as_ns() / 1_000);
        for io in done {
            (io.us, io.from) = (io.us - first - job.ramp.as_ns() / 1_000, io.from - begin(io.from));
        }
    }
    // A job that reads back is a part of the one that wrote.
    for position in (0..scenario.jobs.len()).rev() {
        if scenario.jobs[position].name.ends_with("(verify)") {
            let back = places.jobs.remove(position);
            places.jobs[position - 1].extend(back);
            scenario.jobs.remove(position);
        }
    }
    (facts(&places.jobs), scenario.jobs)
}

/// The facts of fio, which runs in a folder of its own.
fn fio(name: &str, text: &str) -> BTreeMap<(usize, u8), Facts> {
    let dir = std::env::temp_dir().join(format!("rtflash-fio-{}-{name}", std::process::id()));
    std::fs::create_dir_all(&dir).expect("a folder");
    // A share needs a file that is there, and `null` has none.
    let engine = if text.contains("filesize") { "psync" } else { "null" };
    let more = format!("ioengine={engine}\nwrite_lat_log=log\nlog_offset=1\ndisable_slat=1\ndisable_clat=1\n");
    let lines = text.split_inclusive('\n').filter(|line| !line.trim_start().starts_with("ioengine"));
    let text: String = lines
        .flat_map(|line| [Some(line), line.trim_start().starts_with("[global]").then_some(more.as_str())])
        .flatten()
        .collect();
    std::fs::write(dir.join("job.fio"), text).expect("a job file");
    for included in ["global.inc", "rate.inc"] {
        std::fs::copy(folder().join(included), dir.join(included)).expect("a file that is included");
    }
    for _ in 0..if engine == "psync" { 2 } else { 1 } {
        let ran = Process::new("fio").arg("job.fio").envs(VARIABLES).current_dir(&dir).output().expect("fio");
        assert!(ran.status.success(), "{name}: {}", String::from_utf8_lossy(&ran.stdout));
    }
    let log = |number: usize| std::fs::read_to_string(dir.join(format!("log_lat.{number}.log"))).ok();
    let jobs: Vec<Vec<DoneIo>> = (1..).map_while(log).map(|text| text.lines().map(done).collect()).collect();
    std::fs::remove_dir_all(&dir).expect("the folder");
    facts(&jobs)
}

/// A line of a latency log: milliseconds, nanoseconds, operation, bytes, place, priority.
fn done(line: &str) -> DoneIo {
    let fields: Vec<u64> = line.split(',').map_while(|field| field.trim().parse().ok()).collect();
    DoneIo {
        us: fields[0] * 1_000,
        kind: u8::try_from(fields[2]).expect("an operation"),
        from: fields[4],
        size: fields[3],
    }
}

/// How far two counts of the same draws can be apart.
fn spread(one: u64, other: u64) -> u64 {
    5 * one.max(other).isqrt() + 2
}

/// Compares the facts of fio with those of a run here.
fn compare(name: &str, fio: &BTreeMap<(usize, u8), Facts>, own: &BTreeMap<(usize, u8), Facts>, jobs: &[Job]) {
    assert_eq!(fio.keys().collect::<Vec<_>>(), own.keys().collect::<Vec<_>>(), "{name}");
    for (&(number, kind), fio) in fio {
        let (own, job) = (&own[&(number, kind)], &jobs[number]);
        let what = format!("{name}, job {number}, operation {kind}:\n{fio:?}\n{own:?}");
        let draws = !job.mix.is_empty() || job.is_poisson;
        // Jobs with a time end with some I/O or the next one.
        let slack = if draws { spread(fio.ios, own.ios) } else { 2 * u64::from(job.until.is_some()) };
        assert!(fio.ios.abs_diff(own.ios) <= slack, "{what}");
        let largest = job.ios().map(|io| io.size).max().unwrap_or(job.size);
        assert!(fio.bytes.abs_diff(own.bytes) <= slack * largest, "{what}");
        assert!(job.is_poisson || fio.last_ms.abs_diff(own.last_ms) <= 100 + fio.last_ms / 10, "{what}");
        // An I/O at the end of a ramp belongs to it or not.
        let draws = draws || job.ramp > Span::ZERO;
        let covers = job.span.is_some_and(|span| fio.places * fio.bytes / fio.ios == span);
        if (job.pattern == JobPattern::Sequential && fio.ios == own.ios || covers) && !draws {
            assert_eq!((fio.lowest, fio.highest, fio.places), (own.lowest, own.highest, own.places), "{what}");
            assert!(job.pattern != JobPattern::Sequential || fio.order == own.order, "{what}");
        }
        if !job.is_poisson {
            assert!(
                fio.places.abs_diff(own.places)
                    <= slack + own.places / 5 * u64::from(job.pattern == JobPattern::Random),
                "{what}"
            );
        }
    }
    // All operations of a job together end at its bytes.
    for (number, job) in jobs.iter().enumerate().filter(|(_, job)| job.until.is_none()) {
        let sum = |of: &BTreeMap<(usize, u8), Facts>| {
            of.iter().filter(|((of, _), _)| *of == number).map(|(_, facts)| facts.bytes).sum::<u64>()
        };
        let largest = job.ios().map(|io| io.size).max().unwrap_or(job.size);
        assert!(sum(fio).abs_diff(sum(own)) < largest, "{name}: job {number}: {} and {}", sum(fio), sum(own));
    }
}

/// Clones have other numbers in fio, which begins with the last: they are put in order.
fn in_order(facts: BTreeMap<(usize, u8), Facts>, name: &str) -> BTreeMap<(usize, u8), Facts> {
    if !name.ends_with("clones") {
        return facts;
    }
    let mut all: Vec<Facts> = facts.into_values().collect();
    all.sort_by_key(|facts| facts.lowest);
    (0..).zip(all).map(|(number, facts)| ((number, 1), facts)).collect()
}

/// The facts of `recorded.csv`.
fn recorded() -> BTreeMap<String, BTreeMap<(usize, u8), Facts>> {
    let text = std::fs::read_to_string(folder().join("recorded.csv")).expect("the facts");
    let mut all: BTreeMap<String, BTreeMap<(usize, u8), Facts>> = BTreeMap::new();
    for line in text.lines().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        let number = |at: usize| fields[at].parse::<u64>().unwrap_or_else(|_| panic!("{line}"));
        let kind = ["read", "write", "trim"].iter().position(|op| *op == fields[2]).expect("an operation");
        let facts = Facts {
            ios: number(3),
            bytes: number(4),
            lowest: number(5),
            highest: number(6),
            places: number(7),
            order: number(8),
            first_ms: number(9),
            last_ms: number(10),
        };
        let key = (usize::try_from(number(1)).expect("a job"), u8::try_from(kind).expect("an operation"));
        all.entry(fields[0].to_owned()).or_default().insert(key, facts);
    }
    all
}

#[test]
fn job_files_do_what_fio_did() {
    let (recorded, files) = (recorded(), files());
    assert!(files.len() >= 30, "{} files", files.len());
    for (name, text) in &files {
        let (own, jobs) = own(name, text);
        compare(name, &in_order(recorded[name].clone(), name), &own, &jobs);
    }
}

/// The facts agree with those of an installed fio. `RECORD` writes them down.
#[test]
#[ignore = "needs fio; .ci/long runs it"]
fn job_files_do_what_fio_does() {
    if Process::new("fio").arg("--version").output().is_err() {
        println!("skipped: fio is not installed");
        return;
    }
    let mut written = "file,job,operation,ios,bytes,lowest,highest,places,order,first_ms,last_ms\n".to_owned();
    for (name, text) in files() {
        let fio = fio(&name, &text);
        table(&name, &fio, &mut written);
        let (own, jobs) = own(&name, &text);
        if std::env::var_os("RECORD").is_none() {
            compare(&name, &in_order(fio, &name), &own, &jobs);
        }
    }
    if std::env::var_os("RECORD").is_some() {
        std::fs::write(folder().join("recorded.csv"), written).expect("the facts");
    }
}

/// Counts the job files of others in the folder `FIO_JOBS` that are read.
#[test]
#[ignore = "needs job files in the folder `FIO_JOBS`; .ci/long runs it"]
fn job_files_of_others_are_read() {
    let Some(folder) = std::env::var_os("FIO_JOBS") else {
        println!("skipped: FIO_JOBS names no folder with job files");
        return;
    };
    struct InFolder<'a>(&'a Path);
    impl FioOutside for InFolder<'_> {
        fn file(&mut self, name: &str) -> Result<String, String> {
            std::fs::read_to_string(self.0.join(name)).map_err(|error| format!("{name}: {error}"))
        }

        fn variable(&mut self, name: &str) -> Option<String> {
            std::env::var(name).ok()
        }
    }
    let setup =
        read_setup(&SETUP.replace("64MiB", "4TiB").replace("\"cpus\": 4", "\"cpus\": 64"), None).expect("a setup");
    let (mut read, mut refused) = (0, Vec::new());
    for entry in std::fs::read_dir(&folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let text = String::from_utf8_lossy(&std::fs::read(&path).expect("a file")).into_owned();
        match read_fio(&text, &setup, &mut InFolder(Path::new(&folder))) {
            Ok(_) => read += 1,
            Err(wrong) => refused.push(format!("{}: {}", path.display(), wrong.first()[0])),
        }
    }
    refused.sort();
    println!("read: {read}, refused: {}\n{}", refused.len(), refused.join("\n"));
}
