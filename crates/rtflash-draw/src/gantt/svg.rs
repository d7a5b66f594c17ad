//! The chart as a figure.
//!
//! Positions are whole hundredths of a pixel, so that a figure is the same on every machine.

use std::fmt::{self, Write};

use rtflash_model::format_ns;

mod lanes;

use self::lanes::HEIGHT;
use super::axis::{TimeAxis, joined};
use super::{ChartBar, ChartRow, Gantt, Look, Miss};
use crate::escape::escaped;

/// Boxes that a figure has at most. Beyond, viewers become slow, and boxes are thinner than what a
/// screen shows.
const MAX_BOXES: usize = 20_000;
/// Rows, and marks of missed deadlines, that are drawn.
const MAX_ROWS: usize = 600;
const MAX_MARKS: usize = 1_000;

/// One pixel.
const PX: u64 = 100;
const LEFT: u64 = 136 * PX;
const PLOT: u64 = 1040 * PX;
const RIGHT: u64 = 24 * PX;
const TOP: u64 = 44 * PX;
const LANE: u64 = 20 * PX;
const FONT: u64 = 11 * PX;
/// The width of a box, so that a screen shows it.
const THINNEST: u64 = 3 * PX / 4;

/// Hundredths of a pixel.
struct Px(u64);

impl fmt::Display for Px {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 % PX {
            0 => write!(f, "{}", self.0 / PX),
            rest => write!(f, "{}.{rest:02}", self.0 / PX),
        }
    }
}

impl Gantt {
    /// The chart as an SVG document, 1200 pixels wide.
    ///
    /// If there are too many operations to draw each, boxes show the look that occupies most of a
    /// stretch, and the figure says so.
    pub fn svg(&self) -> String {
        let drawn: Vec<Vec<&ChartRow>> = self.groups.iter().map(|group| self.folded(group).0).collect();
        let all = drawn.iter().map(Vec::len).sum::<usize>();
        let rows = all.clamp(1, MAX_ROWS);
        let listed: Vec<&ChartRow> = drawn.iter().flatten().copied().take(MAX_ROWS).collect();
        let mut shown: Vec<_> = listed.iter().map(|row| self.boxes(&row.bars)).collect();
        let mut notes = Vec::new();
        let mut coarse = self.coarse;
        if shown.iter().map(Vec::len).sum::<usize>() > MAX_BOXES {
            let cells = (MAX_BOXES / rows).clamp(1, 1080);
            shown = listed.iter().map(|row| joined(&row.bars, self.from, self.to, cells)).collect();
            coarse = coarse.max(Some((self.to - self.from).div_ceil(cells as u64)));
        }
        if let Some(coarse) = coarse {
            notes.push(format!("Drawn coarsely: a box shows what takes most of {}.", format_ns(coarse)));
        }
        if all > MAX_ROWS {
            notes.push(format!("{} further rows are not drawn.", all - MAX_ROWS));
        }
        let (lanes, undrawn) = self.drawn_lanes();
        if undrawn > 0 {
            notes.push(format!("Releases and deadlines of {undrawn} further requests are not drawn."));
        }
        let marks: Vec<_> = self.misses.iter().take(MAX_MARKS).collect();
        let unmarked = (self.misses.len() - marks.len()) as u64 + self.more_misses;
        if unmarked > 0 {
            notes.push(format!("{unmarked} further missed deadlines are not marked."));
        }
        let (body, y) = self.body(&drawn, &listed, &shown, lanes, &marks);
        self.document(&body, y, &notes)
    }

    fn body(
        &self,
        drawn: &[Vec<&ChartRow>],
        listed: &[&ChartRow],
        shown: &[Vec<ChartBar>],
        lanes: usize,
        marks: &[&Miss],
    ) -> (String, u64) {
        let rows = drawn.iter().map(Vec::len).sum::<usize>().clamp(1, MAX_ROWS);
        let height = if rows > 48 { 14 * PX } else { 24 * PX };
        let (mut body, mut y) = (String::new(), TOP + 8 * PX);
        let mut rest = listed.iter().zip(shown);
        for ((position, group), rows) in self.groups.iter().enumerate().zip(drawn) {
            let mut rows = rest.by_ref().take(rows.len()).peekable();
            if rows.peek().is_none() {
                continue;
            }
            self.heading(&mut body, group, y + 13 * PX);
            y += 18 * PX;
            let top = y;
            for (row, boxes) in rows {
                self.row(&mut body, &row.name, boxes, y, height);
                y += height;
            }
            for lane in self.lanes.of(position, lanes) {
                self.lane(&mut body, lane, y);
                y += HEIGHT;
            }
            let missed: Vec<_> = marks.iter().copied().filter(|miss| miss.group == Some(position)).collect();
            if !missed.is_empty() {
                self.misses_lane(&mut body, &missed, top, y);
                y += LANE;
            }
            y += 10 * PX;
        }
        for idle in self.idle() {
            self.text_at(&mut body, "i", 8 * PX, y + 10 * PX, &idle);
            y += 18 * PX;
        }
        (body, y)
    }

