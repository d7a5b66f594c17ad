//! `rtflash export` and what came of it, as a user does it.

use std::path::{Path, PathBuf};

use crate::common::{file, rtflash};

const SET: &str = "tasksets/case-study.json";

fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    folder
}

/// Results in MQSim's words: of each stream of an export its requests served but for `missing`, and
/// the longest one in µs.
fn mqsim_results(folder: &Path, longest: u64, missing: u64) -> String {
    let text = std::fs::read_to_string(folder.join("export.json")).expect("what was asked for");
    let asked: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let flow = |stream: &serde_json::Value| {
        let number = |field: &str| stream[field].as_u64().unwrap();
        let (read, write) =
            if stream["operation"] == "read" { (number("requests"), 0) } else { (0, number("requests")) };
        let bytes = (number("requests") - missing) * number("pages") * asked["page_bytes"].as_u64().unwrap();
        format!(
            "<Host.IO_Flow><Name>Host.IO_Flow.Trace.{}.trace</Name><Read_Request_Count>{read}</Read_Request_Count>\
             <Write_Request_Count>{write}</Write_Request_Count><Bytes_Transferred>{bytes}.000000</Bytes_Transferred>\
             <Max_End_to_End_Request_Delay>{longest}</Max_End_to_End_Request_Delay></Host.IO_Flow>",
            stream["name"].as_str().unwrap()
        )
    };
    let flows: String = asked["streams"].as_array().unwrap().iter().map(flow).collect();
    format!("<MQSim_Results><Host>{flows}</Host></MQSim_Results>")
}

#[test]
fn results_of_mqsim_are_put_beside_the_deadlines() {
    let out = folder("export-mqsim");
    let out_text = out.display().to_string();
    let made = rtflash(&["export", "mqsim", SET, "--out", &out_text, "--duration", "500ms"]);
    assert_eq!(made.status, 0, "{made:?}");
    assert!(made.stdout.contains("of 8 streams") && made.stdout.contains("no deadline"), "{made:?}");
    // The import returns the exported values.
    let device = rtflash(&["import", "mqsim", &out.join("ssd.xml").display().to_string(), "--format", "json"]).json();
    assert_eq!(
        (device["device"]["chips"].as_u64(), device["device"]["chips_per_channel"].as_u64()),
        (Some(4), Some(2))
    );
    assert_eq!(device["device"]["logical_ratio"].as_f64(), Some(0.5));
    let result = out.join("workload_scenario_1.xml");
    let path = result.display().to_string();
    let check = |longest, missing| {
        std::fs::write(&result, mqsim_results(&out, longest, missing)).unwrap();
        rtflash(&["check", SET, "--mqsim", &path, "--format", "json"])
    };
    // Deadlines are 30, 36 and 130 ms.
    for (longest, missing, status, holds) in
        [(29_999, 0, 0, Some(true)), (30_000, 0, 3, None), (30_001, 0, 1, Some(false)), (5, 1, 1, Some(false))]
    {
        let judged = check(longest, missing);
        assert_eq!(
            (judged.status, judged.json()["holds"].as_bool()),
            (status, holds),
            "{longest} {missing}: {judged:?}"
        );
    }
    let text = rtflash(&["check", SET, "--mqsim", &path]);
    assert!(text.stdout.contains("fail: requests were late, or were not served"), "{text:?}");
    let other = rtflash(&["check", SET, "--mqsim", &path, "--set", "tasks[0].read.period=37ms"]);
    assert!(other.status == 2 && other.stderr.contains("another was exported"), "{other:?}");
    // Results of another set, of another export, of none.
    let other = rtflash(&["check", "tasksets/dashcam.json", "--mqsim", &path]);
    assert!(other.status == 2 && other.stderr.contains("another was exported"), "{other:?}");
    assert_eq!(rtflash(&["check", SET, "--fio", &path]).status, 2);
    let own = folder("export-own");
    std::fs::create_dir_all(&own).unwrap();
    std::fs::write(own.join("result.json"), "mine").unwrap();
    assert_eq!(rtflash(&["export", "mqsim", SET, "--out", &own.display().to_string()]).status, 0);
    assert_eq!(std::fs::read_to_string(own.join("result.json")).unwrap(), "mine", "a file of somebody else stays");
    let again = rtflash(&["export", "mqsim", SET, "--out", &out_text, "--duration", "500ms"]);
    assert!(again.status == 0 && !result.exists(), "results of an earlier export are not of this one");
    let lonely = file("lonely-result.xml", mqsim_results(&out, 1, 0).as_str()).display().to_string();
    assert!(rtflash(&["check", SET, "--mqsim", &lonely]).stderr.contains("export.json"));
}

