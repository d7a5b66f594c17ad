//! Prints the costs of Dhara's calls on a chip, over gc_ratio: the tables of docs/dhara.md.
//!
//! `cargo run --release -p rtflash-dhara --example costs -- BLOCKS PAGES BYTES READ PROGRAM ERASE
//! TRANSFER [FAILURES [SHARE]]`. BLOCKS are of PAGES of BYTES each. READ, PROGRAM, ERASE and
//! TRANSFER are t_r, t_w, t_e and t_d in nanoseconds. FAILURES are blocks that fail during the call
//! (0). SHARE is the share of the capacity that data have while writes are measured, in per cent
//! (95).

#[path = "common/overwrites.rs"]
mod overwrites;

use std::env;
use std::error::Error;

use overwrites::overwrite;
use rtflash_dhara::costs::{CallCost, ChipTimes, DharaShape, DriverTimes};
use rtflash_dhara::nand::NandGeometry;

/// Ratios: 4 is Espressif's example, 15 Zephyr's default, 45 Espressif's default.
const RATIOS: [u32; 7] = [1, 2, 4, 8, 15, 30, 45];

/// Overwrites that are measured.
const OVERWRITES: u32 = 100_000;

fn milliseconds(ns: u128) -> String {
    format!("{}.{:02}", ns / 1_000_000, ns / 10_000 % 100)
}

fn main() -> Result<(), Box<dyn Error>> {
    let numbers: Vec<u32> = env::args().skip(1).map(|word| word.parse()).collect::<Result<_, _>>()?;
    let (&[blocks, pages, bytes, read, program, erase, transfer], more) =
        numbers.split_first_chunk().ok_or("BLOCKS PAGES BYTES READ PROGRAM ERASE TRANSFER [FAILURES [SHARE]]")?;
    let failures = more.first().copied().unwrap_or(0);
    let share = more.get(1).copied().unwrap_or(95);
    if !pages.is_power_of_two() || pages < 2 || !bytes.is_power_of_two() || bytes < 512 {
        return Err("PAGES and BYTES are powers of two, 2 and 512 at least".into());
    }
    let geometry = NandGeometry { log2_page: bytes.ilog2(), log2_block: pages.ilog2(), blocks };
    let [read, program, erase, transfer] = [read, program, erase, transfer].map(u128::from);
    let times = DriverTimes::of(&ChipTimes { read, program, erase, transfer, page: bytes.into() });
    println!("| gc_ratio | capacity | write, ms | in the long run | trim | read | sync | start | seen | mean |");
    println!("|---|---|---|---|---|---|---|---|---|---|");
    for gc_ratio in RATIOS {
        let empty =
            DharaShape { geometry, gc_ratio, sectors: 1, bad_run: failures.min(7), failures, losses: true, failed: 0 };
        let shape = DharaShape { sectors: u32::try_from(empty.capacity(0))?, ..empty };
        let calls = [shape.write(), shape.trim(), shape.read(), shape.sync(), shape.start()];
        let [write, trim, read, sync, start] = calls.map(|of| milliseconds(shape.time(&of, &times)));
        let even = shape.group_users() * shape.block_users();
        let mean = milliseconds(shape.writes(even).time(&times).div_ceil(even.into()));
        let thousandths = shape.new_capacity() * 1_000 / u64::from(geometry.pages());
        let capacity = format!("{}.{} %", thousandths / 10, thousandths % 10);
        let used = DharaShape { sectors: u32::try_from(shape.new_capacity() * u64::from(share) / 100)?, ..shape };
        let seen = overwrite(&used, &times, OVERWRITES);
        let [longest, usual] = [seen.longest, seen.mean].map(milliseconds);
        let CallCost { reads, programs, copies, erases, .. } = seen.dearest;
        println!(
            "| {gc_ratio} | {capacity} | {write} | {mean} | {trim} | {read} | {sync} | {start} | \
             {longest} ({reads}, {programs}, {copies}, {erases}) | {usual} |"
        );
    }
    Ok(())
}
