//! An algorithm of your own beside those of rtflash, in a figure: worst fit among the channels.
//!
//! `cargo run --release --example own_allocator DIRECTORY` names the files that it writes there.

use std::error::Error;
use std::path::Path;

use rtflash::alloc::Work;
use rtflash::alloc::allocator::{Allocator, ClusteringBfd, EqualSplit, Outcome, decreasing_order, tested, unplaceable};
use rtflash::alloc::analysis::{Analysis, Thesis, cluster_verdict};
use rtflash::draw::write_results;
use rtflash::experiment::plan::{Contender, Plan, Spec};
use rtflash::model::{ChipId, Cluster, TaskSet};

/// A cluster for each channel; the heaviest task first, to the channel least loaded with it.
struct WorstFit;

impl Allocator for WorstFit {
    fn name(&self) -> &'static str {
        "worst-fit"
    }

    fn summary(&self) -> &'static str {
        "a cluster for each channel, each task to the least loaded one"
    }

    fn divide(&self, set: &TaskSet, analysis: &dyn Analysis, work: &Work) -> Outcome {
        let device = set.device();
        let mut clusters = vec![Cluster::default(); device.channels() as usize];
        ChipId::first(device.chips()).for_each(|chip| clusters[device.channel_of(chip.0) as usize].chips.push(chip));
        for task in decreasing_order(set, analysis, work) {
            // The analysis's own yes or no, and how full the cluster is: exactly, whatever it is.
            let with = |cluster: &Cluster| {
                cluster_verdict(set, analysis, &[&cluster.tasks[..], &[task]].concat(), cluster.size(), work)
            };
            let all = clusters.iter().enumerate().map(|(position, cluster)| (with(cluster), position));
            let least = all.filter(|(verdict, _)| verdict.passes).min_by(|(a, _), (b, _)| a.load.cmp(&b.load));
            let Some((_, position)) = least else { return unplaceable(set, analysis, &clusters, task, work) };
            clusters[position].tasks.push(task);
        }
        // Tests every cluster once more, and under a demand test certifies it where it is.
        tested(set, analysis, &clusters, work)
    }
}

/// Compares it with two algorithms of rtflash, on `sets` sets at each utilization.
pub fn compare(sets: u64, directory: &Path) -> Result<Vec<String>, Box<dyn Error>> {
    let algorithms: [&dyn Allocator; 3] = [&ClusteringBfd, &WorstFit, &EqualSplit];
    let contenders = algorithms.map(|allocator| Contender::new(allocator, &Thesis)).to_vec();
    let plan = Plan::new(Spec { contenders, sets_per_point: sets, ..Spec::default() })?;
    Ok(write_results(&plan, &rtflash::experiment::run_whole(&plan)?, directory)?)
}

#[allow(dead_code)] // A test includes this file and calls `compare`.
fn main() -> Result<(), Box<dyn Error>> {
    let directory = std::env::args().nth(1).ok_or("where to? Give a directory")?;
    println!("{}", compare(1_000, directory.as_ref())?.join("\n"));
    Ok(())
}
