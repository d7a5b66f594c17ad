//! The chart in characters.

use std::fmt::Write;

use rtflash_model::format_ns;

use super::axis::{TimeAxis, at_most, cell_of, cells};
use super::lanes::RequestLane;
use super::look::Erases;
use super::{Gantt, JobId, Look, Miss, RowGroup, shortened};

/// Misses that are described one by one.
const LISTED: usize = 20;
const LANE_NAME: usize = 18;

impl Gantt {
    /// The chart in lines of `width` characters, or little more where that is too narrow to show
    /// anything.
    pub fn text(&self, width: usize) -> String {
        let names = self.rows.iter().map(|row| row.name.len()).fold("misses".len(), usize::max);
        let lanes = self.lanes.lanes.iter().map(|lane| lane.name.chars().count().min(LANE_NAME));
        let names = 2 + lanes.fold(names, usize::max);
        let columns = at_most(width.saturating_sub(names + 1).max(16), self.from, self.to);
        let mut text = String::new();
        let mut line = |line: &str| {
            text.push_str(line.trim_end());
            text.push('\n');
        };
        let axis = TimeAxis::new(self.from, self.to, columns);
        let (labels, marks) = self.axis_lines(&axis, columns);
        let unit = format!("time ({})", axis.unit);
        line(&format!("{unit:names$} {labels}"));
        line(&format!("{:names$} {marks}", ""));
        for (position, group) in self.groups.iter().enumerate() {
            let (rows, folded) = self.folded(group);
            if rows.is_empty() && !folded.is_empty() {
                continue;
            }
            line(&heading(group, width.max(names + 17)));
            for row in rows {
                let cells = cells(&row.bars, self.from, self.to, columns);
                let cell = |cell: Option<(Look, JobId)>| {
                    cell.map_or('.', |(look, job)| look.character(self.members[job.source]))
                };
                let cells: String = cells.into_iter().map(cell).collect();
                line(&format!("{:names$} {cells}", format!("  {}", row.name)));
            }
            for lane in self.lanes.of(position, usize::MAX) {
                let marks = self.lane_marks(lane, columns);
                line(&format!("{:names$} {marks}", format!("  {}", shortened(&lane.name, LANE_NAME))));
            }
            if let Some(marks) = self.miss_marks(position, columns) {
                line(&format!("{:names$} {marks}", "  misses"));
            }
        }
        self.idle().iter().for_each(|idle| line(&shortened(idle, width.max(names + 17))));
        self.footer(columns, &mut line);
        text
    }

    fn footer(&self, columns: usize, line: &mut impl FnMut(&str)) {
        line("");
        let (erases, copies) = (self.erases.name(), if self.erases == Erases::Resets { "" } else { "  + GC copy" });
        line(&format!("a b … a task's reads  A B … its writes{copies}  # {erases}  * not real-time  . idle"));
        if !self.lanes.lanes.is_empty() {
            line("> release  < deadline  X both  = from release to completion  ! missed deadline");
        }
        if self.misses.iter().any(|miss| !self.lanes.has(miss.job)) {
            line("misses: ! a deadline that is missed  ^ the release of a job that misses it");
        }
        let column = (self.to - self.from).div_ceil(columns as u64);
        line(&format!("{} to {}, {} a column", format_ns(self.from), format_ns(self.to), format_ns(column)));
        if let Some(coarse) = self.coarse.filter(|&coarse| coarse > column) {
            line(&format!("too many operations to keep: shown in steps of {}", format_ns(coarse)));
        }
        if self.lanes.more > 0 {
            line(&format!("too many requests to keep: releases and deadlines of {} are not shown", self.lanes.more));
        }
        let mut misses: Vec<_> = self.misses.iter().collect();
        misses.sort_by_key(|miss| (miss.deadline, miss.job));
        for miss in misses.into_iter().take(LISTED) {
            line(&self.describe(miss));
        }
        let more = self.misses.len().saturating_sub(LISTED) as u64 + self.more_misses;
        if more > 0 {
            line(&format!("and {more} more missed deadlines"));
        }
    }