    fn document(&self, body: &str, y: u64, notes: &[String]) -> String {
        let mut svg = String::new();
        let (width, total) = (Px(LEFT + PLOT + RIGHT), Px(y + (notes.len() as u64 * 16 + 34) * PX));
        let _ = write!(
            svg,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{total}\" viewBox=\"0 0 {width} \
             {total}\" \
             font-family=\"DejaVu Sans, Verdana, Helvetica, Arial, sans-serif\" font-size=\"{}\">\n{}\n\
             <rect width=\"{width}\" height=\"{total}\" fill=\"#fff\"/>\n",
            Px(FONT),
            style()
        );
        self.axis(&mut svg, y);
        svg.push_str(body);
        self.legend(&mut svg);
        for (note, line) in notes.iter().zip(1_u64..) {
            self.text_at(&mut svg, "n", LEFT, y + (24 + 16 * line) * PX, note);
        }
        svg.push_str("</svg>\n");
        svg
    }

    fn x(&self, at: u64) -> u64 {
        let offset = at.clamp(self.from, self.to) - self.from;
        let scaled = u128::from(offset) * u128::from(PLOT) / u128::from(self.to - self.from);
        LEFT + u64::try_from(scaled).unwrap_or(PLOT)
    }

    /// The bars in order, narrow neighbours of one job as one box.
    fn boxes(&self, bars: &[ChartBar]) -> Vec<ChartBar> {
        let mut bars = bars.to_vec();
        bars.sort_by_key(|bar| bar.start);
        let mut boxes: Vec<ChartBar> = Vec::new();
        for bar in bars {
            let narrow = self.x(bar.end) - self.x(bar.start) < 4 * PX;
            match boxes.last_mut() {
                Some(last)
                    if narrow
                        && (last.job, last.look) == (bar.job, bar.look)
                        && self.x(bar.start) <= self.x(last.end) + PX / 4 =>
                {
                    last.end = last.end.max(bar.end);
                }
                _ => boxes.push(bar),
            }
        }
        boxes
    }

    fn row(&self, svg: &mut String, name: &str, boxes: &[ChartBar], y: u64, height: u64) {
        let inner = height - 4 * PX;
        let (top, baseline) = (y + 2 * PX, y + height / 2 + 4 * PX);
        self.text_at(svg, "l", LEFT - 8 * PX, baseline, name);
        let _ = writeln!(svg, "{}/>", rectangle("t", LEFT, top, PLOT, inner));
        for bar in boxes {
            let (x, end) = (self.x(bar.start), self.x(bar.end));
            // Neighbours are separated by a gap, where there is room for one.
            let gap = if end - x >= 4 * PX { PX / 2 } else { 0 };
            let class = bar.look.hue_class(self.members[bar.job.source]);
            let bar_drawn = rectangle(&class, x, top, (end - x - gap).max(THINNEST), inner);
            let (job, look) = (escaped(&self.job_name(bar.job)), self.look_name(bar.look, bar.job));
            let (start, end) = (format_ns(bar.start), format_ns(bar.end));
            let _ = writeln!(svg, "{bar_drawn}><title>{job}: {look}, {start} to {end}</title></rect>");
        }
        self.labels(svg, boxes, height, baseline);
    }

    /// One label for what is drawn without gaps for one job.
    fn labels(&self, svg: &mut String, boxes: &[ChartBar], height: u64, baseline: u64) {
        let mut rest = boxes;
        while let Some(first) = rest.first() {
            let joins = |pair: &[ChartBar]| {
                pair[0].job == pair[1].job
                    && pair[0].look == pair[1].look
                    && self.x(pair[1].start) <= self.x(pair[0].end) + PX
            };
            let count = 1 + rest.windows(2).take_while(|pair| joins(pair)).count();
            let (run, behind) = rest.split_at(count);
            let end = run.iter().map(|bar| self.x(bar.end)).max().expect("a run has its first bar");
            let x = self.x(first.start);
            let room = end.saturating_sub(x);
            let fits = |name: &str| height >= 20 * PX && text_width(name) + 6 * PX <= room;
            let (full, short) = (self.job_name(first.job), self.short_name(first.job));
            let name = if fits(&full) { &full } else { short };
            if fits(name) && !name.is_empty() {
                let style = match first.look {
                    Look::Read | Look::Erase => "w",
                    Look::Write | Look::Server => "k",
                    // The borders of the boxes are not to cross the text.
                    Look::Copy => "k h",
                };
                self.text_at(svg, style, u64::midpoint(x, end), baseline, name);
            }
            rest = behind;
        }
    }

