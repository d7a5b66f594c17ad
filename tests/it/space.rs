//! Data that do not fit: every command and format says so, in pages and bytes, under every analysis
//! and algorithm; and every quantity has a name of its own.

use proptest::prelude::*;
use rtflash::alloc::advice::advise;
use rtflash::alloc::allocator::{ALLOCATORS, Outcome, allocator};
use rtflash::alloc::analysis::{ANALYSES, Thesis, analysis};
use rtflash::alloc::reason::Reason;
use rtflash::alloc::sizing::size;
use rtflash::alloc::verdict::{in_time, passing, spaces};
use rtflash::check::{Equations, verify, verify_certified};
use rtflash::model::{
    Access, Device, DeviceSpec, LogicalRatio, Request, Span, Task, TaskSet, read_task_set, write_task_set,
};
use serde_json::{Value, json};

use crate::common::{Run, file, rtflash, rtflash_with_input};

/// Tasks that hardly do anything and keep `data` pages, on the thesis's device of `chips` chips:
/// 131,072 logical pages a chip, of 8 KiB.
fn keeping(chips: u32, data: &[u64]) -> String {
    let tasks: Vec<Value> = data
        .iter()
        .enumerate()
        .map(|(index, pages)| json!({ "name": format!("t{index}"), "read": { "pages": 4, "period": "500ms" }, "data_pages": pages }))
        .collect();
    json!({ "device": { "profile": "dgist-2021", "chips": chips }, "tasks": tasks }).to_string()
}

/// The case of issue 11: 800,000 pages on a device of 524,288.
fn quoted() -> String {
    keeping(4, &[400_000, 400_000])
}

fn run(command: &[&str], set: &str) -> Run {
    rtflash_with_input(command, set.as_bytes())
}

fn names(analysis: &str, algorithm: &str) -> [String; 4] {
    ["--analysis".into(), analysis.into(), "--algorithm".into(), algorithm.into()]
}

/// `alloc` in both formats, with the exit status of both.
fn alloc(set: &str, analysis: &str, algorithm: &str) -> (i32, Value, String) {
    let options = names(analysis, algorithm);
    let options: Vec<&str> = options.iter().map(String::as_str).collect();
    let json = run(&[&["alloc", "-", "--format", "json"], &options[..]].concat(), set);
    let text = run(&[&["alloc", "-"], &options[..]].concat(), set);
    assert_eq!((json.status, &json.stderr), (text.status, &text.stderr));
    (json.status, json.json(), text.stdout)
}

#[test]
fn data_that_do_not_fit_are_refused_by_every_algorithm_under_every_analysis() {
    for analysis in ANALYSES {
        for allocator in ALLOCATORS {
            let context = format!("{} {}", analysis.name(), allocator.name());
            let (status, answer, text) = alloc(&quoted(), analysis.name(), allocator.name());
            // Zones have all pages that the blocks have.
            if analysis.owns_zones() && allocator.name() != "part-ftl" {
                continue;
            }
            if allocator.name() == "part-ftl" && !analysis.placements().is_empty() {
                assert_eq!((status, &answer["schedulable"]), (3, &Value::Null), "{context}");
                continue;
            }
            assert_eq!((status, &answer["schedulable"]), (1, &json!(false)), "{context}");
            let unplaced = &answer["unplaced"];
            assert_eq!(
                (&unplaced["reason"], &unplaced["best_utilization"]),
                (&json!("data"), &Value::Null),
                "{context}"
            );
            assert!(unplaced["task"].is_string(), "{context}");
            let [data, there] =
                ["needed_pages", "logical_pages"].map(|field| unplaced[field].as_u64().expect("a number of pages"));
            assert!(data > there && unplaced["logical_bytes"] == json!(there * 8192), "{context}: {unplaced}");
            assert_eq!((&answer["data"]["fits"], &answer["data"]["data_pages"]), (&json!(false), &json!(800_000)));
            assert_eq!(answer["data"]["data_bytes"], json!(800_000u64 * 8192), "{context}");
            assert!(
                text.lines().take(3).any(|line| line.contains("  not schedulable: ") || line.contains("device   no: "))
                    && text.contains(" do not fit"),
                "{context}: {text}"
            );
            for number in ["400,000", "3,276,800,000"] {
                assert!(text.contains(number), "{context}: {number} in {text}");
            }
            assert!(!text.contains("U = "), "{context}: {text}");
            let thesis = analysis.placements().is_empty();
            assert_eq!(text.contains("knows nothing of space"), thesis, "{context}: {text}");
        }
    }
}

