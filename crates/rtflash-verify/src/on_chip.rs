//! How long a page takes on its chip, from what a device states: once more, and apart from the
//! model's own answer.

use rtflash_model::{Device, Span};

/// Reading and programming in nanoseconds, without a transfer: the longest of each.
pub fn longest(device: &Device) -> [u64; 2] {
    let stated = device.spec();
    [
        (stated.page_read, stated.page_read_includes_transfer),
        (stated.page_program, stated.page_program_includes_transfer),
    ]
    .map(|(whole, includes)| apart(whole, stated.page_transfer, includes))
}

/// The shortest program in nanoseconds, without a transfer.
pub fn least_program(device: &Device) -> u64 {
    let stated = device.spec();
    let [_, longest] = longest(device);
    stated.shortest.page_program.map_or(longest, |whole| {
        let transfer = stated.shortest.page_transfer.unwrap_or(stated.page_transfer);
        apart(whole, transfer, stated.page_program_includes_transfer)
    })
}

/// `whole` less the transfer, where that is in it.
fn apart(whole: Span, transfer: Span, includes: Option<bool>) -> u64 {
    let inside = if includes == Some(true) { transfer.as_ns() } else { 0 };
    whole.as_ns().checked_sub(inside).expect("a device has time on the chip beside a transfer")
}
