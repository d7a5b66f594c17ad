//! Job files of fio, against the same scenarios in JSON.

use std::fmt::Write;

use rtflash_host::run::{HostSetup, Scenario, is_fio, read_fio, read_scenario, read_setup, run};
use rtflash_model::random::Stream;
use rtflash_model::{Instant, line_column};

const SETUP: &str = r#""device": { "kind": "emmc", "depth": 2, "read": { "first": "40us", "next": "20us", "per_kib": "1us" },
        "write": { "first": "60us", "next": "30us", "per_kib": "2us" } },
    "host": { "cpus": 4, "max_sectors": "64KiB", "requests": 64 }, "scheduler": { "name": "k2", "max_inflight": 2 }"#;

fn setup() -> HostSetup {
    read_setup(&format!("{{ {SETUP}, \"size\": \"1GiB\" }}"), None).expect("a setup")
}

fn read(text: &str) -> Scenario {
    read_fio(text, &setup(), &mut ()).unwrap_or_else(|wrong| panic!("{wrong}\n{text}")).scenario
}

fn json(jobs: &str, duration: &str) -> Scenario {
    let text = format!(r#"{{ {SETUP}, "jobs": [{jobs}], "duration": "{duration}" }}"#);
    read_scenario(&text, None).unwrap_or_else(|wrong| panic!("{wrong}\n{text}"))
}

#[test]
fn a_file_with_globals_clones_and_comments() {
    let found = read(
        "; two readers and a writer\n\n[global]\nioengine=libaio\nbs=4k ; a comment behind a value\nsize=1g\nruntime=2\n\n[readers]\nrw=randread\nnumjobs=2\nprioclass=1\nprio=0\n\
         cpus_allowed=1,3\nthinktime=2ms\n# what follows holds for the rest\n[global]\nbs=8k,512k\nstartdelay=500ms\n[log]\nrw=write\niodepth=4\n\
         prioclass=3\nrate=,10m\noffset=1g\n[trim]\nrw=trim\nruntime=1500msec\r\n",
    );
    let reader = |number: u32, cpu: u32| {
        format!(
            r#"{{ "name": "readers.{number}", "op": "read", "pattern": "shuffled", "from": "{number}GiB", "span": "1GiB", "size": "4KiB", "count": 262144,
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
    let found = read("[one]\nreadwrite=write\nblocksize=128k\nsize=1m\nruntime=1\n[two]\nruntime=1");
    let jobs = r#"{ "name": "one", "op": "write", "size": "128KiB", "span": "1MiB", "count": 8, "until": "1s" },
        { "name": "two", "op": "read", "from": "1MiB", "size": "4KiB", "until": "1s" }"#;
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
        if is_random { "shuffled" } else { "sequential" },
        if depth > 1 { "async" } else { "sync" },
        ["rt", "be", "idle"][usize::try_from(class).expect("a class")],
        span * 1_024 / kib
    );
    let mut fio = format!(
        "[j{number}]\nioengine=io_uring\nrw={}{op}\nbs={kib}k\niodepth={depth}\nprioclass={}\nprio={level}\ncpus_allowed={cpu}\nstartdelay={start}ms\n\
         runtime={}ms\nfilename=/dev/sda\noffset={from}m\nsize={}k\n",
        if is_random { "rand" } else { "" },
        class + 1,
        end - start,
        span * 1_024
    );
    if within(0, 1) == 0 {
        let think = within(1, 3_000);
        let _ = write!(json, r#", "think": "{think}us""#);
        if depth > 1 {
            // fio lets all I/Os end before it thinks.
            json += r#", "think_after": 1"#;
        }
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

/// fio reads `bs = 8k` as 8 bytes.
#[test]
fn a_unit_behind_a_blank_is_refused() {
    for option in ["bs = 8k", "size= 1m", "runtime = 2m", "bs=4k, 8k", "bssplit=4k/50: 8k/50"] {
        let wrong = read_fio(&format!("[a]\nsize=1m\n{option}\n"), &setup(), &mut ()).expect_err(option);
        assert!(wrong.first()[0].problem.contains("fio reads no unit behind a blank"), "{wrong}");
    }
    for option in ["bs =8k", "iodepth = 4", "filename = 8k", "runtime=2m "] {
        read(&format!("[a]\nsize=1m\n{option}\n"));
    }
}

/// Limits and weights of cgroups are refused, each with the reason.
#[test]
fn groups_of_processes_are_refused() {
    for option in ["cgroup=fast", "cgroup_weight=500"] {
        let wrong = read_fio(&format!("[a]\nsize=1m\n{option}\n"), &setup(), &mut ()).expect_err(option);
        assert!(wrong.first()[0].problem.contains("no group of processes is modelled"), "{wrong}");
    }
    assert!(read_fio("[a]\nsize=1m\ncgroup_weight=0\n", &setup(), &mut ()).is_ok());
    let cases = [
        ("io.max", "in front of the scheduler"),
        ("io.latency", "I/Os of other groups"),
        ("io.weight", "BFQ and io.cost"),
        ("io.cost", "costs of its own"),
        ("io.prio.class", "the `class` of each job"),
        ("io.prio", "one of `name`"),
    ];
    for (field, why) in cases {
        let job = format!(r#"{{ "name": "a", "op": "read", "size": "4KiB", "{field}": "1" }}"#);
        let text = format!(r#"{{ {SETUP}, "jobs": [{job}], "duration": "1s" }}"#);
        let wrong = read_scenario(&text, None).expect_err(field);
        let first = &wrong.first()[0];
        assert!(first.problem.contains(field) && first.expected.contains(why), "{wrong}");
    }
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
    for text in ["", "{ \"jobs\": [] }", "[]", "[\n  { } ]", "rw=read\n[a]\n", "; only a comment"] {
        assert!(!is_fio(text), "{text:?}");
    }
}

#[test]
fn what_is_wrong_is_pointed_at() {
    for (text, line, column, says) in [
        ("[a]\nruntime=1\nioengine=net\n", 3, 10, "a.ioengine: engine `net` does no block I/O"),
        ("[a]\niodeth=1\nruntime=1", 2, 1, "unknown option `iodeth` (expected `iodepth`, the nearest"),
        ("[a]\nruntime=1\nzonemode=zbd\n", 3, 1, "`zonemode`: zones are not modelled (expected a file without it)"),
        ("[a]\nruntime=1\nzonesize = 4k\n", 3, 1, "`zonesize`: zones are not modelled"),
        ("[a]\nruntime=1\nread_iolog=log\n", 3, 1, "`rtflash import fio` reads it"),
        ("[a]\nruntime=1\nbs =4x\n", 3, 5, "a.bs: `bs` is `4x` (expected whole bytes, such as 4096, 4k or 1m)"),
        ("[a]\nruntime=1\nbs\n", 3, 1, "`bs` has no value"),
        ("[a]\nruntime=1\nbs=0\n", 3, 4, "bytes above zero"),
        ("[a]\nruntime=1\nbssplit=4k/90:8k/20\n", 3, 9, "shares of more than 100 %"),
        ("[a]\nruntime=1\nbsrange=4k\n", 3, 9, "it is no range of sizes"),
        ("[a]\nruntime=1\nrw=read:8x\n", 3, 4, "bytes behind the colon, such as `read:8k`"),
        ("[a]\nruntime=1\nrw=read:-8k\n", 3, 4, "I/O from the end on without `size`"),
        ("[a]\nruntime=1\nrw=randread\n", 3, 4, "random I/O without `size`"),
        ("[a]\nruntime=1\nrw=randrw\nsize=1m\nrwmixread=101\n", 5, 11, "a whole number from 0 to 100"),
        ("[a]\nruntime=1\nrate=1m\nrate_iops=5\n", 4, 11, "`rate` and `rate_iops` (expected one of both)"),
        ("[a]\nruntime=1\nrate=1m\nrate_process=bursts\n", 4, 14, "`linear` or `poisson`"),
        ("[a]\nruntime=1\nwait_for=b\n", 3, 10, "no section above is called `b`"),
        ("[a]\nruntime=1\nsize=$mb_memory\n", 3, 1, "the memory of the machine is not in the file"),
        ("[a]\nruntime=1\ninclude other\n", 3, 1, "a.include: `other` cannot be read from here"),
        ("[a]\nruntime=1\nfilename=\n", 3, 1, "`filename` has no value"),
        (
            "[a]\nruntime=1\nsize=8192p\n[b]\nruntime=1\nsize=8191p\n[c]\nruntime=1\nsize=2p\n",
            7,
            1,
            "its file ends beyond 2^64 bytes",
        ),
        ("[a]\nruntime=1\nsize=20%\n", 3, 6, "whose length is not stated (expected `filesize=`"),
        ("[a]\nruntime=1\nsize=200%\n", 3, 6, "`size` is `200%`"),
        ("[a]\nfilename=/dev/sda\noffset=4g\n", 3, 8, "behind the end at 1073741824"),
        ("[a]\nruntime=1\nsize=1k\n", 3, 6, "`size` is shorter than an I/O"),
        ("[a]\nruntime=1\nprioclass=4\n", 3, 11, "0 (none), 1 (real-time)"),
        ("[a]\nruntime=1\nprio=8\n", 3, 6, "a whole number from 0 to 7"),
        ("[a]\nruntime=1\ncpus_allowed=0-4\n", 3, 14, "there is no core 4: the host has 4"),
        ("[a]\nruntime=0\n", 1, 1, "a job without an end"),
        ("[a]\nruntime=1\nstartdelay=5-1\n", 3, 12, "`startdelay` is no range of times"),
        ("[a]\nruntime=1\niodepth=4000000000\n", 3, 9, "a whole number from 1 to 16384"),
        ("[a]\nruntime=1\nnumjobs=5000\n", 3, 9, "a whole number from 1 to 4096"),
        ("[a]\nruntime=1\nbs=1t\n", 3, 4, "each I/O is cut into 16777216 requests"),
        ("[a]\nruntime=1\noffset=16383p\nsize=2p\n", 3, 8, "it ends beyond 2^64 bytes"),
        ("[a]\nruntime=100000d\nstartdelay=100000d\n", 2, 9, "it ends later than there is time"),
        ("[a]\nrw=read\n", 1, 1, "a job without an end"),
        ("[a\nruntime=1\n", 1, 1, "`[a` begins no section"),
        ("[]\n", 1, 1, "`[]` begins no section"),
        ("rw=read\n[a]\nruntime=1\n", 1, 1, "an option above all sections"),
        ("[global]\nruntime=1\n", 3, 1, "no jobs"),
    ] {
        let wrong = read_fio(text, &setup(), &mut ()).expect_err(text);
        let at = line_column(text, wrong.first()[0].range.start);
        assert_eq!(at, (line, column), "{text}{wrong}");
        assert!(wrong.to_string().contains(says), "{text}`{says}` in {wrong}");
        assert_eq!(wrong.count(), 1, "{wrong}");
    }
    // All of them, but not for ever.
    assert_eq!(read_fio("[global]\nx=1\ny=2\n[a]\n[b]\nz=1", &setup(), &mut ()).expect_err("faults").count(), 3);
    assert!(read_fio(&"x\n".repeat(1 << 20), &setup(), &mut ()).expect_err("faults").count() <= 1_000);
    assert!(
        read_fio(&format!("[a]\n{}", "x\n".repeat(1 << 20)), &setup(), &mut ()).expect_err("faults").count() <= 1_000
    );
}

/// Lines and bytes of job files, deleted, repeated, replaced and put into others: reading and
/// running them never panics.
#[test]
fn no_job_file_panics() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/jobs");
    let mut files: Vec<std::path::PathBuf> =
        std::fs::read_dir(folder).expect("job files").map(|entry| entry.expect("an entry").path()).collect();
    files.sort();
    let files = files.iter().filter(|path| path.extension().is_some_and(|ending| ending == "fio"));
    let mut texts: Vec<String> = files.map(|path| std::fs::read_to_string(path).expect("a job file")).collect();
    texts.push("[a]\nfilename=x:y\nnumjobs=$ncpus\nbs=$pagesize*2\nsize=${SIZE}1m\ncpus_allowed=0-3\nprio=1\n".into());
    let values =
        ["", "0", "1", "-1", "100%", "0%", "18446744073709551615", "16383p", "4k", "1-5", "a,b", ":", "4k/50:8k", "9s"];
    let (mut read, mut ran) = (0, 0);
    for seed in 0..6_000 {
        let mut rng = Stream::numbered(seed, b"fio-fuzz", 0);
        let mut lines: Vec<String> = texts[rng.index(texts.len())].lines().map(str::to_owned).collect();
        for _ in 0..rng.within(1, 6) {
            let (at, other) = (rng.index(lines.len()), texts[rng.index(texts.len())].clone());
            let others: Vec<&str> = other.lines().collect();
            match rng.within(0, 4) {
                0 => lines.insert(at, others[rng.index(others.len())].to_owned()),
                1 if lines.len() > 1 => drop(lines.remove(at)),
                2 => {
                    let name = lines[at].split('=').next().unwrap_or_default().to_owned();
                    lines[at] = format!("{name}={}", rng.one_of(&values));
                }
                3 => {
                    let mut bytes = lines[at].clone().into_bytes();
                    let place = rng.index(bytes.len() + 1);
                    bytes.insert(place, rng.one_of(b"0=[]:;#,%${}- kz\x00\xff"));
                    lines[at] = String::from_utf8_lossy(&bytes).into_owned();
                }
                _ => lines.push(lines[at].clone()),
            }
        }
        let Ok(jobs) = read_fio(&lines.join("\n"), &setup(), &mut ()) else { continue };
        read += 1;
        let scenario = Scenario {
            duration: jobs.scenario.duration.min(Instant::from_ns(300_000).expect("a time")),
            ..jobs.scenario
        };
        ran += u32::from(run(&scenario, seed).is_ok());
    }
    assert!(read > 1_000 && ran > 1_000, "{read} {ran}");
}

#[test]
fn a_job_flushes_after_every_nth_write() {
    let global = "[global]\nrw=write\nbs=4k\nsize=32k\nfilename=x\n";
    let section = |name: &str, fields: &str| {
        format!(r#"{{ "name": "{name}", "op": "write", "size": "4KiB", "span": "32KiB", "count": 8{fields} }}"#)
    };
    let found = read(&format!("{global}runtime=1\n[a]\nfsync=2\n[b]\nfdatasync=3\nfsync=5\n[c]\nfsync=0\n"));
    let jobs = [
        section("a", r#", "fsync": 2, "until": "1s""#),
        section("b", r#", "fsync": 3, "until": "1s""#),
        section("c", r#", "until": "1s""#),
    ];
    assert_eq!(found, json(&jobs.join(","), "1s"));
}

/// `fill_device` writes to the end of the device, and a file has the length that jobs above gave
/// it.
#[test]
fn files_have_the_length_that_is_known() {
    let spans = |text: &str| -> Vec<Option<u64>> { read(text).jobs.iter().map(|job| job.span).collect() };
    let fill = "[w]\nfilename=x\nrw=write\nbs=64k\nfill_device=1\n[r]\nstonewall\nfilename=x\nrw=read\nbs=64k\n";
    assert_eq!(spans(fill), [Some(1 << 30); 2]);
    let known = "[w]\nfilename=x\nrw=write\nsize=1m\n[r]\nfilename=x\nrw=randread\n[s]\nfilename=x\nsize=2m\n";
    assert_eq!(spans(known), [Some(1 << 20), Some(1 << 20), Some(2 << 20)]);
    // Files of its own, and a file without an end.
    assert_eq!(spans("[w]\nrw=write\nsize=1m\n[r]\nrw=read\nruntime=1\n"), [Some(1 << 20), None]);
    assert_eq!(spans("[w]\nfilename=x\nrw=write\nruntime=1\n[r]\nfilename=x\nruntime=1\n"), [None, None]);
    assert_eq!(spans("[b]\nioengine=libblkio\nlibblkio_path=/sys/y\nrw=randread\nruntime=1\n"), [Some(1 << 30)]);
}

/// Options that change nothing here are named once, and differences from fio one a line.
#[test]
fn remarks_name_options_and_differences() {
    let remarks = |text: &str| read_fio(text, &setup(), &mut ()).expect("a job file").remarks("x.fio");
    let text = "[global]\ngroup_reporting\nnorandommap\nrandrepeat=0\nsize=1m\nend_fsync=1\n[a]\nioengine=libaio\n\
                iodepth=4\nrw=write\nfsync=8\nrandrepeat=1\ndirect=0\nsync=0\n[b]\nend_fsync=1\nsync=dsync\ndirect=1\n";
    let lines = [
        "x.fio: ignored, as they change no I/O: group_reporting, randrepeat",
        "x.fio: differs from fio: `end_fsync`: no flush follows, and no write goes through the device's cache",
        "x.fio: differs from fio: `fsync`: one I/O of the job waits for a flush, and the others go on",
        "x.fio: differs from fio: `direct`: fio's I/O goes through the page cache. Here it is direct, as `host` \
         states no `page_cache`",
        "x.fio: differs from fio: `sync`: no flush follows, and no write goes through the device's cache",
    ];
    let mut found: Vec<String> = remarks(text).lines().map(str::to_owned).collect();
    let mut lines = lines.map(str::to_owned).to_vec();
    assert_eq!(found[0], lines[0]);
    found.sort();
    lines.sort();
    assert_eq!(found, lines);
    assert_eq!(remarks("[a]\nrw=read\nsize=1m\ndirect=1\n"), "");
}
