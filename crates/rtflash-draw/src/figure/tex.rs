//! The figure as a picture that LaTeX draws.

use std::fmt::Write;
use std::ops::Range;

use super::Figure;
use super::axis::PlotAxis;
use super::coincide::LINE_WIDTH;
use super::legend::{FigureLayout, Sample, name};
use super::plot::Plot;
use super::style::{Fill, Style};
use super::svg::OPACITY;
use super::text::number;

const HEAD: &str = "\
% Needs: \\usepackage{pgfplots} \\pgfplotsset{compat=1.18}
\\begin{tikzpicture}
\\begin{axis}[
  width=3.5in, height=2.5in,
  font=\\footnotesize, label style={font=\\footnotesize}, tick label style={font=\\scriptsize},
  grid=major, grid style={gray!25, very thin}, tick align=outside, tick pos=left,
  legend cell align=left, legend style={font=\\scriptsize, inner sep=1pt, row sep=-2pt, draw=gray!50},
";

const ON_A_LINE: usize = 4;

pub(super) fn picture(figure: &Figure) -> String {
    let layout = FigureLayout::new(figure);
    let mut tex = String::from(HEAD);
    let _ = writeln!(tex, "  xlabel={{{}}}, ylabel={{{}}},", escaped(&figure.x_label), escaped(&figure.y_label));
    axis(&mut tex, &layout.plot.x, 'x');
    axis(&mut tex, &layout.plot.y, 'y');
    if figure.x_ticks.is_some() && !layout.plot.x.ticks.is_empty() {
        let ticks: Vec<String> = layout.plot.x.ticks.iter().map(|tick| number(tick.at)).collect();
        let _ = writeln!(tex, "  xtick={{{}}},", ticks.join(","));
        if layout.plot.x.logarithmic {
            tex.push_str("  xmode=log, log ticks with fixed point, xminorticks=false,\n");
        }
    }
    if figure.x_ticks.is_none() && layout.plot.x.logarithmic {
        tex.push_str("  xmode=log,\n");
    }
    if layout.plot.y.logarithmic {
        tex.push_str("  ymode=log,\n");
    }
    let columns = layout.legend.columns;
    let _ = writeln!(tex, "  legend columns={columns}, legend style={{at={{(0.5,1.03)}}, anchor=south, draw=none}},");
    tex.push_str("]\n");
    let curves = 0..figure.curves.len();
    for curve in curves.clone() {
        bands(&mut tex, &layout.plot, curve);
    }
    // Solid lines lie below, so that they show in the gaps of others.
    let mut order: Vec<usize> = curves.clone().collect();
    order.sort_by_key(|&curve| !Style::of(curve).dashes.is_empty());
    for curve in order {
        lines(&mut tex, &layout.plot, curve);
    }
    for (curve, rows) in layout.plot.marked().iter().enumerate() {
        let points = rows.iter().filter_map(|&row| layout.plot.grid.curves[curve][row]);
        plot(&mut tex, &format!("only marks, {}", marks(curve)), points.map(|point| (point.x, point.y)), "");
    }
    legend(&mut tex, figure, &layout);
    tex.push_str("\\end{axis}\n\\end{tikzpicture}\n");
    tex
}

fn axis(tex: &mut String, axis: &PlotAxis, name: char) {
    let _ = writeln!(tex, "  {name}min={:e}, {name}max={:e},", axis.from, axis.to);
}

fn colour(curve: usize) -> String {
    let hex = Style::of(curve).colour;
    let part = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).expect("a colour in hexadecimal");
    format!("{{rgb,255:red,{};green,{};blue,{}}}", part(0), part(2), part(4))
}

/// Points, drawn with these options; nothing of no points.
fn plot(tex: &mut String, options: &str, points: impl Iterator<Item = (f64, f64)>, end: &str) {
    let points: Vec<String> = points.map(|(x, y)| format!("({},{})", number(x), number(y))).collect();
    if points.is_empty() {
        return;
    }
    let lines: Vec<String> = points.chunks(ON_A_LINE).map(|points| points.join(" ")).collect();
    let _ = writeln!(tex, "\\addplot[{options}, forget plot] coordinates {{\n  {}\n}}{end};", lines.join("\n  "));
}

