//! What `explain` says that a machine has checked is proved in `proofs/`, and printed to rest on
//! nothing; and which steps a cluster's promise has.

use std::fs;

use rtflash_alloc::Work;
use rtflash_alloc::certified::{GROUNDS, Ground, certified, grounds, held, reliances};
use rtflash_model::{
    Access, Allocation, ChipId, Cluster, Device, DeviceSpec, Id, Placement, Reliance, Request, Span, Task, TaskId,
    TaskSet,
};

fn project(name: &str) -> String {
    let path = format!("{}/../../{name}", env!("CARGO_MANIFEST_DIR"));
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

#[test]
fn what_is_said_to_be_checked_is_proved() {
    let (printed, table) = (project("proofs/Assumptions.v"), project("proofs/README.md"));
    let sources = |file: &str| project(&format!("proofs/{file}"));
    for (name, file) in GROUNDS.iter().filter_map(|ground| ground.machine) {
        let source = sources(file);
        let starts = |line: &str| {
            let words: Vec<&str> =
                line.trim_start().split(|letter: char| !letter.is_alphanumeric() && !"_'".contains(letter)).collect();
            matches!(words[..], ["Lemma" | "Theorem", this, ..] if this == name)
        };
        assert!(source.lines().any(starts), "{name} in {file}");
        assert!(printed.lines().any(|line| line == format!("Print Assumptions {name}.")), "{name}");
        assert!(table.contains(&format!("`{name}`")) && table.contains(&format!("`{file}`")), "{name} in {file}");
        for gap in ["Admitted", "Axiom ", "Parameter ", "Conjecture "] {
            assert!(!source.contains(gap), "{gap} in {file}");
        }
    }
}

#[test]
fn what_is_named_is_in_the_document() {
    let document = project("docs/analysis.md");
    let headings: Vec<&str> = document.lines().filter(|line| line.starts_with('#')).collect();
    for ground in GROUNDS {
        let found = ground.theorem.split(" and ").all(|name| match name.trim_start_matches("Sections ") {
            number if number.starts_with(|letter: char| letter.is_ascii_digit()) => true,
            name => match name.strip_prefix("Section ") {
                Some(number) => headings.iter().any(|heading| heading.contains(&format!(" {number}"))),
                None => document.contains(&format!("**{name}.")),
            },
        });
        assert!(found, "{}", ground.theorem);
    }
}

/// The steps of each cluster of a device whose first cluster reads and writes so, and whose last
/// one reads.
fn steps(spec: DeviceSpec, access: Access, placement: Placement, granted: Reliance) -> Vec<Ground> {
    let request = |pages, ms: u32| Request::new(pages, Span::from_us(ms * 1_000)).expect("a request");
    let task = |name: &str, read, write: Option<Request>| Task {
        name: name.into(),
        read,
        write: write.map(|request| request.with_access(access)),
        data_pages: None,
    };
    let tasks = vec![task("log", None, Some(request(8, 100))), task("play", Some(request(40, 40)), None)];
    let set = TaskSet::new(Device::new(spec).expect("a device"), tasks, vec![]).expect("a set");
    let halves = [0, 1].map(|half: u32| Cluster {
        chips: (2 * half..2 * half + 2).map(ChipId).collect(),
        tasks: vec![TaskId::from_index(half as usize)],
    });
    let allocation = Allocation::new(4, 2, &halves).expect("an allocation");
    let (allocation, found) = certified(&set, &allocation, &[placement], granted, &Work::new());
    assert_eq!(found.failing, Vec::<usize>::new());
    let held = held(&set, &allocation, granted);
    let relied = reliances(&set, &allocation)[0].expect("it holds");
    grounds(&set, &allocation.clusters()[0], held[0].as_ref().expect("it is certified"), relied)
}

/// Whether a machine has checked the steps by this theorem; `None` where there are none.
fn by_machine(steps: &[Ground], theorem: &str) -> Option<bool> {
    let mut of = steps.iter().filter(|ground| ground.theorem == theorem).map(|ground| ground.machine.is_some());
    of.next().map(|first| first && of.all(|checked| checked))
}

#[test]
fn each_kind_of_cluster_rests_on_its_theorems() {
    let spec = DeviceSpec { chips: 4, ..Device::profile("dgist-2021").expect("the profile").spec() };
    let plain = steps(spec, Access::Sequential, Placement::Stripe, Reliance::Nothing);
    assert_eq!(["Theorem S", "Lemma 2"].map(|name| by_machine(&plain, name)), [Some(true); 2]);
    for name in ["Theorem D", "Theorem 3", "Theorem 4", "Theorem 5", "Lemma 20", "Lemma 21"] {
        assert_eq!(by_machine(&plain, name), None, "{name}");
    }
    // What is checked does not know streams, nor commands on a bus.
    let streams = steps(spec, Access::Stream, Placement::Stripe, Reliance::Nothing);
    let names = ["Lemma 20", "Lemma 2", "Theorem S", "Lemma 3"];
    let found = names.map(|name| by_machine(&streams, name));
    assert_eq!(found, [Some(false), Some(false), Some(false), Some(true)]);
    let rows = steps(spec, Access::Stream, Placement::Superblock, Reliance::Nothing);
    assert_eq!(by_machine(&rows, "Lemma 20"), None);
    // Without backfill it is.
    assert_eq!(by_machine(&rows, "Theorem D"), Some(false));
    let command = DeviceSpec { command: Some(Span::from_us(1)), ..spec };
    let commands = steps(command, Access::Sequential, Placement::Stripe, Reliance::Nothing);
    assert_eq!(["Lemma 21", "Theorem S"].map(|name| by_machine(&commands, name)), [Some(false), Some(true)]);
    let joined = commands.iter().find(|ground| ground.theorem == "Theorem S").and_then(|ground| ground.machine);
    assert_eq!(joined, Some(("theorem_S", "Closing.v")));
    let registers = DeviceSpec { page_registers: Some(2), ..spec };
    let cached = steps(registers, Access::Sequential, Placement::CachedStripe, Reliance::Nothing);
    assert_eq!(by_machine(&cached, "Theorem S"), None);
    // But for its server.
    assert_eq!(by_machine(&cached, "Theorem 5"), Some(false));
}
