use proptest::prelude::*;
use rtflash_model::{Diagnostic, Diagnostics, Path, read_task_set, read_task_set_bytes};

use super::{MAX_SHOWN, render};

fn fault(range: std::ops::Range<usize>) -> Diagnostic {
    Diagnostic { range, path: Path::root(), problem: "bad".into(), expected: "good".into() }
}

fn at(text: &str, range: std::ops::Range<usize>) -> String {
    render("f", text, 1, 1, &Diagnostics::new([fault(range)]), false)
}

#[test]
fn a_fault_is_shown_as_rustc_would() {
    let text = "{\n \"device\": \"dgist-2021\",\n \"tasks\": [{ \"name\": \"a\", \"raed\": 1, \"write\": { \"pages\": 4, \"period\": 36 } }]\n}";
    let shown = render("set.json", text, 1, 1, &read_task_set(text).unwrap_err(), false);
    assert_eq!(
        shown,
        r#"error: unknown field `raed`
 --> set.json:3:27
  |
3 |  "tasks": [{ "name": "a", "raed": 1, "write": { "pages": 4, "period": 36 } }]
  |                           ^^^^^^
  |
  = note: at tasks[0].raed
  = help: expected `read`, the nearest of the known fields

error: `period` is a time without a unit
 --> set.json:3:71
  |
3 |  "tasks": [{ "name": "a", "raed": 1, "write": { "pages": 4, "period": 36 } }]
  |                                                                       ^^
  |
  = note: at tasks[0].write.period
  = help: expected a string with a unit, such as "36ms", "36us" or "36ns"
"#
    );
    let coloured = render("set.json", text, 1, 1, &read_task_set(text).unwrap_err(), true);
    assert!(coloured.contains("\u{1b}["));
    assert!(coloured.contains("set.json:3:27"));
}

#[test]
fn lines_are_shown_around_the_fault() {
    let long = format!("{}\u{1b}[31m{}", "µ".repeat(1000), "b".repeat(1000));
    for (text, range, place, line, carets) in [
        ("", 0..0, "f:1:1", "", "^"),
        ("{\n", 2..2, "f:2:1", "", "^"),
        ("{", 1..1, "f:1:2", "{", " ^"),
        ("{", 7..9, "f:1:2", "{", " ^"),
        ("\u{feff}{", 3..4, "f:1:1", "{", "^"),
        ("\tab\r\n", 1..3, "f:1:2", "    ab", "    ^^"),
        ("{ab\ncd}", 1..7, "f:1:2", "{ab", " ^^"),
        ("日本語x", 3..6, "f:1:2", "日本語x", "  ^^"),
        ("日本語x", 4..5, "f:1:2", "日本語x", "  ^"),
        ("\u{1b}[2J\u{202e}\0", 0..1, "f:1:1", "␛[2J\u{fffd}␀", "^"),
        (
            &long,
            2001..2002,
            "f:1:1002",
            &format!("…{}␛[31m{}…", "µ".repeat(69), "b".repeat(46)),
            &format!("{}^", " ".repeat(71)),
        ),
    ] {
        let shown = at(text, range.clone());
        let lines: Vec<&str> = shown.lines().collect();
        assert_eq!(lines[1].trim_start(), format!("--> {place}"), "{text:?}");
        let after =
            |line: &str| line.split_once('|').map(|(_, rest)| rest.strip_prefix(' ').unwrap_or(rest).to_owned());
        assert_eq!(after(lines[3]).as_deref(), Some(line), "{text:?}\n{shown}");
        assert_eq!(after(lines[4]).as_deref(), Some(carets), "{text:?} {range:?}\n{shown}");
    }
}

#[test]
fn places_in_a_stream_count_from_its_beginning() {
    let diagnostics = Diagnostics::new([fault(1..2), fault(3..4)]);
    let shown = render("-", "{x\ny}", 998, 5, &diagnostics, false);
    assert!(shown.contains("   --> -:998:6\n"), "{shown}");
    assert!(shown.contains("   --> -:999:1\n") && shown.contains("\n999 | y}\n"), "{shown}");
}

#[test]
fn of_many_faults_some_are_shown() {
    let text = "x".repeat(MAX_SHOWN + 5);
    let diagnostics = Diagnostics::new((0..text.len()).map(|at| fault(at..at + 1)));
    let shown = render("f", &text, 1, 1, &diagnostics, false);
    assert_eq!(shown.matches("error: bad").count(), MAX_SHOWN);
    assert!(shown.ends_with("\n\n… and 5 more\n"), "{shown}");
}

#[test]
fn a_huge_line_is_cut() {
    let text = format!("{{\"device\": \"{}\", \"tasks\": 3}}", "µ\u{7}".repeat(30_000_000));
    let shown = render("f", &text, 1, 1, &read_task_set(&text).unwrap_err(), false);
    assert!(shown.len() < 5000 && shown.contains("error: "), "{}", shown.len());
}

proptest! {
    #[test]
    fn any_diagnostics_are_shown(
        text in proptest::collection::vec(prop_oneof![any::<char>(), proptest::sample::select("{}\"\n\r\t\0 µ日\u{feff}\u{301}".chars().collect::<Vec<_>>())], 0..200),
        ranges in proptest::collection::vec((0usize..300, 0usize..300), 1..4),
        problem in ".*", name in ".*", line in 0usize..1_000_000, column in any::<usize>(), colour in any::<bool>(),
    ) {
        let text: String = text.into_iter().collect();
        let wrong = ranges.into_iter().map(|(start, end)| Diagnostic {
            range: start..end, path: Path::root().key(problem.as_str()), problem: problem.clone(), expected: problem.clone(),
        });
        let shown = render(&name, &text, line, column, &Diagnostics::new(wrong), colour);
        prop_assert!(shown.ends_with('\n'));
        prop_assert!(colour || !shown.contains(|c: char| c.is_control() && c != '\n'));
    }

    #[test]
    fn whatever_a_reader_says_is_shown(at in any::<prop::sample::Index>(), bytes in proptest::collection::vec(any::<u8>(), 0..4)) {
        let good = br#"{"device": "dgist-2021", "tasks": [{"name": "a", "read": {"pages": 4, "period": "1ms"}}]}"#;
        let at = at.index(good.len());
        let changed = [&good[..at], &bytes, &good[at + 1..]].concat();
        if let Err(wrong) = read_task_set_bytes(&changed) {
            prop_assert!(render("f", &String::from_utf8_lossy(&changed), 1, 1, &wrong, false).contains("\n --> f:"));
        }
    }
}
