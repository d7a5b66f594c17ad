//! `rtflash import`: from files of others to a task set or a device, and on to an answer.

use std::collections::BTreeMap;
use std::io::Cursor;

use crate::common::{file, rtflash, rtflash_with_input};
use rtflash::model::{Device, read_device, read_task_set};
use rtflash::wire::{ImportAnswer, read};

const FIO: &str = "fio version 3 iolog\n10 /dev/x add\n12 /dev/x open\n1000 /dev/x write 0 65536\n\
                   1500 /dev/x read 4096 4096\n3000 /dev/x write 65536 65536\n9000 /dev/x close\n";

/// Two topics, one of them in bursts.
fn bag() -> Vec<u8> {
    let mut bytes = Vec::new();
    let options = mcap::WriteOptions::new().compression(None);
    let mut writer = mcap::Writer::with_options(Cursor::new(&mut bytes), options).unwrap();
    let mut topics =
        ["/camera", "/imu \u{1b}[31m"].map(|topic| writer.add_channel(0, topic, "raw", &BTreeMap::new()).unwrap());
    topics.sort_unstable();
    for number in 0..300_u64 {
        let messages = [(topics[0], number * 33_000_000, 100_000), (topics[1], number * 1_000_000, 200)];
        for (channel_id, log_time, bytes) in messages {
            let header = mcap::records::MessageHeader { channel_id, sequence: 0, log_time, publish_time: log_time };
            writer.write_to_known_channel(&header, &vec![0; bytes]).unwrap();
        }
    }
    writer.finish().unwrap();
    drop(writer);
    bytes
}

#[test]
fn a_bag_becomes_tasks_that_are_allocated() {
    let made = rtflash_with_input(&["import", "mcap", "-", "--flush", "100ms", "--device", "enterprise-slc"], &bag());
    assert_eq!(made.status, 0, "{made:?}");
    let set = read_task_set(&made.stdout).expect("a task set").set;
    let page = u64::from(set.device().page_size());
    // Four frames within 100 ms, and a hundred samples; 31 bytes in front of each.
    let written: Vec<u64> = set.tasks().iter().map(|task| task.write.expect("it writes").pages()).collect();
    assert_eq!(written, [(4_u64 * 100_031).div_ceil(page), (100 * 231_u64).div_ceil(page)]);
    assert!(made.stderr.contains("messages: 600 read, 0 passed over, 0 refused"), "{made:?}");
    assert!(!made.stderr.contains('\u{1b}'), "what a bag says moves no cursor: {made:?}");
    assert_eq!(rtflash_with_input(&["alloc", "-"], made.stdout.as_bytes()).status, 0);
}

#[test]
fn a_bag_that_breaks_off_cannot_be_relied_on() {
    let bag = bag();
    let args = ["import", "mcap", "-", "--flush", "100ms", "--device", "emmc-64gb-mlc", "--format", "json"];
    let broken = rtflash_with_input(&args, &bag[..bag.len() - 4]);
    assert_eq!(broken.status, 3, "{broken:?}");
    let answer = read::<ImportAnswer>(&broken.stdout).unwrap().answer.unwrap();
    assert_eq!((answer.read, answer.refused, answer.first_refused.len()), (600, 1, 1));
    for text in [&b""[..], b"{}", b"{\"device\": 1}"] {
        let wrong = rtflash_with_input(&args, text);
        assert_eq!((wrong.status, wrong.stdout.as_str()), (2, ""), "{wrong:?}");
        assert!(wrong.stderr.contains("no message in it"), "{wrong:?}");
    }
}

#[test]
fn a_trace_becomes_jobs_with_a_curve() {
    let log = file("import.fio", FIO).display().to_string();
    let call = ["import", "fio", &log, "--device", "emmc-64gb-mlc"];
    let made = rtflash(&call);
    assert_eq!(made.status, 0, "{made:?}");
    let set = read_task_set(&made.stdout).expect("a task set").set;
    let jobs: Vec<(u64, u64)> = set.jobs().iter().map(|job| (job.read_pages, job.write_pages)).collect();
    assert_eq!((jobs, set.tasks().len()), (vec![(1, 0), (0, 4)], 0));
    assert!(made.stderr.contains("lines: 3 read, 4 passed over, 0 refused"), "{made:?}");
    let run = rtflash_with_input(&["exec", "-", "--duration", "50ms", "--format", "json"], made.stdout.as_bytes());
    assert_eq!(run.status, 0, "{run:?}");
    let answer = rtflash(&[&call[..], &["--format", "json"]].concat()).json();
    let curve: Vec<(u64, u64)> = answer["curve"]
        .as_array()
        .unwrap()
        .iter()
        .map(|point| (point["window_ns"].as_u64().unwrap(), point["bytes"].as_u64().unwrap()))
        .collect();
    assert_eq!(curve, [(1_000_000, 69_632), (2_000_000, 69_632), (4_000_000, 135_168)]);
    assert_eq!(answer["task_set"]["device"], "emmc-64gb-mlc");
}

