//! Numbers as a person reads them.

use std::fmt::Display;

use rtflash_model::{Device, Span, format_ns};

use crate::parts::Nanoseconds;

/// A share of one, to four places; never rounded to the wrong side of one.
pub fn share(value: f64) -> String {
    let text = format!("{value:.4}");
    // A number above one must not read as one, nor must a number below.
    match (text.as_str(), value) {
        (_, value) if value >= u64::MAX as f64 => "no room".into(),
        ("1.0000", value) if value > 1.0 => ">1.0000".into(),
        ("1.0000", value) if value < 1.0 => "<1.0000".into(),
        _ => text,
    }
}

/// A share of one in per cent, to two places.
pub fn percent(value: f64) -> String {
    let text = format!("{:.2} %", value * 100.0);
    if text == "0.00 %" && value > 0.0 { "less than 0.01 %".into() } else { text }
}

/// Nanoseconds that need not be whole, in a unit for people.
pub fn period(nanoseconds: impl Into<Nanoseconds>) -> String {
    let nanoseconds = nanoseconds.into();
    match nanoseconds {
        Nanoseconds::Whole(whole) => u64::try_from(whole).map_or_else(|_| time(nanoseconds.to_f64()), format_ns),
        Nanoseconds::Fractional(double) => time(double),
    }
}

/// A time in nanoseconds, to six significant digits or so.
pub fn time(nanoseconds: f64) -> String {
    let (unit, scale) = match nanoseconds {
        n if n >= 1e9 => ("s", 1e9),
        n if n >= 1e6 => ("ms", 1e6),
        n if n >= 1e3 => ("us", 1e3),
        _ => ("ns", 1.0),
    };
    format!("{:.3}{unit}", nanoseconds / scale)
}

/// A bound in nanoseconds in four digits, rounded up.
pub fn bound(nanoseconds: u64) -> String {
    let digits = nanoseconds.checked_ilog10().map_or(1, |last| last + 1);
    let unit = 10_u64.pow(digits.saturating_sub(4));
    format_ns(nanoseconds.div_ceil(unit).saturating_mul(unit))
}

/// A time in nanoseconds in three significant digits, rounded to the nearest.
pub fn rounded(nanoseconds: u64) -> String {
    let digits = nanoseconds.checked_ilog10().map_or(1, |last| last + 1);
    let unit = 10_u64.pow(digits.saturating_sub(3));
    format_ns((nanoseconds / unit + u64::from(nanoseconds % unit >= unit.div_ceil(2))).saturating_mul(unit))
}

/// Numbers of chips or clusters, runs of them joined: `0-3, 7`.
pub fn runs<N: Copy + Into<u64>>(numbers: &[N]) -> String {
    let mut runs: Vec<(u64, u64)> = Vec::new();
    for number in numbers.iter().map(|&number| number.into()) {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => runs.push((number, number)),
        }
    }
    let run = |&(first, last): &(u64, u64)| if first == last { first.to_string() } else { format!("{first}-{last}") };
    runs.iter().map(run).collect::<Vec<_>>().join(", ")
}

/// Chips by their numbers: `chip 3`, `chips 0-3, 7`.
pub fn chips<N: Copy + Into<u64>>(numbers: &[N]) -> String {
    format!("{} {}", if numbers.len() == 1 { "chip" } else { "chips" }, runs(numbers))
}

/// A whole number with separators: `800,000`.
pub fn separated(number: u128) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A number of bytes for people: `512 B`, `128 KiB`, `1.5 MiB`, four digits at most.
pub fn bytes(bytes: u128) -> String {
    let units = ["B", "KiB", "MiB", "GiB", "TiB"];
    let mut amount = bytes as f64;
    let mut unit = 0;
    // An amount that rounds to 1,024 of a unit is one of the next.
    while amount >= 1_023.95 && unit + 1 < units.len() {
        amount /= 1_024.0;
        unit += 1;
    }
    let text = format!("{amount:.1}");
    format!("{} {}", text.strip_suffix(".0").unwrap_or(&text), units[unit])
}

