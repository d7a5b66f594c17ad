//! Two analyses of your own, in a figure: `cargo run --release --example own_analysis DIRECTORY`.

use rtflash::alloc::Fraction;
use rtflash::alloc::allocator::ClusteringBfd;
use rtflash::alloc::analysis::{Analysis, ClusterTest, ClusterVerdict, LinearTest, Test, Thesis};
use rtflash::draw::write_results;
use rtflash::experiment::plan::{Contender, Plan, Spec};
use rtflash::model::{Device, Span, Task};
use std::{error::Error, path::Path};

/// Theorem 1 with D(s) = (m_c − 1)·t_d: a page waits for all other chips. Fast paths are kept.
struct FullWait;

#[rustfmt::skip]
impl Analysis for FullWait {
    fn name(&self) -> &'static str { "full-wait" }
    fn summary(&self) -> &'static str { "Theorem 1 where a page waits for all other chips of its channel" }
    fn test(&self) -> Test<'_> { Test::Linear(self) }
}

impl LinearTest for FullWait {
    fn transfer_delay(&self, device: &Device, _: u32) -> Span {
        device.page_transfer().checked_mul(u64::from(device.chips_per_channel()) - 1).unwrap_or(Span::LONGEST)
    }
}

/// First come, first served: one of each request and GC pass fits into the shortest period.
struct Fifo;

#[rustfmt::skip]
impl Analysis for Fifo {
    fn name(&self) -> &'static str { "fifo" }
    fn summary(&self) -> &'static str { "one of each request and GC pass within the shortest period" }
    fn test(&self) -> Test<'_> { Test::Cluster(self) }
}

impl ClusterTest for Fifo {
    fn verdict(&self, device: &Device, tasks: &[&Task], chips: u32) -> ClusterVerdict {
        let demand = |task: &&Task| (&Thesis as &dyn Analysis).demand(device, task, chips);
        let jobs: Vec<_> = tasks.iter().filter_map(demand).flat_map(|of| of.jobs()).collect();
        let all: u128 = jobs.iter().map(|(time, _)| time).sum();
        let shortest = jobs.iter().map(|(_, period)| *period).min().unwrap_or(Fraction::new(1, 1));
        ClusterVerdict::up_to_one(Fraction::new(all * shortest.denominator(), shortest.numerator()))
    }
}

/// Compares the three on the same `sets` sets at each utilization.
pub fn compare(sets: u64, directory: &Path) -> Result<Vec<String>, Box<dyn Error>> {
    let analyses: [&dyn Analysis; 3] = [&Thesis, &FullWait, &Fifo];
    let contenders = analyses.map(|analysis| Contender::new(&ClusteringBfd, analysis)).to_vec();
    let plan = Plan::new(Spec { contenders, sets_per_point: sets, ..Spec::default() })?;
    Ok(write_results(&plan, &rtflash::experiment::run_whole(&plan)?, directory)?)
}

#[allow(dead_code)] // A test includes this file and calls `compare`.
fn main() {
    let directory = std::env::args().nth(1).expect("a directory to write to");
    println!("{:?}", compare(1_000, directory.as_ref()));
}
