//! The steps that `explain` calls checked by a machine are proved in `proofs/`, and printed to rest
//! on nothing; and a cluster's promise has its steps.

use std::fs;

use rtflash_analysis::Work;
use rtflash_analysis::certified::{GROUNDS, Ground, certify, grounds, held, reliances};
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

fn request(pages: u64, ms: u32) -> Option<Request> {
    Some(Request::new(pages, Span::from_us(ms * 1_000)).expect("a request"))
}

fn task(name: &str, read: Option<Request>, write: Option<Request>) -> Task {
    Task { name: name.into(), read, write, data_pages: None }
}

/// The steps of the first of these clusters, each with a task and placed so, and what it relies on.
fn steps_of(
    spec: DeviceSpec,
    clusters: Vec<(u32, Task, Placement)>,
    granted: Reliance,
) -> (Vec<Ground>, Reliance, Allocation) {
    let mut first = 0;
    let mut divided = Vec::new();
    for (position, (chips, _, _)) in clusters.iter().enumerate() {
        let chips = (first..first + chips).map(ChipId).collect();
        divided.push(Cluster { chips, tasks: vec![TaskId::from_index(position)] });
        first = divided[position].chips.last().expect("a chip").0 + 1;
    }
    let placements: Vec<Placement> = clusters.iter().map(|cluster| cluster.2).collect();
    let tasks: Vec<Task> = clusters.into_iter().map(|cluster| cluster.1).collect();
    let device = Device::new(DeviceSpec { chips: first, ..spec }).expect("a device");
    let set = TaskSet::new(device, tasks, vec![]).expect("a set");
    let found = certify(&set, &divided, &placements, granted, &Work::new());
    assert_eq!(found.failing, Vec::<usize>::new());
    let allocation = Allocation::new(first, divided.len(), &divided).expect("an allocation");
    let allocation = allocation.with_certificates(found.certificates);
    let held = held(&set, &allocation, granted);
    let relied = reliances(&set, &allocation)[0].expect("it holds");
    let grounds = grounds(&set, &allocation, 0, held[0].as_ref().expect("it is certified"), relied);
    (grounds, relied, allocation)
}

/// The steps of a cluster that reads and writes so, beside one that reads.
fn steps(spec: DeviceSpec, access: Access, placement: Placement, granted: Reliance) -> Vec<Ground> {
    let write = request(8, 100).map(|request| request.with_access(access));
    let clusters = vec![(2, task("log", None, write), placement), (2, task("play", request(40, 40), None), placement)];
    steps_of(spec, clusters, granted).0
}

/// Whether a machine has checked the steps by this theorem; `None` where there are none.
fn by_machine(steps: &[Ground], theorem: &str) -> Option<bool> {
    let mut of = steps.iter().filter(|ground| ground.theorem == theorem).map(|ground| ground.machine.is_some());
    of.next().map(|first| first && of.all(|checked| checked))
}

fn dgist() -> DeviceSpec {
    Device::profile("dgist-2021").expect("the profile").spec()
}

#[test]
fn each_kind_of_cluster_rests_on_its_theorems() {
    let spec = dgist();
    let plain = steps(spec, Access::Sequential, Placement::Stripe, Reliance::Nothing);
    let names = ["Theorem S", "Lemma 2", "Lemma 4", "Lemma 5"];
    assert_eq!(names.map(|name| by_machine(&plain, name)), [Some(true); 4]);
    for name in ["Theorem D", "Theorem 3", "Theorem 4", "Theorem 5", "Lemma 10", "Lemma 9", "Lemma 22"] {
        assert_eq!(by_machine(&plain, name), None, "{name}");
    }
    // The proofs do not know streams, nor commands on a bus.
    let streams = steps(spec, Access::Stream, Placement::Stripe, Reliance::Nothing);
    let names = ["Lemma 10", "Lemma 2", "Theorem S", "Lemma 5", "Lemma 3"];
    let found = names.map(|name| by_machine(&streams, name));
    assert_eq!(found, [Some(false), Some(false), Some(false), Some(false), Some(true)]);
    let rows = steps(spec, Access::Stream, Placement::Superblock, Reliance::Nothing);
    assert_eq!(by_machine(&rows, "Lemma 10"), None);
    // Without backfill it is.
    assert_eq!(by_machine(&rows, "Theorem D"), Some(false));
    let command = DeviceSpec { command: Some(Span::from_us(1)), ..spec };
    for (placement, theorem) in [(Placement::Stripe, "Theorem S"), (Placement::Superblock, "Theorem D")] {
        let commands = steps(command, Access::Sequential, placement, Reliance::Nothing);
        assert_eq!(by_machine(&commands, "Lemma 9"), Some(false));
        let joined = commands.iter().find(|ground| ground.theorem == theorem).and_then(|ground| ground.machine);
        assert_eq!(joined, Some(("closing", "Closing.v")));
    }
    let registers = DeviceSpec { page_registers: Some(2), ..spec };
    let cached = steps(registers, Access::Sequential, Placement::CachedStripe, Reliance::Nothing);
    // Neither of its server.
    for name in ["Theorem 5", "Lemma 2", "Lemma 5", "Lemma 11", "Lemma 12"] {
        assert_eq!(by_machine(&cached, name), Some(false), "{name}");
    }
    assert_eq!(["Theorem S", "Theorem 3"].map(|name| by_machine(&cached, name)), [None; 2]);
}

