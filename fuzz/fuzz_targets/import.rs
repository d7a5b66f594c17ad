//! Any bytes as a bag, a trace of requests or a configuration: they are refused, or become a task
//! set, a device, and a curve that holds all.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rtflash::import::bag::read_bag;
use rtflash::import::mqsim::read_ssd_config;
use rtflash::import::{BlockFormat, TimeBase, arrival_curve, job_streams, read_block_trace};
use rtflash::model::{Device, Span, TaskSet};

fn block_trace(text: &[u8], format: BlockFormat) {
    let Ok(trace) = read_block_trace(text, format) else { return };
    assert_eq!(trace.requests.len() as u64, trace.lines.read);
    let bytes: u128 = trace.requests.iter().map(|request| u128::from(request.bytes)).sum();
    let last = arrival_curve(&trace.requests, 4_096).pop().expect("a point");
    assert!(u128::from(last.bytes) <= bytes && u128::from(last.pages) * 4_096 >= u128::from(last.bytes));
    trace.extent().expect("a trace has requests").doubts(format.clock());
    if let Some(jobs) = job_streams(&trace.requests, 4_096) {
        let device = Device::profile("dgist-2021").expect("a profile");
        let _ = TaskSet::new(device, Vec::new(), jobs);
    }
}

fuzz_target!(|data: &[u8]| {
    let Some((which, rest)) = data.split_first() else { return };
    match which % 5 {
        0 => {
            if let Ok(bag) = read_bag(rest) {
                let flush = Span::from_us(100_000);
                let task = bag.task(flush, 1, 4_096).expect("a bag has messages");
                let written = u128::from(task.write.expect("it writes").pages()) * 4_096;
                for topic in &bag.topics {
                    assert!(written >= u128::from(topic.fullest_window(flush).bytes));
                }
                bag.extent().expect("a bag has messages").doubts(TimeBase::Unix);
            }
        }
        1 => {
            if let Ok(text) = std::str::from_utf8(rest) {
                match read_ssd_config(text) {
                    Ok(config) => assert!(config.device.chips() > 0),
                    Err(faults) => assert!(faults.first().iter().all(|fault| text.get(fault.range.clone()).is_some())),
                }
            }
        }
        2 => block_trace(rest, BlockFormat::Fio),
        3 => block_trace(rest, BlockFormat::Blkparse { action: 'Q' }),
        _ => block_trace(rest, BlockFormat::Msr),
    }
});
