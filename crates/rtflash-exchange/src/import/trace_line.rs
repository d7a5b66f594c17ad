//! The content of a line of a trace, whatever form the trace has.

pub(crate) struct LineRequest<'a> {
    pub at: u64,
    pub writes: bool,
    pub offset: u64,
    pub bytes: u64,
    pub device: &'a str,
}

pub(crate) enum TraceLine<'a> {
    Request(LineRequest<'a>),
    /// A request that moves no data, such as a discard or a flush.
    WithoutData,
    Other,
    /// The rest of the file holds no requests.
    Trailer,
}

/// Reads one line; what is wrong with it otherwise.
pub(crate) type ReadLine<'a> = Result<TraceLine<'a>, String>;
