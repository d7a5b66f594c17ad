use std::io::{self, Read};

use proptest::prelude::*;

use crate::file::stream::{FrameTooLong, Frames};

/// A source that gives at most a fixed number of bytes at a time.
struct Slow<'a>(&'a [u8], usize);

impl Read for Slow<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.1.min(self.0.len()).min(buffer.len());
        buffer[..count].copy_from_slice(&self.0[..count]);
        self.0 = &self.0[count..];
        Ok(count)
    }
}

fn frames(bytes: &[u8], at_once: usize) -> Vec<(String, usize, usize)> {
    let mut frames = Frames::new(Slow(bytes, at_once));
    let mut all = Vec::new();
    while let Some(batch) = frames.next_batch().unwrap() {
        assert!(!batch.is_empty());
        for frame in batch {
            assert!(!frame.text.is_empty());
            all.push((String::from_utf8_lossy(&frame.text).into_owned(), frame.first_line, frame.first_column));
        }
    }
    all
}

#[test]
fn streams_are_cut_between_values() {
    for (stream, expected) in [
        ("", vec![]),
        (" \n\r\n\t", vec![]),
        ("\u{feff}", vec![]),
        ("\u{feff}{}", vec![("{}", 1, 1)]),
        ("{}\n{}\n", vec![("{}", 1, 1), ("{}", 2, 1)]),
        ("{} {\"µ\":1}[2]", vec![("{}", 1, 1), ("{\"µ\":1}", 1, 4), ("[2]", 1, 11)]),
        ("{\r\n}\r\n\r\n {\"a\":\n[]}", vec![("{\r\n}", 1, 1), ("{\"a\":\n[]}", 4, 2)]),
        ("5 {}\n\"x\"\n{}", vec![("5 {}", 1, 1), ("\"x\"", 2, 1), ("{}", 3, 1)]),
        ("{}} x\n{}", vec![("{}", 1, 1), ("} x", 1, 3), ("{}", 2, 1)]),
        ("\u{c}\n{}", vec![("\u{c}", 1, 1), ("{}", 2, 1)]),
        (r#"{"a":"}\"{\\"}{}"#, vec![(r#"{"a":"}\"{\\"}"#, 1, 1), ("{}", 1, 15)]),
        // Not indented, but whole.
        ("[\n{},\n{}\n]\n{\"a\":\n{}}", vec![("[\n{},\n{}\n]", 1, 1), ("{\"a\":\n{}}", 5, 1)]),
        // Cut short.
        ("{\"a\n{}", vec![("{\"a", 1, 1), ("{}", 2, 1)]),
        ("{\"a\\\n{}", vec![("{\"a\\", 1, 1), ("{}", 2, 1)]),
        ("{\"a\"\n{}\n", vec![("{\"a\"", 1, 1), ("{}", 2, 1)]),
        ("{\"a\":[1,\n{}\n{}\n", vec![("{\"a\":[1,", 1, 1), ("{}", 2, 1), ("{}", 3, 1)]),
        ("{\"a\":\n{}\n{}", vec![("{\"a\":", 1, 1), ("{}", 2, 1), ("{}", 3, 1)]),
        ("{\"a\":[\n{}", vec![("{\"a\":[", 1, 1), ("{}", 2, 1)]),
        ("{\"a\":[\n{\"b\n{}", vec![("{\"a\":[", 1, 1), ("{\"b", 2, 1), ("{}", 3, 1)]),
        // Balanced, but no JSON.
        ("{\"a\":[x,\n{}]}\n{}", vec![("{\"a\":[x,", 1, 1), ("{}", 2, 1), ("]}", 2, 3), ("{}", 3, 1)]),
        ("{\"a\":[x,\n []}\n{}]", vec![("{\"a\":[x,\n []}", 1, 1), ("{}", 3, 1), ("]", 3, 3)]),
        ("[[[", vec![("[[[", 1, 1)]),
    ] {
        for at_once in [1, 2, 7, usize::MAX] {
            let expected: Vec<_> =
                expected.iter().map(|&(text, line, column)| (text.to_owned(), line, column)).collect();
            assert_eq!(frames(stream.as_bytes(), at_once), expected, "{stream:?} by {at_once}");
        }
    }
}

#[test]
fn complete_frames_come_before_the_source_has_more() {
    let mut frames = Frames::new(Slow(b"{}\n{}\n{\"a\":1}\n", 6));
    let lengths: Vec<usize> = std::iter::from_fn(|| frames.next_batch().unwrap()).map(|batch| batch.len()).collect();
    assert_eq!(lengths, [2, 1]);
}

#[test]
fn a_value_that_is_too_long_stops_reading() {
    for stream in ["{}\n [1,2,3,4,5,6]\n{}", "{}\n x2345678901234\n{}", "{}\n [1,2,3,4,5,6"] {
        for at_once in [1, 100] {
            let mut frames = Frames::with_limit(Slow(stream.as_bytes(), at_once), 10);
            assert_eq!(frames.next_batch().unwrap().map(|batch| batch.len()), Some(1));
            let error = frames.next_batch().unwrap_err();
            let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<FrameTooLong>());
            assert_eq!(inner, Some(&FrameTooLong { first_line: 2, first_column: 2 }));
            assert!(frames.next_batch().unwrap().is_none());
        }
    }
}