/// The thesis's algorithms know nothing of data: with and without, they choose the same clusters.
#[test]
fn the_thesis_chooses_as_before() {
    let with = read_task_set(&quoted()).expect("a task set").set;
    let tasks: Vec<Task> = with.tasks().iter().map(|task| Task { data_pages: None, ..task.clone() }).collect();
    let without = TaskSet::new(*with.device(), tasks, vec![]).expect("a task set");
    for allocator in ALLOCATORS {
        for analysis in ANALYSES.into_iter().filter(|analysis| analysis.placements().is_empty()) {
            let (a, b) = (allocator.allocate(&with, analysis), allocator.allocate(&without, analysis));
            assert_eq!(a.allocation(), b.allocation(), "{}", allocator.name());
            assert_eq!((a.is_schedulable(), b.is_schedulable()), (Some(false), Some(true)), "{}", allocator.name());
        }
    }
}

#[test]
fn check_and_explain_agree_with_alloc() {
    let set = file("space-set.json", quoted()).display().to_string();
    for analysis in ["thesis", "thesis-evaluated", "stripe", "superblock", "sound"] {
        let answer = rtflash(&["alloc", &set, "--analysis", analysis, "--algorithm", "global", "--format", "json"]);
        let allocation = file(&format!("space-{analysis}.json"), &answer.stdout).display().to_string();
        let check = ["check", &set, "--allocation", &allocation, "--analysis", analysis];
        let (json, text) = (rtflash(&[&check[..], &["--format", "json"]].concat()), rtflash(&check));
        assert_eq!((json.status, text.status), (1, 1), "{analysis}: {text:?}");
        let cluster = &json.json()["clusters"][0];
        assert_eq!(
            (&cluster["schedulable"], &cluster["in_time"]),
            (&json!(false), &json!(true)),
            "{analysis}: {cluster}"
        );
        assert_eq!((&cluster["data"]["fits"], &cluster["data"]["data_pages"]), (&json!(false), &json!(800_000)));
        assert_eq!(
            cluster["data"]["tasks"][1],
            json!({ "task": "t1", "data_pages": 400_000, "data_bytes": 3_276_800_000u64 })
        );
        for part in [
            "the data of cluster 0 do not fit",
            "its test of time passes",
            "524,288",
            "4,294,967,296 bytes",
            "t1 400,000",
        ] {
            assert!(text.stdout.contains(part), "{analysis}: {part} in {}", text.stdout);
        }
        for options in [&["--allocation", allocation.as_str()][..], &["--algorithm", "global"]] {
            let explain = [&["explain", &set, "--analysis", analysis], options].concat();
            let (json, text) = (rtflash(&[&explain[..], &["--format", "json"]].concat()), rtflash(&explain));
            assert_eq!((json.status, text.status), (1, 1), "{analysis}");
            let json = json.json();
            assert_eq!((&json["schedulable"], &json["clusters"][0]["in_time"]), (&json!(false), &json!(true)));
            assert_eq!(json["clusters"][0]["data"]["fits"], json!(false));
            assert!(
                text.stdout.contains("they do not fit") && text.stdout.contains("800,000 pages"),
                "{}",
                text.stdout
            );
            // Nothing on the screen says the opposite.
            let opposite = text.stdout.replace("not schedulable", "").replace("how it is scheduled", "");
            assert!(!opposite.contains("schedulable"), "{analysis}: {}", text.stdout);
        }
    }
    // If data are declared and fit, the line is there, too.
    let fitting = keeping(4, &[100, 200]);
    for analysis in ["thesis", "sound"] {
        let text = run(&["explain", "-", "--analysis", analysis], &fitting).stdout;
        assert!(text.contains("data: ") && text.contains(": they fit") && !text.contains("they do not"), "{text}");
    }
}