#[test]
fn results_of_fio_are_put_beside_the_deadlines() {
    let out = folder("export-fio");
    let call =
        ["export", "fio", SET, "--out", &out.display().to_string(), "--target", "/dev/none", "--duration", "100ms"];
    let made = rtflash(&[&call[..], &["--format", "json"]].concat());
    assert_eq!(made.status, 0, "{made:?}");
    let asked = made.json();
    let job = |stream: &serde_json::Value| {
        let ios = stream["requests"].as_u64().unwrap();
        let bytes = ios * stream["pages"].as_u64().unwrap() * asked["page_bytes"].as_u64().unwrap();
        let done =
            format!(r#"{{ "io_bytes": {bytes}, "total_ios": {ios}, "runtime": 99, "lat_ns": {{ "max": 30000000 }} }}"#);
        let none = r#"{ "io_bytes": 0, "total_ios": 0, "runtime": 0, "lat_ns": { "max": 0 } }"#.to_owned();
        let (read, write) = if stream["operation"] == "read" { (done, none) } else { (none, done) };
        format!(r#"{{ "jobname": {}, "error": 0, "read": {read}, "write": {write} }}"#, stream["name"])
    };
    let jobs: Vec<String> = asked["streams"].as_array().unwrap().iter().map(job).collect();
    let result = out.join("result.json");
    std::fs::write(&result, format!(r#"{{ "jobs": [{}] }}"#, jobs.join(", "))).unwrap();
    let path = result.display().to_string();
    let judged = rtflash(&["check", SET, "--fio", &path]);
    assert!(judged.status == 0 && judged.stdout.contains("pass: every request was served"), "{judged:?}");
    // Ten times as long, and one stream alone: requests come later than they should, and none looks
    // late by itself.
    let in_time = std::fs::read_to_string(&result).unwrap();
    for times in [1, 8] {
        std::fs::write(&result, in_time.replacen(r#""runtime": 99"#, r#""runtime": 990"#, times)).unwrap();
        let judged = rtflash(&["check", SET, "--fio", &path]);
        assert!(judged.status == 3 && judged.stdout.contains("the replay lagged"), "{judged:?}");
        assert!(judged.stdout.contains("lagged: it lasted 990ms"), "{judged:?}");
        let answer = rtflash(&["check", SET, "--fio", &path, "--format", "json"]).json();
        assert_eq!((&answer["holds"], &answer["streams"][0]["in_time"]), (&().into(), &().into()));
        assert_eq!(answer["streams"][0]["lasted_ns"], 990_000_000);
        let lagged = answer["streams"].as_array().unwrap().iter().filter(|stream| stream["lagged"] == true).count();
        assert_eq!(lagged, times);
    }
    let late = in_time.replacen("30000000", "36000001", 1).replace(r#""runtime": 99"#, r#""runtime": 990"#);
    std::fs::write(&result, late).unwrap();
    let judged = rtflash(&["check", SET, "--fio", &path]);
    assert!(judged.status == 1 && judged.stdout.contains("late"), "{judged:?}");
    assert_eq!(rtflash(&["export", "fio", SET, "--out", "x", "--target", "a b"]).status, 2);
}

#[test]
fn a_drive_is_told_what_it_does_not_bring() {
    let line = rtflash(&["export", "femu", SET]);
    assert_eq!(line.status, 0, "{line:?}");
    assert!(line.stdout.starts_with("-device femu,devsz_mb=4096,") && line.stderr.contains("no clusters"), "{line:?}");
    for (by, word) in [("sets", "--nvmset-id=2"), ("fdp", "--phndls=1")] {
        let script = rtflash(&["export", "nvme", SET, "--by", by]);
        assert_eq!(script.status, 0, "{script:?}");
        assert!(script.stdout.contains(word) && script.stdout.contains("no deadline is promised"), "{script:?}");
        assert_eq!(script.stdout.matches("create-ns").count(), 2, "one for each cluster with tasks");
    }
    // There is no allocation.
    let none = rtflash(&["export", "nvme", "tasksets/overload.json", "--by", "fdp"]);
    assert_eq!((none.status, none.stdout.as_str()), (1, ""), "{none:?}");
}

/// An option without effect on other results is refused, not passed over.
#[test]
fn options_of_an_analysis_are_refused_beside_results_of_others() {
    for result in ["--mqsim", "--fio"] {
        for option in [["--analysis", "sound"], ["--rely-on", "queue"], ["--algorithm", "global"], ["--duration", "1s"]]
        {
            let refused = rtflash(&["check", SET, result, "results", option[0], option[1]]);
            assert!(refused.status == 2 && refused.stderr.contains("cannot be used with"), "{option:?}: {refused:?}");
        }
    }
}

/// The certificates as firmware loads them: what is written is an image, altered bytes are none,
/// and what firmware does not do is refused.
#[test]
fn firmware_loads_what_is_exported() {
    use rtflash_ftl::Geometry;
    use rtflash_ftl::image::{Image, ImageError, ImageOrganisation};
    let out = folder("export-firmware");
    std::fs::create_dir_all(&out).unwrap();
    let path = out.join("set.bin").display().to_string();
    let made = rtflash(&["export", "firmware", SET, "--out", &path]);
    assert_eq!(made.status, 0, "{made:?}");
    let bytes = std::fs::read(&path).unwrap();
    let image = Image::read(&bytes).unwrap();
    assert_eq!((image.device().chips, image.sources()), (4, 8));
    let geometry = Geometry::of(&image, 0).unwrap();
    assert!(made.stdout.contains(&format!("request_pages: {},", geometry.request_pages)), "{made:?}");
    assert!(made.stderr.contains(&format!("{:08x}", image.identity())), "{made:?}");
    for place in 0..bytes.len() {
        let mut altered = bytes.clone();
        altered[place] ^= 1 << (place % 8);
        assert!(Image::read(&altered).is_err(), "byte {place}");
    }
    for length in 0..bytes.len() {
        assert!(Image::read(&bytes[..length]).is_err(), "{length} bytes");
    }
    assert_eq!(Image::read(&[bytes.as_slice(), &[0]].concat()), Err(ImageError::Length));
    // An image by an allocation from a file, and of another organisation.
    let found = rtflash(&["alloc", SET, "--analysis", "superblock", "--format", "json"]).stdout;
    let found = file("export-firmware.json", &found).display().to_string();
    let made = rtflash(&["export", "firmware", SET, "--allocation", &found, "--out", &path, "--format", "json"]).json();
    assert_eq!((made["to"].as_str(), made["files"][0].as_str()), (Some("firmware"), Some(path.as_str())));
    let bytes = std::fs::read(&path).unwrap();
    let image = Image::read(&bytes).unwrap();
    assert_eq!(image.cluster(0).unwrap().organisation(), ImageOrganisation::Superblock);
    assert!(image.cluster(0).unwrap().backfills() && !image.cluster(0).unwrap().is_cached());
    let exported = |more: &[&str]| {
        let answer = rtflash(&[&["export", "firmware", SET, "--out", &path], more].concat());
        assert_eq!(answer.status, 0, "{answer:?}");
        std::fs::read(&path).unwrap()
    };
    let bytes = exported(&["--no-backfill"]);
    assert!(!Image::read(&bytes).unwrap().cluster(0).unwrap().backfills());
    let bytes = exported(&["--set", "device.page_registers=2"]);
    assert!(Image::read(&bytes).unwrap().cluster(0).unwrap().is_cached());
    // No certificates; no such allocation; no such folder.
    let refusals: [(&[&str], i32, &str); 3] = [
        (&["--analysis", "thesis"], 2, "possible values: stripe, superblock, sound, zoned"),
        (&["--set", "device.chips=1"], 1, ""),
        (&["--out", "/no/such/folder/set.bin"], 2, "cannot write"),
    ];
    for (more, status, says) in refusals {
        let mut call = vec!["export", "firmware", SET];
        if more[0] != "--out" {
            call.extend(["--out", path.as_str()]);
        }
        call.extend(more);
        let answer = rtflash(&call);
        assert!(answer.status == status && answer.stderr.contains(says), "{more:?}: {answer:?}");
    }
}
