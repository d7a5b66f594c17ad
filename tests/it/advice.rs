//! Reasons are those of the allocation, and advice names what helps.

use serde_json::{Value, json};

use crate::common::{rtflash, rtflash_with_input};

/// Four cameras that record, a map and a log whose writes are due before an erase is over.
fn recorder(device: &Value) -> String {
    let mut spec = json!({"profile": "ut81ndq512g8t-tlc-typical", "chips": 8, "chips_per_channel": 4});
    for (field, value) in device.as_object().expect("fields") {
        spec[field] = value.clone();
    }
    let camera = |number: u32| {
        json!({
            "name": format!("cam{number}"),
            "write": {"size": "1MiB", "rate": "3125kB/s", "access": "stream"},
            "data_size": "64GiB",
        })
    };
    let map = json!({"name": "map", "read": {"size": "256KiB", "every": "1/20s"}});
    let log = json!({"name": "log", "write": {"size": "4KiB", "every": "20ms", "deadline": "10ms"}});
    let tasks: Vec<Value> = (1..=4).map(camera).chain([map, log]).collect();
    json!({"device": spec, "tasks": tasks}).to_string()
}

fn asked(arguments: &[&str], set: &str) -> crate::common::Run {
    rtflash_with_input(arguments, set.as_bytes())
}

const SUSPENDED: [(&str, &str); 2] = [("erase_suspend", "200us"), ("erase_resume", "200us")];

fn suspended() -> Value {
    json!(std::collections::BTreeMap::from(SUSPENDED))
}

/// Data fit the device: time is at fault. Fewer valid pages help, with fewer chips as well.
#[test]
fn the_reason_is_that_of_the_allocation_and_advice_is_of_chips_and_ratio_together() {
    let sound = ["alloc", "-", "--analysis", "sound", "--format", "json"];
    let answer = asked(&sound, &recorder(&suspended()));
    let json = answer.json();
    assert_eq!((answer.status, &json["data"]["fits"]), (1, &json!(true)));
    let reason = json["unplaced"]["reason"].as_str().expect("a reason");
    assert!(["demand", "load"].contains(&reason), "{json}");
    let advice = &json["advice"];
    assert_eq!((&advice["chips"], &advice["logical_ratio"]), (&json!(14), &json!(0.744)), "{advice}");
    let points = advice["together"].as_array().expect("points");
    // Fewer chips do at a smaller λ, the device's own λ needs fourteen.
    let largest = |chips: u32| {
        let at_most = points.iter().filter(|point| point["chips"].as_u64() <= Some(chips.into()));
        at_most.map(|point| point["logical_ratio"].as_f64().expect("a number")).fold(0.0, f64::max)
    };
    assert!(largest(7) >= 0.7 && largest(8) >= 0.74 && largest(13) < 0.875 && largest(14) == 0.875, "{advice}");
    // Each value states its steps.
    let steps = (&advice["logical_ratio_resolution"], &advice["together_resolution"], &advice["together_complete"]);
    assert_eq!(steps, (&json!(0.001), &json!(0.01), &json!(true)), "{advice}");
    let said = asked(&sound[..4], &recorder(&suspended())).stdout;
    for says in
        ["0.744 instead of 0.875 (in steps of 0.001)", "6 chips at 0.71 to 14 chips at 0.875", "(in steps of 0.01)"]
    {
        assert!(said.contains(says) && !said.contains("size --over"), "{says}: {said}");
    }
    // Each of them passes.
    for point in points {
        let mut device = suspended();
        (device["chips"], device["logical_ratio"]) = (point["chips"].clone(), point["logical_ratio"].clone());
        let algorithm = point["algorithm"].as_str().expect("a name");
        let answer = asked(&[&sound[..], &["--algorithm", algorithm]].concat(), &recorder(&device));
        assert_eq!(answer.status, 0, "{point}");
    }
    let size = ["size", "-", "--analysis", "sound", "--over", "chips,logical_ratio"];
    let front = asked(&[&size[..], &["--format", "json"]].concat(), &recorder(&suspended())).json()["front"].clone();
    let pairs = |points: &Value| -> Vec<(Value, Value)> {
        let points = points.as_array().expect("points").iter();
        points.map(|point| (point["chips"].clone(), point["logical_ratio"].clone())).collect()
    };
    assert_eq!((&front["over"], &front["complete"]), (&json!(["chips", "logical_ratio"]), &json!(true)));
    assert!(pairs(&front["points"]).contains(&(json!(7), json!(0.744))), "{front}");
    // Between data that need a larger λ and garbage collection that needs a smaller one; 0.696 and
    // 0.7 fail. Advice has the largest of its steps.
    for (points, ratio) in [(&front["points"], 0.711), (&advice["together"], 0.71)] {
        assert!(pairs(points).contains(&(json!(6), json!(ratio))), "{points}");
    }
    assert_eq!(pairs(&front["points"]).last(), Some(&(json!(14), json!(0.875))), "{front}");
    let text = asked(&size, &recorder(&suspended())).stdout;
    assert!(text.contains("none better than another in every respect") && text.contains("0.744"), "{text}");
    assert!(text.contains("at a logical_ratio of 0.875, whatever the algorithm"), "{text}");
}

