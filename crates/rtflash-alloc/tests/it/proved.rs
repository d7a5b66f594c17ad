//! The analysis and the verifier beside a program that was extracted from a proof: the decision of
//! (T), and the numbers of garbage collection, on the processors of `proofs/cases.jsonl`. The
//! answers in the cases are the program's (`make cases` in `proofs/` repeats it).

use rtflash_testkit::ns;
use std::fs;
use std::sync::LazyLock;

use rtflash_analysis::Work;
use rtflash_analysis::certified::{Contention, Demand, DemandVerdict, Processor, SharedBus};
use rtflash_model::{
    Access, Allocation, Certificate, Cluster, Collection, Device, DeviceSpec, LogicalRatio, Placement, Reliance,
    Request, Task, TaskSet, Tightest,
};
use rtflash_verify::verify_certified;

static CASES: LazyLock<String> = LazyLock::new(|| {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../proofs/cases.jsonl");
    fs::read_to_string(path).expect("the cases")
});
/// Chips of the device of a case.
const CHIPS: u32 = 8;

/// One line.
struct Case(&'static str);

impl Case {
    /// The numbers behind a key.
    fn numbers(&self, key: &str) -> Vec<u64> {
        self.signed(key).into_iter().map(|number| u64::try_from(number).expect("not below zero")).collect()
    }

    fn signed(&self, key: &str) -> Vec<i64> {
        let key = format!("\"{key}\":");
        let (_, rest) = self.0.split_once(&key).expect("a key");
        let value = rest.split('"').next().expect("a value");
        let numbers = value.split(|letter: char| !letter.is_ascii_digit() && letter != '-');
        numbers.filter_map(|number| number.parse().ok()).collect()
    }

    fn number(&self, key: &str) -> u32 {
        u32::try_from(self.numbers(key)[0]).expect("small")
    }

    fn verdict(&self) -> &'static str {
        let (_, rest) = self.0.split_once("\"verdict\":\"").expect("a verdict");
        rest.split('"').next().expect("its end")
    }

    fn placement(&self) -> Placement {
        if self.number("superblock") == 1 { Placement::Superblock } else { Placement::Stripe }
    }

    fn set(&self) -> TaskSet {
        let times = self.numbers("times");
        let device = Device::new(DeviceSpec {
            chips: CHIPS,
            chips_per_channel: u32::try_from(times[4]).expect("few"),
            blocks_per_chip: self.number("blocks"),
            pages_per_block: self.number("pages"),
            page_size: 4096,
            logical_ratio: LogicalRatio::from_decimal(self.number("tenths").into(), 1).expect("below one"),
            page_read: ns(times[0]),
            page_program: ns(times[1]),
            block_erase: ns(times[2]),
            page_transfer: ns(times[3]),
            ..DeviceSpec::default()
        });
        let numbers = self.numbers("requests");
        let tasks = numbers.chunks_exact(6).enumerate().map(|(number, of)| {
            let access = if of[1] == 1 { Access::Sequential } else { Access::Random };
            let request = Request::new(of[2], ns(of[3])).expect("a request").with_access(access);
            let request = request.with_deadline(Some(ns(of[4]))).and_then(|request| request.with_jitter(ns(of[5])));
            let (read, write) = if of[0] == 1 { (None, request) } else { (request, None) };
            Task { name: format!("t{number}"), read, write, data_pages: None }
        });
        TaskSet::new(device.expect("a device"), tasks.collect(), vec![]).expect("a set")
    }

    /// The cluster's processor, which waits as long as a page can.
    fn processor(&self, set: &TaskSet) -> Processor {
        let chips = self.number("chips");
        let bus = match self.placement() {
            Placement::Superblock => SharedBus::compact(set.device(), chips),
            _ => SharedBus::anywhere(set.device()),
        };
        assert_eq!(u64::from(bus.foreign), self.numbers("others")[0]);
        Processor::new(set.device(), set.tasks(), chips, self.placement(), bus).expect("a processor")
    }
}

fn cases() -> impl Iterator<Item = Case> {
    CASES.lines().map(Case)
}

#[test]
fn there_are_a_thousand_of_all_kinds() {
    for superblock in [Placement::Stripe, Placement::Superblock] {
        for (verdict, least) in [("accepted", 200), ("rejected", 200), ("overloaded", 50), ("no room", 20)] {
            let found = cases().filter(|case| case.placement() == superblock && case.verdict() == verdict).count();
            assert!(found >= least, "{found} {verdict}");
        }
    }
    assert!(cases().count() >= 1_000);
}

