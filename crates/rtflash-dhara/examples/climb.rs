//! Attacks the bounds: climbs over histories towards the dearest calls, and prints each beside its
//! bound.
//!
//! `cargo run --release -p rtflash-dhara --example climb -- [STEPS [SEED]]`

#[path = "../tests/common/dear.rs"]
mod dear;
#[path = "../tests/common/histories.rs"]
mod histories;

use std::env;
use std::error::Error;

use dear::{Climb, KINDS};
use histories::seeded;
use rtflash_dhara::costs::DharaShape;

fn print(climb: &Climb) {
    let DharaShape { geometry, gc_ratio, failures, .. } = climb.shape;
    for ((name, bound), worst) in KINDS.iter().zip(climb.bounds).zip(climb.worst).filter(|(_, worst)| worst.time > 0) {
        let thousandths = bound.time * 1_000 / worst.time;
        let [whole, part] = [thousandths / 1_000, thousandths % 1_000];
        println!(
            "{} {gc_ratio} {failures} {name}: {} ns, {} ns, {whole}.{part:03}",
            geometry.blocks, bound.time, worst.time
        );
        println!("  {:?}\n  {:?}", bound.operations, worst.did);
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut numbers = env::args().skip(1).map(|word| word.parse::<u32>());
    let [steps, seed] = [numbers.next().unwrap_or(Ok(1_000))?, numbers.next().unwrap_or(Ok(1))?];
    println!("blocks gc_ratio failures call: bound, found, bound / found");
    for blocks in [64, 256] {
        for gc_ratio in [1, 2, 4, 8, 15, 16] {
            for failures in [0, 1] {
                let mut random = seeded(seed.into());
                let mut climb = Climb::new(blocks, gc_ratio, failures);
                (0..4).for_each(|_| climb.climb(steps, &mut random));
                climb.bury(30);
                if failures == 0 {
                    climb.lose(90);
                }
                [0, 1, 2, 3, 4, blocks - 8].into_iter().for_each(|bad| climb.begin(bad));
                print(&climb);
            }
        }
    }
    Ok(())
}
