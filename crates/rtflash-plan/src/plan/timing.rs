//! How long operations take, and periods.

use rtflash_model::{Device, Instant, Span};

/// The time of one page operation on this device, the transfer of the page included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timing {
    read: Span,
    program: Span,
    transfer: Span,
    command: Span,
}

impl Timing {
    /// Commands come first; a page is transferred behind its read and before its program.
    pub fn of_device(device: &Device) -> Timing {
        let (transfer, command) = (device.page_transfer(), device.command());
        let with_transfer = |span: Span| span.saturating_add(device.bus_hold());
        let (read, program) = (with_transfer(device.page_read()), with_transfer(device.page_program()));
        Timing { read, program, transfer, command }
    }

    /// In all, with `transfer` on the bus; `None` if the transfer is longer.
    pub fn new(read: Span, program: Span, transfer: Span) -> Option<Timing> {
        (transfer <= read && transfer <= program).then_some(Timing { read, program, transfer, command: Span::ZERO })
    }

    /// A page read without waiting, command and transfer included.
    pub fn read(self) -> Span {
        self.read
    }

    /// A page program without waiting, command and transfer included.
    pub fn program(self) -> Span {
        self.program
    }

    /// t_d: the page on the bus.
    pub fn transfer(self) -> Span {
        self.transfer
    }

    /// t_c: what the commands of an operation hold the bus for; zero where they are not counted.
    pub fn command(self) -> Span {
        self.command
    }

    /// How often a read asks for the bus: once more where commands use it.
    pub fn asks_of_a_read(self) -> u64 {
        1 + u64::from(self.command > Span::ZERO)
    }

    /// The part of a read between its command and its transfer.
    pub fn sensing(self) -> Span {
        self.read.saturating_sub(self.transfer).saturating_sub(self.command)
    }

    /// The part of a program behind its transfer.
    pub fn programming(self) -> Span {
        self.program.saturating_sub(self.transfer).saturating_sub(self.command)
    }
}

/// A period in nanoseconds that need not be whole: numerator over denominator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Period {
    numerator: u128,
    denominator: u128,
}

impl Period {
    /// `numerator`/`denominator` ns; `None` below 1 ns, or if one of them exceeds 120 bits.
    pub fn new(numerator: u128, denominator: u128) -> Option<Period> {
        let fits = |number: u128| number > 0 && number < 1 << 120;
        (fits(numerator) && fits(denominator) && numerator >= denominator).then_some(Period { numerator, denominator })
    }

    /// The k-th release, k times the period, rounded down.
    pub fn release(self, k: u64) -> Instant {
        self.multiple(k).map_or(Instant::END, |(whole, _)| instant(whole))
    }

    /// k + 1 times the period, rounded up, so that it is never too early.
    pub fn deadline(self, k: u64) -> Instant {
        self.multiple(k.saturating_add(1)).map_or(Instant::END, |(whole, rest)| instant(whole + u128::from(rest > 0)))
    }

    fn multiple(self, k: u64) -> Option<(u128, u128)> {
        let product = u128::from(k).checked_mul(self.numerator)?;
        Some((product / self.denominator, product % self.denominator))
    }

    /// The period of a task's requests, which is a span.
    pub fn of_request(self) -> Span {
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
