//! Claims of Park et al. (2018): reads beside writes that are written back, by minimal-effort
//! write.

use rtflash::host::SchedulerSettings;
use rtflash::host::run::{HostDevice, Job, JobReleases, Scenario, WriteBack, WriteCache};
use rtflash::host::scheduler::{MinimalEffortSettings, MqDeadlineSettings};
use rtflash::model::Span;

use super::orders::{Of, Orders, Rule, Value, scenario};

/// Devices: their scenario, and of the published means minimal-effort over noop and over deadline.
const DEVICES: [(&str, Option<[f64; 2]>); 3] =
    [("mlc", Some([0.34, 0.64])), ("tlc", Some([0.44, 0.56])), ("flash", None)];

/// Milliseconds between flushes.
const FLUSHES: [u64; 3] = [200, 1_000, 5_000];

/// All of them.
pub fn orders() -> Result<Vec<Orders>, String> {
    let mut all = Vec::new();
    for (device, published) in DEVICES {
        let base = scenario(&format!("write-effort-{device}"))?;
        for flush in FLUSHES {
            all.push(open(device, &base, flush, published));
        }
        all.push(closed(device, &base));
        if published.is_some() {
            all.push(four(device, &base));
        }
    }
    all.push(cached(&scenario("write-effort-tlc")?));
    Ok(all)
}

/// The slower drive with a volatile cache of 32 MiB, which takes writes as fast as it reads.
fn cached(base: &Scenario) -> Orders {
    let mut orders = Orders::at("Park 2018, tlc with a cache, flush 1000 ms".to_owned());
    let mut base = base.clone();
    if let HostDevice::Emmc(drive) = &mut base.device {
        let (size, drain, flush) = (32 << 20, 150_000_000, Span::from_us(1_000));
        drive.cache = Some(WriteCache { size, drain, write: drive.read, flush, fua: false });
    }
    let [none, deadline, minimal] = by_each(&mut orders, &base);
    let mut also = |text: &str, most, of, others: &[usize]| {
        orders.claim(text, None, Rule::Also(most), Value::Ratio(of, minimal, others.to_vec()));
    };
    also("minimal-effort over none, mean of reads (better)", 1.0, Of::Mean, &[none]);
    also("minimal-effort over mq-deadline, mean of reads (better)", 1.0, Of::Mean, &[deadline]);
    also("minimal-effort over the lower of both, 99 % of reads (better)", 1.0, Of::P99, &[none, deadline]);
    also("minimal-effort over the lower of both, 99.99 % of reads (better)", 1.0, Of::P9999, &[none, deadline]);
    also("minimal-effort over none, mean of writes (slightly worse)", 1.25, Of::SecondMean, &[none]);
    orders.claim("minimal-effort, writes", Some(100.0), Rule::Shown, Value::Rate(minimal));
    orders.claim("none, mean of reads", None, Rule::Shown, Value::Mean(none));
    orders.claim("minimal-effort, mean of reads", None, Rule::Shown, Value::Mean(minimal));
    orders
}

/// By none, mq-deadline and minimal-effort: their positions.
fn by_each(orders: &mut Orders, base: &Scenario) -> [usize; 3] {
    let deadline = SchedulerSettings::MqDeadline(MqDeadlineSettings::default());
    let minimal = SchedulerSettings::MinimalEffort(MinimalEffortSettings::default());
    [SchedulerSettings::None, deadline, minimal].map(|scheduler| orders.run(Scenario { scheduler, ..base.clone() }))
}

/// A reader that does not wait.
fn open(device: &str, base: &Scenario, flush: u64, published: Option<[f64; 2]>) -> Orders {
    let mut orders = Orders::at(format!("Park 2018, {device}, flush {flush} ms"));
    let mut base = base.clone();
    for job in &mut base.jobs {
        flush_every(job, flush);
    }
    let [none, deadline, minimal] = by_each(&mut orders, &base);
    let [over_none, over_deadline] = published.map_or([None; 2], |folds| folds.map(Some));
    let mut less = |text: &str, published, of, at, others: &[usize]| {
        orders.claim(text, published, Rule::Less, Value::Ratio(of, at, others.to_vec()));
    };
    less("minimal-effort over none, mean of reads", over_none, Of::Mean, minimal, &[none]);
    less("minimal-effort over mq-deadline, mean of reads", over_deadline, Of::Mean, minimal, &[deadline]);
    less("minimal-effort over the lower of both, 99 % of reads", None, Of::P99, minimal, &[none, deadline]);
    less("minimal-effort over the lower of both, 99.99 % of reads", None, Of::P9999, minimal, &[none, deadline]);
    let both = published.map(|[none, deadline]| (none / deadline * 100.0).round() / 100.0);
    let value = Value::Ratio(Of::Mean, deadline, vec![none]);
    orders.claim("mq-deadline over none, mean of reads", both, Rule::AtMost(1.0), value);
    orders.claim("minimal-effort, writes", Some(100.0), Rule::Near, Value::Rate(minimal));
    orders.claim("none, mean of reads", None, Rule::Shown, Value::Mean(none));
    orders.claim("minimal-effort, mean of reads", None, Rule::Shown, Value::Mean(minimal));
    if published.is_some() {
        let value = Value::Ratio(Of::SecondMean, minimal, vec![none]);
        orders.claim("minimal-effort over none, mean of writes (slightly worse)", None, Rule::Also(1.25), value);
    }
    orders
}

/// A reader that waits for each read, at the same rate if it can.
fn closed(device: &str, base: &Scenario) -> Orders {
    let mut orders = Orders::at(format!("Park 2018, {device}, a reader that waits"));
    let mut base = base.clone();
    if let Some(reader) = base.jobs.first_mut() {
        reader.releases = JobReleases::Closed { depth: 1, think: Span::ZERO };
        reader.pace = Some(100_000_000);
    }
    let [none, deadline, minimal] = by_each(&mut orders, &base);
    for (text, at) in [("none", none), ("mq-deadline", deadline), ("minimal-effort", minimal)] {
        orders.claim(format!("{text}, mean of reads"), None, Rule::Shown, Value::Mean(at));
    }
    orders.claim("minimal-effort, writes", Some(100.0), Rule::Shown, Value::Rate(minimal));
    orders
}

/// A reader that has up to four reads outstanding, at the same rate if it can.
fn four(device: &str, base: &Scenario) -> Orders {
    let mut orders = Orders::at(format!("Park 2018, {device}, four reads outstanding"));
    let mut base = base.clone();
    if let Some(reader) = base.jobs.first_mut() {
        reader.releases = JobReleases::Closed { depth: 4, think: Span::ZERO };
        reader.pace = Some(100_000_000);
    }
    let [none, _, minimal] = by_each(&mut orders, &base);
    for (words, of) in [("99 %", Of::P99), ("99.99 %", Of::P9999)] {
        let text = format!("minimal-effort over none, {words} of reads (better)");
        orders.claim(text, None, Rule::Also(1.0), Value::Ratio(of, minimal, vec![none]));
    }
    orders
}

fn flush_every(job: &mut Job, ms: u64) {
    if let JobReleases::WriteBack(WriteBack { flush, .. }) = &mut job.releases {
        *flush = Span::from_ns(ms * 1_000_000).unwrap_or(*flush);
    }
}
