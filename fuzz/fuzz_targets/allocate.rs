//! For any task set that is read, every algorithm answers under every analysis, and the independent
//! verifier agrees with the answer.
#![no_main]

use libfuzzer_sys::arbitrary::Unstructured;
use libfuzzer_sys::fuzz_target;
use rtflash::alloc::allocator::{ALLOCATORS, Outcome};
use rtflash::alloc::analysis::{ANALYSES, Analysis};
use rtflash::check::{Equations, verify, verify_certified};
use rtflash::model::{Allocation, TaskSet, read_task_set_bytes};

fuzz_target!(|bytes: &[u8]| {
    // A task set as it is written, or a small world.
    let set = if bytes.first() == Some(&b'{') {
        let Ok(file) = read_task_set_bytes(bytes) else { return };
        file.set
    } else {
        let Ok(Some(set)) = rtflash_fuzz::task_set(&mut Unstructured::new(bytes)) else { return };
        set
    };
    // Time is what a fuzzer has least of.
    if set.device().chips() > 64 || set.tasks().len() > 8 {
        return;
    }
    for analysis in ANALYSES {
        for allocator in ALLOCATORS {
            let outcome = allocator.allocate(&set, analysis);
            let accepted = matches!(outcome, Outcome::Schedulable(_));
            if let Some(allocation) = outcome.allocation() {
                let judged = judged(&set, allocation, analysis);
                // A test that the verifier gave up decides nothing.
                assert!(judged.is_none_or(|holds| holds == accepted), "{} {}", allocator.name(), analysis.name());
            }
        }
    }
});

/// The verifier's verdict on the allocation; `None` where it cannot tell.
fn judged(set: &TaskSet, allocation: &Allocation, analysis: &dyn Analysis) -> Option<bool> {
    match Equations::from_name(analysis.name()) {
        Some(equations) => Some(verify(set, allocation, equations).schedulable()),
        None => {
            let verification = verify_certified(set, allocation, analysis.placements(), analysis.relies_on());
            let holds = verification.holds()?;
            Some(holds && verification.accepts())
        }
    }
}
