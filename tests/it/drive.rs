//! A drive that is known by measurements alone: `host protocol`, `fit`, `check`, and files that
//! install a setting.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::{Run, rtflash, rtflash_with_input};

fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
}

/// A trace as ftrace writes it: 19 rounds of lone commands, `times` as long as those of a line with
/// a spread of 20 µs.
fn trace(times: u64) -> String {
    let (mut text, mut now, mut drawn) = (String::new(), 1_000_000_000_u64, 1_u64);
    for _ in 0..19 {
        for (op, first, per_kib) in [("R", 100_000, 1_000), ("W", 200_000, 2_000)] {
            for number in 0..240_u64 {
                let sectors = [8, 64, 256, 1_024][usize::try_from(number % 4).expect("below four")];
                drawn = drawn.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                let took = (first + per_kib * sectors / 2 + (drawn >> 33) % 20_000) * times;
                let at = |ns: u64| format!("{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000);
                let place = 2_048 * (number + 1);
                // Writing to a string cannot fail.
                let _ = writeln!(
                    text,
                    "fio-1 [000] ..... {}: block_rq_issue: 7,0 {op} {} () {place} + {sectors} be,0,4 [fio]\n\
                     fio-1 [000] ..... {}: block_rq_complete: 7,0 {op} () {place} + {sectors} be,0,4 [0]",
                    at(now),
                    sectors * 512,
                    at(now + took)
                );
                now += took + 20_000;
            }
        }
    }
    text
}

/// A folder with a trace, and the device that is fitted to it.
fn fitted(name: &str, more: &[&str]) -> (PathBuf, Run) {
    let folder = folder(name);
    std::fs::write(folder.join("trace.txt"), trace(1)).expect("a trace");
    let [trace, drive] = ["trace.txt", "drive.json"].map(|name| folder.join(name).display().to_string());
    let run = rtflash(&[&["host", "fit", "--trace", &trace, "--out", &drive], more].concat());
    (folder, run)
}

#[test]
fn a_trace_becomes_a_device_with_bounds_and_limits() {
    let report = Path::new(env!("CARGO_TARGET_TMPDIR")).join("drive-fit.html");
    let (folder, run) = fitted("drive-fit", &["--report", &report.display().to_string()]);
    assert_eq!((run.status, run.stderr.as_str()), (0, ""), "{run:?}");
    assert!(run.stdout.contains("what can be claimed:"), "{}", run.stdout);
    let page = std::fs::read_to_string(&report).expect("a report");
    for caption in [
        "reads of rounds held out",
        "writes of rounds held out",
        "How far the line is off",
        "The longest command in each sixteenth of a round",
        "Medians of rounds: lone commands next to the line",
    ] {
        assert!(page.contains(caption), "{caption}");
    }
    let drive = folder.join("drive.json").display().to_string();
    let check = |times: u64| {
        let new = folder.join(format!("new{times}.txt"));
        std::fs::write(&new, trace(times)).expect("a trace");
        rtflash(&["host", "check", &drive, "--trace", &new.display().to_string(), "--format", "json"])
    };
    let kept = check(1);
    assert_eq!((kept.status, kept.json()["holds"].as_bool()), (0, Some(true)), "{kept:?}");
    assert_eq!(kept.json()["limits"].as_array().map(Vec::len), Some(8));
    let broken = check(3);
    assert_eq!((broken.status, broken.json()["holds"].as_bool()), (1, Some(false)), "{broken:?}");
    // The limits as a script need no new measurement.
    let script = rtflash(&["host", "check", &drive, "--script", "--of", "179:0"]);
    assert!(script.status == 0 && script.stdout.contains("tracepoint:block:block_rq_complete"), "{script:?}");
    // A job's I/O takes the longest command that was measured, with three digits.
    let scenario = r#"{ "device": "drive.json", "scheduler": { "name": "k2", "max_inflight": 1 }, "duration": "1s", "jobs": [
        { "name": "rt", "op": "read", "size": "4KiB", "class": "rt", "think": "2ms", "deadline": "200us" } ] }"#;
    std::fs::write(folder.join("scenario.json"), scenario).expect("a scenario");
    let bound = rtflash(&["host", "bound", &folder.join("scenario.json").display().to_string(), "--format", "json"]);
    let job = &bound.json_lines()[0]["jobs"][0];
    assert!(bound.status == 0 && job["in_time"] == true, "{bound:?}");
    let bound_ns = job["bound_ns"].as_u64().expect("a bound");
    assert!((120_000..=124_100).contains(&bound_ns), "{bound_ns}");
}

