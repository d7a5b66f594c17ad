//! The points of all curves, in rows of one x each.

use std::ops::Range;

use super::{Figure, MeasuredPoint};

/// Beyond, sums and products might overflow.
const LARGEST: f64 = 1e290;

pub(super) struct Grid {
    pub xs: Vec<f64>,
    /// For each curve, what it has at each x; the ends of intervals may be absent (not a number).
    pub curves: Vec<Vec<Option<MeasuredPoint>>>,
}

impl Grid {
    pub fn new(figure: &Figure) -> Grid {
        let points = |curve: usize| {
            let points = figure.curves[curve].points.iter();
            points.filter_map(|point| {
                let interval = [present(point.low), present(point.high)];
                let ends = interval.map(|end| end.unwrap_or(f64::NAN));
                Some(MeasuredPoint { x: present(point.x)?, y: present(point.y)?, low: ends[0], high: ends[1] })
            })
        };
        let mut xs: Vec<f64> = (0..figure.curves.len()).flat_map(points).map(|point| point.x).collect();
        xs.sort_by(f64::total_cmp);
        xs.dedup();
        let curves = (0..figure.curves.len()).map(|curve| {
            let mut row = vec![None; xs.len()];
            for point in points(curve) {
                let at = xs.partition_point(|&x| x < point.x);
                row[at] = row[at].or(Some(point));
            }
            row
        });
        Grid { curves: curves.collect(), xs }
    }

    /// Rows between gaps: the stretches in which the curve has a point everywhere.
    pub fn lines(&self, curve: usize) -> Vec<Range<usize>> {
        stretches(&self.curves[curve], |_, _| true)
    }

    /// Rows at which the curve might have a marker: all, or every so-many-th beyond twenty points,
    /// then from another row on for each curve. A point without neighbours always has one.
    pub fn marked(&self, curve: usize) -> Vec<usize> {
        let (step, first) = (self.marker_step(), self.first_marker(curve));
        let lines = self.lines(curve);
        let rows = lines.into_iter().flat_map(|line| {
            let alone = line.len() == 1;
            line.filter(move |row| alone || row % step == first)
        });
        rows.collect()
    }

    /// Every how-many-th row has a marker: few enough markers to be legible, and where possible as
    /// many as there are curves, so that coinciding curves show all their markers.
    pub fn marker_step(&self) -> usize {
        let rows = self.xs.len();
        if rows <= 20 { 1 } else { rows.div_ceil(12).max(self.curves.len().min(rows / 6)) }
    }

    fn first_marker(&self, curve: usize) -> usize {
        curve % self.marker_step()
    }
}

/// The number, if it is one that can be drawn; zero without a sign.
pub(super) fn present(number: f64) -> Option<f64> {
    (number.abs() <= LARGEST).then_some(number + 0.0)
}

/// Rows without gaps in which the row has a point of this kind.
pub(super) fn stretches(
    row: &[Option<MeasuredPoint>],
    has: impl Fn(usize, &MeasuredPoint) -> bool,
) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    for at in (0..row.len()).filter(|&at| row[at].as_ref().is_some_and(|point| has(at, point))) {
        match found.last_mut() {
            Some(last) if last.end == at => last.end += 1,
            _ => found.push(at..at + 1),
        }
    }
    found
}