/// Blocks that fail, and erases that are suspended, are proved by people.
#[test]
fn failures_and_suspensions_are_checked_by_nobody_else() {
    let failing = DeviceSpec { spare_blocks: Some(2), ..dgist() };
    let suspending = DeviceSpec { erase_suspend: Some(Span::from_us(100)), ..dgist() };
    for (spec, theorem, other) in [(failing, "Theorem 8", "Theorem 9"), (suspending, "Theorem 9", "Theorem 8")] {
        // Beside a server nothing is suspended: there is no room for one beside such reads.
        let read = if spec.erase_suspend.is_some() { request(2, 5) } else { None };
        let (steps, ..) =
            steps_of(spec, vec![(2, task("log", read, request(8, 100)), Placement::Stripe)], Reliance::Nothing);
        let names = [theorem, "Theorem S", "Lemma 2", "Lemma 3", "Lemma 4", "Lemma 5"];
        assert_eq!(names.map(|name| by_machine(&steps, name)), [Some(false); 6], "{theorem}");
        assert_eq!(by_machine(&steps, "Lemma 1"), Some(true));
        assert_eq!(by_machine(&steps, other), None);
    }
}

/// Zones are proved by people, and so is what counts on a neighbour that has them.
#[test]
fn zones_are_checked_by_nobody_else() {
    let zones = steps(dgist(), Access::Stream, Placement::Zoned, Reliance::Nothing);
    for name in ["Theorem 7", "Lemma 10", "Lemma 4", "Lemma 5"] {
        assert_eq!(by_machine(&zones, name), Some(false), "{name}");
    }
    assert_eq!(by_machine(&zones, "Lemma 1"), Some(true));
    let others = ["Theorem S", "Lemma 2", "Lemma 3", "Lemma 20", "Theorem 3"];
    assert_eq!(others.map(|name| by_machine(&zones, name)), [None; 5]);
}

/// A superblock whose chips have two registers is proved by people.
#[test]
fn two_registers_of_a_superblock_are_checked_by_nobody_else() {
    let registers = DeviceSpec { page_registers: Some(2), ..dgist() };
    let rows = steps(registers, Access::Sequential, Placement::CachedSuperblock, Reliance::Nothing);
    for name in ["Theorem 6", "Section 4", "Lemma 2", "Lemma 5", "Lemma 11"] {
        assert_eq!(by_machine(&rows, name), Some(false), "{name}");
    }
    let others = ["Theorem D", "Theorem 5", "Lemma 22", "Lemma 23", "Lemma 4"].map(|name| by_machine(&rows, name));
    assert_eq!(others, [None; 5]);
}

/// Nor is either kind with commands on the bus, whether or not it has a server.
#[test]
fn commands_with_two_registers_are_checked_by_nobody_else() {
    let spec = DeviceSpec { page_registers: Some(2), command: Some(Span::from_us(1)), ..dgist() };
    for (placement, theorem) in [(Placement::CachedStripe, "Theorem 5"), (Placement::CachedSuperblock, "Theorem 6")] {
        let clusters = vec![(2, task("log", None, request(8, 100)), placement)];
        let (steps, relied, _) = steps_of(spec, clusters, Reliance::Queue);
        for name in [theorem, "Lemma 9", "Lemma 23", "Lemma 2", "Lemma 3", "Lemma 5"] {
            assert_eq!(by_machine(&steps, name), Some(false), "{name}");
        }
        assert_eq!(by_machine(&steps, "Lemma 1"), Some(true));
        assert_eq!(relied, Reliance::Nothing);
    }
}

