//! Requests that are not as declared: without police a neighbour is late, with it none is.

use std::sync::Arc;

use rtflash_alloc::{
    allocator::{Allocator, Global},
    analysis::{Analysis, Sound, Thesis},
};
use rtflash_model::{Instant, TaskId, TaskSet, read_task_set};
use rtflash_plan::{Dispatch, Options, ReleasePattern};
use rtflash_run::{Executed, execute};
use rtflash_trace::Kind;

const SET: &str = r#"{"device":{"chips":2,"chips_per_channel":2,"blocks_per_chip":64,"pages_per_block":16,
    "page_size":4096,"logical_ratio":0.5,"page_read":"50us","page_program":"200us","block_erase":"1ms",
    "page_transfer":"20us"},"tasks":[
    {"name":"steady","read":{"pages":40,"period":"20ms"}},
    {"name":"wild","read":{"pages":20,"period":"20ms"},"write":{"pages":4,"period":"80ms"}}]}"#;

/// `wild` reads every millisecond, three times what it declares.
fn wild() -> ReleasePattern {
    let mut pattern = ReleasePattern::default();
    let wild = pattern.request_mut(TaskId(1), Kind::Read);
    wild.releases = (0..200).filter_map(|number| Instant::from_ns(number * 1_000_000)).collect();
    wild.pages = vec![60; 200];
    pattern
}

fn run(set: &TaskSet, analysis: &dyn Analysis, dispatch: Dispatch, police: bool) -> Executed {
    let outcome = Global.allocate(set, analysis);
    assert_eq!(outcome.is_schedulable(), Some(true), "{}", analysis.name());
    let allocation = outcome.allocation().expect("it is schedulable");
    let duration = Instant::from_ns(4_000_000_000).expect("four seconds");
    let options = Options { duration, dispatch, police, releases: Some(Arc::new(wild())), ..Options::default() };
    execute(set, allocation, analysis, &options, None).expect("it can be run")
}

/// How many requests of `steady` were late.
fn late(executed: &Executed) -> u64 {
    let sources = executed.plan.sources().iter().zip(&executed.report.sources);
    sources.filter(|(source, _)| source.name == "steady.read").map(|(_, of)| of.misses + of.overdue).sum()
}

fn broken(executed: &Executed) -> Vec<&'static str> {
    let broken = executed.findings.iter().filter(|finding| !finding.gauge.holds());
    broken.map(|finding| finding.assumption.name()).collect()
}

#[test]
fn a_neighbour_is_late_without_police_and_in_time_with_it() {
    let set = read_task_set(SET).expect("a set").set;
    let sound = Sound::default();
    for (analysis, dispatch) in
        [(&Thesis as &dyn Analysis, Dispatch::Serial), (&Thesis, Dispatch::Parallel), (&sound, Dispatch::Serial)]
    {
        let name = analysis.name();
        let free = run(&set, analysis, dispatch, false);
        assert!(late(&free) > 0 && broken(&free).contains(&"releases"), "{name} {dispatch:?}: {:?}", broken(&free));
        let policed = run(&set, analysis, dispatch, true);
        let wrong: Vec<&str> = broken(&policed);
        // Under Theorem 1 a page may wait longer for a shared bus than the theorem has it.
        let theirs = wrong.iter().all(|name| ["service", "bus-wait"].contains(name));
        assert!(
            late(&policed) == 0 && theirs && (wrong.is_empty() || name == "thesis"),
            "{name} {dispatch:?}: {wrong:?}"
        );
    }
}
