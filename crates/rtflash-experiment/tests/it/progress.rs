//! Experiments as a library runs them: interrupted anywhere, on any threads, in any parts; and
//! files that another program has written.

use std::io;
use std::time::Duration;

use proptest::prelude::*;
use rtflash_alloc::allocator::{Allocator, Outcome, allocator, tested, unplaceable};
use rtflash_analysis::{Analysis, Thesis, ThesisEvaluated, Work};
use rtflash_experiment::output::{summary, tables};
use rtflash_experiment::plan::{Axis, Bandwidth, Contender, Measure, Spec, Sweep, Value};
use rtflash_experiment::{
    ExperimentError, KeptError, MergeError, Plan, Progress, Shard, Watcher, merge, run, run_whole,
};
use rtflash_model::generate::{Accesses, Generator, PeriodRange, SetSpec, Writes};
use rtflash_model::{ChipId, Cluster, Device, TaskId, TaskSet};
use rtflash_plan::Service;

/// Keeps what it is given, and fails after a number of times.
struct Keeper {
    kept: Option<Vec<u8>>,
    left: u32,
}

impl Watcher for Keeper {
    fn advance(&mut self, _: u64) {}

    fn keep_every(&self) -> Duration {
        Duration::ZERO
    }

    fn keep(&mut self, progress: &Progress) -> io::Result<()> {
        self.kept = Some(progress.to_kept()?);
        self.left = self.left.checked_sub(1).ok_or_else(|| io::Error::other("the disk is full"))?;
        Ok(())
    }
}

fn spec(sets: u64, sweep: Option<&str>) -> Spec {
    let device = Device::profile("dgist-2021").expect("the profile");
    let analysis: &'static dyn Analysis = &ThesisEvaluated;
    let contender =
        |name: &str| Contender { allocator: allocator(name).expect("an algorithm"), analysis, service: Service::Tbs };
    Spec {
        measure: Measure::Schedulability,
        sets: SetSpec {
            device,
            tasks: 4,
            generator: Generator::UUniFast,
            page_costs: analysis.page_costs(&device),
            writes: Writes::Drawn,
            accesses: Accesses::Random,
            deadlines: None,
            periods: PeriodRange::default(),
            pages: None,
            seed: 3,
        },
        sets_per_point: sets,
        analysis: Some(analysis),
        utilizations: ["0.8", "1.4", "2.0"].map(|text| text.parse().expect("a utilization")).to_vec(),
        sweep: sweep.map(|sweep| sweep.parse().expect("a sweep")),
        contenders: ["clustering-bfd", "global", "part-ftl"].map(contender).to_vec(),
    }
}

fn plan(sets: u64, sweep: Option<&str>) -> Plan {
    Plan::new(spec(sets, sweep)).expect("a plan")
}

fn done(plan: &Plan, shard: Shard) -> Progress {
    let blank = Progress::new(plan, "this one", shard);
    run(plan, blank, &mut Keeper { kept: None, left: u32::MAX }).expect("kept")
}

#[test]
fn what_was_kept_is_gone_on_from() {
    let plan = plan(400, Some("chips=3,4,16"));
    let straight = done(&plan, Shard::WHOLE);
    // The disk fills up again and again; what was kept before is all that is left.
    let (mut progress, mut stops) = (Progress::new(&plan, "this one", Shard::WHOLE), 0);
    let finished = loop {
        let mut keeper = Keeper { kept: None, left: stops % 3 };
        match run(&plan, progress, &mut keeper) {
            Ok(finished) => break finished,
            Err(error) => assert_eq!(error.to_string(), "the disk is full"),
        }
        progress = Progress::from_kept(&keeper.kept.expect("kept")).expect("progress");
        assert!(progress.suits(&plan));
        stops += 1;
    };
    assert!(stops > 3 && finished.is_finished(&plan));
    assert_eq!(finished, straight);
}

/// Two clusters, the first of all chips and tasks but those left out.
struct NoDivision {
    first: &'static [u32],
    second: &'static [u32],
    left: Option<TaskId>,
}

impl Allocator for NoDivision {
    fn name(&self) -> &'static str {
        "no-division"
    }

    fn summary(&self) -> &'static str {
        "clusters that are no division of the chips"
    }

    fn divide(&self, set: &TaskSet, analysis: &dyn Analysis, work: &Work) -> Outcome {
        let chips = |chips: &[u32]| chips.iter().copied().map(ChipId).collect();
        let tasks = set.tasks().ids().filter(|&task| self.left != Some(task)).collect();
        let clusters =
            [Cluster { chips: chips(self.first), tasks }, Cluster { chips: chips(self.second), tasks: vec![] }];
        match self.left {
            Some(task) => unplaceable(set, analysis, &clusters, task, work),
            None => tested(set, analysis, &clusters, work),
        }
    }
}

