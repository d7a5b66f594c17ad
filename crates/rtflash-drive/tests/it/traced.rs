//! Runs of the host model as traces of ftrace: a drive whose constants are known.

use std::fmt::Write;

use rtflash_drive::read::read_trace;
use rtflash_drive::{DriveSample, Measurement};
use rtflash_host::Op;
use rtflash_host::run::{RunEvent, Scenario, Watch, read_scenario, run_watched};
use rtflash_model::Instant;

/// Writes what the device gets and ends as ftrace does, to the nanosecond.
#[derive(Default)]
struct Ftrace(String);

impl Watch for Ftrace {
    fn see(&mut self, now: Instant, what: &RunEvent<'_>) {
        let (event, command) = match what {
            RunEvent::HandedOver(command) | RunEvent::PartHandedOver(command) => ("issue", command),
            RunEvent::Ended(command) => ("complete", command),
            _ => return,
        };
        let (at, op) = (now.as_ns() + 1_000_000_000, if command.op == Op::Read { "R" } else { "W" });
        let bytes = if event == "issue" { format!("{} ", command.size) } else { String::new() };
        let (process, sector, sectors) = (command.job + 1, command.from / 512, command.size / 512);
        let (seconds, ns) = (at / 1_000_000_000, at % 1_000_000_000);
        writeln!(
            self.0,
            "x-{process} [000] ..... {seconds}.{ns:09}: block_rq_{event}: 8,0 {op} {bytes}() {sector} + {sectors} be,0,4 [x]"
        )
        .expect("text");
    }
}

/// Jobs of both operations, of four sizes each, one of them in two commands.
pub fn scenario(device: &str, duration: &str) -> Scenario {
    let mut jobs = Vec::new();
    for op in ["read", "write"] {
        for (size, think) in [(4, 7), (32, 9), (128, 11), (1024, 13)] {
            jobs.push(format!(
                r#"{{ "name": "{op}{size}", "op": "{op}", "pattern": "random", "span": "4GiB", "size": "{size}KiB", "think": "{think}ms" }}"#
            ));
        }
    }
    let text = format!(
        r#"{{ "device": {device}, "host": {{ "max_sectors": "512KiB" }}, "jobs": [{}], "duration": "{duration}" }}"#,
        jobs.join(",")
    );
    read_scenario(&text, None).expect("a scenario")
}

/// A run, read back from its trace.
pub fn measured(scenario: &Scenario, seed: u64) -> Measurement {
    let mut sample = DriveSample::default();
    add(&mut sample, scenario, seed, None);
    sample.measurement()
}

/// Six rounds of lone commands, and of 32 commands in flight.
pub fn measured_in_rounds(device: &str) -> Measurement {
    let deep = |op: &str| {
        let text = format!(
            r#"{{ "device": {device}, "jobs": [ {{ "name": "{op}", "op": "{op}", "pattern": "random", "span": "4GiB",
                "size": "4KiB", "depth": 32 }} ], "duration": "20ms" }}"#
        );
        read_scenario(&text, None).expect("a scenario")
    };
    let parts = [scenario(device, "2s"), deep("read"), deep("write")];
    let mut sample = DriveSample::default();
    for round in 1..=6 {
        parts.iter().for_each(|part| add(&mut sample, part, round.into(), Some(round)));
    }
    sample.measurement()
}

/// I/Os of one size, `depth` of them in flight.
pub fn deep(device: &str, op: &str, kib: u32, depth: u32) -> Scenario {
    let text = format!(
        r#"{{ "device": {device}, "jobs": [ {{ "name": "deep", "op": "{op}", "pattern": "random", "span": "4GiB",
            "size": "{kib}KiB", "depth": {depth} }} ], "duration": "100ms" }}"#
    );
    read_scenario(&text, None).expect("a scenario")
}

/// Six rounds of lone commands of three sizes, of 16 small reads in flight, and of 4 large ones.
pub fn measured_with_large(device: &str) -> Measurement {
    let lone = ["read", "write"].into_iter().flat_map(|op| [4, 32, 128].map(|kib| deep(device, op, kib, 1)));
    let parts: Vec<Scenario> = lone.chain([deep(device, "read", 4, 16), deep(device, "read", 128, 4)]).collect();
    let mut sample = DriveSample::default();
    for round in 1..=6 {
        parts.iter().for_each(|part| add(&mut sample, part, round.into(), Some(round)));
    }
    sample.measurement()
}

/// Six rounds of lone commands, and of a closed loop whose process takes `overhead` between two.
pub fn measured_in_a_loop(device: &str, overhead: &str) -> Measurement {
    let text = format!(
        r#"{{ "device": {device}, "host": {{ "overhead": "{overhead}" }}, "jobs": [ {{ "name": "loop", "op": "read",
            "pattern": "random", "span": "4GiB", "size": "4KiB" }} ], "duration": "200ms" }}"#
    );
    let parts = [scenario(device, "2s"), read_scenario(&text, None).expect("a scenario")];
    let mut sample = DriveSample::default();
    for round in 1..=6 {
        parts.iter().for_each(|part| add(&mut sample, part, round.into(), Some(round)));
    }
    sample.measurement()
}

fn add(sample: &mut DriveSample, scenario: &Scenario, seed: u64, round: Option<u32>) {
    let mut trace = Ftrace::default();
    run_watched(scenario, seed, &mut trace).expect("a run");
    let read = read_trace(trace.0.as_bytes(), None, |done| sample.push(done)).expect("a trace");
    sample.end_of_file(Some(&read.seen), round);
}
