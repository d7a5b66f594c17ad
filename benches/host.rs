//! How many requests a second of simulated host traffic: a million is asked for in front of an
//! eMMC, 300 thousand in front of an NVMe drive.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use rtflash::host::run::{read_scenario, run};

fn traffic(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("requests in front of an eMMC");
    group.sample_size(10);
    for scheduler in ["none", "k2", "k2-split", "mq-deadline", "kyber"] {
        let text = r#"{
            "device": { "kind": "emmc", "depth": 4, "read": { "first": "20us", "next": "10us", "per_kib": "1us" },
                "write": { "first": "20us", "next": "10us", "per_kib": "1us" } },
            "jobs": [
                { "name": "rt", "op": "read", "pattern": "random", "span": "1GiB", "size": "4KiB", "class": "rt", "think": "100us" },
                { "name": "rest", "op": "write", "pattern": "random", "span": "1GiB", "size": "4KiB", "depth": 16 } ],
            "duration": "5s" }"#;
        let scenario = read_scenario(text, Some(scheduler)).expect("a scenario");
        let requests: u64 = run(&scenario, 1).expect("a run").iter().map(|job| job.latencies.count()).sum();
        group.throughput(Throughput::Elements(requests));
        group.bench_function(scheduler, |bencher| bencher.iter(|| run(&scenario, 1).expect("a run")));
    }
    group.finish();
}

/// A drive that is full and one that is not, by what reads and writes cost on a fast one.
fn drives(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("requests in front of an NVMe drive");
    group.sample_size(10);
    let reads = r#"{ "name": "rt", "op": "read", "pattern": "random", "span": "1GiB", "size": "4KiB", "class": "rt", "think": "100us" },
        { "name": "rest", "op": "read", "pattern": "random", "span": "1GiB", "size": "4KiB", "depth": 64 }"#;
    let writes = reads.replace("read", "write");
    for (name, jobs, more) in [
        ("random reads", reads, ""),
        ("random writes", writes.as_str(), ""),
        ("random writes, full", writes.as_str(), r#", "aging": "random""#),
    ] {
        let text = format!(
            r#"{{ "device": {{ "kind": "nvme", "flash": {{ "profile": "dgist-2021", "chips": 16, "chips_per_channel": 2, "page_size": 4096,
                "blocks_per_chip": 512, "page_transfer": "5us" }}, "buffer": 4096,
                "read": {{ "controller": "4us", "latency": "20us" }}, "write": {{ "controller": "4us", "latency": "10us" }} {more} }},
                "scheduler": "k2", "jobs": [ {jobs} ], "duration": "2s" }}"#
        );
        let scenario = read_scenario(&text, None).expect("a scenario");
        let requests: u64 = run(&scenario, 1).expect("a run").iter().map(|job| job.latencies.count()).sum();
        group.throughput(Throughput::Elements(requests));
        group.bench_function(name, |bencher| bencher.iter(|| run(&scenario, 1).expect("a run")));
    }
    group.finish();
}

criterion_group!(benches, traffic, drives);
criterion_main!(benches);
