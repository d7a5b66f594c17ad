//! The jobs of a section.

use rtflash_model::capped;
use rtflash_model::reading::quote;

use super::known::{engine_waits, is_off};
use super::options::{NamedFault, SectionOptions, fault};
use super::places::{FileLengths, FileNames, FileStretch, stretch};
use super::release::FioReleases;
use super::sizes::{Sizes, sizes};
use super::units::cores;
use super::{FioReader, MAX_JOBS, Section};
use crate::run::job::{Job, JobPace, JobPattern, JobReleases, MixedIo, kind_of};
use crate::run::read::misfit;
use crate::run::scenario::HostSetup;
use crate::{Class, Op};

/// The meaning of `rw`.
struct Direction {
    /// The operations with their shares in percent.
    ops: Vec<(Op, u64)>,
    is_random: bool,
    /// Whether they take turns.
    in_turn: bool,
    /// Bytes between I/Os.
    gap: i64,
}

impl Direction {
    fn new(options: &SectionOptions) -> Result<Direction, NamedFault> {
        const KNOWN: [&str; 6] = ["read", "write", "trim", "randread", "randwrite", "randtrim"];
        let said = options.get("rw").unwrap_or("read");
        let (value, gap) = match said.split_once(':') {
            Some((value, gap)) => (value.trim(), Some(gap.trim())),
            None => (said, None),
        };
        let (ops, in_turn) = match (value, KNOWN.iter().position(|known| *known == value)) {
            (_, Some(at)) => (vec![([Op::Read, Op::Write, Op::Discard][at % 3], 100)], false),
            ("rw" | "readwrite" | "randrw", _) => {
                let reads = reads(options)?;
                let ops = [(Op::Read, reads), (Op::Write, 100 - reads)];
                (ops.into_iter().filter(|&(_, share)| share > 0).collect(), false)
            }
            ("trimwrite" | "randtrimwrite", _) => (vec![(Op::Discard, 50), (Op::Write, 50)], true),
            _ => {
                let problem =
                    if said.is_empty() { "`rw` has no value".into() } else { format!("`rw` is {}", quote(said)) };
                return Err(fault("rw", problem, "`read`, `write`, `trim`, `rw`, or one of these with `rand`"));
            }
        };
        let is_random = value.starts_with("rand");
        let units = options.units()?;
        let bytes = |gap: &str| match gap.strip_prefix('-') {
            Some(back) => i64::try_from(units.bytes(back)?).ok().map(|back| -back),
            None => i64::try_from(units.bytes(gap)?).ok(),
        };
        let gap = match gap {
            Some(_) if is_random => {
                return Err(fault(
                    "rw",
                    format!("`rw` is {}: random I/O with sequences is not modelled", quote(said)),
                    "no number behind it",
                ));
            }
            Some(gap) => bytes(gap).ok_or_else(|| {
                fault("rw", format!("`rw` is {}", quote(said)), "bytes behind the colon, such as `read:8k`")
            })?,
            None => 0,
        };
        Ok(Direction { ops, is_random, in_turn, gap })
    }
}

/// The share of reads, in percent: the last of both options counts.
fn reads(options: &SectionOptions) -> Result<u64, NamedFault> {
    let reads = match (options.within("rwmixread", 0, 100)?, options.within("rwmixwrite", 0, 100)?) {
        (Some(_), Some(writes)) if is_behind(options, "rwmixwrite", "rwmixread") => 100 - writes,
        (Some(reads), _) => reads,
        (None, Some(writes)) => 100 - writes,
        (None, None) => 50,
    };
    Ok(reads.into())
}

/// Whether an option is said later than another one.
fn is_behind(options: &SectionOptions, name: &str, other: &str) -> bool {
    options.place(name).map(|at| at.start) > options.place(other).map(|at| at.start)
}

