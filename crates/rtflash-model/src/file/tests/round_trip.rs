use jsonschema::Validator;
use proptest::prelude::*;
use serde_json::Value;

use super::GOOD;
use crate::file::{allocation_schema, read_task_set, task_set_schema, write_task_set};
use crate::{
    Access, Arrivals, Device, DeviceSpec, Instant, Job, LogicalRatio, PROFILES, Request, Shortest, Span, Task, TaskSet,
    capped,
};

fn span() -> impl Strategy<Value = Span> {
    (0..5u32, 1..1_000_000_000u64).prop_map(|(zeros, number)| Span::from_ns(number * 10u64.pow(zeros)).unwrap())
}

fn device() -> impl Strategy<Value = Device> {
    let counts = (1..=1u32 << 20, 1..100u32, 1..=u32::MAX, 2..5000u32, 1..=u32::MAX);
    let times = (span(), span(), span(), span());
    // Per cent of each time that the shortest is, where there is a range.
    let parts = proptest::array::uniform4(proptest::option::weighted(0.3, 1..100u64));
    let erase_cycles = proptest::option::of(1..=u32::MAX);
    let command = proptest::option::of((0..10_000u64).prop_map(|ns| Span::from_ns(ns).unwrap()));
    let registers = (proptest::option::of(1..=2u32), proptest::option::of(0..9u32), proptest::option::of(0..9u32));
    let includes = (proptest::option::of(any::<bool>()), proptest::option::of(any::<bool>()));
    let suspends = (proptest::option::of(1..1_000u64), proptest::option::of(0..1_000u64));
    let described = (counts, 1..10u128.pow(12), times, parts, (erase_cycles, command, registers, includes, suspends))
        .prop_filter_map(
            "α = 0, or nothing beside the transfer",
            |(counts, ratio, times, parts, (erase_cycles, command, registers, includes, suspends))| {
                let (chips, chips_per_channel, blocks_per_chip, pages_per_block, page_size) = counts;
                let (page_read, page_program, block_erase, page_transfer) = times;
                let logical_ratio = LogicalRatio::from_decimal(ratio, 12).ok()?;
                let (page_read, page_program) = (Span::from_ns(page_read.as_ns() % 1_000_000_007 + 1)?, page_program);
                let (page_registers, spare_blocks, program_failures) = registers;
                let [read, program, erase, transfer] = parts;
                let part = |of: Span, part: Option<u64>| {
                    part.and_then(|part| Span::from_ns((of.as_ns() / 100 * part).max(1)))
                        .filter(|&shortest| shortest < of)
                };
                let shortest = Shortest {
                    page_read: part(page_read, read),
                    page_program: part(page_program, program),
                    block_erase: part(block_erase, erase),
                    page_transfer: part(page_transfer, transfer),
                };
                let erase_suspend = suspends.0.and_then(Span::from_ns);
                let erase_resume = suspends.1.and_then(Span::from_ns).filter(|_| erase_suspend.is_some());
                // Derived: wear is levelled in some.
                let wear_gap = chips.is_multiple_of(3).then_some(1 + pages_per_block);
                let wear_passes = wear_gap.filter(|gap| gap.is_multiple_of(2)).map(|_| 2 + blocks_per_chip / 3);
                #[rustfmt::skip]
        let spec = DeviceSpec {
            chips, chips_per_channel, blocks_per_chip, pages_per_block, page_size, logical_ratio,
            page_read, page_program, block_erase, page_transfer, shortest, erase_cycles, command,
            page_registers, spare_blocks, program_failures, erase_suspend, erase_resume,
            wear_gap, wear_passes,
            page_read_includes_transfer: includes.0, page_program_includes_transfer: includes.1,
        };
                Device::new(spec).ok()
            },
        );
    prop_oneof![3 => described, 1 => Just(Device::profile(PROFILES[0].name).unwrap())]
}

fn request() -> impl Strategy<Value = Request> {
    let share = || prop_oneof![2 => Just(None), 1 => (1..=1_000u64).prop_map(Some)];
    (1..10_000u64, span(), proptest::sample::select(Access::ALL.to_vec()), share(), share()).prop_map(
        |(pages, period, access, deadline, jitter)| {
            let part = |of: Span, permille: u64| Span::from_ns((of.as_ns() / 1_000 * permille).max(1)).unwrap();
            let plain = Request::new(pages, period).unwrap().with_access(access);
            let due = plain.with_deadline(deadline.map(|permille| part(period, permille))).unwrap();
            jitter.and_then(|permille| due.with_jitter(part(due.deadline(), permille))).unwrap_or(due)
        },
    )
}