/// An erase is in the way: what mends it is named, and the other advice supposes it.
#[test]
fn a_request_behind_an_erase_names_it_and_what_mends_it() {
    let set = recorder(&json!({}));
    let text = asked(&["alloc", "-", "--analysis", "sound"], &set).stdout;
    let why = "takes 1.929ms at least, behind an erase of 15.000ms that nothing interrupts, and it is due 10ms after";
    assert!(text.contains("Task log can be served nowhere") && text.contains(why), "{text}");
    for mends in ["\"erase_suspend\" and \"erase_resume\"", "a deadline of 17ms for its write", "a buffer"] {
        assert!(text.contains(mends), "{mends}: {text}");
    }
    let json = asked(&["alloc", "-", "--analysis", "sound", "--format", "json"], &set).json();
    assert_eq!(json["unplaced"]["blocking_ns"], json!(15_000_000));
    // Followed, each change lets the task pass alone; what necessary tests allow may not.
    let served = &json["advice"]["served"][0];
    let alone = |device: Value, deadline: &Value| {
        let mut set: Value = serde_json::from_str(&recorder(&device)).expect("JSON");
        let log = set["tasks"].as_array().and_then(|tasks| tasks.last()).cloned();
        set["tasks"] = json!([log]);
        if let Some(deadline) = deadline.as_u64() {
            set["tasks"][0]["write"]["deadline"] = json!(format!("{deadline}ns"));
        }
        asked(&["alloc", "-", "--analysis", "sound"], &set.to_string()).status
    };
    let suspend = |time: &str| json!({"erase_suspend": time, "erase_resume": time});
    let longest = format!("{}ns", served["longest_erase_suspend_ns"]);
    let deadline = &served["deadlines"][0];
    let followed = [
        alone(suspend(&longest), &Value::Null),
        alone(json!({}), &deadline["time_ns"]),
        alone(suspend("3071us"), &Value::Null),
    ];
    assert_eq!(followed, [0, 0, 1], "{served}");
    assert_eq!(deadline, &json!({"task": "log", "kind": "write", "time_ns": 17_000_000}), "{served}");
    let supposes = &json["advice"]["supposes"];
    assert_eq!(supposes, &json!({"erase_suspend_ns": 88_000, "deadlines": [], "enough": false}), "{supposes}");
    assert!(text.contains("The changes below suppose \"erase_suspend\" and \"erase_resume\" of 88us each."), "{text}");
    assert!(json["advice"]["together"].as_array().is_some_and(|points| !points.is_empty()), "{json}");
    // A request as long as its period is served on no number of chips: none is tried.
    let full = r#"{"device": {"chips": 1, "chips_per_channel": 1, "blocks_per_chip": 256, "pages_per_block": 64,
        "page_size": 4096, "logical_ratio": 0.5, "page_read": "50us", "page_program": "500us", "block_erase": "3ms",
        "page_transfer": "10us"}, "tasks": [{"name": "r", "read": {"pages": 1, "period": "60us"}}]}"#;
    let json = asked(&["alloc", "-", "--analysis", "sound", "--format", "json"], full).json();
    assert_eq!((&json["unplaced"]["reason"], &json["advice"]["chips"]), (&json!("request"), &Value::Null), "{json}");
}