/// The reliance counts, too: the example of Section 6, with neighbours of every kind.
#[test]
fn what_a_cluster_relies_on_is_checked_or_not() {
    let reader = |access: Access| task("read", request(250, 40).map(|read| read.with_access(access)), None);
    // Superblocks that write move much more: their copies are on the bus.
    let others = |access: Access, placement: Placement| {
        let of = move || request(6, 90).map(|of| of.with_access(access));
        let one = move |name: &str| match placement {
            Placement::Superblock => task(name, of(), None),
            _ => task(name, None, of()),
        };
        (0..3).map(move |number| (1, one(&format!("other{number}")), placement))
    };
    let beside = |spec: DeviceSpec, own: (Access, Placement), beside: (Access, Placement)| {
        let clusters = std::iter::once((1, reader(own.0), own.1)).chain(others(beside.0, beside.1));
        let (steps, relied, allocation) = steps_of(spec, clusters.collect(), Reliance::Neighbours);
        assert_eq!(relied, Reliance::Neighbours);
        (steps, allocation)
    };
    let stripe = (Access::Sequential, Placement::Stripe);
    let theorems = |steps: &[Ground]| {
        ["Theorem S", "Theorem 3", "Lemma 4", "Lemma 5", "Section 6"].map(|name| by_machine(steps, name))
    };
    let (checked, not) = (Some(true), Some(false));
    let (plain, _) = beside(dgist(), stripe, stripe);
    assert_eq!(theorems(&plain), [None, checked, None, checked, checked]);
    let (streams, _) = beside(dgist(), stripe, (Access::Stream, Placement::Stripe));
    assert_eq!(theorems(&streams), [None, not, None, not, not]);
    // Theorem 3 is checked of superblocks that do not backfill.
    let (rows, _) = beside(dgist(), stripe, (Access::Random, Placement::Superblock));
    assert_eq!(theorems(&rows), [None, not, None, checked, checked]);
    let registers = DeviceSpec { page_registers: Some(2), ..dgist() };
    let (one, _) = beside(registers, stripe, (Access::Sequential, Placement::CachedStripe));
    assert_eq!(theorems(&one), [None, not, None, checked, checked]);
    let (superblock, allocation) = beside(dgist(), (Access::Random, Placement::Superblock), stripe);
    assert_eq!(theorems(&superblock), [None, not, None, not, not]);
    let lemmas = ["Theorem D", "Lemma 22"].map(|name| by_machine(&superblock, name));
    assert_eq!(lemmas, [None, not]);
    assert_eq!(allocation.certificate(0).map(|certificate| certificate.backfill), Some(false));
}

/// A cached stripe is checked beside cached stripes alone, and Theorem 4 by people.
#[test]
fn a_queue_and_a_second_register_are_checked_as_far_as_they_are() {
    let sequential = |placement: Placement| (Access::Sequential, placement);
    let run = |spec: DeviceSpec, own: Placement, others: Placement, pages: u64, granted: Reliance| {
        let write = || request(6, 90).map(|write| write.with_access(sequential(others).0));
        let mut clusters = vec![(1, task("read", request(pages, 40), None), own)];
        clusters.extend((0..3).map(|number| (1, task(&format!("write{number}"), None, write()), others)));
        steps_of(spec, clusters, granted)
    };
    let registers = DeviceSpec { page_registers: Some(2), ..dgist() };
    for (others, expected) in [(Placement::CachedStripe, Some(true)), (Placement::Stripe, Some(false))] {
        let (steps, relied, _) = run(registers, Placement::CachedStripe, others, 400, Reliance::Neighbours);
        assert_eq!(relied, Reliance::Neighbours);
        let found = ["Theorem 5", "Theorem 3", "Lemma 5"].map(|name| by_machine(&steps, name));
        assert_eq!(found, [expected, None, Some(false)], "{others:?}");
    }
    // Two long readers wait for each other in a queue.
    let read = |name: &str, pages: u64, ms: u32| (1, task(name, request(pages, ms), None), Placement::Stripe);
    let clusters = vec![read("a", 950, 120), read("b", 900, 120), read("c", 2, 1_000)];
    let (steps, relied, _) = steps_of(dgist(), clusters, Reliance::Queue);
    assert_eq!(relied, Reliance::Queue);
    let found = ["Theorem 4", "Theorem 3", "Theorem S", "Lemma 4", "Lemma 5"].map(|name| by_machine(&steps, name));
    assert_eq!(found, [Some(false), Some(false), None, None, Some(false)]);
}
