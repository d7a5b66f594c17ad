//! The sound analyses against what breaks Theorem 1: each counterexample is rejected, or served
//! without a miss.

use std::path::Path;

use rtflash::alloc::allocator::ALLOCATORS;
use rtflash::alloc::analysis::{Analysis, Sound, Stripe, Superblock};
use rtflash::alloc::certified::is_independent;
use rtflash::alloc::verdict::{completed, passing};
use rtflash::exec::{Aging, Dispatch, Options, Pattern, Phases, Placed, Service, Times, Victims, Waits};
use rtflash::model::{Allocation, Instant, Reliance, TaskSet, read_allocation, read_task_set};
use rtflash::run::execute;

use crate::common::{file, rtflash, rtflash_with_input};

fn read(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/findings").join(name);
    std::fs::read_to_string(path).expect("a finding")
}

/// Runs a certified allocation under everything that is meant to break it; the checks that fail.
fn attack(set: &TaskSet, allocation: &Allocation, analysis: &dyn Analysis) -> Vec<String> {
    let mut failures = Vec::new();
    let waits: &[Waits] =
        if is_independent(set, allocation) { &[Waits::Actual, Waits::Worst] } else { &[Waits::Actual] };
    let patterns = [Pattern::Uniform, Pattern::OneChip, Pattern::Fullest, Pattern::HotCold];
    for (number, pattern) in patterns.into_iter().enumerate() {
        for (&waits, phases) in waits.iter().zip([Phases::Periodic, Phases::AtErases]) {
            let options = Options {
                duration: Instant::from_ns(2_000_000_000).expect("two seconds"),
                dispatch: Dispatch::Serial,
                service: if number == 3 { Service::Background } else { Service::Tbs },
                victims: if number % 2 == 0 { Victims::Worst } else { Victims::Actual },
                aging: Aging::Worst,
                pattern,
                times: Times::Worst,
                seed: 1,
                placed: Placed { waits, ..Placed::default() },
                phases,
                ..Options::default()
            };
            let executed = execute(set, allocation, analysis, &options, None).expect("it can be run");
            let broken = executed.findings.iter().filter(|finding| !finding.gauge.holds());
            failures.extend(broken.map(|finding| format!("{} under {options:?}", finding.assumption.name())));
        }
    }
    failures
}

#[test]
fn what_breaks_theorem_1_is_rejected_or_served() {
    let files = ["shared-bus", "astride", "one-chip", "short-job", "large-job", "short-erase", "side-by-side"];
    // The runs have exact times.
    const QUEUE: Reliance = Reliance::Queue;
    let analyses: [&dyn Analysis; 3] =
        [&Stripe { rely_on: QUEUE }, &Superblock { rely_on: QUEUE }, &Sound { rely_on: QUEUE }];
    let mut served = 0;
    for file in files {
        let set = read_task_set(&read(&format!("{file}.json"))).expect("a task set").set;
        for analysis in analyses {
            for allocator in ALLOCATORS {
                let outcome = allocator.allocate(&set, analysis);
                let Some(allocation) = outcome.allocation().filter(|_| outcome.is_schedulable() == Some(true)) else {
                    continue;
                };
                assert!(passing(&set, analysis, allocation).into_iter().all(|passes| passes));
                let failures = attack(&set, allocation, analysis);
                assert!(failures.is_empty(), "{file}, {}, {}: {failures:?}", analysis.name(), allocator.name());
                served += 1;
            }
        }
    }
    // Files that are served, not only rejected: every one but the overloaded ones.
    assert!(served >= 30, "{served}");
}

#[test]
fn the_allocation_astride_two_channels_is_served_by_certificates() {
    let set = read_task_set(&read("astride.json")).expect("a task set").set;
    let allocation = read_allocation(&read("astride-allocation.json"), &set).expect("an allocation");
    let sound = Sound::default();
    let allocation = completed(&set, &sound, allocation);
    assert!(passing(&set, &sound, &allocation).into_iter().all(|passes| passes));
    assert_eq!(attack(&set, &allocation, &sound), Vec::<String>::new());
}

