//! The sizes of I/Os: `bs`, `bsrange` and `bssplit`.

use super::options::{NamedFault, SectionOptions, fault};
use super::units::{Units, by_operation};

/// Sizes that a range can have.
const MAX_SIZES: u64 = 1 << 12;

/// The size of an I/O where a file does not say it.
const BS: u64 = 4_096;

/// Sizes of an operation, each with its share.
pub(super) type Sizes = Vec<(u64, u64)>;

/// The sizes of reads, writes and trims.
pub(super) fn sizes(options: &SectionOptions, is_random: bool) -> Result<[Sizes; 3], NamedFault> {
    let mut plain = options.lists("bs")?;
    if plain.contains(&Some(0)) {
        return Err(fault("bs", "`bs` is zero", "bytes above zero, such as 4k"));
    }
    // The first is for sequential I/O, the second for random I/O.
    if options.flag("bs_is_seq_rand") {
        plain = [plain[usize::from(is_random)]; 3];
    }
    let ranges = split_by(options, "bsrange", range)?;
    let splits = split_by(options, "bssplit", shares)?;
    let of = |kind: usize| {
        let range = ranges[kind].clone();
        splits[kind].clone().or(range).unwrap_or_else(|| vec![(plain[kind].unwrap_or(BS), 1)])
    };
    Ok([of(0), of(1), of(2)])
}

/// The sizes of reads, writes and trims by an option.
fn split_by(
    options: &SectionOptions,
    name: &'static str,
    read: impl Fn(&str, Units) -> Result<Sizes, String>,
) -> Result<[Option<Sizes>; 3], NamedFault> {
    let Some(text) = options.get(name) else { return Ok([None, None, None]) };
    let units = options.units()?;
    let mut parts = Vec::new();
    let order = by_operation(text, |part| {
        parts.push(part.to_owned());
        Some(parts.len() - 1)
    });
    let expected = "sizes above zero, such as 4k-64k, or 4k/60:64k/40";
    let order = order.ok_or_else(|| fault(name, format!("`{name}` has no sizes"), expected))?;
    let of = |part: Option<usize>| match part {
        Some(at) => read(&parts[at], units).map(Some).map_err(|problem| fault(name, problem, expected)),
        None => Ok(None),
    };
    Ok([of(order[0])?, of(order[1])?, of(order[2])?])
}

/// All multiples of the smallest size up to the largest one, in equal shares.
fn range(text: &str, units: Units) -> Result<Sizes, String> {
    let ends = text.split_once(['-', ':']);
    let ends = ends.and_then(|(min, max)| Some((units.bytes(min.trim())?, units.bytes(max.trim())?)));
    let (min, max) = ends.filter(|&(min, max)| min > 0 && max > 0).ok_or("it is no range of sizes")?;
    let (min, max) = (min.min(max), min.max(max));
    if max / min > MAX_SIZES {
        return Err(format!("it has {} sizes: at most {MAX_SIZES} are distinguished", max / min));
    }
    Ok((1..=max / min).map(|times| (times * min, 1)).collect())
}

/// Sizes with shares in percent: `4k/60:64k/40`. The rest is divided among sizes without a share.
fn shares(text: &str, units: Units) -> Result<Sizes, String> {
    let mut sizes = Vec::new();
    for part in text.split(':').take_while(|part| !part.is_empty()) {
        let (size, percent) = part.split_once('/').unwrap_or((part, ""));
        let size = units.bytes(size).filter(|&size| size > 0).ok_or_else(|| format!("`{part}` has no size"))?;
        let percent = match percent.trim() {
            "" | "0" => None,
            percent => Some(percent.parse::<u64>().map_err(|_| format!("`{part}` has no share"))?.min(100)),
        };
        sizes.push((size, percent));
    }
    let given: u64 = sizes.iter().filter_map(|&(_, percent)| percent).sum();
    let missing = sizes.iter().filter(|(_, percent)| percent.is_none()).count() as u64;
    if sizes.is_empty() || given > 100 {
        return Err(if given > 100 { "shares of more than 100 %".into() } else { "it has no sizes".into() });
    }
    let each = (100 - given).checked_div(missing);
    let smallest = sizes.iter().map(|&(size, _)| size).min().unwrap_or(1);
    // fio makes a size a multiple of the smallest one.
    let shares = sizes.into_iter().map(|(size, percent)| {
        (size - size % smallest, percent.or(each).expect("a size without a share is missing one"))
    });
    Ok(shares.filter(|&(_, share)| share > 0).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_and_shares() {
        assert_eq!(range("512-2k", Units::Inverse), Ok(vec![(512, 1), (1_024, 1), (1_536, 1), (2_048, 1)]));
        assert_eq!(range("8k:4k", Units::Inverse), Ok(vec![(4_096, 1), (8_192, 1)]));
        assert_eq!(shares("4k/60:64k/40", Units::Inverse), Ok(vec![(4_096, 60), (65_536, 40)]));
        assert_eq!(
            shares("512/25:1k/:2k/:4k/", Units::Inverse),
            Ok(vec![(512, 25), (1_024, 25), (2_048, 25), (4_096, 25)])
        );
        assert_eq!(shares("4k", Units::Inverse), Ok(vec![(4_096, 100)]));
        for text in ["", "4k/x", "k/5", "4k/90:8k/20", "0/100"] {
            assert!(shares(text, Units::Inverse).is_err(), "{text}");
        }
        for text in ["", "4k", "0-4k", "1-1m", "a-b"] {
            assert!(range(text, Units::Inverse).is_err(), "{text}");
        }
    }
}