#[test]
fn the_analysis_says_what_the_extracted_program_says() {
    for case in cases() {
        let (set, line) = (case.set(), case.0);
        let processor = case.processor(&set);
        let server = case.number("server");
        let Some(gc) = processor.gc(ns(case.numbers("gc")[0]), server > 0) else {
            assert_eq!(case.verdict(), "no room", "{line}");
            continue;
        };
        let numbers = case.numbers("numbers");
        assert_eq!([gc.reserve, gc.open, gc.valid, gc.reclaimed], numbers[..4], "{line}");
        let server_step = if server > 0 { processor.server_step().to_f64() } else { 0.0 };
        assert_eq!([gc.cost.to_f64(), gc.step.to_f64(), server_step], [4, 5, 6].map(|at| numbers[at] as f64), "{line}");
        let (contention, work) = (Contention::none(), Work::new());
        let demand = Demand::new(&processor, &contention, Some(gc), server, &work);
        let verdict = match demand.test() {
            DemandVerdict::Holds => "accepted",
            DemandVerdict::Fails(length) => {
                assert_eq!(case.signed("at")[0].unsigned_abs(), length.as_ns(), "{line}");
                "rejected"
            }
            DemandVerdict::Overloaded => "overloaded",
            DemandVerdict::TooLong => "given up",
        };
        assert_eq!(verdict, case.verdict(), "{line}");
        // The slack at each of the two lengths.
        for pair in ["at", "tightest"].map(|key| case.signed(key)) {
            let &[length, slack] = &pair[..] else { continue };
            let span = ns(u64::try_from(length).expect("a length"));
            let taken = demand.at(span).to_f64() + demand.blocking(span).to_f64();
            let room = length * i64::from(1_000 - server) / 1_000;
            assert_eq!(room as f64 - taken, slack as f64, "{line}");
        }
        if verdict == "accepted" {
            let slack = demand.tightest().expect("tasks").slack;
            assert_eq!(slack, i128::from(case.signed("tightest")[1]), "{line}");
        }
    }
}

#[test]
fn the_verifier_says_what_the_extracted_program_says() {
    for case in cases().filter(|case| case.verdict() != "no room") {
        let (set, line) = (case.set(), case.0);
        let (numbers, server) = (case.numbers("numbers"), case.number("server"));
        let accepted = case.verdict() == "accepted";
        let tightest = case.signed("tightest");
        let tightest = Tightest { length: ns(u64::try_from(tightest[0]).expect("a length")), slack_ns: tightest[1] };
        let own = Certificate {
            placement: case.placement(),
            collection: Some(Collection {
                deadline: Some(ns(case.numbers("gc")[0])),
                reclaimed_pages: numbers[3],
                reserve_pages: numbers[0],
                victim_pages: numbers[2],
                open_blocks: numbers[1],
            }),
            server_thousandths: server,
            backfill: true,
            tightest: accepted.then_some(tightest),
        };
        // The other chips have a server, so that all of them may be busy.
        let others = Certificate { server_thousandths: 100, tightest: None, ..own };
        let (chips, tasks) = (case.number("chips"), u32::try_from(set.tasks().len()).expect("few"));
        let clusters = [Cluster::of(0..chips, 0..tasks), Cluster::of(chips..CHIPS, [])];
        let allocation = Allocation::new(CHIPS, set.tasks().len(), &clusters).expect("clusters");
        let allocation = allocation.with_certificates(vec![Some(own), Some(others)]);
        let both = [Placement::Stripe, Placement::Superblock];
        let verification = verify_certified(&set, &allocation, &both, Reliance::Nothing);
        let found = &verification.clusters[0];
        assert_eq!(found.in_time, Some(accepted), "{line}: {found:?}");
        if accepted {
            assert!(found.discrepancies.is_empty(), "{line}: {found:?}");
            // Lengths beyond all relative deadlines may have less.
            let windows = case.numbers("requests").chunks_exact(6).map(|of| of[4] - of[5]).collect::<Vec<_>>();
            let longest = windows.into_iter().chain(case.numbers("gc")).max().expect("a deadline");
            assert!(found.tighter.is_none_or(|it| it.length.as_ns() > longest), "{line}: {found:?}");
            let slack = found.shares.expect("tasks").slack_ns;
            assert_eq!(slack, i128::from(tightest.slack_ns), "{line}: {found:?}");
        }
    }
}
