//! Any allocation runs with any options: nothing panics, and a set that a sound analysis accepts
//! keeps every check.
#![no_main]

use libfuzzer_sys::arbitrary::{Result, Unstructured};
use libfuzzer_sys::fuzz_target;
use rtflash::alloc::allocator::Outcome;
use rtflash::exec::Times;
use rtflash::model::Reliance;
use rtflash::run::execute;

fuzz_target!(|bytes: &[u8]| {
    let _ = executed(&mut Unstructured::new(bytes));
});

fn executed(bytes: &mut Unstructured) -> Result<()> {
    let Some(set) = rtflash_fuzz::task_set(bytes)? else { return Ok(()) };
    let (allocator, analysis) = (rtflash_fuzz::allocator(bytes)?, rtflash_fuzz::analysis(bytes)?);
    let Some(options) = rtflash_fuzz::options(&set, bytes)? else { return Ok(()) };
    let outcome = allocator.allocate(&set, analysis);
    let Some(allocation) = outcome.allocation() else { return Ok(()) };
    if let Ok(executed) = execute(&set, allocation, analysis, &options, None) {
        // A queue that never changes is no promise where operations may be faster than stated.
        let may_rely = options.times == Times::Worst || analysis.relies_on() != Reliance::Queue;
        let promised = matches!(outcome, Outcome::Schedulable(_)) && !analysis.placements().is_empty() && may_rely;
        assert!(!promised || executed.passes(), "{:?}", executed.findings);
    }
    Ok(())
}