#[test]
fn several_devices_are_not_mixed() {
    let csv = "1,usr,0,Read,0,512,1\n2,usr,1,Write,0,512,1\nwhat is this\n";
    let call = ["import", "msr", "-", "--device", "emmc-64gb-mlc"];
    let wrong = rtflash_with_input(&call, csv.as_bytes());
    assert_eq!((wrong.status, wrong.stdout.as_str()), (2, ""));
    assert!(wrong.stderr.contains("`usr,0`, `usr,1`"), "{wrong:?}");
    let one = rtflash_with_input(&[&call[..], &["--only", "usr,1"]].concat(), csv.as_bytes());
    assert_eq!(one.status, 3, "a line was refused: {one:?}");
    assert!(one.stderr.contains("refused: 3: 1 fields, not seven"), "{one:?}");
    assert_eq!(read_task_set(&one.stdout).unwrap().set.jobs().len(), 1);
    let none = rtflash_with_input(&[&call[..], &["--only", "usr,2"]].concat(), csv.as_bytes());
    assert!(none.status == 2 && none.stderr.contains("no request to `usr,2`"), "{none:?}");
    // No file, no device of that name.
    assert_eq!(rtflash(&["import", "msr", "no-such-file", "--device", "emmc-64gb-mlc"]).status, 2);
    assert_eq!(rtflash_with_input(&["import", "msr", "-", "--device", "none"], csv.as_bytes()).status, 2);
}

#[test]
fn a_configuration_becomes_a_device() {
    let config = "<Device_Parameter_Set><Overprovisioning_Ratio>0.28</Overprovisioning_Ratio>\
        <Flash_Channel_Count>1</Flash_Channel_Count><Flash_Channel_Width>1</Flash_Channel_Width>\
        <Channel_Transfer_Rate>200</Channel_Transfer_Rate><Chip_No_Per_Channel>4</Chip_No_Per_Channel>\
        <Flash_Parameter_Set><Page_Read_Latency_LSB>35000</Page_Read_Latency_LSB>\
        <Page_Program_Latency_LSB>560000</Page_Program_Latency_LSB><Block_Erase_Latency>3000000</Block_Erase_Latency>\
        <Block_PE_Cycles_Limit>3000</Block_PE_Cycles_Limit><Die_No_Per_Chip>1</Die_No_Per_Chip>\
        <Plane_No_Per_Die>1</Plane_No_Per_Die><Block_No_Per_Plane>1024</Block_No_Per_Plane>\
        <Page_No_Per_Block>128</Page_No_Per_Block><Page_Capacity>4096</Page_Capacity>\
        </Flash_Parameter_Set></Device_Parameter_Set>";
    let made = rtflash_with_input(&["import", "mqsim", "-"], config.as_bytes());
    assert_eq!(made.status, 0, "{made:?}");
    let device: Device = read_device(&made.stdout).expect("a device");
    assert_eq!((device.chips(), device.logical_ratio().to_string().as_str()), (4, "0.72"));
    assert!(made.stderr.starts_with("not kept:\n- "), "{made:?}");
    let device = file("import-device.json", &made.stdout).display().to_string();
    let set = rtflash(&["gen", "--util", "0.5", "--tasks", "4", "--sets", "1", "--device", &device]);
    assert_eq!(set.status, 0, "{set:?}");
    let answer = rtflash_with_input(&["import", "mqsim", "-", "--format", "json"], config.as_bytes()).json();
    assert_eq!(answer["device"]["chips"], 4);
    let wrong = rtflash_with_input(&["import", "mqsim", "-"], config.replace("28<", "28%<").as_bytes());
    assert_eq!((wrong.status, wrong.stdout.as_str()), (2, ""));
    assert!(wrong.stderr.contains("`Overprovisioning_Ratio` is `0.28%`"), "{wrong:?}");
    assert!(!rtflash_with_input(&["-q", "import", "mqsim", "-"], config.as_bytes()).stderr.contains("kept"));
}
