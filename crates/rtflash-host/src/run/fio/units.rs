//! Numbers, bytes and times as fio reads them.

use rtflash_model::{Span, TIME_LIMIT_NS};

/// Digits, and what stands behind them in lower case.
fn parts(text: &str) -> Option<(u64, String)> {
    let text = text.trim();
    let hex = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
    if let Some(hex) = hex {
        // A sign is no digit.
        let digits = hex.bytes().all(|byte| byte.is_ascii_hexdigit());
        return u64::from_str_radix(hex, 16).ok().filter(|_| digits).map(|number| (number, String::new()));
    }
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, unit) = text.split_at(end);
    Some((digits.parse().ok()?, unit.to_ascii_lowercase()))
}

/// Whether fio reads a number in a value without its unit: it looks for one behind digits, and not
/// behind a blank in front of these (`get_mult_bytes` and `get_mult_time` of parse.c).
pub(super) fn loses_unit(value: &str) -> bool {
    let is_lost = |part: &str| part.starts_with([' ', '\t']) && parts(part).is_some_and(|(_, unit)| !unit.is_empty());
    value.split([',', ':', '-']).any(is_lost)
}

/// A whole number without a unit.
pub(super) fn number(text: &str) -> Option<u64> {
    parts(text).filter(|(_, unit)| unit.is_empty()).map(|(number, _)| number)
}

/// The meanings of `k`, `m` and so on, and of `kib`, `mib` and so on: fio's `kb_base`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Units {
    /// 1024: `k` is 1,024, and `kib` is 1,000.
    Inverse,
    /// 1000: `k` is 1,000, and `kib` is 1,024.
    True,
}

impl Units {
    /// Bytes, with one of the suffixes b, k, m, g, t, p, and a `b` or an `i` behind it or not.
    /// Other suffixes are `kib`, `mib`, `gib`, `tib` and `pib`. fio tries `kib`, and then the words
    /// that begin with `k`.
    pub(super) fn bytes(self, text: &str) -> Option<u64> {
        let (number, unit) = parts(text)?;
        let (plain, binary) = match self {
            Units::Inverse => (1_024_u64, 1_000),
            Units::True => (1_000, 1_024),
        };
        let (prefix, base) = match (unit.strip_suffix("ib"), unit.strip_suffix(['i', 'b'])) {
            (Some(prefix), _) => (prefix, binary),
            (None, Some(prefix)) => (prefix, plain),
            (None, None) => (unit.as_str(), plain),
        };
        // Bytes have no `i` of their own.
        if prefix.is_empty() && unit.contains('i') {
            return None;
        }
        let power = ["", "k", "m", "g", "t", "p"].into_iter().position(|known| known == prefix)?;
        number.checked_mul(base.checked_pow(u32::try_from(power).ok()?)?)
    }
}

/// A time, with one of the suffixes d, h, m, s, sec, ms, msec, us and usec, or in nanoseconds of
/// `plain` each without one.
pub(super) fn time(text: &str, plain: u64) -> Option<Span> {
    let (number, unit) = parts(text)?;
    let scale = match unit.as_str() {
        "" => plain,
        "us" | "usec" => 1_000,
        "ms" | "msec" => 1_000_000,
        "s" | "sec" => 1_000_000_000,
        "m" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        "d" => 86_400_000_000_000,
        _ => return None,
    };
    number.checked_mul(scale).filter(|&time| time < TIME_LIMIT_NS).and_then(Span::from_ns)
}

/// Cores: numbers and ranges of numbers, `0,5,8-15`, each below `cpus`.
pub(super) fn cores(text: &str, cpus: u32) -> Result<Vec<(u32, u32)>, Option<u64>> {
    let range = |part: &str| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last) = (number(first).ok_or(None)?, number(last).ok_or(None)?);
        let core = |core: u64| u32::try_from(core).ok().filter(|&core| core < cpus).ok_or(Some(core));
        let range = (core(first)?, core(last)?);
        if range.0 <= range.1 { Ok(range) } else { Err(None) }
    };
    text.split(',').map(range).collect()
}