/// The I/Os that a job draws from: each operation by its share, its sizes by theirs.
fn mixed(direction: &Direction, sizes: &[Sizes; 3]) -> Vec<MixedIo> {
    let sum = |op: Op| sizes[kind_of(op)].iter().map(|&(_, share)| share).sum::<u64>();
    let all: u128 = direction.ops.iter().map(|&(op, _)| u128::from(sum(op))).product();
    let of = |&(op, share): &(Op, u64)| {
        let others = all / u128::from(sum(op)).max(1);
        let each = sizes[kind_of(op)].iter();
        each.map(move |&(size, of)| MixedIo { op, size, share: capped(u128::from(share * of) * others) })
    };
    direction.ops.iter().flat_map(of).collect()
}

impl FioReader<'_> {
    /// All jobs of a section: its clones, and the jobs that read back.
    pub(super) fn clones(&mut self, section: &Section) -> Result<(), NamedFault> {
        let options = &section.options;
        let clones = options.within("numjobs", 1, MAX_JOBS as u64)?.unwrap_or(1);
        if self.jobs.len() + 2 * clones as usize > MAX_JOBS {
            return Err(fault("", "too many jobs", format!("at most {MAX_JOBS} in all, with those that verify")));
        }
        let template = self.template(section)?;
        let files = FileNames::new(options, &section.name)?;
        let verifies = reads_back(options, &template);
        let cores = options.get("cpus_allowed").map_or(Ok(vec![(0, 0)]), |text| {
            cores(text, self.setup.host.cpus).map_err(|core| match core {
                Some(core) => fault(
                    "cpus_allowed",
                    format!("there is no core {core}: the host has {}", self.setup.host.cpus),
                    "cores from 0 up to `cpus` of `host`, without that",
                ),
                None => fault("cpus_allowed", "`cpus_allowed` is no list of cores", "cores, such as 0 or 0,2-3"),
            })
        })?;
        let mut cores = cores.iter().flat_map(|&(first, last)| first..=last).cycle();
        self.wait(section, &template)?;
        let earlier = self.names.get(&section.name).map_or(0, Vec::len);
        let smallest = template.ios().map(|io| io.size).min().unwrap_or(template.size);
        for clone in 0..u64::from(clones) {
            let name = if clones == 1 { section.name.clone() } else { format!("{}.{clone}", section.name) };
            let name = self.unlike_others(name, earlier > 0);
            let cpu = cores.next().expect("a list of cores has one (invariant)");
            let there = FileLengths { device: self.setup.size, written: self.files.length(&files.of(clone)) };
            let used = stretch(&files, clone, smallest, there)?;
            let job = placed(options, Job { name, cpu, after: self.barrier_of(&template), ..template.clone() }, used)?;
            self.check(section, &job);
            let position = self.jobs.len();
            self.add(section, &files.of(clone), job.clone());
            if verifies {
                let name = format!("{} (verify)", job.name);
                let read = MixedIo { op: Op::Read, size: smallest, share: 1 };
                let until = None;
                let back =
                    Job { name, op: read.op, size: read.size, mix: Vec::new(), after: vec![position], until, ..job };
                self.add(
                    section,
                    &files.of(clone),
                    Job { pattern: JobPattern::Sequential, paces: [None; 3], pace: None, fsync: None, ..back },
                );
            }
        }
        Ok(())
    }

    fn add(&mut self, section: &Section, files: &[String], job: Job) {
        self.names.entry(section.name.clone()).or_default().push(self.jobs.len());
        self.files.add(files, &job);
        self.sections.push(section.at.clone());
        self.jobs.push(job);
    }

    /// A name that no other job has.
    fn unlike_others(&self, name: String, is_again: bool) -> String {
        let is_free = |name: &String| !self.jobs.iter().any(|job| job.name == *name);
        if !is_again && is_free(&name) {
            return name;
        }
        let mut numbered = (2..).map(|number| format!("{name} ({number})"));
        if is_free(&name) { name } else { numbered.find(is_free).expect("one of any number of names is free") }
    }

    /// A section waits for all before it, and those behind it do so, too (`run_threads` of
    /// backend.c).
    fn wait(&mut self, section: &Section, job: &Job) -> Result<(), NamedFault> {
        let options = &section.options;
        if options.flag("stonewall") {
            let earlier = (0..self.jobs.len()).filter(|&earlier| self.jobs[earlier].phase <= job.phase);
            self.barrier = (earlier.collect(), job.phase);
        }
        if let Some(name) = options.get("wait_for") {
            let known = self.names.get(name).ok_or_else(|| {
                fault("wait_for", format!("no section above is called {}", quote(name)), "the name of a section above")
            })?;
            self.waited = known.clone();
        } else {
            self.waited.clear();
        }
        Ok(())
    }

    /// The jobs that a job of the present section waits for.
    fn barrier_of(&self, job: &Job) -> Vec<usize> {
        let (jobs, phase) = &self.barrier;
        let mut after = if job.phase >= *phase { jobs.clone() } else { Vec::new() };
        after.extend(&self.waited);
        after.sort_unstable();
        after.dedup();
        after
    }

    /// The job that all clones are made of.
    fn template(&mut self, section: &Section) -> Result<Job, NamedFault> {
        let options = &section.options;
        let direction = Direction::new(options)?;
        let sizes = sizes(options, direction.is_random)?;
        let mix = mixed(&direction, &sizes);
        let is_buffered = self.is_buffered(options, &mix);
        let waits = self.engine(options, is_buffered)?;
        let smallest = [0, 1, 2].map(|kind: usize| sizes[kind].iter().map(|&(size, _)| size).min().unwrap_or(1));
        let releases = FioReleases::new(options, waits, smallest, options.get("bssplit").is_some())?;
        let class = class(options)?;
        let first = mix[0];
        let is_alike = mix.iter().all(|io| io.size == first.size);
        let pattern = match options.get("random_distribution") {
            _ if !direction.is_random => JobPattern::Sequential,
            Some(how) if !how.starts_with("random") => {
                self.differs("random_distribution", "places of I/Os are drawn evenly");
                JobPattern::Random
            }
            _ if is_alike && !options.flag("norandommap") && options.get("ba").is_none() => JobPattern::Shuffled,
            _ => JobPattern::Random,
        };
        let align = options.lists("ba")?.into_iter().flatten().next().filter(|&align| align > 0 && direction.is_random);
        let fsync = self.fsync(options, releases.depth)?;
        let single = (mix.len() == 1).then(|| releases.paces[kind_of(first.op)]).flatten();
        let pace = match single {
            Some(JobPace::Bytes(rate)) => Some(rate),
            _ => None,
        };
        let paces = if mix.len() == 1 {
            [None; 3].map(|none| if pace.is_none() { single } else { none })
        } else {
            releases.paces
        };
        Ok(Job {
            op: first.op,
            size: first.size,
            mix: if mix.len() == 1 { Vec::new() } else { mix },
            pattern,
            align,
            in_turn: direction.in_turn,
            gap: direction.gap,
            class: class.unwrap_or(Class::BestEffort),
            // A class without a level is at its first one.
            level: level(options, class)?,
            is_async: releases.depth > 1,
            releases: JobReleases::Closed { depth: releases.depth, think: releases.think },
            phase: releases.phase,
            until: releases.until,
            pace,
            paces,
            is_poisson: releases.is_poisson,
            think_after: releases.think_after,
            ramp: releases.ramp,
            // Until the places are known, a total says that its time alone ends it.
            total: releases.is_time_based.then_some(0),
            fsync,
            is_buffered,
            ..Job::default()
        })
    }

    /// The number of writes after which a job flushes the device's cache.
    fn fsync(&mut self, options: &SectionOptions, depth: u32) -> Result<Option<u32>, NamedFault> {
        let all = [options.within("fsync", 0, u32::MAX.into())?, options.within("fdatasync", 0, u32::MAX.into())?];
        let fsync = all.into_iter().flatten().filter(|&every| every > 0).min();
        if fsync.is_some() && depth > 1 {
            self.differs("fsync", "one I/O of the job waits for a flush, and the others go on");
        }
        Ok(fsync)
    }

    /// Whether the engine waits for each I/O. Through the page cache all do.
    fn engine(&mut self, options: &SectionOptions, is_buffered: bool) -> Result<bool, NamedFault> {
        let engine = options.get("ioengine").unwrap_or("psync");
        let waits = engine_waits(engine).ok_or_else(|| {
            let expected = "an engine that reads and writes files or devices, such as libaio, io_uring or psync";
            fault("ioengine", format!("engine {} does no block I/O", quote(engine)), expected)
        })?;
        let waits = waits || is_buffered;
        if waits && options.get("iodepth").is_some_and(|depth| depth != "1") {
            self.differs("iodepth", "I/Os are one at a time, in fio as well: the engine waits for each");
        }
        Ok(waits)
    }

    /// Whether a job can be run on the setup.
    fn check(&mut self, section: &Section, job: &Job) {
        let HostSetup { device, host, scheduler, .. } = self.setup;
        if let Some(misfit) = misfit(job, device, host, scheduler) {
            let name = ["bssplit", "bsrange", "bs"].into_iter().find(|name| section.options.get(name).is_some());
            self.complain(section, (name.unwrap_or(""), (misfit.problem, misfit.expected)));
        }
    }
}

