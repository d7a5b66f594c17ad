//! Bars side by side, in groups.

use std::fmt::Write;

use super::axis::{PlotAxis, at_or_below};
use super::grid::present;
use super::legend::{LINE, Legend, SPACE, real};
use super::plot::{HEIGHT, MARGIN, MARK, Rectangle, WIDTH};
use super::style::COLOURS;
use super::svg::{MIDDLE, framed, grid_lines, head, text, y_factor, y_labels, y_title};
use super::switches::{FigureUse, named, target};
use super::text::{LEGEND, TICK, TITLE, number, rounded, shortened, width};
use crate::escape::escaped;

/// Bars over named groups.
///
/// Numbers that are not finite, below zero or beyond 10²⁹⁰ count as absent: there is no bar.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bars {
    /// Title of the y axis, with its unit.
    pub y_label: String,
    /// The names of the groups, from left to right.
    pub groups: Vec<String>,
    /// The bars of a group, in the order of the legend.
    pub series: Vec<BarSeries>,
    /// Whether the axis is logarithmic, if all numbers are positive: bars begin at the power of ten
    /// at or below the least of them.
    pub logarithmic: bool,
}

/// Bars of one colour, one in each group.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BarSeries {
    /// Its name in the legend.
    pub name: String,
    /// A number for each group; where bars are ranges, the most.
    pub values: Vec<f64>,
    /// The least for each group if bars are ranges, else empty. A bar is pale above it.
    pub least: Vec<f64>,
}

impl BarSeries {
    /// Bars of single numbers.
    pub fn new(name: impl Into<String>, values: Vec<f64>) -> BarSeries {
        BarSeries { name: name.into(), values, least: Vec::new() }
    }

    /// The least and the most of a group; `None` for the least where the bar is a single number.
    fn of(&self, group: usize) -> Option<(Option<f64>, f64)> {
        let number = |of: &[f64]| of.get(group).and_then(|&value| present(value)).filter(|&value| value >= 0.0);
        let most = number(&self.values)?;
        Some((number(&self.least).filter(|&least| least < most), most))
    }
}

const SQUARE: f64 = 6.0;
/// How much of its colour a bar has above the least of a range.
const PALE: f64 = 0.35;
/// The part of a group's width that stays free.
const FREE: f64 = 0.25;
/// Sine and cosine of 35°, by which names of groups are turned where they are long.
const TURNED: (f64, f64) = (0.574, 0.819);

struct BarLayout {
    frame: Rectangle,
    axis: PlotAxis,
    legend: Legend,
    is_turned: bool,
    group: f64,
    height: f64,
}

impl Bars {
    /// The figure as an SVG document, 3.5 inches wide, with text in DejaVu Sans.
    pub fn svg(&self) -> String {
        self.document(FigureUse::Alone)
    }

    /// The figure as an SVG document for a page that switches bars and shows values: with groups
    /// for the page's script.
    pub(crate) fn svg_on_page(&self) -> String {
        self.document(FigureUse::OnPage)
    }