fn arrivals() -> impl Strategy<Value = Arrivals> {
    prop_oneof![
        span().prop_map(Arrivals::Every),
        (span(), span()).prop_map(|(a, b)| Arrivals::Uniform(a.min(b), a.max(b))),
        proptest::collection::vec(0..1u64 << 40, 0..4).prop_map(|mut times| {
            times.sort_unstable();
            Arrivals::At(times.into_iter().filter_map(Instant::from_ns).collect())
        }),
    ]
}

fn set() -> impl Strategy<Value = TaskSet> {
    let task =
        (".{0,8}", proptest::option::of(request()), request(), any::<bool>(), proptest::option::of(any::<u64>()));
    let job = ("\\PC{0,8}", 0..1000u64, 1..1000u64, arrivals());
    let (tasks, jobs) = (proptest::collection::vec(task, 0..5), proptest::collection::vec(job, 0..3));
    (device(), tasks, jobs).prop_filter_map("too costly", |(device, tasks, jobs)| {
        let mut index = 0;
        let mut unlike = |name: String| {
            index += 1;
            format!("{name}{index}")
        };
        let room = capped(device.logical_pages());
        let tasks = tasks.into_iter().map(|(name, one, other, swap, data)| {
            let (read, write) = if swap { (Some(other), one) } else { (one, Some(other)) };
            let sequential = |request: Option<Request>| request.filter(|of| of.access().is_consecutive());
            let min = [read, write].map(|request| sequential(request).map_or(1, |request| request.pages()));
            let min = min[0].max(min[1]);
            let data_pages = data.filter(|_| min <= room).map(|data| min + data % (room - min + 1));
            Task { name: unlike(name), read, write, data_pages }
        });
        let tasks = tasks.collect();
        let jobs = jobs.into_iter().map(|(name, few, some, arrivals)| {
            let (read_pages, write_pages) = if few % 2 == 0 { (few, some) } else { (some, few) };
            Job { name: unlike(name), read_pages, write_pages, arrivals }
        });
        TaskSet::new(device, tasks, jobs.collect()).ok()
    })
}

fn validator() -> Validator {
    jsonschema::validator_for(task_set_schema().as_value()).unwrap()
}

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

proptest! {
    #[test]
    fn what_is_written_is_read_back(set in set()) {
        let text = write_task_set(&set, None);
        prop_assert!(!text.contains('\n'));
        prop_assert!(validator().is_valid(&parsed(&text)), "{text}");
        prop_assert_eq!(read_task_set(&text).unwrap().set, set);
    }
}