/// The class by `prioclass`.
fn class(options: &SectionOptions) -> Result<Option<Class>, NamedFault> {
    let Some(value) = options.get("prioclass") else { return Ok(None) };
    match value {
        "0" | "none" => Ok(None),
        "1" | "rt" => Ok(Some(Class::RealTime)),
        "2" | "be" => Ok(Some(Class::BestEffort)),
        "3" | "idle" => Ok(Some(Class::Idle)),
        _ => {
            let expected = "0 (none), 1 (real-time), 2 (best effort) or 3 (idle)";
            Err(fault("prioclass", format!("`prioclass` is {}", quote(value)), expected))
        }
    }
}

/// The level by `prio`.
fn level(options: &SectionOptions, class: Option<Class>) -> Result<u8, NamedFault> {
    let level = options.within("prio", 0, 7)?.and_then(|level| u8::try_from(level).ok());
    Ok(level.unwrap_or(if class.is_some() { 0 } else { 4 }))
}

/// Whether what a job writes is read back when all is written.
fn reads_back(options: &SectionOptions, job: &Job) -> bool {
    let verifies = options.get("verify").is_some_and(|how| !is_off(how));
    let writes = job.ios().all(|io| io.op == Op::Write);
    verifies && writes && job.total.is_none() && !options.get("do_verify").is_some_and(is_off)
}

