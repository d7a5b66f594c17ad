//! How far the analyses reach: writes the tables of `docs/tests.md` into `docs/tests/`, and their
//! figures.
//!
//! `cargo run --release --example reach` takes some minutes. Behind `--`: how many sets at each
//! utilization, 40 where nothing is said, and half as many for the tables of tests and of small
//! requests; and the tables to write (`reach`, `ratios`, `tests`, `small`), all if none is named.

mod added;
mod measure;

use std::fmt::Write;
use std::fs;

use rayon::prelude::*;
use rtflash::alloc::Work;
use rtflash::alloc::analysis::{Analysis, Necessary, Sound, Stripe, Superblock, Thesis, ThesisEvaluated, fits_alone};
use rtflash::alloc::certified::{Contention, Processor, SharedBus, choose};
use rtflash::draw::figures;
use rtflash::model::generate::{Accesses, SetOptions, Utilization};
use rtflash::model::{Device, Placement, Reliance, Task, TaskId, TaskSet};

use measure::{Fallible, device, measured, reach, sets, utilizations};

/// The reach of stripes where every page is charged for all other chips of its channel: the best
/// partition by that test alone.
fn plain_stripe(device: Device, accesses: Accesses, each: u64) -> Fallible<f64> {
    let options = SetOptions::new(sets(device, accesses)).map_err(|_| "no sets")?;
    let points = utilizations()?;
    let ratio = |&utilization: &Utilization| {
        let passes = |index: u64| {
            let set = options.draw(utilization, index, |device, task| fits_alone(&Thesis, device, task));
            u64::from(set.is_ok_and(|set| partitions(&set)))
        };
        let yes: u64 = (0..each).into_par_iter().map(passes).sum();
        0.1 * yes as f64 / each as f64
    };
    Ok(points.iter().map(ratio).sum())
}

/// Whether some partition of the tasks into stripes needs no more chips than there are.
fn partitions(set: &TaskSet) -> bool {
    let (count, chips) = (set.tasks().count(), set.device().chips());
    let mut smallest = vec![1u32; 1 << count];
    let mut needed = vec![0u32; 1 << count];
    for subset in 1..1usize << count {
        let members = || TaskId::first(count).filter(|task| subset >> task.0 & 1 == 1);
        let least = members().map(|task| smallest[subset & !(1 << task.0)]).max().unwrap_or(1);
        let holds = |size: u32| {
            let tasks: Vec<&Task> = members().map(|task| &set.tasks()[task]).collect();
            let unit = Processor::new(set.device(), tasks, size, Placement::Stripe, SharedBus::anywhere(set.device()));
            unit.is_some_and(|unit| choose(&unit, &[Contention::none()], 0, &Work::new()).holds())
        };
        smallest[subset] = (least..=chips).find(|&size| holds(size)).unwrap_or(chips + 1);
        let (mut part, mut best) = (subset, u32::MAX);
        while part > 0 {
            best = best.min(smallest[part].saturating_add(needed[subset & !part]));
            part = (part - 1) & subset;
        }
        needed[subset] = best;
    }
    needed[(1 << count) - 1] <= chips
}

/// Analyses whose figure is drawn, each by what finds most under it.
const OPTIMA: usize = 6;
const QUEUE: Reliance = Reliance::Queue;
const SOUND: Sound = Sound::relying_on(QUEUE);

