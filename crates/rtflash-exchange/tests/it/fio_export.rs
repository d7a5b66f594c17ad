//! The files for fio, and its results.

use rtflash_exchange::export::fio::{FioOptions, export, read_results};
use rtflash_exchange::export::{NotExported, StreamMaximum};
use rtflash_model::{Arrivals, Instant, Span, TaskSet, read_task_set};

const SET: &str = r#"{ "device": "dgist-2021", "tasks": [
    { "name": "a b/é", "read": { "pages": 3, "every": "1/30s" }, "write": { "pages": 2, "period": "10ms", "access": "sequential" } },
    { "name": "c", "write": { "pages": 5, "period": "40ms" }, "data_pages": 20 } ] }"#;

fn options(pages: Option<u64>) -> FioOptions {
    FioOptions {
        target: "/dev/none".into(),
        duration: Instant::from_ns(100_000_000).unwrap(),
        pages,
        seed: 3,
        class: None,
    }
}

#[test]
fn each_request_has_an_iolog_in_microseconds_and_bytes_and_a_part_of_its_own() {
    let set = read_task_set(SET).unwrap().set;
    let exported = export(&set, &options(None)).unwrap();
    let names: Vec<&str> = exported.files.iter().map(|file| file.name.as_str()).collect();
    assert!(!exported.files[0].text.contains("prioclass"));
    let classed = export(&read_task_set(SET).unwrap().set, &FioOptions { class: Some(1), ..options(None) });
    assert!(classed.unwrap().files[0].text.contains("\nlat_percentiles=1\npercentile_list=50:99:99.9\nprioclass=1\n"));
    assert_eq!(names, ["replay.fio", "0-a_b__-read.iolog", "1-a_b__-write.iolog", "2-c-write.iolog"]);
    let page = 8_192;
    // 64 requests of each, or what a task keeps.
    for (file, begin, pages, size, period_ns) in
        [(1, 0, 192, 3, 33_333_333_u64), (2, 192, 128, 2, 10_000_000), (3, 320, 20, 5, 40_000_000)]
    {
        let text = &exported.files[file].text;
        let mut lines = text.lines();
        assert_eq!(lines.next(), Some("fio version 3 iolog"));
        let rows: Vec<Vec<&str>> = lines.map(|line| line.split(' ').collect()).collect();
        let requests: Vec<&Vec<&str>> = rows.iter().filter(|row| row.len() == 5).collect();
        assert_eq!(requests.len() as u64, 100_000_000_u64.div_ceil(period_ns));
        for (number, row) in (0..).zip(&requests) {
            let [at, offset, length] = [0, 3, 4].map(|field| row[field].parse::<u64>().unwrap());
            assert_eq!((at, row[1], length), (number * period_ns / 1_000, "/dev/none", size * page));
            assert!(offset % page == 0 && (begin * page..(begin + pages) * page).contains(&offset), "{row:?}");
            assert!(offset + length <= (begin + pages) * page, "{row:?}");
        }
        let edges: Vec<&str> = rows.iter().filter(|row| row.len() == 3).map(|row| row[2]).collect();
        assert_eq!(edges, ["add", "open", "close"]);
    }
    // One behind the other.
    let sequential = &exported.files[2].text;
    assert!(sequential.contains(" write 1572864 16384\n10000 /dev/none write 1589248 16384\n"), "{sequential}");
    assert!(exported.notes[0].contains(&((192 + 128 + 20) * page).to_string()));
}

