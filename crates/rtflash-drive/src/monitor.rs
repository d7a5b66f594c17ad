//! The monitor's rule: at most `k` of any 1,000 commands above X, and a limit for a single one.

use std::collections::VecDeque;
use std::fmt::Write;

use rtflash_host::Op;
use serde::{Deserialize, Serialize};

use crate::command::Done;
use crate::sample::Measurement;
use crate::statistics::percentile;

/// Commands of a window.
pub const WINDOW: usize = 1_000;

/// How many times the longest command of the calibration a single one may take.
const MARGIN: u64 = 2;

/// The limits of one operation and size, from the calibration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MonitorRule {
    /// `read` or `write`.
    pub op: String,
    /// Bytes.
    pub size: u64,
    /// X: the calibration's 99th percentile, in ns.
    pub above_ns: u64,
    /// Commands above X in any 1,000 in a row, at most: those of the calibration's worst window. A
    /// limit of a binomial distribution is broken by the calibration itself, as commands depend on
    /// each other.
    pub most: usize,
    /// The limit for a single command, in ns: twice the longest of the calibration.
    pub limit_ns: u64,
}

/// The record of a drive under a rule.
#[derive(Debug, Clone)]
pub struct Watched {
    /// The rule.
    pub rule: MonitorRule,
    window: VecDeque<bool>,
    above: usize,
    /// The most commands above X in any window.
    pub worst: usize,
    /// The longest command, in ns.
    pub longest: u64,
    /// Commands.
    pub commands: u64,
}

impl Watched {
    /// Before any command.
    pub fn new(rule: MonitorRule) -> Watched {
        Watched { rule, window: VecDeque::with_capacity(WINDOW), above: 0, worst: 0, longest: 0, commands: 0 }
    }

    /// One more command of any kind; those of others are passed over.
    pub fn see(&mut self, done: &Done) {
        if done.size != self.rule.size || done.op.name() != self.rule.op {
            return;
        }
        if self.window.len() == WINDOW {
            self.above -= usize::from(self.window.pop_front() == Some(true));
        }
        let is_above = done.residence() > self.rule.above_ns;
        self.window.push_back(is_above);
        self.above += usize::from(is_above);
        self.worst = self.worst.max(self.above);
        self.longest = self.longest.max(done.residence());
        self.commands += 1;
    }

    /// Whether the drive kept the rule.
    pub fn holds(&self) -> bool {
        self.worst <= self.rule.most && self.longest <= self.rule.limit_ns
    }
}

/// The rules of a calibration, for each operation and size with a whole window.
pub fn rules(of: &Measurement) -> Vec<MonitorRule> {
    let mut rules = Vec::new();
    for largest in &of.largest {
        let own = |done: &&Done| (done.op, done.size) == (largest.op, largest.size);
        let mut times: Vec<u64> = of.commands().filter(own).map(Done::residence).collect();
        if times.len() < WINDOW {
            continue;
        }
        times.sort_unstable();
        let Some(above_ns) = percentile(&times, 9_900) else { continue };
        let limit_ns = largest.ns.saturating_mul(MARGIN);
        let rule = MonitorRule { op: largest.op.name().to_owned(), size: largest.size, above_ns, most: 0, limit_ns };
        let mut watched = Watched::new(rule);
        of.commands().for_each(|done| watched.see(done));
        rules.push(MonitorRule { most: watched.worst, ..watched.rule });
    }
    rules
}

/// A script of bpftrace that watches a drive by these rules, in windows of 1,000 commands one
/// behind the other. It prints a line for each limit that is broken.
pub fn script(rules: &[MonitorRule], device: (u32, u32)) -> String {
    // The kernel's dev_t: 20 bits of minor number (MKDEV of include/linux/kdev_t.h).
    let dev = (u64::from(device.0) << 20) | u64::from(device.1);
    let mut text = format!(
        "#!/usr/bin/env bpftrace\n// Limits of a fitted drive: rtflash host check.\n\
         tracepoint:block:block_rq_issue /args.dev == {dev}/ {{ @begin[args.sector] = nsecs; }}\n\
         tracepoint:block:block_rq_complete /args.dev == {dev} && @begin[args.sector]/ {{\n  \
         $took = nsecs - @begin[args.sector];\n  $bytes = args.nr_sector * 512;\n  delete(@begin[args.sector]);\n"
    );
    for (number, rule) in rules.iter().enumerate() {
        let letter = if rule.op == Op::Read.name() { "R" } else { "W" };
        let MonitorRule { size, above_ns, most, limit_ns, .. } = rule;
        // Writing to a string cannot fail.
        let _ = write!(
            text,
            "  if ($bytes == {size} && strncmp(str(args.rwbs), \"{letter}\", 1) == 0) {{\n    \
             if ($took > {limit_ns}) {{ printf(\"a {op} of {size} bytes took %lu ns, above {limit_ns}\\n\", $took); }}\n    \
             if ($took > {above_ns}) {{ @above{number} += 1; }}\n    @seen{number} += 1;\n    \
             if (@seen{number} == {WINDOW}) {{\n      \
             if (@above{number} > {most}) {{ printf(\"%d of {WINDOW} {op}s of {size} bytes above {above_ns} ns, at most {most}\\n\", @above{number}); }}\n      \
             @seen{number} = 0; @above{number} = 0;\n    }}\n  }}\n",
            op = rule.op
        );
    }
    text + "}\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn done(residence: u64) -> Done {
        let (op, from, size) = (Op::Read, 0, 4_096);
        Done {
            issued: 0,
            ended: residence,
            op,
            process: None,
            from,
            size,
            others: 0,
            is_joined: false,
            continues: false,
            idle: 0,
            free: 0,
        }
    }

    #[test]
    fn windows_slide() {
        let rule = MonitorRule { op: "read".into(), size: 4_096, above_ns: 100, most: 2, limit_ns: 500 };
        let mut watched = Watched::new(rule.clone());
        // Two slow ones a window keep the rule, at whatever place.
        (0..10_000).for_each(|at| watched.see(&done(if at % 500 == 7 { 200 } else { 50 })));
        assert_eq!((watched.worst, watched.commands, watched.holds()), (2, 10_000, true));
        // Three within 1,000 of two windows that lie one behind the other do not.
        (0..3).for_each(|_| watched.see(&done(101)));
        assert!(!watched.holds());
        let mut single = Watched::new(rule);
        single.see(&done(501));
        assert!(!single.holds() && single.worst == 1);
    }
}
