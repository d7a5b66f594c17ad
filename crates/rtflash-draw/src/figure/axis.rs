//! Scales: where a value is, and ticks at round numbers.

use super::YAxis;
use super::grid::{Grid, present};
use super::text::{self, TICK};

/// Room beyond the outermost values, as a share of the axis, so that no marker lies on the frame.
const BEYOND: f64 = 0.035;
/// Room between the labels of two ticks, in points.
const GAP: f64 = 6.0;

#[derive(Debug, PartialEq)]
pub(super) struct Tick {
    pub at: f64,
    pub label: String,
}

#[derive(Debug, PartialEq)]
pub(super) struct PlotAxis {
    pub from: f64,
    pub to: f64,
    pub logarithmic: bool,
    pub ticks: Vec<Tick>,
    /// Labels count powers of ten, 10 to this power.
    pub exponent: i32,
}

impl PlotAxis {
    /// The x axis on `width` points of paper.
    pub fn x(grid: &Grid, ticks: Option<&[f64]>, logarithmic: bool, width: f64) -> PlotAxis {
        if logarithmic
            && ticks.is_none()
            && let Some(mut axis) = PlotAxis::by_tens(grid.xs.iter().copied())
        {
            axis.drop_crowded(width);
            return axis;
        }
        let mut exact: Vec<f64> = ticks.into_iter().flatten().filter_map(|&tick| present(tick)).collect();
        exact.sort_by(f64::total_cmp);
        exact.dedup();
        let all = || grid.xs.iter().chain(&exact).copied();
        let (from, to) = range(all());
        if exact.is_empty() {
            let (from, to) = widened(from, to);
            let mut max = 9;
            let mut axis = PlotAxis::round(from, to, max);
            while max > 2 && !axis.has_room(width) {
                max -= 1;
                axis = PlotAxis::round(from, to, max);
            }
            axis.drop_crowded(width);
            return axis;
        }
        // So that quotients do not overflow.
        let logarithmic = geometric(&exact) && from > 1e-100 && to < 1e100;
        let (from, to) = if logarithmic {
            let ratio = libm::exp(libm::log(to / from) * BEYOND);
            (from / ratio, to * ratio)
        } else {
            widened(from, to)
        };
        let ticks = exact.into_iter().map(|at| Tick { at, label: text::rounded(at) }).collect();
        let mut axis = PlotAxis { from, to, logarithmic, ticks, exponent: 0 };
        axis.drop_crowded(width);
        axis
    }

    pub fn y(grid: &Grid, kind: YAxis) -> PlotAxis {
        let points = || grid.curves.iter().flatten().flatten();
        // The larger one; `max` ignores an end that is absent.
        let largest = || points().map(|point| point.y.max(point.high)).fold(0.0, f64::max);
        match kind {
            YAxis::Ratio => PlotAxis::from_zero(1.0),
            YAxis::FromZero => PlotAxis::from_zero(largest()),
            YAxis::Logarithmic => {
                let tens = PlotAxis::by_tens(points().map(|point| point.y).filter(|&y| y > 0.0));
                tens.unwrap_or_else(|| PlotAxis::from_zero(largest()))
            }
        }
    }

    pub fn from_zero(largest: f64) -> PlotAxis {
        let largest = if largest < 1e-290 { 1.0 } else { largest };
        let mut axis = PlotAxis::round(0.0, largest, 6);
        (axis.from, axis.to) = (-BEYOND * largest, largest + BEYOND * largest);
        axis
    }

    /// A logarithmic axis over these values; `None` where they are not all positive, or none, or
    /// too far apart.
    pub fn by_tens(values: impl Iterator<Item = f64>) -> Option<PlotAxis> {
        let (from, to) =
            values.fold((f64::INFINITY, 0.0), |(from, to): (f64, f64), value| (value.min(from), value.max(to)));
        if !(from > 1e-100 && to < 1e100 && from <= to) {
            return None;
        }
        // A tenth more and less where there is but one value.
        let ratio = libm::exp(libm::log(to / from) * BEYOND).max(if to / from < 1.02 { 1.1 } else { 1.0 });
        let (from, to) = (from / ratio, to * ratio);
        let powers = exponent_of(from)..=exponent_of(to);
        let within = |at: &f64| (from..=to).contains(at);
        let at = |digits: &[f64]| -> Vec<(f64, i32)> {
            let all = powers.clone().flat_map(|power| digits.iter().map(move |digit| (digit * ten_to(power), power)));
            all.filter(|(at, _)| within(at)).collect()
        };
        // Few powers of ten are not enough; many are too much.
        let tens = at(&[1.0]);
        let every = tens.len().div_ceil(7).max(1);
        let chosen = match tens.len() {
            0 | 1 => at(&[1.0, 1.5, 2.0, 3.0, 5.0, 7.0]),
            2 => at(&[1.0, 2.0, 5.0]),
            _ => tens.into_iter().rev().step_by(every).rev().collect(),
        };
        let label =
            |(at, power): (f64, i32)| if (-3..=4).contains(&power) { text::rounded(at) } else { text::ten_to(power) };
        let mut ticks: Vec<Tick> = chosen.into_iter().map(|tick| Tick { at: tick.0, label: label(tick) }).collect();
        if ticks.len() < 2 {
            // The axis is so short that it might as well be linear.
            let round = PlotAxis::round(from, to, 5).ticks;
            ticks = round.into_iter().map(|tick| Tick { label: text::rounded(tick.at), ..tick }).collect();
        }
        Some(PlotAxis { from, to, logarithmic: true, ticks, exponent: 0 })
    }