/// A task whose read and write are both due too early, and another one: each has advice, and all
/// deadlines that are supposed are named.
#[test]
fn each_request_that_cannot_be_served_has_a_deadline() {
    let set = r#"{"device": {"chips": 2, "chips_per_channel": 1, "blocks_per_chip": 256, "pages_per_block": 64,
        "page_size": 4096, "logical_ratio": 0.5, "page_read": "500us", "page_program": "2ms", "block_erase": "3ms",
        "page_transfer": "10us", "erase_suspend": "100us", "erase_resume": "100us"}, "tasks": [
        {"name": "both", "read": {"pages": 1, "period": "100ms", "deadline": "400us"},
         "write": {"pages": 1, "period": "1s", "deadline": "1ms"}},
        {"name": "reader", "read": {"pages": 1, "period": "50ms", "deadline": "300us"}},
        {"name": "fine", "write": {"pages": 80, "period": "300ms"}}]}"#;
    let answer = asked(&["alloc", "-", "--analysis", "sound", "--format", "json"], set);
    let (json, advice) = (answer.json(), &answer.json()["advice"]);
    assert_eq!(answer.status, 1);
    let named = |served: &Value| (served["task"].clone(), served["kinds"].clone());
    let served: Vec<_> = advice["served"].as_array().expect("tasks").iter().map(named).collect();
    let expected = [(json!("both"), json!(["read", "write"])), (json!("reader"), json!(["read"]))];
    assert_eq!(served, expected, "{json}");
    let deadlines = advice["supposes"]["deadlines"].as_array().expect("deadlines");
    let of = |of: &Value| (of["task"].clone(), of["kind"].clone());
    let requests: Vec<_> = deadlines.iter().map(of).collect();
    let expected =
        [("both", "read"), ("both", "write"), ("reader", "read")].map(|(task, kind)| (json!(task), json!(kind)));
    assert_eq!(requests, expected, "{json}");
    // Followed, no request is due too early.
    let mut changed: Value = serde_json::from_str(set).expect("JSON");
    for deadline in deadlines {
        let tasks = changed["tasks"].as_array_mut().expect("tasks");
        let task = tasks.iter_mut().find(|task| task["name"] == deadline["task"]).expect("of that name");
        task[deadline["kind"].as_str().expect("a kind")]["deadline"] = json!(format!("{}ns", deadline["time_ns"]));
    }
    let followed = asked(&["alloc", "-", "--analysis", "sound", "--format", "json"], &changed.to_string());
    assert_eq!(followed.status == 0, advice["supposes"]["enough"], "{json}");
    assert!(followed.json()["advice"]["served"].is_null(), "{followed:?}");
    let text = asked(&["alloc", "-", "--analysis", "sound"], set).stdout;
    let line =
        text.lines().find(|line| line.contains("nothing else is needed") || line.starts_with("The changes below"));
    let line = line.expect("what is supposed");
    assert_eq!(line.matches("a deadline of ").count(), 3, "{text}");
    assert!(line.contains("for the read of both, a deadline of ") && line.contains("for the write of both"), "{text}");
}