#[test]
fn what_is_advised_fits() {
    let read = |text: &str| read_task_set(text).expect("a task set").set;
    // If no chip is missing: another algorithm has clusters that are large enough.
    let set = read(&keeping(4, &[100_000, 100_000]));
    let bfd = allocator("clustering-bfd").expect("an algorithm");
    let advice = advise(&set, bfd, &Thesis);
    let other = allocator(advice.algorithm.expect("another algorithm")).expect("one of that name");
    assert_eq!(other.allocate(&set, &Thesis).is_schedulable(), Some(true));
    // 200,000 pages fit on a chip of 262,144: λ = 0.763 is the first in thousandths with which they
    // do.
    let ratio = advice.logical_ratio.expect("a larger one");
    assert_eq!((ratio.ratio.to_string().as_str(), ratio.steps), ("0.763", 1_000));
    let on = |ratio: &str| {
        let ratio: LogicalRatio = ratio.parse().expect("a ratio");
        let device = Device::new(DeviceSpec { logical_ratio: ratio, ..set.device().spec() }).expect("a device");
        bfd.allocate(&set.on(device).expect("a task set"), &Thesis).is_schedulable()
    };
    assert_eq!((on("0.763"), on("0.762")), (Some(true), Some(false)));
    // 65.5 % of 200,000 are 131,000; the next step is 131,200, and there are 131,072.
    let less = advice.less_data.expect("less");
    assert_eq!((less.permille, less.pages), (655, 131_000));
    // One cluster of all chips: seven chips hold 800,000 pages, and six do not.
    let global = allocator("global").expect("an algorithm");
    for name in ["thesis", "superblock"] {
        let advice = advise(&read(&quoted()), global, analysis(name).expect("an analysis"));
        assert_eq!(advice.chips.map(|more| (more.chips, more.fewest)), Some((7, true)), "{name}");
    }
    let text = run(&["alloc", "-", "--algorithm", "global"], &quoted()).stdout;
    for part in [
        "7 chips instead of 4 (every number between was tried and fails); in whole channels of 4, 8 chips",
        "a logical_ratio of 0.763 instead of 0.5 (in steps of 0.001)",
        " data_pages (",
        "B) in all",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
    // A limit of `size` is none if data do not fit.
    let sizing = size(&read(&quoted()), global, &Thesis);
    assert_eq!(sizing.limits.chips.value().map(|fewest| fewest.chips), Some(7));
    assert!(
        sizing.limits.logical_ratio.value().is_some_and(|largest| largest.ratio >= "0.763".parse().expect("a ratio"))
    );
    assert_eq!(sizing.limits.load_permille.value(), None);
    let size = run(&["size", "-", "--algorithm", "global", "--analysis", "thesis", "--format", "json"], &quoted());
    assert_eq!((size.status, &size.json()["unplaced"]["reason"]), (1, &json!("data")));
    assert_eq!(size.json()["data"]["fits"], json!(false));
    let text = run(&["size", "-", "--algorithm", "global", "--analysis", "thesis"], &quoted()).stdout;
    assert!(text.contains("800,000 pages (6,553,600,000 bytes)"), "{text}");
}

/// All is run with the pages that there are; the check fails, and the reason is said.
#[test]
fn exec_says_where_data_do_not_fit() {
    for algorithm in ["global", "clustering-bfd"] {
        let exec = ["exec", "-", "--analysis", "sound", "--algorithm", algorithm, "--duration", "10ms"];
        let (json, text) = (run(&[&exec[..], &["--format", "json"]].concat(), &quoted()), run(&exec, &quoted()));
        assert_eq!((json.status, text.status), (1, 1), "{json:?}");
        let answer = json.json();
        let reason = answer["reason"].as_str().expect("a reason");
        assert!(reason.contains("800,000 pages") && text.stdout.contains(reason), "{algorithm}: {reason}");
        assert_eq!(answer["predicted_schedulable"], json!(false), "{algorithm}");
        // Under this one there is nothing to run.
        if algorithm == "clustering-bfd" {
            continue;
        }
        let check = answer["checks"].as_array().expect("checks").iter().find(|check| check["name"] == "data-fit");
        assert_eq!(check.map(|check| &check["holds"]), Some(&json!(false)), "{algorithm}");
    }
}

fn task(name: &str, read: Option<(u64, u64)>, write: Option<(u64, u64)>) -> Task {
    let request = |(pages, us): (u64, u64)| Request::new(pages, Span::from_ns(us * 1_000)?);
    Task { name: name.into(), read: read.and_then(request), write: write.and_then(request), data_pages: None }
}

fn on(chips: u32, tasks: Vec<Task>) -> TaskSet {
    let spec = Device::profile("dgist-2021").expect("a profile").spec();
    TaskSet::new(Device::new(DeviceSpec { chips, ..spec }).expect("a device"), tasks, vec![]).expect("a task set")
}

/// A load, a demand, data and a request: each has its own name, in words and as JSON.
#[test]
fn every_reason_has_a_name_and_numbers_of_its_own() {
    let cases = [
        // 0.9 of a chip to read, and another 0.9.
        ("thesis", "load", on(1, vec![task("a", Some((900, 130_000)), None), task("b", Some((900, 130_000)), None)])),
        ("sound", "load", on(1, vec![task("a", Some((900, 110_000)), None), task("b", Some((900, 110_000)), None)])),
        // An erase of 5 ms does not fit into 5 ms beside a read.
        ("sound", "demand", on(1, vec![task("a", Some((1, 5_000)), None), task("b", None, Some((1, 900_000)))])),
        ("thesis", "request", on(2, vec![task("a", Some((1_000, 40_000)), None)])),
        ("sound", "request", on(2, vec![task("a", Some((1_000, 40_000)), None)])),
        // 130,000 pages wait to be written, as many again are reserved: blocks there are none left.
        ("sound", "request", on(1, vec![task("a", None, Some((130_000, 900_000_000)))])),
    ];
    for (analysis, reason, set) in cases {
        let (status, answer, text) = alloc(&write_task_set(&set, None), analysis, "clustering-bfd");
        let unplaced = &answer["unplaced"];
        assert_eq!((status, &unplaced["reason"]), (1, &json!(reason)), "{analysis}: {answer}");
        let thesis = analysis == "thesis";
        assert_eq!(unplaced["best_utilization"].is_null(), !(thesis || reason == "load"), "{unplaced}");
        assert_eq!(text.contains("U = "), thesis && reason == "load", "{text}");
        let number = |field: &str| unplaced[field].as_u64();
        match reason {
            "load" => assert!(unplaced["best_utilization"].as_f64() >= Some(1.0)),
            "demand" => {
                let (length, demand) = (number("interval_ns"), number("demand_ns"));
                assert!(demand > length && number("excess_ns") == demand.zip(length).map(|(d, l)| d - l), "{unplaced}");
                assert!(text.contains("demand and blocking of") && text.contains("in an interval of"), "{text}");
            }
            _ if unplaced["blocks"].is_number() => {
                assert!(number("needed_blocks") > number("blocks") && text.contains("blocks of each chip"), "{text}");
            }
            _ => {
                assert_eq!((&unplaced["request"], number("request_pages")), (&json!("read"), Some(1_000)));
                assert!(number("request_ns") > number("period_ns") && text.contains("its period is 40ms"), "{text}");
            }
        }
    }
}

fn set() -> impl Strategy<Value = TaskSet> {
    let task = (1u64..6, 1u64..4, 1u64..60, any::<bool>(), proptest::option::weighted(0.8, 1u64..70));
    let device = (1u32..6, 1u32..4, 8u32..16, 10u32..70);
    (device, prop::collection::vec(task, 1..5)).prop_filter_map("a device", |((chips, ways, blocks, ratio), tasks)| {
        let us = Span::from_us;
        let device = Device::new(DeviceSpec {
            chips,
            chips_per_channel: ways,
            blocks_per_chip: blocks,
            pages_per_block: 8,
            page_size: 4096,
            logical_ratio: LogicalRatio::from_decimal(ratio.into(), 2).ok()?,
            page_read: us(50),
            page_program: us(500),
            block_erase: us(5_000),
            page_transfer: us(40),
            ..DeviceSpec::default()
        })
        .ok()?;
        let most = u64::try_from(device.logical_pages()).ok().filter(|&most| most > 0)?;
        let tasks = tasks.into_iter().enumerate().map(|(index, (read, write, period, sequential, data))| {
            let access = if sequential { Access::Sequential } else { Access::Random };
            let request = |pages: u64, ms: u64| {
                Request::new(pages, Span::from_ns(ms * 10_000_000)?).map(|request| request.with_access(access))
            };
            let data_pages = data.map(|pages| pages.max(read).max(write).min(most));
            Task {
                name: format!("t{index}"),
                read: request(read, period),
                write: if index % 2 == 0 { request(write, 60 * period) } else { None },
                data_pages,
            }
        });
        TaskSet::new(device, tasks.collect(), vec![]).ok()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 250, ..ProptestConfig::default() })]

    /// Allocators, the verdict on an allocation and the verifier agree on time and on space,
    /// whatever the set.
    #[test]
    fn alloc_check_and_explain_agree_on_space(set in set()) {
        for analysis in ANALYSES {
            for allocator in ALLOCATORS {
                let outcome = allocator.allocate(&set, analysis);
                let context = format!("{} {} {set:?} {outcome:?}", analysis.name(), allocator.name());
                if let Outcome::NotSchedulable(failure) = &outcome {
                    let data = matches!(failure.unplaced.reason, Reason::Data(space) if !space.fits());
                    prop_assert_eq!(failure.unplaced.reason.name() == "data", data, "{}", context);
                    if let Reason::Demand(excess) = failure.unplaced.reason {
                        prop_assert!(excess.demand_ns >= excess.interval.as_ns().into(), "{}", context);
                    }
                }
                let Some(allocation) = outcome.allocation() else { continue };
                let all = |each: Vec<bool>| each.into_iter().all(|holds| holds);
                let fits: Vec<bool> = spaces(&set, analysis, allocation).iter().map(|space| space.fits()).collect();
                let passes = all(passing(&set, analysis, allocation));
                prop_assert_eq!(outcome.is_schedulable(), Some(passes), "{}", context);
                prop_assert_eq!(passes, all(fits.clone()) && all(in_time(&set, analysis, allocation)), "{}", context);
                let (judged, spaces): (Option<bool>, Vec<bool>) = match Equations::from_name(analysis.name()) {
                    Some(equations) => {
                        let verification = verify(&set, allocation, equations);
                        (Some(verification.schedulable()), verification.clusters.iter().map(|it| it.space.fits()).collect())
                    }
                    None => {
                        let verification = verify_certified(&set, allocation, analysis.placements(), analysis.relies_on());
                        (verification.holds(), verification.clusters.iter().map(|it| it.space.fits()).collect())
                    }
                };
                prop_assert!(judged.is_none_or(|judged| judged == passes), "{}", context);
                prop_assert_eq!(spaces, fits, "{}", context);
            }
        }
    }

}