/// A job in its part of its files, and its end.
fn placed(
    options: &SectionOptions,
    job: Job,
    FileStretch { from, span, bytes }: FileStretch,
) -> Result<Job, NamedFault> {
    let is_time_based = job.total.is_some();
    if span.is_none() && job.pattern != JobPattern::Sequential {
        return Err(fault("rw", "random I/O without `size`", "`size=`: how long its stretch of the device is"));
    }
    if bytes.is_none() && job.until.is_none() {
        return Err(fault("", "a job without an end", "`size=`, after which it ends, or `runtime=`"));
    }
    let loops = options.within("loops", 0, u32::MAX.into())?.unwrap_or(1).max(1);
    // A trim writes, too.
    let times = if job.in_turn { 2 * u64::from(loops) } else { loops.into() };
    let all = bytes.filter(|_| !is_time_based).map(|bytes| bytes.saturating_mul(times));
    if job.gap < 0 && span.is_none() {
        return Err(fault("rw", "I/O from the end on without `size`", "`size=`: where the end is"));
    }
    let number = options.bytes("number_ios")?.filter(|&number| number > 0);
    let is_alike = job.ios().all(|io| io.size == job.size);
    // The rest of a stretch that is shorter than an I/O is not done.
    let ios = all.zip(span).filter(|_| is_alike).map(|(all, span)| {
        let pass = (span / job.size).max(1);
        let rest = (all % span).div_ceil(job.size).min(pass);
        (all / span).saturating_mul(pass).saturating_add(rest)
    });
    // A job with gaps ends at the end of its stretch.
    let step = u64::try_from(job.gap).ok().filter(|&gap| gap > 0).map(|gap| gap.saturating_add(job.size));
    let ios = match (ios, span, step) {
        (Some(ios), Some(span), Some(step)) => {
            Some(ios.min(((span - job.size) / step + 1).saturating_mul(loops.into())))
        }
        _ => ios,
    };
    let count = [ios, number].into_iter().flatten().min();
    Ok(Job { from, span, count, total: all.filter(|_| !is_alike), ..job })
}
