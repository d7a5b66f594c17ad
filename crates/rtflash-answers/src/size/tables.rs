//! The tables of limits, costs and what is to be expected.

use rtflash_model::{Device, Span, format_ns};

use super::{CostAnswer, ExpectedAnswer, FrontAnswer, NoLimit, Range, RequestAnswer, SizeAnswer, WearAnswer};
use crate::numbers::{lifetime, request_rate, runs, volume};
use crate::table::{AnswerTable, Cell};

const TOO_LONG: &str = "it would take too long to look for";

/// A limit, or why there is none.
fn limit(found: Option<(String, f64)>, reason: Option<NoLimit>) -> Cell {
    match (found, reason) {
        (Some((text, value)), _) => Cell::number(text, value),
        (None, Some(NoLimit::TooMuchWork)) => Cell::text("not known"),
        (None, _) => Cell::text("none found"),
    }
}

/// How a limit was found.
fn how(found: bool, reason: Option<NoLimit>, how: impl Into<String>) -> Cell {
    Cell::text(match reason {
        _ if found => how.into(),
        Some(NoLimit::TooMuchWork) => TOO_LONG.into(),
        _ => String::new(),
    })
}

impl SizeAnswer<'_> {
    /// The fewest chips, the largest λ and the largest load.
    pub fn limits(&self) -> [Cell; 3] {
        let exact = |number: f64| (number.to_string(), number);
        let factor = self.load.largest_factor.map(|factor| (format!("{factor:.3}"), factor));
        [
            limit(self.chips.fewest.map(|fewest| exact(fewest.into())), self.chips.reason),
            limit(self.logical_ratio.largest.map(exact), self.logical_ratio.reason),
            limit(factor, self.load.reason),
        ]
    }

    /// Limits of the device, and of all tasks together.
    pub fn limits_table(&self, device: &Device) -> AnswerTable {
        let mut table = AnswerTable::new(["what", ">now", ">limit", "how it was found"]);
        let (chips, ratio, load) = (&self.chips, &self.logical_ratio, &self.load);
        let fewest = match chips.fewest {
            Some(1) => "the fewest there are",
            _ if chips.every_smaller_tried => "fewest; every smaller number was tried and fails",
            _ => "by bisection; not every smaller number was tried",
        };
        let largest = format!("largest; every larger step of {} was tried and fails", ratio.resolution);
        let factor = "by bisection; the next step of 0.001 fails: every period divided by it";
        let hows = [
            how(chips.fewest.is_some(), chips.reason, fewest),
            how(ratio.largest.is_some(), ratio.reason, largest),
            how(load.largest_factor.is_some(), load.reason, factor),
        ];
        let now = [
            Cell::whole(chips.now),
            Cell::number(device.logical_ratio().to_string(), ratio.now),
            Cell::number("1", 1.0),
        ];
        let names = ["chips", "logical_ratio", "load"].map(Cell::text);
        let rows = names.into_iter().zip(now).zip(self.limits()).zip(hows);
        table.rows.extend(rows.map(|(((name, now), limit), how)| vec![name, now, limit, how]));
        table
    }

    /// The requests of all tasks: task, kind, limits.
    pub fn requests(&self) -> impl Iterator<Item = (&str, &'static str, &RequestAnswer)> {
        self.tasks.iter().flat_map(|task| {
            let kinds = [("read", &task.read), ("write", &task.write)];
            kinds.into_iter().filter_map(|(kind, request)| Some((&*task.task, kind, request.as_ref()?)))
        })
    }

    /// Limits of each request.
    pub fn requests_table(&self, device: &Device) -> AnswerTable {
        let headings = ["task", "request", ">pages", ">size", ">rate", ">more pages", ">period", ">shortest"];
        let mut table = AnswerTable::new(headings);
        for (task, kind, request) in self.requests() {
            let (bytes, more) = (device.bytes(request.pages.into()) as f64, request.more_pages);
            let period = Span::from_ns(request.period_ns).unwrap_or(Span::LONGEST);
            let exact = |ns: u64| (format_ns(ns), ns as f64);
            let more = more.map(|more| (if more > 0 { format!("+{more}") } else { more.to_string() }, more as f64));
            table.rows.push(vec![
                Cell::name(task),
                Cell::text(kind),
                Cell::whole(request.pages),
                Cell::number(volume(bytes), bytes),
                Cell::number(request_rate(device, request.pages, period), bytes / request.period_ns as f64),
                limit(more, request.reason),
                Cell::exact(Some(request.period_ns)),
                limit(request.shortest_period_ns.map(exact), request.reason),
            ]);
        }
        table
    }
}

