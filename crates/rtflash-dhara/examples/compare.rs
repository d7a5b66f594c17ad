//! Compares the executor with Dhara's own C code: histories go to the program that the environment
//! variable DHARA names, and its operations have to be ours, line for line.
//!
//! `DHARA=PROGRAM cargo run -p rtflash-dhara --example compare -- [OPERATIONS [SEED]]`; with
//! `history SEED` it prints the history of that seed.
//!
//! The program is about eighty lines of C around `journal.c`, `map.c` and `error.c`. It reads a
//! history on standard input, a line each:
//!
//! - `chip PAGE BLOCK N G`: an erased chip by log₂ of the bytes of a page and of the pages of a
//!   block, its N blocks, and the gc_ratio.
//! - `bad B`: this block left the factory bad.
//! - `fail K M`: the K-th program, copy or erase from now on fails, and all later ones of its
//!   block. The M-th after that fails as well, unless M is 0.
//! - `cut K`: power is lost before the K-th of them.
//! - `start`: `dhara_map_init` and `dhara_map_resume`; it forgets a `cut`.
//! - `write S`, `read S`, `trim S`, `sync`: the call of the map. Data are zeros.
//!
//! The driver's functions print `bad? B`, `mark B`, `erase B`, `program P`, `free? P`, `read P` and
//! `copy P Q`, before they act. Each call ends with `= 0`, or with `= E` where E is the
//! `dhara_error_t`. It ends with `= 99` if power was lost in it, by a `longjmp` out of the driver
//! before the operation. The executor alone ends a call with `= 98`: the C code crashes there. An
//! operation that fails leaves zeros, of a page or of a whole block, that count as programmed.

#[path = "../tests/common/histories.rs"]
mod histories;

use std::io::Write as _;
use std::process::{Command, ExitCode, Stdio};
use std::{env, error, thread};

use histories::history;

/// The program's operations.
fn theirs(program: &str, calls: String) -> Result<String, Box<dyn error::Error>> {
    let mut child = Command::new(program).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let mut input = child.stdin.take().ok_or("no standard input")?;
    let writer = thread::spawn(move || input.write_all(calls.as_bytes()));
    let output = child.wait_with_output()?;
    writer.join().map_err(|_| "a writer that fails")??;
    if !output.status.success() {
        return Err(format!("{program}: {}", output.status).into());
    }
    Ok(String::from_utf8(output.stdout)?)
}

fn main() -> Result<ExitCode, Box<dyn error::Error>> {
    let mut words = env::args().skip(1).peekable();
    if words.next_if(|word| word == "history").is_some() {
        print!("{}", history(words.next().ok_or("a seed")?.parse()?)?.calls);
        return Ok(ExitCode::SUCCESS);
    }
    let program = env::var("DHARA").map_err(|_| "DHARA names no program (the head of examples/compare.rs)")?;
    let mut numbers = words.map(|word| word.parse::<u64>());
    let [wanted, seed] = [numbers.next().unwrap_or(Ok(10_000_000))?, numbers.next().unwrap_or(Ok(1))?];
    let (mut operations, mut histories, mut marks, mut starts) = (0, 0, 0, 0);
    while operations < wanted {
        let ours = history(seed + histories)?;
        let theirs = theirs(&program, ours.calls.clone())?;
        if theirs != ours.ours {
            let same = theirs.lines().zip(ours.ours.lines()).take_while(|(theirs, ours)| theirs == ours).count();
            let [theirs, mine] = [&theirs, &ours.ours].map(|all| all.lines().nth(same).unwrap_or("nothing"));
            println!("seed {}: line {}: {theirs:?}, and not {mine:?}", seed + histories, same + 1);
            return Ok(ExitCode::FAILURE);
        }
        operations += ours.operations;
        histories += 1;
        marks += ours.ours.lines().filter(|line| line.starts_with("mark")).count();
        starts += ours.calls.lines().filter(|line| *line == "start").count();
    }
    println!("{operations} operations in {histories} histories, none differs: {marks} blocks failed, {starts} starts");
    Ok(ExitCode::SUCCESS)
}