/// From a file to an allocation with certificates, verified, run, recorded, and the record judged;
/// and a certificate that says something else.
#[test]
fn certificates_go_through_every_command() {
    let set = "tasksets/case-study.json";
    let answer = rtflash(&["alloc", set, "--analysis", "sound", "--format", "json"]);
    assert_eq!(answer.status, 0);
    let json = answer.json();
    let certificate = &json["clusters"][0]["certificate"];
    assert!(["stripe", "superblock"].contains(&certificate["kind"].as_str().expect("a kind")));
    assert!(certificate["slack_ns"].as_i64().expect("a slack") >= 0);
    let path = file("certified.json", &answer.stdout).display().to_string();
    let check = rtflash(&["check", set, "--allocation", &path, "--analysis", "sound", "--format", "json"]);
    assert_eq!((check.status, check.stderr.as_str()), (0, ""));
    let trace = file("certified.jsonl", "").display().to_string();
    let exec = ["exec", set, "--allocation", &path, "--duration", "500ms", "--victims", "worst", "--trace", &trace];
    let run = rtflash(&[&exec[..], &["--format", "json"]].concat());
    assert_eq!((run.status, run.json()["verdict"].as_str()), (0, Some("pass")), "{}", run.stdout);
    // Certificates are run as they are, whatever analysis is asked for.
    assert_eq!(run.json()["analysis"], "sound");
    let judged =
        rtflash(&["check", set, "--trace", &trace, "--analysis", "sound", "--allocation", &path, "--format", "json"]);
    assert_eq!(judged.status, 0, "{}{}", judged.stdout, judged.stderr);

    // No number promises more than follows; one that is less than it might be, or stale, is
    // remarked.
    for (field, change, status) in [
        // A deadline that is a nanosecond longer needs a larger reserve.
        ("gc_deadline_ns", 1, 1),
        ("reclaimed_pages", 1, 1),
        ("reserve_pages", -1, 1),
        ("reserve_pages", 1, 0),
        ("victim_pages", 1, 1),
        ("victim_pages", -1, 1),
        ("open_blocks", -1, 1),
        ("open_blocks", 1, 0),
        ("slack_ns", 1, 0),
    ] {
        let mut other = json.clone();
        let number = other["clusters"][0]["certificate"][field].as_i64().expect("a number");
        other["clusters"][0]["certificate"][field] = (number + change).into();
        let path = file("falsified.json", other.to_string()).display().to_string();
        let check = rtflash(&["check", set, "--allocation", &path, "--analysis", "sound", "--format", "json"]);
        assert_eq!(check.status, status, "{field}: {}", check.stdout);
        let found = if status == 0 { "notes" } else { "complaints" };
        assert!(!check.json()["clusters"][0][found].as_array().expect("sentences").is_empty(), "{field}");
    }
    // By hand: certificates are looked for.
    let hand =
        r#"{ "clusters": [{ "chips": [0, 1], "tasks": ["t1", "t2"] }, { "chips": [2, 3], "tasks": ["t3", "t4"] }] }"#;
    let path = file("by-hand.json", hand).display().to_string();
    let check = rtflash(&["check", set, "--allocation", &path, "--analysis", "sound"]);
    assert!(check.status <= 1 && check.stderr.contains("no certificates"), "{}{}", check.stdout, check.stderr);
}

#[test]
fn every_answer_begins_with_two_verdicts() {
    let theorem = |verdict: &str| format!("Theorem 1 (Kim 2021)  {verdict}");
    let device = |verdict: &str| format!("Guarantee on device   {verdict}");
    for (arguments, lines) in [
        (&["alloc", "tasksets/case-study.json"][..], [theorem("schedulable"), device("yes, with these clusters")]),
        (&["size", "tasksets/case-study.json"], [theorem("schedulable"), device("yes, with these clusters")]),
        (&["explain", "tasksets/case-study.json"], [theorem("schedulable"), device("yes, with these clusters")]),
        (
            &["alloc", "tasksets/overload.json"],
            [
                theorem("not schedulable: task camera-3 needs U = 1.73 on its best cluster, the limit is 1"),
                device("yes, with other clusters: alloc --analysis sound prints them"),
            ],
        ),
        (
            &["alloc", "docs/findings/shared-bus.json"],
            [
                theorem("schedulable"),
                device(
                    "no: task a can be served nowhere: its read of 300 pages takes 27.000ms at least, and its \
                        period is 20ms",
                ),
            ],
        ),
        (
            &["alloc", "tasksets/case-study.json", "--analysis", "sound"],
            [theorem("not asked"), device("yes, with these clusters")],
        ),
        (&["alloc", "tasksets/case-study.json", "--no-guarantee"], [theorem("schedulable"), device("not asked")]),
        // The option that was given is not advised.
        (
            &["alloc", "tasksets/case-study.json", "--analysis", "sound", "--algorithm", "equal-split"],
            [theorem("not asked"), device("yes, with other clusters: --algorithm best-fit prints them")],
        ),
        // Schemes of other devices guarantee nothing on this one.
        (
            &["alloc", "tasksets/case-study.json", "--algorithm", "part-ftl"],
            [theorem("not asked"), device("not asked")],
        ),
        (&["alloc", "tasksets/case-study.json", "--analysis", "gftl"], [theorem("not asked"), device("not asked")]),
    ] {
        let text = rtflash(arguments).stdout;
        assert_eq!(text.lines().take(2).collect::<Vec<_>>(), lines, "{arguments:?}: {text}");
    }
    let sound = rtflash(&["alloc", "tasksets/case-study.json", "--analysis", "sound"]).stdout;
    assert!(
        sound.lines().nth(2).is_some_and(|line| line.ends_with("(analysis: sound; relies on no neighbour)")),
        "{sound}"
    );
    // Clusters that certificates would guarantee are run by Theorem 1 all the same.
    // A set or a device without a guarantee has no analysis to advise.
    let why = "Theorem 1 does not guarantee this device";
    for (set, change, why) in [
        (
            "tasksets/case-study.json",
            "device.chips=4",
            format!("this run keeps no certificates, and {why}: `--analysis sound` does"),
        ),
        ("tasksets/case-study.json", "device.times=typical", why.to_owned()),
        ("docs/findings/shared-bus.json", "device.times=maximum", why.to_owned()),
    ] {
        let exec = rtflash(&["exec", set, "--set", change, "--duration", "100ms"]).stdout;
        assert_eq!(exec.lines().nth(2), Some(format!("checks can fail: {why}").as_str()), "{exec}");
    }
    // In a stream each answer has its line.
    let stream =
        rtflash_with_input(&["alloc", "-"], "{\"device\": \"dgist-2021\", \"tasks\": []}\n".repeat(2).as_bytes())
            .stdout;
    let nothing = "Theorem 1 (Kim 2021)  schedulable\nGuarantee on device   not asked\n";
    assert!(stream.starts_with(&format!("line 1:\n{nothing}")) && stream.contains(&format!("line 2:\n{nothing}")));
}

