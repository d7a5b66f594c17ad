use super::GOOD;
use crate::file::{read_allocation, read_device, read_task_set, read_task_set_bytes};
use crate::ids::TaskId;
use crate::{Access, Arrivals, Cluster, Device, Instant, Span};

#[test]
fn a_task_set_is_read_as_it_is_written() {
    let file = read_task_set(GOOD).unwrap();
    let device = file.set.device();
    assert_eq!((device.chips(), device.chips_per_channel(), device.page_size()), (4, 2, 8192));
    assert_eq!((device.page_transfer(), device.block_erase()), (Span::from_us(40), Span::from_us(5_000)));
    let [camera, map, film] = file.set.tasks().as_slice() else { panic!("three tasks") };
    let read = camera.read.unwrap();
    assert_eq!((camera.name.as_str(), read.pages(), read.period()), ("camera", 40, Span::from_us(36_000)));
    assert_eq!((camera.write.unwrap().pages(), map.write), (24, None));
    assert_eq!((read.access(), camera.data_pages), (Access::Random, None));
    assert_eq!((film.write.unwrap().access(), film.data_pages), (Access::Sequential, Some(4096)));
    let [log, scan, boot] = file.set.jobs() else { panic!("three jobs") };
    assert_eq!((log.read_pages, log.write_pages), (0, 128));
    assert_eq!(log.arrivals, Arrivals::Every(Span::from_us(12_500)));
    assert_eq!(scan.arrivals, Arrivals::Uniform(Span::from_us(100), Span::from_us(1000)));
    let at = |us| Instant::START.checked_add(Span::from_us(us)).unwrap();
    assert_eq!(boot.arrivals, Arrivals::At(vec![at(0), at(1000), at(1000)]));
    assert_eq!(file.meta.unwrap().get(), r#"{ "seed": 7, "twice": 1, "twice": 2 }"#);
}

#[test]
fn requests_may_have_deadlines_and_jitters() {
    let text = r#"{ "device": "dgist-2021", "tasks": [ { "name": "a",
        "read": { "pages": 1, "period": "10ms", "deadline": "8ms", "jitter": "1ms" },
        "write": { "pages": 1, "period": "10ms", "deadline": null, "jitter": "0ns" } },
        { "name": "b", "write": { "pages": 1, "period": "10ms", "deadline": "40ms", "jitter": "9ms" } } ] }"#;
    let set = read_task_set(text).unwrap().set;
    let task = &set.tasks()[TaskId(0)];
    let (read, write) = (task.read.unwrap(), task.write.unwrap());
    let ms = |ms: u32| Span::from_us(1_000 * ms);
    assert_eq!((read.deadline(), read.jitter(), read.window()), (ms(8), ms(1), ms(7)));
    assert!(!read.has_a_whole_period() && write.has_a_whole_period() && write.stated_deadline().is_none());
    // In a buffer of four.
    let recorder = set.tasks()[TaskId(1)].write.unwrap();
    assert_eq!((recorder.deadline(), recorder.window(), recorder.waiting()), (ms(40), ms(31), 4));
}

