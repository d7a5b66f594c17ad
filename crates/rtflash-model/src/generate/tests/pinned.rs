//! Pinned sets.

use super::sets::{draw, spec};
use crate::TaskSet;
use crate::generate::{Generator, PeriodDistribution, PeriodRange, SetSpec, Writes};

/// `pages/ns` of read and write, task by task.
fn written(set: &TaskSet) -> String {
    let request = |request: Option<crate::Request>| {
        request.map_or("-".to_owned(), |request| format!("{}/{}", request.pages(), request.period().as_ns()))
    };
    let task = |task: &crate::Task| format!("{} {} {}", task.name, request(task.read), request(task.write));
    set.tasks().iter().map(task).collect::<Vec<_>>().join(", ")
}

/// These bytes are a promise to users: the same seed gives the same sets on every machine and in
/// every version. A second implementation (in Python, ChaCha8 included) gave the same ones.
#[test]
fn the_same_seed_gives_the_same_set_for_ever() {
    use Generator::{IntegerShares, RandFixedSum, UUniFast, UUniFastDiscard};
    use Writes::{Drawn, Heavy};
    for (generator, writes, utilization, index, expected) in [
        (
            UUniFast,
            Drawn,
            "0.5",
            0,
            "t1 79/153727636 65/210362752, t2 617/330087856 120/362471835, t3 104/157543942 25/449423002",
        ),
        (
            UUniFast,
            Drawn,
            "0.5",
            u64::MAX,
            "t1 129/297511313 41/401604422, t2 232/258727663 18/254428898, t3 2122/319437396 14/469159179",
        ),
        (
            UUniFast,
            Drawn,
            "1.5",
            7,
            "t1 1275/136615665 103/460704250, t2 5123/395575844 149/304766063, t3 105/266366185 9/455440096",
        ),
        (
            UUniFast,
            Drawn,
            "2.9",
            1,
            "t1 3169/206645289 180/495007081, t2 2254/464298000 176/117592582, t3 4873/473470781 244/273708974",
        ),
        (
            UUniFast,
            Heavy(1),
            "0.5",
            0,
            "t1 40/156062890 51/152352976, t2 1334/299388997 10/138110138, t3 315/363648597 7/199896487",
        ),
        (
            IntegerShares,
            Drawn,
            "0.5",
            0,
            "t1 1300/370500000 20/285000000, t2 169/200687500 25/197916667, t3 412/372761905 80/310204082",
        ),
        (
            IntegerShares,
            Drawn,
            "2.5",
            3,
            "t1 981/306072000 486/303264000, t2 5015/478096667 46/438533333, t3 1423/240487000 473/355275556",
        ),
        (
            IntegerShares,
            Heavy(2),
            "1",
            0,
            "t1 823/181722210 91/135394314, t2 200/198254549 188/289623056, t3 427/497775473 11/280480929",
        ),
        (
            UUniFastDiscard,
            Drawn,
            "0.5",
            0,
            "t1 595/195951897 33/265646525, t2 915/345124776 43/423073583, t3 176/421258273 20/122256447",
        ),
        (
            UUniFastDiscard,
            Drawn,
            "1.5",
            7,
            "t1 1542/413377199 10/293838449, t2 3361/466903969 192/422274790, t3 2652/290325644 243/481228842",
        ),
        (
            UUniFastDiscard,
            Drawn,
            "2",
            1,
            "t1 1569/406310462 207/483787387, t2 5703/468823363 200/380052751, t3 3073/431947506 233/318372650",
        ),
        (
            RandFixedSum,
            Drawn,
            "0.5",
            0,
            "t1 239/445571780 10/355480717, t2 628/127896835 87/231062195, t3 9/461150278 10/205188221",
        ),
        (
            RandFixedSum,
            Drawn,
            "1.5",
            7,
            "t1 2530/266141901 120/204318071, t2 31/161705143 33/334153515, t3 3030/396586171 228/393027926",
        ),
        (
            RandFixedSum,
            Drawn,
            "2",
            1,
            "t1 356/180154162 282/208460767, t2 1708/141782167 152/226661611, t3 311/134681216 121/352322655",
        ),
    ] {
        let set = draw(spec(generator, writes), utilization, index);
        assert_eq!(written(&set), expected, "{generator} {writes:?} {utilization} {index}");
    }
    let tilted = draw(SetSpec { tasks: 32, ..spec(UUniFast, Writes::Drawn) }, "10", 0);
    assert!(
        written(&tilted).starts_with(
            "t1 755/343245161 53/289224592, t2 816/467468728 83/411748276, t3 1689/385296154 45/244641834"
        )
    );
    assert!(written(&tilted).ends_with("t31 242/295134681 147/187570042, t32 2114/462859105 25/175222737"));
    let periods = "1ms..1000ms".parse::<PeriodRange>().unwrap().distributed(PeriodDistribution::LogUniform);
    let log = draw(SetSpec { periods, ..spec(UUniFast, Drawn) }, "0.5", 0);
    assert_eq!(written(&log), "t1 1/1945919 2/6472700, t2 99/52963854 32/96659156, t3 1/1514846 24/431446082");
}
