//! `experiment` and `merge`, as a user runs them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::common::{Run, root, rtflash, rtflash_with_input};

/// An empty place for the results of one test.
fn place(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{}-experiment-{name}", std::process::id()));
    let _ = fs::remove_dir_all(&path);
    path
}

/// Runs a command whose last word is the place of its results.
fn experiment(command: &str, out: &Path) -> Run {
    let out = out.display().to_string();
    rtflash(&command.split_whitespace().chain(["--out", &out]).collect::<Vec<_>>())
}

/// All files of a directory.
fn files(path: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(path).expect("results");
    let file = |entry: fs::DirEntry| {
        (entry.file_name().into_string().expect("a name"), fs::read(entry.path()).expect("a file"))
    };
    entries.map(|entry| file(entry.expect("an entry"))).collect()
}

fn assert_same(one: &Path, other: &Path) {
    let (one, other) = (files(one), files(other));
    assert_eq!(one.keys().collect::<Vec<_>>(), other.keys().collect::<Vec<_>>());
    for (name, content) in &one {
        assert!(content == &other[name], "{name} differs");
    }
}

/// The cells of a table, by column.
fn rows(text: &str) -> Vec<BTreeMap<String, String>> {
    let mut lines = text.lines();
    let names: Vec<&str> = lines.next().expect("names").split(',').collect();
    lines
        .map(|line| {
            let cells: Vec<&str> = line.split(',').collect();
            assert_eq!(cells.len(), names.len(), "{line}");
            names.iter().zip(cells).map(|(name, cell)| ((*name).to_owned(), cell.to_owned())).collect()
        })
        .collect()
}

fn results(path: &Path) -> Vec<BTreeMap<String, String>> {
    rows_of(path, "results.csv")
}

fn rows_of(path: &Path, table: &str) -> Vec<BTreeMap<String, String>> {
    rows(&fs::read_to_string(path.join(table)).expect("a table"))
}

const SMALL: &str = "experiment schedulability --util 0.5..3.5 --step 0.5 --sets 6 --analyses thesis,thesis-evaluated";

#[test]
fn results_are_those_of_gen_and_alloc() {
    let out = place("counts");
    let run = experiment("experiment schedulability --util 0.9..2.1 --step 0.4 --sets 25 --seed 7 --jobs 2", &out);
    assert_eq!((run.status, run.stderr.as_str()), (0, ""), "{run:?}");
    assert!(run.stdout.contains("clustering-bfd schedules"), "{}", run.stdout);
    let sets = rtflash(&["gen", "--util", "0.9..2.1", "--step", "0.4", "--sets", "25", "--seed", "7"]).stdout;
    let found = results(&out);
    assert_eq!(found.len(), 16);
    for algorithm in ["clustering-bfd", "equal-split", "part-ftl", "global"] {
        let answers =
            rtflash_with_input(&["alloc", "-", "--format", "json", "--algorithm", algorithm], sets.as_bytes());
        for utilization in ["0.9", "1.3", "1.7", "2.1"] {
            let yes = answers.json_lines().into_iter().filter(|answer| {
                answer["schedulable"] == true && answer["meta"]["utilization"].as_f64() == utilization.parse().ok()
            });
            let row = found.iter().find(|row| row["utilization"] == utilization && row["algorithm"] == algorithm);
            let row = row.expect("a row");
            assert_eq!((row["schedulable"].clone(), row["sets"].as_str()), (yes.count().to_string(), "25"));
        }
    }
    let names: Vec<String> = files(&out).into_keys().collect();
    let expected = [
        ".rtflash-lock",
        "figure.dat",
        "figure.pdf",
        "figure.png",
        "figure.svg",
        "figure.tex",
        "manifest.json",
        "paired.csv",
        "results.csv",
        "summary.json",
        "tallies.json",
    ];
    assert_eq!(names, expected);
    let text = fs::read_to_string(out.join("results.csv")).expect("results.csv");
    assert!(text.starts_with(
        "utilization,algorithm,analysis,sets,schedulable,ratio,ci_low,ci_high\n0.9,clustering-bfd,thesis,25,"
    ));
}

