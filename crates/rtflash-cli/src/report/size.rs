//! The report of `size`.

use rtflash_draw::figure::{BarSeries, Bars, Curve, Figure, MeasuredPoint, YAxis};
use rtflash_draw::page::{HtmlReport, Picture, ReportPart, SortableTable, TableCell, Tone};
use rtflash_wire::{
    Answer, ClusterCostAnswer, CostAnswer, ExpectedAnswer, FrontAnswer, FrontPointAnswer, Range, RequestAnswer,
    SizeAnswer, WearAnswer,
};

use super::cells::{amount, count, exact, list, name, places};
use super::{Origin, labelled};
use crate::render::numbers::{lifetime, plain, runs};

/// Requests or clusters that bars are drawn of: more could not be distinguished.
const BARS: usize = 24;
/// How the limits of requests were found.
const BISECTED: &str = "By bisection: the next step fails, and one further out can pass again.";
/// Rows of a table; all of them are in the data.
const ROWS: usize = 2_000;

/// The page of a sized set; `headline` is the verdict in words.
pub fn size(answer: &SizeAnswer<'_>, headline: &str) -> HtmlReport {
    let origin = Origin::of_call(None);
    let tone = match answer.schedulable {
        Some(true) => Tone::Good,
        Some(false) => Tone::Bad,
        None => Tone::Open,
    };
    let requests: Vec<_> = requests(answer).collect();
    let mut pictures = Vec::new();
    if (1..=BARS).contains(&requests.len()) {
        pictures.push(Picture::bars("How much room each request has, everything else as it is", &room(&requests)));
    }
    let figure = answer.front.as_ref().and_then(front_figure);
    pictures.extend(figure.map(|figure| Picture::figure("Devices on which it passes", &figure)));
    let mut parts = vec![
        ReportPart::Heading("Limits of the whole, each with everything else as it is".into()),
        ReportPart::Table(limits(answer)),
    ];
    if !requests.is_empty() {
        parts.push(ReportPart::Heading("One request changed, everything else as it is".into()));
        parts.push(ReportPart::Table(tasks(&requests)));
        parts.push(ReportPart::Note(BISECTED.into()));
        if requests.len() > ROWS {
            parts.push(ReportPart::Note(format!("{} further rows are in the data alone.", requests.len() - ROWS)));
        }
    }
    if let Some(front) = &answer.front {
        let heading = "Devices on which it passes, none better than another in every respect";
        parts.extend([ReportPart::Heading(heading.into()), ReportPart::Table(front_table(front))]);
    }
    for (cost, what) in [(&answer.cost, "at most"), (&answer.with_spread, "at most, with --spread")] {
        let Some(cost) = cost else { continue };
        let wearing = cost.clusters.iter().filter(|cluster| !cluster.tasks.is_empty()).count();
        if (1..=BARS).contains(&wearing) {
            pictures.push(Picture::bars(&format!("Wear: {what}"), &wear(cost)));
        }
        let heading = format!("What it costs on {} chips, {what}, a day", cost.chips);
        parts.extend([ReportPart::Heading(heading), ReportPart::Table(costs(cost))]);
    }
    if !pictures.is_empty() {
        parts.insert(0, ReportPart::Pictures(pictures));
    }
    HtmlReport {
        title: "Size of a task set and its device".into(),
        verdicts: labelled(&answer.verdicts),
        verdict: Some((tone, anstream::adapter::strip_str(headline).to_string().trim_end().to_owned())),
        parts,
        facts: origin.facts(),
        manifest: origin.json(),
        answer: answer.line(),
    }
}

/// The requests of all tasks: task, kind, limits.
fn requests<'a>(answer: &'a SizeAnswer<'_>) -> impl Iterator<Item = (&'a str, &'static str, &'a RequestAnswer)> {
    answer.tasks.iter().flat_map(|task| {
        let kinds = [("read", &task.read), ("write", &task.write)];
        kinds.into_iter().filter_map(|(kind, request)| Some((&*task.task, kind, request.as_ref()?)))
    })
}

