//! `rtflash import`: from files of others to a task set or a device, and on to an answer.

use std::collections::BTreeMap;
use std::io::Cursor;

use crate::common::{file, rtflash, rtflash_with_input};
use rtflash::answers::{ImportAnswer, read};
use rtflash::model::{Device, read_device, read_task_set};

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
fn a_bag_becomes_a_task_that_is_allocated() {
    let made = rtflash_with_input(&["import", "mcap", "-", "--flush", "100ms", "--device", "enterprise-slc"], &bag());
    assert_eq!(made.status, 0, "{made:?}");
    let set = read_task_set(&made.stdout).expect("a task set").set;
    let page = u64::from(set.device().page_size());
    // Four frames within 100 ms, and a hundred samples; 31 bytes in front of each, and 16 of an
    // index behind it.
    let written: Vec<u64> = set.tasks().iter().map(|task| task.write.expect("it writes").pages()).collect();
    let least = 4_u64 * 100_047 + 100 * 247;
    assert!(
        written.len() == 1 && (least.div_ceil(page)..=(least + 300).div_ceil(page)).contains(&written[0]),
        "{set:?}"
    );
    assert_eq!(set.tasks().as_slice()[0].name, "recorder");
    assert!(made.stderr.contains("messages: 600 read, 0 passed over, 0 refused"), "{made:?}");
    assert!(
        made.stderr.contains("first at 1970-01-01 00:00:00 UTC; ") && made.stderr.contains(" in 9.867s, "),
        "{made:?}"
    );
    assert!(!made.stderr.contains("warning"), "{made:?}");
    assert!(!made.stderr.contains('\u{1b}'), "what a bag says moves no cursor: {made:?}");
    assert_eq!(rtflash_with_input(&["alloc", "-"], made.stdout.as_bytes()).status, 0);
}

/// A second buffer that waits gives the recorder the time of an erase, 5 ms.
#[test]
fn buffers_of_a_recorder_are_its_deadline() {
    let import = |buffers: &[&str]| {
        let call = [&["import", "mcap", "-", "--flush", "8ms", "--device", "dgist-2021"], buffers].concat();
        rtflash_with_input(&call, &bag())
    };
    let guaranteed = |set: &str| {
        let call = ["alloc", "-", "--analysis", "sound", "--set", "device.chips=2", "--format", "json"];
        rtflash_with_input(&call, set.as_bytes()).json()["schedulable"].as_bool()
    };
    let (one, two) = (import(&[]), import(&["--buffers", "2"]));
    let write = |made: &str| read_task_set(made).expect("a task set").set.tasks().as_slice()[0].write.expect("a write");
    assert_eq!((write(&one.stdout).stated_deadline(), write(&two.stdout).deadline().as_ns()), (None, 16_000_000));
    assert!(two.stderr.contains("every 8ms, each due after 16ms (") && !one.stderr.contains("due"), "{two:?}");
    assert_eq!((guaranteed(&one.stdout), guaranteed(&two.stdout)), (Some(false), Some(true)));
    let endless = rtflash_with_input(
        &["import", "mcap", "-", "--flush", "8640000s", "--buffers", "4294967295", "--device", "dgist-2021"],
        &bag(),
    );
    assert!(endless.status == 2 && endless.stderr.contains("`--buffers`"), "{endless:?}");
}

