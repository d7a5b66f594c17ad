//! The statements of docs/findings.md are true.

use crate::common::{root, rtflash};

/// A finding: the arguments, and of each check that fails its name, bound, worst observation and
/// how often.
type Finding = (&'static [&'static str], &'static [(&'static str, u64, u64, u64)]);

const FINDINGS: [Finding; 7] = [
    (
        &["docs/findings/shared-bus.json"],
        &[
            ("deadlines", 20_000_000, 1_684_010_000, 832),
            ("overdue", 0, 1_660_000_001, 168),
            ("service", 15_000_000, 24_010_000, 832),
            ("bus-wait", 0, 40_000, 250_000),
        ],
    ),
    (
        &[
            "docs/findings/astride.json",
            "--allocation",
            "docs/findings/astride-allocation.json",
            "--analysis",
            "thesis-evaluated",
        ],
        &[("service", 9_000_000, 9_040_000, 500), ("bus-wait", 0, 40_000, 500)],
    ),
    (
        &["docs/findings/one-chip.json", "--algorithm", "global", "--pattern", "one-chip"],
        &[("gc-cost", 11_600_000, 13_800_000, 111), ("victim-bound", 12, 16, 111)],
    ),
    (&["docs/findings/short-job.json"], &[("server-deadlines", 650_271, 4_950_000, 82)]),
    (&["docs/findings/large-job.json"], &[("deadlines", 60_000_000, 98_100_000, 2), ("gc-keeps-pace", 0, 1, 107)]),
    (&["docs/findings/short-erase.json"], &[("one-blocking-erase", 100_000, 400_000, 935)]),
    (
        &["docs/findings/side-by-side.json", "--algorithm", "global", "--dispatch", "parallel"],
        &[("service", 1_000_000, 1_580_000, 500), ("bus-wait", 0, 40_000, 7_917)],
    ),
];

/// Twenty chips on a bus, under each scheme of the field and a stock drive.
const ON_A_BUS: &[(&str, u64, u64, u64)] =
    &[("deadlines", 20_000_000, 1_399_210_000, 8_620), ("overdue", 0, 1_360_000_001, 1_380)];

const FIELD: [Finding; 7] = [
    (&["docs/findings/field-bus.json", "--algorithm", "equal-split", "--analysis", "chang"], ON_A_BUS),
    (&["docs/findings/field-bus.json", "--algorithm", "equal-split", "--analysis", "gftl"], ON_A_BUS),
    (&["docs/findings/field-bus.json", "--algorithm", "equal-split", "--analysis", "rftl"], ON_A_BUS),
    (&["docs/findings/field-bus.json", "--algorithm", "equal-split", "--analysis", "lazy-rtgc"], ON_A_BUS),
    (&["docs/findings/field-bus.json", "--algorithm", "equal-split", "--analysis", "stock"], ON_A_BUS),
    (
        &["docs/findings/one-chip.json", "--algorithm", "global", "--pattern", "one-chip", "--analysis", "chang"],
        &[("gc-cost", 11_600_000, 13_800_000, 111), ("victim-bound", 12, 16, 111)],
    ),
    (
        &[
            "docs/findings/one-chip.json",
            "--algorithm",
            "global",
            "--pattern",
            "one-chip",
            "--analysis",
            "lazy-rtgc",
            "--set",
            "tasks.logger.write.period=60ms",
        ],
        &[("gc-cost", 11_600_000, 13_800_000, 70), ("victim-bound", 12, 16, 70)],
    ),
];

#[test]
fn every_finding_is_repeated_by_its_command() {
    repeated("docs/findings.md", &FINDINGS);
}

#[test]
fn every_scheme_of_the_field_is_contradicted() {
    repeated("docs/baselines.md", &FIELD);
}

fn repeated(page: &str, findings: &[Finding]) {
    let text = std::fs::read_to_string(root().join(page)).expect("the findings");
    for &(args, expected) in findings {
        let command = format!("`rtflash exec {}`", args.join(" "));
        assert!(text.contains(&command), "{command} is not in the text");
        let run = rtflash(&[&["exec"], args, &["--format", "json"]].concat());
        let answer = run.json();
        assert_eq!((run.status, &answer["verdict"]), (1, &"fail".into()), "{command}");
        assert_eq!(answer["predicted_schedulable"], true, "{command}: the analysis accepts it");
        let broken: Vec<(&str, u64, u64, u64)> = answer["checks"]
            .as_array()
            .expect("checks")
            .iter()
            .filter(|check| check["holds"] == false)
            .map(|check| {
                let number = |name: &str| check[name].as_u64().expect("a number");
                (check["name"].as_str().expect("a name"), number("bound"), number("observed"), number("violations"))
            })
            .collect();
        assert_eq!(broken, expected, "{command}");
    }
}