/// For reads, writes and trims: what a list of up to three values says. One without a comma behind
/// it holds for the rest, too.
pub(super) fn by_operation<T: Copy>(text: &str, mut value: impl FnMut(&str) -> Option<T>) -> Option<[Option<T>; 3]> {
    let mut parts: Vec<&str> = text.split(',').map(str::trim).collect();
    let is_open = parts.len() > 1 && parts.last().is_some_and(|last| last.is_empty());
    if is_open {
        parts.pop();
    }
    if text.is_empty() || parts.len() > 3 {
        return None;
    }
    let mut values = [None; 3];
    for (at, part) in parts.iter().enumerate() {
        values[at] = if part.is_empty() { None } else { Some(value(part)?) };
        if at + 1 == parts.len() && !is_open {
            let last = values[at];
            values[at..].fill(last);
        }
    }
    Some(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(text: &str) -> Option<u64> {
        Units::Inverse.bytes(text)
    }

    #[test]
    fn bytes_as_fio_reads_them() {
        for text in ["4096", "4096b", "4096B", "4k", "4kb", "4kB", "4K", "4KB", "4ki", "4Ki", "4KI", "0x1000"] {
            assert_eq!(bytes(text), Some(4_096), "{text}");
        }
        for text in ["1mib", "1000kib", "1000KiB", "1000000", "1MiB"] {
            assert_eq!(bytes(text), Some(1_000_000), "{text}");
        }
        for (text, value) in [("1m", 1 << 20), ("1mi", 1 << 20), ("3Gi", 3 << 30), ("2ti", 2 << 40), ("2p", 2 << 50)] {
            assert_eq!(bytes(text), Some(value), "{text}");
        }
        assert_eq!((bytes("1024g"), bytes("1pib")), (Some(1 << 40), Some(1_000_000_000_000_000)));
        let of_true = ["4k", "4kb", "4ki", "4kib", "1MiB"].map(|text| Units::True.bytes(text));
        assert_eq!(of_true, [Some(4_000), Some(4_000), Some(4_000), Some(4_096), Some(1 << 20)]);
        for text in [
            "",
            "k",
            "-4k",
            "4x",
            "4kk",
            "4i",
            "4ib",
            "4kibi",
            "4bi",
            "1.5k",
            "20%",
            "16384p",
            "0x",
            "0x+1",
            "$pagesize",
            "99999999999999999999",
        ] {
            assert_eq!(bytes(text), None, "{text}");
        }
    }

    #[test]
    fn units_behind_blanks_are_lost() {
        for text in [" 8k", "\t50%", "4k, 8k", "4k/50: 8k/50", " 2m"] {
            assert!(loses_unit(text), "{text}");
        }
        for text in ["8k ", " 8", "4k,8k", " 0x1000", " read", "4k , 8"] {
            assert!(!loses_unit(text), "{text}");
        }
    }

    #[test]
    fn times_as_the_documentation_has_them() {
        let ns = |text: &str| time(text, 1_000_000_000).map(Span::as_ns);
        for (text, seconds) in [("2", 2), ("2s", 2), ("2SEC", 2), ("2m", 120), ("1h", 3_600), ("1d", 86_400)] {
            assert_eq!(ns(text), Some(seconds * 1_000_000_000), "{text}");
        }
        assert_eq!(
            (ns("3ms"), ns("3msec"), ns("3us"), ns("3usec")),
            (Some(3_000_000), Some(3_000_000), Some(3_000), Some(3_000))
        );
        assert_eq!(time("7", 1_000).map(Span::as_ns), Some(7_000));
        assert_eq!((ns("1-5"), ns("1ns"), ns("1.5s"), ns("106752d")), (None, None, None, None));
    }

    #[test]
    fn lists() {
        assert_eq!(cores("0,5,8-15", 16), Ok(vec![(0, 0), (5, 5), (8, 15)]));
        assert_eq!((cores("4", 4), cores("0-9", 4), cores("3-1", 4)), (Err(Some(4)), Err(Some(9)), Err(None)));
        assert_eq!(by_operation("8k,32k", bytes), Some([Some(8 << 10), Some(32 << 10), Some(32 << 10)]));
        assert_eq!(by_operation("8k,32k,", bytes), Some([Some(8 << 10), Some(32 << 10), None]));
        assert_eq!(by_operation(",8k", bytes), Some([None, Some(8 << 10), Some(8 << 10)]));
        assert_eq!(by_operation(",8k,", bytes), Some([None, Some(8 << 10), None]));
        assert_eq!((by_operation("8k", bytes), by_operation("1,2,3,4", bytes)), (Some([Some(8 << 10); 3]), None));
    }
}