/// From typical times no guarantee follows, whichever command is asked; exit statuses stay.
#[test]
fn typical_times_guarantee_nothing() {
    let typical = "device.times=typical";
    let no = "Guarantee on device   no: the device's times are typical values";
    let set = "tasksets/case-study.json";
    for arguments in [
        &["alloc", set][..],
        &["alloc", set, "--analysis", "sound"],
        &["size", set, "--analysis", "sound"],
        &["exec", set, "--analysis", "sound", "--duration", "100ms"],
        &["explain", set, "--analysis", "sound"],
    ] {
        let answer = rtflash(&[arguments, &["--set", typical]].concat());
        assert!(
            answer.status == 0 && answer.stdout.lines().nth(1).is_some_and(|line| line.starts_with(no)),
            "{answer:?}"
        );
        let json = rtflash(&[arguments, &["--set", typical, "--format", "json"]].concat()).json();
        assert_eq!(json["guarantee"], serde_json::json!({ "verdict": "no", "reason": "typical times" }), "{json}");
        assert_eq!(json["theorem"]["verdict"], if arguments.contains(&"sound") { "not asked" } else { "yes" });
        if arguments[0] == "alloc" {
            assert_eq!((&json["guaranteed"], &json["guaranteed_as_placed"]), (&false.into(), &false.into()), "{json}");
            assert_eq!((&json["schedulable"], &json["relies_on"]), (&true.into(), &serde_json::Value::Null));
        }
    }
    let found = rtflash(&["alloc", set, "--analysis", "sound", "--set", typical, "--format", "json"]);
    let allocation = file("typical.json", &found.stdout).display().to_string();
    let check = rtflash(&["check", set, "--allocation", &allocation, "--analysis", "sound", "--set", typical]);
    assert!(
        check.status == 0 && check.stdout.contains(no) && check.stdout.contains("Test of sound         schedulable")
    );
    let admit = rtflash(&["admit", &allocation, set, "--set", typical, "--set", "jobs=null"]);
    assert!(admit.status == 0 && admit.stdout.contains(no) && admit.stderr.contains("typical"), "{admit:?}");
    let (image, from) = (file("typical.image", "").display().to_string(), ["--analysis", "sound", "--set", typical]);
    let firmware = rtflash(&[&["export", "firmware", set, "--out", &image], &from[..]].concat());
    assert!(firmware.status == 0 && firmware.stderr.contains("nothing is guaranteed"), "{firmware:?}");
    // A range may end in what is measured and no maximum: the profile says so.
    let profile =
        r#"{"device": "enterprise-tlc-typical", "tasks": [{"name": "a", "read": {"pages": 1, "period": "1s"}}]}"#;
    let answer =
        rtflash_with_input(&["alloc", "-", "--analysis", "sound", "--format", "json"], profile.as_bytes()).json();
    assert_eq!(answer["guarantee"]["reason"], "typical times");
}

/// Without tasks nothing is guaranteed; a drive with fixed firmware needs another command.
#[test]
fn nothing_is_guaranteed_of_no_tasks_and_a_sealed_drive_is_named() {
    let set = r#"{"device": "emmc-64gb-mlc", "tasks": []}"#;
    for analysis in ["thesis", "sound"] {
        let answer = rtflash_with_input(&["alloc", "-", "--analysis", analysis, "--format", "json"], set.as_bytes());
        let json = answer.json();
        assert_eq!(
            (answer.status, &json["schedulable"], &json["guaranteed"]),
            (0, &true.into(), &serde_json::Value::Null)
        );
        assert_eq!(json["guarantee"]["verdict"], "not asked");
        assert!(json["note"].as_str().is_some_and(|note| note.contains("rtflash host")), "{json}");
    }
    let text = rtflash_with_input(&["alloc", "-"], set.as_bytes()).stdout;
    assert!(
        text.lines().nth(2).is_some_and(|line| line.starts_with("Note") && line.contains("rtflash host")),
        "{text}"
    );
    assert!(rtflash(&["alloc", "tasksets/case-study.json", "--format", "json"]).json().get("note").is_none());
}

/// `alloc` says in JSON what it says in text; in a stream only where it is asked.
#[test]
fn json_carries_the_guarantee_and_the_advice() {
    let answer = |arguments: &[&str]| rtflash(&[&["alloc"], arguments, &["--format", "json"]].concat()).json();
    let said = |answer: &serde_json::Value| {
        ["guaranteed", "guaranteed_as_placed", "relies_on"].map(|field| answer[field].clone())
    };
    let case = answer(&["tasksets/case-study.json"]);
    assert_eq!((said(&case)[0].as_bool(), said(&case)[1].as_bool()), (Some(true), Some(true)));
    assert!(said(&case)[2].is_string() && case["advice"].is_null(), "{case}");
    assert_eq!(said(&answer(&["tasksets/case-study.json", "--no-guarantee"])), [const { serde_json::Value::Null }; 3]);
    let shared = answer(&["docs/findings/shared-bus.json"]);
    assert_eq!((said(&shared)[0].as_bool(), said(&shared)[1].as_bool()), (Some(false), Some(false)));
    let overload = answer(&["tasksets/overload.json"]);
    assert_eq!(overload["guaranteed"], true);
    assert_eq!((&overload["advice"]["chips"], &overload["advice"]["load"]), (&7.into(), &0.935.into()));
    let sets = rtflash(&["gen", "--util", "0.5", "--sets", "3"]).stdout;
    let stream = |more: &[&str]| {
        rtflash_with_input(&[&["alloc", "-", "--format", "json"], more].concat(), sets.as_bytes()).json_lines()
    };
    assert!(stream(&[]).iter().all(|answer| answer["guaranteed"].is_null() && answer["advice"].is_null()));
    assert!(stream(&["--guarantee"]).iter().all(|answer| answer["guaranteed"].is_boolean()));
    let sound = ["--analysis", "sound"];
    assert!(
        stream(&sound)
            .iter()
            .all(|answer| answer["guaranteed"] == answer["schedulable"] || answer["guaranteed"].is_null())
    );
}

