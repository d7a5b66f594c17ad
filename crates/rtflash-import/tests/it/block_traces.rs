//! Block traces: what is read, what is refused, and what becomes of it.

use proptest::prelude::*;
use rtflash_import::{
    BlockFormat, BlockTrace, BlockTraceError, TracedRequest, arrival_curve, job_streams, pages_touched,
    read_block_trace,
};
use rtflash_model::{Arrivals, Instant, Span};

const QUEUED: BlockFormat = BlockFormat::Blkparse { action: 'Q' };

fn read(text: &str, format: BlockFormat) -> BlockTrace {
    read_block_trace(text.as_bytes(), format).expect("a trace")
}

/// Requests as (time, whether it writes, offset, bytes).
fn plain(trace: &BlockTrace) -> Vec<(u64, bool, u64, u64)> {
    trace.requests.iter().map(|request| (request.at, request.writes, request.offset, request.bytes)).collect()
}

#[test]
fn fio_writes_microseconds_and_bytes() {
    // As fio 3.33 writes it.
    let text = "fio version 3 iolog\n19 /dev/x add\n396 /dev/x open\n405 /dev/x read 0 4096\n\
                758 /dev/x write 45056 8192\n900 /dev/x trim 0 4096\n901 /dev/x sync 0 0\n902 /dev/x wait 5 0\n\
                70761 /dev/x close\n";
    let trace = read(text, BlockFormat::Fio);
    assert_eq!(plain(&trace), [(405_000, false, 0, 4_096), (758_000, true, 45_056, 8_192)]);
    assert_eq!((trace.lines.read, trace.lines.passed_over, trace.lines.refused), (2, 6, 1));
    assert_eq!(trace.lines.first_refused[0].line, 8);
    assert!(trace.lines.first_refused[0].problem.contains("wait"));
    assert_eq!(read("\n fio version 3 iolog\n1 x read 0 1\n", BlockFormat::Fio).lines.read, 1);
    let headless = read_block_trace("\n10 x read 0 4096\n".as_bytes(), BlockFormat::Fio);
    assert!(matches!(headless, Err(BlockTraceError::OtherForm(_))));
    for (head, why) in [("fio version 2 iolog", "version 2"), ("1,2", "not `fio version 3")] {
        let wrong = read_block_trace(format!("{head}\n1 x read 0 1\n").as_bytes(), BlockFormat::Fio);
        assert!(matches!(wrong, Err(BlockTraceError::OtherForm(problem)) if problem.contains(why)));
    }
}

#[test]
fn blkparse_writes_seconds_and_sectors() {
    let text = "  8,0    3        1     0.000000000   697  G   W 223490 + 8 [kjournald]\n  \
                8,0    3        2     0.000001500   697  Q   W 223490 + 8 [kjournald]\n  \
                8,0    3        3     0.25          697  Q  RA 16 + 3 [cat]\n  \
                8,0    3        4     0.3   0  Q FWFS 8 + 1 [jbd]\n  8,0    3        5     0.31   0  Q  FN [jbd]\n  \
                8,0    3        6     0.32   0  Q   D 8 + 80 [fstrim]\n  8,0 3 0 0.4 0 m N cfq workload slice:300\n  \
                8,0    3        7     0.5    0  Q   W 8 8 [x]\n  \
                8,16   3        8     0.6    0  D   R 8 + 8 [x]\n\
                Input file sda.blktrace.0 added\n8,0 3 9 0.7 0 UT N [x] 1\n8,0 3 9 0.7 0 ZP W 8 + 8 [x]\n\
                8,0 3 9 0.7 0 Q R 36 (12 00 00) [x]\n8,0 3 9 0.7 0 Q ZR 8 + 8 [x]\n\
                CPU0 (sda):\n Reads Queued:           0,        0KiB\n";
    let trace = read(text, QUEUED);
    let wanted =
        [(1_500, true, 223_490 * 512, 4_096), (250_000_000, false, 8_192, 1_536), (300_000_000, true, 4_096, 512)];
    assert_eq!(plain(&trace), wanted);
    assert_eq!((trace.lines.read, trace.lines.passed_over, trace.lines.refused), (3, 12, 1));
    assert_eq!(trace.devices, ["8,0"]);
    let dispatched = read(text, BlockFormat::Blkparse { action: 'D' });
    assert_eq!(plain(&dispatched), [(600_000_000, false, 4_096, 4_096)]);
    assert!(matches!(
        read_block_trace(text.as_bytes(), BlockFormat::Blkparse { action: 'C' }),
        Err(BlockTraceError::NoRequests(lines)) if lines.read == 0
    ));
}

