//! The fault of a description of a device.

use super::{DeviceSpec, MAX_CHIPS};
use crate::on_chip::OperationTime;
use crate::time::Span;

/// Records what is wrong: the field, the problem, and what would be right.
pub(super) type Refuse<'r> = &'r mut dyn FnMut(&'static str, String, &str);

pub(super) fn refuse_counts(spec: &DeviceSpec, refuse: Refuse<'_>) {
    let counts = [
        ("chips", spec.chips),
        ("chips_per_channel", spec.chips_per_channel),
        ("blocks_per_chip", spec.blocks_per_chip),
        ("pages_per_block", spec.pages_per_block),
        ("page_size", spec.page_size),
    ];
    for (field, count) in counts {
        if count == 0 {
            refuse(field, format!("`{field}` is zero"), "a whole number from 1 up");
        }
    }
    if spec.erase_cycles == Some(0) {
        refuse(
            "erase_cycles",
            "`erase_cycles` is zero".into(),
            "a whole number from 1 up, or none where it is not known",
        );
    }
    if spec.page_registers.is_some_and(|registers| !(1..=2).contains(&registers)) {
        refuse(
            "page_registers",
            "`page_registers` is neither 1 nor 2".into(),
            "`cache_register`, true or false; or 1 or 2 registers that hold a page",
        );
    }
    let spare = spec.blocks_kept_back();
    if spare > 0 && spare >= spec.blocks_per_chip {
        refuse(
            "spare_blocks",
            format!("{spare} of {} blocks are spare ones", spec.blocks_per_chip),
            "fewer than blocks_per_chip: data are in the others",
        );
    }
    if let Some(failures) = spec.program_failures.filter(|&failures| failures > spare) {
        refuse(
            "program_failures",
            format!("{failures} programs may fail, and there are {spare} spare blocks"),
            "at most spare_blocks: each that fails takes one",
        );
    }
    if spec.wear_gap == Some(0) {
        refuse("wear_gap", "`wear_gap` is zero".into(), "a whole number from 1 up, or none where wear is not levelled");
    }
    if spec.wear_passes.is_some_and(|passes| passes < 2) {
        refuse("wear_passes", "`wear_passes` is less than 2".into(), "2 or more: one of this many GC jobs levels wear");
    }
    if spec.wear_passes.is_some() && spec.wear_gap.is_none() {
        refuse(
            "wear_passes",
            "`wear_passes`, and no `wear_threshold`".into(),
            "a `wear_threshold` beside it: the erases by which blocks can differ",
        );
    }
    if spec.chips > MAX_CHIPS {
        refuse("chips", format!("{} chips are too many", spec.chips), "at most 1048576 (2^20) chips");
    }
}

pub(super) fn refuse_times(spec: &DeviceSpec, refuse: Refuse<'_>) {
    let times = [
        ("page_read", spec.page_read),
        ("page_program", spec.page_program),
        ("block_erase", spec.block_erase),
        ("page_transfer", spec.page_transfer),
    ];
    for (field, time) in times {
        if time == Span::ZERO {
            refuse(field, format!("`{field}` is zero"), "a time above zero, such as \"50us\"");
        }
    }
    refuse_suspension(spec, refuse);
    for ((field, longest), shortest) in times.into_iter().zip(spec.shortest.all()) {
        let Some(shortest) = shortest else { continue };
        if longest > Span::ZERO && (shortest == Span::ZERO || shortest > longest) {
            refuse(
                field,
                format!("`{field}` goes from {shortest} to {longest}"),
                "two times above zero, the shorter first, such as \"40us..50us\"",
            );
        }
    }
}

fn refuse_suspension(spec: &DeviceSpec, refuse: Refuse<'_>) {
    match spec.erase_suspend {
        Some(suspend) if suspend == Span::ZERO || suspend >= spec.block_erase => refuse(
            "erase_suspend",
            format!("an erase of {} is suspended in {suspend}", spec.block_erase),
            "a time above zero and below block_erase, such as \"100us\"; left out where erases are not suspended",
        ),
        None if spec.erase_resume.is_some() => refuse(
            "erase_resume",
            "`erase_resume` is stated, and no erase is suspended".into(),
            "erase_suspend beside it, or neither",
        ),
        _ => {}
    }
    if spec.erase_resume.is_some_and(|resume| resume > spec.block_erase) {
        refuse(
            "erase_resume",
            "an erase that goes on takes longer than one from its start".into(),
            "at most block_erase",
        );
    }
}

/// A transfer inside that leaves nothing is refused, and then the times are as stated.
pub(super) fn on_chip(spec: &DeviceSpec, refuse: Refuse<'_>) -> [OperationTime; 2] {
    let transfer = OperationTime { longest: spec.page_transfer, shortest: spec.shortest.page_transfer };
    let read = OperationTime { longest: spec.page_read, shortest: spec.shortest.page_read };
    let program = OperationTime { longest: spec.page_program, shortest: spec.shortest.page_program };
    [
        ("page_read", "page_read_includes_transfer", read, spec.page_read_includes_transfer),
        ("page_program", "page_program_includes_transfer", program, spec.page_program_includes_transfer),
    ]
    .map(|(field, inside, stated, includes)| {
        let left = if includes == Some(true) { stated.without(transfer) } else { Some(stated) };
        // Other checks refuse a time or a range that is invalid.
        if left.is_none() && stated.is_valid() && transfer.is_valid() {
            refuse(
                inside,
                format!("`page_transfer` is said to be in `{field}`, and leaves no time of it for the chip"),
                "false, or a time that is longer than the transfer at both ends of its range",
            );
        }
        left.unwrap_or(stated)
    })
}
