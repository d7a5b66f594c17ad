//! Claims of Koshiba et al. on a database's transactions beside two copies of large blocks.

use rtflash::host::run::Scenario;
use rtflash::host::scheduler::{Cut, K2Settings, Split};
use rtflash::host::{Op, SchedulerSettings};

use super::orders::{Of, Orders, Rule, Value, scenario as shipped};

/// All of them.
pub fn orders() -> Result<Vec<Orders>, String> {
    let base = shipped("transactions")?;
    Ok([("Fig. 8", Op::Read), ("Fig. 9", Op::Write)].map(|(figure, op)| beside(figure, op, &base)).to_vec())
}

/// Transactions beside copies that do this.
fn beside(figure: &str, op: Op, base: &Scenario) -> Orders {
    let mut orders = Orders::at(format!("Koshiba, {figure}"));
    let k2 = SchedulerSettings::K2(K2Settings { max_inflight: 1, ..K2Settings::k2() });
    let split = Split { cut: Cut::Rest, max_sectors: 4 << 10, multiples: false };
    let split = SchedulerSettings::K2(K2Settings { split: Some(split), ..K2Settings::split(Cut::Rest) });
    let mut by = |scheduler, max_sectors| orders.run(scenario(base, op, scheduler, max_sectors));
    let whole = base.host.max_sectors;
    let (none, uncut) = (by(SchedulerSettings::None, whole), by(k2, whole));
    let [cut, split] = [by(k2, 4 << 10), by(split, whole)];
    for (words, of) in [("least", Of::Least), ("median", Of::P50), ("95 %", Of::P95), ("longest", Of::Longest)] {
        let mut less = |text: &str, at, others: &[usize]| {
            orders.claim(format!("{text}, {words}"), None, Rule::Less, Value::Ratio(of, at, others.to_vec()));
        };
        less("max_sectors 4 over the lower of none and K2", cut, &[none, uncut]);
        less("K2-split 4 over max_sectors 4", split, &[cut]);
    }
    for (words, at) in [("none", none), ("K2", uncut), ("max_sectors 4", cut), ("K2-split 4", split)] {
        orders.claim(format!("{words}, median of transactions"), None, Rule::Shown, Value::Median(at));
    }
    orders
}

/// The scenario with copies that do this.
fn scenario(base: &Scenario, op: Op, scheduler: SchedulerSettings, max_sectors: u64) -> Scenario {
    let mut scenario = Scenario { scheduler, ..base.clone() };
    scenario.host.max_sectors = max_sectors;
    scenario.jobs.iter_mut().filter(|job| !job.is_real_time()).for_each(|job| job.op = op);
    scenario
}