impl RequestAnswer {
    /// Whether no period was looked for, as that would take too long.
    pub fn is_untried(&self) -> bool {
        self.shortest_period_ns.is_none() && self.reason == Some(NoLimit::TooMuchWork)
    }
}

impl FrontAnswer {
    /// The devices of the front.
    pub fn table(&self) -> AnswerTable {
        let mut table = AnswerTable::new([">chips", ">channels", ">logical_ratio", "algorithm"]);
        table.rows.extend(self.points.iter().map(|point| {
            let ratio = Cell::number(point.logical_ratio.to_string(), point.logical_ratio);
            vec![Cell::whole(point.chips), Cell::whole(point.channels), ratio, Cell::text(&*point.algorithm)]
        }));
        table
    }
}

/// The columns of what writing does to chips.
const WEAR: [&str; 5] = [">pages", ">bytes", "+>pages by GC", ">erases a chip", ">lifetime"];

fn wear(of: &WearAnswer, page_size: u32) -> [Cell; 5] {
    let bytes = of.pages_per_day * f64::from(page_size);
    [
        Cell::quantity(Some(of.pages_per_day)),
        Cell::number(volume(bytes), bytes),
        Cell::quantity(Some(of.gc_pages_per_day)),
        Cell::quantity(Some(of.erases_per_chip_per_day)),
        Cell::lifetime(of.lifetime_years),
    ]
}

impl CostAnswer<'_> {
    /// The clusters that serve tasks, by position.
    pub fn serving(&self) -> impl Iterator<Item = (usize, &super::ClusterCostAnswer<'_>)> {
        self.clusters.iter().enumerate().filter(|(_, cluster)| !cluster.tasks.is_empty())
    }

    /// The cost of the first `most` clusters and of the whole device a day.
    pub fn table(&self, page_size: u32, most: usize) -> AnswerTable {
        let mut table = AnswerTable::new(["cluster", "chips", "tasks", ">W"].into_iter().chain(WEAR));
        for (position, of) in self.serving().take(most) {
            let head = [
                Cell::whole(position as u64),
                Cell::text(runs(&of.chips)),
                Cell::tasks(&of.tasks),
                Cell::places(of.write_amplification, 3),
            ];
            table.rows.push(head.into_iter().chain(wear(&of.tasks_alone, page_size)).collect());
        }
        let whole = [("tasks", Some(&self.tasks)), ("tasks and jobs", self.with_jobs.as_ref())];
        for (what, of) in whole.into_iter().filter_map(|(what, of)| Some((what, of?))) {
            let head = ["all", "", what, ""].map(Cell::text);
            table.rows.push(head.into_iter().chain(wear(of, page_size)).collect());
        }
        table
    }

    /// The estimate for the first `most` clusters that are written, and for the device.
    pub fn expected_table(&self, most: usize) -> Option<AnswerTable> {
        let (rings, anywhere) = (self.in_rings.as_ref()?, self.anywhere.as_ref()?);
        let mut table = AnswerTable::new(["cluster", "tasks", ">W in rings", ">lifetime", ">W anywhere", ">lifetime"]);
        let mut row = |position: String, tasks: Cell, of: [Option<&ExpectedAnswer>; 2]| {
            table
                .rows
                .push([Cell::text(position), tasks].into_iter().chain(of.into_iter().flat_map(expected)).collect());
        };
        let written = self.clusters.iter().enumerate().filter(|(_, cluster)| cluster.in_rings.is_some());
        for (position, of) in written.take(most) {
            row(position.to_string(), Cell::tasks(&of.tasks), [of.in_rings.as_ref(), of.anywhere.as_ref()]);
        }
        row("all".into(), Cell::text(""), [Some(rings), Some(anywhere)]);
        Some(table)
    }
}

/// Write amplification, and the lifetime that follows.
fn expected(of: Option<&ExpectedAnswer>) -> [Cell; 2] {
    let Some(of) = of else { return ["-", "-"].map(Cell::text) };
    let range = |of: &Range, show: fn(f64) -> String| {
        let (least, most) = (show(of.least), show(of.most));
        Cell::number(if least == most { least } else { format!("{least} to {most}") }, of.most)
    };
    [
        range(&of.write_amplification, |of| format!("{of:.2}")),
        of.lifetime_years.as_ref().map_or_else(|| Cell::text("-"), |years| range(years, lifetime)),
    ]
}
