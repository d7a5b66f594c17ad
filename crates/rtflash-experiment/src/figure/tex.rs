//! The figure as a picture that LaTeX draws.

use std::fmt::Write;
use std::ops::Range;

use super::Figure;
use super::axis::Axis;
use super::layout::Layout;
use super::style::{Fill, Style};
use super::table::names;
use super::text::number;

const HEAD: &str = "\
% Needs: \\usepackage{pgfplots} \\pgfplotsset{compat=1.18} \\usepgfplotslibrary{fillbetween}
\\begin{tikzpicture}
\\begin{axis}[
  width=3.5in, height=2.5in,
  font=\\footnotesize, label style={font=\\footnotesize}, tick label style={font=\\scriptsize},
  grid=major, grid style={gray!25, very thin}, tick align=outside, tick pos=left,
  legend cell align=left, legend style={font=\\scriptsize, inner sep=1pt, row sep=-2pt, draw=gray!50},
  unbounded coords=jump,
";

pub(super) fn picture(figure: &Figure, table_file: &str) -> String {
    let layout = Layout::new(figure);
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
    place_legend(&mut tex, &layout);
    tex.push_str("]\n");
    for (curve, name) in names(figure).iter().enumerate() {
        bands(&mut tex, &layout, curve, name, table_file);
    }
    for (curve, name) in names(figure).iter().enumerate() {
        line(&mut tex, &layout, curve, name, table_file);
        let label = &figure.curves[curve].label;
        if !label.is_empty() {
            let _ = writeln!(tex, "\\addlegendentry{{{}}}", escaped(label));
        }
    }
    tex.push_str("\\end{axis}\n\\end{tikzpicture}\n");
    tex
}

fn axis(tex: &mut String, axis: &Axis, name: char) {
    let _ = writeln!(tex, "  {name}min={:e}, {name}max={:e},", axis.from, axis.to);
}

/// In the corner of the plot next to where the drawn figure has it, or above.
fn place_legend(tex: &mut String, layout: &Layout) {
    let (legend, frame) = (&layout.legend, layout.plot.frame);
    if !legend.inside {
        let columns = legend.entries.len().div_ceil(legend.rows.max(1));
        let _ =
            writeln!(tex, "  legend columns={columns}, legend style={{at={{(0.5,1.03)}}, anchor=south, draw=none}},");
        return;
    }
    let share = (legend.left + legend.width() / 2.0 - frame.left) / frame.width;
    let across = if share < 0.5 { "west" } else { "east" };
    let down = if legend.top + legend.height() / 2.0 < frame.top + frame.height / 2.0 { "north" } else { "south" };
    let _ = writeln!(tex, "  legend pos={down} {across},");
}

fn colour(curve: usize) -> String {
    let hex = Style::of(curve).colour;
    let part = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).unwrap_or(0);
    format!("{{rgb,255:red,{};green,{};blue,{}}}", part(0), part(2), part(4))
}

fn bands(tex: &mut String, layout: &Layout, curve: usize, name: &str, file: &str) {
    let rows = layout.plot.grid.xs.len();
    for (at, band) in layout.plot.grid.bands(curve).into_iter().enumerate().filter(|(_, band)| band.len() > 1) {
        let Range { start, end } = band;
        for side in ["low", "high"] {
            let _ = write!(tex, "\\addplot[name path=curve{curve}-{at}-{side}, draw=none, mark=none, forget plot");
            // The rows before and after belong to other stretches.
            for (from, to) in [(0, start), (end, rows)].into_iter().filter(|(from, to)| from < to) {
                let _ = write!(tex, ", unbounded coords=discard, skip coords between index={{{from}}}{{{to}}}");
            }
            let _ = writeln!(tex, "] table[x=x, y={name}-{side}]{{{file}}};");
        }
        let _ = writeln!(
            tex,
            "\\addplot[fill={}, fill opacity=0.17, draw=none, forget plot] \
             fill between[of=curve{curve}-{at}-low and curve{curve}-{at}-high];",
            colour(curve)
        );
    }
}

fn line(tex: &mut String, layout: &Layout, curve: usize, name: &str, file: &str) {
    let style = Style::of(curve);
    let (marker, turned) = style.marker.tex.split_once(",mark options={").unwrap_or((style.marker.tex, ""));
    let mut options = turned.strip_suffix('}').map(|turn| format!(", {turn}")).unwrap_or_default();
    if style.marker.fill == Fill::Open {
        options.push_str(", fill=white");
    }
    let colour = colour(curve);
    let look = format!("mark={marker}, mark size=1.8pt, mark options={{solid{options}}}");
    let _ = write!(tex, "\\addplot[color={colour}, line width=1pt, {look}");
    if !style.dashes.is_empty() {
        let words = ["on", "off"].into_iter().cycle();
        let dashes: Vec<String> = words.zip(style.dashes).map(|(word, length)| format!("{word} {length}pt")).collect();
        let _ = write!(tex, ", dash pattern={}", dashes.join(" "));
    }
    let step = layout.plot.grid.marker_step();
    if step > 1 {
        let _ = write!(tex, ", mark repeat={step}, mark phase={}", layout.plot.grid.first_marker(curve) + 1);
    }
    if is_unnamed(layout, curve) {
        tex.push_str(", forget plot");
    }
    let _ = writeln!(tex, "] table[x=x, y={name}]{{{file}}};");
    // Points without neighbours, at which there might be no marker.
    for row in layout.plot.grid.lines(curve).into_iter().filter(|line| line.len() == 1 && step > 1) {
        if let Some(point) = layout.plot.grid.curves[curve][row.start] {
            let _ = writeln!(
                tex,
                "\\addplot[color={colour}, only marks, {look}, forget plot] coordinates {{({:e},{:e})}};",
                point.x, point.y
            );
        }
    }
}

fn is_unnamed(layout: &Layout, curve: usize) -> bool {
    !layout.legend.entries.iter().any(|(named, _)| *named == curve)
}

/// The text as TeX would print it.
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
