//! One device, described with the page's transfer inside its times and beside them: every analysis
//! says the same of both, and both are run alike.

use rtflash_alloc::allocator::Outcome;
use rtflash_analysis::{ANALYSES, Analysis, PartFtl, Sound, Thesis, ThesisEvaluated};
use rtflash_model::{Device, DeviceSpec, Instant, Reliance, Shortest, Span, TaskSet};
use rtflash_plan::Options;
use rtflash_run::soak::{Case, Search, World, draw};
use rtflash_run::{NotRun, PlanRefusal, execute};

/// The device of `spec`, described so that reads or programs include the transfer. Its times on the
/// chip stay those that `spec` states.
fn described(spec: DeviceSpec, read: bool, program: bool) -> Device {
    let with = |whole: Span, transfer: Span| whole.saturating_add(transfer);
    let shortest_transfer = spec.shortest.page_transfer.unwrap_or(spec.page_transfer);
    let stated = |inside: bool, shortest: Option<Span>, longest: Span| match inside {
        true => (shortest.map(|shortest| with(shortest, shortest_transfer)), with(longest, spec.page_transfer)),
        false => (shortest, longest),
    };
    let (shortest_read, page_read) = stated(read, spec.shortest.page_read, spec.page_read);
    let (shortest_program, page_program) = stated(program, spec.shortest.page_program, spec.page_program);
    Device::new(DeviceSpec {
        page_read,
        page_program,
        shortest: Shortest { page_read: shortest_read, page_program: shortest_program, ..spec.shortest },
        page_read_includes_transfer: Some(read),
        page_program_includes_transfer: Some(program),
        ..spec
    })
    .expect("what is left on the chip was a device's")
}

/// The outcome of a run, in words; or why there was none.
fn run(set: &TaskSet, outcome: &Outcome, analysis: &dyn Analysis, options: &Options) -> Option<String> {
    match execute(set, outcome.allocation()?, analysis, options, None) {
        Ok(run) => Some(format!("{:?} {:?}", run.findings, run.report)),
        // The one refusal that depends on what is in a read: there is always room for it now.
        Err(NotRun::Refused(PlanRefusal::TransferTooLong)) => panic!("no transfer is longer than what contains it"),
        Err(error) => Some(error.to_string()),
    }
}

/// Compares answers and runs of the four descriptions; says how many runs there were.
fn compare(case: &Case, analysis: &'static dyn Analysis) -> u32 {
    let spec = case.set.device().spec();
    let ways = [(false, false), (true, true), (true, false), (false, true)];
    let sets: Vec<TaskSet> =
        ways.iter().filter_map(|&(read, program)| case.set.on(described(spec, read, program)).ok()).collect();
    let Some(first) = sets.first() else { return 0 };
    assert_eq!(sets.len(), 4, "what one takes all take");
    let outcome = case.allocator.allocate(first, analysis);
    let options = Options {
        duration: case.options.duration.min(Instant::from_ns(40_000_000).expect("short")),
        ..case.options.clone()
    };
    let ran = run(first, &outcome, analysis, &options);
    for set in &sets[1..] {
        let what = || format!("run {} of seed {}, {}: {set:?}", case.run, case.seed, analysis.name());
        assert_eq!(case.allocator.allocate(set, analysis), outcome, "{}", what());
        assert_eq!(PartFtl::test(set), PartFtl::test(first), "{}", what());
        assert!(run(set, &outcome, analysis, &options) == ran, "{}", what());
    }
    u32::from(ran.is_some())
}

#[test]
fn both_descriptions_are_answered_and_run_alike() {
    let mut runs = [0; ANALYSES.len()];
    for (world, seed) in [(World::Any, 21), (World::Supposed, 22), (World::Sound, 23)] {
        for number in 0..40 {
            let Some(case) = draw(Search { seed, world }, number) else { continue };
            for (runs, analysis) in runs.iter_mut().zip(ANALYSES) {
                *runs += compare(&case, analysis);
            }
        }
    }
    println!("{runs:?}");
    // Few sets write streams alone, as zones ask for.
    assert!(runs.iter().all(|&runs| runs > 5) && runs.iter().filter(|&&runs| runs > 20).count() > 4, "{runs:?}");
}

/// A device that says what its analysis takes for granted anyway is answered as one that says
/// nothing: under the analyses that count the transfer on top.
#[test]
fn on_top_is_what_all_but_the_thesis_take_for_granted() {
    let sound = Sound { rely_on: Reliance::Neighbours };
    let granted: [&dyn Analysis; 2] = [&ThesisEvaluated, &sound];
    for number in 0..40 {
        let Some(case) = draw(Search { seed: 24, world: World::Any }, number) else { continue };
        let stated = case.set.on(described(case.set.device().spec(), false, false)).expect("the same times");
        for analysis in granted {
            let outcome = case.allocator.allocate(&case.set, analysis);
            assert_eq!(case.allocator.allocate(&stated, analysis), outcome, "run {number}, {}", analysis.name());
            // Without certificates a sound analysis has nothing to say of a run, and pages cost
            // what they cost under the thesis.
            let certified = outcome.allocation().is_some_and(rtflash_model::Allocation::is_certified);
            if analysis.demand_test().is_some() && !certified {
                continue;
            }
            let ran = run(&case.set, &outcome, analysis, &case.options);
            assert!(run(&stated, &outcome, analysis, &case.options) == ran, "run {number}, {}", analysis.name());
        }
    }
}

/// Under the thesis a page costs t_r as it is stated where the transfer is said to be in it, and
/// t_d more where it is not. Garbage collection moves no page over the bus: its copies are shorter
/// by the transfer where that is in t_r.
#[test]
fn the_thesis_charges_the_transfer_once() {
    let profile = Device::profile("dgist-2021").expect("a profile");
    let of = |read: Option<bool>| {
        let spec = DeviceSpec { page_read_includes_transfer: read, ..profile.spec() };
        let device = Device::new(spec).expect("50 us are longer than 40 us");
        [Thesis.page_costs(&device).read, device.page_read(), device.gc_pass()].map(Span::as_ns)
    };
    assert_eq!(of(None), [50_000, 50_000, 128 * 550_000 + 5_000_000]);
    assert_eq!(of(Some(false)), [90_000, 50_000, 128 * 550_000 + 5_000_000]);
    assert_eq!(of(Some(true)), [50_000, 10_000, 128 * 510_000 + 5_000_000]);
}