/// An algorithm whose clusters are no division ends the experiment, which says what is wrong.
#[test]
fn clusters_that_are_no_division_are_refused() {
    static OVERLAP: NoDivision = NoDivision { first: &[0, 1], second: &[2, 1], left: None };
    static BESIDE: NoDivision = NoDivision { first: &[0, 1], second: &[2, 1], left: Some(TaskId(2)) };
    static NO_CHIPS: NoDivision = NoDivision { first: &[], second: &[0], left: None };
    for (own, problem) in
        [(&OVERLAP, "chip 1 is used twice"), (&BESIDE, "chip 1 is used twice"), (&NO_CHIPS, "cluster 0 has no chips")]
    {
        let of = |measure| {
            let contenders = vec![Contender::new(own, &ThesisEvaluated)];
            run_whole(&Plan::new(Spec { measure, contenders, ..spec(5, None) }).expect("a plan"))
        };
        for measure in [Measure::Schedulability, Measure::Bandwidth(Bandwidth::default())] {
            let error = of(measure).expect_err("no division").to_string();
            let expected = format!("the algorithm no-division did not divide the chips among the tasks: {problem}");
            assert_eq!(error, expected);
        }
    }
}

/// Sets that were drawn, given as own ones: counted at their points, in any number at each, and in
/// parts.
#[test]
fn own_sets_are_counted_at_their_utilizations() {
    let drawn = plan(40, None);
    let counts = [40, 7, 23];
    let at = |point: usize| (0..counts[point]).map(move |index| (point, index));
    let numbers: Vec<(usize, u64)> = (0..3).flat_map(at).collect();
    // From the last to the first: their order does not matter.
    let sets = numbers.iter().rev().map(|&(point, index)| drawn.draw(point, index, 0).expect("a set")).collect();
    let spec = Spec { utilizations: vec![], sets_per_point: 0, ..spec(1, None) };
    let own = Plan::of_sets(spec.clone(), sets, "0.2".parse().expect("a step")).expect("a plan");
    let points: Vec<String> = (0..own.points()).map(|point| own.point(point).utilization.to_string()).collect();
    assert_eq!((points, own.sets()), (vec!["0.8".to_owned(), "1.4".into(), "2".into()], 70));
    let whole = done(&own, Shard::WHOLE);
    for (point, tally) in whole.tallies().iter().enumerate() {
        let verdict = |contender: &Contender, set: &TaskSet| contender.allocator.allocate(set, contender.analysis);
        let yes = drawn.contenders().iter().map(|contender| {
            at(point)
                .filter(|&(point, index)| {
                    verdict(contender, &drawn.draw(point, index, 0).expect("a set")).is_schedulable() == Some(true)
                })
                .count() as u64
        });
        assert_eq!((tally.sets, tally.exhausted), (counts[point], 0));
        assert_eq!(tally.yes, yes.collect::<Vec<_>>());
    }
    assert!(whole.tallies().iter().any(|tally| tally.yes[0] > 0 && tally.yes[0] < tally.sets));
    for count in [2, 7, 100] {
        let parts: Vec<Progress> =
            (0..count).map(|index| done(&own, Shard::new(index, count).expect("a part"))).collect();
        assert_eq!(merge(&own, &parts), Ok(whole.clone()), "{count}");
    }
    assert_eq!(tables(&own, whole.tallies())[0].text.lines().count(), 1 + 3 * 3);
    let refused = |spec: Spec, sets| Plan::of_sets(spec, sets, "0.1".parse().expect("a step")).err().expect("no plan");
    assert_eq!(refused(spec.clone(), vec![]).to_string(), "no task set: at least one");
    let sweep = Some("chips=3,4".parse().expect("a sweep"));
    let set = drawn.draw(0, 0, 0).expect("a set");
    let error = refused(Spec { sweep, ..spec }, vec![set]).to_string();
    assert_eq!(error, "own task sets are what they are: no sweep changes them");
}

#[test]
fn parts_make_the_whole() {
    let plan = plan(50, None);
    let whole = done(&plan, Shard::WHOLE);
    for count in [1, 2, 7, 200] {
        let parts: Vec<Progress> =
            (0..count).map(|index| done(&plan, Shard::new(index, count).expect("a part"))).collect();
        assert_eq!(merge(&plan, &parts), Ok(whole.clone()), "{count}");
    }
}

