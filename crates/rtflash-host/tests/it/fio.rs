//! Job files of fio, against the same scenarios in JSON.

use std::fmt::Write;

use rtflash_host::run::{HostSetup, Scenario, is_fio, read_fio, read_scenario, read_setup, run};
use rtflash_model::line_column;
use rtflash_model::random::Stream;

const SETUP: &str = r#""device": { "kind": "emmc", "depth": 2, "read": { "first": "40us", "next": "20us", "per_kib": "1us" },
        "write": { "first": "60us", "next": "30us", "per_kib": "2us" } },
    "host": { "cpus": 4, "max_sectors": "64KiB", "requests": 64 }, "scheduler": { "name": "k2", "max_inflight": 2 }"#;

fn setup() -> HostSetup {
    read_setup(&format!("{{ {SETUP} }}"), None).expect("a setup")
}

fn read(text: &str) -> Scenario {
    read_fio(text, &setup()).unwrap_or_else(|wrong| panic!("{wrong}\n{text}"))
}

fn json(jobs: &str, duration: &str) -> Scenario {
    let text = format!(r#"{{ {SETUP}, "jobs": [{jobs}], "duration": "{duration}" }}"#);
    read_scenario(&text, None).unwrap_or_else(|wrong| panic!("{wrong}\n{text}"))
}

#[test]
fn a_file_with_globals_clones_and_comments() {
    let found = read(
        "; two readers and a writer\n\n[global]\nbs=4k\nsize = 1g\nruntime=2\n\n[readers]\nrw=randread\nnumjobs=2\nprioclass=1\nprio=0\n\
         cpus_allowed=1,3\nthinktime=2ms\n# what follows holds for the rest\n[global]\nbs=8k,512k\nstartdelay=500ms\n[log]\nrw=write\niodepth=4\n\
         prioclass=3\nrate=,10m\noffset=1g\n[trim]\nrw=trim\nruntime=1500msec\r\n",
    );
    let reader = |number: u32, cpu: u32| {
        format!(
            r#"{{ "name": "readers.{number}", "op": "read", "pattern": "random", "from": "{number}GiB", "span": "1GiB", "size": "4KiB", "count": 262144,
                "class": "rt", "level": 0, "cpu": {cpu}, "think": "2ms", "until": "2s" }}"#
        )
    };
    let jobs = [
        reader(0, 1),
        reader(1, 3),
        // A file for each of the readers in front of it, and its own offset.
        r#"{ "name": "log", "op": "write", "from": "3GiB", "span": "1GiB", "size": "512KiB", "count": 2048, "class": "idle", "level": 0,
            "depth": 4, "submit": "async", "rate": "10MiB", "phase": "500ms", "until": "2500ms" }"#
            .to_owned(),
        r#"{ "name": "trim", "op": "discard", "from": "4GiB", "span": "1GiB", "size": "512KiB", "count": 2048, "phase": "500ms", "until": "2s" }"#.to_owned(),
    ];
    assert_eq!(found, json(&jobs.join(","), "2500ms"));
}

#[test]
fn a_file_in_which_nothing_is_said_twice() {
    let found = read("[one]\nreadwrite=write\nblocksize=128k\nsize=1m\n[two]\nruntime=1");
    let jobs = r#"{ "name": "one", "op": "write", "size": "128KiB", "span": "1MiB", "count": 8 }, { "name": "two", "op": "read", "from": "1MiB", "size": "4KiB", "until": "1s" }"#;
    assert_eq!(found, json(jobs, "1s"));
}

