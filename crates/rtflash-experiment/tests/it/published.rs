//! The counts of the thesis's authors (Techyee/sched_test), beside the counts here.

use rtflash_alloc::allocator::allocator;
use rtflash_analysis::{Analysis, ThesisEvaluated};
use rtflash_experiment::plan::{Axis, Bandwidth, Contender, Measure, Spec, Sweep, Value};
use rtflash_experiment::tally::Tally;
use rtflash_experiment::{Plan, run_whole};
use rtflash_model::generate::{Generator, SetSpec, Utilization, UtilizationRange};
use rtflash_model::{Device, DeviceSpec, Instant, Span};

const ANALYSIS: &dyn Analysis = &ThesisEvaluated;

fn contenders(names: &[&str]) -> Vec<Contender> {
    names.iter().map(|name| Contender::new(allocator(name).expect("an algorithm"), ANALYSIS)).collect()
}

/// Sets of the generator, tested by the analysis of the published figures.
fn spec(generator: Generator, names: &[&str]) -> Spec {
    let sets = SetSpec { generator, ..SetSpec::default() };
    Spec { sets, analysis: Some(ANALYSIS), contenders: contenders(names), ..Spec::default() }
}

/// Schedulable sets of 100 with 0 to 7 write-heavy tasks of 8: `20201113_heavyset`.
const HEAVY: [(&str, [f64; 8]); 4] = [
    ("clustering-bfd", [99.0, 100.0, 95.0, 62.0, 21.0, 2.0, 0.0, 0.0]),
    ("equal-split", [86.0, 10.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0]),
    ("part-ftl", [1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]),
    ("global", [0.0; 8]),
];

/// The points at which 100 of theirs differ from these by more than chance explains, at 99.9 %.
fn differing(tallies: &[Tally]) -> Vec<String> {
    let mut found = Vec::new();
    for (contender, (name, published)) in HEAVY.iter().enumerate() {
        for (heavy, (tally, theirs)) in tallies.iter().zip(published).enumerate() {
            let (yes, all) = (tally.yes[contender] as f64, tally.decided[contender] as f64);
            let pooled = (yes + theirs) / (all + 100.0);
            let deviation = (pooled * (1.0 - pooled) * (1.0 / all + 1.0 / 100.0)).sqrt();
            if (yes / all - theirs / 100.0).abs() > 3.3 * deviation {
                found.push(format!("{name}, {heavy} heavy: {yes} of {all}, published {theirs} of 100"));
            }
        }
    }
    found
}

#[test]
fn write_heavy_sets_as_the_authors_drew_them() {
    let counted = |generator, utilizations| {
        let sweep = Sweep::new(Axis::WriteHeavy, (0..8).map(Value::Count).collect()).expect("a sweep");
        let spec =
            Spec { sweep: Some(sweep), utilizations, sets_per_point: 1_000, ..spec(generator, &HEAVY.map(|of| of.0)) };
        let plan = Plan::new(spec).expect("a plan");
        let means: Vec<String> = (0..plan.points()).map(|point| plan.point(point).utilization.to_string()).collect();
        (means, run_whole(&plan).expect("a run"))
    };
    let (means, tallies) = counted(Generator::HeavyWriters, vec![]);
    assert_eq!(means, ["2", "2.35", "2.7", "3.05", "3.4", "3.75", "4.1", "4.45"]);
    assert_eq!(differing(&tallies), Vec::<String>::new());
    // The definition by parts of a total does not give their curves at any total.
    for total in ["2", "3"] {
        let utilization: Utilization = total.parse().expect("a utilization");
        assert!(differing(&counted(Generator::IntegerShares, vec![utilization]).1).len() > 5, "{total}");
    }
}

/// `20201110_sched/16task_uni`: of 6,000 sets 4,371, 3,269, 1,029 and 893 are schedulable.
#[test]
fn sixteen_tasks_come_out_within_one_per_cent() {
    let mut spec = spec(Generator::IntegerShares, &["clustering-bfd", "equal-split", "part-ftl", "global"]);
    (spec.sets.tasks, spec.sets.seed) = (16, 7);
    let range: UtilizationRange = "0.1..6.0".parse().expect("a range");
    spec.utilizations = range.points(Utilization::TENTH).expect("points");
    let tallies = run_whole(&Plan::new(spec).expect("a plan")).expect("a run");
    let counted = [0, 1, 2, 3].map(|contender| tallies.iter().map(|tally| tally.yes[contender]).sum::<u64>());
    assert_eq!(counted, [4_371, 3_263, 1_028, 891]);
    let published = [4_371.0, 3_269.0, 1_029.0, 893.0];
    let within = |(ours, theirs): (u64, f64)| (ours as f64 / theirs - 1.0).abs() < 0.01;
    assert!(counted.into_iter().zip(published).all(within), "{counted:?}");
}

/// Figure V.2 at U = 1.5: what clustering gains in writes while blocks are as aging left them is
/// gone once free pages have been filled.
#[test]
fn a_gain_in_writes_is_gone_behind_the_warm_up() {
    let served = |warmup: Option<Span>| {
        let mut spec = spec(Generator::IntegerShares, &["clustering-bfd", "equal-split"]);
        spec.contenders[1].service = rtflash_plan::Service::Background;
        let device = Device::profile("dgist-2021").expect("the profile").spec();
        spec.sets.device = Device::new(DeviceSpec { blocks_per_chip: 64, ..device }).expect("a device");
        (spec.utilizations, spec.sets_per_point) = (vec!["1.5".parse().expect("a utilization")], 2);
        let second = Instant::from_ns(1_000_000_000).expect("a second");
        spec.measure = Measure::Bandwidth(Bandwidth { warmup, duration: second, ..Bandwidth::default() });
        let tallies = run_whole(&Plan::new(spec).expect("a plan")).expect("a run");
        assert_eq!((tallies[0].runs[1].sets, &tallies[0].runs[1].misses[..]), (2, &[0, 0][..]));
        let pages = &tallies[0].runs[1].pages;
        pages[1] as f64 / pages[0] as f64
    };
    let (at_first, behind) = (served(Some(Span::ZERO)), served(None));
    assert!(at_first < 0.95 && behind > 0.98, "{at_first} {behind}");
}
