use super::{Fault, check};
use crate::file::{read_device, read_task_set, read_task_set_bytes};

#[track_caller]
fn refused(text: &str, faults: &[Fault<'_>]) {
    check(text, read_task_set(text), faults);
}

#[test]
fn whole_texts() {
    const WHAT: &str = "expected a task set";
    for (text, faults) in [
        ("", [("", "", "empty input")]),
        (" \n\t", [("", "", "empty input")]),
        ("\u{feff}", [("", "", WHAT)]),
        ("{", [("", "", "ends too early")]),
        ("{\"tasks\": [\n", [("", "", WHAT)]),
        ("{\"tasks\": nul}", [("}", "", "not JSON: expected ident")]),
        ("{'device': 1}", [("'", "", "not JSON: key must be a string")]),
        ("\u{feff}{\n \"µ\": 01}", [("1", "", "not JSON: invalid number")]),
        ("{\"a\": \"x\ny\"}", [("\n", "", "control character")]),
        ("{\"a\": 1,}", [("}", "", "a comma before the end")]),
        ("\0", [("\0", "", "not JSON: expected value")]),
        ("{\"tasks\": \"a\0b\"}", [("\0", "", "control character")]),
        ("device", [("device", "", "not JSON: expected `{`, found `device`")]),
        (" not json", [("not", "", "not JSON: expected `{`, found `not`")]),
        ("{\"clusters\": []}", [("{\"clusters\": []}", "", "this is an allocation (expected a task set: are the two")]),
        ("{} \n {\"a\": 1}\nmore", [("{\"a\": 1}", "", "text after the end of the JSON value")]),
        ("{}}", [("}", "", "nothing more")]),
        ("[1]", [("[1]", "", "the text holds an array (expected a task set")]),
        ("7", [("7", "", "the text holds a number")]),
        ("\"dgist-2021\"", [("\"dgist-2021\"", "", "the text holds a string")]),
        ("null", [("null", "", "the text holds null")]),
    ] {
        refused(text, &faults);
    }
    refused("{}", &[("{}", "", "missing field `device`"), ("{}", "", "missing field `tasks`")]);
}

#[test]
fn rates() {
    for (rate, expected) in [
        ("25Mbit/s", "an eighth of the bits: 25Mbit/s is \"3125kB/s\""),
        ("3.125MB/s", "a whole number of a smaller unit"),
        ("fast", "bytes a second in a string"),
    ] {
        let text =
            format!(r#"{{"device":"dgist-2021","tasks":[{{"name":"a","read":{{"rate":"{rate}","every":"1s"}}}}]}}"#);
        refused(&text, &[(&format!("\"{rate}\""), "tasks[0].read.rate", expected)]);
    }
}

#[test]
fn bytes_that_are_no_text() {
    for (bytes, range) in [(&b"{\"a\": \"\xff\"}"[..], 7..8), (b"\xc3", 0..1), (b"{}\xe2\x82", 2..4)] {
        let wrong = read_task_set_bytes(bytes).unwrap_err().first().to_vec();
        assert_eq!((wrong[0].range.clone(), wrong.len()), (range, 1));
    }
}

#[test]
fn tasks() {
    let big = "18446744073709551616";
    for (tasks, faults) in [
        ("{}", vec![("{}", "tasks", "`tasks` is an object (expected an array of tasks)")]),
        ("null", vec![("null", "tasks", "`tasks` is null")]),
        (
            "[3]",
            vec![(
                "3",
                "tasks[0]",
                "`tasks[0]` is a number (expected an object with `name`, `read`, `write`, `data_pages` and \
                 `data_size`)",
            )],
        ),
        ("[{R}]", vec![("{\"read\"", "tasks[0]", "missing field `name`")]),
        ("[{\"name\": null, R}]", vec![("null", "tasks[0].name", "`name` is null")]),
        ("[{\"name\": 5, R}, {N}]", vec![("5", "tasks[0].name", "is a number"), ("{\"name\"", "tasks[1]", "neither")]),
        ("[{\"name\": \"\", R}]", vec![("\"\"", "tasks[0].name", "an empty name")]),
        ("[{\"name\": \"\\ud800\", R}]", vec![("\"\\ud800\"", "tasks[0].name", "half of a surrogate pair")]),
        ("[{\"\\ud800\": 1, N, R}]", vec![("\"\\ud800\"", "tasks[0].\\ud800", "unknown field `\\ud800`")]),
        ("[{N}]", vec![("{\"name\"", "tasks[0]", "task `a` neither reads nor writes")]),
        ("[{N, \"read\": null}]", vec![("{", "tasks[0]", "neither reads nor writes")]),
        ("[{N, R}, {N, R}]", vec![("\"a\"", "tasks[1].name", "the name `a` is taken by tasks[0]")]),
        ("[{N, R}, {\"name\": \"\\u0061\", R}]", vec![("\"\\u0061\"", "tasks[1].name", "taken")]),
        ("[{N, R, R}]", vec![("\"read\"", "tasks[0].read", "`read` is given a second time")]),
        ("[{N, R, \"\\u0072ead\": 1}]", vec![("\"\\u0072ead\"", "tasks[0].read", "a second time")]),
        (
            "[{N, \"raed\": {}}]",
            vec![("\"raed\"", "tasks[0].raed", "unknown field `raed` (expected `read`, the nearest")],
        ),
        (
            "[{N, R, \"deadline\": 1}]",
            vec![("\"deadline\"", "tasks[0].deadline", "one of `name`, `read`, `write`, `data_pages` and `data_size`")],
        ),
        ("[{N, \"read\": []}]", vec![("[]", "tasks[0].read", "`read` is an array (expected an object with `pages`")]),
        (
            "[{N, \"read\": {}}]",
            vec![("{}", "tasks[0].read", "missing field `pages`"), ("{}", "tasks[0].read", "missing field `period`")],
        ),
        ("[{N, \"read\": {P, \"perod\": \"1ms\"}}]", vec![("\"perod\"", "tasks[0].read.perod", "expected `period`")]),
        ("[{N, \"read\": {\"pages\": 0, T}}]", vec![("0", "tasks[0].read.pages", "zero pages")]),
        ("[{N, \"read\": {\"pages\": -1, T}}]", vec![("-1", "tasks[0].read.pages", "`pages` is below zero")]),
        ("[{N, \"read\": {\"pages\": 1.5, T}}]", vec![("1.5", "tasks[0].read.pages", "not a whole number")]),
        ("[{N, \"read\": {\"pages\": 1e3, T}}]", vec![("1e3", "tasks[0].read.pages", "in digits")]),
        ("[{N, \"read\": {\"pages\": \"4\", T}}]", vec![("\"4\"", "tasks[0].read.pages", "without quotes")]),
        (
            "[{N, \"read\": {\"pages\": BIG, T}}]",
            vec![("1844", "tasks[0].read.pages", "expected at most 184467440737095516")],
        ),
        ("[{N, \"read\": {\"pages\": 1152921504606846976, T}}]", vec![("1152", "tasks[0].read.pages", "at most")]),
        (
            "[{N, \"read\": {P}}]",
            vec![("{\"pages\"", "tasks[0].read", "missing field `period` (expected `period`: a time")],
        ),
        (
            "[{N, \"read\": {P, \"period\": 36}}]",
            vec![("36", "tasks[0].read.period", "without a unit (expected a string with a unit, such as \"36ms\"")],
        ),
        ("[{N, \"read\": {P, \"period\": \"36\"}}]", vec![("\"36\"", "tasks[0].read.period", "such as \"36ms\"")]),
        (
            "[{N, \"read\": {P, \"period\": \"36 sec\"}}]",
            vec![("\"36 sec\"", "tasks[0].read.period", "unknown unit of time `sec`")],
        ),
        ("[{N, \"read\": {P, \"period\": \"-3ms\"}}]", vec![("\"-3ms\"", "tasks[0].read.period", "below zero")]),
        ("[{N, \"read\": {P, \"period\": \"0ms\"}}]", vec![("\"0ms\"", "tasks[0].read.period", "a period of zero")]),
        (
            "[{N, \"read\": {P, \"period\": \"0.5ns\"}}]",
            vec![("\"0.5", "tasks[0].read.period", "whole number of nanoseconds")],
        ),
        (
            "[{N, \"read\": {P, \"period\": \"9223372036854775808ns\"}}]",
            vec![("\"92", "tasks[0].read.period", "too long")],
        ),
        ("[{N, \"read\": {P, \"period\": \"soon\"}}]", vec![("\"soon\"", "tasks[0].read.period", "not a time")]),
        ("[{N, \"read\": {P, \"period\": \"\\ud800\"}}]", vec![("\"\\ud800\"", "tasks[0].read.period", "not a time")]),
        ("[{N, \"read\": {P, \"period\": {}}}]", vec![("{}", "tasks[0].read.period", "`period` is an object")]),
        ("[{N, \"read\": {P, T, \"deadline\": 5}}]", vec![("5", "tasks[0].read.deadline", "without a unit")]),
        (
            "[{N, \"read\": {P, T, \"deadline\": \"0ms\"}}]",
            vec![("\"0ms\"", "tasks[0].read.deadline", "a deadline of zero")],
        ),
        (
            "[{N, \"read\": {P, \"period\": \"1ms\", \"deadline\": \"3ms\", \"jitter\": \"2ms\"}}]",
            vec![(
                "\"2ms\"",
                "tasks[0].read.jitter",
                "a jitter of 2ms lets a request come behind the next one, a period of 1ms later (expected a time \
                 below 1ms)",
            )],
        ),
        (
            "[{N, \"write\": {P, \"period\": \"3ms\", \"deadline\": \"2ms\", \"jitter\": \"2ms\"}}]",
            vec![(
                "\"2ms\"",
                "tasks[0].write.jitter",
                "a jitter of 2ms leaves a request no time before its deadline of 2ms (expected a time below 2ms)",
            )],
        ),
        (
            "[{N, \"read\": {P, \"period\": \"1ms\", \"jitter\": \"1ms\"}}]",
            vec![("\"1ms\"", "tasks[0].read.jitter", "before its deadline of 1ms")],
        ),
        ("[{N, \"read\": {P, T, \"jitter\": \"-1ms\"}}]", vec![("\"-1ms\"", "tasks[0].read.jitter", "below zero")]),
        // If the period cannot be read, nothing is compared with it.
        (
            "[{N, \"read\": {P, \"period\": 1, \"deadline\": \"2s\", \"jitter\": \"3s\"}}]",
            vec![("1", "tasks[0].read.period", "without a unit")],
        ),
        ("[{N, \"read\": {P, T, \"acess\": 1}}]", vec![("\"acess\"", "tasks[0].read.acess", "expected `access`")]),
        (
            "[{N, \"read\": {P, T, \"access\": 1}}]",
            vec![(
                "1",
                "tasks[0].read.access",
                "`access` is a number (expected `random`, `sequential` or `stream`, in a string",
            )],
        ),
        (
            "[{N, \"read\": {P, T, \"access\": \"Sequental\"}}]",
            vec![(
                "\"Seq",
                "tasks[0].read.access",
                "no access pattern `Sequental` (expected `sequential`, the nearest of `random`, `sequential` and `stream`",
            )],
        ),
        (
            "[{N, \"write\": {P, T, \"access\": \"striped\"}}]",
            vec![("\"striped", "tasks[0].write.access", "(expected `random`, `sequential` or `stream`)")],
        ),
        ("[{N, R, \"data_pages\": 0}]", vec![("0", "tasks[0].data_pages", "zero pages")]),
        ("[{N, R, \"data_pages\": \"9\"}]", vec![("\"9\"", "tasks[0].data_pages", "without quotes")]),
        ("[{N, R, \"data_page\": 9}]", vec![("\"data_page\"", "tasks[0].data_page", "expected `data_pages`")]),
        (
            "[{N, R, \"data_pages\": 2097153}]",
            vec![("2097153", "tasks[0].data_pages", "does not fit on the device (expected at most 2097152 pages")],
        ),
        (
            "[{N, \"read\": {P, T, Q}, \"write\": {\"pages\": 3, T, Q}, \"data_pages\": 3}]",
            vec![("4", "tasks[0].read.pages", "does not fit in the task's data of 3 pages (expected at most 3 pages")],
        ),
        (
            "[{N, R, \"write\": {P, T, Q}, \"data_pages\": 1}]",
            vec![("4", "tasks[0].write.pages", "a sequential request of 4 pages does not fit in the task's data of 1")],
        ),
        (
            "[{N, \"read\": {\"pages\": 1152921504606846976, T, Q}, \"data_pages\": 1}]",
            vec![("1152", "tasks[0].read.pages", "2^63 ns")],
        ),
        (
            "[{N, \"read\": {\"pages\": 0, \"period\": 1}, \"write\": {\"pages\": true, \"period\": \"1m\"}}, \
             {N, \"x\": 1}]",
            vec![
                ("0", "tasks[0].read.pages", "zero"),
                ("1", "tasks[0].read.period", "unit"),
                ("true", "tasks[0].write.pages", "a truth value"),
                ("\"1m\"", "tasks[0].write.period", "`m`"),
                ("{", "tasks[1]", "neither"),
                ("\"a\"", "tasks[1].name", "taken"),
                ("\"x\"", "tasks[1].x", "unknown"),
            ],
        ),
    ] {
        let tasks = tasks.replace('R', "\"read\": {P, T}").replace("BIG", big);
        let tasks =
            tasks.replace('N', "\"name\": \"a\"").replace('P', "\"pages\": 4").replace('T', "\"period\": \"1ms\"");
        let tasks = tasks.replace('Q', "\"access\": \"sequential\"");
        let text = format!("{{\"device\": \"dgist-2021\", \"tasks\": {tasks}}}");
        refused(&text, &faults);
    }
}

#[test]
fn jobs() {
    for (job, faults) in [
        ("7", vec![("7", "jobs[0]", "`jobs[0]` is a number")]),
        ("{\"read_pages\": 1, E}", vec![("{", "jobs[0]", "missing field `name`")]),
        ("{N, E}", vec![("{", "jobs[0]", "job `j` neither reads nor writes")]),
        ("{N, \"read_pages\": 0, \"write_pages\": null, E}", vec![("{", "jobs[0]", "neither")]),
        ("{\"name\": \"t\", \"read_pages\": 1, E}", vec![("\"t\"", "jobs[0].name", "taken by tasks[0]")]),
        ("{N, \"read_pages\": -1, E}", vec![("-1", "jobs[0].read_pages", "below zero")]),
        ("{N, \"write_pages\": 9223372036854775808, E}", vec![("9223", "jobs[0].write_pages", "2^63 ns")]),
        ("{N, \"pages\": 1, E}", vec![("{", "jobs[0]", "neither"), ("\"pages\"", "jobs[0].pages", "unknown field")]),
        ("{N, \"read_page\": 1, E}", vec![("\"read_page\"", "jobs[0].read_page", "expected `read_pages`")]),
        ("{N, \"read_pages\": 1}", vec![("{", "jobs[0]", "missing field `arrivals`")]),
        (
            "{N, \"read_pages\": 1, \"arrivals\": \"1ms\"}",
            vec![("\"1ms\"", "jobs[0].arrivals", "an object with `every`")],
        ),
        (
            "{N, \"read_pages\": 1, \"arrivals\": {}}",
            vec![("{}", "jobs[0].arrivals", "of no kind (expected exactly one of")],
        ),
        (
            "{N, \"read_pages\": 1, \"arrivals\": {\"every\": \"1ms\", \"at\": []}}",
            vec![("{", "jobs[0].arrivals", "several kinds: `every` and `at`")],
        ),
        ("{A{\"evry\": \"1ms\"}}", vec![("\"evry\"", "jobs[0].arrivals.evry", "expected `every`")]),
        ("{A{\"poisson\": \"0s\"}}", vec![("\"0s\"", "jobs[0].arrivals.poisson", "a gap of zero")]),
        ("{A{\"every\": \"1ms\", \"burst\": 0}}", vec![("0", "jobs[0].arrivals.burst", "a burst of no job")]),
        ("{A{\"every\": \"0s\", \"burst\": 2}}", vec![("\"0s\"", "jobs[0].arrivals.every", "a gap of zero")]),
        ("{A{\"poisson\": \"1ms\", \"burst\": 2}}", vec![("{", "jobs[0].arrivals", "`burst` with `every`")]),
        ("{A{\"every\": 1}}", vec![("1", "jobs[0].arrivals.every", "without a unit")]),
        ("{A{\"every\": \"0s\"}}", vec![("\"0s\"", "jobs[0].arrivals.every", "a gap of zero")]),
        ("{A{\"uniform\": \"1ms\"}}", vec![("\"1ms\"", "jobs[0].arrivals.uniform", "an array of two times")]),
        ("{A{\"uniform\": [\"1ms\"]}}", vec![("[", "jobs[0].arrivals.uniform", "`uniform` has 1 elements")]),
        ("{A{\"uniform\": [\"0s\", \"1s\"]}}", vec![("\"0s\"", "jobs[0].arrivals.uniform[0]", "a gap of zero")]),
        ("{A{\"uniform\": [\"2s\", \"1s\"]}}", vec![("[", "jobs[0].arrivals.uniform", "2s is longer than 1s")]),
        (
            "{A{\"uniform\": [2, \"1\"]}}",
            vec![
                ("2", "jobs[0].arrivals.uniform[0]", "`uniform[0]`"),
                ("\"1\"", "jobs[0].arrivals.uniform[1]", "unit"),
            ],
        ),
        (
            "{A{\"at\": [\"0s\", \"2s\", \"1s\"]}}",
            vec![("\"1s\"", "jobs[0].arrivals.at[2]", "earlier than the arrival before")],
        ),
        ("{A{\"at\": [\"0s\", 3]}}", vec![("3", "jobs[0].arrivals.at[1]", "without a unit")]),
        ("{A{\"at\": \"1s\"}}", vec![("\"1s\"", "jobs[0].arrivals.at", "an array of times")]),
    ] {
        let job = job.replace('A', "N, \"read_pages\": 1, \"arrivals\": ");
        let job = job.replace('N', "\"name\": \"j\"").replace('E', "\"arrivals\": {\"every\": \"1ms\"}");
        let tasks = "[{\"name\": \"t\", \"read\": {\"pages\": 1, \"period\": \"1s\"}}]";
        refused(&format!("{{\"device\": \"dgist-2021\", \"tasks\": {tasks}, \"jobs\": [{job}]}}"), &faults);
    }
}

#[test]
fn devices() {
    let all = r#""chips_per_channel": 4, "blocks_per_chip": 9, "pages_per_block": 256, "page_size": 1,
        "page_read": "1us", "page_program": "1us", "block_erase": "1us", "page_transfer": "1us""#;
    let more = "0.123456789012345678901234567890123456789";
    for (device, faults) in [
        ("7", vec![("7", "", "the value is a number (expected a device")]),
        (
            "\"dgist2021\"",
            vec![("\"dgist2021\"", "", "there is no device profile `dgist2021` (expected `dgist-2021`, the nearest")],
        ),
        ("\"x\"", vec![("\"x\"", "", "expected a known profile: `dgist-2021`, `mt29f4g08abada-slc`")]),
        ("\"\\ud800\"", vec![("\"\\ud800\"", "", "surrogate")]),
        (
            "{\"profile\": \"x\", \"chips\": -1}",
            vec![("\"x\"", "profile", "there is no"), ("-1", "chips", "below zero")],
        ),
        ("{\"profile\": 3}", vec![("3", "profile", "`profile` is a number")]),
        ("{}", vec![("{}", "", "missing fields `chips`, `chips_per_channel`, ")]),
        ("{\"profile\": null, ALL, \"chips\": 4}", vec![("{", "", "missing field `logical_ratio` (expected all ten")]),
        ("{ALL, \"logical_ratio\": 0.5, \"chip\": 4}", vec![("\"chip\"", "chip", "expected `chips`, the nearest")]),
        ("{ALL, \"chips\": 4, \"logical_ratio\": null}", vec![("null", "logical_ratio", "is null")]),
        ("{PROFILE, \"chips\": 0}", vec![("0", "chips", "`chips` is zero")]),
        ("{PROFILE, \"chips\": 1048577}", vec![("1048577", "chips", "at most 1048576")]),
        ("{PROFILE, \"chips\": 4294967296}", vec![("4294967296", "chips", "at most 4294967295")]),
        ("{PROFILE, \"chips\": 4, \"chips\": 4}", vec![("\"chips\"", "chips", "a second time")]),
        ("{PROFILE, \"erase_cycles\": 0}", vec![("0", "erase_cycles", "`erase_cycles` is zero")]),
        ("{PROFILE, \"erase_cycles\": \"3000\"}", vec![("\"3000\"", "erase_cycles", "")]),
        ("{PROFILE, \"page_registers\": 0}", vec![("0", "page_registers", "neither 1 nor 2")]),
        ("{PROFILE, \"page_registers\": 3}", vec![("3", "page_registers", "neither 1 nor 2")]),
        ("{PROFILE, \"spare_blocks\": 1024}", vec![("1024", "spare_blocks", "fewer than blocks_per_chip")]),
        ("{PROFILE, \"program_failures\": 1}", vec![("1", "program_failures", "at most spare_blocks")]),
        (
            "{PROFILE, \"spare_blocks\": 4, \"program_failures\": 5}",
            vec![("5", "program_failures", "5 programs may fail, and there are 4 spare blocks")],
        ),
        ("{PROFILE, \"wear_gap\": 0}", vec![("0", "wear_gap", "`wear_gap` is zero")]),
        ("{PROFILE, \"wear_threshold\": 0}", vec![("0", "wear_threshold", "`wear_threshold` is zero")]),
        ("{PROFILE, \"cache_register\": 3}", vec![("3", "cache_register", "`cache_register` is neither 1 nor 2")]),
        ("{PROFILE, \"tR\": \"0us\"}", vec![("\"0us\"", "tR", "`tR` is zero")]),
        ("{PROFILE, \"wear_passes\": 4}", vec![("4", "wear_passes", "a `wear_threshold` beside it")]),
        ("{PROFILE, \"wear_gap\": 4, \"wear_passes\": 1}", vec![("1", "wear_passes", "2 or more")]),
        ("{PROFILE, \"times\": \"typicall\"}", vec![("\"typicall\"", "times", "`typical`, the nearest of")]),
        ("{PROFILE, \"times\": true}", vec![("true", "times", "`maximum` or `typical`, in a string")]),
        ("{PROFILE, \"erase_suspend\": \"0s\"}", vec![("\"0s\"", "erase_suspend", "below block_erase")]),
        ("{PROFILE, \"erase_suspend\": \"5ms\"}", vec![("\"5ms\"", "erase_suspend", "is suspended in 5ms")]),
        ("{PROFILE, \"erase_resume\": \"5us\"}", vec![("\"5us\"", "erase_resume", "erase_suspend beside it")]),
        (
            "{PROFILE, \"erase_suspend\": \"5us\", \"erase_resume\": \"6ms\"}",
            vec![("\"6ms\"", "erase_resume", "at most block_erase")],
        ),
        ("{PROFILE, \"command\": 1000}", vec![("1000", "command", "")]),
        ("{PROFILE, \"command\": \"1us..2us\"}", vec![("\"1us..2us\"", "command", "")]),
        (
            "{PROFILE, \"erase_cycle\": 3000}",
            vec![("\"erase_cycle\"", "erase_cycle", "expected `erase_cycles`, the nearest")],
        ),
        (
            "{PROFILE, \"page_read_includes_transfer\": \"true\"}",
            vec![("\"true\"", "page_read_includes_transfer", "true or false, without quotes")],
        ),
        (
            "{PROFILE, \"page_read\": \"40us\", \"page_read_includes_transfer\": true}",
            vec![("true", "page_read_includes_transfer", "leaves no time of it for the chip")],
        ),
        (
            "{PROFILE, \"page_read\": \"40us..60us\", \"page_read_includes_transfer\": true}",
            vec![("true", "page_read_includes_transfer", "leaves no time of it for the chip")],
        ),
        // A time that is not known contains nothing.
        ("{PROFILE, \"page_read\": \"x\", \"page_read_includes_transfer\": true}", vec![("\"x\"", "page_read", "")]),
        (
            "{PROFILE, \"page_program\": \"39us\", \"page_transfer\": \"0us\", \"page_program_includes_transfer\": true}",
            vec![("\"0us\"", "page_transfer", "`page_transfer` is zero")],
        ),
        (
            "{PROFILE, \"page_program\": \"39us\", \"page_program_includes_transfer\": true}",
            vec![("true", "page_program_includes_transfer", "`page_transfer` is said to be in `page_program`")],
        ),
        ("{PROFILE, \"page_size\": 1.0}", vec![("1.0", "page_size", "in digits")]),
        ("{PROFILE, \"chips_per_channel\": 0}", vec![("0", "chips_per_channel", "is zero")]),
        ("{PROFILE, \"page_read\": \"0us\"}", vec![("\"0us\"", "page_read", "`page_read` is zero")]),
        ("{PROFILE, \"page_read\": \"50us..40us\"}", vec![("\"50us..40us\"", "page_read", "the shorter first")]),
        ("{PROFILE, \"page_read\": \"0us..40us\"}", vec![("\"0us..40us\"", "page_read", "goes from 0ns to 40us")]),
        ("{PROFILE, \"page_read\": \"40..50us\"}", vec![("\"40..50us\"", "page_read", "without a unit")]),
        ("{PROFILE, \"page_read\": \"40us..\"}", vec![("\"40us..\"", "page_read", "with its unit in a string")]),
        ("{PROFILE, \"block_erase\": 5}", vec![("5", "block_erase", "unit")]),
        ("{PROFILE, \"logical_ratio\": 0}", vec![("0", "logical_ratio", "outside the open interval (0, 1)")]),
        ("{PROFILE, \"logical_ratio\": 1.0}", vec![("1.0", "logical_ratio", "outside")]),
        ("{PROFILE, \"logical_ratio\": -0.5}", vec![("-0.5", "logical_ratio", "outside")]),
        ("{PROFILE, \"logical_ratio\": \"0.5\"}", vec![("\"0.5\"", "logical_ratio", "without quotes")]),
        ("{PROFILE, \"logical_ratio\": MORE}", vec![("0.123", "logical_ratio", "more than 38 decimal places")]),
        ("{PROFILE, \"logical_ratio\": 0.999}", vec![("0.999", "logical_ratio", "free no page")]),
        ("{PROFILE, \"pages_per_block\": 1}", vec![("{", "logical_ratio", "free no page")]),
        ("{PROFILE, \"page_program\": \"200y\"}", vec![("\"200y\"", "page_program", "unknown unit of time `y`")]),
        ("{PROFILE, \"page_program\": \"9000000000s\"}", vec![("{", "pages_per_block", "2^63 ns")]),
        (
            "{PROFILE, \"logical_ratio\": 2, \"pages_per_block\": 0, \"page_read\": \"0s\", \"x\": 1}",
            vec![
                ("2", "logical_ratio", "outside"),
                ("0", "pages_per_block", "zero"),
                ("\"0s\"", "page_read", "zero"),
                ("\"x\"", "x", "one of `profile`"),
            ],
        ),
    ] {
        let device = device.replace("PROFILE", "\"profile\": \"dgist-2021\"").replace("ALL", all).replace("MORE", more);
        check(&device, read_device(&device), &faults);
        // A level deeper, the reader finds these faults again, and those of the tasks on any
        // device.
        let tail = ", \"tasks\": [{\"name\": \"\", \"read\": {\"pages\": 1000000000000000000, \"period\": \"1s\"}}]}";
        let text = format!("{{\"device\": {device}{tail}");
        let wrong = read_task_set(&text).unwrap_err().first().to_vec();
        assert_eq!(wrong.len(), faults.len() + 1, "{wrong:#?}");
        // A faulty device leaves open whether data fit on it; requests that do not fit in the data
        // are reported.
        let tasks = "[{\"name\": \"a\", \"read\": {\"pages\": 5, \"period\": \"1s\", \"access\": \"sequential\"}, \"data_pages\": 4},
            {\"name\": \"b\", \"read\": {\"pages\": 5, \"period\": \"1s\"}, \"data_pages\": 1000000000000000000}]";
        let more =
            read_task_set(&format!("{{\"device\": {device}, \"tasks\": {tasks}}}")).unwrap_err().first().to_vec();
        assert_eq!(more.len(), faults.len() + 1, "{more:#?}");
        assert_eq!(more.last().unwrap().path.to_string(), "tasks[0].read.pages");
        for (wrong, fault) in wrong.iter().zip(&faults) {
            let dot = if fault.1.is_empty() { "" } else { "." };
            assert_eq!(wrong.path.to_string(), format!("device{dot}{}", fault.1));
        }
    }
}