#[test]
fn a_bag_that_breaks_off_cannot_be_relied_on() {
    let bag = bag();
    let args = ["import", "mcap", "-", "--flush", "100ms", "--device", "emmc-64gb-mlc", "--format", "json"];
    let broken = rtflash_with_input(&args, &bag[..bag.len() - 4]);
    assert_eq!(broken.status, 3, "{broken:?}");
    let answer = read::<ImportAnswer>(&broken.stdout).unwrap().answer.unwrap();
    assert_eq!((answer.read, answer.refused, answer.first_refused.len()), (600, 1, 1));
    let warning = "The import skips 4 bytes in 1 place. Task and rates lack them and promise nothing on them.";
    assert_eq!((answer.recorder.unwrap().unread_bytes, &*answer.warnings[0]), (4, warning));
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
    let pages = |field: &str| answer["curve"][2][field].as_u64().unwrap();
    assert_eq!((pages("read_pages"), pages("write_pages"), pages("pages")), (1, 8, 9));
    assert!(made.stderr.contains("first at 1ms; 135.2 kB in 2ms, 67.58 MB/s on average"), "{made:?}");
    let extent = &answer["extent"];
    assert_eq!((&extent["first_ns"], &extent["length_ns"]), (&1_000_000.into(), &2_000_000.into()));
    assert_eq!(extent["mean_bytes_per_s"], 67_584_000);
    assert_eq!((answer["without_data"].as_u64(), answer["warnings"].as_array().unwrap().len()), (Some(0), 0));
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

/// Sixty-four scattered writes of 512 bytes within 64 ms: by their bytes they are two pages, and
/// the set of two pages is guaranteed. The curve's pages make a set that cannot be served.
#[test]
fn the_rule_for_tasks_takes_the_pages_of_the_curve() {
    let csv: String = (0..64_u64)
        .map(|number| format!("{},srv,0,Write,{},512,1\n", 128_166_372_003_061_629 + 10_000 * number, number << 20))
        .collect();
    let call = ["import", "msr", "-", "--device", "emmc-64gb-mlc"];
    let answer = rtflash_with_input(&[&call[..], &["--format", "json"]].concat(), csv.as_bytes()).json();
    let at_64_ms = &answer["curve"][6];
    let number = |field: &str| at_64_ms[field].as_u64().unwrap();
    assert_eq!((number("window_ns"), number("write_bytes"), number("write_pages")), (64_000_000, 32_768, 64));
    let text = rtflash_with_input(&call, csv.as_bytes()).stderr;
    assert!(text.contains("pages are those of 16384 bytes that requests touch"), "{text}");
    assert!(text.contains("first at 2007-02-22 17:00:00 UTC; 32.77 kB in 63ms"), "{text}");
    let guaranteed = |pages: u64| {
        let task = format!(r#"{{"name":"wal","write":{{"pages":{pages},"period":"64ms"}},"data_size":"4GiB"}}"#);
        let set = format!(r#"{{"device":"emmc-64gb-mlc","tasks":[{task}]}}"#);
        let answer = rtflash_with_input(&["alloc", "-", "--analysis", "sound", "--format", "json"], set.as_bytes());
        answer.json()["schedulable"].as_bool()
    };
    assert_eq!(
        (guaranteed(number("write_bytes").div_ceil(16_384)), guaranteed(number("write_pages"))),
        (Some(true), Some(false))
    );
}

#[test]
fn times_in_another_unit_are_warned_of() {
    let msr: String = (0..30).map(|second| format!("{},srv,0,Read,0,8192,1234\n", 1_172_163_600 + second)).collect();
    let fio: String =
        (0..30_u64).map(|at| format!("{} /dev/sdx write {} 4096\n", at * 5_000_000, at * 4_096)).collect();
    let fio = format!("fio version 3 iolog\n{fio}");
    for (from, text, first, length) in [("msr", msr, "1601-01-01 00:01:57 UTC", "2.9us"), ("fio", fio, "0ns", "145s")] {
        let call = ["import", from, "-", "--device", "emmc-64gb-mlc"];
        let made = rtflash_with_input(&call, text.as_bytes());
        assert_eq!(made.status, 0, "{made:?}");
        assert!(made.stderr.contains(&format!("first at {first}; ")), "{made:?}");
        assert!(made.stderr.contains(&format!(" in {length}, ")) && made.stderr.contains("\nwarning: "), "{made:?}");
        assert!(made.stderr.contains("are the times in another unit?"), "{made:?}");
        let answer = rtflash_with_input(&[&call[..], &["--format", "json"]].concat(), text.as_bytes()).json();
        assert!(!answer["warnings"].as_array().unwrap().is_empty());
        assert_eq!(rtflash_with_input(&[&["-q"], &call[..]].concat(), text.as_bytes()).stderr, "");
    }
}

/// Sixty topics of small messages on two chips: a page for each topic would need thirty chips.
#[test]
fn sixty_small_topics_fit() {
    let mut bytes = Vec::new();
    let mut writer =
        mcap::Writer::with_options(Cursor::new(&mut bytes), mcap::WriteOptions::new().compression(None)).unwrap();
    let topics: Vec<u16> =
        (0..60).map(|topic| writer.add_channel(0, &format!("/t{topic}"), "raw", &BTreeMap::new()).unwrap()).collect();
    for number in 0..40_u64 {
        for channel_id in &topics {
            let log_time = 1_700_000_000_000_000_000 + number * 50_000_000;
            let header =
                mcap::records::MessageHeader { channel_id: *channel_id, sequence: 0, log_time, publish_time: log_time };
            writer.write_to_known_channel(&header, &[7; 197]).unwrap();
        }
    }
    writer.finish().unwrap();
    drop(writer);
    let made = rtflash_with_input(&["import", "mcap", "-", "--flush", "100ms", "--device", "emmc-64gb-mlc"], &bytes);
    assert_eq!(made.status, 0, "{made:?}");
    assert!(made.stderr.contains("first at 2023-11-14 22:13:20 UTC"), "{made:?}");
    let alloc = rtflash_with_input(&["alloc", "-", "--analysis", "sound"], made.stdout.as_bytes());
    assert_eq!(alloc.status, 0, "{alloc:?}");
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
    let more = config
        .replace("<Page_Capacity>", "<Page_Program_Latency_WSB>3000000</Page_Program_Latency_WSB><Page_Capacity>");
    let wrong = rtflash_with_input(&["import", "mqsim", "-"], more.as_bytes());
    assert_eq!((wrong.status, wrong.stdout.as_str()), (2, ""));
    assert!(wrong.stderr.contains("unknown parameter `Page_Program_Latency_WSB`"), "{wrong:?}");
    assert!(!rtflash_with_input(&["-q", "import", "mqsim", "-"], config.as_bytes()).stderr.contains("kept"));
}
