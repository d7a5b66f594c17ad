//! Pages that tasks trim, as the command has them: run, written to traces and answers, judged, or
//! refused.

use std::path::Path;

use crate::common::{rtflash, rtflash_with_input};

const SET: &str = r#"{"device":{"profile":"dgist-2021","chips":2,"blocks_per_chip":12,"pages_per_block":16},"tasks":[
    {"name":"a=b","read":{"pages":4,"period":"36ms"},"write":{"pages":4,"period":"40ms"}},
    {"name":"log","write":{"pages":2,"period":"50ms"}}]}"#;

#[test]
fn what_is_trimmed_is_told_and_judged() {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{}-trims", std::process::id()));
    std::fs::create_dir_all(&directory).expect("a directory");
    let [path, trace, kept] = ["set.json", "trace.jsonl", "state"].map(|name| directory.join(name));
    std::fs::write(&path, SET).expect("a file");
    let [path, trace, kept] = [&path, &trace, &kept].map(|path| path.to_str().expect("a name"));
    let trims = ["--trim", "a=b=8/30ms", "--trim", "log=1/7ms"];
    for analysis in ["stripe", "superblock"] {
        let by = ["--algorithm", "global", "--analysis", analysis];
        let exec = |more: &[&str]| {
            let ran = rtflash(&[&["exec", path, "--format", "json", "--duration", "8s"], &by[..], more].concat());
            assert_eq!(ran.status, 0, "{}{}", ran.stdout, ran.stderr);
            ran.stdout
        };
        let (without, with) = (exec(&[]), exec(&[&trims[..], &["--trace", trace]].concat()));
        assert!(!without.contains("trim"), "{without}");
        assert!(with.contains(r#""trims":["a=b=8/30ms","log=1/7ms"]"#), "{with}");
        let number = |answer: &str, name: &str| -> u64 {
            let rest = answer.split(&format!("\"{name}\":")).nth(1).expect("a number");
            rest.split([',', '}']).next().and_then(|digits| digits.parse().ok()).expect("digits")
        };
        let trimmed = number(&with, "pages_trimmed");
        assert!(trimmed > 2_000 && number(&with, "pages_copied") < number(&without, "pages_copied"), "{with}");
        // A run that is broken off goes on with its trims.
        let first = exec(&[&trims[..], &["--checkpoint", kept]].concat());
        assert_eq!((&first, &exec(&[&trims[..], &["--checkpoint", kept]].concat())), (&with, &with));
        std::fs::remove_file(kept).expect("it was kept");
        let records = std::fs::read_to_string(trace).expect("a trace");
        let told = records.lines().filter(|line| line.starts_with("{\"trimmed\":") && !line.contains("kept"));
        assert_eq!(told.map(|line| number(line, "pages")).sum::<u64>(), trimmed);
        assert!(records.lines().any(|line| line.starts_with("{\"empty\":")), "{analysis}");
        let check = || rtflash(&[&["check", path], &by[..], &["--trace", trace]].concat());
        assert_eq!(check().status, 0, "{}{}", check().stdout, check().stderr);
        // A page that was not trimmed is lost, and is to be read.
        let silent: Vec<&str> = records.lines().filter(|line| !line.contains("\"trimmed\"")).collect();
        std::fs::write(trace, silent.join("\n") + "\n").expect("a file");
        let (status, text) = (check().status, check().stdout);
        assert!(status == 1 && text.contains("mapping"), "{analysis}: {text}");
    }
    std::fs::remove_dir_all(directory).expect("it was made here");
}

#[test]
fn what_cannot_be_trimmed_is_refused() {
    let zones = SET.replace("\"pages\":4,\"period\":\"40ms\"", "\"pages\":4,\"period\":\"40ms\",\"access\":\"stream\"");
    let zones = zones.replace("\"pages\":2,", "\"pages\":2,\"access\":\"stream\",");
    let failing = SET.replace("\"chips\":2", "\"chips\":2,\"spare_blocks\":1");
    let expected = "expected TASK=PAGES/EVERY, such as camera=8/20ms";
    for (set, options, why) in [
        (SET, vec!["--trim", "log"], format!("--trim log: there is no `=`; {expected}")),
        (SET, vec!["--trim", "log=8"], format!("--trim log=8: there is no `/`; {expected}")),
        (SET, vec!["--trim", "log=0/1ms"], format!("--trim log=0/1ms: `0` is no number of pages; {expected}")),
        (SET, vec!["--trim", "log=x/1ms"], format!("--trim log=x/1ms: `x` is no number of pages; {expected}")),
        (SET, vec!["--trim", "log=8/0s"], format!("--trim log=8/0s: that is no time between two trims; {expected}")),
        (SET, vec!["--trim", "log=8/1xs"], format!("--trim log=8/1xs: unknown unit of time `xs`; {expected}")),
        (SET, vec!["--trim", "lag=8/1s"], "--trim lag=8/1s: there is no task `lag`".into()),
        (SET, vec!["--trim", "log=8000/1s"], "--trim log=8000/1s: it has ".into()),
        (
            SET,
            vec!["--trim", "log=8/1s", "--analysis", "thesis"],
            "--trim log=8/1s: only clusters with certificates know pages that hold nothing: --analysis sound gives them"
                .into(),
        ),
        (
            &zones,
            vec!["--trim", "log=8/1s", "--analysis", "zoned"],
            "--trim log=8/1s: it owns zones, which are overwritten as a whole".into(),
        ),
        (
            &failing,
            vec!["--trim", "log=8/1s", "--faults", "1"],
            "--trim log=8/1s: nothing is trimmed while programs and erases fail (--faults)".into(),
        ),
    ] {
        let mut words = vec!["exec", "-", "--algorithm", "global", "--duration", "1s"];
        if !options.contains(&"--analysis") {
            words.extend(["--analysis", "sound"]);
        }
        words.extend(options);
        let refused = rtflash_with_input(&words, set.as_bytes());
        assert_eq!(refused.status, 2, "{words:?}: {}{}", refused.stdout, refused.stderr);
        assert!(refused.stderr.contains(&why), "{words:?}: {}", refused.stderr);
    }
}
