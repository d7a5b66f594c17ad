//! The report of `size`.

use rtflash_answers::{
    Answer, ClusterCostAnswer, CostAnswer, ExpectedAnswer, FrontAnswer, FrontPointAnswer, Range, RequestAnswer,
    SizeAnswer, Tone,
};
use rtflash_draw::figure::{BarSeries, Bars, Curve, Figure, MeasuredPoint, YAxis};
use rtflash_draw::page::{HtmlReport, Picture, ReportPart};
use rtflash_model::Device;

use super::{Origin, ROWS, labelled, subject, table_parts};
use crate::render::numbers::plain;

/// Requests or clusters that bars are drawn of: more could not be distinguished.
const BARS: usize = 24;
const BISECTED: &str = "By bisection: the next step fails, and one further out can pass again.";

const AMPLIFICATION: &str = "W: write amplification, the pages programmed for each page written, at most.";

/// The page of a sized set; `headline` is the verdict in words.
pub fn size(answer: &SizeAnswer<'_>, device: &Device, headline: &str) -> HtmlReport {
    let origin = Origin::of_call(None);
    let tone = match answer.schedulable {
        Some(true) => Tone::Good,
        Some(false) => Tone::Bad,
        None => Tone::Open,
    };
    let requests: Vec<_> = answer.requests().collect();
    let mut pictures = Vec::new();
    if (1..=BARS).contains(&requests.len()) {
        pictures.push(Picture::bars("How much room each request has, everything else as it is", &room(&requests)));
    }
    let figure = answer.front.as_ref().and_then(front_figure);
    pictures.extend(figure.map(|figure| Picture::figure("Devices on which it passes", &figure)));
    let mut parts = table_parts("Limits of the whole, each with everything else as it is", answer.limits_table(device));
    if !requests.is_empty() {
        parts.extend(table_parts("One request changed, everything else as it is", answer.requests_table(device)));
        parts.push(ReportPart::Note(BISECTED.into()));
    }
    if let Some(front) = &answer.front {
        let heading = "Devices on which it passes, none better than another in every respect";
        parts.extend(table_parts(heading, front.table()));
    }
    for (cost, what) in [(&answer.cost, "at most"), (&answer.with_spread, "at most, with --spread")] {
        let Some(cost) = cost else { continue };
        if (1..=BARS).contains(&cost.serving().count()) {
            pictures.push(Picture::bars(&format!("Wear: {what}"), &wear(cost)));
        }
        let heading = format!("What it costs on {} chips, {what}, a day", cost.chips);
        parts.extend(table_parts(&heading, cost.table(device.page_size(), ROWS)));
        parts.push(ReportPart::Note(AMPLIFICATION.into()));
    }
    if !pictures.is_empty() {
        parts.insert(0, ReportPart::Pictures(pictures));
    }
    let mut tasks: Vec<&str> = requests.iter().map(|&(task, _, _)| task).collect();
    tasks.dedup();
    parts.insert(0, subject(&tasks, device));
    let text = anstream::adapter::strip_str(headline).to_string();
    let verdict = (tone, text.trim_end().to_owned());
    let page = origin.page("Size of a task set and its device", verdict, parts, answer.line());
    HtmlReport { verdicts: labelled(&answer.verdicts), ..page }
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
        points: front.points.iter().filter(|of| is_in(of)).map(|of| MeasuredPoint::exact(x(of), y(of))).collect(),
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

fn wear(cost: &CostAnswer<'_>) -> Bars {
    let wearing = || cost.serving();
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
