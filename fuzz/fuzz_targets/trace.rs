//! Any bytes as a trace, of each organisation of the device: they are refused, or judged.
#![no_main]

use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;
use rtflash::alloc::allocator::{Allocator, ClusteringBfd};
use rtflash::alloc::analysis::{Analysis, Stripe, Superblock, Thesis};
use rtflash::exec::check::Checks;
use rtflash::exec::report::Statistics;
use rtflash::exec::trace::{Observer, TraceReader};
use rtflash::exec::{Dispatch, Plan};
use rtflash::model::{ClusterId, Instant, read_task_set_bytes};

/// The plans of one small set: by the thesis, as stripes, as superblocks.
fn plans() -> &'static [Plan] {
    static PLANS: OnceLock<Vec<Plan>> = OnceLock::new();
    PLANS.get_or_init(|| {
        let set = read_task_set_bytes(include_bytes!("../trace-set.json")).expect("the set is read").set;
        let plan = |analysis: &dyn Analysis| {
            let outcome = ClusteringBfd.allocate(&set, analysis);
            let allocation = outcome.allocation().expect("the set is schedulable");
            rtflash::run::plan(&set, allocation, analysis).expect("it can be run")
        };
        vec![plan(&Thesis), plan(&Stripe::default()), plan(&Superblock::default())]
    })
}

fuzz_target!(|bytes: &[u8]| {
    let Some((&choice, text)) = bytes.split_first() else { return };
    let dispatch = if choice & 4 == 0 { Dispatch::Serial } else { Dispatch::Parallel };
    let plan = &plans()[usize::from(choice & 3) % 3];
    let clusters: Vec<ClusterId> = plan.clusters().ids().collect();
    let mut checks = Checks::of_trace(plan, dispatch, &clusters);
    let mut end = Instant::START;
    let mut records = Vec::new();
    for record in TraceReader::new(plan, text) {
        let Ok(record) = record else { return };
        end = end.max(record.order().0);
        checks.record(&record);
        records.push(record);
    }
    let mut statistics = Statistics::new(plan, end);
    records.iter().for_each(|record| statistics.record(record));
    let _ = (checks.finish(end), statistics.finish(plan));
});