/// `--attach` is in the device's file. Without it, a sentence says what a bound needs.
#[test]
fn an_attachment_makes_a_bound() {
    let scenario = r#"{ "device": "drive.json", "scheduler": { "name": "k2", "max_inflight": 4 }, "duration": "1s",
        "jobs": [ { "name": "rt", "op": "read", "size": "4KiB", "class": "rt", "think": "2ms" } ] }"#;
    let bound = |name: &str, more: &[&str]| {
        let (folder, run) = fitted(name, &[more, &["--format", "json"]].concat());
        let answer = rtflash::answers::read::<rtflash::answers::DriveFitAnswer>(&run.stdout).expect("an answer");
        assert_eq!((run.status, answer.to_line()), (0, run.stdout));
        let answer = answer.answer.expect("a fit");
        std::fs::write(folder.join("scenario.json"), scenario).expect("a scenario");
        let path = folder.join("scenario.json").display().to_string();
        (answer.notes.concat(), rtflash(&["host", "bound", &path]).status)
    };
    let (notes, status) = bound("drive-unattached", &[]);
    assert!(notes.contains("at most one command out (`max_inflight`)") && status == 3, "{notes}");
    let (notes, status) = bound("drive-attached", &["--attach", "tags"]);
    assert!(!notes.contains("max_inflight") && status == 0, "{notes}");
    // A card's driver states its depth: 32 commands, or a list of 64, which K2 bounds one by one.
    assert_eq!(bound("drive-queueing-card", &["--attach", "mmc-cqe"]).1, 0);
    assert_eq!(bound("drive-card", &["--attach", "mmc"]).1, 3);
}

