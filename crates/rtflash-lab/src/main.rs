//! The command of the laboratory.

use std::process::ExitCode;

fn main() -> ExitCode {
    rtflash_lab::command::run()
}
