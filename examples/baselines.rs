//! How far the field's own schemes reach on the same sets: writes the table in `docs/baselines.md`
//! and the figure beside it.
//!
//! `cargo run --release --example baselines`; with a number behind `--`, that many sets at each
//! utilization instead of 100.

use std::fmt::Write;
use std::fs;

use rtflash::alloc::allocator::allocator;
use rtflash::alloc::analysis::{Analysis, Sound, ThesisEvaluated, analysis};
use rtflash::draw::figures;
use rtflash::exec::Service;
use rtflash::experiment::plan::{Contender, Measure, Spec};
use rtflash::experiment::tally::Tally;
use rtflash::experiment::{Plan, run_whole};
use rtflash::model::generate::{Accesses, Generator, PeriodRange, SetSpec, Utilization, UtilizationRange, Writes};
use rtflash::model::{Device, DeviceSpec, LogicalRatio, Reliance, Span};

type Fallible<T> = Result<T, Box<dyn std::error::Error>>;

const SOUND: Sound = Sound::relying_on(Reliance::Neighbours);
/// The field's, each under the algorithm that makes most of it here.
const FIELD: [&str; 5] = ["chang", "gftl", "rftl", "lazy-rtgc", "stock"];

/// The contenders.
fn contenders() -> Fallible<Vec<Contender>> {
    let named = |algorithm: &str, analysis: &'static dyn Analysis| {
        let allocator = allocator(algorithm).ok_or("no such algorithm")?;
        Ok(Contender { allocator, analysis, service: Service::Tbs })
    };
    let mut all: Vec<Fallible<Contender>> =
        vec![named("best-fit", &SOUND), named("clustering-bfd", &ThesisEvaluated), named("part-ftl", &ThesisEvaluated)];
    all.extend(FIELD.iter().filter_map(|name| analysis(name)).map(|of| named("clustering-bfd", of)));
    all.into_iter().collect()
}

fn measured(device: Device, each: u64) -> Fallible<(Plan, Vec<Tally>)> {
    let plan = Plan::new(Spec {
        measure: Measure::Schedulability,
        sets: SetSpec {
            device,
            tasks: 8,
            generator: Generator::IntegerShares,
            page_costs: ThesisEvaluated.page_costs(&device),
            writes: Writes::Drawn,
            accesses: Accesses::Random,
            deadlines: None,
            periods: PeriodRange::default(),
            pages: None,
            seed: 1,
        },
        sets_per_point: each,
        analysis: Some(&ThesisEvaluated),
        utilizations: "0.1..4.0".parse::<UtilizationRange>()?.points(Utilization::TENTH)?,
        sweep: None,
        contenders: contenders()?,
    })?;
    let tallies = run_whole(&plan)?;
    Ok((plan, tallies))
}

/// Sixteen chips of the paper on Lazy-RTGC (its Table IV), with space for each scheme.
fn small_blocks(dgist: DeviceSpec) -> Fallible<Device> {
    let ns = |nanoseconds| Span::from_ns(nanoseconds).ok_or("no time");
    let spec = DeviceSpec {
        blocks_per_chip: 2048,
        pages_per_block: 64,
        page_size: 2048,
        logical_ratio: LogicalRatio::from_decimal(3, 1)?,
        page_read: ns(29_000)?,
        page_program: ns(220_900)?,
        block_erase: ns(2_000_000)?,
        page_transfer: ns(20_000)?,
        ..dgist
    };
    Ok(Device::new(spec).map_err(|_| "no device")?)
}

/// Σ 0.1 · ratio over all utilizations.
fn reach(tallies: &[Tally], contender: usize) -> f64 {
    let ratio = |tally: &Tally| tally.yes[contender] as f64 / (tally.decided[contender] as f64).max(1.0);
    tallies.iter().map(|tally| 0.1 * ratio(tally)).sum()
}

fn main() -> Fallible<()> {
    let each = std::env::args().nth(1).map_or(Ok(100), |number| number.parse())?;
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/docs");
    let dgist = Device::profile("dgist-2021").ok_or("no such device")?;
    let (plan, tallies) = measured(dgist, each)?;
    let (_, small) = measured(small_blocks(dgist.spec())?, each)?;
    if let Some(figure) = figures(&plan, &tallies).into_iter().next() {
        fs::write(format!("{root}/baselines/reach.svg"), figure.figure.svg())?;
    }
    let mut text = String::from("| analysis | algorithm | `dgist-2021` | blocks of 64 pages |\n|---|---|---|---|\n");
    for (at, contender) in plan.contenders().iter().enumerate() {
        let (algorithm, analysis) = (contender.allocator.name(), contender.analysis.name());
        let analysis = if algorithm == "part-ftl" { "its own".into() } else { format!("`{analysis}`") };
        writeln!(text, "| {analysis} | `{algorithm}` | {:.3} | {:.3} |", reach(&tallies, at), reach(&small, at))?;
    }
    let document = format!("{root}/baselines.md");
    let page = fs::read_to_string(&document)?;
    let (start, end) = ("<!-- reach -->\n", "<!-- /reach -->");
    let from = page.find(start).ok_or("no mark")? + start.len();
    let to = from + page[from..].find(end).ok_or("no mark")?;
    fs::write(&document, format!("{}{text}{}", &page[..from], &page[to..]))?;
    Ok(())
}
