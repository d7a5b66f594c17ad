//! Block traces: what is read, what is refused, and what becomes of it.

use proptest::prelude::*;
use rtflash_exchange::import::{
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

/// Zone appends, as a file system on a zoned drive makes them, and a write.
#[test]
fn a_zone_append_is_a_write() {
    let text: String = (0..8_u64)
        .map(|number| {
            let (time, place) = (2 * number, 256 * number);
            format!(" 259,0    {}  {number}     0.{time:03}000000  1201  Q  ZA {place} + 256 [zonefs]\n", number % 4)
        })
        .collect();
    let text =
        text + " 259,0    0        9     0.020000000  1201  Q   W 0 + 8 [x]\n 259,0 0 10 0.03 1 Q ZAS 8 + 8 [x]\n";
    let trace = read(&text, QUEUED);
    assert_eq!((trace.requests.len(), trace.lines.passed_over, trace.without_data), (10, 0, 0));
    assert!(trace.requests.iter().all(|request| request.writes));
    let bytes: u64 = trace.requests.iter().map(|request| request.bytes).sum();
    assert_eq!(bytes, (8 * 256 + 16) * 512);
}

/// Kernels say `WZ`, or `N`, of a request that writes zeroes without data. Like a discard it is no
/// request of a flash device, and it is counted.
#[test]
fn requests_without_data_are_counted_and_are_no_requests() {
    let data = "8,0 0 1 0.000000000 697 Q WS 0 + 16 [app]\n";
    for kind in ["WZ", "WZS", "NS", "N", "FWZ", "D", "DS", "DE", "FN", "FF", "ZR", "ZO", "ZF", "ZRA"] {
        let trace = read(&format!("{data}  8,0 1 2 0.005 698 Q {kind} 128 + 16 [app]\n{data}"), QUEUED);
        assert_eq!((trace.requests.len(), trace.without_data, trace.lines.passed_over), (2, 1, 1), "{kind}");
        assert_eq!(trace.lines.refused, 0, "{kind}");
    }
    let fio = read(
        "fio version 3 iolog\n1 x read 0 1\n2 x trim 0 4096\n3 x sync 0 0\n4 x read 0 0\n5 x close\n",
        BlockFormat::Fio,
    );
    assert_eq!((fio.requests.len(), fio.without_data, fio.lines.passed_over), (1, 3, 5));
}

/// Linux does not ask what bytes a name has.
#[test]
fn a_name_that_is_not_utf8_costs_no_request() {
    let blkparse = b"8,0 0 1 0.0 697 Q W 0 + 8 [caf\xe9]\n8,0 0 2 0.1 697 Q W 8 + 8 [\xff\xfe]\n";
    let fio = b"fio version 3 iolog\n1 /tmp/\xe9 write 0 512\n2 /tmp/\xe8 write 0 512\n";
    let msr = b"1,h\xf6st,0,Write,0,512,1\n2,h\xf6st,0,Read,0,512,1\n";
    for (text, format, devices) in [
        (&blkparse[..], QUEUED, &["8,0"][..]),
        (fio, BlockFormat::Fio, &["/tmp/\\xe9", "/tmp/\\xe8"]),
        (msr, BlockFormat::Msr, &["h\\xf6st,0"]),
    ] {
        let trace = read_block_trace(text, format).unwrap();
        assert_eq!((trace.requests.len(), trace.lines.refused), (2, 0), "{format:?}");
        assert_eq!(trace.devices, devices);
    }
}

/// Sixty-four writes of 512 bytes, each to a page of its own, are 64 pages.
#[test]
fn a_curve_has_the_pages_that_requests_touch() {
    let text: String = (0..64).map(|number| format!("{},srv,0,Write,{},512,1\n", 10 * number, number << 20)).collect();
    let trace = read(&text, BlockFormat::Msr);
    for (page_size, bytes, pages) in [(16_384, 32_768, 64), (512, 32_768, 64), (256, 32_768, 128)] {
        let curve = arrival_curve(&trace.requests, page_size);
        let last = curve.last().unwrap();
        assert_eq!((last.bytes, last.write_bytes, last.read_bytes), (bytes, bytes, 0));
        assert_eq!((last.pages, last.write_pages, last.read_pages), (pages, pages, 0));
    }
}

fn doubts(text: &str, format: BlockFormat) -> String {
    read(text, format).extent().unwrap().doubts(format.clock()).join("\n")
}

/// Traces in another unit than their format's, and traces as they are.
#[test]
fn implausible_times_are_doubted() {
    let msr = |time: &dyn Fn(u64) -> u64| -> String {
        (0..30).map(|number| format!("{},srv,0,Read,{},8192,1234\n", time(number), number << 16)).collect()
    };
    let fio = |time: &dyn Fn(u64) -> u64| -> String {
        let line = |number| format!("{} /dev/sdx write {} 4096\n", time(number), number << 12);
        "fio version 3 iolog\n".to_owned() + &(0..30).map(line).collect::<String>()
    };
    let blkparse = |time: &dyn Fn(u64) -> String| -> String {
        (0..30).map(|number| format!("8,0 0 1 {} 697 Q W {} + 8 [x]\n", time(number), number << 3)).collect()
    };
    let (in_msr, in_blkparse) = (BlockFormat::Msr, QUEUED);
    // Seconds, milliseconds and microseconds from 1970 are of the seventeenth century in ticks.
    for unit in [1, 1_000, 1_000_000] {
        let found = doubts(&msr(&|number| (1_172_163_600 + number) * unit), in_msr);
        assert!(
            found.contains("The first of the requests comes at 160") && found.contains("ticks of 100 ns from 1601"),
            "{found}"
        );
    }
    let found = doubts(&msr(&|number| 1_172_163_600 + number), in_msr);
    assert!(found.contains("more than any drive moves") && found.contains("a million a second"), "{found}");
    let in_ns = doubts(&fio(&|number| number * 5_000_000), BlockFormat::Fio);
    assert!(
        in_ns.contains("30 requests in 145s are one in 5s.") && in_ns.contains("µs from the start of the run"),
        "{in_ns}"
    );
    let in_ns = doubts(&fio(&|number| number * 5_012_345), BlockFormat::Fio);
    assert!(in_ns.contains("are one in 5.012345s."), "{in_ns}");
    let from_1970 = doubts(&fio(&|number| 1_700_000_000_000_000 + number * 250), BlockFormat::Fio);
    assert!(from_1970.contains("The first of the requests comes 19675 days after the start."), "{from_1970}");
    let in_seconds = doubts(&fio(&|number| number), BlockFormat::Fio);
    assert!(in_seconds.contains("a million a second"), "{in_seconds}");
    let in_us = doubts(&blkparse(&|number| (number * 350).to_string()), in_blkparse);
    assert!(in_us.contains("are one in") && in_us.contains("seconds from the start"), "{in_us}");
    let in_ms = doubts(&blkparse(&|number| (number * 7).to_string()), in_blkparse);
    assert!(in_ms.contains("Each time is a whole second"), "{in_ms}");
    assert!(doubts(&fio(&|_| 7), BlockFormat::Fio).contains("All 30 requests come at one time"));
    for (text, format) in [
        (msr(&|number| 128_166_372_003_061_629 + number * number * 977), in_msr),
        // A request each ten minutes, as the least used disks of these traces have them.
        (msr(&|number| 128_166_372_003_061_629 + number * 6_000_000_111), in_msr),
        (fio(&|number| number * 5_000), BlockFormat::Fio),
        (fio(&|number| number * 130_000), BlockFormat::Fio),
        (fio(&|number| number * 10), BlockFormat::Fio),
        (blkparse(&|number| format!("{number}.123456789")), in_blkparse),
        (blkparse(&|number| format!("0.{:09}", number * 100_003)), in_blkparse),
    ] {
        assert_eq!(doubts(&text, format), "", "{text}");
    }
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
        times in prop::collection::vec((0..20_000_000_u64, any::<bool>(), 0..9_000_u64, 1..10_000_u64), 1..50),
    ) {
        let mut requests: Vec<TracedRequest> =
            times.iter().map(|(at, writes, offset, bytes)| TracedRequest { at: *at, writes: *writes, offset: *offset, bytes: *bytes, device: 0 }).collect();
        requests.sort_by_key(|request| request.at);
        let curve = arrival_curve(&requests, 4_096);
        for (power, point) in curve.iter().enumerate() {
            prop_assert_eq!(point.window, Span::from_ns(1_000_000 << power).unwrap());
            let window = point.window.as_ns();
            let sum = |begin: u64, kind: Option<bool>, of: fn(&TracedRequest) -> u64| -> u64 {
                let within = requests.iter().filter(|request| (begin..begin + window).contains(&request.at));
                within.filter(|request| kind.is_none_or(|writes| request.writes == writes)).map(of).sum()
            };
            let most = |of: fn(&TracedRequest) -> u64| {
                [Some(false), Some(true), None].map(|kind| requests.iter().map(|request| sum(request.at, kind, of)).max().unwrap())
            };
            prop_assert_eq!([point.read_bytes, point.write_bytes, point.bytes], most(|request| request.bytes));
            // Page by page.
            let touched = |request: &TracedRequest| {
                (0..10).filter(|page| page * 4_096 < request.offset + request.bytes && request.offset < (page + 1) * 4_096).count() as u64
            };
            prop_assert_eq!([point.read_pages, point.write_pages, point.pages], most(touched));
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
    let curve = arrival_curve(&[request(0), request(u64::MAX)], 4_096);
    assert!(curve.iter().all(|point| point.bytes == u64::MAX));
    assert_eq!(curve.last().unwrap().window.as_ns(), 1_000_000 << 43);
    assert!(arrival_curve(&[], 4_096).is_empty());
}
