//! Scenarios in JSON.

use std::collections::HashSet;

use rtflash_model::reading::{Place, Reader, quote};
use rtflash_model::{Diagnostics, Instant, Span};

use super::scenario::{Cost, Emmc, Host, Job, Pattern, Releases, Scenario, cut};
use crate::file::{Fields, above_zero, bytes_above_zero, class, level, op, scheduler, time_above_zero};
use crate::scheduler::{Scheduler, Settings};
use crate::{Class, Op};

const A_SCENARIO: &str = "a scenario: an object with `device`, `jobs` and `duration`";

/// Reads a scenario, and checks that it can be run by its scheduler; or by the one of this name, which has its defaults where the scenario has another one.
///
/// # Errors
/// All that is wrong with it.
pub fn read_scenario(text: &str, instead: Option<&str>) -> Result<Scenario, Diagnostics> {
    let (mut reader, root) = Reader::open(text, A_SCENARIO)?;
    let scenario = scenario(&mut reader, root, instead);
    match scenario {
        Some(scenario) if reader.faults() == 0 => Ok(scenario),
        _ => Err(reader.into_diagnostics()),
    }
}

fn instant(reader: &mut Reader<'_>, raw: &str, place: &Place<'_>) -> Option<Instant> {
    Instant::from_ns(reader.time(raw, place)?.as_ns())
}

fn scenario<'t>(reader: &mut Reader<'t>, root: &'t str, instead: Option<&str>) -> Option<Scenario> {
    let place = Place::Root;
    let names = ["device", "host", "scheduler", "jobs", "duration", "warmup"];
    let mut fields = Fields::open(reader, root, &place, names)?;
    let device = fields.required(root, "device", "an object with `kind`, `read` and `write`", device);
    let host = Host { cpus: 1, max_sectors: 1_280 << 10, requests: 256, turnaround: Span::ZERO };
    let host = fields.or("host", host, |reader, raw, place| self::host(reader, raw, place, host));
    let settings =
        fields.or("scheduler", Some(Settings::None), |reader, raw, place| scheduler(reader, raw, place).map(Some));
    let settings = match instead {
        Some(name) if settings.is_none_or(|settings| settings.name() != name) => Settings::named(name),
        _ => settings,
    };
    let duration = fields.required(root, "duration", "how long to run, such as \"10s\"", |reader, raw, place| {
        Instant::from_ns(time_above_zero(reader, raw, place)?.as_ns())
    });
    let warmup = fields.or("warmup", Instant::START, |reader, raw, place| {
        let warmup = instant(reader, raw, place)?;
        if duration.is_some_and(|duration| warmup >= duration) {
            reader.refuse(raw, place, "nothing is left behind the warm-up", "a time before `duration`");
        }
        Some(warmup)
    });
    let mut known = HashSet::new();
    let jobs = fields.required(root, "jobs", "an array of jobs", |reader, raw, place| {
        let mut jobs = Vec::new();
        let is_list = reader.list(raw, place, "an array of jobs", |reader, raw, place| {
            if reader.is_hopeless() {
                return;
            }
            if let Some(job) = job(reader, raw, place, &host) {
                if !known.insert(job.name.clone()) {
                    let problem = format!("a second job is called {}", quote(&job.name));
                    reader.refuse(raw, &place.key("name"), problem, "a name of its own for each");
                }
                if let (Some(device), Some(settings)) = (&device, &settings) {
                    fits(reader, raw, place, &job, device, &host, settings);
                }
                jobs.push(job);
            }
        });
        if is_list && jobs.is_empty() && reader.faults() == 0 {
            reader.refuse(raw, place, "no jobs", "at least one");
        }
        is_list.then_some(jobs)
    });
    Some(Scenario { device: device?, host, scheduler: settings?, jobs: jobs?, duration: duration?, warmup })
}

