use super::*;

fn folder_of_its_own() -> tempfile::TempDir {
    tempfile::tempdir().expect("a folder")
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder");
    let mut names: Vec<String> =
        entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn what_was_there_stays_until_the_new_is_whole() {
    let folder = folder_of_its_own();
    let path = folder.path().join("sets.jsonl");
    fs::write(&path, "old").expect("written");
    let mut file = WholeFile::create(&path).expect("a file");
    file.write_all(&[b'x'; BUFFER + 1]).expect("written");
    assert_eq!(fs::read(&path).expect("read"), b"old");
    let drafts = names(folder.path());
    assert!(drafts.iter().any(|name| is_draft(name, |name| name == "sets.jsonl")), "{drafts:?}");
    drop(file);
    assert_eq!(
        (fs::read(&path).expect("read"), names(folder.path())),
        (b"old".to_vec(), vec!["sets.jsonl".to_owned()])
    );
    write(&path, b"new").expect("written");
    assert_eq!(
        (fs::read(&path).expect("read"), names(folder.path())),
        (b"new".to_vec(), vec!["sets.jsonl".to_owned()])
    );
    let long = folder.path().join("λ".repeat(127));
    write(&long, b"a name of 254 bytes").expect("written");
    assert!(write(&folder.path().join("none/file"), b"").is_err());
    assert!(write(folder.path(), b"").is_err());
}

#[cfg(unix)]
#[test]
fn links_and_what_is_no_file_stay_what_they_are() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = folder_of_its_own();
    let at = |name: &str| folder.path().join(name);
    fs::create_dir(at("inner")).expect("a folder");
    fs::write(at("inner/file"), "old").expect("written");
    fs::set_permissions(at("inner/file"), fs::Permissions::from_mode(0o640)).expect("permitted");
    symlink("inner/file", at("link")).expect("a link");
    symlink("link", at("second")).expect("a link");
    symlink("inner/new", at("dangling")).expect("a link");
    symlink("round", at("round")).expect("a link");
    symlink("/dev/null", at("nothing")).expect("a link");
    write(&at("second"), b"new").expect("written");
    assert_eq!(fs::read(at("inner/file")).expect("read"), b"new");
    assert_eq!(fs::metadata(at("inner/file")).expect("a file").permissions().mode() & 0o777, 0o640);
    write(&at("dangling"), b"first").expect("written");
    assert_eq!(fs::read(at("inner/new")).expect("read"), b"first");
    assert!(write(&at("round"), b"").is_err());
    write(&at("nothing"), b"gone").expect("written");
    write(Path::new("/dev/null"), b"gone").expect("written");
    assert!(["link", "second", "dangling", "nothing"].iter().all(|link| at(link).is_symlink()));
    assert_eq!(names(folder.path()), ["dangling", "inner", "link", "nothing", "round", "second"]);
}
