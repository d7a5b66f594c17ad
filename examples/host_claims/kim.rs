//! Claims of Kim et al. (2020): a user-centric reader among fifty.

use rtflash::host::SchedulerSettings;
use rtflash::host::run::{HostDevice, JobReleases, Scenario};
use rtflash::host::scheduler::UserCentricSettings;
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

/// What is switched on: `separated`, `shortest`, `high_priority`.
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
    Ok(SETTINGS.iter().map(|setting| setting.orders(&base)).collect())
}

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
