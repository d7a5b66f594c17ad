use super::check;
use crate::file::{read_allocation, read_task_set};

#[test]
fn allocations() {
    let tasks: Vec<String> = ["camera", "map", "c", "d", "e", "f", "g"]
        .iter()
        .map(|name| format!("{{\"name\": \"{name}\", \"read\": {{\"pages\": 1, \"period\": \"1s\"}}}}"))
        .collect();
    let job = "{\"name\": \"log\", \"read_pages\": 1, \"arrivals\": {\"at\": []}}";
    let set = format!("{{\"device\": \"dgist-2021\", \"tasks\": [{}], \"jobs\": [{job}]}}", tasks.join(","));
    let set = read_task_set(&set).unwrap().set;
    let rest = "\"c\", \"d\", \"e\", \"f\", \"g\"";
    for (text, faults) in [
        ("", vec![("", "", "empty input (expected an allocation")]),
        ("[]", vec![("[]", "", "the text holds an array")]),
        ("{}", vec![("{}", "", "missing field `clusters`")]),
        ("{\"clusters\": {}}", vec![("{}", "clusters", "`clusters` is an object")]),
        ("{\"schedulable\": false, \"clusters\": []}", vec![("[]", "clusters", "an allocation that failed")]),
        (
            "{\"clusters\": []}",
            vec![("[]", "clusters", "tasks `camera`, `map`, `c`, `d` and `e`, … (2 more) are in no cluster")],
        ),
        ("{\"clusters\": [], \"clusters\": []}", vec![("\"clusters\"", "clusters", "a second time")]),
        ("{\"clusters\": [7]}", vec![("7", "clusters[0]", "an object with `chips` and `tasks`")]),
        ("{\"clusters\": [{ALL}]}", vec![("{", "clusters[0]", "missing field `chips`")]),
        ("{\"clusters\": [{\"chips\": [], ALL}]}", vec![("[]", "clusters[0].chips", "without chips")]),
        ("{\"clusters\": [{\"chips\": 0, ALL}]}", vec![("0", "clusters[0].chips", "an array of chip numbers")]),
        (
            "{\"clusters\": [{\"chips\": [16, -1, 1.5], ALL}]}",
            vec![
                ("16", "clusters[0].chips[0]", "there is no chip 16 (expected a chip from 0 to 15)"),
                ("-1", "clusters[0].chips[1]", "below zero"),
                ("1.5", "clusters[0].chips[2]", "whole number"),
            ],
        ),
        (
            "{\"clusters\": [{\"chips\": [0, 1]}, {\"chips\": [1], ALL}]}",
            vec![("1", "clusters[1].chips[0]", "chip 1 stands already at clusters[0].chips[1]")],
        ),
        (
            "{\"clusters\": [{\"chips\": [0], ALL}, {\"chips\": [1], \"tasks\": [\"map\"]}]}",
            vec![("\"map\"", "clusters[1].tasks[0]", "task `map` stands already at clusters[0].tasks[1]")],
        ),
        (
            "{\"clusters\": [{\"chips\": [0], \"tasks\": [\"camra\", 3, \"log\", \"zzz\"]}]}",
            vec![
                ("\"camra\"", "clusters[0].tasks[0]", "there is no task `camra` (expected `camera`, the nearest"),
                ("3", "clusters[0].tasks[1]", "is a number"),
                ("\"log\"", "clusters[0].tasks[2]", "`log` is a job"),
                ("\"zzz\"", "clusters[0].tasks[3]", "a task of the task set"),
            ],
        ),
        (
            "{\"clusters\": [{\"chips\": [0], \"tasks\": {}}]}",
            vec![("{}", "clusters[0].tasks", "an array of task names")],
        ),
        (
            "{\"clusters\": [{\"chips\": [0], ALL, \"tasks\": []}]}",
            vec![("\"tasks\"", "clusters[0].tasks", "a second time")],
        ),
        (
            "{\"clusters\": [{\"chips\": [0], \"tasks\": [\"camera\", REST]}]}",
            vec![("[", "clusters", "task `map` is in no cluster")],
        ),
    ] {
        let text = text.replace("ALL", "\"tasks\": [\"camera\", \"map\", REST]").replace("REST", rest);
        check(&text, read_allocation(&text, &set), &faults);
    }
}