/// Each cluster has a server, beside which no erase is suspended: it is said, and may be chosen.
#[test]
fn a_server_or_suspended_erases() {
    let set = r#"{"device": {"profile": "dgist-2021", "chips": 2, "chips_per_channel": 1, "erase_suspend": "100us",
        "erase_resume": "50us"}, "tasks": [{"name": "r", "read": {"pages": 16, "period": "12ms"}},
        {"name": "w", "write": {"pages": 8, "period": "40ms"}}]}"#;
    let longest = |allocation: &str| {
        let path = crate::common::file("reserve.json", allocation).display().to_string();
        let call = ["exec", "-", "--analysis", "sound", "--allocation", &path, "--duration", "20s", "--format", "json"];
        let json = asked(&call, set).json();
        assert_eq!(json["verdict"], "pass");
        json["requests"][0]["max_response_ns"].as_u64().expect("a response")
    };
    let alloc = ["alloc", "-", "--analysis", "sound"];
    let said = asked(&alloc, set).stdout;
    assert!(said.contains("no erase") && said.contains("--reserve-server no"), "{said}");
    let json = [&alloc[..], &["--format", "json"]].concat();
    let none = asked(&[&json[..], &["--reserve-server", "no"]].concat(), set);
    let answer = none.json();
    let servers = answer["clusters"].as_array().expect("clusters").iter();
    let mut servers = servers.map(|cluster| &cluster["certificate"]["server_thousandths"]);
    assert!(none.status == 0 && servers.all(|share| *share == 0), "{answer}");
    assert!(longest(&none.stdout) < longest(&asked(&json, set).stdout));
    let text = asked(&[&alloc[..], &["--reserve-server", "no"]].concat(), set).stdout;
    assert!(!text.contains("no erase"), "{text}");
    let thesis = asked(&["alloc", "-", "--reserve-server", "no"], set);
    assert!(thesis.status == 2 && thesis.stderr.contains("--reserve-server no"), "{thesis:?}");
}

#[test]
fn jobs_that_get_nothing_are_told_of() {
    let set = r#"{"device": {"chips": 1, "chips_per_channel": 1, "blocks_per_chip": 256, "pages_per_block": 64,
        "page_size": 4096, "logical_ratio": 0.5, "page_read": "50us", "page_program": "500us", "block_erase": "3ms",
        "page_transfer": "10us"}, "tasks": [{"name": "r", "read": {"pages": 1, "period": "3050us"}}],
        "jobs": [{"name": "log", "write_pages": 1, "arrivals": {"every": "1s"}},
                 {"name": "scan", "read_pages": 1, "arrivals": {"every": "1s"}}]}"#;
    let call = ["exec", "-", "--analysis", "sound", "--duration", "60s"];
    let text = asked(&call, set).stdout;
    let said = "aperiodic requests of log, scan get nothing: 120 requests wait, and none completes";
    assert!(text.contains(said), "{text}");
    let json = asked(&[&call[..], &["--format", "json"]].concat(), set).json();
    assert!(json["notes"][0].as_str().is_some_and(|note| note.contains(said)), "{json}");
    // A server's jobs that are not complete yet get something.
    let short = rtflash(&["exec", "tasksets/case-study.json", "--analysis", "sound", "--duration", "100ms"]).stdout;
    assert!(!short.contains("get nothing"), "{short}");
    assert!(short.contains("of the aperiodic requests of j1 none completes within 100ms: 8 requests wait"), "{short}");
}

/// An option that was given is not advised.
#[test]
fn advice_names_no_option_that_was_given_or_is_not_there() {
    let set = "tasksets/overload.json";
    let equal = rtflash(&["alloc", set, "--analysis", "sound", "--algorithm", "equal-split"]).stdout;
    assert!(!equal.contains("--analysis sound") && !equal.contains("--algorithm equal-split"), "{equal}");
    let out = crate::common::file("advice.image", "").display().to_string();
    let many = "tasks[0].write.pages=100000";
    let firmware = rtflash(&["export", "firmware", set, "--analysis", "sound", "--out", &out, "--set", many]);
    assert!(firmware.status == 1 && !firmware.stderr.contains("equal-split"), "{firmware:?}");
}