/// Bytes for people, in thousands: `3.936 MB`, four digits or so.
pub fn volume(bytes: f64) -> String {
    let units = [("PB", 1e15), ("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)];
    let (unit, scale) = units.into_iter().find(|&(_, scale)| bytes >= 0.9995 * scale).unwrap_or(("B", 1.0));
    let amount = bytes / scale;
    let places = if unit == "B" && amount.fract() == 0.0 {
        0
    } else if amount >= 99.95 {
        1
    } else if amount >= 9.995 {
        2
    } else {
        3
    };
    format!("{amount:.places$} {unit}")
}

/// The bytes that a request moves a second, for people.
pub fn request_rate(device: &Device, pages: u64, period: Span) -> String {
    let moved = device.bytes(pages.into()) as f64;
    format!("{}/s", volume(moved * 1e9 / period.as_ns() as f64))
}

/// `1 chip`, `2 chips`.
pub fn count<N: Display + PartialEq + From<u8>>(number: N, noun: &str) -> String {
    if number == N::from(1) { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

/// A few of many names: `a, b, c and 7 more`.
pub fn names<'a>(mut names: impl ExactSizeIterator<Item = &'a str>, max: usize) -> String {
    let total = names.len();
    let shown: Vec<String> = names.by_ref().take(if total == max + 1 { total } else { max }).map(plain).collect();
    match total - shown.len() {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

/// A name from a file, with nothing in it that could move a terminal's cursor, and not endless.
pub fn plain(name: &str) -> String {
    let mut text: String = name.chars().take(40).map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect();
    if name.chars().nth(40).is_some() {
        text.push('…');
    }
    text
}

/// A quantity to four digits or so, with separators.
pub fn quantity(value: f64) -> String {
    if value >= 1e15 {
        return format!("{value:.3e}");
    }
    if value < 100.0 {
        return if value == 0.0 { "0".into() } else { format!("{value:.2}") };
    }
    separated(format!("{value:.0}").parse().expect("digits"))
}

/// Years, or days where they are few.
pub fn lifetime(years: f64) -> String {
    match years {
        years if years >= 1e6 => format!("{years:.1e} years"),
        years if years >= 2.0 => format!("{years:.1} years"),
        years => format!("{:.1} days", years * 365.25),
    }
}

#[cfg(test)]
mod tests {
    use rtflash_analysis::Fraction;

    use super::*;

    #[test]
    fn rounded_times_have_three_digits() {
        let times = [
            (0, "0ns"),
            (999, "999ns"),
            (1_004, "1us"),
            (1_005, "1.01us"),
            (9_995_000, "10ms"),
            (20_787_352, "20.8ms"),
            (u64::MAX, "18400000000s"),
        ];
        for (nanoseconds, text) in times {
            assert_eq!(rounded(nanoseconds), text);
        }
    }

    #[test]
    fn bytes_are_written_for_people() {
        for (number, text) in [
            (0, "0 B"),
            (1_023, "1023 B"),
            (1_024, "1 KiB"),
            (131_072, "128 KiB"),
            (1_572_864, "1.5 MiB"),
            (1 << 30, "1 GiB"),
        ] {
            assert_eq!(bytes(number), text);
        }
        // Not 1024 KiB.
        assert_eq!((bytes((1 << 20) - 1).as_str(), bytes(1_023 * 1_024).as_str()), ("1 MiB", "1023 KiB"));
        for (number, text) in [
            (0.0, "0 B"),
            (0.5, "0.500 B"),
            (999.9, "1.000 kB"),
            (3_935_999.9, "3.936 MB"),
            (12_345e6, "12.35 GB"),
            (1.234e14, "123.4 TB"),
        ] {
            assert_eq!(volume(number), text);
        }
        let device = Device::profile("dgist-2021").unwrap();
        assert_eq!(request_rate(&device, 40, Span::from_us(8_192)), "40.00 MB/s");
    }

    #[test]
    fn nothing_above_one_reads_as_one() {
        assert_eq!(
            (share(1.0), share(1.000_000_1), share(0.999_999_9)),
            ("1.0000".into(), ">1.0000".into(), "<1.0000".into())
        );
        assert_eq!((percent(0.2551), percent(1e-9)), ("25.51 %".into(), "less than 0.01 %".into()));
    }

    #[test]
    fn digits_are_grouped() {
        assert_eq!([0, 999, 1_000, 1_234_567].map(separated), ["0", "999", "1,000", "1,234,567"]);
    }

    #[test]
    fn lists_are_short() {
        assert_eq!(runs(&[0u32, 1, 2, 5, 7, 8]), "0-2, 5, 7-8");
        assert_eq!(names(["a", "b", "c", "d"].into_iter(), 2), "a, b and 2 more");
        assert_eq!(names(["a", "b", "c"].into_iter(), 2), "a, b, c");
        assert_eq!(plain("a\x1b[2Jb"), "a\u{fffd}[2Jb");
    }

    #[test]
    fn periods_are_exact_where_they_are_whole() {
        assert_eq!(period(Fraction::new(300_000_000, 1)), "300ms");
        assert_eq!(period(Fraction::new(100_000_000, 3)), "33.333ms");
    }

    #[test]
    fn quantities_are_legible() {
        for (value, text) in
            [(0.0, "0"), (3.125, "3.12"), (999.4, "999"), (69_120_000.0, "69,120,000"), (1e18, "1.000e18")]
        {
            assert_eq!(quantity(value), text);
        }
        assert_eq!((lifetime(0.1), lifetime(10.04)), ("36.5 days".into(), "10.0 years".into()));
    }
}
