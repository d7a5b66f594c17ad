//! For any bytes every reader answers or refuses, and the place of a refusal is in the text.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rtflash::model::{
    Diagnostics, Frames, line_column, read_allocation, read_device, read_task_set, read_task_set_bytes, write_task_set,
};

fn check(text: &str, diagnostics: &Diagnostics) {
    assert!(!diagnostics.first().is_empty());
    for diagnostic in diagnostics.first() {
        assert!(text.get(diagnostic.range.clone()).is_some(), "{diagnostic:?}");
        line_column(text, diagnostic.range.start);
    }
}

fuzz_target!(|bytes: &[u8]| {
    let mut frames = Frames::new(bytes);
    let mut total = 0;
    while let Ok(Some(batch)) = frames.next_batch() {
        assert!(!batch.is_empty());
        for frame in batch {
            assert!(!frame.text.is_empty());
            total += frame.text.len();
            let _ = read_task_set_bytes(&frame.text);
        }
    }
    assert!(total <= bytes.len());
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Err(diagnostics) = read_device(text) {
        check(text, &diagnostics);
    }
    match read_task_set_bytes(bytes) {
        Err(diagnostics) => check(text, &diagnostics),
        Ok(file) => {
            // Behind a byte-order mark, texts are read by the thorough reader alone.
            let thorough = read_task_set(&format!("\u{feff}{}", text.trim_start_matches('\u{feff}')));
            let thorough = thorough.expect("both readers read it");
            assert_eq!(thorough.set, file.set);
            assert_eq!(thorough.meta.map(|meta| meta.to_string()), file.meta.as_ref().map(|meta| meta.to_string()));
            let again = write_task_set(&file.set, file.meta.as_ref());
            assert_eq!(read_task_set_bytes(again.as_bytes()).expect("what is written is read").set, file.set);
        }
    }
    let set =
        read_task_set_bytes(br#"{"device":"dgist-2021","tasks":[{"name":"a","read":{"pages":1,"period":"1s"}}]}"#)
            .expect("a task set")
            .set;
    if let Err(diagnostics) = read_allocation(text, &set) {
        check(text, &diagnostics);
    }
});