    fn document(&self, use_of: FigureUse) -> String {
        let layout = self.layout();
        let frame = layout.frame;
        let mut svg = head(layout.height, &use_of.attributes(""));
        let y = |value: f64| frame.bottom() - layout.axis.place(value) * frame.height;
        grid_lines(&mut svg, frame, std::iter::empty(), layout.axis.ticks.iter().map(|tick| y(tick.at)));
        for at in 0..self.series.len() {
            use_of.group(&mut svg, "curve values", Some(at), |svg| self.bars(svg, &layout, at, use_of));
        }
        self.axes(&mut svg, &layout);
        for (at, name) in layout.legend.names.iter().enumerate() {
            let (x, middle) = layout.legend.entry(at);
            use_of.group(&mut svg, "key", Some(at), |svg| {
                let (top, colour) = (middle - SQUARE / 2.0, colour(at));
                let mut square = |height: f64, attributes: &str| {
                    let y = top + SQUARE - height;
                    let _ = write!(svg, r#"<rect x="{x:.2}" y="{y:.2}" width="{SQUARE}" height="{height}""#);
                    let _ = writeln!(svg, r##" fill="#{colour}" {attributes}/>"##);
                };
                let rim = r##"stroke="#000" stroke-width="0.3""##;
                if self.series[at].least.is_empty() {
                    square(SQUARE, rim);
                } else {
                    square(SQUARE / 2.0, "");
                    square(SQUARE, &format!(r#"fill-opacity="{PALE}" {rim}"#));
                }
                text(svg, x + SQUARE + SPACE, middle + MIDDLE * LEGEND, "", name);
                if use_of == FigureUse::OnPage {
                    target(svg, x, middle - LINE / 2.0, SQUARE + SPACE + width(name, LEGEND), LINE);
                }
            });
        }
        svg.push_str("</svg>\n");
        svg
    }

    fn bars(&self, svg: &mut String, layout: &BarLayout, at: usize, use_of: FigureUse) {
        let frame = layout.frame;
        let y = |value: f64| frame.bottom() - layout.axis.place(value) * frame.height;
        let base = if layout.axis.logarithmic { frame.bottom() } else { y(0.0) };
        let bar = layout.group * (1.0 - FREE) / real(self.series.len().max(1));
        let series = &self.series[at];
        let _ = writeln!(svg, r##"<g fill="#{}" stroke="#000" stroke-width="0.3">"##, colour(at));
        for (group, of) in self.groups.iter().enumerate() {
            let Some((least, most)) = series.of(group) else { continue };
            let left = frame.left + layout.group * (real(group) + FREE / 2.0) + bar * real(at);
            let rectangle = |value: f64| {
                let top = y(value);
                format!(r#"<rect x="{left:.2}" y="{top:.2}" width="{bar:.2}" height="{:.2}""#, base - top)
            };
            if let Some(least) = least {
                let _ = writeln!(svg, r#"{} stroke="none" pointer-events="none"/>"#, rectangle(least));
            }
            let pale = if least.is_some() { format!(r#" fill-opacity="{PALE}""#) } else { String::new() };
            let _ = write!(svg, "{}{pale}", rectangle(most));
            let numbers = least.map_or_else(String::new, |least| format!("{} to ", rounded(least))) + &rounded(most);
            let title = escaped(&format!("{of}\n{}", named(&series.name, &numbers)));
            let _ = match use_of {
                FigureUse::Alone => writeln!(svg, "/>"),
                FigureUse::OnPage => writeln!(svg, r#" data-at="{group}"><title>{title}</title></rect>"#),
            };
        }
        svg.push_str("</g>\n");
    }

    /// The numbers as CSV, with all their digits: a heading, and a row for each group; nothing
    /// where a number is absent. The least of ranges has a column of its own.
    pub fn csv(&self) -> String {
        let quoted = |name: &str| format!("\"{}\"", name.replace('"', "\"\""));
        let mut csv = String::from("\"\"");
        let least = |of: &BarSeries| (!of.least.is_empty()).then(|| (format!("{}, least", of.name), of.least.clone()));
        let columns =
            self.series.iter().flat_map(|of| least(of).into_iter().chain([(of.name.clone(), of.values.clone())]));
        let columns: Vec<(String, Vec<f64>)> = columns.collect();
        columns.iter().for_each(|(name, _)| csv += &format!(",{}", quoted(name)));
        csv.push('\n');
        for (at, group) in self.groups.iter().enumerate() {
            csv += &quoted(group);
            for (_, values) in &columns {
                let value = values.get(at).and_then(|&value| present(value));
                csv += &value.map_or_else(|| ",".to_owned(), |value| format!(",{}", number(value)));
            }
            csv.push('\n');
        }
        csv
    }

    fn layout(&self) -> BarLayout {
        let numbers =
            || self.series.iter().flat_map(|of| of.values.iter().chain(&of.least)).filter_map(|&value| present(value));
        let min = numbers().fold(f64::INFINITY, f64::min);
        let tens = || PlotAxis::by_tens(numbers().chain([at_or_below(min)]));
        let axis = if self.logarithmic { tens() } else { None };
        let axis = axis.unwrap_or_else(|| PlotAxis::from_zero(numbers().fold(0.0, f64::max)));
        let title = if self.y_label.is_empty() { 0.0 } else { TITLE + 4.0 };
        let left = MARGIN - 2.0 + title + axis.label_width() + MARK + 2.0;
        let across = WIDTH - left - MARGIN;
        let group = across / real(self.groups.len().max(1));
        let longest = self.groups.iter().map(|name| width(name, TICK)).fold(0.0, f64::max);
        let is_turned = longest > group - 3.0;
        let over = if axis.exponent == 0 { SPACE } else { SPACE + TICK };
        let mut frame = Rectangle { left, top: over, width: across, height: HEIGHT };
        let ends = |of: &BarSeries| if of.least.is_empty() { "" } else { " (solid: least, pale: most)" };
        let names = self.series.iter().map(|of| format!("{}{}", of.name, ends(of))).collect();
        let legend = Legend::above(names, SQUARE, frame);
        frame.top += legend.height();
        let below = if is_turned { (longest.min(LONGEST)) * TURNED.0 + TICK } else { TICK };
        let height = frame.bottom() + MARK + below + 6.0;
        BarLayout { frame, axis, legend, is_turned, group, height }
    }

    fn axes(&self, svg: &mut String, layout: &BarLayout) {
        let frame = layout.frame;
        let (left, bottom) = (frame.left, frame.bottom());
        let marks = layout.axis.ticks.iter().map(|tick| bottom - layout.axis.place(tick.at) * frame.height);
        framed(svg, frame, std::iter::empty(), marks);
        y_labels(svg, frame, &layout.axis);
        y_factor(svg, frame, &layout.axis);
        for (at, name) in self.groups.iter().enumerate() {
            let middle = left + layout.group * (real(at) + 0.5);
            if layout.is_turned {
                // As long as there is paper to the left.
                let name = shortened(name, TICK, LONGEST.min((middle - 2.0) / TURNED.1));
                let (x, y) = (middle + 2.0, bottom + MARK + TICK);
                let turned = format!(r#"text-anchor="end" transform="rotate(-35 {x:.2} {y:.2})""#);
                text(svg, x, y, &turned, &name);
            } else {
                text(svg, middle, bottom + MARK + TICK, r#"text-anchor="middle""#, name);
            }
        }
        y_title(svg, &self.y_label, frame, layout.height);
    }
}

/// Room for the name of a group that is turned, in points.
const LONGEST: f64 = 70.0;

/// Neighbours differ in lightness. Black is for lines: it would hide the rims of bars.
fn colour(series: usize) -> &'static str {
    let colours = &COLOURS[1..];
    colours[series % colours.len()]
}
