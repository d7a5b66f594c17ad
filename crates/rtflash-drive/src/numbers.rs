//! Numbers on their way between whole nanoseconds and doubles, which report and estimate.

/// The nearest whole number, within those of 64 bits; zero for what is none.
pub fn rounded(number: f64) -> u64 {
    let number = libm::round(number);
    if (1.0..1.8e19).contains(&number) {
        // A double in this range has an exact whole value: it is written out and read.
        format!("{number:.0}").parse().expect("digits of a whole number below 2^64")
    } else if number >= 1.8e19 {
        u64::MAX
    } else {
        0
    }
}

/// Bytes in the largest unit that leaves a whole number.
pub fn bytes(bytes: u64) -> String {
    let units = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    let unit = units.into_iter().find(|&(unit, _)| bytes > 0 && bytes.is_multiple_of(unit));
    unit.map_or_else(|| format!("{bytes}B"), |(unit, name)| format!("{}{name}", bytes / unit))
}