fn room(requests: &[(&str, &str, &RequestAnswer)]) -> Bars {
    let share = |&(_, _, request): &(&str, &str, &RequestAnswer)| {
        let shortest = request.shortest_period_ns.map_or(f64::NAN, |period| period as f64);
        shortest / request.period_ns as f64
    };
    Bars {
        y_label: "Period that passes / period".into(),
        groups: requests.iter().map(|(task, kind, _)| format!("{} {kind}", plain(task))).collect(),
        series: vec![BarSeries::new("by bisection", requests.iter().map(share).collect())],
        logarithmic: false,
    }
}

/// A front over two fields that have an order: one curve of each number of channels.
fn front_figure(front: &FrontAnswer) -> Option<Figure> {
    let over = |field: &str| front.over.iter().any(|over| over == field);
    let chips: fn(&FrontPointAnswer) -> f64 = |point| point.chips.into();
    let channels: fn(&FrontPointAnswer) -> f64 = |point| point.channels.into();
    let ratio: fn(&FrontPointAnswer) -> f64 = |point| point.logical_ratio;
    let ((x_label, x), (y_label, y, y_axis)) = match (over("chips"), over("channels"), over("logical_ratio")) {
        (true, _, true) => (("Chips", chips), ("logical_ratio", ratio, YAxis::Ratio)),
        (false, true, true) => (("Channels", channels), ("logical_ratio", ratio, YAxis::Ratio)),
        (true, true, false) => (("Chips", chips), ("Channels", channels, YAxis::FromZero)),
        _ => return None,
    };
    let mut of: Vec<u32> = front.points.iter().map(|point| point.channels).collect();
    of.sort_unstable();
    of.dedup();
    let apart = over("chips") && over("channels") && over("logical_ratio");
    let curve = |label: String, is_in: &dyn Fn(&FrontPointAnswer) -> bool| Curve {
        label,
        points: (front.points.iter().filter(|point| is_in(point)))
            .map(|point| MeasuredPoint { x: x(point), y: y(point), low: f64::NAN, high: f64::NAN })
            .collect(),
    };
    let curves = match apart {
        true => {
            of.iter().map(|&channels| curve(format!("{channels} channels"), &|of| of.channels == channels)).collect()
        }
        false => vec![curve("largest that passes".into(), &|_| true)],
    };
    let (x_label, y_label) = (x_label.into(), y_label.into());
    (!front.points.is_empty()).then(|| Figure { x_label, y_label, y_axis, curves, ..Figure::default() })
}

fn front_table(front: &FrontAnswer) -> SortableTable {
    let mut table = SortableTable::new(&[">chips", ">channels", ">logical_ratio", "algorithm"]);
    for point in &front.points {
        table.rows.push(vec![
            count(point.chips),
            count(point.channels),
            TableCell::number(point.logical_ratio.to_string(), point.logical_ratio),
            TableCell::text(&*point.algorithm),
        ]);
    }
    table
}

fn wear(cost: &CostAnswer<'_>) -> Bars {
    let wearing = || cost.clusters.iter().enumerate().filter(|(_, cluster)| !cluster.tasks.is_empty());
    let expected = |how: &str, of: for<'a> fn(&'a ClusterCostAnswer<'_>) -> &'a Option<ExpectedAnswer>| {
        let erases = |end: fn(&Range) -> f64| {
            let erases = |expected: &ExpectedAnswer| end(&expected.erases_per_chip_per_day);
            wearing().map(|(_, cluster)| of(cluster).as_ref().map_or(f64::NAN, erases)).collect()
        };
        let name = format!("expected {how}");
        BarSeries { least: erases(|range| range.least), ..BarSeries::new(name, erases(|range| range.most)) }
    };
    Bars {
        y_label: "Block erases a chip and day".into(),
        groups: wearing().map(|(position, _)| format!("cluster {position}")).collect(),
        series: vec![
            BarSeries::new("at most", wearing().map(|(_, of)| of.tasks_alone.erases_per_chip_per_day).collect()),
            expected("anywhere", |cluster| &cluster.anywhere),
            expected("in rings", |cluster| &cluster.in_rings),
        ],
        logarithmic: false,
    }
}

