//! The figure as SVG, in points.
//!
//! Positions are written in hundredths of a point, and come from operations that are exact to the
//! last bit everywhere.

use std::fmt::Write;
use std::ops::Range;

use super::Figure;
use super::axis::PlotAxis;
use super::coincide::{LINE_WIDTH, Stroke};
use super::legend::{FigureLayout, LINE, SAMPLE, SPACE, Sample};
use super::plot::{MARK, Plot, Rectangle, WIDTH};
use super::style::{Fill, Style};
use super::switches::{FigureUse, named, target};
use super::text::{LEGEND, TICK, TITLE, power, rounded, shortened, width};
use crate::escape::escaped;

/// From the middle of digits down to the line they stand on, as a share of the size.
pub(super) const MIDDLE: f64 = 0.365;
/// How much of what lies below a band hides.
pub(super) const OPACITY: f64 = 0.17;
/// Height of the piece of a band in the legend.
const BAND: f64 = 5.0;

/// The figure alone, or for a page, where curves are switched and values are shown.
pub(super) fn document(figure: &Figure, use_of: FigureUse) -> String {
    let layout = FigureLayout::new(figure);
    let mut svg = head(layout.height, &use_of.attributes(&figure.x_label));
    let (xs, ys) = tick_places(&layout.plot);
    grid_lines(&mut svg, layout.plot.frame, xs, ys);
    for curve in 0..figure.curves.len() {
        use_of.group(&mut svg, "curve band", Some(curve), |svg| {
            bands(svg, &layout, curve, &layout.plot.bands(curve));
        });
        if use_of == FigureUse::OnPage && layout.plot.bands(curve).is_empty() {
            // Another curve has the same band, which may be switched off.
            let own = layout.plot.own_bands(curve);
            use_of.group(&mut svg, "curve band whole", Some(curve), |svg| bands(svg, &layout, curve, &own));
        }
    }
    // Solid lines lie below, so that they show in the gaps of others.
    let mut order: Vec<usize> = (0..figure.curves.len()).collect();
    order.sort_by_key(|&curve| !Style::of(curve).dashes.is_empty());
    for curve in order {
        use_of.group(&mut svg, "curve", Some(curve), |svg| lines(svg, &layout, curve, use_of));
    }
    axes(&mut svg, &layout);
    titles(&mut svg, figure, &layout);
    for (curve, rows) in layout.plot.marked().into_iter().enumerate() {
        let points = &layout.plot.grid.curves[curve];
        let marked = rows.into_iter().filter_map(|row| points[row]);
        let places = marked.map(|point| layout.plot.at(point.x, point.y));
        use_of.group(&mut svg, "curve", Some(curve), |svg| markers(svg, curve, places));
    }
    if use_of == FigureUse::OnPage {
        for (curve, of) in figure.curves.iter().enumerate() {
            use_of.group(&mut svg, "curve values", Some(curve), |svg| values(svg, &layout, curve, &of.label));
        }
    }
    legend(&mut svg, &layout, use_of);
    svg.push_str("</svg>\n");
    svg
}

pub(super) fn head(height: f64, attributes: &str) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"3.5in\" height=\"{:.4}in\" viewBox=\"0 0 {WIDTH} \
         {height:.2}\" \
         font-family=\"DejaVu Sans, sans-serif\" font-size=\"{TICK}\"{attributes}>\n\
         <rect width=\"{WIDTH}\" height=\"{height:.2}\" fill=\"#fff\"/>\n",
        height / 72.0
    )
}