fn bands(tex: &mut String, of: &Plot, curve: usize) {
    let points = |rows: Range<usize>| of.grid.curves[curve][rows].iter().flatten();
    let colour = colour(curve);
    for band in of.bands(curve) {
        if band.len() > 1 {
            let high = points(band.clone()).map(|point| (point.x, point.high));
            let low = points(band).rev().map(|point| (point.x, point.low));
            let options = format!("fill={colour}, fill opacity={OPACITY}, draw=none, mark=none");
            plot(tex, &options, high.chain(low), " -- cycle");
        } else {
            // An interval that no band shows, since its neighbours have none.
            let ends = points(band).flat_map(|point| [(point.x, point.low), (point.x, point.high)]);
            plot(tex, &format!("color={colour}, line width=0.6pt, mark=none"), ends, "");
        }
    }
}

fn lines(tex: &mut String, of: &Plot, curve: usize) {
    let style = Style::of(curve);
    for stroke in of.strokes(curve) {
        let points = of.grid.curves[curve][stroke.rows.start..=stroke.rows.end].iter().flatten();
        let dashes = match stroke.share {
            None => dashes(style.dashes),
            Some(share) => format!("{}, dash phase={:.2}pt", dashes(&share.dashes()), share.phase()),
        };
        let options = format!("color={}, line width={LINE_WIDTH}pt, mark=none{dashes}", colour(curve));
        plot(tex, &options, points.map(|point| (point.x, point.y)), "");
    }
}

fn dashes(lengths: &[f64]) -> String {
    if lengths.is_empty() {
        return String::new();
    }
    let words = ["on", "off"].into_iter().cycle().zip(lengths);
    let words: Vec<String> = words.map(|(word, length)| format!("{word} {length:.2}pt")).collect();
    format!(", dash pattern={}", words.join(" "))
}

fn marks(curve: usize) -> String {
    let style = Style::of(curve);
    let (marker, turned) = style.marker.tex.split_once(",mark options={").unwrap_or((style.marker.tex, ""));
    let mut options = turned.strip_suffix('}').map_or_else(String::new, |turn| format!(", {turn}"));
    if style.marker.fill == Fill::Open {
        options.push_str(", fill=white");
    }
    format!("color={}, mark={marker}, mark size=1.8pt, mark options={{solid{options}}}", colour(curve))
}

fn legend(tex: &mut String, figure: &Figure, layout: &FigureLayout) {
    for &sample in &layout.samples {
        let image = match sample {
            Sample::Curve(curve) => {
                format!("{}, line width={LINE_WIDTH}pt{}", marks(curve), dashes(Style::of(curve).dashes))
            }
            Sample::Band => format!("area legend, fill=black, fill opacity={OPACITY}, draw=none"),
        };
        // In full: there can be more room than in the drawn figure.
        let name = name(figure, &layout.plot, sample);
        let _ = writeln!(tex, "\\addlegendimage{{{image}}}\n\\addlegendentry{{{}}}", escaped(&name));
    }
}

fn escaped(text: &str) -> String {
    let mut tex = String::new();
    for c in text.chars() {
        let written = match c {
            '\\' => "\\textbackslash{}",
            '~' => "\\textasciitilde{}",
            '^' => "\\textasciicircum{}",
            '<' => "\\textless{}",
            '>' => "\\textgreater{}",
            '|' => "\\textbar{}",
            '"' => "''",
            'α' => "\\ensuremath{\\alpha}",
            'β' => "\\ensuremath{\\beta}",
            'δ' => "\\ensuremath{\\delta}",
            'λ' => "\\ensuremath{\\lambda}",
            'μ' | 'µ' => "\\ensuremath{\\mu}",
            'σ' => "\\ensuremath{\\sigma}",
            'τ' => "\\ensuremath{\\tau}",
            '≤' => "\\ensuremath{\\leq}",
            '≥' => "\\ensuremath{\\geq}",
            '×' => "\\ensuremath{\\times}",
            '·' => "\\ensuremath{\\cdot}",
            '−' => "\\ensuremath{-}",
            '#' | '$' | '%' | '&' | '_' | '{' | '}' => {
                tex.push('\\');
                tex.push(c);
                continue;
            }
            c if c.is_control() => " ",
            c => {
                tex.push(c);
                continue;
            }
        };
        tex.push_str(written);
    }
    tex
}
