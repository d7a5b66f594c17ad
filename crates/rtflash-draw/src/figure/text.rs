//! Text: how wide it is, and how it is written into SVG.

use std::sync::LazyLock;

/// Sizes of text, in points.
pub(super) const TITLE: f64 = 8.0;
pub(super) const TICK: f64 = 7.0;
pub(super) const LEGEND: f64 = 7.0;

/// The width of characters that the list has not, in 2048ths of the size.
const ABSENT: u16 = 1229;
/// Units of the font's widths in its size.
const UNITS: f64 = 2048.0;

/// How wide the characters of the font are, which need not be part of the program: the first
/// character of a range, and the width of each from there on.
static ADVANCES: LazyLock<Vec<(u32, Vec<u16>)>> = LazyLock::new(|| {
    let range = |range: &str| {
        let (first, widths) = range.split_once(' ').expect("a range has a first character");
        let widths = widths.split_whitespace().map(|width| width.parse().expect("a width"));
        (u32::from_str_radix(first, 16).expect("a character in hexadecimal"), widths.collect())
    };
    include_str!("advances.txt").split("\n\n").map(range).collect()
});

/// The width of the text in points, at `size` points of size.
pub(super) fn width(text: &str, size: f64) -> f64 {
    let advance = |c| f64::from(listed(c).unwrap_or(ABSENT));
    text.chars().map(advance).sum::<f64>() * size / UNITS
}

/// The width of a character of a script that is in the list.
fn listed(c: char) -> Option<u16> {
    let of = |(first, widths): &(u32, Vec<u16>)| {
        let at = u32::from(c).checked_sub(*first)?;
        widths.get(usize::try_from(at).ok()?).copied()
    };
    ADVANCES.iter().find_map(of)
}

/// As much of the text as has room, with an ellipsis where some has not.
pub(super) fn shortened(text: &str, size: f64, room: f64) -> String {
    if width(text, size) <= room {
        return text.to_owned();
    }
    let mut short = String::new();
    let mut rest = room - width("…", size);
    for c in text.chars() {
        rest -= width(c.encode_utf8(&mut [0; 4]), size);
        if rest < 0.0 {
            break;
        }
        short.push(c);
    }
    short + "…"
}

/// A number with all its digits: 0.1, 32, 1e100.
pub(super) fn number(number: f64) -> String {
    let plain = number.to_string();
    if plain.len() <= 22 { plain } else { format!("{number:e}") }
}

/// A number as it would be written by hand, with six digits at most: 0.3, 32, 1e9.
pub(super) fn rounded(number: f64) -> String {
    let number: f64 = format!("{number:.5e}").parse().unwrap_or(number);
    let plain = number.to_string();
    if plain.len() <= 9 { plain } else { format!("{number:e}") }.replace('-', "\u{2212}")
}

/// A factor: ×10³.
pub(super) fn power(exponent: i32) -> String {
    format!("×{}", ten_to(exponent))
}

/// A power of ten: 10³.
pub(super) fn ten_to(exponent: i32) -> String {
    let digits = exponent.to_string();
    let raised = digits.chars().map(|c| match c {
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        '4' => '⁴',
        '5' => '⁵',
        '6' => '⁶',
        '7' => '⁷',
        '8' => '⁸',
        '9' => '⁹',
        '0' => '⁰',
        _ => '⁻',
    });
    format!("10{}", raised.collect::<String>())
}

#[cfg(all(test, feature = "png"))]
mod tests {
    use super::*;

    #[test]
    fn the_list_has_the_widths_of_the_font() {
        let face = ttf_parser::Face::parse(dejavu::sans::regular(), 0).expect("a font");
        assert_eq!(f64::from(face.units_per_em()), UNITS);
        let mut count = 0;
        for (first, widths) in ADVANCES.iter() {
            for (c, width) in (*first..).filter_map(char::from_u32).zip(widths) {
                let advance = face.glyph_index(c).and_then(|glyph| face.glyph_hor_advance(glyph)).unwrap_or(ABSENT);
                assert_eq!(advance, *width, "U+{:04X}", u32::from(c));
                count += 1;
            }
        }
        assert!(count > 1_000, "{count} characters");
    }
}