/// Lines across a frame, at these x and at these y.
pub(super) fn grid_lines(
    svg: &mut String,
    frame: Rectangle,
    xs: impl Iterator<Item = f64>,
    ys: impl Iterator<Item = f64>,
) {
    svg.push_str(r##"<path fill="none" stroke="#e2e2e2" stroke-width="0.4" d=""##);
    for x in xs {
        let _ = write!(svg, "M{x:.2} {:.2}V{:.2}", frame.top, frame.bottom());
    }
    for y in ys {
        let _ = write!(svg, "M{:.2} {y:.2}H{:.2}", frame.left, frame.right());
    }
    svg.push_str("\"/>\n");
}

/// A frame, with marks below at these x and to the left at these y.
pub(super) fn framed(svg: &mut String, frame: Rectangle, xs: impl Iterator<Item = f64>, ys: impl Iterator<Item = f64>) {
    let (left, right, top, bottom) = (frame.left, frame.right(), frame.top, frame.bottom());
    svg.push_str(r##"<path fill="none" stroke="#333" stroke-width="0.6" d=""##);
    let _ = write!(svg, "M{left:.2} {top:.2}H{right:.2}V{bottom:.2}H{left:.2}Z");
    for x in xs {
        let _ = write!(svg, "M{x:.2} {bottom:.2}v{MARK}");
    }
    for y in ys {
        let _ = write!(svg, "M{left:.2} {y:.2}h-{MARK}");
    }
    svg.push_str("\"/>\n");
}

pub(super) fn y_labels(svg: &mut String, frame: Rectangle, axis: &PlotAxis) {
    for tick in &axis.ticks {
        let y = frame.bottom() - axis.place(tick.at) * frame.height;
        text(svg, frame.left - MARK - 2.0, y + MIDDLE * TICK, "text-anchor=\"end\"", &tick.label);
    }
}

pub(super) fn y_factor(svg: &mut String, frame: Rectangle, axis: &PlotAxis) {
    if axis.exponent != 0 {
        text(svg, frame.left, frame.top - 2.5, "", &power(axis.exponent));
    }
}

pub(super) fn y_title(svg: &mut String, title: &str, frame: Rectangle, height: f64) {
    let title = shortened(title, TITLE, height - 4.0);
    let half = width(&title, TITLE) / 2.0;
    let (x, y) = (TITLE + 1.0, (frame.top + frame.height / 2.0).clamp(half, (height - half).max(half)));
    let turned = format!("text-anchor=\"middle\" font-size=\"{TITLE}\" transform=\"rotate(-90 {x:.2} {y:.2})\"");
    text(svg, x, y, &turned, &title);
}

fn bands(svg: &mut String, layout: &FigureLayout, curve: usize, bands: &[Range<usize>]) {
    let points = &layout.plot.grid.curves[curve];
    for band in bands.iter().filter(|band| band.len() > 1) {
        let points = || points[band.clone()].iter().flatten();
        let high = points().map(|point| layout.plot.at(point.x, point.high));
        let low = points().rev().map(|point| layout.plot.at(point.x, point.low));
        let colour = Style::of(curve).colour;
        let path = path(high.chain(low));
        let _ = writeln!(svg, "<path fill=\"#{colour}\" fill-opacity=\"{OPACITY}\" d=\"{path}Z\"/>");
    }
}

fn lines(svg: &mut String, layout: &FigureLayout, curve: usize, use_of: FigureUse) {
    let points = |line: Range<usize>| layout.plot.grid.curves[curve][line].iter().flatten();
    let (shared, own): (Vec<_>, Vec<_>) =
        layout.plot.strokes(curve).into_iter().partition(|stroke| stroke.share.is_some());
    let along = |stroke: &Stroke| {
        let rows = stroke.rows.start..stroke.rows.end + 1;
        path(points(rows).map(|point| layout.plot.at(point.x, point.y)))
    };
    let drawn: String = own.iter().map(along).collect();
    if !drawn.is_empty() {
        line(svg, Style::of(curve).colour, Style::of(curve).dashes, 0.0, &drawn);
    }
    use_of.group(svg, "turns", None, |svg| {
        for (stroke, share) in shared.iter().filter_map(|stroke| Some((stroke, stroke.share?))) {
            line(svg, Style::of(curve).colour, &share.dashes(), share.phase(), &along(stroke));
        }
    });
    if use_of == FigureUse::OnPage && !shared.is_empty() {
        // If the others of a line are switched off, there are no turns to take.
        let path: String = shared.iter().map(along).collect();
        use_of.group(svg, "whole", None, |svg| {
            line(svg, Style::of(curve).colour, Style::of(curve).dashes, 0.0, &path);
        });
    }
    // An interval that no band shows, since its neighbours have none.
    let alone = layout.plot.bands(curve).into_iter().filter(|band| band.len() == 1);
    let bar =
        |point: &super::MeasuredPoint| path([point.low, point.high].into_iter().map(|y| layout.plot.at(point.x, y)));
    let bars: String = alone.flat_map(points).map(bar).collect();
    if !bars.is_empty() {
        let colour = Style::of(curve).colour;
        let _ = writeln!(svg, "<path fill=\"none\" stroke=\"#{colour}\" stroke-width=\"0.6\" d=\"{bars}\"/>");
    }
}

/// The values of a curve, each where its point is: nothing is drawn, a page shows them.
fn values(svg: &mut String, layout: &FigureLayout, curve: usize, label: &str) {
    let points = layout.plot.grid.curves[curve].iter().enumerate();
    for (row, point) in points.filter_map(|(row, point)| Some((row, point.as_ref()?))) {
        let (x, y) = layout.plot.at(point.x, point.y);
        let mut value = rounded(point.y);
        if point.low.is_finite() && point.high.is_finite() {
            value += &format!(" ({} to {})", rounded(point.low), rounded(point.high));
        }
        let _ = write!(svg, r#"<circle data-at="{row}" cx="{x:.2}" cy="{y:.2}" r="3.4" fill="none" "#);
        let title = escaped(&format!("{}\n{}", rounded(point.x), named(label, &value)));
        let _ = writeln!(svg, r#"pointer-events="all"><title>{title}</title></circle>"#);
    }
}

/// A path in a colour, with strokes and gaps of these lengths, begun so far into the first of them.
fn line(svg: &mut String, colour: &str, dashes: &[f64], phase: f64, path: &str) {
    let _ =
        write!(svg, "<path fill=\"none\" stroke=\"#{colour}\" stroke-width=\"{LINE_WIDTH}\" stroke-linejoin=\"round\"");
    if !dashes.is_empty() {
        let lengths: Vec<String> = dashes.iter().map(f64::to_string).collect();
        let _ = write!(svg, " stroke-dasharray=\"{}\"", lengths.join(" "));
    }
    if phase > 0.0 {
        let _ = write!(svg, " stroke-dashoffset=\"{phase:.2}\"");
    }
    let _ = writeln!(svg, " d=\"{path}\"/>");
}

fn markers(svg: &mut String, curve: usize, at: impl Iterator<Item = (f64, f64)>) {
    let Style { colour, marker, .. } = Style::of(curve);
    let _ = match marker.fill {
        // The rim sets it off against what lies below.
        Fill::Full => writeln!(svg, "<g fill=\"#{colour}\" stroke=\"#fff\" stroke-width=\"0.4\">"),
        Fill::Open => writeln!(svg, "<g fill=\"#fff\" stroke=\"#{colour}\" stroke-width=\"0.8\">"),
        Fill::Line => writeln!(svg, "<g fill=\"none\" stroke=\"#{colour}\" stroke-width=\"0.9\">"),
    };
    for (x, y) in at {
        let _ = writeln!(svg, "<path transform=\"translate({x:.2} {y:.2})\" d=\"{}\"/>", marker.path);
    }
    svg.push_str("</g>\n");
}

fn axes(svg: &mut String, layout: &FigureLayout) {
    let (plot, frame) = (&layout.plot, layout.plot.frame);
    let (xs, ys) = tick_places(plot);
    framed(svg, frame, xs.clone(), ys);
    for (tick, x) in plot.x.ticks.iter().zip(xs) {
        text(svg, x, frame.bottom() + MARK + TICK, r#"text-anchor="middle""#, &tick.label);
    }
    y_labels(svg, frame, &plot.y);
}

fn tick_places(plot: &Plot) -> (impl Iterator<Item = f64> + Clone, impl Iterator<Item = f64>) {
    (plot.x.ticks.iter().map(|tick| plot.at(tick.at, 0.0).0), plot.y.ticks.iter().map(|tick| plot.at(0.0, tick.at).1))
}

fn titles(svg: &mut String, figure: &Figure, layout: &FigureLayout) {
    let frame = layout.plot.frame;
    let below = layout.height - 4.0;
    let mut room = WIDTH - 4.0;
    if layout.plot.x.exponent != 0 {
        text(svg, WIDTH - 2.0, below, "text-anchor=\"end\"", &power(layout.plot.x.exponent));
        room = frame.width - 50.0;
    }
    y_factor(svg, frame, &layout.plot.y);
    // In the middle of the axis, or of the figure if the title needs the room.
    let title = shortened(&figure.x_label, TITLE, room);
    let half = width(&title, TITLE) / 2.0;
    let x = (frame.left + frame.width / 2.0).min(WIDTH - 2.0 - half);
    text(svg, x, below, &format!("text-anchor=\"middle\" font-size=\"{TITLE}\""), &title);
    y_title(svg, &figure.y_label, frame, layout.height);
}

fn legend(svg: &mut String, layout: &FigureLayout, use_of: FigureUse) {
    for (at, (&sample, name)) in layout.samples.iter().zip(&layout.legend.names).enumerate() {
        let (x, y) = layout.legend.entry(at);
        let curve = match sample {
            Sample::Curve(curve) => Some(curve),
            Sample::Band => None,
        };
        use_of.group(svg, "key", curve, |svg| {
            entry(svg, sample, x, y);
            text(svg, x + SAMPLE + SPACE, y + MIDDLE * LEGEND, "", name);
            if use_of == FigureUse::OnPage {
                let width = SAMPLE + SPACE + width(name, LEGEND);
                target(svg, x, y - LINE / 2.0, width, LINE);
            }
        });
    }
}

fn entry(svg: &mut String, sample: Sample, x: f64, y: f64) {
    match sample {
        Sample::Curve(curve) => {
            let style = Style::of(curve);
            line(svg, style.colour, style.dashes, 0.0, &path([(x, y), (x + SAMPLE, y)].into_iter()));
            markers(svg, curve, std::iter::once((x + SAMPLE / 2.0, y)));
        }
        Sample::Band => {
            let top = y - BAND / 2.0;
            let _ = write!(svg, r#"<rect x="{x:.2}" y="{top:.2}" width="{SAMPLE}" height="{BAND}" "#);
            let _ = writeln!(svg, r#"fill-opacity="{OPACITY}"/>"#);
        }
    }
}

pub(super) fn text(svg: &mut String, x: f64, y: f64, attributes: &str, text: &str) {
    if !text.is_empty() {
        let _ = writeln!(svg, "<text x=\"{x:.2}\" y=\"{y:.2}\" {attributes}>{}</text>", escaped(text));
    }
}

fn path(points: impl Iterator<Item = (f64, f64)>) -> String {
    let mut path = String::new();
    for (x, y) in points {
        let letter = if path.is_empty() { 'M' } else { 'L' };
        let _ = write!(path, "{letter}{x:.2} {y:.2}");
    }
    path
}