    /// From release to deadline a line, a triangle at the deadline, and a dashed line on to
    /// completion.
    fn misses_lane(&self, svg: &mut String, misses: &[&Miss], top: u64, y: u64) {
        self.text_at(svg, "l m", LEFT - 8 * PX, y + 14 * PX, "misses");
        let middle = Px(y + 10 * PX);
        let shown = self.from..self.to;
        for miss in misses {
            let (release, due) = (self.x(miss.release), self.x(miss.deadline));
            let done = self.x(miss.completed.unwrap_or(self.to));
            let _ = write!(svg, r#"<path class="ml" d="M{} {middle}H{}"/>"#, Px(release), Px(due));
            let _ = writeln!(svg, r#"<path class="ml d" d="M{} {middle}H{}"/>"#, Px(due), Px(done.max(due)));
            if shown.contains(&miss.release) {
                let (from, to) = (Px(y + 6 * PX), Px(y + 14 * PX));
                let _ = writeln!(svg, r#"<path class="ml" d="M{} {from}V{to}"/>"#, Px(release));
            }
        }
        let mut free = LEFT;
        let mut due: Vec<_> = misses.iter().filter(|miss| shown.contains(&miss.deadline)).collect();
        due.sort_by_key(|miss| miss.deadline);
        for miss in due {
            let x = self.x(miss.deadline);
            let (left, right, tip) = (Px(x - 5 * PX), Px(x + 5 * PX), Px(y + 14 * PX));
            let _ = writeln!(svg, r#"<path class="mv" d="M{} {}V{}"/>"#, Px(x), Px(top), Px(y));
            let _ = writeln!(svg, r#"<path class="mt" d="M{left} {0}H{right}L{1} {tip}Z"/>"#, Px(y + 4 * PX), Px(x));
            let name = self.job_name(miss.job);
            let (start, end) = (x + 8 * PX, x + 8 * PX + text_width(&name));
            if x >= free && end <= LEFT + PLOT {
                let (from, top, width) = (Px(start - 2 * PX), Px(y + 4 * PX), Px(end - start + 2 * PX));
                let _ = write!(svg, r##"<rect x="{from}" y="{top}" width="{width}" height="13" fill="#fff"/>"##);
                self.text_at(svg, "m", start, y + 14 * PX, &name);
                free = end;
            }
        }
    }

    fn axis(&self, svg: &mut String, bottom: u64) {
        let axis = TimeAxis::new(self.from, self.to, 120);
        for (tick, label) in &axis.ticks {
            let x = self.x(*tick);
            let _ = writeln!(svg, r#"<path class="g" d="M{} {}V{}"/>"#, Px(x), Px(TOP), Px(bottom + 4 * PX));
            self.text_at(svg, "c", x, bottom + 17 * PX, label);
        }
        self.text_at(svg, "l", LEFT - 22 * PX, bottom + 17 * PX, &format!("time ({})", axis.unit));
    }

    fn text_at(&self, svg: &mut String, class: &str, x: u64, y: u64, text: &str) {
        let _ = writeln!(svg, r#"<text class="{class}" x="{}" y="{}">{}</text>"#, Px(x), Px(y), escaped(text));
    }
}

/// An element that is still open.
fn rectangle(class: &str, x: u64, y: u64, width: u64, height: u64) -> String {
    let [x, y, width, height] = [x, y, width, height].map(Px);
    format!(r#"<rect class="{class}" x="{x}" y="{y}" width="{width}" height="{height}""#)
}

/// Colours of operations are added.
const STYLE: &str = "\
.t{fill-opacity:.05}\
.g{stroke:#dcdcdc;fill:none}.b{font-weight:bold;fill:#222}.l{text-anchor:end;fill:#444}.c{text-anchor:middle;fill:#444}\
.s{fill:#222}.i{fill:#666}.n{fill:#8a4b00}.w,.k{text-anchor:middle;font-size:10px;fill:#fff}.k{fill:#111}.h{paint-order:stroke;stroke:#d3e4d0;stroke-width:3px}\
.m{fill:#c4161c}.mt{fill:#d7191c}.mv{stroke:#d7191c;stroke-width:1;fill:none}.ml{stroke:#d7191c;stroke-width:1.2;fill:none}\
.d{stroke-dasharray:3 2}.lb{stroke:#bbb;stroke-width:.6;fill:none}.up{fill:#222}.dn{fill:#222}.lt{fill:#d7191c}</style>";

fn style() -> String {
    let mut style = String::from("<style>");
    for look in Look::ALL {
        for (hue, colour) in look.hues().into_iter().enumerate() {
            let edge = if look == Look::Copy { ";stroke:#7f9a7f;stroke-width:.5" } else { "" };
            let _ = write!(style, ".{}{{fill:{colour}{edge}}}", look.hue_class(hue));
        }
    }
    style + STYLE
}

/// About as wide as the text is in the fonts of the figure, rather more.
fn text_width(text: &str) -> u64 {
    text.chars().map(|c| if c.is_ascii() { FONT * 62 / 100 } else { FONT }).sum()
}
