//! Claims of Koshiba et al. on a database's queries: reads of pages beside two copies of large
//! blocks.

use rtflash::host::run::{HostSetup, Job, JobPattern, JobReleases, Scenario};
use rtflash::host::scheduler::{Cut, K2Settings, Split};
use rtflash::host::{Class, Op, SchedulerSettings};
use rtflash::model::{Instant, Span};

use super::orders::{Of, Orders, Rule, Value};
use super::profile;

const GIB: u64 = 1 << 30;

/// All of them.
pub fn orders() -> Result<Vec<Orders>, String> {
    let setup = profile()?;
    Ok([("Fig. 8", Op::Read), ("Fig. 9", Op::Write)].map(|(figure, op)| beside(figure, op, &setup)).to_vec())
}

/// Queries beside copies that do this.
fn beside(figure: &str, op: Op, setup: &HostSetup) -> Orders {
    let mut orders = Orders::at(format!("Koshiba, {figure}"));
    let k2 = SchedulerSettings::K2(K2Settings { max_inflight: 1, ..K2Settings::k2() });
    let split = Split { cut: Cut::Rest, max_sectors: 4 << 10, multiples: false };
    let split = SchedulerSettings::K2(K2Settings { split: Some(split), ..K2Settings::split(Cut::Rest) });
    let mut by = |scheduler, max_sectors| orders.run(scenario(setup, op, scheduler, max_sectors));
    let whole = setup.host.max_sectors;
    let uncut = [by(SchedulerSettings::None, whole), by(k2, whole)];
    let [cut, split] = [by(k2, 4 << 10), by(split, whole)];
    for (words, of) in [("mean", Of::Mean), ("99 %", Of::P99), ("99.99 %", Of::P9999)] {
        let mut less = |text: &str, at, others: &[usize]| {
            orders.claim(format!("{text}, {words}"), None, Rule::Less, Value::Ratio(of, at, others.to_vec()));
        };
        less("max_sectors 4 over the lower of none and K2", cut, &uncut);
        less("K2-split 4 over max_sectors 4", split, &[cut]);
    }
    orders
}

/// A reader of pages of InnoDB, one at a time, and two copies of 512 KiB.
fn scenario(setup: &HostSetup, op: Op, scheduler: SchedulerSettings, max_sectors: u64) -> Scenario {
    let job = |name: &str, op, pattern, from, size, class| Job {
        name: name.into(),
        op,
        pattern,
        from,
        span: Some(2 * GIB),
        size,
        class,
        level: 4,
        cpu: 0,
        user_centric: false,
        is_async: false,
        releases: JobReleases::Closed { depth: 1, think: Span::ZERO },
        phase: Instant::START,
        count: None,
        until: None,
        pace: None,
        ..Job::default()
    };
    let copy = |name, from| job(name, op, JobPattern::Sequential, from, 512 << 10, Class::Idle);
    let warmup = Instant::START.saturating_add(Span::from_us(1_000_000));
    let mut host = setup.host;
    host.max_sectors = max_sectors;
    Scenario {
        device: setup.device.clone(),
        host,
        scheduler,
        jobs: vec![
            job("queries", Op::Read, JobPattern::Random, 0, 16 << 10, Class::RealTime),
            copy("copy-1", 2 * GIB),
            copy("copy-2", 4 * GIB),
        ],
        duration: (0..20).fold(warmup, |end, _| end.saturating_add(Span::from_us(1_000_000))),
        warmup,
    }
}