/// A run with writes on a drive of which reads alone were measured warns, and no bound is claimed:
/// flushes are treated alike.
#[test]
fn what_was_not_measured_has_no_bound() {
    let (folder, _) = fitted("drive-flushes", &[]);
    let path = |name: &str| folder.join(name).display().to_string();
    let reads =
        trace(1).lines().filter(|line| !line.contains(" W ")).fold(String::new(), |all, line| all + line + "\n");
    std::fs::write(folder.join("reads.txt"), reads).expect("a trace");
    assert_eq!(rtflash(&["host", "fit", "--trace", &path("reads.txt"), "--out", &path("reads.json")]).status, 0);
    let scenario = |device: &str, job: &str| {
        let text = format!(
            r#"{{ "device": "{device}", "scheduler": {{ "name": "k2", "max_inflight": 1 }}, "duration": "1s", "jobs": [
                {{ "name": "log", {job}, "size": "4KiB", "class": "rt", "think": "2ms" }} ] }}"#
        );
        std::fs::write(folder.join("s.json"), text).expect("a scenario");
        ["run", "bound"].map(|command| rtflash(&["host", command, &path("s.json")]))
    };
    for (device, job, why) in [
        ("reads.json", r#""op": "write""#, "no write was measured"),
        ("drive.json", r#""op": "write", "fsync": 4"#, "job `log` flushes the drive's cache"),
    ] {
        let [run, bound] = scenario(device, job);
        assert!(run.status == 0 && run.stderr.contains(&format!("warning: {why}")), "{run:?}");
        assert!(bound.status == 3 && bound.stderr.contains(why), "{bound:?}");
    }
    for device in ["reads.json", "drive.json"] {
        let [run, bound] = scenario(device, r#""op": "read""#);
        assert_eq!((run.stderr.as_str(), bound.status), ("", 0), "{bound:?}");
    }
}

/// The host of a device's file counts for the fields that the scenario's own host leaves out.
#[test]
fn a_device_brings_its_host() {
    let folder = folder("drive-host");
    let cost = r#"{ "first": "10us", "next": "5us", "per_kib": "1us" }"#;
    let drive = format!(
        r#"{{ "device": {{ "kind": "emmc", "read": {cost}, "write": {cost} }}, "host": {{ "max_sectors": "4KiB" }} }}"#
    );
    std::fs::write(folder.join("drive.json"), drive).expect("a device");
    let own = |host: &str| {
        let scenario = format!(
            r#"{{ "device": "drive.json", {host} "scheduler": {{ "name": "k2", "max_inflight": 1 }}, "duration": "1s", "jobs": [
                {{ "name": "rt", "op": "read", "size": "8KiB", "class": "rt", "think": "2ms" }} ] }}"#
        );
        let path = folder.join("scenario.json");
        std::fs::write(&path, scenario).expect("a scenario");
        let run = rtflash(&["host", "bound", &path.display().to_string(), "--format", "json"]);
        run.json_lines()[0]["jobs"][0]["bound_ns"].as_u64()
    };
    // The I/O is two commands of 4 KiB, or one of 8 KiB.
    assert_eq!(own(""), Some(23_000));
    assert_eq!(own(r#""host": { "cpus": 2 },"#), Some(23_000));
    assert_eq!(own(r#""host": { "max_sectors": "8KiB" },"#), Some(18_000));
}

/// Jobs with others in flight have no log: fio's latencies contain the wait.
#[test]
fn the_protocol_measures_what_a_scenario_does() {
    let scenario = folder("drive-protocol").join("s.json");
    let text = r#"{ "device": { "kind": "emmc", "read": { "first": "10us", "next": "5us", "per_kib": "1us" },
        "write": { "first": "10us", "next": "5us", "per_kib": "1us" } }, "duration": "1s", "jobs": [
        { "name": "rt", "op": "write", "size": "16KiB", "class": "rt", "level": 2, "every": "20ms" },
        { "name": "deep", "op": "read", "size": "4KiB", "class": "rt", "depth": 3 },
        { "name": "rest", "op": "read", "size": "512KiB", "class": "idle" } ] }"#;
    std::fs::write(&scenario, text).expect("a scenario");
    let run = rtflash(&["host", "protocol", "--filename", "/dev/none", "--scenario", &scenario.display().to_string()]);
    assert!(run.status == 0 && run.stderr.contains("overwrite the first 1GiB of /dev/none"), "{run:?}");
    let sections: Vec<&str> = run.stdout.split("\n[").filter(|part| part.starts_with("r07-")).collect();
    let section = |name: &str| {
        let found = sections.iter().find(|part| part.starts_with(&format!("r07-{name}]")));
        found.unwrap_or_else(|| panic!("no {name} in {sections:?}"))
    };
    let own = section("own0");
    let options =
        ["rw=write", "bs=16384", "prioclass=1", "prio=2", "rate_iops=50", "stonewall", "write_lat_log=r07-own0"];
    assert!(options.iter().all(|option| own.lines().any(|line| line == *option)), "{own}");
    let deep = section("own1");
    assert!(deep.contains("iodepth=3") && !deep.contains("write_lat_log"), "{deep}");
    // All jobs run together: the first alone waits for the part before.
    assert!(section("own-0").contains("stonewall") && section("own-2").contains("prioclass=3"));
    assert!(!section("own-1").contains("stonewall") && !section("own-2").contains("stonewall"));
    assert!(section("classes-0").contains("thinktime=2000") && section("classes-1").contains("prioclass=2"));
    let logged = sections.iter().filter(|part| part.contains("write_lat_log")).count();
    assert_eq!(logged, 5, "read, write, idle, idlew, own0");
}

/// A lone JSON of fio belongs to all logs, wherever it stands. An I/O counts once.
#[test]
fn fio_s_files_come_in_any_order() {
    let folder = folder("drive-fio-files");
    let json = r#"{ "fio version": "fio-3.33", "global options": { "direct": "1" },
        "jobs": [ { "jobname": "a", "job options": { "write_lat_log": "a" } } ] }"#;
    let log = "1, 100000, 0, 4096, 0\n2, 100000, 0, 4096, 0\n";
    for (name, text) in [("run.json", json), ("a_lat.1.log", log), ("a_clat.1.log", log)] {
        std::fs::write(folder.join(name), text).expect("a file");
    }
    let [json, log, again, out] =
        ["run.json", "a_lat.1.log", "a_clat.1.log", "out.json"].map(|name| folder.join(name).display().to_string());
    let fit = |files: &[&str]| rtflash(&[&["host", "fit", "--out", &out, "--fio"], files].concat());
    for files in [[&*json, &*log], [&*log, &*json]] {
        let run = fit(&files);
        assert!(run.status == 3 && run.stderr.contains("rounds"), "{run:?}");
    }
    let twice = fit(&[&log, &again, &json]);
    assert!(twice.status == 2 && twice.stderr.contains("were read before"), "{twice:?}");
    let alone = fit(&[&log]);
    assert!(alone.status == 2 && alone.stderr.contains("--fio RUN.json"), "{alone:?}");
}