/// Two tasks whose reads fill their chips only if the bus serves them in turn.
const QUEUED: &str = r#"{ "device": { "profile": "dgist-2021", "chips": 3, "chips_per_channel": 3,
    "page_read": "4us", "page_program": "1us", "block_erase": "4us", "page_transfer": "4us" }, "tasks": [
    { "name": "a", "read": { "pages": 6, "period": "92us" } },
    { "name": "b", "read": { "pages": 44, "period": "36ms" } }, { "name": "c", "read": { "pages": 44, "period": "36ms" } }] }"#;

/// A promise that relies on more than was granted is no promise, for every command.
#[test]
fn what_may_be_relied_on_is_the_users_choice() {
    let path = file("queued.json", QUEUED).display().to_string();
    let alloc = |granted: &str| {
        let asked = ["--algorithm", "equal-split", "--analysis", "stripe", "--rely-on", granted];
        rtflash(&[&["alloc", &path, "--format", "json"], &asked[..]].concat())
    };
    assert_eq!((alloc("nothing").status, alloc("neighbours").status, alloc("queue").status), (1, 1, 0));
    assert_eq!(alloc("queue").json()["relies_on"], "queue");
    let allocation = file("queued-allocation.json", alloc("queue").stdout).display().to_string();
    let with = |command: &str, granted: &str| {
        let mut words = vec![command, &path, "--allocation", &allocation, "--analysis", "stripe", "--rely-on", granted];
        if command == "exec" {
            words.extend(["--duration", "100ms"]);
        }
        words.extend(["--format", "json"]);
        rtflash(&words)
    };
    for command in ["check", "explain", "exec"] {
        assert_eq!((with(command, "neighbours").status, with(command, "queue").status), (1, 0), "{command}");
    }
    for command in ["explain", "exec"] {
        let answer = with(command, "neighbours").json();
        let reason = answer["reason"].as_str().expect("a reason");
        assert!(reason.contains("`--assume neighbour-load`") && reason.contains("`--assume fifo-bus`"), "{reason}");
    }
    let run = with("exec", "neighbours").json();
    assert_eq!(
        (&run["verdict"], &run["relies_on"], &run["predicted_schedulable"]),
        (&"pass".into(), &"queue".into(), &false.into())
    );
    // A bus that goes round is not what it relies on, and the answer says so.
    let given = ["exec", &path, "--allocation", &allocation, "--analysis", "stripe", "--rely-on", "queue"];
    let round = [&given[..], &["--duration", "100ms", "--arbitration", "round-robin"]].concat();
    let said = rtflash(&[&round[..], &["--format", "json"]].concat()).json()["disobeys"].clone();
    assert!(said.as_str().expect("it says so").contains("first come, first served"), "{said}");
    assert!(rtflash(&round).stdout.contains("does not obey"), "{round:?}");
    assert_eq!(with("exec", "queue").json()["disobeys"], serde_json::Value::Null);
    // Under the thesis's analyses it decides what is guaranteed, and nothing else.
    let thesis = |granted: &str| rtflash(&["alloc", &path, "--rely-on", granted, "--format", "json"]).json();
    assert_eq!(thesis("nothing")["clusters"], thesis("queue")["clusters"]);
}

/// If the queue is granted to a device that does not keep to it, a no says that it was of no use.
#[test]
fn reads_that_are_not_steady_are_named() {
    let said = |times: &[&str], granted: &str| {
        let asked = ["--analysis", "sound", "--rely-on", granted, "--set", "device.chips=2"];
        let set = times.iter().flat_map(|change| ["--set", change]);
        let words: Vec<&str> = ["alloc", "tasksets/case-study.json"].into_iter().chain(asked).chain(set).collect();
        let run = rtflash(&words);
        assert_eq!(run.status, 1, "{run:?}");
        run.stdout.lines().find(|line| line.contains("no steady reads")).map(str::to_owned)
    };
    let wide = said(&["device.page_read=5us..50us"], "queue").expect("it is wider than a transfer");
    assert!(wide.contains("sensing of 5us to 50us and transfers of 40us"), "{wide}");
    let transfers = said(&["device.page_transfer=30us..40us"], "queue").expect("any range");
    assert!(transfers.contains("sensing of 50us and transfers of 30us to 40us"), "{transfers}");
    assert_eq!(said(&["device.page_read=15us..50us"], "queue"), None);
    assert_eq!(said(&["device.page_read=5us..50us"], "neighbours"), None);
}

/// Reads that fill a chip only if no other chip used the bus, and a writer; a device whose data
/// fill it, with jobs; and a request that is too long to be run.
const LEANING: &str = r#"{ "device": { "profile": "dgist-2021", "chips": 2, "chips_per_channel": 2 }, "tasks": [
    { "name": "a", "read": { "pages": 300, "period": "36ms" } }, { "name": "b", "write": { "pages": 1, "period": "100ms" } }] }"#;
const FULL: &str = r#"{ "device": { "chips": 1, "chips_per_channel": 1, "blocks_per_chip": 64, "pages_per_block": 8, "page_size": 4096,
    "logical_ratio": 0.5, "page_read": "50us", "page_program": "500us", "block_erase": "2ms", "page_transfer": "10us" },
    "tasks": [{ "name": "a", "write": { "pages": 2, "period": "100ms" }, "data_pages": 256 }],
    "jobs": [{ "name": "j", "write_pages": 3, "arrivals": { "every": "100ms" } }] }"#;