    /// For each job a release, a deadline, and the span between release and completion; a missed
    /// deadline hides everything else.
    fn lane_marks(&self, lane: &RequestLane, columns: usize) -> String {
        let mut marks = vec![' '; columns];
        let shown = self.from..self.to;
        let column = |at: u64| cell_of(self.from, self.to, columns, at);
        let jobs = lane.jobs();
        for job in &jobs {
            let done = job.completed.unwrap_or(self.end).min(self.to - 1);
            if done >= self.from {
                let cells = column(job.release.max(self.from))..column(done) + 1;
                // A job that is released behind the chart has none.
                if let Some(cells) = marks.get_mut(cells) {
                    cells.fill('=');
                }
            }
        }
        for job in &jobs {
            for (at, mark) in [(job.release, '>'), (job.deadline, '<')] {
                if let Some(cell) = marks.get_mut(column(at)).filter(|_| shown.contains(&at)) {
                    *cell = if matches!(*cell, '>' | '<' | 'X') && *cell != mark { 'X' } else { mark };
                }
            }
        }
        for job in jobs.iter().filter(|job| job.is_late(self.end) && shown.contains(&job.deadline)) {
            if let Some(cell) = marks.get_mut(column(job.deadline)) {
                *cell = '!';
            }
        }
        marks.into_iter().collect()
    }

    /// Labels, and marks below their first character.
    fn axis_lines(&self, axis: &TimeAxis, columns: usize) -> (String, String) {
        let (mut labels, mut marks) = (String::new(), vec![' '; columns]);
        for (tick, label) in &axis.ticks {
            let column = cell_of(self.from, self.to, columns, *tick);
            // The room for a label ends where the next one, or the line, does.
            if (labels.is_empty() || labels.len() < column) && column + label.len() <= columns {
                let _ = write!(labels, "{:1$}{label}", "", column - labels.len());
            }
            if let Some(mark) = marks.get_mut(column) {
                *mark = '|';
            }
        }
        (labels, marks.into_iter().collect())
    }

    fn miss_marks(&self, group: usize, columns: usize) -> Option<String> {
        let mut marks = vec![' '; columns];
        let mut any = false;
        let misses = self.misses.iter().filter(|miss| miss.group == Some(group) && !self.lanes.has(miss.job));
        for miss in misses {
            for (at, mark) in [(miss.release, '^'), (miss.deadline, '!')] {
                let column = cell_of(self.from, self.to, columns, at);
                let shown = (self.from..self.to).contains(&at);
                // A release does not hide a miss.
                if let Some(cell) = marks.get_mut(column).filter(|cell| shown && **cell != '!') {
                    *cell = mark;
                    any = true;
                }
            }
        }
        any.then(|| marks.into_iter().collect())
    }

    fn describe(&self, miss: &Miss) -> String {
        let Miss { release, deadline, .. } = *miss;
        let outcome = match miss.completed {
            Some(completed) => {
                format!("complete at {}, {} late", format_ns(completed), format_ns(completed - deadline))
            }
            None => "still pending".to_owned(),
        };
        let name = self.job_name(miss.job);
        format!("missed: {name}, released at {}, due at {}, {outcome}", format_ns(release), format_ns(deadline))
    }
}

fn heading(group: &RowGroup, width: usize) -> String {
    let mut text = group.name.clone();
    for (member, task) in group.tasks.iter().enumerate() {
        let part = format!("{} {} {task}", if member == 0 { ":" } else { "," }, Look::Read.character(member));
        let left = group.tasks.len() - member;
        // Room for what is said in the place of the others.
        if text.chars().count() + part.chars().count() + 16 > width && member > 0 {
            text += &format!(", and {left} more");
            break;
        }
        text += &part;
    }
    shortened(&text, width)
}
