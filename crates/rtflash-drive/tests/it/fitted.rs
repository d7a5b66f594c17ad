//! Devices whose constants are known, fitted again.

use rtflash_drive::claims::Fitted;
use rtflash_drive::fit::fit;
use rtflash_drive::written;
use rtflash_host::run::{Emmc, HostDevice, Scenario, Slow, read_setup, run};
use rtflash_model::random::Stream;
use rtflash_model::{Span, format_ns};

use crate::traced::{deep, measured, measured_in_a_loop, measured_in_rounds, measured_with_large, scenario};

/// A random eMMC, with episodes of its own or of one operation, as a scenario has it.
fn random_emmc(stream: &mut Stream) -> String {
    let mut us = |low, high| format_ns(1_000 * stream.within(low, high));
    let cost = |first: String, next: String, per_kib: String, slow: &str| {
        format!(r#"{{ "first": "{first}", "next": "{next}", "per_kib": "{per_kib}"{slow} }}"#)
    };
    let (read, write) = ([us(100, 400), us(60, 90), us(3, 12)], [us(300, 900), us(150, 290), us(5, 20)]);
    let slow = format!(
        r#", "slow": {{ "every": "{}..{}", "for": "{}..{}", "extra": "{}" }}"#,
        us(500_000, 900_000),
        us(1_500_000, 2_500_000),
        us(60_000, 90_000),
        us(100_000, 200_000),
        us(3_000, 8_000)
    );
    let [own, of_reads] = if stream.below(2) == 0 { [&*slow, ""] } else { ["", &*slow] };
    let [read, write] = [(read, of_reads), (write, "")].map(|([a, b, c], slow)| cost(a, b, c, slow));
    format!(r#"{{ "kind": "emmc", "read": {read}, "write": {write}{own} }}"#)
}

fn emmc(device: &HostDevice) -> &Emmc {
    let HostDevice::Emmc(emmc) = device else { panic!("no eMMC") };
    emmc
}

fn off(found: Span, exact: Span) -> f64 {
    (found.as_ns() as f64 - exact.as_ns() as f64).abs() / exact.as_ns() as f64
}

/// The targets of first, per_kib and next; and of episodes.
fn near(found: &Emmc, exact: &Emmc) {
    for (found, exact) in [(&found.read, &exact.read), (&found.write, &exact.write)] {
        assert!(off(found.first, exact.first) <= 0.005, "{found:?} {exact:?}");
        assert!(off(found.per_kib, exact.per_kib) <= 0.005, "{found:?} {exact:?}");
        assert!(off(found.next, exact.next) <= 0.03, "{found:?} {exact:?}");
    }
    let slow = |emmc: &Emmc| emmc.slow.or(emmc.read.slow).expect("episodes");
    assert_eq!(found.slow.is_some(), exact.slow.is_some());
    let (found, exact): (Slow, Slow) = (slow(found), slow(exact));
    assert!(off(found.extra, exact.extra) <= 0.005, "{found:?} {exact:?}");
    assert!(off(found.every.shortest, exact.every.shortest) <= 0.05, "{found:?} {exact:?}");
    assert!(off(found.every.longest, exact.every.longest) <= 0.05, "{found:?} {exact:?}");
    // A lone job's probes come within its think time and all other jobs' commands.
    let probe = 40_000_000;
    for (found, exact) in [(found.length.shortest, exact.length.shortest), (found.length.longest, exact.length.longest)]
    {
        assert!(found.as_ns().abs_diff(exact.as_ns()) <= probe, "{found} {exact}");
    }
}

#[test]
fn known_constants_are_found_again() {
    let mut stream = Stream::numbered(1, b"drives\0\0", 0);
    let (mut errors, mut tails, mut chosen) = (Vec::new(), Vec::new(), 0);
    for seed in 0..6 {
        let device = random_emmc(&mut stream);
        let scenario = scenario(&device, "200s");
        let of = measured(&scenario, seed);
        let fit = fit(&of).expect("a fit");
        let (_, found) = fit.kinds.iter().find(|(kind, _)| *kind == "emmc").expect("an eMMC");
        near(emmc(found), emmc(&scenario.device));
        // Measured services err less where a percentile lies on the edge of the episodes.
        chosen += u32::from(fit.candidates[0].kind == "emmc");
        let own = fit.candidates.iter().find(|of| of.kind == "emmc").expect("an eMMC");
        for error in &own.errors {
            match error.of_ten_thousand {
                5_000 => errors.push(error.factor() - 1.0),
                9_990 => {
                    let floor = fit.floor.errors.iter().find(|of| of.of_ten_thousand == 9_990 && of.op == error.op);
                    tails.push((error.factor() - 1.0, floor.expect("a floor").factor() - 1.0));
                }
                _ => {}
            }
        }
        // The file says the same as the fit.
        let fitted = Fitted::new(&of, &fit, Vec::new());
        let text = written(&fit, &fitted);
        assert_eq!(read_setup(&text, None).expect("a setup").device, fit.device);
        assert_eq!(Fitted::in_text(&text), Some(fitted));
    }
    assert!(chosen >= 3, "an eMMC was chosen {chosen} times");
    errors.sort_by(f64::total_cmp);
    assert!(errors[errors.len() / 2] <= 0.005, "{errors:?}");
    assert!(tails.iter().all(|&(error, floor)| error <= f64::max(0.01, floor) + 0.01), "{tails:?}");
}

/// A drive that a line and episodes do not describe: its services are drawn from blocks. The fit
/// chooses `measured`.
#[test]
fn a_drive_with_tails_is_measured() {
    let services = |stream: &mut Stream, base: u64| -> String {
        let mut ns = Vec::new();
        for _ in 0..60 {
            // A level for each block, and a spread of 50 % in it.
            let level = stream.within(base, 3 * base);
            ns.extend((0..50).map(|_| (level + stream.below(level / 2)).to_string()));
        }
        ns.join(",")
    };
    let mut stream = Stream::numbered(2, b"drives\0\0", 0);
    let mut cost = |base: u64| {
        let sizes = [4_u64, 32, 128, 512]
            .map(|kib| format!(r#"{{ "size": "{kib}KiB", "ns": [{}] }}"#, services(&mut stream, base + 2_000 * kib)));
        format!(r#"{{ "first": "{base}ns", "next": "{base}ns", "per_kib": "2us", "services": [{}] }}"#, sizes.join(","))
    };
    let device = format!(r#"{{ "kind": "measured", "read": {}, "write": {} }}"#, cost(100_000), cost(200_000));
    let of = measured(&scenario(&device, "100s"), 3);
    let fit = fit(&of).expect("a fit");
    assert_eq!(
        fit.candidates[0].kind,
        "measured",
        "{:?}",
        fit.candidates.iter().map(|of| (of.kind, of.score())).collect::<Vec<_>>()
    );
    let HostDevice::Measured(_) = &fit.device else { panic!("measured") };
    assert!(fit.candidates[0].score() < 1.1, "{}", fit.candidates[0].score());
    let text = written(&fit, &Fitted::new(&of, &fit, Vec::new()));
    assert_eq!(read_setup(&text, None).expect("a setup").device, fit.device);
}

/// A drive that works on several commands at a time is an `nvme`: its controller, and the latency
/// behind it, are found again.
#[test]
fn a_drive_with_a_controller_is_an_nvme() {
    let flash = r#"{ "chips": 8, "chips_per_channel": 1, "blocks_per_chip": 64, "pages_per_block": 64,
        "page_size": 4194304, "logical_ratio": 0.5, "page_read": "1ns", "page_program": "1ns", "block_erase": "1ns",
        "page_transfer": "1ns" }"#;
    let mut stream = Stream::numbered(3, b"drives\0\0", 0);
    for _ in 0..3 {
        let mut cost = |controller: u64, latency: u64| {
            let [controller, latency] = [controller, latency].map(|least| stream.within(least, 2 * least));
            let per_kib = stream.within(200, 900);
            (
                controller,
                latency,
                format!(r#"{{ "controller": "{controller}ns", "latency": "{latency}ns", "per_kib": "{per_kib}ns" }}"#),
            )
        };
        let (read, write) = (cost(5_000, 60_000), cost(9_000, 20_000));
        let device = format!(r#"{{ "kind": "nvme", "flash": {flash}, "read": {}, "write": {} }}"#, read.2, write.2);
        let of = measured_in_rounds(&device);
        let fit = fit(&of).expect("a fit");
        let factors: Vec<_> = fit.candidates.iter().map(|of| (of.kind, of.score())).collect();
        assert!(factors[0].0 == "nvme" && factors[0].1 < 1.02, "{factors:?}");
        assert!(factors.iter().any(|&(kind, factor)| kind == "emmc" && factor > 1.5), "{factors:?}");
        let HostDevice::Nvme(found) = &fit.device else { panic!("no NVMe drive") };
        for (found, (controller, latency, _)) in [(found.read, &read), (found.write, &write)] {
            let off = |found: Span, exact: u64| (found.as_ns() as f64 - exact as f64).abs() / exact as f64;
            assert!(off(found.random.controller, *controller) < 0.03, "{found:?} {controller}");
            assert!(off(found.random.latency, *latency) < 0.03, "{found:?} {latency}");
        }
        let longest = of.commands().map(|done| done.residence()).max();
        assert_eq!(found.ends_within.map(Span::as_ns), longest);
        let text = written(&fit, &Fitted::new(&of, &fit, Vec::new()));
        assert_eq!(read_setup(&text, None).expect("a setup").device, fit.device);
    }
}

/// Real flash behind the controller, whose channels move bytes at a time: a controller that moves
/// them keeps writes waiting behind reads, which are not kept here.
#[test]
fn a_drive_with_chips_is_no_serial_one() {
    let device = r#"{ "kind": "nvme", "flash": { "profile": "dgist-2021", "chips": 16, "chips_per_channel": 2,
            "page_size": 4096, "page_transfer": "5us" },
        "read": { "controller": "6us", "latency": "20us" }, "write": { "controller": "9us", "latency": "5us" },
        "buffer": 4096 }"#;
    let of = measured_in_rounds(device);
    let fit = fit(&of).expect("a fit");
    let factors: Vec<_> = fit.candidates.iter().map(|of| (of.kind, of.score())).collect();
    let kind = |kind: &str| factors.iter().find(|of| of.0 == kind).expect("a kind").1;
    assert!(factors[0].0 == "nvme, bytes at once" && factors[0].1 <= 1.5, "{factors:?}");
    assert!(kind("nvme") > 2.0 && kind("emmc") > 2.0 && kind("measured") > 2.0, "{factors:?}");
    let text = written(&fit, &Fitted::new(&of, &fit, Vec::new()));
    assert_eq!(read_setup(&text, None).expect("a setup").device, fit.device);
}

/// The host's time between two commands of a process is found again where there is one, and runs of
/// the fitted file have it. Processes that think say nothing about it.
#[test]
fn the_hosts_time_is_found() {
    let device = r#"{ "kind": "emmc", "read": { "first": "100us", "next": "50us", "per_kib": "3us" },
        "write": { "first": "200us", "next": "50us", "per_kib": "5us" } }"#;
    let of = measured_in_a_loop(device, "90us");
    let fit_of_loop = fit(&of).expect("a fit");
    let overhead = fit_of_loop.host_overhead.expect("a time of the host");
    // A read of 4 KiB takes 112 us: with 90 us between two of them, a loop is 1.8 times slower.
    assert_eq!((overhead.ns, overhead.factor, overhead.factor_without), (90_000, 1.0, 1.804));
    let text = written(&fit_of_loop, &Fitted::new(&of, &fit_of_loop, Vec::new()));
    assert_eq!(read_setup(&text, None).expect("a setup").host.overhead.as_ns(), 90_000);
    assert_eq!(fit(&measured_in_a_loop(device, "0us")).expect("a fit").host_overhead, None);
}

/// A fit has no flushes and no discards: it bounds no job that does them.
#[test]
fn what_was_not_measured_bounds_nothing() {
    let device = r#"{ "kind": "emmc", "read": { "first": "100us", "next": "50us", "per_kib": "3us" },
        "write": { "first": "200us", "next": "50us", "per_kib": "5us" } }"#;
    let of = measured_in_a_loop(device, "0us");
    let fitted = Fitted::new(&of, &fit(&of).expect("a fit"), Vec::new());
    let says = |device: &str, job: &str| {
        let text = format!(
            r#"{{ "device": {device}, "duration": "1s", "jobs": [ {{ "name": "log", "size": "4KiB", {job} }} ] }}"#
        );
        fitted.not_measured(&rtflash_host::run::read_scenario(&text, None).expect("a scenario"))
    };
    assert_eq!(says(device, r#""op": "write", "think": "1ms""#), None);
    let flushed = says(device, r#""op": "write", "fsync": 4"#).expect("a reason");
    assert!(flushed.contains("job `log` flushes the drive's cache"), "{flushed}");
    let discarded = says(device, r#""op": "discard""#).expect("a reason");
    assert!(discarded.contains("no discard was measured"), "{discarded}");
    // A cache that a reader has added has a flush.
    let cache = r#"{ "kind": "emmc", "cache": { "size": "1MiB", "drain": "50MB", "flush": "1ms",
        "write": { "first": "10us", "next": "5us", "per_kib": "1us" } },"#;
    assert_eq!(says(&device.replace(r#"{ "kind": "emmc","#, cache), r#""op": "write", "fsync": 4"#), None);
}

#[test]
fn too_little_is_refused() {
    let device = r#"{ "kind": "emmc", "read": { "first": "100us", "next": "50us", "per_kib": "3us" },
        "write": { "first": "200us", "next": "50us", "per_kib": "5us" } }"#;
    let of = measured(&scenario(device, "1s"), 1);
    let wrong = fit(&of).expect_err("too little").0;
    assert!(wrong.contains("200 commands alone"), "{wrong}");
}

/// Bytes of a further command cost this drive half as much again as those of a lone one. By the
/// bytes of lone ones, large reads in flight would be 30 % faster.
#[test]
fn bytes_of_further_commands_are_found() {
    let cost = r#"{ "first": "100us", "next": "100us", "per_kib": "1us", "services": [
        { "size": "4KiB", "ns": [84000, 104000, 124000] }, { "size": "128KiB", "ns": [202000, 232000, 262000] } ] }"#;
    let device = format!(
        r#"{{ "kind": "measured", "depth": 32, "together": 16, "each": "5us", "each_per_kib": "1500ns", "read": {cost},
            "write": {cost} }}"#
    );
    let large = deep(&device, "read", 128, 4);
    let found = Scenario { device: fit(&measured_with_large(&device)).expect("a fit").device, ..large.clone() };
    let HostDevice::Measured(of) = &found.device else { panic!("measured") };
    let constants = (of.together, of.each.as_ns(), of.each_per_kib.expect("large commands").as_ns());
    assert!(matches!(constants, (16, 4_900..=7_000, 1_450..=1_550)), "{constants:?}");
    let [given, fitted] = [&large, &found].map(|of| run(of, 1).expect("a run")[0].bytes_per_s);
    assert!(fitted * 100 >= given * 95 && fitted * 100 <= given * 105, "{fitted} of {given}");
}