#[test]
fn devices_may_be_named_and_changed() {
    let profile = Device::profile("dgist-2021").unwrap();
    assert_eq!(read_device("\"dgist-2021\""), Ok(profile));
    assert_eq!(read_device(r#" { "profile": "dgist-2021", "chips": null } "#), Ok(profile));
    let changed = read_device(r#"{ "chips": 4, "profile": "dgist-2021", "logical_ratio": 9e-1 }"#).unwrap();
    assert_eq!((changed.chips(), changed.logical_ratio().to_string(), changed.page_size()), (4, "0.9".into(), 8192));
}

#[test]
fn times_may_be_ranges() {
    let device =
        read_device(r#"{ "profile": "dgist-2021", "page_read": "40us..50us", "block_erase": " 3ms .. 3ms " }"#);
    let device = device.unwrap();
    assert_eq!((device.page_read_min().as_ns(), device.page_read().as_ns()), (40_000, 50_000));
    assert_eq!((device.block_erase_min(), device.block_erase().as_ns()), (device.block_erase(), 3_000_000));
    assert_eq!(device.page_transfer_min(), device.page_transfer());
    assert!(!device.has_single_times());
    // Within less than a transfer of 40 µs.
    for (times, steady) in [
        (r#""page_read": "40us..50us""#, true),
        (r#""page_read": "10001ns..50us""#, true),
        (r#""page_read": "10us..50us""#, false),
        (r#""page_program": "200us..500us""#, true),
        (r#""page_transfer": "40us..40us""#, true),
        (r#""page_transfer": "39us..40us""#, false),
        (r#""page_read": "50us", "page_transfer": "40us""#, true),
        (r#""page_read": "50us", "command": "1ns""#, true),
        (r#""page_read": "49001ns..50us", "command": "1us""#, true),
        (r#""page_read": "49us..50us", "command": "1us""#, false),
        (r#""page_transfer": "1us..40us", "command": "40us""#, true),
        (r#""page_transfer": "40us", "command": "40001ns""#, false),
    ] {
        let device = read_device(&format!(r#"{{ "profile": "dgist-2021", {times} }}"#)).unwrap();
        assert_eq!(device.has_steady_reads(), steady, "{times}");
    }
    assert!(Device::profile("dgist-2021").unwrap().has_single_times());
}

#[test]
fn a_device_may_say_how_many_erases_a_block_endures() {
    let full = r#"{ "chips": 4, "chips_per_channel": 2, "blocks_per_chip": 9, "pages_per_block": 8, "page_size": 1, "logical_ratio": 0.5,
        "page_read": "1us", "page_program": "1us", "block_erase": "1us", "page_transfer": "1us"MORE }"#;
    for (more, cycles) in [("", None), (", \"erase_cycles\": null", None), (", \"erase_cycles\": 3000", Some(3000))] {
        assert_eq!(read_device(&full.replace("MORE", more)).unwrap().erase_cycles(), cycles);
        let changed = format!("{{ \"profile\": \"dgist-2021\"{more} }}");
        assert_eq!(read_device(&changed).unwrap().erase_cycles(), cycles);
    }
}

#[test]
fn a_device_may_say_how_long_commands_hold_the_bus() {
    for (more, ns) in
        [("", 0), (", \"command\": null", 0), (", \"command\": \"0us\"", 0), (", \"command\": \"1us\"", 1_000)]
    {
        let device = read_device(&format!("{{ \"profile\": \"dgist-2021\"{more} }}")).unwrap();
        assert_eq!((device.command().as_ns(), device.has_commands()), (ns, ns > 0));
        assert_eq!(device.bus_hold().as_ns(), 40_000 + ns);
        assert!(device.has_steady_reads());
    }
}

#[test]
fn a_device_may_say_how_many_page_registers_a_chip_has() {
    for (more, registers, caches) in [
        ("", 1, false),
        (", \"page_registers\": null", 1, false),
        (", \"page_registers\": 1", 1, false),
        (", \"page_registers\": 2", 2, true),
        // Commands leave the second register usable.
        (", \"page_registers\": 2, \"command\": \"1us\"", 2, true),
    ] {
        let device = read_device(&format!("{{ \"profile\": \"dgist-2021\"{more} }}")).unwrap();
        assert_eq!((device.page_registers(), device.has_cache_register()), (registers, caches));
        let possible = crate::Placement::ALL.map(|placement| placement.is_possible_on(&device));
        assert_eq!(possible, [true, caches, true, caches, true]);
    }
}

#[test]
fn a_device_may_say_how_many_blocks_of_a_chip_may_fail() {
    for (more, spare, failures, caches) in [
        ("", 0, 0, true),
        (", \"spare_blocks\": 0", 0, 0, true),
        (", \"spare_blocks\": 20", 20, 20, false),
        (", \"spare_blocks\": 20, \"program_failures\": 1", 20, 1, false),
        (", \"spare_blocks\": 20, \"program_failures\": 0", 20, 0, false),
    ] {
        let device = read_device(&format!("{{ \"profile\": \"dgist-2021\", \"page_registers\": 2{more} }}")).unwrap();
        assert_eq!((device.spare_blocks(), device.program_failures()), (spare, failures));
        // If programs can fail, the firmware waits for their status and leaves the register unused.
        assert_eq!(device.has_cache_register(), caches);
    }
}

/// On the chip a time is what is stated, less the transfer where that is said to be in it.
#[test]
fn a_device_may_say_what_its_times_contain() {
    for (said, on_chip) in [
        ("", (50_000, 500_000)),
        ("\"page_read_includes_transfer\": null", (50_000, 500_000)),
        ("\"page_read_includes_transfer\": false", (50_000, 500_000)),
        ("\"page_read_includes_transfer\": true", (10_000, 500_000)),
        ("\"page_program_includes_transfer\": true", (50_000, 460_000)),
        ("\"page_read\": \"45us..50us\", \"page_read_includes_transfer\": true", (10_000, 500_000)),
    ] {
        let comma = if said.is_empty() { "" } else { ", " };
        let device = read_device(&format!("{{ \"profile\": \"dgist-2021\"{comma}{said} }}")).unwrap();
        assert_eq!((device.page_read().as_ns(), device.page_program().as_ns()), on_chip, "{said}");
        let min = if said.contains("..") { 5_000 } else { on_chip.0 };
        assert_eq!(device.page_read_min().as_ns(), min, "{said}");
    }
}

#[test]
fn what_may_be_left_out_may_be_null() {
    let text = r#"{ "device": "dgist-2021", "tasks": [{ "name": "\ud83d\ude00\u0000", "read": { "pages": 1, "period": "1s" },
        "write": null, "data_pages": null }, { "name": "b", "write": { "pages": 1, "period": "1s", "access": null } }, { "name": "c",
        "write": { "access": "random", "pages": 1, "period": "1s" } }], "jobs": null, "meta": null }"#;
    for text in [text.to_owned(), format!("\u{feff}{text}\r\n")] {
        let file = read_task_set_bytes(text.as_bytes()).unwrap();
        assert_eq!((file.set.tasks()[TaskId(0)].name.as_str(), file.set.jobs().len()), ("😀\0", 0));
        assert!(file.meta.is_none() && file.set.tasks()[TaskId(0)].write.is_none());
        assert_eq!(file.set.tasks()[TaskId(0)].data_pages, None);
        assert!(file.set.tasks().iter().skip(1).all(|task| task.write.unwrap().access() == Access::Random));
    }
    assert!(read_task_set(r#"{ "device": "dgist-2021", "tasks": [] }"#).is_ok());
    let any = r#"{ "device": "dgist-2021", "tasks": [], "meta": ["\ud800", 1e999] }"#;
    assert_eq!(read_task_set(any).unwrap().meta.unwrap().get(), r#"["\ud800", 1e999]"#);
}

#[test]
fn data_may_fill_the_device_and_a_request_the_data() {
    // 4 · ⌊0.3 · 5 · 7⌋ = 40.
    let text = r#"{ "device": { "profile": "dgist-2021", "chips": 4, "logical_ratio": 0.3, "blocks_per_chip": 5, "pages_per_block": 7 },
        "tasks": [{ "name": "a", "read": { "pages": 40, "period": "1s", "access": "sequential" }, "data_pages": 40,
        "write": { "pages": 99, "period": "1s" } }] }"#;
    assert_eq!(read_task_set(text).unwrap().set.tasks()[TaskId(0)].data_pages, Some(40));
    for (old, new) in [("\"pages\": 40", "\"pages\": 41"), ("\"data_pages\": 40", "\"data_pages\": 41")] {
        assert!(read_task_set(&text.replace(old, new)).is_err());
    }
}

#[test]
fn allocations_may_say_more() {
    let set = read_task_set(GOOD).unwrap().set;
    for text in [
        r#"{ "clusters": [{ "chips": [3, 1], "tasks": ["film", "map", "camera"] }, { "chips": [0] }] }"#,
        r#"{ "schedulable": false, "x": 1, "x": 2, "unplaced": null, "clusters": [
            { "chips": [1, 3], "tasks": ["camera", "map", "film"], "gc": [{ "task": "camera", "task": 2 }], "gc": 1 },
            { "min_period_ns": null, "chips": [0], "tasks": null }] }"#,
    ] {
        let clusters = read_allocation(text, &set).unwrap().clusters();
        let expected = [Cluster::of([1, 3], [0, 1, 2]), Cluster::of([0], [])];
        assert_eq!(clusters, expected);
    }
    let none = read_task_set(r#"{ "device": "dgist-2021", "tasks": [] }"#).unwrap().set;
    assert!(read_allocation(r#"{ "schedulable": false, "clusters": [] }"#, &none).unwrap().is_empty());
}

/// A request, read on pages of 8,192 bytes.
fn request(text: &str) -> (u64, u64) {
    let text = format!(r#"{{ "device": "dgist-2021", "tasks": [{{ "name": "a", "read": {text} }}] }}"#);
    let set = read_task_set(&text).unwrap_or_else(|wrong| panic!("{text}: {wrong:?}")).set;
    let read = set.tasks()[TaskId(0)].read.unwrap();
    (read.pages(), read.period().as_ns())
}

#[test]
fn sizes_rates_and_shares_become_pages_and_periods() {
    for (text, expected) in [
        (r#"{ "size": "320KiB", "period": "36ms" }"#, (40, 36_000_000)),
        // A page begun is a page.
        (r#"{ "size": "327681B", "every": "1/30s" }"#, (41, 33_333_333)),
        (r#"{ "size": "1B", "every": "2min" }"#, (1, 120_000_000_000)),
        (r#"{ "pages": 3, "every": "10/3ms" }"#, (3, 3_333_333)),
        // Frame rates: 33.36670003…, 41.70837504… ms.
        (r#"{ "pages": 3, "every": "1/29.97s" }"#, (3, 33_366_700)),
        (r#"{ "pages": 3, "every": "1001 / 24000 s" }"#, (3, 41_708_333)),
        (r#"{ "pages": 3, "every": "1/23.976 s" }"#, (3, 41_708_375)),
        (r#"{ "pages": 3, "every": "1/0.5s" }"#, (3, 2_000_000_000)),
        // 327,680 bytes at 40,000,000 a second.
        (r#"{ "size": "320KiB", "rate": "40MB/s" }"#, (40, 8_192_000)),
        (r#"{ "pages": 40, "rate": "40MB/s" }"#, (40, 8_192_000)),
        // 1,000 bytes, not those of the page: 1 s / 3.
        (r#"{ "size": "1kB", "rate": "3kB/s" }"#, (1, 333_333_333)),
        // 1,333,333.3 bytes a thirtieth of a second: 162.8 pages.
        (r#"{ "every": "1/30s", "rate": "40MB/s" }"#, (163, 33_333_333)),
        (r#"{ "period": "1h", "rate": "1B/s" }"#, (1, 3_600_000_000_000)),
    ] {
        assert_eq!(request(text), expected, "{text}");
    }
    let text = r#"{ "device": { "profile": "dgist-2021", "page_size": "4KiB" }, "tasks": [{ "name": "a",
        "write": { "size": "5kB", "period": "1s" }, "data_size": "1MiB" }],
        "jobs": [{ "name": "j", "read_size": "64KiB", "write_pages": 2, "arrivals": { "every": "1/80s" } }] }"#;
    let set = read_task_set(text).unwrap().set;
    assert_eq!((set.tasks()[TaskId(0)].write.unwrap().pages(), set.tasks()[TaskId(0)].data_pages), (2, Some(256)));
    assert_eq!((set.jobs()[0].read_pages, set.jobs()[0].write_pages), (16, 2));
    assert_eq!(set.jobs()[0].arrivals, crate::Arrivals::Every(Span::from_us(12_500)));
}

#[test]
fn second_names_stand_for_ours() {
    for (ours, theirs) in [
        (
            r#""page_read": "25us", "page_program": "220us..600us", "block_erase": "3ms""#,
            r#""tR": "25us", "tPROG": "220us..600us", "tBERS": "3ms""#,
        ),
        (r#""page_registers": 2"#, r#""cache_register": true"#),
        (r#""page_registers": 1"#, r#""cache_register": false"#),
        (r#""wear_gap": 4"#, r#""wear_threshold": 4"#),
    ] {
        let device = |fields: &str| read_device(&format!(r#"{{ "profile": "dgist-2021", {fields} }}"#)).unwrap();
        assert_eq!(device(ours), device(theirs));
        let both = format!(r#"{{ "profile": "dgist-2021", {ours}, {theirs} }}"#);
        assert!(read_device(&both).is_err(), "{both}");
    }
}

#[test]
fn a_device_may_say_how_fast_it_suspends_erases() {
    for (more, suspend, resume) in [
        ("", None, 0),
        (", \"erase_suspend\": \"100us\"", Some(100), 0),
        (", \"erase_suspend\": \"100us\", \"erase_resume\": \"30us\"", Some(100), 30),
        // The time of their commands is not counted.
        (", \"erase_suspend\": \"100us\", \"command\": \"1us\"", None, 0),
    ] {
        let device = read_device(&format!("{{ \"profile\": \"dgist-2021\"{more} }}")).unwrap();
        assert_eq!(
            (device.erase_suspend(), device.erase_resume()),
            (suspend.map(crate::Span::from_us), crate::Span::from_us(resume))
        );
    }
}