/// A random job, in JSON and as a section.
fn random(seed: u64, number: u64) -> (String, String) {
    let mut stream = Stream::numbered(seed, b"fio-json", number);
    let mut within = |low: u64, high: u64| low + stream.below(high - low + 1);
    let (write, is_random) = (within(0, 1), within(0, 1) == 0);
    let op = ["read", "write"][usize::from(write == 1)];
    let (kib, depth, level) = (within(1, 40), within(1, 5), within(0, 7));
    let class = within(0, 2);
    let (cpu, start, end, from) = (within(0, 3), within(0, 200), within(250, 400), within(0, 9));
    let span = within(1, 100);
    let mut json = format!(
        r#"{{ "name": "j{number}", "op": "{op}", "pattern": "{}", "size": "{kib}KiB", "depth": {depth}, "submit": "{}", "class": "{}", "level": {level}, "cpu": {cpu},
            "phase": "{start}ms", "until": "{end}ms", "from": "{from}MiB", "span": "{span}MiB", "count": {}"#,
        if is_random { "random" } else { "sequential" },
        if depth > 1 { "async" } else { "sync" },
        ["rt", "be", "idle"][usize::try_from(class).expect("a class")],
        span * 1_024 / kib
    );
    let mut fio = format!(
        "[j{number}]\nrw={}{op}\nbs={kib}k\niodepth={depth}\nprioclass={}\nprio={level}\ncpus_allowed={cpu}\nstartdelay={start}ms\n\
         runtime={}ms\nfilename=/dev/sda\noffset={from}m\nsize={}k\n",
        if is_random { "rand" } else { "" },
        class + 1,
        end - start,
        span * 1_024
    );
    if within(0, 1) == 0 {
        let think = within(0, 3_000);
        let _ = write!(json, r#", "think": "{think}us""#);
        let _ = writeln!(fio, "thinktime={think}");
    }
    if within(0, 1) == 0 {
        let rate = within(100, 9_000);
        let _ = write!(json, r#", "rate": "{rate}KiB""#);
        let _ = writeln!(fio, "rate={rate}k");
    }
    (json + " }", fio)
}

#[test]
fn a_scenario_runs_alike_in_json_and_as_a_job_file() {
    let mut ended = 0;
    for seed in 0..60 {
        let jobs: Vec<(String, String)> = (0..1 + seed % 4).map(|number| random(seed, number)).collect();
        let (in_json, in_fio): (Vec<String>, Vec<String>) = jobs.into_iter().unzip();
        let fio = read(&in_fio.concat());
        let json = json(&in_json.join(","), &fio.duration.to_string());
        assert_eq!(fio, json);
        let reports = run(&fio, seed).expect("a run");
        assert_eq!(reports, run(&json, seed).expect("a run"));
        ended += reports.iter().map(|report| report.latencies.count()).sum::<u64>();
    }
    assert!(ended > 10_000, "{ended}");
}

#[test]
fn a_ki_is_1024_bytes() {
    let jobs = read("[ki]\nrw=read\nbs=4Ki\nsize=4800k\nruntime=60\n").jobs;
    assert_eq!((jobs[0].size, jobs[0].count), (4_096, Some(1_200)));
}

/// The places at which the jobs of a file begin, in KiB.
fn begins(text: &str) -> Vec<(String, u64)> {
    read(text).jobs.iter().map(|job| (job.name.clone(), job.from / 1_024)).collect()
}

/// fio gives each job and each clone a file of its own, unless a file is named.
#[test]
fn jobs_have_files_of_their_own_unless_they_name_one() {
    let begin = |name: &str, kib: u64| (name.to_owned(), kib);
    let global = "[global]\nrw=write\nbs=4k\nsize=16m\nruntime=5\n";
    let clones = [("w.0", 0), ("w.1", 16), ("w.2", 32), ("w.3", 48)].map(|(name, mib)| begin(name, mib << 10));
    assert_eq!(begins(&format!("{global}[w]\nnumjobs=4\n")), clones);
    // Sections, too; an offset is one within the file.
    let sections = begins(&format!("{global}[a]\n[b]\noffset=8m\n[c]\nnumjobs=2\nrw=randread\n"));
    assert_eq!(sections, [begin("a", 0), begin("b", 24 << 10), begin("c.0", 40 << 10), begin("c.1", 56 << 10)]);
    // Jobs that name one file share it; it is as long as the one that goes furthest in it.
    let named = begins(&format!(
        "{global}[a]\nfilename=/dev/x\nnumjobs=2\n[b]\n[c]\nfilename=/dev/x\noffset=4m\n[d]\nfilename=/dev/y\\:0\n[e]\n"
    ));
    let wanted = [("a.0", 0), ("a.1", 0), ("b", 20), ("c", 4), ("d", 36), ("e", 52)];
    assert_eq!(named, wanted.map(|(name, mib)| begin(name, mib << 10)));
    // Files without an end, and files that end within a block of a file system.
    let endless = begins("[a]\nrw=write\nruntime=1\nnumjobs=2\n[b]\nsize=5000\nbs=1k\n[c]\nsize=1k\nbs=1k\n");
    assert_eq!(endless, [begin("a.0", 0), begin("a.1", 64 << 10), begin("b", 128 << 10), begin("c", (128 << 10) + 8)]);
}

#[test]
fn what_is_a_job_file() {
    for text in ["[global]", "\n ; x\n# y\n [a]\n", "\u{feff}[a]"] {
        assert!(is_fio(text), "{text:?}");
    }
    for text in ["", "{ \"jobs\": [] }", "rw=read\n[a]\n", "; only a comment"] {
        assert!(!is_fio(text), "{text:?}");
    }
}

#[test]
fn what_is_wrong_is_pointed_at() {
    for (text, line, column, says) in [
        ("[a]\nruntime=1\nioengine=libaio\n", 3, 1, "a.ioengine: unknown option `ioengine` (expected one of `rw`"),
        ("[a]\niodeth=1\nruntime=1", 2, 1, "unknown option `iodeth` (expected `iodepth`, the nearest"),
        ("[a]\nruntime=1\ntime_based\n", 3, 1, "unknown option `time_based`"),
        ("[a]\nruntime=1\nbs = 4x\n", 3, 6, "a.bs: `bs` is `4x` (expected whole bytes, such as 4096, 4k or 1m)"),
        ("[a]\nruntime=1\nbs\n", 3, 1, "`bs` has no value"),
        ("[a]\nruntime=1\nbs=0\n", 3, 4, "bytes above zero"),
        ("[a]\nruntime=1\nrw=randrw\n", 3, 4, "`randrw` does several things"),
        ("[a]\nruntime=1\nrw=randread:8\n", 3, 4, "`rw` is `randread:8`"),
        ("[a]\nruntime=1\nrw=randread\n", 3, 1, "random I/O without `size`"),
        ("[a]\nruntime=1\nfilename=/dev/a:/dev/b\n", 3, 10, "one file or device"),
        ("[a]\nruntime=1\nfilename=\n", 3, 1, "`filename` has no value"),
        (
            "[a]\nruntime=1\nsize=8192p\n[b]\nruntime=1\nsize=8191p\n[c]\nruntime=1\nsize=2p\n",
            7,
            1,
            "its file ends beyond 2^64 bytes",
        ),
        ("[a]\nruntime=1\nsize=20%\n", 3, 6, "`size` is `20%`"),
        ("[a]\nruntime=1\nsize=1k\n", 3, 1, "`size` is shorter than an I/O"),
        ("[a]\nruntime=1\nprioclass=4\n", 3, 11, "0 (none), 1 (real-time)"),
        ("[a]\nruntime=1\nprio=8\n", 3, 6, "a whole number from 0 to 7"),
        ("[a]\nruntime=1\ncpus_allowed=0-4\n", 3, 14, "there is no core 4: the host has 4"),
        ("[a]\nruntime=0\n", 2, 9, "a time above zero"),
        ("[a]\nruntime=1\nstartdelay=1-5\n", 3, 12, "`startdelay` is `1-5`"),
        ("[a]\nruntime=1\niodepth=4000000000\n", 3, 9, "a whole number from 1 to 16384"),
        ("[a]\nruntime=1\nnumjobs=5000\n", 3, 9, "a whole number from 1 to 4096"),
        ("[a]\nruntime=1\nbs=1t\n", 3, 1, "each I/O is cut into 16777216 requests"),
        ("[a]\nruntime=1\noffset=16383p\nsize=2p\n", 3, 1, "it ends beyond 2^64 bytes"),
        ("[a]\nruntime=100000d\nstartdelay=100000d\n", 2, 1, "it ends later than there is time"),
        ("[a]\nrw=read\n", 1, 1, "a job without an end"),
        ("[a]\nsize=4k\n", 3, 1, "no job says how long to run"),
        ("[a\nruntime=1\n", 1, 1, "`[a` begins no section"),
        ("[]\n", 1, 1, "`[]` begins no section"),
        ("rw=read\n[a]\nruntime=1\n", 1, 1, "an option above all sections"),
        ("[global]\nruntime=1\n", 3, 1, "no jobs"),
        ("[a]\nruntime=1\n[a]\nruntime=1\n", 3, 1, "a second job is called `a`"),
        ("[a.1]\nruntime=1\n[a]\nruntime=1\nnumjobs=2", 3, 1, "a second job is called `a.1`"),
    ] {
        let wrong = read_fio(text, &setup()).expect_err(text);
        let at = line_column(text, wrong.first()[0].range.start);
        assert_eq!(at, (line, column), "{text}{wrong}");
        assert!(wrong.to_string().contains(says), "{text}`{says}` in {wrong}");
        assert_eq!(wrong.count(), 1, "{wrong}");
    }
    // All of them, but not for ever.
    assert_eq!(read_fio("[global]\nx=1\ny=2\n[a]\n[b]\nz=1", &setup()).expect_err("faults").count(), 3);
    assert!(read_fio(&"x\n".repeat(1 << 20), &setup()).expect_err("faults").count() <= 1_000);
    assert!(read_fio(&format!("[a]\n{}", "x\n".repeat(1 << 20)), &setup()).expect_err("faults").count() <= 1_000);
}