#[test]
fn neither_threads_nor_shards_show() {
    let (one, two, joined) = (place("one"), place("two"), place("joined"));
    assert_eq!(experiment(&format!("{SMALL} --jobs 1"), &one).status, 0);
    assert_eq!(experiment(&format!("{SMALL} --jobs 3"), &two).status, 0);
    assert_same(&one, &two);
    let parts: Vec<PathBuf> = (0..3).map(|part| place(&format!("part{part}"))).collect();
    for (part, out) in parts.iter().enumerate() {
        assert_eq!(experiment(&format!("{SMALL} --shard {part}/3"), out).status, 0);
        let sets: u64 = results(out)
            .iter()
            .filter(|row| row["algorithm"] == "global" && row["analysis"] == "thesis")
            .map(|row| row["sets"].parse::<u64>().expect("a number"))
            .sum();
        assert_eq!(sets, 14);
    }
    let merge = |parts: &[&PathBuf], out: &Path| {
        let words = parts.iter().map(|part| part.display().to_string()).collect::<Vec<_>>().join(" ");
        experiment(&format!("merge {words}"), out)
    };
    // In any order.
    let all: Vec<&PathBuf> = parts.iter().rev().collect();
    let run = merge(&all, &joined);
    assert_eq!(run.status, 0, "{run:?}");
    assert_same(&one, &joined);
    // Again, into the same place: nothing changes.
    assert_eq!(merge(&all, &joined).status, 0);
    assert_same(&one, &joined);
    let refused = |parts: &[&PathBuf], problem: &str| {
        let out = place("refused");
        let run = merge(parts, &out);
        assert!(run.status == 2 && run.stderr.contains(problem) && !out.exists(), "{run:?}");
    };
    refused(&all[1..], "1 part is missing: 2/3");
    refused(&[&all[..], &all[..1]].concat(), "a part that is there twice");
    refused(&[&all[..2], &[&one]].concat(), "another experiment");
    refused(&[&place("nowhere")], "holds no part of an experiment");
    let run = merge(&all, &parts[0]);
    assert!(run.status == 2 && run.stderr.contains("another part of this experiment"), "{run:?}");
}

#[test]
fn an_analysis_has_its_own_sets_unless_told_otherwise() {
    let command =
        "experiment schedulability --util 0.8..2.8 --step 0.5 --sets 15 --no-figure --algorithms clustering-bfd,global";
    let of = |options: &str, analysis: &str| {
        let out = place("analyses");
        assert_eq!(experiment(&format!("{command} {options}"), &out).status, 0);
        let rows: Vec<_> = results(&out).into_iter().filter(|row| row["analysis"] == analysis).collect();
        let pairs = rows_of(&out, "paired.csv").len();
        (rows, pairs)
    };
    for analysis in ["thesis", "thesis-evaluated"] {
        let (alone, _) = of(&format!("--analyses {analysis}"), analysis);
        let (both, pairs) = of("--analyses thesis,thesis-evaluated", analysis);
        assert_eq!(alone, both);
        // One pair of algorithms under each analysis, at five points.
        assert_eq!(pairs, 2 * 5);
    }
    let (same, pairs) = of("--analyses thesis,thesis-evaluated --analysis thesis", "thesis-evaluated");
    assert_ne!(same, of("--analyses thesis-evaluated", "thesis-evaluated").0);
    assert_eq!(pairs, 6 * 5);
    let out = place("several");
    let run = experiment("experiment bandwidth --analyses thesis,thesis-evaluated", &out);
    assert!(run.status == 2 && run.stderr.contains("say which of the analyses they are made for"), "{run:?}");
}

/// The necessary tests suppose a device that collects. The bound of zones is counted by itself.
#[test]
fn zones_have_a_bound_of_their_own() {
    let command = "experiment schedulability --util 1.0..4.0 --step 1.0 --sets 3 --no-figure --access stream \
                   --tasks 8 --algorithms best-fit --analysis stripe --device \
                   {\"profile\":\"dgist-2021\",\"chips\":8,\"logical_ratio\":0.75}";
    let of = |analyses: &str| {
        let out = place("zones");
        let run = experiment(&format!("{command} --analyses {analyses}"), &out);
        assert_eq!(run.status, 0, "{run:?}");
        let text = fs::read_to_string(out.join("summary.json")).expect("a summary");
        let summary: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        let rows = summary["contenders"].as_array().expect("rows").clone();
        let row = |row: &serde_json::Value| {
            (
                row["analysis"].as_str().expect("a name").to_owned(),
                (row["schedulable"].clone(), row["of_possible"].clone()),
            )
        };
        (rows.iter().map(row).collect::<BTreeMap<_, _>>(), run.stdout)
    };
    let number = |of: &serde_json::Value| of.as_f64().expect("a number");
    let (both, text) = of("stripe,zoned,necessary");
    assert_eq!(both.keys().collect::<Vec<_>>(), ["necessary", "necessary-with-zones", "stripe", "zoned"]);
    assert!(text.contains("any (necessary-with-zones)"), "{text}");
    for (analysis, bound) in [("stripe", "necessary"), ("zoned", "necessary-with-zones")] {
        let (schedulable, share) = &both[analysis];
        assert!((number(share) - number(schedulable) / number(&both[bound].0)).abs() < 1e-9, "{both:?}");
        assert!(number(share) > 0.0 && number(share) <= 1.0, "{both:?}");
    }
    // Alone it has no other.
    let (alone, _) = of("zoned,necessary");
    assert_eq!(alone.keys().collect::<Vec<_>>(), ["necessary-with-zones", "zoned"]);
    assert_eq!(alone["zoned"], both["zoned"]);
    let (without, _) = of("stripe,necessary");
    assert_eq!(without["stripe"], both["stripe"]);
}

