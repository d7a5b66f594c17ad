//! The output can be read back, and other tools expect it so; a text that is no trace is refused
//! with a reason.

use rtflash_model::{ChipId, ClusterId, Lpn};
use rtflash_plan::{BlockId, ChannelId, Kind, SourceId};
use std::io::{BufReader, Cursor};

use proptest::prelude::*;

use super::*;
use crate::record::{Action, Complete, NONE, Operation, Release, Starved, Transfer};
use crate::record_samples::any_record;
use crate::samples::{at, plan};

fn written(plan: &Plan, records: &[Record]) -> String {
    let mut lines = JsonLines::new(plan, Vec::new());
    for record in records {
        lines.write(record).expect("memory takes all");
    }
    String::from_utf8(lines.finish().expect("memory takes all")).expect("JSON is UTF-8")
}

#[test]
fn lines_are_as_the_interface_fixes_them() {
    let plan = plan();
    let job = JobId { source: SourceId(0), index: 0 };
    let (start, end, cluster, chip, kind) = (at(0), at(50_000), 0, 1, Kind::Read);
    let read = Operation {
        start,
        end,
        cluster: ClusterId(cluster),
        chip: ChipId(chip),
        action: Action::Read,
        job,
        kind,
        block: BlockId(7),
        page: 3,
        lpn: Lpn(42),
    };
    let gc = JobId { source: SourceId(2), index: 12 };
    let stream = JobId { source: SourceId(6), index: u64::MAX };
    let odd = JobId { source: SourceId(3), index: 1 };
    let erase = Operation { action: Action::Erase, kind: Kind::Gc, job: gc, page: NONE, lpn: Lpn(NONE), ..read };
    let release =
        Release { at: start, job, kind, deadline: Some(at(36_000_000)), pages: 40, cluster: Some(ClusterId(0)) };
    let background = Release { job: stream, kind: Kind::Server, deadline: None, cluster: None, ..release };
    let records = [
        Record::Release(release),
        Record::Release(background),
        Record::Complete(Complete { at: at(2_000_000), job: odd }),
        Record::Starved(Starved { at: at(9), job: stream, cluster: ClusterId(1), chip: ChipId(4) }),
        Record::Operation(read),
        Record::Operation(erase),
        Record::Transfer(Transfer {
            start,
            end,
            channel: ChannelId(2),
            cluster: ClusterId(1),
            chip: ChipId(chip),
            job: stream,
            kind: Kind::Server,
        }),
    ];
    let expected = r##"{"release":0,"job":"camera.read#0","kind":"read","deadline":36000000,"pages":40,"cluster":0}
{"release":0,"job":"log#18446744073709551615","kind":"server","deadline":null,"pages":40,"cluster":null}
{"complete":2000000,"job":"a<b>&\"c\"\\#9\u0001é.read#1"}
{"starved":9,"job":"log#18446744073709551615","cluster":1,"chip":4}
{"start":0,"end":50000,"cluster":0,"chip":1,"op":"read","job":"camera.read#0","kind":"read","block":7,"page":3,"lpn":42}
{"start":0,"end":50000,"cluster":0,"chip":1,"op":"erase","job":"camera.gc#12","kind":"gc","block":7}
{"start":0,"end":50000,"cluster":1,"channel":2,"chip":1,"op":"transfer","job":"log#18446744073709551615","kind":"server"}
"##;
    assert_eq!(written(&plan, &records), expected);
}