/// Whether a job can be run at all: its requests find tags, and what is real-time and has a period can end within it.
fn fits(
    reader: &mut Reader<'_>,
    raw: &str,
    place: &Place<'_>,
    job: &Job,
    device: &Emmc,
    host: &Host,
    settings: &Settings,
) {
    let whole = crate::Command {
        id: 0,
        op: job.op,
        from: job.from,
        size: job.size,
        class: job.class,
        level: job.level,
        cpu: job.cpu,
        job: 0,
        user_centric: job.user_centric,
    };
    let commands = job.size.div_ceil(host.max_sectors);
    if commands > MAX_COMMANDS {
        let problem = format!("each I/O is cut into {commands} requests");
        reader.refuse(raw, &place.key("size"), problem, format!("at most {MAX_COMMANDS}"));
        return;
    }
    let scheduler: Box<dyn Scheduler> = settings.scheduler();
    let (mut alone, mut first) = (Span::ZERO, true);
    for request in cut(whole, host.max_sectors) {
        let piece = scheduler.piece(&request).unwrap_or(request.size);
        let pieces = request.size.div_ceil(piece);
        if pieces > host.requests.into() {
            let problem = format!("a request is cut into {pieces} pieces, and there are {} tags", host.requests);
            reader.refuse(raw, place, problem, "longer pieces (`max_sectors`), or as many `requests` in `host`");
            return;
        }
        for piece in cut(request, piece) {
            alone = alone.saturating_add(device.service(&piece, first));
            first = false;
        }
    }
    if let Releases::Every { period, .. } = job.releases
        && job.class == Class::RealTime
        && alone > period
    {
        let problem = format!("an I/O takes {alone} alone, and the next one comes after {period}");
        reader.refuse(raw, &place.key("every"), problem, "a period that an I/O can end in");
    }
}

/// Requests that an I/O may be cut into, and I/Os of a job that may be outstanding.
const MAX_COMMANDS: u64 = 1 << 14;

fn device<'t>(reader: &mut Reader<'t>, raw: &'t str, place: &Place<'_>) -> Option<Emmc> {
    let mut fields = Fields::open(reader, raw, place, ["kind", "depth", "read", "write"])?;
    let kind = fields.required(raw, "kind", "`emmc`, in a string", |reader, raw, place| {
        reader.choice(raw, place, "kind of device", &["emmc"])
    });
    let depth = fields.or("depth", 1, above_zero);
    const COST: &str = "what it costs: an object with `first`, `next` and `per_kib`";
    let read = fields.required(raw, "read", COST, cost);
    let write = fields.required(raw, "write", COST, cost);
    kind?;
    Some(Emmc { depth, read: read?, write: write? })
}

fn cost<'t>(reader: &mut Reader<'t>, raw: &'t str, place: &Place<'_>) -> Option<Cost> {
    let mut fields = Fields::open(reader, raw, place, ["first", "next", "per_kib"])?;
    let first = fields.required(raw, "first", "a time, such as \"200us\"", time_above_zero);
    let next = fields.required(raw, "next", "a time, such as \"100us\"", time_above_zero);
    let per_kib = fields.required(raw, "per_kib", "a time, such as \"10us\"", Reader::time);
    Some(Cost { first: first?, next: next?, per_kib: per_kib? })
}

fn host<'t>(reader: &mut Reader<'t>, raw: &'t str, place: &Place<'_>, defaults: Host) -> Option<Host> {
    let mut fields = Fields::open(reader, raw, place, ["cpus", "max_sectors", "requests", "turnaround", "merge"])?;
    fields.or("merge", (), |reader, raw, place| {
        if reader.truth(raw, place)? {
            reader.refuse(raw, place, "requests are not merged yet", "false");
        }
        Some(())
    });
    Some(Host {
        cpus: fields.or("cpus", defaults.cpus, above_zero),
        max_sectors: fields.or("max_sectors", defaults.max_sectors, bytes_above_zero),
        requests: fields.or("requests", defaults.requests, above_zero),
        turnaround: fields.or("turnaround", defaults.turnaround, Reader::time),
    })
}