#[test]
fn access_is_what_an_experiment_depends_on() {
    let (random, mixed) = (place("random"), place("mixed"));
    let command = "experiment schedulability --util 0.9..2.1 --step 0.4 --sets 10 --no-figure";
    assert_eq!(experiment(command, &random).status, 0);
    let manifest = |path: &Path| -> serde_json::Value {
        serde_json::from_slice(&fs::read(path.join("manifest.json")).expect("a manifest")).expect("JSON")
    };
    assert_eq!(manifest(&random)["access"], "random");
    // Another experiment: it does not go on in the same place.
    let run = experiment(&format!("{command} --access mixed"), &random);
    assert_eq!(run.status, 2, "{run:?}");
    assert_eq!(experiment(&format!("{command} --access mixed"), &mixed).status, 0);
    // The thesis's analyses take every request for a random one, and the sets are the same
    // otherwise.
    assert_eq!(results(&mixed), results(&random));
}

#[test]
fn a_manifest_repeats_its_experiment() {
    let (first, second) = (place("first"), place("second"));
    let device = r#"{"profile":"dgist-2021","chips":5,"block_erase":"2ms"}"#;
    let words = [
        "experiment",
        "schedulability",
        "--device",
        device,
        "--sweep",
        "logical-ratio=0.30,0.6",
        "--util",
        "0.4..1",
        "--step",
        "0.3",
        "--sets",
        "6",
        "--tasks",
        "5",
        "--write-share",
        "0.250",
        "--access",
        "mixed",
        "--seed",
        "99",
        "--algorithms",
        "exact,clustering-bfd",
        "--analysis",
        "thesis-evaluated",
        "--generator",
        "randfixedsum",
        "--period",
        "10ms..1s",
        "--period-distribution",
        "log-uniform",
    ];
    let run = |words: &[&str], out: &Path| rtflash(&[words, &["--out", &out.display().to_string()]].concat());
    assert_eq!(run(&words, &first).status, 0);
    let manifest: serde_json::Value =
        serde_json::from_slice(&fs::read(first.join("manifest.json")).expect("a manifest")).expect("JSON");
    let command: Vec<&str> =
        manifest["command"].as_array().expect("words").iter().map(|word| word.as_str().expect("a word")).collect();
    assert_eq!((command[0], manifest["access"].as_str()), ("rtflash", Some("mixed")));
    assert_eq!(manifest["period_distribution"], "log-uniform");
    assert_eq!(run(&command[1..], &second).status, 0);
    assert_same(&first, &second);
}

#[test]
fn a_killed_run_goes_on() {
    let (straight, killed) = (place("straight"), place("killed"));
    let command = "experiment schedulability --sets 1500 --algorithms clustering-bfd,global --jobs 2 --no-figure";
    assert_eq!(experiment(command, &straight).status, 0);
    for _ in 0..50 {
        let mut child = Command::new(env!("CARGO_BIN_EXE_rtflash"))
            .args(command.split_whitespace())
            .arg("--out")
            .arg(&killed)
            .current_dir(root())
            .stdout(Stdio::null())
            .spawn()
            .expect("the command starts");
        // Not before it has got somewhere.
        let before = fs::read(killed.join("tallies.json")).ok();
        let started = Instant::now();
        let ended = loop {
            if let Some(status) = child.try_wait().expect("a status") {
                break Some(status);
            }
            if fs::read(killed.join("tallies.json")).ok() != before || started.elapsed() > Duration::from_secs(60) {
                break None;
            }
            std::thread::sleep(Duration::from_millis(20));
        };
        if let Some(status) = ended {
            assert!(status.success());
            break;
        }
        // A run beside it finds the directory locked, unless the first run has just ended.
        let beside = experiment("experiment schedulability --sets 1501 --no-figure", &killed);
        let told = ["another process is at work in", "holds another experiment"];
        assert!(beside.status == 2 && told.iter().any(|told| beside.stderr.contains(told)), "{beside:?}");
        child.kill().expect("it is killed");
        // As if in the middle of writing.
        fs::write(killed.join(".tallies.json.a1b2c3.rtflash"), "{").expect("written");
        child.wait().expect("it ends");
        // A run with other options finds that this place is taken.
        let other = experiment("experiment schedulability --sets 1501 --no-figure", &killed);
        assert!(other.status == 2 && other.stderr.contains("holds another experiment"), "{other:?}");
    }
    assert_same(&straight, &killed);
}

