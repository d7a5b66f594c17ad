//! Commands that use the bus: promised, verified and run by the sound analyses, refused by others.

use std::path::Path;

use crate::common::{rtflash, rtflash_with_input};

/// Two chips on one channel read `pages` pages in stripes every 20 ms.
fn set(pages: u32, command: &str) -> String {
    let device = r#""profile":"dgist-2021","chips":2,"chips_per_channel":2"#;
    let read = format!(r#"{{"pages":{pages},"period":"20ms","access":"sequential"}}"#);
    format!(r#"{{"device":{{{device}{command}}},"tasks":[{{"name":"map","read":{read}}}]}}"#)
}

const COMMAND: &str = r#","command":"1us""#;
const STRIPE: [&str; 4] = ["--algorithm", "global", "--analysis", "stripe"];

/// The status of `alloc` and what it prints.
fn alloc(set: &str, options: &[&str]) -> (i32, String) {
    let run = rtflash_with_input(&[&["alloc", "-"], options].concat(), set.as_bytes());
    (run.status, run.stdout + &run.stderr)
}

#[test]
fn a_read_waits_for_its_command_and_for_its_page() {
    let slack = |pages: u32, command: &str| {
        let (status, answer) = alloc(&set(pages, command), &[&STRIPE[..], &["--format", "json"]].concat());
        assert_eq!(status, 0, "{answer}");
        let (_, behind) = answer.split_once("\"slack_ns\":").expect("a certificate");
        behind.split(['}', ',']).next().expect("a number").to_owned()
    };
    // 116 pages of 130 us in 20 ms, where an erase more leaves no room for a server.
    assert_eq!([slack(232, ""), slack(232, r#","command":"0us""#)], ["4920000", "4920000"]);
    // 100 pages of 1 + 50 + 40 us, and two waits of 41 us.
    assert_eq!(slack(200, COMMAND), "2700000");
}

#[test]
fn what_is_promised_is_verified_and_run() {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{}-commands", std::process::id()));
    std::fs::create_dir_all(&directory).expect("a directory");
    let [path, allocation] = ["set.json", "allocation.json"].map(|name| directory.join(name));
    std::fs::write(&path, set(200, COMMAND)).expect("a file");
    std::fs::write(&allocation, alloc(&set(200, COMMAND), &[&STRIPE[..], &["--format", "json"]].concat()).1)
        .expect("a file");
    let [path, allocation] = [&path, &allocation].map(|path| path.to_str().expect("a name"));
    let check = rtflash(&["check", path, "--allocation", allocation, "--analysis", "stripe"]);
    assert_eq!(check.status, 0, "{}{}", check.stdout, check.stderr);
    let exec = ["exec", path, "--allocation", allocation, "--analysis", "stripe", "--duration", "1s"];
    let exec = rtflash(&[&exec[..], &["--format", "json"]].concat());
    assert_eq!(exec.status, 0, "{}{}", exec.stdout, exec.stderr);
    // A command and a page of each of 200 pages, 50 times.
    assert!(exec.stdout.contains("\"transfers\":20000"), "{}", exec.stdout);
    // The certificate is none where commands take longer.
    let slow = set(200, r#","command":"20us""#);
    let check =
        rtflash_with_input(&["check", "-", "--allocation", allocation, "--analysis", "stripe"], slow.as_bytes());
    assert_eq!(check.status, 1, "{}{}", check.stdout, check.stderr);
}

#[test]
fn the_queue_counts_with_commands_that_are_steady() {
    // 130 pages of 1 + 50 + 40 + 2 · 41 us are more than 20 ms, of 41 us less they are not.
    let queue = [&STRIPE[..], &["--rely-on", "queue"]].concat();
    let neighbours = [&STRIPE[..], &["--rely-on", "neighbours"]].concat();
    assert_eq!(alloc(&set(260, ""), &queue).0, 0);
    assert_eq!(alloc(&set(260, COMMAND), &neighbours).0, 1);
    assert_eq!(alloc(&set(260, COMMAND), &queue).0, 0);
    for (times, why) in [
        (r#","command":"41us""#, "commands of 41us, sensing of 50us and transfers of 40us"),
        (r#","command":"1us","page_read":"49us..50us""#, "sensing of 49us to 50us"),
    ] {
        let (status, said) = alloc(&set(260, times), &queue);
        assert!(status == 1 && said.contains(why) && said.contains("Q5"), "{status} {said}");
    }
}

#[test]
fn who_knows_no_commands_says_so() {
    let (status, said) = alloc(&set(20, COMMAND), &["--analysis", "thesis"]);
    assert!(status == 3 && said.contains("thesis knows no commands on the bus"), "{status} {said}");
    assert_eq!(alloc(&set(20, r#","command":"0us""#), &["--analysis", "thesis"]).0, 0);
    let exec = rtflash_with_input(&["exec", "-", "--analysis", "thesis"], set(20, COMMAND).as_bytes());
    assert_eq!(exec.status, 3, "{}{}", exec.stdout, exec.stderr);
    let device = r#"{"profile":"dgist-2021","command":"1us"}"#;
    let experiment = ["experiment", "schedulability", "--util", "0.5", "--sets", "1", "--device", device];
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{}-no-commands", std::process::id()));
    let out = ["--out", out.to_str().expect("a name")];
    let run = rtflash(&[&experiment[..], &["--analyses", "thesis"], &out[..]].concat());
    assert!(run.status == 2 && run.stderr.contains("knows no commands on the bus"), "{run:?}");
    // Nor at one value of a sweep. Without commands at any it is asked, whatever the device has.
    for (values, status) in [("command=0us,1us", 2), ("command=0us", 0)] {
        let swept = ["--analyses", "thesis", "--sweep", values];
        let run = rtflash(&[&experiment[..], &swept[..], &out[..]].concat());
        assert_eq!(run.status, status, "{run:?}");
        assert_eq!(run.stderr.contains("knows no commands on the bus"), status == 2, "{run:?}");
    }
}

#[test]
fn a_sweep_may_go_along_commands() {
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{}-commands", std::process::id()));
    let experiment = ["experiment", "schedulability", "--util", "0.5", "--sets", "6", "--analyses", "stripe"];
    let sweep = ["--algorithms", "best-fit", "--sweep", "command=0us,500us", "--out"];
    let run = rtflash(&[&experiment[..], &sweep[..], &[out.to_str().expect("a name")]].concat());
    assert_eq!(run.status, 0, "{run:?}");
    let table = std::fs::read_to_string(out.join("results.csv")).expect("a table");
    let mut lines = table.lines();
    let head: Vec<&str> = lines.next().expect("a head").split(',').collect();
    let column = |name: &str| head.iter().position(|&of| of == name).unwrap_or_else(|| panic!("{name} in {head:?}"));
    let [time, sets, schedulable] = ["command_ns", "sets", "schedulable"].map(column);
    let rows: Vec<Vec<&str>> = lines.map(|line| line.split(',').collect()).collect();
    let seen: Vec<&str> = rows.iter().map(|row| row[time]).collect();
    assert_eq!(seen, ["0", "500000"], "{table}");
    assert!(rows.iter().all(|row| row[sets] == "6"), "{table}");
    // Such commands leave hardly a set.
    assert_eq!([rows[0][schedulable], rows[1][schedulable]], ["6", "0"], "{table}");
}

#[test]
fn explain_names_what_commands_add() {
    let write = set(20, r#","command":"8us""#).replace("read", "write").replace("20ms", "2s");
    let run = rtflash_with_input(&[&["explain", "-"], &STRIPE[..]].concat(), write.as_bytes());
    assert_eq!(run.status, 0, "{run:?}");
    // 128 copies of 550 us and an erase of 5 ms, each behind a command of 8 us and a wait of 48 us.
    for line in ["C_g = 128 (t_r + t_w) + t_e + 129 (t_c + 1 t_b) = 82.624ms", "c_r = t_c + t_r + t_d + 2 t_b = 194"] {
        assert!(run.stdout.contains(line), "{line} in {}", run.stdout);
    }
}
