//! The tables of a run.

use rtflash_model::format_ns;

use super::{CheckLine, ExecAnswer, JobsLine};
use crate::numbers::{percent, plain, runs, time, volume};
use crate::table::{AnswerTable, Cell, Tone};

impl ExecAnswer<'_> {
    /// Requests, garbage collection and jobs: how many, and how long they took.
    pub fn jobs_table(&self) -> AnswerTable {
        let mut table = AnswerTable::new([
            "jobs",
            ">complete",
            ">pending",
            ">late",
            ">median",
            ">p99",
            "+>p99.9",
            ">max",
            ">deadline",
            ">slack",
        ]);
        table.rows = self.requests.iter().chain(&self.gc).chain(&self.jobs).map(job).collect();
        table
    }

    /// The assumptions, each with the worst that was observed.
    pub fn checks_table(&self) -> AnswerTable {
        let mut table = AnswerTable::new(["check", "+what is assumed", ">bound", ">observed", "verdict", "worst"]);
        table.rows = self.checks.iter().map(check).collect();
        table
    }

    /// The work of clusters, on a device with pages of this size. W is the write amplification.
    pub fn clusters_table(&self, page_size: u32) -> AnswerTable {
        let mut table = AnswerTable::new([
            "cluster",
            "chips",
            "tasks",
            ">busy",
            ">passes",
            ">copied",
            "+>bytes",
            "+>pages written",
            ">W",
            ">jobs, pages/s",
            "+>jobs, bytes/s",
            ">erases/day",
            ">lifetime",
        ]);
        let bytes = |pages: f64| pages * f64::from(page_size);
        for (position, of) in self.clusters.iter().enumerate() {
            let (copied, rate) = (bytes(of.pages_copied as f64), bytes(of.non_rt_pages_per_s));
            table.rows.push(vec![
                Cell::whole(position as u64),
                Cell::text(runs(&of.chips)),
                Cell::tasks(&of.tasks),
                share(of.used),
                Cell::whole(of.gc_passes),
                Cell::whole(of.pages_copied),
                Cell::number(volume(copied), copied),
                Cell::whole(of.pages_written),
                Cell::places(of.write_amplification, 3),
                Cell::places(Some(of.non_rt_pages_per_s), 1),
                Cell::number(format!("{}/s", volume(rate)), rate),
                Cell::quantity(of.wear.map(|wear| wear.erases_per_day)),
                Cell::lifetime(of.wear.and_then(|wear| wear.lifetime_years)),
            ]);
        }
        table
    }

    /// The work of chips.
    pub fn chips_table(&self) -> AnswerTable {
        let mut table = AnswerTable::new([">chip", ">busy", ">pages read", ">pages programmed", ">blocks erased"]);
        table.rows.extend(self.chips.iter().map(|of| {
            let counts = [of.reads, of.programs, of.erases].map(Cell::whole);
            [Cell::whole(of.chip as u64), share(of.used)].into_iter().chain(counts).collect()
        }));
        table
    }

    /// The work of the channels' buses.
    pub fn channels_table(&self) -> AnswerTable {
        let mut table = AnswerTable::new([">channel", ">busy", ">pages moved"]);
        let row =
            |of: &super::ChannelLine| vec![Cell::whole(of.channel as u64), share(of.used), Cell::whole(of.transfers)];
        table.rows.extend(self.channels.iter().map(row));
        table
    }
}

/// A share of one, in per cent.
fn share(of: f64) -> Cell {
    Cell::number(percent(of), of)
}

fn job(of: &JobsLine<'_>) -> Vec<Cell> {
    let slack = of.deadline_ns.zip(of.max_response_ns).map(|(deadline, worst)| deadline.to_f64() - worst as f64);
    let signed = |slack: f64| format!("{}{}", if slack < 0.0 { "-" } else { "" }, time(slack.abs()));
    let late = Cell::whole(of.misses + of.overdue);
    vec![
        Cell::text(format!("{} {}", plain(&of.task), of.kind)),
        Cell::whole(of.completed),
        Cell::whole(of.pending),
        if late.value > Some(0.0) { late.toned(Tone::Bad) } else { late },
        Cell::time(of.p50_ns),
        Cell::time(of.p99_ns),
        Cell::time(of.p999_ns),
        Cell::time(of.max_response_ns),
        Cell::period(of.deadline_ns),
        Cell::some(slack.map(|slack| (signed(slack), slack))),
    ]
}

fn check(of: &CheckLine<'_>) -> Vec<Cell> {
    let number = |value: Option<u64>| match value {
        Some(value) if value > 0 && of.unit == "ns" => Cell::time(Some(value)),
        value => Cell::some(value.map(|value| (value.to_string(), value as f64))),
    };
    let worst = of.worst.as_ref().filter(|_| of.holds == Some(false)).map_or_else(String::new, |worst| {
        let job = worst.job.as_deref().map_or_else(String::new, |job| format!(" {}", plain(job)));
        let times = if of.violations == 1 { "once".into() } else { format!("{} times", of.violations) };
        format!("{times}, worst at {}{job}", format_ns(worst.at_ns))
    });
    let verdict = match of.holds {
        Some(true) => Cell::text("holds").toned(Tone::Good),
        Some(false) => Cell::text("FAILS").toned(Tone::Bad),
        None => Cell::text("not observed").toned(Tone::Open),
    };
    let [bound, observed] = [of.bound, of.observed].map(number);
    vec![Cell::text(&*of.name), Cell::text(&*of.assumption), bound, observed, verdict, Cell::text(worst)]
}
