//! Any bytes as the progress of an experiment: refused, or counts that its tables and summary can
//! be made from.
#![no_main]

use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;
use rtflash::alloc::allocator::{ClusteringBfd, Global};
use rtflash::alloc::analysis::Thesis;
use rtflash::experiment::output::tables;
use rtflash::experiment::plan::{Contender, Spec};
use rtflash::experiment::{Plan, Progress, merge};

fn plan() -> &'static Plan {
    static PLAN: OnceLock<Plan> = OnceLock::new();
    PLAN.get_or_init(|| {
        let contenders = vec![Contender::new(&ClusteringBfd, &Thesis), Contender::new(&Global, &Thesis)];
        Plan::new(Spec { contenders, sets_per_point: 2, ..Spec::default() }).expect("a small plan")
    })
}

fuzz_target!(|bytes: &[u8]| {
    let kept = Progress::from_kept(bytes);
    if let Ok(progress) = &kept {
        assert_eq!(progress.to_kept().expect("it is written"), bytes, "there is one way to write it");
    }
    // The tallies with a right checksum.
    let Some(progress) = kept.ok().or_else(|| serde_json::from_slice::<Progress>(bytes).ok()) else { return };
    if progress.suits(plan())
        && let Ok(whole) = merge(plan(), &[progress])
    {
        let _ = tables(plan(), whole.tallies());
    }
});
