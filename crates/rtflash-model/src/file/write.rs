//! Task sets, written; and the schemas of what is read.

use schemars::{Schema, schema_for};

use super::meta::MetaJson;
use super::wire::{
    AllocationLine, ArrivalsWire, BurstsWire, DeviceWire, Duration, JobWire, LongerThanZero, ProfileName, RequestWire,
    TaskSetWire, TaskWire, Time, TimeOrShare,
};
use crate::arrivals::Arrivals;
use crate::device::Device;
use crate::profiles::PROFILES;
use crate::task::{Access, Job, Request, Task};
use crate::task_set::TaskSet;
use crate::time::Span;

/// One line of JSON that [`read_task_set`](crate::read_task_set) reads back. A profile is written
/// as its name; line breaks between the parts of `meta` become spaces.
pub fn write_task_set(set: &TaskSet, meta: Option<&MetaJson>) -> String {
    let wire = TaskSetWire {
        device: device(set.device()),
        tasks: set.tasks().iter().map(task).collect(),
        jobs: (!set.jobs().is_empty()).then(|| set.jobs().iter().map(job).collect()),
        meta: meta.map(MetaJson::raw),
    };
    // Its keys are strings, its numbers finite, its ratio a decimal: nothing that serde_json
    // refuses.
    let text = serde_json::to_string(&wire).expect("a task set can always be written");
    // Within strings JSON allows no line breaks, so these stand between the parts of `meta`.
    if text.contains(['\n', '\r']) { text.replace(['\n', '\r'], " ") } else { text }
}

/// JSON that [`read_device`](crate::read_device) reads back: a profile as its name.
pub fn write_device(of: &Device) -> String {
    // As above.
    serde_json::to_string(&device(of)).expect("a device can always be written")
}

/// Writes a device as JSON with all its fields, a profile too.
pub fn write_device_in_full(of: &Device) -> String {
    // As above.
    serde_json::to_string(&DeviceWire::Full(of.spec().into())).expect("a device can always be written")
}

/// It cannot tell names taken, α = 0, data that do not fit, or costs above 2⁶³ ns.
pub fn task_set_schema() -> Schema {
    schema_for!(TaskSetWire<'static>)
}

/// The fields that are read; others may be there.
pub fn allocation_schema() -> Schema {
    schema_for!(AllocationLine)
}

fn device(device: &Device) -> DeviceWire {
    if let Some(profile) = PROFILES.iter().find(|profile| profile.spec() == device.spec()) {
        return DeviceWire::Profile(ProfileName(profile.name));
    }
    DeviceWire::Full(device.spec().into())
}

fn task(task: &Task) -> TaskWire<'_> {
    TaskWire {
        name: &task.name,
        read: task.read.map(request),
        write: task.write.map(request),
        data_pages: task.data_pages,
    }
}

fn request(request: Request) -> RequestWire {
    RequestWire {
        pages: request.pages(),
        period: LongerThanZero(request.period()),
        deadline: request.stated_deadline().map(LongerThanZero),
        jitter: (request.jitter() > Span::ZERO).then(|| Duration(request.jitter())),
        access: Some(request.access()).filter(|&access| access != Access::Random),
    }
}

fn job(job: &Job) -> JobWire<'_> {
    let above_zero = |pages: u64| (pages > 0).then_some(pages);
    JobWire {
        name: &job.name,
        read_pages: above_zero(job.read_pages),
        write_pages: above_zero(job.write_pages),
        arrivals: match &job.arrivals {
            Arrivals::Every(gap) => ArrivalsWire::Every(TimeOrShare(*gap)),
            Arrivals::Poisson(mean) => ArrivalsWire::Poisson(TimeOrShare(*mean)),
            &Arrivals::Bursts { every, burst } => ArrivalsWire::Bursts(BurstsWire { every: TimeOrShare(every), burst }),
            Arrivals::Uniform(low, high) => ArrivalsWire::Uniform([LongerThanZero(*low), LongerThanZero(*high)]),
            Arrivals::At(times) => ArrivalsWire::At(times.iter().copied().map(Time).collect()),
        },
    }
}