    /// The place of the value: 0 at the start of the axis, 1 at its end. Values beyond are put at
    /// its ends.
    pub fn place(&self, value: f64) -> f64 {
        let share = if self.logarithmic {
            let value = value.max(self.from);
            libm::log(value / self.from) / libm::log(self.to / self.from)
        } else {
            (value - self.from) / (self.to - self.from)
        };
        share.clamp(0.0, 1.0)
    }

    /// Width of the widest label, in points.
    pub fn label_width(&self) -> f64 {
        self.ticks.iter().map(|tick| text::width(&tick.label, TICK)).fold(0.0, f64::max)
    }

    /// An axis with at most `max` ticks, at multiples of 1, 2, 2.5 or 5 times a power of ten.
    fn round(from: f64, to: f64, max: u32) -> PlotAxis {
        let finest = exponent_of((to - from) / f64::from(max));
        let exponent = match exponent_of(from.abs().max(to.abs())) {
            small @ ..-2 | small @ 5.. => small.div_euclid(3) * 3,
            _ => 0,
        };
        let steps = (finest..finest + 3).flat_map(|power| [1.0, 2.0, 2.5, 5.0].map(|digits| (digits, power)));
        let mut ticks = Vec::new();
        for (digits, power) in steps {
            let step = digits * ten_to(power);
            let (first, last) = ((from / step - 1e-9).ceil(), (to / step + 1e-9).floor());
            if last - first >= f64::from(max) {
                continue;
            }
            let counted = (0..max).map(|count| first + f64::from(count)).take_while(|&count| count <= last);
            let decimals = places(exponent - power) + usize::from(digits.fract() > 0.0);
            let unit = digits * ten_to(power - exponent);
            let label = |count: f64| format!("{:.*}", decimals, count * unit + 0.0).replace('-', "\u{2212}");
            ticks.extend(counted.map(|count| Tick { at: count * step, label: label(count) }));
            break;
        }
        PlotAxis { from, to, logarithmic: false, ticks, exponent }
    }

    fn has_room(&self, width: f64) -> bool {
        self.ticks.windows(2).all(|pair| self.apart(&pair[0], &pair[1], width))
    }

    fn apart(&self, left: &Tick, right: &Tick, width: f64) -> bool {
        let room = (text::width(&left.label, TICK) + text::width(&right.label, TICK)) / 2.0 + GAP;
        (self.place(right.at) - self.place(left.at)) * width >= room
    }

    fn drop_crowded(&mut self, width: f64) {
        let mut last: Option<usize> = None;
        for at in 0..self.ticks.len() {
            if last.is_some_and(|last| !self.apart(&self.ticks[last], &self.ticks[at], width)) {
                self.ticks[at].label.clear();
            } else {
                last = Some(at);
            }
        }
    }
}

fn range(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let (from, to) =
        values.fold((f64::INFINITY, f64::NEG_INFINITY), |(from, to), value| (value.min(from), value.max(to)));
    if from <= to { (from, to) } else { (0.0, 1.0) }
}

/// A little beyond the outermost values; around the value where there is but one.
fn widened(from: f64, to: f64) -> (f64, f64) {
    let magnitude = from.abs().max(to.abs());
    let beyond =
        if to - from > (1e-9 * magnitude).max(1e-290) { BEYOND * (to - from) } else { (0.05 * magnitude).max(0.5) };
    (from - beyond, to + beyond)
}

/// Whether each of three or more is the same multiple of the one before.
fn geometric(ticks: &[f64]) -> bool {
    let ratio = |pair: &[f64]| pair[1] / pair[0];
    ticks.len() >= 3
        && ticks[0] > 0.0
        && ticks.windows(2).all(|pair| (ratio(pair) / ratio(&ticks[..2]) - 1.0).abs() < 1e-9)
}

/// The power of ten at or below a positive number; 0 for one that is not finite.
fn exponent_of(number: f64) -> i32 {
    if !number.is_finite() {
        return 0;
    }
    let scientific = format!("{number:e}");
    let exponent = scientific.split_once('e').and_then(|(_, exponent)| exponent.parse().ok());
    exponent.expect("a finite number in scientific notation")
}

/// The power of ten at or below a positive number.
pub(super) fn at_or_below(number: f64) -> f64 {
    ten_to(exponent_of(number))
}

/// Decimals that a step of this power below the axis's needs; none where it is not below.
fn places(below: i32) -> usize {
    usize::try_from(below.max(0)).expect("not negative")
}

fn ten_to(power: i32) -> f64 {
    // As exact as a double can be, on every machine.
    format!("1e{power}").parse().expect("a number")
}