#[test]
fn what_does_not_fit_is_refused() {
    let set = read_task_set(SET).unwrap().set;
    assert_eq!(export(&set, &options(Some(2))), Err(NotExported::NoRoom("a b/é".into())));
    assert_eq!(export(&set, &options(Some(u64::MAX))), Err(NotExported::OutOfRange("pages")));
    assert_eq!(export(&set, &options(Some(u64::MAX / 8_192))), Err(NotExported::OutOfRange("pages")));
    let long = FioOptions { duration: Instant::from_ns(1 << 62).unwrap(), ..options(None) };
    assert!(matches!(export(&set, &long), Err(NotExported::TooMany(_))));
    let odd = read_task_set(&SET.replacen(r#""dgist-2021""#, r#"{ "profile": "dgist-2021", "page_size": 5000 }"#, 1))
        .unwrap()
        .set;
    assert_eq!(export(&odd, &options(None)), Err(NotExported::NoSectors));
    let mut tasks = set.tasks().as_slice().to_vec();
    let buffered = tasks[0].read.and_then(|read| read.with_deadline(read.period().checked_add(Span::NANOSECOND)));
    tasks[0].read = buffered;
    let buffered = TaskSet::new(*set.device(), tasks, vec![]).unwrap();
    assert_eq!(export(&buffered, &options(None)), Err(NotExported::Buffered("a b/é".into())));
    let empty = read_task_set(r#"{ "device": "dgist-2021", "tasks": [] }"#).unwrap().set;
    assert_eq!(export(&empty, &options(None)), Err(NotExported::NoRequests));
}

#[test]
fn results_are_read() {
    let direction = |ios: u64, longest: u64| {
        format!(
            r#"{{ "io_bytes": {}, "total_ios": {ios}, "runtime": 70, "bw": 1, "lat_ns": {{ "min": 1, "max": {longest}, "N": {ios} }} }}"#,
            ios * 512
        )
    };
    let job = |name: &str, read: (u64, u64), write: (u64, u64), error: i64| {
        let (read, write) = (direction(read.0, read.1), direction(write.0, write.1));
        format!(r#"{{ "jobname": "{name}", "error": {error}, "read": {read}, "write": {write}, "trim": {{}} }}"#)
    };
    let text = |jobs: &[String]| {
        format!("fio: a warning\n{{ \"fio version\": \"fio-3.33\", \"jobs\": [{}] }}", jobs.join(","))
    };
    let read = read_results(&text(&[job("a", (7, 900), (0, 0), 0), job("b", (0, 0), (0, 0), 0)])).unwrap();
    assert_eq!((read[0].requests, read[0].served_bytes, read[0].writes), (7, 3_584, false));
    assert_eq!(read[0].longest, Some(StreamMaximum { at_least: 900, below: 901 }));
    assert_eq!([899, 900].map(|deadline| read[0].longest.unwrap().meets(deadline)), [Some(false), Some(true)]);
    assert_eq!((read[1].requests, read[1].longest), (0, None));
    // Seven requests 10 ms apart: the last one is released after 60 ms. A percent and the rounding
    // of a ms are passed over.
    assert_eq!(read[0].lasted_ms, Some(70));
    let lagged = |period_us: u64| read[0].lagged(7, period_us * 1_000);
    assert_eq!([10_000, 9_761, 9_759, 5_000, 1_000].map(lagged), [false, false, true, true, true]);
    // A percentile needs ten requests above it.
    let carried = |ios: u64| {
        let job = job("a", (ios, 900), (0, 0), 0);
        let percentiles = r#""percentile": { "50.000000": 400, "99.000000": 800, "99.900000": 890 }, "max""#;
        read_results(&text(&[job.replacen(r#""max""#, percentiles, 1)])).unwrap()[0].carried()
    };
    assert_eq!([19, 176, 999].map(carried), [[None; 3], [Some(400), None, None], [Some(400), None, None]]);
    assert_eq!(carried(9_999), [Some(400), Some(800), None]);
    assert_eq!(carried(10_000), [Some(400), Some(800), Some(890)]);
    assert_eq!(read[0].carried(), [None; 3]);
    assert!(read_results(&text(&[job("a", (7, 900), (0, 0), 5)])).is_err_and(|why| why.contains("error 5")));
    for wrong in ["", "{", "[]", "{}", "fio: cannot open"] {
        assert!(read_results(wrong).is_err(), "{wrong}");
    }
}

/// fio draws Poisson arrivals of a whole rate; all others are replayed at their times.
#[test]
fn aperiodic_requests_have_sections_of_their_own() {
    let in_pages = |pages: Option<u64>, arrivals: &str, read: u64, write: u64| {
        let text = format!(
            r#"{{ "device": "dgist-2021", "tasks": [], "jobs": [
                {{ "name": "log", "read_pages": {read}, "write_pages": {write}, "arrivals": {arrivals} }} ] }}"#
        );
        export(&read_task_set(&text).unwrap().set, &options(pages))
    };
    let set = |arrivals: &str, read: u64, write: u64| in_pages(None, arrivals, read, write);
    for arrivals in [r#"{ "poisson": "12.5ms" }"#, r#"{ "every": "10ms" }"#] {
        assert_eq!(in_pages(Some(2), arrivals, 2, 1), Err(NotExported::NoRoom("log".into())));
        assert!(in_pages(Some(3), arrivals, 2, 1).is_ok());
    }
    let chance = set(r#"{ "poisson": "12.5ms" }"#, 2, 1).unwrap();
    assert_eq!(chance.files.len(), 1);
    let section = "\n[0-log-aperiodic]\nrw=randrw\nrwmixread=50\nbs=16384,8192\nrate_iops=80,80\nrate_process=poisson\n\
                   offset=0\nsize=1572864\nnorandommap\nrandseed=3\ntime_based\nruntime=100000us\n";
    assert!(chance.files[0].text.ends_with(section), "{}", chance.files[0].text);
    assert!(chance.notes[3].contains("rate_process=poisson"));
    let writes = set(r#"{ "poisson": "100us" }"#, 0, 1).unwrap();
    assert!(writes.files[0].text.contains("\nrw=randwrite\nbs=8192,8192\nrate_iops=10000,10000\n"));
    // Times, operations, places and lengths of a log.
    let rows = |text: &str| -> Vec<(u64, String, u64, u64)> {
        let rows = text.lines().map(|line| line.split(' ').collect::<Vec<_>>()).filter(|row| row.len() == 5);
        let number = |text: &str| text.parse().unwrap();
        rows.map(|row| (number(row[0]), row[2].into(), number(row[3]), number(row[4]))).collect()
    };
    // No whole rate, and a mean that fio would cut: the times are those that `exec` draws.
    for (mean, ns) in [("30ms", 30_000_000), ("31.25us", 31_250)] {
        let replayed = set(&format!(r#"{{ "poisson": "{mean}" }}"#), 2, 1).unwrap();
        let arrivals = Arrivals::Poisson(Span::from_ns(ns).unwrap());
        let mut random = Arrivals::random(3, 0);
        let mut next = Some((Instant::START, 0));
        let times = std::iter::from_fn(|| {
            let (at, index) = next?;
            next = arrivals.after(at, index + 1, &mut random).map(|at| (at, index + 1));
            Some(at.as_ns()).filter(|&at| at < 100_000_000)
        });
        let times: Vec<u64> = times.collect();
        let rows = rows(&replayed.files[1].text);
        assert!(rows.len() == 2 * times.len() && rows.len() > 4);
        for (pair, at) in rows.chunks(2).zip(times) {
            let (read, write) = (&pair[0], &pair[1]);
            assert_eq!((read.0, write.0, &read.1[..], &write.1[..]), (at / 1_000, at / 1_000, "read", "write"));
            assert_eq!((read.3, write.3, write.2), (2 * 8_192, 8_192, read.2 + 2 * 8_192));
            assert!(write.2 + write.3 <= 64 * 3 * 8_192);
        }
    }
    // A burst has a process for each of its jobs.
    let burst = set(r#"{ "every": "40ms", "burst": 3 }"#, 1, 0).unwrap();
    assert_eq!(burst.files[3].name, "0-log-2-aperiodic.iolog");
    assert!(burst.files[1..].iter().all(|file| rows(&file.text).iter().map(|row| row.0).eq([0, 40_000, 80_000])));
    assert_ne!(rows(&burst.files[1].text), rows(&burst.files[2].text));
    assert_eq!(set(r#"{ "every": "40ms", "burst": 65 }"#, 1, 0), Err(NotExported::Burst("log".into(), 64)));
    assert!(matches!(set(r#"{ "every": "1ns" }"#, 1, 0), Err(NotExported::TooMany(_))));
}
