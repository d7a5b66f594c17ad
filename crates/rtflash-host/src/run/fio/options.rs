//! The options of a section of a fio job file.

use std::ops::Range;

use rtflash_model::Span;
use rtflash_model::reading::{nearest, quote, quoted};

use super::units::{by_operation, bytes, cores, number, time};
use crate::host::Host;
use crate::run::job::JobPattern;
use crate::run::read::MAX_COMMANDS;
use crate::{Class, Op};

/// The options that are known; others are refused.
pub(super) const NAMES: [&str; 14] = [
    "rw",
    "bs",
    "iodepth",
    "numjobs",
    "thinktime",
    "rate",
    "prioclass",
    "prio",
    "cpus_allowed",
    "startdelay",
    "runtime",
    "size",
    "filename",
    "offset",
];

/// What is wrong with an option, and what would be right.
pub(super) type OptionFault = (String, String);

/// What a section says, with all that the global sections above it say.
#[derive(Debug, Clone, Default)]
pub(super) struct SectionOptions {
    pub(super) rw: Option<(Op, JobPattern)>,
    pub(super) bs: Option<[Option<u64>; 3]>,
    pub(super) iodepth: Option<u32>,
    pub(super) numjobs: Option<u32>,
    pub(super) thinktime: Option<Span>,
    pub(super) rate: Option<[Option<u64>; 3]>,
    pub(super) class: Option<Class>,
    pub(super) level: Option<u8>,
    pub(super) cores: Vec<(u32, u32)>,
    pub(super) startdelay: Option<Span>,
    pub(super) runtime: Option<Span>,
    pub(super) size: Option<u64>,
    pub(super) filename: Option<String>,
    pub(super) offset: Option<u64>,
    /// Where each of [`NAMES`] is said.
    places: [Option<(usize, usize)>; NAMES.len()],
}

const SECOND: u64 = 1_000_000_000;
const BYTES: &str = "whole bytes, such as 4096, 4k or 1m";
const TIME: &str = "a time, such as 10, 500ms or 250us";

fn wrong(name: &str, value: &str, expected: &str) -> OptionFault {
    let problem =
        if value.is_empty() { format!("`{name}` has no value") } else { format!("`{name}` is {}", quote(value)) };
    (problem, expected.to_owned())
}

/// A number from `min` to `max`.
fn within(name: &str, value: &str, min: u64, max: u64) -> Result<u32, OptionFault> {
    let found =
        number(value).filter(|number| (min..=max).contains(number)).and_then(|number| u32::try_from(number).ok());
    found.ok_or_else(|| wrong(name, value, &format!("a whole number from {min} to {max}")))
}

fn operation(value: &str) -> Result<(Op, JobPattern), OptionFault> {
    const KNOWN: [&str; 6] = ["read", "write", "trim", "randread", "randwrite", "randtrim"];
    if ["rw", "readwrite", "randrw", "trimwrite", "randtrimwrite"].contains(&value) {
        let problem = format!("{} does several things", quote(value));
        return Err((problem, "a section for each, with `rw=read`, `rw=randwrite` and so on".into()));
    }
    match KNOWN.iter().position(|known| *known == value) {
        Some(at) => {
            let pattern = if at < 3 { JobPattern::Sequential } else { JobPattern::Random };
            Ok(([Op::Read, Op::Write, Op::Discard][at % 3], pattern))
        }
        None => Err(wrong("rw", value, &format!("one of {}", quoted(&KNOWN)))),
    }
}

impl SectionOptions {
    /// Takes an option. Says what is wrong with its name (true) or with its value (false).
    pub(super) fn set(
        &mut self,
        name: &str,
        value: &str,
        at: Range<usize>,
        host: &Host,
    ) -> Result<(), (bool, OptionFault)> {
        // Two have another name as well.
        let name = match name {
            "readwrite" => "rw",
            "blocksize" => "bs",
            name => name,
        };
        let Some(known) = NAMES.iter().position(|known| *known == name) else {
            let expected = match nearest(name, NAMES.into_iter()) {
                Some(near) => format!("`{}`, the nearest of the known options", NAMES[near]),
                None => format!("one of {}", quoted(&NAMES)),
            };
            return Err((true, (format!("unknown option {}", quote(name)), expected)));
        };
        self.places[known] = Some((at.start, at.end));
        self.take(NAMES[known], value, host).map_err(|wrong| (false, wrong))
    }

    fn take(&mut self, name: &'static str, value: &str, host: &Host) -> Result<(), OptionFault> {
        let in_bytes = || bytes(value).ok_or_else(|| wrong(name, value, BYTES));
        let in_time = |plain: u64| time(value, plain).ok_or_else(|| wrong(name, value, TIME));
        let lists = || by_operation(value, bytes).ok_or_else(|| wrong(name, value, BYTES));
        match name {
            "rw" => self.rw = Some(operation(value)?),
            "bs" => {
                let sizes = lists()?;
                if sizes.contains(&Some(0)) {
                    return Err(wrong(name, value, "bytes above zero, such as 4k"));
                }
                self.bs = Some(sizes);
            }
            "iodepth" => self.iodepth = Some(within(name, value, 1, MAX_COMMANDS)?),
            "numjobs" => self.numjobs = Some(within(name, value, 1, super::MAX_JOBS as u64)?),
            "thinktime" => self.thinktime = Some(in_time(1_000)?),
            "rate" => self.rate = Some(lists()?),
            "prioclass" => {
                let class = within(name, value, 0, 3).map_err(|(problem, _)| {
                    (problem, "0 (none), 1 (real-time), 2 (best effort) or 3 (idle)".to_owned())
                })?;
                self.class = [None, Some(Class::RealTime), Some(Class::BestEffort), Some(Class::Idle)][class as usize];
            }
            "prio" => self.level = u8::try_from(within(name, value, 0, 7)?).ok(),
            "cpus_allowed" => {
                self.cores = cores(value, host.cpus).map_err(|core| match core {
                    Some(core) => {
                        let problem = format!("there is no core {core}: the host has {}", host.cpus);
                        (problem, "cores from 0 up to `cpus` of `host`, without that".to_owned())
                    }
                    None => wrong(name, value, "cores, such as 0 or 0,2-3"),
                })?;
            }
            "startdelay" => self.startdelay = Some(in_time(SECOND)?),
            "runtime" => {
                let runtime = in_time(SECOND)?;
                if runtime == Span::ZERO {
                    return Err(wrong(name, value, "a time above zero, such as 10 or 500ms"));
                }
                self.runtime = Some(runtime);
            }
            "size" => self.size = Some(in_bytes()?),
            "filename" => {
                // A colon stands between files; one behind a backslash is of the name.
                if value.is_empty() || value.replace("\\:", "").contains(':') {
                    return Err(wrong(name, value, "one file or device"));
                }
                self.filename = Some(value.into());
            }
            // All names have an arm: the last one is that of `offset`.
            _ => self.offset = Some(in_bytes()?),
        }
        Ok(())
    }

    /// Where an option is said.
    pub(super) fn place(&self, name: &str) -> Option<Range<usize>> {
        let known = NAMES.iter().position(|known| *known == name)?;
        self.places[known].map(|(start, end)| start..end)
    }
}