#[test]
fn msr_writes_ticks_of_100_ns_and_bytes() {
    let text = "Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime\n\
                128166372003061629,usr,0,Read,7014609920,24576,41286\n\
                128166372002869395,usr,1,Write,0,512,1963\n128166372016382155,usr,0,Trim,1,2,3\n\
                128166372016382155,usr,0,Read,1,2\n1,usr,0,Read,1,-2,3\n9999999999999999999,u,0,Read,1,2,3\n";
    let trace = read(text, BlockFormat::Msr);
    assert_eq!(trace.devices, ["usr,0", "usr,1"]);
    assert_eq!((trace.lines.read, trace.lines.passed_over, trace.lines.refused), (2, 1, 4));
    // By time, not by line.
    let earlier = (12_816_637_200_286_939_500, true, 0, 512);
    assert_eq!(plain(&trace), [earlier, (12_816_637_200_306_162_900, false, 7_014_609_920, 24_576)]);
    let disk = trace.clone().of_device("usr,1").unwrap();
    assert_eq!(plain(&disk), [earlier]);
    assert!(trace.of_device("usr,2").is_none());
}

#[test]
fn jobs_are_the_pages_that_requests_touch() {
    let request = |at, writes, offset, bytes| TracedRequest { at, writes, offset, bytes, device: 0 };
    let touched = |offset, bytes| pages_touched(&request(0, true, offset, bytes), 4_096);
    assert_eq!([touched(0, 4_096), touched(0, 4_097), touched(4_095, 2), touched(4_096, 1)], [1, 2, 2, 1]);
    assert_eq!(touched(u64::MAX - 1, 1), 1);
    let requests = [request(7, true, 0, 1), request(9, false, 4_000, 4_096), request(9, true, 8_192, 4_096)];
    let jobs = job_streams(&requests, 4_096).unwrap();
    let at = |ns: &[u64]| Arrivals::At(ns.iter().map(|ns| Instant::from_ns(*ns).unwrap()).collect());
    let found: Vec<_> = jobs.iter().map(|job| (job.read_pages, job.write_pages, job.arrivals.clone())).collect();
    assert_eq!(found, [(2, 0, at(&[2])), (0, 1, at(&[0, 2]))]);
    assert_eq!((jobs[0].name.as_str(), jobs[1].name.as_str()), ("read 2", "write 1"));
    assert!(job_streams(&[request(0, true, 0, 1), request(1 << 63, true, 0, 1)], 4_096).is_none());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_window_holds_more_than_the_curve(
        times in prop::collection::vec((0..20_000_000_u64, any::<bool>(), 1..10_000_u64), 1..50),
    ) {
        let mut requests: Vec<TracedRequest> =
            times.iter().map(|(at, writes, bytes)| TracedRequest { at: *at, writes: *writes, offset: 0, bytes: *bytes, device: 0 }).collect();
        requests.sort_by_key(|request| request.at);
        let curve = arrival_curve(&requests);
        for (power, point) in curve.iter().enumerate() {
            prop_assert_eq!(point.window, Span::from_ns(1_000_000 << power).unwrap());
            let window = point.window.as_ns();
            let sum = |begin: u64, kind: Option<bool>| -> u64 {
                let within = requests.iter().filter(|request| (begin..begin + window).contains(&request.at));
                within.filter(|request| kind.is_none_or(|writes| request.writes == writes)).map(|request| request.bytes).sum()
            };
            let most = |kind| requests.iter().map(|request| sum(request.at, kind)).max().unwrap();
            prop_assert_eq!((point.read_bytes, point.write_bytes, point.bytes), (most(Some(false)), most(Some(true)), most(None)));
        }
        let all: u64 = requests.iter().map(|request| request.bytes).sum();
        prop_assert_eq!(curve.last().unwrap().bytes, all);
        prop_assert!(curve.len() < 2 || curve[curve.len() - 2].window.as_ns() <= requests.last().unwrap().at - requests[0].at);
    }

    #[test]
    fn no_line_does_harm(text in "[ -~\\n]{0,200}", which in 0..3_usize) {
        let formats = [BlockFormat::Fio, QUEUED, BlockFormat::Msr];
        let text = if which == 0 { format!("fio version 3 iolog\n{text}") } else { text };
        if let Ok(trace) = read_block_trace(text.as_bytes(), formats[which]) {
            prop_assert_eq!(trace.requests.len() as u64, trace.lines.read);
        }
    }
}

#[test]
fn a_curve_of_the_longest_trace_ends() {
    let request = |at| TracedRequest { at, writes: true, offset: 0, bytes: u64::MAX, device: 0 };
    let curve = arrival_curve(&[request(0), request(u64::MAX)]);
    assert!(curve.iter().all(|point| point.bytes == u64::MAX));
    assert_eq!(curve.last().unwrap().window.as_ns(), 1_000_000 << 43);
    assert!(arrival_curve(&[]).is_empty());
}