const LONG: &str = r#"{ "device": { "profile": "dgist-2021", "chips": 2, "chips_per_channel": 2 }, "tasks": [
    { "name": "a", "read": { "pages": 4294967295, "period": "1000000s" } }] }"#;

#[test]
fn what_a_cluster_relies_on_is_said_and_not_overdone() {
    let path = file("leaning.json", LEANING).display().to_string();
    let answer = rtflash(&["alloc", &path, "--analysis", "stripe", "--format", "json"]);
    assert_eq!(answer.json()["clusters"][0]["relies_on"], "neighbours", "{}", answer.stdout);
    assert!(rtflash(&["alloc", &path, "--analysis", "stripe"]).stdout.contains("cluster 0 relies on"));
    let run = |waits| rtflash(&["exec", &path, "--analysis", "stripe", "--duration", "500ms", "--waits", waits]);
    assert_eq!(run("actual").status, 0);
    // Every page waiting for a chip that has nothing to do is no run of this device.
    let refused = run("worst");
    assert!(refused.status == 2 && refused.stderr.contains("chips on their channels"), "{refused:?}");
    let independent = rtflash(&["alloc", "tasksets/case-study.json", "--analysis", "sound", "--format", "json"]).json();
    assert_eq!(independent["clusters"][0]["relies_on"], "nothing");
    let worst = ["exec", "tasksets/case-study.json", "--analysis", "sound", "--duration", "500ms", "--waits", "worst"];
    assert_eq!(rtflash(&worst).status, 0);
}

#[test]
fn what_is_accepted_is_run_or_the_reason_given() {
    let full = file("full.json", FULL).display().to_string();
    let run = rtflash(&["exec", &full, "--analysis", "sound", "--duration", "2s", "--victims", "worst"]);
    assert_eq!((run.status, run.stderr.as_str()), (0, ""), "{}", run.stdout);
    let long = file("long.json", LONG).display().to_string();
    let run = rtflash(&["exec", &long, "--analysis", "sound", "--duration", "1ms"]);
    assert!(run.status == 3 && run.stdout.contains("4294967295 pages"), "{run:?}");
}

/// `exec` predicts the verdict of `check` on an allocation from elsewhere.
#[test]
fn exec_predicts_what_check_says() {
    let set = "tasksets/case-study.json";
    let json = rtflash(&["alloc", set, "--analysis", "sound", "--format", "json"]).json();
    for (field, value) in
        [("tightest_ns", 0u64), ("slack_ns", 0), ("server_thousandths", 44), ("server_thousandths", 45)]
    {
        let mut other = json.clone();
        other["clusters"][0]["certificate"][field] = value.into();
        let path = file("edited.json", other.to_string()).display().to_string();
        let check = rtflash(&["check", set, "--allocation", &path, "--analysis", "sound", "--format", "json"]);
        let exec = rtflash(&["exec", set, "--allocation", &path, "--duration", "20ms", "--format", "json"]);
        assert_eq!(exec.json()["predicted_schedulable"], check.json()["schedulable"], "{field} {value}");
        let text = rtflash(&["check", set, "--allocation", &path, "--analysis", "sound"]).stdout;
        assert!(!text.contains("inf"), "{text}");
    }
}

/// Times as long as there are: no verdict takes long, and none is wrong.
#[test]
fn the_longest_times_are_times() {
    for (period, analyses) in
        [("9223372036854775807ns", &["stripe", "superblock", "sound"][..]), ("4611686018427387904ns", &["sound"])]
    {
        let set = format!(
            r#"{{ "device": {{ "profile": "dgist-2021", "chips": 4, "chips_per_channel": 2 }}, "tasks": [
                {{ "name": "a", "write": {{ "pages": 1, "period": "{period}" }} }},
                {{ "name": "b", "read": {{ "pages": 1, "period": "{period}" }} }},
                {{ "name": "c", "write": {{ "pages": 24, "period": "30ms" }} }}] }}"#
        );
        let path = file(&format!("longest-{period}.json"), set).display().to_string();
        for &analysis in analyses {
            let answer = rtflash(&["alloc", &path, "--analysis", analysis, "--format", "json"]);
            assert_eq!(answer.status, 0, "{period} {analysis}: {}", answer.stdout);
            let allocation = file(&format!("longest-{period}-{analysis}.json"), answer.stdout).display().to_string();
            let check = rtflash(&["check", &path, "--allocation", &allocation, "--analysis", analysis]);
            assert_eq!(check.status, 0, "{period} {analysis}: {}", check.stdout);
        }
    }
}

