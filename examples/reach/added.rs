//! The reach that each test adds, and the gain of streams for small requests.

use rtflash::alloc::analysis::{Analysis, Necessary, Stripe, Superblock};
use rtflash::model::generate::{Accesses, SetSpec};
use rtflash::model::{DeviceSpec, Reliance, Span};

use crate::measure::{Fallible, changed, measured, reach, sets};

/// The columns, λ in hundredths.
const RATIOS: [u64; 3] = [50, 75, 90];

const HEAD: &str = "λ = 0.5 | λ = 0.75 | λ = 0.9 |\n";

const STRIPE: [Stripe; 3] = [
    Stripe { rely_on: Reliance::Nothing },
    Stripe { rely_on: Reliance::Neighbours },
    Stripe { rely_on: Reliance::Queue },
];
const SUPERBLOCK: [Superblock; 2] =
    [Superblock { rely_on: Reliance::Nothing }, Superblock { rely_on: Reliance::Neighbours }];

/// A device, requests, and by which tests.
struct Block {
    named: &'static str,
    change: fn(&mut DeviceSpec),
    accesses: Accesses,
    tests: Vec<(&'static str, &'static dyn Analysis)>,
}

/// One row for each test, and one for the necessary ones: the reach at each λ, and what part that
/// is of the last row.
fn rows(block: &Block, each: u64) -> Fallible<String> {
    // One after another: contenders of one experiment differ by name.
    let tests = block.tests.iter().map(|&(_, test)| ("exact", test));
    let who: Vec<(&str, &'static dyn Analysis)> = tests.chain([("any", &Necessary as &dyn Analysis)]).collect();
    let mut columns = Vec::new();
    for hundredths in RATIOS {
        eprintln!("{}, lambda 0.{hundredths} …", block.named);
        let sets = sets(changed(hundredths, block.change)?, block.accesses);
        let one = |&who: &(&str, &'static dyn Analysis)| Ok(reach(&measured(sets, each, &[who])?.1, 0));
        columns.push(who.iter().map(one).collect::<Fallible<Vec<f64>>>()?);
    }
    let names = block.tests.iter().map(|&(name, _)| name).chain(["`necessary`"]);
    let row = |(contender, name): (usize, &str)| {
        let cell = |column: &Vec<f64>| {
            let (own, all) = (column[contender], column[who.len() - 1]);
            if contender + 1 < who.len() {
                format!("{own:.3}, {:.0} %", 100.0 * own / all)
            } else {
                format!("{own:.3}")
            }
        };
        format!("| {} | {name} | {} |\n", block.named, columns.iter().map(cell).collect::<Vec<_>>().join(" | "))
    };
    Ok(names.enumerate().map(row).collect())
}

fn blocks() -> Vec<Block> {
    const NOTHING: &str = "(T), `--assume nothing`";
    const NEIGHBOURS: &str = "(T'), `--assume neighbour-load`";
    let stripes = |names: [&'static str; 3]| names.into_iter().zip(STRIPE.iter().map(|test| test as &dyn Analysis));
    let superblocks = || [NOTHING, NEIGHBOURS].into_iter().zip(SUPERBLOCK.iter().map(|test| test as &dyn Analysis));
    let single = [NOTHING, NEIGHBOURS, "(T''), `--assume fifo-bus`"];
    let registers = ["(T2), `--assume nothing`", "(T2), `--assume neighbour-load`", ""];
    let second = |spec: &mut DeviceSpec| spec.page_registers = Some(2);
    let block = |named, change, accesses, tests| Block { named, change, accesses, tests };
    vec![
        block("`stripe`, sequential", |_| (), Accesses::Sequential, stripes(single).collect()),
        block(
            "`stripe`, sequential, commands of 1 µs",
            |spec| spec.command = Some(Span::from_us(1)),
            Accesses::Sequential,
            stripes(single).collect(),
        ),
        block(
            "`stripe`, sequential, two page registers",
            second,
            Accesses::Sequential,
            stripes(registers).take(2).collect(),
        ),
        block("`stripe`, random", |_| (), Accesses::Random, stripes(single).collect()),
        block("`superblock`, random", |_| (), Accesses::Random, superblocks().collect()),
        block(
            "`superblock`, random, two page registers",
            second,
            Accesses::Random,
            superblocks().zip(registers).map(|((_, test), name)| (name, test)).collect(),
        ),
    ]
}

/// The table of the reach that each test adds, by `exact`.
pub fn tests(each: u64) -> Fallible<String> {
    let each = (each / 2).max(1);
    let mut text = format!("| sets | test | {HEAD}");
    for block in blocks() {
        text += &rows(&block, each)?;
    }
    Ok(text)
}

/// Twelve tasks of requests of 1 to 16 pages every 5 to 50 ms on eight chips.
fn small_sets(hundredths: u64, accesses: Accesses) -> Fallible<SetSpec> {
    let sets = sets(changed(hundredths, |spec| spec.chips = 8)?, accesses);
    Ok(SetSpec { tasks: 12, periods: "5ms..50ms".parse()?, pages: Some("1..16".parse()?), ..sets })
}

/// The table of small requests, by `exact` under `stripe` with `--assume fifo-bus`.
pub fn small(each: u64) -> Fallible<String> {
    let each = (each / 2).max(1);
    let mut text = format!("| access | {HEAD}");
    for accesses in [Accesses::Random, Accesses::Sequential, Accesses::Stream] {
        let mut cells = Vec::new();
        for hundredths in RATIOS {
            eprintln!("small, {accesses}, lambda 0.{hundredths} …");
            let (_, tallies) = measured(small_sets(hundredths, accesses)?, each, &[("exact", &STRIPE[2])])?;
            cells.push(format!("{:.3}", reach(&tallies, 0)));
        }
        text += &format!("| {accesses} | {} |\n", cells.join(" | "));
    }
    Ok(text)
}
