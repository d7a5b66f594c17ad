//! `rtflash serve`: what it says, and what it does not serve.

use crate::common::{file, rtflash};

const SET: &str = r#"{"device": {"profile": "dgist-2021"}, "tasks": [
    {"name": "camera", "write": {"pages": 8, "period": "40ms"}, "data_size": "16MiB"},
    {"name": "view", "read": {"pages": 4, "period": "50ms"}, "data_size": "4MiB"}]}"#;

fn allocated(set: &str, name: &str, analysis: &str) -> String {
    let run = rtflash(&["alloc", set, "--analysis", analysis, "--format", "json"]);
    assert_eq!(run.status, 0, "{}", run.stderr);
    file(name, run.stdout).display().to_string()
}

#[test]
fn who_has_no_clients_serves_nobody_and_ends() {
    let set = file("serve-set.json", SET).display().to_string();
    let allocation = allocated(&set, "serve-a.json", "sound");
    let data = file("serve-data.bin", "").display().to_string();
    let call = |more: &[&str]| {
        let all = [&["serve", &allocation, &set, "--listen", "127.0.0.1:0", "--duration", "100ms"], more].concat();
        rtflash(&all)
    };
    let run = call(&["--format", "json", "--data", &data]);
    let answer = run.json();
    assert_eq!((run.status, &answer["passes"], &answer["clients"]), (0, &true.into(), &0.into()), "{}", run.stderr);
    assert!(run.stderr.contains("/camera: 16 MiB in pages of 8192 bytes, to write"), "{}", run.stderr);
    assert!(run.stderr.contains("/view: 4 MiB in pages of 8192 bytes, to read"), "{}", run.stderr);
    assert_eq!(std::fs::metadata(&data).expect("a file").len(), 20 << 20);
    let run = call(&["--slow", "10"]);
    assert!(run.status == 0 && run.stdout.contains("no check fails"), "{} {}", run.stdout, run.stderr);
    let run = call(&["--quiet"]);
    assert_eq!((run.status, run.stdout.as_str(), run.stderr.as_str()), (0, "", ""));
    // A file of something else.
    std::fs::write(&data, "x").expect("a file");
    let run = call(&["--data", &data]);
    assert!(run.status == 2 && run.stderr.contains("it is of another allocation"), "{}", run.stderr);
}

#[test]
fn what_promises_nothing_is_not_served() {
    let set = file("serve-set.json", SET).display().to_string();
    let thesis = allocated(&set, "serve-thesis.json", "thesis");
    let refused = |allocation: &str, set: &str, more: &[&str]| {
        let all = [&["serve", allocation, set, "--listen", "127.0.0.1:0", "--duration", "100ms"], more].concat();
        let run = rtflash(&all);
        assert!(run.stdout.is_empty(), "{}", run.stdout);
        (run.status, run.stderr)
    };
    let sound = allocated(&set, "serve-a.json", "sound");
    // One that is too slow by now.
    let late = refused(&sound, &set, &["--set", "device.page_program=20ms"]);
    assert!(late.0 == 1 && late.1.contains("does not keep its deadlines"), "{late:?}");
    let pages = refused(&sound, &set, &["--set", "device.page_size=3000"]);
    assert!(pages.0 == 2 && pages.1.contains("powers of two"), "{pages:?}");
    assert_eq!(refused(&sound, "none.json", &[]).0, 2);
    assert_eq!(refused(&set, &set, &[]).0, 2);
    let address = refused(&sound, &set, &["--listen", "nowhere"]);
    assert_eq!(address.0, 2);
    // Zones.
    let recorder = r#"{"device": {"profile": "dgist-2021"}, "tasks": [
        {"name": "camera", "write": {"pages": 8, "period": "40ms", "access": "stream"}}]}"#;
    let zones = file("serve-zones.json", recorder).display().to_string();
    let zoned = allocated(&zones, "serve-zoned.json", "zoned");
    let run = rtflash(&["serve", &zoned, &zones, "--listen", "127.0.0.1:0", "--duration", "50ms"]);
    assert_eq!(run.status, 0, "{}", run.stderr);
    // Certificates are made where there are none.
    let run = rtflash(&["serve", &thesis, &set, "--listen", "127.0.0.1:0", "--duration", "50ms"]);
    assert_eq!(run.status, 0, "{}", run.stderr);
}