#[test]
fn a_changed_digit_or_bit_is_refused() {
    let plan = plan(20, Some("chips=3,16"));
    let progress = done(&plan, Shard::new(1, 3).expect("a part"));
    let kept = progress.to_kept().expect("bytes");
    assert_eq!(Progress::from_kept(&kept), Ok(progress));
    // Every bit.
    for at in 0..kept.len() * 8 {
        let mut changed = kept.clone();
        changed[at / 8] ^= 1 << (at % 8);
        assert!(Progress::from_kept(&changed).is_err(), "bit {at}");
    }
    // Every digit, in the place of every digit; and every byte that is missing, or there twice.
    for at in 0..kept.len() {
        for digit in (b'0'..=b'9').filter(|&digit| kept[at].is_ascii_hexdigit() && digit != kept[at]) {
            let mut changed = kept.clone();
            changed[at] = digit;
            assert!(Progress::from_kept(&changed).is_err(), "digit {at}");
        }
        let (before, after) = kept.split_at(at);
        assert!(Progress::from_kept(&[before, &after[1..]].concat()).is_err(), "byte {at}");
        assert!(Progress::from_kept(before).is_err(), "{at} bytes");
        assert!(Progress::from_kept(&[before, &after[..1], after].concat()).is_err(), "byte {at}");
    }
    for other in [&b""[..], b"{}", b"{\"manifest\":\"this one\"}\n"] {
        assert_eq!(Progress::from_kept(other), Err(KeptError::Form));
    }
}

/// A change of one number, with a checksum that is right again. The numbers that are stated twice
/// still have to agree.
fn is_refused(plan: &Plan, progress: &Progress, change: impl FnOnce(&mut serde_json::Value)) -> bool {
    let mut value = serde_json::to_value(progress).expect("JSON");
    let before = value.clone();
    change(&mut value);
    assert_ne!(before, value, "a change");
    match serde_json::from_value::<Progress>(value) {
        Err(_) => true,
        Ok(changed) => {
            let merged = merge(plan, std::slice::from_ref(&changed));
            assert_eq!(!changed.suits(plan), merged == Err(MergeError::Impossible(0)));
            !changed.suits(plan)
        }
    }
}

#[test]
fn counts_that_do_not_fit_together_are_refused() {
    let plan = plan(20, None);
    let whole = done(&plan, Shard::WHOLE);
    assert!(whole.suits(&plan));
    let part = done(&plan, Shard::new(2, 7).expect("a part"));
    assert!(part.suits(&plan));
    let add = |value: &mut serde_json::Value, by: u64| *value = (value.as_u64().expect("a number") + by).into();
    for progress in [&whole, &part] {
        for point in 0..plan.points() {
            for name in ["sets", "exhausted"] {
                assert!(is_refused(&plan, progress, |value| add(&mut value["tallies"][point][name], 1)), "{name}");
            }
            for contender in 0..3 {
                for name in ["told", "yes"] {
                    let change = |value: &mut serde_json::Value| add(&mut value["tallies"][point][name][contender], 1);
                    assert!(is_refused(&plan, progress, change), "{point} {name} {contender}");
                }
                for count in 0..4 {
                    let change =
                        |value: &mut serde_json::Value| add(&mut value["tallies"][point]["pairs"][contender][count], 1);
                    assert!(is_refused(&plan, progress, change), "{point} {contender} {count}");
                }
            }
        }
        assert!(is_refused(&plan, progress, |value| add(&mut value["done"][0][0], 1)));
        assert!(is_refused(&plan, progress, |value| add(&mut value["done"][0][1], 1)));
        // A set moved from one point to the next: the sum is right.
        assert!(is_refused(&plan, progress, |value| {
            let last = value["tallies"][0]["sets"].as_u64().expect("a number");
            value["tallies"][0]["sets"] = (last - 1).into();
            add(&mut value["tallies"][1]["sets"], 1);
        }));
        assert!(is_refused(&plan, progress, |value| value["tallies"][0]["more"] = 1.into()));
    }
    let moved = is_refused(&plan, &part, |value| value["shard"] = "0/2".into());
    assert!(moved, "as many sets are not done of another part");
}

