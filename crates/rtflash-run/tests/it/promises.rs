//! Theorem 1's promise is kept if its assumptions hold; and an overloaded set is late.

use rtflash_alloc::allocator::allocator;
use rtflash_analysis::{Analysis, Thesis, ThesisEvaluated, fits_alone};
use rtflash_model::generate::{Accesses, Generator, PeriodRange, SetOptions, SetSpec, Utilization, Writes};
use rtflash_model::{Device, DeviceSpec, Instant, TaskSet};
use rtflash_plan::{Aging, Dispatch, Options, Pattern, Service, Times, Victims};
use rtflash_run::execute;
use rtflash_run::soak::{Search, World, draw, soak};

use rtflash_testkit::cases;

/// Small devices, clusters that share no channel, actual and worst victims.
#[test]
fn accepted_sets_without_shared_channels_keep_every_bound() {
    let soaked = soak(Search { seed: 20_211, world: World::Supposed }, cases(4_000), &|_: u64| ());
    let broken: Vec<_> =
        soaked.broken.iter().map(|broken| (broken.finding.assumption.name(), broken.runs, broken.first)).collect();
    assert_eq!(broken, []);
    assert!(soaked.judged >= 1_200, "{} were accepted", soaked.judged);
}

/// Sets at the limit of what the sound analyses accept, under whatever is meant to break them.
/// `rtflash soak --world sound` draws more.
#[test]
fn sound_promises_are_kept_at_the_limit() {
    let soaked = soak(Search { seed: 31, world: World::Sound }, cases(500), &|_: u64| ());
    let broken: Vec<_> =
        soaked.broken.iter().map(|broken| (broken.finding.assumption.name(), broken.runs, broken.first)).collect();
    assert_eq!(broken, []);
    assert!(soaked.judged >= 330, "{} were accepted", soaked.judged);
    // If deadlines are far shorter than periods, load is not the limit.
    assert!(soaked.load > 800_000, "a mean load of {} millionths", soaked.load);
}

/// Two page registers and commands are among what is attacked there, each alone and both together,
/// and clusters that use both registers.
#[test]
fn sound_sets_use_second_registers_and_commands() {
    let (mut kinds, mut cached) = ([0; 4], 0);
    for case in (0..240).filter_map(|run| draw(Search { seed: 31, world: World::Sound }, run)) {
        let device = case.set.device();
        kinds[usize::from(device.has_cache_register()) + 2 * usize::from(device.has_commands())] += 1;
        let outcome = case.allocator.allocate(&case.set, case.analysis);
        let allocation = outcome.allocation().expect("it was accepted");
        let placed = (0..allocation.len()).filter_map(|cluster| allocation.certificate(cluster));
        cached += u32::from(placed.into_iter().any(|certificate| certificate.placement.is_cached()));
    }
    assert!(kinds[0] > 50 && kinds[1] > 20 && kinds[2] > 20 && kinds[3] > 10, "{kinds:?}");
    assert!(cached > 20, "{cached} with a cached cluster");
}

/// Everything drawn: whatever the theory gets wrong, the flash itself keeps its rules.
#[test]
fn the_flash_keeps_the_rules_in_any_world() {
    let soaked = soak(Search { seed: 7, world: World::Any }, cases(2_000), &|_: u64| ());
    for broken in &soaked.broken {
        let name = broken.finding.assumption.name();
        let is_valid = ["edf-order", "chip-exclusion", "bus-exclusion", "page-order", "mapping", "conservation"];
        assert!(!is_valid.contains(&name), "{name} in run {}", broken.first);
    }
    let names: Vec<&str> = soaked.broken.iter().map(|broken| broken.finding.assumption.name()).collect();
    assert!(names.contains(&"bus-wait") && names.contains(&"server-deadlines"), "{names:?}");
}

/// Generated sets on a device like `dgist-2021`, with fewer blocks and every chip on a channel of
/// its own.
fn generated(analysis: &dyn Analysis, tenths: u64, index: u64) -> TaskSet {
    let profile = Device::profile("dgist-2021").expect("the profile").spec();
    let device = DeviceSpec { chips: 8, chips_per_channel: 1, blocks_per_chip: 24, ..profile };
    let device = Device::new(device).expect("a device");
    let page_costs = analysis.page_costs(&device);
    let spec = SetSpec {
        device,
        tasks: 6,
        generator: Generator::UUniFast,
        page_costs,
        writes: Writes::Drawn,
        accesses: Accesses::Random,
        deadlines: None,
        periods: PeriodRange::default(),
        pages: None,
        seed: 5,
    };
    let options = SetOptions::new(spec).expect("options");
    let utilization = Utilization::from_billionths(tenths * 100_000_000).expect("a utilization");
    options.draw(utilization, index, |device, task| fits_alone(analysis, device, task)).expect("a set")
}

fn options(victims: Victims) -> Options {
    Options {
        duration: Instant::from_ns(8_000_000_000).expect("a duration"),
        dispatch: Dispatch::Serial,
        service: Service::Tbs,
        victims,
        aging: Aging::Worst,
        pattern: Pattern::Uniform,
        times: Times::Worst,
        seed: 3,
        ..Options::default()
    }
}

#[test]
fn generated_sets_that_are_accepted_keep_every_bound() {
    let mut kept = 0;
    for analysis in [&Thesis as &dyn Analysis, &ThesisEvaluated] {
        for case in 0..cases(24) {
            let set = generated(analysis, 2 + case % 16, case);
            for name in ["clustering-bfd", "equal-split", "global"] {
                let outcome = allocator(name).expect("the algorithm").allocate(&set, analysis);
                let Some(allocation) = outcome.allocation().filter(|_| outcome.is_schedulable() == Some(true)) else {
                    continue;
                };
                for victims in [Victims::Actual, Victims::Worst] {
                    let Ok(executed) = execute(&set, allocation, analysis, &options(victims), None) else { continue };
                    let broken: Vec<_> = executed.findings.iter().filter(|finding| !finding.gauge.holds()).collect();
                    assert!(broken.is_empty(), "{name}, case {case}: {broken:?}");
                    kept += 1;
                }
            }
        }
    }
    assert!(kept > 60, "{kept} were accepted");
}

#[test]
fn sets_that_overload_a_cluster_are_late() {
    let mut late = 0_u64;
    for case in 0..cases(16) {
        let set = generated(&Thesis, 16 + case % 20, case);
        let outcome = allocator("global").expect("the algorithm").allocate(&set, &Thesis);
        let allocation = outcome.allocation().expect("global always gives one");
        let executed = execute(&set, allocation, &Thesis, &options(Victims::Actual), None).expect("a run");
        // Without blocking and with what GC really copies, requests alone are more than one cluster
        // can serve.
        assert!(!executed.passes(), "case {case}");
        late += u64::from(executed.report.sources.iter().any(|source| source.misses + source.overdue > 0));
    }
    assert_eq!(late, cases(16));
}