#[test]
fn what_should_hold_beside_them_holds() {
    // The evaluated delay rejects the shared bus; uniform addresses keep the bound that skewed ones
    // break.
    let shared = rtflash(&["alloc", "docs/findings/shared-bus.json", "--analysis", "thesis-evaluated"]);
    assert_eq!(shared.status, 1, "{}", shared.stdout);
    let uniform = rtflash(&["exec", "docs/findings/one-chip.json", "--algorithm", "global"]);
    assert_eq!(uniform.status, 0, "{}", uniform.stdout);
}

/// A grant of the thesis's executor: the set, the run with it, the run without it, and the checks
/// that fail then.
type Grant = (&'static str, &'static [&'static str], &'static [&'static str], &'static [&'static str]);

const GRANTS: [Grant; 4] = [
    (
        "docs/findings/transfer-inside.json",
        &[],
        &["--allocation", "docs/findings/transfer-inside-stripe.json"],
        &["deadlines", "overdue"],
    ),
    (
        "docs/findings/reserve-inside.json",
        &[],
        &["--allocation", "docs/findings/reserve-inside-stripe.json"],
        &["overdue", "gc-cost", "victim-bound", "gc-keeps-pace", "reserve"],
    ),
    (
        "docs/findings/static-placement.json",
        &["--algorithm", "global", "--pattern", "one-chip"],
        &["--allocation", "docs/findings/static-placement-stripe.json", "--pattern", "one-chip"],
        &["deadlines", "overdue", "open-blocks", "reserve"],
    ),
    (
        "tasksets/case-study.json",
        &["--algorithm", "global", "--dispatch", "parallel"],
        &["--algorithm", "global"],
        &["deadlines", "overdue"],
    ),
];

#[test]
fn what_the_executor_grants_is_missed_where_it_is_taken_away() {
    let text = std::fs::read_to_string(root().join("docs/findings.md")).expect("the findings");
    let failing = |args: &[&str]| -> Vec<String> {
        let answer = rtflash(&[args, &["--format", "json"]].concat()).json();
        let checks = answer["checks"].as_array().expect("checks").iter();
        checks.filter(|check| check["holds"] == false).map(|check| check["name"].as_str().unwrap().to_owned()).collect()
    };
    for (file, with, without, expected) in GRANTS {
        let command = format!("`rtflash exec {}`", [&[file], without].concat().join(" "));
        assert!(text.contains(&command), "{command} is not in the text");
        let granted = failing(&[&["exec", file], with].concat());
        assert!(!granted.iter().any(|check| check == "deadlines" || check == "overdue"), "{file}: {granted:?}");
        assert_eq!(failing(&[&["exec", file], without].concat()), expected, "{command}");
    }
}

/// Finding 8, where the device says what a read is: both executors mean the same device then.
#[test]
fn a_device_that_says_what_a_read_contains_is_one_device() {
    let (set, stripe) = ("docs/findings/transfer-inside.json", "docs/findings/transfer-inside-stripe.json");
    let says = |inside: bool| format!("device.page_read_includes_transfer={inside}");
    let utilization = |inside: bool| {
        let run = rtflash(&["alloc", set, "--set", &says(inside), "--algorithm", "global", "--format", "json"]);
        (run.status, run.json()["clusters"][0]["utilization"].as_f64().expect("a number"))
    };
    assert_eq!([false, true].map(utilization), [(1, 1.6), (0, 1.0)]);
    let status = |args: &[&str], inside: bool| rtflash(&[&["exec", set, "--set", &says(inside)], args].concat()).status;
    // Late under the certificate and under the thesis, or in time under both.
    for inside in [false, true] {
        let expected = i32::from(!inside);
        assert_eq!(status(&["--allocation", stripe], inside), expected, "{inside}");
        assert_eq!(status(&["--algorithm", "global"], inside), expected, "{inside}");
    }
    let explained = rtflash(&["explain", set, "--set", &says(false), "--algorithm", "global"]);
    let row = "a read: 50us on the chip, then its transfer of 40us: 300 pages one after another take 27ms";
    assert!(explained.stdout.contains(row), "{}", explained.stdout);
}