/// The scripts set the queue and set it back, on files as Linux has them.
#[test]
fn a_chosen_setting_is_installed_and_undone() {
    let scenario = r#"{ "device": { "kind": "emmc", "depth": 1, "read": { "first": "200us", "next": "100us", "per_kib": "10us" },
        "write": { "first": "500us", "next": "300us", "per_kib": "15us" } }, "duration": "500ms", "jobs": [
        { "name": "rt job", "op": "read", "size": "64KiB", "class": "rt", "level": 2, "think": "2ms" },
        { "name": "log", "op": "write", "size": "512KiB", "class": "idle", "depth": 4 } ] }"#;
    let folder = folder("drive-install");
    let (files, figures) = (folder.join("files"), folder.join("figures"));
    let [out, drawn] = [&files, &figures].map(|path| path.display().to_string());
    let call = ["host", "tune", "-", "--objective", "bandwidth-share=1%", "--scheduler", "mq-deadline"];
    let more = ["--install", &out, "--block", "sdx", "--figures", &drawn];
    let run = rtflash_with_input(&[&call[..], &more].concat(), scenario.as_bytes());
    assert_eq!((run.status, run.stderr.as_str()), (0, ""), "{run:?}");
    assert!(run.stdout.contains("echo mq-deadline > /sys/block/sdx/queue/scheduler"), "{}", run.stdout);
    // No queue bound is no curve.
    assert!(figures.join("settings-latency.svg").exists() && !figures.join("tradeoff-latency.svg").exists());
    let queue = folder.join("sys/block/sdx/queue");
    std::fs::create_dir_all(queue.join("iosched")).expect("a folder");
    let file = |name: &str| queue.join(name);
    for (name, text) in
        [("scheduler", "none [bfq] mq-deadline\n"), ("nr_requests", "64\n"), ("iosched/slice_idle", "8\n")]
    {
        std::fs::write(file(name), text).expect("a file");
    }
    let script = |name: &str| {
        let mut command = Command::new("sh");
        command.arg(files.join(name)).env("SYSFS", folder.join("sys")).env("KEPT", folder.join("kept"));
        command.status().expect("a shell").code()
    };
    let read = |name: &str| std::fs::read_to_string(file(name)).expect("a file").trim().to_owned();
    assert_eq!(script("set.sh"), Some(0));
    assert_eq!([read("scheduler"), read("nr_requests"), read("iosched/async_depth")], ["mq-deadline", "256", "256"]);
    // The first values are kept.
    assert_eq!(script("set.sh"), Some(0));
    assert_eq!(script("undo.sh"), Some(0));
    assert_eq!([read("scheduler"), read("nr_requests"), read("iosched/slice_idle")], ["bfq", "64", "8"]);
    assert_eq!(script("undo.sh"), Some(1), "nothing is left to undo");
    let text = |name: &str| std::fs::read_to_string(files.join(name)).expect("a file");
    let rule = text("60-rtflash-sdx.rules");
    assert!(rule.contains(r#"KERNEL=="sdx", ATTR{queue/scheduler}="mq-deadline", ATTR{queue/nr_requests}="256""#));
    let [urgent, rest] = ["job0-rt-job.conf", "job1-log.conf"].map(text);
    assert!(urgent.contains("[Service]\nIOSchedulingClass=realtime\nIOSchedulingPriority=2\n"), "{urgent}");
    assert!(rest.contains("IOSchedulingClass=idle") && rest.contains("# Undo: rm /etc/systemd"), "{rest}");
    let alone = rtflash_with_input(&[&call[..], &["--install", &out]].concat(), scenario.as_bytes());
    assert!(alone.status == 2 && alone.stderr.contains("--block"), "{alone:?}");
}
