//! How curves differ: marker, dashes, colour.

/// The colours of Okabe and Ito without yellow, which paper does not show; neighbours differ in
/// lightness.
pub(super) const COLOURS: [&str; 7] = ["000000", "D55E00", "0072B2", "E69F00", "009E73", "CC79A7", "56B4E9"];

/// Lengths of strokes and gaps, in points.
const DASHES: [&[f64]; 6] =
    [&[], &[4.5, 1.5], &[1.1, 1.3], &[4.5, 1.3, 1.1, 1.3], &[2.4, 1.2], &[4.5, 1.2, 1.1, 1.2, 1.1, 1.2]];

/// Around the origin, about four points across. Neighbours are full and open in turn.
const MARKERS: [Marker; 12] = [
    Marker::full("M-2 0a2 2 0 1 0 4 0a2 2 0 1 0 -4 0Z", "*"),
    Marker::open("M-1.8 -1.8h3.6v3.6h-3.6Z", "square*"),
    Marker::full("M0 -2.6L2.4 1.6H-2.4Z", "triangle*"),
    Marker::open("M0 -2.7L2.3 0L0 2.7L-2.3 0Z", "diamond*"),
    Marker::line("M-1.9 -1.9L1.9 1.9M-1.9 1.9L1.9 -1.9", "x"),
    Marker::full("M0 2.6L2.4 -1.6H-2.4Z", "triangle*,mark options={rotate=180}"),
    Marker::open("M-1.9 0a1.9 1.9 0 1 0 3.8 0a1.9 1.9 0 1 0 -3.8 0Z", "*"),
    Marker::full("M-1.8 -1.8h3.6v3.6h-3.6Z", "square*"),
    Marker::line("M-2.4 0H2.4M0 -2.4V2.4", "+"),
    Marker::open("M0 -2.6L2.4 1.6H-2.4Z", "triangle*"),
    Marker::full("M0 -2.7L2.3 0L0 2.7L-2.3 0Z", "diamond*"),
    Marker::line("M0 -2.5V2.5M-2.2 -1.25L2.2 1.25M-2.2 1.25L2.2 -1.25", "asterisk"),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fill {
    Full,
    Open,
    /// It is a line and has no inside.
    Line,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Marker {
    pub path: &'static str,
    pub fill: Fill,
    pub tex: &'static str,
}

impl Marker {
    const fn full(path: &'static str, tex: &'static str) -> Marker {
        Marker { path, fill: Fill::Full, tex }
    }

    const fn open(path: &'static str, tex: &'static str) -> Marker {
        Marker { path, fill: Fill::Open, tex }
    }

    const fn line(path: &'static str, tex: &'static str) -> Marker {
        Marker { path, fill: Fill::Line, tex }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Style {
    /// Red, green and blue in hexadecimal.
    pub colour: &'static str,
    /// Lengths of strokes and gaps in turn; none for a solid line.
    pub dashes: &'static [f64],
    pub marker: Marker,
}

impl Style {
    /// The look of the curve at this position. Pairs of marker and dashes repeat after 72 curves,
    /// markers after 12.
    pub fn of(curve: usize) -> Style {
        let dashes = (curve + curve / MARKERS.len()) % DASHES.len();
        Style { colour: COLOURS[curve % COLOURS.len()], dashes: DASHES[dashes], marker: MARKERS[curve % MARKERS.len()] }
    }
}
