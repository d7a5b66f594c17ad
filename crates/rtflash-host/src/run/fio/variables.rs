//! Replacements of fio in options: `${NAME}` by a variable of the environment, `$pagesize` and
//! `$ncpus` by the machine's numbers. fio then calculates the value.

/// Bytes of a page of memory, as most machines have them.
const PAGE: u64 = 4_096;

/// An option with the names in braces replaced. A name without a variable becomes nothing.
pub(super) fn with_variables(option: &str, variable: &mut dyn FnMut(&str) -> Option<String>) -> String {
    let (mut replaced, mut rest) = (String::new(), option);
    while let Some((before, behind)) = rest.split_once("${") {
        let Some((name, after)) = behind.split_once('}') else { break };
        replaced += before;
        // As in fio, a variable that is not set is empty.
        if let Some(value) = variable(name) {
            replaced += &value;
        }
        rest = after;
    }
    replaced + rest
}

/// An option with the machine's words replaced. If there are any, its value is calculated.
///
/// # Errors
/// The word that only fio's machine knows, or a calculation that is none.
pub(super) fn with_keywords(option: &str, cpus: u32) -> Result<String, &'static str> {
    if option.contains("$mb_memory") {
        return Err("$mb_memory: the memory of the machine is not in the file");
    }
    let replaced = option.replace("$pagesize", &PAGE.to_string()).replace("$ncpus", &cpus.to_string());
    let Some((name, value)) = replaced.split_once('=').filter(|_| replaced != option) else { return Ok(replaced) };
    if !value.contains(['+', '-', '*', '/']) {
        return Ok(replaced);
    }
    let found = calculated(value).ok_or("a calculation with whole numbers, + - * and /")?;
    Ok(format!("{name}={found}"))
}

/// The value of whole numbers with + - * and /. Products and quotients come first.
fn calculated(text: &str) -> Option<u64> {
    let mut sum = 0_i128;
    let text: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    let mut rest = text.as_str();
    let mut sign = 1;
    loop {
        let end = rest.find(['+', '-']).unwrap_or(rest.len());
        sum = sum.checked_add(sign * product(&rest[..end])?)?;
        let Some(next) = rest[end..].chars().next() else { return u64::try_from(sum).ok() };
        sign = if next == '+' { 1 } else { -1 };
        rest = &rest[end + 1..];
    }
}

fn product(text: &str) -> Option<i128> {
    let mut value: Option<i128> = None;
    let mut rest = text;
    let mut divides = false;
    loop {
        let end = rest.find(['*', '/']).unwrap_or(rest.len());
        let factor = i128::from(rest[..end].parse::<u64>().ok()?);
        value = match (value, divides) {
            (None, _) => Some(factor),
            (Some(value), true) => Some(value.checked_div(factor)?),
            (Some(value), false) => Some(value.checked_mul(factor)?),
        };
        let Some(next) = rest[end..].chars().next() else { return value };
        divides = next == '/';
        rest = &rest[end + 1..];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables() {
        let mut variable = |name: &str| (name == "BS").then(|| "4k".to_owned());
        let mut of = |text: &str| with_variables(text, &mut variable);
        assert_eq!(of("bs=${BS}"), "bs=4k");
        assert_eq!(of("a${BS}b${NONE}c$BS{}${"), "a4kbc$BS{}${");
        assert_eq!(of("${${BS}"), "");
    }

    #[test]
    fn words_of_the_machine() {
        let of = |text: &str| with_keywords(text, 4);
        assert_eq!(of("bs=$pagesize"), Ok("bs=4096".into()));
        assert_eq!(of("size=8*1024*$pagesize/2+1-1"), Ok("size=16777216".into()));
        assert_eq!(of("numjobs=$ncpus"), Ok("numjobs=4".into()));
        // Nothing is calculated where nothing is replaced.
        assert_eq!(of("filename=/dev/a-b"), Ok("filename=/dev/a-b".into()));
        for text in ["size=$mb_memory", "size=$ncpus*", "size=$ncpus/0", "size=1-$ncpus", "size=*$ncpus"] {
            assert!(of(text).is_err(), "{text}");
        }
    }
}