#[test]
fn write_heavy_goes_from_none_to_all() {
    let out = place("heavy");
    let run = experiment(
        "experiment write-heavy --tasks 4 --sets 10 --device {\"profile\":\"dgist-2021\",\"chips\":8} --util 1.2",
        &out,
    );
    assert_eq!(run.status, 0, "{run:?}");
    let found: Vec<String> =
        results(&out).iter().filter(|row| row["algorithm"] == "global").map(|row| row["write_heavy"].clone()).collect();
    assert_eq!(found, ["0", "1", "2", "3", "4"]);
    for (command, problem) in [
        ("experiment write-heavy --write-heavy 3", "leave --write-heavy and --write-share out"),
        ("experiment write-heavy --sweep chips=4", "write-heavy is a sweep itself"),
        ("experiment schedulability --sweep chips=0", "chips=0: chips: `chips` is zero"),
        ("experiment schedulability --sweep write_heavy=9", "write_heavy=9: 9 write-heavy tasks are more"),
        (
            "experiment schedulability --write-share 1 --sweep write_heavy=1",
            "leave --write-heavy and --write-share out",
        ),
        ("experiment schedulability --jobs 65535", "65535 is not in 1..=1024"),
        ("experiment schedulability --algorithms best", "--algorithms best: there is no algorithm `best`"),
        ("experiment schedulability --algorithms global+tbs", "a server belongs to `experiment bandwidth` alone"),
        ("experiment schedulability --algorithms global,global", "is there twice"),
        ("experiment bandwidth --algorithms part-ftl", "there is nothing to run"),
        ("experiment bandwidth --duration 0s", "nothing happens in no time"),
        ("experiment bandwidth --gap 1ms..100us", "expected two times, the shorter first"),
        ("experiment schedulability --shard 2/2", "part 2 of 2: parts are counted from 0 to 1"),
        ("experiment schedulability --sets 0", "--sets 0"),
        ("experiment schedulability --util 3..1", "runs backwards"),
        ("experiment write-heavy --generator heavy-writers --util 2", "leave --util out"),
        ("experiment schedulability --generator heavy-writers --write-share 1", "no share of writes goes with it"),
        ("experiment bandwidth --warmup soon", "expected a time such as 20s, or 0s"),
    ] {
        let out = place("nothing");
        let run = experiment(command, &out);
        assert!(run.status == 2 && run.stderr.contains(problem) && !out.exists(), "{command}: {run:?}");
    }
}

/// Each number of heavy writers is a point without a total, and the manifest repeats it.
#[test]
fn heavy_writers_have_no_total() {
    let (first, second) = (place("writers"), place("writers-again"));
    let command = "experiment write-heavy --generator heavy-writers --tasks 4 --sets 5 --no-figure";
    let run = experiment(command, &first);
    assert_eq!(run.status, 0, "{run:?}");
    let found = results(&first).into_iter().filter(|row| row["algorithm"] == "global");
    let found: Vec<(String, String)> =
        found.map(|row| (row["write_heavy"].clone(), row["utilization"].clone())).collect();
    let means = ["1", "1.35", "1.7", "2.05", "2.4"].map(String::from);
    assert_eq!(found, ["0", "1", "2", "3", "4"].map(String::from).into_iter().zip(means).collect::<Vec<_>>());
    let manifest: serde_json::Value =
        serde_json::from_slice(&fs::read(first.join("manifest.json")).expect("a manifest")).expect("JSON");
    assert_eq!(manifest["utilizations"], serde_json::json!([]));
    let words = manifest["command"].as_array().expect("words").iter().skip(1);
    let words = words.map(|word| word.as_str().expect("a word")).collect::<Vec<_>>().join(" ");
    assert_eq!(experiment(&format!("{words} --no-figure"), &second).status, 0);
    assert_same(&first, &second);
}

