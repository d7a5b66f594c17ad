//! How long operations take, and periods.

use rtflash_model::{Device, Instant, Span};

/// What one page operation takes on this device, the transfer of the page included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timing {
    read: Span,
    program: Span,
    transfer: Span,
}

impl Timing {
    /// The device's own times: a page is transferred behind its read and before its program.
    pub fn of_device(device: &Device) -> Timing {
        let transfer = device.page_transfer();
        let with_transfer = |span: Span| span.saturating_add(transfer);
        Timing { read: with_transfer(device.page_read()), program: with_transfer(device.page_program()), transfer }
    }

    /// A page read takes `read` in all and a program `program`, `transfer` of it on the bus; `None`
    /// where the transfer is longer than one of them.
    pub fn new(read: Span, program: Span, transfer: Span) -> Option<Timing> {
        (transfer <= read && transfer <= program).then_some(Timing { read, program, transfer })
    }

    /// A page read without waiting, transfer included.
    pub fn read(self) -> Span {
        self.read
    }

    /// A page program without waiting, transfer included.
    pub fn program(self) -> Span {
        self.program
    }

    /// t_d: the page on the bus.
    pub fn transfer(self) -> Span {
        self.transfer
    }

    /// The part of a read before its transfer.
    pub fn sensing(self) -> Span {
        self.read.saturating_sub(self.transfer)
    }

    /// The part of a program behind its transfer.
    pub fn programming(self) -> Span {
        self.program.saturating_sub(self.transfer)
    }
}

/// A period in nanoseconds that need not be whole: numerator over denominator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Period {
    numerator: u128,
    denominator: u128,
}

impl Period {
    /// The period `numerator`/`denominator` ns; `None` below one nanosecond and where one of the
    /// two does not fit into 120 bits.
    pub fn new(numerator: u128, denominator: u128) -> Option<Period> {
        let fits = |number: u128| number > 0 && number < 1 << 120;
        (fits(numerator) && fits(denominator) && numerator >= denominator).then_some(Period { numerator, denominator })
    }

    /// The k-th release, k times the period, rounded down.
    pub fn release(self, k: u64) -> Instant {
        self.multiple(k).map_or(Instant::END, |(whole, _)| instant(whole))
    }

    /// The deadline of the k-th job: k + 1 times the period, rounded up. So rounding never asks for
    /// more than the period does.
    pub fn deadline(self, k: u64) -> Instant {
        self.multiple(k.saturating_add(1)).map_or(Instant::END, |(whole, rest)| instant(whole + u128::from(rest > 0)))
    }

    fn multiple(self, k: u64) -> Option<(u128, u128)> {
        let product = u128::from(k).checked_mul(self.numerator)?;
        Some((product / self.denominator, product % self.denominator))
    }

    /// The period of a task's requests, which is a span.
    pub(crate) fn of_request(self) -> Span {
        let whole = u64::try_from(self.numerator / self.denominator).ok();
        whole.and_then(Span::from_ns).expect("a request's period is a span")
    }

    /// The numerator, in nanoseconds.
    pub fn numerator(self) -> u128 {
        self.numerator
    }

    /// The denominator.
    pub fn denominator(self) -> u128 {
        self.denominator
    }
}

fn instant(nanoseconds: u128) -> Instant {
    u64::try_from(nanoseconds).ok().and_then(Instant::from_ns).unwrap_or(Instant::END)
}