/// Sets with an allocation by hand that leaves chips idle so that others need not wait for them,
/// and one with a load that is next to one.
const IDLE: [&str; 2] = [
    r#"{"device": {"chips": 7, "chips_per_channel": 4, "blocks_per_chip": 64, "pages_per_block": 32, "page_size": 4096, "logical_ratio": 0.5, "page_read": "20us", "page_program": "50us", "block_erase": "200us", "page_transfer": "60us"}, "tasks": [{"name": "t0", "data_pages": 946, "read": {"pages": 1, "period": "749819ns"}, "write": {"pages": 5, "access": "sequential", "period": "1141783ns"}}, {"name": "t1", "write": {"pages": 20, "period": "9919435ns"}}, {"name": "t2", "read": {"pages": 1, "period": "325339ns"}, "write": {"pages": 3, "access": "sequential", "period": "901698ns"}}]}"#,
    r#"{"device": {"chips": 6, "chips_per_channel": 4, "blocks_per_chip": 200, "pages_per_block": 16, "page_size": 4096, "logical_ratio": 0.7, "page_read": "10us", "page_program": "500us", "block_erase": "5000us", "page_transfer": "40us"}, "tasks": [{"name": "t0", "read": {"pages": 3, "period": "236147ns"}}, {"name": "t1", "data_pages": 2240, "read": {"pages": 5, "access": "sequential", "period": "2016257ns"}}, {"name": "t2", "read": {"pages": 3, "access": "sequential", "period": "172756ns"}}, {"name": "t3", "read": {"pages": 20, "access": "sequential", "period": "3730900ns"}}]}"#,
];
const FULL_BUT_FOR_A_MILLIONTH: &str = r#"{"device": {"chips": 1, "chips_per_channel": 1, "blocks_per_chip": 64, "pages_per_block": 32, "page_size": 4096, "logical_ratio": 0.5, "page_read": "50us", "page_program": "500us", "block_erase": "5ms", "page_transfer": "40us"}, "tasks": [{"name": "a", "read": {"pages": 100, "period": "18.00001ms"}}, {"name": "b", "read": {"pages": 1000, "period": "180.00013ms"}}, {"name": "w", "write": {"pages": 1, "period": "1000000s"}}]}"#;
const NEXT_TO_ONE: &str = r#"{"device": {"chips": 1, "chips_per_channel": 1, "blocks_per_chip": 64, "pages_per_block": 32, "page_size": 4096, "logical_ratio": 0.5, "page_read": "50us", "page_program": "500us", "block_erase": "5ms", "page_transfer": "40us"}, "tasks": [{"name": "a", "read": {"pages": 100, "period": "18.000001ms", "deadline": "15ms"}}, {"name": "b", "read": {"pages": 1000, "period": "180.00001ms"}}]}"#;

#[test]
fn exact_leaves_chips_idle_where_that_helps() {
    for (number, set) in IDLE.into_iter().enumerate() {
        let path = file(&format!("idle-{number}.json"), set).display().to_string();
        let answer = rtflash(&[
            "alloc",
            &path,
            "--analysis",
            "sound",
            "--algorithm",
            "exact",
            "--rely-on",
            "queue",
            "--format",
            "json",
        ]);
        assert_eq!(answer.status, 0, "{set}");
        let allocation = file(&format!("idle-{number}-allocation.json"), answer.stdout).display().to_string();
        let check = ["check", &path, "--allocation", &allocation, "--analysis", "sound", "--rely-on", "queue"];
        assert_eq!(rtflash(&check).status, 0);
    }
}

/// A test that would take too long is given up, and then no more than a few of them.
#[test]
fn what_cannot_be_told_is_said_soon() {
    let path = file("next-to-one.json", NEXT_TO_ONE).display().to_string();
    for algorithm in ["clustering-bfd", "best-fit", "clustering-search", "exact"] {
        let answer = rtflash(&["alloc", &path, "--analysis", "sound", "--algorithm", algorithm]);
        assert!(answer.status == 3 && answer.stdout.contains("cannot tell"), "{algorithm}: {answer:?}");
    }
}

/// A test was given up, but the chips cannot do the work under any allocation: that is a no.
#[test]
fn what_cannot_be_told_may_be_impossible() {
    let more = r#"}}, {"name": "c", "read": {"pages": 8, "period": "2ms"}}, {"name": "d", "read": {"pages": 8, "period": "2ms"}}]}"#;
    let path = file("impossible.json", NEXT_TO_ONE.replace("}}]}", more)).display().to_string();
    for algorithm in ["clustering-bfd", "best-fit", "clustering-search", "exact"] {
        let call = ["alloc", &path, "--analysis", "sound", "--algorithm", algorithm];
        let answer = rtflash(&call);
        assert!(
            answer.status == 1 && answer.stdout.contains("\nGuarantee on device   no: "),
            "{algorithm}: {answer:?}"
        );
        let json = rtflash(&[call.as_slice(), &["--format", "json"]].concat()).json();
        assert_eq!((&json["schedulable"], &json["impossible"]["reason"]), (&false.into(), &"chips".into()), "{json}");
    }
    let run = rtflash(&["exec", &path, "--analysis", "sound", "--duration", "1ms"]);
    assert_eq!(run.status, 1, "{run:?}");
    assert_eq!(rtflash(&["explain", &path, "--analysis", "sound"]).status, 1);
}

/// Among many tasks a pair that a few steps do not decide, an `a` and a `b`, is tried elsewhere: if
/// each `a` has a chip, and each two `b`, that is a yes, and with fewer chips a no.
#[test]
fn of_many_tasks_what_is_next_to_one_is_tried_elsewhere() {
    let set: serde_json::Value = serde_json::from_str(NEXT_TO_ONE).expect("JSON");
    let tasks: Vec<serde_json::Value> = (0..20)
        .map(|number| {
            let mut task = set["tasks"][number % 2].clone();
            task["name"] = format!("{}{number}", task["name"].as_str().expect("a name")).into();
            task
        })
        .collect();
    for (chips, status) in [(15, 0), (14, 1)] {
        let mut set = set.clone();
        set["device"]["chips"] = chips.into();
        set["tasks"] = tasks.clone().into();
        let path = file(&format!("next-to-one-{chips}.json"), set.to_string()).display().to_string();
        let answer = rtflash(&["alloc", &path, "--analysis", "sound", "--algorithm", "best-fit"]);
        assert_eq!(answer.status, status, "{chips} chips: {answer:?}");
    }
}

