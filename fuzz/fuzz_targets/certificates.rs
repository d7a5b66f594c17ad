//! Certificates with changes: the verifier answers, and what it accepts keeps every guarantee on
//! the simulated device.
#![no_main]

use libfuzzer_sys::arbitrary::{Result, Unstructured};
use libfuzzer_sys::fuzz_target;
use rtflash::alloc::analysis::{Analysis, Sound};
use rtflash::check::verify_certified;
use rtflash::model::{Certificate, Placement, Reliance, Span};
use rtflash::run::execute;

/// The runs have exact times: the most is relied on.
const QUEUE: Reliance = Reliance::Queue;
const SOUND: &dyn Analysis = &Sound::relying_on(QUEUE);

fuzz_target!(|bytes: &[u8]| {
    let _ = tampered(&mut Unstructured::new(bytes));
});

fn tampered(bytes: &mut Unstructured) -> Result<()> {
    let Some(set) = rtflash_fuzz::task_set(bytes)? else { return Ok(()) };
    let allocator = rtflash_fuzz::allocator(bytes)?;
    let outcome = allocator.allocate(&set, SOUND);
    let Some(allocation) = outcome.allocation() else { return Ok(()) };
    let mut certificates: Vec<Option<Certificate>> =
        (0..allocation.len()).map(|position| allocation.certificate(position).copied()).collect();
    for _ in 0..bytes.int_in_range(0..=3)? {
        let at = bytes.choose_index(certificates.len())?;
        if let Some(certificate) = &mut certificates[at] {
            change(certificate, bytes)?;
        }
    }
    let allocation = allocation.clone().with_certificates(certificates);
    let accepted = verify_certified(&set, &allocation, SOUND.placements(), SOUND.relies_on()).accepts();
    let Some(options) = rtflash_fuzz::options(&set, bytes)? else { return Ok(()) };
    if let Ok(executed) = execute(&set, &allocation, SOUND, &options, None) {
        assert!(!accepted || executed.passes(), "{:?}", executed.findings);
    }
    Ok(())
}

/// Another number in one place.
fn change(certificate: &mut Certificate, bytes: &mut Unstructured) -> Result<()> {
    let field = bytes.int_in_range(0..=7)?;
    let by = i64::from(bytes.int_in_range(-3..=3i8)?);
    let shifted = |number: u64| number.saturating_add_signed(by);
    match (field, &mut certificate.collection) {
        (0, Some(gc)) => gc.reclaimed_pages = shifted(gc.reclaimed_pages),
        (1, Some(gc)) => gc.reserve_pages = shifted(gc.reserve_pages),
        (2, Some(gc)) => gc.victim_pages = shifted(gc.victim_pages),
        (3, Some(gc)) => gc.open_blocks = shifted(gc.open_blocks),
        (4, Some(gc)) => gc.deadline = Some(Span::from_us(bytes.int_in_range(1..=100_000)?)),
        (5, _) => certificate.server_thousandths = bytes.int_in_range(0..=1_000)?,
        (6, _) => {
            certificate.placement = *bytes.choose(&[Placement::Stripe, Placement::Superblock])?;
        }
        _ => certificate.tightest = None,
    }
    Ok(())
}