#[test]
fn what_is_not_a_trace_is_refused_with_line_problem_and_remedy() {
    let plan = plan();
    let operation = |change: &str, to: &str| {
        let line = r##"{"start":0,"end":50000,"cluster":0,"chip":1,"op":"read","job":"camera.read#0","kind":"read","block":7,"page":3,"lpn":42}"##;
        assert!(line.contains(change));
        line.replace(change, to)
    };
    let release = |change: &str, to: &str| {
        let line = r##"{"release":0,"job":"log#0","kind":"server","deadline":null,"pages":40,"cluster":null}"##;
        assert!(line.contains(change));
        line.replace(change, to)
    };
    let cases = [
        ("[0]".into(), "not a JSON object"),
        ("{\"complete\":1,".into(), "EOF"),
        ("{\"complete\":1,\"job\":\"log#0\"} {}".into(), "trailing"),
        ("{\"complete\":1,\"complete\":2,\"job\":\"log#0\"}".into(), "duplicate field `complete`"),
        ("{}".into(), "exactly one of"),
        ("{\"complete\":1,\"starved\":1,\"job\":\"log#0\"}".into(), "exactly one of"),
        ("{\"complete\":null,\"job\":\"log#0\"}".into(), "`complete` is null; expected whole nanoseconds"),
        ("{\"complete\":1}".into(), "no `job`"),
        ("{\"complete\":1,\"job\":7}".into(), "`job` is 7; expected a string"),
        ("{\"complete\":1,\"job\":\"\\ud800#1\"}".into(), "expected a string"),
        ("{\"complete\":1,\"job\":\"log\"}".into(), "no number in `log`"),
        ("{\"complete\":1,\"job\":\"log#+1\"}".into(), "not the number of a job"),
        ("{\"complete\":1,\"job\":\"log#01\"}".into(), "not the number of a job"),
        ("{\"complete\":1,\"job\":\"log#\"}".into(), "not the number of a job"),
        ("{\"complete\":1,\"job\":\"log#18446744073709551616\"}".into(), "not the number of a job"),
        ("{\"complete\":1,\"job\":\"camera#1\"}".into(), "there is no `camera`"),
        (
            "{\"starved\":1,\"job\":\"log#1\",\"cluster\":2,\"chip\":0}".into(),
            "`cluster` is 2; expected a whole number from 0 to 1",
        ),
        (operation("\"start\":0", "\"start\":50000"), "expected an end behind the start"),
        (operation("50000", "-1"), "`end` is -1"),
        (operation("50000", "5e4"), "`end` is 5e4"),
        (operation("50000", "9223372036854775808"), "2^63"),
        (operation("\"chip\":1", "\"chip\":6"), "`chip` is 6; expected a whole number from 0 to 5"),
        (operation("\"block\":7", "\"block\":16"), "0 to 15"),
        (operation("\"page\":3", "\"page\":8"), "0 to 7"),
        (operation("\"page\":3,", ""), "no `page`"),
        (operation("\"lpn\":42", "\"lpn\":4294967295"), "`lpn` is 4294967295"),
        (operation("\"op\":\"read\"", "\"op\":\"write\""), "unknown operation `write`"),
        (operation("\"op\":\"read\"", "\"op\":\"transfer\""), "no `channel`"),
        (operation("\"op\":\"read\"", "\"op\":\"transfer\",\"channel\":3"), "`channel` is 3"),
        (operation("\"kind\":\"read\"", "\"kind\":\"gc\""), "`kind` is `gc`; expected read for this job"),
        (release("\"deadline\":null,", ""), "no `deadline`"),
        (release("\"deadline\":null", "\"deadline\":\"1ms\""), "`deadline` is \"1ms\""),
        (release("\"cluster\":null", "\"cluster\":{\"a\":[]}"), "`cluster` is {\"a\":[]}"),
        (release("server", "gc"), "expected server for this job"),
    ];
    for (line, reason) in cases {
        let text = format!("\n{line}\n{{\"complete\":1,\"job\":\"log#0\"}}");
        let mut reader = TraceReader::new(&plan, text.as_bytes());
        let error = reader.next().expect("a line").expect_err(&line);
        assert_eq!(error.line, 2, "{line}");
        assert!(error.to_string().contains(reason), "{line}: {error}");
        assert!(reader.next().expect("the next line").is_ok(), "{line}");
        assert_eq!((reader.line(), reader.next()), (3, None), "{line}");
    }
}

#[test]
fn long_lines_are_refused_and_not_read_on() {
    let plan = plan();
    let line = |spaces: usize| format!("{{\"complete\":1,\"job\":\"log#0\"{}}}", " ".repeat(spaces));
    let longest = MAX_LINE - line(0).len();
    for end in ["", "\n", "\r\n"] {
        let text = format!("{}{end}", line(longest - end.len().saturating_sub(1)));
        assert!(TraceReader::new(&plan, text.as_bytes()).all(|record| record.is_ok()));
    }
    let mut input = Cursor::new(format!("{}\n{}\n", line(longest + 1), line(0)));
    let read: Vec<_> = TraceReader::new(&plan, &mut input).collect();
    assert_eq!(input.position(), MAX_LINE as u64 + 1);
    assert!(matches!(&read[..], [Err(error)] if error.line == 1 && error.problem.contains("bytes in one line")));
}

