//! Whatever task set is read, every algorithm answers, and the judge agrees with the answer.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rtflash::alloc::allocator::{ALLOCATORS, Outcome};
use rtflash::alloc::analysis::ANALYSES;
use rtflash::check::{Equations, judge};
use rtflash::model::read_task_set_bytes;

fuzz_target!(|bytes: &[u8]| {
    let Ok(file) = read_task_set_bytes(bytes) else { return };
    // Time is what a fuzzer has least of.
    if file.set.device().chips() > 64 || file.set.tasks().len() > 8 {
        return;
    }
    for analysis in ANALYSES {
        let equations = Equations::from_name(analysis.name()).expect("the judge knows it");
        for allocator in ALLOCATORS {
            let outcome = allocator.allocate(&file.set, analysis);
            if let Some(allocation) = outcome.allocation() {
                let judgement = judge(&file.set, allocation, equations);
                assert_eq!(judgement.schedulable(), matches!(outcome, Outcome::Schedulable(_)), "{}", allocator.name());
            }
        }
    }
});
