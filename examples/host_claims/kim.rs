//! Claims of Kim et al. (2020): a user-centric reader among fifty, and launches of programs.

use rtflash::host::run::{ChainStep, ChainWork, HostDevice, JobPattern, JobReleases, Scenario};
use rtflash::host::scheduler::UserCentricSettings;
use rtflash::host::{Op, SchedulerSettings};
use rtflash::model::Span;

use super::orders::{Of, Orders, Rule, Value, scenario};

/// A setting, and what is the bottleneck in it.
struct Setting {
    place: &'static str,
    /// Submission queues, and commands in each.
    queues: u32,
    entries: u32,
    /// Commands that the drive fetches at a time.
    inside: u32,
    /// Reads outstanding in each job.
    depth: u32,
    /// Which of [`VARIANTS`] help there.
    helps: [bool; 6],
}

/// The techniques that are switched on: `separated`, `shortest`, `high_priority`.
const VARIANTS: [(&str, [bool; 3]); 6] = [
    ("high_priority", [false, false, true]),
    ("separated", [true, false, false]),
    ("shortest", [false, true, false]),
    ("high_priority, separated", [true, false, true]),
    ("high_priority, shortest", [false, true, true]),
    ("all", [true; 3]),
];

/// Submission queues are it: `shortest` helps, alone and with others.
const SUBMISSION: [bool; 6] = [false, false, true, false, true, true];
/// Software queues are it: what goes first there helps.
const SOFTWARE: [bool; 6] = [true, true, false, true, true, true];

const SETTINGS: [Setting; 6] = [
    Setting { place: "long queues", queues: 6, entries: 1_024, inside: 32, depth: 1, helps: SUBMISSION },
    Setting { place: "long queues, depth 8", queues: 6, entries: 1_024, inside: 32, depth: 8, helps: SUBMISSION },
    Setting { place: "entries 2", queues: 6, entries: 2, inside: 32, depth: 1, helps: SOFTWARE },
    Setting { place: "entries 4, depth 8", queues: 6, entries: 4, inside: 32, depth: 8, helps: SOFTWARE },
    Setting { place: "one queue, entries 4", queues: 1, entries: 4, inside: 32, depth: 1, helps: SOFTWARE },
    Setting { place: "inside 1024", queues: 6, entries: 1_024, inside: 1_024, depth: 1, helps: [false; 6] },
];

/// All of them.
pub fn orders() -> Result<Vec<Orders>, String> {
    let base = scenario("user-centric")?;
    let launches = LAUNCHES.iter().map(|&at| SETTINGS[at].launches(&base));
    Ok(SETTINGS.iter().map(|setting| setting.orders(&base)).chain(launches).collect())
}

/// Settings in which programs are launched: long submission queues, and short ones.
const LAUNCHES: [usize; 2] = [1, 3];

/// Microseconds of a launch on the CPU behind each of its reads.
const CPU: [u32; 3] = [0, 400, 2_000];

/// Reads of a launch.
const READS: u32 = 50;

impl Setting {
    fn orders(&self, base: &Scenario) -> Orders {
        let mut orders = Orders::at(format!("Kim 2020, {}", self.place));
        let none = orders.run(self.scenario(base, [false; 3]));
        for ((name, switches), helps) in VARIANTS.into_iter().zip(self.helps) {
            let at = orders.run(self.scenario(base, switches));
            let (says, most) = if helps { ("helps", 0.99) } else { ("no worse", 1.01) };
            // The paper has mean latencies of the unchanged kernel and of all together: 23.57 and
            // 20.53 µs.
            let published = (name == "all").then_some(0.87);
            let value = Value::Ratio(Of::Mean, at, vec![none]);
            orders.claim(format!("{name} over none of them, mean ({says})"), published, Rule::AtMost(most), value);
        }
        orders.claim("none of them, mean", None, Rule::Shown, Value::Mean(none));
        orders
    }

    /// The user-centric job launches programs: a launch is a chain of reads.
    fn launches(&self, base: &Scenario) -> Orders {
        let mut orders = Orders::at(format!("Kim 2020, Fig. 6, {}", self.place));
        for us in CPU {
            let mut by = |switches| {
                let mut scenario = self.scenario(base, switches);
                let work = ChainWork::Io { op: Op::Read, size: 16 << 10 };
                let (pattern, span, think) = (JobPattern::Random, Some(15 << 30), Span::from_us(us));
                let read = ChainStep { work, pattern, from: 0, span, times: READS, think, fua: false };
                scenario.duration = scenario.warmup.saturating_add(Span::from_us(500_000));
                if let Some(job) = scenario.jobs.first_mut() {
                    job.steps = vec![read];
                    job.releases = JobReleases::Closed { depth: 1, think: Span::from_us(1_000) };
                }
                orders.run(scenario)
            };
            let (none, all) = (by([false; 3]), by([true; 3]));
            let value = Value::Ratio(Of::P50, all, vec![none]);
            orders.claim(format!("all over none of them, median of launches, {us} µs a read"), None, Rule::Less, value);
            orders.claim(
                format!("none of them, median of launches, {us} µs a read"),
                None,
                Rule::Shown,
                Value::Median(none),
            );
        }
        orders
    }

    fn scenario(&self, base: &Scenario, [separated, shortest, high_priority]: [bool; 3]) -> Scenario {
        let scheduler = SchedulerSettings::UserCentric(UserCentricSettings { separated, shortest, high_priority });
        let mut scenario = Scenario { scheduler, ..base.clone() };
        if let HostDevice::Nvme(drive) = &mut scenario.device {
            (drive.queues, drive.entries, drive.inside) = (Some(self.queues), self.entries, self.inside);
        }
        for job in &mut scenario.jobs {
            job.releases = JobReleases::Closed { depth: self.depth, think: Span::ZERO };
        }
        scenario
    }
}