/// Words and JSON of the same sets, in streams.
#[test]
fn text_and_json_agree() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;
    let mut runner = TestRunner::deterministic();
    let sets: Vec<TaskSet> = (0..40).map(|_| set().new_tree(&mut runner).expect("a set").current()).collect();
    let stream: String = sets.iter().map(|set| write_task_set(set, None) + "\n").collect();
    let mut refused = 0;
    for (analysis, algorithm) in
        [("thesis", "clustering-bfd"), ("thesis", "part-ftl"), ("sound", "global"), ("stripe", "clustering-bfd")]
    {
        let options = ["--analysis", analysis, "--algorithm", algorithm];
        let answers = run(&[&["alloc", "-", "--format", "json"], &options[..]].concat(), &stream).json_lines();
        let text = run(&[&["alloc", "-"], &options[..]].concat(), &stream).stdout;
        let texts: Vec<&str> = text.split("line ").skip(1).collect();
        assert_eq!((answers.len(), texts.len()), (40, 40), "{text}");
        for ((set, answer), text) in sets.iter().zip(&answers).zip(texts) {
            let data = answer["unplaced"]["reason"] == json!("data");
            refused += usize::from(data);
            assert_eq!(text.contains(" do not fit"), data, "{text}\n{answer}");
            let yes = ["Theorem 1 (Kim 2021)  schedulable", "Guarantee on device   yes, with these clusters"];
            let schedulable = text
                .lines()
                .any(|line| yes.contains(&line) || (line.starts_with("Test of ") && line.ends_with("  schedulable")));
            assert_eq!(schedulable, answer["schedulable"] == json!(true), "{text}\n{answer}");
            if !data || algorithm == "part-ftl" {
                continue;
            }
            let input = write_task_set(set, None);
            let explained = run(&[&["explain", "-", "--format", "json"], &options[..]].concat(), &input).json();
            assert_eq!(explained["schedulable"], json!(false));
            let clusters = explained["clusters"].as_array().expect("clusters");
            let text = run(&[&["explain", "-"], &options[..]].concat(), &input).stdout;
            let full = clusters.iter().filter(|cluster| cluster["data"]["fits"] == json!(false)).count();
            // Without clusters it is said of the set.
            let said = text.matches("they do not fit").count();
            assert!(said == full || clusters.is_empty(), "{text}\n{explained}");
        }
    }
    assert!(refused > 20, "{refused}");
}
