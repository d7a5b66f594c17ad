//! How many requests a second of simulated host traffic: a million is asked for.

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

criterion_group!(benches, traffic);
criterion_main!(benches);