#[test]
fn a_reader_that_fails_ends_the_trace() {
    struct Broken;
    impl std::io::Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("pulled out"))
        }
    }
    let plan = plan();
    let read: Vec<_> = TraceReader::new(&plan, BufReader::new(Broken)).collect();
    assert!(matches!(&read[..], [Err(error)] if error.problem.contains("pulled out")));
}

#[test]
fn lines_of_another_form_are_read_as_well() {
    let plan = plan();
    let read = |line: &str| TraceReader::new(&plan, line.as_bytes()).next().expect("a line");
    let complete = read(r##"{"complete":1,"job":"log#0"}"##);
    assert!(complete.is_ok());
    for line in [
        r##" { "job" : "log#0" , "complete" : 1 }  "##,
        r##"{"compl\u0065te":1,"job":"l\u006fg#0"}"##,
        r##"{"complete":1,"job":"log#0","more":1e999,"More":[{"complete":2}],"more":"\ud800"}"##,
        // Fields of other kinds of lines can hold anything.
        r##"{"complete":1,"job":"log#0","lpn":1.5,"chip":-1,"kind":[[]],"end":null,"op":"\ud800","page":1e999}"##,
    ] {
        assert_eq!(read(line), complete, "{line}");
    }
}

/// The parts to put into a line.
fn bits() -> impl Strategy<Value = Vec<u8>> {
    let bits =
        ["0", "9", "00", "\"", "\\", ",", "}", "{", "#", "\n", " ", "null", "camera.gc", "log", "server", "\u{80}"];
    prop_oneof![
        prop::sample::select(bits.to_vec()).prop_map(|bit| bit.as_bytes().to_vec()),
        any::<[u8; 1]>().prop_map(Vec::from)
    ]
}

/// A text with other bytes in some places, and a line break at its end for each.
fn changed(text: String, changes: Vec<(prop::sample::Index, usize, Vec<u8>)>) -> Vec<u8> {
    let mut text = text.into_bytes();
    for (at, length, bit) in changes {
        let at = at.index(text.len());
        let end = text.len().min(at + length);
        text.splice(at..end, bit);
        text.push(b'\n');
    }
    text
}

proptest! {
    #[test]
    fn traces_are_read_alike_in_pieces(
        records in prop::collection::vec(any_record(), 1..6),
        changes in prop::collection::vec((any::<prop::sample::Index>(), 0..12usize, bits()), 0..4),
        piece in 1..400usize,
    ) {
        let plan = plan();
        let text = changed(written(&plan, &records), changes);
        let mut whole = TraceReader::new(&plan, &text[..]);
        let mut in_pieces = TraceReader::new(&plan, BufReader::with_capacity(piece, &text[..]));
        prop_assert_eq!(in_pieces.by_ref().collect::<Vec<_>>(), whole.by_ref().collect::<Vec<_>>());
        prop_assert_eq!(in_pieces.line(), whole.line());
    }

    #[test]
    fn what_is_written_is_read_back(records in prop::collection::vec(any_record(), 0..20)) {
        let plan = plan();
        let text = written(&plan, &records);
        let read: Result<Vec<_>, _> = TraceReader::new(&plan, text.as_bytes()).collect();
        prop_assert_eq!(read, Ok(records.clone()));
        // Spaces, blank lines and fields from elsewhere change nothing.
        let text = text.replace(":\"", " : \"").replace("}\n", ", \"more\": [null, {}] }\r\n \n");
        let read: Result<Vec<_>, _> = TraceReader::new(&plan, text.as_bytes()).collect();
        prop_assert_eq!(read, Ok(records));
    }

    #[test]
    fn damaged_traces_are_read_or_refused(record in any_record(), at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let plan = plan();
        let mut bytes = written(&plan, &[record]).into_bytes();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        let _: Vec<_> = TraceReader::new(&plan, &bytes[..]).collect();
    }

    #[test]
    fn any_text_is_read_or_refused(text in "\\PC*") {
        let plan = plan();
        let _: Vec<_> = TraceReader::new(&plan, text.as_bytes()).collect();
    }
}
