//! Lanes of a figure: releases, deadlines and response times of requests; and the keys to hues.

use std::fmt::Write;

use super::super::lanes::{LaneJob, RequestLane};
use super::super::{Gantt, Look, RowGroup, shortened};
use super::{LEFT, PLOT, PX, Px, THINNEST, rectangle, text_width};

pub(super) const HEIGHT: u64 = 16 * PX;
/// Lanes, and jobs in them, that are drawn.
pub(super) const MAX_LANES: usize = 240;
const MAX_JOBS: usize = 6_000;
const NAME: usize = 19;

impl Gantt {
    /// How many jobs of how many lanes are drawn: all, or the first ones.
    pub(super) fn drawn_lanes(&self) -> (usize, u64) {
        let (mut jobs, mut undrawn) = (0, self.lanes.more);
        let mut drawn = 0;
        for (position, lane) in self.lanes.lanes.iter().enumerate() {
            let count = lane.jobs().len();
            if position < MAX_LANES && position == drawn && jobs + count <= MAX_JOBS {
                (drawn, jobs) = (drawn + 1, jobs + count);
            } else {
                undrawn += count as u64;
            }
        }
        (drawn, undrawn)
    }

    /// From each release to its completion a bar, red behind the deadline; a triangle that points
    /// up at the release, one that points down at the deadline.
    pub(super) fn lane(&self, svg: &mut String, lane: &RequestLane, y: u64) {
        let jobs = lane.jobs();
        self.text_at(svg, "l", LEFT - 8 * PX, y + 12 * PX, &shortened(&lane.name, NAME));
        let bottom = y + HEIGHT - PX;
        let _ = writeln!(svg, r#"<path class="lb" d="M{} {}H{}"/>"#, Px(LEFT), Px(bottom), Px(LEFT + PLOT));
        for job in &jobs {
            self.response(svg, job, lane, y);
        }
        let shown = self.from..self.to;
        let (mut ups, mut downs, mut late) = (String::new(), String::new(), String::new());
        let (mut last_up, mut last_down) = (None, None);
        for job in &jobs {
            let (release, due) = (self.x(job.release), self.x(job.deadline));
            // If they would cover each other, one stands for many; but each that is missed is
            // there.
            if shown.contains(&job.release) && last_up.is_none_or(|last| release >= last + PX) {
                let _ = write!(ups, "M{} {}h6l-3 -5Z", Px(release.saturating_sub(3 * PX)), Px(y + 6 * PX));
                let _ = write!(ups, "M{0} {1}v{2}h.8v-{2}Z", Px(release), Px(y + 6 * PX), Px(HEIGHT - 7 * PX));
                last_up = Some(release);
            }
            let is_late = job.is_late(self.end);
            if shown.contains(&job.deadline) && (is_late || last_down.is_none_or(|last| due >= last + PX)) {
                let mark = format!("M{} {}h6l-3 5Z", Px(due.saturating_sub(3 * PX)), Px(bottom - 5 * PX));
                *if is_late { &mut late } else { &mut downs } += &mark;
                last_down = Some(due);
            }
        }
        for (class, marks) in [("up", ups), ("dn", downs), ("mt", late)] {
            if !marks.is_empty() {
                let _ = writeln!(svg, r#"<path class="{class}" d="{marks}"/>"#);
            }
        }
    }

    fn response(&self, svg: &mut String, job: &LaneJob, lane: &RequestLane, y: u64) {
        let done = job.completed.unwrap_or(self.end).min(self.to);
        let top = y + 6 * PX;
        let mut part = |class: &str, from: u64, to: u64| {
            let (x, end) = (self.x(from), self.x(to));
            if from < to && end > x {
                let _ = writeln!(svg, "{}/>", rectangle(class, x, top, (end - x).max(THINNEST), 5 * PX));
            }
        };
        part(&lane.look.hue_class(lane.member), job.release.max(self.from), done.min(job.deadline));
        if job.is_late(self.end) {
            part("lt", job.deadline.max(self.from), done);
        }
    }

    pub(super) fn heading(&self, svg: &mut String, group: &RowGroup, y: u64) {
        self.text_at(svg, "b", 8 * PX, y, &group.name);
        let mut x = LEFT.max(8 * PX + text_width(&group.name) + 12 * PX);
        for (member, task) in group.tasks.iter().enumerate() {
            let (name, left) = (shortened(task, 2 * NAME), group.tasks.len() - member);
            let end = x + 30 * PX + text_width(&name);
            // Room for what is said in the place of the others.
            if end + 90 * PX > LEFT + PLOT && left > 1 {
                self.text_at(svg, "s", x, y, &format!("and {left} more"));
                return;
            }
            for (look, offset) in [(Look::Read, 0), (Look::Write, 12 * PX)] {
                let key = rectangle(&look.hue_class(member), x + offset, y - 9 * PX, 11 * PX, 10 * PX);
                let _ = write!(svg, "{key}/>");
            }
            self.text_at(svg, "s", x + 28 * PX, y, &name);
            x = end + 14 * PX;
        }
    }

    pub(super) fn legend(&self, svg: &mut String) {
        let (mut x, y) = (8 * PX, 14 * PX);
        let swatch = |svg: &mut String, x: u64, class: &str, width: u64| {
            let _ = write!(svg, "{}/>", rectangle(class, x, y, width, 13 * PX));
        };
        for look in Look::explained(self.erases) {
            for (hue, left) in [x, x + 8 * PX, x + 16 * PX].into_iter().enumerate() {
                swatch(svg, left, &look.hue_class(hue), 8 * PX);
            }
            let name = look.name(self.erases);
            self.text_at(svg, "s", x + 30 * PX, y + 10 * PX, name);
            x += 30 * PX + text_width(name) + 14 * PX;
        }
        if self.streams.len() > 1 {
            for (stream, name) in self.streams.iter().enumerate().take(3) {
                swatch(svg, x, &Look::Server.hue_class(stream), 11 * PX);
                let name = shortened(name, NAME);
                self.text_at(svg, "s", x + 15 * PX, y + 10 * PX, &name);
                x += 15 * PX + text_width(&name) + 12 * PX;
            }
        }
        let mut mark = |class: &str, path: &str, text: &str| {
            let _ = write!(svg, r#"<path class="{class}" d="M{} {}{path}"/>"#, Px(x), Px(y + 9 * PX));
            self.text_at(svg, "s", x + 14 * PX, y + 10 * PX, text);
            x += 14 * PX + text_width(text) + 14 * PX;
        };
        if !self.lanes.lanes.is_empty() {
            mark("up", "h8l-4 -7Z", "release");
            mark("dn", "m0 -7h8l-4 7Z", "deadline");
        }
        if !self.misses.is_empty() {
            mark("mt", "m0 -7h8l-4 7Z", "missed deadline");
        }
    }
}
