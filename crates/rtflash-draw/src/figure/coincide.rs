//! The drawing of curves that lie on one another, and the choice of intervals that are drawn at
//! all.
//!
//! If several curves are one line, each of them has pieces and markers of it in turn: all their
//! colours and markers show.

use std::ops::Range;

use super::grid::stretches;
use super::plot::Plot;
use super::{Figure, MeasuredPoint, YAxis};

/// Width of a line, in points.
pub(super) const LINE_WIDTH: f64 = 1.0;
/// Lines that are nearer than this everywhere are one line.
const APART: f64 = LINE_WIDTH / 2.0;
/// A marker hides another one that is nearer than this.
const HIDDEN: f64 = 1.0;

/// Curves, by position, that are one line on a piece of paper.
type CurveGroup = Vec<usize>;

/// A stretch of a curve that is drawn in one go.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Stroke {
    pub rows: Range<usize>,
    pub share: Option<CurveShare>,
}

/// A curve's part in a line that several share.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct CurveShare {
    pub among: usize,
    /// Which of them this is, from 0.
    pub turn: usize,
    /// The begin of the line on the paper, from left.
    pub from: f64,
}

impl CurveShare {
    fn piece(&self) -> f64 {
        (24.0 / self.among as f64).clamp(1.5, 4.0)
    }

    pub fn dashes(&self) -> [f64; 2] {
        [self.piece(), self.piece() * (self.among - 1) as f64]
    }

    /// How far into the first stroke and gap the line begins. Pieces have their places on the
    /// paper, so that short lines do not all show the same curve.
    pub fn phase(&self) -> f64 {
        (self.from - self.piece() * self.turn as f64).rem_euclid(self.piece() * self.among as f64)
    }
}

impl Plot {
    /// For each row but the last: which curves are one line from there to the next row. Each curve
    /// that has a line there is in one group.
    pub(super) fn one_line(&self) -> Vec<Vec<CurveGroup>> {
        let heights: Vec<Vec<Option<f64>>> = self
            .grid
            .curves
            .iter()
            .map(|row| row.iter().map(|point| point.map(|point| self.at(point.x, point.y).1)).collect())
            .collect();
        let between = |row: usize| {
            let ends = |curve: usize| heights[curve][row].zip(heights[curve][row + 1]);
            let near = |a: (f64, f64), b: (f64, f64)| (a.0 - b.0).abs() < APART && (a.1 - b.1).abs() < APART;
            let mut found: Vec<CurveGroup> = Vec::new();
            for (curve, here) in (0..heights.len()).filter_map(|curve| Some((curve, ends(curve)?))) {
                match found.iter_mut().find(|group| ends(group[0]).is_some_and(|there| near(here, there))) {
                    Some(group) => group.push(curve),
                    None => found.push(vec![curve]),
                }
            }
            found
        };
        (1..self.grid.xs.len()).map(|row| between(row - 1)).collect()
    }

    /// The strokes of a curve, from left to right.
    pub fn strokes(&self, curve: usize) -> Vec<Stroke> {
        let mut strokes: Vec<(Stroke, &CurveGroup)> = Vec::new();
        for (row, groups) in self.groups.iter().enumerate() {
            let Some(group) = groups.iter().find(|group| group.contains(&curve)) else { continue };
            match strokes.last_mut() {
                Some((stroke, before)) if stroke.rows.end == row && *before == group => stroke.rows.end = row + 1,
                _ => {
                    let turn = group.iter().position(|&other| other == curve).expect("the group has it");
                    let from = self.x.place(self.grid.xs[row]) * self.frame.width;
                    let share = (group.len() > 1).then_some(CurveShare { among: group.len(), turn, from });
                    strokes.push((Stroke { rows: row..row + 1, share }, group));
                }
            }
        }
        strokes.into_iter().map(|(stroke, _)| stroke).collect()
    }

    /// For each curve, the rows at which it has a marker. If several have one at the same place,
    /// they take turns; a point without neighbours always has one.
    pub fn marked(&self) -> Vec<Vec<usize>> {
        let curves = self.grid.curves.len();
        let mut candidates: Vec<Vec<usize>> = vec![Vec::new(); self.grid.xs.len()];
        for curve in 0..curves {
            for row in self.grid.marked(curve) {
                candidates[row].push(curve);
            }
        }
        let mut marked = vec![Vec::new(); curves];
        for (row, candidates) in candidates.iter().enumerate() {
            let height = |curve: usize| self.grid.curves[curve][row].map_or(0.0, |point| self.at(point.x, point.y).1);
            for &curve in candidates {
                let hidden = |other: &&usize| (height(**other) - height(curve)).abs() < HIDDEN;
                let together: Vec<usize> = candidates.iter().filter(hidden).copied().collect();
                let turn = row / self.grid.marker_step() % together.len().max(1);
                if self.is_alone(curve, row) || together.get(turn) == Some(&curve) {
                    marked[curve].push(row);
                }
            }
        }
        marked
    }

    fn is_alone(&self, curve: usize, row: usize) -> bool {
        let points = &self.grid.curves[curve];
        let has = |row: Option<usize>| row.and_then(|row| *points.get(row)?).is_some();
        !has(row.checked_sub(1)) && !has(Some(row + 1))
    }

    /// The stretches in which the intervals of a curve say something, with the point before and
    /// after. At 0 and 1 a ratio's interval says only how many sets there were, and one that is no
    /// taller than the line is hidden by it. Curves with the same intervals have one band.
    pub fn bands(&self, curve: usize) -> Vec<Range<usize>> {
        let points = &self.grid.curves[curve];
        if self.grid.curves[..curve].contains(points) { Vec::new() } else { self.own_bands(curve) }
    }

    /// The stretches of [`bands`](Self::bands), even if an earlier curve has the same intervals.
    pub fn own_bands(&self, curve: usize) -> Vec<Range<usize>> {
        let points = &self.grid.curves[curve];
        let says = |row: Option<usize>| row.and_then(|row| *points.get(row)?).is_some_and(|point| self.says(&point));
        stretches(points, |row, point| {
            has_interval(point) && [row.checked_sub(1), Some(row), Some(row + 1)].into_iter().any(says)
        })
    }

    fn says(&self, point: &MeasuredPoint) -> bool {
        let height = || self.at(point.x, point.low).1 - self.at(point.x, point.high).1;
        let certain = self.kind == YAxis::Ratio && (point.y <= 0.0 || point.y >= 1.0);
        has_interval(point) && !certain && height() > LINE_WIDTH
    }

    pub fn has_bands(&self) -> bool {
        (0..self.grid.curves.len()).any(|curve| !self.bands(curve).is_empty())
    }

    /// The name of a curve in the legend; of one that is the same as an earlier one in all its
    /// points, with the name of that.
    pub fn name(&self, figure: &Figure, curve: usize) -> String {
        let label = &figure.curves[curve].label;
        let values = |curve: usize| self.grid.curves[curve].iter().map(|point| point.map(|point| point.y));
        let same = |other: &usize| values(*other).eq(values(curve)) && !figure.curves[*other].label.is_empty();
        let empty = values(curve).flatten().next().is_none();
        match (0..curve).find(same).filter(|_| !empty) {
            Some(first) => format!("{label} (= {})", figure.curves[first].label),
            None => label.clone(),
        }
    }
}

fn has_interval(point: &MeasuredPoint) -> bool {
    point.low.is_finite() && point.high.is_finite()
}
