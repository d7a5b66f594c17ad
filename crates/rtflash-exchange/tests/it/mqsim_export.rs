//! The files for MQSim, and the traps that were met with it: each has a test.

use roxmltree::Document;
use rtflash_exchange::export::mqsim::{MqsimGc, MqsimOptions, export, read_results};
use rtflash_exchange::export::{Exported, NotExported};
use rtflash_model::{Allocation, Cluster, Instant, TaskSet, read_task_set};

const DURATION: Instant = Instant::from_ns(300_000_000).expect("a time");
const OPTIONS: MqsimOptions = MqsimOptions { duration: DURATION, gc: MqsimGc::Default, transfer_inside: true, seed: 1 };

/// A device of three channels with two ways each, and tasks that read and write the given pages.
fn set(fields: &str, tasks: &[(u64, u64)]) -> TaskSet {
    let task = |(number, (read, write)): (usize, &(u64, u64))| {
        let request = |kind: &str, pages: u64| match pages {
            0 => String::new(),
            pages => format!(r#", "{kind}": {{ "pages": {pages}, "period": "30ms" }}"#),
        };
        format!(r#"{{ "name": "t{number}"{}{} }}"#, request("read", *read), request("write", *write))
    };
    let tasks: Vec<String> = tasks.iter().enumerate().map(task).collect();
    let cycles = if fields.contains("erase_cycles") { "" } else { r#", "erase_cycles": 3000"# };
    let device = format!(r#""profile": "dgist-2021", "chips": 6, "chips_per_channel": 2{cycles}"#);
    let text = format!(r#"{{ "device": {{ {device}{fields} }}, "tasks": [{}] }}"#, tasks.join(", "));
    read_task_set(&text).expect("a task set").set
}

fn allocation(set: &TaskSet, clusters: &[(&[u32], &[u32])]) -> Allocation {
    let clusters: Vec<Cluster> =
        clusters.iter().map(|(chips, tasks)| Cluster::of(chips.iter().copied(), tasks.iter().copied())).collect();
    Allocation::new(set.device().chips(), set.tasks().len(), &clusters).expect("an allocation")
}

/// The first numbers.
fn numbers(count: usize) -> Vec<u32> {
    (0..).take(count).collect()
}

fn file<'a>(exported: &'a Exported, name: &str) -> &'a str {
    &exported.files.iter().find(|file| file.name == name).expect("a file").text
}

/// The texts of all elements of this name, in order.
fn values(xml: &str, name: &str) -> Vec<String> {
    let document = Document::parse(xml).expect("XML");
    let found = document.descendants().filter(|node| node.has_tag_name(name));
    found.map(|node| node.text().unwrap_or("").to_owned()).collect()
}

fn value(xml: &str, name: &str) -> f64 {
    values(xml, name)[0].parse().expect("a number")
}

#[test]
fn a_cluster_is_channels_times_ways() {
    let set = set("", &[(3, 0), (0, 2)]);
    let exported = export(&set, &allocation(&set, &[(&[0, 2], &[0]), (&[1, 3, 5], &[1])]), &OPTIONS).unwrap();
    let workload = file(&exported, "workload.xml");
    assert_eq!(values(workload, "Channel_IDs"), ["0,1", "0,1,2"]);
    assert_eq!(values(workload, "Chip_IDs"), ["0", "1"]);
    assert_eq!(values(workload, "File_Path"), ["0-t0-read.trace", "1-t1-write.trace"]);
    // Chip 0 and 1 are on the first channel, 2 on the second.
    let bent = allocation(&set, &[(&[4, 5], &[0]), (&[0, 1, 2], &[1])]);
    assert_eq!(export(&set, &bent, &OPTIONS), Err(NotExported::NoRectangle(1)));
}

#[test]
fn there_are_at_most_eight_flows_of_one_priority() {
    let nine = set("", &[(1, 1), (1, 1), (1, 1), (1, 1), (1, 0)]);
    let all = |set: &TaskSet| allocation(set, &[(&[0, 1], &numbers(set.tasks().len()))]);
    assert_eq!(export(&nine, &all(&nine), &OPTIONS), Err(NotExported::TooManyStreams(9, 8)));
    let eight = set("", &[(1, 1), (1, 1), (1, 1), (1, 1)]);
    let exported = export(&eight, &all(&eight), &OPTIONS).unwrap();
    assert_eq!(values(file(&exported, "workload.xml"), "Priority_Class"), ["HIGH"; 8]);
    assert_eq!(values(file(&exported, "workload.xml"), "Device_Level_Data_Caching_Mode"), ["TURNED_OFF"; 8]);
}

#[test]
fn collection_begins_well_above_the_open_blocks() {
    for (flows, tasks) in [(1, &[(0, 1)][..]), (2, &[(1, 1)]), (8, &[(1, 1), (1, 1), (1, 1), (1, 1)])] {
        let set = set(r#", "blocks_per_chip": 300"#, tasks);
        let every = numbers(tasks.len());
        // Flows open blocks on all planes, so where they are is nothing to it.
        let (first, rest) = every.split_at(1);
        let apart: &[(&[u32], &[u32])] =
            if rest.is_empty() { &[(&[0], first)] } else { &[(&[0], first), (&[1], rest)] };
        let exported = export(&set, &allocation(&set, apart), &OPTIONS).unwrap();
        let ssd = file(&exported, "ssd.xml");
        // As MQSim computes it.
        let threshold = (value(ssd, "GC_Exec_Threshold") * value(ssd, "Block_No_Per_Plane")).floor();
        let hard = (value(ssd, "GC_Hard_Threshold") * value(ssd, "Block_No_Per_Plane")).floor();
        assert!(
            threshold >= (4.0 * f64::from(flows)).max(20.0) && hard.to_bits() == 12_f64.to_bits(),
            "{threshold} {hard}"
        );
        // The spare pages beside valid data are more than that.
        let valid = value(ssd, "Block_No_Per_Plane") * (1.0 - value(ssd, "Overprovisioning_Ratio"));
        assert!(valid + threshold + 3.0 * f64::from(flows) < 300.0);
    }
    let small = set(r#", "blocks_per_chip": 100"#, &[(1, 1), (1, 1), (1, 1), (1, 1)]);
    assert_eq!(
        export(&small, &allocation(&small, &[(&[0], &[0, 1, 2, 3])]), &OPTIONS),
        Err(NotExported::TooFewBlocks(152))
    );
    let full = set(r#", "logical_ratio": 0.98"#, &[(1, 1), (1, 1), (1, 1), (1, 1)]);
    assert!(matches!(
        export(&full, &allocation(&full, &[(&[0], &[0, 1, 2, 3])]), &OPTIONS),
        Err(NotExported::TooFull(_))
    ));
}

#[test]
fn nothing_is_conditioned_copied_back_suspended_or_cached() {
    let set = set("", &[(3, 2)]);
    let exported = export(&set, &allocation(&set, &[(&[0, 2], &[0])]), &OPTIONS).unwrap();
    let ssd = file(&exported, "ssd.xml");
    for (name, wanted) in [
        ("Enabled_Preconditioning", "false"),
        ("Use_Copyback_for_GC", "false"),
        ("CMD_Suspension_Support", "NONE"),
        ("Ideal_Mapping_Table", "true"),
        ("Preemptible_GC_Enabled", "false"),
        ("Flash_Channel_Count", "3"),
        ("Chip_No_Per_Channel", "2"),
        ("Die_No_Per_Chip", "1"),
        ("Plane_No_Per_Die", "1"),
        ("Block_PE_Cycles_Limit", "3000"),
    ] {
        assert_eq!(values(ssd, name), [wanted], "{name}");
    }
    let options = MqsimOptions { gc: MqsimGc::Preemptible, ..OPTIONS };
    let exported = export(&set, &allocation(&set, &[(&[0, 2], &[0])]), &options).unwrap();
    assert_eq!(values(file(&exported, "ssd.xml"), "Preemptible_GC_Enabled"), ["true"]);
}

/// MQSim has a counter for each number of cycles on each plane.
#[test]
fn cycles_are_few_enough_to_be_counted() {
    for (fields, wanted) in [("4000000000", "100000"), ("70", "70"), ("null", "10000")] {
        let set = set(&format!(r#", "blocks_per_chip": 300, "erase_cycles": {fields}"#), &[(3, 2)]);
        let exported = export(&set, &allocation(&set, &[(&[0], &[0])]), &OPTIONS).unwrap();
        assert_eq!(values(file(&exported, "ssd.xml"), "Block_PE_Cycles_Limit"), [wanted]);
    }
}

#[test]
fn times_are_those_that_the_analysis_means() {
    // 50 µs and 500 µs are stated, 40 µs is the transfer.
    for (fields, inside, wanted) in [
        ("", true, [10_000.0, 460_000.0]),
        ("", false, [50_000.0, 500_000.0]),
        (r#", "page_read_includes_transfer": true"#, false, [10_000.0, 500_000.0]),
        (r#", "page_read_includes_transfer": false"#, true, [50_000.0, 460_000.0]),
    ] {
        let set = set(fields, &[(3, 2)]);
        let options = MqsimOptions { transfer_inside: inside, ..OPTIONS };
        let exported = export(&set, &allocation(&set, &[(&[0], &[0])]), &options).unwrap();
        let ssd = file(&exported, "ssd.xml");
        assert_eq!([value(ssd, "Page_Read_Latency_MSB"), value(ssd, "Page_Program_Latency_LSB")], wanted, "{fields}");
    }
}

#[test]
fn the_bus_is_as_near_as_whole_nanoseconds_allow() {
    let set = set("", &[(3, 2)]);
    let exported = export(&set, &allocation(&set, &[(&[0], &[0])]), &OPTIONS).unwrap();
    let ssd = file(&exported, "ssd.xml");
    // As MQSim computes it: two transfers, cut to whole nanoseconds.
    let two = 2.0 * (1_000.0 / value(ssd, "Channel_Transfer_Rate")).floor();
    let transfer = value(ssd, "Page_Capacity") / 2.0 * two + 361.0;
    assert!((transfer - 40_000.0).abs() <= 300.0, "{transfer}");
    let error = format!("{:+} ns beside 40000", transfer - 40_000.0);
    assert!(exported.notes.iter().any(|note| note.contains(&error)), "{error}: {:?}", exported.notes);
    assert!(value(ssd, "Page_Capacity") <= 64.0 * 512.0, "MQSim marks the sectors of a page in 64 bits");
}

#[test]
fn a_bus_that_is_nowhere_near_is_refused() {
    for (transfer, refused) in [("500ns", true), ("5us", false), ("40ms", true)] {
        let set =
            set(&format!(r#", "page_transfer": "{transfer}", "page_read": "1s", "page_program": "1s""#), &[(3, 2)]);
        let exported = export(&set, &allocation(&set, &[(&[0], &[0])]), &OPTIONS);
        assert_eq!(matches!(exported, Err(NotExported::NoClock(_))), refused, "{transfer}");
    }
}

#[test]
fn traces_hold_every_request_within_its_flow() {
    let set = set(r#", "blocks_per_chip": 200, "pages_per_block": 16"#, &[(40, 24), (0, 7)]);
    let exported = export(&set, &allocation(&set, &[(&[0, 1, 2, 3], &[0]), (&[4], &[1])]), &OPTIONS).unwrap();
    let capacity: u64 = values(file(&exported, "ssd.xml"), "Page_Capacity")[0].parse().unwrap();
    let sectors = capacity / 512;
    // λ = 0.5 of 3,200 pages of a chip, for two flows on four chips, and one on one.
    for (name, pages, size, kind) in
        [("0-t0-read", 3_200, 40, "1"), ("1-t0-write", 3_200, 24, "0"), ("2-t1-write", 1_600, 7, "0")]
    {
        let trace = file(&exported, &format!("{name}.trace"));
        let mut places = std::collections::BTreeSet::new();
        for (number, line) in (0_u64..).zip(trace.lines()) {
            let fields: Vec<&str> = line.split(' ').collect();
            assert_eq!((fields.len(), fields[1], fields[4]), (5, "0", kind), "{line}");
            let numbers: [u64; 3] = [0, 2, 3].map(|field| fields[field].parse().unwrap());
            assert_eq!((numbers[0], numbers[2]), (number * 30_000_000, size * sectors), "{line}");
            assert!(numbers[1].is_multiple_of(sectors) && numbers[1] + numbers[2] <= pages * sectors, "{line}");
            places.insert(numbers[1]);
        }
        assert_eq!(trace.lines().count(), 10, "300 ms, one every 30 ms");
        assert!(places.len() > 5, "places differ");
    }
    let same = export(&set, &allocation(&set, &[(&[0, 1, 2, 3], &[0]), (&[4], &[1])]), &OPTIONS);
    assert_eq!(same.as_ref(), Ok(&exported));
}

#[test]
fn a_command_has_at_most_65535_sectors() {
    let set = set("", &[(5_000, 0), (6_000, 0)]);
    let of = |task: u32, other: u32| allocation(&set, &[(&[0, 2, 4], &[task]), (&[1, 3, 5], &[other])]);
    let sectors = 11;
    assert!(5_000 * sectors <= 65_535 && 6_000 * sectors > 65_535);
    assert_eq!(export(&set, &of(0, 1), &OPTIONS), Err(NotExported::TooLarge("t1".into())));
}

/// Results in MQSim's words.
fn results(flows: &[(&str, u64, u64, u64, u64)]) -> String {
    let flow = |(name, reads, writes, bytes, longest): &(&str, u64, u64, u64, u64)| {
        format!(
            "<Host.IO_Flow><Name>Host.IO_Flow.Trace.{name}.trace</Name><Request_Count>{}</Request_Count>\
             <Read_Request_Count>{reads}</Read_Request_Count><Write_Request_Count>{writes}</Write_Request_Count>\
             <Bytes_Transferred>{bytes}.000000</Bytes_Transferred>\
             <Max_End_to_End_Request_Delay>{longest}</Max_End_to_End_Request_Delay></Host.IO_Flow>",
            reads + writes
        )
    };
    format!("<MQSim_Results><Host>{}</Host></MQSim_Results>", flows.iter().map(flow).collect::<String>())
}

#[test]
fn results_are_read_as_coarse_as_they_are() {
    let read = read_results(&results(&[("0-a-read", 5, 0, 81_920, 29), ("1-b-write", 0, 3, 0, 0)])).unwrap();
    let longest = read[0].longest.unwrap();
    assert_eq!((longest.at_least, longest.below), (29_000, 30_000));
    // Whole microseconds, cut: 29 may be 29,999 ns.
    let meets = [28_999, 29_000, 29_998, 29_999, 30_000].map(|deadline| longest.meets(deadline));
    assert_eq!(meets, [Some(false), None, None, Some(true), Some(true)]);
    assert_eq!((read[0].requests, read[0].served_bytes, read[0].writes), (5, 81_920, false));
    assert_eq!((read[1].longest, read[1].writes), (None, true));
    for text in ["", "<a/>", "<MQSim_Results/>", &results(&[("a", 1, 0, 1, 1)]).replace("Read_Req", "R")] {
        assert!(read_results(text).is_err(), "{text}");
    }
}
