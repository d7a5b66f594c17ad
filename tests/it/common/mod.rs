//! Running the command as a user does.

#![allow(dead_code)] // Each test file uses its own part of this.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

/// The outcome of a run of the command.
#[derive(Debug)]
pub struct Run {
    pub status: i32,
    pub stdout: String,
    pub stderr: String,
}

/// Runs `rtflash` in the repository's root.
pub fn rtflash(args: &[&str]) -> Run {
    rtflash_with_input(args, b"")
}

/// Runs `rtflash` with this on standard input.
pub fn rtflash_with_input(args: &[&str], input: &[u8]) -> Run {
    let mut child = Command::new(env!("CARGO_BIN_EXE_rtflash"))
        .args(args)
        .current_dir(root())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts");
    let mut stdin = child.stdin.take().expect("standard input is piped");
    let output = std::thread::scope(|scope| {
        scope.spawn(move || {
            // A command that does not read its input closes it: no matter.
            let _ = stdin.write_all(input);
        });
        child.wait_with_output().expect("the command ends")
    });
    Run {
        status: output.status.code().expect("the command exits"),
        stdout: String::from_utf8(output.stdout).expect("answers are UTF-8"),
        stderr: String::from_utf8(output.stderr).expect("complaints are UTF-8"),
    }
}

impl Run {
    /// The single JSON value on standard output.
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error} in {self:?}"))
    }

    /// The JSON values on standard output, one a line.
    pub fn json_lines(&self) -> Vec<serde_json::Value> {
        self.stdout
            .lines()
            .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error} in {line}")))
            .collect()
    }
}

/// The repository's root.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// A file of its own for one test, with this content. Tests run beside each other: no two calls
/// write one file.
pub fn file(name: &str, content: impl AsRef<[u8]>) -> PathBuf {
    static FILES: AtomicU32 = AtomicU32::new(0);
    let number = FILES.fetch_add(1, Ordering::Relaxed);
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{}-{number}-{name}", std::process::id()));
    std::fs::write(&path, content).expect("the file is written");
    path
}
