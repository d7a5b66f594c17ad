//! Traces of random runs, written and read back: what the checkers say of them is what they said of
//! the runs.

use rtflash_judge::{Checks, Finding};
use rtflash_model::ClusterId;
use rtflash_plan::{Plan, Waits};
use rtflash_run::soak::{Search, World, draw};
use rtflash_run::{TbsServers, execute, plan};
use rtflash_trace::{JsonLines, Observer, Record, Setup, TraceReader};

fn broken(findings: &[Finding]) -> Vec<(&'static str, u64)> {
    let broken = findings.iter().filter(|finding| !finding.gauge.holds());
    broken.map(|finding| (finding.assumption.name(), finding.gauge.violations())).collect()
}

/// Draws cases until `runs` of them have been run; returns how many traces had nothing broken.
fn compare(seed: u64, world: World, runs: u32) -> u32 {
    let (mut judged, mut passed) = (0, 0);
    for number in 0..u64::from(runs) * 20 {
        if judged == runs {
            break;
        }
        let Some(mut case) = draw(Search { seed, world }, number) else { continue };
        let outcome = case.allocator.allocate(&case.set, case.analysis);
        let Some(allocation) = outcome.allocation() else { continue };
        // Not every cluster holds whatever its neighbours do.
        case.options.placed.waits = if number % 2 == 0 { Waits::Actual } else { case.options.placed.waits };
        let mut lines: Option<JsonLines<Vec<u8>>> = None;
        let mut sink =
            |plan: &Plan, record: &Record| lines.get_or_insert_with(|| JsonLines::new(plan, Vec::new())).write(record);
        let Ok(run) = execute(&case.set, allocation, case.analysis, &case.options, Some(&mut sink)) else { continue };
        let text = lines.expect("the first line at least").finish().expect("memory takes all");
        let plan = plan(&case.set, allocation, case.analysis).expect("it was run");
        let all: Vec<ClusterId> = plan.clusters().ids().collect();
        let servers = TbsServers::new(&case.set, allocation, case.analysis);
        let mut checks = Checks::of_trace(&plan, case.options.dispatch, &all).with_admission(Box::new(servers));
        for record in TraceReader::new(&plan, &text[..]) {
            checks.record(&record.expect("a record"));
        }
        assert_eq!(checks.setup_stated(), Setup::from(&case.options), "run {number} of seed {seed}, {world:?}");
        let findings = checks.finish(case.options.duration);
        assert_eq!(broken(&findings), broken(&run.findings), "run {number} of seed {seed}, {world:?}");
        passed += u32::from(broken(&findings).is_empty());
        judged += 1;
    }
    assert_eq!(judged, runs);
    passed
}

#[test]
fn traces_of_random_runs_are_judged_as_the_runs_were() {
    assert!(compare(1, World::Supposed, 20) > 5);
    assert!(compare(2, World::Any, 20) > 1);
    assert!(compare(3, World::Sound, 20) > 15);
}

/// Compares a thousand traces with their runs: `cargo test -p rtflash-run --test honest --
/// --ignored`.
#[test]
#[ignore = "takes minutes"]
fn traces_of_a_thousand_random_runs_are_judged_as_the_runs_were() {
    let passed = [compare(11, World::Supposed, 300), compare(12, World::Any, 300), compare(13, World::Sound, 400)];
    println!("of 300, 300 and 400 traces {passed:?} have nothing broken");
}