/// A load as near to one is refused by name if an erase has no room at one of the first lengths.
#[test]
fn what_fails_early_is_told_however_full_it_is() {
    // Sets of a stream get no advice, which would take long.
    let twice = [FULL_BUT_FOR_A_MILLIONTH; 2].join("\n");
    let path = file("full.jsonl", twice).display().to_string();
    for algorithm in ["clustering-bfd", "best-fit", "clustering-search", "exact"] {
        let answer = rtflash(&["alloc", &path, "--analysis", "sound", "--algorithm", algorithm]);
        let reason = "demand and blocking of 185.000ms in an interval of 180.000ms, 5.000ms too much";
        assert!(answer.status == 1 && answer.stdout.contains(reason), "{algorithm}: {answer:?}");
    }
}

/// Certificates that there are stay as they are, also false ones, and those that are missing are
/// looked for beside them.
#[test]
fn an_allocation_with_some_certificates_is_completed() {
    let set = "tasksets/case-study.json";
    let certified = rtflash(&["alloc", set, "--analysis", "sound", "--format", "json"]).json();
    let clusters = certified["clusters"].as_array().expect("clusters").len();
    assert!(clusters > 1, "{certified}");
    let with = |reserve: i64, missing: bool| {
        let mut other = certified.clone();
        let pages = other["clusters"][0]["certificate"]["reserve_pages"].as_i64().expect("a number");
        other["clusters"][0]["certificate"]["reserve_pages"] = (pages + reserve).into();
        if missing {
            other["clusters"][1]["certificate"] = serde_json::Value::Null;
        }
        file("some-certificates.json", other.to_string()).display().to_string()
    };
    let check = |path: &str| rtflash(&["check", set, "--allocation", path, "--analysis", "sound", "--format", "json"]);
    let notes = |run: &crate::common::Run, cluster: usize| run.json()["clusters"][cluster]["notes"].to_string();
    // A page more of reserve than is needed is still there.
    let completed = check(&with(1, true));
    assert_eq!(completed.status, 0, "{}", completed.stdout);
    assert!(notes(&completed, 0).contains("H is") && notes(&completed, 1).contains("looked for"), "{completed:?}");
    assert!(completed.stderr.contains("cluster 1 has no certificate"), "{}", completed.stderr);
    // A page less is refused with and without the other certificate.
    for missing in [false, true] {
        let refused = check(&with(-1, missing));
        assert_eq!(refused.status, 1, "{}", refused.stdout);
        assert!(refused.json()["clusters"][0]["complaints"].to_string().contains("is needed"), "{}", refused.stdout);
    }
    // It is run with the certificates that are found; under an analysis that has none it cannot be
    // said how.
    let path = with(1, true);
    let run = |analysis: &str| {
        rtflash(&[
            "exec",
            set,
            "--allocation",
            &path,
            "--analysis",
            analysis,
            "--duration",
            "300ms",
            "--format",
            "json",
        ])
    };
    let sound = run("sound");
    assert_eq!((sound.status, sound.json()["verdict"].as_str()), (0, Some("pass")), "{sound:?}");
    assert!(sound.stderr.contains("cluster 1 has no certificate"), "{}", sound.stderr);
    let thesis = run("thesis");
    assert!(thesis.status == 2 && thesis.stderr.contains("others (1) have none"), "{thesis:?}");
    let check = rtflash(&["check", set, "--allocation", &path, "--format", "json"]);
    assert!(check.json()["schedulable"].is_boolean() && check.stderr.is_empty(), "{check:?}");
}

/// The needs of a cluster are judged and printed; more than is granted is a no that names the flag,
/// and less than needed must not be stated.
#[test]
fn check_says_what_is_relied_on() {
    let set = file("check-leaning.json", LEANING).display().to_string();
    let json = rtflash(&["alloc", &set, "--analysis", "stripe", "--format", "json"]).json();
    let check = |json: &serde_json::Value, granted: &str, format: &str| {
        let path = file("check-leaning-allocation.json", json.to_string()).display().to_string();
        let args = ["check", &set, "--allocation", &path, "--analysis", "stripe", "--rely-on", granted];
        rtflash(&[&args[..], &["--format", format]].concat())
    };
    for (granted, status) in [("nothing", 1), ("neighbours", 0), ("queue", 0)] {
        let run = check(&json, granted, "json");
        assert_eq!((run.status, &run.json()["clusters"][0]["relies_on"]), (status, &"neighbours".into()), "{run:?}");
        let complaint = "it relies on its neighbours, more than `--assume nothing` grants";
        assert_eq!(run.stdout.contains(complaint), status == 1, "{run:?}");
        let text = check(&json, granted, "text").stdout;
        assert_eq!((text.contains(complaint), text.contains("relying on the neighbours")), (status == 1, status == 0));
    }
    let mut stated = json.clone();
    stated["clusters"][0]["relies_on"] = "nothing".into();
    let run = check(&stated, "queue", "json");
    assert!(run.status == 1 && run.stdout.contains("states that it relies on nothing"), "{run:?}");
    stated["clusters"][0]["relies_on"] = "queue".into();
    let run = check(&stated, "queue", "json");
    assert_eq!(run.status, 0, "{run:?}");
    assert!(run.json()["clusters"][0]["notes"].to_string().contains("relies on queue"), "{run:?}");
}