#[test]
fn broken_streams_take_linear_time() {
    // Each of these would take minutes if every line were scanned to the end.
    for line in ["{\"a\":[\n", "{\"a\":[\n{},\n {\"a\":[\n", "{\"a\":[{},\n", "{\"a\":[{}],\"b\":\n", "[\n", "{\n\"a\n"]
    {
        let stream = line.repeat(200_000);
        assert!(!frames(stream.as_bytes(), usize::MAX).is_empty());
    }
    let nested = "{\"a\":[\n".repeat(200_000) + "x" + &"]}\n".repeat(200_000);
    assert!(!frames(nested.as_bytes(), usize::MAX).is_empty());
}

#[test]
fn memory_is_bounded() {
    let mut line = format!("{{\"tasks\":[\"{}\",{{\"a\":[", "x".repeat(1000));
    line.push_str(&format!("\n{{\"a\":\"{}\"}}\n", "y".repeat(1000)));
    let stream = line.repeat(10_000);
    let mut frames = Frames::new(stream.as_bytes());
    let mut max = 0;
    while let Some(batch) = frames.next_batch().unwrap() {
        max = max.max(frames.capacity().max(batch.iter().map(|frame| frame.text.len()).sum()));
    }
    assert!(max < 2 << 20, "{max} bytes");
}

/// A JSON value on one line.
fn line() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("null".to_owned()),
        (0..1000u32).prop_map(|number| number.to_string()),
        "[a-z{}\\[\\],:µ]{0,6}".prop_map(|text| format!("\"{text}\"")),
        Just(r#""\"\\{""#.to_owned()),
    ];
    let value = leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(|items| format!("[{}]", items.join(","))),
            proptest::collection::vec(inner, 0..4).prop_map(object),
        ]
    });
    proptest::collection::vec(value, 0..4).prop_map(object)
}

fn object(values: Vec<String>) -> String {
    let fields: Vec<String> = values.iter().enumerate().map(|(key, value)| format!("\"{key}\": {value}")).collect();
    format!("{{{}}}", fields.join(", "))
}

proptest! {
    #[test]
    fn one_truncated_line_leaves_the_others_intact(
        lines in proptest::collection::vec(line(), 1..6), broken: prop::sample::Index, cut: prop::sample::Index, at_once in 1usize..40,
    ) {
        let broken = broken.index(lines.len());
        for cut in [cut.index(lines[broken].len() + 1), lines[broken].len() - 1, 1] {
            let mut bytes = Vec::new();
            for (index, line) in lines.iter().enumerate() {
                bytes.extend_from_slice(if index == broken { &line.as_bytes()[..cut] } else { line.as_bytes() });
                bytes.push(b'\n');
            }
            let found = frames(&bytes, at_once);
            for (index, line) in lines.iter().enumerate().filter(|(index, _)| *index != broken) {
                prop_assert!(found.contains(&(line.clone(), index + 1, 1)), "{line} in {found:?}");
            }
            // And nothing else but what is left of the broken one.
            prop_assert!(found.len() <= lines.len(), "{found:?}");
        }
    }

    #[test]
    fn values_come_back_whatever_stands_between_them(
        lines in proptest::collection::vec((line(), "[ \t\r\n]{0,3}"), 0..6), at_once in 1usize..40,
    ) {
        let stream: String = lines.iter().map(|(line, space)| format!("{line}{space}")).collect();
        let found: Vec<String> = frames(stream.as_bytes(), at_once).into_iter().map(|frame| frame.0).collect();
        prop_assert_eq!(found, lines.into_iter().map(|(line, _)| line).collect::<Vec<_>>());
    }

    #[test]
    fn any_bytes_are_cut_the_same_however_they_come(
        bytes in proptest::collection::vec(prop_oneof![proptest::sample::select(b"{}[]\",:\\\n a".to_vec()), any::<u8>()], 0..200),
        at_once in 1usize..20,
    ) {
        let found = frames(&bytes, at_once);
        prop_assert_eq!(&found, &frames(&bytes, usize::MAX));
        // Nothing but white space is lost.
        let significant = |byte: &u8| !b" \t\r\n".contains(byte);
        let mut left = Frames::new(bytes.as_slice());
        let mut kept = Vec::new();
        while let Some(batch) = left.next_batch().unwrap() {
            kept.extend(batch.into_iter().flat_map(|frame| frame.text).filter(significant));
        }
        let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(&bytes);
        prop_assert_eq!(kept, bytes.iter().copied().filter(significant).collect::<Vec<_>>());
    }
}