/// The table of analyses and algorithms, with `--assume fifo-bus` at λ = 0.5.
fn analyses(each: u64) -> Fallible<String> {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/docs");
    let analyses: [&'static dyn Analysis; OPTIMA] =
        [&Thesis, &ThesisEvaluated, &Stripe { rely_on: QUEUE }, &Superblock { rely_on: QUEUE }, &SOUND, &Necessary];
    let optimum = |&analysis: &&'static dyn Analysis| (if analysis.is_necessary() { "any" } else { "exact" }, analysis);
    let optima: Vec<(&str, &'static dyn Analysis)> = analyses.iter().map(optimum).collect();
    let heuristics = ["best-fit", "clustering-bfd", "clustering-search"].map(|name| (name, &SOUND as &dyn Analysis));
    // As in the figure, but for the heuristics, which come before what is necessary.
    let mut rows = optima.clone();
    rows.splice(OPTIMA - 1..OPTIMA - 1, heuristics);
    let mut columns = Vec::new();
    for (accesses, name) in [(Accesses::Sequential, "sequential"), (Accesses::Random, "random")] {
        eprintln!("{name} …");
        // The figure has the optima alone.
        let (plan, tallies) = measured(sets(device(50)?, accesses), each, &optima)?;
        if let Some(figure) = figures(&plan, &tallies).into_iter().next() {
            fs::write(format!("{root}/analysis/reach-{name}.svg"), figure.figure.svg())?;
        }
        let (_, of_heuristics) = measured(sets(device(50)?, accesses), each, &heuristics)?;
        let mut column: Vec<f64> = (0..OPTIMA).map(|contender| reach(&tallies, contender)).collect();
        let of_heuristics = (0..heuristics.len()).map(|contender| reach(&of_heuristics, contender));
        column.splice(OPTIMA - 1..OPTIMA - 1, of_heuristics);
        columns.push(column);
    }
    let mut text = String::from("| analysis | algorithm | sequential | random |\n");
    for (contender, (algorithm, analysis)) in rows.iter().enumerate() {
        let (sequential, random) = (columns[0][contender], columns[1][contender]);
        writeln!(text, "| `{}` | `{algorithm}` | {sequential:.3} | {random:.3} |", analysis.name())?;
    }
    eprintln!("without Section 6 …");
    let plain = [Accesses::Sequential, Accesses::Random].map(|accesses| plain_stripe(device(50)?, accesses, each));
    let [sequential, random] = plain;
    writeln!(text, "| `stripe` without Section 6 | all partitions | {:.3} | {:.3} |", sequential?, random?)?;
    Ok(text)
}

/// The table of other λ, by `exact`, a quarter of the sets at each utilization.
fn ratios(each: u64) -> Fallible<String> {
    let each = (each / 4).max(1);
    let mut text = String::from("| λ | `stripe`, sequential | `superblock`, random | `sound`, sequential |\n");
    for hundredths in [30, 70, 85] {
        eprintln!("lambda 0.{hundredths} …");
        let of = |accesses: Accesses, who: &[(&str, &'static dyn Analysis)]| {
            let (_, tallies) = measured(sets(device(hundredths)?, accesses), each, who)?;
            Ok::<_, Box<dyn std::error::Error>>((0..who.len()).map(|at| reach(&tallies, at)).collect::<Vec<f64>>())
        };
        let sequential = of(Accesses::Sequential, &[("exact", &Stripe { rely_on: QUEUE }), ("exact", &SOUND)])?;
        let superblock = of(Accesses::Random, &[("exact", &Superblock { rely_on: QUEUE })])?;
        let (stripe, sound, superblock) = (sequential[0], sequential[1], superblock[0]);
        writeln!(text, "| 0.{hundredths} | {stripe:.3} | {superblock:.3} | {sound:.3} |")?;
    }
    Ok(text)
}

/// Writes a table, given as lines of Markdown, as CSV.
fn write_csv(name: &str, table: &str) -> Fallible<()> {
    let quoted = |cell: &str| if cell.contains(',') { format!("\"{cell}\"") } else { cell.to_owned() };
    let row = |line: &str| {
        let cells = line.trim_matches('|').split('|').map(|cell| quoted(&cell.trim().replace('`', "")));
        cells.collect::<Vec<_>>().join(",") + "\n"
    };
    let text: String = table.lines().map(row).collect();
    Ok(fs::write(format!("{}/docs/tests/{name}.csv", env!("CARGO_MANIFEST_DIR")), text)?)
}

/// Makes a table of a number of sets at each utilization.
type Table = fn(u64) -> Fallible<String>;

fn main() -> Fallible<()> {
    let mut arguments = std::env::args().skip(1).peekable();
    let each = arguments.next_if(|word| word.parse::<u64>().is_ok()).map_or(Ok(40), |number| number.parse())?;
    let wanted: Vec<String> = arguments.collect();
    let tables = [("reach", analyses as Table), ("ratios", ratios), ("tests", added::tests), ("small", added::small)];
    for (name, table) in tables {
        if wanted.is_empty() || wanted.iter().any(|word| word == name) {
            write_csv(name, &table(each)?)?;
        }
    }
    Ok(())
}