/// A task that is gone is remarked by every analysis; a name that is mistaken is not one.
#[test]
fn an_allocation_may_name_tasks_that_are_gone() {
    let json = rtflash(&["alloc", "tasksets/case-study.json", "--analysis", "sound", "--format", "json"]).json();
    let path = file("of-more-tasks.json", json.to_string()).display().to_string();
    let set = std::fs::read_to_string(crate::common::root().join("tasksets/case-study.json")).expect("a task set");
    let mut set: serde_json::Value = serde_json::from_str(&set).expect("JSON");
    let gone = set["tasks"].as_array_mut().expect("tasks").pop().expect("a task");
    let gone = format!("task `{}` is not in the task set", gone["name"].as_str().expect("a name"));
    let set = file("fewer-tasks.json", set.to_string()).display().to_string();
    for analysis in ["sound", "thesis"] {
        let check = rtflash(&["check", &set, "--allocation", &path, "--analysis", analysis, "--format", "json"]);
        // By Theorem 1 the first cluster is overloaded with or without the task.
        assert_eq!(check.status, i32::from(analysis == "thesis"), "{}", check.stdout);
        let notes = |cluster: &serde_json::Value| cluster["notes"].to_string().contains(&gone);
        assert!(check.json()["clusters"].as_array().expect("clusters").iter().any(notes), "{}", check.stdout);
        let text = rtflash(&["check", &set, "--allocation", &path, "--analysis", analysis]).stdout;
        assert!(text.contains(&format!("note: {gone}")), "{text}");
    }
    let run = rtflash(&["exec", &set, "--allocation", &path, "--duration", "200ms"]);
    assert!(run.status == 0 && run.stderr.contains(&gone), "{run:?}");
    let mut mistaken = json;
    mistaken["clusters"][0]["tasks"][0] = "t11".into();
    let mistaken = file("mistaken-task.json", mistaken.to_string()).display().to_string();
    let check = rtflash(&["check", &set, "--allocation", &mistaken]);
    assert!(check.status == 2 && check.stderr.contains("no task `t11`"), "{check:?}");
}

/// Nine chips, eight on a channel: the ninth has its channel to itself, and no chip to wait for, so
/// that the cluster of all of them relies on nothing and has a server, as one of eight has.
#[test]
fn there_are_no_neighbours_where_there_are_no_chips() {
    for chips in [8, 9] {
        let set = format!(
            r#"{{ "device": {{ "profile": "dgist-2021", "chips": {chips}, "chips_per_channel": 8 }},
                "tasks": [{{ "name": "a", "read": {{ "pages": 190, "period": "70ms" }} }}],
                "jobs": [{{ "name": "j", "read_pages": 3, "write_pages": 40, "arrivals": {{ "every": "20ms" }} }}] }}"#
        );
        let set = file(&format!("nine-{chips}.json"), set).display().to_string();
        let alloc = ["alloc", &set, "--analysis", "superblock", "--algorithm", "global", "--format", "json"];
        let answer = rtflash(&alloc);
        let cluster = &answer.json()["clusters"][0];
        assert_eq!(
            (&cluster["relies_on"], &cluster["certificate"]["server_thousandths"]),
            (&"nothing".into(), &684.into())
        );
        let path = file(&format!("nine-{chips}-allocation.json"), &answer.stdout).display().to_string();
        let granted = ["--analysis", "superblock", "--rely-on", "nothing", "--format", "json"];
        let check = rtflash(&[&["check", &set, "--allocation", &path][..], &granted].concat());
        assert_eq!((check.status, &check.json()["clusters"][0]["notes"]), (0, &serde_json::json!([])), "{check:?}");
        for waits in ["actual", "worst"] {
            let run = rtflash(&["exec", &set, "--allocation", &path, "--duration", "2s", "--waits", waits]);
            assert_eq!(run.status, 0, "{run:?}");
        }
    }
}

/// The parts of the demand share add up to it, it is what the tightest interval leaves, and the
/// demand does not fit into a reported interval.
#[test]
fn what_is_shown_adds_up() {
    let (mut clusters, mut intervals, mut failing) = (0, 0, 0);
    for options in [&["--util", "0.9..1.7", "--step", "0.4"][..], &["--util", "1.2", "--deadline", "0.3"]] {
        let sets = rtflash(&[&["gen", "--sets", "12", "--analysis", "sound"], options].concat()).stdout;
        let answers = ["best-fit", "global"].map(|algorithm| {
            let args = ["alloc", "-", "--analysis", "sound", "--algorithm", algorithm, "--format", "json"];
            rtflash_with_input(&args, sets.as_bytes()).json_lines()
        });
        for answer in answers.into_iter().flatten() {
            for cluster in answer["clusters"].as_array().expect("clusters") {
                let number = |name: &str| cluster[name].as_f64().expect(name);
                let parts = ["blocking", "read_utilization", "write_utilization", "gc_utilization"].map(number);
                assert!((parts.iter().sum::<f64>() - number("demand_share")).abs() < 1e-9, "{cluster}");
                clusters += u32::from(parts[0] > 0.0);
                let certificate = &cluster["certificate"];
                if let Some(tightest) = certificate["tightest_ns"].as_f64() {
                    let of = |name: &str| certificate[name].as_f64().expect(name);
                    // The share of the interval that neither the server nor the slack takes.
                    let share = 1.0 - of("server_thousandths") / 1_000.0 - of("slack_ns") / tightest;
                    assert!((share - number("demand_share")).abs() < 1e-6, "{cluster}");
                    failing += u32::from(of("slack_ns") < 0.0);
                }
            }
            let unplaced = &answer["unplaced"];
            if unplaced["reason"] == "demand" {
                let number = |name: &str| unplaced[name].as_u64().expect(name);
                let (interval, excess) = (number("interval_ns"), number("excess_ns"));
                assert!(interval > 1_000 && excess > 0 && number("demand_ns") == interval + excess, "{unplaced}");
                intervals += 1;
            }
        }
    }
    assert!(clusters > 20 && intervals > 0 && failing > 0, "{clusters} {intervals} {failing}");
}
