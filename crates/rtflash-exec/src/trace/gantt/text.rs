//! The chart in characters.

use std::fmt::Write;

use rtflash_model::format_ns;

use super::axis::{Axis, at_most, cell_of, cells};
use super::{Gantt, Look, Miss};

/// Misses that are described one by one.
const LISTED: usize = 20;

impl Gantt {
    /// The chart in lines of `width` characters, or little more where that is too narrow to show anything.
    pub fn text(&self, width: usize) -> String {
        let names = self.rows.iter().map(|row| row.name.len() + 2);
        let names =
            names.chain(self.groups.iter().map(|group| group.name.len())).max().unwrap_or(0).max("  misses".len());
        let columns = at_most(width.saturating_sub(names + 1).max(16), self.from, self.to);
        let mut text = String::new();
        let mut line = |line: &str| {
            text.push_str(line.trim_end());
            text.push('\n');
        };
        let axis = Axis::new(self.from, self.to, columns);
        let (labels, marks) = self.axis_lines(&axis, columns);
        let unit = format!("time ({})", axis.unit);
        line(&format!("{unit:names$} {labels}"));
        line(&format!("{:names$} {marks}", ""));
        for (position, group) in self.groups.iter().enumerate() {
            line(&group.name);
            for row in self.rows.get(group.rows.clone()).unwrap_or_default() {
                let cells = cells(&row.bars, self.from, self.to, columns);
                let cells: String = cells.iter().map(|cell| cell.map_or('.', |(look, _)| letter(look))).collect();
                line(&format!("{:names$} {cells}", format!("  {}", row.name)));
            }
            if let Some(marks) = self.miss_marks(position, columns) {
                line(&format!("{:names$} {marks}", "  misses"));
            }
        }
        let legend: Vec<_> = Look::ALL.iter().map(|&look| format!("{} {}", letter(look), look.name())).collect();
        line("");
        line(&format!("{}  . idle", legend.join("  ")));
        if !self.misses.is_empty() {
            line("! a deadline that is missed  ^ the release of a job that misses it");
        }
        let column = (self.to - self.from).div_ceil(columns as u64);
        line(&format!("{} to {}, {} a column", format_ns(self.from), format_ns(self.to), format_ns(column)));
        if let Some(coarse) = self.coarse.filter(|&coarse| coarse > column) {
            line(&format!("too many operations to keep: shown in steps of {}", format_ns(coarse)));
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
        text
    }

    /// Labels, and marks below their first character.
    fn axis_lines(&self, axis: &Axis, columns: usize) -> (String, String) {
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
        let misses = self.misses.iter().filter(|miss| miss.group == Some(group));
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

fn letter(look: Look) -> char {
    match look {
        Look::Read => 'r',
        Look::Write => 'w',
        Look::Copy => 'g',
        Look::Erase => 'E',
        Look::Server => 's',
    }
}