#[test]
fn pages_that_no_sets_have_are_refused() {
    let mut spec = spec(4, None);
    let gap = ["100us", "1ms"].map(|text| rtflash_model::parse_ns(text).ok().and_then(rtflash_model::Span::from_ns));
    spec.measure = Measure::Bandwidth(Bandwidth {
        warmup: Some(rtflash_model::Span::ZERO),
        duration: rtflash_model::Instant::from_ns(20_000_000).expect("an instant"),
        read_pages: 20,
        write_pages: 5,
        gap: (gap[0].expect("a gap"), gap[1].expect("a gap")),
        dispatch: rtflash_plan::Dispatch::Serial,
        victims: rtflash_plan::Victims::Actual,
        aging: rtflash_plan::Aging::Fresh,
        pattern: rtflash_plan::Pattern::Uniform,
    });
    spec.utilizations.truncate(1);
    spec.contenders.truncate(2);
    let plan = Plan::new(spec).expect("a plan");
    let progress = done(&plan, Shard::WHOLE);
    assert!(progress.suits(&plan) && progress.tallies()[0].runs[0].sets > 1);
    let add = |value: &mut serde_json::Value| *value = (value.as_u64().expect("a number") + 1).into();
    for kind in 0..2 {
        for (name, at) in [("sets", None), ("pages", Some(0)), ("pages", Some(1))] {
            assert!(is_refused(&plan, &progress, |value| {
                let place = &mut value["tallies"][0]["runs"][kind][name];
                add(if let Some(at) = at { &mut place[at] } else { place });
            }));
        }
        for (at, changed) in [(0, "1"), (1, "340282366920938463463374607431768211455"), (2, "0")] {
            let change =
                |value: &mut serde_json::Value| value["tallies"][0]["runs"][kind]["products"][at] = changed.into();
            assert!(is_refused(&plan, &progress, change), "{at}");
        }
    }
    assert!(is_refused(&plan, &progress, |value| value["tallies"][0]["not_run"] = 1.into()));
}

#[test]
fn experiments_that_cannot_be_are_refused() {
    let refused = |spec: Spec| Plan::new(spec).err().expect("refused").to_string();
    let good = spec(1, None);
    assert_eq!(refused(Spec { utilizations: vec![], ..good.clone() }), "no utilization: at least one");
    assert_eq!(refused(Spec { contenders: vec![], ..good.clone() }), "no algorithm: at least one");
    assert_eq!(refused(Spec { sets_per_point: 0, ..good.clone() }), "no set at each point: at least one");
    assert_eq!(refused(Spec { sets_per_point: u64::MAX, ..good.clone() }), ExperimentError::TooManySets.to_string());
    let twice = vec![good.contenders[0], good.contenders[0]];
    assert_eq!(
        refused(Spec { contenders: twice, ..good.clone() }),
        "clustering-bfd under thesis-evaluated with tbs is there twice"
    );
    let sweep = Sweep::new(Axis::Tasks, vec![Value::Count(0)]).expect("a sweep");
    assert_eq!(refused(Spec { sweep: Some(sweep), ..good.clone() }), "tasks=0: a set of no tasks: at least one");
    let none = Sweep::new(Axis::Tasks, vec![]).expect("a sweep");
    assert_eq!(refused(Spec { sweep: Some(none), ..good.clone() }), "no value to try: at least one");
    let many = Contender { analysis: &Thesis, ..good.contenders[0] };
    assert_eq!(
        refused(Spec { contenders: vec![many; 65], ..good }),
        "65 algorithms and analyses are too many: at most 64"
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    /// Any file of progress is refused, or its results are written.
    #[test]
    fn any_progress_is_refused_or_written(at in any::<prop::sample::Index>(), digits in "[0-9]{1,20}|\\[\\]|-1|null|1e9|\"0/9\"") {
        let plan = plan(3, Some("chips=4,8"));
        let text = serde_json::to_string(&done(&plan, Shard::WHOLE)).expect("JSON");
        // Another number, or something else, in place of one number.
        let bytes = text.as_bytes();
        let starts: Vec<usize> = (1..bytes.len()).filter(|&i| bytes[i].is_ascii_digit() && !bytes[i - 1].is_ascii_digit()).collect();
        let start = starts[at.index(starts.len())];
        let end = start + bytes[start..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let changed = format!("{}{digits}{}", &text[..start], &text[end..]);
        if let Ok(progress) = serde_json::from_str::<Progress>(&changed)
            && progress.suits(&plan)
        {
            let _ = merge(&plan, &[progress.clone(), progress.clone()]);
            let _ = merge(&plan, std::slice::from_ref(&progress));
            let written = tables(&plan, progress.tallies());
            prop_assert!(written.iter().all(|table| table.text.lines().count() > 1));
            let _ = serde_json::to_string(&summary(&plan, "any", progress.tallies())).expect("JSON");
            let gone_on = run(&plan, progress, &mut Keeper { kept: None, left: 10 });
            prop_assert!(gone_on.is_ok());
        }
    }
}
