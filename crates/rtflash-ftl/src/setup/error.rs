/// Why no state machine can be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SetupError {
    /// A list is too short, or the numbers of the image are too large for this machine.
    Memory,
    /// This processor cannot begin so: a page is not its own, or too few are free (rule R5).
    Start(u32),
    /// A page of this processor is of another image or processor: these are other chips.
    Foreign(u32),
    /// This processor has no room to collect garbage until its reserve is there.
    NoRoom(u32),
}

impl core::fmt::Display for SetupError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            SetupError::Memory => f.write_str("the memory is too short for the image"),
            SetupError::Start(processor) => write!(f, "processor {processor} does not begin as its certificate asks"),
            SetupError::Foreign(processor) => write!(f, "processor {processor} has pages of another image"),
            SetupError::NoRoom(processor) => write!(f, "processor {processor} has no room to collect garbage"),
        }
    }
}

impl core::error::Error for SetupError {}
