//! Measurements in bounded memory: commands in rounds.

use rtflash_host::Op;

use crate::command::Done;
use crate::pair::Seen;

/// Commands that are kept.
const MAX_KEPT: usize = 1 << 20;

/// Commands in a row that are kept or dropped together.
const ROW: u64 = 64;

/// Rounds that one file is cut into: the largest of 19 bounds the next one with 95 %.
pub const ROUNDS: usize = 19;

/// Files from which on each one is a round.
pub const MIN_ROUNDS: usize = 5;

/// Commands of measurements.
#[derive(Debug, Default)]
pub struct DriveSample {
    kept: Vec<Done>,
    /// The end of each file's commands.
    files: Vec<FileEnd>,
    /// One row of `stride` is kept.
    stride: u64,
    total: u64,
    time: u64,
    most_in_flight: u32,
    without_data: u64,
    failed: u64,
    largest: Vec<Largest>,
    tail: Option<(u64, u64)>,
}

/// The end of a file's commands.
#[derive(Debug, Clone, Copy)]
struct FileEnd {
    at: usize,
    /// The round that the file's name says.
    round: Option<u32>,
}

/// The command of one operation and size that took longest from its issue, and how many there were.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Largest {
    /// The operation.
    pub op: Op,
    /// Bytes.
    pub size: u64,
    /// How many commands.
    pub count: u64,
    /// The longest, in ns.
    pub ns: u64,
}

/// Measurements as they are fitted.
#[derive(Debug, Clone)]
pub struct Measurement {
    /// Commands in order of issue, in each round.
    pub rounds: Vec<Vec<Done>>,
    /// All commands that were read.
    pub total: u64,
    /// How long was measured, in ns.
    pub time: u64,
    /// The most commands in flight.
    pub most_in_flight: u32,
    /// Whether a trace stated that; fio's logs have one command in flight.
    pub states_depth: bool,
    /// Flushes and discards.
    pub without_data: u64,
    /// Commands that failed.
    pub failed: u64,
    /// The longest of all commands, by operation and size.
    pub largest: Vec<Largest>,
    /// Whether some rows of commands were dropped.
    pub is_thinned: bool,
}

impl DriveSample {
    /// One more command.
    pub fn push(&mut self, done: Done) {
        let stride = self.stride.max(1);
        let number = self.total;
        self.total += 1;
        let (first, last) = self.tail.get_or_insert((done.issued, done.ended));
        (*first, *last) = ((*first).min(done.issued), (*last).max(done.ended));
        let found = self.largest.iter().position(|of| of.op == done.op && of.size == done.size);
        let at = found.unwrap_or_else(|| {
            self.largest.push(Largest { op: done.op, size: done.size, count: 0, ns: 0 });
            self.largest.len() - 1
        });
        let of = &mut self.largest[at];
        (of.count, of.ns) = (of.count + 1, of.ns.max(done.residence()));
        if (number / ROW).is_multiple_of(stride) {
            self.kept.push(done);
        }
        if self.kept.len() == MAX_KEPT {
            self.thin();
        }
    }

    /// Drops every second row.
    fn thin(&mut self) {
        let mut at = 0_u64;
        let mut before = vec![0; self.files.len()];
        let row = |at: u64| (at / ROW).is_multiple_of(2);
        for (file, end) in self.files.iter().enumerate() {
            before[file] = (0..end.at as u64).filter(|&at| row(at)).count();
        }
        self.kept.retain(|_| {
            at += 1;
            row(at - 1)
        });
        self.files.iter_mut().zip(before).for_each(|(file, at)| file.at = at);
        self.stride = self.stride.max(1) * 2;
    }

    /// A file ends. Files of one round that follow each other are put together.
    pub fn end_of_file(&mut self, seen: Option<&Seen>, round: Option<u32>) {
        self.files.push(FileEnd { at: self.kept.len(), round });
        if let Some((first, last)) = self.tail.take() {
            self.time = self.time.saturating_add(last.saturating_sub(first));
        }
        if let Some(seen) = seen {
            self.most_in_flight = self.most_in_flight.max(seen.most_in_flight);
            self.without_data += seen.without_data;
            self.failed += seen.failed;
        }
    }

    /// The commands in rounds: each file is one, if there are five or more; else the files are cut
    /// into 19 parts of equal time together.
    pub fn measurement(mut self) -> Measurement {
        let mut begin = 0;
        let mut files: Vec<Vec<Done>> = Vec::new();
        let mut last = None;
        for end in &self.files {
            let mut part = self.kept[begin..end.at].to_vec();
            part.sort_by_key(|done| done.issued);
            begin = end.at;
            match files.last_mut().filter(|_| end.round.is_some() && last == end.round) {
                Some(round) => behind(round, part),
                None => files.push(part),
            }
            last = end.round;
        }
        files.retain(|file| !file.is_empty());
        let rounds = if files.len() >= MIN_ROUNDS {
            files
        } else {
            let parts = ROUNDS.div_ceil(files.len().max(1));
            files.iter().flat_map(|file| cut(file, parts)).collect()
        };
        self.largest.sort_by_key(|of| (of.op != Op::Read, of.size));
        Measurement {
            rounds,
            total: self.total,
            time: self.time,
            most_in_flight: self.most_in_flight.max(1),
            states_depth: self.most_in_flight > 0,
            without_data: self.without_data,
            failed: self.failed,
            largest: self.largest,
            is_thinned: self.stride > 1,
        }
    }
}

/// Puts commands of a clock of their own behind others.
fn behind(round: &mut Vec<Done>, part: Vec<Done>) {
    let end = round.iter().map(|done| done.ended).fold(0, u64::max).saturating_add(1_000_000);
    let begin = part.first().map_or(0, |done| done.issued);
    let moved = |at: u64| end.saturating_add(at.saturating_sub(begin));
    round.extend(part.into_iter().map(|done| Done {
        issued: moved(done.issued),
        ended: moved(done.ended),
        free: if done.free < begin { 0 } else { moved(done.free) },
        ..done
    }));
}

/// A file in parts of equal time.
fn cut(file: &[Done], parts: usize) -> Vec<Vec<Done>> {
    let first = file.first().map_or(0, |done| done.issued);
    let last = file.last().map_or(0, |done| done.issued);
    let length = ((last - first) / parts as u64).max(1);
    let mut rounds = vec![Vec::new(); parts];
    for done in file {
        let at = usize::try_from((done.issued - first) / length).unwrap_or(parts).min(parts - 1);
        rounds[at].push(*done);
    }
    rounds.retain(|round| !round.is_empty());
    rounds
}

impl Measurement {
    /// All commands, round by round.
    pub fn commands(&self) -> impl Iterator<Item = &Done> {
        self.rounds.iter().flatten()
    }

    /// The rounds of odd (0) or of even number (1), counted from 1.
    pub fn half(&self, even: usize) -> Measurement {
        let rounds = self.rounds.iter().skip(even).step_by(2).cloned().collect();
        Measurement { rounds, ..self.clone() }
    }
}