#[test]
fn a_file_is_written_on_one_line() {
    let file = read_task_set(&GOOD.replace("\"seed\": 7,", "\"seed\":\r\n7,")).unwrap();
    let text = write_task_set(&file.set, file.meta.as_ref());
    assert_eq!(
        text,
        r#"{"device":{"chips":4,"chips_per_channel":2,"blocks_per_chip":1024,"pages_per_block":256,"page_size":8192,"logical_ratio":0.5,"page_read":"50us","page_program":"500us","block_erase":"5ms","page_transfer":"40us"},"tasks":[{"name":"camera","read":{"pages":40,"period":"36ms"},"write":{"pages":24,"period":"30ms"}},{"name":"map","read":{"pages":80,"period":"36ms"}},{"name":"film","write":{"pages":24,"period":"2s","access":"sequential"},"data_pages":4096}],"jobs":[{"name":"log","write_pages":128,"arrivals":{"every":"12.5ms"}},{"name":"scan","read_pages":5,"arrivals":{"uniform":["100us","1ms"]}},{"name":"boot","read_pages":5,"write_pages":1,"arrivals":{"at":["0ns","1ms","1ms"]}}],"meta":{ "seed":  7, "twice": 1, "twice": 2 }}"#
    );
    let set = TaskSet::new(Device::profile("dgist-2021").unwrap(), vec![], vec![]).unwrap();
    assert_eq!(write_task_set(&set, None), r#"{"device":"dgist-2021","tasks":[]}"#);
}

#[test]
fn the_schema_and_the_reader_agree() {
    let schema = validator();
    assert!(schema.is_valid(&parsed(GOOD)));
    let time = |time: &str| (r#""36ms""#, format!("\"{time}\""));
    let changes = [
        ("\"tasks\"", "\"task\"".to_owned()),
        ("\"meta\"", "\"Meta\"".to_owned()),
        ("\"name\": \"camera\"", "\"name\": \"\"".to_owned()),
        ("\"name\": \"camera\"", "\"name\": 3".to_owned()),
        ("\"pages\": 40,", "\"pages\": 0,".to_owned()),
        ("\"pages\": 40,", "\"pages\": -1,".to_owned()),
        ("\"pages\": 40,", "\"pages\": \"40\",".to_owned()),
        ("\"pages\": 40,", String::new()),
        ("\"pages\": 40,", "\"pages\": 40, \"access\": \"random\",".to_owned()),
        ("\"pages\": 40,", "\"pages\": 40, \"access\": null,".to_owned()),
        ("\"sequential\"", "\"Sequential\"".to_owned()),
        ("\"sequential\"", "\"mixed\"".to_owned()),
        ("\"sequential\"", "0".to_owned()),
        ("\"data_pages\": 4096", "\"data_pages\": 0".to_owned()),
        ("\"data_pages\": 4096", "\"data_pages\": null".to_owned()),
        ("\"data_pages\": 4096", "\"data_pages\": 24".to_owned()),
        ("\"data_pages\": 4096", "\"data_pages\": \"24\"".to_owned()),
        ("\"data_pages\": 4096", "\"pages\": 24".to_owned()),
        ("\"pages\": 40,", "\"pages\": 40, \"deadline\": 1,".to_owned()),
        ("\"read\": { \"pages\": 80, \"period\": \"36ms\" }", "\"read\": null".to_owned()),
        ("\"write\": { \"pages\": 24, \"period\": \"30ms\" }", "\"write\": null".to_owned()),
        ("\"write_pages\": 128,", String::new()),
        ("\"write_pages\": 128,", "\"write_pages\": 0, \"read_pages\": null,".to_owned()),
        ("\"write_pages\": 128,", "\"write_pages\": 0, \"read_pages\": 1,".to_owned()),
        ("\"every\": \"12.5ms\"", String::new()),
        ("\"every\": \"12.5ms\"", "\"every\": \"12.5ms\", \"at\": []".to_owned()),
        ("\"every\": \"12.5ms\"", "\"every\": null".to_owned()),
        ("\"at\": [\"0s\", \"1ms\", \"1ms\"]", "\"at\": []".to_owned()),
        ("[\"100us\", \"1ms\"]", "[\"100us\"]".to_owned()),
        ("[\"100us\", \"1ms\"]", "[\"0us\", \"1ms\"]".to_owned()),
        ("\"page_size\": 8192,", String::new()),
        ("\"page_size\": 8192,", "\"page_size\": null,".to_owned()),
        ("\"page_size\": 8192,", "\"profile\": \"dgist-2021\",".to_owned()),
        ("\"page_size\": 8192,", "\"profile\": \"dgist-2021\", \"page_size\": null,".to_owned()),
        ("\"page_size\": 8192,", "\"profile\": \"dgist\",".to_owned()),
        ("\"chips\": 4,", "\"chips\": 0,".to_owned()),
        ("\"chips\": 4,", "\"chips\": 1048577,".to_owned()),
        ("\"chips\": 4,", "\"chips\": 1048576,".to_owned()),
        ("0.5,", "1,".to_owned()),
        ("0.5,", "0,".to_owned()),
        ("0.5,", "\"0.5\",".to_owned()),
        time("36"),
        time("0ms"),
        time("0.00ms"),
        time("000.10 s"),
        time("10.0 \u{b5}s"),
        time("10 \u{3bc}s "),
        time("1.ms"),
        time(".1ms"),
        time("-1ms"),
        time("1e3ms"),
        time("1m"),
        time("1min"),
        time("0.5 h"),
        ("\"pages\": 40,", "\"size\": \"320KiB\",".to_owned()),
        ("\"pages\": 40,", "\"size\": \"0KiB\",".to_owned()),
        ("\"pages\": 40,", "\"size\": 320,".to_owned()),
        ("\"pages\": 40,", "\"size\": \"1.5MB\",".to_owned()),
        ("\"pages\": 40,", "\"size\": null, \"pages\": 40,".to_owned()),
        ("\"pages\": 40,", "\"size\": \"1MB\", \"pages\": 40,".to_owned()),
        ("\"pages\": 40,", "\"size\": \"1MB\", \"pages\": null,".to_owned()),
        ("\"pages\": 40,", "\"rate\": \"40MB/s\",".to_owned()),
        ("\"pages\": 40,", "\"rate\": \"0MB/s\",".to_owned()),
        ("\"pages\": 40,", "\"rate\": \"40MB\",".to_owned()),
        ("\"pages\": 40,", "\"rate\": \"40MB/s\", \"pages\": 40,".to_owned()),
        ("\"pages\": 40, \"period\": \"36ms\"", "\"rate\": \" 40 MiB /s\", \"pages\": 40".to_owned()),
        ("\"pages\": 40, \"period\": \"36ms\"", "\"rate\": \"40MB/s\"".to_owned()),
        ("\"pages\": 40, \"period\": \"36ms\"", "\"pages\": 40, \"every\": \"1/30s\"".to_owned()),
        ("\"pages\": 40, \"period\": \"36ms\"", "\"pages\": 40, \"every\": \"36ms\"".to_owned()),
        ("\"pages\": 40, \"period\": \"36ms\"", "\"pages\": 40, \"every\": \"0/30s\"".to_owned()),
        ("\"pages\": 40, \"period\": \"36ms\"", "\"pages\": 40, \"every\": \"1/29.97s\"".to_owned()),
        ("\"pages\": 40, \"period\": \"36ms\"", "\"pages\": 40, \"every\": \"1/0.50 s\"".to_owned()),
        ("\"pages\": 40, \"period\": \"36ms\"", "\"pages\": 40, \"every\": \"1/29.s\"".to_owned()),
        ("\"pages\": 40, \"period\": \"36ms\"", "\"pages\": 40, \"every\": \"1/.5s\"".to_owned()),
        ("\"pages\": 40, \"period\": \"36ms\"", "\"pages\": 40, \"every\": \"1/0.0s\"".to_owned()),
        ("\"pages\": 40, \"period\": \"36ms\"", "\"pages\": 40, \"every\": \"1/3\"".to_owned()),
        ("\"pages\": 40, \"period\": \"36ms\"", "\"pages\": 40, \"every\": \"1.5/3s\"".to_owned()),
        ("\"pages\": 40, \"period\": \"36ms\"", "\"pages\": 40, \"every\": \"1/3.5.2s\"".to_owned()),
        ("\"page_size\": 8192,", "\"page_size\": 8192, \"profile\": null,".to_owned()),
        ("\"pages_per_block\": 256", "\"pages_per_block\": 4294967296".to_owned()),
        ("\"pages\": 40, \"period\": \"36ms\"", "\"pages\": 40, \"every\": \"1/0s\"".to_owned()),
        ("\"pages\": 40, \"period\": \"36ms\"", "\"pages\": 40, \"period\": \"1/30s\"".to_owned()),
        ("\"pages\": 40,", "\"every\": \"1ms\", \"pages\": 40,".to_owned()),
        ("\"data_pages\": 4096", "\"data_size\": \"32MiB\"".to_owned()),
        ("\"data_pages\": 4096", "\"data_size\": \"32MiB\", \"data_pages\": 7000".to_owned()),
        ("\"write_pages\": 128,", "\"write_size\": \"1MiB\",".to_owned()),
        ("\"write_pages\": 128,", "\"write_size\": \"0B\",".to_owned()),
        ("\"write_pages\": 128,", "\"write_size\": \"1MiB\", \"write_pages\": 1,".to_owned()),
        ("\"every\": \"12.5ms\"", "\"every\": \"1/80s\"".to_owned()),
        ("\"page_size\": 8192,", "\"page_size\": \"8KiB\",".to_owned()),
        ("\"page_size\": 8192,", "\"page_size\": \"8\",".to_owned()),
        ("\"page_read\"", "\"tR\"".to_owned()),
        ("\"page_program\"", "\"tPROG\"".to_owned()),
        ("\"block_erase\"", "\"tBERS\"".to_owned()),
        ("\"page_read\"", "\"tR\": \"50us\", \"page_read\"".to_owned()),
        ("\"page_read\"", "\"tR\": null, \"page_read\"".to_owned()),
    ];
    for (old, new) in changes {
        let text = GOOD.replacen(old, &new, 1);
        assert_ne!(text, GOOD, "{old}");
        assert_eq!(schema.is_valid(&parsed(&text)), read_task_set(&text).is_ok(), "{old} -> {new}");
    }
    for device in [
        r#""dgist-2021""#,
        r#""dgist""#,
        "{}",
        r#"{"profile": "dgist-2021", "page_read": "1us"}"#,
        r#"{"profile": "dgist-2021", "tR": "1us"}"#,
        r#"{"profile": "dgist-2021", "tR": null, "page_read": "1us"}"#,
        r#"{"profile": "dgist-2021", "tR": "1us", "page_read": "1us"}"#,
        r#"{"profile": "dgist-2021", "page_size": "4KiB"}"#,
    ] {
        let text = format!(r#"{{"device": {device}, "tasks": []}}"#);
        assert_eq!(schema.is_valid(&parsed(&text)), read_task_set(&text).is_ok(), "{device}");
    }
}

#[test]
fn the_schema_of_an_allocation_lets_other_fields_be() {
    let schema = jsonschema::validator_for(allocation_schema().as_value()).unwrap();
    for (text, valid) in [
        (r#"{"clusters": [{"chips": [0, 1], "tasks": ["a"], "utilization": 0.5}], "unplaced": null}"#, true),
        (r#"{"clusters": [{"chips": [0], "tasks": null}, {"chips": [1]}]}"#, true),
        (r#"{"clusters": [{"chips": []}]}"#, false),
        (r#"{"clusters": [{"chips": [0, 0]}]}"#, false),
        (r#"{"clusters": [{"tasks": ["a"]}]}"#, false),
        (r#"{"clusters": [{"chips": [-1]}]}"#, false),
        ("{}", false),
    ] {
        assert_eq!(schema.is_valid(&parsed(text)), valid, "{text}");
    }
}