fn job<'t>(reader: &mut Reader<'t>, raw: &'t str, place: &Place<'_>, host: &Host) -> Option<Job> {
    let names = [
        "name",
        "op",
        "pattern",
        "from",
        "span",
        "size",
        "class",
        "level",
        "cpu",
        "user_centric",
        "every",
        "jitter",
        "depth",
        "think",
        "phase",
        "count",
    ];
    let mut fields = Fields::open(reader, raw, place, names)?;
    let name = fields.required(raw, "name", "a string that tells it from the others", |reader, raw, place| {
        reader.string(raw, place, "a string")
    });
    let op = fields.required(raw, "op", "`read` or `write`, in a string", op);
    let pattern = fields.or("pattern", Pattern::Sequential, |reader, raw, place| {
        let at = reader.choice(raw, place, "pattern", &["sequential", "random"])?;
        Some([Pattern::Sequential, Pattern::Random][at])
    });
    let from = fields.or("from", 0, |reader, raw, place| reader.bytes(raw, place));
    let size = fields.required(raw, "size", "bytes with their unit, such as \"64KiB\"", bytes_above_zero);
    let span = fields.or("span", None, |reader, raw, place| {
        let span = bytes_above_zero(reader, raw, place)?;
        if size.is_some_and(|size| span < size) {
            reader.refuse(raw, place, "`span` is shorter than an I/O", "bytes for one I/O at least");
        }
        Some(Some(span))
    });
    let class = fields.or("class", Class::default(), class);
    let level = fields.or("level", 4, level);
    let cpu = fields.or("cpu", 0, |reader, raw, place| {
        let cpu = reader.whole_u32(raw, place)?;
        if cpu >= host.cpus {
            let problem = format!("there is no core {cpu}: the host has {}", host.cpus);
            reader.refuse(raw, place, problem, "a core from 0 up to `cpus` of `host`, without that");
        }
        Some(cpu)
    });
    let user_centric = fields.or("user_centric", false, |reader, raw, place| reader.truth(raw, place));
    let every = fields.or("every", None, |reader, raw, place| time_above_zero(reader, raw, place).map(Some));
    let jitter = fields.or("jitter", Span::ZERO, Reader::time);
    let depth = fields.or("depth", 1, |reader, raw, place| {
        let depth = above_zero(reader, raw, place)?;
        if u64::from(depth) > MAX_COMMANDS {
            reader.refuse(raw, place, format!("{depth} I/Os at a time"), format!("at most {MAX_COMMANDS}"));
        }
        Some(depth)
    });
    let think = fields.or("think", Span::ZERO, Reader::time);
    let phase = fields.or("phase", Instant::START, instant);
    let count = fields.or("count", None, |reader, raw, place| reader.whole(raw, place, u64::MAX).map(Some));
    let (periodic, closed) = (fields.has("every"), fields.has("depth") || fields.has("think"));
    let lost = fields.has("jitter") && !periodic;
    if periodic && closed {
        let problem = "a job with a period, and with I/Os that are replaced";
        reader.refuse(raw, place, problem, "`every` and `jitter`, or `depth` and `think`");
    }
    if every.is_some_and(|period| jitter >= period) {
        let problem = "a release may be as late as the next one is due";
        reader.refuse(raw, &place.key("jitter"), problem, "a jitter below the period");
    }
    if lost {
        reader.refuse(raw, &place.key("jitter"), "`jitter` of a job without `every`", "`every` beside it");
    }
    if pattern == Pattern::Random && span.is_none() {
        reader.refuse(raw, place, "a random job without `span`", "`span`: how long its stretch of the device is");
    }
    let (name, size) = (name?, size?);
    if from.checked_add(span.unwrap_or(size)).is_none() {
        reader.refuse(raw, place, "it ends beyond 2^64 bytes", "`from` and `span` that stay below together");
    }
    let releases = match every {
        Some(period) => Releases::Every { period, jitter },
        None => Releases::Closed { depth, think },
    };
    let op = op.unwrap_or(Op::Read);
    Some(Job { name, op, pattern, from, span, size, class, level, cpu, user_centric, releases, phase, count })
}