fn limits(answer: &SizeAnswer<'_>) -> SortableTable {
    let mut table = SortableTable::new(&["what", ">now", ">limit", "how it was found"]);
    let how = |found: bool, how: &str| TableCell::text(if found { how } else { "none found" });
    let chips = &answer.chips;
    let fewest = if chips.every_smaller_tried {
        "fewest; every smaller number was tried and fails"
    } else {
        "by bisection; not every smaller number was tried"
    };
    table.rows.push(vec![
        TableCell::text("chips"),
        count(chips.now),
        TableCell::some(chips.fewest.map(|fewest| (fewest.to_string(), fewest.into()))),
        how(chips.fewest.is_some(), fewest),
    ]);
    let ratio = &answer.logical_ratio;
    table.rows.push(vec![
        TableCell::text("logical_ratio"),
        TableCell::number(ratio.now.to_string(), ratio.now),
        TableCell::some(ratio.largest.map(|largest| (largest.to_string(), largest))),
        how(
            ratio.largest.is_some(),
            &format!("largest; every larger step of {} was tried and fails", ratio.resolution),
        ),
    ]);
    let load = answer.load.largest_factor;
    table.rows.push(vec![
        TableCell::text("load"),
        TableCell::number("1", 1.0),
        places(load, 3),
        how(load.is_some(), "by bisection; the next step of 0.001 fails: every period divided by it"),
    ]);
    table
}

fn tasks(requests: &[(&str, &str, &RequestAnswer)]) -> SortableTable {
    let mut table = SortableTable::new(&["task", "request", ">pages", ">more pages", ">period", ">shortest period"]);
    for (task, kind, request) in requests.iter().take(ROWS) {
        table.rows.push(vec![
            name(task),
            TableCell::text(*kind),
            count(request.pages),
            TableCell::some(request.more_pages.map(|more| (format!("{more:+}"), more as f64))),
            exact(Some(request.period_ns)),
            exact(request.shortest_period_ns),
        ]);
    }
    table
}

fn costs(cost: &CostAnswer<'_>) -> SortableTable {
    let mut table = SortableTable::new(&[
        "cluster",
        "chips",
        "tasks",
        ">write amplification",
        ">pages",
        ">by GC",
        ">erases a chip",
        ">lifetime",
    ]);
    let numbers = |wear: &WearAnswer| {
        [
            amount(Some(wear.pages_per_day)),
            amount(Some(wear.gc_pages_per_day)),
            amount(Some(wear.erases_per_chip_per_day)),
            TableCell::some(wear.lifetime_years.map(|years| (lifetime(years), years))),
        ]
    };
    let shown = cost.clusters.iter().enumerate().filter(|(_, cluster)| !cluster.tasks.is_empty());
    for (position, cluster) in shown.take(ROWS) {
        let head = [
            TableCell::text(position.to_string()),
            TableCell::text(runs(&cluster.chips)),
            list(cluster.tasks.iter().map(AsRef::as_ref)),
            places(cluster.write_amplification, 3),
        ];
        table.rows.push(head.into_iter().chain(numbers(&cluster.tasks_alone)).collect());
    }
    let mut whole = |what: &str, wear: &WearAnswer| {
        let head = ["all", "", what, "-"].map(TableCell::text);
        table.rows.push(head.into_iter().chain(numbers(wear)).collect());
    };
    whole("tasks", &cost.tasks);
    if let Some(with_jobs) = &cost.with_jobs {
        whole("tasks and jobs", with_jobs);
    }
    table
}
