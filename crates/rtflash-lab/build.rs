//! Makes the weakened analysis: the sources of rtflash-analysis, in which each expression of
//! [`edits::EDITS`] is replaced if its term is left out.

#[path = "src/edits.rs"]
mod edits;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

use edits::{EDITS, Edit};

fn main() -> io::Result<()> {
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    let (from, to) = (Path::new("../rtflash-analysis/src"), out.join("weakened"));
    println!("cargo::rerun-if-changed={}", from.display());
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/edits.rs");
    for Edit { term, file, .. } in EDITS {
        assert!(from.join(file).is_file(), "{term} in src/edits.rs: there is no rtflash-analysis/src/{file}");
    }
    copy(from, from, &to)?;
    // Its warnings are those of the analysis.
    let declared = format!(
        "/// The analysis, in which a term can be left out.\n\
         #[allow(warnings, clippy::all, clippy::pedantic)]\n#[path = {:?}]\nmod weakened;\n",
        to.join("lib.rs")
    );
    fs::write(out.join("weakened.rs"), declared)
}

/// Copies a folder of sources from `root` on, edited.
fn copy(root: &Path, from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let path = entry?.path();
        let to = to.join(path.file_name().unwrap_or_default());
        if path.is_dir() {
            copy(root, &path, &to)?;
            continue;
        }
        let name = path.strip_prefix(root).unwrap_or(&path).to_string_lossy().replace('\\', "/");
        fs::write(to, edited(&name, &as_a_module(&fs::read_to_string(&path)?)))?;
    }
    Ok(())
}

/// The file with all its edits.
fn edited(name: &str, text: &str) -> String {
    let mut places: BTreeMap<usize, (Range<usize>, Vec<&Edit>)> = BTreeMap::new();
    for edit in EDITS.iter().filter(|edit| edit.file == name) {
        let place = place(edit, text);
        places.entry(place.start).or_insert((place, Vec::new())).1.push(edit);
    }
    let (mut done, mut edited) = (0, String::new());
    for (place, edits) in places.into_values() {
        edited += &text[done..place.start];
        edited.push('(');
        for Edit { term, without, .. } in edits {
            let _ = write!(edited, "if crate::leaves_out({term:?}) {{ {without} }} else ");
        }
        let _ = write!(edited, "{{ {} }})", &text[place.clone()]);
        done = place.end;
    }
    edited + &text[done..]
}

/// The place of an edit's expression.
fn place(edit: &Edit, text: &str) -> Range<usize> {
    let parts: Vec<&str> = edit.at.split('§').collect();
    let [before, expression, after] = parts.as_slice() else { panic!("{}: two marks: {}", edit.term, edit.at) };
    let whole = [*before, expression, after].concat();
    let mut found = text.match_indices(&whole).map(|(at, _)| at + before.len());
    match (found.next(), found.next()) {
        (Some(at), None) => at..at + expression.len(),
        _ => panic!("{} in src/edits.rs: rtflash-analysis/src/{} has not once: {}", edit.term, edit.file, edit.at),
    }
}

/// The file of a crate as that of a module of this one, without its tests.
fn as_a_module(text: &str) -> String {
    let lines = text.lines().filter(|line| !line.starts_with("//!"));
    let text: String = lines.flat_map(|line| [line, "\n"]).collect();
    text.replace("crate::", "crate::weakened::").replace("#[cfg(test)]", "#[cfg(any())]")
}
