//! `host tune`: what it chooses does not hang on the seed, or it says what else can be better.

use rtflash_host::SchedulerSettings;
use rtflash_host::run::{Scenario, read_scenario};
use rtflash_host::tune::{Millionths, Objective, TuneOptions, Tuning, candidates, tune};

/// An eMMC with episodes, and few real-time I/Os in the time that is stated.
const FEW: &str = r#"{ "device": { "kind": "emmc", "depth": 2,
        "read": { "first": "234us", "next": "125us", "per_kib": "10400ns",
            "slow": { "every": "2s..4s", "for": "250ms", "extra": "190us" } },
        "write": { "first": "680us", "next": "234us", "per_kib": "14300ns",
            "slow": { "every": "190ms..380ms", "for": "7800us", "extra": "2ms" } } },
    "host": { "cpus": 4, "max_sectors": "1280KiB", "requests": 256, "turnaround": "0us" },
    "jobs": [ { "name": "rt0", "op": "write", "pattern": "random", "span": "256MiB", "size": "16KiB", "class": "rt",
            "level": 0, "every": "10ms", "jitter": "5ms" },
        { "name": "rt1", "op": "read", "pattern": "random", "span": "256MiB", "size": "16KiB", "class": "rt", "level": 1,
            "think": "5ms" },
        { "name": "be0", "op": "write", "size": "1MiB", "class": "be", "depth": 4, "think": "1ms" } ],
    "duration": "5s" }"#;

fn half() -> Objective {
    Objective::LatencyShare(Millionths::of_million(500_000).expect("a share"))
}

fn schedulers() -> Vec<SchedulerSettings> {
    ["k2", "k2-split"].into_iter().filter_map(SchedulerSettings::named).collect()
}

fn tuned(scenario: &Scenario, options: TuneOptions) -> Tuning {
    tune(scenario, &schedulers(), options).expect("a short run")
}

/// A setting that some seed chooses is chosen by another seed, too, or named among the ones that
/// can be better.
#[test]
fn seeds_choose_alike_or_name_what_can_be_better() {
    let scenario = read_scenario(FEW, None).expect("a scenario");
    let options = |seed| TuneOptions { samples: 2_000, ..TuneOptions::new(half(), seed) };
    let tunings: Vec<Tuning> = (1..=3).map(|seed| tuned(&scenario, options(seed))).collect();
    let chosen: Vec<usize> = tunings.iter().map(|tuning| tuning.best(half()).expect("a setting")).collect();
    for (tuning, &best) in tunings.iter().zip(&chosen) {
        let rivals = tuning.rivals(half());
        eprintln!("{best}, rivals {rivals:?}, {:?} I/Os, {}", tuning.none.samples, tuning.length);
        assert!(tuning.none.samples.iter().all(|&samples| samples >= 2_000), "{:?}", tuning.none.samples);
        assert_eq!(tuning.times(half(), &tuning.measured[best]), 5);
        assert!(chosen.iter().all(|at| *at == best || rivals.contains(at)), "{chosen:?} {rivals:?}");
    }
    // One run of the time that is stated tells each seed something else.
    let short = |seed| tuned(&scenario, TuneOptions { runs: 1, samples: 0, ..options(seed) }).best(half());
    let alone: Vec<Option<usize>> = (1..=5).map(short).collect();
    assert!(alone.iter().any(|best| *best != alone[0]), "{alone:?}");
}

#[test]
fn runs_are_as_long_as_a_percentile_needs() {
    let scenario = |rt: &str| {
        let text = format!(
            r#"{{ "device": {{ "kind": "emmc", "read": {{ "first": "100us", "next": "100us", "per_kib": "1us" }},
                "write": {{ "first": "2ms", "next": "2ms", "per_kib": "1us" }} }},
            "jobs": [ {{ "name": "rt", "op": "read", "size": "4KiB", "class": "rt", {rt} }},
                {{ "name": "w", "op": "write", "size": "8KiB" }} ], "duration": "1s", "warmup": "500ms" }}"#
        );
        read_scenario(&text, None).expect("a scenario")
    };
    let length = |rt: &str, samples| {
        let tuning = tuned(&scenario(rt), TuneOptions { samples, ..TuneOptions::new(half(), 1) });
        (tuning.length.as_ns() / 1_000_000, tuning.none.samples[0])
    };
    // 50 I/Os count in each run.
    assert_eq!(length(r#""every": "10ms""#, 250), (1_000, 250));
    // 100 in a second of which all counts, and so on.
    assert_eq!(length(r#""every": "10ms""#, 900), (2_500, 1_000));
    // There are no more.
    assert_eq!(length(r#""every": "10ms", "count": 60"#, 900).0, 1_000);
}

/// Nothing is random here: what is chosen is chosen of every seed, and nothing can be better.
#[test]
fn without_chance_there_are_no_rivals() {
    let text = r#"{ "device": { "kind": "emmc", "depth": 4, "read": { "first": "200us", "next": "100us", "per_kib": "10us" },
            "write": { "first": "500us", "next": "300us", "per_kib": "15us" } },
        "jobs": [ { "name": "rt", "op": "read", "size": "64KiB", "class": "rt", "every": "40ms" },
            { "name": "log", "op": "write", "size": "256KiB", "class": "idle", "depth": 8 } ], "duration": "1s" }"#;
    let scenario = read_scenario(text, None).expect("a scenario");
    let tuning = tuned(&scenario, TuneOptions { samples: 0, ..TuneOptions::new(half(), 7) });
    let best = tuning.best(half()).expect("a setting");
    assert_eq!(tuning.measured.len(), candidates(&scenario, &schedulers()).len());
    assert!(tuning.rivals(half()).is_empty());
    assert_eq!(tuning.measured[best].runs, vec![tuning.measured[best].all.clone(); 5]);
}
