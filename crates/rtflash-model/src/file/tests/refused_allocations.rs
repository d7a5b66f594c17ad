use super::check;
use crate::allocation::Remarks;
use crate::certificate::{Certificate, Collection, Placement, Tightest};
use crate::file::{read_allocation, read_task_set};
use crate::ids::TaskId;
use crate::reliance::Reliance;
use crate::time::Span;

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
        ("{\"schedulable\": null, \"clusters\": []}", vec![("[]", "clusters", "an undecided allocation")]),
        (
            "{\"clusters\": []}",
            vec![("[]", "clusters", "tasks `camera`, `map`, `c`, `d` and `e`, … (2 more) are in no cluster")],
        ),
        ("{\"clusters\": [], \"clusters\": []}", vec![("\"clusters\"", "clusters", "a second time")]),
        (
            "{\"clusters\": [7]}",
            vec![("7", "clusters[0]", "an object with `chips`, `tasks`, `certificate` and `relies_on`")],
        ),
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
        (
            "{\"clusters\": [{\"chips\": [0], ALL, \"certificate\": 3}]}",
            vec![("3", "clusters[0].certificate", "as `rtflash alloc` writes it")],
        ),
        (
            "{\"clusters\": [{\"chips\": [0], ALL, \"certificate\": {}}]}",
            vec![("{", "clusters[0].certificate", "missing field `kind`")],
        ),
        (
            "{\"clusters\": [{\"chips\": [0], ALL, \"certificate\": {\"kind\": \"stripes\"}}]}",
            vec![(
                "\"stripes\"",
                "clusters[0].certificate.kind",
                "`stripe`, `cached-stripe`, `superblock`, `cached-superblock` or `zoned`",
            )],
        ),
        (
            "{\"clusters\": [{\"chips\": [0], ALL, \"certificate\": {\"kind\": \"stripe\", \"server_thousandths\": 1001}}]}",
            vec![("1001", "clusters[0].certificate.server_thousandths", "1000")],
        ),
        (
            "{\"clusters\": [{\"chips\": [0], ALL, \"certificate\": {\"kind\": \"stripe\", \"reserve_pages\": 3}}]}",
            vec![("{", "clusters[0].certificate", "all of `reclaimed_pages`")],
        ),
        (
            "{\"clusters\": [{\"chips\": [0], ALL, \"certificate\": {\"kind\": \"stripe\", \"slack_ns\": 1.5}}]}",
            vec![("1.5", "clusters[0].certificate.slack_ns", "a whole number of nanoseconds")],
        ),
        (
            "{\"clusters\": [{\"chips\": [0], ALL, \"relies_on\": \"luck\"}]}",
            vec![(
                "\"luck\"",
                "clusters[0].relies_on",
                "`luck` is nothing to rely on (expected `nothing`, `neighbours` or",
            )],
        ),
        (
            "{\"clusters\": [{\"chips\": [0], ALL}, {\"chips\": [1], \"tasks\": [\"log\"]}]}",
            vec![("\"log\"", "clusters[1].tasks[0]", "`log` is a job")],
        ),
    ] {
        let text = text.replace("ALL", "\"tasks\": [\"camera\", \"map\", REST]").replace("REST", rest);
        check(&text, read_allocation(&text, &set), &faults);
    }
}

#[test]
fn certificates_come_back() {
    let set = read_task_set(
        "{\"device\": \"dgist-2021\", \"tasks\": [{\"name\": \"t\", \"write\": {\"pages\": 1, \"period\": \"1s\"}}]}",
    );
    let numbers = "\"reclaimed_pages\": 128, \"reserve_pages\": 300, \"victim_pages\": 127, \"open_blocks\": 2";
    let certificate = format!(
        "{{\"kind\": \"superblock\", \"gc_deadline_ns\": 5000, {numbers}, \"server_thousandths\": 45, \"tightest_ns\": 70, \"slack_ns\": -7}}"
    );
    let text = format!(
        "{{\"clusters\": [{{\"chips\": [1, 2], \"tasks\": [\"t\"], \"certificate\": {certificate}}}, {{\"chips\": [0], \"certificate\": null}}]}}"
    );
    let allocation = read_allocation(&text, &set.unwrap().set).unwrap();
    let collection = Collection {
        deadline: Span::from_ns(5_000),
        reclaimed_pages: 128,
        reserve_pages: 300,
        victim_pages: 127,
        open_blocks: 2,
    };
    let expected = Certificate {
        placement: Placement::Superblock,
        collection: Some(collection),
        server_thousandths: 45,
        backfill: true,
        tightest: Some(Tightest { length: Span::from_ns(70).unwrap(), slack_ns: -7 }),
    };
    assert_eq!((allocation.certificate(0), allocation.certificate(1)), (Some(&expected), None));
    assert!(!allocation.is_certified());
}

/// Names beside all tasks are those of tasks that are gone, whatever they look like.
#[test]
fn tasks_that_are_gone_are_remarked() {
    let set = read_task_set(
        "{\"device\": \"dgist-2021\", \"tasks\": [{\"name\": \"map\", \"write\": {\"pages\": 1, \"period\": \"1s\"}}]}",
    );
    let set = set.unwrap().set;
    let text = "{\"clusters\": [{\"chips\": [2], \"tasks\": []}, {\"chips\": [1], \"tasks\": [\"mapp\", \"map\", \"b\"], \"relies_on\": \"queue\"}]}";
    let allocation = read_allocation(text, &set).unwrap();
    assert_eq!(allocation.clusters()[1].tasks, [TaskId(0)]);
    let gone_tasks = vec!["mapp".to_owned(), "b".to_owned()];
    let expected = Remarks { relies_on: Some(Reliance::Queue), gone_tasks };
    assert_eq!((allocation.remarks(0), allocation.remarks(1)), (Some(&Remarks::default()), Some(&expected)));
    let without =
        text.replace("\"mapp\", \"map\", \"b\"", "\"map\"").replace("queue", "nothing").replace("\"nothing\"", "null");
    assert_eq!(read_allocation(&without, &set).unwrap().remarks(1), None);
}