/// Pages before the end of the warm-up do not count.
#[test]
fn a_warm_up_is_not_counted() {
    let (at_first, behind) = (place("at-first"), place("behind"));
    let command = "experiment bandwidth --util 1 --sets 1 --no-figure --duration 200ms \
                   --device {\"profile\":\"dgist-2021\",\"blocks_per_chip\":64}";
    let pages = |warmup: &str, out: &Path| {
        assert_eq!(experiment(&format!("{command} --warmup {warmup}"), out).status, 0);
        let found = results(out).into_iter().filter(|row| row["job"] == "read");
        found.map(|row| row["pages_per_second"].parse().expect("a number")).collect::<Vec<f64>>()
    };
    let (at_first, behind) = (pages("0s", &at_first), pages("2s", &behind));
    assert!(!at_first.is_empty() && at_first.len() == behind.len());
    for (at_first, behind) in at_first.into_iter().zip(behind) {
        // All reads are served: about as many behind a warm-up of ten times the length as at first.
        assert!((behind / at_first - 1.0).abs() < 0.3, "{at_first} {behind}");
    }
}

#[test]
fn what_cannot_be_told_is_said() {
    let out = place("untold");
    let command = "experiment schedulability --util 0.5 --sets 5 --device {\"profile\":\"dgist-2021\",\"chips\":3}";
    let run = experiment(command, &out);
    assert!(run.status == 3 && run.stderr.contains("part-ftl cannot tell for 5 of 5 sets"), "{run:?}");
    let row = results(&out).into_iter().find(|row| row["algorithm"] == "part-ftl").expect("a row");
    assert_eq!((row["sets"].as_str(), row["ratio"].as_str(), row["ci_low"].as_str()), ("0", "", ""));
    let out = place("undrawn");
    let run =
        experiment("experiment schedulability --util 1.5..2.5 --step 1 --sets 5 --sweep tasks=2,3 --no-figure", &out);
    assert!(run.status == 3 && run.stderr.contains("5 sets could not be drawn"), "{run:?}");
}

#[test]
fn bandwidth_is_measured_on_the_same_sets() {
    let (one, two) = (place("bandwidth1"), place("bandwidth2"));
    let device = r#"{"profile":"dgist-2021","blocks_per_chip":64}"#;
    let command = format!(
        "experiment bandwidth --util 0.4..1.6 --step 0.6 --sets 4 --warmup 0s --duration 200ms --analysis thesis-evaluated --device {device} \
         --algorithms clustering-bfd,clustering-bfd+background,equal-split"
    );
    let run = experiment(&format!("{command} --jobs 1"), &one);
    assert_eq!(run.status, 0, "{run:?}");
    assert_eq!(experiment(&format!("{command} --jobs 2"), &two).status, 0);
    assert_same(&one, &two);
    let found = results(&one);
    assert_eq!(found.len(), 3 * 2 * 3);
    for row in &found {
        let number = |name: &str| row[name].parse::<f64>().expect("a number");
        assert!(number("ci_low") <= number("pages_per_second") && number("pages_per_second") <= number("ci_high"));
        // No more than arrives: 20 or 5 pages each 550 us, on average.
        let most = if row["job"] == "read" { 20.0 } else { 5.0 } / 100e-6;
        assert!(number("pages_per_second") > 0.0 && number("pages_per_second") < most, "{row:?}");
        assert_eq!(row["deadline_misses"], "0");
    }
    assert!(one.join("figure-read.pdf").exists() && one.join("figure-write.svg").exists());
}

/// Without a list of algorithms, those are compared that the analyses can decide on.
#[test]
fn the_usual_algorithms_suit_the_analysis() {
    let header = |analyses: &str, name: &str| {
        let out = place(name);
        let run = experiment(&format!("experiment schedulability --util 0.5 --sets 2 --tasks 3 {analyses}"), &out);
        assert_eq!(run.status, 0, "{run:?}");
        String::from_utf8(fs::read(out.join("results.csv")).expect("results")).expect("text")
    };
    assert!(header("", "usual").contains("part-ftl"));
    for analyses in ["--analysis sound", "--analyses thesis,stripe"] {
        assert!(!header(analyses, "usual-placed").contains("part-ftl"), "{analyses}");
    }
}
