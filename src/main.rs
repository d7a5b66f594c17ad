//! The `rtflash` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    rtflash_cli::main()
}
