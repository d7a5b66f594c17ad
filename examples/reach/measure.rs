//! Algorithms and analyses on the same random sets.

use std::io;

use rtflash::alloc::allocator::{AnyAllocation, allocator};
use rtflash::alloc::analysis::{Analysis, Thesis};
use rtflash::exec::Service;
use rtflash::experiment::plan::{Contender, Measure, Spec};
use rtflash::experiment::tally::Tally;
use rtflash::experiment::{Plan, Progress, Shard, Watcher, run};
use rtflash::model::generate::{Accesses, Generator, PeriodRange, SetSpec, Utilization, UtilizationRange, Writes};
use rtflash::model::{Device, DeviceSpec, LogicalRatio};

pub type Fallible<T> = Result<T, Box<dyn std::error::Error>>;

/// A watcher that ignores progress and keeps nothing.
struct Nobody;

impl Watcher for Nobody {
    fn advance(&mut self, _: u64) {}

    fn keep(&mut self, _: &Progress) -> io::Result<()> {
        Ok(())
    }
}

/// The device of the tables at a λ in hundredths.
pub fn device(hundredths: u64) -> Fallible<Device> {
    changed(hundredths, |_| ())
}

/// The device of the tables at a λ in hundredths, with a further change.
pub fn changed(hundredths: u64, change: impl FnOnce(&mut DeviceSpec)) -> Fallible<Device> {
    let mut spec = Device::profile("dgist-2021").ok_or("no such device")?.spec();
    spec.logical_ratio = LogicalRatio::from_decimal(hundredths.into(), 2)?;
    change(&mut spec);
    Ok(Device::new(spec).map_err(|_| "no device")?)
}

/// Eight tasks each.
pub fn sets(device: Device, accesses: Accesses) -> SetSpec {
    let page_costs = Thesis.page_costs(&device);
    SetSpec {
        device,
        tasks: 8,
        generator: Generator::UUniFast,
        page_costs,
        writes: Writes::Drawn,
        accesses,
        deadlines: None,
        periods: PeriodRange::default(),
        pages: None,
        seed: 1,
    }
}

/// The utilizations that the reach is a sum over.
pub fn utilizations() -> Fallible<Vec<Utilization>> {
    Ok("0.1..8.0".parse::<UtilizationRange>()?.points(Utilization::TENTH)?)
}

/// Algorithms and analyses on the same sets.
pub fn measured(sets: SetSpec, each: u64, who: &[(&str, &'static dyn Analysis)]) -> Fallible<(Plan, Vec<Tally>)> {
    let contender = |&(name, analysis): &(&str, &'static dyn Analysis)| {
        let allocator = if analysis.is_necessary() { &AnyAllocation } else { allocator(name)? };
        Some(Contender { allocator, analysis, service: Service::Tbs })
    };
    let plan = Plan::new(Spec {
        measure: Measure::Schedulability,
        sets,
        sets_per_point: each,
        analysis: Some(&Thesis),
        utilizations: utilizations()?,
        sweep: None,
        contenders: who.iter().map(contender).collect::<Option<Vec<Contender>>>().ok_or("no such algorithm")?,
    })?;
    let progress = run(&plan, Progress::new(&plan, "", Shard::WHOLE), &mut Nobody)?;
    let tallies = progress.tallies().to_vec();
    Ok((plan, tallies))
}

/// Σ 0.1 · ratio over U = 0.1 … 8.0; where no set of a utilization can be drawn it adds nothing.
pub fn reach(tallies: &[Tally], contender: usize) -> f64 {
    let ratio = |tally: &Tally| tally.yes[contender] as f64 / (tally.decided[contender] as f64).max(1.0);
    tallies.iter().map(|tally| 0.1 * ratio(tally)).sum()
}
