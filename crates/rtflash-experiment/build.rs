//! Says of which sources this is built, so that results of two builds are not joined unnoticed.
//!
//! A hash over what results depend on: the sources of the crates that draw sets, decide, run and
//! count, and the versions of all else. Figures are made anew from the counts whenever an
//! experiment ends, so the crate that makes them (rtflash-draw) is not among these. It does not
//! depend on the machine, the path or the compiler. No version control is asked: what is built
//! counts, not what was committed.

use std::hash::Hasher;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

use siphasher::sip128::{Hasher128, SipHasher13};

/// The crates beside this one that results depend on.
const CRATES: [&str; 11] = [
    "rtflash-alloc",
    "rtflash-analysis",
    "rtflash-dhara",
    "rtflash-experiment",
    "rtflash-ftl",
    "rtflash-judge",
    "rtflash-model",
    "rtflash-plan",
    "rtflash-run",
    "rtflash-sim",
    "rtflash-trace",
];

fn main() -> io::Result<()> {
    let here = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let mut hasher = SipHasher13::new();
    hasher.write(env::var("CARGO_PKG_VERSION").unwrap_or_default().as_bytes());
    let crates = here.join("..");
    if CRATES.iter().all(|name| crates.join(name).join("Cargo.toml").is_file()) {
        for name in CRATES {
            sources(&mut hasher, name, &crates.join(name).join("src"))?;
        }
        // Which versions of other crates there are.
        let lock = here.join("../../Cargo.lock");
        if lock.is_file() {
            file(&mut hasher, "Cargo.lock", &lock)?;
        }
    } else {
        // From a registry: the others are exactly of this version, as Cargo.toml demands.
        sources(&mut hasher, "rtflash-experiment", &here.join("src"))?;
    }
    println!("cargo::rustc-env=RTFLASH_BUILD={:032x}", hasher.finish128().as_u128());
    println!("cargo::rerun-if-changed=build.rs");
    Ok(())
}

/// Takes in all files of a folder, in order of their names.
fn sources(hasher: &mut SipHasher13, name: &str, folder: &Path) -> io::Result<()> {
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut entries: Vec<_> = fs::read_dir(folder)?.collect::<Result<_, _>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let name = format!("{name}/{}", entry.file_name().to_string_lossy());
        let path = entry.path();
        if path.is_dir() {
            sources(hasher, &name, &path)?;
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            file(hasher, &name, &path)?;
        }
    }
    Ok(())
}

/// Takes in a file: its name, its length and its text, with the ends of lines as they are in the
/// repository.
fn file(hasher: &mut SipHasher13, name: &str, path: &Path) -> io::Result<()> {
    println!("cargo::rerun-if-changed={}", path.display());
    let text: Vec<u8> = fs::read(path)?.into_iter().filter(|&byte| byte != b'\r').collect();
    for part in [name.as_bytes(), &text] {
        hasher.write(&(part.len() as u64).to_le_bytes());
        hasher.write(part);
    }
    Ok(())
}
